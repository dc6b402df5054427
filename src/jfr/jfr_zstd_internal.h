/*
 * jfr_zstd_internal - the functions of libzstd, which may be missing.
 *
 * For      jfr_packed.c, jfr_reader_packed.c.   Callers  these.   Context  dump, tool.
 * Memory   what zstd needs is allocated through jw_alloc.
 */
#ifndef JW_JFR_JFR_ZSTD_INTERNAL_H
#define JW_JFR_JFR_ZSTD_INTERNAL_H

#include "base/jw.h"

#define JFR_ZSTD_MISSING                                                                           \
    "this jaywalk was built without zstd and can neither pack nor unpack; use plain .jfr, or the " \
    "zstd command"

#if __has_include(<zstd.h>)
#define JFR_HAS_ZSTD             1
#define ZSTD_STATIC_LINKING_ONLY /* for functions that are told how to allocate; it is linked in */
#include <zstd.h>
/* Its functions are weak here: without the library they are not there. */
#pragma weak ZSTD_createCCtx_advanced
#pragma weak ZSTD_freeCCtx
#pragma weak ZSTD_CCtx_setParameter
#pragma weak ZSTD_compressStream2
#pragma weak ZSTD_createDCtx_advanced
#pragma weak ZSTD_freeDCtx
#pragma weak ZSTD_decompressStream
#pragma weak ZSTD_isError
#pragma weak ZSTD_getErrorName

static inline void *jfr_zstd_take(void *unused, size_t size_bytes)
{
    (void)unused;
    return jw_alloc(size_bytes);
}

static inline void jfr_zstd_give_back(void *unused, void *memory)
{
    (void)unused;
    jw_free(memory);
}

static const ZSTD_customMem jfr_zstd_memory = {jfr_zstd_take, jfr_zstd_give_back, NULL};
#else
#define JFR_HAS_ZSTD 0
#endif

#endif
