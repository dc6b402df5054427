/* What threads work for, from the generation to the file. */
#include "unit/recording/context_told.h"

TestSuite(recording_context, .init = set_up, .fini = tear_down, .timeout = 1800);

/* ---- samples ---- */

Test(recording_context, every_kind_of_sample_tells_trace_spans_and_attributes)
{
    const struct work work = work_for(UINT64_MAX - 4, "acme");

    names[0] = "tenant";
    open_it();
    cpu_sample(&work);
    put_record(&(struct made_record){.kind = EVENT_CPU_SAMPLE, .stack = NATIVE_KIND}, &work);
    wall_sample(1, 1, &work);
    turn();
    finish();
    cr_assert_eq(told_count, 3);
    cr_expect_eq(check.chunk_count, 1);
    for (size_t i = 0; i < told_count; i++) {
        cr_expect_str_eq(told[i].trace, TRACE_TEXT, "%s", told[i].type);
        cr_expect_eq(told[i].span_id, UINT64_MAX - 4);
        cr_expect_eq(told[i].root_span_id, 7);
        cr_assert_eq(told[i].count, 1);
        cr_expect_str_eq(told[i].attribute_names[0], "tenant");
        expect_value(&told[i], 0, "acme");
    }
    cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 1);
    cr_expect_eq(jfr_check_events(&check, "jdk.NativeMethodSample"), 1);
    cr_expect_eq(jfr_check_events(&check, "jaywalk.WallClockSample"), 1);
}

Test(recording_context, plain_turns_of_nobatch_tell_it_too)
{
    const struct work work = work_for(3, "acme");

    names[0] = "tenant";
    config.splits_wall = true;
    open_it();
    wall_sample(1, 1, &work);
    wall_idle(1, 1);
    turn();
    finish();
    cr_assert_eq(told_count, 2);
    for (size_t i = 0; i < told_count; i++) {
        cr_expect_str_eq(told[i].type, "jdk.ExecutionSample");
        cr_expect_eq(told[i].span_id, 3);
        expect_value(&told[i], 0, "acme");
    }
}

Test(recording_context, a_sample_without_context_has_nothing_set)
{
    const struct work work = work_for(3, "acme");
    const struct work part = {.span_id = 9};

    names[0] = "tenant";
    names[1] = "route";
    open_it();
    cpu_sample(NULL);
    cpu_sample(&work);
    cpu_sample(&part);
    turn();
    finish();
    cr_assert_eq(told_count, 3);
    cr_expect_str_eq(told[0].trace, "");
    cr_expect_eq(told[0].span_id, 0);
    cr_expect_eq(told[0].root_span_id, 0);
    cr_assert_eq(told[0].count, 2);
    cr_expect_not(told[0].values[0].is_set);
    cr_expect_not(told[0].values[1].is_set);
    expect_value(&told[1], 0, "acme");
    cr_expect_not(told[1].values[1].is_set);
    cr_expect_str_eq(told[2].trace, "");
    cr_expect_eq(told[2].span_id, 9);
    cr_expect_not(told[2].values[0].is_set);
}

Test(recording_context, contexts_without_any_attribute_are_told)
{
    const struct work work = {.has_trace = true, .span_id = 3, .root_span_id = 7};

    open_it();
    cpu_sample(&work);
    turn();
    finish();
    cr_assert_eq(told_count, 1);
    cr_expect_str_eq(told[0].trace, TRACE_TEXT);
    cr_expect_eq(told[0].count, 0);
    cr_expect_eq(check.chunk_count, 2, "the first one had no fields for it");
}

Test(recording_context, all_sixteen_attributes_are_told_whatever_they_are_called)
{
    static const char *const strange[] = {"tenant",     "http.route", "state",
                                          "attribute2", "spanId",     "d\xc3\xa9p\xc3\xb4t"};
    static char plain[CONTEXT_ATTRIBUTES_MAX][8];
    struct work work = {.span_id = 3};
    char values[CONTEXT_ATTRIBUTES_MAX][256];

    for (size_t i = 0; i < CONTEXT_ATTRIBUTES_MAX; i++) {
        snprintf(plain[i], sizeof plain[i], "name%zu", i);
        names[i] = i < JW_COUNT_OF(strange) ? strange[i] : plain[i];
        memset(values[i], 'a' + (int)i, 255);
        work.values[i] = (struct recording_text){values[i], 255};
    }
    open_it();
    cpu_sample(&work);
    turn();
    finish();
    cr_assert_eq(told_count, 1);
    cr_assert_eq(told[0].count, CONTEXT_ATTRIBUTES_MAX);
    for (size_t i = 0; i < CONTEXT_ATTRIBUTES_MAX; i++) {
        cr_expect_str_eq(told[0].attribute_names[i], names[i]);
        cr_expect_eq(told[0].values[i].length_bytes, 255);
        cr_expect_eq(memcmp(told[0].values[i].text, values[i], 255), 0);
    }
}

Test(recording_context, an_attribute_that_comes_during_a_chunk_begins_another_and_loses_nothing)
{
    struct work work = work_for(3, "acme");

    names[0] = "tenant";
    open_it();
    cpu_sample(&work);
    turn();
    names[1] = "route";
    names[2] = "shard";
    work.values[1] = made_text("/orders");
    work.values[2] = made_text("12");
    cpu_sample(&work);
    turn();
    cpu_sample(&work);
    turn();
    finish();
    cr_expect_eq(check.chunk_count, 2, "both names in one new chunk, and no other without a name");
    cr_assert_eq(told_count, 3);
    cr_expect_eq(told[0].chunk, 1);
    cr_expect_eq(told[0].count, 1);
    for (size_t i = 1; i < 3; i++) {
        cr_expect_eq(told[i].chunk, 2);
        cr_assert_eq(told[i].count, 3);
        expect_value(&told[i], 0, "acme");
        expect_value(&told[i], 1, "/orders");
        expect_value(&told[i], 2, "12");
    }
}

Test(recording_context, each_of_sixteen_takes_may_bring_an_attribute)
{
    static char plain[CONTEXT_ATTRIBUTES_MAX][8];
    struct work work = {.span_id = 3};

    open_it();
    for (size_t i = 0; i < CONTEXT_ATTRIBUTES_MAX; i++) {
        snprintf(plain[i], sizeof plain[i], "name%zu", i);
        names[i] = plain[i];
        work.values[i] = made_text(plain[i]);
        cpu_sample(&work);
        turn();
    }
    finish();
    cr_expect_eq(check.chunk_count, 1 + CONTEXT_ATTRIBUTES_MAX);
    cr_assert_eq(told_count, CONTEXT_ATTRIBUTES_MAX);
    for (size_t i = 0; i < told_count; i++) {
        cr_assert_eq(told[i].count, i + 1);
        expect_value(&told[i], i, names[i]);
    }
}

Test(recording_context, values_are_made_valid_text_and_keep_what_is)
{
    static const struct {
        const char *bytes;
        size_t length_bytes;
        const char *text; /* as our reader shows it: a zero byte as U+FFFD */
    } cases[] = {
        {"", 0, ""},
        {"a\0b", 3,
         "a\xef\xbf\xbd"
         "b"},
        {"\x01\x1b[31m\r\n\t\x7f", 10, "\x01\x1b[31m\r\n\t\x7f"},
        {"\xff\xfe", 2, "\xef\xbf\xbd\xef\xbf\xbd"},
        {"caf\xc3", 4, "caf\xef\xbf\xbd"},
        {"\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80"},
        {"\xed\xa0\xbd\xed\xb8\x80", 6, "\xf0\x9f\x98\x80"},
    };

    names[0] = "value";
    open_it();
    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        const struct work work = {.span_id = i + 1,
                                  .values = {{cases[i].bytes, cases[i].length_bytes}}};

        cpu_sample(&work);
    }
    turn();
    finish();
    cr_assert_eq(told_count, JW_COUNT_OF(cases));
    for (size_t i = 0; i < told_count; i++) {
        const size_t number = told[i].span_id - 1;

        expect_value(&told[i], 0, cases[number].text);
    }
}

Test(recording_context, ids_mean_what_they_mean_in_their_generation)
{
    const struct work first = work_for(1, "first");
    const struct work second = work_for(2, "second");

    names[0] = "tenant";
    open_it();
    for (int round = 0; round < 6; round++) {
        cpu_sample(round % 2 == 0 ? &first : &second);
        turn();
    }
    finish();
    cr_assert_eq(told_count, 6);
    for (size_t i = 0; i < told_count; i++) {
        cr_expect_eq(told[i].span_id, i % 2 + 1);
        expect_value(&told[i], 0, i % 2 == 0 ? "first" : "second");
    }
}

Test(recording_context, a_late_record_has_its_context)
{
    const struct work work = work_for(3, "acme");

    names[0] = "tenant";
    open_it();
    put_record(&(struct made_record){.kind = EVENT_CPU_SAMPLE, .is_late = true}, &work);
    turn();
    cr_assert(recording_roll(recording, &err));
    turn();
    finish();
    cr_assert_eq(told_count, 1);
    expect_value(&told[0], 0, "acme");
    cr_expect_eq(told[0].span_id, 3);
}

Test(recording_context, trace_ids_and_values_are_forgotten_with_their_chunk)
{
    struct work work = work_for(1, "acme");
    char value[32];

    names[0] = "tenant";
    open_it();
    for (uint64_t i = 1; i <= 500; i++) {
        snprintf(value, sizeof value, "tenant %u", (unsigned)i);
        work = work_for(i, value);
        cpu_sample(&work);
    }
    turn();
    cr_expect_gt(jw_map_bytes(&recording->names.constants[JFR_TYPE_ATTRIBUTE_VALUE]), 0);
    cr_assert(recording_roll(recording, &err));
    cr_expect_eq(jw_map_bytes(&recording->names.constants[JFR_TYPE_ATTRIBUTE_VALUE]), 0);
    cr_expect_eq(jw_map_bytes(&recording->names.constants[JFR_TYPE_TRACE_ID]), 0);
    work = work_for(1, "tenant 1");
    cpu_sample(&work);
    turn();
    finish();
    cr_assert_eq(told_count, 501);
    expect_value(&told[500], 0, "tenant 1");
}

/* ---- threads that wait ---- */

Test(recording_context, idle_turns_have_the_context_of_the_last_wall_sample)
{
    const struct work first = work_for(1, "first");
    const struct work second = work_for(2, "second");

    names[0] = "tenant";
    open_it();
    wall_sample(0, 1, &first);
    wall_sample(1, 1, NULL);
    turn();
    wall_idle(0, 1);
    wall_idle(1, 1);
    turn();
    for (int i = 0; i < 6; i++)
        turn(); /* the generations of the samples are cleared and used again */
    names[1] = "route";
    cr_assert(recording_roll(recording, &err));
    wall_idle(0, 1);
    turn();
    wall_sample(0, 2, &second);
    wall_idle(0, 2);
    turn();
    finish();
    cr_assert_eq(told_count, 7);
    const uint64_t spans[] = {1, 0, 1, 0, 1, 2, 2};
    for (size_t i = 0; i < told_count; i++) {
        cr_expect_eq(told[i].span_id, spans[i], "event %zu", i);
        cr_expect_eq(told[i].values[0].is_set, spans[i] != 0);
        if (spans[i] != 0)
            expect_value(&told[i], 0, spans[i] == 1 ? "first" : "second");
    }
    cr_expect_eq(told[4].count, 2, "of the chunk after the one that had the sample");
}

Test(recording_context, an_idle_turn_before_its_sample_gets_its_context)
{
    const struct work work = work_for(1, "acme");

    names[0] = "tenant";
    open_it();
    wall_idle(0, 1);
    turn();
    wall_sample(0, 1, &work);
    turn();
    finish();
    cr_assert_eq(told_count, 2);
    for (size_t i = 0; i < told_count; i++)
        expect_value(&told[i], 0, "acme");
}

Test(recording_context, what_is_kept_of_contexts_is_bounded_and_what_is_not_is_counted)
{
    char value[200];
    struct work work;
    size_t with_context = 0;

    names[0] = "tenant";
    config.sources.thread = NULL; /* nobody knows that such threads are gone */
    open_it();
    recording->wall.idle.limit_bytes = 4096;
    const uint64_t before = jw_counter(JW_COUNT_CONTEXT_NOT_KEPT);
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    for (uint32_t thread = 0; thread < 100; thread++) {
        snprintf(value, sizeof value, "%03u", thread);
        value[3] = 'x';
        work = work_for(thread + 1, value);
        wall_sample(thread, 1, &work);
    }
    turn();
    cr_expect_leq(recording->wall.idle.contexts.used_bytes, 4096);
    cr_expect_geq(recording->wall.idle.contexts.count, 10);
    cr_expect_eq(jw_counter(JW_COUNT_CONTEXT_NOT_KEPT) - before,
                 100 - recording->wall.idle.contexts.count);
    for (uint32_t thread = 0; thread < 100; thread++)
        wall_idle(thread, 1);
    const size_t kept = recording->wall.idle.contexts.count;
    turn();
    finish();
    cr_assert_eq(told_count, 200);
    for (size_t i = 0; i < told_count; i++)
        with_context += told[i].values[0].is_set;
    cr_expect_eq(with_context, 100 + kept, "all samples, and the turns of what was kept");
}

/* Does this chunk, from 1, have such a field in this type? */
static bool has_field(size_t number, const char *type, const char *name)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    bool is_found = false;

    cr_assert_not_null(reader, "%s", err.message);
    for (size_t i = 1; i <= number; i++)
        cr_assert(jfr_reader_next_chunk(reader, &chunk, &err), "%s", err.message);
    cr_assert(jfr_reader_has_event(reader, type), "%s", type);
    for (size_t i = 0; !is_found && jfr_reader_field_name(reader, type, i) != NULL; i++)
        is_found = strcmp(jfr_reader_field_name(reader, type, i), name) == 0;
    jfr_reader_close(reader);
    return is_found;
}

Test(recording_context, without_contexts_no_event_has_fields_for_them)
{
    open_it();
    cpu_sample(NULL);
    wall_sample(1, 1, NULL);
    turn();
    finish();
    cr_expect_eq(check.chunk_count, 1);
    cr_expect_eq(told_count, 0, "no event can have any");
    for (const char *const *name =
             (const char *const[]){"traceId", "spanId", "localRootSpanId", "carrier", NULL};
         *name != NULL; name++) {
        cr_expect_not(has_field(1, "jdk.ExecutionSample", *name), "%s", *name);
        cr_expect_not(has_field(1, "jaywalk.WallClockSample", *name), "%s", *name);
        cr_expect_not(has_field(1, "jdk.ThreadPark", *name), "%s", *name);
    }
    cr_expect(has_field(1, "jaywalk.Span", "spanId"), "it is one by its fields");
    cr_expect(has_field(1, "jdk.ExecutionSample", "wallTime"));
}

Test(recording_context, where_no_wall_clock_is_samples_do_not_say_that_they_are_none_of_it)
{
    config.has_no_wall = true;
    open_it();
    cpu_sample(NULL);
    turn();
    finish();
    cr_expect_not(has_field(1, "jdk.ExecutionSample", "wallTime"));
    cr_expect(has_field(1, "jdk.ExecutionSample", "weight"));
}

Test(recording_context, the_first_one_begins_a_chunk_that_has_fields_for_it)
{
    const struct work work = {.has_trace = true, .span_id = 3, .root_span_id = 7};

    open_it();
    cpu_sample(NULL);
    turn();
    cpu_sample(NULL);
    cpu_sample(&work);
    wall_sample(1, 1, &work);
    turn();
    cpu_sample(NULL);
    turn();
    cr_assert(recording_roll(recording, &err), "%s", err.message);
    cpu_sample(NULL);
    turn();
    finish();
    cr_expect_eq(check.chunk_count, 3);
    cr_assert_eq(told_count, 5);
    for (size_t i = 0; i < told_count; i++) {
        cr_expect_eq(told[i].chunk, i == 4 ? 3 : 2);
        cr_expect_eq(told[i].span_id, i == 1 || i == 2 ? 3 : 0);
    }
    cr_expect_not(has_field(1, "jdk.ExecutionSample", "spanId"));
    cr_expect(has_field(2, "jdk.ExecutionSample", "spanId"));
    cr_expect_not(has_field(2, "jdk.ExecutionSample", "carrier"), "no thread is a virtual one");
    cr_expect(has_field(3, "jdk.ExecutionSample", "spanId"), "nor does it end with its chunk");
}

Test(recording_context, the_first_virtual_thread_begins_a_chunk_that_has_fields_for_its_carrier)
{
    const struct work work = {.virtual_thread = 31, .virtual_name = "v"};

    open_it();
    cpu_sample(NULL);
    turn();
    cpu_sample(&work);
    turn();
    finish();
    cr_expect_eq(check.chunk_count, 2);
    cr_expect_not(has_field(1, "jdk.ExecutionSample", "carrier"));
    cr_expect(has_field(2, "jdk.ExecutionSample", "carrier"));
    cr_expect_not(has_field(2, "jdk.ExecutionSample", "spanId"));
}

Test(recording_context, recordings_behind_one_with_contexts_begin_with_fields_for_them)
{
    const struct work work = {.span_id = 3, .virtual_thread = 31};

    open_it();
    cpu_sample(&work);
    turn();
    finish();
    cr_expect_eq(check.chunk_count, 2);
    open_it();
    cpu_sample(&work);
    turn();
    finish();
    cr_expect_eq(check.chunk_count, 1);
    cr_assert_eq(told_count, 1);
    cr_expect_eq(told[0].span_id, 3);
}

Test(recording_context, who_expects_contexts_has_fields_for_them_from_the_first_chunk_on)
{
    const struct work work = {.span_id = 3};

    config.has_contexts = true;
    open_it();
    cpu_sample(&work);
    turn();
    finish();
    cr_expect_eq(check.chunk_count, 1);
    cr_expect_eq(told[0].span_id, 3);
}
