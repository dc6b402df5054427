/* A thread of the JVM that asks again for all that was kept: the same answer, or JAYWALK_GONE where a handler was told before. */
#include "asker.h"
#include "rules.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define PAIRS_MAX     262144
#define CONVERT_EVERY 4

static JavaVM *java_vm;
static jvmtiEnv *tool;
static pthread_t thread;
static atomic_int is_stopping, is_started;

/* By class and number: one method for the life of the process. Of the asking thread alone. */
static struct pair {
    uint64_t class_idnum;
    int idnum;
    const struct answers *first;
    jaywalk_method method;
} pairs[PAIRS_MAX];

static struct pair *pair_of(uint64_t class_idnum, int idnum)
{
    const uint64_t hash = (class_idnum * 65537 + (uint64_t)idnum) * 0x9e3779b97f4a7c15u;

    for (size_t probe = 0; probe < PAIRS_MAX; probe++) {
        struct pair *pair = &pairs[((hash >> 40) + probe) % PAIRS_MAX];

        if (pair->first == NULL || (pair->class_idnum == class_idnum && pair->idnum == idnum))
            return pair;
    }
    return NULL;
}

/* Two bodies of one number are bodies of one method. */
static void check_number(struct kept *kept)
{
    const struct answers *answers = &kept->first;
    struct pair *pair = pair_of(answers->class_idnum, answers->idnum);

    if (pair == NULL || answers->idnum < 0)
        return;
    if (pair->first == NULL) {
        *pair = (struct pair){answers->class_idnum, answers->idnum, answers, kept->method};
        return;
    }
    count(BODIES_OF_ONE_NUMBER);
    if (pair->method == kept->method || pair->first->klass != answers->klass ||
        strcmp(pair->first->name, answers->name) != 0 ||
        strcmp(pair->first->class_name, answers->class_name) != 0 ||
        strcmp(pair->first->signature, answers->signature) != 0)
        wrong("two methods have one number", pair->first->name, answers->name,
              (uint64_t)answers->idnum);
}

static void ask_again(struct kept *kept)
{
    const unsigned over = atomic_load(&event_over);
    const unsigned told_in = atomic_load(&kept->told_in);
    int is_class_gone;
    const int result = answers_ask(kept->method, &kept->again, &is_class_gone);

    count(ASKED_AGAIN);
    if (result == JAYWALK_GONE) {
        count(GONE_AGAIN);
        check_told(kept->method, "again");
        if (is_class_gone)
            check_class_told(kept->again.klass, "again");
    } else if (result != JAYWALK_OK) {
        wrong("no name again", kept->first.name, NULL, (uint64_t)result);
    } else if (told_in != 0 && told_in <= over) {
        wrong("an id answers after its end", kept->first.class_name, kept->first.name,
              kept->method);
    } else if (!answers_equal(&kept->first, &kept->again)) {
        wrong("another name again", kept->first.class_name, kept->again.class_name, kept->method);
    }
    if (told_in != 0 && told_in <= over &&
        (jaywalk_method_idnum(kept->method) != JAYWALK_GONE ||
         jaywalk_method_line(kept->method, 0) != JAYWALK_GONE ||
         jaywalk_method_line_numbers(kept->method, NULL, 0) != JAYWALK_GONE))
        wrong("an id answers after its end", kept->first.class_name, kept->first.name,
              kept->method);
}

/* The JVM calls the class so, as far as its spelling of hidden classes allows. */
static void check_class_name(jclass klass, const struct answers *first)
{
    char *signature = NULL;
    int number, of_jvm;

    if ((*tool)->GetClassSignature(tool, klass, &signature, NULL) != JVMTI_ERROR_NONE)
        return;
    const size_t length = strlen(first->class_name);
    if (first->is_hidden
            ? rules_family(first->class_name, &number) != rules_family(signature + 1, &of_jvm) ||
                  (rules_family(signature + 1, &of_jvm) != 0 && number != of_jvm)
            : strncmp(signature + 1, first->class_name, length) != 0 ||
                  strcmp(signature + 1 + length, ";") != 0)
        wrong("the JVM calls the class otherwise", first->class_name, signature, first->klass);
    (*tool)->Deallocate(tool, (unsigned char *)signature);
}

/* What was redefined may be converted to the method of now; it has the same number. */
static void check_back(JNIEnv *jni, struct kept *kept, jmethodID id)
{
    const jaywalk_method back = jaywalk_method_of_jmethodid(jni, id);
    struct answers *again = &kept->again;
    int is_class_gone, result;

    if (back == 0) {
        wrong("no way back from a jmethodID", kept->first.class_name, kept->first.name,
              kept->method);
        return;
    }
    result = answers_ask(back, again, &is_class_gone);
    if (result == JAYWALK_GONE) {
        check_told(back, "back");
        return;
    }
    if (result != JAYWALK_OK || again->klass != kept->first.klass ||
        again->idnum != kept->first.idnum || strcmp(again->name, kept->first.name) != 0)
        wrong("another method comes back", kept->first.name, again->name, back);
    if (back != kept->method && rules_family(kept->first.class_name, &result) != 'R')
        wrong("another id comes back", kept->first.class_name, kept->first.name, back);
}

/* The JVM has unloaded the class: what handlers are told, they are told from now on within seconds. Whether it is, check_due says. */
static void end_is_due(jaywalk_class klass)
{
    struct kept_class *kept = kept_class_add(klass);

    if (kept != NULL)
        atomic_store(&kept->is_due, 1);
}

static void convert(JNIEnv *jni, struct kept *kept)
{
    const struct answers *first = &kept->first;
    jclass klass = jaywalk_class_to_jclass(jni, first->klass);
    char *name = NULL, *signature = NULL;
    int number;
    jmethodID id;

    if (klass == NULL) {
        end_is_due(first->klass);
        return;
    }
    count(CONVERTED);
    if (jaywalk_class_of_jclass(jni, klass) != first->klass)
        wrong("another class comes back", first->class_name, NULL, first->klass);
    check_class_name(klass, first);
    id = jaywalk_method_to_jmethodid(jni, kept->method);
    if (id == NULL) {
        /* A method may be gone from its class, and its last body still have an id. */
        if (first->name[0] != 'p' || rules_family(first->class_name, &number) != 'R')
            check_told(kept->method, "to jmethodID");
    } else if ((*tool)->GetMethodName(tool, id, &name, &signature, NULL) == JVMTI_ERROR_NONE) {
        if (strncmp(name, first->name, sizeof first->name - 1) != 0 ||
            strncmp(signature, first->signature, sizeof first->signature - 1) != 0)
            wrong("the JVM calls the method otherwise", first->name, name, kept->method);
        (*tool)->Deallocate(tool, (unsigned char *)name);
        (*tool)->Deallocate(tool, (unsigned char *)signature);
        check_back(jni, kept, id);
    }
    (*jni)->DeleteLocalRef(jni, klass);
}

static void ask_all(JNIEnv *jni, unsigned turn)
{
    const struct timespec rest = {0, 1000000};

    for (unsigned i = 0, asked = 0; i < KEPT_MAX && !atomic_load(&is_stopping); i++) {
        struct kept *kept = &kept_methods[i];

        if (atomic_load(&kept->state) != KEPT_READY)
            continue;
        if (!kept->is_paired) {
            kept->is_paired = 1;
            check_number(kept);
        }
        ask_again(kept);
        if ((asked + turn) % CONVERT_EVERY == 0)
            convert(jni, kept);
        if (++asked % 64 == 0)
            nanosleep(&rest, NULL);
    }
}

static void *again(void *argument)
{
    const struct timespec rest = {0, 20000000};
    JavaVMAttachArgs name = {.version = JNI_VERSION_1_6, .name = (char *)"asks again"};
    JNIEnv *jni;

    if ((*java_vm)->AttachCurrentThreadAsDaemon(java_vm, (void **)&jni, &name) != JNI_OK)
        return NULL;
    for (unsigned turn = 0; !atomic_load(&is_stopping); turn++) {
        ask_all(jni, turn);
        nanosleep(&rest, NULL);
    }
    (*java_vm)->DetachCurrentThread(java_vm);
    return argument;
}

void again_start(JavaVM *vm, jvmtiEnv *jvmti)
{
    java_vm = vm;
    tool = jvmti;
    if (pthread_create(&thread, NULL, again, NULL) == 0)
        atomic_store(&is_started, 1);
}

void again_stop(void)
{
    atomic_store(&is_stopping, 1);
    if (atomic_load(&is_started))
        pthread_join(thread, NULL);
}
