/* At the limit of their memory: names are written again, waits and stacks become marks, and the recording goes on. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "golden/made.h"
#include "profile/profile.h"
#include "recording/recording_internal.h"
#include "support/jfr_check.h"

static char directory[] = "/tmp/jaywalk-limits-XXXXXX";
static char path[64];
static struct jw_error err;
static struct generations *generations;
static struct jfr_check check;

static void set_up(void)
{
    const struct generations_config memory = {.memory_bytes = GENERATIONS_MIN_BYTES};

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out", directory);
    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    generations = generations_open(&memory, &err);
    cr_assert_not_null(generations, "%s", err.message);
}

static void tear_down(void)
{
    generations_close(generations);
    unlink(path);
    cr_expect_eq(rmdir(directory), 0);
}

TestSuite(recording_limits, .init = set_up, .fini = tear_down, .timeout = 1800);

/* All that the part has left, but so many bytes. */
static void use_up(enum jw_memory_part part, uint64_t but_bytes)
{
    struct jw_memory_figures figures;

    jw_memory_get(part, &figures);
    cr_assert(jw_memory_charge(part, figures.limit_bytes - figures.charged_bytes - but_bytes));
}

static struct recording *open_it(enum recording_format format)
{
    struct recording_config config = made_config(path, format);

    config.memory_bytes = jw_memory_limit_of(JW_MEMORY_STACKS, 0);
    struct recording *recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    return recording;
}

static void sample(struct recording *recording, unsigned count)
{
    for (unsigned kind = 0; kind < count; kind++)
        made_sample(generations, kind);
    made_turn(generations, recording);
    cr_assert(recording_tick(recording, &err), "%s", err.message);
}

Test(recording_limits, names_without_room_are_written_again_and_all_resolve)
{
    const uint64_t unkept = jw_counter(JW_COUNT_NAMES_UNKEPT);

    use_up(JW_MEMORY_NAMES, 0);
    struct recording *recording = open_it(RECORDING_JFR);
    for (int round = 0; round < 3; round++)
        sample(recording, 100);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
    cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 210);
    cr_expect_gt(jw_counter(JW_COUNT_NAMES_UNKEPT), unkept);
}

Test(recording_limits, m20_names_are_forgotten_at_half_of_their_memory_also_within_a_chunk)
{
    struct recording *recording = open_it(RECORDING_JFR);
    const uint64_t forgotten = jw_counter(JW_COUNT_NAMES_FORGOTTEN);
    const uint64_t half_bytes = jw_memory_limit_of(JW_MEMORY_NAMES, 0) / 2;
    struct jw_memory_figures figures = {0};
    char name[64];

    /* Text that no other constant has, until half of the memory is used; then a take. */
    for (unsigned i = 0; figures.charged_bytes <= half_bytes; i++) {
        const int length = snprintf(name, sizeof name, "a name like no other, number %u", i);

        (void)recording_symbol(&recording->names, (struct recording_text){name, (size_t)length});
        jw_memory_get(JW_MEMORY_NAMES, &figures);
    }
    sample(recording, 100);
    cr_expect_eq(jw_counter(JW_COUNT_NAMES_FORGOTTEN), forgotten + 1);
    jw_memory_get(JW_MEMORY_NAMES, &figures);
    cr_expect_leq(figures.charged_bytes, half_bytes / 2);
    sample(recording, 100);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
    cr_expect_eq(check.chunk_count, 1);
    cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 140);
}

Test(recording_limits, each_second_tells_every_subsystem)
{
    struct recording *recording = open_it(RECORDING_JFR);

    sample(recording, 100);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
    cr_expect_eq(jfr_check_events(&check, "jaywalk.Memory") % JW_MEMORY_LIMIT, 0);
    cr_expect_geq(jfr_check_events(&check, "jaywalk.Memory"), JW_MEMORY_LIMIT);
}

static void count_put(void *context, const struct recording_turns *turns,
                      const struct recording_seen *seen)
{
    unsigned *counts = context;

    counts[seen->stack == NULL] += turns->turn_count;
}

Test(recording_limits, what_threads_wait_on_is_unknown_where_there_is_no_room_and_no_turn_is_lost)
{
    struct recording_idle idle = {0};
    unsigned counts[2] = {0, 0}; /* with and without a stack */

    use_up(JW_MEMORY_WAITING, 32768);
    recording_idle_open(&idle);
    for (uint32_t thread = 0; thread < 5000; thread++) {
        const struct recording_turns turns = {
            .thread_serial = 1, .number = 1, .time_ns = 1, .thread_index = thread, .turn_count = 1};
        char stack[512] = {0};

        snprintf(stack, sizeof stack, "stack %u", thread);
        recording_idle_note(&idle, &turns, recording_idle_keep_stack(&idle, stack, sizeof stack),
                            NULL);
        recording_idle_take(&idle, &turns, count_put, counts);
    }
    recording_idle_end_take(&idle, count_put, counts);
    recording_idle_end(&idle, count_put, counts);
    cr_expect_eq(counts[0] + counts[1], 5000);
    cr_expect_neq(counts[0], 0);
    cr_expect_neq(counts[1], 0);
    recording_idle_close(&idle);
}

static size_t size_of(const char *file, const char *mark)
{
    static char text[1 << 20];
    FILE *stream = fopen(file, "rb");

    cr_assert_not_null(stream);
    const size_t size = fread(text, 1, sizeof text - 1, stream);
    text[size] = '\0';
    fclose(stream);
    return mark == NULL || strstr(text, mark) != NULL ? size : 0;
}

Test(recording_limits, a_graph_is_kept_small_enough_to_be_drawn_in_what_is_left)
{
    struct recording *recording = open_it(RECORDING_COLLAPSED);
    const uint64_t full = jw_counter(JW_COUNT_STACKS_FULL);

    sample(recording, 100);
    /* Less than drawing any stack takes: from now on they are a mark. */
    const uint64_t left_bytes = profile_drawing_bytes(recording->graph.profile);
    const uint64_t used_bytes = jw_memory_room_bytes() - left_bytes + 4096;
    cr_assert(jw_memory_charge(JW_MEMORY_STACKS, used_bytes));
    sample(recording, 100);
    cr_expect_eq(jw_counter(JW_COUNT_STACKS_FULL) - full, 100);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_expect_neq(size_of(path, "[memlimit reached]"), 0);
    jw_memory_credit(JW_MEMORY_STACKS, used_bytes);
}
