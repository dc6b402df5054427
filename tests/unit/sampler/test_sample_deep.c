/*
 * Deep stacks from sample to sample, over a fake JVM: whatever is kept of the last one, the trace is the one that a
 * sample gets which knows nothing of it.
 */
#include "unit/vm/fake_counters.h"
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>
#include <ucontext.h>

#include "base/counters.h"
#include "base/hash.h"
#include "sampler/sampler_hook.h"
#include "sampler/sampler_internal.h"

TestSuite(sample_deep, .timeout = 1800);

#define DEPTH 70
#define TID   4711u

static struct generations *generations;
static struct fake_nmethod code;
static thread_index thread;
static store_id last_trace;
static dict_id last_class;
static vm_addr hook_class; /* of which hooks tell */
static struct jw_error err;

static void open_sampler(void)
{
    const struct generations_config config = {.memory_bytes = 0};
    const struct thread_java java = {.env = fake_env(), .java_id = 1, .name = "deep"};
    bool is_new;

    generations = generations_open(&config, &err);
    cr_assert(generations != NULL, "%s", err.message);
    cr_assert(threads_open(&err) && sample_scratch_open(&err) && sample_deep_open(&err), "%s",
              err.message);
    sample_deep_start();
    thread = thread_add(TID, &is_new);
    thread_set_java(thread, &java);
    walk_open(WALK_VM, NULL);
    sampler = (struct sampler_config){.generations = generations, .depth_max = WALK_DEPTH_MAX};
    code = put_nmethod();
    set((void *)code.blob, "nmethod", "_compile_id", 7, 4);
}

/* `interpreted` of the outermost frames are interpreted, at this bci. */
static void lay_out(unsigned depth, unsigned interpreted, int bci)
{
    begin_stack();
    push_entry(NULL);
    for (unsigned i = 0; i < interpreted; i++)
        push_interpreted(bci);
    for (unsigned i = interpreted; i < depth; i++)
        push_compiled(&code, i % 2 == 0 ? PC_CALL : PC_INLINED);
    push_compiled(&code, PC_TOP);
}

static void note_trace(const struct event_record *record, void *argument)
{
    (void)argument;
    last_trace = record->trace;
    last_class = record->class_name;
}

static bool take_late(struct generation *generation, void *argument)
{
    (void)event_take(generation->events, note_trace, argument);
    return true;
}

static struct generation *active(void)
{
    for (int i = 0; i < EPOCH_BUFFERS; i++) {
        enum epoch_state state;
        struct generation *generation = generations_at(generations, i, &state);

        if (state == EPOCH_ACTIVE)
            return generation;
    }
    cr_assert(false);
    return NULL;
}

/* The same from a hook, on the thread itself; how many of its frames were not walked. */
static uint64_t sample_by_hook(void)
{
    static const ucontext_t none;
    const struct sampler_hook hook = {
        .kind = EVENT_ALLOC_SAMPLE, .weight_ns = 1, .klass = hook_class};
    const uint64_t before = jw_counter(JW_COUNT_FRAMES_REUSED);
    struct sample_order order = {.kind = hook.kind, .thread = thread, .hook = &hook};
    struct arch_context context;

    arch_context_copy(&context, &none);
    arch_regs_write(&context, &fake_stack.regs);
    cr_assert(eq(int, (int)sample_from_hook(&context, &order), SAMPLE_TAKEN));
    (void)event_take(active()->events, note_trace, NULL);
    return jw_counter(JW_COUNT_FRAMES_REUSED) - before;
}

/* One sample; how many of its frames were not walked. */
static uint64_t sample(void)
{
    static const ucontext_t none;
    const uint64_t before = jw_counter(JW_COUNT_FRAMES_REUSED);
    struct sample_order order = {.kind = EVENT_CPU_SAMPLE, .thread = thread, .weight_ns = 1};
    struct arch_context context;

    arch_context_copy(&context, &none);
    arch_regs_write(&context, &fake_stack.regs);
    cr_assert(sample_take(context.bytes, &order));
    (void)event_take(active()->events, note_trace, NULL);
    return jw_counter(JW_COUNT_FRAMES_REUSED) - before;
}

static void forget(void)
{
    struct sample_deep *deep = sample_deep_find(TID);

    if (deep != NULL)
        sample_deep_drop(deep);
}

static void trace_is_as_of_one_who_knows_nothing(const char *what)
{
    const store_id trace = last_trace;

    forget();
    cr_assert(eq(u64, sample(), 0));
    cr_assert(eq(u32, trace, last_trace), "%s", what);
    forget();
}

/* Three samples: who was deep gets room, then notes, then keeps. */
static uint64_t sample_thrice(void)
{
    cr_assert(eq(u64, sample(), 0));
    (void)sample();
    return sample();
}

TEST_EACH_STACK(sample_deep, a_stack_that_stands_is_kept_with_its_names)
{
    struct store_trace trace;

    open_sampler();
    cr_assert(eq(u64, sampler_deep_bytes(), 0));
    lay_out(DEPTH, 0, 0);
    cr_assert(ge(u64, sample_thrice(), DEPTH));
    cr_assert(ge(u64, sampler_deep_bytes(), DEPTH * (8 + 16 + 16 + 40)));
    cr_assert(le(u64, sampler_deep_bytes(), sizeof(struct sample_deep)));
    cr_assert(store_get(active()->traces, last_trace, &trace));
    cr_assert(eq(u32, trace.frame_count, 1 + DEPTH + DEPTH / 2));
    const uint64_t misses = jw_counter(JW_COUNT_METHOD_CACHE_MISSES);
    const store_id before = last_trace;
    cr_assert(ge(u64, sample(), DEPTH));
    cr_assert(eq(u32, last_trace, before));
    cr_assert(eq(u64, jw_counter(JW_COUNT_METHOD_CACHE_MISSES), misses));
    trace_is_as_of_one_who_knows_nothing("the same stack");
}

TEST_EACH_STACK(sample_deep, stacks_that_grow_and_shrink_are_those_that_are_there)
{
    uint64_t reused = 0;

    open_sampler();
    for (int round = 0; round < 40; round++) {
        forget();
        for (int turn = 0; turn < 5; turn++) {
            lay_out(DEPTH - (unsigned)(round * 7 + turn * 13) % 30, (unsigned)(round % 3),
                    turn % 2);
            reused += sample();
        }
        trace_is_as_of_one_who_knows_nothing("grown or shrunk");
    }
    cr_assert(ge(u64, reused, 1000));
}

TEST_EACH_STACK(sample_deep, names_are_those_of_the_generation)
{
    open_sampler();
    lay_out(DEPTH, 3, 1);
    (void)sample_thrice();
    for (int round = 0; round < 5; round++) {
        cr_assert(generations_rotate(generations) != NULL);
        cr_assert(ge(u64, sample(), DEPTH / 2));
        const store_id trace = last_trace;
        cr_assert(ge(u64, sample(), DEPTH / 2));
        cr_assert(eq(u32, last_trace, trace));
        struct sample_deep *deep = sample_deep_find(TID);
        cr_assert(deep != NULL);
        deep->named_count = 0; /* nothing is known of names, but all of the stack */
        sample_deep_give(deep);
        cr_assert(ge(u64, sample(), DEPTH / 2));
        cr_assert(eq(u32, last_trace, trace));
        (void)generations_retire(generations, take_late, NULL);
    }
}

/* Class and methods are gone, and others have come to their places. */
TEST_EACH_STACK(sample_deep, an_interpreted_method_at_the_same_address_gets_its_own_name)
{
    open_sampler();
    lay_out(DEPTH, 5, 1);
    cr_assert(ge(u64, sample_thrice(), DEPTH / 2));
    const store_id before = last_trace;
    set_symbol(fake.name, "other");
    set(fake.const_method, "ConstMethod", "_method_idnum", METHOD_NUMBER + 1, 2);
    cr_assert(ge(u64, sample(), DEPTH / 2));
    cr_assert(ne(u32, last_trace, before));
    trace_is_as_of_one_who_knows_nothing("another class");
}

TEST_EACH_STACK(sample_deep, a_new_run_has_names_of_its_own)
{
    open_sampler();
    lay_out(DEPTH, 0, 0);
    (void)sample_thrice();
    generations_close(generations);
    const struct generations_config config = {.memory_bytes = 0};
    generations = generations_open(&config, &err);
    cr_assert(generations != NULL, "%s", err.message);
    sampler.generations = generations;
    sample_deep_start();
    cr_assert(ge(u64, sample(), DEPTH));
    trace_is_as_of_one_who_knows_nothing("a new run");
}

TEST_EACH_STACK(sample_deep, a_stack_cut_at_the_limit_is_not_kept)
{
    open_sampler();
    lay_out(DEPTH, 0, 0);
    (void)sample_thrice();
    sampler.depth_max = DEPTH;
    cr_assert(eq(u64, sample(), 0));
    cr_assert(sample_deep_find(TID) == NULL);
    cr_assert(eq(u64, sample_thrice(), 0));
}

TEST_EACH_STACK(sample_deep, a_hook_needs_no_deep_stack)
{
    open_sampler();
    lay_out(8, 2, 1);
    cr_assert(eq(u64, sample_by_hook(), 0));
    const store_id first = last_trace;
    (void)sample_by_hook();
    for (int round = 0; round < 3; round++) {
        cr_assert(ge(u64, sample_by_hook(), 8));
        cr_assert(eq(u32, last_trace, first));
    }
    /* One that interrupts, in between, has the same of it, and takes nothing away. */
    (void)sample();
    cr_assert(eq(u32, last_trace, first));
    (void)sample_by_hook();
    cr_assert(ge(u64, sample_by_hook(), 8));
    cr_assert(eq(u32, last_trace, first));
}

TEST_EACH_STACK(sample_deep, a_sample_within_another_of_its_thread_takes_no_second_room)
{
    open_sampler();
    sample_deep_claim(TID);
    struct sample_deep *deep = sample_deep_find(TID);
    cr_assert(deep != NULL);
    sample_deep_claim(TID);
    cr_assert(sample_deep_find(TID) == NULL);
    sample_deep_give(deep);
}

static void add_counters(void)
{
    add_fields();
    put_counters(7);
    set_entry(2, "sun.rt.safepointSyncTime", 'J', 1000);
}

/* What no JVM does without a safepoint tells whether a name was looked at again. */
static void names_are_looked_at_behind_an_operation(enum layout_jdk jdk, unsigned interpreted)
{
    open_stack_with(jdk, add_counters);
    open_sampler();
    lay_out(DEPTH, interpreted, 1);
    (void)sample_thrice();
    const store_id before = last_trace;
    set_symbol(fake.name, "other");
    set(fake.const_method, "ConstMethod", "_method_idnum", METHOD_NUMBER + 1, 2);
    cr_assert(ge(u64, sample(), DEPTH / 2));
    cr_assert(eq(u32, last_trace, before));
    forget();
    (void)sample();
    cr_assert(eq(u32, last_trace, before)); /* by the method cache, neither */
    (void)sample_thrice();
    set_entry(2, "sun.rt.safepointSyncTime", 'J', 1001); /* all have stopped */
    cr_assert(ge(u64, sample(), DEPTH / 2));
    cr_assert(ne(u32, last_trace, before));
    trace_is_as_of_one_who_knows_nothing("another class");
}

Test(sample_deep, names_are_looked_at_behind_an_operation_on_jdk_17)
{
    names_are_looked_at_behind_an_operation(LAYOUT_17, 5);
}

Test(sample_deep, names_are_looked_at_behind_an_operation_on_jdk_25)
{
    names_are_looked_at_behind_an_operation(LAYOUT_25, 5);
}

/* Frames, names and hash of it are not looked at. */
static bool had_the_trace_before(void)
{
    struct sample_deep *deep = sample_deep_find(TID);
    const bool is_again = deep != NULL && deep->is_again;

    if (deep != NULL)
        sample_deep_give(deep);
    return is_again;
}

/* Who has no room gets some, then notes, then keeps. */
static void hook_thrice(void)
{
    (void)sample_by_hook();
    (void)sample_by_hook();
    (void)sample_by_hook();
}

static void open_dated(void)
{
    open_stack_with(LAYOUT_25, add_counters);
    open_sampler();
    hook_class = (vm_addr)fake.klass;
}

Test(sample_deep, a_hook_where_the_last_one_was_has_its_trace)
{
    size_t name_bytes;

    open_dated();
    lay_out(8, 2, 1);
    hook_thrice();
    cr_assert(not(had_the_trace_before()));
    const store_id first = last_trace;
    const dict_id class_name = last_class;
    const char *name = dict_text(active()->classes, class_name, &name_bytes);
    cr_assert(name != NULL && name_bytes == strlen("com/acme/Job") &&
              memcmp(name, "com/acme/Job", name_bytes) == 0);
    for (int round = 0; round < 3; round++) {
        cr_assert(ge(u64, sample_by_hook(), 8));
        cr_assert(had_the_trace_before());
        cr_assert(eq(u32, last_trace, first));
        cr_assert(eq(u32, last_class, class_name));
    }
    /* Of another class, or of none that is known. */
    hook_class = 0;
    (void)sample_by_hook();
    cr_assert(had_the_trace_before());
    cr_assert(eq(u32, last_class, DICT_NONE));
    hook_class = (vm_addr)fake.klass;
    (void)sample_by_hook();
    cr_assert(eq(u32, last_class, class_name));
    trace_is_as_of_one_who_knows_nothing("the same frames");
}

/* What is in the way of it, each for itself. */
Test(sample_deep, a_hook_elsewhere_has_a_trace_of_its_own)
{
    open_dated();
    lay_out(8, 2, 1);
    hook_thrice();
    (void)sample_by_hook();
    const store_id first = last_trace;
    lay_out(8, 2, 0);
    (void)sample_by_hook();
    cr_assert(not(had_the_trace_before()));
    cr_assert(ne(u32, last_trace, first));
    lay_out(9, 2, 0);
    (void)sample_by_hook();
    cr_assert(not(had_the_trace_before()));
    trace_is_as_of_one_who_knows_nothing("another depth");

    /* A signal of another stack came between. */
    lay_out(8, 2, 1);
    hook_thrice();
    (void)sample_by_hook();
    lay_out(10, 2, 1);
    (void)sample();
    lay_out(8, 2, 1);
    (void)sample_by_hook();
    cr_assert(not(had_the_trace_before()));
    cr_assert(eq(u32, last_trace, first));

    (void)sample_by_hook();
    cr_assert(had_the_trace_before());
    cr_assert(generations_rotate(generations) != NULL);
    (void)sample_by_hook();
    cr_assert(not(had_the_trace_before()));
    const dict_id class_name = last_class;
    trace_is_as_of_one_who_knows_nothing("another generation");
    hook_thrice();
    cr_assert(eq(u32, last_class, class_name));
}

Test(sample_deep, a_hook_behind_an_operation_has_names_of_its_own)
{
    open_dated();
    lay_out(8, 5, 1);
    hook_thrice();
    (void)sample_by_hook();
    cr_assert(had_the_trace_before());
    const store_id before = last_trace;
    const dict_id class_name = last_class;
    set_symbol(fake.name, "other");
    set_symbol(fake.class_name, "B");
    set(fake.const_method, "ConstMethod", "_method_idnum", METHOD_NUMBER + 1, 2);
    set_entry(2, "sun.rt.safepointSyncTime", 'J', 1001);
    (void)sample_by_hook();
    cr_assert(not(had_the_trace_before()));
    cr_assert(ne(u32, last_trace, before));
    cr_assert(ne(u32, last_class, class_name));
    trace_is_as_of_one_who_knows_nothing("other names");
}

/* All is as it was but the place in the innermost method. */
Test(sample_deep, a_hook_elsewhere_in_its_method_has_a_trace_of_its_own)
{
    store_id traces[2] = {STORE_NONE, STORE_NONE};

    open_dated();
    for (int round = 0; round < 8; round++) {
        begin_stack();
        push_entry(NULL);
        for (int i = 0; i < 8; i++)
            push_compiled(&code, PC_CALL);
        push_interpreted(round / 4);
        (void)sample_by_hook();
        traces[round / 4] = last_trace;
    }
    cr_assert(ne(u32, traces[0], traces[1]));
    cr_assert(had_the_trace_before());
    trace_is_as_of_one_who_knows_nothing("another place");
}

/* A sample that was walked and then lost has changed what is kept. */
Test(sample_deep, a_hook_behind_one_that_was_lost_has_a_trace_of_its_own)
{
    static struct epoch_ticket tickets[EPOCH_CELLS];
    const struct sampler_hook lost = {.kind = EVENT_ALLOC_SAMPLE, .weight_ns = 1};
    struct sample_order order = {.kind = lost.kind, .thread = thread, .hook = &lost};
    struct arch_context context;
    uint32_t count = 0;

    open_dated();
    order.thread = thread;
    lay_out(8, 2, 1);
    hook_thrice();
    (void)sample_by_hook();
    cr_assert(had_the_trace_before());
    const store_id before = last_trace;
    lay_out(8, 2, 0);
    while (count < EPOCH_CELLS && generation_try_enter(generations, TID, &tickets[count]) != NULL)
        count++;
    arch_context_of_regs(&context, &fake_stack.regs);
    cr_assert(eq(int, (int)sample_from_hook(&context, &order), SAMPLE_NO_CELL));
    while (count > 0)
        generation_leave(generations, &tickets[--count]);
    (void)sample_by_hook();
    cr_assert(not(had_the_trace_before()));
    cr_assert(ne(u32, last_trace, before));
    trace_is_as_of_one_who_knows_nothing("behind a loss");
}

/* The trace has no class that was known in the generation before, nor behind an operation what was at its address. */
Test(sample_deep, a_class_that_came_with_another_trace_is_looked_up)
{
    size_t name_bytes;

    open_dated();
    lay_out(8, 2, 1);
    hook_thrice();
    cr_assert(generations_rotate(generations) != NULL);
    cr_assert(ne(u32, dict_intern(active()->classes, "other", 5), DICT_NONE));
    hook_class = 0;
    (void)sample_by_hook();
    cr_assert(not(had_the_trace_before()));
    hook_class = (vm_addr)fake.klass;
    (void)sample_by_hook();
    cr_assert(had_the_trace_before());
    const char *name = dict_text(active()->classes, last_class, &name_bytes);
    cr_assert(name != NULL && name_bytes == strlen("com/acme/Job") &&
              memcmp(name, "com/acme/Job", name_bytes) == 0);

    const dict_id class_name = last_class;
    set_symbol(fake.class_name, "B");
    set_entry(2, "sun.rt.safepointSyncTime", 'J', 1001);
    hook_class = 0;
    (void)sample_by_hook();
    hook_class = (vm_addr)fake.klass;
    (void)sample_by_hook();
    cr_assert(had_the_trace_before());
    cr_assert(ne(u32, last_class, class_name));
}

/* Who does not date names has each compared. */
TEST_EACH_STACK(sample_deep, without_a_date_a_hook_has_its_stack_named)
{
    open_sampler();
    lay_out(8, 2, 1);
    hook_thrice();
    (void)sample_by_hook();
    cr_assert(not(had_the_trace_before()));
}

Test(sample_deep, hooks_of_any_stacks_have_their_own_traces)
{
    uint64_t number = 0, again = 0;

    open_dated();
    for (int round = 0; round < 300; round++) {
        for (int turn = 0; turn < 6; turn++) {
            number = jw_hash_word(number + 1);
            if (number % 4 != 0)
                lay_out(6 + (unsigned)(number >> 8) % 4, (unsigned)(number >> 16) % 3,
                        (int)(number >> 24) % 2);
            if (number % 32 == 5)
                cr_assert(generations_rotate(generations) != NULL);
            if (number % 8 == 6)
                (void)sample();
            (void)sample_by_hook();
            again += had_the_trace_before();
            (void)generations_retire(generations, take_late, NULL);
        }
        trace_is_as_of_one_who_knows_nothing("any");
    }
    cr_assert(ge(u64, again, 100));
}

Test(sample_deep, who_has_room_keeps_it_while_he_uses_it)
{
    unsigned held = 0;

    cr_assert(sample_deep_open(&err), "%s", err.message);
    for (uint32_t tid = 1; tid <= 1000; tid++)
        sample_deep_claim(tid);
    for (uint32_t tid = 1; tid <= 1000; tid++) {
        struct sample_deep *deep = sample_deep_find(tid);

        if (deep == NULL)
            continue;
        held++;
        cr_assert(sample_deep_find(tid) == NULL); /* once at a time */
        sample_deep_give(deep);
    }
    cr_assert(eq(u32, held, 64));
    /* Of those who were first, and not of who came last. */
    struct sample_deep *late = sample_deep_find(1000);
    cr_assert(late == NULL);
}
