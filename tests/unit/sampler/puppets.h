/* Java threads of a fake JVM that do what they are told, one thing at a time, while the test waits. */
#ifndef JW_TESTS_UNIT_SAMPLER_PUPPETS_H
#define JW_TESTS_UNIT_SAMPLER_PUPPETS_H

#include <pthread.h>
#include <signal.h>

#include "unit/sampler/outcomes.h"

#define PUPPETS_MAX 8

struct puppet {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*task)(struct puppet *puppet, void *argument);
    void *argument;
    bool is_busy, is_over;
    uint32_t tid;
    thread_index index;
    uint64_t number; /* of the Java thread */
    _Alignas(8) unsigned char java[4096];
};

static struct puppet puppets[PUPPETS_MAX];
static uint32_t puppet_count;

static void *be_puppet(void *argument)
{
    struct puppet *puppet = argument;

    pthread_mutex_lock(&puppet->lock);
    puppet->tid = (uint32_t)os_gettid();
    for (;;) {
        puppet->is_busy = false;
        pthread_cond_broadcast(&puppet->changed);
        while (!puppet->is_busy && !puppet->is_over)
            pthread_cond_wait(&puppet->changed, &puppet->lock);
        if (puppet->is_over)
            break;
        pthread_mutex_unlock(&puppet->lock);
        puppet->task(puppet, puppet->argument);
        pthread_mutex_lock(&puppet->lock);
    }
    pthread_mutex_unlock(&puppet->lock);
    return NULL;
}

static void wait_for_puppet(struct puppet *puppet)
{
    pthread_mutex_lock(&puppet->lock);
    while (puppet->is_busy)
        pthread_cond_wait(&puppet->changed, &puppet->lock);
    pthread_mutex_unlock(&puppet->lock);
}

static void tell_puppet(struct puppet *puppet, void (*task)(struct puppet *, void *),
                        void *argument)
{
    pthread_mutex_lock(&puppet->lock);
    puppet->task = task;
    puppet->argument = argument;
    puppet->is_busy = true;
    pthread_cond_broadcast(&puppet->changed);
    pthread_mutex_unlock(&puppet->lock);
}

static void have_done(struct puppet *puppet, void (*task)(struct puppet *, void *), void *argument)
{
    tell_puppet(puppet, task, argument);
    wait_for_puppet(puppet);
}

static void begin_puppets(uint32_t count)
{
    puppet_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct puppet *puppet = &puppets[i];

        pthread_mutex_init(&puppet->lock, NULL);
        pthread_cond_init(&puppet->changed, NULL);
        puppet->is_busy = true;
        cr_assert(eq(int, pthread_create(&puppet->thread, NULL, be_puppet, puppet), 0));
        wait_for_puppet(puppet);
    }
}

static void end_puppet(struct puppet *puppet)
{
    if (puppet->is_over)
        return;
    pthread_mutex_lock(&puppet->lock);
    puppet->is_over = true; /* whatever it is at: looked at when that is done */
    pthread_cond_broadcast(&puppet->changed);
    pthread_mutex_unlock(&puppet->lock);
    pthread_join(puppet->thread, NULL);
}

static void end_puppets(void)
{
    for (uint32_t i = 0; i < puppet_count; i++)
        end_puppet(&puppets[i]);
}

#endif
