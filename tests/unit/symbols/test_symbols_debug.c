/* Debug files: found where distributions and packagers put them, and only used for the library that they are of. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdlib.h>

#include "elf_file.h"
#include "symbols/symbols.h"

static char directory[64], library_path[128], debug_path[128], root[128];

static void run(const char *format, ...)
{
    char command[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    cr_assert_eq(system(command), 0, "%s", command);
}

/* Of the tools for the machine that the test is for. */
static const char *prefix(void)
{
#if defined(__aarch64__)
    if (access("/usr/bin/aarch64-linux-gnu-gcc", X_OK) == 0)
        return "aarch64-linux-gnu-";
#endif
    return "";
}

static void make_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/jaywalk-debug-XXXXXX");
    cr_assert(mkdtemp(directory) != NULL);
    snprintf(library_path, sizeof library_path, "%s/libstripped.so", directory);
    snprintf(debug_path, sizeof debug_path, "%s/libstripped.so.debug", directory);
    snprintf(root, sizeof root, "%s/root", directory);
}

static void remove_directory(void)
{
    symbols_close();
    run("rm -r '%s'", directory);
}

TestSuite(symbols_debug, .timeout = 1800, .init = make_directory, .fini = remove_directory);

#define WITH_ID    "-Wl,--build-id=sha1"
#define WITHOUT_ID "-Wl,--build-id=none"

/* A library with a function that only a full symbol table names, and its debug file beside it. */
static void make_library(const char *options, const char *hidden_name)
{
    const char *own = getenv("CC");
    const char *compiler = prefix()[0] != '\0'             ? "aarch64-linux-gnu-gcc"
                           : own == NULL || own[0] == '\0' ? "cc"
                                                           : own;

    run("echo '__attribute__((noinline)) static int %s(int x) { __asm__(\"\"); return x * 3; } "
        "int shown(int x); int shown(int x) { return %s(x) + 1; } "
        "void *hidden_address(void); void *hidden_address(void) { return %s; }' | "
        "%s -x c -g -O1 -shared -fPIC -nostdlib %s -o '%s' -",
        hidden_name, hidden_name, hidden_name, compiler, options, library_path);
    run("%sobjcopy --only-keep-debug '%s' '%s'", prefix(), library_path, debug_path);
    run("cd '%s' && %sobjcopy --strip-all --add-gnu-debuglink='%s' '%s'", directory, prefix(),
        debug_path, library_path);
}

static bool is_found(void)
{
    struct symbols_source library, debug;

    cr_assert(symbols_source_open_file(&library, library_path));
    const bool is = symbols_debug_open(&debug, &library.elf, library_path, root);

    if (is)
        symbols_source_close(&debug);
    symbols_source_close(&library);
    return is;
}

/* Where debuggers look for the file of this build-id. */
static void move_to_build_id(void)
{
    struct symbols_source library;
    char id[2 * SYMBOLS_BUILD_ID_BYTES + 1] = "";

    cr_assert(symbols_source_open_file(&library, library_path));
    cr_assert_gt(library.elf.build_id_bytes, 0);
    for (uint32_t i = 0; i < library.elf.build_id_bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", library.elf.build_id[i]);
    symbols_source_close(&library);
    run("mkdir -p '%s/.build-id/%.2s' && mv '%s' '%s/.build-id/%.2s/%s.debug'", root, id,
        debug_path, root, id, id + 2);
}

Test(symbols_debug, a_file_is_found_by_build_id)
{
    make_library(WITH_ID, "hidden");
    cr_assert(is_found());
    run("cp '%s' '%s/kept'", debug_path, directory);
    move_to_build_id();
    cr_assert(is_found());
    run("rm -r '%s'", root);
    cr_assert_not(is_found());
}

Test(symbols_debug, a_file_is_found_by_its_link_in_three_places)
{
    make_library(WITH_ID, "hidden");
    cr_assert(is_found());
    run("mkdir '%s/.debug' && mv '%s' '%s/.debug/'", directory, debug_path, directory);
    cr_assert(is_found());
    run("mkdir -p '%s%s' && mv '%s/.debug/libstripped.so.debug' '%s%s/'", root, directory,
        directory, root, directory);
    cr_assert(is_found());
    run("rm -r '%s'", root);
    cr_assert_not(is_found());
}

Test(symbols_debug, without_a_build_id_the_checksum_decides)
{
    make_library(WITHOUT_ID, "hidden");
    cr_assert(is_found());
    run("printf x >>'%s'", debug_path);
    cr_assert_not(is_found());
}

Test(symbols_debug, the_file_of_another_library_is_refused)
{
    make_library(WITH_ID, "other");
    run("mv '%s' '%s/other.debug'", debug_path, directory);
    make_library(WITH_ID, "hidden");
    cr_assert(is_found());
    run("mv '%s/other.debug' '%s'", directory, debug_path);
    cr_assert_not(is_found());
}

Test(symbols_debug, a_file_without_symbols_that_is_cut_or_none_is_refused)
{
    make_library(WITH_ID, "hidden");
    run("cp '%s' '%s'", library_path, debug_path); /* has the build-id, and no symbols */
    cr_assert_not(is_found());
    run("head -c 100 '%s' >'%s'", library_path, debug_path);
    cr_assert_not(is_found());
    run("rm '%s' && mkdir '%s'", debug_path, debug_path);
    cr_assert_not(is_found());
    run("rmdir '%s' && mkfifo '%s'", debug_path, debug_path);
    cr_assert_not(is_found());
}

/* The name of the hidden function as a sample in it would get it. */
static void expect_hidden(const char *expected)
{
    struct jw_error err = {0};
    struct symbols_name name;
    void *(*hidden_address)(void);
    void *library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);

    cr_assert(library != NULL, "%s", dlerror());
    *(void **)&hidden_address = dlsym(library, "hidden_address");
    cr_assert(symbols_refresh(&err), "%s", err.message);
    cr_assert(symbols_name((uintptr_t)hidden_address() + 1, &name));
    cr_assert_str_eq(name.library, "libstripped.so");
    cr_assert_str_eq(name.function, expected);
    dlclose(library);
}

Test(symbols_debug, functions_of_a_stripped_library_are_named_by_its_debug_file)
{
    make_library(WITH_ID, "hidden");
    expect_hidden("hidden");
}

Test(symbols_debug, without_one_only_exported_functions_have_names)
{
    make_library(WITH_ID, "hidden");
    run("rm '%s'", debug_path);
    expect_hidden("");
}

/* As distributions do it: what the symbols that are exported do not say, alone and packed. */
static void make_mini(void)
{
    make_library(WITH_ID, "hidden");
    run("cd '%s' && mv libstripped.so.debug mini && %sobjcopy -S --remove-section .comment "
        "--keep-symbol=hidden mini && xz mini && %sobjcopy --remove-section .gnu_debuglink "
        "--add-section .gnu_debugdata=mini.xz libstripped.so",
        directory, prefix(), prefix());
}

Test(symbols_debug, hidden_functions_have_the_names_that_the_library_carries_packed)
{
    if (!symbols_has_unpacker())
        cr_skip_test("no unpacker is linked in");
    make_mini();
    expect_hidden("hidden");
}

Test(symbols_debug, packed_symbols_that_are_damaged_do_no_harm)
{
    struct symbols_source library;
    struct symbols_extent packed;
    static unsigned char bytes[1 << 20];
    unsigned refused = 0, tried = 0;

    if (!symbols_has_unpacker())
        cr_skip_test("no unpacker is linked in");
    make_mini();
    cr_assert(symbols_source_open_file(&library, library_path));
    cr_assert_leq(library.elf.image.size_bytes, sizeof bytes);
    cr_assert(symbols_image_read(&library.elf.image, 0, bytes, library.elf.image.size_bytes));
    cr_assert(symbols_elf_find_section(&library.elf, SHT_PROGBITS, ".gnu_debugdata", &packed));
    const struct symbols_image image = {
        .fd = -1, .bytes = bytes, .size_bytes = library.elf.image.size_bytes};
    for (uint64_t i = 0; i < packed.size_bytes; i++, tried++) {
        struct symbols_elf elf, mini;

        bytes[packed.offset + i] ^= (unsigned char)(1u << (i % 8));
        cr_assert(symbols_elf_parse(&elf, &image, NULL));
        unsigned char *unpacked = symbols_mini_open(&mini, &elf);
        refused += unpacked == NULL;
        jw_free(unpacked);
        bytes[packed.offset + i] ^= (unsigned char)(1u << (i % 8));
    }
    cr_assert_gt(tried, 100);
    cr_assert_eq(refused, tried, "all is covered by checksums: %u of %u", refused, tried);
    symbols_source_close(&library);
}

Test(symbols_debug, packed_symbols_that_unpack_to_too_much_are_refused)
{
    struct symbols_source library;
    struct symbols_elf mini;

    if (!symbols_has_unpacker())
        cr_skip_test("no unpacker is linked in");
    make_library(WITH_ID, "hidden");
    run("cd '%s' && head -c 40000000 /dev/zero | xz -1 >mini.xz && "
        "%sobjcopy --add-section .gnu_debugdata=mini.xz libstripped.so",
        directory, prefix());
    cr_assert(symbols_source_open_file(&library, library_path));
    cr_assert(symbols_mini_open(&mini, &library.elf) == NULL);
    symbols_source_close(&library);
}

Test(symbols_debug, links_that_are_malformed_do_no_harm)
{
    struct symbols_source library;
    struct symbols_extent link;
    static unsigned char bytes[1 << 20];

    make_library(WITHOUT_ID, "hidden");
    cr_assert(symbols_source_open_file(&library, library_path));
    cr_assert_leq(library.elf.image.size_bytes, sizeof bytes);
    cr_assert(symbols_image_read(&library.elf.image, 0, bytes, library.elf.image.size_bytes));
    cr_assert(symbols_elf_find_section(&library.elf, SHT_PROGBITS, ".gnu_debuglink", &link));
    /* Each byte of the link, by values at its edges. */
    for (uint64_t i = 0; i < link.size_bytes; i++) {
        const unsigned char values[] = {0, '/', 0xff};
        const unsigned char before = bytes[link.offset + i];

        for (size_t v = 0; v < JW_COUNT_OF(values); v++) {
            const struct symbols_image image = {
                .fd = -1, .bytes = bytes, .size_bytes = library.elf.image.size_bytes};
            struct symbols_source debug;
            struct symbols_elf elf;

            if (values[v] == before)
                continue;
            bytes[link.offset + i] = values[v];
            cr_assert(symbols_elf_parse(&elf, &image, NULL));
            /* Zeros between name and checksum say nothing. */
            const bool is_padding =
                i >= strlen("libstripped.so.debug") + 1 && i + sizeof(uint32_t) < link.size_bytes;
            if (!is_padding)
                cr_assert_not(symbols_debug_open(&debug, &elf, library_path, root),
                              "byte %llu as %u", (unsigned long long)i, values[v]);
        }
        bytes[link.offset + i] = before;
    }
    symbols_source_close(&library);
}
