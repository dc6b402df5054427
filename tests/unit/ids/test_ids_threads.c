/*
 * Ids while classes come, go and are redefined on other threads: an id answers with its own name, or is gone.
 *
 * Each thread has addresses of its own, at which it prepares class after class, and keeps the ids of all; one class is
 * everybody's, and is redefined all the time. One thread takes turns, as in the product.
 */
#include "ids/ids_internal.h"
#include "unit/vm/fake_classes.h"

#include <criterion/new/assert.h>
#include <pthread.h>

#include "base/hash.h"

TestSuite(ids_threads, .timeout = 1800);

#define WORKERS     3
#define LIVES       400
#define PLACES      4
#define METHODS     6
#define REDEFINED   60
#define SHARED_SIZE 80
#define ASKED       200

struct weak {
    _Atomic bool is_gone;
};

struct kept {
    ids_id klass, methods[METHODS];
};

struct worker {
    pthread_t thread;
    uint32_t number;
    uint64_t wrong, gone, valid;
    struct kept kept[LIVES];
};

static struct fake_class shared, places[WORKERS][PLACES];
static struct worker workers[WORKERS];
static struct weak weaks[WORKERS][LIVES], shared_weak;
static struct fake_body *_Atomic shared_body; /* the code that it has */
static _Atomic bool is_over;
static uint64_t unloads[WORKERS][LIVES], redefinitions, wrong_events;

static void name_of(char *text, size_t room, uint32_t worker, uint32_t life)
{
    snprintf(text, room, "W%uL%u", worker, life);
}

static bool is_gone(void *weak, void *argument)
{
    (void)argument;
    /* order TEST_WEAK: acquires that the class is used no more. */
    return jw_load_acquire(&((struct weak *)weak)->is_gone);
}

static void *hold(void *weak, void *argument)
{
    return is_gone(weak, argument) ? NULL : weak;
}

static void drop(void *held, void *argument)
{
    (void)held;
    (void)argument;
}

static void tell(const struct ids_event *event, void *argument)
{
    char text[64];
    struct ids_class_info info = {.name = {text, sizeof text, 0}};
    uint32_t worker, life;

    (void)argument;
    if (!ids_class_info(event->klass, &info))
        wrong_events++;
    else if (event->is_redefined)
        redefinitions++;
    else if (sscanf(text, "W%uL%u", &worker, &life) == 2 && worker < WORKERS && life < LIVES)
        unloads[worker][life]++;
    else
        wrong_events++;
    for (size_t i = 0; i < event->method_count; i++) {
        char name[64];
        struct ids_method_info method = {.name = {name, sizeof name, 0}};

        wrong_events += !ids_method_info(event->methods[i], &method) ||
                        method.klass != event->klass || strncmp(name, text, strlen(text)) != 0;
    }
}

static const struct ids_watch watch = {is_gone, hold, drop, tell, drop, NULL};

static void *take_turns(void *argument)
{
    (void)argument;
    while (!jw_load_relaxed(&is_over))
        (void)ids_turn(&watch);
    return NULL;
}

static void ask(struct worker *worker, uint32_t life, uint32_t n)
{
    char text[64], wanted[80], owner[64];
    struct ids_method_info info = {.name = {text, sizeof text, 0}};

    if (!ids_method_info(worker->kept[life].methods[n], &info)) {
        worker->gone++;
        return;
    }
    worker->valid++;
    name_of(owner, sizeof owner, worker->number, life);
    snprintf(wanted, sizeof wanted, "%s%u", owner, n);
    worker->wrong += strcmp(text, wanted) != 0 || info.klass != worker->kept[life].klass;
}

static void ask_shared(struct worker *worker, uint64_t random)
{
    char text[64], wanted[64];
    struct ids_method_info info = {.name = {text, sizeof text, 0}};
    const uint32_t n = (uint32_t)(random % SHARED_SIZE);
    /* order TEST_BODY: acquires the code. */
    const struct fake_body *body = jw_load_acquire(&shared_body);
    const ids_id id = ids_method_at((vm_addr)body->methods[n].method);

    snprintf(wanted, sizeof wanted, "Shared%u", n);
    if (id == 0 || !ids_method_info(id, &info)) {
        worker->wrong += id == 0;
        return;
    }
    const int line = ids_method_line(id, 0);
    worker->wrong += strcmp(text, wanted) != 0 || info.number != n ||
                     (line != IDS_GONE && line != 0 && (line - (int)(100 * n)) % 10 != 0);
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    for (uint32_t life = 0; life < LIVES; life++) {
        struct fake_class *place = &places[worker->number][life % PLACES];
        struct kept *kept = &worker->kept[life];
        char name[64];

        if (life >= PLACES)
            free_class(place);
        name_of(name, sizeof name, worker->number, life);
        fill_class(place, name, METHODS);
        if (!ids_class_prepared((vm_addr)place->klass, 0, &weaks[worker->number][life])) {
            worker->wrong++;
            return NULL;
        }
        kept->klass = ids_class_at((vm_addr)place->klass);
        for (uint32_t n = 0; n < METHODS; n++) {
            kept->methods[n] = ids_method_at(method_of(place, n));
            worker->wrong += kept->methods[n] == 0;
        }
        for (uint64_t i = 0; i < ASKED; i++) {
            const uint64_t random = jw_hash_word(i << 32 | life);

            ask(worker, (uint32_t)(random % (life + 1)), (uint32_t)(random >> 32) % METHODS);
            if (i % 16 == 0)
                ask_shared(worker, random >> 16);
        }
        /* order TEST_WEAK: releases that the class is used no more. */
        jw_store_release(&weaks[worker->number][life].is_gone, true);
    }
    return NULL;
}

static void open_all(void)
{
    struct jw_error err = {0};

    open_fake(LAYOUT_25, "com/acme/Fake");
    fill_class(&shared, "Shared", SHARED_SIZE);
    cr_assert(vm_body_open(&(vm_addr){(vm_addr)shared.klass}, 1, &err), "%s", err.message);
    cr_assert(ids_open(8 << 20, &err), "%s", err.message);
    ids_listed();
    cr_assert(ids_class_prepared((vm_addr)shared.klass, 0, &shared_weak));
    jw_store_relaxed(&shared_body, shared.body);
}

Test(ids_threads, an_id_has_its_own_name_or_none)
{
    uint64_t valid = 0, gone = 0;
    pthread_t turner;

    open_all();
    cr_assert(eq(int, pthread_create(&turner, NULL, take_turns, NULL), 0));
    for (uint32_t i = 0; i < WORKERS; i++) {
        workers[i].number = i;
        cr_assert(eq(int, pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0));
    }
    for (uint32_t i = 0; i < REDEFINED; i++) {
        redefine_class(&shared);
        /* order TEST_BODY: releases the code. */
        jw_store_release(&shared_body, shared.body);
        for (uint32_t n = 0; n < SHARED_SIZE; n++)
            (void)ids_method_at(method_of(&shared, n));
        (void)usleep(1000);
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        cr_expect(eq(u64, workers[i].wrong, 0));
        valid += workers[i].valid;
        gone += workers[i].gone;
    }
    jw_store_relaxed(&is_over, true);
    (void)pthread_join(turner, NULL);
    /* What was asked of replaced code after its redefinition was seen has a record until the next one. */
    redefine_class(&shared);
    (void)ids_turn(&watch);

    for (uint32_t i = 0; i < WORKERS; i++) {
        for (uint32_t life = 0; life < LIVES; life++)
            cr_assert(eq(u64, unloads[i][life], 1), "each class is told once");
    }
    cr_expect(eq(u64, wrong_events, 0));
    cr_expect(ne(u64, redefinitions, 0));
    cr_expect(ne(u64, valid, 0));
    cr_expect(ne(u64, gone, 0));
    struct ids_stats stats;
    ids_stats(&stats);
    cr_expect(eq(u32, stats.class_count, 1));
    cr_expect(eq(u32, stats.method_count, 0),
              "the methods of classes that are gone, and replaced ones");
}
