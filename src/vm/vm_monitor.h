/*
 * vm_monitor - whose a monitor is, at this moment.
 *
 * For      naming who keeps a thread waiting: the thread that owns the monitor which another one waits for.
 * Callers  agent (open, hooks, owners.c), sampler (handler of the owner).
 * Context  vm_monitor_open: control. vm_monitor_of: hook, on the thread whose local reference it is. vm_monitor_owner,
 *          vm_monitor_is_owned_by: handler, hook, any.
 * Memory   a few constants.
 *
 * The mark of an object whose monitor was ever waited for leads to the monitor, which names its owner:
 *
 *     JDK 8 to 23    address of a JavaThread, or of a word on its stack (it locked before there was a monitor)
 *     from JDK 24    number of a thread, which may be a virtual one
 *     from JDK 21    1: somebody who locked before there was a monitor, and keeps the object in his lock stack
 *
 * A monitor is read while a thread waits for it: it is not freed before. The object may be moved any time between two reads,
 * so it proves itself: the monitor leads back to it.
 *
 * Where monitors stand in a table of their own (UseObjectMonitorTable, always from JDK 28 on) the mark leads nowhere. Who
 * begins to wait has the monitor in a field of its JavaThread by then, also where a virtual thread waits that will leave it; what
 * is read there must lead to the object, too. That monitors tell owners at all is tried on an object of its own, which
 * vm_monitor_open locks: its monitor is found by its mark, or else in the JVM's list of monitors.
 *
 * ZGC colours addresses; the colour is taken off as the JVM does it. Its lock stacks may be out of date: nobody is known by them as they
 * stand. A handshake mends that of its thread before anything else is done there, and it stays mended until the next safepoint: who asks for
 * one, and sees no safepoint begin, may compare addresses.
 * Source: OpenJDK, handshake.cpp (HandshakeOperation::prepare), safepointMechanism.cpp (process), zStackWatermark.cpp (start_processing_impl),
 * javaThread.cpp (oops_do_no_frames): all oops of a thread that are in no frame are mended where the first one is. JDK 21 to 28.
 * Source: OpenJDK, objectMonitor.hpp, objectMonitor.cpp (notify_contended_enter), markWord.hpp, lockStack.hpp; seen on 8, 17,
 * 21, 25 and 28.
 */
#ifndef JW_VM_VM_MONITOR_H
#define JW_VM_VM_MONITOR_H

#include "vm/vm.h"

enum vm_owner_kind {
    VM_OWNER_UNKNOWN, /* unreadable */
    VM_OWNER_NONE,    /* free at this moment */
    VM_OWNER_ADDRESS, /* `value`: a JavaThread, or a word on its stack */
    VM_OWNER_NUMBER,  /* `value`: number of the thread */
    VM_OWNER_UNNAMED, /* whose lock stack has the object */
};

struct vm_owner {
    enum vm_owner_kind kind;
    uint64_t value;
    uint32_t tid; /* ADDRESS: of the operating system; 0: not known */
};

/* Tries it on an object of its own, which the calling thread locks. False, and why: no monitor is known. After a success
 * it is true at once. */
JW_MUST_CHECK bool vm_monitor_open(JNIEnv *jni, jobject calling_thread, struct jw_error *why);

/*
 * The monitor of the object behind a local reference; 0: it has none, or it cannot be told. `env`: of the calling thread, which
 * is told by the JVM that it begins to wait for it, or has waited in Object.wait.
 */
vm_addr vm_monitor_of(const void *env, jobject object);

/* Says what the monitor says; somebody waits for it. */
JW_SIGNAL_SAFE void vm_monitor_owner(vm_addr monitor, struct vm_owner *out);

/*
 * Whether the thread in this JNIEnv, or the virtual thread that it runs, owns the monitor. Of the calling thread, in a
 * handler, it is certain; of another one a guess, since its memory may have gone to another one.
 */
JW_SIGNAL_SAFE bool vm_monitor_is_owned_by(vm_addr monitor, const void *env);

/*
 * ---- where lock stacks have to be mended first ----
 *
 * True: so it is here, and it can be told whether a safepoint came between. Context: any.
 */
bool vm_monitor_wants_mended(void);

/*
 * Who owns it took it before there was a monitor. While the same wait for it goes on that is one and the same thread: once it lets go, the
 * next one owns it by name, and nobody takes it without the monitor before that is given up.
 */
JW_SIGNAL_SAFE bool vm_monitor_is_unnamed(vm_addr monitor);

/* Whether the thread has anything in its lock stack; a guess of one that runs. Context: any. */
bool vm_monitor_locks_any(const void *env);

/* Where the object behind a local reference of the calling thread, just made, stands until the next safepoint; 0: none. Context: any. */
vm_addr vm_monitor_object(jobject local);

/* Whether the lock stack of the thread has it. Says something of one that was mended since the last safepoint. Context: any. */
bool vm_monitor_is_locked_by(vm_addr object, const void *env);

/* Klass* of the object, as it stands at this moment; 0: it cannot be told. Context: any. */
vm_addr vm_monitor_class(vm_addr monitor);

#endif
