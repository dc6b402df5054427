/* The agent's own probes: what their places call, and what that tells. Context: the agent's thread, but the native method: hook. */
#include "instrument/instrument_attach_internal.h"

#include <string.h>

#include "base/memory.h"
#include "instrument/instrument_sites.h"
#include "probe/probe_forks.h"
#include "probe/probe_io.h"
#include "probe/probe_news.h"
#include "probe/probe_own.h"
#include "probe/probe_parks.h"
#include "probe/probe_queues.h"
#include "probe/probe_routes.h"
#include "probe/probe_throws.h"
#include "probe/probe_weave.h"

#define EVENTS_CLASS "io/jaywalk/MethodEvents"

static struct {
    struct instrument_tells timer;
    jmethodID set_least;
    jclass times; /* global */
    jmethodID begin_times, sum, begin_extremes, dropped;
} java;

/* Of a step of the time that has calls. */
struct step {
    uint32_t step;
    uint64_t count;
};

/* Of a method that is timed, what is over: Java counts on, since calls that end meanwhile must not be lost. The agent's thread alone. */
struct over {
    bool is_lost; /* there was no memory for what follows: nothing is told of it any more */
    uint32_t step_count;
    struct step *steps;
    uint64_t ns;
};
static struct over *overs; /* PROBE_OWN_SITES; NULL: nothing is timed */

/* What Java said last, and of which, and what of that is not over. The agent's thread alone. NULL: nothing is timed. */
static struct last {
    uint32_t number;
    jlong numbers[PROBE_OWN_HEAD + PROBE_OWN_COUNTS];
    int64_t counts[PROBE_OWN_COUNTS];
} * last;

static instrument_told *teller; /* set before there are threads that look */

void instrument_set_told(instrument_told *told)
{
    teller = told;
}

static void JNICALL tell(JNIEnv *jni, jobject object, jint site, jlong ns)
{
    (void)jni;
    (void)object;
    if (teller != NULL && ns >= 0)
        teller(site, (uint64_t)ns);
}

static void find_times(JNIEnv *jni)
{
    jclass times =
        (*jni)->ExceptionCheck(jni) ? NULL : (*jni)->FindClass(jni, PROBE_OWN_TIMES_CLASS);

    if (times == NULL)
        return;
    java.times = (*jni)->NewGlobalRef(jni, times);
    java.sum = (*jni)->GetStaticMethodID(jni, times, "sum", "(I)[J");
    java.begin_times =
        java.sum == NULL ? NULL : (*jni)->GetStaticMethodID(jni, times, "begin", "(I)V");
    java.begin_extremes = java.begin_times == NULL
                              ? NULL
                              : (*jni)->GetStaticMethodID(jni, times, "beginExtremes", "(I)V");
    java.dropped = java.begin_extremes == NULL
                       ? NULL
                       : (*jni)->GetStaticMethodID(jni, times, "dropped", "()I");
    (*jni)->DeleteLocalRef(jni, times);
}

bool instrument_bind_own(JNIEnv *jni, struct jw_error *err)
{
    const struct instrument_teller of = {.class_name = PROBE_OWN_CLASS,
                                         .open_type = "(Ljava/lang/JaywalkTimer;)V",
                                         .natives_class = EVENTS_CLASS,
                                         .natives = {{"tell", "(IJ)V", (uintptr_t)&tell}}};

    if (!instrument_bind_teller(jni, &of, &java.timer, err))
        return false;
    java.set_least = (*jni)->GetStaticMethodID(jni, java.timer.klass, "setLeast", "(IJ)V");
    find_times(jni);
    if (instrument_has_thrown(jni, "classes of probes", err))
        return false;
    if (java.dropped == NULL || java.set_least == NULL)
        jw_error_set(err, "the JVM does not give the classes of probes");
    return java.dropped != NULL && java.set_least != NULL;
}

static void set_least(JNIEnv *jni, int32_t site, uint64_t ns)
{
    (*jni)->CallStaticVoidMethod(jni, java.timer.klass, java.set_least, (jint)site,
                                 ns > INT64_MAX ? INT64_MAX : (jlong)ns);
    (*jni)->ExceptionClear(jni);
}

static bool is_of(const struct probe *probe, const char *class_name)
{
    return strcmp(probe->class_name, class_name) == 0;
}

static bool is_timed(const struct probe *probe)
{
    return is_of(probe, PROBE_OWN_TIMES_CLASS);
}

/* The numbers of the last attach are given out anew: a call of then, which may end at any time, bears the number of its attach. */
static bool begin_times(JNIEnv *jni, uint32_t attach, struct jw_error *err)
{
    if (overs == NULL)
        overs = jw_alloc(jw_mul_bytes(PROBE_OWN_SITES, sizeof *overs));
    if (last == NULL)
        last = jw_alloc(sizeof *last);
    if (overs == NULL || last == NULL) {
        jw_error_set(err, "no memory for a probe");
        return false;
    }
    for (uint32_t i = 0; i < PROBE_OWN_SITES; i++) {
        jw_free(overs[i].steps);
        overs[i] = (struct over){0};
    }
    if (!instrument_sites_begin(INSTRUMENT_SITES_TIMED, err))
        return false;
    (*jni)->CallStaticVoidMethod(jni, java.times, java.begin_times,
                                 (jint)(attach & PROBE_ATTACH_MASK));
    return !instrument_has_thrown(jni, "times of methods", err);
}

/* -1: no attach. */
static void begin_traces(JNIEnv *jni, jint attach)
{
    instrument_tells_begin(jni, &java.timer, attach);
}

/* Of those that are told with what is captured; false: it is none of them. */
static bool begin_others(JNIEnv *jni, const struct probe *probe, int32_t attach)
{
    if (is_of(probe, PROBE_ROUTES_CLASS))
        instrument_routes_begin(jni, attach);
    else if (is_of(probe, PROBE_PARKS_CLASS))
        instrument_parks_begin(jni, attach);
    else if (is_of(probe, PROBE_QUEUES_CLASS))
        instrument_queues_begin(jni, attach);
    else if (is_of(probe, PROBE_FORKS_CLASS))
        instrument_forks_begin(jni, attach);
    else if (is_of(probe, PROBE_OWN_CALLS_CLASS))
        instrument_calls_begin(jni, attach);
    else if (is_of(probe, PROBE_THROWS_CLASS))
        instrument_throws_begin(jni, attach);
    else if (is_of(probe, PROBE_IO_CLASS))
        instrument_io_begin(jni, attach);
    else
        return false;
    return true;
}

bool instrument_own_begin(JNIEnv *jni, const struct probe *probe, uint32_t attach,
                          struct jw_error *err)
{
    if (is_timed(probe))
        return begin_times(jni, attach, err);
    if (is_of(probe, PROBE_OWN_COUNTS_CLASS))
        return instrument_counts_begin(jni, INSTRUMENT_COUNTED_CALLS, attach & PROBE_ATTACH_MASK,
                                       err);
    if (is_of(probe, PROBE_NEWS_CLASS))
        return instrument_news_begin(jni, (int32_t)(attach & PROBE_ATTACH_MASK), err);
    if (begin_others(jni, probe, (int32_t)(attach & PROBE_ATTACH_MASK)))
        return true;
    for (uint32_t i = 0; i < probe->handler_count; i++)
        set_least(jni, probe->handlers[i].site, probe->handlers[i].least_ns);
    begin_traces(jni, (jint)(attach & PROBE_ATTACH_MASK));
    return true;
}

void instrument_own_end(JNIEnv *jni, const struct probe *probe)
{
    if (is_of(probe, PROBE_NEWS_CLASS)) {
        instrument_news_end(jni);
        return;
    }
    if (begin_others(jni, probe, -1) || is_timed(probe) || is_of(probe, PROBE_OWN_COUNTS_CLASS))
        return; /* a call of a class that is not written back yet is counted */
    begin_traces(jni, -1);
    for (uint32_t i = 0; i < probe->handler_count; i++)
        set_least(jni, probe->handlers[i].site, UINT64_MAX);
}

bool instrument_own_methods(const char *name, uint32_t handler, uint64_t *methods)
{
    static struct instrument_sums sums;

    for (uint32_t i = 0; i < instrument_attach_count; i++) {
        struct instrument_attach *attach = instrument_attaches[i];

        if (!attach->is_own || strcmp(attach->probe->name, name) != 0 ||
            handler >= attach->probe->handler_count)
            continue;
        instrument_sum(attach, &sums);
        *methods = sums.handlers[handler].methods;
        return true;
    }
    return false;
}

/* ---- times ---- */

int32_t instrument_own_site_of(const struct probe_handler *handler, struct classfile_text made,
                               struct classfile_text class_name, struct classfile_text method,
                               struct classfile_text descriptor)
{
    return instrument_sites_number(
        strcmp(handler->target, PROBE_NEWS_CLASS) == 0         ? INSTRUMENT_SITES_MADE
        : strcmp(handler->target, PROBE_OWN_COUNTS_CLASS) == 0 ? INSTRUMENT_SITES_COUNTED
                                                               : INSTRUMENT_SITES_TIMED,
        made, class_name, method, descriptor);
}

static const jlong *ask(JNIEnv *jni, uint32_t number)
{
    jlongArray sum = (*jni)->CallStaticObjectMethod(jni, java.times, java.sum, (jint)number);

    memset(last, 0, sizeof *last);
    last->number = number;
    if (sum != NULL)
        (*jni)->GetLongArrayRegion(jni, sum, 0, JW_COUNT_OF(last->numbers), last->numbers);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, sum);
    return last->numbers;
}

static void subtract(const struct over *over, int64_t *counts)
{
    for (uint32_t i = 0; i < over->step_count; i++)
        counts[over->steps[i].step] -= (int64_t)over->steps[i].count;
}

/* The shortest and the longest are those of the steps, at least: at a cut Java may lose those of a call that ends just then. */
static void limit_extremes(struct instrument_times *out)
{
    uint32_t first = 0, end = PROBE_OWN_COUNTS;

    while (first < end && out->counts[first] == 0)
        first++;
    while (end > first && out->counts[end - 1] == 0)
        end--;
    if (first == end)
        return;
    if (first + 1 < PROBE_OWN_COUNTS && out->least_ns >= probe_own_step_ns(first + 1))
        out->least_ns = probe_own_step_ns(first);
    if (out->most_ns < probe_own_step_ns(end - 1))
        out->most_ns = probe_own_step_ns(end - 1);
}

bool instrument_own_times(JNIEnv *jni, uint32_t number, struct instrument_times *out)
{
    struct instrument_site site;

    if (!instrument_sites_at(INSTRUMENT_SITES_TIMED, number, &site))
        return false;

    const struct over *over = &overs[number];
    int64_t *counts = last->counts;
    *out = (struct instrument_times){.of = site, .counts = counts};
    memset(counts, 0, sizeof last->counts);
    if (over->is_lost)
        return true;
    const jlong *numbers = ask(jni, number);
    out->total_ns = (uint64_t)numbers[0] - over->ns;
    out->least_ns = (uint64_t)numbers[1];
    out->most_ns = (uint64_t)numbers[2];
    _Static_assert(sizeof *numbers == sizeof *counts, "as Java has them");
    memcpy(counts, numbers + PROBE_OWN_HEAD, sizeof last->counts);
    subtract(over, counts);
    for (uint32_t i = 0; i < PROBE_OWN_COUNTS; i++)
        out->count += (uint64_t)counts[i];
    limit_extremes(out);
    return true;
}

static uint32_t used_steps(const jlong *counts)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < PROBE_OWN_COUNTS; i++)
        count += counts[i] != 0;
    return count;
}

bool instrument_own_cut(JNIEnv *jni, uint32_t number)
{
    struct over *over = &overs[number];
    const jlong *counts = last->numbers + PROBE_OWN_HEAD;
    const uint32_t step_count = last->number == number ? used_steps(counts) : 0;
    uint32_t used = 0;

    if (step_count == 0)
        return true;
    jw_free(over->steps);
    over->steps = jw_alloc(jw_mul_bytes(step_count, sizeof *over->steps));
    over->step_count = over->steps == NULL ? 0 : step_count;
    over->ns = (uint64_t)last->numbers[0];
    if (over->steps == NULL) {
        over->is_lost = true;
        instrument_sites_lose(INSTRUMENT_SITES_TIMED, number);
        return false;
    }
    for (uint32_t i = 0; i < PROBE_OWN_COUNTS; i++) {
        if (counts[i] != 0)
            over->steps[used++] = (struct step){i, (uint64_t)counts[i]};
    }
    (*jni)->CallStaticVoidMethod(jni, java.times, java.begin_extremes, (jint)number);
    (*jni)->ExceptionClear(jni);
    return true;
}

void instrument_own_forget(JNIEnv *jni)
{
    (*jni)->CallStaticVoidMethod(jni, java.times, java.begin_times, (jint)-1);
    (*jni)->ExceptionClear(jni);
}

void instrument_own_losses(JNIEnv *jni, uint64_t *methods, uint64_t *calls)
{
    *methods = instrument_sites_lost(INSTRUMENT_SITES_TIMED);
    *calls = java.dropped == NULL
                 ? 0
                 : (uint64_t)(*jni)->CallStaticIntMethod(jni, java.times, java.dropped);
    (*jni)->ExceptionClear(jni);
}
