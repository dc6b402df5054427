/* Errors and allocation of the control plane; the one entry that a handler may call counts only. */
#include "base/jw.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/atomics.h"
#include "base/counters.h"

/* Relaxed: a test sets it before the threads it tests exist. */
static _Atomic uint64_t fail_after;
static _Atomic uint64_t allocations;

bool jw_invariant_broken(void)
{
#if defined(JW_CHECKED) && JW_CHECKED
    __builtin_trap();
#endif
    jw_count(JW_COUNT_INVARIANT_BROKEN);
    return false;
}

void jw_error_set(struct jw_error *err, const char *format, ...)
{
    if (err == NULL || err->message[0] != '\0')
        return;

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
}

void jw_error_clear(struct jw_error *err)
{
    if (err != NULL)
        err->message[0] = '\0';
}

static bool may_allocate(void)
{
    const uint64_t nth = jw_load_relaxed(&fail_after);

    jw_add_relaxed(&allocations, 1);
    if (nth == 0)
        return true;
    if (nth == 1)
        return false;
    jw_store_relaxed(&fail_after, nth - 1);
    return true;
}

void *jw_alloc(size_t size_bytes)
{
    return may_allocate() ? calloc(1, size_bytes == 0 ? 1 : size_bytes) : NULL;
}

void *jw_realloc(void *memory, size_t size_bytes)
{
    return may_allocate() ? realloc(memory, size_bytes == 0 ? 1 : size_bytes) : NULL;
}

void jw_free(void *memory)
{
    free(memory);
}

size_t jw_mul_bytes(size_t count, size_t size_bytes)
{
    size_t product;

    return __builtin_mul_overflow(count, size_bytes, &product) ? SIZE_MAX : product;
}

void jw_alloc_fail_after(uint64_t nth)
{
    jw_store_relaxed(&fail_after, nth);
}

uint64_t jw_alloc_count(void)
{
    return jw_load_relaxed(&allocations);
}
