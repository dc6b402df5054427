/* A setting that changes while a recording is made. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"

static char directory[] = "/tmp/jaywalk-set-XXXXXX";
static char path[64];
static struct jw_error err;
static struct recording *recording;

static void set_up(void)
{
    static const struct recording_setting settings[] = {{NULL, "agreement", ""}};

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);

    struct recording_config config = made_config(path, RECORDING_JFR);
    config.settings = settings;
    config.setting_count = JW_COUNT_OF(settings);
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
}

static void tear_down(void)
{
    unlink(path);
    rmdir(directory);
}

TestSuite(recording_set, .init = set_up, .fini = tear_down, .timeout = 1800);

/* Values of the setting, one after the other. */
static const char *told(void)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    static char values[200];
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jfr_text text = {0};
    struct jfr_value field;

    values[0] = '\0';
    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err)) {
        strcat(values, "|");
        while (jfr_reader_next_event(reader, &event, &err)) {
            if (strcmp(event.type_name, "jdk.ActiveSetting") != 0 ||
                !jfr_value_field(&event.value, "name", &field) || !jfr_value_text(&field, &text) ||
                strcmp(text.text, "agreement") != 0)
                continue;
            cr_assert(jfr_value_field(&event.value, "value", &field) &&
                      jfr_value_text(&field, &text));
            strcat(values, text.text[0] == '\0' ? "none " : text.text);
        }
    }
    jfr_text_free(&text);
    jfr_reader_close(reader);
    return values;
}

Test(recording_set, it_stands_in_this_chunk_and_in_those_to_come)
{
    recording_set_now(recording, "agreement", "frame 3 differs ");
    cr_assert(recording_roll(recording, &err), "%s", err.message);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_expect_str_eq(told(), "|none frame 3 differs |frame 3 differs ");
}

Test(recording_set, of_a_setting_for_later_this_chunk_says_nothing)
{
    recording_set(recording, "agreement", "frame 3 differs ");
    cr_assert(recording_roll(recording, &err), "%s", err.message);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_expect_str_eq(told(), "|none |frame 3 differs ");
}
