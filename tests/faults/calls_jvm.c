/*
 * calls_jvm - the functions of the JVM that may refuse: those of our own JVMTI environment, of the JNI environment of
 *             the agent's own thread, and of the JavaVM as the agent knows it get tables of their own. What another
 *             calls through them, as the JVM's own classes do on the agent's thread, goes on as ever.
 *
 * A JNI function that fails leaves an OutOfMemoryError, as the JVM does.
 */
#include <errno.h>
#include <jvmti.h>
#include <stdarg.h>
#include <string.h>

#include "agent/agent.h"
#include "calls.h"
#include "instrument/instrument_internal.h"

static struct jvmtiInterface_1_ jvmti_table;
static const struct jvmtiInterface_1_ *jvmti_real;
/* With the function that tells virtual threads, by its place (agent/api.c), which the headers of JDK 17 have not. */
#define JNI_FUNCTIONS      235
#define JNI_FUNCTIONS_FROM 0x00150000
static union {
    struct JNINativeInterface_ known;
    void *all[JNI_FUNCTIONS];
} jni_table;
static const struct JNINativeInterface_ *jni_real;
static struct JNIInvokeInterface_ vm_table;
static const struct JNIInvokeInterface_ *vm_real;
static const struct JNIInvokeInterface_ *own_vm;

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[];

#define FRAME   __builtin_frame_address(0)
#define IS_OURS is_ours((uintptr_t)__builtin_return_address(0))

static bool is_ours(uintptr_t addr)
{
    return addr >= (uintptr_t)__ehdr_start && addr < (uintptr_t)etext;
}

/* ---- JVMTI ---- */

#define JVMTI(name, errors, parameters, arguments)                                                 \
    static jvmtiError JNICALL jvmti_##name parameters                                              \
    {                                                                                              \
        const struct calls_fate fate = calls_next("jvmti." #name, errors, FRAME);                  \
                                                                                                   \
        if (fate.what == CALLS_FAILS)                                                              \
            return fate.error == ENOMEM   ? JVMTI_ERROR_OUT_OF_MEMORY                              \
                   : fate.error == EINVAL ? JVMTI_ERROR_INTERNAL                                   \
                                          : JVMTI_ERROR_WRONG_PHASE;                               \
        return jvmti_real->name arguments;                                                         \
    }
#include "calls_jvm.def"
#undef JVMTI

static void patch_jvmti(void)
{
    if (agent.jvmti == NULL || jvmti_real != NULL)
        return;
    jvmti_real = *agent.jvmti;
    jvmti_table = *jvmti_real;
#define JVMTI(name, errors, parameters, arguments) jvmti_table.name = jvmti_##name;
#define JVMTI_NAMES
#include "calls_jvm.def"
#undef JVMTI
    *agent.jvmti = &jvmti_table;
}

/* ---- JNI ---- */

static bool fails(JNIEnv *jni, const char *name, void *frame)
{
    if (calls_next(name, "ENOMEM", frame).what != CALLS_FAILS)
        return false;
    jclass error = jni_real->FindClass(jni, "java/lang/OutOfMemoryError");
    if (error != NULL)
        (void)jni_real->ThrowNew(jni, error, "made to fail");
    jni_real->DeleteLocalRef(jni, error);
    return true;
}

#define JNI(result, failure, name, parameters, arguments)                                          \
    static result JNICALL jni_##name parameters                                                    \
    {                                                                                              \
        if (IS_OURS && fails(jni, "jni." #name, FRAME))                                            \
            return failure;                                                                        \
        return jni_real->name arguments;                                                           \
    }
#define JNI_CALL(result, failure, name, first_type)                                                \
    static result JNICALL jni_##name(JNIEnv *jni, first_type of, jmethodID method, ...)            \
    {                                                                                              \
        va_list list;                                                                              \
                                                                                                   \
        if (IS_OURS && fails(jni, "jni." #name, FRAME))                                            \
            return failure;                                                                        \
        va_start(list, method);                                                                    \
        const result value = jni_real->name##V(jni, of, method, list);                             \
        va_end(list);                                                                              \
        return value;                                                                              \
    }

/* Of a call that gives nothing. */
#define JNI_VOID(name, first_type)                                                                 \
    static void JNICALL jni_##name(JNIEnv *jni, first_type of, jmethodID method, ...)              \
    {                                                                                              \
        va_list list;                                                                              \
                                                                                                   \
        if (IS_OURS && fails(jni, "jni." #name, FRAME))                                            \
            return;                                                                                \
        va_start(list, method);                                                                    \
        jni_real->name##V(jni, of, method, list);                                                  \
        va_end(list);                                                                              \
    }

JNI(jclass, NULL, FindClass, (JNIEnv * jni, const char *name), (jni, name))
JNI(jfieldID, NULL, GetFieldID, (JNIEnv * jni, jclass of, const char *name, const char *type),
    (jni, of, name, type))
JNI(jmethodID, NULL, GetMethodID, (JNIEnv * jni, jclass of, const char *name, const char *type),
    (jni, of, name, type))
JNI(jmethodID, NULL, GetStaticMethodID,
    (JNIEnv * jni, jclass of, const char *name, const char *type), (jni, of, name, type))
JNI(jfieldID, NULL, GetStaticFieldID, (JNIEnv * jni, jclass of, const char *name, const char *type),
    (jni, of, name, type))
JNI(jclass, NULL, DefineClass,
    (JNIEnv * jni, const char *name, jobject loader, const jbyte *bytes, jsize count),
    (jni, name, loader, bytes, count))
JNI(jstring, NULL, NewStringUTF, (JNIEnv * jni, const char *text), (jni, text))
JNI(const char *, NULL, GetStringUTFChars, (JNIEnv * jni, jstring text, jboolean *is_copy),
    (jni, text, is_copy))
JNI(jobjectArray, NULL, NewObjectArray, (JNIEnv * jni, jsize count, jclass of, jobject first),
    (jni, count, of, first))
JNI(jintArray, NULL, NewIntArray, (JNIEnv * jni, jsize count), (jni, count))
JNI(jint, JNI_ENOMEM, PushLocalFrame, (JNIEnv * jni, jint count), (jni, count))
JNI(jobject, NULL, NewGlobalRef, (JNIEnv * jni, jobject object), (jni, object))
JNI(jbyteArray, NULL, NewByteArray, (JNIEnv * jni, jsize count), (jni, count))
JNI_CALL(jobject, NULL, CallObjectMethod, jobject)
JNI_CALL(jobject, NULL, CallStaticObjectMethod, jclass)
JNI_CALL(jint, 0, CallStaticIntMethod, jclass)
JNI_CALL(jint, 0, CallIntMethod, jobject)
JNI_CALL(jobject, NULL, NewObject, jclass)
JNI_VOID(CallVoidMethod, jobject)

static void patch_jni(JNIEnv *jni)
{
    if (jni == NULL)
        return;
    if (jni_real == NULL) {
        jni_real = *jni;
        memcpy(&jni_table, jni_real,
               (*jni)->GetVersion(jni) < JNI_FUNCTIONS_FROM ? sizeof jni_table.known
                                                            : sizeof jni_table.all);
        jni_table.known.FindClass = jni_FindClass;
        jni_table.known.GetFieldID = jni_GetFieldID;
        jni_table.known.GetMethodID = jni_GetMethodID;
        jni_table.known.GetStaticMethodID = jni_GetStaticMethodID;
        jni_table.known.PushLocalFrame = jni_PushLocalFrame;
        jni_table.known.NewGlobalRef = jni_NewGlobalRef;
        jni_table.known.NewByteArray = jni_NewByteArray;
        jni_table.known.CallObjectMethod = jni_CallObjectMethod;
        jni_table.known.CallStaticObjectMethod = jni_CallStaticObjectMethod;
        jni_table.known.CallStaticIntMethod = jni_CallStaticIntMethod;
        jni_table.known.GetStaticFieldID = jni_GetStaticFieldID;
        jni_table.known.DefineClass = jni_DefineClass;
        jni_table.known.NewStringUTF = jni_NewStringUTF;
        jni_table.known.GetStringUTFChars = jni_GetStringUTFChars;
        jni_table.known.NewObjectArray = jni_NewObjectArray;
        jni_table.known.NewIntArray = jni_NewIntArray;
        jni_table.known.CallIntMethod = jni_CallIntMethod;
        jni_table.known.NewObject = jni_NewObject;
        jni_table.known.CallVoidMethod = jni_CallVoidMethod;
    }
    if (*jni == jni_real)
        *jni = &jni_table.known;
}

/* ---- the JavaVM: all but GetEnv, by whose address the agent finds libjvm ---- */

static jint JNICALL vm_AttachCurrentThreadAsDaemon(JavaVM *vm, void **jni, void *arguments)
{
    if (calls_next("vm.AttachCurrentThreadAsDaemon", "ENOMEM", FRAME).what == CALLS_FAILS)
        return JNI_ENOMEM;
    const jint value = vm_real->AttachCurrentThreadAsDaemon(vm, jni, arguments);
    if (value == JNI_OK)
        patch_jni(*jni);
    return value;
}

static void patch_vm(void)
{
    if (agent.java_vm == NULL || vm_real != NULL)
        return;
    vm_real = *agent.java_vm;
    vm_table = *vm_real;
    vm_table.AttachCurrentThreadAsDaemon = vm_AttachCurrentThreadAsDaemon;
    own_vm = &vm_table;
    agent.java_vm = &own_vm; /* HotSpot has one JavaVM and does not look at what it is given */
}

/* That of probes: what it is asked for once it is there. The JVM has one table for all of them. */
bool __real_instrument_open_jvmti(JavaVM *java_vm, struct jw_error *err);
bool __wrap_instrument_open_jvmti(JavaVM *java_vm, struct jw_error *err);
bool __wrap_instrument_open_jvmti(JavaVM *java_vm, struct jw_error *err)
{
    const bool is_good = __real_instrument_open_jvmti(java_vm, err);

    if (is_good && jvmti_real != NULL && *instrument_jvmti == jvmti_real)
        *instrument_jvmti = &jvmti_table;
    return is_good;
}

/* The first thing that is done with the JVMTI environment. */
bool __real_hooks_install(bool is_late, struct jw_error *err);
bool __wrap_hooks_install(bool is_late, struct jw_error *err);
bool __wrap_hooks_install(bool is_late, struct jw_error *err)
{
    patch_jvmti();
    patch_vm();
    return __real_hooks_install(is_late, err);
}
