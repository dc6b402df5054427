/* What threads wait on: bounds, sharing, forgetting. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "recording/recording_idle_internal.h"

static struct recording_idle idle;
static uint64_t known_turns;
static uint64_t unknown_turns;
static char last_stack[32];
static char last_context[32];

static void close_idle(void)
{
    recording_idle_close(&idle);
}

TestSuite(recording_idle, .fini = close_idle, .timeout = 1800);

static void put(void *context, const struct recording_turns *turns,
                const struct recording_seen *seen)
{
    const struct recording_kept *stack = seen->stack;

    (void)context;
    if (seen->context != NULL)
        snprintf(last_context, sizeof last_context, "%.*s", (int)seen->context->length_bytes,
                 (const char *)recording_kept_bytes(seen->context));
    if (stack == NULL) {
        unknown_turns += turns->turn_count;
        return;
    }
    known_turns += turns->turn_count;
    snprintf(last_stack, sizeof last_stack, "%.*s", (int)stack->length_bytes,
             (const char *)recording_kept_bytes(stack));
}

static struct recording_turns turns_of(uint32_t thread, uint64_t serial, uint64_t number)
{
    return (struct recording_turns){
        .thread_index = thread, .thread_serial = serial, .number = number, .turn_count = 1};
}

static void note(uint32_t thread, uint64_t serial, uint64_t number, const char *stack)
{
    const struct recording_turns turns = turns_of(thread, serial, number);

    recording_idle_note(&idle, &turns, recording_idle_keep_stack(&idle, stack, strlen(stack)),
                        NULL);
}

static void take(uint32_t thread, uint64_t serial, uint64_t number)
{
    const struct recording_turns turns = turns_of(thread, serial, number);

    recording_idle_take(&idle, &turns, put, NULL);
}

static void end_take(void)
{
    recording_idle_end_take(&idle, put, NULL);
}

static bool is_odd(void *context, uint32_t index, uint32_t serial)
{
    (void)context;
    (void)serial;
    return index % 2 == 1;
}

static bool is_nobody(void *context, uint32_t index, uint32_t serial)
{
    (void)context;
    (void)index;
    (void)serial;
    return false;
}

Test(recording_idle, threads_on_one_stack_share_its_memory)
{
    note(0, 1, 1, "parked");
    end_take();
    const size_t alone_bytes = idle.stacks.used_bytes;

    for (uint32_t thread = 1; thread < 500; thread++)
        note(thread, thread + 1, 1, "parked");
    end_take();
    cr_expect_eq(idle.stacks.count, 1);
    cr_expect_eq(idle.stacks.used_bytes, alone_bytes);
    for (uint32_t thread = 0; thread < 500; thread++)
        take(thread, thread + 1, 1);
    cr_expect_eq(known_turns, 500);
    cr_expect_str_eq(last_stack, "parked");
}

Test(recording_idle, a_stack_that_nobody_waits_on_is_given_back)
{
    for (uint64_t number = 1; number <= 100; number++) {
        char stack[16];

        snprintf(stack, sizeof stack, "stack %llu", (unsigned long long)number);
        note(0, 1, number, stack);
    }
    cr_expect_eq(idle.stacks.count, 100, "any of them may still be named in this take");
    end_take();
    cr_expect_eq(idle.stacks.count, 1);
    take(0, 1, 100);
    cr_expect_str_eq(last_stack, "stack 100");
}

Test(recording_idle, contexts_are_shared_and_given_back_like_stacks)
{
    for (uint64_t number = 1; number <= 100; number++)
        for (uint32_t thread = 0; thread < 10; thread++) {
            const struct recording_turns turns = turns_of(thread, 1, number);
            char context[16];

            snprintf(context, sizeof context, "request %llu", (unsigned long long)number);
            recording_idle_note(&idle, &turns, recording_idle_keep_stack(&idle, "parked", 6),
                                recording_idle_keep_context(&idle, context, strlen(context)));
        }
    cr_expect_eq(idle.contexts.count, 100, "any of them may still be named in this take");
    take(3, 1, 50);
    cr_expect_str_eq(last_context, "request 50");
    end_take();
    cr_expect_eq(idle.contexts.count, 1);
    take(3, 1, 100);
    cr_expect_str_eq(last_context, "request 100");
    end_take();
    recording_idle_forget(&idle, is_odd, NULL);
    cr_expect_eq(idle.contexts.count, 1, "the odd ones hold it");
    recording_idle_forget(&idle, is_nobody, NULL);
    cr_expect_eq(idle.contexts.count, 0);
    cr_expect_eq(idle.contexts.used_bytes, 0);
}

Test(recording_idle, who_is_about_to_be_forgotten_waits_no_longer)
{
    take(1, 1, 7); /* of samples that never came */
    take(2, 1, 7);
    end_take();
    cr_expect_eq(unknown_turns, 0, "their samples may be late");
    recording_idle_give_up(&idle, is_odd, NULL, put, NULL);
    cr_expect_eq(unknown_turns, 1);
    note(2, 1, 7, "parked");
    end_take();
    cr_expect_eq(known_turns, 1, "the other's sample was late");
    recording_idle_end(&idle, put, NULL);
    cr_expect_eq(unknown_turns, 1, "nobody is told twice");
}

Test(recording_idle, memory_has_a_bound_and_what_is_beyond_is_not_known)
{
    idle.limit_bytes = 20 * (sizeof(struct recording_kept) + 9);
    for (uint32_t thread = 0; thread < 100; thread++) {
        char stack[16];

        snprintf(stack, sizeof stack, "stack %03u", thread);
        note(thread, 1, 1, stack);
    }
    end_take();
    cr_expect_eq(idle.stacks.count, 20);
    cr_expect_leq(idle.stacks.used_bytes, idle.limit_bytes);
    for (uint32_t thread = 0; thread < 100; thread++)
        take(thread, 1, 1);
    cr_expect_eq(known_turns, 20);
    cr_expect_eq(unknown_turns, 80, "at once, for no sample can come any more");
}

Test(recording_idle, so_many_records_wait_for_their_sample_and_the_oldest_go_first)
{
    for (uint64_t i = 0; i < RECORDING_WAITING_MAX + 10; i++)
        take(0, 1, 1 + i);
    cr_expect_eq(unknown_turns, 0, "within a take all of them wait");
    end_take();
    cr_expect_eq(unknown_turns, 10);
    cr_expect_eq(idle.waiting_count, RECORDING_WAITING_MAX);

    note(0, 1, 10, "gone");
    note(0, 1, 11, "there");
    end_take();
    cr_expect_eq(known_turns, 1);
    cr_expect_str_eq(last_stack, "there");
    recording_idle_end(&idle, put, NULL);
    cr_expect_eq(unknown_turns, 10 + RECORDING_WAITING_MAX - 1);
    cr_expect_eq(idle.waiting_count, 0);
}

Test(recording_idle, reaped_threads_are_forgotten_bit_by_bit)
{
    const uint32_t count = 5000;

    for (uint32_t thread = 0; thread < count; thread++) {
        char stack[16];

        snprintf(stack, sizeof stack, "stack %u", thread);
        note(thread, 1, 1, stack);
    }
    end_take();
    recording_idle_forget(&idle, is_odd, NULL);
    cr_expect_lt(idle.stacks.count, count);
    cr_expect_gt(idle.stacks.count, count / 2, "a take looks at some");
    for (int i = 0; i < 16; i++)
        recording_idle_forget(&idle, is_odd, NULL);
    cr_expect_eq(idle.stacks.count, count / 2);
    take(1, 1, 1);
    cr_expect_eq(known_turns, 1);
    take(2, 1, 1);
    recording_idle_end(&idle, put, NULL);
    cr_expect_eq(unknown_turns, 1);
}

Test(recording_idle, a_newer_life_of_the_record_replaces_and_an_older_one_does_not)
{
    note(0, 5, 3, "new life");
    note(0, 4, 9, "old life");
    take(0, 4, 9);
    cr_expect_str_eq(last_stack, "old life", "for the length of the take");
    end_take();
    take(0, 5, 3);
    cr_expect_str_eq(last_stack, "new life");
    take(0, 4, 9);
    end_take();
    cr_expect_eq(idle.waiting_count, 1);
}

Test(recording_idle, a_record_of_a_sample_before_the_last_one_is_put_while_its_thread_is_known)
{
    note(0, 1, 1, "first");
    end_take();
    note(0, 1, 2, "second");
    end_take();
    take(0, 1, 1);
    take(0, 1, 3);
    end_take();
    cr_expect_eq(unknown_turns, 1);
    cr_expect_eq(idle.waiting_count, 1, "the next sample may come");
}

Test(recording_idle, a_record_without_a_number_waits_for_nothing)
{
    take(0, 1, 0);
    cr_expect_eq(unknown_turns, 1);
    cr_expect_eq(idle.waiting_count, 0);
}
