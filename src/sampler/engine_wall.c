/* Engine `wall`: whom to signal, and the time of whoever is not; the sampler thread, and control. */
#include <signal.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "os/os_timer.h"
#include "sampler/engine_wall_internal.h"
#include "sampler/rounds_internal.h"
#include "thread/thread_tls.h"

/* A thread whose clock went on by no more waits where its last sample saw it: that much is left of our own
 * handler behind its last reading, way back to the wait included. ThreadSanitizer's way back is its own. */
#ifdef __SANITIZE_THREAD__
#define STILL_NS 200000
#else
#define STILL_NS 10000
#endif

/* And so much for what handlers of others may do while it waits inside ours. */
#define INSIDE_NS 1000000

/* Signals a turn: so many in 10 ms, within bounds. */
#define SIGNALS_IN_10_MS 16
#define SIGNALS_MIN      8
#define SIGNALS_MAX      64

/* What is owed on a waiting thread is written after so many turns or so long, at the latest. */
#define IDLE_TURNS_MAX 1000
#define IDLE_NS_MAX    JW_NS_PER_SECOND

/* A signal that did not come for so long is blocked, or the thread gets no processor: its time is written
 * as unsampled from then on. */
#define SIGNAL_LATE_NS JW_NS_PER_SECOND

/* At the end of a thread or of the run, what is left of so few turns is not worth a record of its own. */
#define TURNS_LEFT_MAX 2

/* Turns come up to an eighth of the interval late, at random: no program runs in step with them. */
#define JITTER_PART 8

/* Time and turns that no record stands for yet. */
struct owed {
    uint64_t ns;
    uint64_t turns;
};

/* The account of one thread; of the sampler thread alone. */
struct account {
    uint64_t serial;      /* of the life that it is about; 0: none is under way */
    uint64_t last_serial; /* of the life that was under way before */
    bool is_over;         /* that one has ended, and is accounted to its end */
    uint64_t seen_ns;     /* up to here its time is written or owed */
    uint64_t seen_turn;
    uint64_t asked_ns; /* and when what was put by since was written */
    uint64_t idle_since_ns;
    uint64_t
        idle_number;    /* of the sample to which it is owed: another may have come unasked since */
    struct owed idle;   /* it waits on where that one saw it */
    struct owed put_by; /* to the next sample */
};

static struct account *accounts;
static struct rounds rounds;

/* Of the run. */
static struct {
    uint64_t interval_ns; /* 0: no wall clock. As of the last turn */
    uint64_t begin_ns;
    uint64_t base_ns, base_turn; /* from where turns of this interval are counted */
    uint64_t deadline_ns;
    uint32_t readings, signals;
    /* Of the turn. */
    uint64_t turn, now_ns;
    uint32_t signals_left;
} wall;

bool engine_wall_open(struct jw_error *err)
{
    if (accounts == NULL)
        accounts = sampler_reserve(JW_MEMORY_THREADS, threads_capacity(), sizeof *accounts, err);
    if (wall_shared == NULL)
        wall_shared =
            sampler_reserve(JW_MEMORY_THREADS, threads_capacity(), sizeof *wall_shared, err);
    return accounts != NULL && wall_shared != NULL && rounds_open(&rounds, err);
}

static uint32_t signals_a_turn(uint64_t interval_ns)
{
    const uint64_t count = interval_ns * SIGNALS_IN_10_MS / (10 * JW_NS_PER_MS);

    return count < SIGNALS_MIN ? SIGNALS_MIN : count > SIGNALS_MAX ? SIGNALS_MAX : (uint32_t)count;
}

void engine_wall_start(uint64_t interval_ns)
{
    wall.interval_ns = interval_ns;
    threads_keep_new(interval_ns != 0);
    if (interval_ns == 0)
        return;
    sampler_wipe(accounts, threads_capacity(), sizeof *accounts);
    sampler_wipe(wall_shared, threads_capacity(), sizeof *wall_shared);
    rounds_reset(&rounds);
    wall.begin_ns = wall.now_ns = jw_now_ns();
    wall.deadline_ns = wall.begin_ns + 1 + rounds_random(&rounds) % interval_ns;
    wall.turn = 0;
    wall.base_ns = wall.begin_ns;
    wall.base_turn = 0;
    wall.readings = rounds_readings(interval_ns);
    wall.signals = signals_a_turn(interval_ns);
}

void engine_wall_note(thread_index thread)
{
    if (wall.interval_ns != 0)
        rounds_note(&rounds, thread);
}

/* Records ---------------------------------------------------------------------------------------- */

/* Time that no signal stands for: the thread waits on at its sample of this number; 0: at none. */
static bool write_idle(thread_index thread, const struct account *account, uint64_t number,
                       const struct owed *owed)
{
    struct epoch_ticket ticket;
    struct generation *generation =
        generation_try_enter(sampler.generations, thread_own_tid(), &ticket);
    struct event_record *record = generation == NULL ? NULL : event_try_reserve(generation->events);

    if (record != NULL) {
        record->kind = EVENT_WALL_IDLE;
        record->thread_index = thread;
        record->thread_serial = (uint32_t)account->serial;
        record->time_ns =
            account->seen_ns > generation->start_ns ? account->seen_ns : generation->start_ns;
        record->weight_ns = owed->ns;
        record->value = number;
        record->sample_count = owed->turns == 0 ? 1 : (uint32_t)owed->turns;
        event_commit(record);
        jw_count_add(JW_COUNT_WALL_TURNS, record->sample_count);
        jw_count_add(number == 0 ? JW_COUNT_WALL_UNSAMPLED_NS : JW_COUNT_WALL_IDLE,
                     number == 0 ? owed->ns : record->sample_count);
    } else {
        jw_count(JW_COUNT_WALL_REFUSED);
    }
    if (generation != NULL)
        generation_leave(sampler.generations, &ticket);
    return record != NULL;
}

static bool flush(thread_index thread, const struct account *account, uint64_t number,
                  struct owed *owed)
{
    if (owed->ns > 0 && !write_idle(thread, account, number, owed))
        return false;
    *owed = (struct owed){0, 0};
    return true;
}

static bool flush_idle(thread_index thread, struct account *account)
{
    return flush(thread, account, account->idle_number, &account->idle);
}

static void move(struct owed *from, struct owed *to)
{
    to->ns += from->ns;
    to->turns += from->turns;
    *from = (struct owed){0, 0};
}

/* Signals ---------------------------------------------------------------------------------------- */

/* What the handler could not or will not take any more is owed again. */
static void take_back(struct account *account, struct wall_shared *shared)
{
    account->put_by.ns += jw_load_relaxed(&shared->weight_ns);
    account->put_by.turns += jw_load_relaxed(&shared->turns);
}

static void give_up(struct account *account, struct wall_shared *shared)
{
    uint32_t asked = WALL_ASKED;

    /* order WALL_STATE: nothing is passed on; a handler that comes now finds that nobody asked. */
    if (jw_cas_acq_rel(&shared->state, &asked, WALL_NONE))
        take_back(account, shared);
}

static void ask(thread_index thread, struct account *account, struct wall_shared *shared)
{
    jw_store_relaxed(&shared->weight_ns, account->put_by.ns);
    jw_store_relaxed(&shared->turns,
                     account->put_by.turns == 0 ? 1 : (uint32_t)account->put_by.turns);
    account->put_by = (struct owed){0, 0};
    account->asked_ns = wall.now_ns;
    wall.signals_left--;
    jw_store_relaxed(&shared->is_sent, 1);
    /* order WALL_STATE: releases the weight to the handler. */
    jw_store_release(&shared->state, WALL_ASKED);
    if (os_signal_thread((int)thread_tid(thread), SIGVTALRM, sampler_cookie(thread)))
        jw_count(JW_COUNT_WALL_SIGNALS);
    else
        give_up(account, shared);
}

/* Looks ------------------------------------------------------------------------------------------ */

/* Begins the account of the record's life, from its begin, or from now on where it was seen before. The record is
 * kept. */
static void begin_account(thread_index thread, struct account *account, uint64_t serial)
{
    const bool is_known = account->last_serial == serial;
    const uint64_t begin_ns = thread_begin_ns(thread);

    if (!is_known)
        *account = (struct account){0};
    account->is_over = false;
    account->serial = account->last_serial = serial;
    /* Not from the turn's begin on: the turn may have stood still since, and it was not wanted then. */
    account->seen_ns = is_known ? jw_now_ns() : begin_ns > wall.begin_ns ? begin_ns : wall.begin_ns;
    account->seen_turn = wall.turn;
    if (account->seen_ns < wall.now_ns)
        account->seen_turn -= (wall.now_ns - account->seen_ns) / wall.interval_ns;
}

static bool adopt(thread_index thread, struct account *account, struct wall_shared *shared)
{
    uint32_t none = WALL_NONE;

    if (!thread_keep(thread))
        return false;

    const uint64_t serial = thread_serial(thread);
    const bool is_over = account->last_serial == serial && account->is_over;
    if (is_over || !thread_is_wanted(thread)) {
        account->last_serial = serial;
        account->is_over = is_over;
        thread_let_go(thread, 0);
        return false;
    }
    /* order WALL_STATE: acquires the end of a handler, of an earlier life or of this one. */
    if (!jw_cas_acq_rel(&shared->state, &none, WALL_TAKING)) {
        thread_let_go(thread, 0);
        return false; /* comes again */
    }
    wall_shared_renew(shared, serial);
    /* order WALL_STATE: releases what was forgotten. */
    jw_store_release(&shared->state, WALL_NONE);
    begin_account(thread, account, serial);
    return true;
}

/* The time since the last look. */
static struct owed passed(struct account *account, uint64_t now_ns)
{
    struct owed owed = {0, 0};

    if (now_ns > account->seen_ns) {
        owed = (struct owed){now_ns - account->seen_ns, wall.turn - account->seen_turn};
        account->seen_ns = now_ns;
        account->seen_turn = wall.turn;
    }
    return owed;
}

/* The account of a thread that is gone, or no longer wanted: `end_ns` is its last moment, as far as that is known. */
static void finish(thread_index thread, struct account *account, bool is_over, uint64_t end_ns)
{
    struct wall_shared *shared = &wall_shared[thread];
    struct owed last = passed(account, end_ns);

    give_up(account, shared);
    /* order WALL_STATE: acquires what the handler left. */
    if (jw_load_acquire(&shared->state) == WALL_LOST) {
        take_back(account, shared);
        jw_store_relaxed(&shared->state, WALL_NONE);
    }
    const uint64_t number = jw_load_relaxed(&shared->number);
    move(&last, &account->put_by);
    if (account->idle_number != number && !flush_idle(thread, account))
        return; /* comes again */
    account->idle_number = number;
    /* The turn or two behind its last sample go with that one. */
    if (number > 0 && account->put_by.turns <= TURNS_LEFT_MAX)
        move(&account->put_by, &account->idle);
    if (!flush_idle(thread, account) || !flush(thread, account, 0, &account->put_by))
        return; /* comes again */
    account->is_over = is_over;
    account->serial = 0;
    thread_let_go(thread, generations_number(sampler.generations));
}

/* What it waited until `since`, at its sample of that time. What finds no room goes with the next one. */
static void end_wait(thread_index thread, struct account *account, const struct owed *since)
{
    const uint64_t seen_ns = account->seen_ns;

    account->seen_ns -= since->ns;
    if (!flush_idle(thread, account))
        move(&account->idle, &account->put_by);
    account->seen_ns = seen_ns;
}

/* It waits where its last sample saw it. What was put by while that sample was on its way is part of it. */
static void stay(thread_index thread, struct account *account, uint64_t number, struct owed *since)
{
    if (account->idle_number != number)
        end_wait(thread, account, since);
    account->idle_number = number;
    if (account->idle.ns == 0)
        account->idle_since_ns = wall.now_ns - since->ns;
    move(&account->put_by, &account->idle);
    move(since, &account->idle);
    if (account->idle.turns >= IDLE_TURNS_MAX ||
        wall.now_ns - account->idle_since_ns >= IDLE_NS_MAX)
        (void)flush_idle(thread, account);
}

/* It went on since its last sample, or has none: it is to be signalled, now or in a later turn. */
static void go_on(thread_index thread, struct account *account, struct wall_shared *shared,
                  struct owed *since)
{
    end_wait(thread, account, since);
    move(since, &account->put_by);
    if (wall.signals_left > 0)
        ask(thread, account, shared);
    else
        jw_count(JW_COUNT_WALL_PUT_OFF);
}

/* A record may be live for a while when its thread is gone. */
static bool is_alive(thread_index thread, uint64_t *cpu_ns)
{
    return thread_is_live(thread) && os_thread_cpu_ns((int)thread_tid(thread), cpu_ns);
}

/* Whether its last sample shows where it is: it waited then, and did not run since. Where it waits inside a handler of
 * ours no other sample can be had; it runs handlers of others meanwhile, but for long only where it left ours
 * unseen. */
static bool is_still(const struct wall_shared *shared, uint64_t cpu_ns)
{
    const uint64_t sampled_ns = jw_load_relaxed(&shared->cpu_ns);

    if (jw_load_relaxed(&shared->is_inside) != 0)
        return jw_load_relaxed(&shared->number) > 0 && cpu_ns <= sampled_ns + INSIDE_NS;
    return jw_load_relaxed(&shared->has_waited) != 0 && cpu_ns <= sampled_ns + STILL_NS;
}

/* A signal is on its way, and the thread has not taken it. True: it cannot, and is not asked any more. */
static bool is_hopeless(thread_index thread, struct account *account, struct wall_shared *shared)
{
    if (jw_load_relaxed(&shared->is_inside) != 0 && wall.now_ns != account->asked_ns) {
        give_up(account, shared);
        /* order WALL_STATE: acquires what its handler did, if that was quicker. */
        return jw_load_acquire(&shared->state) == WALL_NONE;
    }
    if (wall.now_ns - account->asked_ns >= SIGNAL_LATE_NS &&
        flush(thread, account, 0, &account->put_by))
        account->asked_ns = wall.now_ns;
    return false;
}

static enum rounds_found visit(thread_index thread)
{
    struct account *account = &accounts[thread];
    struct wall_shared *shared = &wall_shared[thread];
    uint64_t cpu_ns = 0;

    if (account->serial == 0 && !adopt(thread, account, shared))
        return ROUNDS_NOTHING;
    if (!is_alive(thread, &cpu_ns)) {
        finish(thread, account, true, thread_end_ns(thread));
        return ROUNDS_NOTHING;
    }
    if (!thread_is_wanted(thread)) {
        finish(thread, account, false, wall.now_ns);
        return ROUNDS_NOTHING;
    }
    struct owed since = passed(account, wall.now_ns);
    bool is_lost = false;
    /* order WALL_STATE: acquires the number and the clock that the handler released. */
    switch ((enum wall_state)jw_load_acquire(&shared->state)) {
    case WALL_ASKED:
    case WALL_TAKING:
        move(&since, &account->put_by);
        if (!is_hopeless(thread, account, shared))
            return ROUNDS_STILL;
        break;
    case WALL_LOST:
        take_back(account, shared);
        jw_store_relaxed(&shared->state, WALL_NONE);
        is_lost = true;
        break;
    case WALL_NONE:
        break;
    }
    if (account->seen_ns > wall.now_ns)
        return ROUNDS_RAN; /* younger than the turn */
    if (!is_lost && is_still(shared, cpu_ns)) {
        stay(thread, account, jw_load_relaxed(&shared->number), &since);
        return ROUNDS_STILL;
    }
    go_on(thread, account, shared, &since);
    return ROUNDS_RAN;
}

static uint64_t turn_at(uint64_t now_ns)
{
    return wall.base_turn + (now_ns - wall.base_ns) / wall.interval_ns + 1;
}

/* The interval in force, for the turns behind this one. */
static void set_pace(uint64_t interval_ns)
{
    if (interval_ns == wall.interval_ns)
        return;
    wall.interval_ns = interval_ns;
    wall.base_ns = wall.now_ns;
    wall.base_turn = wall.turn - 1;
    wall.readings = rounds_readings(interval_ns);
    wall.signals = signals_a_turn(interval_ns);
}

uint64_t engine_wall_turn(void)
{
    if (wall.interval_ns == 0)
        return OS_WAKE_NEVER;

    wall.now_ns = jw_now_ns();
    if (wall.now_ns < wall.deadline_ns)
        return wall.deadline_ns;

    const uint64_t turn = turn_at(wall.now_ns);
    if (turn > wall.turn + 1)
        jw_count_add(JW_COUNT_WALL_LATE, turn - wall.turn - 1);
    wall.turn = turn;
    wall.signals_left = wall.signals;
    rounds_turn(&rounds, wall.readings, visit);
    set_pace(sampler_wall_interval_ns());
    wall.deadline_ns = wall.base_ns + (turn - wall.base_turn) * wall.interval_ns +
                       rounds_random(&rounds) % (wall.interval_ns / JITTER_PART);
    return wall.deadline_ns;
}

void engine_wall_settle(void)
{
    threads_keep_new(false);
    if (wall.interval_ns == 0)
        return;

    wall.now_ns = jw_now_ns();
    wall.turn = turn_at(wall.now_ns);
    for (thread_index thread = 0; thread < threads_limit(); thread++) {
        struct account *account = &accounts[thread];
        uint64_t cpu_ns;

        if (account->serial == 0 && !adopt(thread, account, &wall_shared[thread]))
            continue;
        finish(thread, account, true,
               is_alive(thread, &cpu_ns) ? wall.now_ns : thread_end_ns(thread));
        if (account->serial == 0)
            continue;
        /* No room for what is owed, and nobody comes again. */
        jw_count_add(JW_COUNT_WALL_UNSAMPLED_NS, account->idle.ns + account->put_by.ns);
        account->serial = 0;
        thread_let_go(thread, generations_number(sampler.generations));
    }
    wall.interval_ns = 0;
}
