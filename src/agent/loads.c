/*
 * What each thread has had of the processors, every ten seconds; dump. Its CPU clock says how much, exactly, and the kernel's ticks how that
 * is parted between the program and the kernel.
 */
#include <string.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/memory.h"
#include "os/os_info.h"
#include "os/os_tasks.h"
#include "os/os_timer.h"
#include "recording/recording.h"
#include "thread/thread.h"

#define PERIOD_NS   (10 * JW_NS_PER_SECOND) /* as the JVM's own recorder has it */
#define SHORTEST_NS (JW_NS_PER_SECOND / 2)  /* of the last one of a recording */
#define FIRST_ROOM  64u

/* What a thread had used by the last look. */
struct used {
    uint64_t serial;
    uint64_t cpu_ns, user_ns, system_ns;
};

static struct {
    struct used *all; /* by index of the thread */
    size_t room;
    uint64_t looked_ns; /* 0: not yet in this recording */
    uint64_t now_ns;
    uint32_t processors;
    struct recording *recording;
} loads;

static struct used *used_of(thread_index index)
{
    size_t room = loads.room == 0 ? FIRST_ROOM : loads.room;

    while (room <= index)
        room *= 2;
    if (room != loads.room) {
        struct used *all = jw_realloc(loads.all, jw_mul_bytes(room, sizeof *all));

        if (all == NULL)
            return NULL;
        memset(all + loads.room, 0, (room - loads.room) * sizeof *all);
        loads.all = all;
        loads.room = room;
    }
    return &loads.all[index];
}

/* Ticks are few where a thread runs for moments: who has none in this time is taken to have run code of the program. */
static void tell(thread_index index, const struct used *before, const struct used *now)
{
    const uint64_t cpu_ns = now->cpu_ns - before->cpu_ns;
    const uint64_t user_ns = now->user_ns - before->user_ns;
    const uint64_t system_ns = now->system_ns - before->system_ns;
    const double ticks_ns = (double)(user_ns + system_ns);
    const double system_share = ticks_ns == 0 ? 0 : (double)system_ns / ticks_ns;
    const double load =
        (double)cpu_ns / ((double)(loads.now_ns - loads.looked_ns) * loads.processors);
    const struct recording_thread_load told = {
        .index = index,
        .serial = (uint32_t)now->serial,
        .user = load * (1 - system_share),
        .system = load * system_share,
    };

    recording_thread_load(loads.recording, &told);
}

static void look_at(thread_index index, bool is_live, void *argument)
{
    struct used *used = is_live ? used_of(index) : NULL;
    struct used now = {.serial = thread_serial(index)};
    const int tid = (int)thread_tid(index);
    struct os_task_facts facts;
    uint64_t cpu_ns;

    (void)argument;
    if (used == NULL || !os_thread_cpu_ns(tid, &cpu_ns) ||
        (used->serial == now.serial && used->cpu_ns == cpu_ns) || !os_task_facts(tid, &facts))
        return;
    now.cpu_ns = cpu_ns;
    now.user_ns = facts.user_ns;
    now.system_ns = facts.system_ns;
    const struct used none = {.serial = now.serial};
    const bool is_known = used->serial == now.serial;
    /* Of one that was there before the first look it is not known how much of it is of this time. */
    if (loads.looked_ns != 0 && (is_known || thread_begin_ns(index) >= loads.looked_ns))
        tell(index, is_known ? used : &none, &now);
    *used = now;
}

void loads_turn(struct recording *recording, bool is_last)
{
    struct os_cpu_info cpu;
    const uint64_t now_ns = jw_now_ns();
    const uint64_t span_ns = now_ns - loads.looked_ns;

    if (recording_format_of(recording) != RECORDING_JFR ||
        (loads.looked_ns != 0 && span_ns < (is_last ? SHORTEST_NS : PERIOD_NS)))
        return;
    if (loads.processors == 0) {
        os_cpu_info(&cpu);
        loads.processors = cpu.hardware_threads == 0 ? 1 : cpu.hardware_threads;
    }
    loads.recording = recording;
    loads.now_ns = now_ns;
    threads_each(look_at, NULL);
    loads.looked_ns = now_ns;
    loads.recording = NULL;
}

void loads_begin(struct recording *recording)
{
    jw_free(loads.all);
    memset(&loads, 0, sizeof loads);
    loads_turn(recording, false);
}
