/* A class is ready: method ids, loader, addresses. Hook: no lock of ours, no Java. */
#include "vm/vm_class.h"

#include <string.h>

#include "arch/arch.h"
#include "vm/vm_internal.h"
#include "vm/vm_loader.h"
#include "vm/vm_method.h"

#define LOADER_NAME_BYTES 256

/* Klass* of a class by one of its methods: no object is touched, which the collector may be moving. */
static vm_addr klass_of(jmethodID id)
{
    const vm_addr const_method = vm_method_const(vm_method_of_id(id));
    uint64_t pool, klass;

    if (!vm_load_field(const_method, vm_layout.const_constants, &pool) ||
        !vm_load_field(pool, vm_layout.pool_holder, &klass))
        return 0;
    return klass;
}

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

    if (addr == 0 || (*jvmti)->GetClassLoader(jvmti, klass, &loader) != JVMTI_ERROR_NONE)
        return;
    if (loader == NULL) {
        vm_loader_note(addr, NULL);
        return;
    }
    loader_class_name(jvmti, jni, loader, name);
    vm_loader_note(addr, name);
    (*jni)->DeleteLocalRef(jni, loader);
}

void vm_class_prepared(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass,
                       void (*drop)(vm_addr method, void *argument), void *argument)
{
    jmethodID *methods = NULL;
    jint count = 0;

    /* Makes the ids; an error means that the class is no longer, or not yet, a prepared one. */
    if ((*jvmti)->GetClassMethods(jvmti, klass, &count, &methods) != JVMTI_ERROR_NONE)
        return;
    /* Before vm_open there are no samples; what is noted here, a start catches up on. */
    const bool is_open = vm_is_open();
    for (jint i = 0; is_open && drop != NULL && i < count; i++) {
        const vm_addr method = vm_method_of_id(methods[i]);

        if (method != 0)
            drop(method, argument);
    }
    if (is_open && count > 0)
        note_loader(jvmti, jni, klass, klass_of(methods[0]));
    (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}
