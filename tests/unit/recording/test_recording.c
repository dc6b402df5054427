/* A recording from generations to the file: names, times, chunks, counters, failures. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "os/os_output.h"
#include "support/jfr_check.h"

static char directory[] = "/tmp/jaywalk-recording-XXXXXX";
static char path[64];
static struct jw_error err;
static struct jfr_check check;
static struct generations *generations;

static void set_up(void)
{
    const struct generations_config memory = {0};

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    generations = generations_open(&memory, &err);
    cr_assert_not_null(generations);
}

static void tear_down(void)
{
    jw_alloc_fail_after(0);
    generations_close(generations);
    unlink(path);
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

TestSuite(recording, .init = set_up, .fini = tear_down, .timeout = 1800);

static void expect_sound(void)
{
    cr_expect(jfr_check_file(path, &check), "%s", check.problem);
}

static void sample_at(uint64_t time_ns)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    const jw_frame frame = jw_frame_mark(JW_MARK_GC_ACTIVE);
    struct event_record *record = event_reserve(generation->events);

    record->kind = EVENT_CPU_SAMPLE;
    record->thread_serial = 1;
    record->time_ns = time_ns;
    record->weight_ns = 5;
    record->trace = store_put(generation->traces, &frame, 1, 0);
    event_commit(record);
    generation_leave(generations, &ticket);
}

static struct recording *open_jfr(void)
{
    const struct recording_config config = made_config(path, RECORDING_JFR);
    struct recording *recording = recording_open(&config, &err);

    cr_assert_not_null(recording, "%s", err.message);
    return recording;
}

Test(recording, is_complete_before_the_first_sample)
{
    struct recording *recording = open_jfr();
    struct stat found;

    expect_sound();
    cr_expect_eq(jfr_check_events(&check, "jdk.ActiveRecording"), 1);
    cr_expect_eq(jfr_check_events(&check, "jdk.JVMInformation"), 1);
    cr_assert_eq(stat(path, &found), 0);
    cr_expect_eq(found.st_mode & 0777, 0600);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    expect_sound();
    cr_expect(check.is_final);
    cr_assert_eq(stat(path, &found), 0);
    cr_expect_eq(found.st_mode & 0777, 0600);
}

Test(recording, holds_every_sample_and_kind)
{
    const struct recording_config config = made_config(path, RECORDING_JFR);

    cr_assert(made_recording(&config, 3, 2, &err), "%s", err.message);
    expect_sound();
    cr_expect_eq(check.chunk_count, 3);
    cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 6 * 70);
    cr_expect_eq(jfr_check_events(&check, "jdk.NativeMethodSample"), 6 * 30);
}

/* Text of the first event of this type that has it in this field; steps into structs by '.'. */
static bool has_text(const char *type_name, const char *const *fields, const char *wanted)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jfr_text text = {0};
    bool is_there = false;

    cr_assert_not_null(reader, "%s", err.message);
    while (!is_there && jfr_reader_next_chunk(reader, &chunk, &err))
        while (!is_there && jfr_reader_next_event(reader, &event, &err)) {
            struct jfr_value value = event.value;
            bool is_found = strcmp(event.type_name, type_name) == 0;

            for (size_t i = 0; is_found && fields[i] != NULL; i++) {
                struct jfr_value inner;

                is_found = jfr_value_field(&value, fields[i], &inner);
                value = inner;
            }
            is_there = is_found && jfr_value_text(&value, &text) && strcmp(text.text, wanted) == 0;
        }
    jfr_text_free(&text);
    jfr_reader_close(reader);
    return is_there;
}

Test(recording, threads_have_their_names_and_a_new_one_after_a_rename)
{
    const struct recording_config config = made_config(path, RECORDING_JFR);
    const char *const java_name[] = {"sampledThread", "javaName", NULL};
    const char *const os_name[] = {"sampledThread", "osName", NULL};
    const char *const group[] = {"sampledThread", "group", "name", NULL};
    const char *const parent[] = {"sampledThread", "group", "parent", "name", NULL};

    cr_assert(made_recording(&config, 1, 4, &err), "%s", err.message);
    cr_expect(has_text("jdk.ExecutionSample", java_name, "main"));
    cr_expect(has_text("jdk.ExecutionSample", java_name, "worker"));
    cr_expect(has_text("jdk.NativeMethodSample", os_name, "GC Thread#0"));
    cr_expect(has_text("jdk.ExecutionSample", group, "main"));
    cr_expect(has_text("jdk.ExecutionSample", parent, "system"));
    cr_expect(
        has_text("jdk.ExecutionSample", (const char *const[]){"state", NULL}, "STATE_RUNNABLE"));
    expect_sound();
    cr_expect_gt(check.checkpoint_count, 1, "the new name came with a later checkpoint");
}

/* Whatever a thread calls itself: bytes that are no text, quotes, nothing at all, half of a pair. */
static const char *const odd_names[] = {"",         "\xff\xfe",     "\"quoted\\", "\xed\xa0\xbd",
                                        "\xc0\x80", "a\nb\x1b[31m", "\xf0\x9f"};
static size_t odd_name;

static bool tell_odd_thread(void *context, uint32_t index, uint32_t serial,
                            struct recording_thread *out)
{
    if (!made_tell_thread(context, index, serial, out))
        return false;
    out->java_name = made_text(odd_names[odd_name]);
    out->os_name = made_text(odd_names[(odd_name + 1) % JW_COUNT_OF(odd_names)]);
    out->group = out->java_name;
    return true;
}

Test(recording, m33_whatever_a_thread_is_called_the_recording_has_text)
{
    for (odd_name = 0; odd_name < JW_COUNT_OF(odd_names); odd_name++) {
        struct recording_config config = made_config(path, RECORDING_JFR);

        config.sources.thread = tell_odd_thread;
        cr_assert(made_recording(&config, 1, 1, &err), "%s", err.message);
        expect_sound();
        cr_assert_eq(unlink(path), 0);
    }
}

Test(recording, m60_records_older_than_the_recording_are_moved_into_it_and_counted)
{
    struct recording *recording = open_jfr();
    const uint64_t before = jw_counter(JW_COUNT_EVENT_TIME_CLAMPED);

    sample_at(1);
    sample_at(jw_now_ns());
    made_turn(generations, recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_expect_eq(jw_counter(JW_COUNT_EVENT_TIME_CLAMPED), before + 1);
    expect_sound();
    cr_expect_eq(jfr_check_events(&check, "jdk.NativeMethodSample"), 2);
}

Test(recording, a_late_record_lowers_the_start_of_its_chunk_but_not_below_the_one_before)
{
    struct recording *recording = open_jfr();
    const uint64_t first_ns = jw_now_ns();

    cr_assert(recording_roll(recording, &err));
    const uint64_t before = jw_counter(JW_COUNT_EVENT_TIME_CLAMPED);
    sample_at(first_ns);
    made_turn(generations, recording);
    cr_assert(recording_flush(recording, &err));
    expect_sound();
    cr_expect_eq(check.last_start_ticks, first_ns, "the chunk begins with its earliest event");
    cr_expect_eq(jw_counter(JW_COUNT_EVENT_TIME_CLAMPED), before);

    sample_at(check.first_start_ticks);
    made_turn(generations, recording);
    cr_assert(recording_close(recording, &err));
    expect_sound();
    cr_expect_eq(check.last_start_ticks, check.first_start_ticks + 1);
    cr_expect_eq(jw_counter(JW_COUNT_EVENT_TIME_CLAMPED), before + 1);
}

Test(recording, chunks_end_by_size)
{
    struct recording_config config = made_config(path, RECORDING_JFR);
    struct recording_status status;

    config.chunk_bytes = 1; /* taken as the least size */
    struct recording *recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    for (int round = 0; round < 400; round++) {
        for (unsigned kind = 0; kind < 100; kind++)
            made_sample(generations, kind);
        made_turn(generations, recording);
        cr_assert(recording_tick(recording, &err), "%s", err.message);
    }
    recording_get_status(recording, &status);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    expect_sound();
    cr_expect_eq(status.samples, 40000);
    cr_expect_eq(check.chunk_count, status.chunks);
    cr_expect_geq(check.chunk_count, 3);
    cr_expect_leq(check.chunk_count, 5, "40,000 samples take 15 bytes each, beside the types");
    cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 28000);
    cr_expect_geq(jfr_check_events(&check, "jaywalk.Diagnostics"), check.chunk_count);
}

Test(recording, chunks_end_by_age)
{
    struct recording_config config = made_config(path, RECORDING_JFR);

    config.chunk_ns = 3600 * JW_NS_PER_SECOND;
    struct recording *recording = recording_open(&config, &err);
    cr_assert_not_null(recording);
    cr_expect(!recording_chunk_is_due(recording, jw_now_ns()));
    cr_expect(recording_chunk_is_due(recording, jw_now_ns() + 3600 * JW_NS_PER_SECOND));
    cr_assert(recording_close(recording, &err));
}

static int64_t last_count(const char *field_name)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    int64_t count = -1;

    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err)) {
            struct jfr_value value;

            if (strcmp(event.type_name, "jaywalk.Diagnostics") == 0 &&
                jfr_value_field(&event.value, field_name, &value))
                cr_assert(jfr_value_integer(&value, &count));
        }
    jfr_reader_close(reader);
    return count;
}

Test(recording, m58_counters_begin_at_zero_and_obey_the_law)
{
    /* What happened before the recording is not in it, not even a signal still under way. */
    jw_count_add(JW_COUNT_SIGNALS, 5);
    jw_count_add(JW_COUNT_SAMPLES, 3);
    jw_count_add(JW_COUNT_LOST_NO_THREAD, 1);

    struct recording *recording = open_jfr();
    jw_count(JW_COUNT_LOST_REENTRY);   /* the outcome of that one */
    jw_count_add(JW_COUNT_SIGNALS, 2); /* of these, one is lost and one is under way */
    jw_count(JW_COUNT_LOST_EVENTS_FULL);
    jw_count(JW_COUNT_FOREIGN_SIGNALS); /* no term of the law */
    cr_assert(recording_close(recording, &err));

    cr_expect_eq(last_count("samples"), 0);
    cr_expect_eq(last_count("lostNoThread"), 0);
    cr_expect_eq(last_count("lostReentry"), 1);
    cr_expect_eq(last_count("lostEventsFull"), 1);
    cr_expect_eq(last_count("foreignSignals"), 1);
    cr_expect_eq(last_count("signals"), 3);
    cr_expect_eq(last_count("inFlight"), 1);
    expect_sound();
}

static size_t writes_left;

static ssize_t write_until_full(int fd, const void *bytes, size_t length_bytes, off_t offset)
{
    if (writes_left == 0) {
        errno = ENOSPC;
        return -1;
    }
    writes_left--;
    return pwrite(fd, bytes, length_bytes, offset);
}

Test(recording, m53_a_full_disk_is_told_once_and_again_at_the_end)
{
    struct recording_config config = made_config(path, RECORDING_JFR);
    struct os_output_calls calls = os_output_system_calls;

    calls.write_at = write_until_full;
    config.calls = &calls;
    writes_left = 3 + 4 + 2; /* the file, one flush, half of another */
    struct recording *recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    made_sample(generations, 0);
    made_turn(generations, recording);
    cr_assert(recording_tick(recording, &err), "%s", err.message);
    made_sample(generations, 0);
    made_turn(generations, recording);
    cr_assert(!recording_tick(recording, &err));
    cr_expect(strstr(err.message, "No space left"), "%s", err.message);
    cr_expect(strstr(err.message, "stay readable"), "%s", err.message);

    jw_error_clear(&err);
    made_sample(generations, 0);
    made_turn(generations, recording);
    cr_expect(recording_tick(recording, &err), "told once");
    cr_expect(!recording_close(recording, &err), "the recording is not whole");
    cr_expect(strstr(err.message, "No space left"), "%s", err.message);
    expect_sound();
    cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 1);
}

static void fail_each_allocation(enum recording_format format)
{
    struct recording_config config = made_config(path, format);
    bool is_done = false;

    config.is_by_thread = true;

    for (uint64_t nth = 1; !is_done; nth++) {
        struct recording *recording;

        jw_error_clear(&err);
        jw_alloc_fail_after(nth);
        recording = recording_open(&config, &err);
        bool is_good = recording != NULL;
        if (is_good) {
            for (unsigned kind = 0; kind < 100; kind += 3)
                made_sample(generations, kind);
            made_turn(generations, recording);
            is_good = recording_tick(recording, &err);
            is_good = recording_close(recording, &err) && is_good;
        }
        is_done = is_good;
        jw_alloc_fail_after(0);
        cr_assert(is_good || strstr(err.message, "out of memory"), "%s", err.message);
        if (access(path, F_OK) == 0) {
            if (format == RECORDING_JFR)
                expect_sound();
            else
                cr_expect(is_good, "a graph that is not whole is not shown");
            cr_assert_eq(unlink(path), 0);
        }
    }
}

Test(recording, m50_each_allocation_may_fail_and_the_file_stays_sound)
{
    fail_each_allocation(RECORDING_JFR);
}

Test(recording, each_allocation_may_fail_and_no_half_graph_appears)
{
    fail_each_allocation(RECORDING_HTML);
}

static void write_graph(enum recording_format format, const char *wanted)
{
    const struct recording_config config = made_config(path, format);
    struct recording *recording = recording_open(&config, &err);
    char text[1 << 18];
    FILE *file;

    cr_assert_not_null(recording, "%s", err.message);
    cr_expect_neq(access(path, F_OK), 0, "nothing is shown before the end");
    for (unsigned kind = 0; kind < 100; kind++)
        made_sample(generations, kind);
    made_turn(generations, recording);
    cr_assert(recording_tick(recording, &err));
    cr_assert(recording_close(recording, &err), "%s", err.message);
    file = fopen(path, "rb");
    cr_assert_not_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    cr_expect(strstr(text, wanted), "no \"%s\" in it", wanted);
}

Test(recording, other_formats_show_the_same_stacks)
{
    write_graph(RECORDING_COLLAPSED, "app/Hot.main;app/Hot.spin 60\n");
}

Test(recording, text_lists_the_hottest_methods)
{
    write_graph(RECORDING_TEXT, "app.Hot.spin");
}

Test(recording, a_graph_is_a_page)
{
    write_graph(RECORDING_HTML, "<html");
}

Test(recording, s05_refuses_a_symbolic_link_and_leaves_its_target_alone)
{
    const struct recording_config config = made_config(path, RECORDING_JFR);
    char target[80];

    snprintf(target, sizeof target, "%s/victim", directory);
    FILE *file = fopen(target, "w");
    fputs("precious", file);
    fclose(file);
    cr_assert_eq(symlink(target, path), 0);
    cr_expect_null(recording_open(&config, &err));
    cr_expect(strstr(err.message, "symbolic link"), "%s", err.message);

    struct stat found;
    cr_assert_eq(stat(target, &found), 0);
    cr_expect_eq(found.st_size, 8);
    cr_assert_eq(unlink(target), 0);
}
