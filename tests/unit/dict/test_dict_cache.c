/* The cache from method addresses to ids: what it may forget, and what it must not say. */
#include "dict/dict_cache.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define BASE_ADDR 0x7f1234560000ull

static struct dict_cache *cache;

static void open_cache(void)
{
    struct jw_error err = {0};

    cache = dict_cache_open(&err);
    cr_assert(cache != NULL, "%s", err.message);
}

static void close_cache(void)
{
    dict_cache_close(cache);
}

TestSuite(dict_cache, .init = open_cache, .fini = close_cache, .timeout = 1800);

Test(dict_cache, finds_what_was_put_and_nothing_else)
{
    cr_assert(eq(u32, dict_cache_find(cache, BASE_ADDR), DICT_NONE));
    dict_cache_put(cache, BASE_ADDR, 17);
    cr_assert(eq(u32, dict_cache_find(cache, BASE_ADDR), 17));
    cr_assert(eq(u32, dict_cache_find(cache, BASE_ADDR + 8), DICT_NONE));
    cr_assert(eq(u32, dict_cache_count(cache), 1));
    dict_cache_put(cache, BASE_ADDR, 17);
    cr_assert(eq(u32, dict_cache_count(cache), 1), "no doubles");
}

Test(dict_cache, carries_the_highest_address_and_the_highest_id)
{
    const uint64_t highest_addr = (1ull << DICT_CACHE_ADDRESS_BITS) - 8;

    dict_cache_put(cache, highest_addr, DICT_CACHE_MAX_ID);
    dict_cache_put(cache, 8, 1);
    cr_assert(eq(u32, dict_cache_find(cache, highest_addr), DICT_CACHE_MAX_ID));
    cr_assert(eq(u32, dict_cache_find(cache, 8), 1));
}

Test(dict_cache, declines_what_a_word_cannot_hold)
{
    dict_cache_put(cache, BASE_ADDR, DICT_NONE);
    dict_cache_put(cache, BASE_ADDR, DICT_CACHE_MAX_ID + 1);
    dict_cache_put(cache, 0, 1);
    dict_cache_put(cache, BASE_ADDR + 4, 1);
    dict_cache_put(cache, 1ull << DICT_CACHE_ADDRESS_BITS, 1);
    cr_assert(eq(u32, dict_cache_count(cache), 0));
    cr_assert(eq(u32, dict_cache_find(cache, 0), DICT_NONE));
    cr_assert(eq(u32, dict_cache_find(cache, BASE_ADDR + 4), DICT_NONE));
    cr_assert(eq(u32, dict_cache_find(cache, 1ull << DICT_CACHE_ADDRESS_BITS), DICT_NONE));
}

Test(dict_cache, the_last_id_put_for_an_address_is_found)
{
    for (uint32_t i = 1; i <= 100; i++)
        dict_cache_put(cache, BASE_ADDR + 8 * i, i);
    dict_cache_put(cache, BASE_ADDR + 8 * 50, 777);
    for (uint32_t i = 1; i <= 100; i++)
        cr_assert(eq(u32, dict_cache_find(cache, BASE_ADDR + 8 * i), i == 50 ? 777 : i));
    cr_assert(eq(u32, dict_cache_count(cache), 100));
}

Test(dict_cache, another_age_forgets_all_and_the_same_age_nothing)
{
    dict_cache_renew(cache, 7);
    dict_cache_put(cache, BASE_ADDR, 1);
    dict_cache_renew(cache, 7);
    cr_assert(eq(u32, dict_cache_find(cache, BASE_ADDR), 1));
    dict_cache_renew(cache, 8);
    cr_assert(eq(u32, dict_cache_find(cache, BASE_ADDR), DICT_NONE));
    dict_cache_put(cache, BASE_ADDR, 2);
    dict_cache_renew(cache, 7); /* of one who looked at the clock before the others */
    cr_assert(eq(u32, dict_cache_find(cache, BASE_ADDR), DICT_NONE));
}

Test(dict_cache, an_overfull_cache_forgets_but_never_lies)
{
    uint32_t found_count = 0;

    for (uint32_t i = 1; i <= 4 * DICT_CACHE_WORDS; i++)
        dict_cache_put(cache, BASE_ADDR + 8 * i, i);
    for (uint32_t i = 1; i <= 4 * DICT_CACHE_WORDS; i++) {
        const dict_id id = dict_cache_find(cache, BASE_ADDR + 8 * i);

        cr_assert(id == DICT_NONE || id == i);
        found_count += id == i;
    }
    cr_assert(eq(u32, found_count, dict_cache_count(cache)));
    cr_assert(ge(u32, found_count, DICT_CACHE_WORDS * 9 / 10 + 1));
    cr_assert(
        eq(u32, dict_cache_find(cache, BASE_ADDR + 8 * 4 * DICT_CACHE_WORDS), 4 * DICT_CACHE_WORDS),
        "the newcomer is in");
}

Test(dict_cache, clear_empties_and_a_hardly_used_cache_gives_its_pages_back)
{
    dict_cache_put(cache, BASE_ADDR, 1);
    dict_cache_clear(cache);
    cr_assert(eq(u32, dict_cache_find(cache, BASE_ADDR), DICT_NONE));
    for (uint32_t i = 1; i <= 5000; i++)
        dict_cache_put(cache, BASE_ADDR + 8 * i, i);
    dict_cache_clear(cache);
    cr_assert(eq(u32, dict_cache_count(cache), 0));
    dict_cache_put(cache, BASE_ADDR, 3);
    cr_assert(eq(u32, dict_cache_find(cache, BASE_ADDR), 3));
}

Test(dict_cache, failed_allocation_is_reported)
{
    struct jw_error err = {0};

    jw_alloc_fail_after(1);
    struct dict_cache *opened = dict_cache_open(&err);
    jw_alloc_fail_after(0);
    cr_assert(opened == NULL);
    cr_assert(strstr(err.message, "method cache") != NULL);
    dict_cache_close(NULL);
}

#define RACE_ROUNDS 30000

/* Others put and find addresses of their own in the sets that the test below puts into. */
static void *put_others(void *arg)
{
    uint32_t *wrong_count = arg;

    for (uint32_t i = 1; i <= RACE_ROUNDS; i++) {
        const uint64_t addr = BASE_ADDR + 8ull * (i % 20000 + 1000);
        const dict_id id = i % 20000 + 1000;

        dict_cache_put(cache, addr, id);
        const dict_id found = dict_cache_find(cache, addr);
        *wrong_count += found != id && found != DICT_NONE;
    }
    return NULL;
}

Test(dict_cache, nobody_finds_the_id_of_another_address_while_others_put)
{
    pthread_t thread;
    uint32_t wrong_count = 0;

    cr_assert(eq(int, pthread_create(&thread, NULL, put_others, &wrong_count), 0));
    for (uint32_t i = 0; i < RACE_ROUNDS; i++) {
        const uint64_t addr = BASE_ADDR + 8ull * (i % 900);
        const dict_id id = i % 900 + 1;

        dict_cache_put(cache, addr, id);
        const dict_id found = dict_cache_find(cache, addr);
        cr_assert(found == id || found == DICT_NONE);
    }
    pthread_join(thread, NULL);
    cr_assert(eq(u32, wrong_count, 0));
}
