/* One sample, from the interrupted registers to a committed record; handler. */
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "sampler/sampler_internal.h"
#include "vm/vm_method.h"

/* What was walked before the generation is entered. */
struct walked {
    struct walk_java_result java;
    vm_addr receiver; /* class of the object on which a method is being looked up; 0: none */
    uint32_t native_count;
    bool is_java_thread;
};

static JW_SIGNAL_SAFE void walk(const void *ucontext, void *env, struct sample_scratch *scratch,
                                struct walked *out)
{
    out->is_java_thread = env != NULL;
    out->native_count = 0;
    out->receiver = 0;
    if (sampler.with_native)
        out->native_count = walk_native(ucontext, scratch->native_pcs, WALK_NATIVE_DEPTH_MAX);
    out->java = (struct walk_java_result){0};
    if (env == NULL)
        return;
    walk_java(ucontext, env, &scratch->walk_cache, scratch->java, sampler.depth_max, &out->java);
    if (sampler.with_receivers)
        out->receiver = walk_receiver(ucontext, &out->java);
}

/* What is known of a frame's method; NULL and `why` when it cannot be named. */
static JW_SIGNAL_SAFE const struct sample_memo *remember(struct generation *generation,
                                                         struct sample_scratch *scratch,
                                                         enum walk_walker walker, jmethodID method,
                                                         enum jw_mark *why)
{
    struct sample_memo *memo =
        &scratch->memo[jw_hash_word((uintptr_t)method) & (SAMPLE_MEMO_COUNT - 1)];

    if (memo->method == method && memo->stamp == scratch->stamp)
        return memo;

    const vm_addr addr = walker == WALK_VM ? (vm_addr)method : vm_method_of_id(method);
    if (addr == 0) {
        jw_count(JW_COUNT_METHOD_UNREADABLE);
        *why = JW_MARK_UNREADABLE_METHOD;
        return NULL;
    }
    const dict_id id = sample_method(generation, scratch, addr, why);
    if (id == DICT_NONE)
        return NULL;
    *memo = (struct sample_memo){method, scratch->stamp, id, vm_method_has_code(addr)};
    return memo;
}

/*
 * AsyncGetCallTrace does not tell the tier of a frame. That of the topmost one follows from the code
 * that the pc lies in; for its callers the best that can be said is whether the method has compiled
 * code now.
 */
static JW_SIGNAL_SAFE enum jw_frame_kind kind_of(const struct walk_java_result *java,
                                                 const struct vm_call_frame *frame, uint32_t depth,
                                                 bool has_code)
{
    if (java->walker == WALK_VM)
        return (enum jw_frame_kind)frame->kind;
    if (frame->bci == JW_BCI_NATIVE)
        return JW_FRAME_JAVA_NATIVE;
    if (depth == 0 && java->place != VM_PLACE_NATIVE)
        return java->top_kind;
    return has_code ? JW_FRAME_COMPILED : JW_FRAME_INTERPRETED;
}

static JW_SIGNAL_SAFE jw_frame java_frame(struct generation *generation,
                                          struct sample_scratch *scratch,
                                          const struct walk_java_result *java, uint32_t depth)
{
    const struct vm_call_frame *frame = &scratch->java[depth];
    enum jw_mark why;
    const struct sample_memo *memo =
        remember(generation, scratch, java->walker, frame->method, &why);

    if (memo == NULL)
        return jw_frame_mark(why);
    return jw_frame_java(kind_of(java, frame, depth, memo->has_code), memo->id, frame->bci);
}

/* Lays the stack out, innermost first: native code, the receiver, the stub, a mark where Java is missing, Java. */
static JW_SIGNAL_SAFE uint32_t lay_out(struct generation *generation,
                                       struct sample_scratch *scratch, const struct walked *walked)
{
    uint32_t count = 0;

    scratch->stamp++;
    for (uint32_t i = 0; i < walked->native_count; i++)
        scratch->frames[count++] = jw_frame_native(scratch->native_pcs[i]);
    if (walked->is_java_thread && walked->java.frame_count == 0)
        scratch->frames[count++] = jw_frame_mark(walk_mark_of(walked->java.code));
    const dict_id receiver =
        walked->receiver == 0 ? DICT_NONE : sample_class(generation, scratch, walked->receiver);
    if (receiver != DICT_NONE)
        scratch->frames[count++] = jw_frame_class(receiver);
    if (walked->java.stub_pc != 0)
        scratch->frames[count++] = jw_frame_native(walked->java.stub_pc);
    for (uint32_t depth = 0; depth < walked->java.frame_count; depth++)
        scratch->frames[count++] = java_frame(generation, scratch, &walked->java, depth);
    if (count == 0)
        scratch->frames[count++] = jw_frame_mark(JW_MARK_UNKNOWN_NATIVE);
    if (walked->java.is_truncated)
        jw_count(JW_COUNT_TRUNCATED);
    return count;
}

static JW_SIGNAL_SAFE uint32_t trace_flags(const struct walked *walked)
{
    uint32_t flags = 0;

    if (walked->java.is_truncated)
        flags |= STORE_TRUNCATED;
    if (walked->is_java_thread && walked->java.frame_count == 0)
        flags |= STORE_FAILED;
    if (walked->java.frame_count > 0)
        flags |= walked->java.walker == WALK_VM ? STORE_WALKER_OWN : STORE_WALKER_AGCT;
    if (walked->java.is_mended)
        flags |= STORE_WALKER_MENDED;
    return flags;
}

/* Native code that the thread runs as such: not a leaf function called from the middle of Java. */
static JW_SIGNAL_SAFE bool is_in_native(const struct sample_scratch *scratch,
                                        const struct walked *walked)
{
    if (!walked->is_java_thread)
        return true;
    return walked->java.place == VM_PLACE_NATIVE && walked->java.frame_count > 0 &&
           scratch->java[0].bci == JW_BCI_NATIVE;
}

static JW_SIGNAL_SAFE bool commit(struct generation *generation, struct sample_scratch *scratch,
                                  const struct walked *walked, const struct sample_order *order)
{
    const uint64_t time_ns = jw_now_ns();
    const uint32_t count = lay_out(generation, scratch, walked);
    const store_id trace =
        store_put(generation->traces, scratch->frames, count, trace_flags(walked));

    if (trace == STORE_NONE)
        return false; /* counted by the store */

    struct event_record *record = event_reserve(generation->events);
    if (record == NULL)
        return false; /* counted by the ring */
    record->kind = order->kind;
    record->flags = is_in_native(scratch, walked) ? SAMPLER_IN_NATIVE : 0;
    record->thread_index = order->thread;
    record->thread_serial = thread_serial(order->thread);
    record->time_ns = time_ns;
    record->weight_ns = order->weight_ns;
    record->value = order->number;
    record->trace = trace;
    record->sample_count = order->turns;
    record->state = order->state;
    event_commit(record);
    return true;
}

static JW_SIGNAL_SAFE bool take(const void *ucontext, struct sample_order *order)
{
    struct sample_scratch *scratch = sample_scratch_take(thread_tid(order->thread));
    struct epoch_ticket ticket;
    struct walked walked;
    bool is_committed = false;

    if (scratch == NULL) {
        jw_count(JW_COUNT_LOST_NO_SCRATCH);
        return false;
    }
    void *const env = thread_env(order->thread);
    walk(ucontext, env, scratch, &walked);
    order->is_java_missed = env != NULL && walked.java.frame_count == 0 && walked.java.code != 0;
    if (order->kind == EVENT_WALL_SAMPLE)
        order->state =
            (uint16_t)sample_state(ucontext, env, &walked.java, scratch->java, &order->is_passing);

    /* From here to generation_leave: no block, no Java, no call into the JVM. */
    struct generation *generation =
        generation_enter(sampler.generations, thread_tid(order->thread), &ticket);
    if (generation != NULL) {
        is_committed = commit(generation, scratch, &walked, order);
        generation_leave(sampler.generations, &ticket);
        if (is_committed)
            jw_count(JW_COUNT_SAMPLES);
    }
    sample_scratch_give(scratch);
    return is_committed;
}

bool sample_take(const void *ucontext, struct sample_order *order)
{
    const uint64_t start_ns = jw_now_ns();
    const bool is_committed = take(ucontext, order);

    sample_cost_note(jw_now_ns() - start_ns);
    return is_committed;
}
