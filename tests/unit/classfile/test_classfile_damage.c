/* The check of the fuzz target on a class that is cut, and damaged at seeded places. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "../../../fuzz/classfile.c"
#include "support/class_maker.h"

#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 20000 /* the fuzzer goes on, with the same sanitizer */
#else
#define ROUNDS 100000
#endif

TestSuite(classfile_damage, .timeout = 1800);

static struct class_maker maker;
static uint64_t state;

/* xorshift64* */
static uint32_t random_below(uint32_t limit)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545f4914f6cdd1dull) >> 32) % limit;
}

/* A class with all tables: a constructor, a switch, a lock in its two ranges. */
static struct class_maker_bytes make_class(void)
{
    class_maker_begin(&maker, 52, "com/acme/A", "java/lang/Object");

    const uint16_t init = class_maker_method_ref(&maker, "java/lang/Object", "<init>", "()V");
    const uint8_t constructor[] = {42, 183, (uint8_t)(init >> 8), (uint8_t)init, 177};
    const uint16_t lines[][2] = {{0, 10}, {4, 11}};
    class_maker_method(&maker, 1, "<init>", "()V",
                       &(struct class_maker_code){.stack = 1,
                                                  .locals = 1,
                                                  .bytes = constructor,
                                                  .length = sizeof constructor,
                                                  .lines = lines,
                                                  .line_count = 2});
    /* 0 aload_1, 1 dup, 2 astore_2, 3 monitorenter, 4 aload_2, 5 monitorexit, 6 goto 14, 9 astore_3, 10 aload_2,
     * 11 monitorexit, 12 aload_3, 13 athrow, 14 iconst_0, 15 tableswitch 1 to 1: 32, else 34, 32 iconst_1, 33 pop,
     * 34 return */
    const uint8_t code[] = {43, 89,  77, 194, 44, 195, 167, 0,  8, 78, 44, 195,
                            45, 191, 3,  170, 0,  0,   0,   19, 0, 0,  0,  1,
                            0,  0,   0,  1,   0,  0,   0,   17, 4, 87, 177};
    const uint16_t exceptions[][4] = {{4, 6, 9, 0}, {9, 12, 9, 0}};
    const uint8_t frames[] = {255, 0, 9, 0, 3, 7, 0, 2, 7, 0, 4, 7, 0, 4, 0, 1, 7, 0, 4, 4, 17, 1};
    class_maker_method(&maker, 1, "lock", "(Ljava/lang/Object;)V",
                       &(struct class_maker_code){.stack = 2,
                                                  .locals = 4,
                                                  .bytes = code,
                                                  .length = sizeof code,
                                                  .exceptions = exceptions,
                                                  .exception_count = 2,
                                                  .frames = frames,
                                                  .frames_length = sizeof frames,
                                                  .frame_count = 4});
    return class_maker_end(&maker);
}

Test(classfile_damage, each_beginning_of_a_class_is_cut)
{
    const struct class_maker_bytes whole = make_class();
    struct classfile_memory memory = {.capacity_bytes = classfile_memory_bytes(whole.length)};
    struct classfile file;
    uint32_t sites;

    memory.bytes = malloc(memory.capacity_bytes);
    cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
    cr_assert(classfile_defect(whole.bytes, (uint32_t)whole.length, &sites) == NULL);
    cr_assert(sites > 10, "%u sites", sites);
    for (size_t length = 0; length < whole.length; length++) {
        uint8_t *exact = malloc(length + 1);

        memcpy(exact, whole.bytes, length);
        memory.used_bytes = 0;

        const enum classfile_verdict verdict =
            classfile_read(memmove(exact + 1, exact, length), length, &memory, &file);
        cr_expect(verdict != CLASSFILE_OK, "%zu bytes of %zu were a class", length, whole.length);
        free(exact);
    }
    free(memory.bytes);
    class_maker_free(&maker);
}

Test(classfile_damage, damaged_classes_are_refused_or_written_whole)
{
    const struct class_maker_bytes whole = make_class();
    uint8_t *exact = malloc(whole.length);
    unsigned put_into = 0;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        uint32_t sites = 0;

        state = seed * 0x9e3779b97f4a7c15ull;
        memcpy(exact, whole.bytes, whole.length);
        for (uint32_t left = 1 + random_below(3); left != 0; left--)
            exact[random_below((uint32_t)whole.length)] = (uint8_t)random_below(256);

        const char *defect = classfile_defect(exact, (uint32_t)whole.length, &sites);
        put_into += sites != 0;
        cr_assert(defect == NULL, "seed %llu: %s", (unsigned long long)seed, defect);
    }
    /* The generator reaches both sides. */
    cr_assert(put_into > ROUNDS / 100 && put_into < ROUNDS, "%u", put_into);
    free(exact);
    class_maker_free(&maker);
}
