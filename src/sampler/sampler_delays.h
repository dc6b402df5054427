/*
 * sampler_delays - safepoints that were long waited for, as the watching thread saw them.
 *
 * For      telling who kept a safepoint waiting (ttsp=).
 * Callers  agent.
 * Context  sampler_delays_check: control. sampler_delays_take, sampler_delays_sums: dump.
 * Memory   a ring of SAMPLER_DELAYS_MAX, static.
 *
 * A thread of ours looks at the JVM's counters of safepoints four times a threshold. One that is waited for at two looks is
 * watched: each Java thread that still runs Java or the JVM's code is signalled at each further look, and its handler, as long as
 * the safepoint is waited for, leaves a record EVENT_LATE with its stack, whose value is the number of the safepoint and
 * that of the record in it (SAMPLER_DELAY_VALUE). The last one is who was last.
 */
#ifndef JW_SAMPLER_SAMPLER_DELAYS_H
#define JW_SAMPLER_SAMPLER_DELAYS_H

#include "vm/vm_safepoint.h"

#define SAMPLER_DELAYS_THREAD_NAME "jaywalk ttsp"
#define SAMPLER_DELAYS_MAX         64
#define SAMPLER_DELAY_LOOKS_MAX    24

#define SAMPLER_DELAY_VALUE(number, record) ((uint64_t)(number) << 16 | (uint16_t)(record))

/* What the kernel says of the thread that was last, from the first look that saw it on. */
struct sampler_delay_facts {
    uint64_t cpu_ns;
    uint64_t waited_ns; /* for a processor */
    uint64_t minor_faults, major_faults;
    bool is_known;
};

/* Why nobody is named. */
enum sampler_delay_nobody {
    SAMPLER_DELAY_UNSEEN,
    SAMPLER_DELAY_AT_POLL, /* who was last was seen only when it was about to stop */
    SAMPLER_DELAY_OF_VM_THREAD, /* all had stopped; the JVM's thread that waits for them had no processor: the facts are its own */
    SAMPLER_DELAY_UNWATCHED, /* the watching thread had no processor */
};

struct sampler_delay {
    uint64_t number; /* of the safepoint, as the JVM counts them */
    uint64_t begin_ns;
    uint64_t reach_ns;  /* until all threads had stopped */
    uint64_t inside_ns; /* from there on, until they went on */
    vm_addr operation;  /* 0: not known */
    uint16_t record;    /* of who was last; 0: see `nobody` */
    enum sampler_delay_nobody nobody;
    uint32_t look_count;
    uint16_t running
        [SAMPLER_DELAY_LOOKS_MAX]; /* threads that still ran, look by look; the last room is of the last look */
    struct sampler_delay_facts facts;
};

/* Whether this JVM can be watched; `err` says why not. */
JW_MUST_CHECK bool sampler_delays_check(struct jw_error *err);

/* The oldest that was not taken yet. */
JW_MUST_CHECK bool sampler_delays_take(struct sampler_delay *out);

#endif
