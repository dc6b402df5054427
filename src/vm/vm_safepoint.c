/* Safepoints, by the counters that the JVM keeps among its performance data, and by its symbols; control, handler, any. */
#include "vm/vm_safepoint.h"

#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "symbols/symbols.h"
#include "vm/vm_internal.h"
#include "vm/vm_perfdata.h"
#include "vm/vm_thread.h"

#define JVM_LIBRARY "libjvm."

/* Each JVM exports it: where it is found, what is not found is not there. */
#define ALWAYS_THERE "JNI_CreateJavaVM"

/* Functions of an operation that are looked at for its class's name. */
#define FUNCTIONS_MAX 12

/* Source: OpenJDK, vmOperations.hpp: VM_EmptyOperation, from which VM_Cleanup (JDK 21) and others come. */
#define NOTHING_DONE "EmptyOperation"

/* Constant after vm_open; 0: none. */
static vm_addr counter_addr, sync_addr;

/* Constant once vm_safepoint_open_delays was true; 0: none. */
static vm_addr inside_addr;

/* Relaxed: each stands alone; 0: not found, or not yet. */
static struct {
    _Atomic vm_addr state, begin, operation;
} symbols;

#define SYMBOL_TRIES 8
static int symbol_tries; /* of the agent's thread */

void vm_safepoint_open(void)
{
    counter_addr = vm_perfdata_find("sun.rt.safepoints", VM_PERFDATA_NUMBER);
    sync_addr = vm_perfdata_find("sun.rt.safepointSyncTime", VM_PERFDATA_NUMBER);
}

bool vm_safepoint_count(uint64_t *count)
{
    return counter_addr != 0 && safe_load_u64(counter_addr, count);
}

/* Each of the two only grows, so their sum is another one as soon as either is. */
bool vm_safepoint_date(uint64_t *date)
{
    uint64_t count, sync_ns;

    if (counter_addr == 0 || sync_addr == 0 || !safe_load_u64(counter_addr, &count) ||
        !safe_load_u64(sync_addr, &sync_ns))
        return false;
    *date = count + sync_ns;
    return true;
}

static bool has_found(_Atomic vm_addr *symbol, const char *name)
{
    if (jw_load_relaxed(symbol) == 0)
        jw_store_relaxed(symbol, symbols_find_symbol(JVM_LIBRARY, name));
    return jw_load_relaxed(symbol) != 0;
}

void vm_safepoint_find_symbols(void)
{
    if (symbol_tries++ >= SYMBOL_TRIES)
        return;
    if (!has_found(&symbols.state, "_ZN20SafepointSynchronize6_stateE")) {
        if (symbols_find_symbol(JVM_LIBRARY, ALWAYS_THERE) != 0)
            symbol_tries = SYMBOL_TRIES;
        return;
    }
    /* Each is there, or not, in the same table. */
    (void)has_found(&symbols.begin, "_ZN16SafepointTracing29_last_safepoint_begin_time_nsE");
    (void)has_found(&symbols.operation, "_ZN8VMThread17_cur_vm_operationE");
    symbol_tries = SYMBOL_TRIES;
}

bool vm_safepoint_open_delays(struct jw_error *err)
{
    const vm_addr inside = vm_perfdata_find("sun.rt.safepointTime", VM_PERFDATA_NUMBER);

    if (counter_addr == 0 || sync_addr == 0 || inside == 0) {
        jw_error_set(err, "this JVM does not tell of its safepoints; it is run with "
                          "-XX:-UsePerfData, leave that out");
        return false;
    }
    inside_addr = inside;
    return true;
}

bool vm_safepoint_look(struct vm_safepoint_look *out)
{
    return inside_addr != 0 && safe_load_u64(counter_addr, &out->count) &&
           safe_load_u64(sync_addr, &out->sync_ns) && safe_load_u64(inside_addr, &out->inside_ns);
}

enum vm_safepoint_state vm_safepoint_state(void)
{
    const vm_addr addr = jw_load_relaxed(&symbols.state);
    uint32_t state;

    if (addr == 0 || !safe_load_u32(addr, &state) || state > VM_SAFEPOINT_SYNCHRONIZED)
        return VM_SAFEPOINT_UNTOLD;
    return (enum vm_safepoint_state)state;
}

enum vm_safepoint_finding vm_safepoint_finding(void)
{
    if (vm_safepoint_state() != VM_SAFEPOINT_UNTOLD)
        return VM_SAFEPOINT_FOUND;
    return symbol_tries < SYMBOL_TRIES ? VM_SAFEPOINT_SOUGHT : VM_SAFEPOINT_MISSING;
}

uint64_t vm_safepoint_begin_ns(void)
{
    const vm_addr addr = jw_load_relaxed(&symbols.begin);
    uint64_t begin_ns;

    return addr != 0 && safe_load_u64(addr, &begin_ns) ? begin_ns : 0;
}

vm_addr vm_safepoint_operation(void)
{
    const vm_addr addr = jw_load_relaxed(&symbols.operation);
    uint64_t operation, functions;

    if (addr == 0 || !safe_load_u64(addr, &operation) || !vm_is_plausible(operation) ||
        !safe_load_u64(operation, &functions) || !vm_is_plausible(functions))
        return 0;
    return functions;
}

/*
 * Class of a member function "_ZN22G1CollectForAllocation4doitEv" or "_ZNK...", without the VM_ that the JVM's log leaves out,
 * too. False: it is no member of a class, or one of what all operations have in common.
 */
static bool read_class(const char *function, char *name, size_t room_bytes)
{
    size_t length = 0;
    const char *at = function;

    if (strncmp(at, "_ZN", 3) != 0)
        return false;
    at += at[3] == 'K' ? 4 : 3;
    while (*at >= '0' && *at <= '9' && length < SYMBOLS_NAME_BYTES)
        length = length * 10 + (size_t)(*at++ - '0');
    if (length == 0 || length > strlen(at) || strncmp(at, "VM_Operation", length) == 0 ||
        strncmp(at, "VM_", 3) != 0)
        return false;
    snprintf(name, room_bytes, "%.*s", (int)length - 3, at + 3);
    return true;
}

/* Of the first function in the table with this name, mangled. */
static bool find_class(vm_addr operation, const char *function, char *name, size_t room_bytes)
{
    struct symbols_name symbol;

    for (int i = 0; i < FUNCTIONS_MAX; i++) {
        uint64_t pc;

        if (!safe_load_u64(operation + (vm_addr)i * sizeof pc, &pc) || !symbols_name(pc, &symbol))
            continue;
        if (strstr(symbol.function, function) != NULL &&
            read_class(symbol.function, name, room_bytes))
            return true;
    }
    return false;
}

/* `doit` is each class's own, but for those that do nothing: these have a `type`. */
bool vm_safepoint_operation_name(vm_addr operation, char *name, size_t room_bytes)
{
    if (!find_class(operation, "4doitEv", name, room_bytes))
        return false;
    if (strcmp(name, NOTHING_DONE) == 0 && !find_class(operation, "4typeEv", name, room_bytes))
        snprintf(name, room_bytes, NOTHING_DONE);
    return true;
}
