/* What a sampled object stands for, against what the JVM's way of sampling gives on average. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "sampler/sampler_hook.h"

TestSuite(sampler_hook, .timeout = 60);

Test(sampler_hook, a_small_object_stands_for_the_interval_and_half_of_itself)
{
    const uint64_t bytes = sampler_hook_bytes(16, 524288);

    cr_assert(bytes >= 524288 && bytes <= 524288 + 16, "%llu", (unsigned long long)bytes);
}

Test(sampler_hook, an_object_of_one_interval_stands_for_what_the_exponential_says)
{
    /* 65536 / (1 - 1/e) */
    cr_assert(eq(u64, sampler_hook_bytes(65536, 65536), 103676));
}

Test(sampler_hook, an_object_far_above_the_interval_stands_for_itself)
{
    cr_assert(eq(u64, sampler_hook_bytes(64 << 20, 1024), 64 << 20));
    cr_assert(eq(u64, sampler_hook_bytes(48, 1), 48));
    cr_assert(eq(u64, sampler_hook_bytes(48, 0), 48));
}

Test(sampler_hook, it_rises_with_the_object_and_is_never_less)
{
    uint64_t before = 0;

    for (uint64_t object = 16; object < 1 << 20; object += 4096) {
        const uint64_t now = sampler_hook_bytes(object, 16384);

        cr_assert(now >= object && now >= before, "%llu", (unsigned long long)object);
        before = now;
    }
}

Test(sampler_hook, nobody_gets_in_while_the_gate_is_shut)
{
    const struct sampler_hook sample = {.kind = EVENT_ALLOC_SAMPLE};

    cr_assert(not(sampler_hook(&sample)));
    cr_assert(sampler_hook_close(0));
}
