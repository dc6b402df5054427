/* The entry of a virtual thread; control for finding out how it lies, and handler. */
#include "vm/vm_continuation.h"

#include <string.h>

#include "vm/vm_internal.h"
#include "vm/vm_method.h"

#define WORD_BYTES sizeof(uintptr_t)

/* Larger than any ContinuationEntry; what it is rounded up to. Source: OpenJDK, ContinuationEntry::size. */
#define ENTRY_BYTES_MAX   1024u
#define ENTRY_BYTES_ALIGN (2 * WORD_BYTES)

static struct {
    jmethodID border, entry; /* NULL: not known */
    vm_addr border_method;   /* where the thread does not tell of its entry */
    struct vm_field of_thread;
    size_t entry_bytes; /* 0: not told */
} continuation = {.of_thread = {-1, 0}};

static jmethodID find_method(JNIEnv *jni, jclass klass, const char *name, const char *signature)
{
    jmethodID method = (*jni)->GetStaticMethodID(jni, klass, name, signature);

    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    return method;
}

void vm_continuation_open(JNIEnv *jni)
{
    jclass klass = (*jni)->FindClass(jni, "jdk/internal/vm/Continuation");
    const size_t entry_bytes = vm_structs_size("ContinuationEntry");

    continuation.of_thread = vm_structs_field("JavaThread", "_cont_entry");
    continuation.of_thread.width = sizeof(uint64_t);
    continuation.entry_bytes =
        entry_bytes > ENTRY_BYTES_MAX
            ? 0
            : (entry_bytes + ENTRY_BYTES_ALIGN - 1) / ENTRY_BYTES_ALIGN * ENTRY_BYTES_ALIGN;
    if (klass == NULL) {
        (*jni)->ExceptionClear(jni);
        return;
    }
    continuation.border =
        find_method(jni, klass, "enterSpecial", "(Ljdk/internal/vm/Continuation;ZZ)V");
    continuation.entry = find_method(jni, klass, "enter", "(Ljdk/internal/vm/Continuation;Z)V");
    (*jni)->DeleteLocalRef(jni, klass);
    if (!vm_has(continuation.of_thread) && continuation.border != NULL)
        continuation.border_method = vm_method_of_id(continuation.border);
}

jmethodID vm_continuation_border(void)
{
    return continuation.border;
}

jmethodID vm_continuation_entry(void)
{
    return continuation.entry;
}

bool vm_continuation_is_left(const struct vm_thread *thread, uintptr_t sp, vm_addr method)
{
    uint64_t entry;

    if (vm_has(continuation.of_thread))
        return vm_load_field(thread->thread, continuation.of_thread, &entry) && entry == sp;
    return method != 0 && method == continuation.border_method;
}

static JW_SIGNAL_SAFE bool is_text(const struct vm_text *text, const char *wanted,
                                   size_t length_bytes)
{
    char bytes[32];

    return text->length_bytes == length_bytes && length_bytes <= sizeof bytes &&
           safe_load_bytes(bytes, text->addr, length_bytes) &&
           memcmp(bytes, wanted, length_bytes) == 0;
}

bool vm_continuation_is_yield(vm_addr method)
{
    static const char class_name[] = "jdk/internal/vm/Continuation", name[] = "yield0";
    struct vm_method read;

    return vm_method_read(method, &read) && is_text(&read.name, name, sizeof name - 1) &&
           is_text(&read.class_name, class_name, sizeof class_name - 1);
}

bool vm_continuation_is_above(const struct vm_thread *thread, uintptr_t sp)
{
    uint64_t entry;

    return vm_has(continuation.of_thread) &&
           vm_load_field(thread->thread, continuation.of_thread, &entry) && entry > sp &&
           entry < thread->stack_high;
}

bool vm_continuation_caller(const struct vm_thread *thread, struct arch_regs *out)
{
    uint64_t entry;

    *out = (struct arch_regs){0};
    if (!vm_has(continuation.of_thread) || continuation.entry_bytes == 0 ||
        !vm_load_field(thread->thread, continuation.of_thread, &entry))
        return false;
    const uintptr_t saved = (uintptr_t)entry + continuation.entry_bytes;
    if (entry < thread->stack_low || saved + 2 * WORD_BYTES > thread->stack_high ||
        !safe_load_word(saved, &out->fp) || !safe_load_word(saved + WORD_BYTES, &out->pc))
        return false;
    out->pc = arch_code_address(out->pc);
    out->sp = saved + 2 * WORD_BYTES;
    return true;
}
