/*
 * generation - dictionaries, traces and records that live and die together, three times over.
 *
 * For      giving handlers and hooks one place to write a sample into, and the dump thread one
 *          rule for when it may be read and cleared.
 * Callers  sampler (enter, leave); recording (rotate, retire, and everything inside a generation);
 *          agent (open, close).
 * Context  generation_enter, generation_leave: handler, hook, any.  generations_rotate, _retire, _at,
 *          _take_late_before, _empty_dead_cells: dump.  generations_open, _close: control, with all engines stopped.
 *          generations_forget: dump, with all engines stopped and drained.
 *          generations_is_half_full, generations_stats: any, dump, control.
 * Memory   the whole budget is reserved by open and touched only where used.
 * Progress enter and leave wait-free; the rest waits for nobody.
 *
 * An activation        generation_enter -> intern, store_put, event_reserve .. event_commit
 *                      -> generation_leave, all in the generation it was given.
 * The dump thread      generations_rotate; event_take of the closed one FIRST, then its traces, then
 *                      its names: so each id that a taken record bears resolves, although others
 *                      may still be inside. Then generations_retire, now and at each later turn: a
 *                      closed generation that is proved empty yields its late records, is cleared
 *                      and becomes free.
 *
 * May these overlap?        enter/leave    rotate/retire
 *   enter/leave                 yes            yes
 *   rotate/retire               yes        no (one dump thread)
 */
#ifndef JW_GENERATION_GENERATION_H
#define JW_GENERATION_GENERATION_H

#include "base/jw.h"
#include "dict/dict.h"
#include "dict/dict_cache.h"
#include "epoch/epoch.h"
#include "event/event.h"
#include "store/store.h"

#define GENERATIONS_DEFAULT_BYTES ((size_t)64 << 20)
#define GENERATIONS_MIN_BYTES     ((size_t)3 << 20)
#define GENERATIONS_MAX_BYTES     ((size_t)64 << 30)

/* One life of a buffer. Constant but for `number` and `start_ns`, set before anybody can enter. */
struct generation {
    uint64_t number;              /* from 1, each life one more */
    uint64_t start_ns;            /* no record in it is older */
    struct dict_table *classes;   /* class names, as the JVM spells them */
    struct dict_table *symbols;   /* method names, signatures, source files */
    struct dict_table *methods;   /* struct method_record: generation/method_record.h */
    struct dict_table *endpoints; /* names and operations of requests, names of spans */
    struct dict_table *values;    /* of attributes; names of virtual threads */
    struct dict_table *payloads;  /* what events of probes say: event/event_values.h */
    struct dict_table *contexts;  /* struct context_record: generation/context_record.h */
    struct dict_cache *method_cache;
    struct store_table *traces;
    struct event_ring *events;
};

struct generations;

struct generations_config {
    size_t memory_bytes; /* all three together; 0: GENERATIONS_DEFAULT_BYTES */
    /* For tests: what is free is sealed, so that who reads or writes it is ended by SIGSEGV at once. */
    bool is_free_sealed;
};

struct generations_stats {
    uint64_t number;     /* of the active generation */
    uint32_t free_count; /* buffers by state; the third is active */
    uint32_t closed_count;
    uint32_t cells_taken;
    uint64_t reserved_bytes;  /* address space */
    uint64_t used_bytes;      /* handed out in all three, page rounding aside */
    uint64_t abandoned_count; /* records whose thread died before the commit, since open */
};

/* NULL and `err` when the budget is out of range or the kernel refuses memory. */
JW_MUST_CHECK struct generations *generations_open(const struct generations_config *config,
                                                   struct jw_error *err);
void generations_close(struct generations *generations);

/* The active generation, not cleared before generation_leave; NULL: counted as LOST_NO_CELL. */
JW_SIGNAL_SAFE JW_MUST_CHECK struct generation *
generation_enter(struct generations *generations, uint32_t tid, struct epoch_ticket *out);
/* The same for an activation that no signal stands behind: NULL is not counted. */
JW_SIGNAL_SAFE JW_MUST_CHECK struct generation *
generation_try_enter(struct generations *generations, uint32_t tid, struct epoch_ticket *out);
JW_SIGNAL_SAFE void generation_leave(struct generations *generations,
                                     const struct epoch_ticket *ticket);

/*
 * Makes a fresh generation active and returns the one just closed; NULL, counted as
 * ROTATION_PUT_OFF, when none is free: the active one goes on filling up.
 */
struct generation *generations_rotate(struct generations *generations);

/*
 * Each closed generation that is proved empty: `take_late` takes the records that came after the
 * last event_take (the difference is counted as LATE_RECORDS), then it is cleared and free. When
 * `take_late` is false, or leaves committed records untaken, the generation stays closed and is
 * offered again. Returns how many were cleared.
 */
typedef bool generations_take_late(struct generation *generation, void *arg);
uint32_t generations_retire(struct generations *generations, generations_take_late *take_late,
                            void *arg);

/*
 * The same of every closed generation that is older than `closed`, proved empty or not, and nothing is cleared: where
 * somebody is still inside, others have left since, and their records wait for nobody.
 */
void generations_take_late_before(struct generations *generations, const struct generation *closed,
                                  generations_take_late *take_late, void *arg);

/*
 * Takes all committed records for nobody, counted as RECORDS_FORGOTTEN: what is begun next would else
 * hold samples of what was there before.
 */
void generations_forget(struct generations *generations);

/* True when any part of the active generation is half full: time to rotate. */
bool generations_is_half_full(const struct generations *generations);

/*
 * As event_has_spare, of the generation that is active at this moment: for who would do work before he enters. It is not entered
 * for that: counts are read, which lie in no generation's memory, and another one may be active by the time he does. Context: hook, any.
 */
bool generations_has_spare(const struct generations *generations);

/* As epoch_empty_dead_cells. */
uint32_t generations_empty_dead_cells(struct generations *generations, epoch_is_alive *is_alive,
                                      void *arg);

/* Buffer 0 .. EPOCH_BUFFERS - 1 and its state; for the last chunk, which writes all of them. */
struct generation *generations_at(struct generations *generations, int buffer,
                                  enum epoch_state *state);

/* Number of the active generation, or of one that was active a moment ago. Context: hook, any. */
uint64_t generations_number(const struct generations *generations);

void generations_stats(const struct generations *generations, struct generations_stats *out);

#endif
