/* What libunwind sees of the process, and its walk over that; called by who has the library. */
#include <string.h>

#include "symbols/symbols.h"
#include "unwind/unwind_internal.h"
#include "vm/vm_code.h"

/* Of .eh_frame_hdr. Source: Linux Standard Base, Core, "The .eh_frame_hdr section". */
#define HEADER_BYTES   12
#define HEADER_VERSION 1
#define COUNT_UDATA4   0x03
#define TABLE_SDATA4   0x3b /* four bytes each, signed, from the header on */
#define TABLE_ENTRY    8

bool unwind_table_find(const struct symbols_snapshot *snapshot, uintptr_t pc,
                       struct unwind_dynamic *out)
{
    const uintptr_t header = symbols_frame_header(snapshot, pc);
    unsigned char bytes[HEADER_BYTES];
    uint32_t function_count;

    if (header == 0 || !safe_load_bytes(bytes, header, sizeof bytes) ||
        bytes[0] != HEADER_VERSION || bytes[2] != COUNT_UDATA4 || bytes[3] != TABLE_SDATA4)
        return false;
    memcpy(&function_count, bytes + 8, sizeof function_count);
    *out = (struct unwind_dynamic){
        .start_ip = 0,
        .end_ip = UINT64_MAX,
        .format = UNWIND_FORMAT_REMOTE_TABLE,
        .segment_base = header,
        .table_words = (uint64_t)function_count * TABLE_ENTRY / sizeof(uint64_t),
        .table = header + HEADER_BYTES,
    };
    return true;
}

static int find_procedure(struct unwind_space *space, uint64_t ip, struct unwind_procedure *out,
                          int needs_info, void *closure)
{
    struct unwind_view *view = closure;
    struct unwind_dynamic table;
    int status = -UNWIND_E_NOINFO;

    if (unwind_table_find(view->snapshot, (uintptr_t)ip, &table))
        status = view->library->search(space, ip, &table, out, needs_info, view);
    view->has_no_way |= status < 0;
    return status;
}

/* The library takes its own back: nothing of ours is in there. */
static void put_info(struct unwind_space *space, struct unwind_procedure *procedure, void *view)
{
    (void)space, (void)procedure, (void)view;
}

static int dynamic_list(struct unwind_space *space, uint64_t *addr, void *view)
{
    (void)space, (void)addr, (void)view;
    return -UNWIND_E_NOINFO;
}

static bool load_of_library(struct unwind_view *view, uintptr_t addr, uintptr_t *value)
{
    if ((addr < view->segment_start || addr >= view->segment_end) &&
        !symbols_find_segment(view->snapshot, addr, &view->segment_start, &view->segment_end)) {
        view->segment_start = view->segment_end = 0;
        return false;
    }
    return safe_load_word(addr, value);
}

static int memory(struct unwind_space *space, uint64_t addr, uint64_t *value, int is_write,
                  void *closure)
{
    struct unwind_view *view = closure;
    const struct unwind_copy *stack = &view->stack;
    uintptr_t word;

    (void)space;
    if (is_write)
        return -UNWIND_E_INVAL;
    if (addr >= stack->start && addr - stack->start < stack->size_bytes &&
        stack->size_bytes - (addr - stack->start) >= sizeof word) {
        memcpy(&word, stack->bytes + (addr - stack->start), sizeof word);
    } else if (!load_of_library(view, (uintptr_t)addr, &word)) {
        view->has_no_copy = true;
        return -UNWIND_E_INVAL;
    }
    *value = word;
    return 0;
}

static int register_(struct unwind_space *space, int number, uint64_t *value, int is_write,
                     void *closure)
{
    const struct unwind_view *view = closure;

    (void)space;
    if (is_write || number < 0 || number >= UNWIND_REGISTERS)
        return -UNWIND_E_BADREG;
    *value = view->registers[number];
    return 0;
}

static int float_register(struct unwind_space *space, int number, void *value, int is_write,
                          void *view)
{
    (void)space, (void)number, (void)value, (void)is_write, (void)view;
    return -UNWIND_E_BADREG;
}

static int resume(struct unwind_space *space, struct unwind_cursor *cursor, void *view)
{
    (void)space, (void)cursor, (void)view;
    return -UNWIND_E_INVAL;
}

static int name(struct unwind_space *space, uint64_t ip, char *text, size_t room_bytes,
                uint64_t *offset, void *view)
{
    (void)space, (void)ip, (void)text, (void)room_bytes, (void)offset, (void)view;
    return -UNWIND_E_NOINFO;
}

struct unwind_accessors unwind_accessors = {
    .find_procedure = find_procedure,
    .put_info = put_info,
    .dynamic_list = dynamic_list,
    .memory = memory,
    .register_ = register_,
    .float_register = float_register,
    .resume = resume,
    .name = name,
};

/*
 * libunwind 1.6 knows nothing of signed return addresses: it would go where they point. And it believes what is said of
 * SYMBOLS_RAISED_BYTES.
 */
static bool is_misled(const struct symbols_snapshot *snapshot, uintptr_t pc)
{
    struct symbols_rule rule;

    return symbols_rule_find(snapshot, pc, false, &rule) == SYMBOLS_FOUND &&
           (rule.is_return_signed || rule.is_cfa_raised);
}

/* Leaves a frame. `is_exact`: the pc is no return address. False, and `end`: it cannot be left. */
static bool leave(struct unwind_view *view, struct unwind_cursor *cursor, uintptr_t pc,
                  bool *is_exact, enum unwind_end *end)
{
    const struct unwind_library *library = view->library;
    const bool tells_here = arch_facts.is_unwind_signal_here;

    *end = UNWIND_NO_WAY;
    if (is_misled(view->snapshot, pc))
        return false;
    *is_exact = tells_here && library->is_signal_frame(cursor) > 0;
    view->has_no_copy = view->has_no_way = false;
    const int status = library->step(cursor);
    /* Where it was told nothing, it goes on by frame pointers and the like. */
    if (view->has_no_copy || view->has_no_way) {
        *end = view->has_no_way ? UNWIND_NO_WAY : UNWIND_NO_COPY;
        return false;
    }
    if (status <= 0) {
        *end = status == 0 ? UNWIND_AT_ROOT : UNWIND_NO_WAY;
        return false;
    }
    *is_exact |= !tells_here && library->is_signal_frame(cursor) > 0;
    return true;
}

uint32_t unwind_walk(struct unwind_view *view, uintptr_t *pcs, uint32_t depth_max,
                     enum unwind_end *end)
{
    const struct unwind_library *library = view->library;
    static struct unwind_cursor cursor; /* one thread at a time walks */
    uint64_t ip, sp, last_ip = 0, last_sp = 0;
    uint32_t count = 0;
    bool is_exact = true;

    *end = UNWIND_NO_WAY;
    if (library->begin(&cursor, library->space, view) != 0)
        return 0;
    while (library->get(&cursor, arch_facts.unwind_pc, &ip) == 0 &&
           library->get(&cursor, arch_facts.unwind_sp, &sp) == 0) {
        /* 1.6.2 on aarch64 tells a thread's first frame again where its caller is said to be undefined. */
        if (ip == 0 || (ip == last_ip && sp == last_sp)) {
            *end = UNWIND_AT_ROOT;
            break;
        }
        last_ip = ip;
        last_sp = sp;
        if (vm_code_contains((uintptr_t)ip)) {
            *end = UNWIND_AT_CODE;
            break;
        }
        if (count == depth_max) {
            *end = UNWIND_CUT;
            break;
        }
        pcs[count++] = (uintptr_t)ip - (is_exact ? 0 : 1);
        if (!leave(view, &cursor, pcs[count - 1], &is_exact, end))
            break;
    }
    return count;
}
