/* Bodies of methods, and classes, as they are now; handler, but for open. */
#include "vm/vm_body.h"

#include "vm/vm_internal.h"
#include "vm/vm_object.h"

#define NUMBER_BYTES 2

/* Methods that have to agree before a place is taken for that of the first number. */
#define AGREED_MIN 64

/* Written by open before anybody asks. */
static struct {
    struct vm_field klass_pool, klass_methods, array_length, array_data, first_idnum;
} layout = {VM_NO_FIELD, VM_NO_FIELD, VM_NO_FIELD, VM_NO_FIELD, VM_NO_FIELD};

bool vm_body_at(vm_addr method, struct vm_body *out)
{
    uint64_t pool, klass, idnum, idnums;
    const vm_addr const_method = vm_method_const(method);

    if (!vm_is_plausible(const_method) ||
        !vm_load_field(const_method, vm_layout.const_constants, &pool) || !vm_is_plausible(pool) ||
        !vm_load_field(pool, vm_layout.pool_holder, &klass) || !vm_is_plausible(klass) ||
        !vm_load_field(klass, vm_layout.klass_idnums, &idnums) ||
        !vm_load_field(const_method, vm_layout.const_idnum, &idnum))
        return false;
    *out = (struct vm_body){
        .klass = klass,
        .pool = pool,
        .const_method = const_method,
        .idnums = (uint16_t)idnums,
        .is_idnum_first =
            vm_has(layout.first_idnum) && vm_load_field(const_method, layout.first_idnum, &idnum),
    };
    out->idnum = (uint16_t)idnum;
    return true;
}

vm_addr vm_class_pool(vm_addr klass)
{
    uint64_t pool;

    return vm_load_field(klass, layout.klass_pool, &pool) && vm_is_plausible(pool) ? pool : 0;
}

bool vm_class_read(vm_addr klass, struct vm_class *out)
{
    out->pool = vm_class_pool(klass);
    return out->pool != 0 && vm_method_class(klass, out->pool, out);
}

vm_addr vm_class_method(vm_addr klass, uint32_t n)
{
    uint64_t methods, count;
    uintptr_t method;

    return vm_load_field(klass, layout.klass_methods, &methods) && vm_is_plausible(methods) &&
                   vm_load_field(methods, layout.array_length, &count) && n < count &&
                   safe_load_word(methods + (uintptr_t)layout.array_data.offset +
                                      n * sizeof(uintptr_t),
                                  &method) &&
                   vm_is_plausible(method)
               ? method
               : 0;
}

/* How many methods of these classes have their number at this place of their ConstMethod; 0 when one has another there. */
static uint32_t agreed_at(const vm_addr *classes, size_t count, struct vm_field place)
{
    uint32_t agreed = 0;

    for (size_t i = 0; i < count; i++) {
        vm_addr method;

        for (uint32_t n = 0; (method = vm_class_method(classes[i], n)) != 0; n++) {
            const vm_addr const_method = vm_method_const(method);
            uint64_t idnum, first;

            if (!vm_load_field(const_method, vm_layout.const_idnum, &idnum) ||
                !vm_load_field(const_method, place, &first) || first != idnum)
                return 0;
            agreed++;
        }
    }
    return agreed;
}

/* The one place beside that of the number itself; VM_NO_FIELD where there is none, or more than one. */
static struct vm_field find_first_idnum(const vm_addr *classes, size_t count)
{
    struct vm_field found = VM_NO_FIELD;

    for (int32_t offset = 0; (size_t)offset + NUMBER_BYTES <= vm_layout.const_method_bytes;
         offset += NUMBER_BYTES) {
        const struct vm_field place = {offset, NUMBER_BYTES};

        if (offset == vm_layout.const_idnum.offset || agreed_at(classes, count, place) < AGREED_MIN)
            continue;
        if (vm_has(found))
            return VM_NO_FIELD;
        found = place;
    }
    return found;
}

bool vm_body_open(const vm_addr *classes, size_t count, struct jw_error *err)
{
    layout.klass_pool = vm_structs_field("InstanceKlass", "_constants");
    layout.klass_methods = vm_structs_field("InstanceKlass", "_methods");
    layout.array_length = vm_structs_field("Array<int>", "_length");
    layout.array_data = vm_structs_field("Array<Method*>", "_data");
    layout.first_idnum = VM_NO_FIELD;
    if (!vm_has(layout.klass_pool) || !vm_has(vm_layout.const_idnum) ||
        !vm_has(vm_layout.klass_idnums)) {
        jw_error_set(err,
                     "this JVM (version %d) does not tell where classes keep the numbers of "
                     "their methods and their constant pools",
                     vm_layout.major);
        return false;
    }
    if (vm_has(layout.klass_methods) && vm_has(layout.array_length) && vm_has(layout.array_data))
        layout.first_idnum = find_first_idnum(classes, count);
    return true;
}
