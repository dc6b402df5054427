/*
 * symbols, inside - from frame descriptions to rows: entries, call frame instructions, rules, the rows that handlers search.
 *
 * For      symbols_sections.c, symbols_frames.c, symbols_cfa.c, symbols_usual.c, symbols_rows.c, and who holds or searches rows; tests; fuzz targets.
 * Context  any, dump, control, under the room's lock, unless a line says otherwise.
 * Memory   what is put together lies in mapped arenas, and stays there.
 */
#ifndef JW_SYMBOLS_SYMBOLS_FRAMES_INTERNAL_H
#define JW_SYMBOLS_SYMBOLS_FRAMES_INTERNAL_H

#include "symbols/symbols_internal.h"

/* -------- frames: symbols_frames.c (CIE, FDE), symbols_cfa.c (rules) ------------------------- */

enum symbols_rule_kind {
    SYMBOLS_RULE_GAP, /* no frame description covers this code */
    SYMBOLS_RULE_PLAIN,
    SYMBOLS_RULE_OUTERMOST,
    SYMBOLS_RULE_CANNOT,
};

/*
 * A rule in two words, so that equal rules are equal words:
 *
 *     offsets   63                    32 31                     0
 *               | fp_offset_bytes       | cfa_offset_bytes       |
 *     rest      | flags                 | return_offset_bytes    |
 *     flags     kind (2 bits), cfa_base (2), fp_place (2), return_place (2), is_cfa_loaded,
 *               is_signal_frame, is_return_signed, push byte of a lazy-binding stub (4), the kept register (8): 0 in its
 *               register still, 255 lost, else so many words below the CFA; other_register (5), is_cfa_raised
 *
 * Such a stub has 16 bytes; from its push byte on a word more lies on the stack. 0: no stub.
 */
struct symbols_packed {
    uint64_t offsets, rest;
};

struct symbols_packed symbols_rule_pack(enum symbols_rule_kind kind,
                                        const struct symbols_rule *rule, uint8_t stub_push_byte);
/* A rule of this kind that says no more; not for SYMBOLS_RULE_PLAIN. */
struct symbols_packed symbols_rule_bare(enum symbols_rule_kind kind);
JW_SIGNAL_SAFE enum symbols_rule_kind symbols_rule_unpack(struct symbols_packed packed,
                                                          struct symbols_rule *rule,
                                                          uint8_t *stub_push_byte);

/*
 * The rows of a library, by functions, which are sorted and do not overlap. A function of less than 64 KB has cells of
 * four bytes: how many rows and bytes it has, then its rows, rising from distance 0. A larger one, of which there are few,
 * has pairs of them: number of rows and bytes, then distance and rule. Offsets count from the first byte of the text.
 *
 *     cell      31              16 15               0
 *               | number of rows  | bytes of code    |
 *               | rule            | distance         |   each: from there to the next one, or the end
 *
 * Before each function there is a cell with its offset, by which they are sorted in the end; before a large one another one, SYMBOLS_LARGE.
 * Immutable once published; read by handlers.
 */
struct symbols_rows {
    uint64_t text_bytes;
    uint32_t row_count;
    uint32_t rule_count;
    uint64_t size_bytes; /* in memory */
    uint32_t frame_count;
    uint32_t frames_refused;
    uint64_t
        code_bytes; /* that functions were said to have; code that is told twice counts twice */
    uint32_t function_count; /* and one before them, of no length, at offset 0 */
    const struct symbols_packed *rules;
    const struct symbols_key *functions; /* value: first cell, with SYMBOLS_FUNCTION_IS_LARGE */
    const uint32_t *cells;
    const uint32_t *bucket_functions; /* last that begins before each bucket, or with it at most */
    struct jw_arena memory;           /* of cells and functions */
    uint64_t charged_bytes;           /* for it */
};

#define SYMBOLS_BUCKET_SHIFT      9 /* 512 bytes of code a bucket */
#define SYMBOLS_FUNCTION_IS_LARGE 0x80000000u
#define SYMBOLS_CELL_SHIFT        16
#define SYMBOLS_CELL_MASK         0xffffu

/* Rows for the code in [text_vaddr, text_vaddr + text_bytes); NULL and `err`. */
struct symbols_rows *symbols_rows_build(const struct symbols_elf *elf, uint64_t text_vaddr,
                                        uint64_t text_bytes, struct jw_error *err);
/*
 * The same, with what the library's debug file says beside; NULL: it has none. Of code that several sections describe .eh_frame is
 * believed, then .debug_frame; .sframe is read where both leave out more than half of the code.
 */
struct symbols_rows *symbols_rows_build_with(const struct symbols_elf *elf,
                                             const struct symbols_elf *debug, uint64_t text_vaddr,
                                             uint64_t text_bytes, struct jw_error *err);
/* Sections of a library, and of its debug file. */
enum {
    SYMBOLS_FRAMES_EH,
    SYMBOLS_FRAMES_DEBUG,
    SYMBOLS_FRAMES_SEPARATE,
    SYMBOLS_FRAMES_SFRAME,
    SYMBOLS_FRAMES_LIMIT
};

struct symbols_frame_section {
    struct symbols_image image;
    struct symbols_extent extent; /* size_bytes 0: none */
    unsigned char *unpacked;      /* what the image is, where it was compressed */
};

/* Finds them all, to close; how many bytes they have together. */
uint64_t symbols_frames_find(const struct symbols_elf *elf, const struct symbols_elf *debug,
                             struct symbols_frame_section *sections);
void symbols_frames_close(struct symbols_frame_section *sections);
/* The file itself has some description of its frames. */
bool symbols_frames_exist(const struct symbols_elf *elf);
/* Between these two what building takes is taken once for all libraries. Without memory for it each takes its own. */
void symbols_frames_begin(void);
void symbols_frames_end(void);
/* Less than half of the code is described, as far as is known. */
static inline bool symbols_is_sparse(uint64_t code_bytes, uint64_t text_bytes)
{
    return code_bytes < text_bytes / 2;
}
void symbols_rows_free(struct symbols_rows *rows); /* NULL is allowed */

/* handler: rule for a byte of the text. */
JW_SIGNAL_SAFE struct symbols_packed symbols_rows_find(const struct symbols_rows *rows,
                                                       uint64_t text_offset);

#define SYMBOLS_RULES_MAX                                                                          \
    4096 /* libjvm has about 400; the hash table over them stays in a near cache */
#define SYMBOLS_RULE_SLOTS (2 * SYMBOLS_RULES_MAX)

/* Different rules, for one library after the other. */
struct symbols_rule_table {
    struct symbols_packed rules[SYMBOLS_RULES_MAX];
    uint16_t slots[SYMBOLS_RULE_SLOTS]; /* hash table over rules: number + 1; 0: empty */
};

/* Rows under construction, function by function in the order in which the file has them. */
struct symbols_builder {
    struct jw_arena memory; /* cells; sorted functions behind them, at the end */
    uint32_t *cells;
    uint32_t cell_count, cell_limit;
    uint32_t function_count, function_limit;
    uint32_t start, length_bytes, first_cell, row_count, last_number; /* the function begun last */
    bool is_begun, is_large;
    struct symbols_rule_table *table;
    uint32_t rule_count, last_rule;
    uint64_t fixed_bytes;   /* of memlimit, whatever there is to be built */
    uint64_t charged_bytes; /* for what is touched by now */
    bool is_refused;        /* memlimit is reached: no rows come of it */
};

/* The table is the builder's until it is closed, and may be another one's afterwards. */
JW_MUST_CHECK bool symbols_builder_open(struct symbols_builder *builder,
                                        struct symbols_rule_table *table, uint64_t text_bytes,
                                        uint64_t section_bytes, struct jw_error *err);
void symbols_builder_close(struct symbols_builder *builder);
bool symbols_builder_pay(struct symbols_builder *builder, uint64_t needed_bytes);

/* Pays for what the builder is about to touch, so many more cells and the keys of all its functions included. */
static inline bool symbols_builder_charge(struct symbols_builder *builder, uint64_t cell_count)
{
    const uint64_t needed_bytes = builder->fixed_bytes +
                                  (builder->cell_count + cell_count) * sizeof(uint32_t) +
                                  (uint64_t)builder->function_count * sizeof(struct symbols_key);

    return needed_bytes <= builder->charged_bytes || symbols_builder_pay(builder, needed_bytes);
}

#define SYMBOLS_HEAD_CELLS   2 /* of a large function; a row of one has as many */
#define SYMBOLS_BEFORE_CELLS 2 /* its head, at most */
#define SYMBOLS_LARGE        0 /* where another function has its head, which is never 0 */

/* The function begun last is complete. */
void symbols_builder_end(struct symbols_builder *builder);

/* A function of less than 64 KB as a whole: room for its offset, its head and so many rows. NULL: not to be had. */
static inline uint32_t *symbols_builder_whole(struct symbols_builder *builder, uint64_t row_max)
{
    if (builder->is_begun)
        symbols_builder_end(builder);
    if (!symbols_builder_charge(builder, row_max + 2) ||
        row_max + 2 > builder->cell_limit - builder->cell_count ||
        builder->function_count >= builder->function_limit)
        return NULL;
    return builder->cells + builder->cell_count;
}

/* So many rows were filled behind the head. */
static inline void symbols_builder_took_whole(struct symbols_builder *builder, uint32_t *cells,
                                              uint32_t start, uint32_t length_bytes,
                                              uint32_t row_count)
{
    cells[0] = start;
    cells[1] = row_count << SYMBOLS_CELL_SHIFT | length_bytes;
    builder->cell_count += 2 + row_count;
    builder->function_count++;
}

/* A function from `start` to `end`; its rows follow, in rising order. */
void symbols_builder_begin(struct symbols_builder *builder, uint32_t start, uint32_t end);
/*
 * Room for the rows of the function begun last, which has none yet: so many cells. NULL: not to be had, or the function
 * is a large one.
 */
uint32_t *symbols_builder_room(struct symbols_builder *builder, uint64_t row_max);
/* So many of them were filled, rising from distance 0, no two in a row with the same rule. */
void symbols_builder_took(struct symbols_builder *builder, uint32_t row_count);
#define SYMBOLS_RULE_NUMBER_CANNOT 1
/* Number of a rule, for rows that are filled so; that of CANNOT where there are too many. */
uint32_t symbols_builder_rule(struct symbols_builder *builder, struct symbols_packed rule);
/* From this offset on the rule holds. */
void symbols_builder_add(struct symbols_builder *builder, uint32_t text_offset,
                         struct symbols_packed rule);
/* Drops the rows of the function begun last and says that it cannot be stepped. */
void symbols_builder_refuse(struct symbols_builder *builder);
/*
 * All functions in order, with their memory, which is the builder's no more; NULL and `err`. The builder stays the caller's
 * to close.
 */
struct symbols_rows *symbols_builder_finish(struct symbols_builder *builder, uint64_t text_bytes,
                                            struct jw_error *err);

/* What came of the sections so far. */
struct symbols_added {
    uint32_t function_count, refused_count;
    uint64_t code_bytes;
};

/* symbols_sframe.c: adds what .sframe says; one that is not understood adds nothing. */
void symbols_sframe_add(const struct symbols_elf *elf, const struct symbols_extent *section,
                        uint64_t text_vaddr, uint64_t text_bytes, struct symbols_builder *builder,
                        struct symbols_added *added);

/* symbols_inflate.c: the content of a compressed section, to free with jw_free; NULL: damaged, in another way than zlib's, too large, or
 * no memory. `is_legacy`: .zdebug_*. */
unsigned char *symbols_section_unpack(const struct symbols_image *image,
                                      const struct symbols_extent *extent, bool is_legacy,
                                      uint64_t *unpacked_bytes);
/* Unpacks to exactly so many bytes. */
JW_MUST_CHECK bool symbols_inflate(const unsigned char *packed, size_t packed_bytes,
                                   unsigned char *out, size_t out_bytes);

/* Common part of many frame descriptions. */
struct symbols_cie {
    uint64_t offset; /* in the section */
    uint64_t code_align;
    int64_t data_align;
    const unsigned char *program, *program_end;
    uint64_t return_register;
    uint8_t pointer_encoding;
    bool has_augmentation_data;
    bool is_signal_frame;
};

struct symbols_fde {
    const struct symbols_cie *cie;
    const unsigned char *program;
    uint64_t start_vaddr, size_bytes; /* of the code it describes */
    const unsigned char *program_end;
    const unsigned char *readable_end; /* bytes behind the program may be read up to here */
};

/* Where a register of the caller is, as the instructions of a frame description say. */
enum symbols_saved {
    SYMBOLS_SAVED_SAME,
    SYMBOLS_SAVED_UNDEFINED,
    SYMBOLS_SAVED_AT_CFA,
    SYMBOLS_SAVED_EXPRESSION,
    SYMBOLS_SAVED_OTHER
};

struct symbols_cfa_register {
    enum symbols_saved saved;
    int64_t offset_bytes;
    const unsigned char *expression;
    uint64_t expression_bytes;
};

struct symbols_cfa_state {
    uint64_t cfa_register;
    int64_t cfa_offset_bytes;
    const unsigned char *cfa_expression; /* NULL: register and offset */
    uint64_t cfa_expression_bytes;
    struct symbols_cfa_register fp, link, kept;
    struct symbols_cfa_register sp; /* told where it is not the CFA: code that changes stacks */
    bool is_return_signed;
};

/* The state after a CIE's own instructions. */
JW_MUST_CHECK bool symbols_cfa_initial(const struct symbols_machine *machine,
                                       const struct symbols_cie *cie,
                                       struct symbols_cfa_state *state);

/* Runs an FDE's instructions and adds its rows. False: not understood; what it added is to drop. */
JW_MUST_CHECK bool symbols_cfa_run(const struct symbols_machine *machine,
                                   const struct symbols_fde *fde,
                                   const struct symbols_cfa_state *initial, uint64_t text_vaddr,
                                   struct symbols_builder *builder);

/* What rule the state is, of a function with this CIE. */
struct symbols_packed symbols_cfa_rule(const struct symbols_machine *machine,
                                       const struct symbols_cie *cie,
                                       const struct symbols_cfa_state *state);

/* Call frame instructions; of the last three the two top bits, the rest is the operand. */
enum {
    SYMBOLS_CFA_NOP = 0x00,
    SYMBOLS_CFA_SET_LOC = 0x01,
    SYMBOLS_CFA_ADVANCE_LOC1 = 0x02,
    SYMBOLS_CFA_ADVANCE_LOC2 = 0x03,
    SYMBOLS_CFA_ADVANCE_LOC4 = 0x04,
    SYMBOLS_CFA_OFFSET_EXTENDED = 0x05,
    SYMBOLS_CFA_RESTORE_EXTENDED = 0x06,
    SYMBOLS_CFA_UNDEFINED = 0x07,
    SYMBOLS_CFA_SAME_VALUE = 0x08,
    SYMBOLS_CFA_REGISTER = 0x09,
    SYMBOLS_CFA_REMEMBER_STATE = 0x0a,
    SYMBOLS_CFA_RESTORE_STATE = 0x0b,
    SYMBOLS_CFA_DEF_CFA = 0x0c,
    SYMBOLS_CFA_DEF_CFA_REGISTER = 0x0d,
    SYMBOLS_CFA_DEF_CFA_OFFSET = 0x0e,
    SYMBOLS_CFA_DEF_CFA_EXPRESSION = 0x0f,
    SYMBOLS_CFA_EXPRESSION = 0x10,
    SYMBOLS_CFA_OFFSET_EXTENDED_SF = 0x11,
    SYMBOLS_CFA_DEF_CFA_SF = 0x12,
    SYMBOLS_CFA_DEF_CFA_OFFSET_SF = 0x13,
    SYMBOLS_CFA_VAL_OFFSET = 0x14,
    SYMBOLS_CFA_VAL_OFFSET_SF = 0x15,
    SYMBOLS_CFA_VAL_EXPRESSION = 0x16,
    /* On aarch64 it flips whether the return address is signed. Source: AADWARF64. */
    SYMBOLS_CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
    SYMBOLS_CFA_GNU_ARGS_SIZE = 0x2e,
    SYMBOLS_CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
    SYMBOLS_CFA_ADVANCE_LOC = 0x40,
    SYMBOLS_CFA_OFFSET = 0x80,
    SYMBOLS_CFA_RESTORE = 0xc0,
};

/* -------- the usual functions, fast: symbols_usual.c ----------------------------------------- */

#define SYMBOLS_USUAL_BITS 10
/* So many bytes behind a program can be read: the longest instruction, the first byte of which is the last of the program. */
#define SYMBOLS_USUAL_BEHIND 8
#define SYMBOLS_USUAL_ROWS   1 /* of a function, and one more for each byte of its program at most */

#define SYMBOLS_PROLOGUE_BITS 6
#define SYMBOLS_PROLOGUE_ROWS 4

/* What came of the first eight bytes of a program that ended with an instruction there. */
struct symbols_usual_prologue {
    uint64_t bytes, key; /* first state, and units of code */
    uint64_t word, last_word, location;
    uint32_t row_count;
    uint32_t cells[SYMBOLS_PROLOGUE_ROWS];
};

/* Rules of states that were met lately; zero-filled before it is opened. */
struct symbols_usual {
    const struct symbols_machine *machine;
    uint64_t masks[64]; /* where a register stands in the word of a state; 0: nowhere */
    uint8_t bits[64];   /* its lowest bit */
    uint8_t bases[64];  /* what a CFA by it is, of those that are usual */
    uint64_t words[1u << SYMBOLS_USUAL_BITS];
    uint32_t cells[1u << SYMBOLS_USUAL_BITS]; /* of the first byte of a function */
    struct symbols_usual_prologue prologues[1u << SYMBOLS_PROLOGUE_BITS];
};

/* What follows, up to `end`, is padding; SYMBOLS_USUAL_BEHIND bytes can be read. */
static inline bool symbols_usual_is_padding(const unsigned char *at, const unsigned char *end)
{
    const uint64_t left_bytes = (uint64_t)(end - at);
    uint64_t bytes;

    memcpy(&bytes, at, sizeof bytes);
    return left_bytes == 0 || (left_bytes <= sizeof bytes && bytes << (64 - 8 * left_bytes) == 0);
}

void symbols_usual_open(struct symbols_usual *usual, const struct symbols_machine *machine);
/* The first state of a CIE's functions as a word; 0: they are not usual. */
uint64_t symbols_usual_initial(const struct symbols_machine *machine, const struct symbols_cie *cie,
                               const struct symbols_cfa_state *state);
/* As symbols_cfa_run, from such a word. False: not usual, or less than SYMBOLS_USUAL_BEHIND bytes can be read behind it; nothing
 * was added. */
JW_MUST_CHECK bool symbols_usual_run(struct symbols_usual *usual, const struct symbols_fde *fde,
                                     uint64_t initial, struct symbols_builder *builder);
/* The same into cells that there is room for, of a function that is not large: how many; 0: not usual. */
uint32_t symbols_usual_rows(struct symbols_usual *usual, const struct symbols_fde *fde,
                            uint64_t initial, uint32_t *cells, struct symbols_builder *builder);

#endif
