/* Virtual threads in the JDK's lists of all threads; the agent's thread. */
#include "agent/virtual_search.h"

#include "agent/agent.h"
#include "agent/api_internal.h"
#include "agent/owners.h"
#include "agent/weak_refs.h"
#include "base/clock.h"
#include "base/counters.h"

#define WANTED_MAX 16u

/* Lists that wait to be looked at; more are left out. */
#define LISTS_MAX 256u

/* From the begin of a search to that of the next. */
#define SEARCH_EVERY_NS (JW_NS_PER_SECOND / 2)

/* So many threads between two looks at the clock. */
#define STEP 64u

struct wanted {
    uint64_t number;
    bool is_of_search; /* since its begin */
};

static struct {
    struct wanted wanted[WANTED_MAX];
    uint32_t wanted_count;
    uint64_t begun_ns;
    bool is_on, is_off;
    jobject lists[LISTS_MAX]; /* global references */
    uint32_t list_count;
    jobject iterator; /* likewise; NULL: none */
} search;

static struct {
    jclass lists; /* global reference */
    jmethodID root, children, threads, iterator, has_next, next;
} jdk;

/* ---- what is called ---- */

static bool has_failed(JNIEnv *jni)
{
    if (!(*jni)->ExceptionCheck(jni))
        return false;
    (*jni)->ExceptionClear(jni);
    return true;
}

static jmethodID method_of(JNIEnv *jni, const char *class_name, const char *name,
                           const char *descriptor)
{
    jclass class = (*jni)->FindClass(jni, class_name);
    jmethodID method = class == NULL ? NULL : (*jni)->GetMethodID(jni, class, name, descriptor);

    if (class != NULL)
        (*jni)->DeleteLocalRef(jni, class);
    return has_failed(jni) ? NULL : method;
}

static bool find_methods(JNIEnv *jni)
{
    static const char list[] = "jdk/internal/vm/ThreadContainer";
    jclass lists = (*jni)->FindClass(jni, "jdk/internal/vm/ThreadContainers");

    if (lists != NULL)
        jdk.root =
            (*jni)->GetStaticMethodID(jni, lists, "root", "()Ljdk/internal/vm/ThreadContainer;");
    if (has_failed(jni) || jdk.root == NULL)
        return false;
    jdk.children = method_of(jni, list, "children", "()Ljava/util/stream/Stream;");
    jdk.threads = method_of(jni, list, "threads", "()Ljava/util/stream/Stream;");
    jdk.iterator =
        method_of(jni, "java/util/stream/BaseStream", "iterator", "()Ljava/util/Iterator;");
    jdk.has_next = method_of(jni, "java/util/Iterator", "hasNext", "()Z");
    jdk.next = method_of(jni, "java/util/Iterator", "next", "()Ljava/lang/Object;");
    if (jdk.children == NULL || jdk.threads == NULL || jdk.iterator == NULL ||
        jdk.has_next == NULL || jdk.next == NULL)
        return false;
    jdk.lists = (*jni)->NewGlobalRef(jni, lists);
    return jdk.lists != NULL;
}

static void let_go(JNIEnv *jni, jobject local)
{
    if (local != NULL)
        (*jni)->DeleteLocalRef(jni, local);
}

/* A local reference to an iterator over what the list says; NULL: it fails. */
static jobject iterate(JNIEnv *jni, jobject list, jmethodID what)
{
    jobject stream = (*jni)->CallObjectMethod(jni, list, what);

    if (has_failed(jni) || stream == NULL)
        return NULL;
    jobject iterator = (*jni)->CallObjectMethod(jni, stream, jdk.iterator);
    let_go(jni, stream);
    return has_failed(jni) ? NULL : iterator;
}

/* A local reference to the next one; NULL: there is none. */
static jobject next_of(JNIEnv *jni, jobject iterator)
{
    const bool has_next = (*jni)->CallBooleanMethod(jni, iterator, jdk.has_next) != JNI_FALSE;

    if (has_failed(jni) || !has_next)
        return NULL;
    jobject next = (*jni)->CallObjectMethod(jni, iterator, jdk.next);
    return has_failed(jni) ? NULL : next;
}

/* ---- a search ---- */

static bool is_wanted(void)
{
    return search.wanted_count > 0 || owners_want_virtual();
}

static void add_list(JNIEnv *jni, jobject list)
{
    jobject kept = search.list_count == LISTS_MAX ? NULL : (*jni)->NewGlobalRef(jni, list);

    if (kept != NULL)
        search.lists[search.list_count++] = kept;
}

static void drop(JNIEnv *jni, jobject *reference)
{
    if (*reference != NULL)
        (*jni)->DeleteGlobalRef(jni, *reference);
    *reference = NULL;
}

static void stop(JNIEnv *jni)
{
    drop(jni, &search.iterator);
    while (search.list_count > 0)
        drop(jni, &search.lists[--search.list_count]);
    search.is_on = false;
}

static bool begin(JNIEnv *jni, uint64_t now_ns)
{
    jobject root;

    search.begun_ns = now_ns;
    if (jdk.lists == NULL && !find_methods(jni)) {
        search.is_off = true;
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "lock: this JVM lists no virtual threads: what owners of monitors do that have "
                  "never waited is not told");
        return false;
    }
    root = (*jni)->CallStaticObjectMethod(jni, jdk.lists, jdk.root);
    if (has_failed(jni) || root == NULL)
        return false;
    add_list(jni, root);
    for (uint32_t i = 0; i < search.wanted_count; i++)
        search.wanted[i].is_of_search = true;
    search.is_on = true;
    return true;
}

/* The threads of the next list, and behind them what that has below. False: all lists are through. */
static bool open_list(JNIEnv *jni)
{
    if (search.list_count == 0)
        return false;
    jobject list = search.lists[--search.list_count];
    jobject below = iterate(jni, list, jdk.children), one;
    while (below != NULL && (one = next_of(jni, below)) != NULL) {
        add_list(jni, one);
        (*jni)->DeleteLocalRef(jni, one);
    }
    jobject threads = iterate(jni, list, jdk.threads);
    search.iterator = threads == NULL ? NULL : (*jni)->NewGlobalRef(jni, threads);
    let_go(jni, threads);
    let_go(jni, below);
    drop(jni, &list);
    return true;
}

static void look_at(JNIEnv *jni, jobject thread)
{
    owners_look_at(jni, thread);
    const uint64_t number = api_thread_number(jni, thread);

    for (uint32_t i = 0; i < search.wanted_count; i++) {
        if (search.wanted[i].number != number)
            continue;
        weak_refs_note(jni, WEAK_THREADS, thread, number);
        search.wanted[i] = search.wanted[--search.wanted_count];
        jw_count(JW_COUNT_LOCK_AWAY_FOUND);
        return;
    }
}

/* False: the list is through. */
static bool go_on(JNIEnv *jni)
{
    for (uint32_t i = 0; i < STEP; i++) {
        jobject thread = next_of(jni, search.iterator);

        if (thread == NULL)
            return false;
        look_at(jni, thread);
        (*jni)->DeleteLocalRef(jni, thread);
    }
    return true;
}

/* Who has not been found in all of it is in no list, or has ended. */
static void finish(JNIEnv *jni)
{
    for (uint32_t i = search.wanted_count; i-- > 0;)
        if (search.wanted[i].is_of_search)
            search.wanted[i] = search.wanted[--search.wanted_count];
    owners_searched();
    stop(jni);
}

/* False: it is over. */
static bool step(JNIEnv *jni)
{
    if (search.iterator == NULL && !open_list(jni))
        return false;
    if (search.iterator != NULL && !go_on(jni))
        drop(jni, &search.iterator);
    return is_wanted();
}

void virtual_search_want(uint64_t number)
{
    for (uint32_t i = 0; i < search.wanted_count; i++)
        if (search.wanted[i].number == number)
            return;
    if (search.wanted_count < WANTED_MAX && !search.is_off)
        search.wanted[search.wanted_count++] = (struct wanted){number, false};
}

void virtual_search_turn(JNIEnv *jni, uint64_t until_ns)
{
    const uint64_t now_ns = jw_now_ns();

    if (search.is_off || !is_wanted() || now_ns >= until_ns ||
        (!search.is_on && now_ns - search.begun_ns < SEARCH_EVERY_NS))
        return;
    if ((*jni)->PushLocalFrame(jni, STEP) != 0) {
        (void)has_failed(jni);
        return;
    }
    bool goes_on = search.is_on || begin(jni, now_ns);
    while (goes_on && jw_now_ns() < until_ns)
        goes_on = step(jni);
    if (!goes_on)
        finish(jni);
    (*jni)->PopLocalFrame(jni, NULL);
}

void virtual_search_end(JNIEnv *jni)
{
    search.wanted_count = 0;
    if (jni != NULL)
        stop(jni);
}
