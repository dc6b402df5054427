/* The kernel's list of its functions, and files that are none. */
#include "symbols/symbols_kernel.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(symbols_kernel, .timeout = 1800);

static struct jw_error err;

static bool read_text(const char *text, size_t bytes)
{
    char path[] = "/tmp/jaywalk-kernel-XXXXXX";
    const int file = mkstemp(path);

    cr_assert(ge(int, file, 0));
    cr_assert(eq(long, (long)write(file, text, bytes), (long)bytes));
    (void)close(file);
    const bool is_read = symbols_kernel_read(path, &err);
    (void)unlink(path);
    return is_read;
}

static void expect_function(uint64_t address, const char *name, const char *module)
{
    struct symbols_kernel_function found;

    cr_assert(symbols_kernel_find(address, &found), "%s", name);
    cr_assert_str_eq(found.name, name);
    cr_assert_str_eq(found.module, module);
}

#define LIST                                                                                       \
    "ffffffff81000000 T _text\n"                                                                   \
    "ffffffff81000200 t do_syscall_64\n"                                                           \
    "ffffffff82000000 D some_data\n"                                                               \
    "ffffffffc0200000 t ext4_read\t[ext4]\n"                                                       \
    "ffffffffc0100000 t bpf_prog_6deef7357e7b4530\t[bpf]\n"                                        \
    "nonsense\n"                                                                                   \
    "ffffffff81000300 W weak\n"

Test(symbols_kernel, a_function_is_found_by_any_address_in_it)
{
    struct symbols_kernel_function found;

    cr_assert(read_text(LIST, strlen(LIST)), "%s", err.message);
    expect_function(0xffffffff81000000, "_text", "kernel");
    expect_function(0xffffffff810001ff, "_text", "kernel");
    expect_function(0xffffffff81000200, "do_syscall_64", "kernel");
    expect_function(0xffffffff81000301, "weak", "kernel");
    expect_function(0xffffffffc0200010, "ext4_read", "ext4");
    expect_function(0xffffffffc0100010, "bpf_prog_6deef7357e7b4530", "bpf");
    cr_assert(not(symbols_kernel_find(0xffffffff80ffffff, &found)));
    cr_assert(not(symbols_kernel_find(0xffffffff82000000, &found)), "data is no function");
    cr_assert(not(symbols_kernel_find(0xffffffffc0200000 + SYMBOLS_KERNEL_SPAN_BYTES, &found)),
              "code that was loaded since");
    symbols_kernel_forget();
    cr_assert(not(symbols_kernel_find(0xffffffff81000000, &found)));
}

Test(symbols_kernel, a_kernel_that_hides_its_addresses_is_told_with_the_cure)
{
    static const char text[] = "0000000000000000 T _text\n0000000000000000 t do_syscall_64\n";

    cr_assert(not(read_text(text, sizeof text - 1)));
    cr_assert(strstr(err.message, "kernel.kptr_restrict=0") != NULL, "%s", err.message);
}

Test(symbols_kernel, what_is_no_list_gives_no_names)
{
    static char text[300000];

    cr_assert(not(symbols_kernel_read("/nonexistent", &err)));
    cr_assert(not(read_text("", 0)));
    memset(text, 'x', sizeof text); /* a line longer than any */
    cr_assert(not(read_text(text, sizeof text)));
    srand(1);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = "0123456789abcdef tT\t[]\n\n\n"[rand() % 25];
        (void)!read_text(text, sizeof text);
    }
    symbols_kernel_forget();
}

/* Lines lie across the pieces in which the file is read. */
Test(symbols_kernel, all_lines_of_a_long_list_are_taken)
{
    enum { COUNT = 20000 };
    char *text = malloc(COUNT * 64);
    size_t bytes = 0;
    char name[32];

    for (int i = COUNT - 1; i >= 0; i--)
        bytes += (size_t)sprintf(text + bytes, "%016llx t function_%d\n",
                                 0xffffffff81000000 + 16ull * (unsigned)i, i);
    cr_assert(read_text(text, bytes), "%s", err.message);
    free(text);
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "function_%d", i);
        expect_function(0xffffffff81000008 + 16ull * (unsigned)i, name, "kernel");
    }
    symbols_kernel_forget();
}
