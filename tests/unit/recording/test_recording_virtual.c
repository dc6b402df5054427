/* Samples of virtual threads: whose they are, who carried them, and what is known of names. */
#include "unit/recording/context_told.h"

TestSuite(recording_virtual, .init = set_up, .fini = tear_down, .timeout = 1800);

#define NUMBER 4242

/* Whose a sample is, as its file has it. */
struct whose {
    char type[64];
    char name[64], os_name[64], carrier[64];
    int64_t number, os_tid;
    bool is_virtual, has_carrier;
};

static struct whose whose[64];
static size_t whose_count;

static int64_t number_of(const struct jfr_value *object, const char *field)
{
    struct jfr_value value;
    int64_t number = -1;

    cr_assert(jfr_value_field(object, field, &value));
    cr_assert(jfr_value_integer(&value, &number));
    return number;
}

static void text_of(const struct jfr_value *object, const char *field, char *out, size_t capacity)
{
    struct jfr_value value;

    cr_assert(jfr_value_field(object, field, &value));
    copy_text(&value, out, capacity);
}

static void read_whose(const struct jfr_reader_event *event)
{
    struct whose *out = &whose[whose_count];
    struct jfr_value thread, carrier;

    if (!jfr_value_field(&event->value, "sampledThread", &thread))
        return;
    cr_assert_lt(whose_count++, JW_COUNT_OF(whose));
    *out = (struct whose){.number = 0};
    snprintf(out->type, sizeof out->type, "%s", event->type_name);
    text_of(&thread, "javaName", out->name, sizeof out->name);
    text_of(&thread, "osName", out->os_name, sizeof out->os_name);
    out->number = number_of(&thread, "javaThreadId");
    out->os_tid = number_of(&thread, "osThreadId");
    out->is_virtual = number_of(&thread, "virtual") != 0;
    out->has_carrier = jfr_value_field(&event->value, "carrier", &carrier);
    if (out->has_carrier)
        text_of(&carrier, "javaName", out->carrier, sizeof out->carrier);
}

static void finish_samples(void)
{
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;

    close_it();
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err))
            read_whose(&event);
    cr_assert_str_eq(err.message, "");
    jfr_reader_close(reader);
}

static struct work virtual_work(const char *name)
{
    return (struct work){.virtual_thread = NUMBER, .virtual_name = name};
}

Test(recording_virtual, each_kind_of_sample_is_the_virtual_thread_s_and_names_its_carrier)
{
    const struct work work = virtual_work("request-7");

    open_it();
    cpu_sample(&work);
    put_record(&(struct made_record){.kind = EVENT_CPU_SAMPLE, .stack = NATIVE_KIND}, &work);
    wall_sample(1, 1, &work);
    wall_idle(1, 1);
    cpu_sample(NULL);
    turn();
    finish_samples();
    cr_assert_eq(whose_count, 5);
    for (size_t i = 0; i < 4; i++) {
        const bool is_wall = strcmp(whose[i].type, "jaywalk.WallClockSample") == 0;

        cr_expect(whose[i].is_virtual, "%s", whose[i].type);
        cr_expect_str_eq(whose[i].name, "request-7");
        cr_expect_str_eq(whose[i].os_name, "");
        cr_expect_eq(whose[i].number, NUMBER);
        cr_expect_eq(whose[i].os_tid, 0);
        cr_expect_str_eq(whose[i].carrier, is_wall ? "worker" : "main");
    }
    cr_expect_not(whose[4].is_virtual);
    cr_expect_str_eq(whose[4].name, "main");
    cr_expect_not(whose[4].has_carrier);
}

Test(recording_virtual, one_without_a_name_has_an_empty_one)
{
    const struct work work = virtual_work(NULL);

    open_it();
    cpu_sample(&work);
    turn();
    finish_samples();
    cr_assert_eq(whose_count, 1);
    cr_expect(whose[0].is_virtual);
    cr_expect_str_eq(whose[0].name, "");
}

Test(recording_virtual, a_name_that_was_told_once_is_that_of_all_samples)
{
    const struct work told_of = virtual_work("request-7"), untold = virtual_work(NULL);

    open_it();
    cpu_sample(&untold); /* the name comes later, but in what is taken with it */
    cpu_sample(&told_of);
    wall_sample(1, 1, &untold);
    turn();
    cr_assert(recording_roll(recording, &err));
    cpu_sample(&untold);
    wall_idle(1, 1);
    turn();
    finish_samples();
    cr_assert_eq(whose_count, 5);
    for (size_t i = 0; i < whose_count; i++)
        cr_expect_str_eq(whose[i].name, "request-7", "sample %zu", i);
}

Test(recording_virtual, who_went_to_wait_without_a_name_has_the_one_that_was_told_since)
{
    const struct work told_of = virtual_work("request-7"), untold = virtual_work(NULL);

    open_it();
    wall_sample(1, 1, &untold);
    turn();
    cpu_sample(&told_of);
    wall_idle(1, 1);
    turn();
    finish_samples();
    cr_assert_eq(whose_count, 3);
    cr_expect_str_eq(whose[0].name, "", "nobody had told it");
    cr_expect_str_eq(whose[1].name, "request-7");
    cr_expect_str_eq(whose[2].name, "request-7");
}

Test(recording_virtual, so_many_names_are_remembered_and_no_more)
{
    char name[32];
    struct work work = {.virtual_name = name};

    open_it();
    for (int round = 0; round < 34; round++) {
        for (uint64_t i = 0; i < 2000; i++) {
            work.virtual_thread = NUMBER + 2000 * (uint64_t)round + i;
            snprintf(name, sizeof name, "many-%llu", (unsigned long long)work.virtual_thread);
            cpu_sample(&work);
        }
        turn();
    }
    cr_expect_leq(jw_map_bytes(&recording->virtuals.names) + recording->virtuals.capacity_bytes,
                  RECORDING_NAMES_MAX_BYTES / 8);
    cr_expect_lt(recording->virtuals.names.entry_count, 68000, "some were forgotten");
    cr_expect_geq(recording->virtuals.names.entry_count, 1000);
    close_it();
    cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 68000);
}

Test(recording_virtual, spans_are_the_virtual_thread_s)
{
    struct work work = work_for(3, NULL);

    work.virtual_thread = NUMBER;
    work.virtual_name = "request-7";
    open_it();
    put_record(&(struct made_record){.kind = EVENT_SPAN, .name = "load"}, &work);
    put_record(&(struct made_record){.kind = EVENT_ENDPOINT, .name = "GET /", .number = 7}, &work);
    turn();
    finish();
    cr_assert_eq(told_count, 2);
    cr_expect_str_eq(told[0].thread, "request-7");
    cr_expect_str_eq(told[1].thread, "request-7");
}

static void finish_graph(char *text, size_t room)
{
    made_turn(generations, recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);

    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
}

Test(recording_virtual, a_graph_by_thread_has_them_by_name_and_number)
{
    const struct work named = virtual_work("request-7"), untold = virtual_work(NULL);
    const struct work other = {.virtual_thread = NUMBER + 1};
    char text[4096];

    config = made_config(path, RECORDING_COLLAPSED);
    config.is_by_thread = true;
    open_it();
    cpu_sample(&untold);
    cpu_sample(&named);
    cpu_sample(&other);
    cpu_sample(NULL);
    finish_graph(text, sizeof text);
    cr_expect_not_null(strstr(text, "[request-7 virtual=4242];app/Hot.main;app/Hot.spin 2\n"), "%s",
                       text);
    cr_expect_not_null(strstr(text, "[virtual=4243];app/Hot.main;app/Hot.spin 1\n"), "%s", text);
    cr_expect_not_null(strstr(text, "[main tid=1000];app/Hot.main;app/Hot.spin 1\n"), "%s", text);
}

Test(recording_virtual, idle_turns_of_a_graph_are_of_the_virtual_thread_that_waits)
{
    const struct work work = virtual_work("pinned");
    char text[4096];

    config = made_config(path, RECORDING_COLLAPSED);
    config.is_by_thread = true;
    config.shows = RECORDING_SHOWS_WALL;
    open_it();
    wall_sample(0, 1, &work);
    made_turn(generations, recording);
    wall_idle(0, 1);
    finish_graph(text, sizeof text);
    cr_expect_str_eq(text, "[pinned virtual=4242];app/Hot.main;app/Hot.copy;libc.so.6;memcpy 2\n");
}
