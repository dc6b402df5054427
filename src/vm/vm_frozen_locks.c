/* Lock stacks of virtual threads in the heap; control for finding out how they lie, any. */
#include "vm/vm_frozen_locks.h"

#include "arch/arch.h"
#include "base/atomics.h"
#include "symbols/symbols.h"
#include "vm/vm_frozen_internal.h"
#include "vm/vm_internal.h"
#include "vm/vm_string.h"

/* Before, who has a monitor keeps his carrier. */
#define MAJOR_MIN 24

/* In the first second of a JVM its symbols are being read. */
#define SYMBOL_TRIES 20

#define SIZE_SYMBOL  "_ZN26jdk_internal_vm_StackChunk21_lockStackSize_offsetE"
#define FLAGS_SYMBOL "_ZN26jdk_internal_vm_StackChunk13_flags_offsetE"

/* Source: OpenJDK, stackChunkOop.hpp, FLAG_HAS_BITMAP. */
#define HAS_BITMAP 0x10u

/* Source: OpenJDK, jobject.hpp (JNIHandles): the lowest bits of a reference say of what kind it is. */
#define REFERENCE_BITS 3u

/* States that a VirtualThread notes behind the last step of its own, once its frames are in the heap. */
static const char *const resting[] = {"PARKED", "TIMED_PARKED", "BLOCKED", "WAIT", "TIMED_WAIT"};

static struct {
    bool is_open; /* this and the next: control */
    uint32_t tries;
    int32_t state; /* of a VirtualThread */
    uint32_t states[JW_COUNT_OF(resting)];
    int32_t size, flags; /* of a StackChunk */
    /* Relaxed: who sees it late keeps a reference more. */
    _Atomic uint32_t is_missing;
} layout;

static bool load_offset(uintptr_t addr, int32_t *offset)
{
    uint32_t told;

    if (addr == 0 || !safe_load_u32(addr, &told) || told == 0 || told >= VM_FROZEN_OBJECT_BYTES_MAX)
        return false;
    *offset = (int32_t)told;
    return true;
}

static bool find_states(JNIEnv *jni)
{
    jclass type = (*jni)->FindClass(jni, "java/lang/VirtualThread");
    uint32_t found = 0;

    while (type != NULL && found < JW_COUNT_OF(resting)) {
        jfieldID field = (*jni)->GetStaticFieldID(jni, type, resting[found], "I");

        if (field == NULL)
            break;
        layout.states[found++] = (uint32_t)(*jni)->GetStaticIntField(jni, type, field);
    }
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (type != NULL)
        (*jni)->DeleteLocalRef(jni, type);
    layout.state = vm_frozen_offset(jni, "java/lang/VirtualThread", "state", "I");
    return found == JW_COUNT_OF(resting) && layout.state >= 0;
}

bool vm_frozen_locks_open_at(JNIEnv *jni, uintptr_t size_addr, uintptr_t flags_addr)
{
    layout.is_open = vm_layout.major >= MAJOR_MIN && vm_frozen_is_open() &&
                     load_offset(size_addr, &layout.size) &&
                     load_offset(flags_addr, &layout.flags) && find_states(jni);
    return layout.is_open;
}

bool vm_frozen_locks_open(JNIEnv *jni)
{
    if (layout.is_open || !vm_frozen_locks_may_be_told())
        return layout.is_open;
    if (!vm_frozen_locks_open_at(jni, symbols_find_symbol("libjvm.", SIZE_SYMBOL),
                                 symbols_find_symbol("libjvm.", FLAGS_SYMBOL)) &&
        ++layout.tries >= SYMBOL_TRIES)
        jw_store_relaxed(&layout.is_missing, 1);
    return layout.is_open;
}

bool vm_frozen_locks_may_be_told(void)
{
    return vm_layout.major >= MAJOR_MIN && jw_load_relaxed(&layout.is_missing) == 0;
}

static bool rests(vm_addr thread)
{
    uint32_t state;
    bool is_one = false;

    if (!safe_load_u32(thread + (uintptr_t)layout.state, &state))
        return false;
    for (uint32_t i = 0; i < JW_COUNT_OF(resting); i++)
        is_one |= state == layout.states[i];
    return is_one;
}

static bool load_object(uintptr_t begin, uint32_t number, bool is_reference, vm_addr *object)
{
    const uintptr_t word = begin + number * sizeof(uintptr_t);

    return is_reference ? vm_load_reference(word, 0, object) : safe_load_word(word, object);
}

static bool load_locks(vm_addr thread, struct vm_frozen_locks *out)
{
    vm_addr chunk;
    uintptr_t begin;
    uint8_t size, flags;

    if (!vm_frozen_load_tail(thread, &chunk) || !vm_frozen_load_begin(chunk, &begin) ||
        !safe_load_u8(chunk + (uintptr_t)layout.size, &size) ||
        !safe_load_u8(chunk + (uintptr_t)layout.flags, &flags) || size > VM_FROZEN_LOCKS_MAX)
        return false;
    for (uint32_t i = 0; i < size; i++)
        if (!load_object(begin, i, (flags & HAS_BITMAP) != 0, &out->objects[i]))
            return false;
    out->count = size;
    return size > 0;
}

bool vm_frozen_locks(jobject thread, struct vm_frozen_locks *out)
{
    vm_addr object;

    out->count = 0;
    if (!layout.is_open || !vm_frozen_load_collections(&out->collections))
        return false;
    arch_order_loads(); /* what is read of the objects is read after this */
    if (!safe_load_word((vm_addr)thread & ~(vm_addr)REFERENCE_BITS, &object) ||
        !vm_is_plausible(object) || !rests(object))
        return false;
    arch_order_loads(); /* what it left there is read behind its state */
    const bool has_any = load_locks(object, out);
    arch_order_loads();
    return has_any && rests(object);
}

bool vm_frozen_locks_stood_still(const struct vm_frozen_locks *locks)
{
    uint64_t collections;

    arch_order_loads(); /* what was read of the objects was read before this */
    return vm_frozen_load_collections(&collections) && collections == locks->collections;
}
