/* Answers that are kept in memory. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "agent/agent.h"

TestSuite(answer, .timeout = 1800);

static void open_one(struct answer_memory *memory)
{
    struct jw_error err = {0};

    cr_assert(answer_open_memory(memory, &err), "%s", err.message);
}

Test(answer, in_memory_has_all_that_was_said_and_the_code)
{
    static char line[100];
    struct answer_memory memory;

    open_one(&memory);
    memset(line, 'x', sizeof line);
    for (int i = 0; i < 1000; i++)
        cr_assert(answer_say(line, sizeof line));
    answer_end(42);
    cr_assert(os_wake_wait(&memory.done, 0));
    cr_assert_eq(memory.code, 42);
    cr_assert_eq(memory.used_bytes, 1000 * sizeof line);
    for (size_t i = 0; i < memory.used_bytes; i++)
        cr_assert_eq(memory.text[i], 'x');
    jw_free(memory.text);
    cr_assert_not(answer_say(line, 1), "it has ended");
}

Test(answer, long_texts_stand_behind_the_lines)
{
    struct answer_memory memory;
    struct jw_error err = {0};

    open_one(&memory);
    cr_assert(answer_takes_text());
    cr_assert(answer_say("line\n", 5));
    cr_assert(answer_show(NULL, "text\n", 5, &err));
    answer_end(0);
    cr_assert_eq(memory.used_bytes, 10);
    cr_assert_arr_eq(memory.text, "line\ntext\n", 10);
    jw_free(memory.text);
}

static void *adopt_and_end(void *parked)
{
    answer_adopt(*(int *)parked);
    (void)answer_say("from another thread", 19);
    answer_end(7);
    return NULL;
}

Test(answer, whoever_ends_it_wakes_the_one_who_waits)
{
    struct answer_memory memory;
    pthread_t thread;

    open_one(&memory);
    int parked = answer_park();
    cr_assert_neq(parked, ANSWER_NONE);
    cr_assert_not(answer_say("no longer ours", 14));
    cr_assert_eq(pthread_create(&thread, NULL, adopt_and_end, &parked), 0);
    cr_assert(os_wake_wait(&memory.done, OS_WAKE_NEVER));
    cr_assert_eq(memory.code, 7);
    cr_assert_eq(memory.used_bytes, 19);
    pthread_join(thread, NULL);
    jw_free(memory.text);
}

Test(answer, one_too_many_is_refused)
{
    struct answer_memory memories[COMMANDS_WAITING + 3];
    int parked[COMMANDS_WAITING + 3];
    struct jw_error err = {0};
    size_t count = 0;

    while (count < JW_COUNT_OF(memories) && answer_open_memory(&memories[count], &err))
        parked[count++] = answer_park();
    cr_assert_eq(count, COMMANDS_WAITING + 2);
    cr_assert_neq(err.message[0], '\0');
    answer_adopt(parked[0]);
    answer_end(0);
    open_one(&memories[0]);
    answer_end(0);
}

Test(answer, what_finds_no_memory_is_left_out)
{
    struct answer_memory memory;
    struct jw_error err = {0};

    open_one(&memory);
    jw_alloc_fail_after(1);
    (void)answer_say("lost", 4);
    jw_alloc_fail_after(1);
    cr_assert_not(answer_show(NULL, "lost", 4, &err));
    jw_alloc_fail_after(0);
    cr_assert_neq(err.message[0], '\0');
    cr_assert(answer_say("kept", 4));
    answer_end(0);
    cr_assert_eq(memory.used_bytes, 4);
    jw_free(memory.text);
}
