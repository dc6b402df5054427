/* Which places of a class are sites, and where their calls stand. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "census/census.h"
#include "support/class_maker.h"

enum {
    ACONST_NULL = 1,
    ICONST_M1 = 2,
    ICONST_0 = 3,
    ICONST_1 = 4,
    LCONST_0 = 9,
    SIPUSH = 17,
    ILOAD = 21,
    LLOAD = 22,
    ALOAD = 25,
    ALOAD_0 = 42,
    ALOAD_1 = 43,
    ISTORE = 54,
    LSTORE = 55,
    ASTORE = 58,
    ASTORE_1 = 76,
    ASTORE_2 = 77,
    ALOAD_2 = 44,
    POP = 87,
    POP2 = 88,
    DUP = 89,
    DUP2 = 92,
    LCMP = 148,
    SWAP = 95,
    RETURN = 177,
    INVOKEVIRTUAL = 182,
    INVOKESTATIC = 184,
    ATHROW = 191,
    MONITORENTER = 194,
    MONITOREXIT = 195,
    FIRST = 1000, /* so that numbers take as many bytes each */
};

static struct class_maker maker;
static struct classfile_memory memory, read_memory;
static struct census_class klass;
static bool tells_objects;
static struct classfile_rewritten out;
static struct classfile written;

static void open_all(void)
{
    memory.capacity_bytes = read_memory.capacity_bytes = classfile_memory_bytes(CLASS_MAKER_BYTES);
    memory.bytes = malloc(memory.capacity_bytes);
    read_memory.bytes = malloc(read_memory.capacity_bytes);
}

static void close_all(void)
{
    class_maker_free(&maker);
    free(memory.bytes);
    free(read_memory.bytes);
}

TestSuite(census, .init = open_all, .fini = close_all, .timeout = 1800);

static void weave(void)
{
    const struct class_maker_bytes whole = class_maker_end(&maker);

    memory.used_bytes = read_memory.used_bytes = 0;
    cr_assert(census_read(whole.bytes, whole.length, &memory, &klass) == CLASSFILE_OK);
    klass.tells_objects = tells_objects;
    cr_assert(census_weave(&klass, FIRST, &memory, &out) == CLASSFILE_OK);
    cr_assert(classfile_read(out.bytes, out.length_bytes, &read_memory, &written) == CLASSFILE_OK);
}

/* A call of JaywalkLocks, and what it is given. */
static void expect_call(const struct classfile_code *code, uint32_t pc, const char *name, int site,
                        int method)
{
    const uint8_t *at = code->bytes + pc;
    const uint32_t arguments = strcmp(name, "enter") == 0 ? 2 : 1;

    cr_assert(pc + 3 * arguments + 3 <= code->length_bytes);
    cr_expect_eq(at[0], SIPUSH, "%u", pc);
    cr_expect_eq(at[1] << 8 | at[2], site);
    if (arguments == 2)
        cr_expect(at[3] == SIPUSH && (at[4] << 8 | at[5]) == method);
    at += (size_t)3 * arguments;
    cr_assert_eq(at[0], INVOKESTATIC, "%u", pc);
    const struct classfile_reference to =
        classfile_reference_of(&written, (uint16_t)(at[1] << 8 | at[2]));
    cr_expect(classfile_is_text(to.owner, "java/lang/JaywalkLocks"));
    cr_expect(classfile_is_text(to.name, name));
    cr_expect(classfile_is_text(to.descriptor, arguments == 2 ? "(II)V" : "(I)V"));
}

/* As javac writes it: the range that protects the lock begins behind MONITORENTER, and its handler protects itself. */
static const uint8_t statement[] = {ALOAD_0, DUP,      ASTORE_1, MONITORENTER, ALOAD_1, MONITOREXIT,
                                    RETURN,  ASTORE_2, ALOAD_1,  MONITOREXIT,  ALOAD_2, ATHROW};
static const uint16_t ranges[][4] = {{4, 6, 7, 0}, {7, 10, 7, 0}};

Test(census, calls_stand_inside_of_the_range_at_the_beginning_and_behind_it_at_its_ends)
{
    static const uint16_t lines[][2] = {{0, 30}, {4, 31}};
    const struct class_maker_code code = {.bytes = statement,
                                          .length = sizeof statement,
                                          .stack = 2,
                                          .locals = 3,
                                          .exceptions = ranges,
                                          .exception_count = 2,
                                          .lines = lines,
                                          .line_count = 2};
    struct classfile_code found;

    class_maker_begin(&maker, 49, "com/acme/Shop", "java/lang/Object");
    class_maker_method(&maker, CLASSFILE_PUBLIC, "add", "()V", &code);
    weave();
    cr_assert_eq(klass.site_count, 1);
    cr_expect(klass.sites[0].kind == CENSUS_MONITOR && klass.sites[0].is_behind);
    cr_expect(klass.sites[0].line == 30 && klass.sites[0].pc == 3 && !klass.sites[0].is_refused);

    cr_assert(classfile_code_of(&written, &written.methods[0], &found));
    cr_expect_eq(found.length_bytes, sizeof statement + 9 + 6 + 6);
    expect_call(&found, 4, "enter", FIRST, FIRST);
    cr_expect_eq(found.bytes[3], MONITORENTER);
    cr_expect_eq(found.bytes[14], MONITOREXIT);
    expect_call(&found, 15, "exit", FIRST, 0);
    cr_expect_eq(found.bytes[24],
                 MONITOREXIT); /* of the handler: an exit by exception is told, too */
    expect_call(&found, 25, "exit", FIRST, 0);
}

Test(census, without_a_range_the_call_stands_before)
{
    static const uint8_t bytes[] = {ALOAD_0, MONITORENTER, ALOAD_0, MONITOREXIT, RETURN};
    const struct class_maker_code code = {
        .bytes = bytes, .length = sizeof bytes, .stack = 1, .locals = 1};
    struct classfile_code found;

    class_maker_begin(&maker, 49, "com/acme/Shop", "java/lang/Object");
    class_maker_method(&maker, CLASSFILE_PUBLIC, "add", "()V", &code);
    weave();
    cr_assert(klass.site_count == 1 && !klass.sites[0].is_behind);
    cr_assert(classfile_code_of(&written, &written.methods[0], &found));
    expect_call(&found, 1, "enter", FIRST, FIRST);
    cr_expect_eq(found.bytes[10], MONITORENTER);
}

Test(census, methods_are_sites_of_their_own)
{
    static const uint8_t bytes[] = {RETURN};
    const struct class_maker_code plain = {.bytes = bytes, .length = 1, .locals = 1};
    const struct class_maker_code both = {.bytes = statement,
                                          .length = sizeof statement,
                                          .stack = 2,
                                          .locals = 3,
                                          .exceptions = ranges,
                                          .exception_count = 2};
    struct classfile_code found;

    class_maker_begin(&maker, 49, "com/acme/Shop", "java/lang/Object");
    class_maker_method(&maker, CLASSFILE_PUBLIC, "free", "()V", &plain);
    class_maker_method(&maker, CLASSFILE_PUBLIC | CLASSFILE_SYNCHRONIZED, "add", "()V", &both);
    class_maker_method(&maker, CLASSFILE_STATIC | CLASSFILE_SYNCHRONIZED, "all", "()V", &plain);
    class_maker_method(&maker, CLASSFILE_NATIVE | CLASSFILE_SYNCHRONIZED, "far", "()V", NULL);
    weave();
    cr_assert_eq(klass.site_count, 3);
    cr_expect(klass.sites[0].method == 1 && klass.sites[1].method == 1);
    cr_expect(klass.sites[0].kind != klass.sites[1].kind);
    cr_expect(klass.sites[0].first == 0 && klass.sites[1].first == 0);
    cr_expect(klass.sites[2].kind == CENSUS_STATIC && klass.sites[2].first == 2);
    cr_assert(classfile_code_of(&written, &written.methods[0], &found));
    cr_expect_eq(found.length_bytes, 1);

    cr_assert(classfile_code_of(&written, &written.methods[2], &found));
    expect_call(&found, 0, "enter", FIRST + 2, FIRST + 2);
    expect_call(&found, 9, "exit", FIRST + 2, 0);
    cr_expect_eq(found.bytes[15], RETURN);
    cr_expect_eq(found.bytes[found.length_bytes - 1], ATHROW);
}

static void expect_bytes(const struct classfile_code *code, uint32_t pc, const uint8_t *bytes,
                         uint32_t count)
{
    cr_assert(pc + count <= code->length_bytes);
    for (uint32_t i = 0; i < count; i++)
        cr_expect_eq(code->bytes[pc + i], bytes[i], "%u: %u", pc + i, code->bytes[pc + i]);
}

static void expect_method(const struct classfile_code *code, uint32_t pc, const char *name)
{
    cr_assert_eq(code->bytes[pc], INVOKESTATIC, "%u", pc);
    const struct classfile_reference to = classfile_reference_of(
        &written, (uint16_t)(code->bytes[pc + 1] << 8 | code->bytes[pc + 2]));
    cr_expect(classfile_is_text(to.name, name));
}

#define LOCKS "java/util/concurrent/locks/"

/* A method that loads a lock, and makes these calls of it. */
static void make_calls(const char *const calls[][3], uint32_t count)
{
    uint8_t bytes[64];
    uint32_t used = 0;

    class_maker_begin(&maker, 49, "com/acme/Shop", "java/lang/Object");
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t method =
            class_maker_method_ref(&maker, calls[i][0], calls[i][1], calls[i][2]);

        bytes[used++] = ALOAD_0;
        bytes[used++] = INVOKEVIRTUAL;
        bytes[used++] = (uint8_t)(method >> 8);
        bytes[used++] = (uint8_t)method;
    }
    bytes[used++] = RETURN;
    const struct class_maker_code code = {.bytes = bytes, .length = used, .stack = 8, .locals = 1};
    class_maker_method(&maker, CLASSFILE_PUBLIC, "add", "()V", &code);
    weave();
}

Test(census, a_call_of_a_lock_is_counted_when_it_comes_back_and_tried_before)
{
    static const char *const calls[][3] = {{LOCKS "Lock", "lock", "()V"},
                                           {LOCKS "Lock", "unlock", "()V"}};
    static const uint8_t before[] = {ALOAD_0,     DUP,    ICONST_0,   SIPUSH,     FIRST >> 8,
                                     FIRST & 255, SIPUSH, FIRST >> 8, FIRST & 255};
    static const uint8_t behind[] = {ACONST_NULL, ICONST_1, SIPUSH,     FIRST >> 8,
                                     FIRST & 255, SIPUSH,   FIRST >> 8, FIRST & 255};
    struct classfile_code found;

    make_calls(calls, 2);
    cr_assert_eq(klass.site_count, 1);
    cr_expect(klass.sites[0].kind == CENSUS_LOCK && klass.sites[0].is_timed);
    cr_assert(classfile_code_of(&written, &written.methods[0], &found));
    expect_bytes(&found, 0, before, sizeof before);
    expect_method(&found, sizeof before, "tried");
    cr_expect_eq(found.bytes[sizeof before + 3], POP);
    const uint32_t at = sizeof before + 3 + 1 + 3;
    cr_expect_eq(found.bytes[at - 3], INVOKEVIRTUAL);
    expect_bytes(&found, at, behind, sizeof behind);
    expect_method(&found, at + sizeof behind, "tried");
    cr_expect_eq(found.bytes[at + sizeof behind + 3], POP);
    /* aload_0, unlock, exit */
    expect_call(&found, at + sizeof behind + 4 + 4, "exit", FIRST, 0);
}

Test(census, an_answer_goes_through_the_counting_and_a_lock_that_stays_is_not_timed)
{
    static const char *const calls[][3] = {{LOCKS "ReentrantLock", "tryLock", "()Z"}};
    static const uint8_t behind[] = {ACONST_NULL, SWAP, SIPUSH, FIRST >> 8, FIRST & 255, ICONST_M1};
    const uint32_t at = 1 + 6 + 3 + 1 + 3;
    struct classfile_code found;

    make_calls(calls, 1);
    cr_assert_eq(klass.site_count, 1);
    cr_expect(klass.sites[0].kind == CENSUS_REENTRANT && !klass.sites[0].is_timed);
    cr_assert(classfile_code_of(&written, &written.methods[0], &found));
    cr_expect_eq(found.bytes[1], ACONST_NULL); /* its class is said by the call */
    expect_method(&found, 7, "tried");
    cr_expect_eq(found.bytes[at - 3], INVOKEVIRTUAL);
    expect_bytes(&found, at, behind, sizeof behind);
    expect_method(&found, at + sizeof behind, "tried");
    cr_expect_eq(found.bytes[at + sizeof behind + 3], RETURN);
}

Test(census, stamps_go_through_the_counting)
{
    static const char *const calls[][3] = {{LOCKS "StampedLock", "writeLock", "()J"},
                                           {LOCKS "StampedLock", "tryUnlockWrite", "()Z"}};
    const uint32_t at = 1 + 1 + 6 + 3 + 1 + 3;
    struct classfile_code found;

    make_calls(calls, 2);
    cr_assert_eq(klass.site_count, 1);
    cr_expect(klass.sites[0].kind == CENSUS_STAMPED_WRITE && klass.sites[0].is_timed);
    cr_assert(classfile_code_of(&written, &written.methods[0], &found));
    cr_expect_eq(found.bytes[1], LCONST_0);
    expect_method(&found, 8, "stamped");
    cr_expect_eq(found.bytes[11], POP2);
    expect_method(&found, at + 6, "stamped");
}

/* ---- objects, where they are asked for ---- */

Test(census, an_object_is_told_before_its_monitor_is_taken)
{
    static const uint8_t before[] = {ALOAD_0, DUP, ASTORE_1, DUP, SIPUSH, FIRST >> 8, FIRST & 255};
    const struct class_maker_code code = {.bytes = statement,
                                          .length = sizeof statement,
                                          .stack = 2,
                                          .locals = 3,
                                          .exceptions = ranges,
                                          .exception_count = 2};
    struct classfile_code found;

    tells_objects = true;
    class_maker_begin(&maker, 49, "com/acme/Shop", "java/lang/Object");
    class_maker_method(&maker, CLASSFILE_PUBLIC, "add", "()V", &code);
    weave();
    cr_assert(classfile_code_of(&written, &written.methods[0], &found));
    expect_bytes(&found, 0, before, sizeof before);
    expect_method(&found, sizeof before, "entered");
    cr_expect_eq(found.bytes[sizeof before + 3], MONITORENTER);
    expect_call(&found, sizeof before + 4, "enter", FIRST, FIRST);
}

Test(census, a_method_tells_its_object_and_one_of_a_class_does_not)
{
    static const uint8_t bytes[] = {RETURN};
    static const uint8_t before[] = {ALOAD_0, SIPUSH, FIRST >> 8, FIRST & 255};
    const struct class_maker_code plain = {.bytes = bytes, .length = 1, .locals = 1};
    struct classfile_code found;

    tells_objects = true;
    class_maker_begin(&maker, 49, "com/acme/Shop", "java/lang/Object");
    class_maker_method(&maker, CLASSFILE_SYNCHRONIZED, "add", "()V", &plain);
    class_maker_method(&maker, CLASSFILE_STATIC | CLASSFILE_SYNCHRONIZED, "all", "()V", &plain);
    weave();
    cr_assert(classfile_code_of(&written, &written.methods[0], &found));
    expect_bytes(&found, 0, before, sizeof before);
    expect_method(&found, sizeof before, "entered");
    expect_call(&found, sizeof before + 3, "enter", FIRST, FIRST);
    cr_assert(classfile_code_of(&written, &written.methods[1], &found));
    expect_call(&found, 0, "enter", FIRST + 1, FIRST + 1);
}

Test(census, the_hash_of_a_lock_lies_in_a_local_while_it_is_called)
{
    static const char *const calls[][3] = {{LOCKS "ReentrantLock", "tryLock", "()Z"}};
    static const uint8_t before[] = {ALOAD_0, DUP,        ICONST_0,   ICONST_0,
                                     SIPUSH,  FIRST >> 8, FIRST & 255};
    static const uint8_t store[] = {ISTORE, 1};
    static const uint8_t behind[] = {DUP,   ISTORE, 2,      ACONST_NULL, ILOAD,      1,
                                     ILOAD, 2,      SIPUSH, FIRST >> 8,  FIRST & 255};
    struct classfile_code found;

    tells_objects = true;
    make_calls(calls, 1);
    cr_assert(classfile_code_of(&written, &written.methods[0], &found));
    cr_expect(found.local_count >= 3);
    expect_bytes(&found, 0, before, sizeof before);
    expect_method(&found, sizeof before, "called");
    expect_bytes(&found, sizeof before + 3, store, sizeof store);
    const uint32_t at = found.length_bytes - 1 - 1 - 3 - (uint32_t)sizeof behind;
    expect_method(&found, at - 3, "tried");
    expect_bytes(&found, at, behind, sizeof behind);
    expect_method(&found, at + sizeof behind, "called");
    cr_expect_eq(found.bytes[found.length_bytes - 2], POP);
}

Test(census, what_lies_above_a_lock_is_put_aside_to_see_it)
{
    static const char *const calls[][3] = {
        {LOCKS "StampedLock", "tryReadLock", "(JLjava/util/concurrent/TimeUnit;)J"}};
    static const uint8_t before[] = {ALOAD_0, ASTORE, 2, LSTORE, 3, DUP, ICONST_0, ICONST_0};
    static const uint8_t again[] = {ISTORE, 1, LLOAD, 3, ALOAD, 2};
    static const uint8_t behind[] = {DUP2, LCONST_0, LCMP, ISTORE, 2};
    struct classfile_code found;
    bool is_there = false;

    tells_objects = true;
    make_calls(calls, 1);
    cr_assert(classfile_code_of(&written, &written.methods[0], &found));
    cr_expect(found.local_count >= 5);
    expect_bytes(&found, 0, before, sizeof before);
    expect_method(&found, sizeof before + 3, "called");
    expect_bytes(&found, sizeof before + 6, again, sizeof again);
    for (uint32_t i = 0; i + sizeof behind <= found.length_bytes; i++)
        is_there |= memcmp(found.bytes + i, behind, sizeof behind) == 0;
    cr_expect(is_there);
}

Test(census, kinds_are_told_apart_and_what_takes_no_lock_is_none)
{
    static const struct {
        const char *call[3];
        enum census_kind kind;
    } all[] = {
        {{LOCKS "ReentrantReadWriteLock$ReadLock", "lockInterruptibly", "()V"}, CENSUS_READ},
        {{LOCKS "ReentrantReadWriteLock$WriteLock", "tryLock",
          "(JLjava/util/concurrent/TimeUnit;)Z"},
         CENSUS_WRITE},
        {{LOCKS "StampedLock", "tryReadLock", "(JLjava/util/concurrent/TimeUnit;)J"},
         CENSUS_STAMPED_READ},
        {{LOCKS "StampedLock", "tryOptimisticRead", "()J"}, CENSUS_KIND_LIMIT},
        {{LOCKS "Lock", "newCondition", "()Ljava/util/concurrent/locks/Condition;"},
         CENSUS_KIND_LIMIT},
        {{LOCKS "Lock", "lock", "(I)V"}, CENSUS_KIND_LIMIT},
        {{"com/acme/Lock", "lock", "()V"}, CENSUS_KIND_LIMIT},
    };

    for (size_t i = 0; i < JW_COUNT_OF(all); i++) {
        const char *const call[][3] = {{all[i].call[0], all[i].call[1], all[i].call[2]}};

        make_calls(call, 1);
        cr_expect_eq(klass.site_count, all[i].kind != CENSUS_KIND_LIMIT, "%s", call[0][1]);
        if (klass.site_count == 1)
            cr_expect_eq(klass.sites[0].kind, all[i].kind, "%s", call[0][1]);
    }
    cr_expect_str_eq(census_kind_word(CENSUS_STAMPED_WRITE), "StampedLock write");
}

Test(census, monitors_and_calls_of_a_method_end_apart)
{
    static const char *const owner = LOCKS "ReentrantLock";
    struct classfile_code found;

    class_maker_begin(&maker, 49, "com/acme/Shop", "java/lang/Object");
    const uint16_t lock = class_maker_method_ref(&maker, owner, "lock", "()V");
    const uint16_t unlock = class_maker_method_ref(&maker, owner, "unlock", "()V");
    const uint8_t code_bytes[] = {
        ALOAD_0,       MONITORENTER, ALOAD_0,       INVOKEVIRTUAL,          (uint8_t)(lock >> 8),
        (uint8_t)lock, ALOAD_0,      INVOKEVIRTUAL, (uint8_t)(unlock >> 8), (uint8_t)unlock,
        ALOAD_0,       MONITOREXIT,  RETURN};
    const struct class_maker_code code = {
        .bytes = code_bytes, .length = sizeof code_bytes, .stack = 1, .locals = 1};
    class_maker_method(&maker, CLASSFILE_PUBLIC, "add", "()V", &code);
    weave();
    cr_assert_eq(klass.site_count, 2);
    cr_expect(klass.sites[0].kind == CENSUS_MONITOR && klass.sites[0].first == 0);
    cr_expect(klass.sites[1].kind == CENSUS_REENTRANT && klass.sites[1].first == 1);
    cr_assert(classfile_code_of(&written, &written.methods[0], &found));
    expect_call(&found, found.length_bytes - 7, "exit", FIRST, 0);
    expect_call(&found, found.length_bytes - 7 - 2 - 6, "exit", FIRST + 1, 0);
}

Test(census, a_class_without_locks_stays_as_it_is)
{
    static const uint8_t bytes[] = {RETURN};
    const struct class_maker_code code = {.bytes = bytes, .length = 1, .locals = 1};

    class_maker_begin(&maker, 52, "com/acme/Shop", "java/lang/Object");
    class_maker_method(&maker, CLASSFILE_PUBLIC, "free", "()V", &code);
    weave();
    cr_expect_eq(klass.site_count, 0);
    cr_expect(!out.is_changed && out.bytes == klass.file.bytes);
}

Test(census, what_counting_stands_on_is_left_alone)
{
    static const char *const never[] = {"java/lang/JaywalkLocks", "java/lang/invoke/MethodType",
                                        "java/lang/VirtualThread", "java/lang/ref/Reference",
                                        "java/lang/ThreadLocal"};

    for (size_t i = 0; i < JW_COUNT_OF(never); i++)
        cr_expect(!census_may_touch(never[i]), "%s", never[i]);
    cr_expect(census_may_touch("java/util/Vector") && census_may_touch("com/acme/Shop"));
    cr_expect_str_eq(census_kind_word(CENSUS_STATIC), "static synchronized");
}
