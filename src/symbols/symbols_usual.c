/*
 * The usual functions, which are nearly all: a CFA at a known distance from a stack or frame pointer, and registers saved below it.
 * Their state is one word, so that a row costs a look into a small table; whatever else occurs is left to
 * symbols_cfa.c, which also says what rule a word is, so that both make the same rows. Any, dump, control.
 * Source: DWARF 5, section 6.4.2.
 */
#include <string.h>

#include "symbols/symbols_frames_internal.h"

/*
 *     state     63   58        50         42         34    32                 0
 *               | 1 |  s | kept   | return  | fp      | base | cfa_offset_bytes |
 *
 *     kept, return, fp   0: in its register still; else so many words below the CFA
 *     s                  the return address is signed
 */
#define WORD_BYTES      8
#define BASE_BIT        32
#define FP_BIT          34
#define RETURN_BIT      42
#define KEPT_BIT        50
#define SIGNED_BIT      58
#define ALIGN_BIT       59                  /* only where a prologue is compared */
#define USED            ((uint64_t)1 << 63) /* so that no state is zero */
#define SAVED_MASK      0xffu
#define BASE_MASK       3u
#define OFFSET_MASK     0xffffffffu
#define OFFSET_MAX      (INT32_MAX / 2)
#define CODE_ALIGN_MAX  16
#define REMEMBERED_MAX  8
#define OPERATION_SHIFT 6
#define OPERAND_MASK    0x3fu
#define NUMBER_MASK     0x7fu /* of a number of one byte */
#define NOT_USUAL       0xff
#define INLINE          inline __attribute__((always_inline))

enum { OPERATION_OTHER, OPERATION_ADVANCE, OPERATION_OFFSET, OPERATION_RESTORE };

static uint64_t word_of(const struct symbols_cfa_register *reg, bool *is_usual)
{
    const int64_t words = -reg->offset_bytes / WORD_BYTES;

    if (reg->saved == SYMBOLS_SAVED_SAME)
        return 0;
    *is_usual &= reg->saved == SYMBOLS_SAVED_AT_CFA && reg->offset_bytes % WORD_BYTES == 0 &&
                 words > 0 && words <= (int64_t)SAVED_MASK;
    return (uint64_t)words & SAVED_MASK;
}

static uint8_t base_of(const struct symbols_machine *machine, uint64_t number)
{
    if (number == machine->sp_register)
        return SYMBOLS_BASE_SP;
    if (number == machine->fp_register)
        return SYMBOLS_BASE_FP;
    return number == machine->kept_register ? SYMBOLS_BASE_KEPT : NOT_USUAL;
}

uint64_t symbols_usual_initial(const struct symbols_machine *machine, const struct symbols_cie *cie,
                               const struct symbols_cfa_state *state)
{
    bool is_usual = cie->data_align == -WORD_BYTES && cie->code_align > 0 &&
                    cie->code_align <= CODE_ALIGN_MAX && !cie->is_signal_frame &&
                    cie->return_register == machine->return_register &&
                    state->cfa_expression == NULL && state->cfa_offset_bytes >= 0 &&
                    state->cfa_offset_bytes <= OFFSET_MAX && state->sp.saved == SYMBOLS_SAVED_SAME;
    const uint8_t base = base_of(machine, state->cfa_register);
    const uint64_t word =
        USED | (uint64_t)state->cfa_offset_bytes | (uint64_t)(base & BASE_MASK) << BASE_BIT |
        word_of(&state->fp, &is_usual) << FP_BIT | word_of(&state->link, &is_usual) << RETURN_BIT |
        word_of(&state->kept, &is_usual) << KEPT_BIT |
        (uint64_t)state->is_return_signed << SIGNED_BIT;

    return is_usual && base != NOT_USUAL ? word : 0;
}

static struct symbols_cfa_register register_of(uint64_t word, unsigned bit)
{
    const int64_t words = (int64_t)(word >> bit & SAVED_MASK);

    if (words == 0)
        return (struct symbols_cfa_register){.saved = SYMBOLS_SAVED_SAME};
    return (struct symbols_cfa_register){.saved = SYMBOLS_SAVED_AT_CFA,
                                         .offset_bytes = -words * WORD_BYTES};
}

/* The rule of a state that was not met lately; false: there is none that says it. */
static __attribute__((noinline)) bool learn(struct symbols_usual *usual,
                                            const struct symbols_cie *cie, uint64_t word,
                                            uint64_t slot, struct symbols_builder *builder)
{
    const struct symbols_machine *machine = usual->machine;
    const uint8_t registers[] = {machine->sp_register, machine->fp_register,
                                 machine->kept_register};
    const struct symbols_cfa_state state = {.cfa_register = registers[word >> BASE_BIT & BASE_MASK],
                                            .cfa_offset_bytes = (int64_t)(word & OFFSET_MASK),
                                            .fp = register_of(word, FP_BIT),
                                            .link = register_of(word, RETURN_BIT),
                                            .kept = register_of(word, KEPT_BIT),
                                            .is_return_signed = (word >> SIGNED_BIT & 1) != 0};
    const uint32_t rule = symbols_builder_rule(builder, symbols_cfa_rule(machine, cie, &state));

    if (rule == SYMBOLS_RULE_NUMBER_CANNOT || (word & USED) == 0)
        return false;
    usual->words[slot] = word;
    usual->cells[slot] = rule << SYMBOLS_CELL_SHIFT;
    return true;
}

/* A row of this state, from `location` on. Two states have two rules. */
static INLINE bool put_row(struct symbols_usual *usual, uint32_t *cell,
                           const struct symbols_cie *cie, uint64_t word, uint64_t location,
                           struct symbols_builder *builder)
{
    const uint64_t slot = word * 0x9e3779b97f4a7c15u >> (64 - SYMBOLS_USUAL_BITS);

    if (__builtin_expect(usual->words[slot] != word, 0) && !learn(usual, cie, word, slot, builder))
        return false;
    *cell = usual->cells[slot] | (uint32_t)location;
    return true;
}

static void follow(struct symbols_usual *usual, uint8_t number, unsigned bit)
{
    usual->bits[number] = (uint8_t)bit;
    usual->masks[number] = (uint64_t)SAVED_MASK << bit;
}

void symbols_usual_open(struct symbols_usual *usual, const struct symbols_machine *machine)
{
    usual->machine = machine;
    memset(usual->bases, NOT_USUAL, sizeof usual->bases);
    usual->bases[machine->sp_register] = SYMBOLS_BASE_SP;
    usual->bases[machine->fp_register] = SYMBOLS_BASE_FP;
    usual->masks[machine->sp_register] = USED; /* where it is saved, no rule says the state */
    follow(usual, machine->fp_register, FP_BIT);
    follow(usual, machine->return_register, RETURN_BIT);
    if (machine->kept_register == SYMBOLS_NO_REGISTER)
        return;
    usual->bases[machine->kept_register] = SYMBOLS_BASE_KEPT;
    follow(usual, machine->kept_register, KEPT_BIT);
}

/* A number of at most three bytes; false: longer. */
static INLINE bool get_short(const unsigned char **at, uint32_t *value)
{
    const unsigned char *bytes = *at;

    *value = bytes[0];
    *at = bytes + 1;
    if (__builtin_expect(bytes[0] < 0x80, 1))
        return true;
    *value = (bytes[0] & 0x7fu) | (bytes[1] & 0x7fu) << 7;
    *at = bytes + 2;
    if (bytes[1] < 0x80)
        return true;
    *value |= (uint32_t)bytes[2] << 14;
    *at = bytes + 3;
    return bytes[2] < 0x80;
}

/*
 * One function under way. All that uses it is inlined, so that it lies in registers. Programs are short and differ, so that what
 * costs most is a branch that was not foreseen: there are few.
 */
struct usual_run {
    uint64_t word;
    const unsigned char *at;
};

/* A register is so many words below the CFA, or where it was at first; of one that is not followed the mask is 0. */
static INLINE bool step_register(const struct symbols_usual *usual, struct usual_run *run,
                                 uint64_t initial, unsigned instruction)
{
    const unsigned number = instruction & OPERAND_MASK;
    const uint64_t mask = usual->masks[number];
    uint64_t saved = initial;

    if (instruction < SYMBOLS_CFA_RESTORE) {
        uint32_t words;

        if (!get_short(&run->at, &words) || (words - 1 >= SAVED_MASK && mask != 0))
            return false;
        saved = (uint64_t)words << usual->bits[number];
    }
    run->word = (run->word & ~mask) | (saved & mask);
    return true;
}

static INLINE bool set_base(const struct symbols_usual *usual, struct usual_run *run)
{
    uint32_t number;

    if (!get_short(&run->at, &number) || number > OPERAND_MASK || usual->bases[number] == NOT_USUAL)
        return false;
    run->word = (run->word & ~((uint64_t)BASE_MASK << BASE_BIT)) | (uint64_t)usual->bases[number]
                                                                       << BASE_BIT;
    return true;
}

static INLINE bool set_offset(struct usual_run *run)
{
    uint32_t offset_bytes;

    if (!get_short(&run->at, &offset_bytes))
        return false;
    run->word = (run->word & ~(uint64_t)OFFSET_MASK) | offset_bytes;
    return true;
}

/* 1, 2 or 4 bytes, for 0, 1, 2. */
static INLINE uint32_t get_bytes(struct usual_run *run, unsigned log_bytes)
{
    uint32_t value;

    memcpy(&value, run->at, sizeof value);
    run->at += (size_t)1 << log_bytes;
    return value & (uint32_t)(UINT64_C(0xffffffff) >> (32 - (8u << log_bytes)));
}

/* An instruction with an operand of its own, or none, but for those that move on; false: not usual. */
static INLINE bool step_state(const struct symbols_usual *usual, struct usual_run *run,
                              uint64_t *remembered, unsigned *remembered_count, unsigned operation)
{
    uint32_t value;

    switch (operation) {
    case SYMBOLS_CFA_NOP:
        return true;
    case SYMBOLS_CFA_DEF_CFA:
        return set_base(usual, run) && set_offset(run);
    case SYMBOLS_CFA_DEF_CFA_REGISTER:
        return set_base(usual, run);
    case SYMBOLS_CFA_DEF_CFA_OFFSET:
        return set_offset(run);
    case SYMBOLS_CFA_REMEMBER_STATE:
        if (*remembered_count == REMEMBERED_MAX)
            return false;
        remembered[(*remembered_count)++] = run->word;
        return true;
    case SYMBOLS_CFA_RESTORE_STATE:
        if (*remembered_count == 0)
            return false;
        run->word = remembered[--(*remembered_count)];
        return true;
    case SYMBOLS_CFA_GNU_ARGS_SIZE:
        return get_short(&run->at, &value);
    case SYMBOLS_CFA_AARCH64_NEGATE_RA_STATE:
        run->word ^= (uint64_t)1 << SIGNED_BIT;
        return usual->machine->has_link_register;
    default:
        return false;
    }
}

/* How far a function is described by now. */
struct usual_place {
    uint64_t location, last_word;
    uint32_t *cell;
};

/*
 * A return in the midst of a function, which has most of the rarer instructions: the state is remembered, the frame is gone for the
 * length of an instruction or two, and the state is back.
 *
 *     remember_state | def_cfa | register | offset | advance_loc | restore_state
 */
#define RETURN_BYTES        6
#define RETURN_MASK         UINT64_C(0xffc080c0ffff)
#define RETURN_SHAPE        UINT64_C(0x0b4000000c0a)
#define RETURN_REGISTER_BIT 16
#define RETURN_OFFSET_BIT   24
#define RETURN_DISTANCE_BIT 32

/* Takes one as a whole, whose first byte is passed. False: it is none, or its state has no rule. */
static INLINE bool step_return(struct symbols_usual *usual, const struct symbols_cie *cie,
                               struct usual_run *run, struct usual_place *place,
                               const unsigned char *stop, struct symbols_builder *builder)
{
    uint64_t bytes;

    memcpy(&bytes, run->at - 1, sizeof bytes);
    const uint64_t distance = bytes >> RETURN_DISTANCE_BIT & OPERAND_MASK;
    const uint64_t base = usual->bases[bytes >> RETURN_REGISTER_BIT & OPERAND_MASK];
    const uint64_t word = (run->word & ~(OFFSET_MASK | (uint64_t)BASE_MASK << BASE_BIT)) |
                          base << BASE_BIT | (bytes >> RETURN_OFFSET_BIT & NUMBER_MASK);

    if ((bytes & RETURN_MASK) != RETURN_SHAPE || distance == 0 || base == NOT_USUAL ||
        stop - run->at < RETURN_BYTES - 1 ||
        !put_row(usual, place->cell, cie, word, place->location, builder))
        return false;
    place->cell += word != place->last_word;
    place->last_word = word;
    place->location += distance * cie->code_align;
    run->at += RETURN_BYTES - 1;
    return true;
}

/* Goes on to `stop`, or to padding up to `end`. False: not usual. */
static INLINE bool run_to(struct symbols_usual *usual, const struct symbols_cie *cie,
                          struct usual_run *run, struct usual_place *place, uint64_t initial,
                          const unsigned char *stop, const unsigned char *end, uint64_t *remembered,
                          unsigned *remembered_count, struct symbols_builder *builder)
{
    while (run->at < stop) {
        const unsigned instruction = *run->at++;
        uint32_t distance = instruction & OPERAND_MASK;

        if (instruction >= SYMBOLS_CFA_OFFSET) {
            if (!step_register(usual, run, initial, instruction))
                return false;
            continue;
        }
        if (instruction < SYMBOLS_CFA_ADVANCE_LOC) {
            if (instruction == SYMBOLS_CFA_REMEMBER_STATE && *remembered_count < REMEMBERED_MAX &&
                step_return(usual, cie, run, place, stop, builder))
                continue;
            if (instruction == SYMBOLS_CFA_NOP && symbols_usual_is_padding(run->at, end))
                return true;
            if (instruction - SYMBOLS_CFA_ADVANCE_LOC1 > 2) {
                if (!step_state(usual, run, remembered, remembered_count, instruction))
                    return false;
                continue;
            }
            distance = get_bytes(run, instruction - SYMBOLS_CFA_ADVANCE_LOC1);
        }
        /* Written in any case, and kept if the state is another one. */
        if (distance == 0 || !put_row(usual, place->cell, cie, run->word, place->location, builder))
            return false;
        place->cell += run->word != place->last_word;
        place->last_word = run->word;
        place->location += distance * cie->code_align;
    }
    return true;
}

/* Most functions begin with one of few prologues: what came of the first bytes is kept. */
static INLINE struct symbols_usual_prologue *find_prologue(struct symbols_usual *usual,
                                                           uint64_t bytes)
{
    return &usual->prologues[bytes * 0x9e3779b97f4a7c15u >> (64 - SYMBOLS_PROLOGUE_BITS)];
}

static __attribute__((noinline)) void keep_prologue(struct symbols_usual_prologue *prologue,
                                                    uint64_t bytes, uint64_t key,
                                                    struct usual_place place, /* no address of it */
                                                    const uint32_t *cells, uint64_t word)
{
    const uint32_t row_count = (uint32_t)(place.cell - cells);

    if (row_count > SYMBOLS_PROLOGUE_ROWS)
        return;
    *prologue = (struct symbols_usual_prologue){.bytes = bytes,
                                                .key = key,
                                                .word = word,
                                                .last_word = place.last_word,
                                                .location = place.location,
                                                .row_count = row_count};
    memcpy(prologue->cells, cells, row_count * sizeof *cells);
}

uint32_t symbols_usual_rows(struct symbols_usual *usual, const struct symbols_fde *fde,
                            uint64_t initial, uint32_t *cells, struct symbols_builder *builder)
{
    const struct symbols_cie *const cie = fde->cie;
    const unsigned char *const end = fde->program_end;
    const uint64_t key = initial | (cie->code_align - 1) << ALIGN_BIT;
    uint64_t remembered[REMEMBERED_MAX], bytes;
    unsigned remembered_count = 0;
    struct usual_run run = {.word = initial, .at = fde->program};
    struct usual_place place = {.cell = cells};

    if (fde->readable_end - end < SYMBOLS_USUAL_BEHIND)
        return 0;
    if ((size_t)(end - run.at) >= sizeof bytes) {
        memcpy(&bytes, run.at, sizeof bytes);
        struct symbols_usual_prologue *prologue = find_prologue(usual, bytes);
        const unsigned char *stop = run.at + sizeof bytes;

        if (prologue->bytes == bytes && prologue->key == key) {
            memcpy(cells, prologue->cells, sizeof prologue->cells);
            place = (struct usual_place){prologue->location, prologue->last_word,
                                         cells + prologue->row_count};
            run = (struct usual_run){prologue->word, stop};
        } else {
            if (!run_to(usual, cie, &run, &place, initial, stop, end, remembered, &remembered_count,
                        builder))
                return 0;
            if (run.at == stop && remembered_count == 0)
                keep_prologue(prologue, bytes, key, place, cells, run.word);
        }
    }
    /* Not usual; or cut off; or beyond the function, where linkers pad. */
    if (!run_to(usual, cie, &run, &place, initial, end, end, remembered, &remembered_count,
                builder) ||
        run.at > end || place.location >= fde->size_bytes ||
        !put_row(usual, place.cell, cie, run.word, place.location, builder))
        return 0;
    place.cell += run.word != place.last_word;
    return (uint32_t)(place.cell - cells);
}

bool symbols_usual_run(struct symbols_usual *usual, const struct symbols_fde *fde, uint64_t initial,
                       struct symbols_builder *builder)
{
    uint32_t *cells = symbols_builder_room(builder, (uint64_t)(fde->program_end - fde->program) +
                                                        SYMBOLS_USUAL_ROWS);
    const uint32_t row_count =
        cells == NULL ? 0 : symbols_usual_rows(usual, fde, initial, cells, builder);

    symbols_builder_took(builder, row_count);
    return row_count > 0;
}
