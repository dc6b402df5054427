/* Deadlocks, as the sampler finds them; the agent's thread. */
#include "agent/deadlocks.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/api_internal.h"
#include "agent/locks.h"
#include "agent/virtual_stacks.h"
#include "base/clock.h"
#include "sampler/sampler_locks.h"

/* Those that were found at the last turn, and are told at the next one, when their stacks are there. */
static struct {
    struct sampler_deadlocked all[4 * SAMPLER_DEADLOCK_MAX];
    struct virtual_stack stacks[4 * SAMPLER_DEADLOCK_MAX]; /* of virtual threads */
    uint32_t count, told_count;
    uint64_t found_ns, turned_ns;
} dead;

static void forget(void)
{
    for (uint32_t i = 0; i < dead.count; i++)
        virtual_stack_free(agent.jvmti, &dead.stacks[i]);
    dead.count = dead.told_count = 0;
}

void deadlocks_begin(void)
{
    /* Lines of methods; without it stacks have none. */
    const jvmtiCapabilities wanted = {.can_get_line_numbers = 1};

    (void)(*agent.jvmti)->AddCapabilities(agent.jvmti, &wanted);
    forget();
}

void deadlocks_end(void)
{
    forget();
}

static struct virtual_stack *stack_of(const struct sampler_deadlocked *one)
{
    return &dead.stacks[one - dead.all];
}

static const char *name_of(const struct sampler_deadlocked *one, struct thread_info *info)
{
    if (stack_of(one)->name[0] != '\0')
        return stack_of(one)->name;
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

/* The reference is of the virtual thread that waited there when it was taken. */
static void ask(JNIEnv *jni, struct sampler_deadlocked *one)
{
    struct virtual_stack *stack = stack_of(one);

    *stack = (struct virtual_stack){.count = 0};
    if (one->waiter == 0 || jni == NULL)
        return;
    if (one->is_virtual && api_thread_number(jni, (jobject)one->waiter) == one->who)
        virtual_stack_ask(agent.jvmti, jni, (jthread)one->waiter, stack);
    if (!sampler_lock_goes_on(one))
        virtual_stack_free(agent.jvmti, stack);
    (*jni)->DeleteGlobalRef(jni, (jobject)one->waiter);
    one->waiter = 0;
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

void deadlocks_turn(JNIEnv *jni)
{
    const uint64_t now_ns = jw_now_ns();

    if (locks_are_on())
        sampler_lock_look();
    if (!locks_are_on() || now_ns - dead.turned_ns < JW_NS_PER_SECOND ||
        dead.told_count < dead.count)
        return;
    dead.turned_ns = dead.found_ns = now_ns;
    forget();
    dead.count = sampler_lock_turn(dead.all, JW_COUNT_OF(dead.all));
    for (uint32_t i = 0; i < dead.count; i++)
        ask(jni, &dead.all[i]);
    for (uint32_t i = 0; i < dead.count; i++)
        tell_deadlock(&dead.all[i]);
}

static struct recording_text text_of(const char *text)
{
    const size_t length_bytes = strlen(text);

    return length_bytes == 0 ? (struct recording_text){NULL, 0}
                             : (struct recording_text){text, length_bytes};
}

/* Stacks of platform threads come with the generation in which they were found, at the latest. */
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
        .virtual_name = text_of(stack_of(one)->name),
        .owner_virtual_name = text_of(stack_of(owner)->name),
        .class_name = text_of(one->class_name),
        .frames = stack_of(one)->frames,
        .frame_count = stack_of(one)->count,
        .is_truncated = stack_of(one)->is_truncated,
    };
    return true;
}

void deadlocks_fill(struct recording_sources *out)
{
    out->deadlocked = ask_deadlocked;
}
