/* Recordings packed with zstd: read like plain ones, by whatever way they were packed; cut, damaged, absurd. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jfr/jfr_packed.h"
#include "jfr/jfr_reader.h"
#include "support/recording_maker.h"

static struct maker maker;
static struct jfr_buffer packed;
static size_t ends[8];  /* of chunks, in what is packed */
static size_t heads[8]; /* their headers, which lie there as they are */
static size_t end_count;
static char path[64];
static int file = -1;
static struct jw_error err;

static void begin(void)
{
    file = memfd_create("packed", MFD_CLOEXEC);
    cr_assert_geq(file, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
}

static void end(void)
{
    jw_alloc_fail_after(0);
    maker_close(&maker);
    jfr_buffer_close(&packed);
    close(file);
}

TestSuite(reader_packed, .init = begin, .fini = end, .timeout = 1800);

static void save(const unsigned char *bytes, size_t length_bytes)
{
    cr_assert(ftruncate(file, 0) == 0 &&
              pwrite(file, bytes, length_bytes, 0) == (ssize_t)length_bytes);
}

struct reading {
    unsigned chunks, events;
    uint64_t sum; /* of all that the events hold */
    char error[512], notice[512];
};

static void look(struct reading *reading, const struct jfr_reader_event *event)
{
    struct jfr_value value;
    struct jfr_text text = {0};

    reading->events++;
    for (const unsigned char *at = event->value.bytes; at < event->value.end; at++)
        reading->sum = reading->sum * 31 + *at;
    if (jfr_value_field(&event->value, "state", &value) && jfr_value_text(&value, &text))
        reading->sum = reading->sum * 31 + (unsigned char)text.text[6];
    jfr_text_free(&text);
}

static struct reading read_file(void)
{
    struct reading reading = {0};
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;

    jw_error_clear(&err);
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    uint64_t position = 0;
    while (reader != NULL && jfr_reader_next_chunk(reader, &chunk, &err)) {
        reading.chunks++;
        while (jfr_reader_next_event(reader, &event, &err)) {
            look(&reading, &event);
            cr_assert_geq(jfr_reader_position_bytes(reader), position);
            position = jfr_reader_position_bytes(reader);
            cr_assert_leq(position, jfr_reader_size_bytes(reader));
        }
    }
    if (reader != NULL) {
        cr_assert_not(jfr_reader_next_chunk(reader, &chunk, &err), "after the end is the end");
        snprintf(reading.notice, sizeof reading.notice, "%s", jfr_reader_notice(reader));
    }
    snprintf(reading.error, sizeof reading.error, "%s", err.message);
    jfr_reader_close(reader);
    return reading;
}

static struct reading read_packed(size_t length_bytes)
{
    save(packed.bytes, length_bytes);
    return read_file();
}

static void pack(struct jfr_packer *packer, const unsigned char *bytes, size_t length_bytes,
                 enum jfr_pack how)
{
    cr_assert(jfr_packer_put(packer, bytes, length_bytes, how, &packed, &err), "%s", err.message);
}

/* Three chunks, as jaywalk packs them. False: it cannot, and says so. */
static bool make_packed(void)
{
    size_t at = 0;

    if (!jfr_can_pack()) {
        cr_assert_null(jfr_packer_open(&err));
        cr_assert_not_null(strstr(err.message, "built without zstd"));
        save((const unsigned char *)"\x28\xb5\x2f\xfd....", 8);
        cr_assert_not_null(strstr(read_file().error, "built without zstd"));
        return false;
    }

    struct jfr_packer *packer = jfr_packer_open(&err);
    cr_assert_not_null(packer);
    end_count = 0;
    for (uint64_t n = 1; n <= 3; n++) {
        maker_usual_chunk(&maker, n);
        heads[end_count] = packed.used_bytes;
        jfr_put_packed_header(&packed, maker.bytes + at);
        pack(packer, maker.bytes + at + JFR_HEADER_BYTES, 50, JFR_PACK_FLUSH);
        pack(packer, maker.bytes + at + JFR_HEADER_BYTES + 50,
             maker.used_bytes - at - JFR_HEADER_BYTES - 50, JFR_PACK_END);
        if (n == 2)
            jfr_put_packed_gap(&packed, 8 + n);
        at = maker.used_bytes;
        ends[end_count++] = packed.used_bytes;
    }
    jfr_packer_close(packer);
    return true;
}

Test(reader_packed, it_holds_what_the_plain_one_does)
{
    if (!make_packed())
        return;
    const struct reading reading = read_packed(packed.used_bytes);
    save(maker.bytes, maker.used_bytes);
    const struct reading plain = read_file();

    cr_expect_str_eq(reading.error, "");
    cr_expect_str_eq(reading.notice, "");
    cr_expect_eq(reading.chunks, 3);
    cr_expect_eq(reading.events, 24);
    cr_expect_eq(reading.events, plain.events);
    cr_expect_eq(reading.sum, plain.sum);
}

Test(reader_packed, frames_may_end_anywhere_and_one_may_hold_all)
{
    if (!make_packed())
        return;
    const struct reading whole = read_packed(packed.used_bytes);

    for (size_t step = 1; step < maker.used_bytes; step = step * 3 + 1) {
        struct jfr_packer *packer = jfr_packer_open(&err);

        jfr_buffer_clear(&packed);
        for (size_t at = 0; at < maker.used_bytes; at += step) {
            const size_t left_bytes = maker.used_bytes - at;

            pack(packer, maker.bytes + at, left_bytes < step ? left_bytes : step, JFR_PACK_END);
        }
        jfr_packer_close(packer);
        const struct reading reading = read_packed(packed.used_bytes);
        cr_expect_str_eq(reading.error, "");
        cr_expect_eq(reading.sum, whole.sum, "frames of %zu bytes", step);
    }
}

Test(reader_packed, cut_anywhere_it_gives_its_whole_chunks)
{
    if (!make_packed())
        return;
    for (size_t length_bytes = packed.used_bytes - 1; length_bytes > 6; length_bytes -= 3) {
        const struct reading reading = read_packed(length_bytes);
        unsigned whole = 0;

        for (size_t i = 0; i < end_count; i++)
            whole += ends[i] <= length_bytes;
        /* The last bytes of a frame are its checksum: without them its content is there. */
        cr_assert_geq(reading.chunks, whole, "cut to %zu", length_bytes);
        cr_assert_leq(reading.chunks, whole + 1, "cut to %zu", length_bytes);
        cr_assert_eq(reading.events, 8 * reading.chunks, "cut to %zu", length_bytes);
        cr_assert(reading.chunks > 0 || reading.error[0] != '\0', "cut to %zu", length_bytes);
    }
}

static bool is_header(size_t at)
{
    for (size_t i = 0; i < end_count; i++) {
        if (at >= heads[i] && at < heads[i] + JFR_PACKED_HEAD_BYTES + JFR_HEADER_BYTES)
            return true;
    }
    return false;
}

Test(reader_packed, a_flipped_bit_is_an_error_or_changes_no_event)
{
    unsigned refused = 0;

    if (!make_packed())
        return;
    const struct reading whole = read_packed(packed.used_bytes);
    for (size_t at = 0; at < packed.used_bytes; at += 2) {
        if (is_header(at)) /* it has no checksum, no more than that of a plain file */
            continue;
        packed.bytes[at] ^= (unsigned char)(1 << at % 8);
        const struct reading reading = read_packed(packed.used_bytes);
        packed.bytes[at] ^= (unsigned char)(1 << at % 8);
        const bool is_told = reading.error[0] != '\0' || reading.notice[0] != '\0';

        refused += is_told;
        cr_assert(is_told || (reading.sum == whole.sum && reading.events == whole.events),
                  "byte %zu of chunks that end at %zu, %zu, %zu: other events, and nothing said",
                  at, ends[0], ends[1], ends[2]);
    }
    cr_expect_geq(refused, packed.used_bytes / 4);
}

/* A chunk that says it has `size_bytes`, of which `packed_bytes` zeros are there. */
static void make_bomb(uint64_t size_bytes, size_t packed_bytes)
{
    static const unsigned char zeros[1 << 16];
    struct jfr_packer *packer = jfr_packer_open(&err);

    jfr_buffer_clear(&packed);
    maker_usual_chunk(&maker, 1);
    for (unsigned i = 0; i < 8; i++)
        maker.bytes[8 + i] = (unsigned char)(size_bytes >> (56 - 8 * i));
    jfr_put_packed_header(&packed, maker.bytes);
    for (size_t at = 0; at < packed_bytes; at += sizeof zeros)
        pack(packer, zeros, sizeof zeros, JFR_PACK_MORE);
    pack(packer, NULL, 0, JFR_PACK_END);
    jfr_packer_close(packer);
    maker_close(&maker);
}

Test(reader_packed, s18_what_would_become_too_much_is_refused_before_it_is_unpacked)
{
    if (!make_packed())
        return;
    maker_close(&maker);
    make_bomb((uint64_t)1 << 62, 1 << 20);
    struct reading reading = read_packed(packed.used_bytes);
    cr_expect_not_null(strstr(reading.error, "more than 512 MiB"), "%s", reading.error);

    /* What a small chunk does not need is not unpacked. */
    make_bomb(4096, 16 << 20);
    reading = read_packed(packed.used_bytes);
    cr_expect_neq(reading.error[0], '\0');
    cr_expect_eq(reading.events, 0);

    /* What is said to be large and is not there takes no memory. */
    make_bomb((uint64_t)512 << 20, 1 << 16);
    reading = read_packed(packed.used_bytes);
    cr_expect_not_null(strstr(reading.error, "longer than the rest"), "%s", reading.error);
}

Test(reader_packed, s18_a_frame_that_wants_too_large_a_window_is_refused)
{
    /* Its window would have 2 GiB. */
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00};

    if (!jfr_can_pack())
        return;
    save(frame, sizeof frame);
    const struct reading reading = read_file();
    cr_expect_not_null(strstr(reading.error, "cannot be unpacked"), "%s", reading.error);
}

Test(reader_packed, m50_every_allocation_may_fail)
{
    if (!make_packed())
        return;
    for (uint64_t nth = 1;; nth++) {
        save(packed.bytes, packed.used_bytes);
        jw_alloc_fail_after(nth);
        const struct reading reading = read_file();
        jw_alloc_fail_after(0);
        if (reading.error[0] == '\0')
            break;
        cr_assert_lt(nth, 2000, "never whole: '%s'", reading.error);
    }
}

Test(reader_packed, m50_packing_tells_that_memory_is_out)
{
    if (!jfr_can_pack())
        return;
    maker_usual_chunk(&maker, 1);
    for (uint64_t nth = 1;; nth++) {
        jfr_buffer_close(&packed);
        packed = (struct jfr_buffer){0};
        jw_error_clear(&err);
        jw_alloc_fail_after(nth);
        struct jfr_packer *packer = jfr_packer_open(&err);
        const bool is_good = packer != NULL && jfr_packer_put(packer, maker.bytes, maker.used_bytes,
                                                              JFR_PACK_END, &packed, &err);
        jw_alloc_fail_after(0);
        jfr_packer_close(packer);
        if (is_good)
            break;
        cr_assert_not_null(strstr(err.message, "emory"), "%s", err.message);
        cr_assert_lt(nth, 100);
    }
}
