/* Debug information of compiled methods: numbers, scopes, descriptions of pcs, and all of it broken. */
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>

TestSuite(vm_nmethod, .timeout = 1800);

static struct vm_nmethod read_nmethod(const struct fake_nmethod *made)
{
    struct vm_nmethod nmethod;

    cr_assert(vm_nmethod_read(made->blob, &nmethod));
    cr_assert(nmethod.code_begin == made->code);
    cr_assert(nmethod.method == (vm_addr)fake.method);
    return nmethod;
}

TEST_EACH_STACK(vm_nmethod, numbers_of_every_length_are_decoded)
{
    static unsigned char bytes[64];
    const struct fake_nmethod made = put_nmethod();
    struct vm_nmethod nmethod = read_nmethod(&made);
    struct vm_scope scope;

    nmethod.scopes = (vm_addr)bytes;
    for (uint32_t shift = 0; shift < 31; shift++) {
        for (int near = -2; near <= 2; near++) {
            const uint32_t sender = (1u << shift) + (uint32_t)near;

            if ((int32_t)sender < 0)
                continue;
            memset(bytes, 0xff, sizeof bytes);
            (void)put_scope(bytes, sender, 2, (int)(sender & 0xffff));
            cr_assert(vm_nmethod_scope(&nmethod, 0, &scope));
            cr_assert(eq(u32, scope.sender, sender));
            cr_assert(eq(i32, scope.bci, (int)(sender & 0xffff)));
            cr_assert(scope.method == (vm_addr)fake_stack.inlined_method);
        }
    }
}

TEST_EACH_STACK(vm_nmethod, the_entry_of_a_method_is_bci_0)
{
    static unsigned char bytes[16];
    const struct fake_nmethod made = put_nmethod();
    struct vm_nmethod nmethod = read_nmethod(&made);
    struct vm_scope scope;

    nmethod.scopes = (vm_addr)bytes;
    (void)put_scope(bytes, 0, 1, -1);
    cr_assert(vm_nmethod_scope(&nmethod, 0, &scope));
    cr_assert(eq(i32, scope.bci, 0));
}

TEST_EACH_STACK(vm_nmethod, what_is_no_scope_is_refused)
{
    unsigned char *page_end = map_before_hole(1);
    const struct fake_nmethod made = put_nmethod();
    struct vm_nmethod nmethod = read_nmethod(&made);
    struct vm_scope scope;

    /* Numbers that never end, no method, a method that is none, a bci beyond any. */
    nmethod.scopes = (vm_addr)page_end - 32;
    memset(page_end - 32, 0xff, 32);
    cr_assert(not(vm_nmethod_scope(&nmethod, 0, &scope)));
    (void)put_scope(page_end - 32, 0, 0, 1);
    cr_assert(not(vm_nmethod_scope(&nmethod, 0, &scope)));
    (void)put_scope(page_end - 32, 0, 3, 1);
    cr_assert(not(vm_nmethod_scope(&nmethod, 0, &scope)));
    (void)put_scope(page_end - 32, 0, 1, 70000);
    cr_assert(not(vm_nmethod_scope(&nmethod, 0, &scope)));
    /* At the end of what is mapped a whole scope is read, half a one is not. */
    cr_assert(eq(sz, put_scope(page_end - 3, 0, 1, 1), 3));
    cr_assert(vm_nmethod_scope(&nmethod, 29, &scope));
    cr_assert(not(vm_nmethod_scope(&nmethod, 30, &scope)));
    cr_assert(not(vm_nmethod_scope(&nmethod, 4096, &scope)));
}

TEST_EACH_STACK(vm_nmethod, a_return_address_is_described_exactly_or_not_at_all)
{
    const struct fake_nmethod made = put_nmethod();
    const struct vm_nmethod nmethod = read_nmethod(&made);
    uint32_t scope;

    for (uintptr_t offset = 0; offset < CODE_BYTES; offset++) {
        const bool is_described = offset == PC_CALL || offset == PC_INLINED || offset == PC_BARE;

        cr_assert(eq(int, vm_nmethod_scope_at(&nmethod, made.code + offset, VM_PC_EXACT, &scope),
                     is_described));
    }
    cr_assert(not(vm_nmethod_scope_at(&nmethod, 0, VM_PC_EXACT, &scope)));
    cr_assert(not(vm_nmethod_scope_at(&nmethod, UINTPTR_MAX / 2, VM_PC_EXACT, &scope)));
}

TEST_EACH_STACK(vm_nmethod, an_interrupted_pc_belongs_to_the_next_description_behind_it)
{
    const struct fake_nmethod made = put_nmethod();
    const struct vm_nmethod nmethod = read_nmethod(&made);
    uint32_t call, inlined, scope;

    cr_assert(vm_nmethod_scope_at(&nmethod, made.code + PC_CALL, VM_PC_EXACT, &call));
    cr_assert(vm_nmethod_scope_at(&nmethod, made.code + PC_INLINED, VM_PC_EXACT, &inlined));
    for (uintptr_t offset = 0; offset < PC_INLINED; offset++) {
        cr_assert(vm_nmethod_scope_at(&nmethod, made.code + offset, VM_PC_NEAR, &scope));
        cr_assert(eq(u32, scope, offset < PC_CALL ? call : inlined));
    }
}

TEST_EACH_STACK(vm_nmethod, a_return_that_nothing_describes_belongs_to_the_last_description)
{
    const struct fake_nmethod made = put_nmethod();
    const struct vm_nmethod nmethod = read_nmethod(&made);
    uint32_t inlined, scope;

    cr_assert(vm_nmethod_scope_at(&nmethod, made.code + PC_INLINED, VM_PC_EXACT, &inlined));
    for (uintptr_t offset = PC_INLINED; offset <= PC_INLINED + 32; offset++) {
        cr_assert(vm_nmethod_scope_before(&nmethod, made.code + offset, &scope));
        cr_assert(eq(u32, scope, inlined));
    }
    cr_assert(not(vm_nmethod_scope_before(&nmethod, made.code + PC_INLINED + 33, &scope)));
    cr_assert(not(vm_nmethod_scope_before(&nmethod, made.code + PC_INLINED - 1, &scope)));
    cr_assert(not(vm_nmethod_scope_before(&nmethod, UINTPTR_MAX / 2, &scope)));
}

TEST_EACH_STACK(vm_nmethod, the_pc_before_deoptimisation_is_in_the_frame)
{
    const struct fake_nmethod made = put_nmethod();
    uintptr_t frame[4] = {0, 0x1234, 0, 0};
    uintptr_t pc;

    const uintptr_t sp = (uintptr_t)frame, handler = made.code + PC_DEOPT_HANDLER;

    cr_assert(vm_nmethod_original_pc(made.blob, handler, sp, &pc));
    cr_assert(eq(u64, pc, 0x1234));
    cr_assert(not(vm_nmethod_original_pc(made.blob, handler, 0x10, &pc)));
}

/* In the first word of a small frame; 0 is said of what cannot be deoptimised, too. */
TEST_EACH_STACK(vm_nmethod, in_the_first_word_it_is_believed_where_the_handler_is_known)
{
    const struct fake_nmethod made = put_nmethod();
    uintptr_t frame[4] = {0x5678, 0x1234, 0, 0};
    uintptr_t pc;
    const uintptr_t sp = (uintptr_t)frame, handler = made.code + PC_DEOPT_HANDLER;
    const char *const names[] = {"_deopt_handler_begin", "_deopt_mh_handler_begin"};
    const char *const offsets[] = {"_deopt_handler_offset", "_deopt_mh_handler_offset"};
    const bool is_told = fake_jdk == LAYOUT_17 || fake_jdk == LAYOUT_25;

    set((void *)made.blob, "nmethod", "_orig_pc_offset", 0, 4);
    cr_assert(not(vm_nmethod_original_pc(made.blob, handler, sp, &pc)));
    for (int i = 0; i < 2; i++) {
        if (fake_jdk == LAYOUT_17)
            set((void *)made.blob, "CompiledMethod", names[i], handler + (uintptr_t)i, 8);
        if (fake_jdk == LAYOUT_25)
            set((void *)made.blob, "nmethod", offsets[i], handler + (uintptr_t)i - made.blob, 4);
        cr_assert(
            eq(int, vm_nmethod_original_pc(made.blob, handler + (uintptr_t)i, sp, &pc), is_told));
        if (is_told)
            cr_assert(eq(u64, pc, 0x5678));
    }
    cr_assert(not(vm_nmethod_original_pc(made.blob, handler + 2, sp, &pc)));
}

/* No word of an nmethod or of its debug information, however wrong, is more than a wrong answer. */
TEST_EACH_STACK(vm_nmethod, any_word_may_be_wrong)
{
    static const uint64_t values[] = {0,          1,          0x10,       0xffff,
                                      0x7fffffff, 0x80000000, UINT64_MAX, 0x4141414141414141};
    const struct fake_nmethod made = put_nmethod();
    unsigned char *const parts[] = {(unsigned char *)made.blob, fake_stack.debug[0]};
    struct vm_nmethod nmethod;
    struct vm_scope scope;
    uint32_t at;

    for (size_t part = 0; part < JW_COUNT_OF(parts); part++) {
        for (size_t word = 0; word < 1000; word += 4) {
            for (size_t i = 0; i < JW_COUNT_OF(values); i++) {
                uint64_t before;

                memcpy(&before, parts[part] + word, 8);
                memcpy(parts[part] + word, &values[i], 8);
                for (uintptr_t offset = 90; offset < 200; offset += 10) {
                    if (!vm_nmethod_read(made.blob, &nmethod) ||
                        !vm_nmethod_scope_at(&nmethod, made.code + offset, VM_PC_NEAR, &at))
                        continue;
                    if (vm_nmethod_scope(&nmethod, at, &scope))
                        cr_assert(scope.bci >= 0 && scope.bci <= UINT16_MAX);
                }
                memcpy(parts[part] + word, &before, 8);
            }
        }
    }
    (void)read_nmethod(&made);
}
