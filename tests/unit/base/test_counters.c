/* The counters: names that are usable everywhere, and no unit lost. */
#include "base/counters.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <ctype.h>
#include <pthread.h>
#include <string.h>

#include "base/jw.h"

TestSuite(counters, .timeout = 1800);

Test(counters, every_counter_has_a_name_a_field_and_a_text_of_its_own)
{
    for (int i = 0; i < JW_COUNT_LIMIT; i++) {
        const struct jw_counter_info *info = &jw_counter_infos[i];

        cr_assert(info->name != NULL && info->field != NULL && info->text != NULL);
        cr_assert(ge(sz, strlen(info->text), 11));
        for (int j = 0; j < i; j++) {
            cr_assert(strcmp(info->name, jw_counter_infos[j].name) != 0, "%s", info->name);
            cr_assert(strcmp(info->field, jw_counter_infos[j].field) != 0, "%s", info->field);
        }
    }
}

/*
 * LOST_NO_CELL is lostNoCell: who reads one finds the other. HANDLER_NS is handlerTime: the event's
 * field carries the unit beside its name.
 */
Test(counters, the_field_is_the_name_in_camel_case)
{
    for (int i = 0; i < JW_COUNT_LIMIT; i++) {
        const struct jw_counter_info *info = &jw_counter_infos[i];
        char camel[64];
        size_t used = 0;
        bool is_start = false;

        for (const char *c = info->name; *c != '\0' && used + 3 < sizeof camel; c++) {
            if (*c == '_') {
                is_start = true;
                continue;
            }
            camel[used++] = (char)(is_start ? *c : tolower((unsigned char)*c));
            is_start = false;
        }
        camel[used] = '\0';
        if (used > 2 && strcmp(camel + used - 2, "Ns") == 0)
            memcpy(camel + used - 2, "Time", sizeof "Time");
        cr_assert(strcmp(camel, info->field) == 0, "%s has the field %s", info->name, info->field);
    }
}

Test(counters, the_terms_of_the_law_are_those_called_lost_and_spared)
{
    unsigned losses = 0;

    for (int i = 0; i < JW_COUNT_LIMIT; i++) {
        const bool is_called_lost = strncmp(jw_counter_infos[i].name, "LOST_", 5) == 0;

        const bool is_called_spared = strncmp(jw_counter_infos[i].name, "SPARED_", 7) == 0;

        cr_assert(jw_counter_infos[i].is_loss == is_called_lost, "%s", jw_counter_infos[i].name);
        cr_assert(jw_counter_infos[i].is_spared == is_called_spared, "%s",
                  jw_counter_infos[i].name);
        losses += jw_counter_infos[i].is_loss;
    }
    cr_assert(ge(uint, losses, 1));
    cr_assert(not(jw_counter_infos[JW_COUNT_SIGNALS].is_loss));
    cr_assert(not(jw_counter_infos[JW_COUNT_SAMPLES].is_loss));
}

Test(counters, counting_one_leaves_the_others)
{
    jw_count(JW_COUNT_SAMPLES);
    jw_count_add(JW_COUNT_SAMPLES, 41);
    for (int i = 0; i < JW_COUNT_LIMIT; i++)
        cr_assert(eq(u64, jw_counter((enum jw_counter_id)i), i == JW_COUNT_SAMPLES ? 42 : 0));
}

#define COUNTS_PER_THREAD 20000
#define THREADS           4

/* A signal first, then its outcome, as the handler does. */
static void *count_signals(void *unused)
{
    for (int i = 0; i < COUNTS_PER_THREAD; i++) {
        jw_count(JW_COUNT_SIGNALS);
        jw_count(i % 4 == 0 ? JW_COUNT_LOST_REENTRY : JW_COUNT_SAMPLES);
    }
    return unused;
}

Test(counters, outcomes_never_overtake_signals_and_none_is_lost)
{
    pthread_t threads[THREADS];
    uint64_t outcomes = 0;

    for (int i = 0; i < THREADS; i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, count_signals, NULL), 0));
    while (outcomes < (uint64_t)THREADS * COUNTS_PER_THREAD) {
        outcomes = jw_counter(JW_COUNT_SAMPLES) + jw_counter(JW_COUNT_LOST_REENTRY);
        cr_assert(ge(u64, jw_counter(JW_COUNT_SIGNALS), outcomes));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_assert(eq(u64, jw_counter(JW_COUNT_SIGNALS), (uint64_t)THREADS * COUNTS_PER_THREAD));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_REENTRY), THREADS * COUNTS_PER_THREAD / 4));
}
