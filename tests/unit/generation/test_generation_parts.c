/* What dictionaries and traces of all generations hold and refused, over rotations and clears. */
#include "generation/generation_parts.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define TID 4711

static struct generations *generations;

static void open_small(void)
{
    const struct generations_config config = {.memory_bytes = GENERATIONS_MIN_BYTES};
    struct jw_error err = {0};

    generations = generations_open(&config, &err);
    cr_assert(generations != NULL, "%s", err.message);
}

static void close_generations(void)
{
    generations_close(generations);
}

static struct generation_part_stats stats_of(enum generation_part part)
{
    struct generation_part_stats stats;

    generation_part_stats(generations, part, &stats);
    return stats;
}

static struct dict_table *dict_of(struct generation *generation, enum generation_part part)
{
    struct dict_table *const tables[] = {
        [GENERATION_CLASSES] = generation->classes,
        [GENERATION_SYMBOLS] = generation->symbols,
        [GENERATION_METHODS] = generation->methods,
        [GENERATION_ENDPOINTS] = generation->endpoints,
        [GENERATION_VALUES] = generation->values,
        [GENERATION_CONTEXTS] = generation->contexts,
        [GENERATION_PAYLOADS] = generation->payloads,
    };

    return tables[part];
}

static bool take_none(struct generation *generation, void *arg)
{
    (void)generation;
    (void)arg;
    return true;
}

static void turn(void)
{
    cr_assert(generations_rotate(generations) != NULL);
    cr_assert(eq(u32, generations_retire(generations, take_none, NULL), 1));
}

TestSuite(generation_parts, .init = open_small, .fini = close_generations, .timeout = 1800);

Test(generation_parts, each_dictionary_has_a_name_and_figures_of_its_own)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, TID, &ticket);
    char text[GENERATION_PART_LIMIT] = "abcdefg";

    for (int part = 0; part < GENERATION_TRACES; part++) {
        cr_assert(eq(u64, stats_of((enum generation_part)part).keys_total, 0));
        cr_assert(
            ne(u32,
               dict_intern(dict_of(generation, (enum generation_part)part), text, (size_t)part + 1),
               DICT_NONE));
        const struct generation_part_stats stats = stats_of((enum generation_part)part);
        cr_assert(eq(u64, stats.key_count, 1));
        cr_assert(eq(u64, stats.key_bytes, (uint64_t)part + 1));
        cr_assert(eq(u64, stats.arena_bytes, 16));
        cr_assert(ge(u64, stats.arena_pages, 1));
        for (int other = 0; other < part; other++)
            cr_assert_str_neq(generation_part_name((enum generation_part)part),
                              generation_part_name((enum generation_part)other));
    }
    generation_leave(generations, &ticket);
}

Test(generation_parts, traces_count_as_keys_and_frames_as_their_bytes)
{
    const jw_frame frames[3] = {jw_frame_native(1), jw_frame_native(2), jw_frame_native(3)};
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, TID, &ticket);

    store_put(generation->traces, frames, 3, 0);
    store_put(generation->traces, frames, 2, 0);
    generation_leave(generations, &ticket);
    cr_assert(eq(u64, stats_of(GENERATION_TRACES).key_count, 2));
    cr_assert(eq(u64, stats_of(GENERATION_TRACES).key_bytes, 5 * sizeof(jw_frame)));
}

Test(generation_parts, a_clear_resets_the_figures_and_no_total)
{
    static char too_long[DICT_MAX_BYTES + 1];

    for (unsigned life = 0; life < 9; life++) {
        struct epoch_ticket ticket;
        struct generation *generation = generation_enter(generations, TID, &ticket);

        cr_assert(ne(u32, dict_intern(generation->classes, "one", 3), DICT_NONE));
        cr_assert(ne(u32, dict_intern(generation->classes, "three", 5), DICT_NONE));
        cr_assert(eq(u32, dict_intern(generation->classes, too_long, sizeof too_long), DICT_NONE));
        generation_leave(generations, &ticket);

        const struct generation_part_stats stats = stats_of(GENERATION_CLASSES);
        cr_assert(eq(u64, stats.key_count, 2));
        cr_assert(eq(u64, stats.key_bytes, 8));
        cr_assert(eq(u64, stats.refused_count, 1));
        cr_assert(eq(u64, stats.keys_total, 2 * (life + 1)));
        cr_assert(eq(u64, stats.key_bytes_total, 8 * (life + 1)));
        cr_assert(eq(u64, stats.refused_total, life + 1));
        cr_assert(eq(u64, stats.clears_total, life));
        turn();
        cr_assert(eq(u64, stats_of(GENERATION_CLASSES).key_count, 0));
        cr_assert(eq(u64, stats_of(GENERATION_CLASSES).refused_count, 0));
        cr_assert(eq(u64, stats_of(GENERATION_CLASSES).refused_total, life + 1));
    }
}
