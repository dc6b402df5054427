/*
 * Fields of events by their numbers: asked for in any order, of more fields than places are kept for, and of events that are cut.
 * Random, prints its seed.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jfr/jfr_reader.h"
#include "support/recording_maker.h"

#define FIELDS     150u
#define EVENTS     40u
#define WIDE       200u /* id of the type */
#define ROWS       (FIELDS + 16u)
#define ROW_BYTES  64u
#define NO_SUCH_ID 99u /* key of no constant */

static struct maker maker;
static char path[64];
static struct jfr_reader *reader;
static struct jfr_text text;
static struct jw_error err;
static char rows[ROWS][ROW_BYTES];
static uint64_t values[EVENTS][FIELDS];
static unsigned written[EVENTS]; /* fields, before the event ends */

static void tear_down(void)
{
    jfr_reader_close(reader);
    jfr_text_free(&text);
    maker_close(&maker);
    unlink(path);
}

TestSuite(reader_event, .fini = tear_down, .timeout = 1800);

/* In turn: a number, a text, a reference, a truth. */
static unsigned kind_of(unsigned field)
{
    return field % 4;
}

static void put_metadata(void)
{
    static const char *const fixed[] = {"root",
                                        "  metadata",
                                        "    class name=long id=10",
                                        "    class name=java.lang.String id=12",
                                        "    class name=boolean id=13",
                                        "    class name=test.Name id=27",
                                        "      field name=name class=12",
                                        "    class name=test.Wide id=200 superType=jdk.jfr.Event"};
    static const char *const classes[] = {"10", "12", "27 constantPool=true", "13"};
    const char *all[ROWS + 1] = {NULL};
    unsigned count = 0;

    for (; count < JW_COUNT_OF(fixed); count++)
        all[count] = fixed[count];
    for (unsigned i = 0; i < FIELDS; i++, count++) {
        snprintf(rows[i], ROW_BYTES, "      field name=f%u class=%s", i, classes[kind_of(i)]);
        all[count] = rows[i];
    }
    all[count] = "  region locale=en_US gmtOffset=0";
    maker_metadata_from(&maker, all);
}

static void put_field(unsigned field, uint64_t value)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    switch (kind_of(field)) {
    case 1:
        maker_text(&maker, digits);
        break;
    case 3:
        maker_byte(&maker, value & 1);
        break;
    default:
        maker_varint(&maker, value);
    }
}

/* Every other event is cut somewhere. */
static void put_events(void)
{
    for (unsigned i = 0; i < EVENTS; i++) {
        const size_t begin = maker_begin_event(&maker, WIDE);

        written[i] = i % 2 == 0 ? FIELDS : (unsigned)random() % FIELDS;
        for (unsigned field = 0; field < FIELDS; field++) {
            values[i][field] = kind_of(field) == 2 ? (random() % 3 == 0 ? NO_SUCH_ID : 7)
                                                   : (uint64_t)random() >> (random() % 31);
            if (field < written[i])
                put_field(field, values[i][field]);
        }
        maker_end_event(&maker, begin);
    }
}

static void open_wide(void)
{
    struct jfr_reader_chunk chunk;

    maker_begin_chunk(&maker);
    put_metadata();
    const size_t begin = maker_begin_checkpoint(&maker, 1);
    maker_pool(&maker, 27, 1);
    maker_varint(&maker, 7);
    maker_text(&maker, "seven");
    maker_end_event(&maker, begin);
    put_events();
    maker_end_chunk(&maker, 1);
    cr_assert(maker_save(&maker, path));
    reader = jfr_reader_open(path, &err);
    cr_assert_not_null(reader, "%s", err.message);
    cr_assert(jfr_reader_next_chunk(reader, &chunk, &err), "%s", err.message);
}

static void check_field(const struct jfr_reader_event *event, unsigned at, unsigned field)
{
    const uint64_t value = values[at][field];
    const bool is_there = field < written[at];
    const bool leads = kind_of(field) != 2 || value == 7;
    struct jfr_value found;
    char name[16], digits[24];
    int64_t number;
    uint64_t key;

    snprintf(name, sizeof name, "f%u", field);
    cr_assert_eq(jfr_event_field_number(event, name), field);
    cr_assert_eq(jfr_event_field(event, field, &found), is_there && leads, "event %u, %s", at,
                 name);
    cr_assert_eq(jfr_value_field(&event->value, name, &found), is_there && leads);
    if (kind_of(field) == 2) {
        cr_assert_eq(jfr_event_raw_key(event, field, &key), is_there);
        cr_assert(!is_there || key == value);
    } else {
        cr_assert_not(jfr_event_raw_key(event, field, &key));
    }
    if (kind_of(field) == 0 || kind_of(field) == 3) {
        cr_assert_eq(jfr_event_integer(event, field, &number), is_there);
        cr_assert(!is_there || number == (int64_t)(kind_of(field) == 0 ? value : (value & 1)));
    } else if (kind_of(field) == 1 && is_there) {
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
        cr_assert(jfr_value_text(&found, &text));
        cr_assert_str_eq(text.text, digits);
    }
}

Test(reader_event, fields_are_found_by_number_in_any_order)
{
    const unsigned seed = (unsigned)getpid();
    struct jfr_reader_event event;
    struct jfr_value none;
    unsigned count = 0;

    printf("seed %u\n", seed);
    srandom(seed);
    open_wide();
    for (; jfr_reader_next_event(reader, &event, &err); count++) {
        cr_assert_lt(count, EVENTS);
        cr_assert_eq(jfr_event_field_number(&event, "nothing"), JFR_FIELD_NONE);
        cr_assert_not(jfr_event_field(&event, JFR_FIELD_NONE, &none));
        for (unsigned i = 0; i < 3 * FIELDS; i++)
            check_field(&event, count, (unsigned)random() % FIELDS);
    }
    cr_assert_eq(count, EVENTS, "%s", err.message);
}
