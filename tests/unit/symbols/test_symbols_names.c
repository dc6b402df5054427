/* Names of functions: those of a real library against nm, and the rules of choice on made-up ones. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "elf_file.h"

TestSuite(symbols_names, .timeout = 60, .fini = symbols_close);

/* Asks for each function that nm lists, at its first and last byte. */
static void compare_with_nm(const char *path, const char *nm_options, unsigned count_min)
{
    struct elf_file file;
    struct jw_error err = {0};
    char line[4096], name[2048], type;
    unsigned long long vaddr, size_bytes;
    unsigned compared = 0, aliases = 0;

    cr_assert(elf_file_open(&file, path));
    struct symbols_names *names =
        symbols_names_build(&file.elf, file.text_vaddr, file.text_bytes, &err);
    cr_assert(names != NULL, "%s: %s", path, err.message);

    snprintf(line, sizeof line, "nm %s --defined-only -S '%s' 2>/dev/null", nm_options, path);
    FILE *nm = popen(line, "re");
    cr_assert(nm != NULL);
    while (fgets(line, sizeof line, nm) != NULL) {
        if (sscanf(line, "%llx %llx %c %2047s", &vaddr, &size_bytes, &type, name) != 4 ||
            strchr("TtWwi", type) == NULL || size_bytes == 0)
            continue;
        name[strcspn(name, "@")] = '\0';
        for (unsigned side = 0; side < 2; side++) {
            const uint64_t at = (side == 0 ? vaddr : vaddr + size_bytes - 1) - file.text_vaddr;
            const struct symbols_function *function = symbols_names_find(names, at);

            cr_assert(function != NULL, "%s at %llx of %s", name, vaddr, path);
            cr_assert_leq(function->text_offset, at);
            cr_assert_lt(at - function->text_offset, function->size_bytes);
            compared++;
            /* Several names of one address, or code inside other code. */
            aliases += strcmp(names->text + function->name_offset, name) != 0;
        }
    }
    (void)pclose(nm);
    cr_assert_gt(compared, count_min, "%s: only %u compared", path, compared);
    cr_assert_lt(aliases, compared * 2 / 3, "%s: %u of %u have another name", path, aliases,
                 compared);
    symbols_names_free(names);
    close(file.fd);
}

Test(symbols_names, functions_of_the_c_library_are_those_that_nm_lists)
{
    char path[4096];

    cr_assert(mapped_path("libc.so", path, sizeof path) || mapped_path("libc-", path, sizeof path));
    compare_with_nm(path, "-D", 2000);
}

Test(symbols_names, functions_of_this_program_are_those_that_nm_lists)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    cr_assert_gt(length, 0);
    path[length] = '\0';
    compare_with_nm(path, "", 50);
}

Test(symbols_names, a_name_without_underscores_and_with_global_binding_is_preferred)
{
    struct jw_error err = {0};
    struct symbols_name name;
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

    cr_assert(libc != NULL);
    cr_assert(symbols_refresh(&err), "%s", err.message);
    /* libc has __sigaction, __libc_sigaction and sigaction, or some of them, at one address. */
    cr_assert(symbols_name((uintptr_t)dlsym(libc, "sigaction"), &name));
    cr_assert_str_eq(name.function, "sigaction");
    cr_assert_eq(name.offset_bytes, 0);
    cr_assert(strncmp(name.library, "libc.so", 7) == 0, "%s", name.library);
}

__attribute__((noinline)) static int local_function(int value)
{
    __asm__ __volatile__("" : "+r"(value));
    return value * 3;
}

Test(symbols_names, a_static_function_of_this_program_is_named)
{
    struct jw_error err = {0};
    struct symbols_name name;
    char text[64];

    cr_assert(symbols_refresh(&err), "%s", err.message);
    cr_assert(symbols_name((uintptr_t)local_function + 1, &name));
    cr_assert_str_eq(name.function, "local_function");
    cr_assert_eq(name.offset_bytes, 1);
    cr_assert_str_eq(symbols_name_text(&name, text, sizeof text), "local_function");
    cr_assert_eq(local_function(2), 6);
}

Test(symbols_names, code_without_a_symbol_is_named_by_its_library_and_offset)
{
    struct jw_error err = {0};
    struct symbols_name name = {.library = "libx.so", .offset_bytes = 0x1f2};
    char text[64];

    cr_assert_str_eq(symbols_name_text(&name, text, sizeof text), "libx.so+0x1f2");
    cr_assert(symbols_refresh(&err), "%s", err.message);
    cr_assert_not(symbols_name(0x10, &name));
    cr_assert_str_eq(symbols_name_text(&name, text, sizeof text), "[unknown]");
}

Test(symbols_names, symbols_of_functions_and_data_are_found_by_name)
{
    struct jw_error err = {0};

    cr_assert(symbols_refresh(&err), "%s", err.message);
    /* By handle: the program itself may hold a copy of libc's data. */
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    cr_assert(libc != NULL);
    cr_assert_eq(symbols_find_symbol("libc.so", "environ"), (uintptr_t)dlsym(libc, "environ"));
    cr_assert_eq(symbols_find_symbol("libc.so", "fputs"), (uintptr_t)dlsym(libc, "fputs"));
    cr_assert_eq(symbols_find_symbol("libc.so", "no_such_symbol"), 0);
    cr_assert_eq(symbols_find_symbol("no_such_library", "environ"), 0);
}

Test(symbols_names, the_innermost_of_nested_functions_is_chosen)
{
    static char text[] = "outer\0inner\0sizeless\0after";
    struct symbols_function functions[] = {
        {.text_offset = 0, .size_bytes = 100, .name_offset = 0},
        {.text_offset = 20, .size_bytes = 10, .name_offset = 6},
        {.text_offset = 200, .size_bytes = 0, .name_offset = 12},
        {.text_offset = 300, .size_bytes = 8, .name_offset = 21},
    };
    const struct symbols_names names = {
        .text_bytes = 400, .function_count = 4, .functions = functions, .text = text};
    static const struct {
        unsigned at;
        const char *name;
    } cases[] = {{0, "outer"},      {19, "outer"},     {20, "inner"},  {29, "inner"},
                 {30, "outer"},     {99, "outer"},     {100, NULL},    {199, NULL},
                 {200, "sizeless"}, {299, "sizeless"}, {307, "after"}, {308, NULL}};

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        const struct symbols_function *function = symbols_names_find(&names, cases[i].at);

        cr_assert_eq(function != NULL, cases[i].name != NULL, "at %u", cases[i].at);
        if (function != NULL)
            cr_assert_str_eq(text + function->name_offset, cases[i].name);
    }
}
