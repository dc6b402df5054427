/*
 * os_perf - events of the kernel (perf_events) that signal a thread, and the ring in which it says what it saw.
 *
 * For      CPU samples with the kernel's part of the stack; counters.
 * Callers  sampler; agent (whether it can be had).
 * Context  os_perf_open, os_perf_close, os_perf_check, os_perf_may: any, hook, dump, control. os_perf_next, os_perf_frame,
 *          os_perf_done: handler, on the thread that the event is of.
 * Memory   two pages for each event, mapped; the kernel counts them against perf_event_mlock_kb.
 *
 * No descriptor is held: it is closed as soon as the ring is mapped, and the mapping alone keeps the event alive. So none can be
 * taken for one of the program's that got its number since, none is inherited, and none counts against RLIMIT_NOFILE. The
 * signal carries the number that the descriptor had, as a number alone; nothing is ever asked of it.
 * Source: Linux, kernel/events/core.c (a mapping holds the file, perf_mmap; perf_release is the end of the event), fs/file_table.c
 * (__fput takes the file off those that signal, at its last reference), fs/fcntl.c (send_sigio_to_task).
 *
 * May these overlap on one ring?   next/frame/done with close: never; the caller proves it.
 */
#ifndef JW_OS_OS_PERF_H
#define JW_OS_OS_PERF_H

#include "base/jw.h"
#include "base/perf_event.h"

#define OS_PERF_FRAMES_MAX 64u /* of the kernel's part of a stack */

/* What the kernel is to count, in its own terms (perf_event_open(2)). */
struct os_perf_event {
    uint32_t type;
    uint64_t config, config2;
    uint64_t period; /* a sample each so many; of a clock, nanoseconds */
    uint64_t
        user_registers; /* two, of which the lower is the stack pointer, the higher the pc; 0: none */
    bool is_user_only; /* nothing of the kernel: no counts, no frames */
    char place
        [JW_PERF_NAME_BYTES]; /* of probes: the kernel's function, or a file; config2 is an offset */
};

struct os_perf_ring {
    void *memory; /* NULL: not open */
    size_t bytes;
};

enum os_perf_status {
    OS_PERF_OK,
    OS_PERF_NO_THREAD, /* no such thread in this process (any more); nothing is wrong */
    OS_PERF_LIMIT,     /* of descriptors, or of memory for rings; a later try may succeed */
    OS_PERF_REFUSED,   /* anything else: trying again does not help */
};

/* The event of a clock of CPU time. */
struct os_perf_event os_perf_cpu_clock(uint64_t interval_ns, uint64_t user_registers);

/*
 * What a spelling of base/perf_event.h asks the kernel for; but a uprobe's place must be an offset, as in
 * "uprobe:/lib/libc.so.6+0xa0700". False and `err`: this kernel has no such event, or does not say. Period, registers and
 * is_user_only are the caller's to fill in. Context: any.
 */
JW_MUST_CHECK bool os_perf_find(const char *text, struct os_perf_event *out, struct jw_error *err);

/* Is told the number that signals of an event will carry, before the first one. */
typedef void os_perf_tell_number(int number);

/*
 * Counts for thread `tid` of this process, from now on, and sends it `signal_number` at each sample: si_code is POLL_IN, si_fd
 * the number that is told. Other than OS_PERF_OK: the ring is not open, and `err` says why, and what to try.
 */
JW_MUST_CHECK enum os_perf_status os_perf_open(struct os_perf_ring *ring,
                                               const struct os_perf_event *event, int tid,
                                               int signal_number, os_perf_tell_number *tell,
                                               struct jw_error *err);

/*
 * No signal is sent from now on; one that was sent may still arrive. Does nothing on a ring that is not open. The kernel lets the caller
 * wait for the end of a tracepoint or probe, 30 to 400 ms, while the event's own thread runs on.
 */
void os_perf_close(struct os_perf_ring *ring);

/* Whether this process may have such events: `err` says why not, and what to try. */
JW_MUST_CHECK bool os_perf_check(const struct os_perf_event *event, struct jw_error *err);

/* Whether it is let have events of this kind, wherever their place is: false and `err` only where it is refused them all. */
JW_MUST_CHECK bool os_perf_may(const struct os_perf_event *event, struct jw_error *err);

/* Kernels that may stop the whole machine when such a clock is sampled, by what uname says. */
bool os_perf_kernel_hangs(const char *release);

/* A reading of what lies in a ring; begins zeroed. */
struct os_perf_reading {
    uint64_t at, end;
    bool is_begun;
    uint64_t lost_count;      /* records that found no room */
    uint64_t throttled_count; /* times that the kernel held the event back, as it came too often */
};

struct os_perf_sample {
    uint64_t count;             /* what the event has counted in all */
    uintptr_t user_sp, user_pc; /* of the thread, when it last was in its own code; 0: not told */
    uint64_t frames_at;
    uint32_t frame_count;
};

/* The next sample, oldest first; false: there is none. */
JW_SIGNAL_SAFE bool os_perf_next(const struct os_perf_ring *ring, struct os_perf_reading *reading,
                                 struct os_perf_sample *sample);

/* An address in the kernel, of frame `index` from the innermost on; 0: not of the kernel's code. */
JW_SIGNAL_SAFE uint64_t os_perf_frame(const struct os_perf_ring *ring,
                                      const struct os_perf_sample *sample, uint32_t index);

/* What was read is the kernel's to write again. */
JW_SIGNAL_SAFE void os_perf_done(const struct os_perf_ring *ring,
                                 const struct os_perf_reading *reading);

#endif
