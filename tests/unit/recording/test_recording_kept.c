/* Samples that stay in memory: graphs of what there is so far, pauses, limits; and copies of a recording. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/made.h"
#include "support/jfr_check.h"

static char directory[] = "/tmp/jaywalk-kept-XXXXXX";
static char path[64], other[64];
static struct jw_error err;
static struct generations *generations;
static struct jfr_check check;
static char text[1 << 18];

static void set_up(void)
{
    const struct generations_config memory = {0};

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out", directory);
    snprintf(other, sizeof other, "%s/other", directory);
    generations = generations_open(&memory, &err);
    cr_assert_not_null(generations);
}

static void tear_down(void)
{
    generations_close(generations);
    unlink(path);
    unlink(other);
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

TestSuite(recording_kept, .init = set_up, .fini = tear_down, .timeout = 1800);

static struct recording *open_it(const char *at, enum recording_format format)
{
    struct recording_config config = made_config(at, format);

    config.path = at;
    struct recording *recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    return recording;
}

static void sample_hundred(struct recording *recording)
{
    for (unsigned kind = 0; kind < 100; kind++)
        made_sample(generations, kind);
    made_turn(generations, recording);
    cr_assert(recording_tick(recording, &err));
}

static const char *content(const char *of)
{
    FILE *file = fopen(of, "rb");

    cr_assert_not_null(file, "%s: %s", of, strerror(errno));
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static size_t kept_bytes;

static bool keep(void *context, const void *bytes, size_t length_bytes, struct jw_error *why)
{
    (void)context;
    (void)why;
    cr_assert_lt(kept_bytes + length_bytes, sizeof text);
    memcpy(text + kept_bytes, bytes, length_bytes);
    kept_bytes += length_bytes;
    text[kept_bytes] = '\0';
    return true;
}

/* Collapsed stacks of what there is, by way of a function. */
static const char *view(struct recording *recording)
{
    const struct recording_view how = {.format = RECORDING_COLLAPSED, .write = keep};

    kept_bytes = 0;
    cr_assert(recording_write(recording, &how, &err), "%s", err.message);
    return text;
}

Test(recording_kept, without_a_path_samples_stay_and_no_file_appears)
{
    struct recording *recording = open_it(NULL, RECORDING_TEXT);
    struct recording_status status;

    sample_hundred(recording);
    cr_expect_not_null(strstr(view(recording), "app/Hot.main;app/Hot.spin 60\n"), "%s", text);
    recording_get_status(recording, &status);
    cr_expect_eq(status.samples, 100);
    cr_expect_gt(status.memory_bytes, 0);
    cr_assert(recording_close(recording, &err), "%s", err.message);
}

Test(recording_kept, a_graph_may_be_written_again_and_counts_never_fall)
{
    struct recording *recording = open_it(path, RECORDING_COLLAPSED);
    const struct recording_view own = {.format = RECORDING_COLLAPSED};

    for (unsigned round = 1; round <= 3; round++) {
        char wanted[64];

        sample_hundred(recording);
        cr_assert(recording_write(recording, &own, &err), "%s", err.message);
        snprintf(wanted, sizeof wanted, "app/Hot.main;app/Hot.spin %u\n", 60 * round);
        cr_expect_not_null(strstr(content(path), wanted), "round %u", round);
    }
    sample_hundred(recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_expect_not_null(strstr(content(path), "app/Hot.main;app/Hot.spin 240\n"));
}

Test(recording_kept, a_graph_says_of_its_signals_what_holds_now_however_often_it_is_written)
{
    struct recording *recording = open_it(NULL, RECORDING_TEXT);
    const struct recording_view page = {.format = RECORDING_TEXT, .write = keep};
    static char first[sizeof text];

    jw_count_add(JW_COUNT_SIGNALS, 100);
    jw_count_add(JW_COUNT_SAMPLES, 90);
    jw_count_add(JW_COUNT_LOST_NO_THREAD, 10);
    sample_hundred(recording);
    recording_pause(recording); /* or the time would go on */
    kept_bytes = 0;
    cr_assert(recording_write(recording, &page, &err), "%s", err.message);
    memcpy(first, text, sizeof first);
    kept_bytes = 0;
    cr_assert(recording_write(recording, &page, &err), "%s", err.message);
    cr_expect_str_eq(text, first);
    recording_drop(recording);
}

Test(recording_kept, one_session_gives_any_graph_at_any_place)
{
    struct recording *recording = open_it(path, RECORDING_HTML);
    const struct recording_view elsewhere = {.format = RECORDING_COLLAPSED, .path = other};
    struct stat found;

    sample_hundred(recording);
    cr_assert(recording_write(recording, &elsewhere, &err), "%s", err.message);
    cr_expect_not_null(strstr(content(other), "app/Hot.spin 60\n"));
    cr_assert_eq(stat(other, &found), 0);
    cr_expect_eq(found.st_mode & 0777, 0600);
    cr_expect_neq(access(path, F_OK), 0, "its own place is for the end");
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_expect_not_null(strstr(content(path), "<html"));
}

Test(recording_kept, a_place_that_is_refused_changes_nothing)
{
    struct recording *recording = open_it(NULL, RECORDING_TEXT);
    const struct recording_view elsewhere = {.format = RECORDING_COLLAPSED, .path = other};

    sample_hundred(recording);
    cr_assert_eq(symlink(path, other), 0);
    cr_expect(!recording_write(recording, &elsewhere, &err));
    cr_expect_not_null(strstr(err.message, "symbolic link"), "%s", err.message);
    cr_expect_neq(access(path, F_OK), 0);
    cr_expect_not_null(strstr(view(recording), "app/Hot.spin 60\n"));
    recording_drop(recording);
}

Test(recording_kept, a_pause_holds_no_file_and_what_comes_after_is_added)
{
    struct recording *recording = open_it(path, RECORDING_COLLAPSED);
    const struct recording_view own = {.format = RECORDING_COLLAPSED};

    sample_hundred(recording);
    cr_assert(recording_write(recording, &own, &err), "%s", err.message);
    recording_pause(recording);
    cr_assert(recording_write(recording, &own, &err), "also during a pause: %s", err.message);
    cr_expect_not_null(strstr(content(path), "app/Hot.spin 60\n"));
    cr_assert(recording_resume(recording, &err), "%s", err.message);
    sample_hundred(recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_expect_not_null(strstr(content(path), "app/Hot.spin 120\n"));
}

Test(recording_kept, a_place_that_is_gone_is_told_at_resume)
{
    struct recording *recording = open_it(path, RECORDING_COLLAPSED);

    sample_hundred(recording);
    recording_pause(recording);
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_expect(!recording_resume(recording, &err));
    cr_expect_not_null(strstr(err.message, "is a directory"), "%s", err.message);
    cr_assert_eq(rmdir(path), 0);
    cr_assert(recording_resume(recording, &err), "%s", err.message);
    recording_drop(recording);
}

Test(recording_kept, at_the_limit_stacks_go_but_samples_stay)
{
    struct recording_config config = made_config(path, RECORDING_COLLAPSED);
    const uint64_t full = jw_counter(JW_COUNT_STACKS_FULL);

    config.memory_bytes = 1; /* all of it is over the limit */
    struct recording *recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    sample_hundred(recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_expect_str_eq(content(path), "[memlimit reached] 100\n");
    cr_expect_eq(jw_counter(JW_COUNT_STACKS_FULL) - full, 100);
}

Test(recording_kept, a_copy_of_a_recording_is_complete_and_the_recording_goes_on)
{
    struct recording *recording = open_it(path, RECORDING_JFR);

    for (unsigned round = 1; round <= 3; round++) {
        struct stat found;

        sample_hundred(recording);
        if (round == 2)
            cr_assert(recording_roll(recording, &err), "%s", err.message);
        cr_assert(recording_snapshot(recording, other, &err), "%s", err.message);
        cr_expect(jfr_check_file(other, &check), "%s", check.problem);
        cr_expect(check.is_final);
        cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 70 * round);
        cr_assert_eq(stat(other, &found), 0);
        cr_expect_eq(found.st_mode & 0777, 0600);
        cr_expect(jfr_check_file(path, &check), "%s", check.problem);
        cr_expect(!check.is_final);
    }
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_expect(jfr_check_file(path, &check), "%s", check.problem);
    cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 210);
}

Test(recording_kept, s05_a_copy_never_follows_a_link)
{
    struct recording *recording = open_it(path, RECORDING_JFR);

    cr_assert_eq(symlink("/dev/null", other), 0);
    cr_expect(!recording_snapshot(recording, other, &err));
    cr_expect_not_null(strstr(err.message, "symbolic link"), "%s", err.message);
    cr_assert(recording_close(recording, &err), "%s", err.message);
}
