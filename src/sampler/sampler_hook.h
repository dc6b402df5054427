/*
 * sampler_hook - a sample that no signal stands behind: of the calling thread, from a hook.
 *
 * For      engines that are told of something by the JVM on the thread that does it: allocations, locks.
 * Callers  agent (hooks).
 * Context  sampler_hook, sampler_hook_name: hook, on a Java thread that is in native code Java or the JVM called. The thread's Java frames are
 *          walked from where the JVM has noted that it left them; native frames are not.
 *          sampler_hook_open, _close: control. sampler_hook_bytes: all.
 * Memory   as of a sample by a signal: a room to walk in, and the generation.
 * Progress wait-free but for the walk, which ends: nothing is allocated, no lock is taken, the JVM is not called.
 *
 * Such samples are none of signals = samples + losses. They have counters of their own, by which
 *     hookCalls = hookSamples + hookFiltered + sum of hookLost... + samples under way.
 *
 * The gate: hooks come as long as the JVM has somebody to tell, which is a moment longer than a session. It is open between
 * _open and _close; who comes when it is shut does nothing, and _close waits for who is inside.
 */
#ifndef JW_SAMPLER_SAMPLER_HOOK_H
#define JW_SAMPLER_SAMPLER_HOOK_H

#include "event/event.h"
#include "vm/vm.h"

struct sampler_hook {
    uint16_t kind;      /* enum event_kind; this and what follows becomes the record as it is */
    uint16_t flags;     /* by kind */
    uint16_t state;     /* by kind */
    uint16_t share;     /* by kind */
    uint64_t time_ns;   /* 0: now */
    uint64_t weight_ns; /* or in the unit of the kind */
    uint64_t value;
    uint32_t name;   /* by kind */
    uint32_t object; /* by kind */
    /* A class that cannot be unloaded meanwhile, whose name becomes class_name: its Klass*; or, where that is not known, its
     * name as the JVM has it, "java/lang/String". 0 and NULL: there is none. */
    vm_addr klass;
    const char *class_text;
    size_t class_bytes;
    /* Of DECLARED: bytes that go into `payloads`, and whose id becomes `name`. NULL: none. */
    const void *payload;
    size_t payload_bytes;
    /* Of the virtual thread that calls, as the caller knows it. NULL: it does not. */
    const char *virtual_name;
    size_t virtual_bytes;
    bool is_resumed;    /* it is mounted, and its frames are all in the heap still */
    uint32_t depth_max; /* of the stack: the rest is not wanted; 0: as others have it */
};

/* True: it was taken, and is HOOK_SAMPLES; false: not, which is counted, but where the gate is shut. */
bool sampler_hook(const struct sampler_hook *sample);

/* The same, and what became of it. */
enum sampler_hook_end {
    SAMPLER_HOOK_TAKEN,
    SAMPLER_HOOK_SHUT,     /* the gate: nothing is recorded */
    SAMPLER_HOOK_FILTERED, /* the thread is one of those that are kept out */
    SAMPLER_HOOK_LOST,
};
enum sampler_hook_end sampler_hook_ended(const struct sampler_hook *sample);

/* What another virtual thread is called, for wherever its number is told. */
void sampler_hook_name(uint64_t number, const char *name, size_t name_bytes);

/* By sampler_start and sampler_stop. False: one is still inside at the deadline, as jw_now_ns has it. */
void sampler_hook_open(void);
JW_MUST_CHECK bool sampler_hook_close(uint64_t deadline_ns);

/*
 * What a sampled object stands for where the JVM samples a byte in `interval_bytes`, each with the same chance: an object of
 * s bytes is sampled with 1 - exp(-s/interval), so s divided by that makes sums right. Source: JVMTI, SetHeapSamplingInterval
 * ("... on average"); OpenJDK, threadHeapSampler.cpp: distances are exponential.
 */
uint64_t sampler_hook_bytes(uint64_t object_bytes, uint64_t interval_bytes);

#endif
