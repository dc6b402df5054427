/*
 * vm_mounted - which virtual thread a carrier runs at this moment.
 *
 * For      whose sample it is: a virtual thread's own, on whatever carrier it runs, and with its context.
 * Callers  agent (open), sampler.
 * Context  vm_mounted_open: control, before any engine runs. vm_thread_mounted: handler, on the thread that is asked about;
 *          hook, any, on the calling thread. vm_thread_mounted_name: handler, on the thread that is asked about.
 * Memory   a few constants.
 *
 * From JDK 24 on a JavaThread keeps the number of the thread that runs on it: it owns the monitors. From 21 to 23 it
 * keeps the mounted thread's object, and the number is read out of that: only with a collector that moves objects in
 * safepoints alone, and only where the thread keeps the JVM from reaching one, in Java or in the JVM itself.
 * Source: OpenJDK, javaThread.hpp: _monitor_owner_id (JDK-8338383, JEP 491), _vthread and _threadObj (JEP 444), all in
 * vmStructs. Each way is tried at start on the thread that starts, whose number is known. Its name stands in the object, so it
 * is read under those conditions on every JDK.
 */
#ifndef JW_VM_VM_MOUNTED_H
#define JW_VM_VM_MOUNTED_H

#include "vm/vm_string.h"

enum vm_mounted_way {
    VM_MOUNTED_NEVER,     /* this JVM has no virtual threads */
    VM_MOUNTED_BY_NUMBER, /* always told */
    VM_MOUNTED_BY_OBJECT, /* told in Java and in the JVM, not in native code */
    VM_MOUNTED_NOT_TOLD,
};

/* Finds out how this JVM tells; once, later calls give the same answer. The calling thread is a platform thread. */
enum vm_mounted_way vm_mounted_open(JNIEnv *jni, jobject calling_thread);

/* Whether names can be told on this JVM, after that. */
bool vm_mounted_tells_names(void);

/* One may be mounted, and which one cannot be told now. */
#define VM_MOUNTED_UNTOLD UINT64_MAX

/*
 * Thread.threadId() of the virtual thread that is mounted on this thread; 0: none is. `own_id`: number of the thread
 * itself; 0: not known (yet), then a number says nothing.
 */
JW_SIGNAL_SAFE uint64_t vm_thread_mounted(const void *env, uint64_t own_id);

/* What the virtual thread of this number, which is mounted, is called; false: it cannot be told now. "" is a name. */
JW_SIGNAL_SAFE bool vm_thread_mounted_name(const void *env, uint64_t number, struct vm_string *out);

/* The object of the virtual thread that is mounted on a JavaThread; false: none is. It means something only where and as long
 * as objects stand still. */
JW_SIGNAL_SAFE bool vm_mounted_object(vm_addr thread, vm_addr *object);

#endif
