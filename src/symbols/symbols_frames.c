/*
 * From .eh_frame to rows: finds the section, reads its common and its function entries and lets
 * symbols_cfa.c run each; any, dump, control.
 * Source: Linux Standard Base, Core, "Exception Frames" (.eh_frame, .eh_frame_hdr).
 */
#include <elf.h>
#include <string.h>

#include "symbols/symbols_frames_internal.h"

#define EXTENDED_LENGTH       0xffffffffu
#define HEAD_MAX_BYTES        16  /* length in its long form, and id */
#define CIE_PROGRAM_MAX_BYTES 512 /* real ones have about ten; bounds the work of a crafted file */
#define CIE_CACHE_SIZE        64
#define CIE_WINDOW_BYTES      4096
#define WINDOW_BYTES          ((size_t)256 << 10) /* a longer entry is refused */
#define SECTION_MAX_BYTES     ((uint64_t)256 << 20)
#define PE_OMIT               0xff
#define PE_USUAL              0x1b /* from where it stands, four bytes with a sign */

struct symbols_cie_slot {
    struct symbols_cie cie;
    struct symbols_cfa_state initial;
    uint64_t usual_initial; /* 0: its functions are not usual */
    bool is_filled, is_sound;
    unsigned char program[CIE_PROGRAM_MAX_BYTES];
};

struct symbols_frames {
    const struct symbols_machine *machine;
    struct symbols_extent section;
    struct symbols_window entries, cie_entries; /* two, so that neither moves the other */
    uint32_t function_count, refused_count;
    struct symbols_usual usual;
    struct symbols_cie_slot cies[CIE_CACHE_SIZE];
};

/* What a length field says; the cursor then stands at the id. */
struct symbols_entry_head {
    uint64_t offset;      /* of the length field */
    uint64_t id_offset;   /* of the id field */
    uint64_t id;          /* 0: a CIE; else how far before the id field its CIE begins */
    uint64_t next_offset; /* 0: no entry here, the section ends */
};

/* Reads the entry there; the cursor is failed where the entry is too long for the window. */
static struct symbols_entry_head read_head(const struct symbols_frames *frames,
                                           struct symbols_window *window, uint64_t offset,
                                           struct symbols_cursor *cursor)
{
    struct symbols_entry_head head = {.offset = offset};
    const uint64_t left_bytes = frames->section.size_bytes - offset;
    const size_t head_bytes = left_bytes < HEAD_MAX_BYTES ? left_bytes : HEAD_MAX_BYTES;
    const unsigned char *bytes = symbols_window_at(window, offset, head_bytes);
    uint32_t length, id;

    *cursor = (struct symbols_cursor){.is_failed = true};
    if (bytes == NULL || head_bytes < 4)
        return head;
    memcpy(&length, bytes, 4);
    uint64_t length_bytes = length, id_distance = 4;
    if (length == EXTENDED_LENGTH && head_bytes == HEAD_MAX_BYTES) {
        memcpy(&length_bytes, bytes + 4, 8);
        id_distance = 12;
    }
    if (head_bytes < id_distance + 4 || length_bytes < 4 || length_bytes > left_bytes - id_distance)
        return head;
    memcpy(&id, bytes + id_distance, 4);
    head.id = id;
    head.id_offset = offset + id_distance;
    head.next_offset = head.id_offset + length_bytes;

    bytes = symbols_window_at(window, head.id_offset, length_bytes);
    if (bytes != NULL)
        *cursor = symbols_cursor_of(bytes + 4, length_bytes - 4,
                                    frames->section.vaddr + head.id_offset + 4);
    return head;
}

/* The letters of an augmentation and the data that belong to them. */
static bool read_augmentation(struct symbols_cursor *cursor, const char *letters,
                              struct symbols_cie *cie)
{
    if (letters[0] == '\0')
        return true;
    if (letters[0] != 'z')
        return false;

    const uint64_t data_bytes = symbols_get_uleb(cursor);
    if (data_bytes > symbols_cursor_left(cursor))
        return false;

    const unsigned char *program = cursor->at + data_bytes;
    cie->has_augmentation_data = true;
    for (const char *letter = letters + 1; *letter != '\0'; letter++) {
        switch (*letter) {
        case 'R':
            cie->pointer_encoding = (uint8_t)symbols_get_unsigned(cursor, 1);
            break;
        case 'L':
            (void)symbols_get_unsigned(cursor, 1);
            break;
        case 'P': {
            const uint8_t encoding = (uint8_t)symbols_get_unsigned(cursor, 1);
            if (encoding != PE_OMIT)
                (void)symbols_get_encoded(cursor, encoding & 0x0f, 0);
            break;
        }
        case 'S':
            cie->is_signal_frame = true;
            break;
        case 'B': /* aarch64: signed with the other key; stripping does not care */
        case 'G': /* aarch64: memory tags */
            break;
        default:
            return false;
        }
    }
    if (cursor->is_failed || cursor->at > program)
        return false;
    symbols_cursor_skip(cursor, (uint64_t)(program - cursor->at));
    return !cursor->is_failed;
}

static bool read_cie(struct symbols_frames *frames, uint64_t offset, struct symbols_cie_slot *slot)
{
    struct symbols_cursor cursor;
    struct symbols_cie *cie = &slot->cie;
    const struct symbols_entry_head head = read_head(frames, &frames->cie_entries, offset, &cursor);

    *cie = (struct symbols_cie){.offset = offset};
    if (head.next_offset == 0 || head.id != 0)
        return false;

    const uint64_t version = symbols_get_unsigned(&cursor, 1);
    const char *letters = (const char *)cursor.at;
    const size_t letters_bytes = strnlen(letters, symbols_cursor_left(&cursor));

    symbols_cursor_skip(&cursor, letters_bytes + 1);
    if (cursor.is_failed || (version != 1 && version != 3))
        return false;
    cie->code_align = symbols_get_uleb(&cursor);
    cie->data_align = symbols_get_sleb(&cursor);
    cie->return_register =
        version == 1 ? symbols_get_unsigned(&cursor, 1) : symbols_get_uleb(&cursor);
    if (!read_augmentation(&cursor, letters, cie) || cursor.is_failed ||
        symbols_cursor_left(&cursor) > sizeof slot->program)
        return false;
    memcpy(slot->program, cursor.at, symbols_cursor_left(&cursor));
    cie->program = slot->program;
    cie->program_end = slot->program + symbols_cursor_left(&cursor);
    return true;
}

/* The CIE of an entry, parsed once while it stays in the cache; NULL: unsound. */
static const struct symbols_cie_slot *find_cie(struct symbols_frames *frames,
                                               const struct symbols_entry_head *head)
{
    if (head->id > head->id_offset)
        return NULL;

    const uint64_t offset = head->id_offset - head->id;
    struct symbols_cie_slot *slot = &frames->cies[offset / 8 % CIE_CACHE_SIZE];

    if (!slot->is_filled || slot->cie.offset != offset) {
        slot->is_filled = true;
        slot->is_sound = read_cie(frames, offset, slot) &&
                         symbols_cfa_initial(frames->machine, &slot->cie, &slot->initial);
        if (slot->is_sound)
            slot->usual_initial =
                symbols_usual_initial(frames->machine, &slot->cie, &slot->initial);
    }
    return slot->is_sound ? slot : NULL;
}

/* Adds the rows of one function entry, whose id the cursor has passed. False: not understood. */
static bool add_function(struct symbols_frames *frames, const struct symbols_entry_head *head,
                         struct symbols_cursor *cursor, uint64_t text_vaddr, uint64_t text_bytes,
                         struct symbols_builder *builder)
{
    struct symbols_fde fde;
    const struct symbols_cie_slot *slot = find_cie(frames, head);

    if (slot == NULL)
        return false;
    fde.cie = &slot->cie;
    if (slot->cie.pointer_encoding == PE_USUAL && symbols_cursor_left(cursor) >= 8) {
        int32_t numbers[2];

        memcpy(numbers, cursor->at, sizeof numbers);
        fde.start_vaddr = cursor->vaddr + (uint64_t)(int64_t)numbers[0];
        fde.size_bytes = (uint64_t)(int64_t)numbers[1];
        symbols_cursor_skip(cursor, sizeof numbers);
    } else {
        fde.start_vaddr = symbols_get_encoded(cursor, slot->cie.pointer_encoding, 0);
        fde.size_bytes = symbols_get_encoded(cursor, slot->cie.pointer_encoding & 0x0f, 0);
    }
    if (slot->cie.has_augmentation_data)
        symbols_cursor_skip(cursor, symbols_get_uleb(cursor));
    if (cursor->is_failed)
        return false;
    /* Linkers leave entries of code that they dropped, with no size or at address 0. */
    if (fde.start_vaddr < text_vaddr || fde.start_vaddr - text_vaddr >= text_bytes ||
        fde.size_bytes == 0)
        return true;

    const uint64_t start = fde.start_vaddr - text_vaddr;
    if (fde.size_bytes > text_bytes - start)
        fde.size_bytes = text_bytes - start;
    fde.program = cursor->at;
    fde.program_end = cursor->end;
    frames->function_count++;
    symbols_builder_begin(builder, (uint32_t)start, (uint32_t)(start + fde.size_bytes));
    if (slot->usual_initial != 0 &&
        symbols_usual_run(&frames->usual, &fde, slot->usual_initial, builder))
        return true;
    if (symbols_cfa_run(frames->machine, &fde, &slot->initial, text_vaddr, builder))
        return true;
    symbols_builder_refuse(builder);
    return false;
}

/* Goes through the section entry by entry, up to its terminator, its end or its first damage. */
static void add_functions(struct symbols_frames *frames, uint64_t text_vaddr, uint64_t text_bytes,
                          struct symbols_builder *builder)
{
    struct symbols_cursor cursor;
    struct symbols_entry_head head = read_head(frames, &frames->entries, 0, &cursor);

    while (head.next_offset != 0) {
        if (head.id != 0 && !add_function(frames, &head, &cursor, text_vaddr, text_bytes, builder))
            frames->refused_count++;
        head = read_head(frames, &frames->entries, head.next_offset, &cursor);
    }
}

/* .eh_frame by the name of its section, or by the header that the unwinder of the C++ run time uses. */
static bool find_frames(const struct symbols_elf *elf, struct symbols_extent *out)
{
    unsigned char bytes[4 + 8];
    struct symbols_extent header;

    if (symbols_elf_find_section(elf, SHT_NULL, ".eh_frame", out) && out->size_bytes > 0)
        return true;
    if (elf->frame_header.file_bytes < sizeof bytes ||
        !symbols_elf_at_vaddr(elf, elf->frame_header.vaddr, &header) ||
        !symbols_image_read(&elf->image, header.offset, bytes, sizeof bytes) || bytes[0] != 1)
        return false;

    struct symbols_cursor cursor =
        symbols_cursor_of(bytes + 4, sizeof bytes - 4, elf->frame_header.vaddr + 4);
    const uint64_t vaddr = symbols_get_encoded(&cursor, bytes[1], elf->frame_header.vaddr);

    return !cursor.is_failed && symbols_elf_at_vaddr(elf, vaddr, out);
}

static bool open_frames(struct symbols_frames *frames, const struct symbols_elf *elf,
                        struct jw_error *err)
{
    if (!find_frames(elf, &frames->section)) {
        jw_error_set(err, "no .eh_frame; its frames cannot be stepped");
        return false;
    }
    if (frames->section.size_bytes > SECTION_MAX_BYTES) {
        jw_error_set(err, "an .eh_frame of %llu bytes",
                     (unsigned long long)frames->section.size_bytes);
        return false;
    }
    frames->machine = elf->machine;
    symbols_usual_open(&frames->usual, elf->machine);
    if (symbols_window_open(&frames->entries, &elf->image, &frames->section, WINDOW_BYTES) &&
        symbols_window_open(&frames->cie_entries, &elf->image, &frames->section, CIE_WINDOW_BYTES))
        return true;
    jw_error_set(err, "out of memory for reading .eh_frame");
    return false;
}

static void close_frames(struct symbols_frames *frames)
{
    symbols_window_close(&frames->entries);
    symbols_window_close(&frames->cie_entries);
    jw_free(frames);
}

struct symbols_rows *symbols_rows_build(const struct symbols_elf *elf, uint64_t text_vaddr,
                                        uint64_t text_bytes, struct jw_error *err)
{
    struct symbols_rows *rows = NULL;
    struct symbols_builder builder;
    struct symbols_frames *frames = jw_alloc(sizeof *frames);

    if (frames == NULL) {
        jw_error_set(err, "out of memory for reading .eh_frame");
        return NULL;
    }
    if (!open_frames(frames, elf, err) ||
        !symbols_builder_open(&builder, text_bytes, frames->section.size_bytes, err)) {
        close_frames(frames);
        return NULL;
    }
    add_functions(frames, text_vaddr, text_bytes, &builder);
    rows = symbols_builder_finish(&builder, text_bytes, err);
    if (rows != NULL) {
        rows->frame_count = frames->function_count;
        rows->frames_refused = frames->refused_count;
    }
    symbols_builder_close(&builder);
    close_frames(frames);
    return rows;
}
