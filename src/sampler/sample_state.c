/* What a thread was doing when its handler interrupted it; handler. */
#include "arch/arch.h"
#include "sampler/sampler_internal.h"
#include "vm/vm_thread.h"

/* `top` NULL: no frame is known. */
static JW_SIGNAL_SAFE enum vm_thread_wait wait_in(const struct walk_java_result *java,
                                                  const struct vm_call_frame *top)
{
    if (top == NULL)
        return VM_THREAD_UNKNOWN;
    return vm_thread_wait_in(java->walker == WALK_VM ? (vm_addr)top->method
                                                     : vm_method_of_id(top->method));
}

/* What a thread waits for whose topmost frame is this one, a native method; `plain` when for nothing of Java's. */
static JW_SIGNAL_SAFE enum jw_thread_state of_method(enum vm_thread_wait top,
                                                     enum jw_thread_state plain)
{
    switch (top) {
    case VM_THREAD_WAITS:
        return JW_STATE_WAITING;
    case VM_THREAD_SLEEPS:
        return JW_STATE_SLEEPING;
    case VM_THREAD_ON_CONDITION:
        return JW_STATE_PARKED;
    case VM_THREAD_UNKNOWN:
    case VM_THREAD_RUNS:
    case VM_THREAD_ENTERS:
        break;
    }
    return plain;
}

/*
 * Of a JVM that does not tell (JDK 8): by the method at the top of the stack. What blocks a thread inside the JVM
 * when that is no native method is taken for a monitor; a safepoint looks the same.
 */
static JW_SIGNAL_SAFE enum jw_thread_state guess(const struct vm_thread_state *vm,
                                                 enum vm_thread_wait top,
                                                 const struct vm_call_frame *frame,
                                                 enum jw_thread_state plain)
{
    if (plain == JW_STATE_RUNNING)
        return plain;
    if (vm->place == VM_THREAD_BLOCKED && frame != NULL && frame->bci != JW_BCI_NATIVE)
        return JW_STATE_BLOCKED;
    return of_method(top, plain);
}

enum jw_thread_state sample_state(const void *ucontext, const void *env,
                                  const struct walk_java_result *java,
                                  const struct vm_call_frame *frames, bool *is_passing)
{
    const struct vm_call_frame *top =
        java->frame_count > 0 && walk_is_mark(frames[0].method) == JW_MARK_LIMIT ? frames : NULL;
    const bool is_unwalked =
        top == NULL && java->code <= WALK_CODE_FAULT; /* there is Java, as a rule */
    const bool is_waiting = arch_syscall_state(ucontext) != ARCH_SYSCALL_NONE;
    const enum jw_thread_state plain = is_waiting ? JW_STATE_NATIVE : JW_STATE_RUNNING;
    struct vm_thread_state vm;

    *is_passing = false;
    if (!vm_thread_state(env, &vm))
        return plain;
    if (vm.place == VM_THREAD_IN_JAVA)
        return JW_STATE_RUNNING;
    switch (vm.wait) {
    case VM_THREAD_ENTERS:
        return JW_STATE_BLOCKED;
    case VM_THREAD_WAITS:
        return JW_STATE_WAITING;
    case VM_THREAD_SLEEPS:
        return JW_STATE_SLEEPING;
    case VM_THREAD_ON_CONDITION:
        /* Parked, asleep (JDK 17 and later wait so inside Thread.sleep), or the JVM itself waits. */
        return is_unwalked ? JW_STATE_PARKED : of_method(wait_in(java, top), plain);
    case VM_THREAD_RUNS:
        /* A safepoint, a lock of the JVM: over soon, and then the thread wants to run, if it may. */
        *is_passing = vm.place == VM_THREAD_BLOCKED;
        return plain;
    case VM_THREAD_UNKNOWN:
        break;
    }
    return guess(&vm, wait_in(java, top), top, plain);
}
