/* What was counted at the sites of the census of locks. Context: the agent's thread. */
#include "instrument/instrument_census_counts.h"

#include <string.h>

#include "base/memory.h"
#include "instrument/instrument_attach_internal.h"
#include "instrument/instrument_census_objects.h"

#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_WRITING

#define STRIDE          16u /* JaywalkCells.STRIDE */
#define NAME_BYTES      64u /* of a thread */
#define READ_REFERENCES 8
#define LOCKS           "java/lang/JaywalkLocks"

/* JaywalkLocks, and what `figures` puts in place of NEXT, LAST and WINDOW_NS. */
enum { COUNT, THREADS, SHARERS, KIND, HOLDS = 5, WEIGHT, HOLD_NS, HOLD_MAX_NS, SPREAD, STEPS };

static struct {
    jclass locks; /* global */
    jmethodID begin, publish, end, figures, names, lost_of, forget;
    uint64_t *counts, *base; /* STRIDE each */
    char (*threads)[NAME_BYTES];
    uint32_t count, base_count;
    uint64_t lost; /* as of the last reading */
} counted;

/* Class files and the JVM write each of UTF-16's as up to three bytes, the
 * first of which says how many: a zero, and halves of pairs, are such characters too. */
uint32_t census_counts_fitting(const char *text, size_t length_bytes, size_t room_bytes)
{
    size_t length = length_bytes < room_bytes ? length_bytes : room_bytes - 1;

    while (length > 0 && length < length_bytes && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return (uint32_t)length;
}

bool census_counts_open(JNIEnv *jni, struct jw_error *err)
{
    jclass found;

    if (counted.locks != NULL)
        return true;
    found = (*jni)->FindClass(jni, LOCKS);
    if (found != NULL) {
        counted.begin = (*jni)->GetStaticMethodID(jni, found, "begin", "()V");
        counted.publish = (*jni)->GetStaticMethodID(jni, found, "publish", "()V");
        counted.end = (*jni)->GetStaticMethodID(jni, found, "end", "()V");
        counted.figures = (*jni)->GetStaticMethodID(jni, found, "figures", "(I)[J");
        counted.names = (*jni)->GetStaticMethodID(jni, found, "names", "(I)[Ljava/lang/String;");
        counted.lost_of = (*jni)->GetStaticMethodID(jni, found, "lost", "()J");
        counted.forget = (*jni)->GetStaticMethodID(jni, found, "forget", "([I)J");
    }
    if (instrument_has_thrown(jni, LOCKS, err))
        return false;
    counted.locks = (*jni)->NewGlobalRef(jni, found);
    (*jni)->DeleteLocalRef(jni, found);
    return counted.locks != NULL;
}

static void forget_counted(void)
{
    jw_free(counted.counts);
    jw_free(counted.base);
    jw_free(counted.threads);
    counted.counts = counted.base = NULL;
    counted.threads = NULL;
    counted.count = counted.base_count = 0;
    counted.lost = 0;
}

void census_counts_begin_again(void)
{
    census_instances_begin_again();
    if (counted.counts == NULL || counted.count == 0)
        return; /* the last reading failed: what was before it still holds */
    jw_free(counted.base);
    counted.base = counted.counts;
    counted.base_count = counted.count;
    counted.counts = NULL;
    counted.count = 0;
}

/* Places of an earlier census may still be called: who finds the cells there must find what is in them. */
bool census_counts_begin(JNIEnv *jni, struct jw_error *err)
{
    forget_counted();
    instrument_callers_begin(jni, true);
    (*jni)->CallStaticVoidMethod(jni, counted.locks, counted.begin);
    if (instrument_has_thrown(jni, LOCKS, err) || !census_instances_begin(jni, err))
        return false;
    if (!instrument_pass_safepoint()) {
        jw_error_set(err, "locks=census: the JVM does not stop its threads for a moment");
        return false;
    }
    (*jni)->CallStaticVoidMethod(jni, counted.locks, counted.publish);
    return !instrument_has_thrown(jni, LOCKS, err) && census_instances_publish(jni, err);
}

void census_counts_end(JNIEnv *jni)
{
    struct jw_error err = {0};

    instrument_callers_begin(jni, false);
    (*jni)->CallStaticVoidMethod(jni, counted.locks, counted.end);
    (void)instrument_has_thrown(jni, LOCKS, &err);
    census_instances_end(jni);
    forget_counted();
}

/* ---- reading ---- */

static void read_name(JNIEnv *jni, jobjectArray names, uint32_t site)
{
    jstring name = (*jni)->GetObjectArrayElement(jni, names, (jsize)site);
    const char *text = name == NULL ? NULL : (*jni)->GetStringUTFChars(jni, name, NULL);

    if (text != NULL) {
        const uint32_t length = census_counts_fitting(text, strlen(text), NAME_BYTES);

        memcpy(counted.threads[site], text, length);
        counted.threads[site][length] = '\0';
        (*jni)->ReleaseStringUTFChars(jni, name, text);
    }
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, name);
}

static bool read_figures(JNIEnv *jni, uint32_t count, struct jw_error *err)
{
    jlongArray figures =
        (*jni)->CallStaticObjectMethod(jni, counted.locks, counted.figures, (jint)count);
    jobjectArray names = NULL;

    if (instrument_has_thrown(jni, "locks=census", err))
        return false;
    names = (*jni)->CallStaticObjectMethod(jni, counted.locks, counted.names, (jint)count);
    if (instrument_has_thrown(jni, "locks=census", err))
        return false;
    (*jni)->GetLongArrayRegion(jni, figures, 0, (jsize)(count * STRIDE), (jlong *)counted.counts);
    for (uint32_t i = 0; i < count; i++)
        if (counted.counts[i * STRIDE + COUNT] != 0)
            read_name(jni, names, i);
    counted.lost = (uint64_t)(*jni)->CallStaticLongMethod(jni, counted.locks, counted.lost_of);
    return !instrument_has_thrown(jni, "locks=census", err);
}

static bool read_all(JNIEnv *jni, uint32_t count, struct jw_error *err)
{
    if ((*jni)->PushLocalFrame(jni, READ_REFERENCES) != 0) {
        (*jni)->ExceptionClear(jni);
        jw_error_set(err, "locks=census: the JVM has no memory left to read it");
        return false;
    }
    const bool is_good = read_figures(jni, count, err);
    (*jni)->PopLocalFrame(jni, NULL);
    return is_good;
}

bool census_counts_read(JNIEnv *jni, uint32_t count, struct jw_error *err)
{
    jw_free(counted.counts);
    jw_free(counted.threads);
    counted.count = 0;
    counted.counts = jw_alloc(jw_mul_bytes(count + 1, STRIDE * sizeof *counted.counts));
    counted.threads = jw_alloc(jw_mul_bytes(count + 1, sizeof *counted.threads));
    if (counted.counts == NULL || counted.threads == NULL) {
        jw_error_set(err, "locks=census: no memory for %u sites", count);
        return false;
    }
    /* What threads have stored before it is read behind it. */
    if (!instrument_pass_safepoint()) {
        jw_error_set(err, "locks=census: the JVM does not stop its threads for a look");
        return false;
    }
    if (!read_all(jni, count, err) || !census_instances_read(jni, err))
        return false;
    counted.count = count;
    return true;
}

static uint64_t since_base(uint32_t site, uint32_t which)
{
    const uint64_t now = counted.counts[(size_t)site * STRIDE + which];
    const uint64_t before =
        site < counted.base_count ? counted.base[(size_t)site * STRIDE + which] : 0;

    return now > before ? now - before : 0;
}

static double double_of(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof number);
    return number;
}

static double variance_since_base(uint32_t site)
{
    const size_t at = (size_t)site * STRIDE + SPREAD;
    const double now = double_of(counted.counts[at]);
    const double before = site < counted.base_count ? double_of(counted.base[at]) : 0;

    return now > before ? now - before : 0;
}

/* What is in none of the steps that are counted is below them. */
static void fill_steps(uint32_t site, struct instrument_lock_site *out)
{
    uint64_t rest = out->weight;

    for (uint32_t i = 1; i < INSTRUMENT_HOLD_STEPS; i++) {
        const uint64_t held = since_base(site, STEPS + i - 1);

        out->hold_steps[i] = held;
        rest -= held < rest ? held : rest;
    }
    out->hold_steps[0] = rest;
}

bool census_counts_of(uint32_t site, struct instrument_lock_site *out)
{
    if (site >= counted.count)
        return false;

    const uint64_t *counts = &counted.counts[(size_t)site * STRIDE];
    out->thread = counted.threads[site];
    out->acquisitions = since_base(site, COUNT);
    out->threads = counts[THREADS] + counts[SHARERS];
    out->holds = since_base(site, HOLDS);
    out->weight = since_base(site, WEIGHT);
    out->hold_ns = since_base(site, HOLD_NS);
    out->hold_most_ns = counts[HOLD_MAX_NS];
    out->hold_variance = variance_since_base(site);
    fill_steps(site, out);
    out->seen_kind = (uint32_t)counts[KIND];
    return true;
}

uint64_t census_counts_lost(void)
{
    return counted.lost;
}

bool census_counts_forget(JNIEnv *jni, const uint32_t *sites, uint32_t count,
                          uint64_t *acquisitions)
{
    jintArray numbers = jni == NULL ? NULL : (*jni)->NewIntArray(jni, (jsize)count);
    struct jw_error err = {0};

    if (numbers != NULL) {
        (*jni)->SetIntArrayRegion(jni, numbers, 0, (jsize)count, (const jint *)sites);
        *acquisitions =
            (uint64_t)(*jni)->CallStaticLongMethod(jni, counted.locks, counted.forget, numbers);
    }
    const bool is_forgotten =
        jni != NULL && !instrument_has_thrown(jni, LOCKS, &err) && numbers != NULL;
    if (is_forgotten)
        census_instances_forget(jni, numbers, sites, count);
    if (jni != NULL)
        (*jni)->DeleteLocalRef(jni, numbers);
    if (!is_forgotten)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (sites[i] < counted.count)
            memset(&counted.counts[(size_t)sites[i] * STRIDE], 0, STRIDE * sizeof(uint64_t));
        if (sites[i] < counted.base_count)
            memset(&counted.base[(size_t)sites[i] * STRIDE], 0, STRIDE * sizeof(uint64_t));
    }
    return true;
}
