/* Owners of locks of java.util.concurrent; control for finding out how they are told, handler. */
#include "vm/vm_synchronizer.h"

#include "vm/vm_colour.h"
#include "vm/vm_field_id.h"
#include "vm/vm_internal.h"
#include "vm/vm_string.h"

/* A collector may move an object between two looks at it. */
#define TRIES 10

/* Source: OpenJDK, jobject.hpp (JNIHandles): the lowest bits of a reference say of what kind it is. */
#define REFERENCE_BITS 3u

static struct {
    bool is_proved;
    int32_t owner;          /* of an AbstractOwnableSynchronizer */
    struct vm_field number; /* of a java.lang.Thread */
    struct vm_colour colour;
} layout;

/* Of a coloured heap they are whole words. */
static JW_SIGNAL_SAFE bool load_reference(vm_addr object, vm_addr *owner)
{
    if (layout.colour.bad_bits == 0)
        return vm_load_reference(object, layout.owner, owner);
    return safe_load_u64(object + (vm_addr)layout.owner, owner) &&
           vm_uncolour(&layout.colour, owner);
}

static JW_SIGNAL_SAFE bool load_owner(vm_addr handle, vm_addr *owner)
{
    uint64_t object;

    return safe_load_u64(handle, &object) && vm_uncolour(&layout.colour, &object) &&
           vm_is_plausible(object) && load_reference(object, owner) && vm_is_plausible(*owner);
}

bool vm_synchronizer_is_owned_by(vm_addr synchronizer, uint64_t number)
{
    const vm_addr handle = synchronizer & ~(vm_addr)REFERENCE_BITS;
    vm_addr owner, again;
    uint64_t told;

    return layout.is_proved && number != 0 && load_owner(handle, &owner) &&
           vm_load_field(owner, layout.number, &told) && told == number &&
           load_owner(handle, &again) && again == owner;
}

uint64_t vm_synchronizer_owner(vm_addr synchronizer)
{
    const vm_addr handle = synchronizer & ~(vm_addr)REFERENCE_BITS;
    vm_addr owner, again;
    uint64_t number;

    return layout.is_proved && load_owner(handle, &owner) &&
                   vm_load_field(owner, layout.number, &number) && load_owner(handle, &again) &&
                   again == owner
               ? number
               : 0;
}

bool vm_synchronizer_wants_global(void)
{
    return layout.is_proved && layout.colour.bad_bits != 0;
}

static void clear_exception(JNIEnv *jni)
{
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
}

static int32_t offset_of(JNIEnv *jni, const char *class_name, const char *field, const char *type)
{
    jclass found = (*jni)->FindClass(jni, class_name);
    jfieldID id = found == NULL ? NULL : (*jni)->GetFieldID(jni, found, field, type);

    clear_exception(jni);
    if (found != NULL)
        (*jni)->DeleteLocalRef(jni, found);
    return vm_offset_of_field(id);
}

/* How references are written in objects: by the name of the calling thread. */
static bool prove_references(JNIEnv *jni, jobject thread)
{
    const int32_t offset = offset_of(jni, "java/lang/Thread", "name", "Ljava/lang/String;");
    jclass type = (*jni)->GetObjectClass(jni, thread);
    jfieldID field = (*jni)->GetFieldID(jni, type, "name", "Ljava/lang/String;");
    jstring name = field == NULL ? NULL : (*jni)->GetObjectField(jni, thread, field);
    bool is_proved = false;
    uint64_t object;

    clear_exception(jni);
    for (int i = 0; i < TRIES && name != NULL && offset >= 0 && !is_proved; i++)
        is_proved = safe_load_u64((vm_addr)thread & ~(vm_addr)REFERENCE_BITS, &object) &&
                    vm_string_prove(jni, object, offset, name);
    if (name != NULL)
        (*jni)->DeleteLocalRef(jni, name);
    (*jni)->DeleteLocalRef(jni, type);
    return is_proved;
}

/* Of a new java.util.concurrent.locks.ReentrantLock: what owns it, a global reference. NULL: there is none. */
static jobject synchronizer_of(JNIEnv *jni, jclass type, jobject lock)
{
    jfieldID field =
        (*jni)->GetFieldID(jni, type, "sync", "Ljava/util/concurrent/locks/ReentrantLock$Sync;");
    jobject local = field == NULL ? NULL : (*jni)->GetObjectField(jni, lock, field);
    jobject global = local == NULL ? NULL : (*jni)->NewGlobalRef(jni, local);

    if (local != NULL)
        (*jni)->DeleteLocalRef(jni, local);
    return global;
}

static bool try_lock(JNIEnv *jni, jclass type, uint64_t number)
{
    jmethodID create = (*jni)->GetMethodID(jni, type, "<init>", "()V");
    jmethodID enter = create == NULL ? NULL : (*jni)->GetMethodID(jni, type, "lock", "()V");
    jmethodID leave = enter == NULL ? NULL : (*jni)->GetMethodID(jni, type, "unlock", "()V");
    jobject lock = leave == NULL ? NULL : (*jni)->NewObject(jni, type, create);
    jobject synchronizer = lock == NULL ? NULL : synchronizer_of(jni, type, lock);
    bool is_right = false;

    if (synchronizer != NULL) {
        is_right = !vm_synchronizer_is_owned_by((vm_addr)synchronizer, number);
        (*jni)->CallVoidMethod(jni, lock, enter);
        clear_exception(jni);
        bool is_owned = false;
        for (int i = 0; i < TRIES && !is_owned; i++)
            is_owned = vm_synchronizer_is_owned_by((vm_addr)synchronizer, number);
        (*jni)->CallVoidMethod(jni, lock, leave);
        clear_exception(jni);
        is_right =
            is_right && is_owned && !vm_synchronizer_is_owned_by((vm_addr)synchronizer, number);
        (*jni)->DeleteGlobalRef(jni, synchronizer);
    }
    if (lock != NULL)
        (*jni)->DeleteLocalRef(jni, lock);
    clear_exception(jni);
    return is_right;
}

bool vm_synchronizer_open(JNIEnv *jni, jobject calling_thread, struct jw_error *why)
{
    if (layout.is_proved)
        return true;
    const bool is_coloured = vm_colour_find(&layout.colour);
    if (!is_coloured && !vm_moves_in_safepoints_only()) {
        jw_error_set(why, "this JVM's collector moves objects while threads run");
        return false;
    }
    layout.owner = offset_of(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer",
                             "exclusiveOwnerThread", "Ljava/lang/Thread;");
    layout.number =
        (struct vm_field){vm_offset_of_field(vm_java_thread_id_field()), sizeof(uint64_t)};
    jclass type = (*jni)->FindClass(jni, "java/util/concurrent/locks/ReentrantLock");
    clear_exception(jni);
    /* Read as if it were proved, by this thread alone: nobody else asks before it is. */
    layout.is_proved =
        type != NULL && layout.owner >= 0 && (is_coloured || prove_references(jni, calling_thread));
    if (layout.is_proved)
        layout.is_proved = try_lock(jni, type, vm_java_thread_id(jni, calling_thread));
    if (type != NULL)
        (*jni)->DeleteLocalRef(jni, type);
    if (!layout.is_proved)
        jw_error_set(why, "objects of this JVM cannot be read");
    return layout.is_proved;
}
