/* Deep stacks from sample to sample: whose they are, what they are called, their hashes; handler, but for
 * open and start. */
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "base/memory.h"
#include "sampler/sampler_internal.h"

/* Each thread may have one of so many in a row. */
#define DEEP_COUNT 64u
#define DEEP_WAYS  4u

/* Who had it within this time keeps it: if threads took it from each other in turns, nobody would be served. */
#define DEEP_IDLE_NS (2 * JW_NS_PER_SECOND)

_Static_assert(sizeof(struct sample_deep) * DEEP_WAYS <= (5120u << 10) / 2,
               "one row at the smallest memlimit: src/base/memory.def, WALKING");

static struct sample_deep *pool;
static uint32_t pool_count;
static uint64_t run; /* constant while handlers run */

bool sample_deep_open(struct jw_error *err)
{
    if (pool != NULL)
        return true;

    /* Half of the memory for walking, as sample_scratch.c has it. */
    const uint64_t most = jw_memory_limit_of(JW_MEMORY_WALKING, UINT64_MAX) / 2 /
                          sizeof(struct sample_deep) / DEEP_WAYS * DEEP_WAYS;
    pool_count = most < DEEP_COUNT ? (uint32_t)most : DEEP_COUNT;
    pool = sampler_reserve(JW_MEMORY_WALKING, pool_count, sizeof *pool, err);
    return pool != NULL;
}

void sample_deep_start(void)
{
    run++;
}

static JW_SIGNAL_SAFE struct sample_deep *set_of(uint32_t tid)
{
    return &pool[(uint32_t)jw_hash_word(tid) % (pool_count / DEEP_WAYS) * DEEP_WAYS];
}

static JW_SIGNAL_SAFE bool take(struct sample_deep *deep)
{
    uint32_t is_taken = 0;

    /* order DEEP: acquires the end of the use before. */
    return jw_cas_acq_rel(&deep->is_taken, &is_taken, 1);
}

void sample_deep_give(struct sample_deep *deep)
{
    /* order DEEP: releases the stack to its next user. */
    jw_store_release(&deep->is_taken, 0);
}

/* A stack that is cut short at its outer end has none that could stand still. */
void sample_deep_drop(struct sample_deep *deep)
{
    jw_store_relaxed(&deep->tid, 0);
    sample_deep_give(deep);
}

struct sample_deep *sample_deep_find(uint32_t tid)
{
    struct sample_deep *set = set_of(tid);

    for (uint32_t way = 0; way < DEEP_WAYS; way++) {
        if (jw_load_relaxed(&set[way].tid) == tid && take(&set[way]))
            return &set[way];
    }
    return NULL;
}

void sample_deep_claim(uint32_t tid)
{
    const uint64_t now_ns = jw_now_ns();
    struct sample_deep *set = set_of(tid), *oldest = set;

    for (uint32_t way = 0; way < DEEP_WAYS; way++) {
        if (jw_load_relaxed(&set[way].tid) == tid)
            return; /* it has one, in which a sample is under way that this one interrupted */
    }
    for (uint32_t way = 1; way < DEEP_WAYS && jw_load_relaxed(&oldest->tid) != 0; way++) {
        if (jw_load_relaxed(&set[way].tid) == 0 ||
            jw_load_relaxed(&set[way].used_ns) < jw_load_relaxed(&oldest->used_ns))
            oldest = &set[way];
    }
    if ((jw_load_relaxed(&oldest->tid) != 0 &&
         now_ns - jw_load_relaxed(&oldest->used_ns) < DEEP_IDLE_NS) ||
        !take(oldest))
        return;
    jw_store_relaxed(&oldest->tid, tid);
    jw_store_relaxed(&oldest->used_ns, now_ns);
    oldest->named_count = 0;
    oldest->last.trace = STORE_NONE;
    oldest->top.is_sure = false;
    oldest->past.step_count = oldest->past.word_count = 0;
    oldest->past.frame_count = oldest->past.pin_count = 0;
    sample_deep_give(oldest);
}

static JW_SIGNAL_SAFE void note_bytes(struct sample_deep *deep)
{
    const struct walk_past *past = &deep->past;
    const uint64_t bytes = sizeof *deep - sizeof deep->frames - sizeof *past +
                           past->step_count * sizeof past->steps[0] +
                           past->word_count * sizeof past->words[0] +
                           past->pin_count * sizeof past->pins[0] +
                           past->frame_count * (sizeof past->frames[0] + sizeof(jw_frame));

    if (bytes > jw_load_relaxed(&deep->bytes))
        jw_store_relaxed(&deep->bytes, bytes);
}

uint64_t sampler_deep_bytes(void)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; pool != NULL && i < pool_count; i++)
        bytes += jw_load_relaxed(&pool[i].bytes);
    return bytes;
}

void sample_deep_keep(struct sample_deep *deep, struct walk_log *log,
                      const struct walk_java_result *java, const struct vm_call_frame *fresh)
{
    if (!java->is_again) {
        walk_past_keep(&deep->past, log, java->past_steps, fresh, java->frame_count);
        note_bytes(deep);
        if (log->top.is_sure)
            deep->top = log->top;
        deep->top.is_sure = log->top.is_sure;
        deep->top.anchor_sp = log->top.anchor_sp;
        deep->top.anchor_pc = log->top.anchor_pc;
    }
    if (deep->named_count > java->past_frames)
        deep->named_count = java->past_frames;
    jw_count_add(JW_COUNT_FRAMES_REUSED, java->past_frames);
}

/*
 * No operation of the JVM lies between: what could be freed since was on no stack then, and these were.
 * Else: an interpreted frame, its class and its method may have gone, and others have come to their places: the method must be
 * the one that was named. A method in compiled code lives as long as that code, which is pinned.
 */
static JW_SIGNAL_SAFE bool are_still_named(const struct sample_deep *deep,
                                           const struct generation *generation, uint64_t date,
                                           uint32_t count)
{
    if (date != 0 && date == deep->names_date)
        return true;
    const struct vm_call_frame *walked = deep->past.frames + WALK_DEPTH_MAX;
    const jw_frame *named = deep->frames + SAMPLE_FRAMES_MAX;
    jmethodID last = NULL;

    for (uint32_t n = 1; n <= count && n <= deep->interpreted_count; n++) {
        const enum jw_frame_kind kind = jw_frame_kind_of(*(named - n));
        jmethodID method = (walked - n)->method;

        if ((kind != JW_FRAME_INTERPRETED && kind != JW_FRAME_JAVA_NATIVE) || method == last)
            continue;
        if (!sample_method_is(generation, jw_frame_method(*(named - n)), (vm_addr)method))
            return false;
        last = method;
    }
    return true;
}

/* Ids mean something in one generation. */
static JW_SIGNAL_SAFE bool is_named_in(const struct sample_deep *deep,
                                       const struct generation *generation)
{
    return deep->names_run == run && deep->names_of == sampler.generations &&
           deep->names_generation == generation->number;
}

/*
 * What was kept of the walk before is named as it was (sample_deep_keep sees to that), so it is the outer part of that trace; what was walked
 * anew is compared. A method at the same address is the same one, as long as no operation of the JVM lies between.
 */
store_id sample_deep_again(struct sample_deep *deep, const struct generation *generation,
                           const struct sample_scratch *scratch,
                           const struct walk_java_result *java, uint32_t flags)
{
    if (deep->last.trace == STORE_NONE || deep->last.fresh != java->frame_count ||
        deep->last.past != java->past_frames || deep->named_count != java->past_frames ||
        deep->last.flags != flags || deep->last.stub_pc != java->stub_pc || java->is_moving ||
        java->is_carrier_lost || !scratch->are_names_dated || scratch->names_date == 0 ||
        scratch->names_date != deep->names_date || !is_named_in(deep, generation))
        return STORE_NONE;
    for (uint32_t i = 0; i < java->frame_count; i++) {
        const struct vm_call_frame *now = &scratch->java[i], *then = &deep->last.frames[i];

        if (now->method != then->method || now->bci != then->bci || now->kind != then->kind)
            return STORE_NONE;
    }
    jw_store_relaxed(&deep->used_ns, scratch->now_ns);
    deep->named_count = java->past_frames + java->frame_count;
    deep->is_again = true;
    return deep->last.trace;
}

void sample_deep_note(struct sample_deep *deep, const struct sample_scratch *scratch,
                      const struct walk_java_result *java, uint32_t flags, store_id trace)
{
    /* Not one of which something could not be named: that is tried again. */
    if (java->frame_count > SAMPLE_AGAIN_FRAMES ||
        deep->named_count != java->past_frames + java->frame_count)
        return;
    deep->last.trace = trace;
    deep->last.flags = flags;
    deep->last.fresh = java->frame_count;
    deep->last.past = java->past_frames;
    deep->last.stub_pc = java->stub_pc;
    for (uint32_t i = 0; i < java->frame_count; i++)
        deep->last.frames[i] = scratch->java[i];
}

uint32_t sample_deep_named(struct sample_deep *deep, const struct generation *generation,
                           const struct sample_scratch *scratch, uint32_t count)
{
    const uint64_t date = scratch->are_names_dated ? scratch->names_date : 0;
    uint32_t named = !is_named_in(deep, generation) ? 0
                     : deep->named_count < count    ? deep->named_count
                                                    : count;

    if (!are_still_named(deep, generation, date, named))
        named = 0;
    if (named == 0)
        deep->interpreted_count = 0;
    jw_store_relaxed(&deep->used_ns, scratch->now_ns);
    deep->names_date = date;
    deep->names_run = run;
    deep->names_of = sampler.generations;
    deep->names_generation = generation->number;
    deep->named_count = 0; /* until all of them are */
    deep->last.trace = STORE_NONE;
    deep->last.klass = 0;
    deep->is_again = false;
    return named;
}

/* Goes on with the hash of some frames, from the end, to that of `count`. */
static JW_SIGNAL_SAFE void hash_to(struct sample_deep *deep, uint32_t count, struct store_hash *out)
{
    const jw_frame *end = deep->frames + SAMPLE_FRAMES_MAX;

    for (uint32_t done = out->frame_count; done < count; done = out->frame_count) {
        const uint32_t whole = (done / SAMPLE_HASHED_FRAMES + 1) * SAMPLE_HASHED_FRAMES;
        const uint32_t next = count < whole ? count : whole;

        store_hash_before(out, end - next, next - done);
        if (next == whole)
            deep->hashes[whole / SAMPLE_HASHED_FRAMES] = *out;
    }
}

void sample_deep_hash(struct sample_deep *deep, uint32_t kept, uint32_t count,
                      struct store_hash *out)
{
    if (deep->kept_hash.frame_count != kept) {
        const uint32_t whole = kept / SAMPLE_HASHED_FRAMES * SAMPLE_HASHED_FRAMES;

        *out = whole == 0 ? (struct store_hash){0} : deep->hashes[whole / SAMPLE_HASHED_FRAMES];
        hash_to(deep, kept, out);
        deep->kept_hash = *out;
    } else {
        *out = deep->kept_hash;
    }
    hash_to(deep, count, out);
}
