/* Names of C++ functions. Each expected name is what c++filt says, less parameters and arguments. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_internal.h"

TestSuite(profile_demangle, .timeout = 20);

Test(profile_demangle, names_lose_their_parameters)
{
    static const char *const cases[][2] = {
        {"_ZNK4Node6pinnedEv", "Node::pinned"},
        {"_ZL19thread_native_entryP6Thread", "thread_native_entry"},
        {"_ZN13CompileBroker20compiler_thread_loopEv", "CompileBroker::compiler_thread_loop"},
        {"_ZN10HashedListIP4NodeLi4EE3putES1_", "HashedList<>::put"},
        {"_ZN4NodeC2Ej", "Node::Node"},
        {"_ZN4NodeD0Ev", "Node::~Node"},
        {"_ZN12_GLOBAL__N_13fooEv", "(anonymous)::foo"},
        {"_Znwm", "operator new"},
        {"_ZN5ArrayixEi", "Array::operator[]"},
        {"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", "std::operator<<<>"},
        {"_ZNSsC1Ev", "std::string::string"},
        {"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv",
         "std::__cxx11::basic_string<>::size"},
        {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
        {"_ZN3FooIJidEE3barEv.constprop.0", "Foo<>::bar"},
        {"_ZN1AUlvE_clEv", "A::{lambda}::operator()"},
    };
    char text[256];

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        cr_expect(profile_demangle(cases[i][0], text, sizeof text), "%s", cases[i][0]);
        cr_expect_str_eq(text, cases[i][1]);
    }
}

Test(profile_demangle, what_is_not_understood_is_refused)
{
    static const char *const cases[] = {
        "",      "main",    "_Z",     "_ZN",       "_ZN3fo",        "_ZN99999999999foo3barEv",
        "_ZS_v", "_ZNS1_E", "_ZC1Ev", "_ZTV4Node", "_ZZN1A1fEvE1x", "_ZN3FooI",
    };
    char text[256];

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++)
        cr_expect_not(profile_demangle(cases[i], text, sizeof text), "%s", cases[i]);
}

Test(profile_demangle, a_name_longer_than_its_room_is_refused)
{
    char text[256];

    for (size_t capacity = 0; capacity < 13; capacity++)
        cr_expect_not(profile_demangle("_ZNK4Node6pinnedEv", text, capacity));
    cr_expect(profile_demangle("_ZNK4Node6pinnedEv", text, 13));
}

Test(profile_demangle, random_symbols_end_and_stay_in_bounds)
{
    static const char letters[] = "NEIKSLZCDTXJFAUt_0123456789PRvijaclopB.hr";
    char symbol[64] = "_Z";
    char text[64];

    srandom(11);
    for (int i = 0; i < 200000; i++) {
        const size_t length = 3 + (size_t)random() % 60;

        for (size_t at = 2; at < length; at++)
            symbol[at] = letters[(size_t)random() % (sizeof letters - 1)];
        symbol[length] = '\0';
        if (profile_demangle(symbol, text, sizeof text))
            cr_assert_lt(strlen(text), sizeof text);
    }
}
