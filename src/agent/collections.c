/* A ring of garbage collections from the VM's thread to the agent's; hook, dump. */
#include "agent/collections.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "vm/vm_heap.h"
#include "vm/vm_perfdata.h"

#define NO_CAUSE        "No GC" /* Source: OpenJDK, gcCause.cpp */
#define WAYS_MAX        4
#define GENERATIONS_MAX 3
#define SPACES_MAX      5
#define SIZES_MAX       (GENERATIONS_MAX * SPACES_MAX)

/* Counters of the JVM; 0: none. Constant once a session has begun. */
static struct {
    bool is_known;
    vm_addr cause, last_cause;
    vm_addr invocations[WAYS_MAX];
    vm_addr used[SIZES_MAX], capacity[SIZES_MAX];
} counters;

/* The VM's thread alone. Relaxed: it is one thread, and the ring orders what another one reads. */
static _Atomic uint64_t begin_ns;
static _Atomic uint32_t depth;
static _Atomic uint64_t invocations[WAYS_MAX];
static _Atomic uint64_t used_before_bytes, committed_before_bytes;
/* Also for hooks: of this process, told or not. */
static _Atomic uint32_t number;

static struct collection ring[COLLECTIONS_MAX];
static _Atomic uint32_t put_count;   /* of the VM's thread */
static _Atomic uint32_t taken_count; /* of the agent's thread */

static vm_addr find_size(int generation, int space, const char *what)
{
    char name[64];

    snprintf(name, sizeof name, "sun.gc.generation.%d.space.%d.%s", generation, space, what);
    return vm_perfdata_find(name, VM_PERFDATA_NUMBER);
}

static vm_addr find_invocations(int way)
{
    char name[64];

    snprintf(name, sizeof name, "sun.gc.collector.%d.invocations", way);
    return vm_perfdata_find(name, VM_PERFDATA_NUMBER);
}

/* Source: the counters of OpenJDK 8 to 28, as `jcmd PerfCounter.print` lists them. */
static void find_counters(void)
{
    if (counters.is_known)
        return;
    counters.is_known = true;
    counters.cause = vm_perfdata_find("sun.gc.cause", VM_PERFDATA_TEXT);
    counters.last_cause = vm_perfdata_find("sun.gc.lastCause", VM_PERFDATA_TEXT);
    for (int i = 0; i < WAYS_MAX; i++)
        counters.invocations[i] = find_invocations(i);
    for (int i = 0; i < SIZES_MAX; i++) {
        const int generation = i / SPACES_MAX, space = i % SPACES_MAX;

        counters.used[i] = find_size(generation, space, "used");
        counters.capacity[i] = find_size(generation, space, "capacity");
    }
}

void collections_open(void)
{
    find_counters();
    vm_heap_open();
    /* order COLLECTIONS_RING: acquires what the VM's thread has put, to leave it out. */
    const uint32_t count = jw_load_acquire(&put_count);
    /* order COLLECTIONS_ROOM: releases that there is room again. */
    jw_store_release(&taken_count, count);
}

static uint64_t sum_of(const vm_addr *addrs)
{
    uint64_t sum = 0, number_there;

    for (int i = 0; i < SIZES_MAX; i++)
        if (addrs[i] != 0 && safe_load_u64(addrs[i], &number_there))
            sum += number_there;
    return sum;
}

/* The one of which the JVM has counted one more since the last collection. */
static uint32_t way_since(void)
{
    uint32_t way = COLLECTIONS_NO_WAY;

    for (uint32_t i = 0; i < WAYS_MAX; i++) {
        uint64_t now;

        if (counters.invocations[i] == 0 || !safe_load_u64(counters.invocations[i], &now))
            continue;
        /* A full one that a young one turned into counts as both. */
        if (now != jw_load_relaxed(&invocations[i]))
            way = i;
        jw_store_relaxed(&invocations[i], now);
    }
    return way;
}

static bool load_cause(vm_addr addr, char *cause)
{
    return addr != 0 &&
           safe_load_string(cause, COLLECTIONS_CAUSE_BYTES, addr) != SAFE_LOAD_NO_STRING &&
           strcmp(cause, NO_CAUSE) != 0;
}

/* The counters of the heap are those of the collection before, but for what it has committed. */
static void note_heap(void)
{
    uint64_t bytes;

    if (!vm_heap_used(&bytes))
        bytes = 0;
    jw_store_relaxed(&used_before_bytes, bytes);
    jw_store_relaxed(&committed_before_bytes, sum_of(counters.capacity));
}

void collections_start(void)
{
    if (jw_add_relaxed(&depth, 1) != 0)
        return;
    (void)way_since();
    note_heap();
    jw_store_relaxed(&begin_ns, jw_now_ns());
}

void collections_finish(void)
{
    const uint32_t outer = jw_load_relaxed(&depth);
    const uint64_t since_ns = jw_load_relaxed(&begin_ns);

    /* One that had begun before anybody listened. */
    if (outer == 0)
        return;
    jw_store_relaxed(&depth, outer - 1);
    if (outer != 1 || run_generations() == NULL)
        return;

    const uint32_t this_number = jw_add_relaxed(&number, 1) + 1;
    const uint32_t count = jw_load_relaxed(&put_count);
    /* order COLLECTIONS_ROOM: acquires that what lay there was taken. */
    if (count - jw_load_acquire(&taken_count) >= COLLECTIONS_MAX) {
        jw_count(JW_COUNT_COLLECTIONS_UNTOLD);
        return;
    }
    struct collection *to = &ring[count % COLLECTIONS_MAX];
    *to = (struct collection){
        .begin_ns = since_ns,
        .end_ns = jw_now_ns(),
        .used_bytes = sum_of(counters.used),
        .committed_bytes = sum_of(counters.capacity),
        .used_before_bytes = jw_load_relaxed(&used_before_bytes),
        .committed_before_bytes = jw_load_relaxed(&committed_before_bytes),
        .number = this_number,
        .way = way_since(),
    };
    /* Some collectors have taken back by now what they say while they work. */
    if (!load_cause(counters.cause, to->cause) && !load_cause(counters.last_cause, to->cause))
        to->cause[0] = '\0';
    /* order COLLECTIONS_RING: releases the collection. */
    jw_store_release(&put_count, count + 1);
}

uint32_t collections_count(void)
{
    return jw_load_relaxed(&number);
}

bool collections_take(struct collection *out)
{
    const uint32_t count = jw_load_relaxed(&taken_count);

    /* order COLLECTIONS_RING: acquires the collection. */
    if (count == jw_load_acquire(&put_count))
        return false;
    *out = ring[count % COLLECTIONS_MAX];
    /* order COLLECTIONS_ROOM: releases its place. */
    jw_store_release(&taken_count, count + 1);
    return true;
}
