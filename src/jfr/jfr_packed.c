/*
 * Packing with zstd, where it is linked in. Context: dump, tool.
 *
 * Source: RFC 8878, 3.1.1 (frames, raw blocks) and 3.1.2 (skippable frames); zstd.h 1.5.
 */
#include "jfr/jfr_packed.h"

#include <string.h>

#include "jfr/jfr_zstd_internal.h"

#define FRAME_MAGIC     0x28b52ffdu /* as it stands in the file */
#define GAP_MAGIC       0x502a4d18u /* the same */
#define GAP_HEAD_BYTES  8
#define DESCRIPTOR      0x20u /* single segment, its size in one byte, no checksum */
#define RAW_LAST_BLOCK  1u
#define PACK_ROOM_BYTES ((size_t)64 << 10)
/* 2.5 MiB of memory and 10 to 18 ms for a MB; what more or less would bring: docs/adr/0050. */
#define PACK_LEVEL 6
/* Repetitions are found this far back: 1 MiB. */
#define PACK_WINDOW_LOG 20
/* Tables in which they are found: half a MiB each, a fraction of what the level has by itself. */
#define PACK_TABLE_LOG 17

_Static_assert(JFR_HEADER_BYTES < 256, "the size of a header frame has one byte");

bool jfr_is_packed_name(const char *path)
{
    const size_t length_bytes = strlen(path);
    const size_t ending_bytes = sizeof JFR_PACKED_ENDING - 1;

    return length_bytes >= ending_bytes &&
           memcmp(path + length_bytes - ending_bytes, JFR_PACKED_ENDING, ending_bytes) == 0;
}

void jfr_put_packed_header(struct jfr_buffer *out, const unsigned char header[JFR_HEADER_BYTES])
{
    const uint32_t block = (uint32_t)JFR_HEADER_BYTES << 3 | RAW_LAST_BLOCK;

    jfr_put_be32(out, FRAME_MAGIC);
    jfr_put_u8(out, DESCRIPTOR);
    jfr_put_u8(out, JFR_HEADER_BYTES);
    for (unsigned shift = 0; shift < 24; shift += 8)
        jfr_put_u8(out, block >> shift & 0xff);
    jfr_put_bytes(out, header, JFR_HEADER_BYTES);
}

void jfr_put_packed_gap(struct jfr_buffer *out, size_t length_bytes)
{
    const size_t left_bytes = length_bytes - GAP_HEAD_BYTES;

    jfr_put_be32(out, GAP_MAGIC);
    for (unsigned shift = 0; shift < 32; shift += 8)
        jfr_put_u8(out, (unsigned)(left_bytes >> shift & 0xff));
    for (size_t i = 0; i < left_bytes; i++)
        jfr_put_u8(out, 0);
}

#if JFR_HAS_ZSTD
/*
 * What zstd asks for weakly, to tell of its work: nobody, rather than whoever in the process has functions
 * of these names. 0: nothing is to be told at the end either. Source: lib/common/zstd_trace.h, 1.5.
 */
unsigned long long ZSTD_trace_compress_begin(const void *context);
unsigned long long ZSTD_trace_decompress_begin(const void *context);
void ZSTD_trace_compress_end(unsigned long long trace, const void *what);
void ZSTD_trace_decompress_end(unsigned long long trace, const void *what);

unsigned long long ZSTD_trace_compress_begin(const void *context)
{
    (void)context;
    return 0;
}

unsigned long long ZSTD_trace_decompress_begin(const void *context)
{
    (void)context;
    return 0;
}

void ZSTD_trace_compress_end(unsigned long long trace, const void *what)
{
    (void)trace;
    (void)what;
}

void ZSTD_trace_decompress_end(unsigned long long trace, const void *what)
{
    (void)trace;
    (void)what;
}

struct jfr_packer {
    ZSTD_CCtx *context;
    unsigned char room[PACK_ROOM_BYTES];
};

bool jfr_can_pack(void)
{
    return ZSTD_createCCtx_advanced != NULL && ZSTD_createDCtx_advanced != NULL;
}

struct jfr_packer *jfr_packer_open(struct jw_error *err)
{
    if (!jfr_can_pack()) {
        jw_error_set(err, JFR_ZSTD_MISSING);
        return NULL;
    }

    struct jfr_packer *packer = jw_alloc(sizeof *packer);
    if (packer != NULL)
        packer->context = ZSTD_createCCtx_advanced(jfr_zstd_memory);
    if (packer != NULL && packer->context != NULL &&
        !ZSTD_isError(
            ZSTD_CCtx_setParameter(packer->context, ZSTD_c_compressionLevel, PACK_LEVEL)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(packer->context, ZSTD_c_windowLog, PACK_WINDOW_LOG)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(packer->context, ZSTD_c_hashLog, PACK_TABLE_LOG)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(packer->context, ZSTD_c_chainLog, PACK_TABLE_LOG)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(packer->context, ZSTD_c_checksumFlag, 1)))
        return packer;
    jfr_packer_close(packer);
    jw_error_set(err,
                 "cannot pack with zstd: out of memory; write a plain .jfr, or raise memlimit");
    return NULL;
}

void jfr_packer_close(struct jfr_packer *packer)
{
    if (packer == NULL)
        return;
    if (packer->context != NULL)
        ZSTD_freeCCtx(packer->context);
    jw_free(packer);
}

bool jfr_packer_put(struct jfr_packer *packer, const void *bytes, size_t length_bytes,
                    enum jfr_pack how, struct jfr_buffer *out, struct jw_error *err)
{
    static const ZSTD_EndDirective directives[] = {[JFR_PACK_MORE] = ZSTD_e_continue,
                                                   [JFR_PACK_FLUSH] = ZSTD_e_flush,
                                                   [JFR_PACK_END] = ZSTD_e_end};
    ZSTD_inBuffer in = {bytes, length_bytes, 0};
    size_t left;

    do {
        ZSTD_outBuffer room = {packer->room, sizeof packer->room, 0};

        left = ZSTD_compressStream2(packer->context, &room, &in, directives[how]);
        if (ZSTD_isError(left)) {
            jw_error_set(err, "cannot pack with zstd: %s; write a plain .jfr, or raise memlimit",
                         ZSTD_getErrorName(left));
            return false;
        }
        jfr_put_bytes(out, packer->room, room.pos);
    } while (!out->has_failed && (in.pos < in.size || (how != JFR_PACK_MORE && left > 0)));
    if (out->has_failed)
        jw_error_set(err,
                     "cannot pack with zstd: out of memory; write a plain .jfr, or raise memlimit");
    return !out->has_failed;
}
#else
struct jfr_packer {
    char unused;
};

bool jfr_can_pack(void)
{
    return false;
}

struct jfr_packer *jfr_packer_open(struct jw_error *err)
{
    jw_error_set(err, JFR_ZSTD_MISSING);
    return NULL;
}

void jfr_packer_close(struct jfr_packer *packer)
{
    (void)packer;
}

bool jfr_packer_put(struct jfr_packer *packer, const void *bytes, size_t length_bytes,
                    enum jfr_pack how, struct jfr_buffer *out, struct jw_error *err)
{
    (void)packer;
    (void)bytes;
    (void)length_bytes;
    (void)how;
    (void)out;
    jw_error_set(err, JFR_ZSTD_MISSING);
    return false;
}
#endif
