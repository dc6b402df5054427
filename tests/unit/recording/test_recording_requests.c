/* Endpoints and spans, from the generation to the file; and what fails on the way of contexts. */
#include "support/one_thread.h"
#include "unit/recording/context_told.h"

TestSuite(recording_requests, .init = set_up, .fini = tear_down, .timeout = 1800);

/* ---- endpoints and spans ---- */

Test(recording_requests, an_endpoint_tells_which_request_a_root_span_is)
{
    const struct work work = work_for(3, NULL);
    struct recording_status status;

    open_it();
    put_record(&(struct made_record){.kind = EVENT_ENDPOINT,
                                     .thread = 1,
                                     .number = UINT64_MAX,
                                     .name = "GET /orders/{id}",
                                     .operation = "http.server"},
               &work);
    put_record(&(struct made_record){.kind = EVENT_ENDPOINT, .number = 2, .name = "\xff \x01"},
               NULL);
    turn();
    recording_get_status(recording, &status);
    cr_expect_eq(status.samples, 0, "no samples");
    finish();
    cr_assert_eq(told_count, 2);
    const struct told *full = &told[told[0].root_span_id == 2];
    const struct told *bare = &told[told[0].root_span_id != 2];
    cr_expect_str_eq(full->type, "jaywalk.Endpoint");
    cr_expect_eq(full->root_span_id, UINT64_MAX);
    cr_expect_str_eq(full->endpoint, "GET /orders/{id}");
    cr_expect_str_eq(full->operation, "http.server");
    cr_expect_str_eq(full->trace, TRACE_TEXT);
    cr_expect_str_eq(full->thread, "worker");
    cr_expect_str_eq(bare->endpoint, "\xef\xbf\xbd \x01");
    cr_expect_str_eq(bare->operation, "");
    cr_expect_str_eq(bare->trace, "");
}

Test(recording_requests, a_span_has_its_begin_also_in_an_earlier_chunk)
{
    const struct work work = work_for(3, "acme");
    const uint64_t clamped = jw_counter(JW_COUNT_EVENT_TIME_CLAMPED);
    struct jw_ledger ledger;

    names[0] = "tenant";
    open_it();
    const uint64_t begin_ns = jw_now_ns();
    cr_assert(recording_roll(recording, &err));
    const uint64_t duration_ns = jw_now_ns() - begin_ns;
    put_record(&(struct made_record){.kind = EVENT_SPAN,
                                     .thread = 1,
                                     .time_ns = begin_ns,
                                     .weight_ns = duration_ns,
                                     .name = "render"},
               &work);
    turn();
    recording_process_cpu(recording, 1000);
    cr_assert(recording_get_ledger(recording, &ledger));
    cr_expect_eq(ledger.lines_ns[JW_LEDGER_SAMPLED], 0, "a span is no sample");
    finish();
    cr_assert_eq(told_count, 1);
    cr_expect_str_eq(told[0].type, "jaywalk.Span");
    cr_expect_eq(told[0].chunk, 2);
    cr_expect_eq(told[0].start_ticks, (int64_t)begin_ns);
    cr_expect_lt(told[0].start_ticks, told[0].chunk_start_ticks);
    cr_expect_eq(told[0].duration_ticks, (int64_t)duration_ns);
    cr_expect_str_eq(told[0].endpoint, "render");
    cr_expect_str_eq(told[0].thread, "worker");
    cr_expect_eq(told[0].span_id, 3);
    expect_value(&told[0], 0, "acme");
    cr_expect_eq(jw_counter(JW_COUNT_EVENT_TIME_CLAMPED), clamped);
}

Test(recording_requests, a_span_that_ended_before_the_recording_is_moved_whole_and_counted)
{
    const uint64_t clamped = jw_counter(JW_COUNT_EVENT_TIME_CLAMPED);

    open_it();
    put_record(
        &(struct made_record){.kind = EVENT_SPAN, .time_ns = 10, .weight_ns = 5, .name = "old"},
        NULL);
    turn();
    finish();
    cr_assert_eq(told_count, 1);
    cr_expect_eq(told[0].duration_ticks, 5);
    cr_expect_eq(told[0].start_ticks + 5, told[0].chunk_start_ticks);
    cr_expect_eq(jw_counter(JW_COUNT_EVENT_TIME_CLAMPED), clamped + 1);
}

Test(recording_requests, graphs_pass_over_endpoints_and_spans)
{
    const struct work work = work_for(3, "acme");
    struct recording_status status;
    char text[256] = "";

    config = made_config(path, RECORDING_COLLAPSED);
    open_it();
    cpu_sample(&work);
    wall_sample(1, 1, &work);
    wall_idle(1, 1);
    put_record(&(struct made_record){.kind = EVENT_ENDPOINT, .number = 2, .name = "GET /"}, NULL);
    put_record(&(struct made_record){.kind = EVENT_SPAN, .name = "render"}, &work);
    made_turn(generations, recording);
    recording_get_status(recording, &status);
    cr_expect_eq(status.samples, 2);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file);
    cr_assert_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    cr_expect_str_eq(text, "app/Hot.main;app/Hot.spin 1\n");
}

/* ---- failures ---- */

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

/* Records of all kinds, an attribute that comes later, a chunk for it. False: `err` says why. */
static bool record_all(void)
{
    struct work work = work_for(3, "acme");
    bool is_good;

    names[0] = "tenant";
    names[1] = NULL;
    recording = recording_open(&config, &err);
    if (recording == NULL)
        return false;
    cpu_sample(&work);
    wall_sample(1, 1, &work);
    put_record(&(struct made_record){.kind = EVENT_ENDPOINT, .number = 7, .name = "GET /"}, &work);
    made_turn(generations, recording);
    is_good = recording_tick(recording, &err);
    names[1] = "route";
    work.values[1] = made_text("/orders");
    cpu_sample(&work);
    wall_idle(1, 1);
    put_record(&(struct made_record){.kind = EVENT_SPAN, .name = "render"}, &work);
    made_turn(generations, recording);
    is_good = recording_tick(recording, &err) && is_good;
    return recording_close(recording, &err) && is_good;
}

Test(recording_requests, each_allocation_may_fail_and_the_file_stays_sound)
{
    LEAVE_TO_ADDRESS_SANITIZER();

    bool is_good = false;
    uint64_t nth;

    for (nth = 1; !is_good; nth++) {
        jw_error_clear(&err);
        jw_alloc_fail_after(nth);
        is_good = record_all();
        jw_alloc_fail_after(0);
        cr_assert(is_good || strstr(err.message, "out of memory"), "%s", err.message);
        if (access(path, F_OK) == 0) {
            cr_expect(jfr_check_file(path, &check), "%s", check.problem);
            cr_assert_eq(unlink(path), 0);
        }
    }
    cr_expect_gt(nth, 60);
    cr_expect_eq(check.chunk_count, 2);
}

Test(recording_requests, a_disk_that_is_full_at_any_write_leaves_a_sound_file)
{
    struct os_output_calls calls = os_output_system_calls;
    bool is_good = false;
    size_t count;

    calls.write_at = write_until_full;
    config.calls = &calls;
    for (count = 3; !is_good; count++) {
        jw_error_clear(&err);
        writes_left = count;
        is_good = record_all();
        cr_assert(is_good || strstr(err.message, "No space left"), "%s", err.message);
        if (access(path, F_OK) == 0) {
            cr_expect(jfr_check_file(path, &check), "%s", check.problem);
            cr_assert_eq(unlink(path), 0);
        }
    }
    cr_expect_gt(count, 10);
    cr_expect_eq(check.chunk_count, 2);
}

/* Tick 0 of each chunk by the clock on the wall. */
static void expect_one_clock(int64_t ticks_per_second)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    int64_t first_ns = 0;

    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err)) {
        const int64_t zero_ns =
            (int64_t)chunk.start_unix_ns - chunk.start_ticks * (1000000000 / ticks_per_second);

        cr_expect_eq(chunk.ticks_per_second, ticks_per_second);
        if (first_ns == 0)
            first_ns = zero_ns;
        cr_expect_eq(zero_ns, first_ns, "chunk %llu", (unsigned long long)chunk.number);
    }
    jfr_reader_close(reader);
}

Test(recording_requests,
     with_coarse_ticks_all_chunks_have_one_clock_and_samples_stay_in_their_spans)
{
    config.has_coarse_ticks = true;
    open_it();
    const uint64_t now_ns = jw_now_ns();
    for (uint64_t i = 0; i < 40; i++) {
        put_record(&(struct made_record){.kind = EVENT_CPU_SAMPLE, .time_ns = now_ns + 100 * i},
                   &(struct work){.span_id = 1});
        put_record(
            &(struct made_record){.kind = EVENT_CPU_SAMPLE, .time_ns = now_ns + 100 * i + 690},
            &(struct work){.span_id = 1});
    }
    turn();
    cr_assert(recording_roll(recording, &err), "%s", err.message);
    for (uint64_t i = 0; i < 40; i++)
        put_record(
            &(struct made_record){
                .kind = EVENT_SPAN, .time_ns = now_ns + 100 * i, .weight_ns = 690, .name = "short"},
            &(struct work){.span_id = 1});
    turn();
    finish();
    expect_one_clock(1000000000 / 512);
    cr_assert_eq(told_count, 120);
    for (size_t i = 0; i < 40; i++) {
        const struct told *first = &told[2 * i], *last = &told[2 * i + 1], *span = &told[80 + i];

        cr_assert_str_eq(span->type, "jaywalk.Span");
        cr_expect_eq(first->start_ticks, span->start_ticks);
        cr_expect_eq(last->start_ticks, span->start_ticks + span->duration_ticks);
        cr_expect(span->duration_ticks == 1 || span->duration_ticks == 2);
        cr_expect_geq(first->start_ticks, 0, "ticks begin with the recording");
        cr_expect_lt(first->start_ticks, 1000000000 / 512);
    }
}

Test(recording_requests, a_span_from_before_the_recording_began_has_ticks_below_zero)
{
    config.has_coarse_ticks = true;
    open_it();
    put_record(&(struct made_record){.kind = EVENT_SPAN,
                                     .time_ns = jw_now_ns() - JW_NS_PER_SECOND,
                                     .weight_ns = JW_NS_PER_SECOND,
                                     .name = "long"},
               &(struct work){.span_id = 1});
    turn();
    finish();
    cr_assert_eq(told_count, 1);
    cr_expect_lt(told[0].start_ticks, 0);
    cr_expect_leq(llabs(told[0].duration_ticks - 1000000000 / 512), 1);
}

/* As jdk.jfr reads times of all chunks by the clock of the first, and joined are mostly recordings of one process. */
Test(recording_requests, recordings_of_a_process_with_coarse_ticks_have_one_clock)
{
    const struct made_record sample = {.kind = EVENT_CPU_SAMPLE};

    config.has_coarse_ticks = true;
    open_it();
    put_record(&sample, NULL);
    turn();
    close_it();
    const uint64_t id = check.metadata_id, start_ticks = check.last_start_ticks;
    open_it();
    put_record(&sample, NULL);
    turn();
    close_it();
    cr_expect_gt(check.first_start_ticks, start_ticks);
    cr_expect_eq(check.metadata_id, id);
    config.has_coarse_ticks = false;
    open_it();
    close_it();
    cr_expect_neq(check.metadata_id, id, "times of another clock are not those of the same types");
}
