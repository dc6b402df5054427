/* Texts in chains of blocks; handler. */
#include <string.h>

#include "arch/arch.h"
#include "ids/ids_internal.h"
#include "vm/vm_lines.h"
#include "vm/vm_method.h"

JW_SIGNAL_SAFE static struct ids_block *block_at(uint32_t block)
{
    return ids_pool_at(&ids_blocks, block);
}

static JW_SIGNAL_SAFE bool add_block(struct ids_writer *writer)
{
    const uint32_t block = ids_pool_take(&ids_blocks);

    if (block == 0)
        return false;
    jw_store_relaxed(&block_at(block)->next, 0);
    if (writer->last == 0)
        writer->first = block;
    else
        jw_store_relaxed(&block_at(writer->last)->next, block);
    writer->last = block;
    return true;
}

static JW_SIGNAL_SAFE void store_word(struct ids_writer *writer)
{
    const uint32_t at = (writer->length_bytes - 1) % IDS_BLOCK_BYTES / 4;

    jw_store_relaxed(&block_at(writer->last)->words[at], writer->word);
}

bool ids_text_put(struct ids_writer *writer, const void *bytes, uint32_t length_bytes)
{
    const unsigned char *from = bytes;

    for (uint32_t i = 0; i < length_bytes; i++) {
        if (writer->length_bytes % IDS_BLOCK_BYTES == 0 && !add_block(writer))
            return false;
        const uint32_t shift = writer->length_bytes % 4 * 8;
        writer->word = (shift == 0 ? 0 : writer->word) | (uint32_t)from[i] << shift;
        writer->length_bytes++;
        if (shift == 24)
            store_word(writer);
    }
    return true;
}

uint32_t ids_text_end(struct ids_writer *writer)
{
    if (writer->length_bytes % 4 != 0)
        store_word(writer);
    return writer->first;
}

void ids_text_drop(uint32_t first)
{
    while (first != 0) {
        const uint32_t next = jw_load_relaxed(&block_at(first)->next);

        ids_pool_give(&ids_blocks, first);
        first = next;
    }
}

/* Of a text whose life is over a block may be any number. */
static JW_SIGNAL_SAFE void go_on(struct ids_reader *reader)
{
    if (reader->block != 0 && reader->block < ids_blocks.limit)
        reader->block = jw_load_relaxed(&block_at(reader->block)->next);
    reader->at = 0;
}

struct ids_reader ids_text_begin(uint32_t first, uint32_t skip_bytes)
{
    struct ids_reader reader = {.block = first};

    for (; skip_bytes >= IDS_BLOCK_BYTES; skip_bytes -= IDS_BLOCK_BYTES)
        go_on(&reader);
    reader.at = skip_bytes;
    return reader;
}

unsigned char ids_text_next(struct ids_reader *reader)
{
    if (reader->at == IDS_BLOCK_BYTES)
        go_on(reader);
    if (reader->block == 0 || reader->block >= ids_blocks.limit)
        return 0;
    const uint32_t word = jw_load_relaxed(&block_at(reader->block)->words[reader->at / 4]);
    return (unsigned char)(word >> (reader->at++ % 4 * 8));
}

/* Four bytes at once, where they are one word. */
JW_SIGNAL_SAFE static inline bool next_word(struct ids_reader *reader, uint32_t *word)
{
    if (reader->at == IDS_BLOCK_BYTES)
        go_on(reader);
    if (reader->at % sizeof *word != 0 || reader->block == 0 || reader->block >= ids_blocks.limit)
        return false;
    *word = jw_load_relaxed(&block_at(reader->block)->words[reader->at / sizeof *word]);
    reader->at += sizeof *word;
    return true;
}

void ids_text_copy(uint32_t first, uint32_t skip_bytes, uint32_t length_bytes, struct ids_text *out)
{
    struct ids_reader reader = ids_text_begin(first, skip_bytes);

    out->length_bytes = length_bytes;
    if (out->bytes == NULL || out->room_bytes == 0)
        return;
    const size_t copied_bytes =
        length_bytes < out->room_bytes - 1 ? length_bytes : out->room_bytes - 1;
    for (size_t i = 0; i < copied_bytes;) {
        uint32_t word;

        if (copied_bytes - i >= sizeof word && next_word(&reader, &word)) {
            memcpy(out->bytes + i, &word, sizeof word);
            i += sizeof word;
        } else {
            out->bytes[i++] = (char)ids_text_next(&reader);
        }
    }
    out->bytes[copied_bytes] = '\0';
}

bool ids_text_put_name(struct ids_writer *writer, const struct vm_text *text,
                       uint32_t *length_bytes)
{
    unsigned char part[IDS_BLOCK_BYTES];
    const uint32_t all_bytes =
        text->length_bytes < IDS_TEXT_MAX_BYTES ? text->length_bytes : IDS_TEXT_MAX_BYTES;

    for (uint32_t at = 0; at < all_bytes; at += sizeof part) {
        const uint32_t bytes = all_bytes - at < sizeof part ? all_bytes - at : sizeof part;

        if (!safe_load_bytes(part, text->addr + at, bytes) || !ids_text_put(writer, part, bytes))
            return false;
    }
    *length_bytes = all_bytes;
    return true;
}

/* Bytes of `part` up to the end of the table, which it may hold: `has_end`. */
static JW_SIGNAL_SAFE uint32_t scan(struct vm_lines *lines, const unsigned char *part,
                                    uint32_t bytes, bool *has_end)
{
    for (uint32_t i = 0; i < bytes; i++) {
        *has_end = vm_lines_feed(lines, part[i]) == VM_LINES_END;
        if (*has_end)
            return i + 1;
    }
    return bytes;
}

bool ids_text_put_lines(struct ids_writer *writer, const struct vm_method *method, bool *is_whole)
{
    unsigned char part[IDS_BLOCK_BYTES];
    struct vm_lines lines = vm_lines_begin(vm_unsigned5_bias());
    const uint32_t most_bytes = method->line_table_bytes_max < IDS_LINES_MAX_BYTES
                                    ? method->line_table_bytes_max
                                    : IDS_LINES_MAX_BYTES;

    *is_whole = false;
    for (uint32_t at = 0; at < most_bytes && !*is_whole; at += sizeof part) {
        const uint32_t bytes = most_bytes - at < sizeof part ? most_bytes - at : sizeof part;

        if (!safe_load_bytes(part, method->line_table + at, bytes))
            return false;
        if (!ids_text_put(writer, part, scan(&lines, part, bytes, is_whole)))
            return false;
    }
    return true;
}

bool ids_text_is(uint32_t first, uint32_t skip_bytes, vm_addr addr, uint32_t length_bytes)
{
    struct ids_reader reader = ids_text_begin(first, skip_bytes);
    unsigned char part[IDS_BLOCK_BYTES];

    for (uint32_t at = 0; at < length_bytes; at += sizeof part) {
        const uint32_t bytes = length_bytes - at < sizeof part ? length_bytes - at : sizeof part;

        if (!safe_load_bytes(part, addr + at, bytes))
            return false;
        for (uint32_t i = 0; i < bytes; i++) {
            if (part[i] != ids_text_next(&reader))
                return false;
        }
    }
    return true;
}
