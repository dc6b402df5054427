/* Mangled names become what people write; everything else stays. */
#include <criterion/criterion.h>
#include <string.h>

#include "symbols/symbols_plain.h"

TestSuite(symbols_plain, .timeout = 300);

Test(symbols_plain, names_of_c_stay_as_they_are)
{
    char text[64];

    cr_assert_str_eq(symbols_plain_name("memcpy", text, sizeof text), "memcpy");
    cr_assert_str_eq(symbols_plain_name("", text, sizeof text), "");
    cr_assert_str_eq(symbols_plain_name("_Zebra", text, sizeof text), "_Zebra");
}

Test(symbols_plain, names_of_cpp_lose_mangling_and_parameters)
{
    char text[128];

    if (!symbols_has_demangler())
        cr_skip_test("no demangler is linked in");
    cr_assert_str_eq(
        symbols_plain_name("_ZNK13InstanceKlass16find_local_fieldEP6SymbolS1_", text, sizeof text),
        "InstanceKlass::find_local_field");
    cr_assert_str_eq(symbols_plain_name("_ZN17CompilationPolicy6commonI13LoopPredicateEE9CompLevel"
                                        "RK12methodHandleS2_b",
                                        text, sizeof text),
                     "CompilationPolicy::common<LoopPredicate>");
}

Test(symbols_plain, names_of_rust_lose_mangling_and_hash)
{
    char text[128];

    if (!symbols_has_demangler())
        cr_skip_test("no demangler is linked in");
    cr_assert_str_eq(
        symbols_plain_name("_ZN4core3fmt5write17h0123456789abcdefE", text, sizeof text),
        "core::fmt::write");
    cr_assert_str_eq(symbols_plain_name("_RNvC6_123foo3bar", text, sizeof text), "123foo::bar");
}

Test(symbols_plain, a_long_name_is_cut_to_the_room)
{
    char text[8];

    cr_assert_str_eq(symbols_plain_name("pthread_create", text, sizeof text), "pthread");
}
