/* Events that probes declared, from the generation to the file: their types, fields, stacks, over takes and chunks. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "event/event_values.h"
#include "golden/made.h"
#include "jfr/jfr_declared.h"
#include "jfr/jfr_reader.h"
#include "recording/recording_internal.h"
#include "support/jfr_check.h"

static char directory[] = "/tmp/jaywalk-declared-XXXXXX";
static char path[64];
static struct jw_error err;
static struct generations *generations;
static struct recording *recording;
static struct recording_config config;
static struct jfr_declared types[3];
static size_t type_count;
static bool is_first_leaving;     /* it is told once more */
static const char *attributes[2]; /* NULL: none was named */

static bool tell_type(void *context, uint32_t after, struct jfr_declared *out)
{
    size_t i = 0;

    (void)context;
    while (i < type_count && types[i].number <= after)
        i++;
    if (i == type_count)
        return false;
    *out = types[i];
    if (is_first_leaving) {
        is_first_leaving = false;
        type_count--;
        memmove(&types[0], &types[1], sizeof types - sizeof types[0]);
    }
    return true;
}

static const char *tell_attribute(void *context, unsigned number)
{
    (void)context;
    return number < JW_COUNT_OF(attributes) ? attributes[number] : NULL;
}

static void add_field(struct jfr_declared *type, const char *name, enum jfr_type field_type,
                      enum jfr_unit unit)
{
    struct jfr_declared_field *field = &type->fields[type->field_count++];

    snprintf(field->name, sizeof field->name, "%s", name);
    snprintf(field->label, sizeof field->label, "The %s", name);
    field->type = field_type;
    field->unit = unit;
}

static struct jfr_declared *add_type(const char *name, bool has_stack)
{
    struct jfr_declared *type = &types[type_count++];

    *type = (struct jfr_declared){
        .number = (uint32_t)type_count + 20, .has_stack = has_stack, .has_duration = has_stack};
    snprintf(type->name, sizeof type->name, "jaywalk.probe.%s", name);
    snprintf(type->label, sizeof type->label, "A %s", name);
    snprintf(type->probe, sizeof type->probe,
             "till-with-a-name-of-sixty-three-bytes-in-all-xxxxxxxxxxxxxxxxxxxx");
    return type;
}

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    generations = generations_open(&(struct generations_config){0}, &err);
    cr_assert_not_null(generations, "%s", err.message);
    config = made_config(path, RECORDING_JFR);
    config.sources.declared = tell_type;
    config.sources.attribute = tell_attribute;
}

static void tear_down(void)
{
    generations_close(generations);
    unlink(path);
    cr_expect(rmdir(directory) == 0, "something was left behind");
}

TestSuite(recording_declared, .init = set_up, .fini = tear_down, .timeout = 1800);

static void open_it(void)
{
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
}

/* commit, the event's method, the handler, its bridge, the gate, what links it, the place, main; or without a handler. */
static uint32_t stack_of(struct generation *generation, bool has_handler, jw_frame frames[16])
{
    static const struct {
        const char *type, *method;
        bool is_of_handler;
    } all[] = {{"io/jaywalk/ProbeEvents", "commit", false},
               {"TillProbe", "payment", false},
               {"TillProbe", "paid", true},
               {"TillProbe$Bridge0", "call", true},
               {"java/lang/JaywalkGate0", "enter", true},
               {"java/lang/invoke/LambdaForm$MH+0x1", "linkToTargetMethod", true},
               {"java/lang/JaywalkPlace0", "enter", true},
               {"Till", "pay", true},
               {"Till", "main", false}};
    uint32_t count = 0;

    for (size_t i = 0; i < JW_COUNT_OF(all); i++) {
        if (!all[i].is_of_handler || has_handler)
            frames[count++] = jw_frame_java(
                i == 0 ? JW_FRAME_JAVA_NATIVE : JW_FRAME_COMPILED,
                made_method(generation, all[i].type, all[i].method, "()V", 2, 9, true), 0);
    }
    return count;
}

static void put_event(const struct event_values *values, bool has_handler)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = event_reserve(generation->events);
    jw_frame frames[16];

    record->kind = EVENT_DECLARED;
    record->thread_index = 0;
    record->thread_serial = 1;
    record->weight_ns = 500;
    record->time_ns = jw_now_ns() - 500;
    record->name = dict_intern(generation->payloads, values->bytes, values->used_bytes);
    record->trace = store_put(generation->traces, frames, stack_of(generation, has_handler, frames),
                              STORE_WALKER_OWN);
    event_commit(record);
    generation_leave(generations, &ticket);
}

static void put_failed(uint32_t type, bool has_handler)
{
    struct event_values values;

    event_values_begin(&values, type);
    event_values_put_text(&values, "why", 3);
    put_event(&values, has_handler);
}

/* ---- what the file says ---- */

static struct {
    size_t count;
    bool has_attribute; /* under the name that is made for it ... */
    bool
        has_attribute_later; /* ... and under the one that is made where an event has that itself */
    uint64_t chunks[8];      /* by event: the chunk it lies in */
    char types[8][64];
    char texts[8][512]; /* "field=value ..." */
    char handlers[8][64], methods[8][64], tops[8][64];
} told;

static void put_value(const struct jfr_value *value, char *out, size_t room_bytes)
{
    struct jfr_text text = {0};
    struct jfr_value inner;
    int64_t number;
    double real;

    if (jfr_value_integer(value, &number))
        snprintf(out, room_bytes, "%lld", (long long)number);
    else if (jfr_value_number(value, &real))
        snprintf(out, room_bytes, "%g", real);
    else if (jfr_value_text(value, &text))
        snprintf(out, room_bytes, "%s", text.text);
    else if (jfr_value_field(value, "javaName", &inner) && jfr_value_text(&inner, &text))
        snprintf(out, room_bytes, "%s", text.text);
    else if (jfr_value_field(value, "name", &inner) && jfr_value_text(&inner, &text))
        snprintf(out, room_bytes, "%s", text.text);
    else
        snprintf(out, room_bytes, "null");
    jfr_text_free(&text);
}

static void method_of(const struct jfr_value *value, const char *name, char out[64])
{
    struct jfr_method method = {0};
    struct jfr_value field;

    out[0] = '\0';
    if (jfr_value_field(value, name, &field) && jfr_method_read(&field, &method))
        snprintf(out, 64, "%s.%s", method.class_name.text, method.name.text);
    jfr_method_free(&method);
}

static void top_of(const struct jfr_value *value, char out[64])
{
    struct jfr_method method = {0};
    struct jfr_stack_frame frame;
    struct jfr_stack stack;
    struct jfr_value trace;

    out[0] = '\0';
    if (jfr_value_field(value, "stackTrace", &trace) && jfr_stack_begin(&trace, &stack) &&
        jfr_stack_next(&stack, &frame) && jfr_method_read(&frame.method, &method))
        snprintf(out, 64, "%s.%s", method.class_name.text, method.name.text);
    jfr_method_free(&method);
}

static void note(const struct jfr_reader_event *event, uint64_t chunk)
{
    static const char *const names[] = {"probe", "z", "b",    "c",    "s",    "i",   "j",
                                        "f",     "d", "text", "none", "type", "who", "duration"};
    const size_t at = told.count++;

    cr_assert(at < 8);
    told.chunks[at] = chunk;
    snprintf(told.types[at], sizeof told.types[at], "%s", event->type_name);
    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        struct jfr_value field;
        char text[128];
        const size_t used = strlen(told.texts[at]);

        if (!jfr_value_field(&event->value, names[i], &field))
            continue;
        put_value(&field, text, sizeof text);
        snprintf(told.texts[at] + used, sizeof told.texts[at] - used, "%s=%s ", names[i], text);
    }
    told.has_attribute |= jfr_value_has_field(&event->value, "attribute0");
    told.has_attribute_later |= jfr_value_has_field(&event->value, "attribute16");
    method_of(&event->value, "handler", told.handlers[at]);
    method_of(&event->value, "method", told.methods[at]);
    top_of(&event->value, told.tops[at]);
}

static struct jfr_check check;

static void finish(void)
{
    struct jfr_reader *reader;
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    uint64_t chunks = 0;

    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
    reader = jfr_reader_open(path, &err);
    cr_assert_not_null(reader, "%s", err.message);
    memset(&told, 0, sizeof told);
    while (jfr_reader_next_chunk(reader, &chunk, &err)) {
        chunks++;
        while (jfr_reader_next_event(reader, &event, &err)) {
            if (strncmp(event.type_name, "jaywalk.probe.", 14) == 0)
                note(&event, chunks);
        }
    }
    cr_expect_str_eq(err.message, "");
    jfr_reader_close(reader);
}

Test(recording_declared, each_kind_of_field_comes_back_with_handler_method_and_stack)
{
    struct jfr_declared *type = add_type("Payment", true);
    struct event_values values;
    double real = 0.25, single = -1.5;
    int64_t bits, single_bits;

    add_field(type, "z", JFR_TYPE_BOOLEAN, JFR_UNIT_NONE);
    add_field(type, "b", JFR_TYPE_BYTE, JFR_UNIT_NONE);
    add_field(type, "c", JFR_TYPE_CHAR, JFR_UNIT_NONE);
    add_field(type, "s", JFR_TYPE_SHORT, JFR_UNIT_NONE);
    add_field(type, "i", JFR_TYPE_INT, JFR_UNIT_BYTES);
    add_field(type, "j", JFR_TYPE_LONG, JFR_UNIT_NS_SPAN);
    add_field(type, "f", JFR_TYPE_FLOAT, JFR_UNIT_PERCENT);
    add_field(type, "d", JFR_TYPE_DOUBLE, JFR_UNIT_NONE);
    add_field(type, "text", JFR_TYPE_STRING, JFR_UNIT_NONE);
    add_field(type, "none", JFR_TYPE_STRING, JFR_UNIT_NONE);
    add_field(type, "type", JFR_TYPE_CLASS, JFR_UNIT_NONE);
    add_field(type, "who", JFR_TYPE_THREAD, JFR_UNIT_NONE);
    open_it();
    memcpy(&bits, &real, sizeof bits);
    memcpy(&single_bits, &single, sizeof single_bits);
    event_values_begin(&values, type->number);
    event_values_put_number(&values, 1);
    event_values_put_number(&values, -2);
    event_values_put_number(&values, 'x');
    event_values_put_number(&values, -3);
    event_values_put_number(&values, -4);
    event_values_put_number(&values, INT64_MIN);
    event_values_put_number(&values, single_bits);
    event_values_put_number(&values, bits);
    event_values_put_text(&values,
                          "b\xc3\xb6"
                          "b",
                          4);
    event_values_put_text(&values, NULL, 0);
    event_values_put_text(&values, "app/Order", 9);
    event_values_put_thread(&values, &(struct event_values_thread){.index = 0, .serial = 1});
    put_event(&values, true);
    made_turn(generations, recording);
    finish();
    cr_assert_eq(told.count, 1);
    cr_expect_str_eq(told.types[0], "jaywalk.probe.Payment");
    cr_expect_str_eq(
        told.texts[0],
        "probe=till-with-a-name-of-sixty-three-bytes-in-all-xxxxxxxxxxxxxxxxxxxx z=1 b=-2 c=120 "
        "s=-3 i=-4 j=-9223372036854775808 f=-1.5 d=0.25 text=b\xc3\xb6"
        "b none=null "
        "type=app/Order who=main duration=500 ",
        "%s", told.texts[0]);
    cr_expect_str_eq(told.handlers[0], "TillProbe.paid");
    cr_expect_str_eq(told.methods[0], "Till.pay");
    cr_expect_str_eq(told.tops[0], "Till.pay", "what is the agent's and the probe's is not in it");
    cr_expect_eq(check.chunk_count, 1);
}

Test(recording_declared, an_event_without_stack_has_its_method_and_one_without_handler_none)
{
    struct jfr_declared *plain = add_type("Failed", false);
    struct jfr_declared *stacked = add_type("Stacked", true);

    add_field(plain, "text", JFR_TYPE_STRING, JFR_UNIT_NONE);
    add_field(stacked, "text", JFR_TYPE_STRING, JFR_UNIT_NONE);
    open_it();
    put_failed(plain->number, true);
    put_failed(stacked->number, false);
    made_turn(generations, recording);
    finish();
    cr_assert_eq(told.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const bool is_plain = strcmp(told.types[i], "jaywalk.probe.Failed") == 0;

        cr_expect_str_eq(told.methods[i], is_plain ? "Till.pay" : "");
        cr_expect_str_eq(told.handlers[i], is_plain ? "TillProbe.paid" : "");
        cr_expect_str_eq(told.tops[i], is_plain ? "" : "Till.main");
        cr_expect(strstr(told.texts[i], "text=why ") != NULL);
        cr_expect((strstr(told.texts[i], "duration=500") != NULL) == !is_plain);
    }
}

Test(recording_declared, a_type_that_comes_during_a_chunk_begins_another_and_loses_nothing)
{
    struct jfr_declared *first = add_type("First", false), *second;

    add_field(first, "text", JFR_TYPE_STRING, JFR_UNIT_NONE);
    open_it();
    put_failed(first->number, true);
    made_turn(generations, recording);
    second = add_type("Second", true);
    add_field(second, "text", JFR_TYPE_STRING, JFR_UNIT_NONE);
    put_failed(first->number, true);
    put_failed(second->number, true);
    made_turn(generations, recording);
    put_failed(second->number, true);
    made_turn(generations, recording);
    finish();
    cr_expect_eq(check.chunk_count, 2, "one more, and no other without a new type");
    cr_assert_eq(told.count, 4);
    cr_expect(told.chunks[0] == 1 && told.chunks[1] == 2 && told.chunks[2] == 2 &&
              told.chunks[3] == 2);
}

Test(recording_declared, a_type_that_goes_while_a_chunk_begins_takes_no_other_one_with_it)
{
    struct jfr_declared *first = add_type("First", false), *second = add_type("Second", false);
    const uint32_t number = second->number;

    add_field(first, "text", JFR_TYPE_STRING, JFR_UNIT_NONE);
    add_field(second, "text", JFR_TYPE_STRING, JFR_UNIT_NONE);
    is_first_leaving = true;
    open_it();
    put_failed(number, true);
    made_turn(generations, recording);
    finish();
    cr_expect_eq(check.chunk_count, 1, "the second one was known from the start");
    cr_assert_eq(told.count, 1);
    cr_expect_str_eq(told.types[0], "jaywalk.probe.Second");
}

Test(recording_declared, two_types_of_one_name_are_told_apart)
{
    struct jfr_declared *old = add_type("Failed", false), *now = add_type("Failed", false);

    add_field(old, "text", JFR_TYPE_STRING, JFR_UNIT_NONE);
    add_field(now, "i", JFR_TYPE_INT, JFR_UNIT_NONE);
    open_it();
    put_failed(old->number, true);

    struct event_values values;
    event_values_begin(&values, now->number);
    event_values_put_number(&values, 9);
    put_event(&values, true);
    made_turn(generations, recording);
    finish();
    cr_assert_eq(told.count, 2);
    cr_expect((strstr(told.texts[0], "text=why") != NULL && strstr(told.texts[1], "i=9") != NULL) ||
              (strstr(told.texts[1], "text=why") != NULL && strstr(told.texts[0], "i=9") != NULL));
}

Test(recording_declared, an_attribute_gives_way_to_a_field_of_its_name)
{
    struct jfr_declared *type = add_type("Failed", false);

    attributes[0] = "text";
    add_field(type, "text", JFR_TYPE_STRING, JFR_UNIT_NONE);
    open_it();
    put_failed(type->number, true);
    made_turn(generations, recording);
    finish();
    cr_assert_eq(told.count, 1);
    cr_expect(strstr(told.texts[0], "text=why ") != NULL, "%s", told.texts[0]);
    cr_expect(told.has_attribute);
}

Test(recording_declared, an_attribute_gives_way_to_what_each_such_event_has)
{
    static const char *const names[] = {"probe", "handler", "method", "carrier"};

    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        struct jfr_declared *type;

        type_count = 0;
        type = add_type("Failed", false);
        attributes[0] = names[i];
        add_field(type, "text", JFR_TYPE_STRING, JFR_UNIT_NONE);
        open_it();
        put_failed(type->number, true);
        made_turn(generations, recording);
        finish();
        cr_assert_eq(told.count, 1);
        cr_expect(told.has_attribute, "%s", names[i]);
        cr_expect_str_eq(told.handlers[0], "TillProbe.paid", "%s", names[i]);
        cr_expect_str_eq(told.methods[0], "Till.pay", "%s", names[i]);
    }
}

Test(recording_declared, a_name_made_for_an_attribute_gives_way_to_a_field_of_that_name)
{
    struct jfr_declared *type = add_type("Failed", false);

    attributes[0] = "http.route";
    attributes[1] = "text";
    add_field(type, "attribute0", JFR_TYPE_STRING, JFR_UNIT_NONE);
    open_it();
    put_failed(type->number, true);
    made_turn(generations, recording);
    finish();
    cr_assert_eq(told.count, 1);
    cr_expect(told.has_attribute && told.has_attribute_later);
}

Test(recording_declared, an_event_whose_type_nobody_declares_is_left_out_and_counted)
{
    const uint64_t before = jw_counter(JW_COUNT_PROBE_EVENTS_UNTOLD);

    open_it();
    put_failed(77, true);
    made_turn(generations, recording);
    finish();
    cr_expect_eq(told.count, 0);
    cr_expect_eq(jw_counter(JW_COUNT_PROBE_EVENTS_UNTOLD), before + 1);
}

/* With few frames a stack may end within what is left out of it. */
Test(recording_declared, of_a_stack_that_has_nothing_else_the_agents_own_frames_stay)
{
    static const char *const of[] = {"io/jaywalk/ParkEvents", "java/lang/JaywalkParks",
                                     "java/util/concurrent/locks/LockSupport"};
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    jw_frame frames[JW_COUNT_OF(of)];
    struct store_trace trace = {.frames = frames, .frame_count = JW_COUNT_OF(of)};

    for (size_t i = 0; i < JW_COUNT_OF(of); i++)
        frames[i] = jw_frame_java(JW_FRAME_COMPILED,
                                  made_method(generation, of[i], "m", "()V", 2, 9, true), 0);
    cr_expect_eq(recording_frames_of_own(generation, &trace, DICT_NONE), 2);
    for (trace.frame_count = 2; trace.frame_count > 0; trace.frame_count--)
        cr_expect_eq(recording_frames_of_own(generation, &trace, DICT_NONE), 0);
    generation_leave(generations, &ticket);
}
