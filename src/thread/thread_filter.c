/* Which threads a run is about; control for setting it, hook and dump for asking. */
#include "thread/thread_filter.h"

#include <string.h>

#include "base/atomics.h"
#include "base/glob.h"
#include "thread/thread.h"

#define SEPARATORS ";/"
#define ADDED      "+"

struct item {
    bool is_added;                /* who the program added; nothing else of the item counts */
    uint32_t tid_first, tid_last; /* tid_last 0: a name */
    const char *name;             /* in `text`, not terminated */
    size_t name_bytes;
};

struct filter {
    char text[THREAD_FILTER_MAX_BYTES];
    struct item items[THREAD_FILTER_ITEMS_MAX];
    uint32_t count;
};

/* Written with all engines stopped; the start of one publishes it. */
static struct filter filter;

/* By number, of whatever run. Relaxed: a flag on its own, and the thread itself asks again when it has changed. */
static _Atomic uint64_t added[THREAD_TID_LIMIT / 64];

/* Where a filter is read into before it counts: commands come one at a time. */
static struct filter candidate;

static bool read_number(const char **at, const char *end, uint32_t *number)
{
    uint64_t value = 0;
    const char *const begin = *at;

    for (; *at < end && **at >= '0' && **at <= '9' && value < THREAD_TID_LIMIT; ++*at)
        value = value * 10 + (uint64_t)(**at - '0');
    *number = (uint32_t)value;
    return *at > begin;
}

/* Only digits and one '-' between them. */
static bool is_numeric(const char *text, size_t length_bytes)
{
    const char *dash = memchr(text, '-', length_bytes);

    if (dash == text || dash == text + length_bytes - 1)
        return false;
    for (const char *at = text; at < text + length_bytes; at++)
        if (at != dash && (*at < '0' || *at > '9'))
            return false;
    return true;
}

static bool read_tids(const char *text, size_t length_bytes, struct item *item,
                      struct jw_error *err)
{
    const char *const end = text + length_bytes;
    const char *at = text;
    bool is_read = read_number(&at, end, &item->tid_first);

    item->tid_last = item->tid_first;
    if (is_read && at < end && *at == '-') {
        at++;
        is_read = read_number(&at, end, &item->tid_last);
    }
    if (!is_read || at != end || item->tid_first == 0 || item->tid_last >= THREAD_TID_LIMIT ||
        item->tid_first > item->tid_last) {
        jw_error_set(err,
                     "filter: %.*s: thread numbers go from 1 to %u, the lower one first; "
                     "example: filter=1200-1240;http-*",
                     (int)length_bytes, text, THREAD_TID_LIMIT - 1);
        return false;
    }
    return true;
}

static bool read_item(const char *text, size_t length_bytes, struct filter *out,
                      struct jw_error *err)
{
    struct item *item = &out->items[out->count];

    if (length_bytes == 0) {
        jw_error_set(err, "filter: nothing stands between two separators, or at an end; "
                          "example: filter=1200-1240;http-*");
        return false;
    }
    if (out->count == THREAD_FILTER_ITEMS_MAX) {
        jw_error_set(err, "filter: more than %d items", THREAD_FILTER_ITEMS_MAX);
        return false;
    }
    *item = (struct item){.name = text, .name_bytes = length_bytes};
    item->is_added = length_bytes == 1 && text[0] == ADDED[0];
    if (is_numeric(text, length_bytes) && !read_tids(text, length_bytes, item, err))
        return false;
    out->count++;
    return true;
}

static bool read_filter(const char *text, struct filter *out, struct jw_error *err)
{
    const size_t length_bytes = text == NULL ? 0 : strlen(text);

    out->count = 0;
    if (length_bytes >= sizeof out->text) {
        jw_error_set(err, "filter: %zu bytes; at most %zu are kept", length_bytes,
                     sizeof out->text - 1);
        return false;
    }
    if (length_bytes == 0)
        return true;
    memcpy(out->text, text, length_bytes + 1);
    for (const char *at = out->text;;) {
        const size_t item_bytes = strcspn(at, SEPARATORS);

        if (!read_item(at, item_bytes, out, err))
            return false;
        if (at[item_bytes] == '\0')
            return true;
        at += item_bytes + 1;
    }
}

bool thread_filter_check(const char *text, struct jw_error *err)
{
    return read_filter(text, &candidate, err);
}

bool thread_filter_set(const char *text, struct jw_error *err)
{
    return thread_filter_check(text, err) && read_filter(text, &filter, err);
}

void thread_filter_add(uint32_t tid)
{
    if (tid < THREAD_TID_LIMIT)
        jw_or_relaxed(&added[tid / 64], UINT64_C(1) << tid % 64);
}

void thread_filter_remove(uint32_t tid)
{
    if (tid < THREAD_TID_LIMIT)
        jw_and_relaxed(&added[tid / 64], ~(UINT64_C(1) << tid % 64));
}

static bool is_added(uint32_t tid)
{
    return tid < THREAD_TID_LIMIT && (jw_load_relaxed(&added[tid / 64]) >> tid % 64 & 1) != 0;
}

static bool lets_in(const struct item *item, uint32_t tid, const char *name)
{
    if (item->is_added)
        return is_added(tid);
    return item->tid_last != 0 ? tid >= item->tid_first && tid <= item->tid_last
                               : jw_glob(item->name, item->name_bytes, name);
}

bool thread_filter_lets_in(uint32_t tid, const char *name)
{
    for (uint32_t i = 0; i < filter.count; i++) {
        if (lets_in(&filter.items[i], tid, name))
            return true;
    }
    return filter.count == 0;
}
