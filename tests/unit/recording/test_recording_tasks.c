/* Which samples have whose stack of who handed their task over under them, in a recording and in a graph, and when none is known. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "support/jfr_check.h"

#define TEXT_BYTES 16384

static char directory[] = "/tmp/jaywalk-tasks-XXXXXX";
static char path[64];
static struct jw_error err;
static struct generations *generations;
static struct recording *recording;
static uint64_t now_ns;
static enum recording_clock shows = RECORDING_SHOWS_CPU;
static bool is_thread_gone;
static char
    text[TEXT_BYTES]; /* a line for each stack of samples, its root first, or so many of it */

static bool tell_thread(void *context, uint32_t index, uint32_t serial,
                        struct recording_thread *out)
{
    return !(is_thread_gone && index == 1) && made_tell_thread(context, index, serial, out);
}

static void set_up(enum recording_format format)
{
    struct recording_config config;

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out", directory);
    generations =
        generations_open(&(struct generations_config){.memory_bytes = GENERATIONS_MIN_BYTES}, &err);
    cr_assert_not_null(generations, "%s", err.message);
    config = made_config(path, format);
    config.has_tasks = true;
    config.shows = shows;
    config.sources.thread = tell_thread;
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    now_ns = jw_now_ns();
}

static void tear_down(void)
{
    generations_close(generations);
    unlink(path);
    cr_expect(rmdir(directory) == 0, "something was left behind");
}

TestSuite(recording_tasks, .fini = tear_down, .timeout = 1800);

/* What holds for a recording and for text is two tests. */
#define TEST_OF_BOTH(name)                                                                         \
    static void name(enum recording_format format);                                                \
    Test(recording_tasks, name##_in_a_recording)                                                   \
    {                                                                                              \
        name(RECORDING_JFR);                                                                       \
    }                                                                                              \
    Test(recording_tasks, name##_in_text)                                                          \
    {                                                                                              \
        name(RECORDING_COLLAPSED);                                                                 \
    }                                                                                              \
    static void name(enum recording_format format)

/* ---- what happens, each thing a microsecond behind the one before ---- */

/* Methods of class App, the top first: "run;main". */
static store_id stack_of(struct generation *generation, const char *methods, uint32_t flags)
{
    jw_frame frames[16];
    uint32_t count = 0;
    char names[128];
    char *rest = NULL;

    snprintf(names, sizeof names, "%s", methods);
    for (char *name = strtok_r(names, ";", &rest); name != NULL;
         name = strtok_r(NULL, ";", &rest)) {
        const bool is_own = strchr(name, '/') != NULL;

        frames[count++] = jw_frame_java(is_own ? JW_FRAME_JAVA_NATIVE : JW_FRAME_COMPILED,
                                        made_method(generation, is_own ? name : "App",
                                                    is_own ? "submit" : name, "()V", 2, 9, false),
                                        0);
    }
    return store_put(generation->traces, frames, count, STORE_WALKER_OWN | flags);
}

static void put(const struct event_record *what, const char *methods, uint32_t flags)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = event_reserve(generation->events);

    record->kind = what->kind;
    record->flags = what->flags;
    record->thread_index = what->thread_index;
    record->thread_serial = what->thread_index + 1;
    record->value = what->value;
    record->weight_ns = what->weight_ns;
    record->sample_count = what->sample_count;
    record->state = what->state;
    record->time_ns = now_ns += 1000;
    record->trace = stack_of(generation, methods, flags);
    event_commit(record);
    generation_leave(generations, &ticket);
}

static void task(enum event_task what, uint32_t thread, uint64_t number, const char *methods)
{
    put(
        &(struct event_record){
            .kind = EVENT_TASK, .flags = (uint16_t)what, .thread_index = thread, .value = number},
        methods, 0);
}

static void hand(uint64_t number, const char *methods)
{
    char own[128];

    snprintf(own, sizeof own, "io/jaywalk/QueueEvents;java/lang/JaywalkQueues;%s", methods);
    task(EVENT_TASK_HANDED, 0, number, own);
}

static void begin(uint64_t number)
{
    task(EVENT_TASK_BEGUN, 1, number, "tell");
}

static void end(void)
{
    task(EVENT_TASK_ENDED, 1, 0, "tell");
}

static void sample_of(uint32_t thread, const char *methods, uint32_t flags)
{
    put(&(struct event_record){.kind = EVENT_CPU_SAMPLE,
                               .thread_index = thread,
                               .weight_ns = MADE_WEIGHT_NS},
        methods, flags);
}

static void sample(const char *methods)
{
    sample_of(1, methods, 0);
}

static void turn(void)
{
    made_turn(generations, recording);
}

/* ---- what is told ---- */

static void add_stack(const struct jfr_reader_event *event)
{
    struct jfr_value field;
    struct jfr_stack stack;
    struct jfr_stack_frame frame;
    struct jfr_method method = {0};
    char line[512] = "", longer[600];

    cr_assert(jfr_value_field(&event->value, "stackTrace", &field) &&
              jfr_stack_begin(&field, &stack));
    while (jfr_stack_next(&stack, &frame)) {
        cr_assert(jfr_method_read(&frame.method, &method));
        snprintf(longer, sizeof longer, "%s%s%s%s", method.name.text[0] == '[' ? "" : "App.",
                 method.name.text, line[0] == '\0' ? "" : ";", line);
        snprintf(line, sizeof line, "%.511s", longer);
    }
    jfr_method_free(&method);
    strcat(text, line);
    strcat(text, " 1\n");
}

static void read_jfr(void)
{
    struct jfr_check check;
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;

    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err)) {
        while (jfr_reader_next_event(reader, &event, &err)) {
            if (strcmp(event.type_name, "jdk.ExecutionSample") == 0 ||
                strcmp(event.type_name, "jdk.NativeMethodSample") == 0 ||
                strcmp(event.type_name, "jaywalk.WallClockSample") == 0)
                add_stack(&event);
        }
    }
    jfr_reader_close(reader);
}

static void finish(enum recording_format format)
{
    FILE *file;

    turn();
    cr_assert(recording_close(recording, &err), "%s", err.message);
    if (format == RECORDING_JFR) {
        read_jfr();
        return;
    }
    file = fopen(path, "r");
    cr_assert_not_null(file);
    cr_assert_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
}

/* As many samples of it, in however many lines. */
static void has(unsigned samples, const char *stack)
{
    const size_t length = strlen(stack);
    unsigned found = 0;

    for (const char *line = text; *line != '\0';) {
        const char *next = strchr(line, '\n');
        unsigned count;

        if (strncmp(line, stack, length) == 0 && sscanf(line + length, " %u\n", &count) == 1)
            found += count;
        line = next == NULL ? "" : next + 1;
    }
    cr_expect(eq(uint, found, samples), "%s in:\n%s", stack, text);
}

/* ---- tests ---- */

TEST_OF_BOTH(a_task_has_who_handed_it_over_under_it)
{
    set_up(format);
    hand(1, "order;main");
    hand(2, "refund;main");
    sample("idle;worker");
    begin(2);
    sample("run;worker");
    sample("run;worker");
    sample_of(0, "wait;main", 0); /* another thread has no task */
    task(EVENT_TASK_ENDED_ALL, 1, 0, "tell");
    sample("idle;worker");
    begin(1);
    sample("run;worker");
    finish(format);
    has(2, "App.main;App.refund;[handed over];App.worker;App.run");
    has(1, "App.main;App.order;[handed over];App.worker;App.run");
    has(2, "App.worker;App.idle");
    has(1, "App.main;App.wait");
}

TEST_OF_BOTH(tasks_go_on_in_later_generations)
{
    set_up(format);
    hand(7, "order;main");
    turn();
    turn();
    begin(7);
    sample("run;worker");
    turn();
    turn();
    sample("run;worker");
    turn();
    sample("last;worker");
    end();
    sample("idle;worker");
    turn();
    sample("idle;worker");
    finish(format);
    has(2, "App.main;App.order;[handed over];App.worker;App.run");
    has(1, "App.main;App.order;[handed over];App.worker;App.last");
    has(2, "App.worker;App.idle");
}

TEST_OF_BOTH(one_task_lies_within_another)
{
    set_up(format);
    hand(1, "outer;main");
    hand(2, "inner;main");
    begin(1);
    sample("run;worker");
    begin(2);
    sample("run;worker");
    turn();
    sample("run;worker");
    begin(99); /* nobody saw it handed over */
    sample("run;worker");
    end();
    end();
    sample("run;worker");
    end();
    sample("run;worker");
    end(); /* of one that had begun before there was anybody to notice */
    sample("run;worker");
    finish(format);
    has(2, "App.main;App.outer;[handed over];App.worker;App.run");
    has(2, "App.main;App.inner;[handed over];App.worker;App.run");
    has(3, "App.worker;App.run");
}

TEST_OF_BOTH(where_an_end_was_lost_nothing_is_believed)
{
    set_up(format);
    hand(1, "order;main");
    hand(2, "refund;main");
    begin(1);
    sample("run;worker");
    turn();
    jw_count(JW_COUNT_TASKS_LOST);
    sample("idle;worker");
    turn();
    sample("idle;worker"); /* of what was lost at the same time the rest may be here */
    turn();
    begin(2);
    sample("run;worker");
    finish(format);
    has(1, "App.main;App.order;[handed over];App.worker;App.run");
    has(1, "App.main;App.refund;[handed over];App.worker;App.run");
    has(2, "App.worker;App.idle");
}

TEST_OF_BOTH(what_was_lost_before_the_first_take_counts)
{
    set_up(format);
    hand(1, "order;main");
    begin(1);
    jw_count(JW_COUNT_TASKS_LOST);
    sample("idle;worker");
    finish(format);
    has(1, "App.worker;App.idle");
}

TEST_OF_BOTH(once_ends_are_not_told_nothing_is_under_anybody)
{
    set_up(format);
    hand(1, "order;main");
    begin(1);
    sample("run;worker");
    turn();
    recording_tasks_over(recording, now_ns + 1);
    sample("idle;worker");
    finish(format);
    has(1, "App.main;App.order;[handed over];App.worker;App.run");
    has(1, "App.worker;App.idle");
}

TEST_OF_BOTH(a_session_that_ends_before_its_first_take_is_over_too)
{
    set_up(format);
    hand(1, "order;main");
    begin(1);
    sample("run;worker");
    recording_tasks_over(recording, now_ns + 1);
    sample("idle;worker");
    finish(format);
    has(1, "App.main;App.order;[handed over];App.worker;App.run");
    has(1, "App.worker;App.idle");
}

Test(recording_tasks, a_graph_that_is_resumed_has_no_task_under_way)
{
    set_up(RECORDING_COLLAPSED);
    hand(1, "order;main");
    hand(2, "refund;main");
    begin(1);
    sample("run;worker");
    turn();
    recording_tasks_over(recording, now_ns + 1);
    recording_pause(recording);
    cr_assert(recording_resume(recording, &err), "%s", err.message);
    sample("idle;worker");
    turn();
    begin(2); /* its number is of before */
    sample("run;worker");
    finish(RECORDING_COLLAPSED);
    has(1, "App.main;App.order;[handed over];App.worker;App.run");
    has(1, "App.worker;App.idle");
    has(1, "App.worker;App.run");
}

TEST_OF_BOTH(a_thread_that_is_gone_has_no_task)
{
    set_up(format);
    hand(1, "order;main");
    begin(1);
    turn();
    is_thread_gone = true;
    turn();
    is_thread_gone = false;
    sample("run;worker");
    finish(format);
    has(1, "App.worker;App.run");
}

TEST_OF_BOTH(so_many_tasks_are_kept_and_no_more)
{
    const uint64_t not_kept = jw_counter(JW_COUNT_TASKS_NOT_KEPT);

    set_up(format);
    hand(1, "order;main");
    hand(2, "refund;main");
    hand(131073, "late;main"); /* in place of 1 */
    turn();
    cr_assert(eq(u64, jw_counter(JW_COUNT_TASKS_NOT_KEPT) - not_kept, 1));
    begin(1);
    sample("run;worker");
    end();
    begin(131073);
    sample("run;worker");
    end();
    begin(2);
    sample("run;worker");
    end();
    begin(2); /* is taken once */
    sample("run;worker");
    finish(format);
    has(2, "App.worker;App.run");
    has(1, "App.main;App.late;[handed over];App.worker;App.run");
    has(1, "App.main;App.refund;[handed over];App.worker;App.run");
}

TEST_OF_BOTH(a_stack_that_was_cut_says_so_where_it_was)
{
    set_up(format);
    hand(1, "order;main");
    begin(1);
    sample_of(1, "run;worker", STORE_TRUNCATED);
    finish(format);
    has(1, "App.main;App.order;[handed over];[truncated];App.worker;App.run");
}

TEST_OF_BOTH(a_thread_that_waits_in_a_task_has_it_in_all_turns)
{
    struct event_record wall = {.kind = EVENT_WALL_SAMPLE,
                                .thread_index = 1,
                                .value = 1,
                                .weight_ns = MADE_WEIGHT_NS,
                                .sample_count = 1,
                                .state = JW_STATE_PARKED};

    shows = RECORDING_SHOWS_WALL;
    set_up(format);
    hand(1, "order;main");
    begin(1);
    put(&wall, "park;worker", 0);
    turn();
    turn();
    wall.kind = EVENT_WALL_IDLE;
    wall.sample_count = 5;
    put(&wall, "", 0);
    finish(format);
    has(format == RECORDING_JFR ? 2 : 6, "App.main;App.order;[handed over];App.worker;App.park");
}

#define MANY 3000 /* as fit in no first table */

static void hand_many(void)
{
    for (uint64_t number = 1; number <= MANY; number++) {
        hand(number, "order;main");
        if (number % 500 == 0)
            turn();
    }
    turn();
}

Test(recording_tasks, many_that_wait_are_kept)
{
    set_up(RECORDING_COLLAPSED);
    hand_many();
    for (uint64_t number = 1; number <= MANY; number += MANY / 20, end()) {
        begin(number);
        sample("run;worker");
    }
    finish(RECORDING_COLLAPSED);
    has(20, "App.main;App.order;[handed over];App.worker;App.run");
}

/* What stacks that wait may have is all in use, but so many bytes. */
static void use_up(uint64_t but_bytes)
{
    struct jw_memory_figures all;

    jw_memory_get(JW_MEMORY_WAITING, &all);
    but_bytes += all.charged_bytes;
    cr_assert(jw_memory_charge(JW_MEMORY_WAITING, all.limit_bytes - but_bytes));
}

Test(recording_tasks, with_the_smallest_memlimit_there_is_room_for_some)
{
    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    set_up(RECORDING_COLLAPSED);
    hand_many();
    begin(MANY - 1);
    sample("run;worker");
    finish(RECORDING_COLLAPSED);
    has(1, "App.main;App.order;[handed over];App.worker;App.run");
}

Test(recording_tasks, what_finds_no_memory_is_counted)
{
    const uint64_t not_kept = jw_counter(JW_COUNT_TASKS_NOT_KEPT);
    const uint64_t no_memory = jw_counter(JW_COUNT_TASKS_NO_MEMORY);

    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    set_up(RECORDING_JFR);
    use_up(0);
    hand(1, "order;main");
    turn();
    begin(1);
    sample("run;worker");
    cr_assert(eq(u64, jw_counter(JW_COUNT_TASKS_NOT_KEPT) - not_kept, 1));
    cr_assert(eq(u64, jw_counter(JW_COUNT_TASKS_NO_MEMORY) - no_memory, 1));
    finish(RECORDING_JFR);
    has(1, "App.worker;App.run");
}

/* A small table goes on; who is pushed out of it is counted, and has nobody else's stack. */
Test(recording_tasks, who_is_pushed_out_of_a_small_table_is_counted)
{
    const uint64_t no_memory = jw_counter(JW_COUNT_TASKS_NO_MEMORY);

    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    set_up(RECORDING_COLLAPSED);
    hand(1, "order;main");
    turn();
    use_up(2048);            /* not a table of 512 */
    hand(257, "order;main"); /* in place of 1 */
    turn();
    cr_assert(eq(u64, jw_counter(JW_COUNT_TASKS_NO_MEMORY) - no_memory, 1));
    begin(1);
    sample("run;worker");
    finish(RECORDING_COLLAPSED);
    has(1, "App.worker;App.run");
}
