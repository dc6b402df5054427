/* Functions of native methods; control. */
#include "vm/vm_native.h"

#include <dlfcn.h>

#include "vm/vm_internal.h"
#include "vm/vm_method.h"

/* Registered by java.lang.Thread, and exported by the JVM. Source: OpenJDK, Thread.c, JDK 8 to 28. */
#define KNOWN_NAME     "start0"
#define KNOWN_FUNCTION "JVM_StartThread"

static bool load_function(jmethodID method, uintptr_t *function)
{
    const vm_addr known = vm_method_of_id(method);
    const size_t method_bytes = vm_structs_size("Method");

    *function = 0;
    return known != 0 && method_bytes != 0 && vm_method_is_native(known) &&
           safe_load_word(known + method_bytes, function);
}

bool vm_native_is_of_jvm(const void *function)
{
    uintptr_t begin, end;

    return vm_text_range(&begin, &end) && (uintptr_t)function >= begin && (uintptr_t)function < end;
}

/* The word behind the known method is the known function. */
static bool is_proved(JNIEnv *jni)
{
    jclass thread = (*jni)->FindClass(jni, "java/lang/Thread");
    jmethodID known = thread == NULL ? NULL : (*jni)->GetMethodID(jni, thread, KNOWN_NAME, "()V");
    uintptr_t function = 0, begin, end;
    Dl_info of_jvm;

    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (thread != NULL)
        (*jni)->DeleteLocalRef(jni, thread);
    if (known == NULL || !load_function(known, &function) || !vm_text_range(&begin, &end) ||
        dladdr((void *)begin, &of_jvm) == 0 || of_jvm.dli_fname == NULL)
        return false;
    void *libjvm = dlopen(of_jvm.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void *const exported = libjvm == NULL ? NULL : dlsym(libjvm, KNOWN_FUNCTION);

    if (libjvm != NULL)
        (void)dlclose(libjvm);
    return exported != NULL && (uintptr_t)exported == function;
}

void *vm_native_function(JNIEnv *jni, jmethodID method, struct jw_error *why)
{
    uintptr_t function;

    if (!is_proved(jni))
        jw_error_set(why, "this JVM does not tell which functions its native methods are");
    else if (!load_function(method, &function) || function == 0)
        jw_error_set(why, "the method has no function yet");
    else
        return (void *)function;
    return NULL;
}
