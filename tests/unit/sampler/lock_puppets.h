/*
 * lock_puppets - threads of a fake JVM that wait for locks when the test says so; whose a monitor is the test says, too.
 */
#ifndef JW_TESTS_UNIT_SAMPLER_LOCK_PUPPETS_H
#define JW_TESTS_UNIT_SAMPLER_LOCK_PUPPETS_H

#include "unit/vm/fake_monitor.h"

#include <criterion/new/assert.h>
#include <stdlib.h>

#include "base/atomics.h"
#include "sampler/sampler_lock_internal.h"
#include "unit/sampler/puppets.h"

#define THREADS     4
#define FIRST_OWN   100 /* number of the first puppet */
#define FIRST_VIRT  1000
#define LONG_AGO_NS (2 * JW_NS_PER_SECOND) /* longer than what is looked at again */

static _Alignas(8) unsigned char monitors_of[THREADS][256]; /* each of the puppet with that index */
static uint64_t counted_before[JW_COUNT_LIMIT];

static inline uint64_t counted(enum jw_counter_id id)
{
    return jw_counter(id) - counted_before[id];
}

static inline vm_addr monitor_of(uint32_t i)
{
    return (vm_addr)(uintptr_t)monitors_of[i];
}

/* The owner of each monitor is read by others meanwhile, as the JVM's are. */
static inline void give_monitor(uint32_t i, uint64_t number)
{
    jw_store_relaxed((_Atomic uint64_t *)(void *)(monitors_of[i] + OWNER_AT), number);
}

static inline void carry(struct puppet *puppet, uint64_t number)
{
    jw_store_relaxed(
        (_Atomic uint64_t *)(void *)(puppet->java + offset_of("JavaThread", "_monitor_owner_id")),
        number);
}

static inline void open_locks(void)
{
    open_well(LAYOUT_25);
    mount(); /* at first what runs on the thread is not its own: so the way is found by the number */
    set_owner(OWN_ID);
    cr_assert(eq(int, vm_mounted_open(env(), (jobject)own_object), VM_MOUNTED_BY_NUMBER));
    open_run();
    begin_puppets(THREADS);
}

static inline void close_locks(void)
{
    end_puppets();
}

static inline void begin_run(uint64_t threshold_ns)
{
    const struct sampler_config config = {
        .generations = generations,
        .cpu = SAMPLER_CPU_NONE,
        .interval_ns = JW_NS_PER_SECOND,
        .lock_ns = threshold_ns,
        .depth_max = 64,
        .with_native = true,
    };

    cr_assert(sampler_start(&config, &err), "%s", err.message);
    for (uint32_t i = 0; i < THREADS; i++) {
        struct puppet *puppet = &puppets[i];
        const struct thread_java java = {.env = puppet->java + offset_of("JavaThread", "_anchor") +
                                                VM_ENV_AFTER_ANCHOR_BYTES,
                                         .java_id = puppet->number = FIRST_OWN + i,
                                         .name = "puppet"};

        puppet->index = thread_find(puppet->tid);
        cr_assert(ne(u32, puppet->index, THREAD_NONE));
        memcpy(puppet->java, fake.java_thread, sizeof puppet->java);
        carry(puppet, puppet->number);
        thread_set_java(puppet->index, &java);
        give_monitor(i, puppet->number);
    }
    for (int id = 0; id < JW_COUNT_LIMIT; id++)
        counted_before[id] = jw_counter((enum jw_counter_id)id);
}

static inline void end_run(void)
{
    cr_assert(sampler_stop(DRAIN_NS));
    expect_conservation();
}

/* ---- what puppets do ---- */

static inline void do_begin(struct puppet *puppet, void *argument)
{
    (void)puppet;
    sampler_lock_begin(argument);
}

struct ended {
    enum event_lock kind;
    bool is_told;
    struct sampler_lock wait;
};

static inline void do_end(struct puppet *puppet, void *argument)
{
    struct ended *ended = argument;

    (void)puppet;
    ended->is_told = sampler_lock_end(ended->kind, &ended->wait);
}

static inline void begin_wait(uint32_t who, enum event_lock kind, vm_addr wanted, uint64_t address)
{
    struct sampler_lock wait = {.kind = kind, .monitor = wanted, .address = address};

    have_done(&puppets[who], do_begin, &wait);
}

static inline struct ended end_wait(uint32_t who, enum event_lock kind)
{
    struct ended ended = {.kind = kind};

    have_done(&puppets[who], do_end, &ended);
    return ended;
}

static inline void want(uint32_t who, uint32_t whose)
{
    begin_wait(who, EVENT_LOCK_ENTER, monitor_of(whose), monitor_of(whose));
}

static inline struct lock_wait *under_way(uint32_t who)
{
    return engine_lock_of(puppets[who].number, EVENT_LOCK_ENTER);
}

/* As if it had begun long ago. */
static inline void age(struct lock_wait *wait)
{
    jw_store_release(&wait->begin_ns, jw_load_relaxed(&wait->begin_ns) - LONG_AGO_NS);
}

/* As if it had only just begun, whatever time passes, until age() makes it what it was. */
static inline void be_young(struct lock_wait *wait)
{
    jw_store_release(&wait->begin_ns, jw_load_relaxed(&wait->begin_ns) + LONG_AGO_NS);
}

/* With an argument the signal that asks waits for better times. */
static inline void do_block(struct puppet *puppet, void *argument)
{
    sigset_t asks;

    (void)puppet;
    sigemptyset(&asks);
    sigaddset(&asks, SIGVTALRM);
    pthread_sigmask(argument == NULL ? SIG_UNBLOCK : SIG_BLOCK, &asks, NULL);
}

#endif
