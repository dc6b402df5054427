/* Cut, damaged and absurd recordings, plain and packed, through the commands that write what is in them: nothing wrong is shown as right. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/jw.h"
#include "cli/cli.h"
#include "jfr/jfr_packed.h"
#include "support/lines_check.h"
#include "support/recording_maker.h"
#include "unit/cli/run_cli.h"

#define START_NS 1700000000000000000ull
#define SECOND   1000000000ull
#define CHUNKS   48
#define STEP     4096

static struct maker maker;
static char whole_path[128], packed_path[128], cut_path[128], out_path[128], parts_path[128];
static char whole_lines[400000], whole_rows[400000];
static unsigned char bytes[1 << 18];
static size_t length;

static void make_directory(void)
{
    strcpy(directory, "/tmp/jaywalk-hostile-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(whole_path, sizeof whole_path, "%s/whole.jfr", directory);
    snprintf(packed_path, sizeof packed_path, "%s/whole.jfr.zst", directory);
    snprintf(cut_path, sizeof cut_path, "%s/cut.jfr", directory);
    snprintf(out_path, sizeof out_path, "%s/out.jfr", directory);
    snprintf(parts_path, sizeof parts_path, "%s/part-%%n.jfr", directory);
}

static void remove_directory(void)
{
    char command[256];

    maker_close(&maker);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_hostile, .init = make_directory, .fini = remove_directory, .timeout = 1800);

static void save(const char *path, const void *from, size_t count)
{
    FILE *file = fopen(path, "w");

    cr_assert(file != NULL && fwrite(from, 1, count, file) == count && fclose(file) == 0);
}

static void load(const char *path)
{
    FILE *file = fopen(path, "r");

    cr_assert_not_null(file);
    length = fread(bytes, 1, sizeof bytes, file);
    cr_assert(length < sizeof bytes && fclose(file) == 0);
}

/* Some dozen chunks; all their events, as both formats have them; `is_packed`: with zstd. False: no zstd. */
static bool make_whole(bool is_packed)
{
    for (uint64_t i = 0; i < CHUNKS; i++)
        maker_usual_chunk(&maker, START_NS + i * SECOND);
    save(whole_path, maker.bytes, maker.used_bytes);
    cr_assert_eq(RUN("convert", "-q", "-o", "jsonl", whole_path, "-"), 0);
    cr_assert_eq(json_lines(out_text), 8 * CHUNKS);
    strcpy(whole_lines, out_text);
    cr_assert_eq(RUN("convert", "-q", "-o", "csv", "-e", "cpu", whole_path, "-"), 0);
    strcpy(whole_rows, out_text);
    if (is_packed && !jfr_can_pack())
        return false;
    if (is_packed)
        cr_assert_eq(RUN("convert", "-q", whole_path, packed_path), 0);
    load(is_packed ? packed_path : whole_path);
    return true;
}

/* What comes out is the beginning of what the whole recording has; that it is not all of it is told, but of what was mended. */
static size_t check_beginning(const char *path, const char *format, const char *whole, size_t at)
{
    const int status = RUN("convert", "-o", format, "-e", "cpu", path, "-");
    const char *first = strstr(whole, strcmp(format, "csv") == 0 ? "type" : "{");
    const size_t shown = strlen(out_text);

    cr_assert(status == 0 || status == 1, "%zu: %d", at, status);
    cr_assert_eq(strncmp(out_text, first, shown), 0, "%s of %zu bytes", format, at);
    cr_assert(path == out_path || status != 0 || shown == strlen(first) || err_text[0] != '\0',
              "%s of %zu bytes: nothing is said", format, at);
    return shown;
}

static void check_commands(size_t at)
{
    char part[160];

    unlink(out_path);
    const int merged = RUN("merge", cut_path, whole_path, out_path);
    cr_assert(merged == 0 || merged == 1, "%zu: %d", at, merged);
    cr_assert(merged == 0 || access(out_path, F_OK) != 0, "%zu: %s", at, err_text);
    if (merged == 0)
        cr_assert_eq(RUN("summary", "--strict", out_path), 0, "%zu: %s", at, out_text);

    const int split = RUN("split", "--size", "16k", cut_path, parts_path);
    cr_assert(split == 0 || split == 1, "%zu: %d", at, split);
    for (int i = 1;; i++) {
        snprintf(part, sizeof part, "%s/part-%03d.jfr", directory, i);
        if (access(part, F_OK) != 0)
            break;
        cr_assert_eq(RUN("summary", "--strict", part), 0, "%zu: %s", at, out_text);
        unlink(part);
    }
    const int compared = RUN("compare", "-o", "markdown", cut_path, whole_path);
    cr_assert(compared == 0 || compared == 1, "%zu: %d", at, compared);
}

static void check_cuts(void)
{
    static char whole_samples[400000];
    size_t kept_before = 0;

    cr_assert_geq(length, 8 * STEP);
    cr_assert_eq(RUN("convert", "-q", "-o", "jsonl", "-e", "cpu", whole_path, "-"), 0);
    strcpy(whole_samples, out_text);
    for (size_t at = STEP; at < length; at += STEP) {
        save(cut_path, bytes, at);
        const size_t shown = check_beginning(cut_path, "jsonl", whole_samples, at);
        check_beginning(cut_path, "csv", whole_rows, at);
        check_commands(at);

        /* What is recovered is no less, and grows with what there is. */
        unlink(out_path);
        if (RUN("recover", "-q", cut_path, out_path) != 0)
            continue;
        const size_t kept = check_beginning(out_path, "jsonl", whole_samples, at);
        cr_assert(kept >= shown && kept >= kept_before, "%zu: %zu of %zu", at, kept, shown);
        kept_before = kept;
    }
    cr_assert_neq(kept_before, 0);
}

/* Of what is mended something is told, but it is whole: the last word is the recording's. */
Test(cli_hostile, m57_cut_at_each_page_no_command_shows_what_was_not_there)
{
    cr_assert(make_whole(false));
    check_cuts();
}

Test(cli_hostile, m57_cut_at_each_page_of_a_packed_one)
{
    if (make_whole(true))
        check_cuts();
}

/* Each bit of it guards itself where it is packed; of a plain one each line is still one. */
Test(cli_hostile, m57_flipped_bits_end_no_line_and_no_command)
{
    for (int is_packed = 0; is_packed < 2; is_packed++) {
        maker_close(&maker);
        if (!make_whole(is_packed != 0))
            return;
        for (size_t at = 11; at < length; at += 2039) {
            bytes[at] ^= (unsigned char)(1 << at % 8);
            save(cut_path, bytes, length);
            bytes[at] ^= (unsigned char)(1 << at % 8);
            (void)RUN("convert", "-o", "jsonl", cut_path, "-");
            cr_assert_neq(json_lines(out_text), -1, "%zu", at);
            (void)RUN("convert", "-o", "csv", cut_path, "-");
            cr_assert_neq(csv_rows(out_text), -1, "%zu", at);
            unlink(out_path);
            if (RUN("recover", cut_path, out_path) == 0)
                cr_assert_eq(RUN("summary", "--strict", out_path), 0, "%zu: %s", at, out_text);
        }
    }
}

/* A chunk that says it has so many bytes, of which so many zeros are there. */
static void make_bomb(uint64_t size_bytes, size_t zero_bytes)
{
    static const unsigned char zeros[1 << 16];
    struct jfr_buffer packed = {0};
    struct jw_error err = {{0}};
    struct jfr_packer *packer = jfr_packer_open(&err);

    maker_close(&maker);
    maker_usual_chunk(&maker, START_NS);
    for (unsigned i = 0; i < 8; i++)
        maker.bytes[8 + i] = (unsigned char)(size_bytes >> (56 - 8 * i));
    jfr_put_packed_header(&packed, maker.bytes);
    for (size_t at = 0; at < zero_bytes; at += sizeof zeros)
        cr_assert(jfr_packer_put(packer, zeros, sizeof zeros, JFR_PACK_MORE, &packed, &err));
    cr_assert(jfr_packer_put(packer, NULL, 0, JFR_PACK_END, &packed, &err));
    jfr_packer_close(packer);
    save(packed_path, packed.bytes, packed.used_bytes);
    jfr_buffer_close(&packed);
}

Test(cli_hostile, s18_what_would_become_too_much_is_refused_by_every_command)
{
    static const struct {
        uint64_t size_bytes;
        size_t zero_bytes;
    } bombs[] = {{(uint64_t)1 << 62, 1 << 20}, {4096, 4 << 20}, {(uint64_t)512 << 20, 1 << 16}};

    struct stat found;

    if (!jfr_can_pack())
        return;
    for (size_t i = 0; i < JW_COUNT_OF(bombs); i++) {
        make_bomb(bombs[i].size_bytes, bombs[i].zero_bytes);
        cr_assert_eq(RUN("convert", "-o", "jsonl", packed_path, out_path), 1, "%zu", i);
        cr_assert_eq(RUN("convert", "-o", "csv", packed_path, out_path), 1, "%zu", i);
        cr_assert_eq(RUN("recover", packed_path, out_path), 1, "%zu", i);
        cr_assert_eq(RUN("compare", packed_path, packed_path), 1, "%zu", i);
        cr_assert_eq(RUN("summary", "--strict", packed_path), 1, "%zu", i);
        /* What copies chunks looks into none: what is there is copied, and no more. */
        if (RUN("convert", packed_path, out_path) == 0 || RUN("merge", packed_path, out_path) == 0)
            cr_assert(i == 1 && stat(out_path, &found) == 0 && found.st_size == 4096);
        else
            cr_assert_neq(access(out_path, F_OK), 0, "%zu", i);
        unlink(out_path);
    }
}
