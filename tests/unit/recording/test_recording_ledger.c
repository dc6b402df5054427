/* The CPU ledger of a recording: accounts, their events, and that nothing is spread or lost. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "support/jfr_check.h"

#define MS 1000000

static char directory[] = "/tmp/jaywalk-ledger-XXXXXX";
static char path[64];
static struct jw_error err;
static struct generations *generations;
static struct recording *recording;
static struct jw_ledger ledger;

static void open_recording(void)
{
    const struct generations_config memory = {0};

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    generations = generations_open(&memory, &err);
    cr_assert_not_null(generations);

    const struct recording_config config = made_config(path, RECORDING_JFR);
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
}

static void end_recording(void)
{
    struct jfr_check check;

    cr_assert(recording_close(recording, &err), "%s", err.message);
    recording = NULL;
    cr_expect(jfr_check_file(path, &check), "%s", check.problem);
}

static void close_all(void)
{
    if (recording != NULL)
        cr_expect(recording_close(recording, &err), "%s", err.message);
    generations_close(generations);
    unlink(path);
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

TestSuite(recording_ledger, .init = open_recording, .fini = close_all, .timeout = 1800);

static void sample(uint32_t index, uint32_t serial, uint64_t weight_ns)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    const jw_frame frame = jw_frame_mark(JW_MARK_GC_ACTIVE);
    struct event_record *record = event_reserve(generation->events);

    record->kind = EVENT_CPU_SAMPLE;
    record->thread_index = index;
    record->thread_serial = serial;
    record->time_ns = jw_now_ns();
    record->weight_ns = weight_ns;
    record->trace = store_put(generation->traces, &frame, 1, 0);
    event_commit(record);
    generation_leave(generations, &ticket);
}

static void take(void)
{
    made_turn(generations, recording);
    made_turn(generations, recording);
}

static void used(uint32_t index, uint32_t serial, uint64_t used_ns)
{
    const struct recording_thread_cpu cpu = {.index = index, .serial = serial, .used_ns = used_ns};

    recording_thread_cpu(recording, &cpu);
}

static void ended(uint32_t index, uint32_t serial, uint64_t used_ns, bool is_short)
{
    const struct recording_thread_cpu cpu = {.index = index,
                                             .serial = serial,
                                             .used_ns = used_ns,
                                             .is_ended = true,
                                             .is_short = is_short};

    recording_thread_cpu(recording, &cpu);
}

static void expect_balance(void)
{
    int64_t sum = 0;

    cr_assert(recording_get_ledger(recording, &ledger));
    for (int line = 0; line < JW_LEDGER_LIMIT; line++)
        sum += ledger.lines_ns[line];
    cr_assert_eq(sum, ledger.process_ns);
}

static void expect_line(enum jw_ledger_line line, int64_t expected_ns)
{
    cr_assert_eq(ledger.lines_ns[line], expected_ns, "%s: %ld ns", jw_ledger_infos[line].phrase,
                 (long)ledger.lines_ns[line]);
}

/* Sum of a field over the events of this type in chunk `chunk` (0: all), of this thread (NULL: all). */
static int64_t sum_of(const char *type, const char *field, const char *thread, size_t chunk)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk info;
    struct jfr_reader_event event;
    struct jfr_text text = {0};
    int64_t sum = 0;

    cr_assert_not_null(reader, "%s", err.message);
    for (size_t number = 1; jfr_reader_next_chunk(reader, &info, &err); number++)
        while (jfr_reader_next_event(reader, &event, &err)) {
            struct jfr_value value, name;
            int64_t integer = 0;

            if (strcmp(event.type_name, type) != 0 || (chunk != 0 && number != chunk))
                continue;
            if (thread != NULL && !(jfr_value_field(&event.value, "eventThread", &name) &&
                                    jfr_value_field(&name, "javaName", &name) &&
                                    jfr_value_text(&name, &text) && strcmp(text.text, thread) == 0))
                continue;
            cr_assert(jfr_value_field(&event.value, field, &value));
            cr_assert(jfr_value_integer(&value, &integer));
            sum += integer;
        }
    cr_expect_eq(err.message[0], '\0', "%s", err.message);
    jfr_text_free(&text);
    jfr_reader_close(reader);
    return sum;
}

static size_t count_of(const char *type)
{
    struct jfr_check check;

    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
    return jfr_check_events(&check, type);
}

Test(recording_ledger, there_is_none_where_nobody_tells_of_clocks)
{
    sample(0, 1, 10 * MS);
    take();
    cr_assert_not(recording_get_ledger(recording, &ledger));
    end_recording();
    cr_expect_eq(count_of("jaywalk.CPULedger"), 0);
    cr_expect_eq(count_of("jaywalk.ThreadCPU"), 0);
}

Test(recording_ledger, every_line_has_its_time_and_all_add_up_to_the_process)
{
    sample(0, 1, 10 * MS);
    sample(0, 1, 10 * MS);
    sample(1, 2, 30 * MS);
    sample(2, 3, 10 * MS);
    take();
    used(0, 1, 27 * MS);
    used(1, 2, 26 * MS);
    ended(2, 3, 14 * MS, true);
    ended(3, 4, 5 * MS, true);
    ended(4, 5, 70 * MS, false);
    recording_thread_cpu(
        recording,
        &(struct recording_thread_cpu){.index = 5, .serial = 6, .used_ns = 8 * MS, .is_own = true});
    recording_thread_cpu(recording,
                         &(struct recording_thread_cpu){
                             .index = 6, .serial = 7, .used_ns = 9 * MS, .is_refused = true});
    recording_thread_cpu(recording,
                         &(struct recording_thread_cpu){
                             .index = 7, .serial = 8, .used_ns = 400 * MS, .is_left_out = true});
    recording_process_cpu(recording, 560 * MS);
    expect_balance();
    expect_line(JW_LEDGER_LEFT_OUT, 400 * MS);
    expect_line(JW_LEDGER_SAMPLED, 60 * MS);
    expect_line(JW_LEDGER_SHORT, 9 * MS);
    expect_line(JW_LEDGER_ENDED, 70 * MS);
    expect_line(JW_LEDGER_LIVE, 3 * MS); /* 7 too little, 4 too much */
    expect_line(JW_LEDGER_OWN, 8 * MS);
    expect_line(JW_LEDGER_REFUSED, 9 * MS);
    expect_line(JW_LEDGER_UNSEEN, 1 * MS);
    cr_expect_eq(ledger.live_threads, 5);
    cr_expect_eq(ledger.ended_threads, 3);
    cr_expect_eq(ledger.short_threads, 2);
}

Test(recording_ledger, a_line_may_be_negative_and_stays_so)
{
    sample(0, 1, 40 * MS);
    take();
    used(0, 1, 30 * MS);
    recording_process_cpu(recording, 29 * MS);
    expect_balance();
    expect_line(JW_LEDGER_LIVE, -10 * MS);
    expect_line(JW_LEDGER_UNSEEN, -1 * MS);
    end_recording();
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "unsampledTime", "main", 0), -10 * MS);
    cr_expect_eq(sum_of("jaywalk.CPULedger", "unsampledLive", NULL, 0), -10 * MS);
    cr_expect_eq(sum_of("jaywalk.CPULedger", "afterLastLook", NULL, 0), -1 * MS);
}

Test(recording_ledger, each_chunk_tells_what_came_in_it)
{
    for (uint64_t chunk = 1; chunk <= 3; chunk++) {
        sample(0, 1, chunk * MS);
        take();
        used(0, 1, chunk * 10 * MS);
        used(1, 2, 7 * MS); /* nothing new from the second chunk on */
        recording_process_cpu(recording, chunk * 20 * MS);
        if (chunk < 3)
            cr_assert(recording_roll(recording, &err), "%s", err.message);
    }
    end_recording();
    for (size_t chunk = 1; chunk <= 3; chunk++) {
        cr_expect_eq(sum_of("jaywalk.ThreadCPU", "cpuTime", "main", chunk), 10 * MS);
        cr_expect_eq(sum_of("jaywalk.ThreadCPU", "sampledTime", "main", chunk),
                     (int64_t)chunk * MS);
        cr_expect_eq(sum_of("jaywalk.ThreadCPU", "samples", "main", chunk), 1);
        cr_expect_eq(sum_of("jaywalk.CPULedger", "processTime", NULL, chunk),
                     (int64_t)chunk * 20 * MS);
    }
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "cpuTime", "worker", 0), 7 * MS);
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "ended", NULL, 0), 0);
}

/* A sample's record may be taken after the thread's clock was told, and before that it has ended. */
Test(recording_ledger, a_thread_that_ends_is_told_once_with_all_of_its_samples)
{
    used(0, 1, 12 * MS);
    recording_process_cpu(recording, 12 * MS);
    cr_assert(recording_roll(recording, &err), "%s", err.message);
    sample(0, 1, 10 * MS);
    take();
    ended(0, 1, 13 * MS, true);
    recording_process_cpu(recording, 13 * MS);
    expect_balance();
    end_recording();
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "cpuTime", "main", 1), 12 * MS);
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "cpuTime", "main", 2), 1 * MS);
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "sampledTime", "main", 2), 10 * MS);
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "unsampledTime", "main", 0), 3 * MS);
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "ended", "main", 0), 1);
}

Test(recording_ledger, an_end_without_news_is_told_too)
{
    used(0, 1, 12 * MS);
    recording_process_cpu(recording, 12 * MS);
    cr_assert(recording_roll(recording, &err), "%s", err.message);
    ended(0, 1, 12 * MS, true);
    ended(1, 2, 0, true); /* of this one there was never anything to tell */
    end_recording();
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "cpuTime", "main", 2), 0);
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "ended", "main", 2), 1);
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "ended", NULL, 0), 1);
}

Test(recording_ledger, a_pause_keeps_what_was_counted_and_ends_no_thread)
{
    struct recording_config config = made_config(path, RECORDING_TEXT);

    end_recording();
    cr_assert_eq(unlink(path), 0);
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    used(0, 1, 30 * MS);
    recording_process_cpu(recording, 31 * MS);
    recording_pause(recording);
    cr_assert(recording_resume(recording, &err), "%s", err.message);
    used(0, 9, 5 * MS); /* the same thread, whose time counts from the new start */
    recording_process_cpu(recording, 6 * MS);
    expect_balance();
    cr_expect_eq(ledger.process_ns, 37 * MS);
    expect_line(JW_LEDGER_LIVE, 35 * MS);
    expect_line(JW_LEDGER_ENDED, 0);
    expect_line(JW_LEDGER_UNSEEN, 2 * MS);
    cr_expect_eq(ledger.ended_threads, 0);
}

Test(recording_ledger, a_record_that_goes_to_another_thread_begins_again)
{
    ended(MADE_SHORT_INDEX, 1, 4 * MS, true);
    sample(MADE_SHORT_INDEX, 2, 10 * MS);
    take();
    used(MADE_SHORT_INDEX, 2, 6 * MS);
    /* Nobody told the end of this one. */
    used(MADE_SHORT_INDEX, 3, 5 * MS);
    recording_process_cpu(recording, 15 * MS);
    expect_balance();
    expect_line(JW_LEDGER_SHORT, 4 * MS);
    expect_line(JW_LEDGER_ENDED, -4 * MS);
    expect_line(JW_LEDGER_LIVE, 5 * MS);
    expect_line(JW_LEDGER_UNSEEN, 0);
    end_recording();
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "cpuTime", "short-1", 0), 4 * MS);
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "cpuTime", "short-2", 0), 6 * MS);
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "sampledTime", "short-2", 0), 10 * MS);
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "cpuTime", "short-3", 0), 5 * MS);
}

Test(recording_ledger, thousands_of_short_threads_are_summed_up_by_name_and_counted)
{
    enum { THREADS = 5000 };
    int64_t sampled = 0;

    for (uint32_t serial = 1; serial <= THREADS; serial++) {
        if (serial % 3 == 0) {
            sample(MADE_SHORT_INDEX, serial, 10 * MS);
            take();
            sampled += 10 * MS;
        }
        ended(MADE_SHORT_INDEX, serial, MS + serial, true);
    }
    recording_process_cpu(recording, (uint64_t)THREADS * 2 * MS);
    expect_balance();
    cr_expect_eq(ledger.short_threads, THREADS);
    end_recording();

    const int64_t rows = (int64_t)count_of("jaywalk.ThreadCPU");
    cr_expect_eq(rows, 1000);
    cr_expect_eq(count_of("jaywalk.ThreadsCPU"), 1);
    cr_expect_eq(sum_of("jaywalk.ThreadsCPU", "threads", NULL, 0) + rows, THREADS);
    cr_expect_eq(sum_of("jaywalk.ThreadsCPU", "ended", NULL, 0) + rows, THREADS);
    cr_expect_eq(sum_of("jaywalk.ThreadsCPU", "cpuTime", NULL, 0) +
                     sum_of("jaywalk.ThreadCPU", "cpuTime", NULL, 0),
                 (int64_t)THREADS * MS + (int64_t)THREADS * (THREADS + 1) / 2);
    cr_expect_eq(sum_of("jaywalk.ThreadsCPU", "sampledTime", NULL, 0) +
                     sum_of("jaywalk.ThreadCPU", "sampledTime", NULL, 0),
                 sampled);
}

static bool tell_letters(void *context, uint32_t index, uint32_t serial,
                         struct recording_thread *out)
{
    static char name[8];

    (void)context;
    (void)index;
    for (int i = 0; i < 4; i++, serial /= 26)
        name[i] = (char)('a' + serial % 26);
    *out = (struct recording_thread){.os_tid = 7, .os_name = made_text(name)};
    return true;
}

Test(recording_ledger, names_without_end_are_bounded_and_nothing_is_left_out)
{
    enum { THREADS = 3000 };
    struct recording_config config = made_config(path, RECORDING_JFR);

    end_recording();
    config.sources.thread = tell_letters;
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    for (uint32_t serial = 1; serial <= THREADS; serial++)
        ended(MADE_SHORT_INDEX, serial, MS, true);
    recording_process_cpu(recording, (uint64_t)THREADS * MS);
    expect_balance();
    end_recording();
    cr_expect_eq(count_of("jaywalk.ThreadsCPU"), 257);
    cr_expect_eq(sum_of("jaywalk.ThreadsCPU", "threads", NULL, 0), THREADS - 1000);
    cr_expect_eq(sum_of("jaywalk.ThreadsCPU", "cpuTime", NULL, 0), (THREADS - 1000) * (int64_t)MS);
}

Test(recording_ledger, a_chunk_after_that_tells_threads_alone_again)
{
    for (uint32_t serial = 1; serial <= 1500; serial++)
        ended(MADE_SHORT_INDEX, serial, MS, true);
    recording_process_cpu(recording, 1500ull * MS);
    cr_assert(recording_roll(recording, &err), "%s", err.message);
    ended(MADE_SHORT_INDEX, 1501, MS, true);
    end_recording();
    cr_expect_eq(sum_of("jaywalk.ThreadsCPU", "threads", NULL, 1), 500);
    cr_expect_eq(sum_of("jaywalk.ThreadsCPU", "threads", NULL, 2), 0);
    cr_expect_eq(sum_of("jaywalk.ThreadCPU", "cpuTime", "short-1501", 2), MS);
}
