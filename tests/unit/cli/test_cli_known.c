/*
 * Stacks that chunks have in common: of several chunks in one recording comes what comes of each of them alone, which is never taken for known. Chunks whose keys
 * mean the same, or something else, or nothing; whose stacks and frames are laid out alike or not; of one thread and two, plain and packed, whole and damaged.
 * Stacks are rows of numbers that are the same bytes in all chunks, whatever they mean there. What fails tells its seed.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jw.h"
#include "run_cli.h"
#include "support/chunks_maker.h"

#define CHUNKS     5u
#define LINES_MOST 40000u

struct line {
    char *text;
    uint64_t count;
};

struct table {
    struct line *lines;
    size_t count;
};

static struct maker maker;
static char path[64], packed_path[80];
static char chunk_paths[CHUNKS][64];
static size_t chunk_begins[CHUNKS + 1];
static char *expected;
static struct table wanted, found;

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/jaywalk-known-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(packed_path, sizeof packed_path, "%s/packed.jfr.zst", directory);
    wanted.lines = malloc(LINES_MOST * sizeof *wanted.lines);
    found.lines = malloc(LINES_MOST * sizeof *found.lines);
    cr_assert_not_null(wanted.lines);
    cr_assert_not_null(found.lines);
}

static void clear(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->lines[i].text);
    table->count = 0;
}

static void remove_file(char *name)
{
    if (name[0] != '\0')
        unlink(name);
    name[0] = '\0';
}

static void end(void)
{
    char command[100];

    clear(&wanted);
    clear(&found);
    free(wanted.lines);
    free(found.lines);
    free(expected);
    maker_close(&maker);
    remove_file(path);
    for (size_t i = 0; i < CHUNKS; i++)
        remove_file(chunk_paths[i]);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_known, .init = begin, .fini = end, .timeout = 1800);

static void save(void)
{
    const struct maker all = maker;

    remove_file(path);
    cr_assert(maker_save(&maker, path));
    for (unsigned i = 0; i < CHUNKS; i++) {
        const struct maker one = {.bytes = all.bytes + chunk_begins[i],
                                  .used_bytes = chunk_begins[i + 1] - chunk_begins[i]};

        remove_file(chunk_paths[i]);
        cr_assert(maker_save(&one, chunk_paths[i]));
    }
}

/* ---- what comes of them ---- */

static int compare_lines(const void *one, const void *other)
{
    return strcmp(((const struct line *)one)->text, ((const struct line *)other)->text);
}

/* Adds the lines of collapsed stacks that are in out_text. */
static void add(struct table *table)
{
    for (char *line = strtok(out_text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *space = strrchr(line, ' ');

        cr_assert_not_null(space, "%s", line);
        cr_assert_lt(table->count, LINES_MOST);
        *space = '\0';
        table->lines[table->count++] = (struct line){strdup(line), strtoull(space + 1, NULL, 10)};
    }
}

static void sum_up(struct table *table)
{
    size_t kept = 0;

    qsort(table->lines, table->count, sizeof *table->lines, compare_lines);
    for (size_t i = 0; i < table->count; i++) {
        if (kept > 0 && strcmp(table->lines[kept - 1].text, table->lines[i].text) == 0) {
            table->lines[kept - 1].count += table->lines[i].count;
            free(table->lines[i].text);
        } else {
            table->lines[kept++] = table->lines[i];
        }
    }
    table->count = kept;
}

#define OPTIONS_MOST 3

static int convert(const char *const options[OPTIONS_MOST], const char *jobs, const char *in)
{
    const char *words[OPTIONS_MOST + 9] = {"convert", "-q", "-o", "collapsed", "--jobs", jobs};
    size_t count = 6;

    for (size_t i = 0; i < OPTIONS_MOST && options[i] != NULL; i++)
        words[count++] = options[i];
    words[count++] = in;
    words[count++] = "-";
    const int status = run(words);
    cr_assert_lt(strlen(out_text), sizeof out_text - 1);
    return status;
}

static void compare_tables(const char *what)
{
    for (size_t i = 0; i < wanted.count && i < found.count; i++)
        cr_assert(strcmp(wanted.lines[i].text, found.lines[i].text) == 0 &&
                      wanted.lines[i].count == found.lines[i].count,
                  "%s: \"%.300s\" %llu, not \"%.300s\" %llu", what, found.lines[i].text,
                  (unsigned long long)found.lines[i].count, wanted.lines[i].text,
                  (unsigned long long)wanted.lines[i].count);
    cr_assert_eq(wanted.count, found.count, "%s", what);
}

/* The sums of all chunks alone go to `wanted`. False: one of them cannot be read. */
static bool sum_chunks(const char *const options[OPTIONS_MOST])
{
    clear(&wanted);
    for (unsigned i = 0; i < CHUNKS; i++) {
        if (convert(options, "1", chunk_paths[i]) != CLI_OK)
            return false;
        add(&wanted);
    }
    sum_up(&wanted);
    return true;
}

/* By one thread, or also by two. */
static void compare_with(const char *const options[OPTIONS_MOST], const char *in, unsigned threads,
                         unsigned seed)
{
    static const char *const jobs[] = {"1", "2"};
    char what[100];

    for (size_t i = 0; i < threads; i++) {
        cr_assert_eq(convert(options, jobs[i], in), CLI_OK, "%s", err_text);
        clear(&found);
        add(&found);
        sum_up(&found);
        snprintf(what, sizeof what, "seed %u, %s %s, --jobs %s%s", seed, options[0],
                 options[1] == NULL ? "" : options[1], jobs[i], in == path ? "" : ", packed");
        compare_tables(what);
    }
}

static const char *const all_options[][OPTIONS_MOST] = {
    {"--event=cpu"},
    {"--event=cpu", "--threads"},
    {"--event=wall"},
    {"--event=alloc", "--lines"},
};

static void compare_all(unsigned seed)
{
    for (size_t i = 0; i < JW_COUNT_OF(all_options); i++) {
        cr_assert(sum_chunks(all_options[i]), "seed %u: %s", seed, err_text);
        cr_assert_geq(wanted.count, 20);
        compare_with(all_options[i], path, 2, seed);
    }
}

static void make_chunks(const struct chunk_shape shapes[CHUNKS])
{
    maker_close(&maker);
    for (unsigned i = 0; i < CHUNKS; i++) {
        chunk_begins[i] = maker.used_bytes;
        chunks_put(&maker, &shapes[i], i);
    }
    chunk_begins[CHUNKS] = maker.used_bytes;
    save();
}

static void make_any_chunks(unsigned seed)
{
    struct chunk_shape shapes[CHUNKS] = {{.frame = CHUNK_FRAME_USUAL}};

    chunks_make_stacks(seed);
    for (unsigned i = 0; i < CHUNKS; i++) {
        if (i > 0)
            shapes[i] = shapes[i - 1];
        chunks_change(&shapes[i]);
    }
    make_chunks(shapes);
}

/* ---- the tests ---- */

Test(cli_known, of_chunks_that_are_alike_come_their_sums)
{
    const struct chunk_shape shapes[CHUNKS] = {{.frame = CHUNK_FRAME_USUAL}};

    for (unsigned seed = 1; seed <= 2; seed++) {
        chunks_make_stacks(seed);
        make_chunks(shapes);
        compare_all(seed);
        cr_assert_eq(RUN("convert", "-q", path, packed_path), CLI_OK, "%s", err_text);
        for (size_t i = 0; i < 2; i++) {
            cr_assert(sum_chunks(all_options[i]));
            compare_with(all_options[i], packed_path, 2, seed);
        }
    }
}

Test(cli_known, of_chunks_of_any_shape_come_their_sums)
{
    for (unsigned seed = 100; seed < 103; seed++) {
        make_any_chunks(seed);
        compare_all(seed);
    }
}

/* What keys mean changes, and goes on to be so; and changes back. */
static void compare_turns(const struct chunk_shape *one, const struct chunk_shape *other,
                          unsigned seed)
{
    const struct chunk_shape turns[][CHUNKS] = {
        {*one, *one, *other, *other, *one},
        {*other, *one, *one, *other, *one},
    };

    static const char *const options[][OPTIONS_MOST] = {
        {"--event=cpu", "--threads"}, {"--event=cpu", "--lines"}, {"--event=alloc"}};

    for (size_t i = 0; i < JW_COUNT_OF(turns); i++) {
        chunks_make_stacks(seed);
        make_chunks(turns[i]);
        for (size_t j = 0; j < JW_COUNT_OF(options); j++) {
            cr_assert(sum_chunks(options[j]), "seed %u: %s", seed, err_text);
            compare_with(options[j], path, 1, seed);
        }
    }
}

Test(cli_known, methods_may_change_places)
{
    const struct chunk_shape one = {.swapped = 0}, shifted = {.shift = 1},
                             swapped = {.swapped = 20};

    compare_turns(&one, &shifted, 1);
    compare_turns(&one, &swapped, 2);
}

Test(cli_known, methods_may_be_missing)
{
    const struct chunk_shape one = {.missing = 0}, some = {.missing = 5}, others = {.missing = 3};

    compare_turns(&one, &some, 3);
    compare_turns(&some, &others, 4);
}

/* Stacks that end alike end in what is missing: none of them is known when it comes. */
Test(cli_known, methods_may_come_that_were_missing)
{
    const struct chunk_shape shapes[CHUNKS] = {{.missing = 5}};

    for (unsigned seed = 70; seed < 72; seed++) {
        chunks_make_stacks(seed);
        make_chunks(shapes);
        compare_all(seed);
    }
}

/* A method comes with a chunk, is missing in the next one, and is another one when it comes again. */
Test(cli_known, methods_may_come_back_as_others)
{
    const struct chunk_shape shapes[CHUNKS] = {{.missing = 4},
                                               {.missing = 3},
                                               {.missing = 4},
                                               {.missing = 3, .swapped = 20},
                                               {.missing = 3}};

    for (unsigned seed = 5; seed < 8; seed++) {
        chunks_make_stacks(seed);
        make_chunks(shapes);
        compare_all(seed);
    }
}

Test(cli_known, types_of_frames_may_change_places_or_be_missing)
{
    const struct chunk_shape one = {.type_shift = 0}, shifted = {.type_shift = 1},
                             missing = {.missing_type = 2};

    compare_turns(&one, &shifted, 8);
    compare_turns(&one, &missing, 9);
}

Test(cli_known, frames_may_be_laid_out_otherwise)
{
    const struct chunk_shape usual = {.frame = CHUNK_FRAME_USUAL};

    for (unsigned layout = CHUNK_FRAME_USUAL + 1; layout < CHUNK_FRAME_LAYOUTS; layout++) {
        const struct chunk_shape other = {.frame = layout};

        compare_turns(&usual, &other, 10 + layout);
    }
}

Test(cli_known, stacks_may_be_laid_out_otherwise)
{
    const struct chunk_shape first = {.trace = CHUNK_TRACE_CUT_FIRST},
                             last = {.trace = CHUNK_TRACE_CUT_LAST},
                             never = {.trace = CHUNK_TRACE_NEVER_CUT};

    compare_turns(&first, &last, 20);
    compare_turns(&last, &never, 21);
}

Test(cli_known, names_may_be_written_otherwise)
{
    const struct chunk_shape usual = {.encoding = CHUNK_ENCODING_UTF8};

    for (unsigned encoding = CHUNK_ENCODING_UTF8 + 1; encoding < CHUNK_ENCODINGS; encoding++) {
        const struct chunk_shape other = {.encoding = encoding};

        compare_turns(&usual, &other, 22 + encoding);
    }
}

/* What stands in a pool of strings is another text there in the next chunk. */
Test(cli_known, names_that_are_constants_are_those_of_their_chunk)
{
    const struct chunk_shape shapes[CHUNKS] = {{.encoding = CHUNK_ENCODING_POOLED},
                                               {.encoding = CHUNK_ENCODING_POOLED},
                                               {.encoding = CHUNK_ENCODING_POOLED},
                                               {.encoding = CHUNK_ENCODING_POOLED, .shift = 2},
                                               {.encoding = CHUNK_ENCODING_POOLED, .shift = 2}};

    chunks_make_stacks(30);
    make_chunks(shapes);
    compare_all(30);
}

Test(cli_known, keys_may_be_large_or_there_twice)
{
    const struct chunk_shape usual = {.has_far = false}, far = {.has_far = true, .shift = 1},
                             twice = {.has_twice = true};

    compare_turns(&usual, &far, 31);
    compare_turns(&usual, &twice, 32);
}

Test(cli_known, stacks_with_keys_of_frames_are_those_of_their_chunk)
{
    const struct chunk_shape plain = {.is_keyed = false}, keyed = {.is_keyed = true};

    compare_turns(&plain, &keyed, 33);
    compare_turns(&keyed, &keyed, 34);
}

Test(cli_known, chunks_of_few_stacks_may_stand_between)
{
    const struct chunk_shape many = {.has_few = false}, few = {.has_few = true, .shift = 1};

    compare_turns(&many, &few, 35);
}

/* So many that a stack of one thread lies beside the same one of another. */
Test(cli_known, stacks_are_those_of_their_thread)
{
    const struct chunk_shape many = {.has_threads = true};
    const struct chunk_shape shapes[CHUNKS] = {many, many, many};
    static const char *const options[OPTIONS_MOST] = {"--event=cpu", "--threads"};

    chunks_make_stacks(36);
    make_chunks(shapes);
    cr_assert(sum_chunks(options));
    cr_assert_geq(wanted.count, 4500);
    compare_with(options, path, 2, 36);
}

Test(cli_known, stacks_of_two_types_in_a_chunk_are_told_apart)
{
    const struct chunk_shape plain = {.has_other = true},
                             keyed = {.has_other = true, .is_other_keyed = true},
                             turned = {.has_other = true, .frame = CHUNK_FRAME_LINE_FIRST};
    static const char *const together[OPTIONS_MOST] = {"--event=cpu"};
    const struct chunk_shape *const each[] = {&plain, &keyed, &turned};

    for (unsigned i = 0; i < JW_COUNT_OF(each); i++) {
        const struct chunk_shape shapes[CHUNKS] = {*each[i], *each[i], *each[i], *each[i],
                                                   *each[i]};

        chunks_make_stacks(40 + i);
        make_chunks(shapes);
        cr_assert(sum_chunks(together));
        compare_with(together, path, 2, 40 + i);
    }
}

/* What all threads have is what comes of them together, where stacks of the two types are next to each other, too. */
Test(cli_known, ends_of_stacks_of_two_types_are_told_apart)
{
    const struct chunk_shape both = {.has_other = true};
    const struct chunk_shape shapes[CHUNKS] = {both};
    static const char *const together[OPTIONS_MOST] = {"--event=cpu"};
    static const char *const apart[OPTIONS_MOST] = {"--event=cpu", "--threads"};

    chunks_make_stacks(60);
    make_chunks(shapes);
    clear(&wanted);
    clear(&found);
    cr_assert_eq(convert(together, "1", chunk_paths[0]), CLI_OK, "%s", err_text);
    add(&wanted);
    sum_up(&wanted);
    cr_assert_eq(convert(apart, "1", chunk_paths[0]), CLI_OK, "%s", err_text);
    add(&found);
    for (size_t i = 0; i < found.count; i++) {
        char *text = found.lines[i].text;
        const char *behind = strchr(text, ';');

        found.lines[i].text = strdup(behind == NULL ? "[no frames]" : behind + 1);
        free(text);
    }
    sum_up(&found);
    compare_tables("without threads");
}

/* With two threads each knows what it has read alone. */
Test(cli_known, whoever_reads_a_chunk_the_same_comes_out)
{
    static const char *const formats[] = {"explorer", "tree", "text", "html"};

    for (unsigned seed = 200; seed < 202; seed++) {
        make_any_chunks(seed);
        for (size_t i = 0; i < JW_COUNT_OF(formats); i++) {
            cr_assert_eq(RUN("convert", "--jobs", "1", "-o", formats[i], path, "-"), CLI_OK, "%s",
                         err_text);
            free(expected);
            expected = strdup(out_text);
            cr_assert_geq(strlen(expected), 100);
            cr_assert_eq(RUN("convert", "--jobs", "2", "-o", formats[i], path, "-"), CLI_OK, "%s",
                         err_text);
            cr_assert_str_eq(out_text, expected, "seed %u, %s", seed, formats[i]);
        }
    }
}

/* What can be read of each chunk comes of all; where one cannot be read, all cannot, and it is told alike. */
Test(cli_known, of_damage_comes_what_comes_of_the_damaged_chunk)
{
    static const char *const options[OPTIONS_MOST] = {"--event=cpu", "--lines"};
    unsigned read = 0, refused = 0;

    for (unsigned seed = 300; seed < 312; seed++) {
        const unsigned number = 1 + (seed % (CHUNKS - 1));
        char *told;

        make_any_chunks(seed);
        for (unsigned i = 0; i < 1 + seed % 3; i++) {
            const size_t begin_bytes = chunk_begins[number] + 68;

            maker.bytes[begin_bytes +
                        chunks_any((unsigned)(chunk_begins[number + 1] - begin_bytes))] ^=
                (unsigned char)(1u << chunks_any(8));
        }
        save();
        if (sum_chunks(options)) {
            compare_with(options, path, 2, seed);
            read++;
            continue;
        }
        const int status = convert(options, "1", path);
        cr_assert_neq(status, CLI_OK, "seed %u", seed);
        told = strdup(err_text);
        cr_assert_eq(convert(options, "2", path), status, "seed %u: %s", seed, err_text);
        cr_assert_str_eq(err_text, told, "seed %u", seed);
        free(told);
        refused++;
    }
    cr_assert_geq(read, 3, "%u read, %u refused", read, refused);
    cr_assert_geq(refused, 1, "%u read, %u refused", read, refused);
}

/* Whichever allocation is the first that fails: the command says that memory is out, or the same comes out. */
Test(cli_known, where_memory_ends_less_is_known_and_the_same_comes_out)
{
    static const char *const options[OPTIONS_MOST] = {"--event=cpu"};
    const struct chunk_shape shapes[CHUNKS] = {{.frame = CHUNK_FRAME_USUAL}};
    unsigned failed = 0, done = 0;

    chunks_make_stacks(50);
    make_chunks(shapes);
    cr_assert(sum_chunks(options));
    for (uint64_t nth = 1; done < 40; nth += 1 + nth / 40) {
        jw_alloc_fail_after(nth);
        const int status = convert(options, "1", path);
        jw_alloc_fail_after(0);

        cr_assert(status == CLI_OK || (status == CLI_FAILED && err_text[0] != '\0'), "%u: %d, %s",
                  (unsigned)nth, status, err_text);
        if (status == CLI_OK) {
            clear(&found);
            add(&found);
            sum_up(&found);
            compare_tables("less memory");
            done++;
        }
        failed += status == CLI_FAILED;
        if (nth > 100000)
            break;
    }
    cr_assert_geq(failed, 20);
}
