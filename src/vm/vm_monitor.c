/* Owners of monitors; control for finding out how they are told, hook, handler. */
#include "vm/vm_monitor.h"

#include "vm/vm_colour.h"
#include "vm/vm_field_id.h"
#include "vm/vm_internal.h"
#include "vm/vm_object.h"
#include "vm/vm_safepoint.h"
#include "vm/vm_threads.h"

/* A collector may move the object between two looks at it. */
#define TRIES 10

/* Source: OpenJDK, markWord.hpp: the lowest two bits of the mark of an object that has a monitor. */
#define MARK_BITS    3u
#define MARK_MONITOR 2u

/* Source: OpenJDK, jobject.hpp (JNIHandles): the lowest bits of a reference say of what kind it is. */
#define REFERENCE_BITS 3u

/* Source: OpenJDK, objectMonitor.hpp, ANONYMOUS_OWNER, from JDK 21 on. */
#define UNNAMED_OWNER     1u
#define UNNAMED_MAJOR_MIN 21

/* Source: OpenJDK, lockStack.hpp: 8 entries; some more do no harm. */
#define LOCK_STACK_MAX 16

/* Newer monitors are looked at when one that was just made is searched for. */
#define LISTED_MAX 1000

enum monitor_way { WAY_NONE, WAY_BY_THREAD, WAY_BY_NUMBER };

/* How an object's monitor is found. */
enum monitor_lead {
    LEAD_MARK,   /* its mark leads there */
    LEAD_THREAD, /* the thread that waits for it does */
};

static struct {
    enum monitor_way way;
    enum monitor_lead lead;
    bool
        is_handle; /* `_object` leads to a word with the object's address, and is not that address */
    struct vm_colour colour; /* of the object's word; none: it is that of references to it, too */
    vm_addr newest;          /* word that leads to the monitor that was made last; 0: not known */
    struct vm_field mark, object, owner, next;
    struct vm_field pending, waiting;       /* of a JavaThread: its monitors */
    struct vm_field stack_base, stack_size; /* of a JavaThread */
    struct vm_field owner_number;           /* of a JavaThread, from JDK 24 on */
    struct vm_field lock_stack, top, first; /* a JavaThread's, and inside of it */
} monitors;

JW_SIGNAL_SAFE static bool load_object(vm_addr monitor, uint64_t *object)
{
    return vm_load_field(monitor, monitors.object, object) &&
           (!monitors.is_handle || safe_load_u64(*object, object)) &&
           vm_uncolour(&monitors.colour, object);
}

static bool leads_to(vm_addr monitor, uint64_t object)
{
    uint64_t back;

    return vm_is_plausible(monitor) && load_object(monitor, &back) && back == object;
}

/* What its mark and its monitor agree upon. */
static vm_addr find_by_mark(uint64_t object)
{
    uint64_t mark;

    if (!vm_load_field(object, monitors.mark, &mark) || (mark & MARK_BITS) != MARK_MONITOR)
        return 0;
    const vm_addr monitor = mark & ~(uint64_t)MARK_BITS;
    return leads_to(monitor, object) ? monitor : 0;
}

/* One that the thread waits for, to enter it or in Object.wait. */
static vm_addr find_by_thread(vm_addr thread, uint64_t object)
{
    uint64_t monitor;

    if (vm_load_field(thread, monitors.pending, &monitor) && leads_to(monitor, object))
        return monitor;
    return vm_load_field(thread, monitors.waiting, &monitor) && leads_to(monitor, object) ? monitor
                                                                                          : 0;
}

/* Among the last that were made. Some may be taken away meanwhile: what is read then leads to no object of ours. */
static vm_addr find_in_list(uint64_t object)
{
    uint64_t monitor;
    bool is_read = monitors.newest != 0 && safe_load_u64(monitors.newest, &monitor);

    for (int i = 0; i < LISTED_MAX && is_read && monitor != 0; i++) {
        if (leads_to(monitor, object))
            return monitor;
        is_read = vm_load_field(monitor, monitors.next, &monitor);
    }
    return 0;
}

static bool load_handle(jobject of, uint64_t *object)
{
    return safe_load_u64((vm_addr)of & ~(vm_addr)REFERENCE_BITS, object) &&
           vm_is_plausible(*object);
}

vm_addr vm_monitor_of(const void *env, jobject object)
{
    const vm_addr thread = vm_thread_of_env(env);
    uint64_t found, again;

    for (int i = 0; i < TRIES && monitors.way != WAY_NONE && load_handle(object, &found); i++) {
        const vm_addr monitor =
            monitors.lead == LEAD_MARK ? find_by_mark(found) : find_by_thread(thread, found);

        if (monitor != 0 && load_handle(object, &again) && again == found)
            return monitor;
    }
    return 0;
}

JW_SIGNAL_SAFE static enum vm_owner_kind kind_of(uint64_t owner)
{
    if (owner == 0)
        return VM_OWNER_NONE;
    if (owner == UNNAMED_OWNER && vm_layout.major >= UNNAMED_MAJOR_MIN)
        return VM_OWNER_UNNAMED;
    if (monitors.way == WAY_BY_NUMBER)
        return VM_OWNER_NUMBER;
    return vm_is_plausible(owner) ? VM_OWNER_ADDRESS : VM_OWNER_UNKNOWN;
}

void vm_monitor_owner(vm_addr monitor, struct vm_owner *out)
{
    uint64_t os_thread, tid;

    *out = (struct vm_owner){0};
    if (monitors.way == WAY_NONE || !vm_load_field(monitor, monitors.owner, &out->value))
        return;
    out->kind = kind_of(out->value);
    /* A word on a stack hardly leads to a number of a thread; whoever takes it for one asks that thread. */
    if (out->kind == VM_OWNER_ADDRESS &&
        vm_load_field(out->value, vm_layout.thread_osthread, &os_thread) &&
        vm_load_field(os_thread, vm_layout.osthread_tid, &tid))
        out->tid = (uint32_t)tid;
}

JW_SIGNAL_SAFE static bool is_on_stack(vm_addr thread, uint64_t addr)
{
    uint64_t base, size_bytes;

    return vm_load_field(thread, monitors.stack_base, &base) &&
           vm_load_field(thread, monitors.stack_size, &size_bytes) && addr < base &&
           base - addr <= size_bytes;
}

/* Its objects as they stand at this moment. */
JW_SIGNAL_SAFE static bool is_in_lock_stack(vm_addr thread, uint64_t object)
{
    uint64_t top, entry;

    if (!vm_has(monitors.lock_stack) || !vm_has(monitors.first) ||
        !vm_load_field(thread + (vm_addr)monitors.lock_stack.offset, monitors.top, &top))
        return false;
    const uint64_t first = (uint64_t)monitors.lock_stack.offset + (uint64_t)monitors.first.offset;
    for (uint64_t at = first; at < top && at < first + LOCK_STACK_MAX * sizeof entry;
         at += sizeof entry)
        if (safe_load_u64(thread + at, &entry) && entry == object)
            return true;
    return false;
}

bool vm_monitor_wants_mended(void)
{
    uint64_t count;

    return monitors.way != WAY_NONE && monitors.colour.bad_bits != 0 &&
           vm_has(monitors.lock_stack) && vm_has(monitors.first) && vm_safepoint_count(&count);
}

bool vm_monitor_is_unnamed(vm_addr monitor)
{
    struct vm_owner owner;

    vm_monitor_owner(monitor, &owner);
    return owner.kind == VM_OWNER_UNNAMED;
}

bool vm_monitor_locks_any(const void *env)
{
    const vm_addr thread = vm_thread_of_env(env);
    uint64_t top;

    return thread != 0 && vm_has(monitors.lock_stack) && vm_has(monitors.first) &&
           vm_load_field(thread + (vm_addr)monitors.lock_stack.offset, monitors.top, &top) &&
           top > (uint64_t)monitors.lock_stack.offset + (uint64_t)monitors.first.offset;
}

vm_addr vm_monitor_object(jobject local)
{
    uint64_t object;

    return local != NULL && load_handle(local, &object) ? object : 0;
}

bool vm_monitor_is_locked_by(vm_addr object, const void *env)
{
    const vm_addr thread = vm_thread_of_env(env);

    return thread != 0 && object != 0 && is_in_lock_stack(thread, object);
}

/*
 * The same object all the time that its address is looked for: no safepoint may have moved it, and others. ZGC moves objects
 * while threads run, and comes to lock stacks later, when another object may have that address.
 */
JW_SIGNAL_SAFE static bool keeps_object_of(vm_addr thread, vm_addr monitor)
{
    uint64_t object, again, count = 0, count_again = 0;
    const bool is_counted = vm_safepoint_count(&count);

    return monitors.colour.bad_bits == 0 && load_object(monitor, &object) && object != 0 &&
           is_in_lock_stack(thread, object) && load_object(monitor, &again) && again == object &&
           (!is_counted || (vm_safepoint_count(&count_again) && count_again == count));
}

bool vm_monitor_is_owned_by(vm_addr monitor, const void *env)
{
    const vm_addr thread = vm_thread_of_env(env);
    struct vm_owner owner;
    uint64_t number;

    vm_monitor_owner(monitor, &owner);
    if (thread == 0 || owner.kind == VM_OWNER_UNKNOWN || owner.kind == VM_OWNER_NONE)
        return false;
    if (owner.kind == VM_OWNER_UNNAMED)
        return keeps_object_of(thread, monitor);
    if (owner.kind == VM_OWNER_NUMBER)
        return vm_load_field(thread, monitors.owner_number, &number) && number == owner.value;
    return owner.value == thread || is_on_stack(thread, owner.value);
}

vm_addr vm_monitor_class(vm_addr monitor)
{
    uint64_t object, again;

    for (int i = 0; i < TRIES && monitors.way != WAY_NONE; i++) {
        const vm_addr klass = load_object(monitor, &object) ? vm_object_class(object) : 0;

        if (klass != 0 && load_object(monitor, &again) && again == object)
            return klass;
    }
    return 0;
}

/* The JVM locks the object, whose monitor must name the calling thread. */
static bool names_own(JNIEnv *jni, vm_addr monitor, jobject thread)
{
    struct vm_owner owner;

    vm_monitor_owner(monitor, &owner);
    return monitor != 0 &&
           (monitors.way == WAY_BY_NUMBER
                ? owner.kind == VM_OWNER_NUMBER && owner.value == vm_java_thread_id(jni, thread)
                : owner.kind == VM_OWNER_ADDRESS && owner.value == vm_thread_of_env(jni));
}

/* Where the mark does not lead there, threads that wait do; each monitor that they name proves itself by its object. */
static bool try_ways(JNIEnv *jni, jobject object, jobject thread)
{
    uint64_t found;

    for (int i = 0; i < 2 && load_handle(object, &found); i++) {
        monitors.is_handle = i == 0;
        monitors.way = vm_has(monitors.owner_number) ? WAY_BY_NUMBER : WAY_BY_THREAD;
        monitors.lead = LEAD_MARK;
        if (names_own(jni, find_by_mark(found), thread))
            return true;
        monitors.lead = LEAD_THREAD;
        if (vm_has(monitors.pending) && names_own(jni, find_in_list(found), thread))
            return true;
    }
    monitors.way = WAY_NONE;
    return false;
}

static jobject make_object(JNIEnv *jni)
{
    jclass type = (*jni)->FindClass(jni, "java/lang/Object");
    jobject object = type == NULL ? NULL : (*jni)->AllocObject(jni, type);

    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (type != NULL)
        (*jni)->DeleteLocalRef(jni, type);
    return object;
}

/* A JavaThread's, or a Thread's, as up to JDK 11. */
static struct vm_field thread_field(const char *name)
{
    const struct vm_field of_java = vm_structs_field("JavaThread", name);
    struct vm_field field = vm_has(of_java) ? of_java : vm_structs_field("Thread", name);

    field.width = sizeof(uint64_t);
    return field;
}

/* The ZGC without generations gives references and monitors the same colour. */
static void resolve_colour(void)
{
    if (!vm_colour_find(&monitors.colour) || monitors.colour.shift == 0)
        monitors.colour = (struct vm_colour){0};
}

/* Source: OpenJDK, synchronizer.hpp, MonitorList, from JDK 17 on: who is new stands at the head. */
static void resolve_list(void)
{
    const uintptr_t list = vm_structs_static("ObjectSynchronizer", "_in_use_list");
    const struct vm_field head = vm_structs_field("MonitorList", "_head");

    monitors.next = vm_structs_field("ObjectMonitor", "_next_om");
    monitors.next.width = sizeof(uint64_t);
    monitors.newest =
        list == 0 || !vm_has(head) || !vm_has(monitors.next) ? 0 : list + (uintptr_t)head.offset;
}

static void resolve(void)
{
    monitors.mark = vm_structs_field("oopDesc", "_mark");
    monitors.object = vm_structs_field("ObjectMonitor", "_object");
    monitors.owner = vm_structs_field("ObjectMonitor", "_owner");
    monitors.owner_number = vm_structs_field("JavaThread", "_monitor_owner_id");
    monitors.stack_base = vm_structs_field("JavaThread", "_stack_base");
    monitors.stack_size = vm_structs_field("JavaThread", "_stack_size");
    monitors.lock_stack = vm_structs_field("JavaThread", "_lock_stack");
    monitors.top = vm_structs_field("LockStack", "_top");
    monitors.first = vm_structs_field("LockStack", "_base[0]");
    /* Words, whatever the table calls their types. */
    monitors.mark.width = monitors.object.width = monitors.owner.width = sizeof(uint64_t);
    monitors.stack_base.width = monitors.stack_size.width = sizeof(uint64_t);
    monitors.owner_number.width = sizeof(uint64_t);
    monitors.top.width = sizeof(uint32_t);
    monitors.pending = thread_field("_current_pending_monitor");
    monitors.waiting = thread_field("_current_waiting_monitor");
    resolve_list();
    resolve_colour();
}

bool vm_monitor_open(JNIEnv *jni, jobject calling_thread, struct jw_error *why)
{
    bool is_proved = false;

    if (monitors.way != WAY_NONE)
        return true;
    resolve();
    if (!vm_has(monitors.mark) || !vm_has(monitors.object) || !vm_has(monitors.owner)) {
        jw_error_set(why, "this JVM does not tell where its monitors have their owners");
        return false;
    }
    /* Locked through JNI an object has a monitor. Source: OpenJDK, ObjectSynchronizer::jni_enter. */
    jobject object = make_object(jni);
    if (object != NULL && (*jni)->MonitorEnter(jni, object) == JNI_OK) {
        for (int i = 0; i < TRIES && !is_proved; i++)
            is_proved = try_ways(jni, object, calling_thread);
        (void)(*jni)->MonitorExit(jni, object);
    }
    if (object != NULL)
        (*jni)->DeleteLocalRef(jni, object);
    if (is_proved && monitors.way == WAY_BY_NUMBER)
        vm_threads_open(vm_java_thread_id(jni, calling_thread));
    if (!is_proved)
        jw_error_set(why,
                     "of an object that a thread has locked no monitor is found that leads back "
                     "to it and names the thread");
    return is_proved;
}
