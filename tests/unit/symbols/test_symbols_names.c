/* Names of functions: those of a real library against nm, and the rules of choice on made-up ones. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "base/counters.h"
#include "base/memory.h"
#include "elf_file.h"
#include "symbols/symbols.h"

TestSuite(symbols_names, .timeout = 1800, .fini = symbols_close);
TestSuite(symbols_limits, .timeout = 1800, .fini = symbols_close);

/* Asks for each function that nm lists, at its first and last byte. */
static void compare_with_nm(const char *path, const char *nm_options, unsigned count_min)
{
    struct elf_file file;
    struct jw_error err = {0};
    char line[4096], name[2048], found[2048], type;
    unsigned long long vaddr, size_bytes;
    uint64_t offset_bytes;
    unsigned compared = 0, aliases = 0;

    bool is_refused = false;
    cr_assert(elf_file_open(&file, path));
    struct symbols_names *names =
        symbols_names_build(&file.elf, file.text_vaddr, file.text_bytes, &is_refused, &err);
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

            cr_assert(symbols_names_find(names, at, found, sizeof found, &offset_bytes),
                      "%s at %llx of %s", name, vaddr, path);
            cr_assert_lt(offset_bytes, size_bytes);
            compared++;
            /* Several names of one address, or code inside other code. */
            aliases += strcmp(found, name) != 0;
        }
    }
    (void)pclose(nm);
    cr_assert_gt(compared, count_min, "%s: only %u compared", path, compared);
    cr_assert_lt(aliases, compared * 2 / 3, "%s: %u of %u have another name", path, aliases,
                 compared);
    jw_free(names);
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

Test(symbols_names, functions_of_the_kernels_own_library_are_named)
{
    const uintptr_t vdso = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
    struct jw_error err = {0};
    struct symbols_name name;

    if (vdso == 0)
        cr_skip_test("this kernel has no vDSO");
    cr_assert(symbols_refresh(&err), "%s", err.message);
    uintptr_t pc = symbols_find_symbol("[vdso]", "__vdso_clock_gettime");
    if (pc == 0)
        pc = symbols_find_symbol("[vdso]", "__kernel_clock_gettime"); /* aarch64 */
    cr_assert(pc > vdso);
    cr_assert(symbols_name(pc, &name));
    cr_assert_str_eq(name.library, "[vdso]");
    cr_assert_not_null(strstr(name.function, "clock_gettime"), "%s", name.function);
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

/* -------- made-up tables --------------------------------------------------------------------- */

#define MADE_SYMBOLS 8

/* An image that is a symbol table and its strings, and an index of it. */
struct made_names {
    struct {
        Elf64_Sym symbols[MADE_SYMBOLS];
        char strings[2048];
    } image;
    struct symbols_names names;
    struct symbols_key keys[MADE_SYMBOLS]; /* where names.functions lies */
    uint32_t string_bytes;
};

static struct made_names made;

static void add(unsigned at, unsigned size_bytes, unsigned char binding, const char *name)
{
    const uint32_t index = made.names.function_count++;

    made.image.symbols[index] = (Elf64_Sym){.st_name = made.string_bytes,
                                            .st_info = ELF64_ST_INFO(binding, STT_FUNC),
                                            .st_size = size_bytes};
    made.names.functions[index] = (struct symbols_key){.text_offset = at, .value = index};
    snprintf(made.image.strings + made.string_bytes, sizeof made.image.strings - made.string_bytes,
             "%s", name);
    made.string_bytes += (uint32_t)strlen(name) + 1;
    made.names.image = (struct symbols_image){
        .fd = -1, .bytes = (const unsigned char *)&made.image, .size_bytes = sizeof made.image};
    made.names.symbols.size_bytes = sizeof made.image.symbols;
    made.names.strings = (struct symbols_extent){.offset = sizeof made.image.symbols,
                                                 .size_bytes = sizeof made.image.strings};
}

static void expect_name(unsigned at, const char *expected, unsigned expected_offset)
{
    char name[SYMBOLS_NAME_BYTES];
    uint64_t offset_bytes;
    const bool is_found = symbols_names_find(&made.names, at, name, sizeof name, &offset_bytes);

    cr_assert_eq(is_found, expected != NULL, "at %u", at);
    if (is_found) {
        cr_assert_str_eq(name, expected);
        cr_assert_eq(offset_bytes, expected_offset);
    }
}

Test(symbols_names, the_innermost_of_nested_functions_is_chosen)
{
    add(0, 100, STB_GLOBAL, "outer");
    add(20, 10, STB_GLOBAL, "inner");
    add(200, 0, STB_GLOBAL, "sizeless");
    add(300, 8, STB_GLOBAL, "after");
    expect_name(0, "outer", 0);
    expect_name(19, "outer", 19);
    expect_name(20, "inner", 0);
    expect_name(29, "inner", 9);
    expect_name(30, "outer", 30);
    expect_name(99, "outer", 99);
    expect_name(100, NULL, 0);
    expect_name(199, NULL, 0);
    expect_name(200, "sizeless", 0);
    expect_name(299, "sizeless", 99);
    expect_name(307, "after", 7);
    expect_name(308, NULL, 0);
}

Test(symbols_names, of_several_names_of_one_address_the_plainest_public_one_is_chosen)
{
    add(10, 5, STB_LOCAL, "local");
    add(10, 5, STB_GLOBAL, "__strong");
    add(10, 5, STB_WEAK, "weak");
    add(10, 0, STB_GLOBAL, "sizeless");
    add(20, 5, STB_WEAK, "same_weak");
    add(20, 5, STB_GLOBAL, "same_strong@@VERSION_1");
    expect_name(12, "weak", 2);
    expect_name(21, "same_strong", 1);
}

Test(symbols_names, names_that_are_long_unterminated_or_outside_do_no_harm)
{
    char small[8];
    uint64_t offset_bytes;
    char long_name[SYMBOLS_NAME_BYTES + 100];

    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    add(0, 10, STB_GLOBAL, long_name);
    add(10, 10, STB_GLOBAL, "gone");
    made.image.symbols[1].st_name = UINT32_MAX;
    add(20, 10, STB_GLOBAL, "");
    add(30, 10, STB_GLOBAL, "last");
    made.names.strings.size_bytes = made.string_bytes - 2; /* cuts "last" */
    long_name[SYMBOLS_NAME_BYTES - 1] = '\0';
    expect_name(3, long_name, 3);
    expect_name(13, NULL, 0);
    expect_name(23, NULL, 0);
    expect_name(33, "las", 3);
    cr_assert(symbols_names_find(&made.names, 3, small, sizeof small, &offset_bytes));
    cr_assert_str_eq(small, "xxxxxxx");
    made.names.functions[0].value = UINT32_MAX;
    expect_name(3, NULL, 0);
}

Test(symbols_limits, without_room_neither_rows_nor_names_come_of_a_library_and_both_are_counted)
{
    struct jw_memory_figures figures;
    struct elf_file file;
    struct jw_error err = {0};
    bool is_refused = false;

    cr_assert(elf_file_open(&file, "/proc/self/exe"));
    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    cr_assert(jw_memory_charge(JW_MEMORY_UNWINDING, jw_memory_limit_of(JW_MEMORY_UNWINDING, 0)));
    cr_assert(jw_memory_charge(JW_MEMORY_SYMBOLS,
                               jw_memory_limit_of(JW_MEMORY_SYMBOLS, 0) - ((uint64_t)512 << 10)));
    cr_assert(symbols_rows_build(&file.elf, file.text_vaddr, file.text_bytes, &err) == NULL);
    cr_assert(strstr(err.message, "memlimit") != NULL, "%s", err.message);
    cr_assert(jw_counter(JW_COUNT_ROWS_REFUSED) == 1);
    cr_assert(jw_memory_charge(JW_MEMORY_SYMBOLS, (uint64_t)512 << 10));
    cr_assert(symbols_names_build(&file.elf, file.text_vaddr, file.text_bytes, &is_refused, &err) ==
              NULL);
    cr_assert(is_refused);
    cr_assert(jw_counter(JW_COUNT_SYMBOLS_REFUSED) == 1);
    jw_memory_get(JW_MEMORY_UNWINDING, &figures);
    cr_assert(figures.charged_bytes == figures.limit_bytes, "nothing of it stays charged");
}

Test(symbols_limits, a_function_of_such_a_library_says_so)
{
    struct symbols_name name;
    struct jw_error err = {0};

    cr_assert(symbols_refresh(&err), "%s", err.message);
    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    cr_assert(
        jw_memory_charge(JW_MEMORY_SYMBOLS, jw_memory_limit_of(JW_MEMORY_SYMBOLS, 0) / 4 * 3));
    void *rest = jw_alloc_for(JW_MEMORY_SYMBOLS, jw_memory_limit_of(JW_MEMORY_SYMBOLS, 0) / 8);
    while (jw_memory_charge(JW_MEMORY_SYMBOLS, 4096))
        ;
    cr_assert(symbols_name((uintptr_t)getpid, &name));
    cr_assert(strcmp(name.function, "[memlimit reached]") == 0, "%s", name.function);
    cr_assert(strstr(name.library, "libc") != NULL, "%s", name.library);
    jw_free(rest);
}
