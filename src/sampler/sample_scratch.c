/* Room for the stacks that handlers walk at the same time; take and give in handlers. */
#include <unistd.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "base/memory.h"
#include "sampler/sampler_internal.h"

/* A handler that is preempted keeps its room, so there are more than processors. */
#define SCRATCH_PER_CPU 4
#define SCRATCH_MIN     32
#define SCRATCH_MAX     1024
#define SCRATCH_PROBES  16

static struct sample_scratch *pool;
static uint32_t pool_count;

bool sample_scratch_open(struct jw_error *err)
{
    if (pool != NULL)
        return true;

    const long cpus = sysconf(_SC_NPROCESSORS_CONF);
    long count = cpus * SCRATCH_PER_CPU;
    count = count < SCRATCH_MIN ? SCRATCH_MIN : count > SCRATCH_MAX ? SCRATCH_MAX : count;

    /* Half of the memory for walking; the other is for deep stacks. */
    const uint64_t most =
        jw_memory_limit_of(JW_MEMORY_WALKING, UINT64_MAX) / 2 / sizeof(struct sample_scratch);
    if ((uint64_t)count > most)
        count = (long)most;

    pool_count = (uint32_t)count;
    pool = sampler_reserve(JW_MEMORY_WALKING, (size_t)count, sizeof *pool, err);
    return pool != NULL;
}

struct sample_scratch *sample_scratch_take(uint32_t tid)
{
    const uint32_t start = (uint32_t)jw_hash_word(tid);

    for (uint32_t probe = 0; probe < SCRATCH_PROBES && probe < pool_count; probe++) {
        struct sample_scratch *scratch = &pool[(start + probe) % pool_count];
        uint32_t is_taken = 0;

        /* order SCRATCH: acquires the end of the use before. */
        if (jw_cas_acq_rel(&scratch->is_taken, &is_taken, 1))
            return scratch;
    }
    return NULL;
}

void sample_scratch_give(struct sample_scratch *scratch)
{
    /* order SCRATCH: releases the room to its next user. */
    jw_store_release(&scratch->is_taken, 0);
}
