/*
 * From .sframe to rows, for code that neither .eh_frame nor .debug_frame describes; any, dump, control. It knows CFA, return address and
 * frame pointer alone, so the further register is lost in its frames.
 * Source: "The SFrame Format", version 2; what version 1 did otherwise is in its chapter "Changes from Version 1 to Version 2".
 */
#include <elf.h>

#include "symbols/symbols_frames_internal.h"

#define MAGIC         0xdee2u
#define HEADER_BYTES  28
#define ENTRY_BYTES   20
#define ENTRY_1_BYTES 17 /* of version 1: neither size of a repeated block nor padding */
#define ABI_AARCH64   2
#define ABI_X86_64    3
#define FLAG_PC_RELATIVE                                                                           \
    0x4 /* starts of functions count from their own place, not from the section's */
#define STUB_BYTES   16
#define WINDOW_BYTES ((size_t)64 << 10)
#define OFFSETS_MAX  3

/* A section under way. */
struct sframe {
    const struct symbols_machine *machine;
    struct symbols_extent section;
    struct symbols_window entries, rows; /* two, so that neither moves the other */
    unsigned version;
    uint8_t flags;
    int32_t fixed_return; /* 0: none; each row tells */
    uint32_t entry_count;
    uint64_t entries_offset, rows_offset, end_offset;
    uint64_t rows_left; /* functions may share rows: no more than the section has bytes */
};

/* One function's head. */
struct sframe_function {
    uint64_t start_vaddr;
    uint32_t size_bytes, row_count, block_bytes;
    uint64_t rows_offset;
    unsigned address_bytes;
    bool is_repeated; /* its rows hold for each block of so many bytes */
};

struct sframe_row {
    uint32_t distance;
    bool is_outermost;
    struct symbols_rule rule;
};

static bool read_header(struct sframe *sframe, const struct symbols_image *image)
{
    unsigned char bytes[HEADER_BYTES];

    if (sframe->section.size_bytes < sizeof bytes ||
        !symbols_image_read(image, sframe->section.offset, bytes, sizeof bytes))
        return false;

    struct symbols_cursor cursor = symbols_cursor_of(bytes, sizeof bytes, 0);
    const bool is_x86 = sframe->machine->elf_machine == EM_X86_64;
    const uint64_t magic = symbols_get_unsigned(&cursor, 2);

    sframe->version = (unsigned)symbols_get_unsigned(&cursor, 1);
    sframe->flags = (uint8_t)symbols_get_unsigned(&cursor, 1);
    const uint64_t abi = symbols_get_unsigned(&cursor, 1);
    const int8_t fixed_fp = (int8_t)symbols_get_unsigned(&cursor, 1);
    sframe->fixed_return = (int8_t)symbols_get_unsigned(&cursor, 1);
    const uint64_t header_bytes = HEADER_BYTES + symbols_get_unsigned(&cursor, 1);
    sframe->entry_count = (uint32_t)symbols_get_unsigned(&cursor, 4);
    symbols_cursor_skip(&cursor, 4); /* number of all rows */
    const uint64_t rows_bytes = symbols_get_unsigned(&cursor, 4);
    sframe->entries_offset = header_bytes + symbols_get_unsigned(&cursor, 4);
    sframe->rows_offset = header_bytes + symbols_get_unsigned(&cursor, 4);
    sframe->end_offset = sframe->rows_offset + rows_bytes;
    sframe->rows_left = sframe->section.size_bytes / 2; /* the shortest row has as many bytes */
    return magic == MAGIC && (sframe->version == 1 || sframe->version == 2) && fixed_fp == 0 &&
           abi == (is_x86 ? ABI_X86_64 : ABI_AARCH64) &&
           (sframe->fixed_return == 0 || sframe->fixed_return == -8) &&
           (is_x86 ? sframe->fixed_return != 0 : sframe->fixed_return == 0) &&
           sframe->end_offset <= sframe->section.size_bytes;
}

static bool read_function(struct sframe *sframe, uint32_t index, struct sframe_function *function)
{
    const size_t entry_bytes = sframe->version == 1 ? ENTRY_1_BYTES : ENTRY_BYTES;
    const uint64_t offset = sframe->entries_offset + index * entry_bytes;
    const unsigned char *bytes = symbols_window_at(&sframe->entries, offset, entry_bytes);

    if (bytes == NULL)
        return false;
    struct symbols_cursor cursor = symbols_cursor_of(bytes, entry_bytes, 0);
    const uint64_t base_vaddr =
        sframe->section.vaddr + ((sframe->flags & FLAG_PC_RELATIVE) != 0 ? offset : 0);
    function->start_vaddr =
        base_vaddr + (uint64_t)(int64_t)(int32_t)symbols_get_unsigned(&cursor, 4);
    function->size_bytes = (uint32_t)symbols_get_unsigned(&cursor, 4);
    function->rows_offset = sframe->rows_offset + symbols_get_unsigned(&cursor, 4);
    function->row_count = (uint32_t)symbols_get_unsigned(&cursor, 4);
    const uint64_t info = symbols_get_unsigned(&cursor, 1);
    function->address_bytes = (info & 15) <= 2 ? 1u << (info & 15) : 0;
    function->is_repeated = (info & 16) != 0;
    function->block_bytes =
        sframe->version == 1 ? STUB_BYTES : (uint32_t)symbols_get_unsigned(&cursor, 1);
    return true;
}

/* The row there, and where the next one begins. False: not understood. */
static bool read_row(struct sframe *sframe, const struct sframe_function *function,
                     uint64_t *offset, struct sframe_row *row)
{
    const uint64_t left_bytes = *offset < sframe->end_offset ? sframe->end_offset - *offset : 0;
    const size_t most_bytes = 4 + 1 + OFFSETS_MAX * 4;
    const size_t size_bytes = left_bytes < most_bytes ? (size_t)left_bytes : most_bytes;
    const unsigned char *bytes = symbols_window_at(&sframe->rows, *offset, size_bytes);
    int32_t offsets[OFFSETS_MAX] = {0};

    if (bytes == NULL || function->address_bytes == 0)
        return false;
    struct symbols_cursor cursor = symbols_cursor_of(bytes, size_bytes, 0);
    *row = (struct sframe_row){
        .distance = (uint32_t)symbols_get_unsigned(&cursor, function->address_bytes)};
    const unsigned info = (unsigned)symbols_get_unsigned(&cursor, 1);
    const unsigned count = info >> 1 & 15, size_shift = info >> 5 & 3;

    if (count > OFFSETS_MAX || size_shift > 2)
        return false;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t value = symbols_get_unsigned(&cursor, 1u << size_shift);

        offsets[i] = size_shift == 0   ? (int8_t)value
                     : size_shift == 1 ? (int16_t)value
                                       : (int32_t)value;
    }
    *offset += (uint64_t)(cursor.at - bytes);

    struct symbols_rule *rule = &row->rule;
    const bool has_return = sframe->fixed_return == 0 && count > 1;
    const unsigned fp_index = has_return ? 2 : 1;
    row->is_outermost = count == 0;
    rule->cfa_base = (info & 1) != 0 ? SYMBOLS_BASE_SP : SYMBOLS_BASE_FP;
    rule->cfa_offset_bytes = offsets[0];
    rule->return_place =
        sframe->fixed_return == 0 && !has_return ? SYMBOLS_PLACE_SAME : SYMBOLS_PLACE_AT_CFA;
    rule->return_offset_bytes = has_return ? offsets[1] : sframe->fixed_return;
    rule->fp_place = count > fp_index ? SYMBOLS_PLACE_AT_CFA : SYMBOLS_PLACE_SAME;
    rule->fp_offset_bytes = count > fp_index ? offsets[fp_index] : 0;
    rule->kept_words = SYMBOLS_KEPT_LOST;
    rule->is_return_signed = sframe->machine->has_link_register && (info & 0x80) != 0;
    return !cursor.is_failed && count <= fp_index + 1;
}

/* Rows that repeat are stubs for lazy binding: from some byte on, a word more lies on the stack. Else not understood. */
static bool add_stubs(struct sframe *sframe, const struct sframe_function *function, uint32_t start,
                      struct symbols_builder *builder)
{
    uint64_t offset = function->rows_offset;
    struct sframe_row first, second;

    if (sframe->machine->has_link_register || function->row_count != 2 ||
        function->block_bytes != STUB_BYTES || function->start_vaddr % STUB_BYTES != 0 ||
        !read_row(sframe, function, &offset, &first) ||
        !read_row(sframe, function, &offset, &second) || first.distance != 0 ||
        first.is_outermost || second.is_outermost || second.distance == 0 ||
        second.distance >= STUB_BYTES || first.rule.cfa_base != SYMBOLS_BASE_SP ||
        second.rule.cfa_base != SYMBOLS_BASE_SP || first.rule.fp_place != SYMBOLS_PLACE_SAME ||
        second.rule.fp_place != SYMBOLS_PLACE_SAME ||
        second.rule.cfa_offset_bytes != first.rule.cfa_offset_bytes + 8)
        return false;
    symbols_builder_add(
        builder, start,
        symbols_rule_pack(SYMBOLS_RULE_PLAIN, &first.rule, (uint8_t)second.distance));
    return true;
}

static bool add_rows(struct sframe *sframe, const struct sframe_function *function, uint32_t start,
                     uint32_t size_bytes, struct symbols_builder *builder)
{
    uint64_t offset = function->rows_offset;
    uint32_t last_distance = 0;

    if (function->is_repeated)
        return add_stubs(sframe, function, start, builder);
    if (function->row_count > sframe->rows_left)
        return false;
    sframe->rows_left -= function->row_count;
    for (uint32_t i = 0; i < function->row_count; i++) {
        struct sframe_row row;

        if (!read_row(sframe, function, &offset, &row) || (i > 0 && row.distance <= last_distance))
            return false;
        last_distance = row.distance;
        if (row.distance >= size_bytes)
            break;
        if (i == 0 && row.distance > 0)
            symbols_builder_add(builder, start, symbols_rule_bare(SYMBOLS_RULE_GAP));
        symbols_builder_add(builder, start + row.distance,
                            row.is_outermost ? symbols_rule_bare(SYMBOLS_RULE_OUTERMOST)
                                             : symbols_rule_pack(SYMBOLS_RULE_PLAIN, &row.rule, 0));
    }
    return true;
}

static void add_functions(struct sframe *sframe, uint64_t text_vaddr, uint64_t text_bytes,
                          struct symbols_builder *builder, struct symbols_added *added)
{
    struct sframe_function function;

    for (uint32_t i = 0; i < sframe->entry_count && read_function(sframe, i, &function); i++) {
        const uint64_t start = function.start_vaddr - text_vaddr;

        if (function.start_vaddr < text_vaddr || start >= text_bytes || function.size_bytes == 0)
            continue;
        const uint64_t left_bytes = text_bytes - start;
        const uint32_t size_bytes =
            function.size_bytes < left_bytes ? function.size_bytes : (uint32_t)left_bytes;

        added->function_count++;
        added->code_bytes += size_bytes;
        symbols_builder_begin(builder, (uint32_t)start, (uint32_t)start + size_bytes);
        if (!add_rows(sframe, &function, (uint32_t)start, size_bytes, builder)) {
            symbols_builder_refuse(builder);
            added->refused_count++;
        }
    }
}

void symbols_sframe_add(const struct symbols_elf *elf, const struct symbols_extent *section,
                        uint64_t text_vaddr, uint64_t text_bytes, struct symbols_builder *builder,
                        struct symbols_added *added)
{
    struct sframe sframe = {.machine = elf->machine, .section = *section};

    if (read_header(&sframe, &elf->image) &&
        symbols_window_open(&sframe.entries, &elf->image, section, WINDOW_BYTES) &&
        symbols_window_open(&sframe.rows, &elf->image, section, WINDOW_BYTES))
        add_functions(&sframe, text_vaddr, text_bytes, builder, added);
    symbols_window_close(&sframe.entries);
    symbols_window_close(&sframe.rows);
}
