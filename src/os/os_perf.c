/* Events of the kernel, without descriptors; any, and handlers for what lies in a ring. */
#include "os/os_perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/memory.h"
#include "os/os_read_internal.h"
#include "os/os_tasks.h"

/* One page that tells, and one of data: seven samples with 64 frames each fit. */
#define RING_PAGES 2

/* Of a check: no sample comes of it. */
#define NEVER_NS (3600 * JW_NS_PER_SECOND)

#define WORD_BYTES sizeof(uint64_t)

/* -------- why not --------------------------------------------------------------------------- */

static long setting_of(const char *path)
{
    char text[32];

    return os_read_start(path, text, sizeof text) == 0 ? -100 : strtol(text, NULL, 10);
}

/* What is counted while the kernel's code runs, whoever called it. A probe's place is a function of the kernel, or a file. */
static bool is_of_kernel(const struct os_perf_event *event)
{
    return event->place[0] != '\0' ? event->place[0] != '/'
                                   : event->type == PERF_TYPE_SOFTWARE &&
                                         (event->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                                          event->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

/*
 * Source: Linux, perf_event_open and perf_allow_kernel: paranoia 2 lets everybody have what is of user code alone, 1 what is of the
 * kernel, too; perf_trace_event_perm: without raw data a tracepoint is like the rest; perf_kprobe_event_init,
 * perf_uprobe_event_init: a probe takes the capability.
 */
static void tell_denied(const struct os_perf_event *event, struct jw_error *err)
{
    const long paranoia = setting_of("/proc/sys/kernel/perf_event_paranoid");

    if (event->place[0] != '\0')
        jw_error_set(err,
                     "perf_event_open: denied (a probe needs CAP_PERFMON, or before Linux 5.8 "
                     "CAP_SYS_ADMIN, whatever kernel.perf_event_paranoid says); give the process "
                     "that capability");
    else
        jw_error_set(err,
                     "perf_event_open: denied (kernel.perf_event_paranoid is %ld, and the process "
                     "has no CAP_PERFMON); try sysctl kernel.perf_event_paranoid=1, or give it "
                     "that capability%s",
                     paranoia,
                     paranoia == 2 && !event->is_user_only && !is_of_kernel(event)
                         ? ", or add alluser: user code alone"
                         : "");
}

/* The kernel has no driver for the processor's counters, or its driver not this one. */
static void tell_absent(const struct os_perf_event *event, int reason, struct jw_error *err)
{
    const bool is_of_processor = event->type == PERF_TYPE_HARDWARE ||
                                 event->type == PERF_TYPE_HW_CACHE || event->type == PERF_TYPE_RAW;

    if (is_of_processor)
        jw_error_set(err,
                     "perf_event_open: this processor counts no such event, or the virtual machine "
                     "hides its counters (%s); try another machine, or event=cpu-clock",
                     strerror(reason));
    else if (event->place[0] != '\0')
        jw_error_set(err, "perf_event_open: no probe can be set in %.200s (%s)", event->place,
                     strerror(reason));
    else
        jw_error_set(err, "perf_event_open: this machine has no such event (%s)", strerror(reason));
}

static void tell_limit(int reason, struct jw_error *err)
{
    struct rlimit limit = {0, 0};

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    jw_error_set(err, "perf_event_open: %s (RLIMIT_NOFILE %llu); raise it with ulimit -n",
                 strerror(reason), (unsigned long long)limit.rlim_cur);
}

static void tell_memory(int reason, struct jw_error *err)
{
    struct rlimit limit = {0, 0};

    (void)getrlimit(RLIMIT_MEMLOCK, &limit);
    jw_error_set(err,
                 "mmap of the ring of a perf event: %s (kernel.perf_event_mlock_kb %ld a "
                 "processor, RLIMIT_MEMLOCK "
                 "%llu bytes); try sysctl kernel.perf_event_mlock_kb=65536, or ulimit -l",
                 strerror(reason), setting_of("/proc/sys/kernel/perf_event_mlock_kb"),
                 (unsigned long long)limit.rlim_cur);
}

static enum os_perf_status refuse(const struct os_perf_event *event, int reason, int tid,
                                  struct jw_error *err)
{
    switch (reason) {
    case EACCES:
        tell_denied(event, err);
        return OS_PERF_REFUSED;
    case EPERM:
        jw_error_set(
            err,
            "perf_event_open: not permitted, as by the filter of system calls of a container, or "
            "in a "
            "kernel that is locked down; try --cap-add PERFMON, or --security-opt seccomp=PROFILE "
            "with perf_event_open in it");
        return OS_PERF_REFUSED;
    case EMFILE:
    case ENFILE:
        tell_limit(reason, err);
        return OS_PERF_LIMIT;
    case ENOMEM:
    case EAGAIN:
        jw_error_set(err, "perf_event_open for thread %d: %s", tid, strerror(reason));
        return OS_PERF_LIMIT;
    case ENOSYS:
        jw_error_set(err,
                     "perf_event_open: this kernel, or what stands in for it, has no perf_events");
        return OS_PERF_REFUSED;
    case ESRCH:
        jw_error_set(err, "perf_event_open for thread %d: the process has no such thread", tid);
        return OS_PERF_NO_THREAD;
    default:
        tell_absent(event, reason, err);
        return OS_PERF_REFUSED;
    }
}

/*
 * A clock that the kernel holds back while it serves that clock's interrupt waited there for itself. Source: Linux,
 * perf_event_throttle and cpu_clock_event_stop since 6.16, mended in 6.18; async-profiler#1578 and #1599. Some builds of
 * 6.17 have the mend, which their number does not tell.
 */
bool os_perf_kernel_hangs(const char *release)
{
    char *end;
    const unsigned long major = strtoul(release, &end, 10);

    if (end == release || *end != '.')
        return true;
    const unsigned long minor = strtoul(end + 1, NULL, 10);
    return major == 6 && (minor == 16 || minor == 17);
}

/* -------- open and close -------------------------------------------------------------------- */

struct os_perf_event os_perf_cpu_clock(uint64_t interval_ns, uint64_t user_registers)
{
    return (struct os_perf_event){
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .period = interval_ns,
        .user_registers = user_registers,
    };
}

static int open_event(const struct os_perf_event *event, int tid)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = event->type;
    attr.config = event->config;
    attr.config1 = event->place[0] == '\0' ? 0 : (uintptr_t)event->place;
    attr.config2 = event->config2;
    attr.sample_period = event->period;
    attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN;
    if (event->user_registers != 0) /* none of them is an error, not nothing */
        attr.sample_type |= PERF_SAMPLE_REGS_USER;
    attr.sample_regs_user = event->user_registers;
    attr.sample_max_stack = OS_PERF_FRAMES_MAX;
    attr.disabled = 1;
    attr.exclude_hv = 1;
    attr.exclude_callchain_user = 1;
    attr.exclude_kernel = event->is_user_only;
    attr.exclude_callchain_kernel = event->is_user_only;
    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The order matters: from the last call on signals come. */
static bool begin(int descriptor, int tid, int signal_number)
{
    const struct f_owner_ex owner = {F_OWNER_TID, tid};

    return fcntl(descriptor, F_SETOWN_EX, &owner) == 0 &&
           fcntl(descriptor, F_SETSIG, signal_number) == 0 &&
           fcntl(descriptor, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 &&
           ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

enum os_perf_status os_perf_open(struct os_perf_ring *ring, const struct os_perf_event *event,
                                 int tid, int signal_number, os_perf_tell_number *tell,
                                 struct jw_error *err)
{
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE) * RING_PAGES;
    enum os_perf_status status = OS_PERF_LIMIT;

    *ring = (struct os_perf_ring){0};
    if (!jw_memory_charge(JW_MEMORY_EVENTS, bytes)) {
        jw_error_set(err, "memlimit leaves no room for the ring of a perf event; try a larger one");
        return status;
    }
    const int descriptor = open_event(event, tid);
    if (descriptor < 0) {
        status = refuse(event, errno, tid, err);
        goto fail;
    }
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) {
        tell_memory(errno, err);
        goto fail_open;
    }
    tell(descriptor);
    if (!begin(descriptor, tid, signal_number)) {
        const int reason = errno;

        status = os_task_is_alive(tid) ? OS_PERF_REFUSED : OS_PERF_NO_THREAD;
        jw_error_set(err, "a perf event for thread %d cannot send signal %d: %s", tid,
                     signal_number, strerror(reason));
        (void)munmap(memory, bytes);
        goto fail_open;
    }
    (void)close(descriptor);
    *ring = (struct os_perf_ring){.memory = memory, .bytes = bytes};
    return OS_PERF_OK;

fail_open:
    (void)close(descriptor);
fail:
    jw_memory_credit(JW_MEMORY_EVENTS, bytes);
    return status;
}

void os_perf_close(struct os_perf_ring *ring)
{
    if (ring->memory == NULL)
        return;
    /* Refused, it stays, and so does what it costs. */
    if (munmap(ring->memory, ring->bytes) == 0)
        jw_memory_credit(JW_MEMORY_EVENTS, ring->bytes);
    ring->memory = NULL;
}

static void forget_number(int number)
{
    (void)number;
}

/* Whose samples come by a timer of the kernel, which is what hangs. */
static bool is_clock(const struct os_perf_event *event)
{
    return event->type == PERF_TYPE_SOFTWARE && event->place[0] == '\0' &&
           (event->config == PERF_COUNT_SW_CPU_CLOCK || event->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool os_perf_check(const struct os_perf_event *event, struct jw_error *err)
{
    struct os_perf_event trial = *event;
    struct os_perf_ring ring;
    struct utsname system;

    if (is_clock(event) && (uname(&system) != 0 || os_perf_kernel_hangs(system.release))) {
        jw_error_set(
            err,
            "Linux 6.16 and 6.17 may stop the whole machine when such an event is sampled; it is "
            "mended in 6.18");
        return false;
    }
    if (event->is_user_only && is_of_kernel(event)) {
        jw_error_set(err, "with alluser there is none of it, as it comes about in the kernel; "
                          "leave alluser out");
        return false;
    }
    trial.period = NEVER_NS;
    if (os_perf_open(&ring, &trial, os_gettid(), 0, forget_number, err) != OS_PERF_OK)
        return false;
    os_perf_close(&ring);
    return true;
}

bool os_perf_may(const struct os_perf_event *event, struct jw_error *err)
{
    const int descriptor = open_event(event, os_gettid());
    const int reason = descriptor < 0 ? errno : 0;

    if (descriptor >= 0)
        (void)close(descriptor);
    if (reason != EACCES && reason != EPERM && reason != ENOSYS)
        return true;
    (void)refuse(event, reason, os_gettid(), err);
    return false;
}

/* -------- a ring, in a handler -------------------------------------------------------------- */

static JW_SIGNAL_SAFE struct perf_event_mmap_page *page_of(const struct os_perf_ring *ring)
{
    return ring->memory;
}

static JW_SIGNAL_SAFE uint64_t room_bytes(const struct os_perf_ring *ring)
{
    return ring->bytes / RING_PAGES * (RING_PAGES - 1);
}

/* Records are whole words, and begin at one. */
static JW_SIGNAL_SAFE uint64_t word(const struct os_perf_ring *ring, uint64_t at)
{
    const unsigned char *data = (const unsigned char *)ring->memory + ring->bytes / RING_PAGES;
    uint64_t value;

    memcpy(&value, data + (at & (room_bytes(ring) - 1) & ~(WORD_BYTES - 1)), sizeof value);
    return value;
}

/* PERF_SAMPLE_READ, CALLCHAIN and REGS_USER: the count; how many frames, and these; how registers are told, and two. */
static JW_SIGNAL_SAFE void read_sample(const struct os_perf_ring *ring, uint64_t at, uint64_t end,
                                       struct os_perf_sample *out)
{
    const uint64_t words = (end - at) / WORD_BYTES;

    *out = (struct os_perf_sample){0};
    if (words < 2)
        return;
    const uint64_t frames = word(ring, at + WORD_BYTES);
    const uint64_t frames_at = at + 2 * WORD_BYTES;
    out->count = word(ring, at);
    out->frames_at = frames_at;
    out->frame_count = (uint32_t)(frames < words - 2 ? frames : words - 2);
    if (frames > words - 2 || words - 2 - frames < 3)
        return;
    const uint64_t registers_at = frames_at + frames * WORD_BYTES;
    if (word(ring, registers_at) == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    out->user_sp = (uintptr_t)word(ring, registers_at + WORD_BYTES);
    out->user_pc = (uintptr_t)word(ring, registers_at + 2 * WORD_BYTES);
}

bool os_perf_next(const struct os_perf_ring *ring, struct os_perf_reading *reading,
                  struct os_perf_sample *sample)
{
    struct perf_event_mmap_page *page = page_of(ring);

    if (!reading->is_begun) {
        reading->is_begun = true;
        reading->at = page->data_tail; /* nobody but the readers of this ring writes it */
        /* order PERF_RING: acquires the records that the kernel wrote before it moved its end. */
        reading->end = jw_load_acquire((_Atomic __u64 *)&page->data_head);
    }
    while (reading->end - reading->at >= sizeof(struct perf_event_header)) {
        const uint64_t head = word(ring, reading->at);
        struct perf_event_header header;

        memcpy(&header, &head, sizeof header);
        const uint64_t at = reading->at + sizeof header, end = reading->at + header.size;
        /* What no kernel writes: the rest is left alone. */
        if (header.size < sizeof header || header.size % WORD_BYTES != 0 ||
            header.size > reading->end - reading->at) {
            reading->at = reading->end;
            break;
        }
        reading->at = end;
        if (header.type == PERF_RECORD_SAMPLE) {
            read_sample(ring, at, end, sample);
            return true;
        }
        if (header.type == PERF_RECORD_LOST && end - at >= 2 * WORD_BYTES)
            reading->lost_count += word(ring, at + WORD_BYTES);
        else if (header.type == PERF_RECORD_THROTTLE)
            reading->throttled_count++;
    }
    return false;
}

/* Between frames stand words that say whose the next ones are. */
uint64_t os_perf_frame(const struct os_perf_ring *ring, const struct os_perf_sample *sample,
                       uint32_t index)
{
    const uint64_t address = word(ring, sample->frames_at + index * WORD_BYTES);

    return address >= (uint64_t)PERF_CONTEXT_MAX || address >> 63 == 0 ? 0 : address;
}

void os_perf_done(const struct os_perf_ring *ring, const struct os_perf_reading *reading)
{
    /* order PERF_RING: releases the room of the records that were read to the kernel. */
    jw_store_release((_Atomic __u64 *)&page_of(ring)->data_tail, reading->at);
}
