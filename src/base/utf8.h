/*
 * utf8 - is this text?
 *
 * For      names from class files, threads and recordings on their way to a file that must hold
 *          valid UTF-8.
 * Callers  jfr, export, vm.   Context  any, dump, tool; jw_utf8_put: handler, too.   Memory  none.
 */
#ifndef JW_BASE_UTF8_H
#define JW_BASE_UTF8_H

#include "base/jw.h"

#define JW_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, for bytes that are no text */

/* Bytes of the code point at `bytes`, 1 to 4; 0 when they are none: overlong, a surrogate, cut. */
size_t jw_utf8_length(const char *bytes, size_t left_bytes);

/* Writes a code point of Unicode, 1 to 4 bytes; U+FFFD for what is none. Returns the length. */
JW_SIGNAL_SAFE size_t jw_utf8_put(char out[4], uint32_t code_point);

#endif
