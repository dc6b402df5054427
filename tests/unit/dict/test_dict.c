/* Interned strings: identity, limits, exact counters, clearing, races. */
#include "dict/dict.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/counters.h"
#include "base/hash.h"

static struct dict_table *table;

static struct dict_table *open_table(uint32_t max_entries, size_t arena_bytes)
{
    const struct dict_config config = {"test", max_entries, arena_bytes};
    struct jw_error err = {0};
    struct dict_table *opened = dict_open(&config, &err);

    cr_assert(opened != NULL, "%s", err.message);
    return opened;
}

static void open_small(void)
{
    table = open_table(1000, 1 << 20);
}

static void reopen(uint32_t max_entries, size_t arena_bytes)
{
    dict_close(table);
    table = open_table(max_entries, arena_bytes);
}

static void close_table(void)
{
    dict_close(table);
}

static dict_id intern(const char *text)
{
    return dict_intern(table, text, strlen(text));
}

static dict_id intern_number(unsigned number)
{
    char text[24];
    const int length = snprintf(text, sizeof text, "class.%u", number);

    return dict_intern(table, text, (size_t)length);
}

static struct dict_stats stats_now(void)
{
    struct dict_stats stats;

    dict_stats(table, &stats);
    return stats;
}

TestSuite(dict, .init = open_small, .fini = close_table, .timeout = 1800);

Test(dict, equal_bytes_get_equal_ids_and_others_do_not)
{
    const dict_id first = intern("java/lang/String");

    cr_assert(eq(u32, first, 1));
    cr_assert(eq(u32, intern("java/lang/Object"), 2));
    cr_assert(eq(u32, intern("java/lang/String"), first));
    cr_assert(eq(u32, intern("java/lang/Strin"), 3));
    cr_assert(eq(u32, stats_now().key_count, 3));
    cr_assert(eq(u64, stats_now().key_bytes, 16 + 16 + 15));
    cr_assert(eq(u32, dict_last_id(table), 3));
}

Test(dict, find_sees_what_intern_added_and_adds_nothing)
{
    cr_assert(eq(u32, dict_find(table, "a", 1), DICT_NONE));
    const dict_id id = intern("a");
    cr_assert(eq(u32, dict_find(table, "a", 1), id));
    cr_assert(eq(u32, dict_find(table, "b", 1), DICT_NONE));
    cr_assert(eq(u32, stats_now().key_count, 1));
    cr_assert(eq(u64, stats_now().refused_count, 0));
}

Test(dict, text_gives_the_bytes_back_on_an_8_byte_boundary)
{
    const char *texts[] = {"", "a", "abcdefg", "abcdefgh", "abcdefghi"};

    for (size_t i = 0; i < JW_COUNT_OF(texts); i++) {
        const dict_id id = intern(texts[i]);
        size_t length_bytes = 77;
        const char *text = dict_text(table, id, &length_bytes);

        cr_assert(text != NULL);
        cr_assert(eq(sz, length_bytes, strlen(texts[i])));
        cr_assert(eq(int, memcmp(text, texts[i], length_bytes), 0));
        cr_assert(eq(sz, (uintptr_t)text % 8, 0));
    }
}

Test(dict, text_of_what_is_no_id_is_null)
{
    size_t length_bytes = 77;

    intern("a");
    cr_assert(dict_text(table, DICT_NONE, &length_bytes) == NULL);
    cr_assert(eq(sz, length_bytes, 0));
    cr_assert(dict_text(table, 2, &length_bytes) == NULL);
    cr_assert(dict_text(table, UINT32_MAX, &length_bytes) == NULL);
}

Test(dict, strings_may_hold_zeroes_and_be_empty)
{
    const dict_id empty = dict_intern(table, NULL, 0);
    const dict_id zero = dict_intern(table, "\0", 1);
    const dict_id two = dict_intern(table, "\0\0", 2);

    cr_assert(ne(u32, empty, DICT_NONE));
    cr_assert(ne(u32, zero, empty));
    cr_assert(ne(u32, two, zero));
    cr_assert(eq(u32, dict_intern(table, "", 0), empty));
    cr_assert(eq(u32, dict_find(table, "\0\0", 2), two));
}

Test(dict, strings_may_be_64_KiB_long_and_not_more)
{
    static char text[DICT_MAX_BYTES + 1];
    const uint64_t full = jw_counter(JW_COUNT_DICT_FULL);

    memset(text, 'x', sizeof text);
    const dict_id id = dict_intern(table, text, DICT_MAX_BYTES);
    cr_assert(ne(u32, id, DICT_NONE));
    cr_assert(eq(u32, dict_find(table, text, DICT_MAX_BYTES), id));
    cr_assert(eq(u32, dict_intern(table, text, DICT_MAX_BYTES + 1), DICT_NONE));
    cr_assert(eq(u32, dict_find(table, text, DICT_MAX_BYTES + 1), DICT_NONE));
    cr_assert(eq(u64, jw_counter(JW_COUNT_DICT_FULL), full + 1));
    cr_assert(eq(u64, stats_now().refused_count, 1));
}

Test(dict, full_table_takes_its_number_of_entries_and_counts_the_rest)
{
    const uint64_t full = jw_counter(JW_COUNT_DICT_FULL);

    for (unsigned i = 0; i < 1000; i++)
        cr_assert(eq(u32, intern_number(i), i + 1));
    for (unsigned i = 1000; i < 11000; i++)
        cr_assert(eq(u32, intern_number(i), DICT_NONE));
    cr_assert(eq(u64, jw_counter(JW_COUNT_DICT_FULL), full + 10000));
    cr_assert(eq(u64, stats_now().refused_count, 10000));
    cr_assert(eq(u32, stats_now().key_count, 1000));
    for (unsigned i = 0; i < 1000; i++)
        cr_assert(eq(u32, intern_number(i), i + 1));
}

Test(dict, m48_a_table_of_eight_survives_a_million_keys)
{
    const uint64_t full = jw_counter(JW_COUNT_DICT_FULL);
    const uint64_t limit = jw_counter(JW_COUNT_DICT_PROBE_LIMIT);

    reopen(8, 4096);
    for (unsigned i = 0; i < 1000000; i++)
        intern_number(i);
    cr_assert(eq(u32, stats_now().key_count, 8));
    cr_assert(eq(u64, jw_counter(JW_COUNT_DICT_FULL), full + 1000000 - 8));
    cr_assert(eq(u64, jw_counter(JW_COUNT_DICT_PROBE_LIMIT), limit));
}

Test(dict, full_arena_refuses_and_counts_but_finds)
{
    char text[1000];
    const uint64_t full = jw_counter(JW_COUNT_DICT_FULL);

    reopen(1000, 8192);
    for (unsigned i = 0; i < 20; i++) {
        memset(text, 'a' + (int)i, sizeof text);
        cr_assert(eq(u32, dict_intern(table, text, sizeof text), i < 8 ? i + 1 : DICT_NONE));
    }
    cr_assert(eq(u64, jw_counter(JW_COUNT_DICT_FULL), full + 12));
    cr_assert(eq(u64, stats_now().arena_bytes, 8 * 1008));
    cr_assert(eq(u32, dict_last_id(table), 8), "no id is spent on what is refused");
    memset(text, 'a', sizeof text);
    cr_assert(eq(u32, dict_intern(table, text, sizeof text), 1));
}

Test(dict, m48_probe_limit_refuses_and_counts)
{
    /* Numbers whose hashes want one and the same slot of the 2048 of this table. */
    const uint64_t limit = jw_counter(JW_COUNT_DICT_PROBE_LIMIT);
    const uint64_t full = jw_counter(JW_COUNT_DICT_FULL);
    uint64_t key = 0;

    for (unsigned count = 0; count < DICT_PROBES + 3; key++) {
        if (jw_hash64(&key, sizeof key) % 2048 != 5)
            continue;
        const dict_id id = dict_intern(table, &key, sizeof key);
        cr_assert(eq(u32, id, count < DICT_PROBES ? count + 1 : DICT_NONE));
        cr_assert(eq(u32, dict_find(table, &key, sizeof key), id));
        count++;
    }
    cr_assert(eq(u64, jw_counter(JW_COUNT_DICT_PROBE_LIMIT), limit + 3));
    cr_assert(eq(u64, jw_counter(JW_COUNT_DICT_FULL), full));
    cr_assert(eq(u64, stats_now().refused_count, 3));
    cr_assert(eq(u32, stats_now().key_count, DICT_PROBES));
}

Test(dict, bounded_intern_finds_but_adds_nothing_beyond_the_bound)
{
    const uint64_t full = jw_counter(JW_COUNT_DICT_FULL);

    cr_assert(eq(u32, dict_intern_bounded(table, "a", 1, 2), 1));
    cr_assert(eq(u32, dict_intern_bounded(table, "b", 1, 2), 2));
    cr_assert(eq(u32, dict_intern_bounded(table, "c", 1, 2), DICT_NONE));
    cr_assert(eq(u32, dict_intern_bounded(table, "a", 1, 2), 1));
    cr_assert(eq(u32, dict_intern_bounded(table, "a", 1, 0), 1));
    cr_assert(eq(u64, jw_counter(JW_COUNT_DICT_FULL), full + 1));
    cr_assert(eq(u32, intern("c"), 3));
}

struct visited {
    dict_id next_id;
    unsigned wrong_count;
};

static void check_number(dict_id id, const void *text, size_t length_bytes, void *arg)
{
    struct visited *visited = arg;
    char wanted[24];
    const int length = snprintf(wanted, sizeof wanted, "class.%u", id - 1);

    visited->wrong_count += id != visited->next_id++ || length_bytes != (size_t)length ||
                            memcmp(text, wanted, length_bytes) != 0;
}

Test(dict, each_visits_every_string_once_by_rising_id)
{
    struct visited visited = {.next_id = 1};

    for (unsigned i = 0; i < 700; i++)
        intern_number(i);
    cr_assert(eq(u32, dict_each(table, check_number, &visited), 700));
    cr_assert(eq(uint, visited.wrong_count, 0));
    cr_assert(eq(u32, visited.next_id, 701));
}

Test(dict, clear_forgets_everything_and_ids_start_anew)
{
    size_t length_bytes;

    for (int life = 0; life < 5; life++) {
        for (unsigned i = 0; i < 900; i++)
            cr_assert(eq(u32, intern_number((unsigned)life * 10000 + i), i + 1));
        dict_clear(table);
        cr_assert(eq(u32, dict_last_id(table), 0));
        cr_assert(dict_text(table, 1, &length_bytes) == NULL);
        for (unsigned i = 0; i < 900; i++) {
            char text[24];
            const int length = snprintf(text, sizeof text, "class.%u", (unsigned)life * 10000 + i);

            cr_assert(eq(u32, dict_find(table, text, (size_t)length), DICT_NONE));
        }
        cr_assert(eq(u32, stats_now().key_count, 0));
        cr_assert(eq(u64, stats_now().key_bytes, 0));
        cr_assert(eq(u64, stats_now().arena_bytes, 0));
    }
}

Test(dict, config_out_of_range_is_refused_with_a_reason)
{
    const struct dict_config bad[] = {
        {"bad", 0, 4096},
        {"bad", DICT_MAX_ENTRIES + 1, 4096},
        {"bad", 10, 10},
        {"bad", 10, (size_t)1 << 40},
    };

    for (size_t i = 0; i < JW_COUNT_OF(bad); i++) {
        struct jw_error err = {0};

        cr_assert(dict_open(&bad[i], &err) == NULL);
        cr_assert(strstr(err.message, "bad") != NULL);
        cr_assert(strstr(err.message, "try") != NULL);
    }
}

Test(dict, failed_allocation_is_reported)
{
    const struct dict_config config = {"names", 10, 4096};
    struct jw_error err = {0};

    jw_alloc_fail_after(1);
    struct dict_table *opened = dict_open(&config, &err);
    jw_alloc_fail_after(0);
    cr_assert(opened == NULL);
    cr_assert(strstr(err.message, "names") != NULL);
    dict_close(NULL);
}

/* Resident pages below `bytes`, as the kernel counts them. */
static size_t resident_pages(const void *start, size_t bytes)
{
    static unsigned char pages[4096];
    const size_t count = bytes / 4096;
    size_t resident = 0;

    cr_assert(le(sz, count, sizeof pages));
    const uintptr_t page = (uintptr_t)start / 4096 * 4096;
    cr_assert(eq(int, mincore((void *)page, bytes, pages), 0));
    for (size_t i = 0; i < count; i++)
        resident += pages[i] & 1;
    return resident;
}

static const void *fill_arena(size_t bytes)
{
    static char text[4096 - 8];
    size_t length_bytes;

    for (size_t i = 0; i < bytes / 4096; i++) {
        memcpy(text, &i, sizeof i);
        cr_assert(eq(u32, dict_intern(table, text, sizeof text), i + 1));
    }
    return dict_text(table, 1, &length_bytes);
}

Test(dict, clear_keeps_pages_for_an_even_load_and_gives_a_spike_back_in_time)
{
    const size_t spike_bytes = (size_t)8 << 20;
    const size_t even_bytes = (size_t)1 << 20;

    reopen(10000, spike_bytes);
    const void *arena = fill_arena(even_bytes);
    dict_clear(table);
    cr_assert(eq(sz, resident_pages(arena, spike_bytes), even_bytes / 4096), "even load");

    fill_arena(spike_bytes);
    dict_clear(table);
    cr_assert(eq(sz, resident_pages(arena, spike_bytes), spike_bytes / 4096), "spike");
    for (int life = 0; life < 30; life++) {
        fill_arena(even_bytes);
        dict_clear(table);
    }
    cr_assert(eq(sz, resident_pages(arena, spike_bytes), even_bytes / 4096), "after the spike");
}

/* More keys than near slots, twice over a clear: each is found, none is lost on the way to the far part. */
Test(dict, a_great_load_of_a_large_table_finds_every_key)
{
    reopen(200000, (size_t)16 << 20);
    for (int life = 0; life < 2; life++) {
        for (uint32_t i = 0; i < 100000; i++)
            cr_assert(eq(u32, dict_intern(table, &i, sizeof i), i + 1));
        for (uint32_t i = 0; i < 100000; i++)
            cr_assert(eq(u32, dict_find(table, &i, sizeof i), i + 1));
        dict_clear(table);
        cr_assert(eq(u32, dict_find(table, &life, sizeof life), DICT_NONE));
    }
}

/* What a clear left in the far part would fill it, life by life. */
Test(dict, a_clear_after_a_great_load_leaves_no_key_behind)
{
    reopen(20000, (size_t)1 << 20);
    for (uint32_t life = 0; life < 20; life++) {
        for (uint32_t i = 0; i < 15000; i++) {
            const uint32_t key = life * 15000 + i;

            cr_assert(eq(u32, dict_intern(table, &key, sizeof key), i + 1));
        }
        dict_clear(table);
    }
}

#define RACERS    4
#define RACE_KEYS 20000

struct racer {
    pthread_barrier_t *start;
    struct dict_table *shared;
    dict_id ids[RACE_KEYS];
};

static void *race(void *arg)
{
    struct racer *racer = arg;

    pthread_barrier_wait(racer->start);
    for (uint32_t i = 0; i < RACE_KEYS; i++)
        racer->ids[i] = dict_intern(racer->shared, &i, sizeof i);
    return NULL;
}

Test(dict, racing_threads_get_equal_ids_for_equal_bytes)
{
    struct racer *racers = calloc(RACERS, sizeof *racers);
    pthread_t threads[RACERS];
    pthread_barrier_t start;

    reopen(RACERS * RACE_KEYS, 4 << 20); /* each may lose each race, and an id with it */
    pthread_barrier_init(&start, NULL, RACERS);
    for (int i = 0; i < RACERS; i++) {
        racers[i].start = &start;
        racers[i].shared = table;
        cr_assert(eq(int, pthread_create(&threads[i], NULL, race, &racers[i]), 0));
    }
    for (int i = 0; i < RACERS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < RACE_KEYS; i++) {
        size_t length_bytes;
        const uint32_t *text = dict_text(table, racers[0].ids[i], &length_bytes);

        cr_assert(text != NULL);
        cr_assert(eq(u32, *text, i));
        for (int j = 1; j < RACERS; j++)
            cr_assert(eq(u32, racers[j].ids[i], racers[0].ids[i]));
    }

    /* Each id is a string's or the waste of a lost race; waste is counted to the byte. */
    const struct dict_stats stats = stats_now();
    cr_assert(eq(u32, stats.key_count, RACE_KEYS));
    cr_assert(eq(u64, stats.waste_bytes, (dict_last_id(table) - RACE_KEYS) * 16ull));
    cr_assert(eq(u64, stats.arena_bytes, RACE_KEYS * 16ull + stats.waste_bytes));
    cr_assert(eq(u64, stats.refused_count, 0));
    pthread_barrier_destroy(&start);
    free(racers);
}

/* Threads that intern keys of many lengths, partly the same ones, into a table that is too small. */
struct filler {
    pthread_barrier_t *start;
    unsigned seed;
    uint64_t refused_count;
};

#define FILL_ROUNDS 4000

static size_t length_of(unsigned number)
{
    return sizeof number + number * 7 % 90;
}

static void *fill(void *arg)
{
    struct filler *filler = arg;
    char text[128] = {0};

    pthread_barrier_wait(filler->start);
    for (unsigned i = 0; i < FILL_ROUNDS; i++) {
        const unsigned number = i + filler->seed % 2 * 1000;

        memcpy(text, &number, sizeof number);
        filler->refused_count += dict_intern(table, text, length_of(number)) == DICT_NONE;
    }
    return NULL;
}

struct sums {
    uint64_t keys;
    uint64_t bytes;
    uint64_t arena_bytes;
};

static void add_key(dict_id id, const void *text, size_t length_bytes, void *arg)
{
    struct sums *sums = arg;

    (void)id;
    (void)text;
    sums->keys++;
    sums->bytes += length_bytes;
    sums->arena_bytes += 8 + (length_bytes + 7) / 8 * 8;
}

static void run_fillers(struct filler *fillers, unsigned life)
{
    pthread_t threads[RACERS];
    pthread_barrier_t start;

    pthread_barrier_init(&start, NULL, RACERS);
    for (unsigned i = 0; i < RACERS; i++) {
        fillers[i] = (struct filler){.start = &start, .seed = life + i};
        cr_assert(eq(int, pthread_create(&threads[i], NULL, fill, &fillers[i]), 0));
    }
    for (unsigned i = 0; i < RACERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
}

static void check_figures_of_a_full_table(uint32_t max_entries, size_t arena_bytes)
{
    const uint64_t full = jw_counter(JW_COUNT_DICT_FULL);
    uint64_t refused_total = 0, keys_total = 0, bytes_total = 0, waste_total = 0;

    reopen(max_entries, arena_bytes);
    for (unsigned life = 0; life < 6; life++) {
        struct filler fillers[RACERS];
        struct sums sums = {0};
        uint64_t refused_count = 0;

        run_fillers(fillers, life);
        for (unsigned i = 0; i < RACERS; i++)
            refused_count += fillers[i].refused_count;
        dict_each(table, add_key, &sums);

        const struct dict_stats stats = stats_now();
        cr_assert(ge(u64, refused_count, 1));
        cr_assert(eq(u64, stats.refused_count, refused_count));
        cr_assert(eq(u64, stats.key_count, sums.keys));
        cr_assert(eq(u64, stats.key_bytes, sums.bytes));
        cr_assert(eq(u64, stats.arena_bytes, sums.arena_bytes + stats.waste_bytes));
        refused_total += refused_count;
        keys_total += sums.keys;
        bytes_total += sums.bytes;
        waste_total += stats.waste_bytes;
        dict_clear(table);
    }
    const struct dict_stats stats = stats_now();
    cr_assert(eq(u64, stats.refused_count, 0));
    cr_assert(eq(u64, stats.key_count, 0));
    cr_assert(eq(u64, stats.waste_bytes, 0));
    cr_assert(eq(u64, stats.refused_total, refused_total), "no refusal vanishes with a clear");
    cr_assert(eq(u64, jw_counter(JW_COUNT_DICT_FULL), full + refused_total));
    cr_assert(eq(u64, stats.keys_total, keys_total));
    cr_assert(eq(u64, stats.key_bytes_total, bytes_total));
    cr_assert(eq(u64, stats.waste_bytes_total, waste_total));
    cr_assert(eq(u64, stats.clears_total, 6));
}

Test(dict, figures_are_exact_when_racing_threads_fill_the_arena)
{
    check_figures_of_a_full_table(10000, 60000);
}

Test(dict, figures_are_exact_when_racing_threads_use_all_ids_up)
{
    check_figures_of_a_full_table(900, (size_t)1 << 20);
}
