/*
 * vm_klass - the class behind a class object, and how often there was one at its address.
 *
 * For      an identity of methods that survives unloading: an address of a Klass is given again, and so are those
 *          of its methods. Each time that a class is prepared, the serial number of its address goes up; what was
 *          remembered under the number before is no longer true.
 * Callers  agent (open, hooks), vm (identity of methods).
 * Context  vm_klass_open: control. vm_klass_of: hook, control. vm_klass_prepared: hook. vm_klass_serial: handler.
 * Memory   static; 256 KiB, touched as far as classes are prepared.
 * Progress wait-free.
 *
 * A class object may be moved by the collector at any time but while the JVM itself looks at it. So the JVM is asked,
 * through JNI's GetLongField: HotSpot keeps the Klass* in a field of the class object that Java does not see,
 * and tells where (java_lang_Class::_klass_offset). The id of such a field is made here, as HotSpot makes those of other
 * fields; that this is right is tried at start, on classes that are known, and where it is not, or where the JVM
 * checks such ids (-Xcheck:jni), no class is told from another: every class that is prepared then is taken for all.
 */
#ifndef JW_VM_VM_KLASS_H
#define JW_VM_VM_KLASS_H

#include "vm/vm.h"

/* After vm_open; tried again each time until it succeeds. `thread`: the calling one. False, and why: vm_klass_of knows
 * no class. */
JW_MUST_CHECK bool vm_klass_open(JNIEnv *jni, jobject thread, struct jw_error *why);

/* The Klass* of a class object; 0: not known. */
vm_addr vm_klass_of(JNIEnv *jni, jclass mirror);

/* A class was made at this address, and none of its code has run yet. 0: at an address that is not known, so that no
 * number given before counts any longer. */
void vm_klass_prepared(vm_addr klass);

/*
 * Two equal numbers for one address: no class was prepared there in between. Where a method of the class
 * stands on the stack of the calling thread, which has thus seen the number that the class's own preparation left, the
 * class that bore the number before is this one.
 */
JW_SIGNAL_SAFE uint32_t vm_klass_serial(vm_addr klass);

#endif
