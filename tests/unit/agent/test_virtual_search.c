/* A search through the lists of a JDK that is none: who is found, when it ends, and that no reference is left. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "agent/virtual_search.h"
#include "agent/weak_refs.h"
#include "base/clock.h"
#include "base/counters.h"

#define LISTS        300
#define THREADS      200
#define FIRST_THREAD 10000 /* its number is what it is called by here */

/* What a reference says: a list, an iterator over its threads, or over the lists below, or a thread. */
enum { LIST = 1000, OF_THREADS = 2000, OF_LISTS = 3000 };
enum { ROOT = 1, CHILDREN, ITS_THREADS, ITERATOR, HAS_NEXT, NEXT };

static struct {
    int lists;          /* below the first one */
    int threads[LISTS]; /* of each */
    int at_thread, at_list;
    int global, local, weak;
    bool is_without;   /* the class is not there */
    jmethodID failing; /* this one throws */
    bool is_thrown;
    int roots;
} fake;

static jobject give(uintptr_t what)
{
    fake.local++;
    return (jobject)what;
}

static jobject call(jobject object, jmethodID method)
{
    const uintptr_t it = (uintptr_t)object;

    if (method == fake.failing) {
        fake.is_thrown = true;
        return NULL;
    }
    switch ((uintptr_t)method) {
    case CHILDREN:
        fake.at_list = it == LIST ? 1 : fake.lists + 1;
        return give(OF_LISTS);
    case ITS_THREADS:
        fake.at_thread = 0;
        return give(OF_THREADS + it - LIST);
    case ITERATOR:
        return give(it);
    case NEXT:
        return it == OF_LISTS
                   ? give((uintptr_t)(LIST + fake.at_list++))
                   : give(FIRST_THREAD + (it - OF_THREADS) * THREADS + (uintptr_t)fake.at_thread++);
    default:
        cr_assert(false, "a method that is not known");
    }
    return NULL;
}

static jobject JNICALL call_object(JNIEnv *env, jobject object, jmethodID method, ...)
{
    (void)env;
    return call(object, method);
}

static jobject JNICALL call_static(JNIEnv *env, jclass class, jmethodID method, ...)
{
    (void)env;
    (void)class;
    cr_assert(eq(ptr, method, (jmethodID)ROOT));
    fake.roots++;
    return give(LIST);
}

static jboolean JNICALL call_boolean(JNIEnv *env, jobject object, jmethodID method, ...)
{
    const uintptr_t it = (uintptr_t)object;

    (void)env;
    cr_assert(eq(ptr, method, (jmethodID)HAS_NEXT));
    return it == OF_LISTS ? fake.at_list <= fake.lists
                          : fake.at_thread < fake.threads[it - OF_THREADS];
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    (void)env;
    fake.is_thrown |= fake.is_without && strstr(name, "ThreadContainers") != NULL;
    return fake.is_thrown ? NULL : give(1);
}

static jmethodID JNICALL get_method(JNIEnv *env, jclass class, const char *name,
                                    const char *descriptor)
{
    static const char *const names[] = {"",         "root",    "children", "threads",
                                        "iterator", "hasNext", "next"};

    (void)env;
    (void)class;
    (void)descriptor;
    for (uintptr_t i = 1; i < JW_COUNT_OF(names); i++)
        if (strcmp(names[i], name) == 0)
            return (jmethodID)i;
    cr_assert(false, "a method that is not known");
    return NULL;
}

static jfieldID JNICALL get_field(JNIEnv *env, jclass class, const char *name, const char *type)
{
    (void)env;
    (void)class;
    (void)name;
    (void)type;
    return (jfieldID)1;
}

static jlong JNICALL get_long(JNIEnv *env, jobject object, jfieldID field)
{
    (void)env;
    (void)field;
    return (jlong)(uintptr_t)object;
}

static jobject JNICALL new_global(JNIEnv *env, jobject object)
{
    (void)env;
    fake.global++;
    return object;
}

static void JNICALL delete_global(JNIEnv *env, jobject object)
{
    (void)env;
    fake.global -= object != NULL;
}

static jweak JNICALL new_weak(JNIEnv *env, jobject object)
{
    (void)env;
    fake.weak++;
    return object;
}

static void JNICALL delete_weak(JNIEnv *env, jweak object)
{
    (void)env;
    (void)object;
    fake.weak--;
}

static void JNICALL delete_local(JNIEnv *env, jobject object)
{
    (void)env;
    fake.local -= object != NULL;
}

static jint JNICALL push(JNIEnv *env, jint capacity)
{
    (void)env;
    (void)capacity;
    fake.local = 0;
    return 0;
}

static jobject JNICALL pop(JNIEnv *env, jobject result)
{
    (void)env;
    (void)result;
    fake.local = 0;
    return NULL;
}

static jboolean JNICALL check(JNIEnv *env)
{
    (void)env;
    return fake.is_thrown;
}

static void JNICALL clear(JNIEnv *env)
{
    (void)env;
    fake.is_thrown = false;
}

static const struct JNINativeInterface_ functions = {
    .FindClass = find_class,
    .GetMethodID = get_method,
    .GetStaticMethodID = get_method,
    .GetFieldID = get_field,
    .GetLongField = get_long,
    .CallObjectMethod = call_object,
    .CallStaticObjectMethod = call_static,
    .CallBooleanMethod = call_boolean,
    .NewGlobalRef = new_global,
    .DeleteGlobalRef = delete_global,
    .NewWeakGlobalRef = new_weak,
    .DeleteWeakGlobalRef = delete_weak,
    .DeleteLocalRef = delete_local,
    .PushLocalFrame = push,
    .PopLocalFrame = pop,
    .ExceptionCheck = check,
    .ExceptionClear = clear,
};
static JNIEnv jni = &functions;

static uint64_t number_of(int list, int thread)
{
    return FIRST_THREAD + (uint64_t)list * THREADS + (uint64_t)thread;
}

/* A whole search, if there is one. */
static void turn(void)
{
    virtual_search_turn(&jni, jw_now_ns() + 3600 * JW_NS_PER_SECOND);
}

static uint64_t found(void)
{
    return jw_counter(JW_COUNT_LOCK_AWAY_FOUND);
}

static void tear_down(void)
{
    virtual_search_end(&jni);
    weak_refs_let_go(&jni);
    cr_assert(eq(int, fake.weak, 0));
    cr_assert(le(int, fake.global, 1), "but for the class");
}

static void set_up(void)
{
    weak_refs_open();
}

TestSuite(virtual_search, .init = set_up, .fini = tear_down, .timeout = 1800);

Test(virtual_search, who_is_wanted_is_found_in_whatever_list_it_is)
{
    fake.lists = 3;
    fake.threads[0] = 5;
    fake.threads[2] = THREADS;
    virtual_search_want(number_of(2, 150));
    virtual_search_want(number_of(0, 4));
    virtual_search_want(number_of(0, 4));
    turn();
    cr_assert(eq(u64, found(), 2));
    cr_assert(eq(int, fake.weak, 2));
    cr_assert(eq(int, fake.roots, 1));
    turn();
    cr_assert(eq(int, fake.roots, 1), "nobody is wanted any more");
}

Test(virtual_search, who_is_in_no_list_is_searched_for_once)
{
    fake.lists = 1;
    fake.threads[1] = 3;
    virtual_search_want(7);
    turn();
    cr_assert(eq(u64, found(), 0));
    cr_assert(eq(int, fake.roots, 1));
    turn();
    cr_assert(eq(int, fake.roots, 1));
}

Test(virtual_search, without_time_nothing_is_done_and_it_goes_on_where_it_was)
{
    fake.threads[0] = 70;
    virtual_search_want(number_of(0, 69));
    virtual_search_turn(&jni, jw_now_ns());
    cr_assert(eq(int, fake.roots, 0));
    /* A little more each time, since a slow machine gets nowhere in little. */
    for (uint64_t ns = 200; ns < JW_NS_PER_SECOND && found() == 0; ns += ns / 8)
        virtual_search_turn(&jni, jw_now_ns() + ns);
    cr_assert(eq(u64, found(), 1));
}

Test(virtual_search, more_lists_than_there_is_room_for_are_left_out)
{
    fake.lists = LISTS - 1;
    virtual_search_want(7);
    turn();
    cr_assert(eq(u64, found(), 0));
}

Test(virtual_search, what_throws_ends_the_search_and_leaves_no_exception)
{
    fake.threads[0] = 5;
    fake.failing = (jmethodID)NEXT;
    virtual_search_want(number_of(0, 4));
    turn();
    cr_assert(not(fake.is_thrown));
    cr_assert(eq(u64, found(), 0));
}

Test(virtual_search, without_these_lists_nobody_is_searched_for)
{
    fake.is_without = true;
    virtual_search_want(number_of(0, 4));
    turn();
    cr_assert(not(fake.is_thrown));
    fake.is_without = false;
    virtual_search_want(number_of(0, 4));
    turn();
    cr_assert(eq(int, fake.roots, 0));
}
