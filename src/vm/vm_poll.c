/* The word of a thread that its polls look at: where it is, and what it says; dump, handler. */
#include "vm/vm_poll.h"

#include "arch/arch.h"
#include "base/atomics.h"
#include "vm/vm_internal.h"
#include "vm/vm_safepoint.h"
#include "vm/vm_thread.h"

#define CANDIDATES       8
#define SITES_MIN        16 /* there are some 100 in an interpreter */
#define SITES_TIMES      8  /* so much more often than anything else */
#define PIECE_BYTES      4096
#define POLL_BYTES       8 /* the longest */
#define PAGE_MASK        0xfffu
#define CLEAR_TRIES      8 /* words that nobody had armed, before any is believed */
#define MAJOR_POLLED_MIN 10
/* Source: JDK-8253180 (JEP 376): from then on the word is compared with the stack pointer, too. */
#define MAJOR_WORD_MIN 16
#define BIT_WORD       1u /* Source: OpenJDK, safepointMechanism.hpp: 8 until JDK 13, then 1 */
#define BIT_PAGE       8u
#define WORD_CLEAR     (~(uint64_t)1)

enum finding { SOUGHT, TRIED, FOUND, NO_POLLS, NO_INTERPRETER, AMBIGUOUS, WRONG };

/* Relaxed: each stands alone. `where` is offset << 8 | mask, and 0 until it is found; `from_env`: from a JNIEnv to the word, once it is proved
 * to be one that is compared. */
static struct {
    _Atomic uint64_t where, from_env;
    _Atomic uint32_t finding;
    _Atomic uint32_t clear_count;
} poll;

struct candidate {
    struct arch_poll_word word;
    unsigned sites;
};

static void count_site(struct candidate *candidates, const struct arch_poll_word *word)
{
    for (int i = 0; i < CANDIDATES; i++) {
        if (candidates[i].sites > 0 &&
            (candidates[i].word.offset != word->offset || candidates[i].word.mask != word->mask))
            continue;
        candidates[i].word = *word;
        candidates[i].sites++;
        return;
    }
}

/* False: it cannot be read, or has none. */
static bool count_sites(struct candidate *candidates)
{
    uint8_t bytes[PIECE_BYTES + POLL_BYTES];
    struct arch_poll_word word;

    for (uintptr_t at = vm_layout.interpreter_begin; at < vm_layout.interpreter_end;
         at += PIECE_BYTES) {
        const size_t left = vm_layout.interpreter_end - at;
        const size_t room = left < sizeof bytes ? left : sizeof bytes;

        if (!safe_load_bytes(bytes, at, room))
            return false;
        for (size_t i = 0; i < room && i < PIECE_BYTES; i++)
            if (arch_poll_word_read(bytes + i, room - i, &word) &&
                (word.mask == BIT_WORD || word.mask == BIT_PAGE) && word.offset % 8 == 0)
                count_site(candidates, &word);
    }
    return candidates[0].sites > 0;
}

static void settle(enum finding finding)
{
    jw_store_relaxed(&poll.finding, (uint32_t)finding);
}

void vm_poll_find(void)
{
    struct candidate candidates[CANDIDATES] = {{{0, 0}, 0}};
    unsigned best = 0;

    if (jw_load_relaxed(&poll.finding) != SOUGHT)
        return;
    if (vm_layout.major < MAJOR_POLLED_MIN) {
        settle(NO_POLLS);
        return;
    }
    if (!count_sites(candidates)) {
        settle(NO_INTERPRETER);
        return;
    }
    for (unsigned i = 1; i < CANDIDATES; i++)
        best = candidates[i].sites > candidates[best].sites ? i : best;
    for (unsigned i = 0; i < CANDIDATES; i++) {
        if (candidates[best].sites < SITES_MIN ||
            (i != best && candidates[i].sites * SITES_TIMES > candidates[best].sites)) {
            settle(AMBIGUOUS);
            return;
        }
    }
    settle(TRIED);
    jw_store_relaxed(&poll.where,
                     (uint64_t)candidates[best].word.offset << 8 | candidates[best].word.mask);
}

const char *vm_poll_told(void)
{
    static const char *const texts[] = {
        [SOUGHT] = "not yet: the polls are being read",
        [TRIED] = "not yet: no thread was seen running that nobody had asked to stop",
        [FOUND] = "on",
        [NO_POLLS] = "off: the threads of this JVM have no polls of their own; from JDK 10 on",
        [NO_INTERPRETER] = "off: the interpreter's polls cannot be read",
        [AMBIGUOUS] = "off: the interpreter's polls do not name one word of the thread",
        [WRONG] = "off: the word of a thread had what no poll looks at",
    };

    return texts[jw_load_relaxed(&poll.finding)];
}

uint32_t vm_poll_offset(void)
{
    return (uint32_t)(jw_load_relaxed(&poll.where) >> 8);
}

/* JDK 10 to 15: a page that may be read, or one that may not, with the bit. */
static JW_SIGNAL_SAFE enum vm_poll_state state_of_page(uint64_t page, uint8_t mask)
{
    if (page == 0 || page >> 48 != 0 || (page & PAGE_MASK & ~(uint64_t)mask) != 0)
        return VM_POLL_UNTOLD;
    return (page & mask) != 0 ? VM_POLL_ARMED : VM_POLL_CLEAR;
}

/* Source: OpenJDK, SafepointMechanism::default_initialize and update_poll_values, JDK 16 to 28. */
static JW_SIGNAL_SAFE enum vm_poll_state state_of_word(uint64_t word)
{
    if (word == WORD_CLEAR)
        return VM_POLL_CLEAR;
    if (word == BIT_WORD)
        return VM_POLL_ARMED;
    return vm_is_plausible(word) ? VM_POLL_WATERMARK : VM_POLL_UNTOLD;
}

static JW_SIGNAL_SAFE void believe(void)
{
    if (vm_layout.major >= MAJOR_WORD_MIN)
        jw_store_relaxed(&poll.from_env, (jw_load_relaxed(&poll.where) >> 8) -
                                             (uint64_t)vm_layout.thread_anchor.offset -
                                             VM_ENV_AFTER_ANCHOR_BYTES);
    jw_store_relaxed(&poll.finding, FOUND);
}

/* What the first words prove. */
static JW_SIGNAL_SAFE enum vm_poll_state judge(enum vm_poll_state state)
{
    const uint32_t finding = jw_load_relaxed(&poll.finding);

    if (finding == FOUND && state != VM_POLL_UNTOLD)
        return state;
    if (state == VM_POLL_UNTOLD) {
        jw_store_relaxed(&poll.where, 0);
        jw_store_relaxed(&poll.from_env, 0);
        jw_store_relaxed(&poll.finding, WRONG);
    } else if (finding == TRIED && state == VM_POLL_CLEAR &&
               jw_add_relaxed(&poll.clear_count, 1) + 1 >= CLEAR_TRIES) {
        believe();
    }
    return VM_POLL_UNTOLD;
}

enum vm_poll_state vm_poll_state(const void *env)
{
    const uint64_t where = jw_load_relaxed(&poll.where);
    const vm_addr thread = where == 0 ? 0 : vm_thread_of_env(env);
    uint64_t word;

    /* Who finds it armed has to see what was said before that, of a safepoint: SafepointSynchronize::arm_safepoint orders the two. */
    if (thread == 0 || !safe_load_u64_acquire(thread + (vm_addr)(where >> 8), &word))
        return VM_POLL_UNTOLD;
    return judge(vm_layout.major < MAJOR_WORD_MIN ? state_of_page(word, (uint8_t)where)
                                                  : state_of_word(word));
}

/* Of nearly all samples, in a few instructions: nobody has. */
static JW_SIGNAL_SAFE bool is_surely_clear(const void *env)
{
    const uint64_t from_env = jw_load_relaxed(&poll.from_env);
    uint64_t word;

    return from_env != 0 && env != NULL && safe_load_u64((vm_addr)env + from_env, &word) &&
           word == WORD_CLEAR;
}

static JW_SIGNAL_SAFE enum vm_poll_asked asked(const void *env)
{
    const enum vm_poll_state state = vm_poll_state(env);
    /* A safepoint says that it is one before it arms a poll. */
    const enum vm_safepoint_state safepoint =
        state == VM_POLL_CLEAR ? VM_SAFEPOINT_NONE : vm_safepoint_state();

    if (state == VM_POLL_CLEAR ||
        (state == VM_POLL_UNTOLD && safepoint != VM_SAFEPOINT_SYNCHRONIZING) ||
        vm_thread_delay(env) == VM_THREAD_DELAYS_NOT)
        return VM_POLL_ASKED_NOT;
    if (safepoint == VM_SAFEPOINT_SYNCHRONIZING)
        return VM_POLL_ASKED_BY_SAFEPOINT;
    if (state == VM_POLL_WATERMARK)
        return VM_POLL_ASKED_BY_WATERMARK;
    return safepoint == VM_SAFEPOINT_UNTOLD ? VM_POLL_ASKED_BY_EITHER : VM_POLL_ASKED_BY_HANDSHAKE;
}

enum vm_poll_asked vm_poll_asked(const void *env)
{
    return is_surely_clear(env) ? VM_POLL_ASKED_NOT : asked(env);
}
