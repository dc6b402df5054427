/* The check of the fuzz target on a probe that is damaged at seeded places. */
#include "probe_maker.h"

#include "../../../fuzz/probe.c"

#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 3000 /* the fuzzer goes on, with the same sanitizer */
#else
#define ROUNDS 30000
#endif

TestSuite(probe_damage, .timeout = 1800);

static uint64_t state;

/* xorshift64* */
static uint32_t random_below(uint32_t limit)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545f4914f6cdd1dull) >> 32) % limit;
}

static struct class_maker_bytes make_class(void)
{
    const annotation marks[] = {{OURS("Probe"),
                                 {{"name", 's', 0, {"slow"}},
                                  {"rules", '[', 0, {"exclude method name=x", RULE}},
                                  {"maxThrows", 'I', 3, {NULL}}}}};
    const annotation places[] = {RULES("OnReturn", "value", RULE), PLAIN("OnThrow")};
    const annotation entry[] = {PLAIN("OnEntry")};
    const annotation thrown[] = {RULES("OnThrow", "value", RULE)};
    const annotation one[] = {PLAIN("This"), ARGUMENT(1), PLAIN("Duration")};
    const annotation two[] = {PLAIN("MethodName"), PLAIN("Arguments")};
    const annotation three[] = {PLAIN("Thrown")};

    begin_probe(marks, 1);
    add_method(9, "done", "(Ljava/lang/Object;IJ)V", places, 2, one, 3);
    maker.has_visible = true;
    add_method(9, "entered", "(Ljava/lang/String;[Ljava/lang/Object;)V", entry, 1, two, 2);
    add_method(9, "thrown", "(Ljava/lang/Throwable;)V", thrown, 1, three, 1);
    add_method(1, "helper", "()I", NULL, 0, NULL, 0);
    return class_maker_end(&maker);
}

Test(probe_damage, damaged_probes_are_refused_or_whole)
{
    const struct class_maker_bytes whole = make_class();
    uint8_t *exact = malloc(whole.length);
    uint32_t handlers;
    unsigned taken = 0, others = 0;

    cr_assert(probe_defect(whole.bytes, whole.length, &handlers) == NULL && handlers == 4);
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        state = seed * 0x9e3779b97f4a7c15ull;
        memcpy(exact, whole.bytes, whole.length);
        for (uint32_t left = 1 + random_below(3); left != 0; left--)
            exact[random_below((uint32_t)whole.length)] = (uint8_t)random_below(256);

        const char *defect = probe_defect(exact, whole.length, &handlers);
        taken += handlers == 4;
        others += handlers != 4;
        cr_assert(defect == NULL, "seed %llu: %s", (unsigned long long)seed, defect);
    }
    /* The generator reaches both sides. */
    cr_assert(taken > ROUNDS / 100 && others > ROUNDS / 100, "%u %u", taken, others);
    free(exact);
    class_maker_free(&maker);
}
