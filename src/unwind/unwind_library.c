/* libunwind: loaded, and tried; registers and stacks as it wants them; control, dump, handler. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "symbols/symbols.h"
#include "unwind/unwind_internal.h"

#define LIBRARY_VERSION 8 /* of its interface: libunwind 1.1 to 1.8 */

/* Stack above the frame that a try begins at, which is read; as long as it ends there, it is enough. */
#define TRY_BYTES ((size_t)16 << 10)
#define TRY_DEPTH 32

static bool find(void *handle, const char *what, void *function, size_t function_bytes,
                 struct jw_error *err)
{
    char symbol[64];

    snprintf(symbol, sizeof symbol, "_U%s_%s", arch_facts.unwind_name, what);
    void *const address = dlsym(handle, symbol);
    if (address == NULL) {
        jw_error_set(err, "libunwind-%s.so.%d has no function %s; a libunwind from 1.6 on has one",
                     arch_facts.unwind_name, LIBRARY_VERSION, symbol);
        return false;
    }
    memcpy(function, &address, function_bytes);
    return true;
}

#define FIND(what, member) find(handle, what, (void *)&library->member, sizeof library->member, err)

bool unwind_library_load(struct unwind_library *library, struct jw_error *err)
{
    char file[64];

    snprintf(file, sizeof file, "libunwind-%s.so.%d", arch_facts.unwind_name, LIBRARY_VERSION);
    /* For nobody else: names of it are found through this handle alone. It is never closed. */
    void *const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *why = dlerror();

        jw_error_set(err, "%s cannot be loaded (%s); install libunwind (Debian: libunwind8)", file,
                     why == NULL ? "no reason told" : why);
        return false;
    }
    if (!FIND("create_addr_space", create) || !FIND("set_caching_policy", set_caching) ||
        !FIND("init_remote", begin) || !FIND("step", step) || !FIND("get_reg", get) ||
        !FIND("is_signal_frame", is_signal_frame) || !FIND("dwarf_search_unwind_table", search))
        return false;
    library->space = library->create(&unwind_accessors, 0);
    if (library->space == NULL) {
        jw_error_set(err, "libunwind makes no address space: out of memory");
        return false;
    }
    (void)library->set_caching(library->space, UNWIND_CACHE_NONE);
    return true;
}

void unwind_registers(const void *ucontext, uintptr_t *registers)
{
    struct arch_regs regs;

    for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
        if (!arch_dwarf_register(ucontext, i, &registers[i]))
            registers[i] = 0;
    arch_regs_read(ucontext, &regs);
    registers[arch_facts.unwind_pc] = regs.pc;
    registers[arch_facts.unwind_sp] = regs.sp;
}

size_t unwind_copy_stack(unsigned char *to, uintptr_t start, size_t most_bytes)
{
    size_t done = 0;

    while (done < most_bytes) {
        const size_t to_page =
            arch_facts.page_min_bytes - (start + done) % arch_facts.page_min_bytes;
        const size_t part = to_page < most_bytes - done ? to_page : most_bytes - done;

        if (!safe_load_bytes(to + done, start + done, part))
            break;
        done += part;
    }
    return done;
}

bool __attribute__((noinline))
unwind_library_try(const struct unwind_library *library, const struct symbols_snapshot *snapshot,
                   struct jw_error *err)
{
    static unsigned char bytes[TRY_BYTES]; /* of the agent's thread, as is what follows */
    static ucontext_t context;
    const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    struct unwind_view view = {.library = library, .snapshot = snapshot};
    uintptr_t pcs[TRY_DEPTH];
    enum unwind_end end;

    (void)getcontext(&context);
    unwind_registers(&context, view.registers);
    view.stack.start = view.registers[arch_facts.unwind_sp];
    view.stack.size_bytes = unwind_copy_stack(bytes, view.stack.start, sizeof bytes);
    view.stack.bytes = bytes;
    const uint32_t count = unwind_walk(&view, pcs, TRY_DEPTH, &end);
    if (count >= 2 && pcs[1] + 1 == arch_code_address(caller))
        return true;
    jw_error_set(err,
                 "libunwind does not find the caller of a function that is known (%u frames); one "
                 "from 1.6 on does",
                 count);
    return false;
}
