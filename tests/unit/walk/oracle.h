/*
 * oracle - native stacks as room walk tells them inside a handler, beside what libunwind makes of the same registers and
 *          a copy of the same stack, outside of it.
 *
 * For      tests. oracle_take in a handler; all else outside, on one thread, while no handler runs.
 * Memory   samples lie in one mapping; who finds it full is counted and not compared.
 *
 * libunwind sees the copy and the loaded libraries through accessors of ours; its own, which take locks and read the live
 * process, are not used.
 */
#ifndef JW_TESTS_ORACLE_H
#define JW_TESTS_ORACLE_H

#include <dlfcn.h>
#include <libunwind.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "walk/walk_internal.h"

#define ORACLE_DEPTH_MAX     128
#define ORACLE_REGISTERS     33
#define ORACLE_BYTES         ((size_t)96 << 20)
#define ORACLE_COPY_MAX      ((size_t)64 << 10)
#define ORACLE_RED_ZONE      128 /* below the stack pointer of x86-64 */
#define ORACLE_REGIONS       4
#define ORACLE_LIBRARIES_MAX 128
#define ORACLE_ENDS_MAX      64

#if defined(__x86_64__)
/* When unw_is_signal_frame tells of a frame: while the cursor is at it, or when it has left it. */
#define ORACLE_SIGNAL_BEFORE false
#define ORACLE_PC            UNW_X86_64_RIP
#define ORACLE_SP            UNW_X86_64_RSP
#define ORACLE_TABLE         _Ux86_64_dwarf_search_unwind_table
#else
#define ORACLE_SIGNAL_BEFORE true
#define ORACLE_PC            UNW_AARCH64_PC
#define ORACLE_SP            UNW_AARCH64_SP
#define ORACLE_TABLE         _Uaarch64_dwarf_search_unwind_table
#endif

/* Exported, but in no header: finds an FDE by the table of .eh_frame_hdr. */
extern int ORACLE_TABLE(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *info,
                        unw_proc_info_t *out, int need_unwind_info, void *closure);

struct oracle_copy {
    uintptr_t start;
    size_t size_bytes, offset;
};

struct oracle_sample {
    uintptr_t registers[ORACLE_REGISTERS]; /* by libunwind's numbers */
    uint32_t count, copy_count;
    uintptr_t pcs[ORACLE_DEPTH_MAX];
    uint32_t live_count; /* by libunwind in the handler; 0: not walked so */
    uintptr_t live_pcs[ORACLE_DEPTH_MAX];
    struct oracle_copy copies[ORACLE_REGIONS];
    size_t size_bytes;
    unsigned char bytes[];
};

#define ORACLE_SEGMENTS_MAX 8

struct oracle_library {
    uintptr_t start, end; /* of all that is loaded of it */
    uintptr_t frame_header;
    uintptr_t segments[ORACLE_SEGMENTS_MAX][2]; /* start and end of what can be read */
    unsigned segment_count;
};

/* What came of the samples of one stretch of code. */
struct oracle_result {
    unsigned taken, full; /* full: not kept, there was no room */
    unsigned reached;     /* libunwind came to the thread's start */
    unsigned equal;       /* of those: all frames are the same */
    unsigned whole;       /* of those taken: ours has the root and ends where threads start */
    unsigned frames, deepest, signal_frames;
    unsigned live, live_equal; /* of those reached: libunwind walked them in the handler, and so */
    unsigned alone,
        alone_equal; /* of those whole but not reached: it walked them in the handler, and as rows do */
    unsigned differences;
    char message[2048];      /* the first of them */
    char live_message[2048]; /* and of those that libunwind told otherwise in the handler */
};

static struct {
    unsigned char *bytes;
    size_t used_bytes;
    unsigned full;
    struct oracle_copy regions[ORACLE_REGIONS]; /* stacks, by what may be copied of each */
    unsigned region_count;
    uintptr_t ends[ORACLE_ENDS_MAX]; /* first functions of threads, as libunwind told their pcs */
    unsigned end_count;
    struct oracle_library libraries[ORACLE_LIBRARIES_MAX];
    unsigned library_count;
    struct oracle_library
        trampoline; /* code in no library that returns from signals: an emulator has such */
    /* Return addresses of which one is on each stack of the code under test. */
    uintptr_t root_pcs[2];
    const struct oracle_sample *sample; /* what libunwind is looking at */
    unw_addr_space_t space;
    bool is_live; /* libunwind walks in handlers, too */
} oracle;

/* -------- handler ---------------------------------------------------------------------------- */

static inline void oracle_registers(const ucontext_t *context, uintptr_t *out)
{
    const mcontext_t *machine = &context->uc_mcontext;
#if defined(__x86_64__)
    static const int numbers[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                  REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                  REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        out[i] = (uintptr_t)machine->gregs[numbers[i]];
#else
    for (size_t i = 0; i < 31; i++)
        out[i] = (uintptr_t)machine->regs[i];
    out[UNW_AARCH64_SP] = (uintptr_t)machine->sp;
    out[UNW_AARCH64_PC] = (uintptr_t)machine->pc;
#endif
}

/* The stack itself, read as it is: no sanitizer looks, and it is ours. */
static inline void oracle_copy_region(struct oracle_sample *sample, uintptr_t start, uintptr_t end)
{
    const size_t size_bytes = end - start < ORACLE_COPY_MAX ? end - start : ORACLE_COPY_MAX;

    sample->copies[sample->copy_count++] = (struct oracle_copy){
        .start = start, .size_bytes = size_bytes, .offset = sample->size_bytes};
    memcpy(sample->bytes + sample->size_bytes, (const void *)start, size_bytes);
    sample->size_bytes += size_bytes;
}

static inline void oracle_take(const void *ucontext)
{
    struct arch_regs regs;
    struct oracle_sample *sample = (void *)(oracle.bytes + oracle.used_bytes);

    if (oracle.used_bytes + sizeof *sample + ORACLE_REGIONS * ORACLE_COPY_MAX > ORACLE_BYTES) {
        oracle.full++;
        return;
    }
    oracle_registers(ucontext, sample->registers);
    arch_regs_read(ucontext, &regs);
    const uintptr_t sp = regs.sp;
    enum walk_native_end native_end;

    sample->count = walk_native_frames(ucontext, &regs, WALK_BY_ROWS, sample->pcs, ORACLE_DEPTH_MAX,
                                       NULL, &native_end);
    sample->live_count = 0;
    if (oracle.is_live) {
        arch_regs_read(ucontext, &regs);
        sample->live_count =
            walk_native_frames(ucontext, &regs, WALK_BY_LIBUNWIND, sample->live_pcs,
                               ORACLE_DEPTH_MAX, NULL, &native_end);
    }
    sample->copy_count = 0;
    sample->size_bytes = 0;
    for (unsigned i = 0; i < oracle.region_count; i++) {
        const struct oracle_copy *region = &oracle.regions[i];
        const bool is_here = sp >= region->start && sp - region->start < region->size_bytes;
        const uintptr_t end = region->start + region->size_bytes;
        /* Of a stack that another one was left for, what lies above the place where that was done. */
        const uintptr_t from = is_here ? sp - ORACLE_RED_ZONE : region->offset;

        if (from != 0)
            oracle_copy_region(sample, from, end);
    }
    oracle.used_bytes += (sizeof *sample + sample->size_bytes + 15) & ~(size_t)15;
}

/* -------- accessors -------------------------------------------------------------------------- */

static const struct oracle_library *oracle_library_of(uintptr_t addr)
{
    for (unsigned i = 0; i < oracle.library_count; i++)
        if (addr >= oracle.libraries[i].start && addr < oracle.libraries[i].end)
            return &oracle.libraries[i];
    return NULL;
}

static int oracle_find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *out,
                                 int need_unwind_info, void *closure)
{
    const struct oracle_library *library = oracle_library_of(ip);
    unw_dyn_info_t info;
    uint32_t function_count;

    if (library == NULL || library->frame_header == 0)
        return -UNW_ENOINFO;
    /* Version 1, 4 bytes for each number, those of the table from the header's own address on. */
    const unsigned char *header = (const void *)library->frame_header;
    if (header[0] != 1 || header[2] != 0x03 || header[3] != 0x3b)
        return -UNW_ENOINFO;
    memcpy(&function_count, header + 8, sizeof function_count);
    memset(&info, 0, sizeof info);
    info.start_ip = library->start;
    info.end_ip = library->end;
    info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    info.u.rti.segbase = library->frame_header;
    info.u.rti.table_data = library->frame_header + 12;
    info.u.rti.table_len = function_count * 8ull / sizeof(unw_word_t);
    return ORACLE_TABLE(space, ip, &info, out, need_unwind_info, closure);
}

static int oracle_access_mem(unw_addr_space_t space, unw_word_t addr, unw_word_t *value,
                             int is_write, void *closure)
{
    (void)space;
    (void)closure;
    if (is_write)
        return -UNW_EINVAL;
    for (uint32_t i = 0; i < oracle.sample->copy_count; i++) {
        const struct oracle_copy *copy = &oracle.sample->copies[i];

        if (addr >= copy->start && addr - copy->start + sizeof *value <= copy->size_bytes) {
            memcpy(value, oracle.sample->bytes + copy->offset + (addr - copy->start),
                   sizeof *value);
            return 0;
        }
    }
    const struct oracle_library *library = oracle_library_of(addr);
    for (unsigned i = 0; library != NULL && i < library->segment_count; i++) {
        if (addr >= library->segments[i][0] && addr + sizeof *value <= library->segments[i][1]) {
            memcpy(value, (const void *)(uintptr_t)addr, sizeof *value);
            return 0;
        }
    }
    return -UNW_EINVAL;
}

static int oracle_access_reg(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value,
                             int is_write, void *closure)
{
    (void)space;
    (void)closure;
    if (is_write || number < 0 || number >= ORACLE_REGISTERS)
        return -UNW_EBADREG;
    *value = oracle.sample->registers[number];
    return 0;
}

static int oracle_access_fpreg(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value,
                               int is_write, void *closure)
{
    (void)space, (void)number, (void)value, (void)is_write, (void)closure;
    return -UNW_EBADREG;
}

static void oracle_put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *closure)
{
    (void)space, (void)info, (void)closure;
}

static int oracle_dyn_info(unw_addr_space_t space, unw_word_t *addr, void *closure)
{
    (void)space, (void)addr, (void)closure;
    return -UNW_ENOINFO;
}

static int oracle_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *closure)
{
    (void)space, (void)cursor, (void)closure;
    return -UNW_EINVAL;
}

static int oracle_proc_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t name_bytes,
                            unw_word_t *offset, void *closure)
{
    (void)space, (void)ip, (void)name, (void)name_bytes, (void)offset, (void)closure;
    return -UNW_ENOINFO;
}

static int oracle_add_library(struct dl_phdr_info *info, size_t info_bytes, void *closure)
{
    struct oracle_library library = {.start = UINTPTR_MAX};

    (void)info_bytes;
    (void)closure;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + header->p_vaddr;

        if (header->p_type == PT_GNU_EH_FRAME)
            library.frame_header = start;
        if (header->p_type != PT_LOAD)
            continue;
        if ((header->p_flags & PF_R) != 0 && library.segment_count < ORACLE_SEGMENTS_MAX) {
            library.segments[library.segment_count][0] = start;
            library.segments[library.segment_count++][1] = start + header->p_memsz;
        }
        library.start = start < library.start ? start : library.start;
        library.end = start + header->p_memsz > library.end ? start + header->p_memsz : library.end;
    }
    if (oracle.library_count < ORACLE_LIBRARIES_MAX && library.end != 0)
        oracle.libraries[oracle.library_count++] = library;
    return 0;
}

/* -------- comparison ------------------------------------------------------------------------- */

static inline void oracle_begin(void)
{
    static unw_accessors_t accessors = {.find_proc_info = oracle_find_proc_info,
                                        .put_unwind_info = oracle_put_unwind_info,
                                        .get_dyn_info_list_addr = oracle_dyn_info,
                                        .access_mem = oracle_access_mem,
                                        .access_reg = oracle_access_reg,
                                        .access_fpreg = oracle_access_fpreg,
                                        .resume = oracle_resume,
                                        .get_proc_name = oracle_proc_name};

    if (oracle.bytes == NULL) {
        void *bytes = mmap(NULL, ORACLE_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        cr_assert(bytes != MAP_FAILED);
        oracle.bytes = bytes;
        oracle.space = unw_create_addr_space(&accessors, 0);
        cr_assert(oracle.space != NULL);
        unw_set_caching_policy(oracle.space, UNW_CACHE_NONE);
    }
    oracle.used_bytes = 0;
    oracle.full = 0;
    oracle.region_count = 0;
    memset(oracle.root_pcs, 0, sizeof oracle.root_pcs);
}

/* `pc`: in the code that a signal's handler returns to. */
static inline void oracle_trampoline(uintptr_t pc)
{
    const uintptr_t page_bytes = 4096, start = pc & ~(page_bytes - 1);
    Dl_info info;

    if (dladdr((const void *)pc, &info) == 0)
        oracle.trampoline = (struct oracle_library){.start = start,
                                                    .end = start + page_bytes,
                                                    .segments = {{start, start + page_bytes}},
                                                    .segment_count = 1};
}

/* What may be copied: the stack itself; with a `from`, the part that another stack was left for. */
static inline void oracle_region(uintptr_t start, size_t size_bytes, uintptr_t from)
{
    oracle.regions[oracle.region_count++] =
        (struct oracle_copy){.start = start, .size_bytes = size_bytes, .offset = from};
}

/* libunwind's frames, as ours are: callers one byte inside of their calls, but below a signal frame. */
static uint32_t oracle_walk(const struct oracle_sample *sample, uintptr_t *pcs, bool *is_ended,
                            unsigned *signal_frames)
{
    unw_cursor_t cursor;
    unw_word_t ip, sp, last_ip = 0, last_sp = 0;
    uint32_t count = 0;
    bool is_exact = true;
    int status = 1;

    oracle.sample = sample;
    *is_ended = false;
    if (unw_init_remote(&cursor, oracle.space, NULL) != 0)
        return 0;
    while (status > 0 && count < ORACLE_DEPTH_MAX && unw_get_reg(&cursor, UNW_REG_IP, &ip) == 0) {
        /* 1.6.2 on aarch64 tells a thread's first frame once more, for ever, where its caller is said to be undefined. */
        if (ip == 0 || unw_get_reg(&cursor, UNW_REG_SP, &sp) != 0 ||
            (ip == last_ip && sp == last_sp)) {
            status = 0;
            break;
        }
        last_ip = ip;
        last_sp = sp;
        pcs[count++] = is_exact ? ip : ip - 1;
        is_exact = ORACLE_SIGNAL_BEFORE && unw_is_signal_frame(&cursor) > 0;
        status = unw_step(&cursor);
        is_exact |= !ORACLE_SIGNAL_BEFORE && unw_is_signal_frame(&cursor) > 0;
        *signal_frames += is_exact;
    }
    *is_ended = status == 0;
    return count;
}

static bool oracle_is_end(uintptr_t pc)
{
    for (unsigned i = 0; i < oracle.end_count; i++)
        if (oracle.ends[i] == pc)
            return true;
    return false;
}

static void oracle_tell_frame(char *text, size_t text_bytes, const char *who, uintptr_t pc)
{
    const size_t used_bytes = strlen(text);
    Dl_info info = {0};

    if (dladdr((const void *)pc, &info) == 0 || info.dli_fname == NULL)
        info.dli_fname = "?";
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(text + used_bytes, text_bytes - used_bytes, "  %s %s+0x%lx %s\n", who,
             slash == NULL ? info.dli_fname : slash + 1,
             (unsigned long)(pc - (uintptr_t)info.dli_fbase),
             info.dli_sname == NULL ? "" : info.dli_sname);
}

/* Both stacks from where they part. */
static void oracle_tell(char *text, size_t text_bytes, const uintptr_t *ours, uint32_t our_count,
                        const uintptr_t *theirs, uint32_t their_count)
{
    uint32_t same = 0;

    while (same < our_count && same < their_count && ours[same] == theirs[same])
        same++;
    snprintf(text, text_bytes, "%u frames, theirs %u, the first %u the same\n", our_count,
             their_count, same);
    for (uint32_t i = 0; i < 3 && i < same; i++)
        oracle_tell_frame(text, text_bytes, "top  ", theirs[i]);
    if (same > 3)
        oracle_tell_frame(text, text_bytes, "last ", theirs[same - 1]);
    for (uint32_t i = same; i < same + 3 && i < our_count; i++)
        oracle_tell_frame(text, text_bytes, "ours  ", ours[i]);
    for (uint32_t i = same; i < same + 3 && i < their_count; i++)
        oracle_tell_frame(text, text_bytes, "theirs", theirs[i]);
}

/* Through a frame whose description leads libunwind astray: symbols.h, SYMBOLS_RAISED_BYTES. */
static bool oracle_is_misled(const uintptr_t *pcs, uint32_t count)
{
    const struct symbols_snapshot *snapshot = symbols_enter();
    struct symbols_rule rule;
    bool is_misled = false;

    for (uint32_t i = 0; i < count && !is_misled; i++)
        is_misled = symbols_rule_find(snapshot, pcs[i], false, &rule) == SYMBOLS_FOUND &&
                    rule.is_cfa_raised;
    symbols_leave(snapshot);
    return is_misled;
}

static void oracle_compare_one(struct oracle_result *result, const struct oracle_sample *sample,
                               bool is_search_for_ends)
{
    static uintptr_t theirs[ORACLE_DEPTH_MAX];
    unsigned signal_frames = 0;
    bool is_ended, is_rooted = false;
    const uint32_t count = oracle_walk(sample, theirs, &is_ended, &signal_frames);

    if (!is_ended || count == 0)
        return;
    if (is_search_for_ends) {
        for (uint32_t i = 0; i < count; i++)
            is_rooted |= theirs[i] + 1 == oracle.root_pcs[0] || theirs[i] + 1 == oracle.root_pcs[1];
        if (is_rooted && !oracle_is_end(theirs[count - 1]) && oracle.end_count < ORACLE_ENDS_MAX)
            oracle.ends[oracle.end_count++] = theirs[count - 1];
        return;
    }
    /* 1.6.2 knows a return from a signal by its first instruction alone. */
    if (!oracle_is_end(theirs[count - 1]) || oracle_is_misled(theirs, count) ||
        (theirs[0] >= oracle.trampoline.start && theirs[0] < oracle.trampoline.end))
        return;
    result->reached++;
    result->frames += count;
    result->deepest = count > result->deepest ? count : result->deepest;
    result->signal_frames += signal_frames;
    result->live += sample->live_count > 0;
    if (sample->live_count > 0 && count == sample->live_count &&
        memcmp(theirs, sample->live_pcs, count * sizeof theirs[0]) == 0)
        result->live_equal++;
    else if (sample->live_count > 0 && result->live_message[0] == '\0')
        oracle_tell(result->live_message, sizeof result->live_message, sample->live_pcs,
                    sample->live_count, theirs, count);
    if (count == sample->count && memcmp(theirs, sample->pcs, count * sizeof theirs[0]) == 0)
        result->equal++;
    else if (result->differences++ == 0)
        oracle_tell(result->message, sizeof result->message, sample->pcs, sample->count, theirs,
                    count);
}

static bool oracle_is_whole(const struct oracle_sample *sample)
{
    bool is_rooted = false;

    for (uint32_t i = 0; i < sample->count; i++)
        is_rooted |=
            sample->pcs[i] + 1 == oracle.root_pcs[0] || sample->pcs[i] + 1 == oracle.root_pcs[1];
    return is_rooted && oracle_is_end(sample->pcs[sample->count - 1]);
}

/* What its library did not leave to the end: in the handler it did, or not, as rows. */
static void oracle_compare_alone(struct oracle_result *result, const struct oracle_sample *sample)
{
    result->alone++;
    if (sample->count == sample->live_count &&
        memcmp(sample->pcs, sample->live_pcs, sample->count * sizeof sample->pcs[0]) == 0)
        result->alone_equal++;
    else if (result->live_message[0] == '\0')
        oracle_tell(result->live_message, sizeof result->live_message, sample->live_pcs,
                    sample->live_count, sample->pcs, sample->count);
}

/* Compares all that was taken since oracle_begin. A stack has reached the start of its thread where it ends in a function
 * in which another ended that has the root of the code under test on it. */
static inline struct oracle_result oracle_compare(void)
{
    struct oracle_result result = {.full = oracle.full};

    oracle.library_count = 0;
    if (oracle.trampoline.end != 0)
        oracle.libraries[oracle.library_count++] = oracle.trampoline;
    dl_iterate_phdr(oracle_add_library, NULL);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = 0; at < oracle.used_bytes;) {
            const struct oracle_sample *sample = (const void *)(oracle.bytes + at);

            result.taken += pass;
            const unsigned reached = result.reached;
            const bool is_whole = oracle_is_whole(sample);

            result.whole += pass == 1 && is_whole;
            oracle_compare_one(&result, sample, pass == 0);
            if (pass == 1 && is_whole && result.reached == reached && sample->live_count > 0)
                oracle_compare_alone(&result, sample);
            at += (sizeof *sample + sample->size_bytes + 15) & ~(size_t)15;
        }
    }
    return result;
}

#endif
