/*
 * symbols_kernel - names of the kernel's functions.
 *
 * For      frames that the kernel told of itself (os_perf.h).
 * Callers  agent.
 * Context  dump.
 * Memory   a table of the functions that /proc/kallsyms lists, 4 MiB of most kernels, read when first asked for.
 *
 * The list has no lengths: an address belongs to the function that begins before it, at most SYMBOLS_KERNEL_SPAN_BYTES away. Code
 * that was loaded since has no name until the list is forgotten and read again.
 */
#ifndef JW_SYMBOLS_SYMBOLS_KERNEL_H
#define JW_SYMBOLS_SYMBOLS_KERNEL_H

#include "base/jw.h"

#define SYMBOLS_KERNEL_SPAN_BYTES 65536u

struct symbols_kernel_function {
    const char *name;   /* until the list is forgotten */
    const char *module; /* "kernel", or the module that it is of */
};

/* Reads the list from this file, in place of what was read before. False and `err`: there are no names, and why. */
JW_MUST_CHECK bool symbols_kernel_read(const char *path, struct jw_error *err);

/* False: it has no name. */
JW_MUST_CHECK bool symbols_kernel_find(uint64_t address, struct symbols_kernel_function *out);

void symbols_kernel_forget(void);

#endif
