/* Events that a probe declares: what is understood, what is refused with which words, and the calls that its class gets. */
#include "probe_maker.h"

#include "probe/probe_events.h"

#define NAMED(type, text)                                                                          \
    {                                                                                              \
        OURS(type),                                                                                \
        {                                                                                          \
            {                                                                                      \
                "value", 's', 0,                                                                   \
                {                                                                                  \
                    text                                                                           \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define FIELD(text) NAMED("Field", text)

static struct classfile_memory memory, other_memory;
static struct classfile file;
static struct class_maker_bytes whole;
static struct probe *probe;
static struct jw_error err;
static char told[4096];

static void open_all(void)
{
    memory.capacity_bytes = other_memory.capacity_bytes = classfile_memory_bytes(CLASS_MAKER_BYTES);
    memory.bytes = malloc(memory.capacity_bytes);
    other_memory.bytes = malloc(other_memory.capacity_bytes);
}

static void close_all(void)
{
    probe_close(probe);
    class_maker_free(&maker);
    free(memory.bytes);
    free(other_memory.bytes);
}

TestSuite(probe_events, .init = open_all, .fini = close_all, .timeout = 1800);

static void hear(void *context, const char *message)
{
    (void)context;
    strncat(told, message, sizeof told - strlen(told) - 2);
    strcat(told, "\n");
}

static void read_class(void)
{
    whole = class_maker_end(&maker);
    memory.used_bytes = 0;
    told[0] = '\0';
    cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
    probe_close(probe);
    probe = probe_read(&file, hear, NULL, &err);
}

static const annotation probe_mark[] = {PLAIN("Probe")};
static const annotation on_entry[] = {RULES("OnEntry", "value", RULE)};
static const annotation event_mark[] = {PLAIN("Event")};

static void begin(void)
{
    begin_probe(probe_mark, 1);
    add_method(9, "entered", "()V", on_entry, 1, NULL, 0);
}

static void expect_refused(const char *what)
{
    read_class();
    cr_expect(probe == NULL, "taken, where it should be: %s", what);
    cr_expect(strstr(told, what) != NULL, "%s: %s", what, told);
    cr_expect(strncmp(told, "com.acme.Slow.slow: ", 20) == 0, "%s", told);
}

static void refuse_event(uint16_t access, const char *descriptor, const annotation *marks,
                         unsigned mark_count, const annotation *parameters,
                         unsigned parameter_count, const char *what)
{
    begin();
    add_method(access, "slow", descriptor, marks, mark_count, parameters, parameter_count);
    expect_refused(what);
}

Test(probe_events, an_event_has_its_name_label_and_fields)
{
    const annotation mark[] = {{OURS("Event"),
                                {{"value", 's', 0, {"SlowOrder"}},
                                 {"label", 's', 0, {"Slow Order"}},
                                 {"description", 's', 0, {"an order that took long"}},
                                 {"stackTrace", 'Z', 0, {NULL}}}}};
    const annotation parameters[] = {
        {OURS("Field"), {{"value", 's', 0, {"bytes"}}, {"label", 's', 0, {"Bytes Read"}}}},
        PLAIN("Duration"),
        FIELD("customer"),
        FIELD("type"),
        FIELD("clerk")};

    begin();
    add_method(10, "slow", "(JJLjava/lang/String;Ljava/lang/Class;Ljava/lang/Thread;)V", mark, 1,
               parameters, COUNT_OF(parameters));
    add_method(8, "other_one", "()V", event_mark, 1, NULL, 0);
    read_class();
    cr_assert(probe != NULL, "%s", told);
    cr_assert(probe->event_count == 2 && probe->handler_count == 1);

    const struct probe_event *event = &probe->events[0];
    cr_expect_str_eq(event->name, "SlowOrder");
    cr_expect_str_eq(event->label, "Slow Order");
    cr_expect_str_eq(event->description, "an order that took long");
    cr_expect_str_eq(event->method_name, "slow");
    cr_expect(!event->has_stack && event->has_duration && event->duration_parameter == 1);
    cr_assert(event->field_count == 4);
    for (unsigned i = 0; i < 4; i++) {
        const char *const names[] = {"bytes", "customer", "type", "clerk"};

        cr_expect_str_eq(event->fields[i].name, names[i]);
        cr_expect_str_eq(event->fields[i].label, i == 0 ? "Bytes Read" : names[i]);
        cr_expect(event->fields[i].type == "Jsct"[i] && event->fields[i].unit == PROBE_UNIT_NONE);
    }
    event = &probe->events[1];
    cr_expect_str_eq(event->name, "Other_one", "the method's, with a capital");
    cr_expect_str_eq(event->label, "Other_one");
    cr_expect(event->has_stack && !event->has_duration && event->field_count == 0);
}

Test(probe_events, what_cannot_be_recorded_is_refused_with_a_remedy)
{
    const annotation fields[] = {FIELD("one"), FIELD("two"), FIELD("one")};
    const annotation taken[] = {FIELD("duration")}, bad[] = {FIELD("a-b")},
                     none[] = {PLAIN("Field")};
    const annotation twice[] = {PLAIN("Duration"), PLAIN("Duration")};
    const annotation both[] = {PLAIN("Event"), RULES("OnEntry", "value", RULE)};
    const annotation spaced[] = {NAMED("Event", "slow order")};

    refuse_event(1, "()V", event_mark, 1, NULL, 0, "static and void; this is not");
    refuse_event(9, "()I", event_mark, 1, NULL, 0, "static and void; this is not");
    refuse_event(9, "(I)V", event_mark, 1, NULL, 0, "put @Field(\"name\") or @Duration before it");
    refuse_event(9, "(Ljava/lang/Object;)V", event_mark, 1, fields, 1,
                 "give the text of other objects");
    refuse_event(9, "(I)V", event_mark, 1, taken, 1, "each event has a field duration of its own");
    refuse_event(9, "(I)V", event_mark, 1, bad, 1, "the name of a field is 1 to 63 letters");
    refuse_event(9, "(I)V", event_mark, 1, none, 1, "the name of a field is 1 to 63 letters");
    refuse_event(9, "(III)V", event_mark, 1, fields, 3, "two fields are called one");
    refuse_event(9, "(I)V", event_mark, 1, twice, 1, "@Duration is of type long");
    refuse_event(9, "(JJ)V", event_mark, 1, twice, 2, "two durations");
    refuse_event(9, "()V", both, 2, NULL, 0, "call the one from the other");
    refuse_event(9, "()V", spaced, 1, NULL, 0, "as in @Event(\"SlowOrder\")");
}

static annotation unit_field(const char *unit)
{
    return (annotation){
        OURS("Field"),
        {{"value", 's', 0, {"x"}}, {"unit", 'e', 0, {"Lio/jaywalk/probe/Field$Unit;", unit}}}};
}

Test(probe_events, a_unit_is_of_a_number_that_can_have_it)
{
    annotation field = unit_field("BYTES");

    begin();
    add_method(9, "slow", "(J)V", event_mark, 1, &field, 1);
    read_class();
    cr_assert(probe != NULL, "%s", told);
    cr_expect(probe->events[0].fields[0].unit == PROBE_UNIT_BYTES);
    refuse_event(9, "(D)V", event_mark, 1, &field, 1, "BYTES is of type int or long");
    refuse_event(9, "(Ljava/lang/String;)V", event_mark, 1, &field, 1, "BYTES is of type");
    field = unit_field("FRACTION");
    refuse_event(9, "(J)V", event_mark, 1, &field, 1, "FRACTION is of type float or double");
    field = unit_field("PARSECS");
    refuse_event(9, "(J)V", event_mark, 1, &field, 1, "its unit is not known");
}

Test(probe_events, an_event_has_eight_numbers_and_eight_others_at_most)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    annotation fields[9];

    for (unsigned i = 0; i < 9; i++)
        fields[i] = (annotation)FIELD(names[i]);
    begin();
    add_method(9, "slow", "(IIIIIIII)V", event_mark, 1, fields, 8);
    read_class();
    cr_assert(probe != NULL, "%s", told);
    refuse_event(9, "(IIIIIIIII)V", event_mark, 1, fields, 9,
                 "at most 8 fields of primitive types");
}

Test(probe_events, two_events_of_one_name_are_refused)
{
    begin();
    add_method(9, "slow", "()V", event_mark, 1, NULL, 0);
    add_method(9, "slow", "(J)V", event_mark, 1, (const annotation[]){PLAIN("Duration")}, 1);
    expect_refused("two events are called Slow");
}

/* A probe with rules of so many bytes, whose event has fields. */
static void begin_crowded(size_t rule_bytes)
{
    static char rules[PROBE_TEXT_BYTES / 6];
    const annotation fields[] = {FIELD("first"), FIELD("second"), FIELD("third")};
    const annotation place[] = {RULES("OnEntry", "value", rules)};
    unsigned number = 0;

    begin();
    for (size_t left = rule_bytes; left > 0; number++) {
        const size_t some = left < sizeof rules ? left : sizeof rules - 1;
        char name[16];

        cr_assert(some > sizeof RULE);
        memset(rules, ' ', some);
        memcpy(rules, RULE, sizeof RULE - 1);
        rules[some] = '\0';
        snprintf(name, sizeof name, "on%03u", number);
        add_method(9, name, "()V", place, 1, NULL, 0);
        left -= some;
    }
    add_method(9, "slow", "(III)V", event_mark, 1, fields, COUNT_OF(fields));
    read_class();
}

Test(probe_events, text_that_runs_out_in_a_field_is_told_at_each_byte_of_it)
{
    size_t rule_bytes = PROBE_TEXT_BYTES - 1000;

    begin_crowded(rule_bytes);
    cr_assert(probe != NULL, "%s", told);
    while (probe != NULL)
        begin_crowded(rule_bytes += 16);
    /* The texts of the event have 61 bytes: that goes from the last of its fields to its name, and beyond. */
    for (const size_t most = rule_bytes + 80; rule_bytes < most; rule_bytes++) {
        begin_crowded(rule_bytes);
        cr_expect(probe == NULL && strstr(told, "make it two probes") != NULL, "%zu: %s",
                  rule_bytes, told);
    }
    rule_bytes -= 80;
    for (const size_t least = rule_bytes - 16; rule_bytes > least; rule_bytes--) {
        begin_crowded(rule_bytes);
        cr_expect((probe == NULL) == (strstr(told, "make it two probes") != NULL), "%zu: %s",
                  rule_bytes, told);
    }
}

/* ---- calls ---- */

Test(probe_events, the_method_gives_its_parameters_to_commit_before_anything_else)
{
    const annotation parameters[] = {FIELD("items"), FIELD("customer"), PLAIN("Duration"),
                                     FIELD("share"), FIELD("far")};
    const uint32_t numbers[] = {300};
    /* sipush 300; lload 2; iload 0, i2l; dload 4, bits; lload 6; five times 0; aload 1; seven times null; invokestatic; return */
    const uint8_t before[] = {17, 1, 44, 22, 2, 21, 0, 133, 24, 4, 184};
    const uint8_t between[] = {22, 6, 9, 9, 9, 9, 9, 25, 1, 1, 1, 1, 1, 1, 1, 1, 184};
    struct classfile_rewritten out;
    struct classfile_code code;
    struct classfile written;

    begin();
    add_method(10, "slow", "(ILjava/lang/String;JDJ)V", event_mark, 1, parameters, 5);
    read_class();
    cr_assert(probe != NULL, "%s", told);
    cr_assert(
        probe_put_events(probe, numbers, whole.bytes, whole.length, &other_memory, &out, &err),
        "%s", err.message);
    cr_assert(out.is_changed);
    memory.used_bytes = 0;
    cr_assert(classfile_read(out.bytes, out.length_bytes, &memory, &written) == CLASSFILE_OK);
    cr_assert(classfile_code_of(&written, &written.methods[1], &code));
    cr_assert(code.length_bytes == sizeof before + 2 + sizeof between + 3, "%u", code.length_bytes);
    cr_expect(memcmp(code.bytes, before, sizeof before) == 0);
    cr_expect(memcmp(code.bytes + sizeof before + 2, between, sizeof between) == 0);
    cr_expect(code.bytes[code.length_bytes - 1] == 177, "and then its own code");
    cr_expect(code.stack_count == 27, "%u", code.stack_count);
    cr_assert(classfile_code_of(&written, &written.methods[0], &code));
    cr_expect(code.length_bytes == 1, "others stay");
}

Test(probe_events, another_class_than_that_of_the_probe_is_told)
{
    const uint32_t numbers[] = {1};
    struct classfile_rewritten out;

    begin();
    add_method(10, "slow", "()V", event_mark, 1, NULL, 0);
    read_class();
    cr_assert(probe != NULL);
    begin();
    whole = class_maker_end(&maker);
    cr_expect(
        !probe_put_events(probe, numbers, whole.bytes, whole.length, &other_memory, &out, &err));
    cr_expect(strstr(err.message, "are not found") != NULL, "%s", err.message);
}
