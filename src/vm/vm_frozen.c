/* Frames of a virtual thread in the heap; handler, and control for finding out how they lie. */
#include "vm/vm_frozen.h"

#include "vm/vm_field_id.h"
#include "vm/vm_frozen_internal.h"
#include "vm/vm_internal.h"
#include "vm/vm_mounted.h"
#include "vm/vm_object.h"
#include "vm/vm_stack_internal.h"
#include "vm/vm_string.h"

#define WORD_BYTES sizeof(uintptr_t)

/* No stack is larger. */
#define WORDS_MAX (UINT32_C(1) << 27)

/* Chunks without frames, one behind the other. */
#define EMPTY_MAX 8

/* Of a layout helper: the lower bits say whether the object is made in a hurry. Source: OpenJDK, klass.hpp. */
#define LAYOUT_FLAGS (WORD_BYTES - 1)

/* Words of an interpreted frame from its frame pointer on; where its caller's stack pointer stands among those below. */
#define ABOVE_FP_WORDS 2
#define CALLER_SP_SLOT 1
#define BELOW_FP_MAX   16

static struct {
    bool is_open;
    int32_t continuation;             /* of a VirtualThread */
    int32_t tail;                     /* of a Continuation */
    int32_t parent, size, sp, bottom; /* of a StackChunk */
    struct vm_field layout_helper;    /* of a Klass */
    vm_addr heap;                     /* the CollectedHeap */
    struct vm_field collections, is_collecting;
} layout;

int32_t vm_frozen_offset(JNIEnv *jni, const char *class_name, const char *name,
                         const char *signature)
{
    jclass klass = (*jni)->FindClass(jni, class_name);
    jfieldID field = klass == NULL ? NULL : (*jni)->GetFieldID(jni, klass, name, signature);

    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (klass != NULL)
        (*jni)->DeleteLocalRef(jni, klass);
    return field == NULL ? -1 : vm_offset_of_field(field);
}

static bool find_objects(JNIEnv *jni)
{
    static const char chunk[] = "jdk/internal/vm/StackChunk";

    layout.continuation =
        vm_frozen_offset(jni, "java/lang/VirtualThread", "cont", "Ljdk/internal/vm/Continuation;");
    layout.tail = vm_frozen_offset(jni, "jdk/internal/vm/Continuation", "tail",
                                   "Ljdk/internal/vm/StackChunk;");
    layout.parent = vm_frozen_offset(jni, chunk, "parent", "Ljdk/internal/vm/StackChunk;");
    layout.size = vm_frozen_offset(jni, chunk, "size", "I");
    layout.sp = vm_frozen_offset(jni, chunk, "sp", "I");
    layout.bottom = vm_frozen_offset(jni, chunk, "bottom", "I");
    return layout.continuation >= 0 && layout.tail >= 0 && layout.parent >= 0 && layout.size >= 0 &&
           layout.sp >= 0 && layout.bottom >= 0;
}

/* Source: OpenJDK, CollectedHeap: _is_stw_gc_active since JDK 21, around all that moves objects while threads stand. */
static bool find_heap(void)
{
    const uintptr_t heap = vm_structs_static("Universe", "_collectedHeap");

    layout.layout_helper = vm_structs_field("Klass", "_layout_helper");
    layout.collections = vm_structs_field("CollectedHeap", "_total_collections");
    layout.is_collecting = vm_structs_field("CollectedHeap", "_is_stw_gc_active");
    layout.layout_helper.width = layout.collections.width = sizeof(uint32_t);
    layout.is_collecting.width = sizeof(uint8_t);
    return heap != 0 && safe_load_word(heap, &layout.heap) && vm_is_plausible(layout.heap) &&
           vm_has(layout.layout_helper) && vm_has(layout.collections) &&
           vm_has(layout.is_collecting);
}

bool vm_frozen_open(JNIEnv *jni)
{
    /* Names can be read: references, too, and objects stand still between collections. */
    if (!layout.is_open)
        layout.is_open = vm_mounted_tells_names() && find_heap() && find_objects(jni);
    return layout.is_open;
}

bool vm_frozen_is_open(void)
{
    return layout.is_open;
}

bool vm_frozen_load_collections(uint64_t *count)
{
    uint64_t is_collecting;

    return layout.is_open && vm_load_field(layout.heap, layout.is_collecting, &is_collecting) &&
           is_collecting == 0 && vm_load_field(layout.heap, layout.collections, count);
}

bool vm_frozen_stood_still(const struct vm_frozen *frozen)
{
    uint64_t collections;

    arch_order_loads(); /* what was read of the objects was read before this */
    return vm_frozen_load_collections(&collections) && collections == frozen->collections;
}

static JW_SIGNAL_SAFE bool load_words(vm_addr chunk, int32_t field, uint32_t *words)
{
    return safe_load_u32(chunk + (uintptr_t)field, words) && *words <= WORDS_MAX;
}

/* Bytes of a StackChunk before its words. */
static JW_SIGNAL_SAFE bool load_header_bytes(vm_addr chunk, uintptr_t *bytes)
{
    const vm_addr klass = vm_object_class(chunk);
    uint64_t helper;

    if (klass == 0 || !vm_load_field(klass, layout.layout_helper, &helper))
        return false;
    *bytes = (uintptr_t)helper & ~LAYOUT_FLAGS;
    return *bytes > 0 && *bytes <= VM_FROZEN_OBJECT_BYTES_MAX;
}

/* The chunk, or the first of its parents that has frames. */
static JW_SIGNAL_SAFE enum vm_frozen_answer find_frames(vm_addr chunk, struct vm_frozen *out)
{
    uint32_t size, sp, bottom;
    uintptr_t header_bytes;

    for (int i = 0; i < EMPTY_MAX && chunk != 0; i++, chunk = out->parent) {
        if (!vm_is_plausible(chunk) || !load_header_bytes(chunk, &header_bytes) ||
            !load_words(chunk, layout.size, &size) || !load_words(chunk, layout.sp, &sp) ||
            !load_words(chunk, layout.bottom, &bottom) || sp > bottom || bottom > size ||
            !vm_load_reference(chunk, layout.parent, &out->parent))
            return VM_FROZEN_UNTOLD;
        if (sp == bottom)
            continue;
        out->begin = chunk + header_bytes;
        out->sp = out->begin + sp * WORD_BYTES;
        out->end = out->begin + bottom * WORD_BYTES;
        out->high = out->begin + size * WORD_BYTES;
        if (sp < 2 || !safe_load_word(out->sp - WORD_BYTES, &out->pc) ||
            !safe_load_word(out->sp - 2 * WORD_BYTES, &out->fp))
            return VM_FROZEN_UNTOLD;
        out->pc = arch_code_address(out->pc);
        return VM_FROZEN_FOUND;
    }
    return chunk == 0 ? VM_FROZEN_NONE : VM_FROZEN_UNTOLD;
}

bool vm_frozen_load_tail(vm_addr thread, vm_addr *chunk)
{
    vm_addr continuation;

    return vm_load_reference(thread, layout.continuation, &continuation) &&
           vm_is_plausible(continuation) && vm_load_reference(continuation, layout.tail, chunk);
}

bool vm_frozen_load_begin(vm_addr chunk, uintptr_t *begin)
{
    uintptr_t header_bytes;

    if (!vm_is_plausible(chunk) || !load_header_bytes(chunk, &header_bytes))
        return false;
    *begin = chunk + header_bytes;
    return true;
}

enum vm_frozen_answer vm_frozen_first(const struct vm_thread *thread, struct vm_frozen *out)
{
    vm_addr object, chunk;

    if (!vm_frozen_load_collections(&out->collections))
        return VM_FROZEN_UNTOLD;
    arch_order_loads(); /* what is read of the objects is read after this */
    if (!vm_mounted_object(thread->thread, &object) || !vm_frozen_load_tail(object, &chunk))
        return VM_FROZEN_UNTOLD;
    return find_frames(chunk, out);
}

enum vm_frozen_answer vm_frozen_next(struct vm_frozen *frozen)
{
    return find_frames(frozen->parent, frozen);
}

bool vm_frozen_interpreted(uintptr_t fp, struct vm_interpreted *out)
{
    const size_t below = (size_t)-vm_stack_layout.interpreter_bcp_bytes / WORD_BYTES;
    uintptr_t words[BELOW_FP_MAX + ABOVE_FP_WORDS];

    if (below < CALLER_SP_SLOT || below > BELOW_FP_MAX ||
        !safe_load_bytes(words, fp - below * WORD_BYTES, (below + ABOVE_FP_WORDS) * WORD_BYTES))
        return false;
    /* A copy in which the caller lies above, as on a stack. */
    uintptr_t *caller_sp = &words[below - CALLER_SP_SLOT];
    const uintptr_t caller_words = *caller_sp;
    *caller_sp = UINTPTR_MAX;
    if (!vm_interpreted_read((uintptr_t)&words[below], 0, out))
        return false;
    out->caller_sp = fp + caller_words * WORD_BYTES;
    return true;
}
