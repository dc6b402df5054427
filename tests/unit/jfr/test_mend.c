/* What is kept of recordings that were cut or damaged: the events that were there, in chunks that are whole. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jfr/jfr_mend.h"
#include "jfr/jfr_packed.h"
#include "jfr/jfr_reader.h"
#include "support/recording_maker.h"

#define CHUNKS 3
#define USUAL  8 /* events of a usual chunk */

static struct maker maker;
static char path[64], out_path[64];
static int file = -1, out = -1;
static struct jw_error err;
static size_t ends[CHUNKS + 1];

static void begin(void)
{
    file = memfd_create("in", MFD_CLOEXEC);
    out = memfd_create("out", MFD_CLOEXEC);
    cr_assert(file >= 0 && out >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    snprintf(out_path, sizeof out_path, "/proc/self/fd/%d", out);
}

static void end(void)
{
    jw_alloc_fail_after(0);
    maker_close(&maker);
    close(file);
    close(out);
}

TestSuite(mend, .init = begin, .fini = end, .timeout = 1800);

static void make_chunks(void)
{
    for (uint64_t n = 0; n < CHUNKS; n++) {
        maker_usual_chunk(&maker, 1 + n);
        ends[n + 1] = maker.used_bytes;
    }
}

struct result {
    unsigned chunks, changed, gone;
    uint64_t events, kept_bytes, lost_bytes;
    char reason[200], error[512];
    uint64_t sums[64]; /* of each event that can be read in what came out */
    unsigned read;
};

static void look(struct result *result)
{
    struct jfr_reader *reader = jfr_reader_open(out_path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;

    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err)) {
        cr_assert_gt(chunk.duration_ns, 0);
        while (jfr_reader_next_event(reader, &event, &err)) {
            uint64_t sum = 7;

            for (const unsigned char *at = event.value.bytes; at < event.value.end; at++)
                sum = sum * 31 + *at;
            if (result->read < JW_COUNT_OF(result->sums))
                result->sums[result->read] = sum;
            result->read++;
        }
    }
    cr_assert_str_eq(err.message, "");
    cr_assert_str_eq(jfr_reader_notice(reader), "");
    jfr_reader_close(reader);
}

static struct result mend(const unsigned char *bytes, size_t size_bytes)
{
    struct result result = {0};
    struct jfr_mended mended;
    off_t at = 0;

    cr_assert(ftruncate(file, 0) == 0 && ftruncate(out, 0) == 0);
    cr_assert_eq(pwrite(file, bytes, size_bytes, 0), (ssize_t)size_bytes);
    jw_error_clear(&err);
    struct jfr_mender *mender = jfr_mender_open(path, &err);
    while (mender != NULL && jfr_mender_next(mender, &mended, &err)) {
        result.chunks += mended.bytes != NULL;
        result.changed += mended.bytes != NULL && mended.is_changed;
        result.gone += mended.bytes == NULL;
        result.events += mended.events;
        result.kept_bytes += mended.size_bytes;
        result.lost_bytes += mended.lost_bytes;
        snprintf(result.reason, sizeof result.reason, "%s", mended.reason);
        cr_assert_eq(pwrite(out, mended.bytes, mended.size_bytes, at), (ssize_t)mended.size_bytes);
        at += (off_t)mended.size_bytes;
        cr_assert_leq(jfr_mender_position_bytes(mender), jfr_mender_size_bytes(mender));
    }
    snprintf(result.error, sizeof result.error, "%s", err.message);
    jfr_mender_close(mender);
    jw_error_clear(&err);
    if (result.chunks > 0)
        look(&result);
    cr_assert_eq(result.read, result.events);
    return result;
}

/* Copies of one chunk in one file, as a merge of a file with itself has them. */
Test(mend, chunks_that_began_at_one_moment_are_all_kept)
{
    maker_usual_chunk(&maker, 5);
    maker_usual_chunk(&maker, 5);

    const struct result result = mend(maker.bytes, maker.used_bytes);
    cr_assert_eq(result.chunks, 2);
    cr_assert_eq(result.changed, 0);
    cr_assert_eq(result.lost_bytes, 0);
    cr_assert_eq(result.events, 2 * USUAL);
}

/* What is no chunk any more behind a whole one is not taken for more of it, whose types would be those of the one that began there. */
Test(mend, a_whole_chunk_ends_where_it_says_whatever_lies_behind)
{
    maker_usual_chunk(&maker, 5);
    const size_t first_bytes = maker.used_bytes;
    maker_usual_chunk(&maker, 5);
    maker.bytes[first_bytes + 67] = 0; /* how its numbers are written */
    unsigned char *name = memmem(maker.bytes + first_bytes, maker.used_bytes - first_bytes,
                                 "jdk.ExecutionSample", 19);
    cr_assert_not_null(name);
    name[18] = 'x';

    const struct result result = mend(maker.bytes, maker.used_bytes);
    cr_expect_eq(result.chunks, 1);
    cr_expect_eq(result.changed, 0);
    cr_expect_eq(result.events, USUAL);
    cr_expect_eq(result.kept_bytes, first_bytes);
    cr_expect_eq(result.lost_bytes, maker.used_bytes - first_bytes);
}

Test(mend, what_is_whole_stays_as_it_is)
{
    make_chunks();
    const struct result result = mend(maker.bytes, maker.used_bytes);
    unsigned char *again = malloc(maker.used_bytes);

    cr_expect_eq(result.chunks, CHUNKS);
    cr_expect_eq(result.changed, 0);
    cr_expect_eq(result.lost_bytes, 0);
    cr_expect_eq(result.events, CHUNKS * USUAL);
    cr_assert_eq(pread(out, again, maker.used_bytes, 0), (ssize_t)maker.used_bytes);
    cr_expect_arr_eq(again, maker.bytes, maker.used_bytes);
    free(again);
}

Test(mend, m57_cut_anywhere_it_keeps_the_events_before_and_no_others)
{
    make_chunks();
    const struct result whole = mend(maker.bytes, maker.used_bytes);
    unsigned last_events = 0;

    for (size_t size_bytes = 4; size_bytes <= maker.used_bytes; size_bytes += 3) {
        const struct result result = mend(maker.bytes, size_bytes);
        unsigned whole_chunks = 0;

        while (whole_chunks < CHUNKS && ends[whole_chunks + 1] <= size_bytes)
            whole_chunks++;
        cr_assert_str_eq(result.error, "", "cut to %zu: %s", size_bytes, result.error);
        cr_assert_geq(result.chunks, whole_chunks, "cut to %zu", size_bytes);
        cr_assert_geq(result.events, whole_chunks * USUAL, "cut to %zu", size_bytes);
        cr_assert(result.chunks == whole_chunks || result.changed == 1, "cut to %zu", size_bytes);
        cr_assert_leq(result.lost_bytes, size_bytes);
        for (unsigned i = 0; i < result.read; i++)
            cr_assert_eq(result.sums[i], whole.sums[i], "cut to %zu: event %u is another",
                         size_bytes, i);
        if (size_bytes > ends[1]) /* from then on there is metadata to go by */
            cr_assert_geq(result.read, last_events, "cut to %zu: fewer than before", size_bytes);
        last_events = result.read;
    }
}

Test(mend, m57_cut_at_each_page_of_a_longer_one)
{
    uint64_t n = 0;

    while (maker.used_bytes < (40u << 10))
        maker_usual_chunk(&maker, ++n);
    for (size_t size_bytes = 4096; size_bytes < maker.used_bytes; size_bytes += 4096) {
        const struct result result = mend(maker.bytes, size_bytes);

        cr_expect_str_eq(result.error, "");
        cr_expect_leq(result.changed, 1);
        cr_expect_geq(result.events, USUAL * (size_bytes * n / maker.used_bytes - 1));
    }
}

/* The JVM keeps copies of the header of a chunk in it. */
Test(mend, a_copy_of_the_header_inside_a_chunk_begins_no_other)
{
    make_chunks();
    maker_begin_chunk(&maker);
    const size_t chunk = maker.chunk_begin;
    maker_metadata(&maker);
    for (int i = 0; i < 4; i++) {
        unsigned char header[68];

        maker_sample(&maker, 1, 0, 0, 0, 1);
        memcpy(header, maker.bytes + chunk, sizeof header);
        memset(header + 32, 0, 8);
        header[39] = 99; /* its start */
        header[67] = 1;
        const size_t event = maker_begin_event(&maker, 999);
        maker_raw(&maker, header, sizeof header);
        maker_raw(&maker, "rest", 4);
        maker_end_event(&maker, event);
    }
    maker_sample(&maker, 1, 0, 0, 0, 1);
    maker_end_chunk(&maker, 99);
    for (size_t size_bytes = maker.used_bytes - 1; size_bytes > ends[CHUNKS] + 70; size_bytes--) {
        const struct result result = mend(maker.bytes, size_bytes);

        cr_assert_leq(result.chunks, CHUNKS + 1, "cut to %zu", size_bytes);
        cr_assert_leq(result.events, CHUNKS * USUAL + 5, "cut to %zu", size_bytes);
        cr_assert_leq(result.kept_bytes, size_bytes + 2000);
    }
    maker.bytes[chunk + 68] = 0; /* no event can be right from the first on */
    const struct result result = mend(maker.bytes, maker.used_bytes - 1);
    cr_expect_leq(result.events, CHUNKS * USUAL);
}

Test(mend, a_chunk_that_its_writer_did_not_finish_is_finished)
{
    make_chunks();
    unsigned char *header = maker.bytes + ends[2];

    header[64] = 1;
    memset(header + 8, 0, 24); /* no size, no constants, no metadata */
    memset(header + 40, 0, 8); /* no duration */
    const struct result result = mend(maker.bytes, maker.used_bytes);
    cr_expect_eq(result.chunks, CHUNKS);
    cr_expect_eq(result.changed, 1);
    cr_expect_eq(result.events, CHUNKS * USUAL);
    cr_expect_eq(result.lost_bytes, 0);
}

Test(mend, s18_absurd_sizes_of_chunks_do_not_hide_those_behind_them)
{
    static const uint64_t sizes[] = {0,         1, 67, 68, 69, 100000, INT32_MAX, (uint64_t)1 << 62,
                                     UINT64_MAX};

    for (size_t i = 0; i < JW_COUNT_OF(sizes); i++) {
        maker_close(&maker);
        make_chunks();
        for (unsigned b = 0; b < 8; b++)
            maker.bytes[ends[1] + 8 + b] = (unsigned char)(sizes[i] >> (56 - 8 * b));
        const struct result result = mend(maker.bytes, maker.used_bytes);
        cr_expect_eq(result.chunks, CHUNKS, "size %llu", (unsigned long long)sizes[i]);
        cr_expect_eq(result.events, CHUNKS * USUAL, "size %llu", (unsigned long long)sizes[i]);
    }
}

Test(mend, m57_an_event_of_size_0_ends_its_chunk_and_not_the_recording)
{
    make_chunks();
    /* The first event of the second chunk: its metadata and all else are behind that. */
    maker.bytes[ends[1] + 68] = 0;
    const struct result result = mend(maker.bytes, maker.used_bytes);
    cr_expect_eq(result.chunks, CHUNKS);
    cr_expect_eq(result.events, (CHUNKS - 1) * USUAL);
    cr_expect_eq(result.lost_bytes, ends[2] - ends[1] - 68);
}

Test(mend, without_any_metadata_nothing_is_guessed)
{
    make_chunks();
    maker.bytes[68] = 0;
    const struct result result = mend(maker.bytes, ends[1]);
    cr_expect_eq(result.chunks, 0);
    cr_expect_eq(result.gone, 1);
    cr_expect_not_null(strstr(result.reason, "metadata is gone"), "%s", result.reason);
}

Test(mend, m57_any_flipped_byte_leaves_a_recording_that_can_be_read)
{
    make_chunks();
    srandom(11);
    for (size_t i = 4; i < maker.used_bytes; i += 1 + (size_t)random() % 5) {
        const unsigned char before = maker.bytes[i];

        maker.bytes[i] = (unsigned char)(before ^ (1 + random() % 255));
        const struct result result = mend(maker.bytes, maker.used_bytes);
        maker.bytes[i] = before;
        cr_assert_str_eq(result.error, "");
        /* One chunk is hurt, or two where a header is. */
        cr_assert_geq(result.events, (CHUNKS - 2) * USUAL, "byte %zu", i);
    }
}

Test(mend, what_was_packed_is_kept_as_far_as_it_can_be_unpacked)
{
    struct jfr_buffer packed = {0};
    struct jfr_packer *packer = jfr_packer_open(&err);

    if (packer == NULL) {
        cr_assert_not(jfr_can_pack());
        return;
    }
    make_chunks();
    for (size_t n = 0; n < CHUNKS; n++) {
        const size_t at = ends[n] + JFR_HEADER_BYTES;

        jfr_put_packed_header(&packed, maker.bytes + ends[n]);
        cr_assert(jfr_packer_put(packer, maker.bytes + at, ends[n + 1] - at - 300, JFR_PACK_FLUSH,
                                 &packed, &err));
        cr_assert(jfr_packer_put(packer, maker.bytes + ends[n + 1] - 300, 300, JFR_PACK_END,
                                 &packed, &err));
    }
    jfr_packer_close(packer);
    const struct result whole = mend(packed.bytes, packed.used_bytes);
    cr_expect_eq(whole.chunks, CHUNKS);
    cr_expect_eq(whole.changed, 0);
    cr_expect_eq(whole.events, CHUNKS * USUAL);
    unsigned mended = 0;
    for (size_t size_bytes = packed.used_bytes - 1; size_bytes > 100; size_bytes -= 7) {
        const struct result result = mend(packed.bytes, size_bytes);

        cr_assert_str_eq(result.error, "", "cut to %zu", size_bytes);
        mended += result.changed;
        for (unsigned i = 0; i < result.read; i++)
            cr_assert_eq(result.sums[i], whole.sums[i], "cut to %zu", size_bytes);
    }
    cr_expect_geq(mended, 10);
    packed.bytes[packed.used_bytes - 60] ^= 0x40;
    const struct result flipped = mend(packed.bytes, packed.used_bytes);
    cr_expect_geq(flipped.events, 2 * USUAL);
    jfr_buffer_close(&packed);
}

/* Frames of their own: a chunk, what is none, a chunk. */
static struct result mend_packed(size_t between_bytes)
{
    static unsigned char nothing[1 << 16];
    struct jfr_buffer packed = {0};
    struct jfr_packer *packer = jfr_packer_open(&err);

    maker_close(&maker);
    for (uint64_t n = 0; n < 2; n++) {
        const size_t at = maker.used_bytes;

        maker_usual_chunk(&maker, 1 + n);
        cr_assert(jfr_packer_put(packer, maker.bytes + at, maker.used_bytes - at, JFR_PACK_END,
                                 &packed, &err));
        for (size_t left = n == 0 ? between_bytes : 0; left > 0;) {
            const size_t part = left < sizeof nothing ? left : sizeof nothing;

            cr_assert(jfr_packer_put(packer, nothing, part, JFR_PACK_END, &packed, &err));
            left -= part;
        }
    }
    jfr_packer_close(packer);
    const struct result result = mend(packed.bytes, packed.used_bytes);
    jfr_buffer_close(&packed);
    return result;
}

Test(mend, s18_what_lies_between_packed_chunks_hides_none_and_is_looked_at_by_the_piece)
{
    if (!jfr_can_pack())
        return;
    for (size_t bytes = 1; bytes < 9 << 20; bytes = bytes * 3 + 7) {
        const struct result result = mend_packed(bytes);

        cr_assert_eq(result.chunks, 2, "%zu bytes: %u chunks, %s", bytes, result.chunks,
                     result.error);
        cr_assert_eq(result.lost_bytes, bytes, "%zu bytes", bytes);
        cr_assert_eq(result.events, 2 * USUAL, "%zu bytes", bytes);
        cr_assert_leq(result.gone, 1u, "%zu bytes in %u pieces", bytes, result.gone);
    }
}

Test(mend, m50_every_allocation_may_fail)
{
    make_chunks();
    cr_assert_eq(pwrite(file, maker.bytes, maker.used_bytes, 0), (ssize_t)maker.used_bytes);
    for (uint64_t nth = 1;; nth++) {
        struct jfr_mended mended;
        uint64_t events = 0;

        jw_error_clear(&err);
        jw_alloc_fail_after(nth);
        struct jfr_mender *mender = jfr_mender_open(path, &err);
        while (mender != NULL && jfr_mender_next(mender, &mended, &err))
            events += mended.events;
        jw_alloc_fail_after(0);
        jfr_mender_close(mender);
        cr_assert(events == CHUNKS * USUAL || err.message[0] != '\0',
                  "allocation %llu: lost unsaid", (unsigned long long)nth);
        if (events == CHUNKS * USUAL && err.message[0] == '\0')
            break;
        cr_assert_lt(nth, 2000, "never whole: '%s'", err.message);
    }
}
