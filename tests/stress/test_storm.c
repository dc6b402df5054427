/*
 * Real signals of both clocks, every 100 us (1 ms under the address sanitizer, 2 under that of threads) on each of 16 threads
 * that come and go, fork and die, through the
 * real handler into real generations: handlers interrupt hooks, which call hooks, all are held up on purpose, and
 * a dump thread rotates, reads and clears. Free memory is sealed, so who touches it is ended; a name holds its
 * number, so each id that a record bears is checked by content; each attempt comes out as a record taken once or
 * as one named loss, and so at each rotation, but for those whose handler is at work; the figures of the dictionaries are those that the test counted itself; and what is
 * resident is the same after each cycle.
 *
 * STORM_SECONDS=n goes on for so long (tests/soak/run). tests/stress/wrong runs it with an epoch in which one thing is
 * exchanged: it must notice.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <malloc.h>

#include "stress/storm_writers.h"
#include "support/emulated.h"

/* How many names there must have been, at least. Thread sanitizer makes all of it some thirty times slower. */
#if defined(WANTED_NAMES)
#define CYCLES       1
#define SETTLE_TURNS 600
#elif defined(__SANITIZE_THREAD__)
#define WANTED_NAMES 20000u
#define CYCLES       1
#define SETTLE_TURNS 60
#elif defined(__SANITIZE_ADDRESS__)
#define WANTED_NAMES 100000u
#define CYCLES       2
#define SETTLE_TURNS 600
#else
#define WANTED_NAMES STORM_NAMES
#define CYCLES       2
#define SETTLE_TURNS 600
#endif

#define PHASE_NS         (2 * JW_NS_PER_SECOND)
#define MEMORY_BYTES     ((size_t)96 << 20)
#define PARKED_ROTATIONS 10
#define PARKED_TURNS     3000 /* put off for no reason: then those rotations never come */
#define NOISE_BYTES      ((uint64_t)128 << 10) /* what the C library may keep for itself */

/* What the dump thread found. */
struct findings {
    const struct generation *generation;
    uint64_t taken;
    uint64_t serials;
    uint64_t wrong;
    uint64_t rotations;
    uint64_t put_off;
    uint64_t signal_records; /* a signal stands behind each */
    uint64_t carried_most, cuts_without;
};

static struct findings found;
static uint64_t counters_before[JW_COUNT_LIMIT];
static uint64_t abandoned_before;
static bool is_counting;         /* filling to the brim is no signal's loss */
static _Atomic bool is_stopping; /* Relaxed: a flag */

static uint64_t count_of(enum jw_counter_id id)
{
    return jw_counter(id) - counters_before[id];
}

/* Nursery: the thread that begins writers and buries them ------------------------------------------ */

static void begin_writer(struct writer *writer)
{
    pthread_attr_t attributes;

    jw_store_relaxed(&writer->is_over, false);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stacks[writer->index], STACK_BYTES);
    if (pthread_create(&writer->thread, &attributes, run_writer, writer) != 0)
        abort();
    writer->is_joinable = true;
    writer->births++;
    pthread_attr_destroy(&attributes);
}

static void end_writer(struct writer *writer)
{
    pthread_join(writer->thread, NULL);
    writer->is_joinable = false;
    for (int i = 0; i < TIMERS; i++)
        timer_delete(writer->timers[i]);
}

static void *run_nursery(void *arg)
{
    const struct timespec pause = {.tv_nsec = 500000};

    while (!jw_load_relaxed(&is_stopping)) {
        for (int i = 0; i < WRITERS; i++) {
            if (writers[i].is_joinable && jw_load_relaxed(&writers[i].is_over))
                end_writer(&writers[i]);
            if (!writers[i].is_joinable)
                begin_writer(&writers[i]);
        }
        nanosleep(&pause, NULL);
    }
    for (int i = 0; i < WRITERS; i++)
        if (writers[i].is_joinable)
            end_writer(&writers[i]);
    return arg;
}

/* The dump thread ---------------------------------------------------------------------------------- */

static void check_record(const struct event_record *record, void *arg)
{
    const struct generation *generation = found.generation;
    jw_frame wanted[MAX_DEPTH];
    struct store_trace trace;
    bool right = is_right(generation, record);

    (void)arg;
    if (record->kind == EVENT_CPU_SAMPLE || record->kind == EVENT_WALL_SAMPLE) {
        found.signal_records++;
        const uint32_t count = frames_of((uint32_t)record->value, wanted);

        right = right && store_get(generation->traces, record->trace, &trace) &&
                trace.frame_count == count &&
                memcmp(trace.frames, wanted, count * sizeof(jw_frame)) == 0;
    }
    found.taken++;
    found.serials += jw_hash_word(record->thread_serial);
    found.wrong += !right;
}

static void take(const struct generation *generation)
{
    found.generation = generation;
    event_take(generation->events, check_record, NULL);
}

/* Nobody is inside any more: the ledger is complete, and must say what the dictionaries say. */
static bool take_late(struct generation *generation, void *arg)
{
    (void)arg;
    take(generation);
    for (int i = 0; i < EPOCH_BUFFERS; i++) {
        enum epoch_state state;

        if (generations_at(generations, i, &state) == generation)
            found.wrong += storm_audit(generation, &storm_ledgers[i]);
    }
    return true;
}

static bool is_alive(uint32_t tid, void *arg)
{
    (void)arg;
    return os_task_is_alive((int)tid);
}

static bool take_of_older(struct generation *generation, void *arg)
{
    (void)arg;
    take(generation);
    return true;
}

static uint64_t losses(void)
{
    uint64_t sum = 0;

    for (int id = 0; id < JW_COUNT_LIMIT; id++)
        if (jw_counter_infos[id].is_loss || jw_counter_infos[id].is_spared)
            sum += count_of((enum jw_counter_id)id);
    return sum;
}

/* The law of one cut, as recording_law.c tells it: what has no outcome yet is at work. */
static void check_cut(const struct generation *closed, uint64_t signals, uint64_t inside)
{
    const uint64_t lost = losses();
    const uint64_t entered = count_of(JW_COUNT_SIGNALS);

    generations_take_late_before(generations, closed, take_of_older, NULL);
    take(closed);
    const int64_t carried = (int64_t)(entered - lost - found.signal_records);
    const bool is_lawful = carried >= 0 && (uint64_t)carried <= inside + (entered - signals);
    cr_assert(is_lawful || !is_counting,
              "%lld signals without an outcome: %llu at work, %llu came meanwhile",
              (long long)carried, (unsigned long long)inside,
              (unsigned long long)(entered - signals));
    found.cuts_without += carried == 0;
    if (carried > (int64_t)found.carried_most)
        found.carried_most = (uint64_t)carried;
}

static bool turn(void)
{
    const uint64_t signals = count_of(JW_COUNT_SIGNALS);
    const uint64_t inside = signals_inside();
    const struct generation *closed = generations_rotate(generations);

    if (closed != NULL) {
        found.rotations++;
        check_cut(closed, signals, inside);
    } else {
        found.put_off++;
    }
    generations_empty_dead_cells(generations, is_alive, NULL);
    generations_retire(generations, take_late, NULL);
    return closed != NULL;
}

static void pause_ns(uint64_t duration_ns)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)duration_ns}, NULL);
}

static bool covers(uint64_t wanted_names)
{
    return storm_count_bits(storm_classes_ever) >= wanted_names;
}

static void run_phase(uint64_t period_ns, uint64_t wanted_names)
{
    const uint64_t end_ns = jw_now_ns() + PHASE_NS;

    while (jw_now_ns() < end_ns || !covers(wanted_names)) {
        turn();
        cr_assert(eq(u64, found.wrong, 0), "ids and figures seen by the dump thread");
        pause_ns(period_ns);
    }
}

static bool is_closed(uint64_t number)
{
    for (int i = 0; i < EPOCH_BUFFERS; i++) {
        enum epoch_state state;
        const struct generation *generation = generations_at(generations, i, &state);

        if (state == EPOCH_CLOSED && generation->number == number)
            return true;
    }
    return false;
}

/* A thread that the machine keeps waiting is rightly waited for: in a closed generation, or on its way into one. */
static bool is_somebody_behind(void)
{
    const uint64_t active = generations_number(generations);

    for (int i = 0; i < WRITERS; i++)
        for (int level = 0; level < LEVELS; level++) {
            const uint64_t inside = jw_load_relaxed(&writers[i].inside[level]);

            if (inside != OUTSIDE && inside != active && inside != parked_generation)
                return true;
        }
    return false;
}

/* One handler stops inside for as long as it takes; the other two buffers take turns. */
static void run_parked(void)
{
    uint64_t turns = 0;

    /* order PARK: releases nothing; the next handler that may parks. */
    jw_store_release(&park_state, PARK_WANTED);
    /* order PARK: acquires what the parked activation wrote. */
    while (jw_load_acquire(&park_state) != PARKED) {
        turn();
        pause_ns(JW_NS_PER_MS);
    }
    for (int rotations = 0; rotations < PARKED_ROTATIONS;) {
        const bool is_free = !is_somebody_behind();
        const bool is_rotated = turn();

        rotations += is_rotated;
        turns += is_free && !is_rotated;
        cr_assert(lt(u64, turns, PARKED_TURNS), "rotations go on while one is stuck");
        pause_ns(JW_NS_PER_MS);
    }
    cr_assert(eq(u32, jw_load_relaxed(&park_state), PARKED));

    cr_assert(is_closed(parked_generation), "what the parked one is in was not cleared");
    const uint64_t late = jw_counter(JW_COUNT_LATE_RECORDS);
    /* order PARK: releases the end of the parking. */
    jw_store_release(&park_state, PARK_OVER);
    syscall(SYS_futex, &park_state, FUTEX_WAKE_PRIVATE, WRITERS, NULL, NULL, 0);
    while (is_closed(parked_generation)) {
        turn();
        pause_ns(JW_NS_PER_MS);
    }
    cr_assert(ge(u64, jw_counter(JW_COUNT_LATE_RECORDS), late + 1), "the parked record at least");
}

/* Checks ------------------------------------------------------------------------------------------- */

/* Of all writers, the figure at this place of each. */
static uint64_t sum_at(size_t offset_bytes)
{
    uint64_t sum = 0;

    for (int i = 0; i < WRITERS; i++)
        sum += *(const uint64_t *)(const void *)((const char *)&writers[i] + offset_bytes);
    return sum;
}

#define SUM(field)     sum_at(offsetof(struct writer, field))
#define SUM_ALL(field) (SUM(field[HOOK]) + SUM(field[INNER]) + SUM(field[HANDLER]))

/* Pages of the program's own memory, counted one by one by the kernel. */
static uint64_t anonymous_bytes(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    unsigned long long kib = 0;

    cr_assert(file != NULL, "/proc/self/smaps_rollup: %s", strerror(errno));
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Anonymous: %llu kB", &kib) == 1)
            break;
    fclose(file);
    return kib * 1024;
}

/* With nobody writing: everything is cleared, and pages go back until there is no more to give. */
static void settle(void)
{
    for (int i = 0; i < SETTLE_TURNS; i++)
        turn();
}

static void check_law(void)
{
    uint64_t outcomes = 0;
    struct generations_stats stats;

    for (int id = 0; id < JW_COUNT_LIMIT; id++)
        if (jw_counter_infos[id].is_loss || jw_counter_infos[id].is_spared)
            outcomes += count_of((enum jw_counter_id)id);
    outcomes += count_of(JW_COUNT_SAMPLES);
    cr_assert(eq(u64, count_of(JW_COUNT_SIGNALS), outcomes));
    cr_assert(eq(u64, count_of(JW_COUNT_SIGNALS),
                 SUM(attempts[HANDLER]) + count_of(JW_COUNT_LOST_NO_THREAD) +
                     count_of(JW_COUNT_LOST_REENTRY)));
    cr_assert(eq(u64, count_of(JW_COUNT_SAMPLES), SUM(committed[HANDLER])));
    cr_assert(eq(u64, count_of(JW_COUNT_LOST_NO_CELL), SUM(no_cell[HANDLER])));
    cr_assert(eq(u64, count_of(JW_COUNT_LOST_STORE_FULL), SUM(no_trace[HANDLER])));
    cr_assert(eq(u64, count_of(JW_COUNT_LOST_EVENTS_FULL), SUM(no_record[HANDLER])));
    cr_assert(eq(u64, SUM_ALL(attempts) - SUM(deaths),
                 SUM_ALL(committed) + SUM_ALL(no_cell) + SUM_ALL(no_trace) + SUM_ALL(no_record)));
    cr_assert(eq(u64, found.taken, SUM_ALL(committed)));
    cr_assert(eq(u64, found.signal_records, SUM(committed[HANDLER])));
    cr_assert(eq(u64, found.serials, SUM_ALL(serials)), "each record once");
    cr_assert(eq(u64, count_of(JW_COUNT_GENERATIONS), found.rotations));
    cr_assert(eq(u64, count_of(JW_COUNT_ROTATION_PUT_OFF), found.put_off));
    cr_assert(eq(u64, count_of(JW_COUNT_CELLS_EMPTIED), SUM(deaths)));
    cr_assert(eq(u64, count_of(JW_COUNT_INVARIANT_BROKEN), 0));
    generations_stats(generations, &stats);
    cr_assert(eq(u64, stats.abandoned_count - abandoned_before, SUM(deaths)));
    cr_assert(eq(u32, stats.cells_taken, 0));
    cr_assert(eq(u32, stats.free_count, EPOCH_BUFFERS - 1));
    cr_assert(eq(u64, SUM_ALL(wrong), 0), "ids seen by their writers");
    cr_assert(eq(u64, found.wrong, 0), "ids and figures seen by the dump thread");
    cr_assert(eq(u64, SUM(bad_children), 0));
    cr_assert(ge(u64, SUM(committed[HANDLER]), 1));
    cr_assert(ge(u64, SUM(committed[INNER]), 1));
}

static void tell(uint64_t resident_bytes)
{
    const struct {
        uint64_t count;
        const char *what;
    } figures[] = {
        {count_of(JW_COUNT_SIGNALS), "signals"},
        {count_of(JW_COUNT_SAMPLES), "samples"},
        {SUM(attempts[HOOK]) + SUM(attempts[INNER]), "hooks"},
        {storm_count_bits(storm_classes_ever), "classes"},
        {SUM_ALL(no_cell), "lost without a cell"},
        {SUM_ALL(no_trace), "without room for the trace"},
        {SUM_ALL(no_record), "for the record"},
        {count_of(JW_COUNT_DICT_FULL) + count_of(JW_COUNT_DICT_PROBE_LIMIT), "names refused"},
        {count_of(JW_COUNT_LATE_RECORDS), "late"},
        {found.rotations, "rotations"},
        {found.put_off, "put off"},
        {found.cuts_without, "cuts with nothing under way"},
        {found.carried_most, "at most carried over one"},
        {SUM(births), "threads"},
        {SUM(deaths), "died inside"},
        {SUM(forks), "children"},
        {SUM(breaths), "breaths"},
        {resident_bytes / 1024, "KiB resident"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(figures); i++)
        fprintf(stderr, "%s%llu %s", i == 0 ? "storm: " : ", ",
                (unsigned long long)figures[i].count, figures[i].what);
    fprintf(stderr, "\n");
}

/* The cycle ---------------------------------------------------------------------------------------- */

/* Fills one generation to its brim: afterwards every page that is kept was touched once. */
static void fill(void)
{
    const jw_frame bottom = jw_frame_native(1);
    struct epoch_ticket ticket;
    struct generation *generation =
        generation_try_enter(generations, (uint32_t)os_gettid(), &ticket);
    uint64_t refused = 0;

    cr_assert(generation != NULL);
    struct storm_ledger *ledger = &storm_ledgers[ticket.buffer];
    for (int dict = 0; dict < STORM_CONTEXTS; dict++)
        for (uint32_t number = 0; storm_intern(generation, ledger, dict, number) != DICT_NONE;)
            number++;
    for (uint32_t number = 0; number < STORM_NAMES && refused == 0; number++)
        (void)storm_intern_context(generation, ledger, number, &refused);
    for (uint64_t i = 0;; i++) {
        const jw_frame frames[] = {jw_frame_native(i + 2), bottom, bottom, bottom};

        if (store_put(generation->traces, frames, JW_COUNT_OF(frames), 0) == STORE_NONE)
            break;
    }
    while (event_try_reserve(generation->events) != NULL)
        ;
    generation_leave(generations, &ticket);
}

static void run_cycle(uint64_t wanted_names)
{
    pthread_t nursery;

    jw_store_relaxed(&is_stopping, false);
    jw_store_relaxed(&is_full_throttle, false);
    signals_start(&engine);
    cr_assert(eq(int, pthread_create(&nursery, NULL, run_nursery, NULL), 0));
    run_phase(JW_NS_PER_MS, wanted_names);
    run_parked();
    jw_store_relaxed(&is_full_throttle, true);
    run_phase(100 * JW_NS_PER_MS, 0);
    jw_store_relaxed(&is_stopping, true);
    pthread_join(nursery, NULL);
    signals_stop();
    cr_assert(signals_drain(60 * JW_NS_PER_SECOND));
    settle();
}

static uint64_t abandoned(void)
{
    struct generations_stats stats;

    generations_stats(generations, &stats);
    return stats.abandoned_count;
}

static void start_counting(void)
{
    found = (struct findings){0};
    abandoned_before = abandoned();
    is_counting = true;
    for (int id = 0; id < JW_COUNT_LIMIT; id++)
        counters_before[id] = jw_counter((enum jw_counter_id)id);
}

static void open_all(void)
{
    const struct generations_config config = {.memory_bytes = MEMORY_BYTES, .is_free_sealed = true};
    struct jw_error err = {0};

    mallopt(M_ARENA_MAX, 1); /* else each thread may get one, whose pages stay */
    memset(stacks, 1, sizeof stacks);
    generations = generations_open(&config, &err);
    cr_assert(generations != NULL, "%s", err.message);
    cr_assert(signals_own(SIGPROF, &err) && signals_own(SIGVTALRM, &err), "%s", err.message);
    for (uint32_t i = 0; i < WRITERS; i++) {
        writers[i].index = i;
        for (int level = 0; level < LEVELS; level++)
            writers[i].random[level] = 1000 * (uint64_t)(level + 1) + i;
    }
}

TestSuite(storm, .timeout = 0);

Test(storm, m47_nothing_is_used_after_its_clear_nor_lost_unnamed_and_memory_stays)
{
    const char *asked = getenv("STORM_SECONDS");
    const unsigned seconds = asked == NULL ? 0 : (unsigned)strtoul(asked, NULL, 10);
    const uint64_t end_ns = jw_now_ns() + seconds * JW_NS_PER_SECOND;
    uint64_t settled_bytes = 0;

    alarm(seconds + 1800); /* what hangs */
    open_all();
    for (int i = 0; i < EPOCH_BUFFERS; i++) {
        fill();
        while (!turn())
            ;
    }
    settle();
    cr_assert(eq(u64, found.wrong, 0), "figures of full dictionaries");
    start_counting();

    for (int cycle = 0; cycle < (is_emulated() ? 1 : CYCLES) || jw_now_ns() < end_ns; cycle++) {
        run_cycle(cycle > 0 ? 0 : is_emulated() ? WANTED_NAMES / 10 : WANTED_NAMES);
        const uint64_t resident_bytes = anonymous_bytes();
        tell(resident_bytes);
        check_law();
        if (cycle == 0)
            settled_bytes = resident_bytes;
        if (!IS_SANITIZED && !is_emulated())
            cr_assert(le(u64, resident_bytes, settled_bytes + NOISE_BYTES), "resident memory");
    }
    generations_close(generations);
}
