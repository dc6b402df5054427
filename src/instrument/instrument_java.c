/* The classes of java/java/lang and io.jaywalk.ProbeLoader, and calls of theirs. */
#include "instrument/instrument_census_loaders.h"
#include "instrument/instrument_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "probe/probe_classes.h"

jvmtiEnv *instrument_jvmti;

static _Atomic uint32_t is_defined; /* relaxed: who sees it late has seen no object of theirs */

static struct {
    bool is_open;
    jclass probe; /* JaywalkProbe; these are global */
    jclass dispatcher;
    jclass loader; /* io.jaywalk.ProbeLoader */
    jclass text;
    jmethodID open, arrive, end, inside, close, figures, thrown;
    jmethodID loader_init, class_files, probe_class, replace;
    jmethodID ended;
    jmethodID to_string;
    jfieldID handlers;
    jfieldID loader_name; /* ClassLoader.name; NULL: this JDK has none, before 9 */
    jfieldID module_name; /* Module.name */
    jobject application;  /* its loader, which JDK 8 has no name for */
    jobject platform[4];  /* loaders above that of the application, but the boot loader */
} java;

/* ---- JVMTI ---- */

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    (void)thread;
    (*jni)->CallStaticVoidMethod(jni, java.dispatcher, java.ended);
    (*jni)->ExceptionClear(jni);
}

/* Behind it, no thread comes back from a call of Java. */
static void (*at_end)(void);

void instrument_at_end(void (*ended)(void))
{
    at_end = ended;
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void)jvmti;
    (void)jni;
    if (at_end != NULL)
        at_end();
}

bool instrument_open_jvmti(JavaVM *java_vm, struct jw_error *err)
{
    static const jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = instrument_on_class_file,
                                                  .ThreadEnd = on_thread_end,
                                                  .ObjectFree = census_loaders_on_object_free,
                                                  .VMDeath = on_vm_death};
    const jvmtiCapabilities needed = {.can_retransform_classes = 1,
                                      .can_generate_all_class_hook_events = 1};
    const jvmtiCapabilities better = {.can_retransform_any_class = 1};
    void *made = NULL;

    if (instrument_jvmti != NULL)
        return true;
    if ((*java_vm)->GetEnv(java_vm, &made, JVMTI_VERSION_1_2) != JNI_OK) {
        jw_error_set(err, "the JVM offers no JVMTI 1.2");
        return false;
    }

    jvmtiEnv *jvmti = made;
    jvmtiError error = (*jvmti)->AddCapabilities(jvmti, &needed);
    if (error == JVMTI_ERROR_NONE)
        error = (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
    if (error == JVMTI_ERROR_NONE)
        error = (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
    if (error != JVMTI_ERROR_NONE) {
        (*jvmti)->DisposeEnvironment(jvmti);
        jw_error_set(err, "the JVM refuses what probes need (JVMTI error %d)", error);
        return false;
    }
    (void)(*jvmti)->AddCapabilities(jvmti, &better); /* without it some classes stay as they are */
    instrument_jvmti = jvmti;
    return true;
}

/* ---- exceptions and references ---- */

bool instrument_has_thrown(JNIEnv *jni, const char *what, struct jw_error *err)
{
    const char *text = NULL;
    jthrowable thrown = (*jni)->ExceptionOccurred(jni);
    jstring said = NULL;

    if (thrown == NULL)
        return false;
    (*jni)->ExceptionClear(jni);
    if (java.to_string != NULL)
        said = (*jni)->CallObjectMethod(jni, thrown, java.to_string);
    (*jni)->ExceptionClear(jni);
    if (said != NULL)
        text = (*jni)->GetStringUTFChars(jni, said, NULL);
    jw_error_set(err, "%s: %s", what, text == NULL ? "the JVM refuses it" : text);
    if (text != NULL)
        (*jni)->ReleaseStringUTFChars(jni, said, text);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, said);
    (*jni)->DeleteLocalRef(jni, thrown);
    return true;
}

static jclass keep_class(JNIEnv *jni, jclass found)
{
    const jclass kept = found == NULL ? NULL : (*jni)->NewGlobalRef(jni, found);

    (*jni)->DeleteLocalRef(jni, found);
    return kept;
}

/* Of the boot loader: who looks for it has no Java frame, and the system loader asks that one first. */
static jclass find(JNIEnv *jni, const char *name)
{
    return keep_class(jni, (*jni)->FindClass(jni, name));
}

static bool find_methods(JNIEnv *jni)
{
    java.open = (*jni)->GetStaticMethodID(jni, java.probe, "open",
                                          "(I[Ljava/lang/String;[II)Ljava/lang/JaywalkProbe;");
    java.arrive = (*jni)->GetMethodID(jni, java.probe, "arrive",
                                      "(ILjava/lang/Class;Ljava/lang/JaywalkGate;)V");
    java.end = (*jni)->GetMethodID(jni, java.probe, "end", "()V");
    java.inside = (*jni)->GetMethodID(jni, java.probe, "insideCount", "()I");
    java.close = (*jni)->GetMethodID(jni, java.probe, "close", "()V");
    java.figures = (*jni)->GetMethodID(jni, java.probe, "figures", "()[J");
    java.thrown = (*jni)->GetMethodID(jni, java.probe, "thrown", "()Ljava/lang/String;");
    java.handlers = (*jni)->GetFieldID(jni, java.probe, "handlers", "[Ljava/lang/JaywalkHandler;");
    java.ended = (*jni)->GetStaticMethodID(jni, java.dispatcher, "ended", "()V");
    java.loader_init = (*jni)->GetMethodID(jni, java.loader, "<init>",
                                           "(Ljava/lang/ClassLoader;Ljava/lang/String;)V");
    java.class_files = (*jni)->GetMethodID(jni, java.loader, "classFiles", "()[[B");
    java.probe_class = (*jni)->GetMethodID(jni, java.loader, "probeClass",
                                           "(Ljava/lang/String;)Ljava/lang/Class;");
    java.replace = (*jni)->GetMethodID(jni, java.loader, "replace", "(Ljava/lang/String;[B)V");
    return !(*jni)->ExceptionCheck(jni);
}

/* What virtual threads extend, where there are any. Source: OpenJDK 19 to 28, java.lang.BaseVirtualThread. */
static void tell_virtual_threads(JNIEnv *jni)
{
    jclass slot = (*jni)->FindClass(jni, "java/lang/JaywalkSlot");
    jclass virtual_class = (*jni)->FindClass(jni, "java/lang/BaseVirtualThread");
    jfieldID field;

    (*jni)->ExceptionClear(jni);
    if (slot != NULL && virtual_class != NULL) {
        field = (*jni)->GetStaticFieldID(jni, slot, "virtualThread", "Ljava/lang/Class;");
        if (field != NULL)
            (*jni)->SetStaticObjectField(jni, slot, field, virtual_class);
    }
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, slot);
    (*jni)->DeleteLocalRef(jni, virtual_class);
}

/* What threads own is found by their number. */
static bool prepare_numbers(JNIEnv *jni, struct jw_error *err)
{
    jclass number = (*jni)->FindClass(jni, "java/lang/JaywalkNumber");
    jmethodID prepare =
        number == NULL ? NULL : (*jni)->GetStaticMethodID(jni, number, "prepare", "()V");

    if (prepare != NULL)
        (*jni)->CallStaticVoidMethod(jni, number, prepare);
    (*jni)->DeleteLocalRef(jni, number);
    return !instrument_has_thrown(jni, "numbers of threads", err);
}

static jobject system_loader(JNIEnv *jni)
{
    jclass loaders = (*jni)->FindClass(jni, "java/lang/ClassLoader");
    jobject loader = NULL;
    jmethodID get;

    if (loaders != NULL && (get = (*jni)->GetStaticMethodID(jni, loaders, "getSystemClassLoader",
                                                            "()Ljava/lang/ClassLoader;")) != NULL)
        loader = (*jni)->CallStaticObjectMethod(jni, loaders, get);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, loaders);
    return loader;
}

/* Source: OpenJDK 9 to 28, java.lang.ClassLoader and java.lang.Module, field `name`. */
static jfieldID find_name(JNIEnv *jni, const char *class_name)
{
    jclass klass = (*jni)->FindClass(jni, class_name);
    jfieldID field =
        klass == NULL ? NULL : (*jni)->GetFieldID(jni, klass, "name", "Ljava/lang/String;");

    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, klass);
    return field;
}

/* JDK 8: that of extensions. Later: that of the platform. */
static void find_platform_loaders(JNIEnv *jni)
{
    jobject loader = system_loader(jni);
    jclass loaders = (*jni)->FindClass(jni, "java/lang/ClassLoader");
    jmethodID parent = loaders == NULL ? NULL
                                       : (*jni)->GetMethodID(jni, loaders, "getParent",
                                                             "()Ljava/lang/ClassLoader;");

    java.application = loader == NULL ? NULL : (*jni)->NewGlobalRef(jni, loader);
    for (size_t i = 0; parent != NULL && loader != NULL && i < JW_COUNT_OF(java.platform); i++) {
        jobject above = (*jni)->CallObjectMethod(jni, loader, parent);

        (*jni)->ExceptionClear(jni);
        (*jni)->DeleteLocalRef(jni, loader);
        java.platform[i] = above == NULL ? NULL : (*jni)->NewGlobalRef(jni, above);
        loader = above;
    }
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, loader);
    (*jni)->DeleteLocalRef(jni, loaders);
}

bool instrument_open_java(JNIEnv *jni, struct jw_error *err)
{
    jclass throwable;

    if (java.is_open)
        return true;
    throwable = (*jni)->FindClass(jni, "java/lang/Throwable");
    if (throwable != NULL)
        java.to_string = (*jni)->GetMethodID(jni, throwable, "toString", "()Ljava/lang/String;");
    (*jni)->DeleteLocalRef(jni, throwable);
    if (!instrument_define_all(jni, err) || !prepare_numbers(jni, err))
        return false;
    jw_store_relaxed(&is_defined, 1);
    java.probe = find(jni, "java/lang/JaywalkProbe");
    java.dispatcher = find(jni, "java/lang/JaywalkDispatcher");
    java.loader = find(jni, "io/jaywalk/ProbeLoader");
    java.text = find(jni, "java/lang/String");
    if (java.probe == NULL || java.dispatcher == NULL || java.loader == NULL || java.text == NULL ||
        !find_methods(jni)) {
        if (!instrument_has_thrown(jni, "classes of probes", err))
            jw_error_set(err, "the JVM does not give the classes of probes");
        return false;
    }
    if (!instrument_bind_events(jni, err) || !instrument_bind_context(jni, err) ||
        !instrument_bind_own(jni, err) || !instrument_bind_counts(jni, err) ||
        !instrument_bind_calls(jni, err) || !instrument_bind_routes(jni, err) ||
        !instrument_bind_parks(jni, err) || !instrument_bind_queues(jni, err) ||
        !instrument_bind_forks(jni, err) || !instrument_bind_throws(jni, err) ||
        !instrument_bind_news(jni, err) || !instrument_bind_io(jni, err) ||
        !instrument_bind_callers(jni, err) || !instrument_bind_claims(jni, err) ||
        !instrument_bind_dispatch(jni, err))
        return false;
    tell_virtual_threads(jni);
    find_platform_loaders(jni);
    java.loader_name = find_name(jni, "java/lang/ClassLoader");
    java.module_name = find_name(jni, "java/lang/Module");
    java.is_open = true;
    return true;
}

bool instrument_is_own(jvmtiEnv *jvmti, JNIEnv *jni, jobject object)
{
    static const char own[] = "Ljava/lang/Jaywalk";
    jclass klass = NULL;
    char *signature = NULL;

    if (object != NULL && jw_load_relaxed(&is_defined) != 0)
        klass = (*jni)->GetObjectClass(jni, object);
    if (klass == NULL)
        return false;
    if ((*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) == JVMTI_ERROR_NONE &&
        strcmp(signature, "Ljava/lang/Class;") == 0) {
        (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
        signature = NULL;
        (void)(*jvmti)->GetClassSignature(jvmti, object, &signature, NULL);
    }
    const bool is_it = signature != NULL && strncmp(signature, own, sizeof own - 1) == 0;
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    (*jni)->DeleteLocalRef(jni, klass);
    return is_it;
}

/* ---- the loader ---- */

jobject instrument_loader(JNIEnv *jni, const char *path, struct jw_error *err)
{
    jobject parent = system_loader(jni),
            made = NULL; /* which has the API, where that is on the class path */
    jstring text = (*jni)->NewStringUTF(jni, path);

    if (text != NULL)
        made = (*jni)->NewObject(jni, java.loader, java.loader_init, parent, text);
    if (instrument_has_thrown(jni, "probe", err))
        made = NULL;
    (*jni)->DeleteLocalRef(jni, text);
    (*jni)->DeleteLocalRef(jni, parent);
    return made;
}

jobjectArray instrument_class_files(JNIEnv *jni, jobject loader, struct jw_error *err)
{
    jobjectArray files = (*jni)->CallObjectMethod(jni, loader, java.class_files);

    return instrument_has_thrown(jni, "probe", err) ? NULL : files;
}

jclass instrument_probe_class(JNIEnv *jni, jobject loader, const char *name, struct jw_error *err)
{
    char dotted[1024];
    jstring text;
    jclass found = NULL;

    snprintf(dotted, sizeof dotted, "%s", name);
    for (char *at = dotted; *at != '\0'; at++)
        *at = *at == '/' ? '.' : *at;
    text = (*jni)->NewStringUTF(jni, dotted);
    if (text != NULL)
        found = (*jni)->CallObjectMethod(jni, loader, java.probe_class, text);
    if (instrument_has_thrown(jni, dotted, err))
        found = NULL;
    (*jni)->DeleteLocalRef(jni, text);
    return found;
}

bool instrument_replace_class(JNIEnv *jni, jobject loader, const char *name, const uint8_t *bytes,
                              size_t length_bytes, struct jw_error *err)
{
    jstring text = (*jni)->NewStringUTF(jni, name);
    jbyteArray array = text == NULL ? NULL : (*jni)->NewByteArray(jni, (jsize)length_bytes);

    if (array != NULL) {
        (*jni)->SetByteArrayRegion(jni, array, 0, (jsize)length_bytes, (const jbyte *)bytes);
        (*jni)->CallVoidMethod(jni, loader, java.replace, text, array);
    }
    (*jni)->DeleteLocalRef(jni, array);
    (*jni)->DeleteLocalRef(jni, text);
    return !instrument_has_thrown(jni, name, err);
}

bool instrument_is_probe_loader(JNIEnv *jni, jobject loader)
{
    return loader != NULL && (*jni)->IsInstanceOf(jni, loader, java.loader);
}

/* Of an object's field; "": it is null, or too long. */
static void read_name(JNIEnv *jni, jobject object, jfieldID field, char *text, size_t room_bytes)
{
    jstring name = (*jni)->GetObjectField(jni, object, field);

    text[0] = '\0';
    if (name == NULL)
        return;

    const jsize length_bytes = (*jni)->GetStringUTFLength(jni, name);
    if ((size_t)length_bytes < room_bytes) {
        (*jni)->GetStringUTFRegion(jni, name, 0, (*jni)->GetStringLength(jni, name), text);
        text[length_bytes] = '\0';
    }
    (*jni)->DeleteLocalRef(jni, name);
}

const char *instrument_loader_name(JNIEnv *jni, jobject loader, char *text, size_t room_bytes)
{
    if (loader == NULL)
        return "bootstrap";
    if (java.loader_name == NULL)
        return (*jni)->IsSameObject(jni, loader, java.application) ? "app"
               : instrument_is_platform_loader(jni, loader)        ? "platform"
                                                                   : "";
    read_name(jni, loader, java.loader_name, text, room_bytes);
    return text;
}

const char *instrument_module_name(JNIEnv *jni, jobject loader, const char *class_name, char *text,
                                   size_t room_bytes)
{
    const char *slash = strrchr(class_name, '/');
    const size_t package_bytes = slash == NULL ? 0 : (size_t)(slash - class_name);
    jobject module = NULL;

    /* JVMTI has the function where Java has modules. */
    if (java.module_name == NULL)
        return "";
    if (package_bytes >= room_bytes)
        return NULL;
    memcpy(text, class_name, package_bytes);
    text[package_bytes] = '\0';
    if ((*instrument_jvmti)->GetNamedModule(instrument_jvmti, loader, text, &module) !=
        JVMTI_ERROR_NONE)
        return NULL;
    text[0] = '\0';
    if (module != NULL)
        read_name(jni, module, java.module_name, text, room_bytes);
    (*jni)->DeleteLocalRef(jni, module);
    return text;
}

bool instrument_links_again(void)
{
    return java.module_name != NULL; /* JDK 9 or later */
}

bool instrument_is_platform_loader(JNIEnv *jni, jobject loader)
{
    for (size_t i = 0; i < JW_COUNT_OF(java.platform) && java.platform[i] != NULL; i++) {
        if ((*jni)->IsSameObject(jni, loader, java.platform[i]))
            return true;
    }
    return false;
}

/* ---- a probe ---- */

static jobjectArray types_of(JNIEnv *jni, const struct probe *probe)
{
    jobjectArray types = (*jni)->NewObjectArray(jni, (jsize)probe->handler_count, java.text, NULL);

    for (uint32_t i = 0; types != NULL && i < probe->handler_count; i++) {
        char type[PROBE_CALL_TYPE_BYTES], place_type[PROBE_PLACE_TYPE_BYTES];
        jstring text;

        probe_call_type(&probe->handlers[i], type);
        probe_place_type(type, place_type);
        text = (*jni)->NewStringUTF(jni, place_type);
        if (text == NULL)
            return NULL;
        (*jni)->SetObjectArrayElement(jni, types, (jsize)i, text);
        (*jni)->DeleteLocalRef(jni, text);
    }
    return types;
}

jobject instrument_probe_open(JNIEnv *jni, uint32_t number, const struct probe *probe,
                              const unsigned *places, struct jw_error *err)
{
    jobjectArray types = types_of(jni, probe);
    jintArray numbers =
        types == NULL ? NULL : (*jni)->NewIntArray(jni, (jsize)probe->handler_count);
    jobject opened = NULL;

    for (uint32_t i = 0; numbers != NULL && i < probe->handler_count; i++) {
        const jint place = (jint)places[i];

        (*jni)->SetIntArrayRegion(jni, numbers, (jsize)i, 1, &place);
    }
    if (numbers != NULL)
        opened = (*jni)->CallStaticObjectMethod(jni, java.probe, java.open,
                                                (jint)(number & PROBE_ATTACH_MASK), types, numbers,
                                                (jint)probe->limits.max_throws);
    if (instrument_has_thrown(jni, "probe", err))
        opened = NULL;
    (*jni)->DeleteLocalRef(jni, numbers);
    (*jni)->DeleteLocalRef(jni, types);
    return opened;
}

bool instrument_probe_arrive(JNIEnv *jni, jobject probe, uint32_t handler, jclass gate_class,
                             jobject gate, struct jw_error *err)
{
    (*jni)->CallVoidMethod(jni, probe, java.arrive, (jint)handler, gate_class, gate);
    return !instrument_has_thrown(jni, "probe", err);
}

jobject instrument_probe_handler(JNIEnv *jni, jobject probe, uint32_t handler, struct jw_error *err)
{
    jobjectArray handlers = (*jni)->GetObjectField(jni, probe, java.handlers);
    jobject found =
        handlers == NULL ? NULL : (*jni)->GetObjectArrayElement(jni, handlers, (jsize)handler);

    (*jni)->DeleteLocalRef(jni, handlers);
    return instrument_has_thrown(jni, "probe", err) ? NULL : found;
}

bool instrument_probe_end(JNIEnv *jni, jobject probe)
{
    (*jni)->CallVoidMethod(jni, probe, java.end);

    const bool is_good = !(*jni)->ExceptionCheck(jni);
    (*jni)->ExceptionClear(jni);
    return is_good;
}

int32_t instrument_probe_inside(JNIEnv *jni, jobject probe)
{
    const jint count = (*jni)->CallIntMethod(jni, probe, java.inside);

    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        return -1;
    }
    return count;
}

void instrument_probe_close(JNIEnv *jni, jobject probe)
{
    (*jni)->CallVoidMethod(jni, probe, java.close);
    (*jni)->ExceptionClear(jni);
}

bool instrument_probe_figures(JNIEnv *jni, jobject probe, uint32_t count,
                              struct instrument_figures *out)
{
    jlongArray figures = (*jni)->CallObjectMethod(jni, probe, java.figures);
    jlong values[8];

    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        return false;
    }
    for (uint32_t i = 0; figures != NULL && i < count; i++) {
        (*jni)->GetLongArrayRegion(jni, figures, (jsize)(i * JW_COUNT_OF(values)),
                                   (jsize)JW_COUNT_OF(values), values);
        if ((*jni)->ExceptionCheck(jni))
            break;
        out[i] = (struct instrument_figures){
            (uint64_t)values[0], (uint64_t)values[1], (uint64_t)values[2], (uint64_t)values[3],
            (uint64_t)values[4], (uint64_t)values[5], (uint64_t)values[6], (uint64_t)values[7]};
    }
    const bool is_good = figures != NULL && !(*jni)->ExceptionCheck(jni);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, figures);
    return is_good;
}

void instrument_probe_thrown(JNIEnv *jni, jobject probe, char *text, size_t room_bytes)
{
    jstring said = (*jni)->CallObjectMethod(jni, probe, java.thrown);
    const char *bytes;

    text[0] = '\0';
    (*jni)->ExceptionClear(jni);
    if (said == NULL)
        return;
    bytes = (*jni)->GetStringUTFChars(jni, said, NULL);
    if (bytes != NULL) {
        snprintf(text, room_bytes, "%s", bytes);
        (*jni)->ReleaseStringUTFChars(jni, said, bytes);
    }
    (*jni)->DeleteLocalRef(jni, said);
}
