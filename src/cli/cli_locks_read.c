/* Sites of the census, and who waited there. Context: tool. */
#include "cli/cli_locks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli_feed_internal.h"

#define SITE_TYPE   "jaywalk.LockSite"
#define CALLER_TYPE "jaywalk.LockCaller"
#define TAKEN_TYPE  "jaywalk.LockObjects"
#define BUSY_TYPE   "jaywalk.LockObject"

const char *locks_verdict_word(enum locks_verdict verdict)
{
    static const char *const words[] = {"not counted", "never",  "one thread",
                                        "contended",   "shared", "one thread each"};

    return verdict < LOCKS_VERDICT_LIMIT ? words[verdict] : "";
}

/* ---- sites ---- */

static void forget_from(struct locks *all, size_t first)
{
    while (all->count > first) {
        const struct locks_site *site = &all->sites[--all->count];

        jw_free(site->place);
        jw_free(site->kind);
        jw_free(site->thread);
        for (size_t i = 0; i < site->caller_count; i++)
            jw_free(site->callers[i].place);
        jw_free(site->callers);
        jw_free(site->owners);
    }
}

/* A copy; NULL: no memory. */
static char *text_of(struct locks *all, const struct jfr_reader_event *event, const char *field,
                     const char *before, struct jfr_text *text)
{
    struct jfr_value value;
    const bool is_there =
        jfr_value_field(&event->value, field, &value) && jfr_value_text(&value, text);
    const char *found = is_there ? text->text : "";
    const size_t before_bytes = strlen(before), bytes = strlen(found) + 1;
    char *copy = jw_alloc(before_bytes + bytes);

    all->is_out_of_memory |= copy == NULL;
    if (copy == NULL)
        return NULL;
    memcpy(copy, before, before_bytes);
    memcpy(copy + before_bytes, found, bytes);
    return copy;
}

/* "shop.Cart.add", of the two fields; without a class the method alone. */
static char *place_of(struct locks *all, const struct jfr_reader_event *event,
                      const char *class_field, const char *method_field, struct jfr_text *text)
{
    char class_name[1024];
    char *found = text_of(all, event, class_field, "", text);

    if (found == NULL)
        return NULL;
    snprintf(class_name, sizeof class_name, found[0] == '\0' ? "%.1000s" : "%.1000s.", found);
    jw_free(found);
    for (char *at = class_name; *at != '\0'; at++)
        *at = *at == '/' ? '.' : *at;
    return text_of(all, event, method_field, class_name, text);
}

/* The step of a time. */
static size_t step_of(uint64_t ns)
{
    size_t step = 0;

    for (uint64_t least_ns = 1000; ns >= least_ns && step < LOCKS_STEPS - 1; least_ns *= 10)
        step++;
    return step;
}

/* "1000:12 10000:3"; recordings of before have none. */
static void read_steps(const struct jfr_reader_event *event, struct jfr_text *text,
                       uint64_t steps[LOCKS_STEPS])
{
    struct jfr_value value;

    if (!jfr_value_field(&event->value, "holdHistogram", &value) || !jfr_value_text(&value, text))
        return;
    for (const char *at = text->text; *at != '\0';) {
        char *end;
        const uint64_t from_ns = strtoull(at, &end, 10);

        if (end == at || *end != ':')
            return;
        at = end + 1;
        steps[step_of(from_ns)] += strtoull(at, &end, 10);
        if (end == at || (*end != ' ' && *end != '\0'))
            return;
        at = *end == ' ' ? end + 1 : end;
    }
}

static void take_site(struct locks *all, const struct jfr_reader_event *event,
                      struct jfr_text *text)
{
    if (all->count == all->capacity) {
        const size_t capacity = all->capacity == 0 ? 256 : 2 * all->capacity;
        void *sites = jw_realloc(all->sites, jw_mul_bytes(capacity, sizeof *all->sites));

        if (sites == NULL) {
            all->is_out_of_memory = true;
            return;
        }
        all->sites = sites;
        all->capacity = capacity;
    }
    all->sites[all->count++] = (struct locks_site){
        .place = place_of(all, event, "lockedIn", "method", text),
        .kind = text_of(all, event, "kind", "", text),
        .thread = text_of(all, event, "thread", "", text),
        .line = cli_number_of(event, "lineNumber"),
        .acquisitions = cli_number_of(event, "acquisitions"),
        .threads = cli_number_of(event, "threads"),
        .holds = cli_number_of(event, "timedHolds"),
        .weight = cli_number_of(event, "weight"),
        .hold_ns = (int64_t)cli_number_of(event, "holdTime"),
        .longest_hold_ns = (int64_t)cli_number_of(event, "longestHold"),
        .hold_error_ns = (int64_t)cli_number_of(event, "holdError"),
        .lock_class = "",
        .is_platform = cli_number_of(event, "isPlatform") != 0,
        .is_counted = cli_number_of(event, "isCounted") != 0,
    };
    read_steps(event, text, all->sites[all->count - 1].hold_steps);
}

/* These stand behind their site, where there is one. */
static void take_objects(struct locks *all, const struct jfr_reader_event *event)
{
    struct locks_site *site = all->count > all->first ? &all->sites[all->count - 1] : NULL;

    if (site != NULL && strcmp(event->type_name, TAKEN_TYPE) == 0) {
        locks_read_taken(site, event);
        all->takes_bias |= cli_number_of(event, "takesBias") != 0;
    } else if (site != NULL && strcmp(event->type_name, BUSY_TYPE) == 0) {
        locks_read_busy(site, event);
    }
}

static void take_caller(struct locks *all, const struct jfr_reader_event *event,
                        struct jfr_text *text)
{
    struct locks_site *site = all->count > all->first ? &all->sites[all->count - 1] : NULL;

    if (site == NULL)
        return;
    if (site->caller_count == site->caller_capacity) {
        const size_t capacity = site->caller_capacity == 0 ? 4 : 2 * site->caller_capacity;
        void *callers = jw_realloc(site->callers, jw_mul_bytes(capacity, sizeof *site->callers));

        if (callers == NULL) {
            all->is_out_of_memory = true;
            return;
        }
        site->callers = callers;
        site->caller_capacity = capacity;
    }
    site->callers[site->caller_count++] = (struct locks_caller){
        .place = place_of(all, event, "callerClass", "caller", text),
        .samples = cli_number_of(event, "samples"),
        .acquisitions = cli_number_of(event, "acquisitions"),
        .error = cli_number_of(event, "error"),
    };
}

static void read_sites(struct locks *all, struct jfr_reader *reader, struct cli_progress *progress,
                       struct jw_error *err)
{
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jfr_text text = {0};
    int64_t told_ticks = 0;

    while (!all->is_out_of_memory && jfr_reader_next_types(reader, &chunk, err)) {
        bool is_first = true;

        if (!jfr_reader_has_event(reader, SITE_TYPE))
            continue;
        if (!jfr_reader_begin_events(reader, err))
            break;
        while (!all->is_out_of_memory && jfr_reader_next_event(reader, &event, err)) {
            cli_progress_show(progress, "reading", jfr_reader_position_bytes(reader),
                              jfr_reader_size_bytes(reader));
            if (strcmp(event.type_name, CALLER_TYPE) == 0 && !is_first)
                take_caller(all, &event, &text);
            if (!is_first)
                take_objects(all, &event);
            if (strcmp(event.type_name, SITE_TYPE) != 0)
                continue;
            /* All of a moment have the same time; those of an earlier one say less. */
            if (is_first || (int64_t)event.start_ticks != told_ticks)
                forget_from(all, all->first);
            is_first = false;
            told_ticks = (int64_t)event.start_ticks;
            take_site(all, &event, &text);
        }
        if (err->message[0] != '\0')
            break;
    }
    jfr_text_free(&text);
}

bool locks_read(struct locks *all, const char *path, bool is_quiet, struct jw_error *err)
{
    struct jfr_reader *reader = jfr_reader_open(path, err);
    struct cli_progress progress;

    if (reader == NULL)
        return false;
    all->first = all->count;
    cli_progress_begin(&progress, is_quiet);
    read_sites(all, reader, &progress, err);
    cli_progress_end(&progress);
    jfr_reader_close(reader);
    if (err->message[0] != '\0')
        return false;
    /* Without a site nobody asks who waited. */
    struct cli_part whole = {.end_ns = UINT64_MAX};

    if (all->count > all->first && !contention_read(&all->waits, path, &whole, is_quiet, err))
        return false;
    if (all->is_out_of_memory)
        jw_error_set(err, "%s: out of memory for its locks; free some", path);
    return !all->is_out_of_memory;
}

/* ---- who waited ---- */

/*
 * Frames of the JDK's between a park and who takes the lock; and of the counting, where a virtual thread is told to have a monitor when it runs
 * again, a little later.
 */
static bool is_of_lock(const char *frame)
{
    static const char *const inner[] = {"java.util.concurrent.locks.", "jdk.internal.misc.Unsafe.",
                                        "sun.misc.Unsafe.", "java.lang.Jaywalk"};

    for (size_t i = 0; i < JW_COUNT_OF(inner); i++)
        if (strncmp(frame, inner[i], strlen(inner[i])) == 0)
            return true;
    return false;
}

/* "shop.Cart.add:31" of the innermost frame that takes it, without its line, which is told apart. */
static void split_frame(const char *stack, char *place, size_t room_bytes, uint64_t *line)
{
    while (is_of_lock(stack) && strchr(stack, '\n') != NULL)
        stack = strchr(stack, '\n') + 1;
    snprintf(place, room_bytes, "%.*s", (int)strcspn(stack, "\n"), stack);

    char *colon = strrchr(place, ':');
    *line = 0;
    if (colon != NULL) {
        *line = strtoull(colon + 1, NULL, 10);
        *colon = '\0';
    }
}

static int compare_places(const void *left, const void *right)
{
    return strcmp(((const struct locks_site *)left)->place,
                  ((const struct locks_site *)right)->place);
}

bool locks_is_call(const struct locks_site *site)
{
    return strstr(site->kind, "Lock") != NULL;
}

/*
 * The site of that line, or of the method as a whole, of monitors or of locks of java.util.concurrent; sites are in the order of their places.
 * NULL: none.
 */
static struct locks_site *find_site(struct locks *all, char *place, uint64_t line, bool is_park)
{
    const struct locks_site wanted = {.place = place};
    struct locks_site *found =
        all->count == 0 ? NULL
                        : bsearch(&wanted, all->sites, all->count, sizeof wanted, compare_places);
    struct locks_site *best = NULL;

    while (found != NULL && found > all->sites && strcmp(found[-1].place, place) == 0)
        found--;
    for (; found != NULL && found < all->sites + all->count && strcmp(found->place, place) == 0;
         found++) {
        const bool is_monitor = is_park || strcmp(found->kind, "monitor") == 0;

        if (locks_is_call(found) != is_park)
            continue;
        if (is_monitor && found->line == line)
            return found;
        if (!is_monitor || best == NULL)
            best = found;
    }
    return best;
}

static void take_wait(struct locks *all, const struct contention_wait *wait)
{
    char place[1024];
    uint64_t line;
    struct locks_site *site;

    split_frame(contention_text_of(&all->waits, wait->stack), place, sizeof place, &line);
    site = find_site(all, place, line, wait->kind == CONTENTION_PARK);
    if (site == NULL) {
        all->waits_elsewhere++;
        return;
    }
    const int64_t waited_ns = wait->end_ns - wait->begin_ns;

    if (site->waits++ == 0)
        site->lock_class = contention_text_of(&all->waits, wait->lock);
    site->waited_ns += waited_ns;
    all->is_out_of_memory |= !locks_take_owner(all, site, wait);
    locks_take_object(all, site, wait);
    site->wait_steps[step_of(waited_ns > 0 ? (uint64_t)waited_ns : 0)]++;
    if (waited_ns > site->longest_wait_ns)
        site->longest_wait_ns = waited_ns;
}

static enum locks_verdict verdict_of(const struct locks_site *site)
{
    return !site->is_counted         ? LOCKS_UNKNOWN
           : site->waits > 0         ? LOCKS_CONTENDED
           : site->acquisitions == 0 ? LOCKS_NEVER
           : site->threads <= 1      ? LOCKS_ALONE
           : locks_is_confined(site) ? LOCKS_CONFINED
                                     : LOCKS_SHARED;
}

bool locks_settle(struct locks *all)
{
    all->is_out_of_memory |= !contention_settle(&all->waits);
    all->items = jw_alloc(jw_mul_bytes(all->waits.wait_count + 1, sizeof *all->items));
    all->is_out_of_memory |= all->items == NULL;
    if (all->count > 0)
        qsort(all->sites, all->count, sizeof *all->sites, compare_places);
    for (size_t i = 0; i < all->waits.wait_count && !all->is_out_of_memory; i++)
        if (all->waits.waits[i].kind != CONTENTION_WAIT && all->waits.waits[i].is_for_lock)
            take_wait(all, &all->waits.waits[i]);
    jw_map_close(&all->owners); /* they are put in order */
    all->is_out_of_memory |= all->items == NULL || !locks_sum_objects(all);
    for (size_t i = 0; i < all->count; i++) {
        all->sites[i].verdict = verdict_of(&all->sites[i]);
        locks_sort_owners(&all->sites[i]);
    }
    return !all->is_out_of_memory;
}

void locks_close(struct locks *all)
{
    forget_from(all, 0);
    jw_free(all->sites);
    jw_free(all->items);
    contention_close_objects(&all->objects);
    contention_close(&all->waits);
}
