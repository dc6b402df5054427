/*
 * redefiner - a second agent in the same JVM: replaces the code of classes, and counts the compiled methods
 * that are thrown away.
 */
#include <jni.h>
#include <jvmti.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static jvmtiEnv *jvmti;
static atomic_long loaded_count;
static atomic_long unloaded_count;

#define CLASSES_MAX 8

/* What the classes that this thread retransforms are to become. */
static __thread const jvmtiClassDefinition *wanted;
static __thread jint wanted_count;

static void JNICALL on_load_hook(jvmtiEnv *env, JNIEnv *jni, jclass redefined, jobject loader,
                                 const char *name, jobject domain, jint old_bytes,
                                 const unsigned char *old, jint *new_bytes, unsigned char **new)
{
    (void)loader;
    (void)name;
    (void)domain;
    (void)old_bytes;
    (void)old;
    for (jint i = 0; redefined != NULL && i < wanted_count; i++) {
        if (!(*jni)->IsSameObject(jni, redefined, wanted[i].klass) ||
            (*env)->Allocate(env, wanted[i].class_byte_count, new) != JVMTI_ERROR_NONE)
            continue;
        memcpy(*new, wanted[i].class_bytes, (size_t)wanted[i].class_byte_count);
        *new_bytes = wanted[i].class_byte_count;
    }
}

/* The JVM reports the end of a method only where it reported its begin. */
static void JNICALL on_code_loaded(jvmtiEnv *env, jmethodID method, jint size_bytes,
                                   const void *code, jint map_length,
                                   const jvmtiAddrLocationMap *map, const void *info)
{
    (void)env;
    (void)method;
    (void)size_bytes;
    (void)code;
    (void)map_length;
    (void)map;
    (void)info;
    atomic_fetch_add(&loaded_count, 1);
}

static void JNICALL on_code_unloaded(jvmtiEnv *env, jmethodID method, const void *code)
{
    (void)env;
    (void)method;
    (void)code;
    atomic_fetch_add(&unloaded_count, 1);
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, void *reserved)
{
    const jvmtiCapabilities wishes = {
        .can_redefine_classes = 1,
        .can_retransform_classes = 1,
        .can_generate_compiled_method_load_events = 1,
    };
    const jvmtiEventCallbacks callbacks = {
        .ClassFileLoadHook = on_load_hook,
        .CompiledMethodLoad = on_code_loaded,
        .CompiledMethodUnload = on_code_unloaded,
    };
    const jvmtiEvent events[] = {JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_COMPILED_METHOD_LOAD,
                                 JVMTI_EVENT_COMPILED_METHOD_UNLOAD};
    void *env = NULL;

    (void)reserved;
    if ((*java_vm)->GetEnv(java_vm, &env, JVMTI_VERSION_1_1) != JNI_OK)
        return JNI_ERR;
    jvmti = env;
    if ((*jvmti)->AddCapabilities(jvmti, &wishes) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
        return JNI_ERR;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) !=
            JVMTI_ERROR_NONE)
            return JNI_ERR;
    }
    return JNI_VERSION_1_6;
}

JNIEXPORT jlong JNICALL Java_Redefined_codeLoaded(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return atomic_load(&loaded_count);
}

JNIEXPORT jlong JNICALL Java_Redefined_codeUnloaded(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return atomic_load(&unloaded_count);
}

static jvmtiError retransform(const jvmtiClassDefinition *definitions, jint count)
{
    jclass types[CLASSES_MAX];

    for (jint i = 0; i < count; i++)
        types[i] = definitions[i].klass;
    wanted = definitions;
    wanted_count = count;
    const jvmtiError error = (*jvmti)->RetransformClasses(jvmti, count, types);
    wanted_count = 0;
    return error;
}

/* Gives each of these classes its code, all in one step of the JVM. */
JNIEXPORT jint JNICALL Java_Redefined_replace(JNIEnv *env, jclass class, jobjectArray types,
                                              jobjectArray contents, jboolean is_retransformed)
{
    const jint count = (*env)->GetArrayLength(env, types);
    jvmtiClassDefinition definitions[CLASSES_MAX];
    jbyteArray arrays[CLASSES_MAX];

    (void)class;
    if (count > CLASSES_MAX)
        return JVMTI_ERROR_ILLEGAL_ARGUMENT;
    for (jint i = 0; i < count; i++) {
        arrays[i] = (*env)->GetObjectArrayElement(env, contents, i);
        definitions[i] = (jvmtiClassDefinition){
            .klass = (*env)->GetObjectArrayElement(env, types, i),
            .class_byte_count = (*env)->GetArrayLength(env, arrays[i]),
            .class_bytes =
                (const unsigned char *)(*env)->GetByteArrayElements(env, arrays[i], NULL),
        };
    }
    const jvmtiError error = is_retransformed
                                 ? retransform(definitions, count)
                                 : (*jvmti)->RedefineClasses(jvmti, count, definitions);
    for (jint i = 0; i < count; i++)
        (*env)->ReleaseByteArrayElements(env, arrays[i], (jbyte *)definitions[i].class_bytes,
                                         JNI_ABORT);
    return (jint)error;
}
