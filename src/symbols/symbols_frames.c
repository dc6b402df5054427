/*
 * From .eh_frame and .debug_frame to rows: reads common entries and those of functions, and lets
 * symbols_usual.c or symbols_cfa.c run each; any, dump, control.
 * Source: Linux Standard Base, Core, "Exception Frames" (.eh_frame, .eh_frame_hdr); DWARF 5, section 6.4.1 (.debug_frame).
 */
#include <elf.h>
#include <string.h>

#include "symbols/symbols_frames_internal.h"

#define EXTENDED_LENGTH       0xffffffffu
#define HEAD_MAX_BYTES        20  /* length in its long form, and id */
#define CIE_PROGRAM_MAX_BYTES 512 /* real ones have about ten; bounds the work of a crafted file */
#define CIE_CACHE_SIZE        64
#define CIE_WINDOW_BYTES      4096
#define WINDOW_BYTES          ((size_t)256 << 10) /* a longer entry is refused */
#define SECTION_MAX_BYTES     ((uint64_t)256 << 20)
#define QUICK_HEAD_BYTES      17 /* of an entry, up to its data */
#define PE_OMIT               0xff
#define PE_USUAL              0x1b /* from where it stands, four bytes with a sign */

struct symbols_cie_slot {
    struct symbols_cie cie;
    struct symbols_cfa_state initial;
    uint64_t usual_initial; /* 0: its functions are not usual */
    uint32_t initial_rule;  /* number of the first state's rule; 0: not asked for yet */
    bool is_filled, is_sound;
    bool is_quick; /* its functions are usual, and their entries are as most are: add_quickly */
    unsigned char program[CIE_PROGRAM_MAX_BYTES];
};

struct symbols_frames {
    const struct symbols_machine *machine;
    struct symbols_extent section;
    struct symbols_window entries, cie_entries; /* two, so that neither moves the other */
    bool is_debug; /* .debug_frame, which tells entries apart otherwise */
    struct symbols_added added;
    struct symbols_usual usual;
    struct symbols_rule_table rules;
    struct symbols_cie_slot cies[CIE_CACHE_SIZE];
};

/* Where the code is. */
struct symbols_text {
    uint64_t vaddr, size_bytes;
};

/* What a length field says; the cursor then stands at the id. */
struct symbols_entry_head {
    uint64_t offset;     /* of the length field */
    uint64_t id_offset;  /* of the id field */
    uint64_t cie_offset; /* of a function's common entry, in the section or outside */
    bool is_cie;
    uint64_t next_offset; /* 0: no entry here, the section ends */
};

/*
 * Reads the entry there; the cursor is failed where the entry is too long for the window. Both are filled field by field: this is
 * done for each function, and a copy of what was just written in pieces waits for all of them.
 */
static void read_head(const struct symbols_frames *frames, struct symbols_window *window,
                      uint64_t offset, struct symbols_entry_head *head,
                      struct symbols_cursor *cursor)
{
    const uint64_t left_bytes = frames->section.size_bytes - offset;
    const size_t head_bytes = left_bytes < HEAD_MAX_BYTES ? left_bytes : HEAD_MAX_BYTES;
    const unsigned char *bytes = symbols_window_at(window, offset, head_bytes);
    uint32_t length, id;

    head->next_offset = 0;
    cursor->at = cursor->end = NULL;
    cursor->is_failed = true;
    if (bytes == NULL || head_bytes < 4)
        return;
    memcpy(&length, bytes, 4);
    uint64_t length_bytes = length, id_distance = 4;
    if (length == EXTENDED_LENGTH && head_bytes == HEAD_MAX_BYTES) {
        memcpy(&length_bytes, bytes + 4, 8);
        id_distance = 12;
    }
    const unsigned id_bytes = frames->is_debug && id_distance > 4 ? 8 : 4;
    if (head_bytes < id_distance + id_bytes || length_bytes < id_bytes ||
        length_bytes > left_bytes - id_distance)
        return;
    const uint64_t id_offset = offset + id_distance;
    head->next_offset = id_offset + length_bytes;
    memcpy(&id, bytes + id_distance, 4);
    if (frames->is_debug) {
        head->cie_offset = id;
        if (id_bytes == 8)
            memcpy(&head->cie_offset, bytes + id_distance, 8);
        head->is_cie = head->cie_offset == (id_bytes == 8 ? UINT64_MAX : UINT32_MAX);
    } else {
        head->cie_offset = id_offset - id; /* less than nothing: behind the end */
        head->is_cie = id == 0;
    }

    bytes = symbols_window_at(window, id_offset, length_bytes);
    if (bytes == NULL)
        return;
    cursor->at = bytes + id_bytes;
    cursor->end = bytes + length_bytes;
    cursor->vaddr = frames->section.vaddr + id_offset + id_bytes;
    cursor->is_failed = false;
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
    struct symbols_entry_head head;

    read_head(frames, &frames->cie_entries, offset, &head, &cursor);
    *cie = (struct symbols_cie){.offset = offset};
    if (head.next_offset == 0 || !head.is_cie)
        return false;

    const uint64_t version = symbols_get_unsigned(&cursor, 1);
    const char *letters = (const char *)cursor.at;
    const size_t letters_bytes = strnlen(letters, symbols_cursor_left(&cursor));

    symbols_cursor_skip(&cursor, letters_bytes + 1);
    if (cursor.is_failed || (version != 1 && version != 3 && !(version == 4 && frames->is_debug)))
        return false;
    /* Addresses of eight bytes, in no segment. */
    if (version == 4 && symbols_get_unsigned(&cursor, 2) != 8)
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
    const uint64_t offset = head->cie_offset;

    if (offset >= frames->section.size_bytes)
        return NULL;
    struct symbols_cie_slot *slot = &frames->cies[offset / 8 % CIE_CACHE_SIZE];

    if (!slot->is_filled || slot->cie.offset != offset) {
        slot->is_filled = true;
        slot->initial_rule = 0;
        slot->is_sound = read_cie(frames, offset, slot) &&
                         symbols_cfa_initial(frames->machine, &slot->cie, &slot->initial);
        if (slot->is_sound)
            slot->usual_initial =
                symbols_usual_initial(frames->machine, &slot->cie, &slot->initial);
        slot->is_quick = slot->is_sound && slot->usual_initial != 0 && !frames->is_debug &&
                         slot->cie.pointer_encoding == PE_USUAL && slot->cie.has_augmentation_data;
    }
    return slot->is_sound ? slot : NULL;
}

/* The code of a function as far as it is the library's. False: linkers leave entries of code that they dropped, with no size or at
 * address 0. */
static inline bool clip(struct symbols_fde *fde, const struct symbols_text *text)
{
    const uint64_t start = fde->start_vaddr - text->vaddr; /* before it: beyond its end */

    if (start >= text->size_bytes || fde->size_bytes == 0)
        return false;
    if (fde->size_bytes > text->size_bytes - start)
        fde->size_bytes = text->size_bytes - start;
    return true;
}

static inline void count_function(struct symbols_frames *frames, const struct symbols_fde *fde)
{
    frames->added.function_count++;
    frames->added.code_bytes += fde->size_bytes;
}

/* Adds the rows of a function. False: not understood. */
static bool add_code(struct symbols_frames *frames, const struct symbols_cie_slot *slot,
                     const struct symbols_fde *fde, const struct symbols_text *text,
                     struct symbols_builder *builder)
{
    const uint64_t start = fde->start_vaddr - text->vaddr;

    symbols_builder_begin(builder, (uint32_t)start, (uint32_t)(start + fde->size_bytes));
    if (slot->usual_initial != 0 &&
        symbols_usual_run(&frames->usual, fde, slot->usual_initial, builder))
        return true;
    if (symbols_cfa_run(frames->machine, fde, &slot->initial, text->vaddr, builder))
        return true;
    symbols_builder_refuse(builder);
    return false;
}

/* The same of one function entry, whose id the cursor has passed. */
static bool add_function(struct symbols_frames *frames, const struct symbols_entry_head *head,
                         struct symbols_cursor *cursor, const struct symbols_text *text,
                         struct symbols_builder *builder)
{
    const struct symbols_window *window = &frames->entries;
    struct symbols_fde fde;
    const struct symbols_cie_slot *slot = find_cie(frames, head);

    if (slot == NULL)
        return false;
    fde.cie = &slot->cie;
    fde.start_vaddr = symbols_get_encoded(cursor, slot->cie.pointer_encoding, 0);
    fde.size_bytes = symbols_get_encoded(cursor, slot->cie.pointer_encoding & 0x0f, 0);
    if (slot->cie.has_augmentation_data)
        symbols_cursor_skip(cursor, symbols_get_uleb(cursor));
    if (cursor->is_failed)
        return false;
    fde.program = cursor->at;
    fde.program_end = cursor->end;
    fde.readable_end = window->bytes + window->filled_bytes;
    if (!clip(&fde, text))
        return true;
    count_function(frames, &fde);
    return add_code(frames, slot, &fde, text, builder);
}

/* The one row of a function whose state is the first one from begin to end; half of all are leaves. */
static inline uint32_t put_only_row(const struct symbols_frames *frames,
                                    struct symbols_cie_slot *slot, uint32_t *cell,
                                    struct symbols_builder *builder)
{
    if (slot->initial_rule == 0)
        slot->initial_rule = symbols_builder_rule(
            builder, symbols_cfa_rule(frames->machine, &slot->cie, &slot->initial));
    *cell = slot->initial_rule << SYMBOLS_CELL_SHIFT;
    return 1;
}

/* Adds the rows of a function that is expected to be usual, with so many bytes behind it as that takes. */
static inline void add_usual(struct symbols_frames *frames, struct symbols_cie_slot *slot,
                             const struct symbols_fde *fde, const struct symbols_text *text,
                             struct symbols_builder *builder)
{
    const uint64_t row_max = (uint64_t)(fde->program_end - fde->program) + SYMBOLS_USUAL_ROWS;
    uint32_t *cells =
        fde->size_bytes > SYMBOLS_CELL_MASK ? NULL : symbols_builder_whole(builder, row_max);
    uint32_t row_count = 0;

    count_function(frames, fde);
    if (cells != NULL)
        row_count =
            symbols_usual_is_padding(fde->program, fde->program_end)
                ? put_only_row(frames, slot, cells + 2, builder)
                : symbols_usual_rows(&frames->usual, fde, slot->usual_initial, cells + 2, builder);
    if (row_count > 0)
        symbols_builder_took_whole(builder, cells, (uint32_t)(fde->start_vaddr - text->vaddr),
                                   (uint32_t)fde->size_bytes, row_count);
    else if (!add_code(frames, slot, fde, text, builder))
        frames->added.refused_count++;
}

/*
 * The same, at once, of entries as nearly all are: of 32 bits, with a common entry that is known, and as a whole in the window. Stops at
 * the first one that is another; returns where that is.
 *
 *     length (4) | distance back to the common entry (4) | start of the code from here (4) | size (4) | bytes of data (1) | data | program
 */
static uint64_t add_quickly(struct symbols_frames *frames, uint64_t offset,
                            const struct symbols_text *text, struct symbols_builder *builder)
{
    const struct symbols_window *window = &frames->entries;
    const uint64_t inside = offset - window->start;
    const uint64_t text_distance = frames->section.vaddr - text->vaddr; /* from there to there */
    struct symbols_cie_slot *slot = &frames->cies[0];

    if (inside > window->filled_bytes)
        return offset;
    const unsigned char *const end = window->bytes + window->filled_bytes;
    const unsigned char *entry = window->bytes + inside;

    while (end - entry >= QUICK_HEAD_BYTES) {
        uint32_t length, id_distance;
        int32_t start_distance, size_bytes;

        memcpy(&length, entry, 4);
        memcpy(&id_distance, entry + 4, 4);
        memcpy(&start_distance, entry + 8, 4);
        memcpy(&size_bytes, entry + 12, 4);
        const uint64_t cie_offset = offset + 4 - id_distance, data_bytes = entry[16];

        if (slot->cie.offset != cie_offset)
            slot = &frames->cies[cie_offset / 8 % CIE_CACHE_SIZE];
        if ((uint64_t)(end - entry) < length + 4 + (uint64_t)SYMBOLS_USUAL_BEHIND ||
            length + 4 < QUICK_HEAD_BYTES + data_bytes || data_bytes >= 0x80 || id_distance == 0 ||
            !slot->is_quick || slot->cie.offset != cie_offset)
            break;
        const uint64_t start = text_distance + offset + 8 + (uint64_t)(int64_t)start_distance;
        struct symbols_fde fde = {.cie = &slot->cie,
                                  .start_vaddr = text->vaddr + start,
                                  .size_bytes = (uint64_t)(int64_t)size_bytes,
                                  .program = entry + QUICK_HEAD_BYTES + data_bytes,
                                  .program_end = entry + 4 + length,
                                  .readable_end = end};

        offset += length + 4;
        entry += length + 4;
        if (clip(&fde, text))
            add_usual(frames, slot, &fde, text, builder);
    }
    return offset;
}

/* Goes through the section entry by entry, up to its terminator, its end or its first damage. */
static void add_functions(struct symbols_frames *frames, const struct symbols_text *text,
                          struct symbols_builder *builder)
{
    struct symbols_cursor cursor;
    struct symbols_entry_head head;
    uint64_t offset = 0;

    for (;;) {
        offset = add_quickly(frames, offset, text, builder);
        read_head(frames, &frames->entries, offset, &head, &cursor);
        if (head.next_offset == 0)
            return;
        if (!head.is_cie && !add_function(frames, &head, &cursor, text, builder))
            frames->added.refused_count++;
        offset = head.next_offset;
    }
}

/* Lets a window show a section, in the memory that it has if that is enough. */
static bool show(struct symbols_window *window, const struct symbols_frame_section *section,
                 size_t capacity_bytes)
{
    const uint64_t section_bytes = section->extent.size_bytes;
    const uint64_t needed_bytes = section_bytes < capacity_bytes ? section_bytes : capacity_bytes;

    if (window->bytes == NULL || window->capacity_bytes < needed_bytes) {
        symbols_window_close(window);
        return symbols_window_open(window, &section->image, &section->extent, capacity_bytes);
    }
    window->image = &section->image;
    window->extent = section->extent;
    window->filled_bytes = 0;
    window->start = 0;
    return true;
}

/* Adds what one section with entries of DWARF says. False: no memory. */
static bool add_section(struct symbols_frames *frames, const struct symbols_frame_section *section,
                        bool is_debug, const struct symbols_text *text,
                        struct symbols_builder *builder)
{
    frames->section = section->extent;
    frames->is_debug = is_debug;
    for (unsigned i = 0; i < CIE_CACHE_SIZE; i++)
        frames->cies[i].is_filled = frames->cies[i].is_quick = false;
    const bool is_open = show(&frames->entries, section, WINDOW_BYTES) &&
                         show(&frames->cie_entries, section, CIE_WINDOW_BYTES);

    if (is_open)
        add_functions(frames, text, builder);
    return is_open;
}

static struct symbols_frames
    *kept; /* between symbols_frames_begin and _end; under the room's lock */

static void close_frames(struct symbols_frames *frames)
{
    if (frames == NULL || frames == kept)
        return;
    symbols_window_close(&frames->entries);
    symbols_window_close(&frames->cie_entries);
    jw_free(frames);
}

void symbols_frames_begin(void)
{
    kept = jw_alloc(sizeof *kept);
}

void symbols_frames_end(void)
{
    struct symbols_frames *frames = kept;

    kept = NULL;
    close_frames(frames);
}

static struct symbols_frames *open_frames(const struct symbols_machine *machine)
{
    struct symbols_frames *frames = kept != NULL ? kept : jw_alloc(sizeof *frames);

    if (frames == NULL)
        return NULL;
    frames->machine = machine;
    frames->added = (struct symbols_added){0};
    memset(&frames->usual, 0, sizeof frames->usual); /* numbers of rules are a library's own */
    symbols_usual_open(&frames->usual, machine);
    return frames;
}

static struct symbols_rows *build(const struct symbols_elf *elf,
                                  const struct symbols_frame_section *sections,
                                  uint64_t section_bytes, uint64_t text_vaddr, uint64_t text_bytes,
                                  struct jw_error *err)
{
    struct symbols_rows *rows = NULL;
    const struct symbols_text text = {text_vaddr, text_bytes};
    struct symbols_builder builder;
    struct symbols_frames *frames = open_frames(elf->machine);
    bool is_done = frames != NULL;

    if (!is_done ||
        !symbols_builder_open(&builder, &frames->rules, text_bytes, section_bytes, err)) {
        if (!is_done)
            jw_error_set(err, "out of memory for reading descriptions of frames");
        close_frames(frames);
        return NULL;
    }
    for (unsigned i = SYMBOLS_FRAMES_EH; i < SYMBOLS_FRAMES_SFRAME; i++)
        if (is_done && sections[i].extent.size_bytes > 0)
            is_done = add_section(frames, &sections[i], i != SYMBOLS_FRAMES_EH, &text, &builder);
    if (sections[SYMBOLS_FRAMES_SFRAME].extent.size_bytes > 0 &&
        symbols_is_sparse(frames->added.code_bytes, text_bytes))
        symbols_sframe_add(elf, &sections[SYMBOLS_FRAMES_SFRAME].extent, text_vaddr, text_bytes,
                           &builder, &frames->added);
    if (is_done)
        rows = symbols_builder_finish(&builder, text_bytes, err);
    else
        jw_error_set(err, "out of memory for reading descriptions of frames");
    if (rows != NULL) {
        rows->frame_count = frames->added.function_count;
        rows->frames_refused = frames->added.refused_count;
        rows->code_bytes = frames->added.code_bytes;
    }
    symbols_builder_close(&builder);
    close_frames(frames);
    return rows;
}

struct symbols_rows *symbols_rows_build_with(const struct symbols_elf *elf,
                                             const struct symbols_elf *debug, uint64_t text_vaddr,
                                             uint64_t text_bytes, struct jw_error *err)
{
    struct symbols_frame_section sections[SYMBOLS_FRAMES_LIMIT];
    struct symbols_rows *rows = NULL;
    const uint64_t section_bytes = symbols_frames_find(elf, debug, sections);

    if (section_bytes == 0)
        jw_error_set(
            err, "neither .eh_frame nor .debug_frame nor .sframe; its frames cannot be stepped");
    else if (section_bytes > SECTION_MAX_BYTES)
        jw_error_set(err, "descriptions of frames of %llu bytes",
                     (unsigned long long)section_bytes);
    else
        rows = build(elf, sections, section_bytes, text_vaddr, text_bytes, err);
    symbols_frames_close(sections);
    return rows;
}

struct symbols_rows *symbols_rows_build(const struct symbols_elf *elf, uint64_t text_vaddr,
                                        uint64_t text_bytes, struct jw_error *err)
{
    return symbols_rows_build_with(elf, NULL, text_vaddr, text_bytes, err);
}
