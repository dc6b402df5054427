/*
 * The dump side of the room: looking at the maps, answering questions for names, doing what
 * handlers asked for. One lock orders all of it; handlers never take it.
 */
#include "symbols/symbols.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/frame.h"
#include "symbols/symbols_frames_internal.h"

#define PAUSE_MAX_TICKS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t refresh_count, refresh_ns, rows_ns, names_ns, put_off_count;
static unsigned pause_ticks, ticks_left; /* until the next look at the maps for an unknown pc */
static uint64_t look_number;             /* of the last look that handlers and names are told by */
static bool has_news;                    /* something is past since symbols_take_news */
static struct symbols_loads seen_loads;  /* just before it */

static bool is_same_library(const struct symbols_library *library,
                            const struct symbols_mapping *mapping, uintptr_t end_pc)
{
    const struct symbols_mapping *known = &library->mapping;

    return known->start == mapping->start && known->offset == mapping->offset &&
           known->device == mapping->device && known->inode == mapping->inode &&
           known->is_deleted == mapping->is_deleted && library->facts.end_pc == end_pc &&
           strcmp(known->path, mapping->path) == 0;
}

/* The library as the current snapshot has it, so that rows and names are kept; else, or where it was doubted, a new one. */
static struct symbols_library *find_or_open(const struct symbols_snapshot *current,
                                            const struct symbols_mapping *mapping, uintptr_t end_pc)
{
    for (uint32_t i = 0; current != NULL && i < current->library_count; i++)
        if (is_same_library(current->libraries[i], mapping, end_pc) &&
            !jw_load_relaxed(&current->libraries[i]->is_doubted))
            return current->libraries[i];
    return symbols_library_open(mapping, end_pc);
}

/* True where `next` shows more of what `mapping` shows, at the same distance to the file. */
static bool continues(const struct symbols_mapping *mapping, const struct symbols_mapping *next)
{
    return mapping->inode == next->inode && mapping->device == next->device &&
           mapping->start - mapping->offset == next->start - next->offset &&
           strcmp(mapping->path, next->path) == 0;
}

static void add_range(struct symbols_snapshot *snapshot, const struct symbols_mapping *mapping,
                      struct symbols_library *library)
{
    struct symbols_range *last =
        snapshot->range_count == 0 ? NULL : &snapshot->ranges[snapshot->range_count - 1];

    if (last != NULL && last->library == library && last->end == mapping->start) {
        last->end = mapping->end;
        return;
    }
    snapshot->ranges[snapshot->range_count++] =
        (struct symbols_range){.start = mapping->start, .end = mapping->end, .library = library};
}

static struct symbols_snapshot *snapshot_of(const struct symbols_mapping *mappings, size_t count,
                                            struct jw_error *err)
{
    const struct symbols_snapshot *current = symbols_snapshot_current();
    struct symbols_snapshot *snapshot = jw_alloc(sizeof *snapshot);

    if (snapshot == NULL)
        goto fail;
    snapshot->ranges = jw_alloc(jw_mul_bytes(count, sizeof snapshot->ranges[0]));
    snapshot->libraries = jw_alloc(jw_mul_bytes(count, sizeof(struct symbols_library *)));
    if (snapshot->ranges == NULL || snapshot->libraries == NULL)
        goto fail;

    for (size_t i = 0, next; i < count; i = next) {
        next = i + 1;
        while (next < count && continues(&mappings[i], &mappings[next]))
            next++;

        struct symbols_library *library =
            find_or_open(current, &mappings[i], mappings[next - 1].end);
        if (library == NULL)
            goto fail;
        library->snapshot_count++;
        snapshot->libraries[snapshot->library_count++] = library;
        for (size_t piece = i; piece < next; piece++)
            add_range(snapshot, &mappings[piece], library);
    }
    return snapshot;
fail:
    jw_error_set(err, "out of memory for the list of loaded libraries");
    if (snapshot != NULL)
        symbols_snapshot_free(snapshot);
    return NULL;
}

static bool is_same_snapshot(const struct symbols_snapshot *a, const struct symbols_snapshot *b)
{
    if (a == NULL || a->range_count != b->range_count)
        return false;
    for (uint32_t i = 0; i < a->range_count; i++)
        if (a->ranges[i].start != b->ranges[i].start || a->ranges[i].end != b->ranges[i].end ||
            a->ranges[i].library != b->ranges[i].library)
            return false;
    return true;
}

static struct symbols_snapshot *look(struct jw_error *err)
{
    struct symbols_snapshot *snapshot = NULL;
    char *text = symbols_maps_read("/proc/self/maps", err);

    if (text == NULL)
        return NULL;

    size_t line_count = 1;
    for (const char *at = strchr(text, '\n'); at != NULL; at = strchr(at + 1, '\n'))
        line_count++;

    struct symbols_mapping *mappings = jw_alloc(jw_mul_bytes(line_count, sizeof *mappings));
    if (mappings == NULL)
        jw_error_set(err, "out of memory for %zu mappings", line_count);
    else
        snapshot = snapshot_of(mappings, symbols_maps_parse(text, mappings, line_count), err);
    jw_free(mappings);
    jw_free(text);
    return snapshot;
}

static bool is_in(const struct symbols_snapshot *snapshot, const struct symbols_library *library)
{
    for (uint32_t i = 0; snapshot != NULL && i < snapshot->library_count; i++)
        if (snapshot->libraries[i] == library)
            return true;
    return false;
}

/* Libraries that come and go faster than the maps are read: of what is new, only what its file proves is believed. */
static void doubt_fresh(const struct symbols_snapshot *snapshot)
{
    const struct symbols_snapshot *current = symbols_snapshot_current();

    for (uint32_t i = 0; i < snapshot->library_count; i++) {
        struct symbols_library *library = snapshot->libraries[i];

        if (!library->is_by_path && !is_in(current, library)) {
            jw_store_relaxed(&library->is_doubted, true);
            symbols_want(SYMBOLS_WANT_TRUTH);
        }
    }
}

/* It may be there still, opened anew because it was doubted. */
static bool is_reopened(const struct symbols_snapshot *snapshot,
                        const struct symbols_library *library)
{
    const struct symbols_range *range = symbols_snapshot_range(snapshot, library->facts.start_pc);

    return range != NULL &&
           is_same_library(range->library, &library->mapping, library->facts.end_pc);
}

/*
 * What `old` had and `snapshot` has not is past. So many libraries were unloaded between the two looks: where something may have
 * been that neither of them saw, and no handler would have noticed it, it is unknown. Each library that is gone was unloaded; where
 * more were, others came and went, perhaps where those had lain.
 */
static void note_past(const struct symbols_snapshot *old, const struct symbols_snapshot *snapshot,
                      uint64_t removed_count)
{
    uint64_t gone_count = 0;

    for (uint32_t i = 0; old != NULL && i < old->library_count; i++)
        gone_count +=
            !is_in(snapshot, old->libraries[i]) && !is_reopened(snapshot, old->libraries[i]);
    const bool is_more = removed_count > gone_count;

    if (is_more)
        symbols_past_doubt(old, look_number);
    for (uint32_t i = 0; old != NULL && i < old->library_count; i++) {
        struct symbols_library *gone = old->libraries[i];

        if (!is_in(snapshot, gone))
            symbols_past_add(gone->facts.start_pc, gone->facts.end_pc,
                             gone->is_weak && is_more ? NULL : gone, look_number);
    }
    for (uint32_t i = 0; old != NULL && removed_count > 0 && i < snapshot->library_count; i++) {
        const struct symbols_library *library = snapshot->libraries[i];

        if (library->is_weak ||
            (!is_in(old, library) &&
             !symbols_snapshot_watches(old, library->facts.start_pc, library->facts.end_pc)))
            symbols_past_add(library->facts.start_pc, library->facts.end_pc, NULL, look_number);
    }
    has_news |= removed_count > 0;
}

/* A look during which nothing was loaded or unloaded, if one of two is. */
static struct symbols_snapshot *steady_look(struct symbols_loads *before, uint64_t *removed_count,
                                            struct jw_error *err)
{
    for (unsigned attempt = 0;; attempt++) {
        *before = symbols_loads();
        struct symbols_snapshot *snapshot = look(err);
        const struct symbols_loads after = symbols_loads();

        refresh_count++;
        *removed_count = after.removed - seen_loads.removed;
        if (snapshot == NULL || (before->added == after.added && before->removed == after.removed))
            return snapshot;
        if (attempt > 0) {
            doubt_fresh(snapshot);
            return snapshot;
        }
        symbols_snapshot_free(snapshot);
    }
}

/* Under the lock. `is_changed` says whether a new snapshot was published. */
static bool refresh(bool *is_changed, struct jw_error *err)
{
    const uint64_t start_ns = jw_now_ns();
    const struct symbols_snapshot *old = symbols_snapshot_current();
    struct symbols_loads loads;
    uint64_t removed_count;
    struct symbols_snapshot *snapshot = steady_look(&loads, &removed_count, err);

    *is_changed = false;
    if (snapshot == NULL)
        return false;
    if (is_same_snapshot(old, snapshot)) {
        look_number++;
        note_past(old, snapshot, removed_count);
        seen_loads = loads;
        symbols_snapshot_free(snapshot);
    } else if (symbols_snapshot_publish(snapshot)) {
        /* The old one waits at least until it is reclaimed below. */
        look_number++;
        note_past(old, snapshot, removed_count);
        seen_loads = loads;
        *is_changed = true;
    } else {
        symbols_snapshot_free(snapshot);
        put_off_count++;
        /* Asked for again, so that the next serve tries. */
        symbols_want(SYMBOLS_WANT_LIBRARIES);
    }
    (void)symbols_snapshot_reclaim();
    refresh_ns += jw_now_ns() - start_ns;
    return true;
}

bool symbols_refresh(struct jw_error *err)
{
    bool is_changed;

    pthread_mutex_lock(&lock);
    const bool is_done = refresh(&is_changed, err);
    pthread_mutex_unlock(&lock);
    return is_done;
}

static void build_rows(bool only_wanted)
{
    const uint64_t start_ns = jw_now_ns();
    struct symbols_snapshot *current = symbols_snapshot_current();

    symbols_frames_begin();
    for (uint32_t i = 0; current != NULL && i < current->library_count; i++)
        if (!only_wanted || jw_load_relaxed(&current->libraries[i]->is_rows_wanted))
            symbols_library_build_rows(current->libraries[i]);
    symbols_frames_end();
    rows_ns += jw_now_ns() - start_ns;
}

bool symbols_build_rows(struct jw_error *err)
{
    bool is_done = true;
    bool is_changed;

    pthread_mutex_lock(&lock);
    if (symbols_snapshot_current() == NULL)
        is_done = refresh(&is_changed, err);
    build_rows(false);
    pthread_mutex_unlock(&lock);
    return is_done;
}

bool symbols_serve(struct jw_error *err)
{
    bool is_done = true;
    bool is_changed;

    pthread_mutex_lock(&lock);
    const unsigned wanted = symbols_snapshot_take_wanted();

    if (ticks_left > 0)
        ticks_left--;
    if ((wanted & (SYMBOLS_WANT_LIBRARIES | SYMBOLS_WANT_TRUTH)) != 0) {
        const struct symbols_loads loads = symbols_loads();

        if (ticks_left > 0 && (wanted & SYMBOLS_WANT_TRUTH) == 0 &&
            loads.added == seen_loads.added && loads.removed == seen_loads.removed) {
            symbols_want(SYMBOLS_WANT_LIBRARIES);
        } else {
            is_done = refresh(&is_changed, err);
            if (is_changed)
                pause_ticks = 0;
            else
                pause_ticks = pause_ticks == 0                    ? 2
                              : pause_ticks * 2 > PAUSE_MAX_TICKS ? PAUSE_MAX_TICKS
                                                                  : pause_ticks * 2;
            ticks_left = pause_ticks;
        }
    }
    if ((wanted & SYMBOLS_WANT_ROWS) != 0)
        build_rows(true);
    (void)symbols_snapshot_reclaim();
    pthread_mutex_unlock(&lock);
    return is_done;
}

static bool has_weak(const struct symbols_snapshot *snapshot)
{
    for (uint32_t i = 0; snapshot != NULL && i < snapshot->library_count; i++)
        if (snapshot->libraries[i]->is_weak)
            return true;
    return false;
}

bool symbols_settle(struct jw_error *err)
{
    bool is_done = true;
    bool is_changed;

    pthread_mutex_lock(&lock);
    if ((has_weak(symbols_snapshot_current()) || symbols_past_count() > 0) &&
        symbols_loads().removed != seen_loads.removed)
        is_done = refresh(&is_changed, err);
    pthread_mutex_unlock(&lock);
    return is_done;
}

bool symbols_take_news(void)
{
    pthread_mutex_lock(&lock);
    const bool is_news = has_news;

    has_news = false;
    pthread_mutex_unlock(&lock);
    return is_news;
}

uint64_t symbols_look_number(void)
{
    pthread_mutex_lock(&lock);
    const uint64_t number = look_number;

    pthread_mutex_unlock(&lock);
    return number;
}

void symbols_forget_before(uint64_t number)
{
    pthread_mutex_lock(&lock);
    symbols_past_forget(number);
    pthread_mutex_unlock(&lock);
}

static struct symbols_library *library_at(uintptr_t pc)
{
    const struct symbols_snapshot *current = symbols_snapshot_current();
    const struct symbols_range *range =
        current == NULL ? NULL : symbols_snapshot_range(current, pc);

    return range == NULL ? NULL : range->library;
}

bool symbols_want_rows(uintptr_t pc)
{
    pthread_mutex_lock(&lock);
    struct symbols_library *library = library_at(pc);

    if (library != NULL) {
        /* Relaxed: read under the lock by whoever builds. */
        jw_store_relaxed(&library->is_rows_wanted, true);
        symbols_want(SYMBOLS_WANT_ROWS);
    }
    pthread_mutex_unlock(&lock);
    return library != NULL;
}

bool symbols_name(uintptr_t pc, struct symbols_name *out)
{
    bool is_uncertain;

    *out = (struct symbols_name){0};
    pthread_mutex_lock(&lock);
    struct symbols_library *library = symbols_past_find(pc, library_at(pc), &is_uncertain);

    if (library != NULL) {
        const uint64_t start_ns = jw_now_ns();

        if (!library->is_names_tried) {
            symbols_library_build_names(library);
            names_ns += jw_now_ns() - start_ns;
        }
        snprintf(out->library, sizeof out->library, "%s", library->facts.name);
        if (!symbols_library_name(library, pc, out))
            out->offset_bytes = pc - library->facts.load_bias;
        if (library->is_names_refused)
            snprintf(out->function, sizeof out->function, "%s", jw_mark_text(JW_MARK_MEMLIMIT));
    }
    pthread_mutex_unlock(&lock);
    if (is_uncertain)
        jw_count(JW_COUNT_SYMBOLS_UNCERTAIN);
    return library != NULL;
}

void symbols_forget_names(void)
{
    pthread_mutex_lock(&lock);
    const struct symbols_snapshot *current = symbols_snapshot_current();

    for (uint32_t i = 0; current != NULL && i < current->library_count; i++)
        symbols_library_forget_names(current->libraries[i]);
    symbols_past_forget_names();
    pthread_mutex_unlock(&lock);
}

const char *symbols_name_text(const struct symbols_name *name, char *text, size_t text_bytes)
{
    if (name->function[0] != '\0')
        snprintf(text, text_bytes, "%s", name->function);
    else if (name->library[0] != '\0')
        snprintf(text, text_bytes, "%s+0x%llx", name->library,
                 (unsigned long long)name->offset_bytes);
    else
        snprintf(text, text_bytes, "[unknown]");
    return text;
}

uintptr_t symbols_find_symbol(const char *library_name, const char *symbol)
{
    uintptr_t address = 0;

    pthread_mutex_lock(&lock);
    const struct symbols_snapshot *current = symbols_snapshot_current();

    for (uint32_t i = 0; current != NULL && i < current->library_count; i++) {
        const struct symbols_library *library = current->libraries[i];

        if (strncmp(library->facts.name, library_name, strlen(library_name)) == 0) {
            (void)symbols_library_find_symbol(library, symbol, &address);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return address;
}

bool symbols_find_in_file(const char *library_name, const char *symbol, char *path,
                          size_t room_bytes, uint64_t *offset)
{
    bool is_found = false;

    pthread_mutex_lock(&lock);
    const struct symbols_snapshot *current = symbols_snapshot_current();

    for (uint32_t i = 0; current != NULL && !is_found && i < current->library_count; i++) {
        const struct symbols_library *library = current->libraries[i];

        is_found = strncmp(library->facts.name, library_name, strlen(library_name)) == 0 &&
                   strlen(library->facts.path) < room_bytes &&
                   symbols_library_find_offset(library, symbol, offset);
        if (is_found)
            memcpy(path, library->facts.path, strlen(library->facts.path) + 1);
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

void symbols_each_library(symbols_visit *visit, void *closure)
{
    pthread_mutex_lock(&lock);
    const struct symbols_snapshot *current = symbols_snapshot_current();

    for (uint32_t i = 0; current != NULL && i < current->library_count; i++)
        visit(&current->libraries[i]->facts, closure);
    pthread_mutex_unlock(&lock);
}

void symbols_stats(struct symbols_stats *out)
{
    *out = (struct symbols_stats){0};
    pthread_mutex_lock(&lock);
    const struct symbols_snapshot *current = symbols_snapshot_current();

    for (uint32_t i = 0; current != NULL && i < current->library_count; i++) {
        struct symbols_library *library = current->libraries[i];
        const struct symbols_rows *rows = symbols_library_rows(library);

        out->libraries++;
        out->libraries_unreadable += !library->facts.is_readable;
        if (rows != NULL && rows->row_count > 0) {
            out->libraries_with_rows++;
            out->rows += rows->row_count;
            out->rules += rows->rule_count;
            out->rows_bytes += rows->size_bytes;
            out->frames_refused += rows->frames_refused;
        }
        if (library->names != NULL)
            out->names_bytes += library->names->size_bytes;
        if (library->stubs != NULL)
            out->names_bytes += library->stubs->size_bytes;
        if (library->mini != NULL)
            out->names_bytes += library->mini->size_bytes + library->mini->image.size_bytes;
    }
    out->refresh_count = refresh_count;
    out->refresh_ns = refresh_ns;
    out->rows_ns = rows_ns;
    out->names_ns = names_ns;
    out->snapshots_waiting = symbols_snapshot_reclaim();
    out->snapshots_put_off = put_off_count;
    out->libraries_past = symbols_past_count();
    pthread_mutex_unlock(&lock);
}

void symbols_close(void)
{
    pthread_mutex_lock(&lock);
    symbols_snapshot_close();
    symbols_past_forget(UINT64_MAX);
    look_number = 0;
    has_news = false;
    seen_loads = (struct symbols_loads){0, 0};
    pause_ticks = 0;
    ticks_left = 0;
    pthread_mutex_unlock(&lock);
}
