/* Calls of locks of java.util.concurrent. Context: hook, control, tool. */
#include "census/census_internal.h"

#include <string.h>

#define PACKAGE "java/util/concurrent/locks/"

static const struct {
    const char *owner; /* in that package */
    const char *name, *descriptor;
    struct census_call call;
} known[] = {
#define LOCK(owner, kind)                                                                          \
    {owner, "lock", "()V", {CENSUS_CALL_TAKES, kind, false}},                                      \
        {owner, "lockInterruptibly", "()V", {CENSUS_CALL_TAKES, kind, false}},                     \
        {owner, "tryLock", "()Z", {CENSUS_CALL_TRIES, kind, false}},                               \
        {owner,                                                                                    \
         "tryLock",                                                                                \
         "(JLjava/util/concurrent/TimeUnit;)Z",                                                    \
         {CENSUS_CALL_TRIES, kind, true}},                                                         \
    {                                                                                              \
        owner, "unlock", "()V",                                                                    \
        {                                                                                          \
            CENSUS_CALL_GIVES, kind, false                                                         \
        }                                                                                          \
    }
    LOCK("Lock", CENSUS_LOCK),
    LOCK("ReentrantLock", CENSUS_REENTRANT),
    LOCK("ReentrantReadWriteLock$ReadLock", CENSUS_READ),
    LOCK("ReentrantReadWriteLock$WriteLock", CENSUS_WRITE),
#undef LOCK
#define STAMPED(kind, lower, upper)                                                                \
    {"StampedLock", lower "Lock", "()J", {CENSUS_CALL_STAMPS, kind, false}},                       \
        {"StampedLock", lower "LockInterruptibly", "()J", {CENSUS_CALL_STAMPS, kind, false}},      \
        {"StampedLock", "try" upper "Lock", "()J", {CENSUS_CALL_STAMPS, kind, false}},             \
        {"StampedLock",                                                                            \
         "try" upper "Lock",                                                                       \
         "(JLjava/util/concurrent/TimeUnit;)J",                                                    \
         {CENSUS_CALL_STAMPS, kind, true}},                                                        \
        {"StampedLock", "unlock" upper, "(J)V", {CENSUS_CALL_GIVES, kind, true}},                  \
    {                                                                                              \
        "StampedLock", "tryUnlock" upper, "()Z",                                                   \
        {                                                                                          \
            CENSUS_CALL_GIVES, kind, false                                                         \
        }                                                                                          \
    }
    STAMPED(CENSUS_STAMPED_READ, "read", "Read"),
    STAMPED(CENSUS_STAMPED_WRITE, "write", "Write"),
#undef STAMPED
    {"StampedLock", "unlock", "(J)V", {CENSUS_CALL_GIVES, CENSUS_STAMPED_READ, true}},
};

static bool is_of_package(struct classfile_text owner)
{
    return owner.length_bytes > sizeof PACKAGE - 1 &&
           memcmp(owner.bytes, PACKAGE, sizeof PACKAGE - 1) == 0;
}

static bool is_method(const struct classfile *file, uint16_t index)
{
    const uint32_t at = index < file->constant_count ? file->constant_offsets[index] : 0;

    return at != 0 && (file->bytes[at] == CLASSFILE_TAG_METHOD ||
                       file->bytes[at] == CLASSFILE_TAG_INTERFACE_METHOD);
}

struct census_call census_call_of(const struct classfile *file, uint16_t constant)
{
    const struct census_call nothing = {.effect = CENSUS_CALL_NOTHING};

    if (!is_method(file, constant))
        return nothing;
    const struct classfile_reference to = classfile_reference_of(file, constant);
    if (!is_of_package(to.owner))
        return nothing;
    const struct classfile_text owner = {to.owner.bytes + sizeof PACKAGE - 1,
                                         to.owner.length_bytes - (uint32_t)(sizeof PACKAGE - 1)};
    for (size_t i = 0; i < JW_COUNT_OF(known); i++) {
        if (classfile_is_text(owner, known[i].owner) && classfile_is_text(to.name, known[i].name) &&
            classfile_is_text(to.descriptor, known[i].descriptor))
            return known[i].call;
    }
    return nothing;
}

bool census_has_calls(const struct classfile *file)
{
    if (is_of_package(classfile_name(file)))
        return false; /* who calls these has counted it */
    for (uint32_t i = 1; i < file->constant_count; i++)
        if (census_call_of(file, (uint16_t)i).effect != CENSUS_CALL_NOTHING)
            return true;
    return false;
}
