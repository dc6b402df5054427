/* Files from outside: cut at any byte, with any bits flipped, made to mislead. None may do harm. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/hash.h"
#include "elf_file.h"
#include "made_elf.h"
#include "rows_check.h"

#define SAMPLES      1000
#define FLIPS_MAX    64
#define HEADER_BYTES 1024

TestSuite(symbols_elf, .timeout = 1800);

static unsigned char *original;
static size_t original_bytes;
static uint64_t random_state;
static bool has_symbol; /* of the file used last */

static uint64_t random_number(uint64_t limit)
{
    random_state += 0x9e3779b97f4a7c15ull;
    return jw_hash_word(random_state) % limit;
}

/* The loader is a complete library of moderate size that every process has. */
static void read_original(void)
{
    char path[4096];

    cr_assert(mapped_path("ld-linux", path, sizeof path));
    FILE *file = fopen(path, "re");
    cr_assert(file != NULL);
    fseek(file, 0, SEEK_END);
    original_bytes = (size_t)ftell(file);
    rewind(file);
    original = malloc(original_bytes);
    cr_assert(original != NULL);
    cr_assert_eq(fread(original, 1, original_bytes, file), original_bytes);
    fclose(file);
}

static void check_rows(const struct symbols_rows *rows)
{
    const char *wrong = rows_wrong(rows);

    cr_assert(wrong == NULL, "%s", wrong);
}

/* Everything that the room does with a file. True: it parses. */
static bool use(const unsigned char *bytes, size_t size_bytes)
{
    const struct symbols_image image = {.fd = -1, .bytes = bytes, .size_bytes = size_bytes};
    struct symbols_elf elf;
    uint64_t vaddr, text_vaddr, text_bytes, offset_bytes;
    char name[SYMBOLS_NAME_BYTES];

    if (!symbols_elf_parse(&elf, &image, NULL) || !elf_text(&elf, &text_vaddr, &text_bytes))
        return false;

    struct symbols_rows *rows = symbols_rows_build(&elf, text_vaddr, text_bytes, NULL);
    for (uint64_t i = 0; rows != NULL && i < 100; i++)
        (void)symbols_rows_find(rows, random_number(text_bytes + 100));
    if (rows != NULL)
        check_rows(rows);
    bool is_refused = false;
    struct symbols_names *names =
        symbols_names_build(&elf, text_vaddr, text_bytes, &is_refused, NULL);
    for (uint64_t i = 0; names != NULL && i < 100; i++) {
        const uint64_t at = random_number(text_bytes + 100);

        if (symbols_names_find(names, at, name, sizeof name, &offset_bytes)) {
            cr_assert_lt(strlen(name), sizeof name);
            cr_assert_leq(offset_bytes, at);
        }
    }
    has_symbol = symbols_elf_find_symbol(&elf, "_dl_find_dso_for_object", &vaddr);
    jw_free(names);
    symbols_rows_free(rows);
    return true;
}

Test(symbols_elf, the_whole_file_is_read)
{
    read_original();
    cr_assert(use(original, original_bytes));
    cr_assert(has_symbol);
}

Test(symbols_elf, m68_cut_files_do_no_harm)
{
    read_original();
    for (unsigned sample = 0; sample < SAMPLES; sample++) {
        random_state = sample;
        const size_t size_bytes = random_number(sample % 2 == 0 ? HEADER_BYTES : original_bytes);
        /* A copy of that size, so that a sanitizer sees each byte too many. */
        unsigned char *copy = malloc(size_bytes + 1);

        cr_assert(copy != NULL);
        memcpy(copy, original, size_bytes);
        (void)use(copy, size_bytes);
        free(copy);
    }
}

Test(symbols_elf, m68_flipped_bits_do_no_harm)
{
    unsigned parsed = 0;

    read_original();
    unsigned char *copy = malloc(original_bytes);
    cr_assert(copy != NULL);
    /* Where flips do most: the headers, the section table at the end, .eh_frame in between. */
    for (unsigned sample = 0; sample < SAMPLES; sample++) {
        random_state = sample + 1000000;
        memcpy(copy, original, original_bytes);
        const uint64_t flips = 1 + random_number(FLIPS_MAX);

        for (uint64_t i = 0; i < flips; i++) {
            const uint64_t kind = random_number(8);
            const uint64_t at = kind == 0   ? 16 + random_number(HEADER_BYTES)
                                : kind == 1 ? original_bytes - 1 - random_number(2048)
                                            : random_number(original_bytes);

            copy[at] ^= (unsigned char)(1u << random_number(8));
        }
        parsed += use(copy, original_bytes);
    }
    free(copy);
    /* Most must get past the headers, or the test tries nothing. */
    cr_assert_gt(parsed, SAMPLES / 4, "only %u parsed", parsed);
}

Test(symbols_elf, m68_sections_and_segments_past_the_end_are_refused)
{
    static struct made_elf made;
    struct symbols_extent extent;
    unsigned char byte;

    made_begin(&made);
    cr_assert(made_finish(&made, EM_X86_64));
    cr_assert(symbols_elf_find_section(&made.elf, SHT_NULL, ".eh_frame", &extent));

    Elf64_Shdr section;
    memcpy(&section, made.bytes + 0x100 + 2 * sizeof section, sizeof section);
    section.sh_offset = UINT64_MAX - 1;
    memcpy(made.bytes + 0x100 + 2 * sizeof section, &section, sizeof section);
    cr_assert_not(symbols_elf_find_section(&made.elf, SHT_NULL, ".eh_frame", &extent));
    section.sh_offset = 0x400;
    section.sh_size = UINT64_MAX - 0x3ff;
    memcpy(made.bytes + 0x100 + 2 * sizeof section, &section, sizeof section);
    cr_assert_not(symbols_elf_find_section(&made.elf, SHT_NULL, ".eh_frame", &extent));
    cr_assert_not(symbols_image_read(&made.elf.image, made.used_bytes, &byte, 1));
    cr_assert_not(symbols_image_read(&made.elf.image, UINT64_MAX, &byte, 1));
    cr_assert_not(symbols_elf_section_at(&made.elf, 3, &extent));
    cr_assert_not(symbols_elf_section_at(&made.elf, UINT32_MAX, &extent));
}

Test(symbols_elf, other_machines_classes_and_formats_are_refused_with_a_reason)
{
    static struct made_elf made;
    struct symbols_elf elf;
    struct jw_error err = {0};

    made_begin(&made);
    cr_assert_not(made_finish(&made, EM_386));
    cr_assert_not(symbols_elf_parse(&elf, &made.elf.image, &err));
    cr_assert(strstr(err.message, "machine") != NULL, "%s", err.message);

    const struct symbols_image script = {
        .fd = -1, .bytes = (const unsigned char *)"#!/bin/sh\nexit 0\n", .size_bytes = 17};
    jw_error_clear(&err);
    cr_assert_not(symbols_elf_parse(&elf, &script, &err));
    cr_assert(strstr(err.message, "not an ELF file") != NULL, "%s", err.message);
}

Test(symbols_elf, the_build_id_is_the_one_that_readelf_shows)
{
    struct elf_file file;
    char path[4096], line[4096 + 64], id[2 * SYMBOLS_BUILD_ID_BYTES + 1] = "";
    bool is_found = false;

    cr_assert(mapped_path("libc.so", path, sizeof path) || mapped_path("libc-", path, sizeof path));
    cr_assert(elf_file_open(&file, path));
    for (uint32_t i = 0; i < file.elf.build_id_bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", file.elf.build_id[i]);
    close(file.fd);
    snprintf(line, sizeof line, "LC_ALL=C readelf -n '%s' 2>/dev/null", path);
    FILE *readelf = popen(line, "re");
    cr_assert(readelf != NULL);
    while (fgets(line, sizeof line, readelf) != NULL)
        if (strstr(line, "Build ID: ") != NULL)
            is_found = strncmp(strstr(line, "Build ID: ") + 10, id, strlen(id)) == 0;
    (void)pclose(readelf);
    cr_assert(is_found, "%s", id);
}

Test(symbols_elf, numbers_at_the_edge_of_their_encodings_are_read_right)
{
    static const unsigned char bytes[] = {0x7f, 0x80, 0x01, 0x7e, 0xff, 0x7e,
                                          /* ten bytes: 2^64 - 1, and bits beyond */
                                          0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                          0x7f};
    struct symbols_cursor cursor = symbols_cursor_of(bytes, sizeof bytes, 0x1000);

    cr_assert_eq(symbols_get_uleb(&cursor), 0x7f);
    cr_assert_eq(symbols_get_uleb(&cursor), 0x80);
    cr_assert_eq(symbols_get_sleb(&cursor), -2);
    cr_assert_eq(symbols_get_sleb(&cursor), -129);
    cr_assert_eq(symbols_get_uleb(&cursor), UINT64_MAX);
    cr_assert_eq(cursor.vaddr, 0x1000 + sizeof bytes);
    cr_assert_not(cursor.is_failed);
    cr_assert_eq(symbols_get_uleb(&cursor), 0);
    cr_assert(cursor.is_failed);
    cr_assert_eq(symbols_cursor_left(&cursor), 0);

    /* pc-relative, signed, four bytes: 16 before the place itself. */
    static const unsigned char relative[] = {0xf0, 0xff, 0xff, 0xff};
    cursor = symbols_cursor_of(relative, sizeof relative, 0x1000);
    cr_assert_eq(symbols_get_encoded(&cursor, 0x1b, 0), 0xff0);
    cursor = symbols_cursor_of(relative, sizeof relative, 0x1000);
    cr_assert_eq(symbols_get_encoded(&cursor, 0x3b, 0x2000), 0x1ff0);
    cursor = symbols_cursor_of(relative, sizeof relative, 0x1000);
    (void)symbols_get_encoded(&cursor, 0x9b, 0);
    cr_assert(cursor.is_failed, "indirect values point into memory that is not read");
}
