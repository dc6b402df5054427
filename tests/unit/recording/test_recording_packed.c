/* The packed file on disk: whatever call is the last one or fails, what was told as written is read. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jfr/jfr_packed.h"
#include "jfr/jfr_reader.h"
#include "jfr/jfr_writer.h"
#include "os/os_output.h"
#include "recording/recording_file.h"

#define CHUNKS 3
#define PARTS  4

static char directory[] = "/tmp/jaywalk-packed-XXXXXX";
static char path[64], other[64];
static struct jw_error err;
static uint64_t now_ticks, checkpoint_offset;
static unsigned written; /* events of calls that came back true */

static void make_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr.zst", directory);
    snprintf(other, sizeof other, "%s/copy.jfr.zst", directory);
}

static void remove_directory(void)
{
    unlink(path);
    unlink(other);
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

TestSuite(recording_packed, .init = make_directory, .fini = remove_directory, .timeout = 1800);

static struct recording_file_part make_part(struct jfr_buffer *out, uint64_t part_offset,
                                            bool begins_chunk)
{
    static struct jfr_pools pools;
    char text[600];

    jfr_buffer_clear(out);
    now_ticks += 1000000;
    if (begins_chunk)
        jfr_put_metadata(out, now_ticks,
                         &(struct jfr_declaration){.dialect = JFR_DIALECT_STANDARD});
    for (size_t i = 0; i < sizeof text; i++) /* hardly packed */
        text[i] = (char)('a' + random() % 26);
    jfr_put_text(jfr_pool_put(&pools, JFR_TYPE_THREAD_STATE, now_ticks), "STATE", 5);
    const size_t begin = jfr_event_begin(out, JFR_TYPE_OS_INFORMATION);
    jfr_put_varint(out, now_ticks);
    jfr_put_text(out, text, sizeof text);
    jfr_event_end(out, begin);

    const size_t checkpoint_at = out->used_bytes;
    const uint64_t offset = part_offset + checkpoint_at;
    jfr_put_checkpoint(out, &pools, now_ticks, begins_chunk ? 0 : offset - checkpoint_offset);
    checkpoint_offset = offset;
    jfr_pools_close(&pools);
    return (struct recording_file_part){
        .bytes = out->bytes,
        .length_bytes = out->used_bytes,
        .has_checkpoint = true,
        .checkpoint_at = checkpoint_at,
        .start_wall_ns = 1700000000000000000ull + now_ticks,
        .start_ticks = now_ticks,
        .duration_ns = 1000000,
    };
}

/* Events of the file; -1: it is not there. What is wrong with it fails the test. */
static int events_of(const char *file, bool must_be_whole)
{
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jw_error why = {{0}};
    int events = 0;

    if (access(file, F_OK) != 0)
        return -1;
    struct jfr_reader *reader = jfr_reader_open(file, &why);
    while (reader != NULL && jfr_reader_next_chunk(reader, &chunk, &why)) {
        while (jfr_reader_next_event(reader, &event, &why))
            events++;
    }
    cr_assert_str_eq(why.message, "");
    cr_assert(!must_be_whole || jfr_reader_notice(reader)[0] == '\0', "%s",
              jfr_reader_notice(reader));
    jfr_reader_close(reader);
    return events;
}

static bool live(const struct os_output_calls *calls)
{
    struct jfr_buffer buffer = {0};
    struct recording_file_part part = make_part(&buffer, JFR_HEADER_BYTES, true);
    struct recording_file *file = recording_file_open(path, calls, &part, &err);
    bool is_good = file != NULL;

    written = is_good;
    for (int chunk = 0; is_good && chunk < CHUNKS; chunk++) {
        if (chunk > 0) {
            part = make_part(&buffer, JFR_HEADER_BYTES, true);
            is_good = recording_file_begin_chunk(file, &part, &err);
            written += is_good;
        }
        for (int i = 0; is_good && i < PARTS; i++) {
            part = make_part(&buffer, recording_file_next_offset(file), false);
            is_good = recording_file_append(file, &part, &err);
            written += is_good;
        }
    }
    if (is_good) {
        part = make_part(&buffer, recording_file_next_offset(file), false);
        is_good = recording_file_finish(file, &part, &err);
        written += is_good;
    }
    recording_file_close(file);
    jfr_buffer_close(&buffer);
    return is_good;
}

static unsigned calls_made, fail_at, states;

static ssize_t watched_write(int fd, const void *bytes, size_t length_bytes, off_t offset)
{
    const int before = events_of(path, false);

    cr_assert(written == 0 || before >= (int)written, "%d of %u", before, written);
    if (++calls_made == fail_at) {
        errno = ENOSPC;
        return -1;
    }
    const off_t at = offset % 4096;
    cr_assert(length_bytes != JFR_HEADER_BYTES || at <= 4096 - JFR_HEADER_BYTES,
              "a header crosses a page at %lld", (long long)offset);
    /* The system stops a write between two pages only. */
    const size_t left_bytes = (size_t)(4096 - at);
    const ssize_t done =
        pwrite(fd, bytes, length_bytes < left_bytes ? length_bytes : left_bytes, offset);
    cr_assert_geq(events_of(path, false), before, "call %u took events away", calls_made);
    states++;
    return done;
}

static struct os_output_calls watched(void)
{
    struct os_output_calls calls = os_output_system_calls;

    calls.write_at = watched_write;
    calls_made = states = 0;
    unlink(path);
    now_ticks = 1000000000;
    written = 0;
    jw_error_clear(&err);
    return calls;
}

Test(recording_packed, m54_what_was_written_is_read_before_and_after_every_call)
{
    struct os_output_calls calls = watched();

    if (!jfr_can_pack()) {
        cr_assert_not(live(&calls));
        cr_assert_not_null(strstr(err.message, "built without zstd"), "%s", err.message);
        return;
    }
    for (unsigned seed = 1; seed <= 5; seed++) {
        srandom(seed);
        calls = watched();
        cr_assert(live(&calls), "%s", err.message);
        cr_expect_geq(states, 2 * CHUNKS * PARTS);
        cr_expect_eq(events_of(path, true), CHUNKS * (PARTS + 1) + 1);
    }
}

Test(recording_packed, m53_stays_readable_and_says_why_when_any_write_fails)
{
    if (!jfr_can_pack())
        return;
    for (fail_at = 1;; fail_at++) {
        const struct os_output_calls calls = watched();

        srandom(3);
        if (live(&calls))
            break;
        cr_expect(strstr(err.message, strerror(ENOSPC)) && strstr(err.message, path),
                  "write %u: %s", fail_at, err.message);
        cr_expect_geq(events_of(path, false), written == 0 ? -1 : (int)written);
    }
    cr_expect_geq(fail_at, 2 * CHUNKS * PARTS);
    fail_at = 0;
}

Test(recording_packed, a_copy_is_whole_and_the_recording_goes_on)
{
    struct jfr_buffer buffer = {0};

    if (!jfr_can_pack())
        return;
    struct recording_file_part part = make_part(&buffer, JFR_HEADER_BYTES, true);
    struct recording_file *file = recording_file_open(path, NULL, &part, &err);
    cr_assert_not_null(file, "%s", err.message);
    for (int i = 0; i < 3; i++) {
        part = make_part(&buffer, recording_file_next_offset(file), false);
        cr_assert(recording_file_append(file, &part, &err));
        cr_assert(recording_file_snapshot(file, other, &err), "%s", err.message);
        cr_expect_eq(events_of(other, true), i + 2);
        cr_expect_eq(events_of(path, true), i + 2);
    }
    char plain[64];
    snprintf(plain, sizeof plain, "%s/copy.jfr", directory);
    cr_expect_not(recording_file_snapshot(file, plain, &err), "a packed copy under a plain name");
    cr_expect_not_null(strstr(err.message, ".jfr.zst"), "%s", err.message);
    part = make_part(&buffer, recording_file_next_offset(file), false);
    cr_assert(recording_file_finish(file, &part, &err));
    recording_file_close(file);
    jfr_buffer_close(&buffer);
    cr_expect_eq(events_of(path, true), 5);
}

Test(recording_packed, a_chunk_that_readers_would_refuse_is_not_written)
{
    struct jfr_buffer buffer = {0};

    if (!jfr_can_pack())
        return;
    struct recording_file_part part = make_part(&buffer, JFR_HEADER_BYTES, true);
    struct recording_file *file = recording_file_open(path, NULL, &part, &err);
    cr_assert_not_null(file, "%s", err.message);
    part = make_part(&buffer, recording_file_next_offset(file), false);
    part.length_bytes = JFR_PACKED_MAX_CHUNK_BYTES; /* not looked at */
    cr_expect_not(recording_file_append(file, &part, &err));
    cr_expect_not_null(strstr(err.message, "512 MiB"), "%s", err.message);
    recording_file_close(file);
    jfr_buffer_close(&buffer);
    cr_expect_eq(events_of(path, true), 1);
}
