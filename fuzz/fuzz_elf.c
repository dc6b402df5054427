/*
 * Any bytes as a library's file: headers, rows, names and look-ups end, stay inside the bytes and
 * leave tables in order.
 */
/* s18: what a file of a library says of itself is not believed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/unit/symbols/rows_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_right)
{
    if (!is_right)
        abort();
}

static void use_rows(const struct symbols_rows *rows)
{
    check(rows_wrong(rows) == NULL);
    (void)symbols_rows_find(rows, 0);
    (void)symbols_rows_find(rows, rows->text_bytes - 1);
    (void)symbols_rows_find(rows, rows->text_bytes);
}

static void use_names(const struct symbols_names *names)
{
    char name[SYMBOLS_NAME_BYTES];
    uint64_t offset_bytes;

    for (uint32_t i = 0; i < names->function_count && i < 1000; i++) {
        const uint64_t at = names->functions[i].text_offset;

        check(i == 0 || names->functions[i - 1].text_offset <= at);
        if (symbols_names_find(names, at, name, sizeof name, &offset_bytes))
            check(strlen(name) < sizeof name && offset_bytes <= at);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct symbols_image image = {.fd = -1, .bytes = data, .size_bytes = size};
    struct symbols_elf elf;
    uint64_t vaddr;

    if (!symbols_elf_parse(&elf, &image, NULL))
        return 0;
    for (uint32_t i = 0; i < elf.load_count; i++) {
        const struct symbols_segment *load = &elf.loads[i];

        if (!load->is_executable || load->file_bytes == 0 || load->file_bytes > (64u << 20))
            continue;
        struct symbols_rows *rows = symbols_rows_build(&elf, load->vaddr, load->file_bytes, NULL);
        bool is_refused = false;
        struct symbols_names *names =
            symbols_names_build(&elf, load->vaddr, load->file_bytes, &is_refused, NULL);

        if (rows != NULL)
            use_rows(rows);
        if (names != NULL)
            use_names(names);
        struct symbols_names *stubs = symbols_plt_build(&elf, load->vaddr, load->file_bytes);
        if (stubs != NULL)
            use_names(stubs);
        symbols_rows_free(rows);
        jw_free(names);
        jw_free(stubs);
        break;
    }
    struct symbols_source debug;
    struct symbols_elf mini;
    jw_free(symbols_mini_open(&mini, &elf));
    /* Nothing is there: what is tried is the link. */
    check(!symbols_debug_open(&debug, &elf, "/proc/none/lib.so", "/proc/none"));
    if (symbols_elf_find_symbol(&elf, "printf", &vaddr))
        check(vaddr != 0);
    return 0;
}
