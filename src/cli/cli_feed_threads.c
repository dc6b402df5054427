/*
 * Who reads which chunk of a recording: a thread for each processor, each into a profile of its own. Context: tool.
 *
 * Chunks go to threads as these ask for them; one behind which there are too few for all threads is cut into pieces, which go to threads likewise
 * (cli_feed_pieces.c). What a chunk, or a piece of it, adds to a profile may be added in any order; what may not
 * is noted, and summed up in the order of chunks: also samples that are kept one by one. So the same comes out however many threads there are.
 *
 * Under the lock: what was found and noted, samples one by one, the chunks that wait for those before them, and the first error by the number
 * of its chunk. All else is the thread's own, and what is read only.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli_feed_internal.h"
#include "cli/cli_leaks_internal.h"
#include "os/os_thread.h"
#include "profile/profile_moments.h"

/* What a chunk said, or a piece of one, and who read it. */
struct told {
    struct told *next; /* of a larger number */
    const struct worker *worker;
    struct cli_piece piece;
    struct cli_found found;
    struct cli_notes notes;
    struct profile_moments *moments; /* NULL: nobody asks for them */
};

/* Blocks of the moments of a chunk among those of all, whose stacks are numbered as in the profile of who read it. */
struct stretch {
    const struct worker *worker;
    size_t first, end;
};

struct feeding {
    pthread_mutex_t lock;
    struct cli_found *found;
    struct cli_sums sums;
    uint64_t start_unix_ns, end_unix_ns;
    struct told *waiting;
    uint64_t next_number; /* of the chunk that is summed up next, */
    uint32_t next_piece;  /* and of the piece of it */
    struct stretch *stretches;
    size_t stretch_count, stretch_capacity;
    uint64_t failed_number;
    struct jw_error failure; /* of that chunk; empty: none */
    unsigned jobs;
    struct cli_cuts cuts; /* has a lock of its own */
};

struct worker {
    struct feeding *feeding;
    struct cli_feed feed;
    struct cli_found found; /* of its chunk */
    struct cli_part part;   /* of its own: what patterns were used is written there */
    struct cli_wish wish;
    struct profile_moments *moments; /* of its chunk; NULL: nobody asks for them */
    profile_stack_id *stacks;        /* of its profile, as the first's has them */
    uint32_t stack_count;
    struct jfr_reader_chunk given; /* its first chunk, where has_given */
    bool has_given;
    struct jfr_reader *view;       /* reads pieces; NULL: it takes none */
    struct cli_progress *progress; /* NULL: another one shows it */
    struct os_thread thread;
};

/* False: no memory. */
static bool add_moments(struct feeding *feeding, const struct told *told)
{
    struct profile_moments *all = feeding->sums.wish->moments;
    const size_t first = profile_moments_block_count(all);
    const size_t capacity = feeding->stretch_capacity == 0 ? 64 : 2 * feeding->stretch_capacity;

    feeding->found->left_out_attributes += profile_moments_append(all, told->moments);
    if (feeding->stretch_count == feeding->stretch_capacity) {
        struct stretch *grown =
            jw_realloc(feeding->stretches, jw_mul_bytes(capacity, sizeof *grown));

        if (grown == NULL)
            return false;
        feeding->stretches = grown;
        feeding->stretch_capacity = capacity;
    }
    feeding->stretches[feeding->stretch_count++] =
        (struct stretch){told->worker, first, profile_moments_block_count(all)};
    return !profile_moments_failed(all);
}

/* False: no memory. */
static bool sum_chunk(struct feeding *feeding, const struct told *told)
{
    const struct jfr_reader_chunk *chunk = &told->piece.chunk;
    const uint64_t end_ns = chunk->start_unix_ns + chunk->duration_ns;

    if (feeding->start_unix_ns == 0 || chunk->start_unix_ns < feeding->start_unix_ns)
        feeding->start_unix_ns = chunk->start_unix_ns;
    if (end_ns > feeding->end_unix_ns)
        feeding->end_unix_ns = end_ns;
    cli_sum_found(feeding->found, &told->found);
    cli_sum_notes(&feeding->sums, &told->notes);
    feeding->next_number += told->piece.is_last;
    feeding->next_piece = told->piece.is_last ? 0 : told->piece.number + 1;
    return told->moments == NULL || add_moments(feeding, told);
}

/* Moments of its own, from the same base as all of them; false: no memory. */
static bool open_moments(struct worker *worker)
{
    struct jw_error ignored;

    worker->moments = profile_moments_open(&ignored);
    worker->wish.moments = worker->moments;
    if (worker->moments != NULL)
        profile_moments_set_base(worker->moments,
                                 profile_moments_base_unix_ns(worker->feeding->sums.wish->moments));
    return worker->moments != NULL;
}

static void free_told(struct told *told)
{
    profile_moments_close(told->moments);
    jw_free(told->notes.bytes);
    jw_free(told);
}

static bool is_before(const struct cli_piece *one, const struct cli_piece *other)
{
    return one->chunk.number != other->chunk.number ? one->chunk.number < other->chunk.number
                                                    : one->number < other->number;
}

static bool is_next(const struct feeding *feeding, const struct cli_piece *piece)
{
    return piece->chunk.number == feeding->next_number && piece->number == feeding->next_piece;
}

/* Its place among those that wait, with what is the worker's until now; false: no memory. */
static bool wait_in_line(struct feeding *feeding, struct worker *worker, const struct told *said)
{
    struct told *told = jw_alloc(sizeof *told);
    struct told **at = &feeding->waiting;

    if (told == NULL)
        return false;
    *told = *said;
    cli_move_counter(&told->found, said->found.counter, told->found.counter);
    worker->feed.notes = (struct cli_notes){0};
    while (*at != NULL && is_before(&(*at)->piece, &told->piece))
        at = &(*at)->next;
    told->next = *at;
    *at = told;
    return told->moments == NULL || open_moments(worker);
}

/* False: no memory. */
static bool hand_in(struct worker *worker, const struct cli_piece *piece)
{
    struct feeding *feeding = worker->feeding;
    struct told said = {.worker = worker,
                        .piece = *piece,
                        .found = worker->found,
                        .notes = worker->feed.notes,
                        .moments = worker->moments};
    bool has_memory;

    cli_move_counter(&said.found, worker->found.counter, said.found.counter);
    pthread_mutex_lock(&feeding->lock);
    if (is_next(feeding, piece))
        has_memory = sum_chunk(feeding, &said);
    else
        has_memory = wait_in_line(feeding, worker, &said);
    while (feeding->waiting != NULL && is_next(feeding, &feeding->waiting->piece)) {
        struct told *told = feeding->waiting;

        has_memory &= sum_chunk(feeding, told);
        feeding->waiting = told->next;
        free_told(told);
    }
    has_memory &= !feeding->sums.is_out_of_memory;
    pthread_mutex_unlock(&feeding->lock);
    worker->feed.notes.used_bytes = 0;
    return has_memory;
}

/* Of several errors the one of the first chunk is told, which is the one that a single thread comes upon. */
static void fail(struct worker *worker, const struct jw_error *err)
{
    struct feeding *feeding = worker->feeding;
    const uint64_t number = jfr_reader_chunk_number(worker->feed.reader);

    pthread_mutex_lock(&feeding->lock);
    if (feeding->failure.message[0] == '\0' || number < feeding->failed_number) {
        feeding->failure = *err;
        feeding->failed_number = number;
    }
    pthread_mutex_unlock(&feeding->lock);
    jfr_reader_end(worker->feed.reader);
}

static bool next_chunk(struct worker *worker, struct jfr_reader_chunk *chunk, struct jw_error *err)
{
    if (!worker->has_given)
        return jfr_reader_next_chunk(worker->feed.reader, chunk, err);
    *chunk = worker->given;
    worker->has_given = false;
    return true;
}

/* Into the profile of its own, and what was found to the others. False and noted: it cannot be read, or no memory. */
static bool read_piece(struct worker *worker, const struct cli_piece *piece)
{
    struct jw_error err = {{0}};

    worker->found = (struct cli_found){0};
    if (!cli_feed_piece(&worker->feed, piece, worker->progress, &err)) {
        fail(worker, &err);
        return false;
    }
    if (hand_in(worker, piece))
        return true;
    jw_error_set(&err, "out of memory for what chunks say; free some, or take fewer --jobs");
    fail(worker, &err);
    return false;
}

/* A piece of a chunk that somebody has in hand. */
static bool read_cut(struct worker *worker, struct cli_cut *cut, const struct cli_piece *piece)
{
    struct jfr_reader *const own = worker->feed.reader;

    jfr_reader_look(worker->view, cut->owner, piece->begin_bytes, piece->end_bytes);
    worker->feed.reader = worker->view;
    const bool is_read = read_piece(worker, piece);
    worker->feed.reader = own;
    jfr_reader_look_away(worker->view);
    cli_cuts_done(&worker->feeding->cuts, cut);
    return is_read;
}

/* The pieces of its own chunk, as far as others do not take them. */
static bool read_own_cut(struct worker *worker, struct cli_cut *cut)
{
    struct cli_cuts *cuts = &worker->feeding->cuts;
    struct cli_piece piece;
    bool is_read = true;

    while (cli_cuts_take(cuts, cut, false, &piece) != NULL)
        is_read &= read_cut(worker, cut, &piece);
    cli_cuts_finish(cuts, cut);
    cli_free_cut(cut);
    return is_read;
}

/* The next chunk that nobody has taken. False: there is none, or it cannot be read, as is noted. */
static bool read_chunk(struct worker *worker)
{
    struct cli_cuts *cuts = &worker->feeding->cuts;
    struct cli_piece whole = {.is_last = true};
    struct cli_cut *cut = NULL;
    struct jw_error err = {{0}};

    cli_cuts_begin_look(cuts);
    const bool is_there = next_chunk(worker, &whole.chunk, &err);
    if (is_there && worker->view != NULL)
        cut = cli_cut_chunk(&worker->feed, &whole.chunk, worker->feeding->jobs, &err);
    if (err.message[0] != '\0')
        fail(worker, &err);
    cli_cuts_end_look(cuts, cut);
    if (cut != NULL)
        return read_own_cut(worker, cut);
    return is_there && err.message[0] == '\0' && read_piece(worker, &whole);
}

/* Chunks, and pieces of those that others have: these first, since they are in the way of what comes behind. */
static void read_chunks(void *argument)
{
    struct worker *worker = argument;
    struct cli_cuts *cuts = &worker->feeding->cuts;
    struct cli_cut *cut = NULL;
    struct cli_piece piece;
    bool is_read = true;

    while (is_read) {
        cut = worker->view == NULL ? NULL : cli_cuts_take(cuts, NULL, false, &piece);
        is_read = cut == NULL ? read_chunk(worker) : read_cut(worker, cut, &piece);
    }
    while (worker->view != NULL && (cut = cli_cuts_take(cuts, NULL, true, &piece)) != NULL)
        (void)read_cut(worker, cut, &piece);
}

unsigned cli_processors(void)
{
    cpu_set_t set;
    const unsigned count =
        sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;

    return count == 0 ? 1 : count > CLI_JOBS_MOST ? CLI_JOBS_MOST : count;
}

/* Threads for a file: none without a part of it that is worth the while. */
static unsigned jobs_for(const struct cli_wish *wish, const struct jfr_reader *reader)
{
    const uint64_t parts = jfr_reader_size_bytes(reader) / CLI_JOB_BYTES + 1;
    const unsigned jobs = wish->jobs == 0 ? cli_processors() : wish->jobs;

    return parts < jobs && wish->jobs == 0 ? (unsigned)parts : jobs;
}

/* A worker beside the first. False: no memory, and the others do without it. */
static bool prepare(struct worker *worker, const struct worker *first)
{
    struct jw_error ignored;

    worker->feeding = first->feeding;
    worker->wish = *first->feed.wish;
    worker->feed = (struct cli_feed){
        .wish = &worker->wish,
        .requests = first->feed.requests,
        .found = &worker->found,
        .live_ns = first->feed.live_ns,
        .slices_begin_ns = first->feed.slices_begin_ns,
        .slices_end_ns = first->feed.slices_end_ns,
    };
    if (worker->wish.part != NULL) {
        worker->part = *worker->wish.part;
        worker->wish.part = &worker->part;
    }
    if (worker->wish.moments != NULL && !open_moments(worker))
        return false;
    worker->feed.profile = profile_open(profile_config_of(first->feed.profile), &ignored);
    if (worker->feed.profile != NULL)
        worker->feed.reader = jfr_reader_share(first->feed.reader, &ignored);
    if (worker->feed.reader != NULL)
        worker->view = jfr_reader_share(first->feed.reader, &ignored);
    return worker->feed.reader != NULL;
}

/* Others may still be reading. */
static bool has_failed(struct feeding *feeding)
{
    pthread_mutex_lock(&feeding->lock);
    const bool is_failure = feeding->failure.message[0] != '\0';
    pthread_mutex_unlock(&feeding->lock);
    return is_failure;
}

/* False: no memory. */
static bool merge(struct worker *worker, struct worker *first)
{
    const struct profile *from = worker->feed.profile;

    if (worker->moments != NULL) {
        worker->stack_count = profile_stack_count(from);
        worker->stacks = jw_alloc(jw_mul_bytes(worker->stack_count, sizeof *worker->stacks));
        if (worker->stacks == NULL)
            return false;
    }
    return profile_merge(first->feed.profile, from, worker->stacks);
}

/* Of moments that others than the first have read: stacks as its profile has them. Nobody reads any more. False: no memory. */
static bool resolve(struct feeding *feeding, const struct worker *first, struct worker *others,
                    unsigned count)
{
    struct profile_moments *all = feeding->sums.wish->moments;
    bool has_memory = true;

    for (size_t i = 0; i < feeding->stretch_count; i++) {
        const struct stretch *stretch = &feeding->stretches[i];
        const struct worker *worker = stretch->worker;

        if (worker != first)
            profile_moments_restack(all, stretch->first, stretch->end, worker->stacks,
                                    worker->stack_count);
    }
    for (unsigned i = 0; i < count; i++) {
        has_memory &=
            others[i].stacks == NULL || profile_moments_keep_stacks(all, others[i].stacks);
        others[i].stacks = NULL;
    }
    return has_memory;
}

/* What it read becomes that of the first. False: no memory. */
static bool join(struct worker *worker, struct worker *first)
{
    struct cli_part *part = first->feed.wish->part;

    while (!os_thread_join(&worker->thread, OS_WAKE_NEVER))
        continue;
    if (part != NULL)
        cli_part_note_used(part, &worker->part);
    return worker->feed.profile == NULL || has_failed(first->feeding) || merge(worker, first);
}

static void release(struct worker *worker)
{
    profile_close(worker->feed.profile);
    profile_moments_close(worker->moments);
    jw_free(worker->stacks);
    jfr_reader_close(worker->view);
    cli_feed_close(&worker->feed);
}

/*
 * The first chunk, before anybody reads: all times of moments are counted from its begin. The first keeps its moments chunk by chunk, as the
 * others do: where there are more columns than can be, the same is left out. False: there is no chunk, or no memory, as is noted.
 */
static bool begin_moments(struct worker *first, struct worker *others, unsigned count)
{
    struct profile_moments *all = first->feed.wish->moments;
    struct jw_error err = {{0}};

    first->has_given = jfr_reader_next_chunk(first->feed.reader, &first->given, &err);
    if (first->has_given && profile_moments_base_unix_ns(all) == 0)
        profile_moments_set_base(all, first->given.start_unix_ns);
    for (unsigned i = 0; i < count; i++)
        profile_moments_set_base(others[i].moments, profile_moments_base_unix_ns(all));
    if (first->has_given) {
        first->wish = *first->feed.wish;
        first->feed.wish = &first->wish;
        if (!open_moments(first))
            jw_error_set(&err, "out of memory for samples; free some, or take fewer --jobs");
    }
    if (err.message[0] != '\0')
        fail(first, &err);
    return first->has_given && err.message[0] == '\0';
}

/* All chunks, by `jobs` threads, this one included. */
static void run(struct worker *first, unsigned jobs, struct jw_error *err)
{
    struct worker *others = jobs > 1 ? jw_alloc(jw_mul_bytes(jobs - 1, sizeof *others)) : NULL;
    struct jw_error ignored;
    unsigned count = 0, begun = 0;
    bool has_memory = true;

    /* All of them before any begins: a reader that shares is made before one gives a chunk. */
    if (others != NULL)
        first->view = jfr_reader_share(first->feed.reader, &ignored);
    while (others != NULL && count < jobs - 1 && prepare(&others[count], first))
        count++;
    if (first->feed.wish->moments == NULL || begin_moments(first, others, count)) {
        first->feeding->jobs = count + 1;
        while (begun < count && os_thread_start(&others[begun].thread, "jaywalk reader",
                                                read_chunks, &others[begun], &ignored))
            begun++;
        read_chunks(first);
    }
    for (unsigned i = 0; i < begun; i++)
        has_memory &= join(&others[i], first);
    if (has_memory && !has_failed(first->feeding))
        has_memory = resolve(first->feeding, first, others, begun);
    for (unsigned i = 0; others != NULL && i < jobs - 1; i++)
        release(&others[i]);
    jw_free(others);
    *err = first->feeding->failure;
    if (!has_memory && err->message[0] == '\0')
        jw_error_set(err, "out of memory for the stacks of all threads; take fewer --jobs");
}

static void tell_about(struct feeding *feeding)
{
    const struct cli_wish *wish = feeding->sums.wish;
    const struct cli_found *found = feeding->found;
    struct profile_about about = {
        .event = wish->event,
        .title = feeding->sums.title.length_bytes > 0 ? feeding->sums.title.text : NULL,
        .left_out = cli_other_of(found),
        .unit = !found->has_weight || wish->is_weightless ? "samples"
                : cli_is_counter(wish->event) || strcmp(wish->event, found->counter) == 0
                    ? jw_perf_unit(wish->event)
                : found->unit != NULL ? found->unit
                                      : "ns",
        .start_unix_ns = feeding->start_unix_ns,
    };
    uint64_t end_ns = feeding->end_unix_ns;

    if (wish->part != NULL && wish->part->begin_ns > about.start_unix_ns)
        about.start_unix_ns = wish->part->begin_ns;
    if (wish->part != NULL && wish->part->end_ns < end_ns)
        end_ns = wish->part->end_ns;
    about.duration_ns = end_ns > about.start_unix_ns ? end_ns - about.start_unix_ns : 0;
    profile_set_about(feeding->sums.profile, &about);
}

static void forget(struct feeding *feeding)
{
    for (struct told *told = feeding->waiting, *next; told != NULL; told = next) {
        next = told->next;
        free_told(told);
    }
    jw_free(feeding->stretches);
    cli_forget_sums(&feeding->sums);
}

/* From when to when slices of time are made. */
static bool settle_slices(struct cli_feed *feed, const char *path, struct jw_error *err)
{
    const struct cli_part *part = feed->wish->part;

    if (feed->wish->slice_count == 0)
        return true;
    if (!cli_span(path, &feed->slices_begin_ns, &feed->slices_end_ns, err))
        return false;
    if (part != NULL && part->begin_ns > feed->slices_begin_ns)
        feed->slices_begin_ns = part->begin_ns;
    if (part != NULL && part->end_ns < feed->slices_end_ns)
        feed->slices_end_ns = part->end_ns;
    return true;
}

/* Which set of live objects is the last one. */
static bool settle_live(struct cli_feed *feed, const char *path, struct jw_error *err)
{
    struct leaks_sets sets;

    if (strcmp(feed->wish->event, "live") != 0)
        return true;
    if (!leaks_find_sets(path, &sets, true, err))
        return false;
    feed->live_ns = sets.last_ns;
    return true;
}

static bool feed_file(struct worker *first, const char *path, struct jw_error *err)
{
    struct feeding *feeding = first->feeding;
    struct cli_progress progress;

    if (!settle_slices(&first->feed, path, err) || !settle_live(&first->feed, path, err))
        return false;
    first->feed.reader = jfr_reader_open(path, err);
    if (first->feed.reader == NULL)
        return false;
    cli_progress_begin(&progress, first->feed.wish->is_quiet);
    first->progress = &progress;
    run(first, jobs_for(first->feed.wish, first->feed.reader), err);
    cli_progress_end(&progress);
    if (err->message[0] != '\0')
        return false;
    cli_sort_events(feeding->found);
    tell_about(feeding);
    cli_tell_sums(&feeding->sums);
    snprintf(feeding->found->notice, sizeof feeding->found->notice, "%s",
             jfr_reader_notice(first->feed.reader));
    return true;
}

bool cli_feed(const char *path, const struct cli_wish *wish, const struct cli_requests *requests,
              struct profile *profile, struct cli_found *found, struct jw_error *err)
{
    struct feeding feeding = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .cuts = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER},
        .found = found,
        .sums = {.wish = wish, .profile = profile}};
    struct worker *first = jw_alloc(sizeof *first);

    *found = (struct cli_found){0};
    if (wish->part != NULL && !cli_part_settle(wish->part, path, err)) {
        jw_free(first);
        return false;
    }
    if (first == NULL) {
        jw_error_set(err, "%s: out of memory; free some and try again", path);
        return false;
    }
    first->feeding = &feeding;
    first->feed = (struct cli_feed){
        .wish = wish, .requests = requests, .profile = profile, .found = &first->found};

    const bool is_fed = feed_file(first, path, err);
    jfr_reader_close(first->view);
    cli_feed_close(&first->feed);
    profile_moments_close(first->moments);
    forget(&feeding);
    jw_free(first);
    return is_fed;
}
