/*
 * os_read - small files of /proc and /sys, read at once.
 *
 * For      os_info, os_tasks, os_timer.
 * Callers  room os only.
 * Context  any, dump, control.
 * Memory   os_read_whole: the caller's, jw_free.
 */
#ifndef JW_OS_OS_READ_INTERNAL_H
#define JW_OS_OS_READ_INTERNAL_H

#include "base/jw.h"

/* The first bytes of a file, with a terminator after them. Returns their number, 0 on any failure. */
size_t os_read_start(const char *path, char *text, size_t capacity_bytes);

/* A whole file of at most `limit_bytes` (what is beyond is left out); NULL on any failure. */
JW_MUST_CHECK char *os_read_whole(const char *path, size_t limit_bytes, size_t *length_bytes);

#endif
