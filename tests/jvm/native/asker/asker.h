/*
 * asker - an agent that asks jaywalk for stacks, methods and classes from signal handlers of its own, asks again later for all that it
 * was told, and hears the end of all of it. Whatever contradicts something else is wrong, and is in its report.
 *
 *   asker.c   the agent: handlers of signals, start and end     kept.c   what was told, and what is wrong
 *   again.c   a thread that asks again, and converts            ends.c   handlers of classes, and who removes them
 *   natives.c what the workload Foreign asks for                rules.c  what belongs together in names of the workload
 */
#ifndef JW_TESTS_ASKER_H
#define JW_TESTS_ASKER_H

#include <jaywalk.h>
#include <jvmti.h>
#include <stdatomic.h>
#include <stddef.h>

#define LINES_KEPT 8

/* What there is to ask about a method. */
struct answers {
    jaywalk_class klass;
    uint64_t class_idnum;
    int idnum;
    uint32_t modifiers;
    uint32_t class_modifiers;
    uint32_t is_hidden;
    int line_count;
    struct jaywalk_line lines[LINES_KEPT];
    char class_name[160];
    char name[64];
    char signature[64];
    char source[48];
};

enum { KEPT_EMPTY, KEPT_WRITTEN, KEPT_READY, KEPT_GONE_AT_ONCE };

/* A method that was met on a stack, or in an event. */
struct kept {
    _Atomic jaywalk_method method;
    atomic_int state;    /* of `first` */
    atomic_uint told_in; /* number of the event that told its end; 0: none did */
    struct answers first;
    struct answers again; /* of the thread that asks again */
    int is_paired;        /* likewise */
};

struct kept_class {
    _Atomic jaywalk_class klass;
    atomic_uint unloaded_in;
    atomic_int is_due; /* the JVM has unloaded it, whether handlers were told already or not */
};

#define KEPT_MAX 131072

extern struct kept kept_methods[KEPT_MAX];

/* Number of the event that is told now or was last, from 1; and of the last that no handler is told any more. */
extern atomic_uint event_now, event_over;

/* What the report has, by name: figures for the case to look at. */
enum figure {
    SAMPLES,
    FRAMES,
    SHORT_LIVED_FRAMES,
    HIDDEN_FRAMES,
    REDEFINED_FRAMES,
    NO_JAVA,
    BROKEN,
    UNTOLD_METHODS, /* frames without an id */
    GONE_AT_ONCE,
    NESTED,
    NESTED_BROKEN,
    ASKED_AGAIN,
    GONE_AGAIN,
    CONVERTED,
    BODIES_OF_ONE_NUMBER,
    UNLOADS,
    REDEFINITIONS,
    METHODS_ENDED,
    TRANSIENT_CALLS,
    COMPARED_FRAMES,
    FIGURES
};
extern atomic_long figures[FIGURES];

void count(enum figure figure);

/* Remembers that this was wrong; signal-safe. */
void wrong(const char *what, const char *first, const char *second, uint64_t number);

/* The entry of this method or class, added where there is none; NULL: no room, which is wrong. Signal-safe. */
struct kept *kept_add(jaywalk_method method);
struct kept_class *kept_class_add(jaywalk_class klass);

/* Asks all there is. JAYWALK_OK; JAYWALK_GONE: the method, or its class (`is_class_gone`), has met its end. Signal-safe. */
int answers_ask(jaywalk_method method, struct answers *answers, int *is_class_gone);

/* Whether both were told of one and the same. */
int answers_equal(const struct answers *one, const struct answers *other);

/* A function has answered JAYWALK_GONE: then a handler of classes knows why already. Signal-safe. */
void check_told(jaywalk_method method, const char *what);
void check_class_told(jaywalk_class klass, const char *what);

/* At the end: all that was due was told. */
void check_due(void);

void again_start(JavaVM *vm, jvmtiEnv *jvmti);
void again_stop(void);

void ends_start(void);
void ends_stop(void);
/* How often a class of the workload with this number was unloaded. */
int ends_of(int is_hidden, int number);

/* As the functions answer that were not opened yet; and after. */
void errors_before(void);
void errors_after(void);

extern jvmtiEnv *asker_jvmti;

#endif
