/*
 * loads - stands between the shipped objects of libjaywalk.so and the memory that walks read, in a library of its
 *         own: the linker's --wrap puts it there (mk/test.mk, build/faults). Nothing of it is in the product.
 *
 * Loads of a walk become unreadable (by a real fault), or give garbage: random words, near misses, bits turned,
 * words that were read before, addresses of stack and code. One signal makes up to JW_WRONG_REPEAT walks,
 * within 2 ms, each with other wrong loads: half of the walks have one wrong load at a random place, the others some of a hundred. A part of the
 * walks begins at registers that are near misses, too. All is drawn from JW_WRONG_SEED and the thread's number.
 *
 * JW_WRONG names a file that is mapped and may be written to while the JVM runs. Its first bytes are digits, 0 never
 * to 9 always:
 *
 *     0  walks of Java frames with wrong loads        2  what else a sample reads: names, lines, states
 *     1  walks of native frames with wrong loads      3  calls of AsyncGetCallTrace with a context that faults
 *     4  any other than 0: the breakers are not told, so that all walks are by the first walker
 *     5  walks that are compared with what JVMTI says; may be left out
 *
 * JW_WRONG_SPEED: the breakers' clock runs so many times as fast as others. At the end of the process what was done
 * is written into the file JW_WRONG.told, a line `name value` each.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "sampler/sampler_internal.h"
#include "signals/signals.h"
#include "thread/thread_tls.h"
#include "walk/walk_breaker.h"

#define SEEN_COUNT    32u
#define CONTROL_BYTES 6
#define CONTROL_OWN   5
#define TIME_ROWS     32
#define TIMED_EACH    8 /* walks: the clock of a thread costs as much as a short one */
#define BUDGET_NS     (2 * JW_NS_PER_MS)

enum wrong_what { WRONG_JAVA, WRONG_NATIVE, WRONG_REST, WRONG_AGCT, WRONG_WHAT_LIMIT };

/* What is done to loads. */
struct mode {
    bool is_on;              /* in a sample, or one of its walks */
    bool is_wrong;           /* that has wrong loads */
    uint32_t loads;          /* so far */
    uint32_t wrong_at;       /* the one wrong load; UINT32_MAX: as the rate says */
    uint32_t rate;           /* of 65,536 loads */
    uint32_t unreadable_pct; /* of the wrong loads; the others give garbage */
};

/* Of a thread. */
static __thread struct {
    uint64_t random;
    struct mode mode;
    uint32_t seen_count;
    uint64_t seen[SEEN_COUNT]; /* words that were read lately */
} own;

static const char *control; /* NULL: nothing is done */
static uint32_t repeat = 1;
static uint64_t seed = 1, speed = 1, begin_ns;

static struct {
    _Atomic uint64_t walks[WRONG_WHAT_LIMIT], wrong_walks[WRONG_WHAT_LIMIT], loads, wrong_loads;
    _Atomic uint64_t most_loads[WRONG_WHAT_LIMIT], longest_ns[WRONG_WHAT_LIMIT];
    _Atomic uint64_t times[TIME_ROWS]; /* of Java walks, by the logarithm of their nanoseconds */
    _Atomic uint64_t complete, bad_calls;
    _Atomic uint64_t last_loads[WRONG_WHAT_LIMIT]; /* of a walk: where the next wrong load may be */
} done;

/* What is random ----------------------------------------------------------------------------------------- */

static uint64_t next(void)
{
    if (own.random == 0)
        own.random = (seed + thread_own_tid()) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    own.random ^= own.random << 13;
    own.random ^= own.random >> 7;
    own.random ^= own.random << 17;
    return own.random;
}

static uint64_t below(uint64_t limit)
{
    return next() % limit;
}

static bool is_drawn(enum wrong_what what)
{
    return control != NULL && control[what] > '0' && (int)below(9) < control[what] - '0';
}

static void raise_to(_Atomic uint64_t *most, uint64_t value)
{
    uint64_t known = jw_load_relaxed(most);

    while (value > known && !jw_cas_relaxed(most, &known, value))
        continue;
}

/* The mode before, for the end. */
static struct mode begin(enum wrong_what what)
{
    const struct mode before = own.mode;

    own.mode.is_wrong = is_drawn(what);
    own.mode.wrong_at =
        below(2) == 0 ? (uint32_t)below(jw_load_relaxed(&done.last_loads[what]) + 2) : UINT32_MAX;
    own.mode.rate = (uint32_t)(65536 / (4 + below(200)));
    /* Of native walks nothing but a fault is noticed. */
    own.mode.unreadable_pct = what == WRONG_NATIVE ? 75 : 25;
    own.mode.loads = 0;
    own.mode.is_on = true;
    return before;
}

static void end(enum wrong_what what, uint64_t time_ns, const struct mode *before)
{
    jw_add_relaxed(&done.walks[what], 1);
    jw_add_relaxed(&done.wrong_walks[what], own.mode.is_wrong);
    jw_add_relaxed(&done.loads, own.mode.loads);
    jw_store_relaxed(&done.last_loads[what], own.mode.loads);
    raise_to(&done.most_loads[what], own.mode.loads);
    raise_to(&done.longest_ns[what], time_ns);
    own.mode = *before;
}

/* Loads -------------------------------------------------------------------------------------------------- */

static bool is_next_wrong(void)
{
    if (!own.mode.is_on)
        return false;
    const uint32_t number = own.mode.loads++;
    if (!own.mode.is_wrong || (own.mode.wrong_at == UINT32_MAX ? below(65536) >= own.mode.rate
                                                               : number != own.mode.wrong_at))
        return false;
    jw_add_relaxed(&done.wrong_loads, 1);
    return true;
}

static uintptr_t bad_address(void)
{
    static const uintptr_t addresses[] = {
        0, 8, 0xfff, UINT64_C(0x7fffffffeff8), UINT64_C(0xdead000000000000), UINTPTR_MAX - 7};

    return addresses[below(JW_COUNT_OF(addresses))];
}

static uint64_t a_seen_word(void)
{
    return own.seen_count == 0 ? next() : own.seen[below(own.seen_count)];
}

/* Garbage in place of `right`. */
static uint64_t garbage(uint64_t right)
{
    static const uint8_t steps[] = {1, 2, 4, 8, 16, 24, 32, 64, 128};
    const uint64_t step = steps[below(JW_COUNT_OF(steps))];
    const uintptr_t stack = (uintptr_t)__builtin_frame_address(0);

    switch (below(10)) {
    case 0:
        return next();
    case 1:
        return right + step;
    case 2:
        return right - step;
    case 3:
        return right ^ UINT64_C(1) << below(64);
    case 4:
        return a_seen_word();
    case 5:
        return a_seen_word() + step;
    case 6:
        return (stack + below(65536)) & ~UINT64_C(7);
    case 7:
        return stack + below(65536);
    case 8:
        return below(300);
    default:
        return below(2) == 0 ? 0 : UINT64_MAX;
    }
}

#define WRAP_LOAD(name, bits)                                                                      \
    struct arch_loaded __real_##name(uintptr_t addr);                                              \
    struct arch_loaded __wrap_##name(uintptr_t addr);                                              \
    struct arch_loaded __wrap_##name(uintptr_t addr)                                               \
    {                                                                                              \
        const bool is_wrong = is_next_wrong();                                                     \
        const bool is_unreadable = is_wrong && below(100) < own.mode.unreadable_pct;               \
        struct arch_loaded loaded = __real_##name(is_unreadable ? bad_address() : addr);           \
                                                                                                   \
        if (own.mode.is_on && loaded.is_read && (bits) == 64)                                      \
            own.seen[own.seen_count < SEEN_COUNT ? own.seen_count++                                \
                                                 : own.mode.loads % SEEN_COUNT] = loaded.value;    \
        if (is_wrong && !is_unreadable)                                                            \
            loaded =                                                                               \
                (struct arch_loaded){garbage(loaded.value) & (UINT64_MAX >> (64 - (bits))), 1};    \
        return loaded;                                                                             \
    }

WRAP_LOAD(arch_load_u8, 8)
WRAP_LOAD(arch_load_u16, 16)
WRAP_LOAD(arch_load_u32, 32)
WRAP_LOAD(arch_load_u64, 64)
WRAP_LOAD(arch_load_u64_acquire, 64)

bool __real_safe_load_bytes(void *to, uintptr_t addr, size_t length_bytes);
bool __wrap_safe_load_bytes(void *to, uintptr_t addr, size_t length_bytes);
bool __wrap_safe_load_bytes(void *to, uintptr_t addr, size_t length_bytes)
{
    const bool is_wrong = is_next_wrong();
    unsigned char *bytes = to;

    if (is_wrong && below(3) == 0)
        return __real_safe_load_bytes(to, bad_address(), length_bytes);
    if (!__real_safe_load_bytes(to, addr, length_bytes))
        return false;
    if (is_wrong && length_bytes > 0) {
        const size_t first = below(length_bytes);

        for (size_t i = first; i < length_bytes && i < first + 1 + below(32); i++)
            bytes[i] = (unsigned char)garbage(bytes[i]);
    }
    return true;
}

size_t __real_safe_match_words(const struct arch_word *words, size_t count);
size_t __wrap_safe_match_words(const struct arch_word *words, size_t count);
size_t __wrap_safe_match_words(const struct arch_word *words, size_t count)
{
    const size_t matched = __real_safe_match_words(words, count);

    return is_next_wrong() ? below(matched + 1) : matched;
}

/* The fault handler must know the loads under their own names. */
bool __real_arch_is_contained_load(uintptr_t pc);
bool __wrap_arch_is_contained_load(uintptr_t pc);
bool __wrap_arch_is_contained_load(uintptr_t pc)
{
    return __real_arch_is_contained_load(pc) || pc == (uintptr_t)__real_arch_load_u64 ||
           pc == (uintptr_t)__real_arch_load_u64_acquire || pc == (uintptr_t)__real_arch_load_u32 ||
           pc == (uintptr_t)__real_arch_load_u16 || pc == (uintptr_t)__real_arch_load_u8;
}

/* Walks -------------------------------------------------------------------------------------------------- */

/* Registers near those of the signal, now and then. */
static const void *begin_elsewhere(const void *ucontext, struct arch_context *copy)
{
    struct arch_regs regs;

    if (!own.mode.is_wrong || below(4) != 0)
        return ucontext;
    arch_context_copy(copy, ucontext);
    arch_regs_read(ucontext, &regs);
    switch (below(4)) {
    case 0:
        regs.pc += below(64);
        break;
    case 1:
        regs.pc = a_seen_word();
        break;
    case 2:
        regs.sp += 8 * below(64);
        break;
    default:
        regs.fp = garbage(regs.fp);
        break;
    }
    arch_regs_write(copy, &regs);
    return copy->bytes;
}

/* Of this thread: others may run in between. */
static uint64_t cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * JW_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void note_time(uint64_t time_ns)
{
    uint32_t row = 0;

    while (row < TIME_ROWS - 1 && time_ns >> (row + 1) != 0)
        row++;
    jw_add_relaxed(&done.times[row], 1);
}

void __real_walk_java(const void *ucontext, void *env, struct walk_cache *cache,
                      struct vm_call_frame *frames, uint32_t depth_max,
                      struct walk_java_result *out);
void __wrap_walk_java(const void *ucontext, void *env, struct walk_cache *cache,
                      struct vm_call_frame *frames, uint32_t depth_max,
                      struct walk_java_result *out);

static void walk_once(const void *ucontext, void *env, struct walk_cache *cache,
                      struct vm_call_frame *frames, uint32_t depth_max,
                      struct walk_java_result *out)
{
    const bool is_agct = walk_breaker_java() == WALK_AGCT;
    struct arch_context copy;

    const struct mode before = begin(WRONG_JAVA);
    const void *from = is_agct ? ucontext : begin_elsewhere(ucontext, &copy);
    const bool is_timed = below(TIMED_EACH) == 0;
    const uint64_t start_ns = is_timed ? cpu_ns() : 0;
    __real_walk_java(from, env, cache, frames, depth_max, out);
    const uint64_t time_ns = is_timed ? cpu_ns() - start_ns : 0;
    if (is_timed)
        note_time(time_ns);
    jw_add_relaxed(&done.complete, own.mode.is_wrong && out->frame_count > 0);
    end(WRONG_JAVA, time_ns, &before);
}

void __wrap_walk_java(const void *ucontext, void *env, struct walk_cache *cache,
                      struct vm_call_frame *frames, uint32_t depth_max,
                      struct walk_java_result *out)
{
    const uint64_t deadline_ns = jw_now_ns() + BUDGET_NS;

    /* The last one is the sample's: what it leaves in the cache and what it gives belong together. */
    for (uint32_t i = 1; i < repeat && jw_now_ns() < deadline_ns; i++)
        walk_once(ucontext, env, below(4) == 0 ? NULL : cache, frames, depth_max, out);
    walk_once(ucontext, env, cache, frames, depth_max, out);
}

/* Of 16 loads about one is wrong. */
void __real_walk_own_stack(void *env, struct vm_call_frame *frames, uint32_t depth_max,
                           struct walk_java_result *out);
void __wrap_walk_own_stack(void *env, struct vm_call_frame *frames, uint32_t depth_max,
                           struct walk_java_result *out);
void __wrap_walk_own_stack(void *env, struct vm_call_frame *frames, uint32_t depth_max,
                           struct walk_java_result *out)
{
    const struct mode before = own.mode;

    if (control != NULL && control[CONTROL_OWN] > '0')
        own.mode = (struct mode){.is_on = true,
                                 .is_wrong = true,
                                 .wrong_at = UINT32_MAX,
                                 .rate = 65536 / 16,
                                 .unreadable_pct = 25};
    __real_walk_own_stack(env, frames, depth_max, out);
    own.mode = before;
}

uint32_t __real_walk_native(const void *ucontext, enum walk_native_by by, uintptr_t *pcs,
                            uint32_t depth_max, struct walk_landmark *mark,
                            enum walk_native_end *end_of);
uint32_t __wrap_walk_native(const void *ucontext, enum walk_native_by by, uintptr_t *pcs,
                            uint32_t depth_max, struct walk_landmark *mark,
                            enum walk_native_end *end_of);
uint32_t __wrap_walk_native(const void *ucontext, enum walk_native_by by, uintptr_t *pcs,
                            uint32_t depth_max, struct walk_landmark *mark,
                            enum walk_native_end *end_of)
{
    const uint64_t deadline_ns = jw_now_ns() + BUDGET_NS / 2;
    struct arch_context copy;
    uint32_t count = 0;
    uint32_t i = 0;

    do {
        const struct mode before = begin(WRONG_NATIVE);
        const void *from = begin_elsewhere(ucontext, &copy);
        const uint64_t start_ns = jw_now_ns();
        count = __real_walk_native(from, by, pcs, depth_max, mark, end_of);
        end(WRONG_NATIVE, jw_now_ns() - start_ns, &before);
    } while (++i < repeat && jw_now_ns() < deadline_ns);
    return count;
}

/* All else that a sample reads: methods, receivers, states. */
bool __real_sample_take(const void *ucontext, struct sample_order *order);
bool __wrap_sample_take(const void *ucontext, struct sample_order *order);
bool __wrap_sample_take(const void *ucontext, struct sample_order *order)
{
    const struct mode before = begin(WRONG_REST);
    const uint64_t start_ns = jw_now_ns();
    const bool is_taken = __real_sample_take(ucontext, order);
    end(WRONG_REST, jw_now_ns() - start_ns, &before);
    return is_taken;
}

/* AsyncGetCallTrace reads the context where the thread runs Java code. */
enum signals_call __real_signals_call_guarded(signals_guarded_function *function, void *first,
                                              intptr_t second, void *third, uintptr_t text_begin,
                                              uintptr_t text_end);
enum signals_call __wrap_signals_call_guarded(signals_guarded_function *function, void *first,
                                              intptr_t second, void *third, uintptr_t text_begin,
                                              uintptr_t text_end);
enum signals_call __wrap_signals_call_guarded(signals_guarded_function *function, void *first,
                                              intptr_t second, void *third, uintptr_t text_begin,
                                              uintptr_t text_end)
{
    if (is_drawn(WRONG_AGCT)) {
        jw_add_relaxed(&done.bad_calls, 1);
        third = (void *)64;
    }
    return __real_signals_call_guarded(function, first, second, third, text_begin, text_end);
}

/* The breakers ------------------------------------------------------------------------------------------- */

void __real_walk_breaker_count(enum walk_walker walker, uint32_t tid, bool is_bad);
void __wrap_walk_breaker_count(enum walk_walker walker, uint32_t tid, bool is_bad);
void __wrap_walk_breaker_count(enum walk_walker walker, uint32_t tid, bool is_bad)
{
    if (control == NULL || control[WRONG_WHAT_LIMIT] == '0')
        __real_walk_breaker_count(walker, tid, is_bad);
}

static uint64_t fast(uint64_t now_ns)
{
    return begin_ns + (now_ns - begin_ns) * speed;
}

void __real_walk_breaker_open(const char *const absent[WALK_WALKER_LIMIT], uint64_t now_ns);
void __wrap_walk_breaker_open(const char *const absent[WALK_WALKER_LIMIT], uint64_t now_ns);
void __wrap_walk_breaker_open(const char *const absent[WALK_WALKER_LIMIT], uint64_t now_ns)
{
    __real_walk_breaker_open(absent, fast(now_ns));
}

bool __real_walk_breaker_turn(uint64_t now_ns, walk_prepare *prepare, void *context,
                              struct walk_change *out);
bool __wrap_walk_breaker_turn(uint64_t now_ns, walk_prepare *prepare, void *context,
                              struct walk_change *out);
bool __wrap_walk_breaker_turn(uint64_t now_ns, walk_prepare *prepare, void *context,
                              struct walk_change *out)
{
    if (!__real_walk_breaker_turn(fast(now_ns), prepare, context, out))
        return false;
    out->time_ns = now_ns;
    return true;
}

bool __real_walk_breaker_tell(enum walk_part part, uint64_t now_ns, char *text, size_t room_bytes);
bool __wrap_walk_breaker_tell(enum walk_part part, uint64_t now_ns, char *text, size_t room_bytes);
bool __wrap_walk_breaker_tell(enum walk_part part, uint64_t now_ns, char *text, size_t room_bytes)
{
    return __real_walk_breaker_tell(part, fast(now_ns), text, room_bytes);
}

/* Begin and end -------------------------------------------------------------------------------------------- */

static uint64_t number_of(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);

    return text == NULL ? fallback : strtoull(text, NULL, 10);
}

static __attribute__((constructor)) void begin_wrong(void)
{
    const char *path = getenv("JW_WRONG");
    const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);

    begin_ns = jw_now_ns();
    repeat = (uint32_t)number_of("JW_WRONG_REPEAT", 1);
    seed = number_of("JW_WRONG_SEED", 1);
    speed = number_of("JW_WRONG_SPEED", 1);
    if (file < 0)
        return;
    void *const mapped = mmap(NULL, CONTROL_BYTES, PROT_READ, MAP_SHARED, file, 0);
    (void)close(file);
    control = mapped == MAP_FAILED ? NULL : mapped;
}

static void put(FILE *out, const char *name, const _Atomic uint64_t *value)
{
    fprintf(out, "%s %llu\n", name, (unsigned long long)jw_load_relaxed(value));
}

static void put_row(FILE *out, const char *name, enum wrong_what what)
{
    fprintf(out, "%s_walks %llu\n%s_wrong %llu\n%s_most_loads %llu\n%s_longest_ns %llu\n", name,
            (unsigned long long)jw_load_relaxed(&done.walks[what]), name,
            (unsigned long long)jw_load_relaxed(&done.wrong_walks[what]), name,
            (unsigned long long)jw_load_relaxed(&done.most_loads[what]), name,
            (unsigned long long)jw_load_relaxed(&done.longest_ns[what]));
}

static __attribute__((destructor)) void tell_wrong(void)
{
    const char *path = getenv("JW_WRONG");
    char told[4096];

    if (path == NULL || snprintf(told, sizeof told, "%s.told", path) >= (int)sizeof told)
        return;
    FILE *out = fopen(told, "we");
    if (out == NULL)
        return;
    put_row(out, "java", WRONG_JAVA);
    put_row(out, "native", WRONG_NATIVE);
    put_row(out, "rest", WRONG_REST);
    put(out, "java_complete", &done.complete);
    put(out, "agct_bad_calls", &done.bad_calls);
    put(out, "loads", &done.loads);
    put(out, "wrong_loads", &done.wrong_loads);
    for (uint32_t row = 0; row < TIME_ROWS; row++) {
        if (jw_load_relaxed(&done.times[row]) != 0)
            fprintf(out, "below_ns_%llu %llu\n", 2ull << row,
                    (unsigned long long)jw_load_relaxed(&done.times[row]));
    }
    (void)fclose(out);
}
