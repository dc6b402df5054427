/*
 * ledger - the CPU time of a process, set against the samples that stand for it.
 *
 * For      saying how much of a profile's truth its samples tell, and what is missing from it.
 * Callers  recording, profile, export, agent, cli.
 * Context  any, dump, control, tool.
 * Memory   the caller's.
 */
#ifndef JW_BASE_LEDGER_H
#define JW_BASE_LEDGER_H

#include "base/jw.h"

enum jw_ledger_line {
#define JW_LEDGER(name, field, phrase, label, text) JW_LEDGER_##name,
#include "base/ledger.def"
#undef JW_LEDGER
    JW_LEDGER_LIMIT
};

struct jw_ledger_info {
    const char *field;  /* of the event */
    const char *phrase; /* "short-lived threads" */
};

extern const struct jw_ledger_info jw_ledger_infos[JW_LEDGER_LIMIT];

/* Since the recording began. The lines add up to `process_ns`. */
struct jw_ledger {
    int64_t process_ns; /* CPU time by the clock of the process */
    int64_t lines_ns[JW_LEDGER_LIMIT];
    uint64_t live_threads;
    uint64_t ended_threads;
    uint64_t short_threads; /* of those that ended */
};

/*
 * "CPU time 12.31 s: sampled 98.9 %, short-lived threads 0.8 %": lines that round to nothing are left out. A
 * line below nothing, where samples stand for more than the clocks say, is not shown as such but told of at the
 * end. Returns `text`, which is cut to fit. No CPU time was used: says that.
 */
const char *jw_ledger_sentence(const struct jw_ledger *ledger, char *text, size_t room_bytes);

/* Tenths of a percent that this line is of the whole, rounded; negative where the line is. */
int64_t jw_ledger_tenths(const struct jw_ledger *ledger, enum jw_ledger_line line);

/* Of threads whose name nobody knows. */
#define JW_LEDGER_NO_NAME "[unknown thread]"

/*
 * What threads of a kind are called: each run of digits becomes one '*', "pool-1-thread-12" is
 * "pool-*-thread-*". Returns the length of `text`, which is cut to fit, at a character, and terminated.
 */
size_t jw_ledger_group(const char *name, size_t length_bytes, char *text, size_t room_bytes);

#endif
