/* What losses and failures mean in plain words, and what can be done about them. Context: tool. */
#include <string.h>

#include "cli/cli_doctor_internal.h"

const char *cli_doctor_loss_todo(enum jw_counter_id id)
{
    switch ((int)id) {
    case JW_COUNT_LOST_STOPPED:
        return "nothing: they came while a session began or ended; start and stop less often";
    case JW_COUNT_LOST_NO_THREAD:
        return "raise memlimit= where threads is at its limit below; else nothing, the threads had "
               "just begun, or ended";
    case JW_COUNT_LOST_REENTRY:
        return "choose a longer interval=: the next signal came while a sample was still taken";
    case JW_COUNT_LOST_STACK:
        return "enlarge the alternate signal stacks (sigaltstack) that the program or a library "
               "gives its threads: 64 KiB are enough";
    case JW_COUNT_LOST_NO_SCRATCH:
        return "raise memlimit=: more threads were sampled at one time than have room to be walked "
               "in";
    case JW_COUNT_LOST_NO_CELL:
        return "choose a longer interval=; if that does not help, report it with the recording";
    case JW_COUNT_LOST_STORE_FULL:
        return "raise memlimit=, or choose a longer interval=: there were more different stacks in "
               "a second than have room";
    case JW_COUNT_LOST_EVENTS_FULL:
        return "raise memlimit=, or choose a longer interval=: there were more samples in a second "
               "than have room";
    case JW_COUNT_LOST_FORKED:
        return "nothing: child processes that fork made are not profiled";
    default:
        return "report it with the recording";
    }
}

enum jw_cost_clock cli_doctor_clock_of(const char *text)
{
    return strcmp(text, "wall") == 0   ? JW_COST_WALL
           : strcmp(text, "hook") == 0 ? JW_COST_HOOK
                                       : JW_COST_CPU;
}

/*
 * What goes on behind the reason that a recording tells, and what to do. Codes from 0 to -10 are AsyncGetCallTrace's; beyond
 * that they are jaywalk's own: walk.h.
 */
static const struct {
    const char *words, *todo;
} walk_words[] = {
    {"the thread begins, ends, or works for the JVM; nothing is missing", NULL},
    {"AsyncGetCallTrace then refuses",
     "start profiling with the JVM, or use cstack=vm, the default"},
    {"AsyncGetCallTrace does not walk then; jaywalk's own walker does",
     "use cstack=vm, the default"},
    {"the JVM does not tell AsyncGetCallTrace where Java ends", "use cstack=vm, the default"},
    {"the thread is in the JVM, at a place that AsyncGetCallTrace does not leave",
     "use cstack=vm, the default"},
    {"code that AsyncGetCallTrace does not recognise: a stub, the edge of a method",
     "use cstack=vm, the default"},
    {"AsyncGetCallTrace cannot step from this code to its caller", "use cstack=vm, the default"},
    {"the JVM tells a state that AsyncGetCallTrace does not know", "use cstack=vm, the default"},
    {"it has no Java frames any more; nothing is missing", NULL},
    {"the JVM was just replacing a compiled frame by interpreted ones", NULL},
    {"the JVM had stopped the thread, and AsyncGetCallTrace does not look there",
     "use cstack=vm, the default"},
    {"it was caught, and harmed nothing", "use cstack=vm, the default"},
    {"no walker was in use at that time", "see under Walkers which stepped down, and why"},
    {"native code without unwind tables (.eh_frame), or whose tables were not read yet",
     "look for libraries without .eh_frame among those under Stacks; else report it"},
    {"the frame was being built or taken down", NULL},
    {"the frame was being built or taken down", NULL},
    {"code that changes stacks, or a frame that was being built", NULL},
    {"code of the JVM's own whose frame jaywalk does not know", NULL},
    {"it was just being freed", NULL},
    {"the walk went in circles, and was ended", NULL},
};

static bool has_words(const struct cli_doctor_failure *failure)
{
    return failure->reason[0] != '\0' && failure->code <= 0 &&
           failure->code > -(int32_t)JW_COUNT_OF(walk_words);
}

const char *cli_doctor_walk_words(const struct cli_doctor_failure *failure)
{
    if (strcmp(failure->walker, "native") == 0)
        return "the native frames end too early; the Java frames below them are there";
    return has_words(failure) ? walk_words[-failure->code].words : NULL;
}

const char *cli_doctor_walk_todo(const struct cli_doctor_failure *failure)
{
    const char *todo = has_words(failure) ? walk_words[-failure->code].todo : NULL;

    return todo == NULL ? "report it with the recording" : todo;
}

const char *cli_doctor_place_words(const char *where)
{
    static const struct {
        const char *where, *words;
    } places[] = {
        {"unknown", "no code that anybody knows"},
        {"native library", "C or C++ code, the JVM's own included"},
        {"interpreter", "the JVM's interpreter, which runs methods not compiled yet"},
        {"compiled method", "Java code that the JVM compiled"},
        {"native method wrapper", "what calls a native method"},
        {"vtable or itable stub", "what looks up the method of an object"},
        {"adapter", "what leads from interpreted to compiled code"},
        {"generated stub", "code that the JVM made at its start: copies, checksums, calls"},
        {"runtime stub", "what leads from Java code into the JVM: allocation, locks, exceptions"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(places); i++) {
        if (strcmp(places[i].where, where) == 0)
            return places[i].words;
    }
    return NULL;
}

const char *cli_doctor_ledger_todo(enum jw_ledger_line line)
{
    switch (line) {
    case JW_LEDGER_SHORT:
        return "use an interval= below 1ms, at which clocks are compared and short lives are seen; "
               "or let a pool of threads do the work";
    case JW_LEDGER_ENDED:
        return "choose a shorter interval=";
    case JW_LEDGER_LIVE:
        return "record longer; if it stays, the kernel starves timers: choose an interval= below "
               "1ms, at which clocks are compared";
    case JW_LEDGER_REFUSED:
        return "raise the limit of queued signals (ulimit -i) for the JVM";
    case JW_LEDGER_UNSEEN:
        return "choose a shorter interval=: threads end before their clocks are looked at";
    case JW_LEDGER_SAMPLED:
    case JW_LEDGER_LEFT_OUT:
    case JW_LEDGER_OWN:
    case JW_LEDGER_LIMIT:
        return NULL;
    }
    return NULL;
}
