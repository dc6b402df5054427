/* Memory of the generations, as the kernel counts it: flat under an even load, and given back after a spike. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "generation/generation.h"

#define TID        4711
#define PAGE_BYTES 4096u
#define MAX_RANGES 4096
#define MAX_PAGES  65536u
#define EVEN_KEYS  1500
#define SPIKE_KEYS 1000000
#define EVEN_LIVES 60
/* What a reset never gives back, by arena (base/arena.c): two of each dictionary and of the traces. */
#define KEPT_KIB (EPOCH_BUFFERS * 7 * 2 * 64u)
#define AFTER_LIVES                                                                                \
    210 /* seventy of each buffer: an eighth less each time leaves a ten-thousandth */

struct range {
    uintptr_t begin, end;
};

struct ranges {
    struct range list[MAX_RANGES];
    size_t count;
};

static struct generations *generations;
static struct ranges ours;

static void read_ranges(struct ranges *out)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];

    cr_assert(maps != NULL);
    out->count = 0;
    while (fgets(line, sizeof line, maps) != NULL) {
        struct range range;

        cr_assert(lt(sz, out->count, MAX_RANGES));
        cr_assert(eq(int, sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &range.begin, &range.end), 2));
        out->list[out->count++] = range;
    }
    fclose(maps);
}

static bool is_in(const struct ranges *ranges, uintptr_t addr)
{
    for (size_t i = 0; i < ranges->count; i++)
        if (addr >= ranges->list[i].begin && addr < ranges->list[i].end)
            return true;
    return false;
}

/* What is mapped now and was not before, page by page: mappings side by side are told as one. */
static void keep_what_is_new(const struct ranges *before)
{
    static struct ranges after;

    read_ranges(&after);
    ours.count = 0;
    for (size_t i = 0; i < after.count; i++) {
        /* Shadow memory of sanitizers; nobody maps that much with a budget of 64 MiB. */
        if (after.list[i].end - after.list[i].begin > (uintptr_t)1 << 30)
            continue;
        for (uintptr_t page = after.list[i].begin; page < after.list[i].end; page += PAGE_BYTES) {
            if (is_in(before, page))
                continue;
            if (ours.count > 0 && ours.list[ours.count - 1].end == page)
                ours.list[ours.count - 1].end += PAGE_BYTES;
            else
                ours.list[ours.count++] = (struct range){page, page + PAGE_BYTES};
            cr_assert(lt(sz, ours.count, MAX_RANGES));
        }
    }
}

static void open_default(void)
{
    static struct ranges before;
    const struct generations_config config = {0};
    struct jw_error err = {0};

    read_ranges(&before);
    generations = generations_open(&config, &err);
    cr_assert(generations != NULL, "%s", err.message);
    keep_what_is_new(&before);
}

static void close_generations(void)
{
    generations_close(generations);
}

static uint64_t resident_kib(void)
{
    static unsigned char pages[MAX_PAGES];
    uint64_t count = 0;

    for (size_t i = 0; i < ours.count; i++) {
        const size_t bytes = ours.list[i].end - ours.list[i].begin;

        cr_assert(le(sz, bytes / PAGE_BYTES, MAX_PAGES));
        cr_assert(eq(int, mincore((void *)ours.list[i].begin, bytes, pages), 0));
        for (size_t j = 0; j < bytes / PAGE_BYTES; j++)
            count += pages[j] & 1;
    }
    return count * PAGE_BYTES / 1024;
}

static bool take_none(struct generation *generation, void *arg)
{
    (void)generation;
    (void)arg;
    return true;
}

static void fill_dicts(struct generation *generation, uint32_t count, uint32_t first)
{
    struct dict_table *const tables[] = {generation->classes, generation->symbols,
                                         generation->methods, generation->endpoints,
                                         generation->values,  generation->contexts};

    for (size_t i = 0; i < JW_COUNT_OF(tables); i++)
        for (uint32_t number = 0; number < count; number++) {
            unsigned char name[40] = "what a name is like, more or less: ";

            memcpy(name + 36, &(uint32_t){first + number}, 4);
            if (dict_intern(tables[i], name, sizeof name) == DICT_NONE)
                break;
        }
}

static void fill_traces(struct generation *generation, uint32_t count, uint32_t first)
{
    for (uint32_t number = 0; number < count; number++) {
        const jw_frame frames[] = {jw_frame_native(first + number), jw_frame_native(2),
                                   jw_frame_native(3), jw_frame_native(4)};

        if (store_put(generation->traces, frames, JW_COUNT_OF(frames), 0) == STORE_NONE)
            break;
    }
}

/* One life with this many names of each kind and as many traces, none of them seen before; then the next one. */
static void live(uint32_t count)
{
    static uint32_t first;
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, TID, &ticket);

    cr_assert(generation != NULL);
    fill_dicts(generation, count, first);
    fill_traces(generation, count, first);
    generation_leave(generations, &ticket);
    first += count;
    cr_assert(generations_rotate(generations) != NULL);
    cr_assert(eq(u32, generations_retire(generations, take_none, NULL), 1));
}

static void live_evenly(int lives)
{
    for (int life = 0; life < lives; life++)
        live(EVEN_KEYS);
}

TestSuite(generation_memory, .init = open_default, .fini = close_generations, .timeout = 1800);

Test(generation_memory, an_idle_agent_has_less_than_two_mebibytes)
{
    const uint64_t opened_kib = resident_kib();

    cr_assert(ge(u64, opened_kib, 256), "the ranges are looked for in the wrong place");
    cr_assert(le(u64, opened_kib, 2048));
    for (int life = 0; life < 30; life++)
        live(0);
    cr_assert(le(u64, resident_kib(), opened_kib), "turns alone cost memory");
}

Test(generation_memory, m49_an_even_load_keeps_it_flat)
{
    live_evenly(6);
    const uint64_t before_kib = resident_kib();

    live_evenly(EVEN_LIVES);
    cr_assert(le(u64, resident_kib(), before_kib + before_kib / 10));
}

Test(generation_memory, m49_a_spike_is_given_back)
{
    live_evenly(EVEN_LIVES);
    const uint64_t before_kib = resident_kib();

    for (int i = 0; i < EPOCH_BUFFERS; i++)
        live(SPIKE_KEYS);
    const uint64_t spike_kib = resident_kib();
    cr_assert(ge(u64, spike_kib, 4 * (before_kib + KEPT_KIB)), "that was no spike");
    live_evenly(AFTER_LIVES);
    cr_assert(le(u64, resident_kib(), before_kib + KEPT_KIB));
    const uint64_t after_kib = resident_kib();
    live_evenly(EVEN_LIVES);
    cr_assert(le(u64, resident_kib(), after_kib), "it does not come back");
}
