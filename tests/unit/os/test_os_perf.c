/* Events of the kernel on this very thread, and rings as the kernel writes them. */
#include "os/os_perf.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "os/os_tasks.h"
#include "os/os_timer.h"

#define INTERVAL_NS JW_NS_PER_MS
#define PAGE_BYTES  4096u
#define BUSY_NS     (10 * JW_NS_PER_MS) /* what fits into a ring */

#if defined(__x86_64__)
#define SP_AND_PC (UINT64_C(1) << 7 | UINT64_C(1) << 8)
#else
#define SP_AND_PC (UINT64_C(1) << 31 | UINT64_C(1) << 32)
#endif

static struct jw_error err;
static _Atomic uint64_t signals, foreign_signals;
static _Atomic int number;

static void keep_number(int of_ring)
{
    jw_store_relaxed(&number, of_ring);
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)context;
    if (info->si_code == POLL_IN && info->si_fd == jw_load_relaxed(&number))
        jw_add_relaxed(&signals, 1);
    else
        jw_add_relaxed(&foreign_signals, 1);
}

static void burn(uint64_t duration_ns)
{
    uint64_t begin_ns = 0, now_ns = 0;

    cr_assert(os_thread_cpu_ns(os_gettid(), &begin_ns));
    do
        cr_assert(os_thread_cpu_ns(os_gettid(), &now_ns));
    while (now_ns - begin_ns < duration_ns);
}

static struct os_perf_ring open_own(void)
{
    const struct os_perf_event event = os_perf_cpu_clock(INTERVAL_NS, SP_AND_PC);
    struct sigaction action;
    struct os_perf_ring ring;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    cr_assert(eq(int, sigaction(SIGPROF, &action, NULL), 0));
    if (!os_perf_check(&event, &err))
        cr_skip_test("NOT RUN: %s", err.message);
    cr_assert(eq(int, (int)os_perf_open(&ring, &event, os_gettid(), SIGPROF, keep_number, &err),
                 OS_PERF_OK),
              "%s", err.message);
    return ring;
}

TestSuite(os_perf, .timeout = 1800);

Test(os_perf, m66_kernels_that_may_stop_the_machine_are_known_by_their_release)
{
    cr_assert(os_perf_kernel_hangs("6.16.0"));
    cr_assert(os_perf_kernel_hangs("6.17.1-300.fc43.x86_64"));
    cr_assert(not(os_perf_kernel_hangs("6.15.4-200.fc42.x86_64")));
    cr_assert(not(os_perf_kernel_hangs("6.18.44-fc-v669")));
    cr_assert(not(os_perf_kernel_hangs("5.16.2")));
    cr_assert(not(os_perf_kernel_hangs("7.17.0")));
    cr_assert(os_perf_kernel_hangs("nonsense"), "what cannot be told is not tried");
}

/* The mapping alone keeps the event. */
Test(os_perf, signals_come_without_a_descriptor_and_end_with_the_ring)
{
    struct os_perf_ring ring = open_own();
    struct os_perf_reading reading = {0};
    struct os_perf_sample sample;
    uint64_t count = 0, samples = 0;

    cr_assert(eq(int, fcntl(jw_load_relaxed(&number), F_GETFD), -1));
    burn(BUSY_NS);
    /* Before the ring is read: the next one may come at any moment, with a record that this reading has not. */
    const uint64_t told = jw_load_relaxed(&signals);
    while (os_perf_next(&ring, &reading, &sample)) {
        cr_assert(lt(u64, count, sample.count), "what is counted goes on");
        cr_assert(ne(u64, sample.user_sp, 0));
        count = sample.count;
        samples++;
    }
    os_perf_done(&ring, &reading);
    cr_assert(ge(u64, told, 1));
    cr_assert(ge(u64, samples + reading.lost_count, told));
    cr_assert(ge(u64, count, samples * INTERVAL_NS));
    os_perf_close(&ring);

    const uint64_t before = jw_load_relaxed(&signals);
    burn(BUSY_NS);
    cr_assert(eq(u64, jw_load_relaxed(&signals), before));
    cr_assert(eq(u64, jw_load_relaxed(&foreign_signals), 0));
    os_perf_close(&ring); /* does nothing */
}

/* A thread that reads zeros is in the kernel most of its time. */
Test(os_perf, samples_in_the_kernel_have_its_frames)
{
    static char zeros[1 << 20];
    struct os_perf_ring ring = open_own();
    const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    uint64_t with_frames = 0;

    while (with_frames < 3) {
        struct os_perf_reading reading = {0};
        struct os_perf_sample sample;

        cr_assert(lt(long, 0, (long)pread(zero, zeros, sizeof zeros, 0)));
        while (os_perf_next(&ring, &reading, &sample)) {
            uint32_t frames = 0;

            cr_assert(le(u32, sample.frame_count, OS_PERF_FRAMES_MAX + 1));
            for (uint32_t i = 0; i < sample.frame_count; i++)
                frames += os_perf_frame(&ring, &sample, i) != 0;
            with_frames += frames > 0;
        }
        os_perf_done(&ring, &reading);
    }
    (void)close(zero);
    os_perf_close(&ring);
}

Test(os_perf, m42_without_a_descriptor_left_the_limit_is_told)
{
    const struct os_perf_event event = os_perf_cpu_clock(INTERVAL_NS, SP_AND_PC);
    struct rlimit limit, none;
    struct os_perf_ring ring = open_own();

    os_perf_close(&ring);
    cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &limit), 0));
    none = (struct rlimit){0, limit.rlim_max};
    cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &none), 0));
    const enum os_perf_status status =
        os_perf_open(&ring, &event, os_gettid(), SIGPROF, keep_number, &err);
    cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &limit), 0));
    cr_assert(eq(int, (int)status, OS_PERF_LIMIT));
    cr_assert(strstr(err.message, "ulimit -n") != NULL, "%s", err.message);
    cr_assert(eq(ptr, ring.memory, NULL));
}

Test(os_perf, an_event_that_no_machine_has_is_refused_with_the_reason)
{
    struct os_perf_event event = os_perf_cpu_clock(INTERVAL_NS, SP_AND_PC);
    struct os_perf_ring ring = open_own();

    os_perf_close(&ring);
    event.config = 0xffff;
    cr_assert(eq(int, (int)os_perf_open(&ring, &event, os_gettid(), SIGPROF, keep_number, &err),
                 OS_PERF_REFUSED));
    cr_assert(strstr(err.message, "no such event") != NULL, "%s", err.message);
}

/* A clock of this thread, opened with one period and set to another after so much CPU time; what it has counted at its first sample,
 * and in `set_at_ns` when it was set. */
static uint64_t first_sample_ns(uint64_t opened_ns, uint64_t set_ns, uint64_t wait_ns,
                                uint64_t *set_at_ns)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .sample_period = opened_ns,
                                   .sample_type = PERF_SAMPLE_READ,
                                   .disabled = 1};
    const int event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    struct perf_event_mmap_page *page =
        mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    uint64_t value = 0;

    cr_assert(page != MAP_FAILED);
    if (wait_ns > 0)
        cr_assert(eq(int, ioctl(event, PERF_EVENT_IOC_ENABLE, 0), 0));
    while (value < wait_ns)
        cr_assert(eq(long, (long)read(event, &value, sizeof value), (long)sizeof value));
    *set_at_ns = value;
    cr_assert(eq(int, ioctl(event, PERF_EVENT_IOC_PERIOD, &set_ns), 0));
    cr_assert(eq(int, ioctl(event, PERF_EVENT_IOC_ENABLE, 0), 0));
    while (__atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) == 0)
        burn(JW_NS_PER_MS / 10);
    memcpy(&value, (const char *)page + PAGE_BYTES + sizeof(struct perf_event_header),
           sizeof value);
    (void)munmap(page, 2 * PAGE_BYTES);
    (void)close(event);
    return value;
}

/* So no event of the kernel begins with a part of its period, at random: ADR 29. */
Test(os_perf, an_event_whose_period_is_set_begins_a_whole_one)
{
    struct os_perf_ring ring = open_own();
    uint64_t set_at_ns;

    os_perf_close(&ring);
    cr_assert(ge(u64, first_sample_ns(BUSY_NS, 4 * BUSY_NS, 0, &set_at_ns), 4 * BUSY_NS));
    const uint64_t value_ns = first_sample_ns(4 * BUSY_NS, 4 * BUSY_NS, BUSY_NS, &set_at_ns);
    cr_assert(ge(u64, value_ns, set_at_ns + 4 * BUSY_NS));
}

/* What users meet who are not root: kernel.perf_event_paranoid is 2 where nobody changed it. */
Test(os_perf, m66_who_may_not_is_told_the_cure)
{
    const struct os_perf_event event = os_perf_cpu_clock(INTERVAL_NS, SP_AND_PC);
    struct os_perf_ring ring = open_own();

    os_perf_close(&ring);
    if (getuid() != 0 || setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
        cr_skip_test("NOT RUN: only root can become somebody who may not");
    if (os_perf_check(&event, &err))
        cr_skip_test("NOT RUN: kernel.perf_event_paranoid lets everybody");
    cr_assert(strstr(err.message, "sysctl kernel.perf_event_paranoid=1") != NULL, "%s",
              err.message);
}

/* -------- rings of our own ------------------------------------------------------------------ */

static _Alignas(PAGE_BYTES) unsigned char pages[2][PAGE_BYTES];
static const struct os_perf_ring made = {.memory = pages, .bytes = sizeof pages};

static void put(uint64_t *at, uint64_t value)
{
    memcpy(pages[1] + *at % PAGE_BYTES, &value, sizeof value);
    *at += sizeof value;
}

static void put_head(uint64_t *at, uint32_t type, uint32_t words)
{
    put(at, type | (uint64_t)(words + 1) * 8 << 48);
}

static void set_ends(uint64_t tail, uint64_t head)
{
    struct perf_event_mmap_page *page = (void *)pages[0];

    page->data_tail = tail;
    page->data_head = head;
}

Test(os_perf, records_are_told_apart_also_across_the_end_of_the_ring)
{
    const uint64_t tail = 5 * PAGE_BYTES - 24;
    struct os_perf_reading reading = {0};
    struct os_perf_sample sample;
    uint64_t at = tail;

    put_head(&at, PERF_RECORD_LOST, 2);
    put(&at, 1);
    put(&at, 7);
    put_head(&at, PERF_RECORD_SAMPLE, 8);
    put(&at, 1000);
    put(&at, 3);
    put(&at, (uint64_t)PERF_CONTEXT_KERNEL);
    put(&at, 0xffffffff81000123);
    put(&at, 0x1234);
    put(&at, PERF_SAMPLE_REGS_ABI_64);
    put(&at, 0x7ffe0000);
    put(&at, 0x400123);
    put_head(&at, PERF_RECORD_THROTTLE, 3);
    for (int i = 0; i < 3; i++)
        put(&at, 0);
    put_head(&at, PERF_RECORD_SAMPLE, 3); /* in its own code: no frames; no registers told */
    put(&at, 2000);
    put(&at, 0);
    put(&at, PERF_SAMPLE_REGS_ABI_NONE);
    set_ends(tail, at);

    cr_assert(os_perf_next(&made, &reading, &sample));
    cr_assert(eq(u64, sample.count, 1000));
    cr_assert(eq(u32, sample.frame_count, 3));
    cr_assert(eq(u64, os_perf_frame(&made, &sample, 0), 0));
    cr_assert(eq(u64, os_perf_frame(&made, &sample, 1), 0xffffffff81000123));
    cr_assert(eq(u64, os_perf_frame(&made, &sample, 2), 0));
    cr_assert(eq(u64, sample.user_sp, 0x7ffe0000));
    cr_assert(eq(u64, sample.user_pc, 0x400123));
    cr_assert(eq(u64, reading.lost_count, 7));
    cr_assert(os_perf_next(&made, &reading, &sample));
    cr_assert(eq(u64, sample.count, 2000));
    cr_assert(eq(u32, sample.frame_count, 0));
    cr_assert(eq(u64, sample.user_sp, 0));
    cr_assert(not(os_perf_next(&made, &reading, &sample)));
    cr_assert(eq(u64, reading.throttled_count, 1));
    os_perf_done(&made, &reading);
    cr_assert(eq(u64, ((struct perf_event_mmap_page *)(void *)pages[0])->data_tail, at));
}

/* Whatever is written there, nothing outside of the ring is read, and the reading ends. */
Test(os_perf, damaged_rings_end_the_reading)
{
    srand(1);
    for (int round = 0; round < 20000; round++) {
        struct os_perf_reading reading = {0};
        struct os_perf_sample sample;
        const uint64_t tail = (uint64_t)rand() % 64 * 8;
        uint64_t at = tail;

        for (int i = 0; i < 40; i++)
            put(&at, rand() % 3 == 0 ? PERF_RECORD_SAMPLE | (uint64_t)(rand() % 12 * 4) << 48
                                     : (uint64_t)rand() << (rand() % 48));
        set_ends(tail, tail + (uint64_t)rand() % 400);
        while (os_perf_next(&made, &reading, &sample)) {
            cr_assert(le(u32, sample.frame_count, 400 / 8));
            for (uint32_t i = 0; i < sample.frame_count; i++)
                (void)os_perf_frame(&made, &sample, i);
        }
        os_perf_done(&made, &reading);
    }
}
