/*
 * One chunk for several threads: it is cut into rows of events, and each row is read as if it were a chunk. Context: tool.
 *
 * What an event means may hang on those before it: settings, which counter was the last one, and whether the one right before it said that the next
 * thread was asked to stop. A piece knows what held when it begins; it never begins between an event and one that tells of it. So the same comes
 * out as by one thread, as where there are many chunks: what has to be in order is noted, and summed up piece after piece.
 */
#include <string.h>

#include "cli/cli_feed_internal.h"
#include "profile/profile_moments.h"

#define CUT_TYPES 64u

/* On the way through the events of a chunk. */
struct cutter {
    struct cli_feed *feed;
    struct jfr_reader_event counter; /* the last one of a counter; type NULL: there was none */
    struct known_kind {
        const struct jfr_reader_type *type;
        enum cli_kind kind;
    } kinds[CUT_TYPES];
};

static enum cli_kind kind_of(struct cutter *cutter, const struct jfr_reader_event *event)
{
    struct known_kind *known =
        &cutter->kinds[(uintptr_t)event->type / sizeof(void *) % JW_COUNT_OF(cutter->kinds)];

    if (known->type != event->type)
        *known = (struct known_kind){event->type, cli_kind_of(event->type_name)};
    return known->kind;
}

/* What an event means to those behind it. False: it cannot be read. */
static bool note_event(struct cutter *cutter, enum cli_kind kind, struct jfr_reader_event *event,
                       struct jw_error *err)
{
    if (kind == CLI_KIND_COUNTER)
        cutter->counter = *event;
    if (kind != CLI_KIND_SETTING)
        return true;
    if (!jfr_reader_load_event(cutter->feed->reader, event, err))
        return false;
    cli_take_setting(cutter->feed, event);
    return true;
}

/* Which counter was the last one before a piece. False: it cannot be read. */
static bool name_counter(struct cutter *cutter, struct cli_piece *piece, struct jw_error *err)
{
    if (cutter->counter.type == NULL)
        return true;
    if (!jfr_reader_load_event(cutter->feed->reader, &cutter->counter, err))
        return false;
    (void)cli_counter_name(cutter->feed, &cutter->counter, piece->counter, sizeof piece->counter);
    cutter->counter.type = NULL;
    return true;
}

/* A piece from this event on; what is in `before` goes to its begin. */
static bool begin_piece(struct cutter *cutter, struct cli_piece *before,
                        const struct jfr_reader_event *event, struct jw_error *err)
{
    struct cli_piece *piece = before + 1;

    *piece = *before;
    piece->number++;
    before->is_last = false;
    before->end_bytes = piece->begin_bytes = event->offset_bytes;
    piece->clocks = cutter->feed->clocks;
    return name_counter(cutter, piece, err);
}

/* From one event to the next, through all of the chunk; a piece ends where its share of the bytes is passed. */
static bool pass_events(struct cutter *cutter, uint64_t piece_bytes, uint32_t wanted,
                        struct cli_cut *cut, struct jw_error *err)
{
    struct jfr_reader_event event;
    uint64_t passed_bytes = 0;
    bool is_asked = false;

    while (jfr_reader_next_head(cutter->feed->reader, &event, err)) {
        const uint64_t size_bytes = event.size_bytes;
        const enum cli_kind kind = kind_of(cutter, &event);

        if (cut->count < wanted && passed_bytes >= piece_bytes * cut->count && !is_asked) {
            if (!begin_piece(cutter, &cut->pieces[cut->count - 1], &event, err))
                return false;
            cut->count++;
        }
        if (!note_event(cutter, kind, &event, err))
            return false;
        is_asked = kind == CLI_KIND_ASKED;
        passed_bytes += size_bytes;
    }
    return err->message[0] == '\0';
}

/* As many as are wanted, or fewer. False and `err`: it is damaged. */
static bool cut_events(struct cli_feed *feed, const struct jfr_reader_chunk *chunk,
                       const struct jfr_reader_measures *measures, uint32_t wanted,
                       struct cli_cut *cut, struct jw_error *err)
{
    struct cutter cutter = {.feed = feed};

    feed->clocks = (struct cli_clocks){0};
    cut->count = 1;
    cut->pieces[0] = (struct cli_piece){
        .chunk = *chunk,
        .is_last = true,
        .begin_bytes = measures->next_bytes,
        .end_bytes = chunk->offset_bytes + chunk->size_bytes,
    };
    const bool is_cut = pass_events(&cutter, measures->events_bytes / wanted, wanted, cut, err);
    feed->notes.used_bytes = 0; /* settings are noted by who reads them */
    return is_cut;
}

#define FIXED_COLUMNS 5u /* of moments, that are no attributes */

/*
 * How many pieces are worth the while. Where there are more attributes than columns it depends on their order in the whole chunk which are left
 * out: it stays whole.
 */
static uint32_t pieces_for(const struct cli_feed *feed, unsigned jobs,
                           const struct jfr_reader_measures *measures)
{
    const struct cli_wish *wish = feed->wish;
    const uint64_t least_bytes = wish->jobs == 0 ? CLI_PIECE_BYTES : CLI_PIECE_LEAST_BYTES;
    const uint64_t most = measures->events_bytes / least_bytes;
    const uint64_t left_bytes = measures->own_bytes + measures->behind_bytes;
    const uint64_t wanted =
        left_bytes == 0 ? 1 : (jobs * measures->own_bytes + left_bytes - 1) / left_bytes;

    if (jobs < 2 ||
        (wish->moments != NULL && jfr_reader_attribute_count(feed->reader, PROFILE_COLUMNS_LIMIT) >
                                      PROFILE_COLUMNS_LIMIT - FIXED_COLUMNS))
        return 1;
    return (uint32_t)(wanted < most ? wanted : most);
}

void cli_free_cut(struct cli_cut *cut)
{
    if (cut != NULL)
        jw_free(cut->pieces);
    jw_free(cut);
}

struct cli_cut *cli_cut_chunk(struct cli_feed *feed, const struct jfr_reader_chunk *chunk,
                              unsigned jobs, struct jw_error *err)
{
    struct jfr_reader_measures measures;

    jfr_reader_measure(feed->reader, &measures);
    const uint32_t wanted = pieces_for(feed, jobs, &measures);
    struct cli_cut *cut = wanted < 2 ? NULL : jw_alloc(sizeof *cut);
    if (cut == NULL)
        return NULL;
    cut->owner = feed->reader;
    cut->pieces = jw_alloc(jw_mul_bytes(wanted, sizeof *cut->pieces));
    if (cut->pieces != NULL && cut_events(feed, chunk, &measures, wanted, cut, err))
        return cut;
    cli_free_cut(cut);
    return NULL;
}

void cli_cuts_begin_look(struct cli_cuts *cuts)
{
    pthread_mutex_lock(&cuts->lock);
    cuts->looking++;
    pthread_mutex_unlock(&cuts->lock);
}

void cli_cuts_end_look(struct cli_cuts *cuts, struct cli_cut *cut)
{
    pthread_mutex_lock(&cuts->lock);
    cuts->looking--;
    if (cut != NULL) {
        struct cli_cut **at = &cuts->first;

        while (*at != NULL) /* those of chunks before it are taken first */
            at = &(*at)->next;
        cut->next = NULL;
        *at = cut;
    }
    pthread_cond_broadcast(&cuts->changed);
    pthread_mutex_unlock(&cuts->lock);
}

/* The one of them that has a piece for somebody; NULL: none has. */
static struct cli_cut *open_cut(const struct cli_cuts *cuts, struct cli_cut *of)
{
    struct cli_cut *cut = of == NULL ? cuts->first : of;

    while (cut != NULL && cut->taken == cut->count)
        cut = of == NULL ? cut->next : NULL;
    return cut;
}

struct cli_cut *cli_cuts_take(struct cli_cuts *cuts, struct cli_cut *of, bool is_waiting,
                              struct cli_piece *piece)
{
    struct cli_cut *found;

    pthread_mutex_lock(&cuts->lock);
    while ((found = open_cut(cuts, of)) == NULL && is_waiting && cuts->looking > 0)
        pthread_cond_wait(&cuts->changed, &cuts->lock);
    if (found != NULL)
        *piece = found->pieces[found->taken++];
    pthread_mutex_unlock(&cuts->lock);
    return found;
}

void cli_cuts_done(struct cli_cuts *cuts, struct cli_cut *cut)
{
    pthread_mutex_lock(&cuts->lock);
    cut->done++;
    pthread_cond_broadcast(&cuts->changed);
    pthread_mutex_unlock(&cuts->lock);
}

void cli_cuts_finish(struct cli_cuts *cuts, struct cli_cut *cut)
{
    struct cli_cut **at = &cuts->first;

    pthread_mutex_lock(&cuts->lock);
    while (cut->done < cut->count)
        pthread_cond_wait(&cuts->changed, &cuts->lock);
    while (*at != cut)
        at = &(*at)->next;
    *at = cut->next;
    pthread_mutex_unlock(&cuts->lock);
}
