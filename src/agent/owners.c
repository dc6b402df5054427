/* Owners that lock stacks tell once they are mended, or where they lie in the heap; the agent's thread. */
#include "agent/owners.h"

#include "agent/agent.h"
#include "agent/api_internal.h"
#include "agent/locks.h"
#include "agent/weak_refs.h"
#include "base/clock.h"
#include "base/counters.h"
#include "sampler/sampler_locks.h"
#include "vm/vm.h"
#include "vm/vm_frozen_locks.h"
#include "vm/vm_monitor.h"
#include "vm/vm_safepoint.h"

#define SEARCH_EVERY_NS (JW_NS_PER_SECOND / 2)

/* Searched for at one time; others wait in the table of waits. */
#define SOUGHT_MAX 16u

/* Threads that are stopped in one search. Where more have monitors, the next search goes on behind them. */
#define ASKED_MAX 32u

/* A wait takes part in eight searches that come to all threads, or for half a minute in such as do not, and is then given up. */
#define SEARCHES_MAX   64u
#define SEARCHES_WHOLE 8u

/* A safepoint between mending and looking makes both in vain. */
#define TRIES 3

/* JVMTI answers lists with one local reference each. */
#define LOCAL_REFERENCES_MAX 65535

struct sought {
    struct sampler_sought wait;
    uint32_t searches;
    bool is_found;
};

static struct {
    struct sought all[SOUGHT_MAX];
    uint32_t count;
    uint64_t searched_ns;
    uint32_t next;      /* in the list of threads, where the next search begins */
    bool reads_virtual; /* lock stacks of virtual threads */
} owners;

/* Everything of one search. */
struct search {
    JNIEnv *jni;
    jthread *threads;
    uint32_t count, asked, left; /* `left`: waits without an owner */
    vm_addr objects[SOUGHT_MAX]; /* as they stood when it began */
    bool is_whole;               /* no thread was left out */
};

static void drop(JNIEnv *jni, uint32_t at)
{
    (*jni)->DeleteGlobalRef(jni, (jobject)owners.all[at].wait.object);
    owners.all[at] = owners.all[--owners.count];
}

static void drop_ended(JNIEnv *jni)
{
    for (uint32_t i = owners.count; i-- > 0;)
        if (owners.all[i].is_found || owners.all[i].searches >= SEARCHES_MAX ||
            !sampler_lock_is_sought(&owners.all[i].wait))
            drop(jni, i);
}

static void take_new(void)
{
    struct sampler_sought taken[SOUGHT_MAX];
    const uint32_t count = sampler_lock_seek(taken, SOUGHT_MAX - owners.count);

    for (uint32_t i = 0; i < count; i++)
        owners.all[owners.count++] = (struct sought){.wait = taken[i]};
}

/* Where its object stands. The local reference is written as the object is looked up, and so as it stands now. */
static vm_addr object_of(JNIEnv *jni, const struct sought *one)
{
    jobject local = (*jni)->NewLocalRef(jni, (jobject)one->wait.object);
    const vm_addr object = vm_monitor_object(local);

    (*jni)->DeleteLocalRef(jni, local);
    return object;
}

static void find_objects(JNIEnv *jni, vm_addr objects[SOUGHT_MAX])
{
    for (uint32_t i = 0; i < owners.count; i++)
        objects[i] = owners.all[i].is_found ? 0 : object_of(jni, &owners.all[i]);
}

/* The thread stops for a moment. False: it has ended. */
static bool mend(jthread thread)
{
    jvmtiFrameInfo frame;
    jint count = 0;

    jw_count(JW_COUNT_LOCK_MENDED);
    return (*agent.jvmti)->GetStackTrace(agent.jvmti, thread, 0, 1, &frame, &count) ==
           JVMTI_ERROR_NONE;
}

/* Of which objects the thread, or the virtual one that it carries all the time, is the owner; false: a safepoint came between. */
static bool look_at(JNIEnv *jni, jthread thread, const void *env, thread_index index,
                    bool has[SOUGHT_MAX], uint64_t *carried)
{
    vm_addr objects[SOUGHT_MAX];
    uint64_t before, behind;

    if (!vm_safepoint_count(&before))
        return false;
    find_objects(jni, objects);
    if (!mend(thread))
        return false;
    *carried = sampler_lock_carried(index);
    for (uint32_t i = 0; i < owners.count; i++)
        has[i] = vm_monitor_is_locked_by(objects[i], env);
    if (sampler_lock_carried(index) != *carried)
        return false;
    /* Once more: what was just taken from the lock stack of a thread that runs may still be seen in it. */
    for (uint32_t i = 0; i < owners.count; i++)
        has[i] = has[i] && vm_monitor_is_locked_by(objects[i], env);
    return vm_safepoint_count(&behind) && behind == before;
}

static void ask(struct search *search, jthread thread, const void *env, thread_index index)
{
    bool has[SOUGHT_MAX], is_sure = false;
    uint64_t carried = 0;

    search->asked++;
    for (int i = 0; i < TRIES && !is_sure; i++)
        is_sure = look_at(search->jni, thread, env, index, has, &carried);
    for (uint32_t i = 0; i < owners.count && is_sure; i++) {
        if (!has[i] || owners.all[i].is_found)
            continue;
        sampler_lock_found(&owners.all[i].wait, index, carried);
        owners.all[i].is_found = true;
        search->left--;
    }
}

/* By its address it may be one of them; where the collector has moved that since, it does not look so. */
static bool looks_like_one(const struct search *search, const void *env)
{
    bool is_one = false;

    for (uint32_t i = 0; i < owners.count; i++)
        is_one = is_one || vm_monitor_is_locked_by(search->objects[i], env);
    return is_one;
}

static void visit(struct search *search, jthread thread, bool is_likely)
{
    void *env;
    uint32_t tid;

    if (!vm_java_thread(search->jni, thread, &env, &tid) || env == NULL ||
        env == (void *)search->jni || !vm_monitor_locks_any(env) ||
        looks_like_one(search, env) != is_likely)
        return;
    const thread_index index = thread_find(tid);
    if (index != THREAD_NONE && thread_env(index) == env)
        ask(search, thread, env, index);
}

static bool goes_on(struct search *search)
{
    search->is_whole = search->asked < ASKED_MAX;
    return search->left > 0 && search->is_whole;
}

/* First those that are owners as it seems, then all that have any monitor. */
static void visit_all(struct search *search)
{
    const uint32_t first = owners.next < search->count ? owners.next : 0;

    for (uint32_t i = 0; i < search->count && goes_on(search); i++)
        visit(search, search->threads[i], true);
    for (uint32_t i = 0; i < search->count && goes_on(search); i++) {
        const uint32_t at = (first + i) % search->count;

        visit(search, search->threads[at], false);
        owners.next = at + 1;
    }
}

static void search_for_all(JNIEnv *jni)
{
    struct search search = {.jni = jni, .left = owners.count};
    jint count = 0;

    if ((*jni)->PushLocalFrame(jni, LOCAL_REFERENCES_MAX) != 0) {
        (*jni)->ExceptionClear(jni);
        return;
    }
    find_objects(jni, search.objects);
    if ((*agent.jvmti)->GetAllThreads(agent.jvmti, &count, &search.threads) == JVMTI_ERROR_NONE) {
        search.count = (uint32_t)count;
        visit_all(&search);
        (void)(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)search.threads);
    }
    (*jni)->PopLocalFrame(jni, NULL);
    for (uint32_t i = 0; i < owners.count; i++)
        owners.all[i].searches += search.is_whole ? SEARCHES_WHOLE : 1;
}

static void open_virtual(JNIEnv *jni)
{
    const bool may_be_told = vm_frozen_locks_may_be_told();

    owners.reads_virtual = vm_frozen_locks_open(jni);
    if (may_be_told && !vm_frozen_locks_may_be_told())
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "lock: virtual threads that took a monitor before anybody waited for it are not "
                  "told as its owners while they are on no carrier: with this JVM's collector, or "
                  "without its symbols, their lock stacks cannot be read");
}

void owners_turn(JNIEnv *jni)
{
    const uint64_t now_ns = jw_now_ns();

    if (!locks_are_on() || jni == NULL || now_ns - owners.searched_ns < SEARCH_EVERY_NS)
        return;
    drop_ended(jni);
    take_new();
    if (owners.count == 0)
        return;
    owners.searched_ns = now_ns;
    if (vm_monitor_wants_mended())
        search_for_all(jni);
    else if (!owners.reads_virtual)
        open_virtual(jni);
}

/* ---- virtual threads ---- */

bool owners_want_virtual(void)
{
    bool is_one = false;

    for (uint32_t i = 0; i < owners.count; i++)
        is_one |= !owners.all[i].is_found;
    return is_one && owners.reads_virtual;
}

static bool has(const struct vm_frozen_locks *locks, vm_addr object)
{
    bool is_one = false;

    for (uint32_t i = 0; i < locks->count; i++)
        is_one |= object != 0 && locks->objects[i] == object;
    return is_one;
}

/* Which of the waits are for it: read twice, and the objects looked up in between. False: the collector came between, or it has gone on. */
static bool read_twice(JNIEnv *jni, jobject thread, bool is_its[SOUGHT_MAX])
{
    struct vm_frozen_locks first, again;
    vm_addr objects[SOUGHT_MAX];

    if (!vm_frozen_locks(thread, &first))
        return false;
    find_objects(jni, objects);
    if (!vm_frozen_locks(thread, &again) || again.collections != first.collections)
        return false;
    for (uint32_t i = 0; i < owners.count; i++)
        is_its[i] = has(&first, objects[i]) && has(&again, objects[i]);
    return vm_frozen_locks_stood_still(&again);
}

void owners_look_at(JNIEnv *jni, jobject thread)
{
    bool is_its[SOUGHT_MAX];
    bool is_sure = false;

    if (!owners_want_virtual())
        return;
    for (int i = 0; i < TRIES && !is_sure; i++)
        is_sure = read_twice(jni, thread, is_its);
    for (uint32_t i = 0; i < owners.count && is_sure; i++) {
        if (!is_its[i] || owners.all[i].is_found)
            continue;
        const uint64_t number = api_thread_number(jni, thread);

        weak_refs_note(jni, WEAK_THREADS, thread, number); /* by which it is asked what it does */
        sampler_lock_found_away(&owners.all[i].wait, number);
        owners.all[i].is_found = true;
    }
}

void owners_searched(void)
{
    for (uint32_t i = 0; i < owners.count; i++)
        owners.all[i].searches += SEARCHES_WHOLE;
}

void owners_end(JNIEnv *jni)
{
    while (jni != NULL && owners.count > 0)
        drop(jni, owners.count - 1);
}
