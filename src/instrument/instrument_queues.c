/* Tasks that wait in queues of executors, as places in ThreadPoolExecutor tell of them. Context: hook, on any Java thread; begin, bind: the agent's. */
#include "instrument/instrument_internal.h"

#include "probe/probe_queues.h"

#define EVENTS_CLASS  "io/jaywalk/QueueEvents"
#define WRAPPED_DEPTH 4 /* what is in what */

#define TASK           "java/util/concurrent/ForkJoinTask"
#define FUTURE         "java/util/concurrent/CompletableFuture"
#define RUNNABLE       "Ljava/lang/Runnable;"
#define CALLABLE       "Ljava/util/concurrent/Callable;"
#define FUNCTION(name) "Ljava/util/function/" name ";"

static struct instrument_tells java;

/*
 * What a task is made of where it is only the JDK's own cover of it, and how long a queue is: read out of fields, so that no code of the program is
 * called, nor a lock taken. A field that is not there is not read. Global; made once.
 * Source: OpenJDK 8 to 28.
 */
static struct {
    jclass executor, linked, array, synchronous;
    jfieldID queue; /* ThreadPoolExecutor.workQueue */
    jfieldID linked_count, value,
        array_count; /* LinkedBlockingQueue.count, AtomicInteger.value, ArrayBlockingQueue.count */
    jfieldID first;  /* ThreadPoolExecutor.Worker.firstTask */
    struct cover {
        jclass klass;
        jfieldID inner;
    } covers[25];
    bool is_made;
} fields;

/* Set before there are threads that look. */
static const struct instrument_queues *told;

void instrument_set_queues(const struct instrument_queues *calls)
{
    told = calls;
}

const struct instrument_queues *instrument_queues_told(void)
{
    return told;
}

/* ---- fields ---- */

/* Global, or NULL. */
static jclass find_class(JNIEnv *jni, const char *name)
{
    jclass found = (*jni)->FindClass(jni, name);
    jclass kept = found == NULL ? NULL : (*jni)->NewGlobalRef(jni, found);

    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, found);
    return kept;
}

static jfieldID find_field(JNIEnv *jni, jclass klass, const char *name, const char *type)
{
    jfieldID field = klass == NULL ? NULL : (*jni)->GetFieldID(jni, klass, name, type);

    (*jni)->ExceptionClear(jni);
    return field;
}

static void find_covers(JNIEnv *jni)
{
    static const struct {
        const char *class_name, *field, *type;
    } known[JW_COUNT_OF(fields.covers)] = {
        {"java/util/concurrent/FutureTask", "callable", CALLABLE},
        {"java/util/concurrent/Executors$RunnableAdapter", "task", RUNNABLE},
        {TASK "$AdaptedRunnable", "runnable", RUNNABLE},
        {TASK "$AdaptedRunnableAction", "runnable", RUNNABLE},
        {TASK "$AdaptedCallable", "callable", CALLABLE},
        {TASK "$RunnableExecuteAction", "runnable", RUNNABLE},
        {TASK "$AdaptedInterruptibleCallable", "callable", CALLABLE},
        {TASK "$AdaptedInterruptibleRunnable", "runnable", RUNNABLE},
        {TASK "$CallableWithTimeout", "callable", CALLABLE},
        {FUTURE "$AsyncRun", "fn", RUNNABLE},
        {FUTURE "$AsyncSupply", "fn", FUNCTION("Supplier")},
        {FUTURE "$UniApply", "fn", FUNCTION("Function")},
        {FUTURE "$UniAccept", "fn", FUNCTION("Consumer")},
        {FUTURE "$UniRun", "fn", RUNNABLE},
        {FUTURE "$UniWhenComplete", "fn", FUNCTION("BiConsumer")},
        {FUTURE "$UniHandle", "fn", FUNCTION("BiFunction")},
        {FUTURE "$UniExceptionally", "fn", FUNCTION("Function")},
        {FUTURE "$UniCompose", "fn", FUNCTION("Function")},
        {FUTURE "$UniComposeExceptionally", "fn", FUNCTION("Function")},
        {FUTURE "$BiApply", "fn", FUNCTION("BiFunction")},
        {FUTURE "$BiAccept", "fn", FUNCTION("BiConsumer")},
        {FUTURE "$BiRun", "fn", RUNNABLE},
        {FUTURE "$OrApply", "fn", FUNCTION("Function")},
        {FUTURE "$OrAccept", "fn", FUNCTION("Consumer")},
        {FUTURE "$OrRun", "fn", RUNNABLE},
    };

    for (size_t i = 0; i < JW_COUNT_OF(known); i++) {
        fields.covers[i].klass = find_class(jni, known[i].class_name);
        fields.covers[i].inner =
            find_field(jni, fields.covers[i].klass, known[i].field, known[i].type);
    }
}

/* False: a task that a thread is made for would not be found. */
static bool find_fields(JNIEnv *jni)
{
    jclass worker = find_class(jni, PROBE_QUEUES_EXECUTOR "$Worker");
    jclass number = find_class(jni, "java/util/concurrent/atomic/AtomicInteger");

    fields.executor = find_class(jni, PROBE_QUEUES_EXECUTOR);
    fields.linked = find_class(jni, "java/util/concurrent/LinkedBlockingQueue");
    fields.array = find_class(jni, "java/util/concurrent/ArrayBlockingQueue");
    fields.synchronous = find_class(jni, "java/util/concurrent/SynchronousQueue");
    fields.first = find_field(jni, worker, "firstTask", "Ljava/lang/Runnable;");
    fields.queue =
        find_field(jni, fields.executor, "workQueue", "Ljava/util/concurrent/BlockingQueue;");
    fields.linked_count =
        find_field(jni, fields.linked, "count", "Ljava/util/concurrent/atomic/AtomicInteger;");
    fields.value = find_field(jni, number, "value", "I");
    fields.array_count = find_field(jni, fields.array, "count", "I");
    find_covers(jni);
    return fields.first != NULL;
}

/* A local reference; NULL: the JVM has no memory for it. */
static jobject inner_of(JNIEnv *jni, jobject task)
{
    jobject at = (*jni)->NewLocalRef(jni, task);

    for (int depth = 0; at != NULL && depth < WRAPPED_DEPTH; depth++) {
        jobject inner = NULL;

        for (size_t i = 0; inner == NULL && i < JW_COUNT_OF(fields.covers); i++) {
            if (fields.covers[i].inner != NULL &&
                (*jni)->IsInstanceOf(jni, at, fields.covers[i].klass))
                inner = (*jni)->GetObjectField(jni, at, fields.covers[i].inner);
        }
        if (inner == NULL)
            break;
        (*jni)->DeleteLocalRef(jni, at);
        at = inner;
    }
    return at;
}

jclass instrument_queues_class_of(JNIEnv *jni, jobject task)
{
    jobject inner = inner_of(jni, task);
    jclass klass = inner == NULL ? NULL : (*jni)->GetObjectClass(jni, inner);

    (*jni)->DeleteLocalRef(jni, inner);
    return klass;
}

static bool is_a(JNIEnv *jni, jobject object, jclass klass)
{
    return klass != NULL && (*jni)->IsInstanceOf(jni, object, klass) != JNI_FALSE;
}

/* As it is at that moment; -1: it would have to be asked. */
static int32_t length_of(JNIEnv *jni, jobject executor)
{
    jobject queue = fields.queue == NULL || !is_a(jni, executor, fields.executor)
                        ? NULL
                        : (*jni)->GetObjectField(jni, executor, fields.queue);
    int32_t length = -1;

    if (queue == NULL)
        return -1;
    if (is_a(jni, queue, fields.linked) && fields.linked_count != NULL && fields.value != NULL) {
        jobject count = (*jni)->GetObjectField(jni, queue, fields.linked_count);

        if (count != NULL)
            length = (*jni)->GetIntField(jni, count, fields.value);
        (*jni)->DeleteLocalRef(jni, count);
    } else if (is_a(jni, queue, fields.array) && fields.array_count != NULL) {
        length = (*jni)->GetIntField(jni, queue, fields.array_count);
    } else if (is_a(jni, queue, fields.synchronous)) {
        length = 0;
    }
    (*jni)->DeleteLocalRef(jni, queue);
    return length;
}

/* ---- what is told ---- */

static uint64_t key_of(jint executor, jint task)
{
    return (uint64_t)(uint32_t)executor << 32 | (uint32_t)task;
}

static void JNICALL submit(JNIEnv *jni, jobject object, jobject thread, jint executor, jint task)
{
    (void)object;
    if (told != NULL)
        told->submit(jni, thread, key_of(executor, task), 0);
}

static void JNICALL take(JNIEnv *jni, jobject object, jobject thread, jobject executor,
                         jobject task, jint executor_number, jint task_number)
{
    struct instrument_wait wait;

    (void)object;
    if (told == NULL || !told->take(jni, thread, key_of(executor_number, task_number), &wait))
        return;

    jclass task_class = instrument_queues_class_of(jni, task);
    jclass executor_class = (*jni)->GetObjectClass(jni, executor);
    wait.task_class = task_class;
    wait.executor_class = executor_class;
    wait.queue_length = length_of(jni, executor);
    told->tell(jni, &wait);
    (*jni)->DeleteLocalRef(jni, executor_class);
    (*jni)->DeleteLocalRef(jni, task_class);
}

static void JNICALL end(JNIEnv *jni, jobject object, jobject thread)
{
    (void)object;
    if (told != NULL)
        told->end(jni, thread, true);
}

static jobject JNICALL first(JNIEnv *jni, jobject object, jobject worker)
{
    (void)object;
    return worker == NULL || fields.first == NULL
               ? NULL
               : (*jni)->GetObjectField(jni, worker, fields.first);
}

static void JNICALL forget(JNIEnv *jni, jobject object, jint executor, jint task)
{
    (void)jni;
    (void)object;
    if (told != NULL)
        told->forget(key_of(executor, task));
}

bool instrument_bind_queues(JNIEnv *jni, struct jw_error *err)
{
    const struct instrument_teller teller = {
        .class_name = PROBE_QUEUES_CLASS,
        .open_type = "(Ljava/lang/JaywalkQueues;)V",
        .natives_class = EVENTS_CLASS,
        .natives = {{"submit", "(Ljava/lang/Thread;II)V", (uintptr_t)&submit},
                    {"take", "(Ljava/lang/Thread;Ljava/lang/Object;Ljava/lang/Object;II)V",
                     (uintptr_t)&take},
                    {"end", "(Ljava/lang/Thread;)V", (uintptr_t)&end},
                    {"first", "(Ljava/lang/Object;)Ljava/lang/Object;", (uintptr_t)&first},
                    {"forget", "(II)V", (uintptr_t)&forget}}};

    return instrument_bind_teller(jni, &teller, &java, err);
}

void instrument_queues_begin(JNIEnv *jni, int32_t attach)
{
    instrument_tells_begin(jni, &java, attach);
}

/* The classes that have the fields are loaded by that. */
bool instrument_queues_prepare(JNIEnv *jni, struct jw_error *err)
{
    if (!fields.is_made)
        fields.is_made = find_fields(jni);
    if (!fields.is_made)
        jw_error_set(err, "java.util.concurrent.ThreadPoolExecutor is not as it is known");
    return fields.is_made;
}
