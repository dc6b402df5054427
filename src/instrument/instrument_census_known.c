/* Classes with locks, and their sites. Context: see the header. */
#include "instrument/instrument_census_known.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "instrument/instrument_census_counts.h"
#include "instrument/instrument_census_loaders.h"

/* All that there can be is more than what is there for commands; at rest it is little, and it is for the file. */
#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_WRITING

#define TEXT_BYTES 512u
#define CROWDED    (INSTRUMENT_LOCK_SITES_LIMIT / 2)

/* So many numbers of loaders that are gone are given back at once. */
#define LOADERS_CROWDED (CENSUS_LOADERS_LIMIT / 16)

struct known_class {
    uint64_t key; /* 0: free */
    uint32_t loader;
    uint32_t first;
    uint32_t count;  /* of sites; 0: it has none, or is not written */
    uint32_t census; /* the last one that has looked at it */
};

enum site_state {
    SITE_USED,
    SITE_UNLOADED, /* its class is gone */
    SITE_FREE,     /* and what was counted there, too */
};

struct known_site {
    uint32_t class_at; /* where its text begins */
    uint32_t method_at;
    uint32_t census; /* the last one that has it */
    uint16_t line;
    uint8_t kind;
    uint8_t state;
    bool is_platform;
    bool is_refused;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. Who holds it calls nothing of the JVM. */
static struct {
    struct known_class *classes;
    uint32_t class_count, class_room;
    struct known_site *sites;
    uint32_t site_count, site_room;
    uint32_t unloaded, free; /* of the sites */
    uint32_t next_free;      /* where to look for such */
    char *texts;
    uint32_t text_used, text_room;
    struct instrument_census figures;
    uint32_t census; /* number of this one */
    uint64_t gone[CENSUS_LOADERS_WORDS];
} known;

/* Of the agent's thread. */
static struct {
    char class_name[TEXT_BYTES], method[TEXT_BYTES];
} told;

uint64_t census_known_key(uint32_t loader, const char *name)
{
    return jw_hash_word(jw_hash64(name, strlen(name)) ^ jw_hash_word((uint64_t)loader + 1)) | 1;
}

/* ---- classes; the lock is held ---- */

static struct known_class *find_class(struct known_class *all, uint32_t room, uint64_t key)
{
    uint32_t at = (uint32_t)(key >> 8) & (room - 1);

    while (all[at].key != 0 && all[at].key != key)
        at = (at + 1) & (room - 1);
    return &all[at];
}

static void note_unloaded(const struct known_class *klass)
{
    for (uint32_t i = 0; i < klass->count; i++)
        known.sites[klass->first + i].state = SITE_UNLOADED;
    known.unloaded += klass->count;
    known.class_count--;
}

/* Into a table of that size, without those whose loader is gone. False: no memory; all is as it was. */
static bool rebuild(uint32_t room)
{
    struct known_class *more = jw_alloc(jw_mul_bytes(room, sizeof *more));

    if (more == NULL)
        return false;
    const bool is_any_gone = census_loaders_gone(known.gone) != 0;
    for (uint32_t i = 0; i < known.class_room; i++) {
        const struct known_class *klass = &known.classes[i];

        if (klass->key == 0)
            continue;
        if ((known.gone[klass->loader / 64] >> klass->loader % 64 & 1) != 0)
            note_unloaded(klass);
        else
            *find_class(more, room, klass->key) = *klass;
    }
    jw_free(known.classes);
    known.classes = more;
    known.class_room = room;
    if (is_any_gone)
        census_loaders_give_back(known.gone);
    return true;
}

static bool has_room_for_class(void)
{
    if (known.class_count * 2 < known.class_room)
        return true;
    if (known.class_room != 0 && !rebuild(known.class_room))
        return false;
    return (known.class_count * 2 < known.class_room / 4 * 3 && known.class_room != 0) ||
           rebuild(known.class_room == 0 ? 1024 : 2 * known.class_room);
}

/* Of this loader and name, which it may be the first to be known of. NULL: there is no memory, or no number for the loader. */
static struct known_class *need_class(uint64_t key, uint32_t loader)
{
    struct known_class *klass = loader != CENSUS_LOADER_NONE && has_room_for_class()
                                    ? find_class(known.classes, known.class_room, key)
                                    : NULL;

    if (klass != NULL && klass->key == 0) {
        *klass = (struct known_class){.key = key, .loader = loader};
        known.class_count++;
    }
    return klass;
}

/* ---- sites; the lock is held ---- */

/* So many free ones, one behind the other. */
static bool find_free(uint32_t count, uint32_t *first)
{
    uint32_t run = 0;

    for (uint32_t i = 0; count <= known.free && i < known.site_count + count; i++) {
        const uint32_t at = (known.next_free + i) % known.site_count;

        run = at == 0 ? 0 : run;
        run = known.sites[at].state == SITE_FREE ? run + 1 : 0;
        if (run == count) {
            *first = at + 1 - count;
            known.next_free = (at + 1) % known.site_count;
            known.free -= count;
            return true;
        }
    }
    return false;
}

static bool has_room_for_sites(uint32_t count)
{
    if (count > INSTRUMENT_LOCK_SITES_LIMIT - known.site_count)
        return false;
    if (known.site_count + count <= known.site_room)
        return true;

    const uint32_t room = (known.site_count + count) * 2;
    struct known_site *more = jw_realloc(known.sites, jw_mul_bytes(room, sizeof *more));
    if (more == NULL)
        return false;
    known.sites = more;
    known.site_room = room;
    return true;
}

static bool take_sites(uint32_t count, uint32_t *first)
{
    *first = known.site_count;
    if (count == 0 || find_free(count, first))
        return true;
    if (!has_room_for_sites(count))
        return false;
    known.site_count += count;
    return true;
}

/* Where it begins; 0: there is no memory for it, and an empty text stands there. */
static uint32_t add_text(const char *text, size_t length_bytes)
{
    const uint32_t length = census_counts_fitting(text, length_bytes, TEXT_BYTES);

    if (known.text_used + length + 2 > known.text_room) {
        const uint32_t room = 2 * (known.text_room + TEXT_BYTES);
        char *more = jw_realloc(known.texts, room);

        if (more == NULL)
            return 0;
        known.texts = more;
        known.text_room = room;
    }
    if (known.text_used == 0)
        known.texts[known.text_used++] = '\0';

    const uint32_t at = known.text_used;
    memcpy(known.texts + at, text, length);
    known.texts[at + length] = '\0';
    known.text_used += length + 1;
    return at;
}

static void fill_sites(const struct census_class *of, uint32_t first, bool is_platform)
{
    const struct classfile_text name = classfile_name(&of->file);
    const uint32_t class_at = add_text((const char *)name.bytes, name.length_bytes);
    uint32_t method_at = 0, method = UINT32_MAX;

    for (uint32_t i = 0; i < of->site_count; i++) {
        const struct census_site *site = &of->sites[i];

        if (site->method != method) {
            const struct classfile_text text =
                classfile_text_of(&of->file, of->file.methods[site->method].name_index);

            method = site->method;
            method_at = add_text((const char *)text.bytes, text.length_bytes);
        }
        known.sites[first + i] = (struct known_site){.class_at = class_at,
                                                     .method_at = method_at,
                                                     .census = known.census,
                                                     .line = site->line,
                                                     .kind = (uint8_t)site->kind,
                                                     .is_platform = is_platform};
    }
}

static bool take(uint64_t key, uint32_t loader, const struct census_class *of, bool is_platform,
                 uint32_t *first)
{
    struct known_class *klass = need_class(key, loader);

    if (klass == NULL)
        return false;
    known.figures.classes +=
        of->site_count != 0 && (klass->census != known.census || klass->count == 0);
    if (klass->census != 0 && klass->count == of->site_count) {
        klass->census = known.census;
        for (uint32_t i = 0; i < klass->count; i++)
            known.sites[klass->first + i].census = known.census;
        *first = klass->first;
        return true;
    }
    if (!take_sites(of->site_count, first))
        return false;
    /* Those that it had are not known any more, and stay. */
    klass->first = *first;
    klass->count = of->site_count;
    klass->census = known.census;
    if (of->site_count != 0)
        fill_sites(of, *first, is_platform);
    return true;
}

/* ---- any thread ---- */

void census_known_begin(void)
{
    pthread_mutex_lock(&lock);
    known.census++;
    memset(&known.figures, 0, sizeof known.figures);
    pthread_mutex_unlock(&lock);
}

bool census_known_take(uint64_t key, uint32_t loader, const struct census_class *of,
                       bool is_platform, uint32_t *first)
{
    pthread_mutex_lock(&lock);
    const bool has_numbers = take(key, loader, of, is_platform, first);
    known.figures.left_out += has_numbers ? 0 : of->site_count;
    pthread_mutex_unlock(&lock);
    return has_numbers;
}

void census_known_note_sites(const struct census_class *of, uint32_t first)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < of->site_count; i++)
        known.sites[first + i].is_refused = of->sites[i].is_refused;
    pthread_mutex_unlock(&lock);
}

void census_known_refuse(uint64_t key, uint32_t loader)
{
    pthread_mutex_lock(&lock);
    struct known_class *klass = need_class(key, loader);
    if (klass != NULL)
        klass->census = known.census;
    for (uint32_t i = 0; klass != NULL && i < klass->count; i++)
        known.sites[klass->first + i].is_refused = true;
    known.figures.refused_classes++;
    pthread_mutex_unlock(&lock);
}

void census_known_leave_alone(uint64_t key, uint32_t loader)
{
    pthread_mutex_lock(&lock);
    struct known_class *klass = need_class(key, loader);
    if (klass != NULL)
        klass->census = known.census;
    pthread_mutex_unlock(&lock);
}

uint32_t census_known_sites(uint64_t key, bool *is_known)
{
    pthread_mutex_lock(&lock);
    const struct known_class *klass =
        known.class_room == 0 ? NULL : find_class(known.classes, known.class_room, key);
    *is_known = klass != NULL && klass->key != 0 && klass->census == known.census;
    const uint32_t count = *is_known ? klass->count : 0;
    pthread_mutex_unlock(&lock);
    return count;
}

/* ---- reading ---- */

uint32_t census_known_count(void)
{
    pthread_mutex_lock(&lock);
    const uint32_t count = known.site_count;
    known.figures.refused_sites = 0;
    for (uint32_t i = 0; i < count; i++)
        known.figures.refused_sites +=
            known.sites[i].state != SITE_FREE && known.sites[i].is_refused;
    pthread_mutex_unlock(&lock);
    return count;
}

/* What it was, where the call does not say it. */
static enum census_kind kind_of(uint8_t kind, uint32_t seen)
{
    static const enum census_kind kinds[] = {CENSUS_LOCK, CENSUS_REENTRANT, CENSUS_READ,
                                             CENSUS_WRITE};

    return kind == CENSUS_LOCK && seen < JW_COUNT_OF(kinds) ? kinds[seen] : (enum census_kind)kind;
}

bool census_known_site(uint32_t number, struct instrument_lock_site *out)
{
    pthread_mutex_lock(&lock);
    if (number >= known.site_count) {
        pthread_mutex_unlock(&lock);
        return false;
    }
    const struct known_site site = known.sites[number];
    snprintf(told.class_name, sizeof told.class_name, "%s",
             known.texts == NULL ? "" : known.texts + site.class_at);
    snprintf(told.method, sizeof told.method, "%s",
             known.texts == NULL ? "" : known.texts + site.method_at);
    const bool is_of_now = site.census == known.census && site.state != SITE_FREE;
    pthread_mutex_unlock(&lock);
    out->class_name = told.class_name;
    out->method = told.method;
    out->kind = census_kind_word(kind_of(site.kind, out->seen_kind));
    out->line = site.line;
    out->is_platform = site.is_platform;
    out->is_refused = site.is_refused;
    return is_of_now;
}

bool census_known_is_platform(uint32_t number)
{
    pthread_mutex_lock(&lock);
    const bool is_it = number < known.site_count && known.sites[number].is_platform &&
                       known.sites[number].state != SITE_FREE;
    pthread_mutex_unlock(&lock);
    return is_it;
}

struct instrument_census census_known_figures(void)
{
    pthread_mutex_lock(&lock);
    struct instrument_census figures = known.figures;
    figures.sites = known.site_count - known.free;
    pthread_mutex_unlock(&lock);
    return figures;
}

/* ---- what is forgotten ---- */

/* Sites whose class is gone; NULL: there are enough others, or there is no memory. */
static uint32_t *choose_unloaded(uint32_t *count)
{
    uint32_t *chosen = NULL;

    pthread_mutex_lock(&lock);
    *count = 0;
    const bool is_crowded = known.site_count - known.free >= CROWDED;
    if (known.class_room != 0 &&
        census_loaders_gone(known.gone) > (is_crowded ? 0 : LOADERS_CROWDED))
        (void)rebuild(known.class_room); /* without memory all is as it was, until the next turn */
    if (is_crowded && known.unloaded > 0)
        chosen = jw_alloc(jw_mul_bytes(known.unloaded, sizeof *chosen));
    for (uint32_t i = 0; chosen != NULL && i < known.site_count; i++)
        if (known.sites[i].state == SITE_UNLOADED)
            chosen[(*count)++] = i;
    pthread_mutex_unlock(&lock);
    return chosen;
}

/* Texts of what is left alone; the lock is held. Without memory all stay. */
static void pack_texts(void)
{
    char *old = known.texts;
    uint32_t old_class = 0, old_method = 0, class_at = 0, method_at = 0;
    const uint32_t room = known.text_room;

    if (old == NULL)
        return;
    known.texts = jw_alloc(room);
    if (known.texts == NULL) {
        known.texts = old;
        return;
    }
    known.text_used = 0;
    for (uint32_t i = 0; i < known.site_count; i++) {
        struct known_site *site = &known.sites[i];

        if (site->state == SITE_FREE) {
            site->class_at = site->method_at = 0;
            continue;
        }
        if (site->class_at != old_class)
            class_at = add_text(old + site->class_at, strlen(old + site->class_at));
        if (site->method_at != old_method)
            method_at = add_text(old + site->method_at, strlen(old + site->method_at));
        old_class = site->class_at;
        old_method = site->method_at;
        site->class_at = old_class == 0 ? 0 : class_at;
        site->method_at = old_method == 0 ? 0 : method_at;
    }
    jw_free(old);
}

static void give_numbers_back(const uint32_t *sites, uint32_t count, uint64_t acquisitions)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < count; i++)
        known.sites[sites[i]].state = SITE_FREE;
    known.unloaded -= count;
    known.free += count;
    known.figures.forgotten_sites += count;
    known.figures.forgotten += acquisitions;
    pack_texts();
    pthread_mutex_unlock(&lock);
}

void census_known_turn(JNIEnv *jni)
{
    uint32_t count;
    uint64_t acquisitions = 0;
    uint32_t *sites = choose_unloaded(&count);

    /* Nobody is in the code of these classes any more: what was counted there stands still. */
    if (sites != NULL && count > 0 && census_counts_forget(jni, sites, count, &acquisitions))
        give_numbers_back(sites, count, acquisitions);
    jw_free(sites);
}
