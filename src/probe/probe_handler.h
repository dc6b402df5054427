/*
 * probe_handler - what a probe is: handlers of a class, where they are called, and with what.
 *
 * For      probes that users write in Java: the command shows and checks them, the agent puts them into methods.
 * Callers  agent, cli.
 * Context  probe_read, probe_replace_rules, probe_close: control, tool. The rest: hook, tool; nothing is allocated.
 * Memory   a probe is one block of its own, that probe_close frees. It keeps nothing of the class it was read from.
 *
 * A probe is one class that carries @Probe of package io.jaywalk.probe. Its handlers are its public static void methods that
 * carry @OnEntry, @OnReturn, @OnThrow, or the annotation of a place within a method (probe_places.def). Each parameter of a handler carries the annotation of what it is given:
 *
 *   @Probe(maxNanosPerCall = 5000)
 *   public class Slow {
 *       @OnReturn("include class name=com.acme.Shop method name=add")
 *       public static void added(@This Object shop, @Argument(0) int item, @Duration long ns) { ... }
 *   }
 *
 * Annotations are read whether they are visible at run time or not; what they do not give has the defaults below, which are those
 * of java/io/jaywalk/probe. A class file with anything that cannot be done is no probe: nothing is half understood.
 * docs/adr/0054-what-a-probe-is.md
 */
#ifndef JW_PROBE_PROBE_HANDLER_H
#define JW_PROBE_PROBE_HANDLER_H

#include "classfile/classfile.h"

enum probe_place {
#define PROBE_PLACE(name, word, annotation, at, side, named, text) PROBE_##name,
#include "probe/probe_places.def"
#undef PROBE_PLACE
    PROBE_PLACE_LIMIT,
};
#define PROBE_AT(place)  (1u << PROBE_##place)
#define PROBE_EVERYWHERE ((1u << PROBE_PLACE_LIMIT) - 1)

/* How the annotation of a place says which it is. */
enum probe_named {
    PROBE_NAMED_WHOLE,  /* by nothing: it is of the method as a whole */
    PROBE_NAMED_EACH,   /* by nothing: it is each of its kind */
    PROBE_NAMED_MEMBER, /* of = "com.acme.Db.query*": a pattern as rules have them */
    PROBE_NAMED_CLASS,  /* of = "com.acme.Order", "byte[]": likewise */
    PROBE_NAMED_LINE,   /* line = 41 */
};

enum probe_kind {
#define PROBE_CAPTURE(name, annotation, types, places, where, text) PROBE_##name,
#include "probe/probe_captures.def"
#undef PROBE_CAPTURE
    PROBE_KIND_LIMIT,
};

const char *probe_place_word(enum probe_place place);       /* "entry" */
const char *probe_place_annotation(enum probe_place place); /* "OnEntry" */
enum probe_named probe_place_named(enum probe_place place);
const char *probe_kind_annotation(enum probe_kind kind); /* "Duration" */
const char *probe_kind_text(enum probe_kind kind);

/* What one parameter of a handler is given. */
struct probe_capture {
    uint8_t kind; /* enum probe_kind */
    uint8_t
        argument; /* ARGUMENT, CALL_ARGUMENT: its number, from 0 on, `this` not counted; else 0 */
    char type;    /* of the parameter: L for each reference, or one of BCDFIJSZ */
};

/* Past these a probe is taken out, and that is said. 0: without limit. */
struct probe_limits {
    uint64_t max_ns_per_call;      /* mean of the calls of one second, where it is judged */
    uint32_t max_calls_per_second; /* of all its handlers */
    uint32_t max_throws;           /* exceptions that its handlers let out, since it was attached */
};
/* A second in which all calls of a probe took less is not judged by that: a few calls of cold code are dear, and cost nobody anything. */
#define PROBE_JUDGED_NS                ((uint64_t)10 * 1000 * 1000)
#define PROBE_NS_PER_CALL_DEFAULT      10000u
#define PROBE_CALLS_PER_SECOND_DEFAULT 100000u
#define PROBE_THROWS_DEFAULT           10u

#define PROBE_CAPTURES_LIMIT 16u /* parameters of a handler */
#define PROBE_HANDLERS_LIMIT 64u /* of a probe; a method with two places is two handlers */
#define PROBE_NAME_BYTES     64u /* with its end */
#define PROBE_TEXT_BYTES     (256u * 1024) /* of all names and rules of a probe */

struct probe_handler {
    const char *class_name; /* "com/acme/Slow" */
    const char *method_name;
    const char *descriptor; /* as it is declared: how the method is looked up */
    enum probe_place place;
    const char *of; /* what the place has to do with; NULL: places of that kind have no name */
    uint16_t line;  /* of a place that is named by it; else 0 */
    const char
        *rules; /* of room rules: parsed once already, with success, and with an inclusive rule */
    uint8_t capture_count;
    struct probe_capture captures[PROBE_CAPTURES_LIMIT]; /* in the order of the parameters */
    struct probe_limits limits;                          /* those of the probe */
    /* Of the agent's own probes: a class of the boot loader, whose static method is called without a gate, with `site` and the
     * number of the attach behind what is captured; `descriptor` is that of this call. NULL: a handler of a user's. */
    const char *target;
    int32_t site; /* -1: one for each method, as the class tells (probe_weave_class.site_of) */
    bool
        is_paired; /* its call at the entry gives an int, which those at the ends are given before `site` */
    const char *pattern; /* what the user named the methods by */
    uint64_t least_ns;   /* shorter calls are not told */
};

/*
 * An event that a probe declares: a static void method, whose parameters are the fields. Each call of it is an event in the recording; what
 * the method does itself is done afterwards.
 *
 *   @Event("SlowOrder")
 *   private static void slow(@Field("items") int items, @Field("customer") String customer, @Duration long ns) {}
 */
enum probe_unit {
#define PROBE_UNIT(name, text) PROBE_UNIT_##name,
#include "probe/probe_units.def"
#undef PROBE_UNIT
    PROBE_UNIT_LIMIT,
};
const char *probe_unit_word(enum probe_unit unit); /* "BYTES": the constant of Field.Unit */

#define PROBE_EVENTS_LIMIT 16u /* of a probe */
#define PROBE_NUMBERS_LIMIT                                                                        \
    8u /* fields of an event that are numbers and booleans; the duration not counted */
#define PROBE_OBJECTS_LIMIT     8u /* and texts, classes and threads */
#define PROBE_FIELDS_LIMIT      (PROBE_NUMBERS_LIMIT + PROBE_OBJECTS_LIMIT)
#define PROBE_EVENT_NAME_BYTES  64u /* also of fields; with its end */
#define PROBE_EVENT_LABEL_BYTES 128u

/* Types of fields that are objects, beside those of primitive types. */
#define PROBE_FIELD_TEXT   's'
#define PROBE_FIELD_CLASS  'c'
#define PROBE_FIELD_THREAD 't'

struct probe_field {
    const char *name; /* an identifier, which no field has that each event has */
    const char *label;
    uint8_t unit; /* enum probe_unit */
    char type;    /* one of BCDFIJSZ and of those above */
};

struct probe_event {
    const char *name; /* an identifier: of the type jaywalk.probe.<name> */
    const char *label;
    const char *description; /* "": none */
    const char *method_name;
    const char *descriptor;
    bool has_stack;             /* it is recorded with its stack trace */
    bool has_duration;          /* one parameter says how long it took, up to now */
    uint8_t duration_parameter; /* which, from 0 on */
    uint8_t field_count;
    struct probe_field fields[PROBE_FIELDS_LIMIT]; /* the other parameters, in their order */
};

struct probe {
    const char *name;       /* letters, digits, . _ -; that by which it is listed and taken out */
    const char *class_name; /* "com/acme/Slow" */
    struct probe_limits limits;
    uint32_t handler_count; /* at least 1 */
    const struct probe_handler *handlers;
    uint32_t event_count;
    const struct probe_event *events;
    uint16_t java_version; /* of its class file: the first that loads it, 8 for 52 */
};

/* Whether the class carries @Probe. */
bool probe_is_marked(const struct classfile *file);

/* Each thing that is wrong with it, one printable line: class and method, what it is, and what to do. */
typedef void probe_tell(void *context, const char *message);

/*
 * The probe that this class is. NULL and `err`, the first of what is wrong: it is none. `tell` (may be NULL) is told of all of it.
 */
JW_MUST_CHECK struct probe *probe_read(const struct classfile *file, probe_tell *tell,
                                       void *context, struct jw_error *err);
void probe_close(struct probe *probe); /* NULL is fine */

/* What came of rules in the place of others: names with commas between them, as far as there is room. */
struct probe_replaced {
    uint32_t count;  /* of rules that were given; 0: none were */
    char names[256]; /* of the probe's rules that have names */
    char kept[256];  /* of those, which are as the probe has them */
};
/*
 * Rules of a text (room rules) take the places of the probe's rules of the same names, in all of its handlers. False and `err`, and the
 * probe is good for probe_close alone: they are not understood, one has a name that no rule of the probe has, or a handler would be
 * left without an inclusive rule.
 */
JW_MUST_CHECK bool probe_replace_rules(struct probe *probe, const char *text, size_t length_bytes,
                                       struct probe_replaced *out, struct jw_error *err);

/* Whether a handler's captures can be had from a method, which a rule takes. */
enum probe_fit {
#define PROBE_FIT(name, word, text) PROBE_FIT_##name,
#include "probe/probe_fits.def"
#undef PROBE_FIT
    PROBE_FIT_LIMIT,
};
enum probe_fit probe_fit(const struct probe_handler *handler, struct classfile_text method_name,
                         struct classfile_text descriptor);
/* The same of a method with its code: PROBE_FIT_NO_PLACE, or what none of its places has, where the handler is for places within. */
enum probe_fit probe_fit_method(const struct probe_handler *handler, const struct classfile *file,
                                const struct classfile_member *method);
const char *probe_fit_word(enum probe_fit fit);
const char *probe_fit_text(enum probe_fit fit);

/* "call com.acme.Db.query*", "line 41", "return": a place in words. Its length; cut where there is no room. */
size_t probe_place_words(const struct probe_handler *handler, char *text, size_t room_bytes);

/* A place within a method that a handler is for. */
struct probe_found {
    uint32_t pc;
    enum probe_fit fit; /* of this place */
};
/* One after the other; `next_pc` begins as 0. None for handlers of a method as a whole. */
bool probe_next_place(const struct probe_handler *handler, const struct classfile *file,
                      const struct classfile_member *method, uint32_t *next_pc,
                      struct probe_found *out);

/*
 * The type by which a handler is called: each reference is java.lang.Object, "(Ljava/lang/Object;IJ)V". What the bridge to the handler
 * fetches by itself (the caller, and what the thread works for) is not in it.
 */
#define PROBE_CALL_TYPE_BYTES (PROBE_CAPTURES_LIMIT * (sizeof "Ljava/lang/Object;" - 1) + 4)
void probe_call_type(const struct probe_handler *handler, char text[PROBE_CALL_TYPE_BYTES]);

#endif
