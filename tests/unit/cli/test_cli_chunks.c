/* summary, recover, merge and split. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "jfr/jfr_reader.h"
#include "support/recording_maker.h"
#include "unit/cli/run_cli.h"

#define START_NS 1700000000000000000ull
#define SECOND   1000000000ull

static struct maker maker;

static void make_directory(void)
{
    strcpy(directory, "/tmp/jaywalk-chunks-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
}

static void remove_directory(void)
{
    char command[256];

    maker_close(&maker);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_chunks, .init = make_directory, .fini = remove_directory, .timeout = 1800);

static const char *in_directory(const char *name)
{
    static char full[8][192];
    static unsigned next;
    char *at = full[next++ % 8];

    snprintf(at, sizeof full[0], "%s/%s", directory, name);
    return at;
}

/* A recording of `count` chunks, each a second long, from this second on; without its last `cut_bytes`. */
static const char *make(const char *name, uint64_t second, unsigned count, size_t cut_bytes)
{
    const char *path = in_directory(name);
    FILE *file = fopen(path, "w");

    maker_close(&maker);
    for (unsigned i = 0; i < count; i++)
        maker_usual_chunk(&maker, START_NS + (second + i) * SECOND);
    cr_assert(file != NULL &&
              fwrite(maker.bytes, 1, maker.used_bytes - cut_bytes, file) ==
                  maker.used_bytes - cut_bytes &&
              fclose(file) == 0);
    return path;
}

struct content {
    unsigned chunks, full_chunks, events;
    uint64_t starts[16]; /* of chunks with events, seconds */
};

static struct content look(const char *path)
{
    struct content content = {0};
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jw_error err = {{0}};
    struct jfr_reader *reader = jfr_reader_open(path, &err);

    while (reader != NULL && jfr_reader_next_chunk(reader, &chunk, &err)) {
        const unsigned before = content.events;

        while (jfr_reader_next_event(reader, &event, &err))
            content.events++;
        content.chunks++;
        if (content.events > before && content.full_chunks < 16)
            content.starts[content.full_chunks++] = (chunk.start_unix_ns - START_NS) / SECOND;
    }
    cr_expect_str_eq(err.message, "");
    jfr_reader_close(reader);
    return content;
}

Test(cli_chunks, summary_counts_events_and_says_what_is_whole)
{
    const char *whole = make("whole.jfr", 0, 2, 0);
    const char *cut = make("cut.jfr", 10, 3, 50);

    cr_expect_eq(RUN("summary", whole), CLI_OK);
    cr_expect_not_null(strstr(out_text, "Whole     yes"), "%s", out_text);
    cr_expect_not_null(strstr(out_text, "2 chunks"), "%s", out_text);
    cr_expect_not_null(strstr(out_text, "2023-11-14 22:13:20 UTC"), "%s", out_text);
    cr_expect_not_null(strstr(out_text, "Length    2.000 s"), "%s", out_text);
    cr_expect_not_null(strstr(out_text, "Lost      2 samples"), "%s", out_text);
    cr_expect_not_null(strstr(out_text, "jdk.ExecutionSample"), "%s", out_text);
    cr_expect_not_null(strstr(out_text, "jdk.types.StackTrace"), "%s", out_text);
    cr_expect_not_null(strstr(out_text, "Types, heads of chunks"), "%s", out_text);
    cr_expect_eq(RUN("summary", cut), CLI_OK);
    cr_expect_not_null(strstr(out_text, "are left out"), "%s", out_text);
    cr_expect_eq(RUN("summary", "--strict", cut), CLI_FAILED);
    cr_expect_eq(RUN("summary", "--strict", whole), CLI_OK);
    cr_expect_eq(RUN("summary", directory), CLI_OK);
    cr_expect(strstr(out_text, "/cut.jfr") < strstr(out_text, "/whole.jfr"), "by name");
    cr_expect_eq(RUN("summary", "--json", directory), CLI_OK);
    cr_expect_not_null(strstr(out_text, "\"schema\":\"jaywalk.summary/1\""));
    cr_expect_not_null(strstr(out_text, "\"whole\":false"));
    cr_expect_not_null(strstr(out_text, "{\"name\":\"jdk.ExecutionSample\",\"count\":14,"), "%s",
                       out_text);
    cr_expect_eq(RUN("summary", in_directory("none.jfr")), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "cannot be opened"), "%s", err_text);
    cr_expect_eq(mkdir(in_directory("empty"), 0700), 0);
    cr_expect_eq(RUN("summary", in_directory("empty")), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "holds no recordings"), "%s", err_text);
    cr_expect_eq(RUN("summary"), CLI_USAGE);
}

Test(cli_chunks, recover_keeps_what_there_is_and_says_what_is_not)
{
    const char *whole = make("whole.jfr", 0, 2, 0);
    const char *cut = make("cut.jfr", 10, 3, 50);
    const char *out = in_directory("out.jfr");

    cr_expect_eq(RUN("recover", cut, out), CLI_OK);
    cr_expect_not_null(strstr(out_text, "2 chunks whole, 1 mended, 0 lost"), "%s", out_text);
    const struct content content = look(out);
    cr_expect_eq(content.chunks, 3);
    cr_expect_eq(content.events, 16 + 5);
    cr_expect_eq(RUN("summary", "--strict", out), CLI_OK);

    cr_expect_eq(RUN("recover", whole, out), CLI_OK);
    cr_expect_not_null(strstr(out_text, "was whole"), "%s", out_text);

    cr_expect_eq(mkdir(in_directory("mended"), 0700), 0);
    cr_expect_eq(RUN("recover", whole, cut, in_directory("mended")), CLI_OK);
    cr_expect_eq(look(in_directory("mended/whole.jfr")).events, 16);
    cr_expect_eq(look(in_directory("mended/cut.jfr")).chunks, 3);

    cr_expect_eq(RUN("recover", whole, cut, out), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "no folder"), "%s", err_text);
    cr_expect_eq(RUN("recover", cut, cut), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "the recording itself"), "%s", err_text);
    cr_expect_eq(RUN("recover", cut), CLI_USAGE);
    cr_expect_eq(truncate(cut, 100), 0);
    cr_expect_eq(unlink(out), 0);
    cr_expect_eq(RUN("recover", cut, out), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "nothing of it can be recovered"), "%s", err_text);
    cr_expect_neq(access(out, F_OK), 0, "and nothing was written");
}

Test(cli_chunks, merge_takes_recordings_in_the_order_in_which_they_begin)
{
    const char *later = make("a.jfr", 10, 2, 0);
    const char *earlier = make("b.jfr", 0, 3, 0);
    const char *out = in_directory("all.jfr");

    cr_expect_eq(RUN("merge", later, earlier, out), CLI_OK);
    struct content content = look(out);
    cr_expect_eq(content.events, 5 * 8);
    cr_expect_eq(content.chunks, 6, "an empty one between the two");
    cr_expect_eq(content.starts[0], 0);
    cr_expect_eq(content.starts[3], 10);
    cr_expect_eq(content.starts[4], 11);

    /* One that is cut: what is whole of it, and the rest is told. */
    const char *cut = make("c.jfr", 20, 2, 9);
    cr_expect_eq(RUN("merge", later, cut, out), CLI_OK);
    cr_expect_not_null(strstr(err_text, "jaywalk recover"), "%s", err_text);
    cr_expect_eq(look(out).events, 3 * 8);

    cr_expect_eq(RUN("merge", later, out, out), CLI_USAGE);
    cr_expect_eq(RUN("merge", later, in_directory("x.html")), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "end it in .jfr"), "%s", err_text);
}

Test(cli_chunks, split_takes_apart_between_chunks)
{
    const char *in = make("in.jfr", 0, 7, 0);
    const char *pattern = in_directory("part-%n.jfr");
    char size[32];
    unsigned events = 0;

    cr_expect_eq(RUN("split", "--every", "3s", in, pattern), CLI_OK);
    cr_expect_str_eq(out_text, "3 parts\n");
    for (unsigned n = 1; n <= 3; n++) {
        char name[32];

        snprintf(name, sizeof name, "part-%03u.jfr", n);
        const struct content content = look(in_directory(name));
        cr_expect_eq(content.chunks, n < 3 ? 3 : 1);
        cr_expect_eq(content.starts[0], 3 * (n - 1));
        events += content.events;
    }
    cr_expect_eq(events, 7 * 8);
    cr_expect_eq(RUN("split", "--every", "3s", in, pattern), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "is there already"), "%s", err_text);

    snprintf(size, sizeof size, "%zu", maker.used_bytes / 7 * 2 + 10);
    cr_expect_eq(RUN("split", "--size", size, in, in_directory("s%n.jfr")), CLI_OK);
    cr_expect_str_eq(out_text, "4 parts\n");
    cr_expect_eq(RUN("split", "--size", "1", in, in_directory("t%n.jfr")), CLI_OK);
    cr_expect_str_eq(out_text, "7 parts\n");

    cr_expect_eq(RUN("split", in, pattern), CLI_USAGE);
    cr_expect_eq(RUN("split", "--every", "3s", "--size", "1m", in, pattern), CLI_USAGE);
    cr_expect_eq(RUN("split", "--every", "0", in, pattern), CLI_USAGE);
    cr_expect_eq(RUN("split", "--size", "many", in, pattern), CLI_USAGE);
    cr_expect_eq(RUN("split", "--every", "3s", in, in_directory("x.jfr")), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "%n"), "%s", err_text);
}
