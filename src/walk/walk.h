/*
 * walk - from a signal's register state to a list of frames.
 *
 * For      one result type for every way of walking a stack.
 * Callers  sampler; agent (open, the comparison at start).
 * Context  walk_java, walk_receiver, walk_native: handler. walk_open: control. walk_own_stack: control, hook. walk_failures,
 *          walk_*_text: any.
 * Memory   frames go to scratch space of the caller; counts are static.
 *
 * Java stacks are walked by one of two walkers; the context of the sampled thread and JVM memory are
 * never written by either.
 *
 * `agct` is AsyncGetCallTrace. It is called with the signal's own context first. When it cannot tell where
 * it is (a generated stub, a vtable stub, the first or last instructions of a compiled method, a leaf C
 * function that compiled code called), the registers are stepped to the caller on a *copy* of the context,
 * which is handed to it instead: three times at the most.
 *
 * `vm` is our own walker over the tables that HotSpot exports. Every return address it follows is proved:
 * one into compiled code must be one that the compiler described, an interpreted frame must hold a method
 * and a pointer into that method's bytecodes, and a walk that does not end at an entry frame is a
 * failure, whatever it found.
 */
#ifndef JW_WALK_WALK_H
#define JW_WALK_WALK_H

#include "base/frame.h"
#include "vm/vm_code.h"
#include "walk/walk_past.h"

#define WALK_NATIVE_DEPTH_MAX 128u

/*
 * What `vm` remembers of return addresses that it has proved, from walk to walk: which methods stand there,
 * and how large the frame is. Of whoever walks, zeroed at first, used by one walk at a time. An entry of an
 * earlier walk counts only while the code at its place is still that of the same compilation.
 */
#define WALK_CACHE_COUNT 1024u

struct walk_cached {
    uintptr_t pc;
    vm_addr blob;
    uint32_t compile_id;
    uint32_t stamp;       /* of the walk that last looked at the blob */
    uint16_t frame_words; /* 0: nothing is here */
    uint16_t pin;         /* of that walk */
    uint16_t next;        /* the entry that its caller had last: a guess */
    uint8_t frame_count;
    uint8_t
        saved_words; /* that the code saves below its frame when it leaves Java here, and one more; 0: not known */
    struct vm_call_frame frames[WALK_CACHED_FRAMES];
};

struct walk_cache {
    uint32_t stamp;
    bool with_carrier; /* set before each walk: it goes on below the entry of a virtual thread */
    bool with_native; /* likewise: native frames between Java frames and below them; no past then */
    bool
        is_native_whole; /* likewise: native frames are known to lead to the thread's first function, and to no Java */
    bool
        is_resumed; /* likewise: the virtual thread has been mounted, and none of its frames been brought back */
    struct walk_past *past; /* of the thread that is walked: set before each walk; NULL: none */
    const struct walk_top
        *top; /* likewise, of the walk before, with a past of a hook's; NULL: none */
    uint32_t
        noted_from; /* likewise: so many innermost frames are not noted for it; the first never is */
    struct walk_log log; /* of the last walk with a past */
    struct walk_cached entries[WALK_CACHE_COUNT];
};

/* `native` walks no Java frames: it is counted with the others. */
enum walk_walker { WALK_AGCT, WALK_VM, WALK_NATIVE, WALK_WALKER_LIMIT };

/* Beyond the codes of AsyncGetCallTrace, 0 to -10. From WALK_CODE_LOST on they are those of `vm`, which
 * shares code 0 with it. */
#define WALK_CODE_FAULT       (-11)
#define WALK_CODE_OFF         (-12)
#define WALK_CODE_LOST        (-13) /* a return address outside the code of the JVM */
#define WALK_CODE_UNDESCRIBED (-14) /* a return address that the compiler did not describe */
#define WALK_CODE_INTERPRETED (-15) /* an interpreted frame without a method, or half built */
#define WALK_CODE_STACK       (-16) /* a stack pointer that left the stack, or did not rise */
#define WALK_CODE_STUB        (-17) /* a stub whose frame is unknown */
#define WALK_CODE_UNREADABLE  (-18) /* memory of thread, stack or code that cannot be read */
#define WALK_CODE_ENDLESS     (-19) /* more steps than a stack can have */
#define WALK_CODE_COUNT       20

struct walk_java_result {
    uint32_t frame_count; /* 0: failed, `code` says how */
    uint32_t past_frames; /* so many more follow, the last ones of the cache's past */
    uint32_t past_steps;  /* for walk_past_keep */
    bool
        is_again; /* it is the stack of the cache's `top` and past, all of it: nothing is to be kept anew */
    int32_t code; /* failure code of the first try */
    enum walk_walker walker;
    uint32_t stack_frames; /* of a virtual thread: those on the stack, before those in the heap */
    bool is_virtual;       /* its innermost frames are a virtual thread's, down to its entry */
    bool is_thawed;        /* of it: its outermost frames lay in the heap */
    bool is_moving;        /* of it: some may be missing, as they were moved to the heap or back */
    bool is_truncated;     /* its outermost frames are missing: it is as deep as was wanted */
    bool is_frozen;        /* they are missing because they lie in the heap */
    bool is_carrier_lost;  /* of the frames of its carrier, which were wanted, some are missing */
    bool is_mended;        /* complete only after a retry on a mended copy */
    enum vm_place place;   /* what the signal's pc was in */
    enum vm_place failed_at;     /* what the walk was in when it failed */
    uintptr_t stub_pc;           /* begin of the stub that was stepped over; 0: none */
    enum jw_frame_kind top_kind; /* tier of the first frame */
    uint32_t native_faults;      /* loads that faulted in native frames between Java frames */
    /* By `vm`, where the first frame is of compiled code that runs on, or will when what it called as a leaf is over: where
     * it stands. 0: it waits for a call, or is no such frame. */
    uintptr_t top_pc;
};

/*
 * Looks the walkers up, for a session. `wanted` is used where it can be; `vm_reason` says why `vm` cannot (NULL:
 * it can). Where it cannot, `agct` takes its place; walk_breaker.h says what happens to those that fail.
 * Context: control, with all engines stopped.
 */
void walk_open(enum walk_walker wanted, const char *vm_reason);

/* Java stacks are not walked. Context: control, in tests. */
void walk_open_none(void);

/* The walker in use, "vm" or "agct"; in `text`, which may be NULL, why it is not the wanted one, or why
 * Java stacks are not walked at all (then NULL). Context: control, dump. */
const char *walk_walker_in_use(char *text, size_t room_bytes);

/* Walks the Java stack of this thread, whose JNIEnv* is `env`, into `frames`. `cache` may be NULL. */
JW_SIGNAL_SAFE void walk_java(const void *ucontext, void *env, struct walk_cache *cache,
                              struct vm_call_frame *frames, uint32_t depth_max,
                              struct walk_java_result *out);

/* The same by `vm`, whatever walker is in use, for others than the sampler: nothing is counted, nothing remembered, and
 * no frame is a mark. */
JW_SIGNAL_SAFE void walk_for_others(const void *ucontext, void *env, struct vm_call_frame *frames,
                                    uint32_t depth_max, struct walk_java_result *out);

/*
 * Klass* of the object for which the interrupted vtable or itable stub looks a method up; 0: it was at no such
 * place, or what lies there cannot be proved to be a class. `result`: of the same signal.
 */
JW_SIGNAL_SAFE vm_addr walk_receiver(const void *ucontext, const struct walk_java_result *result);

/*
 * Walks the stack of the calling thread, which is in native code that Java called, by `vm`: to be compared
 * with what JVMTI says, or to find who called. Context: control, hook, after vm_stack_open.
 */
void walk_own_stack(void *env, struct vm_call_frame *frames, uint32_t depth_max,
                    struct walk_java_result *out);

/*
 * A frame may be a mark: what is missing at its place, or the border between a virtual thread and its carrier. Such a frame
 * has this instead of a method, an address and a number of a method that there is none of.
 */
JW_SIGNAL_SAFE static inline jmethodID walk_of_mark(enum jw_mark mark)
{
    return (jmethodID) ~(uintptr_t)mark;
}

/* The mark; JW_MARK_LIMIT of a frame that is a method's. */
JW_SIGNAL_SAFE static inline enum jw_mark walk_is_mark(jmethodID method)
{
    const uintptr_t number = ~(uintptr_t)method;

    return number < JW_MARK_LIMIT ? (enum jw_mark)number : JW_MARK_LIMIT;
}

/*
 * Or it may be one of native code, between Java frames or below them: its kind is JW_FRAME_NATIVE, and it has this, which no
 * address of a method is.
 */
#define WALK_OF_PC_BIT ((uintptr_t)1 << 63)

JW_SIGNAL_SAFE static inline jmethodID walk_of_pc(uintptr_t pc)
{
    return (jmethodID)(pc | WALK_OF_PC_BIT);
}

/* The pc; 0 of a frame that is a method's, or a mark. */
JW_SIGNAL_SAFE static inline uintptr_t walk_is_pc(jmethodID method)
{
    const uintptr_t number = (uintptr_t)method;

    return number < WALK_OF_PC_BIT || walk_is_mark(method) != JW_MARK_LIMIT
               ? 0
               : number & ~WALK_OF_PC_BIT;
}

/* A place on the stack, and the native frame in which it lies: its number, from 0; their count where none is. */
struct walk_landmark {
    uintptr_t stack_addr;
    uint32_t frame;
};

/* Where native frames ended. */
enum walk_native_end {
    WALK_NATIVE_AT_CODE, /* at code of the JVM that called them, or there are none */
    WALK_NATIVE_AT_ROOT, /* at the first function of the thread */
    WALK_NATIVE_CUT,     /* they are more than wanted */
    WALK_NATIVE_LOST,    /* the caller is not known, or native frames are not walked */
};

/* What native frames are left by. */
enum walk_native_by {
    WALK_BY_ROWS,          /* what their libraries say */
    WALK_BY_FRAME_POINTER, /* the frame pointer alone, which not all code keeps */
    WALK_BY_LIBUNWIND,     /* libunwind (unwind_live_open before); where it cannot walk, rows */
};

/*
 * Program counters of native frames, innermost first, until the code cache (whose first pc is not
 * included) or the end of the stack. Returns how many. `mark` may be NULL.
 */
JW_SIGNAL_SAFE uint32_t walk_native(const void *ucontext, enum walk_native_by by, uintptr_t *pcs,
                                    uint32_t depth_max, struct walk_landmark *mark,
                                    enum walk_native_end *end);

/* The mark that stands in a stack for a failure code. */
JW_SIGNAL_SAFE enum jw_mark walk_mark_of(int32_t code);

/* Samples whose Java stack failed so, in such a place, since the process started. */
uint64_t walk_failures(enum walk_walker walker, int32_t code, enum vm_place place);
/* Loads that faulted and were contained during walks, failed ones or not, that began in such a place. */
uint64_t walk_faults(enum walk_walker walker, enum vm_place place);
/* A failure of the walker, and not of the moment. */
JW_SIGNAL_SAFE bool walk_code_is_bad(int32_t code);
const char *walk_code_text(int32_t code);
const char *walk_walker_text(enum walk_walker walker);

#endif
