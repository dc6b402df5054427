/* Probes by the annotations of their class: what is understood, and what is refused with which words. */
#include "probe_maker.h"

static struct classfile_memory memory;
static struct classfile file;
static struct probe *probe;
static struct jw_error err;
static char told[8192];
static unsigned told_count;

static void open_all(void)
{
    memory.capacity_bytes = classfile_memory_bytes(CLASS_MAKER_BYTES);
    memory.bytes = malloc(memory.capacity_bytes);
}

static void close_all(void)
{
    probe_close(probe);
    class_maker_free(&maker);
    free(memory.bytes);
}

TestSuite(probe_read, .init = open_all, .fini = close_all, .timeout = 1800);

static void hear(void *context, const char *message)
{
    cr_expect(context == &told_count);
    for (const char *at = message; *at != '\0'; at++)
        cr_expect((unsigned char)*at >= 0x20 && *at != 0x7f, "one printable line: %s", message);
    strncat(told, message, sizeof told - strlen(told) - 2);
    strcat(told, "\n");
    told_count++;
}

static void read_class(void)
{
    const struct class_maker_bytes whole = class_maker_end(&maker);

    memory.used_bytes = 0;
    cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
    probe_close(probe);
    jw_error_clear(&err);
    told[0] = '\0';
    told_count = 0;
    probe = probe_read(&file, hear, &told_count, &err);
}

static void expect_good(void)
{
    read_class();
    cr_assert(probe != NULL, "%s", told);
    cr_expect(told_count == 0 && err.message[0] == '\0');
}

/* One thing is wrong, and each of the words is said of it. */
static void expect_refused(const char *place, const char *what, const char *remedy)
{
    read_class();
    cr_expect(probe == NULL, "taken, where it should be: %s", what);
    cr_expect(told_count == 1, "%u: %s", told_count, told);
    cr_expect(strncmp(told, place, strlen(place)) == 0 && told[strlen(place)] == ':', "%s: %s",
              place, told);
    cr_expect(strstr(told, what) != NULL, "%s: %s", what, told);
    cr_expect(strstr(told, remedy) != NULL, "%s: %s", remedy, told);
    cr_expect(strncmp(told, err.message, strlen(err.message)) == 0 && err.message[0] != '\0');
}

static const annotation probe_mark[] = {PLAIN("Probe")};
static const annotation on_return[] = {RULES("OnReturn", "value", RULE)};
static const annotation on_entry[] = {RULES("OnEntry", "value", RULE)};

/* A probe of one handler. */
static void make_handler(uint16_t access, const char *name, const char *descriptor,
                         const annotation *places, unsigned place_count,
                         const annotation *parameters, unsigned parameter_count)
{
    begin_probe(probe_mark, 1);
    add_method(access, name, descriptor, places, place_count, parameters, parameter_count);
}

Test(probe_read, a_probe_has_its_name_limits_and_handlers)
{
    const annotation marks[] = {{OURS("Probe"),
                                 {{"name", 's', 0, {"slow-orders"}},
                                  {"maxNanosPerCall", 'J', 5000000000, {NULL}},
                                  {"maxCallsPerSecond", 'I', 7, {NULL}},
                                  {"maxThrows", 'I', 0, {NULL}}}}};
    const annotation parameters[] = {PLAIN("This"),     ARGUMENT(3),       PLAIN("Arguments"),
                                     PLAIN("Returned"), PLAIN("Duration"), PLAIN("MethodName")};

    begin_probe(marks, 1);
    add_method(9, "added",
               "(Ljava/lang/Object;I[Ljava/lang/Object;Ljava/lang/Object;JLjava/lang/String;)V",
               on_return, 1, parameters, COUNT_OF(parameters));
    add_method(9, "helper", "(I)I", NULL, 0, NULL, 0);
    expect_good();
    cr_expect_str_eq(probe->name, "slow-orders");
    cr_expect_str_eq(probe->class_name, "com/acme/Slow");
    cr_expect(probe->limits.max_ns_per_call == 5000000000 &&
              probe->limits.max_calls_per_second == 7 && probe->limits.max_throws == 0);
    cr_expect(probe->java_version == 8);
    cr_assert(probe->handler_count == 1);

    const struct probe_handler *handler = &probe->handlers[0];
    const uint8_t kinds[] = {PROBE_THIS,     PROBE_ARGUMENT, PROBE_ARGUMENTS,
                             PROBE_RETURNED, PROBE_DURATION, PROBE_METHOD};
    cr_expect(handler->class_name == probe->class_name);
    cr_expect_str_eq(handler->method_name, "added");
    cr_expect_str_eq(
        handler->descriptor,
        "(Ljava/lang/Object;I[Ljava/lang/Object;Ljava/lang/Object;JLjava/lang/String;)V");
    cr_expect_str_eq(handler->rules, RULE "\n");
    cr_expect(handler->place == PROBE_RETURN && handler->capture_count == 6);
    for (unsigned i = 0; i < 6; i++)
        cr_expect(handler->captures[i].kind == kinds[i] &&
                      handler->captures[i].type == "LILLJL"[i] &&
                      handler->captures[i].argument == (i == 1 ? 3 : 0),
                  "capture %u", i);
    cr_expect(handler->limits.max_calls_per_second == 7);

    char type[PROBE_CALL_TYPE_BYTES];
    probe_call_type(handler, type);
    cr_expect_str_eq(type, "(Ljava/lang/Object;ILjava/lang/Object;Ljava/lang/Object;JLjava/lang/"
                           "Object;)V");
}

Test(probe_read, what_is_not_given_has_its_default)
{
    for (int visible = 0; visible < 2; visible++) {
        maker.has_visible = visible;
        make_handler(9, "entered", "()V", on_entry, 1, NULL, 0);
        expect_good();
        cr_expect_str_eq(probe->name, "Slow");
        cr_expect(probe->limits.max_ns_per_call == PROBE_NS_PER_CALL_DEFAULT &&
                  probe->limits.max_calls_per_second == PROBE_CALLS_PER_SECOND_DEFAULT &&
                  probe->limits.max_throws == PROBE_THROWS_DEFAULT);
        cr_expect(probe->handlers[0].place == PROBE_ENTRY && probe->handlers[0].capture_count == 0);
    }
}

Test(probe_read, a_method_at_two_places_is_two_handlers)
{
    const annotation marks[] = {RULES("Probe", "rules", "exclude method name=x", RULE)};
    const annotation places[] = {RULES("OnThrow", "value", RULE, "include method name=b"),
                                 RULES("OnReturn", "value", NULL)};
    const annotation parameters[] = {PLAIN("Duration")};

    begin_probe(marks, 1);
    add_method(9, "done", "(J)V", places, 2, parameters, 1);
    expect_good();
    cr_assert(probe->handler_count == 2);
    cr_expect(probe->handlers[0].place == PROBE_RETURN && probe->handlers[1].place == PROBE_THROW);
    /* Without its own, those of the class. */
    cr_expect_str_eq(probe->handlers[0].rules, "exclude method name=x\n" RULE "\n");
    cr_expect_str_eq(probe->handlers[1].rules, RULE "\ninclude method name=b\n");
    cr_expect_str_eq(probe->handlers[0].method_name, "done");
    cr_expect(probe->handlers[0].captures[0].type == 'J' &&
              probe->handlers[1].captures[0].kind == PROBE_DURATION);
}

Test(probe_read, a_class_that_is_no_probe_is_told_apart)
{
    const annotation others[] = {{"Lcom/acme/Probe;", {{NULL}}}};

    begin_probe(others, 1);
    add_method(9, "added", "()V", on_return, 1, NULL, 0);
    expect_refused("com.acme.Slow", "does not carry @Probe", "@Probe");
    cr_expect(!probe_is_marked(&file));
    make_handler(9, "added", "()V", on_return, 1, NULL, 0);
    expect_good();
    cr_expect(probe_is_marked(&file));
}

Test(probe_read, the_class_of_a_probe_is_public_and_one_of_its_own)
{
    make_handler(9, "added", "()V", on_return, 1, NULL, 0);
    maker.access = 0x20;
    expect_refused("com.acme.Slow", "is public", "for its handlers");
    make_handler(9, "added", "()V", on_return, 1, NULL, 0);
    maker.access = 0x601;
    expect_refused("com.acme.Slow", "methods of a class", "this is none");
    class_maker_begin(&maker, 52, "java/lang/Slow", "java/lang/Object");
    class_maker_annotate_class(&maker, probe_mark, 1);
    add_method(9, "added", "()V", on_return, 1, NULL, 0);
    expect_refused("java.lang.Slow", "no class loader", "a package of your own");
    begin_probe(probe_mark, 1);
    add_method(9, "main", "([Ljava/lang/String;)V", NULL, 0, NULL, 0);
    expect_refused("com.acme.Slow", "no handler",
                   "put @OnEntry, @OnReturn, @OnThrow or another place");
}

Test(probe_read, names_are_those_that_a_command_can_say)
{
    const char *const bad[] = {
        "two words", "-x",
        "a/b",       "a,b",
        "\xc3\xa4",  "a1234567890123456789012345678901234567890123456789012345678901234"};

    for (unsigned i = 0; i < COUNT_OF(bad); i++) {
        const annotation marks[] = {{OURS("Probe"), {{"name", 's', 0, {bad[i]}}}}};

        begin_probe(marks, 1);
        add_method(9, "added", "()V", on_return, 1, NULL, 0);
        expect_refused("com.acme.Slow", "1 to 63 letters", "@Probe(name");
    }
    class_maker_begin(&maker, 52, "com/acme/Probes$Sl\xc3\xb6w", "java/lang/Object");
    class_maker_annotate_class(&maker, probe_mark, 1);
    add_method(9, "added", "()V", on_return, 1, NULL, 0);
    expect_refused("com.acme.Probes$Sl\xc3\xb6w", "that of the class is not", "give one by");
    class_maker_begin(&maker, 52, "com/acme/Probes$Slow2", "java/lang/Object");
    class_maker_annotate_class(&maker, probe_mark, 1);
    add_method(9, "added", "()V", on_return, 1, NULL, 0);
    expect_good();
    cr_expect_str_eq(probe->name, "Slow2");
}

Test(probe_read, limits_are_numbers_from_zero_on)
{
    const annotation negative[] = {{OURS("Probe"), {{"maxThrows", 'I', -1, {NULL}}}}};
    const annotation texts[] = {{OURS("Probe"), {{"maxNanosPerCall", 's', 0, {"5"}}}}};

    begin_probe(negative, 1);
    add_method(9, "added", "()V", on_return, 1, NULL, 0);
    expect_refused("com.acme.Slow", "maxThrows is -1", "0 means without limit");
    begin_probe(texts, 1);
    add_method(9, "added", "()V", on_return, 1, NULL, 0);
    expect_refused("com.acme.Slow", "maxNanosPerCall is no number", "this release");
}

Test(probe_read, handlers_are_public_static_void)
{
    const uint16_t bad_access[] = {1, 8, 2, 0x0a};

    for (unsigned i = 0; i < COUNT_OF(bad_access); i++) {
        make_handler(bad_access[i], "added", "()V", on_return, 1, NULL, 0);
        expect_refused("com.acme.Slow.added", "public and static", "called from anywhere");
    }
    make_handler(9, "added", "()I", on_return, 1, NULL, 0);
    expect_refused("com.acme.Slow.added", "returns nothing", "make it void");
    make_handler(9, "added", "(", on_return, 1, NULL, 0);
    expect_refused("com.acme.Slow.added", "type is damaged", "compile it again");
}

/* No class file has a zero in a text; one would end our own too early. */
Test(probe_read, a_zero_in_a_name_is_damage)
{
    make_handler(9, "addXed", "()V", on_return, 1, NULL, 0);

    const struct class_maker_bytes whole = class_maker_end(&maker);
    uint8_t *name = memmem(whole.bytes, whole.length, "addXed", 6);
    name[3] = 0;
    memory.used_bytes = 0;
    cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
    probe = probe_read(&file, NULL, NULL, &err);
    cr_expect(probe == NULL);
    cr_expect_str_eq(err.message,
                     "com.acme.Slow.add?ed: a name of it is damaged; compile it again");
}

Test(probe_read, each_parameter_says_what_it_is_given)
{
    const annotation one[] = {PLAIN("Duration"), {NULL, {{NULL}}}};
    const annotation foreign[] = {{"Lcom/acme/Duration;", {{NULL}}}};
    const annotation duration[] = {PLAIN("Duration")};

    make_handler(9, "added", "(JI)V", on_return, 1, one, 2);
    expect_refused("com.acme.Slow.added", "parameter 2 does not say", "put @This");
    make_handler(9, "added", "(JI)V", on_return, 1, one, 1);
    expect_refused("com.acme.Slow.added", "parameter 2 does not say", "put @This");
    make_handler(9, "added", "(J)V", on_return, 1, foreign, 1);
    expect_refused("com.acme.Slow.added", "parameter 1 does not say", "@Duration");
    make_handler(9, "added", "(J)V", on_return, 1, NULL, 0);
    expect_refused("com.acme.Slow.added", "parameter 1 does not say", "@Duration");

    begin_probe(probe_mark, 1);
    class_maker_annotate_parameters(&maker, (annotation[]){PLAIN("Returned")}, 1);
    add_method(9, "added", "(J)V", on_return, 1, duration, 1);
    expect_refused("com.acme.Slow.added", "parameter 1 is to be @Returned and @Duration",
                   "one of them");
    make_handler(9, "added", "(J)V", NULL, 0, duration, 1);
    expect_refused("com.acme.Slow.added", "nothing says when it is called", "put @OnEntry");
}

Test(probe_read, captures_have_the_types_that_they_can_have)
{
    const struct {
        annotation capture;
        const char *place;
        const char *good; /* descriptors of a type, one after the other */
        const char *bad;
    } all[] = {
        {PLAIN("This"), "OnReturn", "Ljava/lang/Object;",
         "Lcom/acme/Shop;IJ[Ljava/lang/Object;Ljava/lang/String;"},
        {ARGUMENT(0), "OnReturn", "Ljava/lang/Object;BCDFIJSZ",
         "Ljava/lang/String;[ILjava/lang/Integer;"},
        {PLAIN("Arguments"), "OnEntry", "[Ljava/lang/Object;",
         "Ljava/lang/Object;[[Ljava/lang/Object;[I"},
        {PLAIN("Returned"), "OnReturn", "Ljava/lang/Object;BCDFIJSZ", "Ljava/lang/String;[J"},
        {PLAIN("Thrown"), "OnThrow", "Ljava/lang/Throwable;",
         "Ljava/lang/Object;Ljava/lang/Exception;J"},
        {PLAIN("Duration"), "OnReturn", "J", "IDLjava/lang/Object;Ljava/lang/Long;"},
        {PLAIN("MethodName"), "OnEntry", "Ljava/lang/String;", "Ljava/lang/Object;IJ"},
        {PLAIN("RuleName"), "OnEntry", "Ljava/lang/String;", "Ljava/lang/Object;IJ"},
        {PLAIN("Caller"), "OnEntry", "Ljava/lang/String;", "Ljava/lang/Object;IJ"},
        {PLAIN("SpanId"), "OnEntry", "J", "IDLjava/lang/Long;Ljava/lang/String;"},
        {PLAIN("TraceId"), "OnEntry", "Ljava/lang/String;", "Ljava/lang/Object;IJ"},
        {PLAIN("Endpoint"), "OnEntry", "Ljava/lang/String;", "Ljava/lang/Object;IJ"},
        {PLAIN("LineNumber"), "OnEntry", "I", "JSLjava/lang/Integer;"},
        {PLAIN("Receiver"), "OnCall", "Ljava/lang/Object;", "Lcom/acme/Db;I[I"},
        {{OURS("CallArgument"), {{"value", 'I', 0, {NULL}}}},
         "OnCall",
         "Ljava/lang/Object;BCDFIJSZ",
         "Ljava/lang/String;[ILjava/lang/Integer;"},
        {PLAIN("TargetName"), "OnCallReturn", "Ljava/lang/String;", "Ljava/lang/Object;IJ"},
        {PLAIN("Returned"), "OnCallReturn", "Ljava/lang/Object;BCDFIJSZ", "Ljava/lang/String;[J"},
        {PLAIN("Value"), "OnWrite", "Ljava/lang/Object;BCDFIJSZ", "Ljava/lang/String;[J"},
        {PLAIN("Allocated"), "OnAllocation", "Ljava/lang/Object;", "[BLjava/lang/String;J"},
        {PLAIN("Lock"), "OnMonitorEnter", "Ljava/lang/Object;", "Ljava/lang/String;J"},
    };

    for (unsigned i = 0; i < COUNT_OF(all); i++) {
        char type[64];
        const annotation place[] = {
            {type, {{"value", '[', 0, {RULE}}, {"of", 's', 0, {"com.acme.Db.*"}}}}};

        snprintf(type, sizeof type, OURS("%s"), all[i].place);
        for (int is_good = 0; is_good < 2; is_good++) {
            const char *types = is_good ? all[i].good : all[i].bad;
            struct classfile_text list = {types, (uint32_t)strlen(types)}, one;

            for (uint32_t at = 0; classfile_next_type(list, &at, &one);) {
                char descriptor[64];
                snprintf(descriptor, sizeof descriptor, "(%.*s)V", (int)one.length_bytes,
                         one.bytes);
                make_handler(9, "added", descriptor, place, 1, &all[i].capture, 1);
                if (is_good) {
                    expect_good();
                    cr_expect(probe->handlers[0].captures[0].type ==
                              (one.bytes[0] == '[' ? 'L' : one.bytes[0]));
                } else {
                    expect_refused("com.acme.Slow.added", "parameter 1: @", " is of type ");
                }
            }
        }
    }
}

#define OF(type, pattern)                                                                          \
    {                                                                                              \
        OURS(type),                                                                                \
        {                                                                                          \
            {"value", '[', 0, {RULE}},                                                             \
            {                                                                                      \
                "of", 's', 0,                                                                      \
                {                                                                                  \
                    pattern                                                                        \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define LINE(number)                                                                               \
    {                                                                                              \
        OURS("OnLine"),                                                                            \
        {                                                                                          \
            {"value", '[', 0, {RULE}},                                                             \
            {                                                                                      \
                "line", 'I', number,                                                               \
                {                                                                                  \
                    NULL                                                                           \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

static const annotation one_of_each[] = {RULES("OnEntry", "value", RULE),
                                         RULES("OnReturn", "value", RULE),
                                         RULES("OnThrow", "value", RULE),
                                         OF("OnCall", "**.query"),
                                         OF("OnCallReturn", "**.query"),
                                         LINE(41),
                                         OF("OnRead", "**.text"),
                                         OF("OnWrite", "**.text"),
                                         OF("OnAllocation", "byte[]"),
                                         RULES("OnMonitorEnter", "value", RULE),
                                         RULES("OnMonitorEntered", "value", RULE),
                                         RULES("OnMonitorExit", "value", RULE)};

Test(probe_read, captures_are_known_at_some_places_alone)
{
    const unsigned calls = PROBE_AT(CALL) | PROBE_AT(CALL_RETURN);
    const unsigned fields = PROBE_AT(READ) | PROBE_AT(WRITE);
    const struct {
        annotation capture;
        const char *descriptor;
        unsigned places;
        const char *where;
    } all[] = {
        {PLAIN("This"), "(Ljava/lang/Object;)V", PROBE_EVERYWHERE, ""},
        {ARGUMENT(254), "(I)V", PROBE_EVERYWHERE, ""},
        {PLAIN("Arguments"), "([Ljava/lang/Object;)V", PROBE_EVERYWHERE, ""},
        {PLAIN("Returned"), "(I)V", PROBE_AT(RETURN) | PROBE_AT(CALL_RETURN),
         "@Returned is known at @OnReturn and @OnCallReturn alone"},
        {PLAIN("Thrown"), "(Ljava/lang/Throwable;)V", PROBE_AT(THROW),
         "@Thrown is known at @OnThrow alone"},
        {PLAIN("Duration"), "(J)V", PROBE_EVERYWHERE & ~PROBE_AT(ENTRY),
         "@Duration is known behind the entry alone"},
        {PLAIN("MethodName"), "(Ljava/lang/String;)V", PROBE_EVERYWHERE, ""},
        {PLAIN("RuleName"), "(Ljava/lang/String;)V", PROBE_EVERYWHERE, ""},
        {PLAIN("Caller"), "(Ljava/lang/String;)V", PROBE_EVERYWHERE, ""},
        {PLAIN("SpanId"), "(J)V", PROBE_EVERYWHERE, ""},
        {PLAIN("TraceId"), "(Ljava/lang/String;)V", PROBE_EVERYWHERE, ""},
        {PLAIN("Endpoint"), "(Ljava/lang/String;)V", PROBE_EVERYWHERE, ""},
        {PLAIN("LineNumber"), "(I)V", PROBE_EVERYWHERE & ~PROBE_AT(THROW),
         "@LineNumber is known at places with code alone"},
        {PLAIN("Receiver"), "(Ljava/lang/Object;)V", calls | fields,
         "@Receiver is known at calls and fields alone"},
        {{OURS("CallArgument"), {{"value", 'I', 254, {NULL}}}},
         "(J)V",
         calls,
         "@CallArgument is known at @OnCall and @OnCallReturn alone"},
        {PLAIN("TargetName"), "(Ljava/lang/String;)V", calls | fields | PROBE_AT(ALLOCATION),
         "@TargetName is known at calls, fields and allocations alone"},
        {PLAIN("Value"), "(I)V", fields, "@Value is known at @OnRead and @OnWrite alone"},
        {PLAIN("Allocated"), "(Ljava/lang/Object;)V", PROBE_AT(ALLOCATION),
         "@Allocated is known at @OnAllocation alone"},
        {PLAIN("Lock"), "(Ljava/lang/Object;)V",
         PROBE_AT(MONITOR_ENTER) | PROBE_AT(MONITOR_ENTERED),
         "@Lock is known at @OnMonitorEnter and @OnMonitorEntered alone"},
    };
    cr_assert(COUNT_OF(all) == PROBE_KIND_LIMIT && COUNT_OF(one_of_each) == PROBE_PLACE_LIMIT);
    for (unsigned i = 0; i < COUNT_OF(all); i++) {
        for (unsigned place = 0; place < PROBE_PLACE_LIMIT; place++) {
            make_handler(9, "added", all[i].descriptor, &one_of_each[place], 1, &all[i].capture, 1);
            if ((all[i].places & (1u << place)) != 0)
                expect_good();
            else
                expect_refused("com.acme.Slow.added", all[i].where, "two handlers");
        }
    }
}

Test(probe_read, a_place_within_a_method_says_which_it_is)
{
    const annotation good[] = {OF("OnCall", "com.acme.Db.query*"), LINE(41)};
    const annotation bad[] = {OF("OnCall", ""),
                              OF("OnCall", "query"),
                              OF("OnCallReturn", "com.acme.Db query"),
                              OF("OnCall", "a.b|c.d"),
                              RULES("OnCall", "value", RULE),
                              {OURS("OnCall"), {{"of", 'I', 1, {NULL}}}}};
    const annotation no_line[] = {LINE(0), LINE(65536), LINE(-1), RULES("OnLine", "value", RULE)};
    char text[64];

    make_handler(9, "called", "()V", good, 2, NULL, 0);
    expect_good();
    cr_assert(probe->handler_count == 2);
    cr_expect(probe->handlers[0].place == PROBE_CALL && probe->handlers[0].line == 0);
    cr_expect_str_eq(probe->handlers[0].of, "com.acme.Db.query*");
    cr_expect(probe->handlers[1].place == PROBE_LINE && probe->handlers[1].of == NULL &&
              probe->handlers[1].line == 41);
    cr_expect_eq(probe_place_words(&probe->handlers[0], text, sizeof text), 23);
    cr_expect_str_eq(text, "call com.acme.Db.query*");
    (void)probe_place_words(&probe->handlers[1], text, sizeof text);
    cr_expect_str_eq(text, "line 41");
    cr_expect_eq(probe_place_words(&probe->handlers[0], text, 6), 5);
    for (unsigned i = 0; i < COUNT_OF(bad); i++) {
        make_handler(9, "called", "()V", &bad[i], 1, NULL, 0);
        expect_refused("com.acme.Slow.called", "does not say of what", "(of = \"java.sql");
    }
    const annotation no_class[] = {OF("OnAllocation", ""), OF("OnAllocation", "byte []"),
                                   RULES("OnAllocation", "value", RULE)};
    for (unsigned i = 0; i < COUNT_OF(no_class); i++) {
        make_handler(9, "called", "()V", &no_class[i], 1, NULL, 0);
        expect_refused("com.acme.Slow.called", "does not say of what: a class", "\"byte[]\"");
    }
    for (unsigned i = 0; i < COUNT_OF(no_line); i++) {
        make_handler(9, "called", "()V", &no_line[i], 1, NULL, 0);
        expect_refused("com.acme.Slow.called", "@OnLine does not say which", "@OnLine(line = 41)");
    }
}

Test(probe_read, arguments_are_numbered_as_in_the_source)
{
    const annotation bad[] = {ARGUMENT(-1),
                              ARGUMENT(255),
                              PLAIN("Argument"),
                              {OURS("Argument"), {{"value", 's', 0, {"1"}}}}};

    for (unsigned i = 0; i < COUNT_OF(bad); i++) {
        make_handler(9, "added", "(I)V", on_return, 1, &bad[i], 1);
        expect_refused("com.acme.Slow.added", "numbered from 0 to 254", "@Argument(0)");
    }
}

Test(probe_read, rules_are_those_of_room_rules)
{
    const annotation bad[] = {RULES("OnReturn", "value", "include klass name=x")};
    const annotation second_line[] = {RULES("OnReturn", "value", RULE, "inclde method name=x")};
    const annotation idle[] = {RULES("OnReturn", "value", "exclude method name=x")};
    const annotation numbers[] = {{OURS("OnReturn"), {{"value", 'I', 5, {NULL}}}}};
    const annotation none[] = {PLAIN("OnReturn")};
    const annotation class_rules[] = {RULES("Probe", "rules", "nonsense")};

    make_handler(9, "added", "()V", bad, 1, NULL, 0);
    expect_refused("com.acme.Slow.added", "line 1: 'klass'", "class or method is expected");
    make_handler(9, "added", "()V", second_line, 1, NULL, 0);
    expect_refused("com.acme.Slow.added", "line 2: 'inclde'", "exclude or include is expected");
    make_handler(9, "added", "()V", idle, 1, NULL, 0);
    expect_refused("com.acme.Slow.added", "include nothing", "add one such as");
    make_handler(9, "added", "()V", numbers, 1, NULL, 0);
    expect_refused("com.acme.Slow.added", "no texts", "this release");
    make_handler(9, "added", "()V", none, 1, NULL, 0);
    expect_refused("com.acme.Slow.added", "no rule says", "@Probe(rules");
    begin_probe(class_rules, 1);
    add_method(9, "added", "()V", on_return, 1, NULL, 0);
    expect_refused("com.acme.Slow", "line 1: 'nonsense'", "exclude or include is expected");
}

Test(probe_read, all_that_is_wrong_is_told_at_once)
{
    const annotation parameters[] = {PLAIN("Returned"), PLAIN("Duration")};

    begin_probe(probe_mark, 1);
    add_method(9, "entered", "(II)V", on_entry, 1, parameters, 2);
    add_method(1, "added", "()V", on_return, 1, NULL, 0);
    read_class();
    cr_expect(probe == NULL && told_count == 3, "%u: %s", told_count, told);
    cr_expect(strstr(err.message, "parameter 1: @Returned is known") != NULL);
    cr_expect(strstr(told, "parameter 2: @Duration is of type long") != NULL);
    cr_expect(strstr(told, "Slow.added: a handler is public and static") != NULL);
}

Test(probe_read, a_place_stands_once)
{
    const annotation places[] = {RULES("OnReturn", "value", RULE),
                                 RULES("OnReturn", "value", RULE)};

    make_handler(9, "added", "()V", places, 2, NULL, 0);
    expect_refused("com.acme.Slow.added", "carries @OnReturn twice", "twice");
}

/* As many as there may be are taken, and one more is refused. */
Test(probe_read, handlers_parameters_and_texts_are_limited)
{
    annotation many[PROBE_CAPTURES_LIMIT + 1];
    char descriptor[PROBE_CAPTURES_LIMIT + 8];

    for (unsigned i = 0; i <= PROBE_CAPTURES_LIMIT; i++)
        many[i] = (annotation)PLAIN("Duration");
    for (unsigned count = PROBE_CAPTURES_LIMIT; count <= PROBE_CAPTURES_LIMIT + 1; count++) {
        memset(descriptor, 'J', sizeof descriptor);
        descriptor[0] = '(';
        strcpy(descriptor + 1 + count, ")V");
        make_handler(9, "added", descriptor, on_return, 1, many, count);
        if (count == PROBE_CAPTURES_LIMIT)
            expect_good();
        else
            expect_refused("com.acme.Slow.added", "at most 16 parameters", "@Arguments");
    }

    for (unsigned count = PROBE_HANDLERS_LIMIT; count <= PROBE_HANDLERS_LIMIT + 1; count++) {
        begin_probe(probe_mark, 1);
        for (unsigned i = 0; i < count; i++)
            add_method(9, "added", "()V", on_return, 1, NULL, 0);
        if (count == PROBE_HANDLERS_LIMIT)
            expect_good();
        else
            expect_refused("com.acme.Slow.added", "at most 64 handlers", "two probes");
    }

    char *rule = malloc(60001);
    const annotation long_rule[] = {RULES("OnReturn", "value", rule)};
    memset(rule, ' ', 60000);
    memcpy(rule, RULE, sizeof RULE - 1);
    rule[60000] = '\0';
    begin_probe(probe_mark, 1);
    for (unsigned i = 0; i < 5; i++)
        add_method(9, "added", "()V", long_rule, 1, NULL, 0);
    expect_refused("com.acme.Slow.added", "at most 262144 bytes", "two probes");
    free(rule);
}

Test(probe_read, without_memory_it_says_so)
{
    make_handler(9, "added", "()V", on_return, 1, NULL, 0);
    expect_good();
    for (uint64_t nth = 1; nth <= 2; nth++) {
        jw_error_clear(&err);
        jw_alloc_fail_after(nth);
        struct probe *none = probe_read(&file, NULL, NULL, &err);
        jw_alloc_fail_after(0);
        cr_expect(none == NULL && strstr(err.message, "memory") != NULL, "%s", err.message);
    }
}
