/* Code that .eh_frame does not describe: .debug_frame, plain, compressed and in a file of its own, and .sframe tell the same of it. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdlib.h>

#include "elf_file.h"
#include "made_elf.h"
#include "rows_check.h"

static char directory[64];

static void run(const char *format, ...)
{
    char command[2048];
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

static const char *compiler(void)
{
    const char *own = getenv("CC");

    return prefix()[0] != '\0'             ? "aarch64-linux-gnu-gcc"
           : own == NULL || own[0] == '\0' ? "cc"
                                           : own;
}

/* One source, twice: described for the run time (eh.so), and for debuggers alone (debug.so). */
static void make_libraries(void)
{
    static const char source[] =
        "int other(int *); int *more(int); __attribute__((noinline)) int big(int a, int b)"
        " { int x[40]; x[a & 31] = b; return other(x) + b; }"
        " int loop(int n, int *p) { int s = 0; while (n-- > 0) s += big(p[n], s) * other(p); "
        "return s; }"
        " int room(int n) { char *p = __builtin_alloca(n); return other((int *)p) + *more(n); }"
        " int leaf(int n) { return n * 3; }";
    static const char flags[] = "-O2 -shared -fPIC -nostdlib -Wl,--build-id=sha1 -x c";

    snprintf(directory, sizeof directory, "/tmp/jaywalk-sections-XXXXXX");
    cr_assert(mkdtemp(directory) != NULL);
    run("cd '%s' && echo '%s' >it.c && %s %s -fasynchronous-unwind-tables -o eh.so it.c && "
        "%s %s -g -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-exceptions -o "
        "debug.so it.c",
        directory, source, compiler(), flags, compiler(), flags);
}

static void remove_libraries(void)
{
    run("rm -r '%s'", directory);
}

TestSuite(symbols_sections, .timeout = 1800, .init = make_libraries, .fini = remove_libraries);

static struct elf_file open_library(const char *name)
{
    char path[128];
    struct elf_file file;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    cr_assert(elf_file_open(&file, path), "%s", path);
    return file;
}

static struct symbols_extent text_of(const struct elf_file *file)
{
    struct symbols_extent text;

    cr_assert(symbols_elf_find_section(&file->elf, SHT_PROGBITS, ".text", &text));
    return text;
}

static struct symbols_rows *rows_of(const struct elf_file *file, const struct elf_file *debug)
{
    struct jw_error err = {0};
    struct symbols_rows *rows = symbols_rows_build_with(
        &file->elf, debug == NULL ? NULL : &debug->elf, file->text_vaddr, file->text_bytes, &err);

    cr_assert(rows != NULL, "%s", err.message);
    cr_assert(rows_wrong(rows) == NULL, "%s", rows_wrong(rows));
    cr_assert_eq(rows->frames_refused, 0);
    return rows;
}

/* Each byte of the code has the rule that .eh_frame has for it; `has_kept`: that of the further register included. */
static void expect_as_eh(const struct elf_file *file, const struct elf_file *debug, bool has_kept)
{
    struct elf_file eh = open_library("eh.so");
    const struct symbols_extent eh_text = text_of(&eh), text = text_of(file);
    struct symbols_rows *wanted = rows_of(&eh, NULL), *rows = rows_of(file, debug);
    unsigned described = 0;

    cr_assert_eq(text.size_bytes, eh_text.size_bytes);
    for (uint64_t i = 0; i < text.size_bytes; i++) {
        struct symbols_rule a = {0}, b = {0};
        uint8_t push_a, push_b;
        const enum symbols_rule_kind kind = symbols_rule_unpack(
            symbols_rows_find(wanted, eh_text.vaddr + i - eh.text_vaddr), &a, &push_a);

        cr_assert_eq(symbols_rule_unpack(symbols_rows_find(rows, text.vaddr + i - file->text_vaddr),
                                         &b, &push_b),
                     kind, "at %d", (int)i);
        described += kind == SYMBOLS_RULE_PLAIN;
        if (kind != SYMBOLS_RULE_PLAIN)
            continue;
        if (!has_kept)
            a.kept_words = b.kept_words;
        cr_assert(a.cfa_base == b.cfa_base && a.cfa_offset_bytes == b.cfa_offset_bytes &&
                      a.fp_place == b.fp_place && a.fp_offset_bytes == b.fp_offset_bytes &&
                      a.return_place == b.return_place &&
                      a.return_offset_bytes == b.return_offset_bytes &&
                      a.kept_words == b.kept_words && a.other_register == b.other_register,
                  "at %d: cfa %d+%d, fp %d+%d, return %d+%d, kept %d, not cfa %d+%d, fp %d+%d, "
                  "return %d+%d, kept %d",
                  (int)i, b.cfa_base, b.cfa_offset_bytes, b.fp_place, b.fp_offset_bytes,
                  b.return_place, b.return_offset_bytes, b.kept_words, a.cfa_base,
                  a.cfa_offset_bytes, a.fp_place, a.fp_offset_bytes, a.return_place,
                  a.return_offset_bytes, a.kept_words);
    }
    cr_assert_geq(described, 100);
    symbols_rows_free(wanted);
    symbols_rows_free(rows);
    close(eh.fd);
}

Test(symbols_sections, debug_frame_says_what_eh_frame_says)
{
    struct elf_file file = open_library("debug.so");

    expect_as_eh(&file, NULL, true);
    close(file.fd);
}

Test(symbols_sections, compressed_it_says_the_same)
{
    static const char *const ways[] = {"zlib", "zlib-gnu"};

    for (size_t i = 0; i < JW_COUNT_OF(ways); i++) {
        /* Nothing is compressed that would not get smaller. */
        run("cd '%s' && for i in 1 2 3 4 5 6 7 8 9; do sed -e "
            "'s/\\b\\(big\\|loop\\|room\\|leaf\\)\\b/\\1_'$i'/g' it.c; "
            "done | sed 's/int other(int \\*);//;s/int \\*more(int);//' >more.c && "
            "(cat it.c; sed -n p more.c) >many.c && (echo 'int other(int *); int *more(int);'; cat "
            "many.c) >all.c && "
            "%s -O2 -shared -fPIC -nostdlib -x c -fasynchronous-unwind-tables -o eh.so all.c && "
            "%s -O2 -shared -fPIC -nostdlib -x c -g -fno-asynchronous-unwind-tables "
            "-fno-unwind-tables "
            "-fno-exceptions -o plain.so all.c && "
            "%sobjcopy --compress-debug-sections=%s plain.so packed.so",
            directory, compiler(), compiler(), prefix(), ways[i]);
        struct elf_file file = open_library("packed.so");
        struct symbols_named named = {.name = i == 0 ? ".debug_frame" : ".zdebug_frame"};

        symbols_elf_find_named(&file.elf, &named, 1);
        cr_assert(named.is_found, "%s", ways[i]);
        cr_assert(i != 0 || named.is_compressed);
        expect_as_eh(&file, NULL, true);
        close(file.fd);
    }
}

Test(symbols_sections, a_debug_file_describes_its_stripped_library)
{
    struct jw_error err = {0};

    run("cd '%s' && %sobjcopy --only-keep-debug debug.so debug.so.debug && %sobjcopy --strip-all "
        "debug.so stripped.so",
        directory, prefix(), prefix());
    struct elf_file stripped = open_library("stripped.so");
    struct symbols_source debug;
    struct elf_file debug_file = {0};
    char path[128];

    cr_assert_not(symbols_frames_exist(&stripped.elf));
    cr_assert(symbols_rows_build(&stripped.elf, stripped.text_vaddr, stripped.text_bytes, &err) ==
              NULL);
    cr_assert(strstr(err.message, ".debug_frame") != NULL, "%s", err.message);
    snprintf(path, sizeof path, "%s/debug.so.debug", directory);
    cr_assert(symbols_source_open_file(&debug, path));
    debug_file.elf = debug.elf;
    expect_as_eh(&stripped, &debug_file, true);
    symbols_source_close(&debug);
    close(stripped.fd);
}

Test(symbols_sections, rows_of_a_mapped_library_come_from_its_debug_file)
{
    char path[128];
    struct jw_error err = {0};
    struct symbols_rule rule;

    run("cd '%s' && %sobjcopy --only-keep-debug debug.so debug.so.debug && "
        "%sobjcopy --strip-all --add-gnu-debuglink=debug.so.debug debug.so stripped.so",
        directory, prefix(), prefix());
    snprintf(path, sizeof path, "%s/stripped.so", directory);
    void *library = dlopen(path, RTLD_LAZY);
    cr_assert(library != NULL, "%s", dlerror());
    const uintptr_t pc = (uintptr_t)dlsym(library, "leaf");
    cr_assert(pc != 0);
    cr_assert(symbols_refresh(&err) && symbols_build_rows(&err), "%s", err.message);
    const struct symbols_snapshot *snapshot = symbols_enter();
    const enum symbols_found found = symbols_rule_find(snapshot, pc, false, &rule);

    symbols_leave(snapshot);
    cr_assert_eq(found, SYMBOLS_FOUND);
    symbols_close();
    dlclose(library);
}

Test(symbols_sections, sframe_says_what_eh_frame_says)
{
    char command[1024];
    struct symbols_extent section;
    unsigned char head[4];

    snprintf(
        command, sizeof command,
        "cd '%s' && %s -O2 -shared -fPIC -nostdlib -fasynchronous-unwind-tables -Wa,--gsframe -o "
        "sframe.so it.c 2>it.log && %sobjcopy --rename-section .eh_frame=.hidden sframe.so "
        "hidden.so",
        directory, compiler(), prefix());
    if (system(command) != 0)
        cr_skip("not run: this compiler and assembler make no .sframe");
    struct elf_file file = open_library("hidden.so");

    cr_assert(symbols_elf_find_section(&file.elf, SHT_NULL, ".sframe", &section));
    cr_assert(symbols_image_read(&file.elf.image, section.offset, head, sizeof head));
    if (head[2] > 2)
        cr_skip("not run: this assembler makes .sframe of version %u", head[2]);
    file.elf.frame_header.file_bytes = 0;
    expect_as_eh(&file, NULL, false);
    close(file.fd);
}

/* Bytes of a section of version 2, for x86-64. */
static void put_sframe_head(struct made_elf *made, unsigned entries, unsigned rows_bytes)
{
    static const unsigned char start[] = {0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0};

    made_begin(made);
    made_put(made, start, sizeof start);
    made_put_number(made, entries, 4);
    made_put_number(made, 0, 4);
    made_put_number(made, rows_bytes, 4);
    made_put_number(made, 0, 4);
    made_put_number(made, 20 * entries, 4);
}

static void put_sframe_entry(struct made_elf *made, uint32_t text_offset, uint32_t size_bytes,
                             uint32_t rows_offset, uint32_t row_count, unsigned info)
{
    made_put_number(made, MADE_TEXT_VADDR + text_offset - 0x400, 4);
    made_put_number(made, size_bytes, 4);
    made_put_number(made, rows_offset, 4);
    made_put_number(made, row_count, 4);
    made_put_number(made, info, 1);
    made_put_number(made, 16, 1);
    made_put_number(made, 0, 2);
}

static enum symbols_rule_kind at(const struct symbols_rows *rows, uint64_t text_offset,
                                 struct symbols_rule *rule, uint8_t *push_byte)
{
    return symbols_rule_unpack(symbols_rows_find(rows, text_offset), rule, push_byte);
}

Test(symbols_sections, sframe_of_version_2_has_stubs_ends_and_long_rows)
{
    static const unsigned char row_bytes[] = {
        0,    0x03, 8,    4,    0x05, 16, 0xf0, /* sp+8; from 4 on sp+16, fp at cfa-16 */
        9,    0x04, 16,   0xf0,                 /* from 9 on fp+16 */
        0,    0x03, 16,   11,   0x03, 24,       /* stubs */
        0,    0x01,                             /* a first function */
        0,    0,    0x23, 8,    0,    0,  1,
        0x23, 0x90, 0x01 /* two bytes each: sp+8; from 256 on sp+400 */
    };
    static struct made_elf made;
    struct symbols_rule rule;
    uint8_t push_byte;

    put_sframe_head(&made, 5, sizeof row_bytes);
    put_sframe_entry(&made, 0x100, 0x20, 0, 3, 0);
    put_sframe_entry(&made, 0x200, 0x40, 11, 2, 0x10);
    put_sframe_entry(&made, 0x300, 0x10, 17, 1, 0);
    put_sframe_entry(&made, 0x400, 0x200, 19, 2, 1);
    put_sframe_entry(&made, 0x700, 0x10, 0, 9, 0); /* more rows than there are */
    made_put(&made, row_bytes, sizeof row_bytes);
    cr_assert(made_finish_as(&made, EM_X86_64, ".sframe"));
    struct symbols_rows *rows =
        symbols_rows_build(&made.elf, MADE_TEXT_VADDR, MADE_TEXT_BYTES, NULL);

    cr_assert(rows != NULL);
    cr_assert(rows_wrong(rows) == NULL, "%s", rows_wrong(rows));
    cr_assert_eq(rows->frames_refused, 1);
    cr_assert_eq(at(rows, 0xff, &rule, &push_byte), SYMBOLS_RULE_GAP);
    cr_assert_eq(at(rows, 0x103, &rule, &push_byte), SYMBOLS_RULE_PLAIN);
    cr_assert(rule.cfa_base == SYMBOLS_BASE_SP && rule.cfa_offset_bytes == 8);
    cr_assert(rule.return_place == SYMBOLS_PLACE_AT_CFA && rule.return_offset_bytes == -8);
    cr_assert_eq(at(rows, 0x104, &rule, &push_byte), SYMBOLS_RULE_PLAIN);
    cr_assert(rule.cfa_base == SYMBOLS_BASE_SP && rule.cfa_offset_bytes == 16);
    cr_assert(rule.fp_place == SYMBOLS_PLACE_AT_CFA && rule.fp_offset_bytes == -16);
    cr_assert_eq(at(rows, 0x11f, &rule, &push_byte), SYMBOLS_RULE_PLAIN);
    cr_assert(rule.cfa_base == SYMBOLS_BASE_FP && rule.cfa_offset_bytes == 16);
    cr_assert_eq(rule.kept_words, SYMBOLS_KEPT_LOST);
    cr_assert_eq(at(rows, 0x120, &rule, &push_byte), SYMBOLS_RULE_GAP);
    cr_assert_eq(at(rows, 0x23f, &rule, &push_byte), SYMBOLS_RULE_PLAIN);
    cr_assert(rule.cfa_offset_bytes == 16 && push_byte == 11);
    cr_assert_eq(at(rows, 0x300, &rule, &push_byte), SYMBOLS_RULE_OUTERMOST);
    cr_assert_eq(at(rows, 0x500, &rule, &push_byte), SYMBOLS_RULE_PLAIN);
    cr_assert_eq(rule.cfa_offset_bytes, 400);
    cr_assert_eq(at(rows, 0x700, &rule, &push_byte), SYMBOLS_RULE_CANNOT);
    symbols_rows_free(rows);
}

Test(symbols_sections, functions_that_share_rows_do_not_make_more_of_them_than_there_is_room)
{
    static struct made_elf made;
    const unsigned functions = 300, rows_each = 200;

    put_sframe_head(&made, functions, 3 * rows_each);
    for (unsigned i = 0; i < functions; i++)
        put_sframe_entry(&made, 0xd0 * i, 0xd0, 0, rows_each, 0);
    for (unsigned i = 0; i < rows_each; i++)
        made_put(&made, (const unsigned char[]){(unsigned char)i, 0x03, (unsigned char)(8 + i % 2)},
                 3);
    cr_assert(made_finish_as(&made, EM_X86_64, ".sframe"));
    struct symbols_rows *rows =
        symbols_rows_build(&made.elf, MADE_TEXT_VADDR, MADE_TEXT_BYTES, NULL);

    cr_assert(rows != NULL);
    cr_assert(rows_wrong(rows) == NULL, "%s", rows_wrong(rows));
    cr_assert(rows->frames_refused > 0 && rows->frames_refused < functions);
    symbols_rows_free(rows);
}

Test(symbols_sections, an_entry_of_64_bit_dwarf_version_4_is_read)
{
    static const unsigned char cie[] = {4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1};
    static const unsigned char program[] = {0x44, 0x0e, 32};
    static struct made_elf made;
    struct symbols_rule rule;
    uint8_t push_byte;

    made_begin(&made);
    made_put_number(&made, UINT32_MAX, 4);
    made_put_number(&made, 8 + sizeof cie, 8);
    made_put_number(&made, UINT64_MAX, 8);
    made_put(&made, cie, sizeof cie);
    made_put_number(&made, UINT32_MAX, 4);
    made_put_number(&made, 8 + 16 + sizeof program, 8);
    made_put_number(&made, 0, 8); /* the CIE's place in the section */
    made_put_number(&made, MADE_TEXT_VADDR + 0x80, 8);
    made_put_number(&made, 0x10, 8);
    made_put(&made, program, sizeof program);
    cr_assert(made_finish_as(&made, EM_X86_64, ".debug_frame"));
    struct symbols_rows *rows =
        symbols_rows_build(&made.elf, MADE_TEXT_VADDR, MADE_TEXT_BYTES, NULL);

    cr_assert(rows != NULL);
    cr_assert_eq(rows->frames_refused, 0);
    cr_assert_eq(at(rows, 0x83, &rule, &push_byte), SYMBOLS_RULE_PLAIN);
    cr_assert_eq(rule.cfa_offset_bytes, 8);
    cr_assert_eq(at(rows, 0x84, &rule, &push_byte), SYMBOLS_RULE_PLAIN);
    cr_assert_eq(rule.cfa_offset_bytes, 32);
    symbols_rows_free(rows);
}

Test(symbols_sections, what_is_packed_is_unpacked_whole_or_not_at_all)
{
    static const unsigned char stored[] = {0x78, 0x01, 0x01, 2,    0,    0xfd, 0xff,
                                           'h',  'i',  0x01, 0x3b, 0x00, 0xd2};
    static const unsigned char fixed[] = {0x78, 0x9c, 0x4b, 0x04, 0x00, 0x00, 0x62, 0x00, 0x62};
    unsigned char out[16], damaged[sizeof stored];

    cr_assert(symbols_inflate(stored, sizeof stored, out, 2));
    cr_assert_arr_eq(out, "hi", 2);
    cr_assert(symbols_inflate(fixed, sizeof fixed, out, 1));
    cr_assert_eq(out[0], 'a');
    cr_assert_not(symbols_inflate(fixed, sizeof fixed, out, 2));
    cr_assert_not(symbols_inflate(stored, sizeof stored, out, 1));
    for (size_t i = 0; i < sizeof stored; i++)
        cr_assert_not(symbols_inflate(stored, i, out, 2));
    for (size_t i = 0; i < 8 * sizeof stored; i++) {
        if (i >= 19 && i < 24)
            continue; /* between the head of a stored block and its length: means nothing */
        memcpy(damaged, stored, sizeof stored);
        damaged[i / 8] ^= (unsigned char)(1u << i % 8);
        cr_assert_not(symbols_inflate(damaged, sizeof damaged, out, 2), "bit %zu", i);
    }
}
