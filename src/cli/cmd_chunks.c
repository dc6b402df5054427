/* `jaywalk recover`, `merge` and `split`: recordings made of chunks of others. Context: tool. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "cli/cli_chunks_internal.h"
#include "cli/cli_files_internal.h"
#include "cli/cli_text_internal.h"
#include "jfr/jfr_mend.h"
#include "jfr/jfr_reader.h"
#include "options/options_value.h"

#define CLOCK_APART_NS 1e9

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

static bool is_folder(const char *path)
{
    struct stat found;

    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/* What all have in common: recordings, and then an output. */
static int begin(const struct cli_command *command, const struct cli_values *values,
                 struct cli_files *files)
{
    struct jw_error err = {{0}};

    if (values->operands.count < 2) {
        jw_error_set(&err, "%s: a recording and an output are needed; usage: %s", command->name,
                     command->usage);
        return cli_usage_error(command, &err);
    }
    if (cli_files_gather(&values->operands, values->operands.count - 1, files, &err))
        return CLI_OK;
    cli_complain("%s", err.message);
    return CLI_FAILED;
}

static bool check_output(const char *in, const char *out, struct jw_error *err)
{
    if (!cli_is_recording_name(out)) {
        jw_error_set(err, "'%.200s' is no name of a recording; end it in .jfr or .jfr.zst", out);
        return false;
    }
    if (cli_is_same_file(in, out)) {
        jw_error_set(err, "'%.200s' is the recording itself; name another output", out);
        return false;
    }
    return true;
}

/* ---- recover ---- */

struct recovered {
    uint64_t whole, mended, gone; /* chunks */
    uint64_t kept_bytes, lost_bytes, events;
    char reason[160]; /* the first */
};

static bool recover_chunks(struct jfr_mender *mender, struct cli_chunks *chunks, bool is_quiet,
                           struct recovered *sums, struct jw_error *err)
{
    struct cli_progress progress;
    struct jfr_mended mended;
    bool is_good = true;

    cli_progress_begin(&progress, is_quiet);
    while (is_good && jfr_mender_next(mender, &mended, err)) {
        if (mended.reason[0] != '\0' && sums->reason[0] == '\0')
            snprintf(sums->reason, sizeof sums->reason, "byte %" PRIu64 ": %.100s",
                     mended.offset_bytes, mended.reason);
        sums->lost_bytes += mended.lost_bytes;
        sums->events += mended.events;
        sums->kept_bytes += mended.size_bytes;
        sums->whole += mended.bytes != NULL && !mended.is_changed;
        sums->mended += mended.bytes != NULL && mended.is_changed;
        sums->gone += mended.bytes == NULL;
        is_good = mended.bytes == NULL ||
                  cli_chunks_put_whole(chunks, mended.bytes, mended.size_bytes, err);
        cli_progress_show(&progress, "recovering", jfr_mender_position_bytes(mender),
                          jfr_mender_size_bytes(mender));
    }
    cli_progress_end(&progress);
    return is_good && err->message[0] == '\0';
}

static void tell_recovered(const char *in, const char *out, const struct recovered *sums)
{
    char lost[32], kept[32], events[32];

    cli_text_digits(sums->lost_bytes, lost);
    cli_text_digits(sums->kept_bytes, kept);
    cli_text_digits(sums->events, events);
    cli_put(in, stdout);
    fputs(": ", stdout);
    if (sums->mended + sums->gone == 0 && sums->lost_bytes == 0)
        fputs("was whole", stdout);
    else
        printf("%" PRIu64 " chunk%s whole, %" PRIu64 " mended, %" PRIu64 " lost; %s bytes left out",
               sums->whole, sums->whole == 1 ? "" : "s", sums->mended, sums->gone, lost);
    if (sums->reason[0] != '\0') {
        fputs(" (", stdout);
        cli_put(sums->reason, stdout);
        fputc(')', stdout);
    }
    printf("; %s events in %s bytes: ", events, kept);
    cli_put(out, stdout);
    fputc('\n', stdout);
}

static bool recover(const char *in, const char *out, bool is_quiet, struct jw_error *err)
{
    struct recovered sums = {.whole = 0};
    struct jfr_mender *mender = NULL;
    struct cli_chunks *chunks = NULL;
    bool is_good = check_output(in, out, err);

    if (is_good)
        mender = jfr_mender_open(in, err);
    if (mender != NULL)
        chunks = cli_chunks_open(out, err);
    is_good = chunks != NULL && recover_chunks(mender, chunks, is_quiet, &sums, err);
    if (is_good && sums.whole + sums.mended == 0) {
        jw_error_set(err, "%s: nothing of it can be recovered: %s", in, sums.reason);
        is_good = false;
    }
    is_good = is_good && cli_chunks_publish(chunks, err);
    if (is_good && !is_quiet)
        tell_recovered(in, out, &sums);
    cli_chunks_close(chunks);
    jfr_mender_close(mender);
    return is_good;
}

/* Two of one name would become one. */
static bool are_names_different(const struct cli_files *files, struct jw_error *err)
{
    for (size_t i = 0; i < files->count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(base_name(files->paths[i]), base_name(files->paths[j])) == 0) {
                jw_error_set(
                    err, "recover: '%.150s' and '%.150s' have one name; recover them one by one",
                    files->paths[j], files->paths[i]);
                return false;
            }
        }
    }
    return true;
}

int cli_recover(const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_RECOVER];
    struct cli_files files = {.count = 0};
    struct jw_error err = {{0}};
    int status = begin(command, values, &files);

    if (status != CLI_OK)
        return status;
    const char *out = values->operands.texts[values->operands.count - 1];
    const bool is_into_folder = is_folder(out);

    if (files.count > 1 && !is_into_folder)
        jw_error_set(&err,
                     "recover: '%.200s' is no folder that is there; several recordings go into one",
                     out);
    if (err.message[0] != '\0' || (is_into_folder && !are_names_different(&files, &err))) {
        cli_files_close(&files);
        return cli_usage_error(command, &err);
    }
    for (size_t i = 0; i < files.count; i++) {
        char path[CLI_PATH_BYTES];

        jw_error_clear(&err);
        snprintf(path, sizeof path, is_into_folder ? "%s/%s" : "%s", out,
                 base_name(files.paths[i]));
        if (!recover(files.paths[i], path, values->is_quiet, &err)) {
            cli_complain("%s", err.message);
            status = CLI_FAILED;
        }
    }
    cli_files_close(&files);
    return status;
}

/* ---- merge ---- */

struct part {
    const char *path;
    uint64_t start_ns;
    uint64_t ticks_per_second;
    double clock_ns; /* since the Unix epoch, at tick 0 */
};

static int by_start(const void *left, const void *right)
{
    const struct part *one = left, *other = right;

    return one->start_ns != other->start_ns ? (one->start_ns < other->start_ns ? -1 : 1)
                                            : strcmp(one->path, other->path);
}

static bool find_starts(const struct cli_files *files, struct part *parts, struct jw_error *err)
{
    for (size_t i = 0; i < files->count; i++) {
        struct jfr_reader *reader = jfr_reader_open(files->paths[i], err);
        struct jfr_reader_chunk chunk;
        const bool is_read = reader != NULL && jfr_reader_next_whole(reader, &chunk, err);

        jfr_reader_close(reader);
        if (!is_read)
            return false;
        const double frequency = chunk.ticks_per_second <= 0 ? 1.0 : (double)chunk.ticks_per_second;
        parts[i] = (struct part){
            .path = files->paths[i],
            .start_ns = chunk.start_unix_ns,
            .ticks_per_second = (uint64_t)frequency,
            .clock_ns = (double)chunk.start_unix_ns - (double)chunk.start_ticks * 1e9 / frequency,
        };
    }
    qsort(parts, files->count, sizeof *parts, by_start);
    return true;
}

/* Bytes of files and how many of them are done, for the progress of all. */
struct work {
    struct cli_progress progress;
    const char *name;
    uint64_t done_bytes, all_bytes;
    bool is_quiet;
};

static void show_work(struct work *work, const struct jfr_reader *reader)
{
    cli_progress_show(&work->progress, work->name,
                      work->done_bytes + jfr_reader_position_bytes(reader), work->all_bytes);
}

static void tell_notice(struct work *work, const struct jfr_reader *reader)
{
    if (jfr_reader_notice(reader)[0] == '\0' || work->is_quiet)
        return;
    cli_progress_end(&work->progress);
    cli_complain("%s; 'jaywalk recover' may keep more", jfr_reader_notice(reader));
}

static bool merge_file(struct cli_chunks *chunks, const char *path, struct work *work,
                       struct jw_error *err)
{
    struct jfr_reader *reader = jfr_reader_open(path, err);
    struct jfr_reader_chunk chunk;
    bool is_good = reader != NULL;

    while (is_good && jfr_reader_next_whole(reader, &chunk, err)) {
        is_good = cli_chunks_copy(chunks, reader, &chunk, err);
        show_work(work, reader);
    }
    if (reader != NULL) {
        tell_notice(work, reader);
        work->done_bytes += jfr_reader_size_bytes(reader);
    }
    jfr_reader_close(reader);
    return is_good && err->message[0] == '\0';
}

/* Source: jdk.jfr of JDK 25, ChunkParser: ticks of all chunks of a file by the clock of the first. */
static void tell_clocks(const struct part *parts, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const double apart_ns = parts[i].clock_ns - parts[0].clock_ns;

        if (parts[i].ticks_per_second == parts[0].ticks_per_second && apart_ns < CLOCK_APART_NS &&
            apart_ns > -CLOCK_APART_NS)
            continue;
        cli_complain(
            "%s: its clock is another than that of %s; jaywalk and JDK Mission Control read both "
            "right, the jfr tool of JDK 25 shows wrong times for all but the first",
            parts[i].path, parts[0].path);
        return;
    }
}

static bool merge(const struct cli_files *files, const char *out, bool is_quiet,
                  struct jw_error *err)
{
    struct part *parts = jw_alloc(jw_mul_bytes(files->count, sizeof *parts));
    struct cli_chunks *chunks = NULL;
    struct work work = {.name = "merging", .all_bytes = files->bytes, .is_quiet = is_quiet};
    bool is_good = parts != NULL;

    if (!is_good)
        jw_error_set(err, "no memory");
    is_good = is_good && find_starts(files, parts, err);
    if (is_good && !is_quiet)
        tell_clocks(parts, files->count);
    if (is_good)
        chunks = cli_chunks_open(out, err);
    is_good = chunks != NULL;
    cli_progress_begin(&work.progress, is_quiet);
    for (size_t i = 0; is_good && i < files->count; i++)
        is_good = (i == 0 || cli_chunks_separate(chunks, parts[i].start_ns - 1, err)) &&
                  merge_file(chunks, parts[i].path, &work, err);
    cli_progress_end(&work.progress);
    is_good = is_good && cli_chunks_publish(chunks, err);
    cli_chunks_close(chunks);
    jw_free(parts);
    return is_good;
}

int cli_merge(const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_MERGE];
    struct cli_files files = {.count = 0};
    struct jw_error err = {{0}};
    int status = begin(command, values, &files);

    if (status != CLI_OK)
        return status;
    const char *out = values->operands.texts[values->operands.count - 1];
    for (size_t i = 0; i < files.count && status == CLI_OK; i++) {
        if (!check_output(files.paths[i], out, &err))
            status = cli_usage_error(command, &err);
    }
    if (status == CLI_OK && !merge(&files, out, values->is_quiet, &err)) {
        cli_complain("%s", err.message);
        status = CLI_FAILED;
    }
    cli_files_close(&files);
    return status;
}

/* ---- split ---- */

struct cut {
    uint64_t every_ns;   /* 0: by size */
    uint64_t size_bytes; /* 0: by time */
};

struct split {
    struct cut cut;
    const char *pattern; /* of the outputs, with %n */
    struct cli_chunks *chunks;
    char path[CLI_PATH_BYTES]; /* of the open output */
    unsigned number;
    uint64_t begun_ns;
};

static bool end_part(struct split *split, struct jw_error *err)
{
    const bool is_good = split->chunks == NULL || cli_chunks_publish(split->chunks, err);

    cli_chunks_close(split->chunks);
    split->chunks = NULL;
    return is_good;
}

static bool begin_part(struct split *split, const struct jfr_reader_chunk *chunk,
                       struct jw_error *err)
{
    const char *number = strstr(split->pattern, "%n");
    struct stat found;

    split->number++;
    split->begun_ns = chunk->start_unix_ns;
    snprintf(split->path, sizeof split->path, "%.*s%03u%s", (int)(number - split->pattern),
             split->pattern, split->number, number + 2);
    if (lstat(split->path, &found) == 0) {
        jw_error_set(err, "%s: is there already; name other outputs, or remove it", split->path);
        return false;
    }
    split->chunks = cli_chunks_open(split->path, err);
    return split->chunks != NULL;
}

/* Chunks are not divided: what begins in time, and fits, is of this part. */
static bool is_of_part(const struct split *split, const struct jfr_reader_chunk *chunk)
{
    if (split->chunks == NULL)
        return false;
    if (split->cut.every_ns != 0)
        return chunk->start_unix_ns - split->begun_ns < split->cut.every_ns;
    return cli_chunks_bytes(split->chunks) + chunk->size_bytes <= split->cut.size_bytes;
}

static bool split_file(struct split *split, const char *path, struct work *work,
                       struct jw_error *err)
{
    struct jfr_reader *reader = jfr_reader_open(path, err);
    struct jfr_reader_chunk chunk;
    bool is_good = reader != NULL;

    while (is_good && jfr_reader_next_whole(reader, &chunk, err)) {
        if (!is_of_part(split, &chunk))
            is_good = end_part(split, err) && begin_part(split, &chunk, err);
        is_good = is_good && cli_chunks_copy(split->chunks, reader, &chunk, err);
        show_work(work, reader);
    }
    if (reader != NULL) {
        tell_notice(work, reader);
        work->done_bytes += jfr_reader_size_bytes(reader);
    }
    jfr_reader_close(reader);
    return is_good && err->message[0] == '\0' && end_part(split, err);
}

static bool read_cut(const struct cli_values *values, struct cut *cut, struct jw_error *err)
{
    if ((values->every == NULL) == (values->size == NULL)) {
        jw_error_set(
            err,
            "split: say where: either --every=TIME, such as 10m, or --size=BYTES, such as 100m");
        return false;
    }
    if (values->every != NULL ? options_value_period(values->every, strlen(values->every),
                                                     &cut->every_ns) == OPTIONS_VALUE_OK &&
                                    cut->every_ns > 0
                              : options_value_size(values->size, strlen(values->size),
                                                   &cut->size_bytes) == OPTIONS_VALUE_OK &&
                                    cut->size_bytes > 0)
        return true;
    jw_error_set(err, "split: '%.60s' is no %s; try %s",
                 values->every != NULL ? values->every : values->size,
                 values->every != NULL ? "time" : "size", values->every != NULL ? "10m" : "100m");
    return false;
}

int cli_split(const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_SPLIT];
    struct cli_files files = {.count = 0};
    struct jw_error err = {{0}};
    struct split *split;
    int status = begin(command, values, &files);

    if (status != CLI_OK)
        return status;
    split = jw_alloc(sizeof *split);
    if (split == NULL) {
        cli_complain("no memory");
        cli_files_close(&files);
        return CLI_FAILED;
    }
    split->pattern = values->operands.texts[values->operands.count - 1];
    if (!cli_is_recording_name(split->pattern) || strstr(split->pattern, "%n") == NULL)
        jw_error_set(
            &err,
            "split: the parts need names of their own; try part-%%n.jfr, where %%n is the number");
    if (err.message[0] != '\0' || !read_cut(values, &split->cut, &err)) {
        status = cli_usage_error(command, &err);
    } else {
        struct work work = {
            .name = "splitting", .all_bytes = files.bytes, .is_quiet = values->is_quiet};

        cli_progress_begin(&work.progress, values->is_quiet);
        for (size_t i = 0; i < files.count && err.message[0] == '\0'; i++)
            (void)!split_file(split, files.paths[i], &work, &err);
        cli_progress_end(&work.progress);
        cli_chunks_close(split->chunks);
        if (err.message[0] != '\0') {
            cli_complain("%s", err.message);
            status = CLI_FAILED;
        } else if (!values->is_quiet) {
            printf("%u part%s\n", split->number, split->number == 1 ? "" : "s");
        }
    }
    jw_free(split);
    cli_files_close(&files);
    return status;
}
