/*
 * dict - what the triple-buffered dictionary costs, beside a chained table with allocated keys (chained.h).
 * Usage: dict [rounds] [names|cells|turns]. Prints tables in Markdown: CPU time of the threads, so that a busy
 * machine disturbs little; each figure is the median of the rounds, and the least behind it.
 */
#include "dict/dict.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "chained.h"
#include "generation/generation.h"

#define MAX_ROUNDS  101
#define MAX_THREADS 4
#define KEY_BYTES   64
#define LOOK_UPS    200000
#define ENTER_CALLS 1000000

/* Which table, and what is done with it. */
enum subject { DICT, CHAINED, CHAINED_BYTEWISE, SUBJECT_LIMIT };
enum work { HIT, MISS, INSERT, WORK_LIMIT };

static const char *const subject_names[] = {"dict", "chained, same hash", "chained, FNV-1a"};
static const char *const work_names[] = {"look-up, hit", "look-up, miss", "insert"};

struct key {
    uint32_t length_bytes;
    char text[KEY_BYTES - sizeof(uint32_t)];
};

static struct {
    struct key *keys;           /* in the order in which they are inserted */
    struct key *asked, *others; /* the same in another order; keys that are in no table */
    uint32_t key_count;
    struct dict_table *dict;
    struct chained_table *chained;
    struct generations *generations;
    struct epoch *epoch;
    pthread_barrier_t start;
} bench;

struct worker {
    enum subject subject;
    enum work work;
    uint32_t number, count;
    uint64_t took_ns;
    uint64_t sink; /* keeps results alive */
};

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Names of classes as they are: long common prefixes, 25 to 55 bytes. */
static void make_keys(struct key *keys, uint32_t count, const char *package)
{
    static const char *const layers[] = {"web", "service", "repository", "model/internal"};

    for (uint32_t i = 0; i < count; i++)
        keys[i].length_bytes =
            (uint32_t)snprintf(keys[i].text, sizeof keys[i].text,
                               "com/%s/%s/OrderPosition%uHandler", package, layers[i % 4], i);
}

/* In an order that differs by `seed`. */
static void shuffle(struct key *keys, uint32_t count, uint64_t seed)
{
    for (uint32_t i = count - 1; i > 0; i--) {
        const uint32_t other = (uint32_t)(jw_hash_word(seed + i) % (i + 1));
        const struct key key = keys[i];

        keys[i] = keys[other];
        keys[other] = key;
    }
}

static uint64_t intern(enum subject subject, const struct key *key)
{
    return subject == DICT ? dict_intern(bench.dict, key->text, key->length_bytes)
                           : chained_intern(bench.chained, key->text, key->length_bytes);
}

static void look_up(struct worker *worker, const struct key *keys)
{
    uint32_t index = worker->number * 977 % bench.key_count;

    if (worker->subject == DICT)
        for (uint32_t i = 0; i < LOOK_UPS; i++) {
            worker->sink += dict_find(bench.dict, keys[index].text, keys[index].length_bytes);
            index = index + 1 == bench.key_count ? 0 : index + 1;
        }
    else
        for (uint32_t i = 0; i < LOOK_UPS; i++) {
            worker->sink += chained_find(bench.chained, keys[index].text, keys[index].length_bytes);
            index = index + 1 == bench.key_count ? 0 : index + 1;
        }
}

/* Each thread its own share of the keys. */
static void insert(struct worker *worker)
{
    for (uint32_t i = worker->number; i < bench.key_count; i += worker->count)
        worker->sink += intern(worker->subject, &bench.keys[i]);
}

static void *work(void *arg)
{
    struct worker *worker = arg;

    pthread_barrier_wait(&bench.start);
    const uint64_t start_ns = cpu_ns();
    switch (worker->work) {
    case HIT:
        look_up(worker, bench.asked);
        break;
    case MISS:
        look_up(worker, bench.others);
        break;
    case INSERT:
        insert(worker);
        break;
    case WORK_LIMIT:
        break;
    }
    worker->took_ns = cpu_ns() - start_ns;
    return NULL;
}

static void *claim_and_leave(void *arg)
{
    struct worker *worker = arg;

    pthread_barrier_wait(&bench.start);
    const uint64_t start_ns = cpu_ns();
    for (int i = 0; i < ENTER_CALLS; i++) {
        struct epoch_ticket ticket;

        worker->sink += epoch_enter(bench.epoch, worker->number + 1, &ticket);
        epoch_leave(bench.epoch, &ticket);
    }
    worker->took_ns = cpu_ns() - start_ns;
    return NULL;
}

static void *enter_and_leave(void *arg)
{
    struct worker *worker = arg;

    pthread_barrier_wait(&bench.start);
    const uint64_t start_ns = cpu_ns();
    for (int i = 0; i < ENTER_CALLS; i++) {
        struct epoch_ticket ticket;

        worker->sink += generation_enter(bench.generations, worker->number + 1, &ticket) != NULL;
        generation_leave(bench.generations, &ticket);
    }
    worker->took_ns = cpu_ns() - start_ns;
    return NULL;
}

/* The one instruction that a claim cannot do without, and the two stores. */
static void *swap_and_store(void *arg)
{
    struct worker *worker = arg;
    _Alignas(64) _Atomic uint64_t word = 0;

    pthread_barrier_wait(&bench.start);
    const uint64_t start_ns = cpu_ns();
    for (int i = 0; i < ENTER_CALLS; i++) {
        uint64_t expected = 0;

        worker->sink += jw_cas_seq_cst(&word, &expected, 1);
        jw_store_release(&word, 2);
        jw_store_release(&word, 0);
    }
    worker->took_ns = cpu_ns() - start_ns;
    return NULL;
}

/* CPU time of all threads together. */
static uint64_t run_threads(struct worker *workers, uint32_t count, void *(*body)(void *))
{
    pthread_t threads[MAX_THREADS];
    uint64_t took_ns = 0;

    pthread_barrier_init(&bench.start, NULL, count);
    for (uint32_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, body, &workers[i]) != 0)
            exit(1);
    for (uint32_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        took_ns += workers[i].took_ns;
    }
    pthread_barrier_destroy(&bench.start);
    return took_ns;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void clear(enum subject subject)
{
    if (subject == DICT)
        dict_clear(bench.dict);
    else
        chained_clear(bench.chained);
}

static double one_round(enum subject subject, enum work what, uint32_t thread_count)
{
    struct worker workers[MAX_THREADS] = {{0}};

    if (what == INSERT)
        clear(subject);
    for (uint32_t i = 0; i < thread_count; i++)
        workers[i] =
            (struct worker){.subject = subject, .work = what, .number = i, .count = thread_count};
    const uint64_t took_ns = run_threads(workers, thread_count, work);
    const uint64_t calls = what == INSERT ? bench.key_count : (uint64_t)LOOK_UPS * thread_count;
    return (double)took_ns / (double)calls;
}

static void print_times(double *ns, int rounds)
{
    qsort(ns, (size_t)rounds, sizeof ns[0], by_value);
    printf(" %.1f (%.1f) |", ns[rounds / 2], ns[0]);
    fflush(stdout);
}

static void run_names(uint32_t key_count, int rounds)
{
    const uint32_t thread_counts[] = {1, 2, 4};
    const struct dict_config config = {"bench", 2 * key_count, (size_t)key_count * 128};
    struct jw_error err = {0};

    bench.key_count = key_count;
    bench.keys = calloc(key_count, sizeof *bench.keys);
    bench.asked = calloc(key_count, sizeof *bench.asked);
    bench.others = calloc(key_count, sizeof *bench.others);
    bench.dict = dict_open(&config, &err);
    if (bench.keys == NULL || bench.asked == NULL || bench.others == NULL || bench.dict == NULL)
        exit(1);
    make_keys(bench.keys, key_count, "example/shop");
    make_keys(bench.others, key_count, "example/bank");
    shuffle(bench.keys, key_count, 1);
    memcpy(bench.asked, bench.keys, key_count * sizeof *bench.keys);
    shuffle(bench.asked, key_count, 1000000);
    shuffle(bench.others, key_count, 2000000);
    for (enum work what = HIT; what < WORK_LIMIT; what++)
        for (enum subject subject = DICT; subject < SUBJECT_LIMIT; subject++) {
            bench.chained = chained_open(key_count, subject == CHAINED_BYTEWISE);
            clear(subject);
            for (uint32_t i = 0; i < key_count; i++)
                (void)intern(subject, &bench.keys[i]);
            printf("| %s | %u | %s |", work_names[what], key_count, subject_names[subject]);
            for (size_t t = 0; t < JW_COUNT_OF(thread_counts); t++) {
                double ns[MAX_ROUNDS];

                (void)one_round(subject, what, thread_counts[t]); /* warms up */
                for (int i = 0; i < rounds; i++)
                    ns[i] = one_round(subject, what, thread_counts[t]);
                print_times(ns, rounds);
            }
            printf("\n");
            chained_close(bench.chained);
        }
    dict_close(bench.dict);
    free(bench.others);
    free(bench.asked);
    free(bench.keys);
}

static void open_generations(size_t memory_bytes)
{
    const struct generations_config config = {.memory_bytes = memory_bytes};
    struct jw_error err = {0};

    bench.generations = generations_open(&config, &err);
    if (bench.generations == NULL) {
        fprintf(stderr, "dict: %s\n", err.message);
        exit(1);
    }
}

static void run_cells_with(const char *name, const char *what, void *(*body)(void *), int rounds)
{
    const uint32_t thread_counts[] = {1, 2, 4};

    printf("| %s | | %s |", name, what);
    for (size_t t = 0; t < JW_COUNT_OF(thread_counts); t++) {
        double ns[MAX_ROUNDS];

        for (int i = 0; i < rounds; i++) {
            struct worker workers[MAX_THREADS] = {{0}};

            for (uint32_t j = 0; j < thread_counts[t]; j++)
                workers[j].number = j;
            ns[i] = (double)run_threads(workers, thread_counts[t], body) /
                    ((double)ENTER_CALLS * thread_counts[t]);
        }
        print_times(ns, rounds);
    }
    printf("\n");
}

static void run_cells(int rounds)
{
    struct jw_error err = {0};

    open_generations(0);
    bench.epoch = epoch_open(&err);
    if (bench.epoch == NULL)
        exit(1);
    run_cells_with("claim and leave", "epoch", claim_and_leave, rounds);
    run_cells_with("enter and leave", "generation", enter_and_leave, rounds);
    run_cells_with("one CAS and two stores", "none", swap_and_store, rounds);
    epoch_close(bench.epoch);
    generations_close(bench.generations);
}

static bool take_none(struct generation *generation, void *arg)
{
    (void)generation;
    (void)arg;
    return true;
}

/* What other work leaves in the caches of a thread that turns once a second: nothing. */
static void cool_down(void)
{
    static unsigned char other[48u << 20];

    for (size_t i = 0; i < sizeof other; i += 64)
        other[i]++;
}

/* A rotation, and the clear after it, with this many names in the generation that is closed. */
static void run_turn(uint32_t key_count, int rounds)
{
    double rotate_ns[MAX_ROUNDS], clear_ns[MAX_ROUNDS];

    for (int i = 0; i < rounds; i++) {
        struct epoch_ticket ticket;
        struct generation *generation = generation_enter(bench.generations, 1, &ticket);

        if (generation == NULL)
            exit(1);
        for (uint32_t key = 0; key < key_count; key++)
            if (dict_intern(generation->classes, &key, sizeof key) == DICT_NONE)
                exit(1);
        generation_leave(bench.generations, &ticket);

        cool_down();
        (void)jw_now_ns();
        const uint64_t start_ns = cpu_ns();
        if (generations_rotate(bench.generations) != generation)
            exit(1);
        const uint64_t rotated_ns = cpu_ns();
        if (generations_retire(bench.generations, take_none, NULL) != 1)
            exit(1);
        rotate_ns[i] = (double)(rotated_ns - start_ns);
        clear_ns[i] = (double)(cpu_ns() - rotated_ns) / 1000;
    }
    printf("| %u |", key_count);
    print_times(rotate_ns, rounds);
    print_times(clear_ns, rounds);
    printf("\n");
}

static bool wants(int argc, char **argv, const char *what)
{
    return argc < 3 || strcmp(argv[2], what) == 0;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 9;

    if (rounds < 1 || rounds > MAX_ROUNDS)
        rounds = 9;
    if (wants(argc, argv, "names") || wants(argc, argv, "cells"))
        printf("| ns of CPU a call | keys | table | 1 thread | 2 threads | 4 threads |\n"
               "| --- | ---: | --- | ---: | ---: | ---: |\n");
    if (wants(argc, argv, "names")) {
        run_names(1000, rounds);
        run_names(100000, rounds);
    }
    if (wants(argc, argv, "cells"))
        run_cells(rounds);
    if (wants(argc, argv, "turns")) {
        printf("\n| names in the generation | rotate, ns | clear, us |\n| ---: | ---: | ---: |\n");
        open_generations((size_t)6 << 30);
        run_turn(1000, rounds);
        run_turn(1000000, rounds > 5 ? 5 : rounds);
        generations_close(bench.generations);
    }
    return 0;
}
