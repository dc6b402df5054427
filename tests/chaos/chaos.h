/*
 * chaos - what the native storms have in common: a round of a second, and what it has to say.
 *
 * Each storm is one function, a line in the table of chaos.c, and runs on the Java thread that NativeStorm.round was
 * called on. Its own threads are joined before it returns. A museum row is named where it is checked: m28 and so on.
 */
#ifndef JW_CHAOS_CHAOS_H
#define JW_CHAOS_CHAOS_H

#include <jni.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHAOS_MS INT64_C(1000000)
#define CHAOS_S  INT64_C(1000000000)

struct storm {
    JNIEnv *env; /* of the thread that the round runs on; no other uses it */
    JavaVM *vm;
    jclass java; /* NativeStorm, a global reference */
    int64_t end_ns;
    uint64_t seed;
    int intensity;          /* from 1 */
    const char *directory;  /* for files of this storm alone */
    const char *libraries;  /* where the plugins are */
    _Atomic long did;       /* turns */
    _Atomic int violations; /* of this round */
    pthread_mutex_t lock;   /* over `told` */
    size_t told_bytes;
    char told[8192]; /* lines: `violated ...`, `skipped ...` */
};

/* Behind each call of Java: true when it threw, which is a violation; then nothing is pending any more. */
bool storm_has_thrown(struct storm *storm, JNIEnv *env, const char *what);

/* For any thread. A round stops telling of violations when its memory for them is full. */
void storm_violated(struct storm *storm, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void storm_skipped(struct storm *storm, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define STORM_EXPECT(storm, condition, ...)                                                        \
    do {                                                                                           \
        if (!(condition))                                                                          \
            storm_violated(storm, __VA_ARGS__);                                                    \
    } while (0)

static inline void storm_did(struct storm *storm, long count)
{
    atomic_fetch_add_explicit(&storm->did, count, memory_order_relaxed);
}

int64_t chaos_now_ns(void);
bool storm_goes_on(const struct storm *storm);

/* A random number; the state is the caller's own and never 0. */
uint64_t chaos_random(uint64_t *state);
uint64_t chaos_random_below(uint64_t *state, uint64_t limit);

/* Never 0, another one for each call. */
uint64_t storm_seed(struct storm *storm);

/* Computes for about so long on the thread's own clock, in frames of its own; what comes out is the same for equal
 * `rounds` and only depends on them. */
void chaos_burn_us(int64_t us);
uint64_t chaos_compute(uint64_t start, unsigned rounds);

void chaos_sleep_us(int64_t us);

/* `count` threads of the function, on the default stack; returns when they ended. */
typedef void *chaos_thread(void *argument);
void storm_threads(struct storm *storm, int count, chaos_thread *function, void *argument);

/* A plugin of tests/chaos/plugin*.c: its file. False, and the storm says that it is skipped, when it is missing. */
bool storm_plugin_path(struct storm *storm, const char *name, char *path, size_t room_bytes);

/* A child that hangs ends by SIGALRM. */
void chaos_limit_child(void);

/* The thread's signal mask as one word. */
uint64_t chaos_mask(void);

/* Bytes that depend on their place and a seed; false when one of them is another now. */
void chaos_fill(void *bytes, size_t length_bytes, uint64_t seed);
bool chaos_is_filled(const void *bytes, size_t length_bytes, uint64_t seed);

/* The storms. */
void attach_round(struct storm *storm);
void tls_round(struct storm *storm);
void libraries_round(struct storm *storm);
void malloc_round(struct storm *storm);
void stacks_round(struct storm *storm);
void frames_round(struct storm *storm);
void generated_round(struct storm *storm);
void blocked_round(struct storm *storm);
void segv_round(struct storm *storm);
void critical_round(struct storm *storm);
void references_round(struct storm *storm);
void children_round(struct storm *storm);
void waits_round(struct storm *storm);
void bytes_round(struct storm *storm);
void clocks_round(struct storm *storm);
void descriptors_round(struct storm *storm);
void overflow_round(struct storm *storm);
void kernel_round(struct storm *storm);

#endif
