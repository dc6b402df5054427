/* Deadlocks, as the sampler finds them; the agent's thread. */
#include "agent/deadlocks.h"

#include <stdio.h>

#include "agent/agent.h"
#include "agent/locks.h"
#include "base/clock.h"
#include "sampler/sampler_locks.h"

/* Those that were found at the last turn, and are told at the next one, when their stacks are there. */
static struct {
    struct sampler_deadlocked all[4 * SAMPLER_DEADLOCK_MAX];
    uint32_t count, told_count;
    uint64_t found_ns, turned_ns;
} dead;

void deadlocks_begin(void)
{
    dead.count = dead.told_count = 0;
}

static const char *name_of(const struct sampler_deadlocked *one, struct thread_info *info)
{
    if (one->is_virtual || !thread_info(one->thread, info) || (uint32_t)info->serial != one->serial)
        snprintf(info->java_name, sizeof info->java_name, "thread %llu",
                 (unsigned long long)one->who);
    return info->java_name;
}

/* The one of the same deadlock that is waited for. */
static const struct sampler_deadlocked *owner_of(const struct sampler_deadlocked *one)
{
    for (uint32_t i = 0; i < dead.count; i++)
        if (dead.all[i].number == one->number && dead.all[i].who == one->owner_who)
            return &dead.all[i];
    return one;
}

static void tell_deadlock(const struct sampler_deadlocked *one)
{
    static struct thread_info info, owner_info;

    agent_log(
        OPTIONS_LOGLEVEL_WARN,
        "lock: deadlock %u: \"%s\" has waited for %llu ms for the lock at 0x%llx, which \"%s\" has",
        one->number, name_of(one, &info),
        (unsigned long long)((dead.found_ns - one->begin_ns) / JW_NS_PER_MS),
        (unsigned long long)one->address, name_of(owner_of(one), &owner_info));
}

void deadlocks_turn(void)
{
    const uint64_t now_ns = jw_now_ns();

    if (!locks_are_on() || now_ns - dead.turned_ns < JW_NS_PER_SECOND ||
        dead.told_count < dead.count)
        return;
    dead.turned_ns = dead.found_ns = now_ns;
    dead.told_count = 0;
    dead.count = sampler_lock_turn(dead.all, JW_COUNT_OF(dead.all));
    for (uint32_t i = 0; i < dead.count; i++)
        tell_deadlock(&dead.all[i]);
}

/* Their stacks come with the generation in which they were found, at the latest. */
static bool ask_deadlocked(void *context, struct recording_deadlocked *out)
{
    (void)context;
    if (dead.told_count == dead.count || jw_now_ns() - dead.found_ns < JW_NS_PER_SECOND / 2)
        return false;

    const struct sampler_deadlocked *one = &dead.all[dead.told_count++];
    const struct sampler_deadlocked *owner = owner_of(one);
    *out = (struct recording_deadlocked){
        .number = one->number,
        .begin_ns = one->begin_ns,
        .found_ns = dead.found_ns,
        .address = one->address,
        .thread = one->thread,
        .serial = one->serial,
        .owner = owner->thread,
        .owner_serial = owner->serial,
        .virtual_number = one->is_virtual ? one->who : 0,
        .owner_virtual_number = owner->is_virtual ? owner->who : 0,
    };
    return true;
}

void deadlocks_fill(struct recording_sources *out)
{
    out->deadlocked = ask_deadlocked;
}
