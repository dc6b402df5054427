/* Tasks of ForkJoinPool that wait, as places in it and in what it puts around them tell. Context: hook, on any Java thread; prepare, begin, bind: the agent's. */
#include "instrument/instrument_internal.h"

#include <stdio.h>
#include <string.h>

#include "probe/probe_forks.h"

#define EVENTS_CLASS "io/jaywalk/ForkEvents"
#define TASK         "java/util/concurrent/ForkJoinTask"
#define FUTURE       "java/util/concurrent/CompletableFuture"
#define TASK_TYPE    "L" TASK ";"
#define POOL_TYPE    "L" PROBE_FORKS_POOL ";"

static struct instrument_tells java;

/*
 * By which method all tasks come to a pool that are handed to it: execute, submit, invoke and their like, but not fork(). The first one that is there.
 * Source: OpenJDK 25, 17, 8; seen on 21 and 28, too.
 */
static const struct way {
    const char *name, *type;
    uint8_t task_argument;
} ways[] = {
    {"poolSubmit", "(Z" TASK_TYPE ")" TASK_TYPE, 1},
    {"externalSubmit", "(" TASK_TYPE ")" TASK_TYPE, 0},
    {"externalPush", "(" TASK_TYPE ")V", 0},
};

/*
 * What the JDK puts around tasks of a program. JaywalkForks knows those of CompletableFuture by an interface that they have in common.
 * Source: OpenJDK 17 and 25; seen on 8, 21 and 28, too.
 */
static const struct cover {
    const char *name;
    bool is_in_all; /* JDKs */
    bool is_listed;
} covers[] = {
    {TASK "$AdaptedRunnable", true, true},
    {TASK "$AdaptedRunnableAction", true, true},
    {TASK "$AdaptedCallable", true, true},
    {TASK "$RunnableExecuteAction", true, true},
    {TASK "$AdaptedInterruptibleCallable", false, true},
    {TASK "$AdaptedInterruptibleRunnable", false, true},
    {TASK "$CallableWithTimeout", false, true},
    {FUTURE "$AsyncRun", true, false},
    {FUTURE "$AsyncSupply", true, false},
    {FUTURE "$Completion", true, false},
};

/* Global; made once. */
static struct {
    struct probe_forks forks;
    jclass pool, worker;
    jfieldID worker_pool; /* ForkJoinWorkerThread.pool */
    bool is_made;
} known;

/* ---- what is told ---- */

/* No executor has the number 0: a task may be begun where nothing tells of which pool it is. */
static uint64_t key_of(jint task)
{
    return (uint32_t)task;
}

/* What had the number before was cancelled, or had it by chance. */
static void JNICALL submit(JNIEnv *jni, jobject object, jobject thread, jint pool, jint task)
{
    const struct instrument_queues *told = instrument_queues_told();

    (void)object;
    if (told == NULL)
        return;
    told->forget(key_of(task));
    told->submit(jni, thread, key_of(task), (uint32_t)pool);
}

static void JNICALL forget(JNIEnv *jni, jobject object, jint task)
{
    const struct instrument_queues *told = instrument_queues_told();

    (void)jni;
    (void)object;
    if (told != NULL)
        told->forget(key_of(task));
}

/* A local reference to the class of the pool that it was handed to; where another thread than one of that pool's helps, what they all are. */
static jclass class_of_pool(JNIEnv *jni, jobject thread, uint32_t number)
{
    jobject pool = !(*jni)->IsInstanceOf(jni, thread, known.worker)
                       ? NULL
                       : (*jni)->GetObjectField(jni, thread, known.worker_pool);
    jint found = 0;
    jclass klass = NULL;

    if (pool != NULL &&
        (*instrument_jvmti)->GetObjectHashCode(instrument_jvmti, pool, &found) ==
            JVMTI_ERROR_NONE &&
        (uint32_t)found == number)
        klass = (*jni)->GetObjectClass(jni, pool);
    (*jni)->DeleteLocalRef(jni, pool);
    return klass != NULL ? klass : (*jni)->NewLocalRef(jni, known.pool);
}

static void JNICALL take(JNIEnv *jni, jobject object, jobject thread, jobject task, jint number)
{
    const struct instrument_queues *told = instrument_queues_told();
    struct instrument_wait wait;

    (void)object;
    if (told == NULL || !told->take(jni, thread, key_of(number), &wait))
        return;

    jclass task_class = instrument_queues_class_of(jni, task);
    jclass pool_class = class_of_pool(jni, thread, wait.executor_number);
    wait.task_class = task_class;
    wait.executor_class = pool_class;
    wait.queue_length = -1; /* there are many, which threads of the pool change without a lock */
    told->tell(jni, &wait);
    (*jni)->DeleteLocalRef(jni, pool_class);
    (*jni)->DeleteLocalRef(jni, task_class);
}

static void JNICALL end(JNIEnv *jni, jobject object, jobject thread)
{
    const struct instrument_queues *told = instrument_queues_told();

    (void)object;
    if (told != NULL)
        told->end(jni, thread, false);
}

bool instrument_bind_forks(JNIEnv *jni, struct jw_error *err)
{
    const struct instrument_teller teller = {
        .class_name = PROBE_FORKS_CLASS,
        .open_type = "(Ljava/lang/JaywalkForks;)V",
        .natives_class = EVENTS_CLASS,
        .natives = {{"submit", "(Ljava/lang/Thread;II)V", (uintptr_t)&submit},
                    {"take", "(Ljava/lang/Thread;Ljava/lang/Object;I)V", (uintptr_t)&take},
                    {"end", "(Ljava/lang/Thread;)V", (uintptr_t)&end},
                    {"forget", "(I)V", (uintptr_t)&forget}}};

    return instrument_bind_teller(jni, &teller, &java, err);
}

void instrument_forks_begin(JNIEnv *jni, int32_t attach)
{
    instrument_tells_begin(jni, &java, attach);
}

/* ---- what a JDK has ---- */

/* A local reference; NULL: there is none. */
static jclass find(JNIEnv *jni, const char *name)
{
    jclass found = (*jni)->FindClass(jni, name);

    (*jni)->ExceptionClear(jni);
    return found;
}

static bool find_way(JNIEnv *jni)
{
    for (size_t i = 0; i < JW_COUNT_OF(ways); i++) {
        jmethodID method = (*jni)->GetMethodID(jni, known.pool, ways[i].name, ways[i].type);

        (*jni)->ExceptionClear(jni);
        if (method == NULL)
            continue;
        known.forks.submit = ways[i].name;
        known.forks.task_argument = ways[i].task_argument;
        return true;
    }
    return false;
}

/* "Lcom/acme/Task;", once. */
static bool note_class(const char *signature)
{
    const size_t length = strlen(signature) - 2;
    struct probe_forks *forks = &known.forks;

    for (uint32_t i = 0; i < forks->class_count; i++) {
        if (strlen(forks->classes[i]) == length &&
            memcmp(forks->classes[i], signature + 1, length) == 0)
            return true;
    }
    if (forks->class_count == PROBE_FORKS_MOST || length >= PROBE_FORKS_NAME_BYTES)
        return false;
    snprintf(forks->classes[forks->class_count++], PROBE_FORKS_NAME_BYTES, "%.*s", (int)length,
             signature + 1);
    return true;
}

/* The class whose exec() it has, which may be one above it. That of all tasks is not: it has none. */
static bool find_exec(JNIEnv *jni, jclass cover)
{
    jmethodID exec = (*jni)->GetMethodID(jni, cover, "exec", "()Z");
    jclass of = NULL;
    char *signature = NULL;

    (*jni)->ExceptionClear(jni);
    if (exec == NULL || (*instrument_jvmti)->GetMethodDeclaringClass(instrument_jvmti, exec, &of) !=
                            JVMTI_ERROR_NONE)
        return false;
    const bool is_found =
        (*instrument_jvmti)->GetClassSignature(instrument_jvmti, of, &signature, NULL) ==
            JVMTI_ERROR_NONE &&
        strcmp(signature, TASK_TYPE) != 0 && note_class(signature);
    (void)(*instrument_jvmti)->Deallocate(instrument_jvmti, (unsigned char *)signature);
    (*jni)->DeleteLocalRef(jni, of);
    return is_found;
}

/* A local reference to an array of those that are listed; NULL: one is not as it is known. */
static jobjectArray find_covers(JNIEnv *jni)
{
    jclass classes = find(jni, "java/lang/Class");
    jclass found[JW_COUNT_OF(covers)];
    jsize count = 0;
    bool is_good = classes != NULL;

    known.forks.class_count = 0;
    for (size_t i = 0; is_good && i < JW_COUNT_OF(covers); i++) {
        jclass cover = find(jni, covers[i].name);

        is_good = cover == NULL ? !covers[i].is_in_all : find_exec(jni, cover);
        if (cover != NULL && covers[i].is_listed)
            found[count++] = cover;
    }
    jobjectArray array = is_good ? (*jni)->NewObjectArray(jni, count, classes, NULL) : NULL;
    for (jsize i = 0; array != NULL && i < count; i++)
        (*jni)->SetObjectArrayElement(jni, array, i, found[i]);
    (*jni)->ExceptionClear(jni);
    return array;
}

/* False: there are virtual threads, and what runs them is not known. Source: OpenJDK 25, java.lang.VirtualThread. */
static bool find_scheduler(JNIEnv *jni, jobject *scheduler, jclass *carrier)
{
    jclass virtual_class = find(jni, "java/lang/VirtualThread");
    jfieldID field;

    if (virtual_class == NULL)
        return true;
    field = (*jni)->GetStaticFieldID(jni, virtual_class, "DEFAULT_SCHEDULER", POOL_TYPE);
    (*jni)->ExceptionClear(jni);
    *scheduler = field == NULL ? NULL : (*jni)->GetStaticObjectField(jni, virtual_class, field);
    *carrier = find(jni, "jdk/internal/misc/CarrierThread");
    return *scheduler != NULL && *carrier != NULL;
}

static bool find_all(JNIEnv *jni)
{
    jclass forks = find(jni, PROBE_FORKS_CLASS);
    jclass pool = find(jni, PROBE_FORKS_POOL);
    jclass worker = find(jni, "java/util/concurrent/ForkJoinWorkerThread");
    jobject scheduler = NULL;
    jclass carrier = NULL;
    jobjectArray array;
    jmethodID know;

    if (forks == NULL || pool == NULL || worker == NULL)
        return false;
    if (known.pool == NULL)
        known.pool = (*jni)->NewGlobalRef(jni, pool);
    if (known.worker == NULL)
        known.worker = (*jni)->NewGlobalRef(jni, worker);
    known.worker_pool = (*jni)->GetFieldID(jni, worker, "pool", POOL_TYPE);
    (*jni)->ExceptionClear(jni);
    know = (*jni)->GetStaticMethodID(jni, forks, "know",
                                     "(Ljava/lang/Object;Ljava/lang/Class;[Ljava/lang/Class;)V");
    (*jni)->ExceptionClear(jni);
    if (known.pool == NULL || known.worker == NULL || known.worker_pool == NULL || know == NULL ||
        !find_way(jni) || !find_scheduler(jni, &scheduler, &carrier) ||
        (array = find_covers(jni)) == NULL)
        return false;
    (*jni)->CallStaticVoidMethod(jni, forks, know, scheduler, carrier, array);
    const bool is_good = (*jni)->ExceptionCheck(jni) == JNI_FALSE;
    (*jni)->ExceptionClear(jni);
    return is_good;
}

const struct probe_forks *instrument_forks_prepare(JavaVM *java_vm, JNIEnv *jni,
                                                   struct jw_error *err)
{
    if (!instrument_open_jvmti(java_vm, err) || !instrument_open_java(jni, err))
        return NULL;
    if (!known.is_made && (*jni)->PushLocalFrame(jni, 32) == 0) {
        known.is_made = find_all(jni);
        (void)(*jni)->PopLocalFrame(jni, NULL);
    }
    (*jni)->ExceptionClear(jni);
    if (known.is_made)
        return &known.forks;
    jw_error_set(err, "java.util.concurrent.ForkJoinPool is not as it is known");
    return NULL;
}
