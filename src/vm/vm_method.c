/* Reads a method's names out of JVM memory; handler. */
#include "vm/vm_method.h"

#include <string.h>

#include "arch/arch.h"
#include "vm/vm_internal.h"
#include "vm/vm_klass.h"
#include "vm/vm_lines.h"
#include "vm/vm_loader.h"

/* Source: JVM specification, table 4.6-A. */
#define ACC_NATIVE       0x0100u
#define ACC_WRITTEN_MASK 0xffffu /* higher bits are HotSpot's own */

#define HIDDEN_MARK_BYTES 3 /* "+0x" */
#define HIDDEN_TAIL_BYTES 64
#define LINES_PART_BYTES  128

vm_addr vm_method_of_id(jmethodID id)
{
    uintptr_t method = 0;

    /* A jmethodID points to a word that holds the Method*, NULL after unloading; from JDK 26 on it is
     * a small number. Source: HotSpot, method.hpp, Method::resolve_jmethod_id, JDK 8 to 26. */
    if (vm_layout.major == 0 || vm_layout.major > VM_MAJOR_ID_IS_ADDRESS_MAX ||
        !vm_is_plausible((vm_addr)id) || !safe_load_word((vm_addr)id, &method))
        return 0;
    return vm_is_plausible(method) ? method : 0;
}

vm_addr vm_method_const(vm_addr method)
{
    uint64_t const_method;

    return vm_load_field(method, vm_layout.method_const, &const_method) ? const_method : 0;
}

bool vm_method_identify(vm_addr method, struct vm_identity *out)
{
    uint64_t const_method, pool, klass, state, idnum, idnums;

    if (!vm_load_field(method, vm_layout.method_const, &const_method) ||
        !vm_load_field(const_method, vm_layout.const_constants, &pool) ||
        !vm_load_field(const_method, vm_layout.const_idnum, &idnum) ||
        !vm_load_field(pool, vm_layout.pool_holder, &klass) ||
        !vm_load_field(klass, vm_layout.klass_init_state, &state) ||
        !vm_load_field(klass, vm_layout.klass_idnums, &idnums) || state < vm_layout.state_linked)
        return false;
    *out = (struct vm_identity){
        .const_method = const_method,
        .klass = klass,
        .serial = vm_klass_serial(klass),
        .idnum = (uint16_t)idnum,
        .idnums = (uint16_t)idnums,
    };
    return true;
}

bool vm_method_is_native(vm_addr method)
{
    uint64_t flags;

    return vm_load_field(method, vm_layout.method_access_flags, &flags) &&
           (flags & ACC_NATIVE) != 0;
}

bool vm_method_has_class(vm_addr method)
{
    const vm_addr const_method = vm_method_const(method);
    uint64_t pool, klass, name, length;

    return vm_is_plausible(const_method) &&
           vm_load_field(const_method, vm_layout.const_constants, &pool) && vm_is_plausible(pool) &&
           vm_load_field(pool, vm_layout.pool_holder, &klass) && vm_is_plausible(klass) &&
           vm_load_field(klass, vm_layout.klass_name, &name) && vm_is_plausible(name) &&
           vm_load_field(name, vm_layout.symbol_length, &length) && length != 0;
}

bool vm_method_has_code(vm_addr method)
{
    uint64_t code;

    return vm_load_field(method, vm_layout.method_code, &code) && code != 0;
}

static JW_SIGNAL_SAFE bool read_symbol(vm_addr symbol, struct vm_text *out)
{
    uint64_t length;

    if (!vm_is_plausible(symbol & ~(vm_addr)3) ||
        !vm_load_field(symbol, vm_layout.symbol_length, &length))
        return false;
    out->addr = symbol + (vm_addr)vm_layout.symbol_body.offset;
    out->length_bytes = (uint32_t)length;
    return true;
}

static JW_SIGNAL_SAFE bool read_pool_symbol(vm_addr pool, uint64_t index, struct vm_text *out)
{
    uintptr_t symbol;

    return index != 0 &&
           safe_load_word(pool + vm_layout.pool_bytes + index * sizeof(uintptr_t), &symbol) &&
           read_symbol(symbol, out);
}

/* A hidden class has "+0x" and an address behind its name, or "/0x" once it is printed. */
static JW_SIGNAL_SAFE bool is_hidden_name(const struct vm_text *name)
{
    unsigned char tail[HIDDEN_TAIL_BYTES];
    const uint32_t tail_bytes =
        name->length_bytes < HIDDEN_TAIL_BYTES ? name->length_bytes : HIDDEN_TAIL_BYTES;

    if (!safe_load_bytes(tail, name->addr + name->length_bytes - tail_bytes, tail_bytes))
        return false;
    for (uint32_t i = 0; i + HIDDEN_MARK_BYTES <= tail_bytes; i++) {
        if (tail[i] == '+' && tail[i + 1] == '0' && tail[i + 2] == 'x')
            return true;
    }
    return false;
}

bool vm_method_class(vm_addr klass, vm_addr pool, struct vm_class *out)
{
    uint64_t name, flags = 0, source_index = 0;

    if (!vm_load_field(klass, vm_layout.klass_name, &name) || !read_symbol(name, &out->name) ||
        out->name.length_bytes == 0)
        return false;
    (void)vm_load_field(klass, vm_layout.klass_access_flags, &flags);
    out->modifiers = (uint32_t)flags & ACC_WRITTEN_MASK;
    out->is_hidden = is_hidden_name(&out->name);
    out->pool = pool;
    out->source_file = (struct vm_text){0, 0};
    if (vm_load_field(pool, vm_layout.pool_source_index, &source_index) ||
        vm_load_field(klass, vm_layout.klass_source_index, &source_index))
        (void)read_pool_symbol(pool, source_index, &out->source_file);
    return true;
}

static JW_SIGNAL_SAFE bool read_class(vm_addr klass, vm_addr pool, struct vm_method *out)
{
    struct vm_class of;
    uint64_t loader_data = 0;

    if (!vm_method_class(klass, pool, &of))
        return false;
    out->class_name = of.name;
    out->class_modifiers = of.modifiers;
    out->is_hidden_class = of.is_hidden;
    out->source_file = of.source_file;
    out->loader = vm_load_field(klass, vm_layout.klass_loader_data, &loader_data)
                      ? vm_loader_find(loader_data)
                      : VM_LOADER_UNKNOWN;
    return true;
}

static JW_SIGNAL_SAFE bool read_line_table(struct vm_method *out)
{
    uint64_t flags, code_bytes, size_words;

    out->line_table = 0;
    out->line_table_bytes_max = 0;
    if (!vm_has(vm_layout.const_flags) || !vm_has(vm_layout.const_size_words))
        return true; /* a JVM that does not tell: methods without lines */
    if (!vm_load_field(out->const_method, vm_layout.const_flags, &flags) ||
        !vm_load_field(out->const_method, vm_layout.const_code_size, &code_bytes) ||
        !vm_load_field(out->const_method, vm_layout.const_size_words, &size_words))
        return false;
    if ((flags & vm_layout.has_line_table_flag) == 0)
        return true;

    /* Source: HotSpot, constMethod.hpp: the compressed table follows the bytecodes. */
    const uint64_t end = size_words * sizeof(void *);
    const uint64_t begin = vm_layout.const_method_bytes + code_bytes;
    if (begin < end) {
        out->line_table = out->const_method + begin;
        out->line_table_bytes_max = (uint32_t)(end - begin < UINT32_MAX ? end - begin : UINT32_MAX);
    }
    return true;
}

bool vm_method_read(vm_addr method, struct vm_method *out)
{
    uint64_t flags, pool, klass, name_index, signature_index;

    if (!vm_is_plausible(method))
        return false;
    out->const_method = vm_method_const(method);
    if (!vm_is_plausible(out->const_method) ||
        !vm_load_field(method, vm_layout.method_access_flags, &flags) ||
        !vm_load_field(out->const_method, vm_layout.const_constants, &pool) ||
        !vm_load_field(out->const_method, vm_layout.const_name_index, &name_index) ||
        !vm_load_field(out->const_method, vm_layout.const_signature_index, &signature_index) ||
        !vm_is_plausible(pool) || !vm_load_field(pool, vm_layout.pool_holder, &klass) ||
        !vm_is_plausible(klass))
        return false;
    if (!read_pool_symbol(pool, name_index, &out->name) ||
        !read_pool_symbol(pool, signature_index, &out->signature) || out->name.length_bytes == 0 ||
        !read_class(klass, pool, out))
        return false;
    out->modifiers = (uint32_t)flags & ACC_WRITTEN_MASK;
    out->is_native = (out->modifiers & ACC_NATIVE) != 0;
    return read_line_table(out);
}

uint32_t vm_method_copy_lines(const struct vm_method *method, unsigned char *to,
                              uint32_t capacity_bytes)
{
    const uint32_t limit = method->line_table_bytes_max < capacity_bytes
                               ? method->line_table_bytes_max
                               : capacity_bytes;
    struct vm_lines lines = vm_lines_begin(vm_layout.unsigned5_bias);

    if (method->line_table == 0 || !safe_load_bytes(to, method->line_table, limit))
        return 0;
    for (uint32_t at = 0; at < limit; at++) {
        if (vm_lines_feed(&lines, to[at]) == VM_LINES_END)
            return at + 1;
    }
    return 0;
}

bool vm_method_has_lines(vm_addr method, const unsigned char *lines, uint32_t length_bytes)
{
    struct vm_method now = {.const_method = vm_method_const(method)};
    unsigned char part[LINES_PART_BYTES];

    if (length_bytes == 0)
        return true;
    if (!read_line_table(&now) || now.line_table == 0 || now.line_table_bytes_max < length_bytes)
        return false;
    for (uint32_t at = 0; at < length_bytes; at += LINES_PART_BYTES) {
        const uint32_t bytes =
            length_bytes - at < LINES_PART_BYTES ? length_bytes - at : LINES_PART_BYTES;

        if (!safe_load_bytes(part, now.line_table + at, bytes) ||
            memcmp(part, lines + at, bytes) != 0)
            return false;
    }
    return true;
}
