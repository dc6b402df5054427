/* The CPU ledger of the run: clocks from the sampler to the recording, totals to who asks; dump, control. */
#include <pthread.h>

#include "agent/agent.h"
#include "recording/recording.h"
#include "sampler/sampler_cpu.h"

/* As of the last turn; of the last run when none goes on. */
static struct {
    pthread_mutex_t lock;
    struct jw_ledger totals;
    bool is_known;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_wanted; /* constant while a session goes on */

static void tell_thread(const struct sampler_cpu *cpu, void *recording)
{
    const struct recording_thread_cpu told = {
        .index = cpu->thread,
        .serial = (uint32_t)cpu->serial,
        .used_ns = cpu->used_ns,
        .is_ended = cpu->is_ended,
        .is_short = cpu->is_short,
        .is_own = cpu->is_own,
        .is_refused = cpu->is_refused,
        .is_left_out = cpu->is_left_out,
    };

    recording_thread_cpu(recording, &told);
}

static void keep(const struct jw_ledger *totals, bool is_known)
{
    pthread_mutex_lock(&last.lock);
    last.is_known = is_known;
    if (is_known)
        last.totals = *totals;
    pthread_mutex_unlock(&last.lock);
}

void ledger_begin(bool has_cpu_samples)
{
    is_wanted = has_cpu_samples;
    keep(NULL, false);
}

void ledger_turn(struct recording *recording, uint64_t oldest_generation)
{
    struct jw_ledger totals;

    if (!is_wanted)
        return;
    sampler_cpu_each(oldest_generation, tell_thread, recording);
    recording_process_cpu(recording, sampler_process_cpu_ns());
    if (recording_get_ledger(recording, &totals))
        keep(&totals, true);
}

bool ledger_tell(char *text, size_t room_bytes)
{
    pthread_mutex_lock(&last.lock);
    const bool is_known = last.is_known;
    const struct jw_ledger totals = last.totals;
    pthread_mutex_unlock(&last.lock);
    if (is_known)
        (void)jw_ledger_sentence(&totals, text, room_bytes);
    return is_known;
}
