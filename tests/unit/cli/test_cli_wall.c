/* Samples of the wall clock, in recordings of ours and of others: which they are, how many, how long. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jw.h"
#include "cli/cli.h"
#include "support/recording_maker.h"

static char path[64];
static char text_path[80];
static char err_path[80];
static struct maker maker;
static char text[20000];
static char complaints[4000];

static void forget(void)
{
    maker_close(&maker);
    unlink(path);
    unlink(text_path);
    unlink(err_path);
}

TestSuite(cli_wall, .fini = forget, .timeout = 1800);

/* async-profiler's way; of its jdk.ExecutionSample the state alone tells the clock. */
static const char *const their_rows[] = {
    "root",
    "  metadata",
    "    class name=long id=10",
    "    class name=int id=11",
    "    class name=java.lang.String id=12",
    "    class name=jdk.types.ThreadState id=27 simpleType=true",
    "      field name=name class=12",
    "    class name=jdk.types.StackTrace id=21",
    "      field name=truncated class=11",
    "    class name=jdk.ExecutionSample id=101 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=state class=27 constantPool=true",
    "    class name=profiler.WallClockSample id=102 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=state class=27 constantPool=true",
    "      field name=samples class=11",
    "      field name=timeSpan class=10",
    "    class name=jdk.ActiveSetting id=103 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=name class=12",
    "      field name=value class=12",
    "  region locale=en_US gmtOffset=0",
    NULL,
};

/* Ours, without batches. */
static const char *const our_rows[] = {
    "root",
    "  metadata",
    "    class name=long id=10",
    "    class name=int id=11",
    "    class name=java.lang.String id=12",
    "    class name=jdk.types.ThreadState id=27 simpleType=true",
    "      field name=name class=12",
    "    class name=jdk.types.StackTrace id=21",
    "      field name=truncated class=11",
    "    class name=jdk.ExecutionSample id=101 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=state class=27 constantPool=true",
    "      field name=weight class=10",
    "      field name=wallTime class=10",
    "    class name=jaywalk.WallClockSample id=102 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=state class=27 constantPool=true",
    "      field name=samples class=11",
    "      field name=timeSpan class=10",
    "    class name=jdk.ActiveSetting id=103 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=name class=12",
    "      field name=value class=12",
    "  region locale=en_US gmtOffset=0",
    NULL,
};

enum { EXECUTION = 101, BATCH = 102, SETTING = 103 };
enum { DEFAULT = 1, RUNNABLE, SLEEPING, PARKED, BLOCKED, WAITING, NATIVE, STATE_COUNT = NATIVE };

static void begin(const char *const *rows)
{
    static const char *const states[STATE_COUNT] = {"STATE_DEFAULT",
                                                    "STATE_RUNNABLE",
                                                    "STATE_SLEEPING",
                                                    "STATE_PARKED_TIMED",
                                                    "STATE_BLOCKED_ON_MONITOR_ENTER",
                                                    "STATE_IN_OBJECT_WAIT",
                                                    "STATE_IN_NATIVE"};

    maker_begin_chunk(&maker);
    maker_metadata_from(&maker, rows);
    const size_t at = maker_begin_checkpoint(&maker, 1);
    maker_pool(&maker, MAKER_STATE, STATE_COUNT);
    for (uint64_t i = 0; i < STATE_COUNT; i++) {
        maker_varint(&maker, i + 1);
        maker_text(&maker, states[i]);
    }
    maker_end_event(&maker, at);
}

static void put_setting(const char *name, const char *value)
{
    const size_t at = maker_begin_event(&maker, SETTING);

    maker_varint(&maker, 1);
    maker_text(&maker, name);
    maker_text(&maker, value);
    maker_end_event(&maker, at);
}

static void put(uint64_t type, uint64_t state, size_t count, const uint64_t *rest)
{
    const size_t at = maker_begin_event(&maker, type);

    maker_varint(&maker, 2);
    maker_varint(&maker, 0); /* no stack */
    maker_varint(&maker, state);
    for (size_t i = 0; i < count; i++)
        maker_varint(&maker, rest[i]);
    maker_end_event(&maker, at);
}

#define PUT(type, state, ...)                                                                      \
    put(type, state, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                         \
        (uint64_t[]){__VA_ARGS__})
#define PUT_PLAIN(state) put(EXECUTION, state, 0, NULL)

static void save(void)
{
    maker_end_chunk(&maker, 1000);
    cr_assert(maker_save(&maker, path));
    snprintf(text_path, sizeof text_path, "%s.txt", path);
    snprintf(err_path, sizeof err_path, "%s.err", path);
}

static void slurp(const char *from, char *to, size_t room)
{
    FILE *file = fopen(from, "r");

    cr_assert_not_null(file, "%s", from);
    to[fread(to, 1, room - 1, file)] = '\0';
    fclose(file);
}

/* The line of the text that tells the sum, with up to two options. */
static const char *total(const char *option, const char *other)
{
    char *words[8] = {(char[]){"jaywalk"}, (char[]){"convert"}, (char[]){"--format=text"}};
    int count = 3;

    if (option != NULL)
        words[count++] = strdup(option);
    if (other != NULL)
        words[count++] = strdup(other);
    words[count++] = strdup(path);
    words[count++] = strdup(text_path);
    cr_assert_not_null(freopen(err_path, "w", stderr));
    const int status = cli_main(count, words);
    fflush(stderr);
    slurp(err_path, complaints, sizeof complaints);
    cr_assert_eq(status, CLI_OK, "%s", complaints);
    for (int i = 3; i < count; i++)
        free(words[i]);
    slurp(text_path, text, sizeof text);

    char *line = strstr(text, "Total     ");
    cr_assert_not_null(line);
    *strchr(line, '\n') = '\0';
    return line + strlen("Total     ");
}

Test(cli_wall, batches_of_others_are_so_many_turns_of_their_interval)
{
    begin(their_rows);
    put_setting("event", "wall");
    put_setting("interval", "20000000");
    PUT(BATCH, RUNNABLE, 1, 0);
    PUT(BATCH, SLEEPING, 50, 980000000); /* from the first to the last of them */
    save();
    cr_expect_str_eq(total(NULL, NULL), "1.02 s in 51 samples");
    cr_expect(strncmp(text, "Wall clock profile\n", 19) == 0, "%s", text);
    cr_expect_str_eq(total("--event=wall", "--state=running"), "20.0 ms in 1 samples");
    cr_expect_str_eq(total("--state=sleeping", NULL), "1.00 s in 50 samples");
}

Test(cli_wall, plain_samples_of_others_are_of_the_clock_that_their_settings_name)
{
    begin(their_rows);
    put_setting("event", "wall");
    put_setting("interval", "5000000");
    PUT_PLAIN(RUNNABLE);
    PUT_PLAIN(SLEEPING);
    save();
    cr_expect_str_eq(total(NULL, NULL), "10.0 ms in 2 samples");
    cr_expect_str_eq(total("-e", "cpu"), "0 samples");
    cr_expect_not_null(strstr(complaints, "no samples of 'cpu'"), "%s", complaints);
    cr_expect_not_null(strstr(complaints, "--event=wall shows the 2 samples"), "%s", complaints);
}

Test(cli_wall, plain_samples_of_both_clocks_of_others_are_told_apart_by_state)
{
    begin(their_rows);
    put_setting("event", "cpu");
    put_setting("interval", "10000000");
    put_setting("wall", "20000000");
    PUT_PLAIN(DEFAULT);
    PUT_PLAIN(RUNNABLE);
    PUT_PLAIN(SLEEPING);
    PUT_PLAIN(SLEEPING);
    save();
    cr_expect_str_eq(total(NULL, NULL), "1 samples");
    cr_expect(strncmp(text, "CPU profile, wall clock left out\n", 33) == 0, "%s", text);
    cr_expect_not_null(
        strstr(complaints, "shows 'cpu'; --event=wall shows the 3 samples of 'wall'"), "%s",
        complaints);
    cr_expect_str_eq(total("--event=wall", NULL), "60.0 ms in 3 samples");
    cr_expect_not_null(strstr(complaints, "shows 'wall'; --event=cpu shows the 1 samples of 'cpu'"),
                       "%s", complaints);
    cr_expect_str_eq(total("--event=wall", "--quiet"), "60.0 ms in 3 samples");
    cr_expect_str_eq(complaints, "");
    cr_expect_str_eq(total("--event=jdk.ExecutionSample", NULL), "4 samples");
    cr_expect_null(strstr(complaints, "shows '"), "%s", complaints);
}

Test(cli_wall, settings_of_one_chunk_say_nothing_of_the_next)
{
    begin(their_rows);
    put_setting("event", "wall");
    put_setting("interval", "20000000");
    PUT_PLAIN(SLEEPING);
    maker_end_chunk(&maker, 1000);
    begin(their_rows);
    put_setting("event", "cpu");
    PUT_PLAIN(DEFAULT);
    save();
    cr_expect_str_eq(total("-e", "wall"), "20.0 ms in 1 samples");
    cr_expect_str_eq(total("-e", "cpu"), "1 samples");
}

Test(cli_wall, samples_of_ours_say_their_clock_and_their_time)
{
    begin(our_rows);
    put_setting("event", "cpu");
    put_setting("wall", "20000000");
    PUT(EXECUTION, RUNNABLE, 10000000, 0);
    PUT(EXECUTION, RUNNABLE, 0, 20000000);
    PUT(EXECUTION, PARKED, 0, 21000000);
    PUT(EXECUTION, PARKED, 0, 0); /* the first turn of a thread */
    PUT(BATCH, PARKED, 3, 59000000);
    save();
    cr_expect_str_eq(total(NULL, NULL), "10.0 ms in 1 samples");
    cr_expect_str_eq(total("-e", "wall"), "100 ms in 6 samples");
    cr_expect_str_eq(total("--event=wall", "--state=parked"), "80.0 ms in 5 samples");
    cr_expect_null(strstr(complaints, "all count as one"), "%s", complaints);
}

Test(cli_wall, each_state_has_a_word)
{
    static const char *const words[] = {"running", "sleeping", "parked",
                                        "blocked", "waiting",  "native"};
    char option[40];

    begin(our_rows);
    put_setting("event", "wall");
    for (uint64_t state = RUNNABLE; state <= NATIVE; state++)
        PUT(BATCH, state, state, 1000000 * state);
    save();
    for (size_t i = 0; i < JW_COUNT_OF(words); i++) {
        char wanted[64];

        snprintf(option, sizeof option, "--state=%s", words[i]);
        snprintf(wanted, sizeof wanted, "%zu.00 ms in %zu samples", i + 2, i + 2);
        cr_expect_str_eq(total(option, NULL), wanted, "%s: %s", option, text);
    }
    cr_expect_str_eq(total("--state=STATE_IN_NATIVE", NULL), "7.00 ms in 7 samples");
    cr_expect_str_eq(total("--state=runnable", NULL), "2.00 ms in 2 samples");
}
