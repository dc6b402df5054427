/* A class is ready: its address, its loader, its method ids. Hook: no lock of ours, no Java. */
#include "vm/vm_class.h"

#include <string.h>

#include "base/counters.h"
#include "vm/vm_klass.h"
#include "vm/vm_loader.h"

#define LOADER_NAME_BYTES 256

/* Name of the class of `loader`, in internal form: "Lcom/acme/Loader;" without first and last byte;
 * a longer one is cut. "" when the JVM does not tell it. */
static void loader_class_name(jvmtiEnv *jvmti, JNIEnv *jni, jobject loader, char *name)
{
    char *signature = NULL;
    jclass loader_class = (*jni)->GetObjectClass(jni, loader);
    const jvmtiError error = (*jvmti)->GetClassSignature(jvmti, loader_class, &signature, NULL);

    name[0] = '\0';
    (*jni)->DeleteLocalRef(jni, loader_class);
    if (error != JVMTI_ERROR_NONE || signature == NULL)
        return;

    const size_t signature_bytes = strnlen(signature, LOADER_NAME_BYTES + 1);
    const size_t length_bytes = signature_bytes > 2 ? signature_bytes - 2 : 0;
    memcpy(name, signature + 1, length_bytes);
    name[length_bytes] = '\0';
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

static void note_loader(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass, vm_addr addr)
{
    char name[LOADER_NAME_BYTES + 1];
    jobject loader = NULL;

    if ((*jvmti)->GetClassLoader(jvmti, klass, &loader) != JVMTI_ERROR_NONE)
        return;
    if (loader == NULL) {
        vm_loader_note(addr, NULL);
        return;
    }
    loader_class_name(jvmti, jni, loader, name);
    vm_loader_note(addr, name);
    (*jni)->DeleteLocalRef(jni, loader);
}

void vm_class_prepared(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass)
{
    const vm_addr addr = vm_is_open() ? vm_klass_of(jni, klass) : 0;

    vm_klass_prepared(addr);
    if (!vm_is_open())
        return; /* nothing was sampled yet, and a start catches up on the rest */
    if (addr == 0)
        jw_count(JW_COUNT_CLASSES_UNTOLD);
    else if (!vm_loader_tells())
        note_loader(jvmti, jni, klass, addr);
}

void vm_class_found(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass)
{
    const vm_addr addr = vm_loader_tells() ? 0 : vm_klass_of(jni, klass);

    /* While all classes are held, no address of a loader is given again: one class of each tells. */
    if (addr != 0 && !vm_loader_is_noted(addr))
        note_loader(jvmti, jni, klass, addr);
}

uint32_t vm_class_loader(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass)
{
    const vm_addr addr = vm_is_open() ? vm_klass_of(jni, klass) : 0;

    if (addr == 0)
        return VM_LOADER_UNKNOWN;
    /* What was noted at this address may be of a loader that has gone. */
    if (!vm_loader_tells())
        note_loader(jvmti, jni, klass, addr);
    return vm_loader_of(addr);
}

void vm_class_make_ids(jvmtiEnv *jvmti, jclass klass)
{
    jmethodID *methods = NULL;
    jint count = 0;

    /* Makes the ids; an error means that the class is no longer, or not yet, a prepared one. */
    if ((*jvmti)->GetClassMethods(jvmti, klass, &count, &methods) == JVMTI_ERROR_NONE)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}
