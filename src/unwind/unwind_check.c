/* Copies of native stacks: taken in handlers, compared by the agent's thread. */
#include "unwind/unwind.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/memory.h"
#include "symbols/symbols.h"
#include "unwind/unwind_internal.h"

/* Below the stack pointer of x86-64 a leaf function may keep something; what cannot be read there is not needed. */
#define RED_ZONE_BYTES 128

/* `interval_ns` and `due_ns` are relaxed: when to look is a hint. */
static struct {
    _Atomic uint64_t interval_ns; /* 0: none is taken */
    _Atomic uint64_t due_ns;
    struct unwind_taken *copies;
    /* Of the agent's thread. */
    struct unwind_library library;
    bool is_loaded, is_tried, is_right;
    struct jw_error wrong; /* what the try says */
    uint64_t unloads;      /* of the loader, when the last turn began */
    pthread_mutex_t lock;  /* of the texts */
    struct jw_error off, example, sooner;
} check = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void keep_text(struct jw_error *to, const struct jw_error *text)
{
    pthread_mutex_lock(&check.lock);
    *to = *text;
    pthread_mutex_unlock(&check.lock);
}

void unwind_check_tell(struct unwind_texts *out)
{
    pthread_mutex_lock(&check.lock);
    out->off = check.off;
    out->different = check.example;
    out->shorter = check.sooner;
    pthread_mutex_unlock(&check.lock);
}

struct unwind_taken *unwind_check_copies(void)
{
    return check.copies;
}

static bool map_copies(struct jw_error *err)
{
    const size_t size_bytes = UNWIND_COPIES * sizeof *check.copies;

    if (check.copies != NULL)
        return true;
    if (!jw_memory_charge(JW_MEMORY_UNWINDING, size_bytes)) {
        jw_error_set(err, "memlimit leaves no room for %zu bytes of copies; try a larger one",
                     size_bytes);
        return false;
    }
    check.copies = jw_memory_map(JW_MEMORY_UNWINDING, size_bytes);
    if (check.copies != NULL)
        return true;
    jw_memory_credit(JW_MEMORY_UNWINDING, size_bytes);
    jw_error_set(err, "cannot reserve %zu bytes for copies: %s", size_bytes, strerror(errno));
    return false;
}

void unwind_check_close(void)
{
    const struct jw_error none = {{0}};

    jw_store_relaxed(&check.interval_ns, 0);
    keep_text(&check.off, &none);
}

bool unwind_check_open(uint64_t interval_ns, struct jw_error *err)
{
    unwind_check_close();
    if (!check.is_loaded)
        check.is_loaded = unwind_library_load(&check.library, err);
    if (check.is_tried && !check.is_right)
        *err = check.wrong;
    if (!check.is_loaded || (check.is_tried && !check.is_right) || !map_copies(err)) {
        keep_text(&check.off, err);
        return false;
    }
    /* Of an earlier session; a handler that did not come back keeps its copy. */
    for (uint32_t i = 0; i < UNWIND_COPIES; i++) {
        uint32_t full = UNWIND_COPY_FULL;

        /* order UNWIND_COPY: acquires what was copied, and releases the room. */
        (void)jw_cas_acq_rel(&check.copies[i].state, &full, UNWIND_COPY_FREE);
    }
    check.unloads = symbols_unloads();
    jw_store_relaxed(&check.due_ns, 0);
    jw_store_relaxed(&check.interval_ns, interval_ns);
    return true;
}

/* -------- handler ---------------------------------------------------------------------------- */

bool unwind_check_wants(void)
{
    return jw_load_relaxed(&check.interval_ns) != 0 &&
           jw_now_ns() >= jw_load_relaxed(&check.due_ns);
}

static JW_SIGNAL_SAFE struct unwind_taken *find_free(void)
{
    for (uint32_t i = 0; i < UNWIND_COPIES; i++) {
        uint32_t is_free = UNWIND_COPY_FREE;

        /* order UNWIND_COPY: acquires the end of the last comparison; releases nothing yet. */
        if (jw_load_relaxed(&check.copies[i].state) == UNWIND_COPY_FREE &&
            jw_cas_acq_rel(&check.copies[i].state, &is_free, UNWIND_COPY_FILLING))
            return &check.copies[i];
    }
    return NULL;
}

/* Down to where the last frame was left, and the rest of that page; where the way was lost, all that there is room for. */
static JW_SIGNAL_SAFE size_t wanted_bytes(const struct unwind_ours *ours, uintptr_t start)
{
    const size_t page_bytes = arch_facts.page_min_bytes;
    const uintptr_t end = (ours->outer_sp / page_bytes + 1) * page_bytes;

    return (ours->is_whole || ours->is_cut) && end > start && end - start < UNWIND_COPY_BYTES
               ? end - start
               : UNWIND_COPY_BYTES;
}

void unwind_check_take(const void *ucontext, const struct unwind_ours *ours)
{
    struct unwind_taken *taken = ours->count <= UNWIND_DEPTH_MAX ? find_free() : NULL;

    if (taken == NULL) {
        jw_count(JW_COUNT_NATIVE_NO_ROOM);
        return;
    }
    jw_store_relaxed(&check.due_ns, jw_now_ns() + jw_load_relaxed(&check.interval_ns));
    unwind_registers(ucontext, taken->registers);
    const uintptr_t sp = taken->registers[arch_facts.unwind_sp];
    unsigned char zone;
    const bool has_zone = safe_load_u8(sp - RED_ZONE_BYTES, &zone);

    taken->start = sp - (has_zone ? RED_ZONE_BYTES : 0);
    taken->size_bytes =
        unwind_copy_stack(taken->bytes, taken->start, wanted_bytes(ours, taken->start));
    taken->is_whole = ours->is_whole;
    taken->is_cut = ours->is_cut;
    taken->count = ours->count;
    memcpy(taken->pcs, ours->pcs, ours->count * sizeof ours->pcs[0]);
    /* order UNWIND_COPY: releases what was copied. */
    jw_store_release(&taken->state, UNWIND_COPY_FULL);
}

/* -------- dump ------------------------------------------------------------------------------- */

struct theirs {
    uintptr_t pcs[UNWIND_DEPTH_MAX];
    uint32_t count;
    enum unwind_end end;
};

static uint32_t first_difference(const struct unwind_taken *ours, const struct theirs *theirs)
{
    uint32_t i = 0;

    while (i < ours->count && i < theirs->count && ours->pcs[i] == theirs->pcs[i])
        i++;
    return i;
}

/* Which counter the stack belongs to. `same`: frames from the top on that are. */
static enum jw_counter_id judge(const struct unwind_taken *ours, const struct theirs *theirs,
                                uint32_t same)
{
    const bool is_their_way_lost = theirs->end == UNWIND_NO_WAY || theirs->end == UNWIND_NO_COPY;

    if (same < ours->count && same < theirs->count)
        return JW_COUNT_NATIVE_DIFFERENT;
    if (theirs->count == 0)
        return JW_COUNT_NATIVE_UNCHECKED;
    if (is_their_way_lost && theirs->count <= ours->count)
        return theirs->end == UNWIND_NO_WAY ? JW_COUNT_NATIVE_NO_WAY : JW_COUNT_NATIVE_NO_COPY;
    if (theirs->count < ours->count)
        return JW_COUNT_NATIVE_DIFFERENT;
    if (ours->is_cut || (theirs->count == ours->count && ours->is_whole))
        return JW_COUNT_NATIVE_EQUAL;
    return ours->is_whole ? JW_COUNT_NATIVE_DIFFERENT : JW_COUNT_NATIVE_SHORTER;
}

static void tell_frame(const uintptr_t *pcs, uint32_t count, uint32_t at, char *text,
                       size_t room_bytes)
{
    struct symbols_name name;
    char function[160];

    if (at >= count)
        snprintf(text, room_bytes, "none");
    else if (symbols_name(pcs[at], &name))
        snprintf(text, room_bytes, "%.120s in %.60s",
                 symbols_name_text(&name, function, sizeof function), name.library);
    else
        snprintf(text, room_bytes, "0x%llx", (unsigned long long)pcs[at]);
}

static void keep_example(struct jw_error *to, const struct unwind_taken *ours,
                         const struct theirs *theirs, uint32_t same)
{
    char above[192] = "the top", mine[192], other[192];
    struct jw_error text = {{0}};

    if (same > 0)
        tell_frame(ours->pcs, ours->count, same - 1, above, sizeof above);
    tell_frame(ours->pcs, ours->count, same, mine, sizeof mine);
    tell_frame(theirs->pcs, theirs->count, same, other, sizeof other);
    jw_error_set(&text, "frame %u of %u, below %.140s: %.140s; by libunwind %.140s", same + 1,
                 ours->count, above, mine, other);
    keep_text(to, &text);
}

static void compare(const struct unwind_taken *ours, const struct symbols_snapshot *snapshot)
{
    struct unwind_view view = {
        .library = &check.library,
        .snapshot = snapshot,
        .stack = {ours->start, ours->size_bytes, ours->bytes},
    };
    static struct theirs theirs; /* of the agent's thread */

    memcpy(view.registers, ours->registers, sizeof view.registers);
    theirs.count = unwind_walk(&view, theirs.pcs, UNWIND_DEPTH_MAX, &theirs.end);
    const uint32_t same = first_difference(ours, &theirs);
    enum jw_counter_id outcome = judge(ours, &theirs, same);
    /* What was unloaded since the turn before may have been at these places. */
    if (symbols_unloads() != check.unloads)
        outcome = JW_COUNT_NATIVE_UNCHECKED;
    jw_count(JW_COUNT_NATIVE_CHECKED);
    jw_count(outcome);
    if (outcome == JW_COUNT_NATIVE_EQUAL)
        jw_count_add(JW_COUNT_NATIVE_FRAMES_EQUAL, same);
    if (outcome == JW_COUNT_NATIVE_DIFFERENT)
        keep_example(&check.example, ours, &theirs, same);
    if (outcome == JW_COUNT_NATIVE_SHORTER)
        keep_example(&check.sooner, ours, &theirs, same);
}

/* Once, when libraries are known. */
static bool try_library(const struct symbols_snapshot *snapshot)
{
    if (!check.is_tried)
        check.is_right = unwind_library_try(&check.library, snapshot, &check.wrong);
    if (!check.is_tried && !check.is_right)
        keep_text(&check.off, &check.wrong);
    check.is_tried = true;
    if (!check.is_right)
        jw_store_relaxed(&check.interval_ns, 0);
    return check.is_right;
}

void unwind_check_turn(void)
{
    if (jw_load_relaxed(&check.interval_ns) == 0)
        return;

    const struct symbols_snapshot *snapshot = symbols_enter();
    const uint64_t unloads = symbols_unloads();
    for (uint32_t i = 0; snapshot != NULL && try_library(snapshot) && i < UNWIND_COPIES; i++) {
        struct unwind_taken *taken = &check.copies[i];

        /* order UNWIND_COPY: acquires what was copied. */
        if (jw_load_acquire(&taken->state) != UNWIND_COPY_FULL)
            continue;
        compare(taken, snapshot);
        /* order UNWIND_COPY: releases the room to the next handler. */
        jw_store_release(&taken->state, UNWIND_COPY_FREE);
    }
    check.unloads = unloads;
    symbols_leave(snapshot);
}
