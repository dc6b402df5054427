/*
 * profile_moments - samples one by one: when, on which stack, in what context.
 *
 * For      pages that show a profile over time; a profile itself has only sums.
 * Callers  cli (fills), export (reads).
 * Context  tool. Not thread safe; one owner.
 * Memory   5 to 8 bytes a sample (profile_packed.h), 24 until it is settled; 100 bytes for each distinct context, of which there are at
 *          most PROFILE_CONTEXTS_LIMIT; texts once. When memory is out it is marked, and takes nothing more.
 *
 * A context is a row of texts, one for each column: thread, state, who asked it to stop, endpoint, operation, each attribute.
 */
#ifndef JW_PROFILE_PROFILE_MOMENTS_H
#define JW_PROFILE_PROFILE_MOMENTS_H

#include "profile/profile.h"

struct profile_moments;

#define PROFILE_COLUMNS_LIMIT  16u /* attributes beyond are left out, and counted */
#define PROFILE_CONTEXTS_LIMIT (1u << 20)

enum profile_column_kind {
    PROFILE_COLUMN_THREAD,
    PROFILE_COLUMN_STATE,
    PROFILE_COLUMN_ASKED, /* who had asked the thread to stop: "safepoint", "handshake" */
    PROFILE_COLUMN_ENDPOINT,
    PROFILE_COLUMN_OPERATION,
    PROFILE_COLUMN_ATTRIBUTE,
};

struct profile_column {
    enum profile_column_kind kind;
    const char *name; /* of an attribute; else "" */
};

/* A sample. */
struct profile_moment {
    int32_t at_ms; /* since the base; may lie before it */
    uint32_t stack;
    uint32_t context;
    uint64_t value; /* in the unit of the profile */
};

/* Signals that became no sample between two looks at the counters. */
struct profile_gap {
    int32_t from_ms;
    int32_t to_ms;
    uint64_t lost;
    uint64_t signals;
};

#define PROFILE_LANES_LIMIT 8u
#define PROFILE_SPANS_LIMIT                                                                        \
    (1u << 17) /* of all lanes, half of it of each; those beyond are counted */

/* What happened at a time and is no sample: a pause of the collector. It stands in the lane of its kind. */
struct profile_span {
    int64_t begin_us; /* since the base; may lie before it */
    uint64_t length_us;
    uint32_t lane;
    uint32_t text; /* 0: it says nothing */
};

JW_MUST_CHECK struct profile_moments *profile_moments_open(struct jw_error *err);
void profile_moments_close(struct profile_moments *moments);
void profile_moments_clear(struct profile_moments *moments); /* as new */

/* What times are counted from. */
void profile_moments_set_base(struct profile_moments *moments, uint64_t unix_ns);
uint64_t profile_moments_base_unix_ns(const struct profile_moments *moments);

/* Number of a column, adding it on first sight; PROFILE_COLUMNS_LIMIT: there are too many. */
uint32_t profile_moments_column(struct profile_moments *moments, enum profile_column_kind kind,
                                const char *name);

/* Number of a text; 0 for NULL, which is none. */
uint32_t profile_moments_text(struct profile_moments *moments, const char *text);

/* Number of a context. Beyond the limit the one that says that it is not told. */
uint32_t profile_moments_context(struct profile_moments *moments,
                                 const uint32_t texts[PROFILE_COLUMNS_LIMIT]);

/* `stack`: any number, which profile_moments_settle replaces. */
void profile_moments_add(struct profile_moments *moments, int64_t at_ms, uint32_t stack,
                         uint32_t context, uint64_t value);

/* In the number of a stack: it is one of `near`. */
#define PROFILE_MOMENT_NEAR (UINT32_C(1) << 31)

/* What numbers of stacks stand for. */
struct profile_moments_stacks {
    const profile_stack_id *stacks;
    size_t count;
    const profile_stack_id *near; /* by the number without PROFILE_MOMENT_NEAR */
    size_t near_count;
};

/*
 * Of all samples that are not settled: the stack becomes what its number stands for; PROFILE_STACK_NONE: for nothing. `of` NULL: they stay what
 * they are.
 */
void profile_moments_settle(struct profile_moments *moments,
                            const struct profile_moments_stacks *of);

/*
 * Adds all of `from`, settled or not, behind what there is, and leaves it as new, with its base. Both have the same base. The same comes out as if
 * it had been added one by one; the stacks stay what they were. To `from` nothing was appended. Returns how many values were left out since there are too many columns.
 */
uint64_t profile_moments_append(struct profile_moments *into, struct profile_moments *from);

/* Settled samples lie in so many blocks. */
size_t profile_moments_block_count(const struct profile_moments *moments);

/* The stacks of these blocks, which are numbers of `stacks`, become what stands there; PROFILE_STACK_NONE: it has less. */
void profile_moments_restack(struct profile_moments *moments, size_t first_block, size_t end_block,
                             const profile_stack_id *stacks, uint32_t stack_count);

/* What is given to profile_moments_restack, of jw_alloc: it is freed with the moments, or at once where memory is out, which is false. */
JW_MUST_CHECK bool profile_moments_keep_stacks(struct profile_moments *moments,
                                               profile_stack_id *stacks);

void profile_moments_gap(struct profile_moments *moments, const struct profile_gap *gap);

/* Number of a lane, adding it on first sight; PROFILE_LANES_LIMIT: there are too many. The name is copied. */
uint32_t profile_moments_lane(struct profile_moments *moments, const char *name);
void profile_moments_span(struct profile_moments *moments, const struct profile_span *span);

/* Reading ---- */

bool profile_moments_failed(const struct profile_moments *moments); /* memory was out */
uint64_t profile_moments_count(const struct profile_moments *moments);

/* Where a look at samples is. What has none between the times is passed over, not all that lies outside. */
struct profile_moments_place {
    int32_t from_ms, to_ms;
    size_t block; /* the next one */
};
#define PROFILE_MOMENTS_ALL ((struct profile_moments_place){INT32_MIN, INT32_MAX, 0})

/* The next `count` samples, in the order in which they came, until the next call; NULL: there are no more. */
const struct profile_moment *profile_moments_next(const struct profile_moments *moments,
                                                  struct profile_moments_place *place,
                                                  uint64_t *count);
uint32_t profile_moments_column_count(const struct profile_moments *moments);
const struct profile_column *profile_moments_column_at(const struct profile_moments *moments,
                                                       uint32_t number);
uint32_t profile_moments_context_count(const struct profile_moments *moments);
/* PROFILE_COLUMNS_LIMIT numbers of texts. */
const uint32_t *profile_moments_context_at(const struct profile_moments *moments, uint32_t number);
uint32_t profile_moments_text_count(const struct profile_moments *moments);
const char *profile_moments_text_at(const struct profile_moments *moments, uint32_t number);
const struct profile_gap *profile_moments_gaps(const struct profile_moments *moments,
                                               size_t *count);
uint32_t profile_moments_lane_count(const struct profile_moments *moments);
const char *profile_moments_lane_name(const struct profile_moments *moments, uint32_t lane);
/* In the order of lanes, and of time within each; sorted by the call. */
const struct profile_span *profile_moments_spans(const struct profile_moments *moments,
                                                 size_t *count);
uint64_t profile_moments_left_out_spans(const struct profile_moments *moments);
/* Samples whose time no recording can have (a month away), taken at its begin; and whose context was too rare. */
uint64_t profile_moments_mistimed(const struct profile_moments *moments);
uint64_t profile_moments_untold(const struct profile_moments *moments);

#endif
