/* Mangled names become what people write; everything else stays. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "support/one_thread.h"
#include "symbols/symbols.h"
#include "symbols/symbols_plain.h"

TestSuite(symbols_plain, .timeout = 1800);

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

Test(symbols_plain, kinds_of_names_that_compilers_make)
{
    /* Mangled by g++ 12, clang 14 and rustc 1.7x; plain as c++filt and rustc's own demangler show them. */
    static const char *const names[][2] = {
        {"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back"},
        {"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()"},
        {"_ZZN3fooIiEEvT_ENKUliE0_clEi", "foo<int>(int)::{lambda(int)#2}::operator()"},
        {"_ZN3abi4takeB5cxx11Ev", "abi::take[abi:cxx11]"},
        {"_ZN12_GLOBAL__N_15localEv", "(anonymous namespace)::local"},
        {"_ZThn16_N1A1fEv", "non-virtual thunk to A::f()"},
        {"_ZN1AC2Ev", "A::A"},
        {"_ZN1AD0Ev", "A::~A"},
        {"_ZNK1AcvbEv", "A::operator bool"},
        {"_ZN4core3ptr46drop_in_place$LT$alloc..vec..Vec$LT$u8$GT$$GT$17h0123456789abcdefE",
         "core::ptr::drop_in_place<alloc::vec::Vec<u8>>"},
        {"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate",
         "<std::path::PathBuf>::new"},
        {"_RNCNvC4main4main0", "main::main::{closure#0}"},
        {"_RINvC1a1fmE", "a::f::<u32>"},
    };

    if (!symbols_has_demangler())
        cr_skip_test("no demangler is linked in");
    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        char text[SYMBOLS_NAME_BYTES];

        cr_expect_str_eq(symbols_plain_name(names[i][0], text, sizeof text), names[i][1], "%s: %s",
                         names[i][0], text);
    }
}

/* Where a part stands that was named before: its number less one to the base 36. */
static void put_number(char *name, unsigned number)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char text[8];

    if (number < 36)
        snprintf(text, sizeof text, "S%c_", digits[number]);
    else
        snprintf(text, sizeof text, "S%c%c_", digits[number / 36], digits[number % 36]);
    strcat(name, text);
}

Test(symbols_plain, a_name_that_no_memory_holds_is_cut)
{
    char name[SYMBOLS_NAME_BYTES] = "_Z1fI1bIiiE", text[SYMBOLS_NAME_BYTES];

    /* Each argument has the one before it twice: 2 to the 79 in all. */
    for (unsigned i = 0; i < 79; i++) {
        strcat(name, "1bI");
        put_number(name, i);
        put_number(name, i);
        strcat(name, "E");
    }
    strcat(name, "Evv");
    cr_assert_lt(strlen(name), sizeof name - 1);
    symbols_plain_name(name, text, sizeof text);
    if (symbols_has_demangler()) {
        cr_assert_eq(strlen(text), sizeof text - 1);
        cr_assert(strncmp(text, "f<b<int, int>, b<", 17) == 0, "%s", text);
        cr_assert_str_eq(symbols_plain_name("_Z1fv", text, sizeof text), "f");
    }
}

#define STACK_BYTES ((size_t)1 << 20) /* of the agent's thread: os_thread.c */
#define PAINT       0x5a

static void *plain_in_thread(void *name)
{
    char text[SYMBOLS_NAME_BYTES];

    symbols_plain_name(name, text, sizeof text);
    return NULL;
}

/* How much stack it takes. */
static size_t stack_of(char *name)
{
    unsigned char *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    size_t untouched = 0;

    cr_assert(stack != MAP_FAILED);
    memset(stack, PAINT, STACK_BYTES);
    cr_assert_eq(pthread_attr_init(&attributes), 0);
    cr_assert_eq(pthread_attr_setstack(&attributes, stack, STACK_BYTES), 0);
    cr_assert_eq(pthread_create(&thread, &attributes, plain_in_thread, name), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    while (untouched < STACK_BYTES && stack[untouched] == PAINT)
        untouched++;
    munmap(stack, STACK_BYTES);
    return STACK_BYTES - untouched;
}

Test(symbols_plain, the_deepest_names_find_room_on_the_stack_of_the_agents_thread)
{
    LEAVE_TO_ADDRESS_SANITIZER();
    /* What is put together so often as it fits: types of types, and Rust's. */
    static const char *const parts[][3] = {
        {"_Z1fI", "P", "iEvv"},   {"_Z1fI", "KPO", "iEvv"},     {"_Z1fI", "PK", "iEvv"},
        {"_Z1fI", "PF", "ivEvv"}, {"_Z1fI", "A1_", "iEvv"},     {"_Z1fI", "DpPK", "iEvv"},
        {"_Z1fI", "1aI", "i"},    {"_Z1fIX", "ng", "Li1EEEvv"}, {"_RIC1a", "R", "uE"},
        {"_RIC1a", "S", "uE"},    {"_RIC1a", "T", "uE"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(parts); i++) {
        char name[SYMBOLS_NAME_BYTES] = "";

        strcpy(name, parts[i][0]);
        while (strlen(name) + strlen(parts[i][1]) + strlen(parts[i][2]) < sizeof name - 1)
            strcat(name, parts[i][1]);
        strcat(name, parts[i][2]);
        cr_assert_lt(stack_of(name), STACK_BYTES * 3 / 4, "%.20s", name);
    }
}
