/* Numbers of methods. Context: hook, and the agent's thread. */
#include "instrument/instrument_sites.h"

#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "probe/probe_own.h"

#define NAME_BYTES 512u

struct name {
    char texts[NAME_BYTES]; /* what is made, class, method and descriptor, each with its NUL */
    uint16_t length_bytes;
};

/* Of numbers, where a class that is made has one for each method that makes it. */
#define BY_METHOD (PROBE_OWN_SITES / 4 * 3)

#define LOST_ROOM  4096u /* a power of two */
#define LOST_LIMIT (LOST_ROOM / 2)

struct table {
    uint32_t count, lost_count;
    uint64_t lost[LOST_ROOM]; /* hashes of the names of those that have no number */
    struct name *names;       /* PROBE_OWN_SITES; NULL: none was wanted yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* around all */
static struct table tables[INSTRUMENT_SITES_KINDS];

bool instrument_sites_begin(enum instrument_sites_kind kind, struct jw_error *err)
{
    struct table *table = &tables[kind];

    pthread_mutex_lock(&lock);
    if (table->names == NULL)
        table->names = jw_alloc(jw_mul_bytes(PROBE_OWN_SITES, sizeof *table->names));
    memset(table->lost, 0, sizeof table->lost);
    table->count = table->lost_count = 0;
    const bool is_good = table->names != NULL;
    pthread_mutex_unlock(&lock);
    if (!is_good)
        jw_error_set(err, "no memory for a probe");
    return is_good;
}

static bool put(char *to, size_t *used_bytes, struct classfile_text text)
{
    if (text.length_bytes >= NAME_BYTES - *used_bytes)
        return false;
    memcpy(to + *used_bytes, text.bytes, text.length_bytes);
    *used_bytes += text.length_bytes;
    to[(*used_bytes)++] = '\0';
    return true;
}

/* A method is met at each of its places, and whenever its class is read: it is one. The lock is held. */
static void note_lost(struct table *table, uint64_t hash)
{
    const uint64_t key = hash | 1;
    uint32_t at = (uint32_t)(key >> 8) & (LOST_ROOM - 1);

    if (table->lost_count == LOST_LIMIT)
        return;
    while (table->lost[at] != 0 && table->lost[at] != key)
        at = (at + 1) & (LOST_ROOM - 1);
    table->lost_count += table->lost[at] == 0;
    table->lost[at] = key;
}

/* The lock is held. */
static int32_t find(const struct table *table, const char *texts, size_t length_bytes)
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (table->names[i].length_bytes == length_bytes &&
            memcmp(table->names[i].texts, texts, length_bytes) == 0)
            return (int32_t)i;
    }
    return -1;
}

/* The lock is held. */
static int32_t add(struct table *table, const char *texts, size_t length_bytes)
{
    if (table->names == NULL || table->count == PROBE_OWN_SITES) {
        note_lost(table, jw_hash64(texts, length_bytes));
        return -1;
    }
    memcpy(table->names[table->count].texts, texts, length_bytes);
    table->names[table->count].length_bytes = (uint16_t)length_bytes;
    return (int32_t)table->count++;
}

/* False: it is too long. */
static bool put_all(char *texts, size_t *used_bytes, const struct classfile_text *all)
{
    *used_bytes = 0;
    return put(texts, used_bytes, all[0]) && put(texts, used_bytes, all[1]) &&
           put(texts, used_bytes, all[2]) && put(texts, used_bytes, all[3]);
}

static uint64_t hash_of(const struct classfile_text *all)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < 4; i++)
        hash = jw_hash_word(hash ^ jw_hash64(all[i].bytes, all[i].length_bytes));
    return hash;
}

int32_t instrument_sites_number(enum instrument_sites_kind kind, struct classfile_text made,
                                struct classfile_text class_name, struct classfile_text method,
                                struct classfile_text descriptor)
{
    static const struct classfile_text none = {"", 0};
    const struct classfile_text all[] = {made, class_name, method, descriptor};
    const struct classfile_text alone[] = {made, none, none, none};
    struct table *table = &tables[kind];
    char texts[NAME_BYTES];
    size_t used_bytes;
    int32_t found;

    pthread_mutex_lock(&lock);
    bool fits = put_all(texts, &used_bytes, all);
    const bool is_full = kind == INSTRUMENT_SITES_MADE && table->count >= BY_METHOD;
    found = fits ? find(table, texts, used_bytes) : -1;
    if (found < 0 && made.length_bytes != 0 && (!fits || is_full)) {
        fits = put_all(texts, &used_bytes, alone);
        found = fits ? find(table, texts, used_bytes) : -1;
    }
    if (found < 0 && fits)
        found = add(table, texts, used_bytes);
    else if (found < 0)
        note_lost(table, hash_of(all));
    pthread_mutex_unlock(&lock);
    return found;
}

bool instrument_sites_at(enum instrument_sites_kind kind, uint32_t number,
                         struct instrument_site *out)
{
    pthread_mutex_lock(&lock);
    const bool is_there = number < tables[kind].count;
    pthread_mutex_unlock(&lock);
    if (!is_there)
        return false;
    out->made = tables[kind].names[number].texts;
    out->class_name = out->made + strlen(out->made) + 1;
    out->method = out->class_name + strlen(out->class_name) + 1;
    out->descriptor = out->method + strlen(out->method) + 1;
    return true;
}

/* put leaves the last byte of each as it was made, 0. */
const char *instrument_sites_made(enum instrument_sites_kind kind, uint32_t number)
{
    return tables[kind].names[number & (PROBE_OWN_SITES - 1)].texts;
}

void instrument_sites_lose(enum instrument_sites_kind kind, uint32_t number)
{
    const struct name *name = &tables[kind].names[number];

    pthread_mutex_lock(&lock);
    note_lost(&tables[kind], jw_hash64(name->texts, name->length_bytes));
    pthread_mutex_unlock(&lock);
}

uint64_t instrument_sites_lost(enum instrument_sites_kind kind)
{
    pthread_mutex_lock(&lock);
    const uint64_t count = tables[kind].lost_count;
    pthread_mutex_unlock(&lock);
    return count;
}
