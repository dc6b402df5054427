/* One sample, from the interrupted registers to a committed record; handler, and hook. */
#include <string.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "context/context.h"
#include "sampler/sampler_hook.h"
#include "sampler/sampler_internal.h"
#include "vm/vm_compiler.h"
#include "vm/vm_method.h"
#include "vm/vm_mounted.h"
#include "vm/vm_poll.h"
#include "vm/vm_safepoint.h"

/* What was walked before the generation is entered. */
struct walked {
    struct walk_java_result java;
    struct vm_compiler_task task; /* of a compiler thread; method 0: none */
    struct walk_landmark holder;  /* the native frame from which it was begun */
    vm_addr receiver; /* class of the object on which a method is being looked up; 0: none */
    struct sample_deep *deep; /* of a deep stack, in which its frames are laid out; or NULL */
    uintptr_t pc;             /* of the interrupted instruction; 0: not wanted */
    uint64_t mounted; /* the virtual thread that runs on this one, as vm_thread_mounted says */
    const struct sample_kernel
        *kernel; /* what the kernel did for it; NULL: not known, or not wanted */
    uint32_t native_count;
    enum walk_native_end native_end;
    bool is_java_thread;
    enum vm_poll_asked asked; /* who waits for it to stop */
};

static JW_SIGNAL_SAFE bool find_task(const void *ucontext, struct vm_compiler_task *out)
{
    struct arch_regs regs;

    arch_regs_read(ucontext, &regs);
    return vm_compiler_task(regs.sp, out);
}

static JW_SIGNAL_SAFE uintptr_t interrupted_pc(const void *ucontext)
{
    struct arch_regs regs;

    arch_regs_read(ucontext, &regs);
    return regs.pc;
}

/* Walks the Java stack with what is left of the thread's last one, where that was deep. */
static JW_SIGNAL_SAFE void walk_deep(const void *ucontext, void *env, uint32_t tid,
                                     uint32_t depth_max, struct sample_scratch *scratch,
                                     struct walked *out)
{
    const struct walk_java_result *java = &out->java;
    const uint32_t noted_from = scratch->walk_cache.noted_from;
    const bool has_past = !sampler.with_mixed && depth_max == sampler.depth_max;
    struct sample_deep *deep = has_past ? sample_deep_find(tid) : NULL;

    scratch->walk_cache.with_native = sampler.with_mixed;
    scratch->walk_cache.is_native_whole = out->native_end == WALK_NATIVE_AT_ROOT;
    scratch->walk_cache.past = deep == NULL ? NULL : &deep->past;
    scratch->walk_cache.top =
        deep == NULL || noted_from != WALK_NOTED_FROM_HOOK ? NULL : &deep->top;
    scratch->walk_cache.with_carrier = sampler.with_carriers || out->mounted == 0;
    walk_java(ucontext, env, &scratch->walk_cache, scratch->java, depth_max, &out->java);

    const bool is_whole = java->frame_count > 0 && java->walker == WALK_VM && !java->is_truncated &&
                          !java->is_frozen && !java->is_thawed;
    const uint32_t worth_frames =
        noted_from == WALK_NOTED_FROM_HOOK ? WALK_WORTH_FRAMES_HOOK : WALK_WORTH_FRAMES;
    if (is_whole && has_past && deep == NULL && java->frame_count >= worth_frames)
        sample_deep_claim(tid); /* the next walk of it has a past */
    if (is_whole && deep != NULL)
        sample_deep_keep(deep, &scratch->walk_cache.log, java, scratch->java);
    else if (deep != NULL && (java->is_truncated || java->is_frozen || java->is_thawed))
        sample_deep_drop(deep);
    else if (deep != NULL)
        sample_deep_give(deep);
    out->deep = is_whole ? deep : NULL;
}

static JW_SIGNAL_SAFE enum walk_native_by native_by(void)
{
    if (sampler.by_libunwind)
        return WALK_BY_LIBUNWIND;
    return sampler.by_frame_pointer ? WALK_BY_FRAME_POINTER : WALK_BY_ROWS;
}

static JW_SIGNAL_SAFE void walk(const void *ucontext, void *env, uint32_t tid,
                                struct sample_scratch *scratch, struct walked *out)
{
    out->is_java_thread = env != NULL;
    out->asked = env != NULL ? vm_poll_asked(env) : VM_POLL_ASKED_NOT;
    out->native_count = 0;
    out->native_end = WALK_NATIVE_AT_CODE;
    out->receiver = 0;
    if (env != NULL || !sampler.with_compiled || !find_task(ucontext, &out->task))
        out->task = (struct vm_compiler_task){0, 0};
    out->holder = (struct walk_landmark){out->task.stack_addr, 0};
    if (sampler.with_native)
        out->native_count = walk_native(ucontext, native_by(), scratch->native_pcs,
                                        WALK_NATIVE_DEPTH_MAX, &out->holder, &out->native_end);
    out->pc = sampler.with_addresses ? interrupted_pc(ucontext) : 0;
    out->java = (struct walk_java_result){0};
    out->deep = NULL;
    if (env == NULL)
        return;
    scratch->walk_cache.noted_from = WALK_NOTED_FROM;
    scratch->walk_cache.is_resumed = false;
    walk_deep(ucontext, env, tid, sampler.depth_max, scratch, out);
    if (sampler.with_receivers)
        out->receiver = walk_receiver(ucontext, &out->java);
}

/* The first look at a method in this stack. NULL and `why` when it cannot be named. */
static JW_SIGNAL_SAFE const struct sample_memo *learn(struct generation *generation,
                                                      struct sample_scratch *scratch,
                                                      enum walk_walker walker, jmethodID method,
                                                      struct sample_memo *memo, enum jw_mark *why)
{
    *why = walk_is_mark(method);
    if (*why != JW_MARK_LIMIT || walk_is_pc(method) != 0)
        return NULL;

    const vm_addr addr = walker == WALK_VM ? (vm_addr)method : vm_method_of_id(method);
    if (addr == 0) {
        jw_count(JW_COUNT_METHOD_UNREADABLE);
        *why = JW_MARK_UNREADABLE_METHOD;
        return NULL;
    }
    const dict_id id = sample_method(generation, scratch, addr, why);
    if (id == DICT_NONE)
        return NULL;
    *memo = (struct sample_memo){
        .method = method,
        .stamp = scratch->stamp,
        .id = id,
        .has_code = walker != WALK_VM && vm_method_has_code(addr),
    };
    return memo;
}

/* What is known of a frame's method; NULL and `why` when it cannot be named. */
static inline JW_SIGNAL_SAFE const struct sample_memo *remember(struct generation *generation,
                                                                struct sample_scratch *scratch,
                                                                enum walk_walker walker,
                                                                jmethodID method, enum jw_mark *why)
{
    _Static_assert(SAMPLE_MEMO_COUNT == 256, "the hash has eight bits");
    struct sample_memo *memo =
        &scratch->memo[((uintptr_t)method * UINT64_C(0x9e3779b97f4a7c15)) >> 56];

    return memo->method == method && memo->stamp == scratch->stamp
               ? memo
               : learn(generation, scratch, walker, method, memo, why);
}

/*
 * AsyncGetCallTrace does not tell the tier of a frame. That of the topmost one follows from the code
 * that the pc lies in; for its callers the best that can be said is whether the method has compiled
 * code now.
 */
static inline JW_SIGNAL_SAFE enum jw_frame_kind kind_of(const struct walk_java_result *java,
                                                        const struct vm_call_frame *frame,
                                                        uint32_t depth, bool has_code)
{
    if (java->walker == WALK_VM)
        return (enum jw_frame_kind)frame->kind;
    if (frame->bci == JW_BCI_NATIVE)
        return JW_FRAME_JAVA_NATIVE;
    if (depth == 0 && java->place != VM_PLACE_NATIVE)
        return java->top_kind;
    return has_code ? JW_FRAME_COMPILED : JW_FRAME_INTERPRETED;
}

static inline JW_SIGNAL_SAFE jw_frame java_frame(struct generation *generation,
                                                 struct sample_scratch *scratch,
                                                 const struct walk_java_result *java,
                                                 const struct vm_call_frame *frame, uint32_t depth)
{
    enum jw_mark why;
    const struct sample_memo *memo =
        remember(generation, scratch, java->walker, frame->method, &why);

    if (memo == NULL)
        return why == JW_MARK_LIMIT ? jw_frame_native(walk_is_pc(frame->method))
                                    : jw_frame_mark(why);
    return jw_frame_java(kind_of(java, frame, depth, memo->has_code), memo->id, frame->bci);
}

/* How many frames were put: one, or none where nothing is compiled or there is no room for its name. */
static JW_SIGNAL_SAFE uint32_t put_compiled(struct generation *generation,
                                            struct sample_scratch *scratch, vm_addr method,
                                            jw_frame *to)
{
    enum jw_mark why;
    const dict_id id = method == 0 ? DICT_NONE : sample_method(generation, scratch, method, &why);

    if (id == DICT_NONE)
        return 0;
    *to = jw_frame_java(JW_FRAME_COMPILING, id, JW_BCI_UNKNOWN);
    return 1;
}

static inline JW_SIGNAL_SAFE bool has_failed(const struct walked *walked)
{
    return walked->is_java_thread && walked->java.frame_count == 0;
}

/* How many frames were put. */
static JW_SIGNAL_SAFE uint32_t put_kernel(const struct sample_kernel *kernel, jw_frame *to)
{
    uint32_t count = 0;

    if (kernel == NULL || kernel->ring == NULL)
        return 0;
    for (uint32_t i = 0; i < kernel->sample.frame_count && count < OS_PERF_FRAMES_MAX; i++) {
        const uint64_t address = os_perf_frame(kernel->ring, &kernel->sample, i);

        /* But for the first one where a call goes on: the call before it may be the last of its function. */
        if (address != 0) {
            to[count] = jw_frame_kernel(address - (count > 0));
            count++;
        }
    }
    return count;
}

/* Native frames end where it is not known what called them: of a thread that has Java frames, above those. */
static inline JW_SIGNAL_SAFE bool misses_native(const struct walked *walked)
{
    return walked->native_end >= WALK_NATIVE_CUT &&
           (walked->java.frame_count > 0 || (!walked->is_java_thread && walked->native_count > 0));
}

/* How many frames were put. */
static JW_SIGNAL_SAFE uint32_t put_top(const struct walked *walked, jw_frame *to)
{
    const uint32_t count = walked->pc != 0 ? 1 : 0;

    if (count != 0)
        to[0] = jw_frame_address(walked->pc);
    return count + put_kernel(walked->kernel, to + count);
}

/* Lays the stack out, innermost first: the address, the kernel, native code, marks where some is missing, or Java is, the receiver, the stub,
 * Java, but what is of the past. */
static JW_SIGNAL_SAFE uint32_t lay_out(struct generation *generation,
                                       struct sample_scratch *scratch, const struct walked *walked)
{
    jw_frame *const to = scratch->frames;
    uint32_t count = put_top(walked, to);

    for (uint32_t i = 0; i < walked->native_count; i++) {
        if (i == walked->holder.frame)
            count += put_compiled(generation, scratch, walked->task.method, to + count);
        to[count++] = jw_frame_native(scratch->native_pcs[i]);
    }
    if (misses_native(walked))
        to[count++] = jw_frame_mark(JW_MARK_NATIVE_MISSING);
    if (walked->holder.frame >= walked->native_count)
        count += put_compiled(generation, scratch, walked->task.method, to + count);
    if (has_failed(walked))
        to[count++] = jw_frame_mark(walk_mark_of(walked->java.code));
    const dict_id receiver =
        walked->receiver == 0 ? DICT_NONE : sample_class(generation, scratch, walked->receiver);
    if (receiver != DICT_NONE)
        to[count++] = jw_frame_class(receiver);
    if (walked->java.stub_pc != 0)
        to[count++] = jw_frame_native(walked->java.stub_pc);
    for (uint32_t depth = 0; depth < walked->java.frame_count; depth++)
        to[count++] = java_frame(generation, scratch, &walked->java, &scratch->java[depth], depth);
    if (count == (walked->pc != 0))
        to[count++] = jw_frame_mark(JW_MARK_UNKNOWN_NATIVE);
    if (walked->java.is_truncated)
        jw_count(JW_COUNT_TRUNCATED);
    if (walked->java.is_frozen)
        jw_count(JW_COUNT_FROZEN);
    if (walked->java.is_moving)
        jw_count(JW_COUNT_FRAMES_MOVING);
    if (walked->java.is_carrier_lost)
        jw_count(JW_COUNT_CARRIER_LOST);
    return count;
}

/* The store counts a loss where a signal stands behind it. */
static JW_SIGNAL_SAFE store_id keep(struct generation *generation, const jw_frame *frames,
                                    uint32_t count, uint32_t flags, const struct store_hash *hash,
                                    bool is_hook)
{
    return is_hook ? store_try_put_hashed(generation->traces, frames, count, flags, hash)
                   : store_put_hashed(generation->traces, frames, count, flags, hash);
}

static JW_SIGNAL_SAFE store_id put_plain(struct generation *generation,
                                         struct sample_scratch *scratch,
                                         const struct walked *walked, uint32_t flags, bool is_hook)
{
    const uint32_t count = lay_out(generation, scratch, walked);
    struct store_hash hash = {0};

    if (count <= STORE_MAX_FRAMES)
        store_hash_before(&hash, scratch->frames, count);
    return keep(generation, scratch->frames, count, flags, &hash, is_hook);
}

static JW_SIGNAL_SAFE void name_past(struct generation *generation, struct sample_scratch *scratch,
                                     const struct walked *walked, uint32_t from, uint32_t to)
{
    const struct vm_call_frame *frames = walked->deep->past.frames + WALK_DEPTH_MAX;
    jw_frame *named = walked->deep->frames + SAMPLE_FRAMES_MAX;

    for (uint32_t n = from + 1; n <= to; n++)
        *(named - n) = java_frame(generation, scratch, &walked->java, frames - n, n);
}

/* What the frames from `first` on, all of them Java, are: good for the next sample? */
static JW_SIGNAL_SAFE bool are_named(struct sample_deep *deep, const jw_frame *first,
                                     uint32_t count)
{
    bool are_all = true;

    for (uint32_t i = 0; i < count; i++) {
        const enum jw_frame_kind kind = jw_frame_kind_of(first[i]);

        const uint32_t from_end = (uint32_t)(deep->frames + SAMPLE_FRAMES_MAX - &first[i]);

        are_all &= kind != JW_FRAME_MARK;
        if ((kind == JW_FRAME_INTERPRETED || kind == JW_FRAME_JAVA_NATIVE) &&
            from_end > deep->interpreted_count)
            deep->interpreted_count = from_end;
    }
    return are_all;
}

/* The frames of the past lie where they lay, and keep the names that they have in this generation. */
static JW_SIGNAL_SAFE store_id put_deep(struct generation *generation,
                                        struct sample_scratch *scratch, const struct walked *walked,
                                        uint32_t flags, bool is_hook)
{
    struct sample_deep *deep = walked->deep;
    const uint32_t past = walked->java.past_frames, fresh = walked->java.frame_count;
    jw_frame *const end = deep->frames + SAMPLE_FRAMES_MAX;
    const store_id again =
        is_hook ? sample_deep_again(deep, generation, scratch, &walked->java, flags) : STORE_NONE;

    if (again != STORE_NONE)
        return again;
    const uint32_t named = sample_deep_named(deep, generation, scratch, past);
    struct store_hash hash;

    name_past(generation, scratch, walked, named, past);
    const uint32_t own = lay_out(generation, scratch, walked);
    const uint32_t count = own + past;
    memcpy(end - count, scratch->frames, own * sizeof(jw_frame));
    sample_deep_hash(deep, named, count, &hash);
    if (are_named(deep, end - past - fresh, past - named + fresh))
        deep->named_count = past + fresh;
    const store_id trace = keep(generation, end - count, count, flags, &hash, is_hook);
    if (is_hook)
        sample_deep_note(deep, scratch, &walked->java, flags, trace);
    return trace;
}

static JW_SIGNAL_SAFE uint32_t trace_flags(const struct walked *walked)
{
    uint32_t flags = 0;

    if (walked->java.is_truncated)
        flags |= STORE_TRUNCATED;
    if (has_failed(walked))
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

/* What a hook tells beside its order. */
static JW_SIGNAL_SAFE void fill_from_hook(struct event_record *record,
                                          const struct sampler_hook *hook, dict_id class_name,
                                          dict_id payload)
{
    record->flags = hook->flags;
    record->class_name = class_name;
    record->name = hook->payload == NULL ? hook->name : payload;
    record->share = hook->share;
    record->object = hook->object;
    if (hook->time_ns != 0)
        record->time_ns = hook->time_ns;
}

static JW_SIGNAL_SAFE void fill_asked(struct event_record *record, enum vm_poll_asked asked)
{
    if (asked == VM_POLL_ASKED_BY_SAFEPOINT) {
        record->flags |= EVENT_WAITED_FOR;
        jw_count(JW_COUNT_SAMPLES_WAITED_FOR);
        return;
    }
    record->flags |= (asked != VM_POLL_ASKED_BY_WATERMARK ? EVENT_ASKED_BY_HANDSHAKE : 0u) |
                     (asked != VM_POLL_ASKED_BY_HANDSHAKE ? EVENT_ASKED_BY_WATERMARK : 0u);
    jw_count(JW_COUNT_SAMPLES_ASKED);
}

static JW_SIGNAL_SAFE void fill(struct event_record *record, const struct walked *walked,
                                const struct sample_order *order)
{
    record->kind = order->kind;
    record->thread_index = order->thread;
    record->thread_serial = (uint32_t)thread_serial(order->thread);
    record->weight_ns = order->weight_ns;
    record->value = order->number;
    if (order->kind == EVENT_CPU_SAMPLE && walked->java.frame_count > 0 &&
        walked->java.walker == WALK_VM) {
        record->flags |= EVENT_TOP_KNOWN;
        record->value = walked->java.top_pc;
    }
    if (walked->asked != VM_POLL_ASKED_NOT && order->hook == NULL)
        fill_asked(record, walked->asked);
    record->sample_count = order->turns;
    record->state = order->state;
}

static JW_SIGNAL_SAFE enum sample_loss commit(struct generation *generation,
                                              struct sample_scratch *scratch,
                                              const struct walked *walked,
                                              const struct sample_order *order)
{
    const uint64_t time_ns = order->now_ns != 0 ? order->now_ns : jw_now_ns();
    const uint32_t flags = trace_flags(walked);
    const struct sampler_hook *hook = order->hook;

    scratch->stamp++;
    scratch->now_ns = time_ns;
    sample_names_begin(scratch);
    const dict_id payload =
        hook == NULL || hook->payload == NULL
            ? DICT_NONE
            : dict_intern(generation->payloads, hook->payload, hook->payload_bytes);
    if (hook != NULL && hook->payload != NULL && payload == DICT_NONE)
        return SAMPLE_PAYLOADS_FULL;
    const store_id trace = walked->deep == NULL
                               ? put_plain(generation, scratch, walked, flags, hook != NULL)
                               : put_deep(generation, scratch, walked, flags, hook != NULL);
    if (trace == STORE_NONE)
        return SAMPLE_STORE_FULL; /* counted by the store, of a signal */
    const dict_id class_name =
        hook != NULL        ? sample_class_of_hook(generation, scratch, walked->deep, hook)
        : order->klass == 0 ? DICT_NONE
                            : sample_class(generation, scratch, order->klass);

    struct event_record *record =
        hook == NULL ? event_reserve(generation->events) : event_try_reserve(generation->events);
    if (record == NULL)
        return SAMPLE_EVENTS_FULL; /* counted by the ring, of a signal */
    record->time_ns = time_ns;
    record->flags = is_in_native(scratch, walked) ? SAMPLER_IN_NATIVE : 0;
    fill(record, walked, order);
    if (hook != NULL)
        fill_from_hook(record, hook, class_name, payload);
    else if (order->klass != 0)
        record->class_name = class_name;
    record->trace = trace;
    record->context = sample_capture(generation, walked->mounted, &scratch->virtual_name);
    event_commit(record);
    return SAMPLE_TAKEN;
}

/* From here to generation_leave: no block, no Java, no call into the JVM. */
static JW_SIGNAL_SAFE enum sample_loss write_down(struct sample_scratch *scratch,
                                                  const struct walked *walked,
                                                  const struct sample_order *order)
{
    struct generations *generations = sampler.generations;
    const uint32_t tid = thread_tid(order->thread);
    struct epoch_ticket ticket;
    struct generation *generation = order->hook == NULL
                                        ? generation_enter(generations, tid, &ticket)
                                        : generation_try_enter(generations, tid, &ticket);

    if (generation == NULL)
        return SAMPLE_NO_CELL; /* counted, of a signal */
    const enum sample_loss loss = commit(generation, scratch, walked, order);
    generation_leave(generations, &ticket);
    return loss;
}

static JW_SIGNAL_SAFE void give_back(struct sample_scratch *scratch, const struct walked *walked)
{
    if (walked->deep != NULL)
        sample_deep_give(walked->deep);
    sample_scratch_give(scratch);
}

static JW_SIGNAL_SAFE enum jw_counter_id outcome_of(uint16_t kind)
{
    return kind == EVENT_LATE         ? JW_COUNT_SPARED_LATE
           : kind == EVENT_LOCK_OWNER ? JW_COUNT_SPARED_LOCK
                                      : JW_COUNT_SAMPLES;
}

bool sample_in_window(void)
{
    return sampler.window == 0 || (sampler.window >> vm_safepoint_state() & 1) != 0;
}

/* What the stack of a lock's owner, or of a thread that was late, is for has a window of its own. */
static JW_SIGNAL_SAFE bool is_outside(const struct sample_order *order)
{
    return (order->kind == EVENT_CPU_SAMPLE || order->kind == EVENT_COUNTER_SAMPLE) &&
           !sample_in_window();
}

/* A virtual thread that has a lock and goes from its carrier, or comes: the stack is the carrier's, which has none. */
static JW_SIGNAL_SAFE bool is_leaving(const struct sample_order *order, const struct walked *walked)
{
    return order->kind == EVENT_LOCK_OWNER && walked->mounted != 0 &&
           walked->mounted != VM_MOUNTED_UNTOLD && sample_is_of_carrier(&walked->java);
}

bool sample_take(const void *ucontext, struct sample_order *order)
{
    /* Its time is over with it: the next sample does not stand for that. */
    if (is_outside(order)) {
        jw_count(JW_COUNT_SPARED_WINDOW);
        return true;
    }
    struct sample_scratch *scratch = sample_scratch_take(thread_tid(order->thread));
    struct walked walked;

    if (scratch == NULL) {
        jw_count(JW_COUNT_LOST_NO_SCRATCH);
        return false;
    }
    void *const env = thread_env(order->thread);
    walked.mounted = sample_find_mounted(order, env, &scratch->virtual_name);
    walked.kernel = sampler.with_native ? order->kernel : NULL;
    walk(ucontext, env, thread_tid(order->thread), scratch, &walked);
    if (is_leaving(order, &walked)) {
        jw_count(JW_COUNT_SPARED_LOCK);
        give_back(scratch, &walked);
        return false;
    }
    if (sample_is_of_carrier(&walked.java))
        walked.mounted = 0;
    order->is_java_missed = env != NULL && walked.java.frame_count == 0 && walked.java.code != 0 &&
                            walked.java.code != WALK_CODE_OFF;
    if (order->kind == EVENT_WALL_SAMPLE)
        order->state =
            (uint16_t)sample_state(ucontext, env, &walked.java, scratch->java, &order->is_passing);
    order->loss = write_down(scratch, &walked, order);
    if (order->loss == SAMPLE_TAKEN)
        jw_count(outcome_of(order->kind));
    give_back(scratch, &walked);
    return order->loss == SAMPLE_TAKEN;
}

enum sample_loss sample_from_hook(const struct arch_context *here, struct sample_order *order)
{
    const uint32_t tid = thread_tid(order->thread);
    struct sample_scratch *scratch = sample_scratch_take(tid);
    struct walked walked = {.native_end = WALK_NATIVE_AT_CODE};
    const uint32_t top = order->hook->depth_max;

    if (scratch == NULL)
        return order->loss = SAMPLE_NO_SCRATCH;
    void *const env = thread_env(order->thread);
    walked.is_java_thread = env != NULL;
    scratch->walk_cache.noted_from = WALK_NOTED_FROM_HOOK;
    scratch->walk_cache.is_resumed = order->hook->is_resumed;
    walked.mounted = sample_find_mounted(order, env, &scratch->virtual_name);
    if (env != NULL)
        walk_deep(here, env, tid, top != 0 && top < sampler.depth_max ? top : sampler.depth_max,
                  scratch, &walked);
    if (sample_is_of_carrier(&walked.java))
        walked.mounted = 0;
    if (top != 0)
        walked.java.is_truncated = false; /* nobody misses the rest */
    order->loss = write_down(scratch, &walked, order);
    give_back(scratch, &walked);
    return order->loss;
}
