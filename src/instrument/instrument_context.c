/*
 * What bridges ask for handlers: who called the method that is probed, and what the thread works for. Context: hook, on a Java thread inside
 * of a handler; it never waits, but where the JVM does for the stack.
 */
#include "instrument/instrument_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "probe/probe_classes.h"

#define FRAMES                                                                                     \
    48 /* the agent's own, those of method handles or reflection, the method and its caller */
#define KINDS      1024 /* methods whose kind is remembered; a power of two */
#define KIND_BITS  2
#define NAME_BYTES 1024

static const struct instrument_contexts *contexts; /* set before there are threads that look */

void instrument_set_contexts(const struct instrument_contexts *calls)
{
    contexts = calls;
}

/* ---- the caller ---- */

enum kind {
    METHOD,     /* of the program */
    GATE,       /* the agent's, which enters a handler */
    DISPATCH,   /* between a place and its gate; below a method, a method handle that called it */
    REFLECTION, /* as the latter */
};

/* Source: OpenJDK 8 to 28, the packages that implement method handles and reflection. */
static enum kind kind_of_class(const char *signature)
{
    static const struct {
        const char *prefix;
        enum kind kind;
    } all[] = {{"Ljava/lang/JaywalkGate", GATE},       {"Ljava/lang/JaywalkPlace", DISPATCH},
               {"Ljava/lang/invoke/", DISPATCH},       {"Ljava/lang/reflect/", REFLECTION},
               {"Ljdk/internal/reflect/", REFLECTION}, {"Lsun/reflect/", REFLECTION}};

    for (size_t i = 0; i < JW_COUNT_OF(all); i++) {
        if (strncmp(signature, all[i].prefix, strlen(all[i].prefix)) == 0)
            return all[i].kind;
    }
    return METHOD;
}

/* "Lcom/acme/Shop;", to be given back; NULL: the JVM does not tell. */
static char *signature_of(JNIEnv *jni, jmethodID method)
{
    jvmtiEnv *jvmti = instrument_jvmti;
    char *signature = NULL;
    jclass klass = NULL;

    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &klass) != JVMTI_ERROR_NONE)
        return NULL;
    if ((*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) != JVMTI_ERROR_NONE)
        signature = NULL;
    (*jni)->DeleteLocalRef(jni, klass);
    return signature;
}

static void give_back(void *text)
{
    (void)(*instrument_jvmti)->Deallocate(instrument_jvmti, text);
}

/*
 * What a method is stays so, and its number is nobody else's afterwards. Source: OpenJDK 8 to 25, JNIMethodBlock: numbers of methods that
 * were unloaded are cleared and kept; from 26 on they are counted.
 */
static enum kind kind_of(JNIEnv *jni, jmethodID method)
{
    static _Atomic uint64_t
        known[KINDS]; /* relaxed: each word is whole. Number of a method, and its kind below */
    const uint64_t number = (uint64_t)(uintptr_t)method << KIND_BITS;
    _Atomic uint64_t *word = &known[jw_hash_word(number) & (KINDS - 1)];
    const uint64_t found = jw_load_relaxed(word);
    char *signature;
    enum kind kind;

    if (found >> KIND_BITS << KIND_BITS == number)
        return (enum kind)(found & ((1u << KIND_BITS) - 1));
    signature = signature_of(jni, method);
    if (signature == NULL)
        return METHOD;
    kind = kind_of_class(signature);
    give_back(signature);
    jw_store_relaxed(word, number | kind);
    return kind;
}

static jlong JNICALL caller_method(JNIEnv *jni, jclass klass)
{
    jvmtiFrameInfo frames[FRAMES];
    jint count = 0, at = 0;

    (void)klass;
    if ((*instrument_jvmti)->GetStackTrace(instrument_jvmti, NULL, 0, FRAMES, frames, &count) !=
        JVMTI_ERROR_NONE)
        return 0;
    while (at < count && kind_of(jni, frames[at].method) != GATE)
        at++;
    /* A gate that does more than most calls need is two of them. */
    while (at < count && kind_of(jni, frames[at].method) == GATE)
        at++;
    while (at < count && kind_of(jni, frames[at].method) == DISPATCH)
        at++;
    for (at++; at < count && kind_of(jni, frames[at].method) != METHOD;)
        at++;
    return at < count ? (jlong)(intptr_t)frames[at].method : 0;
}

/* "com.acme.Cart.fill" */
static jstring JNICALL name_of(JNIEnv *jni, jclass klass, jlong number)
{
    jmethodID method = (jmethodID)(intptr_t)number;
    char *signature = signature_of(jni, method), *name = NULL;
    char text[NAME_BYTES];
    size_t used;

    (void)klass;
    if (signature == NULL)
        return NULL;
    used = (size_t)snprintf(text, sizeof text / 2, "%s", signature + (signature[0] == 'L'));
    give_back(signature);
    if (used >= sizeof text / 2)
        return NULL; /* cut, it would be no text of the JVM's own spelling any more */
    for (size_t i = 0; i < used; i++)
        text[i] = text[i] == '/' || text[i] == ';' ? '.' : text[i];
    if ((*instrument_jvmti)->GetMethodName(instrument_jvmti, method, &name, NULL, NULL) !=
        JVMTI_ERROR_NONE)
        return NULL;
    const bool is_whole =
        (size_t)snprintf(text + used, sizeof text - used, "%s", name) < sizeof text - used;
    give_back(name);
    return is_whole ? (*jni)->NewStringUTF(jni, text) : NULL;
}

/* ---- what the thread works for ---- */

static jlong JNICALL word_of(JNIEnv *jni, jclass klass, jobject thread, jint which)
{
    uint64_t words[INSTRUMENT_CONTEXT_WORDS] = {0};

    (void)klass;
    if (contexts == NULL || which < 0 || which >= INSTRUMENT_CONTEXT_WORDS ||
        !contexts->read(jni, thread, words))
        return 0;
    return (jlong)words[which];
}

static jbyteArray JNICALL endpoint_of(JNIEnv *jni, jclass klass, jlong root_span_id)
{
    char text[INSTRUMENT_ENDPOINT_BYTES];
    const size_t length_bytes =
        contexts == NULL ? 0 : contexts->endpoint((uint64_t)root_span_id, text);
    jbyteArray bytes = length_bytes == 0 ? NULL : (*jni)->NewByteArray(jni, (jsize)length_bytes);

    (void)klass;
    if (bytes != NULL)
        (*jni)->SetByteArrayRegion(jni, bytes, 0, (jsize)length_bytes, (const jbyte *)text);
    return bytes;
}

/* ---- natives ---- */

bool instrument_bind_context(JNIEnv *jni, struct jw_error *err)
{
    static char names[][16] = {"callerMethod", "nameOf", "word", "endpointOf"};
    static char types[][40] = {"()J", "(J)Ljava/lang/String;", "(Ljava/lang/Thread;I)J", "(J)[B"};
    const uintptr_t functions[] = {(uintptr_t)&caller_method, (uintptr_t)&name_of,
                                   (uintptr_t)&word_of, (uintptr_t)&endpoint_of};
    JNINativeMethod methods[JW_COUNT_OF(functions)];
    jclass klass = (*jni)->FindClass(jni, PROBE_CONTEXT_CLASS);

    for (size_t i = 0; i < JW_COUNT_OF(functions); i++)
        methods[i] = (JNINativeMethod){names[i], types[i], (void *)functions[i]};
    if (klass != NULL)
        (void)(*jni)->RegisterNatives(jni, klass, methods, (jint)JW_COUNT_OF(methods));
    (*jni)->DeleteLocalRef(jni, klass);
    return !instrument_has_thrown(jni, "classes of probes", err);
}
