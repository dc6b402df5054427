/*
 * perf_event - spellings of event=: what of the kernel, or of Java, can be counted, and what its count is called.
 *
 * For      options (which text is one), os (what to ask the kernel for), recording and cli (units).
 * Callers  options, os, agent, recording, cli.
 * Context  any, dump, control, tool. Pure.
 * Memory   constant tables.
 *
 *     page-faults, cache-misses, ...          JW_PERF_NAMED: the table of perf_event.def
 *     r01b7                                   JW_PERF_RAW: the processor's own number of an event
 *     sched:sched_switch                      JW_PERF_TRACEPOINT
 *     kprobe:do_sys_openat2[+0xoff]           JW_PERF_KPROBE, kretprobe: on return
 *     uprobe:/lib/libc.so.6:malloc            JW_PERF_UPROBE, uretprobe: on return; a symbol, or
 *     uprobe:/lib/libc.so.6+0xa0700           the place in the file
 *     malloc                                  JW_PERF_FUNCTION: as uprobe, of whichever library has it
 *     java.util.Properties.getProperty        JW_PERF_METHOD: a method of Java, counted by the agent itself; stars stand for anything
 *     exception[:java.io.*|...]               JW_PERF_EXCEPTION: exceptions by their class, likewise; patterns are looked at in probe_throws.h
 *     new:com.acme.Order[|byte[]|...]         JW_PERF_NEW: objects by their class, likewise; patterns are looked at in probe_news.h
 */
#ifndef JW_BASE_PERF_EVENT_H
#define JW_BASE_PERF_EVENT_H

#include "base/jw.h"

#define JW_PERF_NAME_BYTES   512 /* terminator included */
#define JW_PERF_INTERVAL_MAX UINT64_C(1000000000000)

enum jw_perf_kind {
    JW_PERF_NONE, /* no such spelling */
    JW_PERF_NAMED,
    JW_PERF_RAW,
    JW_PERF_TRACEPOINT,
    JW_PERF_KPROBE,
    JW_PERF_KRETPROBE,
    JW_PERF_UPROBE,
    JW_PERF_URETPROBE,
    JW_PERF_FUNCTION,
    JW_PERF_METHOD,
    JW_PERF_EXCEPTION,
    JW_PERF_NEW
};

struct jw_perf_info {
    const char *name;
    const char *alias; /* NULL: none */
    uint64_t interval; /* events between samples where none is named */
    uint64_t minimum;  /* the least that may be named */
    const char *text;  /* what it counts */
};

/* The table by number, 0, 1 ...; NULL: no more. */
const struct jw_perf_info *jw_perf_at(size_t number);

/* What a text spells. `number`, which may be NULL: of JW_PERF_NAMED, its place in the table. */
enum jw_perf_kind jw_perf_kind_of(const char *text, size_t length_bytes, size_t *number);

/* Of a spelling that is one: intervals, in events. */
uint64_t jw_perf_interval(const char *text, uint64_t *minimum);

/* What counts of it are called: the name itself, or "events" of what has no name of its own. */
const char *jw_perf_unit(const char *text);

#endif
