/* Counts of walks, and what follows from them: handler for the counting, dump for the judgement. */
#include "walk/walk_breaker.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "signals/signals.h"
#include "walk/walk_breaker_internal.h"

#define NATIVE_BIT 0x100u
#define NO_JAVA    ((uint32_t)WALK_WALKER_LIMIT)

/* In the order in which they are preferred. */
static const enum walk_walker java_order[] = {WALK_VM, WALK_AGCT};

/* What handlers read: the walker of Java stacks, and a bit for native frames. */
static _Atomic uint32_t in_use = NO_JAVA;

/* Walks of a thread: all in the low half, bad ones in the high half. Relaxed: a walk more or less in a batch
 * decides nothing. */
static _Atomic uint64_t counted[WALK_WALKER_LIMIT][WALK_ODD_THREADS];

/* Of the thread that opens and turns. */
static struct walk_breaker breakers[WALK_WALKER_LIMIT];
static bool is_prepared; /* AsyncGetCallTrace, for this session */
static struct {
    enum walk_walker walker;
    enum walk_standing standing;
} shown[WALK_PART_LIMIT]; /* as the last changes told */

static struct {
    pthread_mutex_t lock;
    struct walk_breaker_view views[WALK_WALKER_LIMIT];
} published = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum walk_walker walk_breaker_java(void)
{
    /* order WALK_IN_USE: acquires what made the walker usable. */
    return (enum walk_walker)(jw_load_acquire(&in_use) & (NATIVE_BIT - 1));
}

bool walk_breaker_native(void)
{
    /* order WALK_IN_USE: as above. */
    return (jw_load_acquire(&in_use) & NATIVE_BIT) != 0;
}

void walk_breaker_count(enum walk_walker walker, uint32_t tid, bool is_bad)
{
    jw_add_relaxed(&counted[walker][tid % WALK_ODD_THREADS], is_bad ? (UINT64_C(1) << 32) + 1 : 1);
}

static bool is_usable(enum walk_walker walker)
{
    return breakers[walker].standing == WALK_IN || breakers[walker].standing == WALK_TRIAL;
}

static bool is_in_use(enum walk_walker walker)
{
    return walker == WALK_NATIVE ? walk_breaker_native() : walk_breaker_java() == walker;
}

static void begin_batch(enum walk_walker walker, uint64_t now_ns)
{
    struct walk_batch *batch = &breakers[walker].batch;

    memset(batch, 0, sizeof *batch);
    batch->begin_ns = now_ns;
    for (int32_t code = 0; code < WALK_CODE_COUNT; code++) {
        for (uint32_t place = 0; place < VM_PLACE_LIMIT; place++)
            batch->failures[code][place] = walk_failures(walker, -code, (enum vm_place)place);
    }
}

static bool is_due(enum walk_walker walker, uint64_t now_ns)
{
    return breakers[walker].standing == WALK_OUT && now_ns >= breakers[walker].retry_ns;
}

static void set_standing(enum walk_walker walker, enum walk_standing standing, uint64_t now_ns)
{
    breakers[walker].standing = standing;
    breakers[walker].since_ns = now_ns;
    begin_batch(walker, now_ns);
}

/* The judgement ---------------------------------------------------------------------------------------- */

static void collect(enum walk_walker walker)
{
    struct walk_breaker *breaker = &breakers[walker];
    struct walk_batch *batch = &breaker->batch;

    for (uint32_t i = 0; i < WALK_ODD_THREADS; i++) {
        const uint64_t now = jw_load_relaxed(&counted[walker][i]);
        const uint32_t walks = (uint32_t)now - (uint32_t)breaker->seen[i];
        const uint32_t bad = (uint32_t)((now - breaker->seen[i] - walks) >> 32);

        breaker->seen[i] = now;
        breaker->walks += walks;
        breaker->bad += bad;
        batch->walks += walks;
        batch->bad += bad;
        batch->thread_walks[i] += walks;
        batch->thread_bad[i] += bad;
    }
}

/* Bad walks of a hundred, without those of the one thread that has most, where the others tell enough. */
static uint32_t judged_pct(const struct walk_batch *batch, bool *is_odd)
{
    uint32_t worst = 0;

    for (uint32_t i = 1; i < WALK_ODD_THREADS; i++) {
        if (batch->thread_bad[i] > batch->thread_bad[worst])
            worst = i;
    }
    const uint64_t walks = batch->walks - batch->thread_walks[worst];
    *is_odd = walks * WALK_ODD_SHARE >= batch->walks;
    return (uint32_t)(*is_odd ? (batch->bad - batch->thread_bad[worst]) * 100 / walks
                              : batch->bad * 100 / batch->walks);
}

static bool is_full(const struct walk_breaker *breaker, uint64_t now_ns)
{
    const struct walk_batch *batch = &breaker->batch;
    const uint32_t wanted = breaker->standing == WALK_TRIAL ? WALK_TRIAL_WALKS : WALK_BREAK_WALKS;

    return batch->walks >= wanted ||
           (now_ns - batch->begin_ns >= WALK_BREAK_NS && batch->walks >= WALK_BREAK_WALKS_MIN);
}

/* Bad walks of a hundred that are borne. */
static uint32_t limit_pct(enum walk_walker walker, uint64_t now_ns)
{
    if (breakers[walker].standing == WALK_TRIAL)
        return WALK_TRIAL_PCT;
    const bool has_other = walker == WALK_VM && (is_usable(WALK_AGCT) || is_due(WALK_AGCT, now_ns));
    return walker == WALK_NATIVE || has_other ? WALK_BREAK_PCT : WALK_BREAK_LAST_PCT;
}

/* Out, for twice as long as the last time, unless it was in for that long since. */
static void put_out(enum walk_walker walker, uint64_t now_ns)
{
    struct walk_breaker *breaker = &breakers[walker];
    const bool is_new = breaker->quiet_ns == 0 || (breaker->standing == WALK_IN &&
                                                   now_ns - breaker->since_ns >= breaker->quiet_ns);

    breaker->quiet_ns = is_new                                      ? WALK_QUIET_FIRST_NS
                        : breaker->quiet_ns < WALK_QUIET_MAX_NS / 2 ? 2 * breaker->quiet_ns
                                                                    : WALK_QUIET_MAX_NS;
    breaker->retry_ns = now_ns + breaker->quiet_ns;
    set_standing(walker, WALK_OUT, now_ns);
}

static void judge(enum walk_walker walker, uint64_t now_ns)
{
    struct walk_breaker *breaker = &breakers[walker];
    bool is_odd;

    if (walker == WALK_AGCT && signals_guard_is_off(breaker->reason, sizeof breaker->reason)) {
        put_out(walker, now_ns);
        return;
    }
    if (!is_full(breaker, now_ns))
        return;

    const uint32_t limit = limit_pct(walker, now_ns);
    if (judged_pct(&breaker->batch, &is_odd) > limit) {
        walk_breaker_reason(walker, &breaker->batch, breaker->reason, sizeof breaker->reason);
        put_out(walker, now_ns);
        return;
    }
    breaker->odd_pct = (uint32_t)(breaker->batch.bad * 100 / breaker->batch.walks);
    if (breaker->odd_pct <= limit)
        breaker->odd_pct = 0;
    if (breaker->standing == WALK_TRIAL)
        set_standing(walker, WALK_IN, now_ns);
    else
        begin_batch(walker, now_ns);
}

/* Who walks -------------------------------------------------------------------------------------------- */

static void begin_trial(enum walk_walker walker, uint64_t now_ns)
{
    if (walker == WALK_AGCT)
        signals_guard_reset();
    set_standing(walker, WALK_TRIAL, now_ns);
}

/* True when AsyncGetCallTrace can take over; else it is out, too. */
static bool prepare_agct(uint64_t now_ns, walk_prepare *prepare, void *context)
{
    struct jw_error err = {0};

    if (is_prepared || prepare == NULL || prepare(context, &err)) {
        is_prepared = true;
        return true;
    }
    snprintf(breakers[WALK_AGCT].reason, sizeof breakers[WALK_AGCT].reason,
             "it could not be made ready: %.200s", err.message);
    put_out(WALK_AGCT, now_ns);
    return false;
}

static enum walk_walker choose_java(uint64_t now_ns, walk_prepare *prepare, void *context)
{
    for (size_t i = 0; i < JW_COUNT_OF(java_order); i++) {
        const enum walk_walker walker = java_order[i];

        if (is_due(walker, now_ns))
            begin_trial(walker, now_ns);
        if (is_usable(walker) && (walker != WALK_AGCT || prepare_agct(now_ns, prepare, context)))
            return walker;
    }
    return WALK_WALKER_LIMIT;
}

static void choose(uint64_t now_ns, walk_prepare *prepare, void *context)
{
    const enum walk_walker java = choose_java(now_ns, prepare, context);

    if (is_due(WALK_NATIVE, now_ns))
        begin_trial(WALK_NATIVE, now_ns);
    const uint32_t next = (uint32_t)java | (is_usable(WALK_NATIVE) ? NATIVE_BIT : 0);
    if (next == jw_load_relaxed(&in_use))
        return;
    /* What it counted before it was put aside is of another time. */
    if (java != walk_breaker_java() && java != WALK_WALKER_LIMIT)
        begin_batch(java, now_ns);
    /* order WALK_IN_USE: releases what made the walker usable. */
    jw_store_release(&in_use, next);
}

/* What is told ----------------------------------------------------------------------------------------- */

static void publish(void)
{
    pthread_mutex_lock(&published.lock);
    for (int i = 0; i < WALK_WALKER_LIMIT; i++) {
        const struct walk_breaker *breaker = &breakers[i];
        struct walk_breaker_view *view = &published.views[i];

        view->standing = breaker->standing;
        view->is_in_use = is_in_use((enum walk_walker)i);
        view->odd_pct = breaker->odd_pct;
        view->since_ns = breaker->since_ns;
        view->retry_ns = breaker->retry_ns;
        view->walks = breaker->walks;
        view->bad = breaker->bad;
        memcpy(view->reason, breaker->reason, sizeof view->reason);
    }
    pthread_mutex_unlock(&published.lock);
}

static void look(enum walk_part part, enum walk_walker *walker, enum walk_standing *standing)
{
    *walker = part == WALK_PART_JAVA  ? walk_breaker_java()
              : walk_breaker_native() ? WALK_NATIVE
                                      : WALK_WALKER_LIMIT;
    *standing = *walker == WALK_WALKER_LIMIT ? WALK_ABSENT : breakers[*walker].standing;
}

/* How good the walker of a part is: to another with a smaller number is a step down. */
static int rank(enum walk_walker walker)
{
    return walker == WALK_WALKER_LIMIT ? 0 : walker == WALK_AGCT ? 1 : 2;
}

/* Why the one who would have taken over did not. */
static void add_reason(struct walk_change *change, const struct walk_breaker *other)
{
    const size_t used = strlen(change->reason);

    if (other->reason[0] != '\0')
        snprintf(change->reason + used, sizeof change->reason - used, "; agct: %s", other->reason);
}

static bool tell_change(enum walk_part part, uint64_t now_ns, struct walk_change *out)
{
    enum walk_walker walker;
    enum walk_standing standing;

    look(part, &walker, &standing);
    if (walker == shown[part].walker && standing == shown[part].standing)
        return false;
    *out = (struct walk_change){
        .time_ns = now_ns,
        .part = part,
        .from = walk_breaker_name(shown[part].walker, shown[part].standing),
        .to = walk_breaker_name(walker, standing),
        .is_down = rank(walker) < rank(shown[part].walker),
        .is_trial = standing == WALK_TRIAL,
    };
    if (out->is_down) {
        const struct walk_breaker *gone = &breakers[shown[part].walker];

        out->retry_ns = gone->retry_ns - now_ns;
        memcpy(out->reason, gone->reason, sizeof out->reason);
        if (part == WALK_PART_JAVA && shown[part].walker == WALK_VM && walker != WALK_AGCT)
            add_reason(out, &breakers[WALK_AGCT]);
    } else if (standing == WALK_TRIAL) {
        snprintf(out->reason, sizeof out->reason, "it is tried again, after %llu s",
                 (unsigned long long)(breakers[walker].quiet_ns / JW_NS_PER_SECOND));
    } else {
        snprintf(out->reason, sizeof out->reason, "it walks well again");
    }
    shown[part].walker = walker;
    shown[part].standing = standing;
    return true;
}

void walk_breaker_open(const char *const absent[WALK_WALKER_LIMIT], uint64_t now_ns)
{
    signals_guard_reset();
    is_prepared = absent[WALK_VM] != NULL;
    for (int i = 0; i < WALK_WALKER_LIMIT; i++) {
        struct walk_breaker *breaker = &breakers[i];

        breaker->quiet_ns = breaker->retry_ns = 0;
        breaker->odd_pct = 0;
        collect((enum walk_walker)i);
        set_standing((enum walk_walker)i, absent[i] == NULL ? WALK_IN : WALK_ABSENT, now_ns);
        snprintf(breaker->reason, sizeof breaker->reason, "%s", absent[i] == NULL ? "" : absent[i]);
    }
    const enum walk_walker java = is_usable(WALK_VM)     ? WALK_VM
                                  : is_usable(WALK_AGCT) ? WALK_AGCT
                                                         : WALK_WALKER_LIMIT;
    /* order WALK_IN_USE: releases what was opened. */
    jw_store_release(&in_use, (uint32_t)java | (is_usable(WALK_NATIVE) ? NATIVE_BIT : 0));
    for (int part = 0; part < WALK_PART_LIMIT; part++)
        look((enum walk_part)part, &shown[part].walker, &shown[part].standing);
    publish();
}

bool walk_breaker_turn(uint64_t now_ns, walk_prepare *prepare, void *context,
                       struct walk_change *out)
{
    bool has_changed = false;

    for (int i = 0; i < WALK_WALKER_LIMIT; i++) {
        collect((enum walk_walker)i);
        if (is_in_use((enum walk_walker)i))
            judge((enum walk_walker)i, now_ns);
    }
    choose(now_ns, prepare, context);
    for (int part = 0; part < WALK_PART_LIMIT && !has_changed; part++)
        has_changed = tell_change((enum walk_part)part, now_ns, out);
    publish();
    return has_changed;
}

void walk_breaker_view(enum walk_walker walker, struct walk_breaker_view *out)
{
    pthread_mutex_lock(&published.lock);
    *out = published.views[walker];
    pthread_mutex_unlock(&published.lock);
}
