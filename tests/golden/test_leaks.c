/* `jaywalk leaks` and `convert --live` on recordings whose live objects are known. */
#include <stddef.h>
#include <unistd.h>

#include "golden/made.h"
#include "unit/cli/run_cli.h"

static char one[80], two[80], collapsed[80];
static struct jw_error err;
static struct recording *recording;
static struct generations *generations;
static uint32_t ages[64]; /* by number */
static bool is_gone[64];
static bool is_stackless; /* nothing but the mark that says so */

static bool tell_live(void *context, uint32_t slot, uint32_t number,
                      struct recording_live_state *out)
{
    (void)context;
    (void)slot;
    *out = (struct recording_live_state){.age = ages[number]};
    return !is_gone[number];
}

static void put(uint32_t number, const char *class_name, unsigned kind, uint64_t weight_bytes)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    jw_frame frames[80];
    uint32_t flags;
    uint32_t count = made_fill(generation, kind, frames, &flags);
    struct event_record *record = event_reserve(generation->events);

    cr_assert_not_null(record);
    if (is_stackless) {
        frames[0] = jw_frame_mark(JW_MARK_NO_JAVA_FRAME);
        count = 1;
    }
    record->kind = EVENT_ALLOC_SAMPLE;
    record->name = number;
    record->thread_serial = 1;
    record->time_ns = jw_now_ns();
    record->weight_ns = weight_bytes;
    record->value = 100;
    record->class_name = dict_intern(generation->classes, class_name, strlen(class_name));
    record->trace = store_put(generation->traces, frames, count, flags);
    event_commit(record);
    generation_leave(generations, &ticket);
}

static bool clear(struct generation *generation, void *argument)
{
    recording_take(argument, generation);
    return true;
}

static void take(void)
{
    struct generation *closed = generations_rotate(generations);

    cr_assert_not_null(closed);
    recording_take(recording, closed);
    (void)generations_retire(generations, clear, recording);
    cr_assert(recording_flush(recording, &err), "%s", err.message);
}

/* Twenty of app.Kept that stay, one string that goes and one that is young; then thirty of byte[] in the midst of java.util. */
static void set_up(void)
{
    snprintf(directory, sizeof directory, "/tmp/jaywalk-leaks-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(one, sizeof one, "%s/one.jfr", directory);
    snprintf(two, sizeof two, "%s/two.jfr", directory);
    snprintf(collapsed, sizeof collapsed, "%s/out.collapsed", directory);

    struct recording_config config = made_config(two, RECORDING_JFR);
    config.sources.live = tell_live;
    generations = generations_open(&(struct generations_config){0}, &err);
    cr_assert_not_null(generations, "%s", err.message);
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    for (uint32_t i = 1; i <= 20; i++) {
        put(i, "app/Kept", 0, 1000);
        ages[i] = 2;
    }
    put(21, "java/lang/String", 65, 5000);
    put(22, "app/Young", 0, 7000);
    ages[21] = 1;
    take();
    cr_assert(recording_snapshot(recording, one, &err), "%s", err.message);
    is_gone[21] = true;
    for (uint32_t i = 30; i < 60; i++) {
        put(i, "[B", 99, 2000);
        ages[i] = 1;
    }
    ages[7] = 9;
    take();
    cr_assert(recording_close(recording, &err), "%s", err.message);
    generations_close(generations);
}

static void tear_down(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -r %s", directory);
    cr_expect_eq(system(command), 0);
}

TestSuite(leaks, .init = set_up, .fini = tear_down, .timeout = 1800);

static void expect_text(const char *text)
{
    cr_expect(strstr(out_text, text) != NULL, "no '%s' in %s%s", text, out_text, err_text);
}

Test(leaks, what_grew_between_two_and_where_it_was_allocated)
{
    cr_expect_eq(RUN("leaks", one, two), CLI_OK);
    expect_text("Before     25.0 kB of 21 sampled objects");
    expect_text("After      80.0 kB of 50 sampled objects");
    expect_text("7.0 kB of 1 more, too young to tell");
    expect_text("By class (3 of 3)");
    expect_text("       0 B    60.0 kB   +60.0 kB        600      30");
    expect_text("   20.0 kB    20.0 kB       +0 B?       200      20");
    expect_text("byte[]\n                at app.Hot$$Lambda");
    cr_expect(strstr(out_text, "byte[]") < strstr(out_text, "app.Kept"), "%s", out_text);
    expect_text("60.0 kB of byte[] more, allocated at app.Hot$$Lambda");
}

Test(leaks, one_recording_has_the_sets_of_its_dumps)
{
    cr_expect_eq(RUN("leaks", two), CLI_OK);
    expect_text("60.0 kB of byte[] more");
    cr_expect_eq(RUN("leaks", one), CLI_OK);
    expect_text("One set of live objects says what fills the heap");
    expect_text("app.Kept");
}

Test(leaks, the_age_that_is_asked_for)
{
    cr_expect_eq(RUN("leaks", "--age", "2", one, two), CLI_OK);
    expect_text("By class (1 of 1)");
    cr_expect_eq(RUN("leaks", "--age=0", "--json", one, two), CLI_OK);
    expect_text("\"schema\":\"jaywalk.leaks/1\"");
    expect_text("{\"class\":\"app.Young\",\"before_bytes\":7000,\"after_bytes\":7000");
    expect_text("\"oldest_pauses\":9");
    cr_expect_eq(RUN("leaks", "--age=old", one), CLI_USAGE);
    cr_expect(strstr(err_text, "--age: 'old'") != NULL, "%s", err_text);
}

Test(leaks, what_cannot_be_told_is_said)
{
    cr_expect_eq(RUN("leaks"), CLI_USAGE);
    cr_expect_eq(RUN("leaks", one, one, one), CLI_USAGE);
    cr_expect_eq(RUN("leaks", "/nowhere.jfr"), CLI_FAILED);

    struct recording_config config = made_config(one, RECORDING_JFR);
    cr_assert(made_recording(&config, 1, 1, &err), "%s", err.message);
    cr_expect_eq(RUN("leaks", one), CLI_FAILED);
    cr_expect(strstr(err_text, "record with the option live") != NULL, "%s", err_text);
}

Test(leaks, convert_draws_the_last_set_alone)
{
    cr_expect_eq(RUN("convert", "-q", "--live", "--total", two, collapsed), CLI_OK);
    slurp(collapsed, out_text, sizeof out_text);
    unsigned long long sum = 0;
    for (char *line = strtok(out_text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        sum += strtoull(strrchr(line, ' '), NULL, 10);
    cr_expect_eq(sum, 20000 + 7000 + 60000, "%llu", sum);
    cr_expect_eq(RUN("convert", "--live", "-e", "cpu", two, collapsed), CLI_USAGE);
}

Test(leaks, allocations_and_what_is_left_are_compared_by_bytes)
{
    cr_expect_eq(RUN("compare", "-e", "alloc", one, two), CLI_OK);
    expect_text("Allocation profile, before and after");
    expect_text("0.03 MB of samples in");
    expect_text("0.09 MB of samples in");
    expect_text("by bytes (");
    cr_expect_eq(RUN("compare", "-e", "live", "-o", "json", one, two), CLI_OK);
    expect_text("\"unit\":\"bytes\"");
    expect_text("\"samples\":51,\"value\":87000");
}

Test(leaks, what_is_missing_of_a_stack_is_of_no_class)
{
    struct recording_config config = made_config(one, RECORDING_JFR);

    config.sources.live = tell_live;
    generations = generations_open(&(struct generations_config){0}, &err);
    cr_assert_not_null(generations, "%s", err.message);
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    is_stackless = true;
    put(1, "java/lang/String", 0, 1000);
    take();
    cr_assert(recording_close(recording, &err), "%s", err.message);
    generations_close(generations);
    cr_expect_eq(RUN("leaks", one), CLI_OK, "%s", err_text);
    cr_expect_not_null(strstr(out_text, "java.lang.String at [no Java frame]"), "%s", out_text);
    cr_expect_null(strstr(out_text, "jaywalk."), "%s", out_text);
}
