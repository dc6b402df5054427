/* `jaywalk compare` on recordings: its status, its gate, and that a recording is like itself. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "golden/made.h"

#define BEGIN_NS      (1000 * JW_NS_PER_SECOND)
#define BEGIN_WALL_NS 1700000000000000000ull

static char directory[] = "/tmp/jaywalk-compare-XXXXXX";
static char one[64], two[64], out[64];
static char text[200000];
static struct jw_error err;

/* The clock goes on with each signal. */
uint64_t jw_now_ns(void)
{
    return BEGIN_NS + jw_counter(JW_COUNT_SIGNALS) * MADE_WEIGHT_NS;
}

uint64_t jw_wall_ns(void)
{
    return BEGIN_WALL_NS + jw_counter(JW_COUNT_SIGNALS) * MADE_WEIGHT_NS;
}

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(one, sizeof one, "%s/one.jfr", directory);
    snprintf(two, sizeof two, "%s/two.jfr", directory);
    snprintf(out, sizeof out, "%s/out", directory);

    struct recording_config config = made_config(one, RECORDING_JFR);
    cr_assert(made_recording(&config, 1, 4, &err), "%s", err.message);
    config = made_config(two, RECORDING_JFR);
    cr_assert(made_recording(&config, 2, 8, &err), "%s", err.message);
}

static void tear_down(void)
{
    unlink(one);
    unlink(two);
    unlink(out);
    cr_expect_eq(rmdir(directory), 0);
}

TestSuite(compare, .init = set_up, .fini = tear_down, .timeout = 1800);

/* Words behind `jaywalk compare`, ended by NULL; what it says on stdout is in `text`. */
static int compared(const char *const *words)
{
    char *arguments[16] = {(char[]){"jaywalk"}, (char[]){"compare"}};
    int count = 2;

    for (; *words != NULL; words++)
        arguments[count++] = strdup(*words);
    cr_assert_not_null(freopen(out, "w", stdout));
    const int status = cli_main(count, arguments);
    fflush(stdout);
    FILE *file = fopen(out, "r");
    cr_assert_not_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (int i = 2; i < count; i++)
        free(arguments[i]);
    return status;
}

#define COMPARED(...) compared((const char *const[]){__VA_ARGS__, NULL})

Test(compare, a_recording_is_like_itself)
{
    cr_expect_eq(COMPARED("--fail-on=0.01%", one, one), CLI_OK);
    cr_expect_not_null(strstr(text, "CPU profile, before and after\n"), "%s", text);
    cr_expect_not_null(strstr(text, "More of it in, by time of their own (0 for sure)\n"), "%s",
                       text);
    cr_expect_not_null(strstr(text, "OK: no method grew by 0.01 % or more, for sure\n"));
    cr_expect_eq(COMPARED("--per=run", "--fail-on=0.01", one, one), CLI_OK);
}

Test(compare, twice_the_work_is_twice_as_much_of_a_run_and_the_same_share)
{
    cr_expect_eq(COMPARED("--per=run", "--fail-on=5%", one, two), CLI_GREW);
    cr_expect_not_null(strstr(text, "FAILED: "), "%s", text);
    cr_expect_not_null(strstr(text, "app.Hot.main\n"), "%s", text);
    cr_expect_eq(COMPARED("--per=share", "--fail-on=5%", one, two), CLI_OK, "%s", text);
    cr_expect_eq(COMPARED("--per=second", "--fail-on=5%", one, two), CLI_OK, "%s", text);
    cr_expect_eq(COMPARED("--per=run", two, one), CLI_OK, "without a limit there is no gate");
    cr_expect_not_null(strstr(text, "Less of it in"));
}

/* The counter is what the session was about, which nobody has to say. */
Test(compare, a_session_of_a_counter_is_compared_by_it)
{
    static const struct recording_setting setting = {.name = "event", .value = "page-faults"};
    struct recording_config config = made_config(one, RECORDING_JFR);

    made_kind = EVENT_COUNTER_SAMPLE;
    config.counter = setting.value;
    config.settings = &setting;
    config.setting_count = 1;
    cr_assert(made_recording(&config, 1, 4, &err), "%s", err.message);
    cr_expect_eq(COMPARED(one, one), CLI_OK);
    cr_expect_not_null(strstr(text, "page-faults profile, before and after\n"), "%s", text);
    cr_expect_neq(COMPARED("-e", "cpu", one, one), CLI_OK);
}

Test(compare, what_is_shown_can_be_chosen)
{
    cr_expect_eq(COMPARED("-o", "json", "--thread=main", "-I", "*Hot.spin*", one, two), CLI_OK);
    cr_expect_not_null(strstr(text, "{\"schema\":\"jaywalk.compare/1\",\"per\":\"share\","), "%s",
                       text);
    cr_expect_not_null(strstr(text, "\"part\":\"thread main\""), "%s", text);
    cr_expect_not_null(strstr(text, "\"method\":\"app.Hot.spin\""), "%s", text);
    cr_expect_null(strstr(text, "memcpy"));
    cr_expect_eq(COMPARED("-o", "markdown", "--per=run", "--top=1", one, two), CLI_OK);
    cr_expect_not_null(strstr(text, "| method | before | after | change | 99 in 100 |"), "%s",
                       text);
}

Test(compare, mistakes_are_told)
{
    cr_expect_eq(COMPARED(one), CLI_USAGE);
    cr_expect_eq(COMPARED(one, two, two), CLI_USAGE);
    cr_expect_eq(COMPARED("--per=minute", one, two), CLI_USAGE);
    cr_expect_eq(COMPARED("--fail-on=0", one, two), CLI_USAGE);
    cr_expect_eq(COMPARED("--fail-on=x", one, two), CLI_USAGE);
    cr_expect_eq(COMPARED("--top=-1", one, two), CLI_USAGE);
    cr_expect_eq(COMPARED("-o", "html", one, two), CLI_USAGE);
    cr_expect_eq(COMPARED("--state=idle", one, two), CLI_USAGE);
    cr_expect_eq(COMPARED(one, "/nowhere.jfr"), CLI_FAILED);
    cr_expect_eq(COMPARED("--thread=nobody", one, two), CLI_FAILED);
}
