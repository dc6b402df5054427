/* Attributes have numbers, given once and for the life of the process; any. */
#include <pthread.h>
#include <string.h>

#include "base/atomics.h"
#include "base/utf8.h"
#include "context/context_internal.h"
#include "context/context_process.h"

static char names[CONTEXT_ATTRIBUTES_MAX][CONTEXT_NAME_MAX_BYTES + 1]; /* below `count`: constant */
static _Atomic uint32_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of who adds one */

static bool is_name(const char *name, size_t length_bytes)
{
    size_t at = 0;

    if (length_bytes == 0 || length_bytes > CONTEXT_NAME_MAX_BYTES)
        return false;
    while (at < length_bytes) {
        const size_t step = jw_utf8_length(name + at, length_bytes - at);

        if (step == 0 || (unsigned char)name[at] < 0x20 || name[at] == 0x7f)
            return false;
        at += step;
    }
    return true;
}

static int find(const char *name, size_t length_bytes)
{
    const uint32_t known = context_attribute_count();

    for (uint32_t number = 0; number < known; number++)
        if (strlen(names[number]) == length_bytes && memcmp(names[number], name, length_bytes) == 0)
            return (int)number;
    return -1;
}

/* The calling thread holds the lock. */
static int add(const char *name, size_t length_bytes, struct jw_error *err)
{
    const uint32_t number = jw_load_relaxed(&count);
    const int known = find(name, length_bytes);

    if (known >= 0)
        return known;
    if (number == CONTEXT_ATTRIBUTES_MAX) {
        jw_error_set(err,
                     "attribute %.*s: there are %u already, as many as there can be; use one of "
                     "them, or put both values into one",
                     (int)length_bytes, name, CONTEXT_ATTRIBUTES_MAX);
        return CONTEXT_NAMES_FULL;
    }
    memcpy(names[number], name, length_bytes);
    names[number][length_bytes] = '\0';
    /* order CONTEXT_NAME: releases the name to whoever sees that it is there. */
    jw_store_release(&count, number + 1);
    return (int)number;
}

int context_attribute(const char *name, size_t length_bytes, struct jw_error *err)
{
    if (!is_name(name, length_bytes)) {
        jw_error_set(err,
                     "attribute: a name has 1 to %u bytes of UTF-8 without control characters; "
                     "example: tenant",
                     CONTEXT_NAME_MAX_BYTES);
        return CONTEXT_NO_NAME;
    }
    const int known = find(name, length_bytes);
    if (known >= 0)
        return known;

    pthread_mutex_lock(&lock);
    const int number = add(name, length_bytes, err);
    pthread_mutex_unlock(&lock);
    if (number >= 0)
        (void)context_process_publish(NULL);
    return number;
}

uint32_t context_attribute_count(void)
{
    /* order CONTEXT_NAME: acquires what context_attribute released, the names. */
    return jw_load_acquire(&count);
}

const char *context_attribute_name(unsigned number)
{
    return number < context_attribute_count() ? names[number] : NULL;
}
