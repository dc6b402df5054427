/*
 * doctor_maker - recordings for tests of the doctor, with those of jaywalk's own events that it reads.
 *
 * For      tests of `jaywalk doctor`.   Callers  tests.   Context  tool.   Memory  of the maker.
 */
#ifndef JW_TESTS_SUPPORT_DOCTOR_MAKER_H
#define JW_TESTS_SUPPORT_DOCTOR_MAKER_H

#include "support/recording_maker.h"

/* Events, with their fields behind the start time: n is a number, t a text. */
enum {
    DOCTOR_SAMPLE = MAKER_SAMPLE, /* stack n, weight n */
    DOCTOR_COUNTERS =
        103, /* signals n, samples n, lostNoThread n, lostStoreFull n, sparedWaiting n, then stacksCompared n, stacksEqual n,
              * stacksDifferent n, stacksUnwalked n, framesEqual n, stopsTold n, stopsAtPoll n, stopsOtherMethod n, stopsOtherLine n, stopsUntold n, inFlight n */
    DOCTOR_FAILURE,   /* code n, reason t, where t, walker t, count n */
    DOCTOR_CHANGE,    /* part t, from t, to t, reason t, retry n */
    DOCTOR_MEMORY,    /* subsystem t, used n, charged n, limit n, refused n */
    DOCTOR_COST,      /* processTime n, handlerTime n, kernelTime n, agentThread n */
    DOCTOR_SETTING,   /* id n, name t, value t */
    DOCTOR_LAW,       /* signals n, samples n, events n */
    DOCTOR_JVM,       /* jvmVersion t, jvmArguments t, javaArguments t, pid n */
    DOCTOR_LEDGER,    /* processTime n, sampledTime n, unsampledShortLived n */
    DOCTOR_RECORDING, /* recordingStart n */
    DOCTOR_HANDLERS,  /* clock t, handlers n */
    DOCTOR_BUCKET,    /* likewise */
    DOCTOR_BIAS,      /* method t, lineNumber n, sampled n, stopped n */
    DOCTOR_DELAY,     /* timeToReach n, lateIn t */
};

/* Stacks. */
enum {
    STACK_PLAIN = 1, /* Main.main */
    STACK_GAP,       /* libx.so, without a function's name, and a mark for Java */
    STACK_TRUNCATED, /* Main.main, and what is missing */
    STACK_SAFEPOINT, /* SafepointSynchronize::block of libjvm.so, below it Main.main */
    STACK_FROZEN,    /* Main.main, and the mark of frames in the heap */
    STACK_HOSTILE,   /* as STACK_GAP, of a library with an escape sequence in its name */
};
#define DOCTOR_HOSTILE "lib\x1b[31m<\"x\".so"

/* Begins a chunk that has all of them. */
void doctor_begin(struct maker *maker);

/* An event: for each letter of `fields` a uint64_t or a const char *. */
void doctor_event(struct maker *maker, uint64_t type, const char *fields, ...);

#endif
