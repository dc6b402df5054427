/* jaywalk.Dictionary: what it says, over clears, and from where it counts. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "support/jfr_check.h"

static char directory[] = "/tmp/jaywalk-recording-XXXXXX";
static char path[64];
static struct jw_error err;
static struct generations *generations;

static void set_up(void)
{
    const struct generations_config memory = {.memory_bytes = GENERATIONS_MIN_BYTES};

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    generations = generations_open(&memory, &err);
    cr_assert_not_null(generations);
}

static void tear_down(void)
{
    generations_close(generations);
    unlink(path);
    cr_expect_eq(rmdir(directory), 0);
}

TestSuite(recording_dictionaries, .init = set_up, .fini = tear_down, .timeout = 1800);

static bool ask_part(void *context, enum generation_part part, struct generation_part_stats *out)
{
    (void)context;
    if (generations == NULL)
        return false;
    generation_part_stats(generations, part, out);
    return true;
}

static struct recording *open_jfr(void)
{
    struct recording_config config = made_config(path, RECORDING_JFR);

    config.sources.part = ask_part;
    struct recording *recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    return recording;
}

static void close_sound(struct recording *recording)
{
    struct jfr_check check;

    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_expect(jfr_check_file(path, &check), "%s", check.problem);
}

/* Interns `kept` endpoints and tries `refused` that are too long. */
static void name_endpoints(unsigned kept, unsigned refused)
{
    static char too_long[DICT_MAX_BYTES + 1];
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);

    for (unsigned i = 0; i < kept; i++)
        cr_assert_neq(dict_intern(generation->endpoints, &i, sizeof i), DICT_NONE);
    for (unsigned i = 0; i < refused; i++)
        cr_assert_eq(dict_intern(generation->endpoints, too_long, sizeof too_long), DICT_NONE);
    generation_leave(generations, &ticket);
}

static bool is_of(const struct jfr_reader_event *event, const char *name)
{
    struct jfr_text text = {0};
    struct jfr_value value;
    const bool is_same = strcmp(event->type_name, "jaywalk.Dictionary") == 0 &&
                         jfr_value_field(&event->value, "name", &value) &&
                         jfr_value_text(&value, &text) && strcmp(text.text, name) == 0;

    jfr_text_free(&text);
    return is_same;
}

/* Of the last event about this dictionary; -1: there is none. */
static int64_t last(const char *name, const char *field)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    int64_t found = -1;

    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err)) {
            struct jfr_value value;

            if (is_of(&event, name) && jfr_value_field(&event.value, field, &value))
                cr_assert(jfr_value_integer(&value, &found));
        }
    jfr_reader_close(reader);
    return found;
}

Test(recording_dictionaries, figures_of_a_used_dictionary_are_told_and_others_left_out)
{
    struct recording *recording = open_jfr();

    name_endpoints(10, 3);
    close_sound(recording);
    cr_expect_eq(last("endpoints", "keys"), 10);
    cr_expect_eq(last("endpoints", "keyBytes"), 40);
    cr_expect_eq(last("endpoints", "arenaBytes"), 160);
    cr_expect_eq(last("endpoints", "waste"), 0);
    cr_expect_eq(last("endpoints", "refused"), 3);
    cr_expect_eq(last("endpoints", "refusedTotal"), 3);
    cr_expect_eq(last("endpoints", "keysTotal"), 10);
    cr_expect_eq(last("endpoints", "keyBytesTotal"), 40);
    cr_expect_eq(last("endpoints", "generations"), 0);
    cr_expect_eq(last("endpoints", "rotationsPutOff"), 0);
    cr_expect_eq(last("context_values", "keys"), -1);
}

Test(recording_dictionaries, what_was_refused_outlives_the_clear)
{
    struct recording *recording = open_jfr();

    name_endpoints(10, 3);
    made_turn(generations, recording);
    made_turn(generations, recording);
    name_endpoints(2, 1);
    close_sound(recording);
    cr_expect_eq(last("endpoints", "keys"), 2);
    cr_expect_eq(last("endpoints", "refused"), 1);
    cr_expect_eq(last("endpoints", "refusedTotal"), 4);
    cr_expect_eq(last("endpoints", "keysTotal"), 12);
    cr_expect_eq(last("endpoints", "generations"), 2);
}

Test(recording_dictionaries, totals_count_from_the_begin_of_the_recording)
{
    name_endpoints(10, 3);
    struct recording *recording = open_jfr();
    name_endpoints(15, 2);
    close_sound(recording);
    cr_expect_eq(last("endpoints", "keys"), 15, "ten of them were there");
    cr_expect_eq(last("endpoints", "keysTotal"), 5);
    cr_expect_eq(last("endpoints", "refused"), 5);
    cr_expect_eq(last("endpoints", "refusedTotal"), 2);
}

Test(recording_dictionaries, a_recording_that_began_before_the_generations_counts_from_their_begin)
{
    struct generations *kept = generations;

    generations = NULL;
    struct recording *recording = open_jfr();
    generations = kept;
    name_endpoints(7, 1);
    close_sound(recording);
    cr_expect_eq(last("endpoints", "keysTotal"), 7);
    cr_expect_eq(last("endpoints", "refusedTotal"), 1);
}
