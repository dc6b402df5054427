/* What a sampled object stands for, against what the JVM's way of sampling gives on average; and what samples of hooks leave each other. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "sampler/sampler_hook.h"
#include "unit/sampler/outcomes.h"

TestSuite(sampler_hook, .timeout = 1800);

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

/* s / (1 - exp(-s / T)), to the next whole number; on both sides of where it is reckoned otherwise. */
Test(sampler_hook, a_small_object_stands_for_what_the_exponential_says)
{
    static const struct {
        uint64_t object, interval, stands_for;
    } cases[] = {
        {24, 16384, 16396},
        {256, 16384, 16512},
        {1024, 16384, 16901},
        {1032, 16384, 16905},
        {32, 512, 528},
        {40, 512, 532},
        {32768, 524288, 540843},
        {32776, 524288, 540847},
        {1048576, 16777216, 17306965},
        {1048584, 16777216, 17306969},
        {2097152, 33554432, 34613930},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++)
        cr_assert(
            eq(u64, sampler_hook_bytes(cases[i].object, cases[i].interval), cases[i].stands_for),
            "%zu", i);
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

/* ---- room in a generation ---- */

TestSuite(sampler_hook_room, .init = open_run, .timeout = 1800);

/* A run in which no timer fires; the calling thread is one of it. The generation that is active, to look at. */
static struct generation *start(void)
{
    const struct thread_java java = {.java_id = 7, .name = "main", .group = "main"};
    const struct sampler_config config = {.generations = generations,
                                          .interval_ns = 3600 * JW_NS_PER_SECOND,
                                          .depth_max = 64,
                                          .cpu = SAMPLER_CPU_TIMER};
    enum epoch_state state = EPOCH_FREE;

    cr_assert(sampler_start(&config, &err), "%s", err.message);
    sampler_thread_start((uint32_t)os_gettid(), &java);
    for (int i = 0; i < EPOCH_BUFFERS; i++) {
        struct generation *generation = generations_at(generations, i, &state);

        if (state == EPOCH_ACTIVE)
            return generation;
    }
    return NULL;
}

/* So many records of it are others'. */
static void use_up(struct generation *generation, uint64_t left)
{
    const uint64_t capacity = event_capacity_count(generation->events);

    while (event_reserved_count(generation->events) < capacity - left)
        event_commit(event_try_reserve(generation->events));
}

static const uint16_t told_kinds[] = {EVENT_DECLARED, EVENT_METHOD_TRACE, EVENT_QUEUE_TIME,
                                      EVENT_TASK,     EVENT_IO,           EVENT_CLASS};
static const uint16_t sample_kinds[] = {EVENT_ALLOC_SAMPLE, EVENT_LOCK, EVENT_COUNTER_SAMPLE};

/* What it says and its trace are in the generation only with its record. */
Test(sampler_hook_room, what_has_no_room_leaves_nothing_behind)
{
    const uint32_t said[] = {1, 2};
    struct sampler_hook event = {
        .kind = EVENT_DECLARED, .payload = &said[0], .payload_bytes = sizeof said[0]};
    struct generation *generation = start();

    cr_assert(eq(int, sampler_hook_ended(&event), SAMPLER_HOOK_TAKEN));
    const dict_id last = dict_last_id(generation->payloads);
    use_up(generation, event_capacity_count(generation->events) / 4);
    event.payload = &said[1];
    cr_assert(eq(int, sampler_hook_ended(&event), SAMPLER_HOOK_LOST));
    cr_assert(eq(u32, dict_last_id(generation->payloads), last));
    cr_assert(sampler_stop(DRAIN_NS));
}

static enum sampler_hook_end take(uint16_t kind)
{
    return sampler_hook_ended(&(struct sampler_hook){
        .kind = kind, .flags = kind == EVENT_COUNTER_SAMPLE ? EVENT_BY_HOOK : 0, .weight_ns = 1});
}

Test(sampler_hook_room, samples_go_before_events_of_probes_and_traced_calls)
{
    struct generation *generation = start();
    const uint64_t lost = jw_counter(JW_COUNT_HOOK_LOST_EVENTS_FULL);

    for (size_t i = 0; i < JW_COUNT_OF(told_kinds); i++)
        cr_assert(eq(int, take(told_kinds[i]), SAMPLER_HOOK_TAKEN), "%u", told_kinds[i]);
    use_up(generation, event_capacity_count(generation->events) / 4);
    for (size_t i = 0; i < JW_COUNT_OF(told_kinds); i++)
        cr_assert(eq(int, take(told_kinds[i]), SAMPLER_HOOK_LOST), "%u", told_kinds[i]);
    cr_assert(eq(u64, jw_counter(JW_COUNT_HOOK_LOST_EVENTS_FULL) - lost, JW_COUNT_OF(told_kinds)));
    for (size_t i = 0; i < JW_COUNT_OF(sample_kinds); i++)
        cr_assert(eq(int, take(sample_kinds[i]), SAMPLER_HOOK_TAKEN), "%u", sample_kinds[i]);
    use_up(generation, 0);
    for (size_t i = 0; i < JW_COUNT_OF(sample_kinds); i++)
        cr_assert(eq(int, take(sample_kinds[i]), SAMPLER_HOOK_LOST), "%u", sample_kinds[i]);
    cr_assert_not_null(generations_rotate(generations));
    for (size_t i = 0; i < JW_COUNT_OF(told_kinds); i++)
        cr_assert(eq(int, take(told_kinds[i]), SAMPLER_HOOK_TAKEN), "%u", told_kinds[i]);
    cr_assert(sampler_stop(DRAIN_NS));
}
