/* Attach, detach, and what happens in between. Context: the agent's thread. */
#include "instrument/instrument_attach_internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/atomics.h"
#include "base/clock.h"

#define LOCAL_REFERENCES 128
#define PASSES_MOST      4 /* over the classes that are loaded, while there are new ones */
#define POLL_NS          2000000
#define TURN_NS          JW_NS_PER_SECOND

struct instrument_attach *instrument_attaches[INSTRUMENT_PROBES_LIMIT];
uint32_t instrument_attach_count;
static _Atomic uint32_t known_count; /* relaxed: whether there is anything to do */
static uint32_t next_number = 1;
static bool is_first_late; /* the capability came to a JVM that ran already */
static bool has_put_in;    /* classes have been written since */

bool instrument_is_any(void)
{
    return jw_load_relaxed(&known_count) != 0;
}

bool instrument_prepare(JavaVM *java_vm, struct jw_error *err)
{
    return instrument_open_jvmti(java_vm, err);
}

static struct instrument_attach *find_attach(const char *name)
{
    for (uint32_t i = 0; i < instrument_attach_count; i++) {
        if (strcmp(instrument_attaches[i]->probe->name, name) == 0)
            return instrument_attaches[i];
    }
    return NULL;
}

/* Those whose handlers classes have. */
static bool publish(const struct instrument_attach *without, struct jw_error *err)
{
    struct instrument_attach *live[INSTRUMENT_PROBES_LIMIT] = {NULL};
    uint32_t count = 0;

    for (uint32_t i = 0; i < instrument_attach_count; i++) {
        if (instrument_attaches[i] != without && instrument_attaches[i]->state != INSTRUMENT_OUT)
            live[count++] = instrument_attaches[i];
    }
    return instrument_publish(live, count, err);
}

/*
 * Behind the last class that is written back: of what the hook is shown it is known when it was read. Where the JVM refuses it, the hook goes
 * on to be shown classes, of which it changes none.
 */
static bool hush(struct jw_error *err)
{
    for (uint32_t i = 0; i < instrument_attach_count; i++) {
        if (instrument_attaches[i]->state != INSTRUMENT_OUT)
            return true;
    }
    return instrument_census_is_on() || instrument_listen(false, err);
}

static void enlist(struct instrument_attach *attach)
{
    instrument_attaches[instrument_attach_count++] = attach;
    jw_store_relaxed(&known_count, instrument_attach_count);
}

static void strike(const struct instrument_attach *attach)
{
    uint32_t at = 0;

    while (at < instrument_attach_count && instrument_attaches[at] != attach)
        at++;
    if (at == instrument_attach_count)
        return;
    for (instrument_attach_count--; at < instrument_attach_count; at++)
        instrument_attaches[at] = instrument_attaches[at + 1];
    jw_store_relaxed(&known_count, instrument_attach_count);
}

/* What it has in the JVM. Nobody is inside. */
static void release_java(JNIEnv *jni, struct instrument_attach *attach)
{
    if (attach->java != NULL)
        instrument_probe_close(jni, attach->java);
    (*jni)->DeleteGlobalRef(jni, attach->java);
    (*jni)->DeleteGlobalRef(jni, attach->loader);
    attach->java = attach->loader = NULL;
    for (uint32_t i = 0; i < attach->place_count; i++) {
        instrument_disconnect(jni, attach->places[i]);
        instrument_give_back(attach->places[i]);
    }
    attach->place_count = 0;
}

static void free_attach(struct instrument_attach *attach)
{
    instrument_close_rules(attach);
    instrument_forget_seen(attach);
    instrument_close_events(attach);
    probe_close(attach->probe);
    pthread_mutex_destroy(&attach->lock);
    jw_free(attach);
}

/* ---- attach ---- */

static bool take_places(JNIEnv *jni, struct instrument_attach *attach, struct jw_error *err)
{
    for (uint32_t i = 0; i < attach->probe->handler_count; i++) {
        if (!instrument_take_place(jni, &attach->probe->handlers[i], &attach->places[i], err))
            return false;
        attach->place_count++;
        attach->handlers[i].place = attach->places[i];
    }
    return true;
}

static bool connect(JNIEnv *jni, struct instrument_attach *attach, struct jw_error *err)
{
    const struct probe *probe = attach->probe;
    jobject java;

    if (instrument_probe_class(jni, attach->loader, probe->class_name, err) == NULL ||
        !take_places(jni, attach, err) ||
        (java = instrument_probe_open(jni, attach->number, probe, attach->places, err)) == NULL)
        return false;
    attach->java = (*jni)->NewGlobalRef(jni, java);
    if (attach->java == NULL) {
        jw_error_set(err, "the JVM has no memory left for a probe");
        return false;
    }
    for (uint32_t i = 0; i < probe->handler_count; i++) {
        if (!instrument_connect(jni, attach->java, attach->loader, &probe->handlers[i], i,
                                attach->places[i], err))
            return false;
    }
    return true;
}

static bool is_new(struct instrument_attach *attach, JNIEnv *jni,
                   const struct instrument_loaded *of)
{
    const uint64_t key = instrument_key(of->loader, of->name);
    bool is_woven;

    return probe_weave_may_touch(attach->handlers, attach->probe->handler_count, of->name, NULL) &&
           (!instrument_has_seen(attach, key, &is_woven) || instrument_is_by_other(attach, key)) &&
           instrument_may_be_above(jni, attach, of);
}

/*
 * A class may have been read before the hook was on, and be there only after it was listed: so it is looked for again until there are
 * no new ones.
 */
static bool write_classes(JNIEnv *jni, struct instrument_attach *attach,
                          struct instrument_batches *all, struct jw_error *err)
{
    const struct instrument_choice choice = {is_new, instrument_refused, attach,
                                             false,  attach->pause_ns,   instrument_tell_progress};
    uint32_t before = 0;

    for (int pass = 0; pass < PASSES_MOST; pass++) {
        if (!instrument_retransform(jni, &choice, all, err))
            return false;
        if (all->classes == before)
            break;
        before = all->classes;
    }
    return true;
}

bool instrument_has_dropped_code(void)
{
    const bool has_dropped = is_first_late && has_put_in && instrument_drops_code();

    is_first_late = is_first_late && !has_put_in;
    return has_dropped;
}

static struct instrument_attach *make_attach(const char *path, struct jw_error *err)
{
    struct instrument_attach *attach;

    if (instrument_attach_count == INSTRUMENT_PROBES_LIMIT) {
        jw_error_set(err, "%u probes are attached already; detach one", INSTRUMENT_PROBES_LIMIT);
        return NULL;
    }
    attach = jw_alloc(sizeof *attach);
    if (attach == NULL) {
        jw_error_set(err, "no memory for a probe");
        return NULL;
    }
    snprintf(attach->path, sizeof attach->path, "%s", path);
    attach->number = next_number++;
    attach->pause_ns = instrument_pause_ns();
    pthread_mutex_init(&attach->lock, NULL);
    return attach;
}

/* One that was taken out makes room for the next of its name. */
static bool may_have_name(const char *name, struct jw_error *err)
{
    struct instrument_attach *other = find_attach(name);

    if (other != NULL && other->state == INSTRUMENT_OUT) {
        strike(other);
        free_attach(other);
        other = NULL;
    }
    if (other != NULL)
        jw_error_set(err, "%s is attached already; detach it first", name);
    return other == NULL;
}

static bool read_and_connect(JNIEnv *jni, struct instrument_attach *attach, struct jw_error *err)
{
    jobject loader = instrument_loader(jni, attach->path, err);

    if (loader == NULL)
        return false;
    attach->loader = (*jni)->NewGlobalRef(jni, loader);
    if (attach->loader == NULL) {
        jw_error_set(err, "the JVM has no memory left for a probe");
        return false;
    }
    attach->probe = instrument_read_probe(jni, attach->loader, attach->path, err);
    if (attach->probe == NULL)
        return false;

    return may_have_name(attach->probe->name, err) && instrument_replace_rules(attach, err) &&
           instrument_parse_rules(attach, err) && instrument_open_events(jni, attach, err) &&
           connect(jni, attach, err);
}

static bool is_old(struct instrument_attach *attach, JNIEnv *jni,
                   const struct instrument_loaded *of)
{
    bool is_woven;

    (void)jni;
    return instrument_has_seen(attach, instrument_key(of->loader, of->name), &is_woven) && is_woven;
}

/*
 * Its classes are written back, and nothing of it is left in the JVM. Nobody is inside. `left`: what stays in classes, where it does nothing;
 * "": nothing. False: there is no memory for the list of the others; the hook uses the one in which this one stands, so it is kept.
 */
static bool settle(JNIEnv *jni, struct instrument_attach *attach, char *left, size_t room_bytes,
                   struct jw_error *err)
{
    const struct instrument_choice choice = {is_old, instrument_refused, attach,
                                             false,  attach->pause_ns,   instrument_tell_progress};
    struct instrument_batches batches = {0};
    struct jw_error unwritten = {0};

    if (!publish(attach, err))
        return false;
    attach->state = INSTRUMENT_OUT;
    left[0] = '\0';
    if (!instrument_retransform(jni, &choice, &batches, &unwritten))
        snprintf(left, room_bytes, "its classes were not written back: %.150s", unwritten.message);
    else if (batches.refused != 0)
        snprintf(left, room_bytes, "%u classes were not written back: the JVM refused them",
                 batches.refused);
    else if (batches.untold != 0)
        snprintf(left, room_bytes,
                 "of %u classes the JVM did not say what they are (JVMTI error %d); those that "
                 "have calls of it keep them",
                 batches.untold, batches.untold_error);
    if (!hush(&unwritten) && left[0] == '\0')
        snprintf(left, room_bytes, "%.150s", unwritten.message);
    release_java(jni, attach);
    instrument_forget_seen(attach);
    return true;
}

/* Into the classes that are there, and those that come. */
static bool put_in(JNIEnv *jni, struct instrument_attach *attach, instrument_say *say,
                   void *context, struct jw_error *err)
{
    struct instrument_batches batches = {0};

    enlist(attach);
    if (publish(NULL, err) && instrument_listen(true, err) &&
        write_classes(jni, attach, &batches, err)) {
        attach->turn_ns = jw_now_ns();
        has_put_in = true;
        instrument_tell_attached(attach, &batches, say, context);
        instrument_refresh(jni);
        return true;
    }
    /* Some classes may call it already. */
    instrument_begin_out(jni, attach);
    attach->is_wanted_out = true;
    snprintf(attach->why, sizeof attach->why, "it could not be attached");
    return false;
}

/* The JVM's part of each attach, and room for one. */
static struct instrument_attach *begin_attach(JavaVM *java_vm, JNIEnv *jni, const char *path,
                                              struct jw_error *err)
{
    const bool is_first = instrument_jvmti == NULL;

    if (!instrument_open_jvmti(java_vm, err) || !instrument_open_java(jni, err))
        return NULL;
    struct instrument_attach *attach = make_attach(path, err);
    is_first_late |= is_first && attach != NULL;
    return attach;
}

bool instrument_attach(JavaVM *java_vm, JNIEnv *jni, const char *path, const char *rules,
                       instrument_say *say, void *context, struct jw_error *err)
{
    struct instrument_attach *attach = begin_attach(java_vm, jni, path, err);
    bool is_good = false;

    if (attach == NULL)
        return false;
    snprintf(attach->rules_path, sizeof attach->rules_path, "%s", rules);
    if ((*jni)->PushLocalFrame(jni, LOCAL_REFERENCES) != 0) {
        (*jni)->ExceptionClear(jni);
        jw_error_set(err, "the JVM has no memory left for a probe");
    } else {
        is_good = read_and_connect(jni, attach, err);
        (*jni)->PopLocalFrame(jni, NULL);
    }
    if (!is_good) {
        release_java(jni, attach);
        free_attach(attach);
        return false;
    }
    return put_in(jni, attach, say, context, err);
}

bool instrument_attach_own(JavaVM *java_vm, JNIEnv *jni, struct probe *probe, instrument_say *say,
                           void *context, struct jw_error *err)
{
    struct instrument_attach *attach = begin_attach(java_vm, jni, "", err);

    if (attach == NULL) {
        probe_close(probe);
        return false;
    }
    attach->is_own = true;
    attach->probe = probe;
    if (!may_have_name(probe->name, err) || !instrument_parse_rules(attach, err) ||
        !instrument_own_begin(jni, probe, attach->number, err)) {
        free_attach(attach);
        return false;
    }
    return put_in(jni, attach, say, context, err);
}

/* ---- detach ---- */

/* A JVM without memory for it may refuse: then it is asked again. */
static void end_and_fence(JNIEnv *jni, struct instrument_attach *attach)
{
    attach->is_ended = attach->is_ended || instrument_probe_end(jni, attach->java);
    /* Who noted that he is inside before this is seen to be; who does so afterwards sees that it is over. */
    attach->is_fenced = attach->is_fenced || (attach->is_ended && instrument_pass_safepoint());
}

/* From here on nobody comes in. */
void instrument_begin_out(JNIEnv *jni, struct instrument_attach *attach)
{
    attach->state = INSTRUMENT_DRAINING;
    if (attach->is_own) {
        instrument_own_end(jni, attach->probe);
        return;
    }
    for (uint32_t i = 0; i < attach->place_count; i++)
        instrument_disconnect(jni, attach->places[i]);
    end_and_fence(jni, attach);
}

/* Nobody is inside, and all that was done there is seen. Of the agent's own nothing is taken away: who comes late does no harm. */
static bool is_quiet(JNIEnv *jni, struct instrument_attach *attach)
{
    if (attach->is_own)
        return true;
    end_and_fence(jni, attach);
    return attach->is_fenced && instrument_probe_inside(jni, attach->java) == 0 &&
           instrument_pass_safepoint();
}

static bool is_empty(JNIEnv *jni, struct instrument_attach *attach, uint64_t wait_ns)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    const uint64_t deadline_ns = jw_now_ns() + wait_ns;

    while (!is_quiet(jni, attach)) {
        if (jw_now_ns() >= deadline_ns)
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

static bool detach(JNIEnv *jni, struct instrument_attach *attach, instrument_say *say,
                   void *context, struct jw_error *err)
{
    const char *name = attach->probe->name;
    char line[128], left[256] = "";

    attach->is_wanted_out = true;
    if (attach->state == INSTRUMENT_ATTACHED)
        instrument_begin_out(jni, attach);
    if (attach->state == INSTRUMENT_DRAINING) {
        if (!is_empty(jni, attach, INSTRUMENT_DRAIN_NS)) {
            const int32_t inside = instrument_probe_inside(jni, attach->java);

            jw_error_set(err,
                         !attach->is_fenced ? "quiesced %s, but the JVM refuses what ends it, "
                                              "which is asked again: %d threads inside"
                         : inside < 0
                             ? "quiesced %s, but how many threads are inside cannot be told: %d"
                             : "quiesced %s except %d threads, which are in its handlers or its "
                               "static initialiser still; no other comes in, and it goes when "
                               "they have come out",
                         name, inside < 0 ? -inside : inside);
            instrument_refresh(jni);
            return false;
        }
        if (!settle(jni, attach, left, sizeof left, err))
            return false;
    }
    snprintf(line, sizeof line, "detached %s", name);
    strike(attach);
    free_attach(attach);
    instrument_refresh(jni);
    say(context, line);
    if (left[0] != '\0')
        say(context, left);
    return true;
}

bool instrument_detach(JNIEnv *jni, const char *name, uint64_t pause_ns, instrument_say *say,
                       void *context, struct jw_error *err)
{
    struct instrument_attach *attach = find_attach(name);

    if (attach == NULL)
        jw_error_set(err, "no probe %s is attached; probe-list shows those that are", name);
    else if (attach->is_own)
        jw_error_set(err, "%s= is of the session, and goes with it: stop ends it", name);
    if (attach == NULL || attach->is_own)
        return false;
    if (pause_ns != 0)
        attach->pause_ns = pause_ns;
    return detach(jni, attach, say, context, err);
}

bool instrument_detach_own(JNIEnv *jni, const char *name, instrument_say *say, void *context,
                           struct jw_error *err)
{
    struct instrument_attach *attach = find_attach(name);

    if (attach != NULL && attach->is_own)
        return detach(jni, attach, say, context, err);
    jw_error_set(err, "it is not attached any more");
    return false;
}

/* ---- in between ---- */

static uint64_t per_second(uint64_t count, uint64_t elapsed_ns)
{
    return (uint64_t)((double)count * 1e9 / (double)elapsed_ns);
}

/* In this turn and in the one before that had measured calls: one that lost its processor is no reason. */
static bool is_dear(struct instrument_attach *attach, uint64_t calls, uint64_t measured,
                    uint64_t measured_ns)
{
    const uint64_t most_ns = attach->probe->limits.max_ns_per_call;
    const bool was_dear = attach->was_dear;

    if (measured == 0)
        return false;
    attach->was_dear = most_ns != 0 && measured_ns / measured > most_ns &&
                       measured_ns / measured * calls >= PROBE_JUDGED_NS;
    return attach->was_dear && was_dear;
}

/* Why it has to go; "": it has not. */
static void judge(struct instrument_attach *attach, const struct instrument_figures *now,
                  uint64_t elapsed_ns, char *why, size_t room_bytes)
{
    const struct probe_limits *limits = &attach->probe->limits;
    uint64_t calls = 0, measured = 0, measured_ns = 0, throws = 0;

    for (uint32_t i = 0; i < attach->probe->handler_count; i++) {
        calls += now[i].calls - attach->figures[i].calls;
        measured += now[i].measured_calls - attach->figures[i].measured_calls;
        measured_ns += now[i].measured_ns - attach->figures[i].measured_ns;
        throws += now[i].throws;
    }
    why[0] = '\0';
    if (limits->max_throws != 0 && throws >= limits->max_throws)
        snprintf(why, room_bytes, "its handlers threw %llu exceptions, the limit is %u",
                 (unsigned long long)throws, limits->max_throws);
    else if (limits->max_calls_per_second != 0 &&
             per_second(calls, elapsed_ns) > limits->max_calls_per_second)
        snprintf(why, room_bytes, "%llu calls in a second, the limit is %u",
                 (unsigned long long)per_second(calls, elapsed_ns), limits->max_calls_per_second);
    else if (is_dear(attach, calls, measured, measured_ns))
        snprintf(why, room_bytes, "a call takes %llu ns, the limit is %llu",
                 (unsigned long long)(measured_ns / measured),
                 (unsigned long long)limits->max_ns_per_call);
}

static void take_out(JNIEnv *jni, struct instrument_attach *attach, const char *why,
                     instrument_say *say, void *context)
{
    char line[512], thrown[128];
    size_t used;

    instrument_probe_thrown(jni, attach->java, thrown, sizeof thrown);
    used = (size_t)snprintf(attach->why, sizeof attach->why, "%s", why);
    if (thrown[0] != '\0' && used < sizeof attach->why)
        snprintf(attach->why + used, sizeof attach->why - used, "; the first was %s", thrown);
    instrument_begin_out(jni, attach);
    snprintf(line, sizeof line, "probe %s was taken out: %s", attach->probe->name, attach->why);
    say(context, line);
}

static void turn_one(JNIEnv *jni, struct instrument_attach *attach, instrument_say *say,
                     void *context)
{
    static struct instrument_figures now[PROBE_HANDLERS_LIMIT];
    const uint64_t now_ns = jw_now_ns();
    char why[256];

    if (attach->is_own || attach->state != INSTRUMENT_ATTACHED ||
        now_ns - attach->turn_ns < TURN_NS ||
        !instrument_probe_figures(jni, attach->java, attach->probe->handler_count, now))
        return;
    judge(attach, now, now_ns - attach->turn_ns, why, sizeof why);
    memcpy(attach->figures, now, sizeof *now * attach->probe->handler_count);
    attach->turn_ns = now_ns;
    if (why[0] != '\0')
        take_out(jni, attach, why, say, context);
}

void instrument_turn(JNIEnv *jni, instrument_say *say, void *context)
{
    if (jni == NULL)
        return;
    for (uint32_t i = 0; i < instrument_attach_count; i++) {
        struct instrument_attach *attach = instrument_attaches[i];
        struct jw_error err = {0};
        char left[sizeof attach->why];

        turn_one(jni, attach, say, context);
        instrument_look_above(jni, attach);
        if (attach->state != INSTRUMENT_DRAINING || !is_empty(jni, attach, 0))
            continue;
        if (!attach->is_own)
            (void)instrument_probe_figures(jni, attach->java, attach->probe->handler_count,
                                           attach->figures);
        if (!settle(jni, attach, left, sizeof left, &err))
            continue; /* the next turn tries again */
        if (left[0] != '\0') {
            snprintf(attach->why, sizeof attach->why, "%s", left);
            say(context, left);
        }
        if (attach->is_wanted_out) {
            strike(attach);
            free_attach(attach);
            i--;
        }
    }
    instrument_refresh(jni);
}
