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
#define USED            ((uint64_t)1 << 63) /* so that no state is zero */
#define SAVED_MASK      0xffu
#define BASE_MASK       3u
#define OFFSET_MASK     0xffffffffu
#define OFFSET_MAX      (INT32_MAX / 2)
#define CODE_ALIGN_MAX  16
#define REMEMBERED_MAX  8
#define OPERATION_SHIFT 6
#define OPERAND_MASK    0x3fu
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

/* The rule of a state that was not met lately. */
static __attribute__((noinline)) uint32_t learn(struct symbols_usual *usual,
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

    usual->words[slot] = word;
    usual->numbers[slot] =
        (uint16_t)symbols_builder_rule(builder, symbols_cfa_rule(machine, cie, &state));
    return usual->numbers[slot];
}

static inline uint32_t rule_of(struct symbols_usual *usual, const struct symbols_cie *cie,
                               uint64_t word, struct symbols_builder *builder)
{
    const uint64_t slot = word * 0x9e3779b97f4a7c15u >> (64 - SYMBOLS_USUAL_BITS);

    return usual->words[slot] == word ? usual->numbers[slot]
                                      : learn(usual, cie, word, slot, builder);
}

void symbols_usual_open(struct symbols_usual *usual, const struct symbols_machine *machine)
{
    usual->machine = machine;
    usual->register_bits[machine->sp_register] = NOT_USUAL;
    usual->register_bits[machine->fp_register] = FP_BIT;
    usual->register_bits[machine->return_register] = RETURN_BIT;
    if (machine->kept_register != SYMBOLS_NO_REGISTER)
        usual->register_bits[machine->kept_register] = KEPT_BIT;
}

/* A number of at most three bytes; false: longer, or cut off. */
static inline __attribute__((always_inline)) bool
get_short(const unsigned char **at, const unsigned char *end, uint32_t *value)
{
    const unsigned char *bytes = *at;

    if (end - bytes >= 1 && bytes[0] < 0x80) {
        *value = bytes[0];
        *at = bytes + 1;
        return true;
    }
    if (end - bytes >= 2 && bytes[1] < 0x80) {
        *value = (bytes[0] & 0x7fu) | (uint32_t)bytes[1] << 7;
        *at = bytes + 2;
        return true;
    }
    if (end - bytes >= 3 && bytes[2] < 0x80) {
        *value = (bytes[0] & 0x7fu) | (uint32_t)(bytes[1] & 0x7fu) << 7 | (uint32_t)bytes[2] << 14;
        *at = bytes + 3;
        return true;
    }
    return false;
}

/* One function under way. All that uses it is inlined, so that it lies in registers. */
struct usual_run {
    uint64_t word;
    const unsigned char *at, *end;
};

/* An instruction that is not frequent; false: not usual. */
static INLINE bool step_other(const struct symbols_usual *usual, struct usual_run *run,
                              uint64_t *remembered, unsigned *remembered_count, unsigned operation)
{
    uint32_t number, value;

    switch (operation) {
    case SYMBOLS_CFA_NOP:
        return true;
    case SYMBOLS_CFA_DEF_CFA:
    case SYMBOLS_CFA_DEF_CFA_REGISTER: {
        if (!get_short(&run->at, run->end, &number) || number > OPERAND_MASK)
            return false;
        const uint8_t base = base_of(usual->machine, number);
        if (base == NOT_USUAL)
            return false;
        run->word = (run->word & ~((uint64_t)BASE_MASK << BASE_BIT)) | (uint64_t)base << BASE_BIT;
        if (operation == SYMBOLS_CFA_DEF_CFA_REGISTER)
            return true;
        if (!get_short(&run->at, run->end, &value))
            return false;
        run->word = (run->word & ~(uint64_t)OFFSET_MASK) | value;
        return true;
    }
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
        return get_short(&run->at, run->end, &value);
    case SYMBOLS_CFA_AARCH64_NEGATE_RA_STATE:
        run->word ^= (uint64_t)1 << SIGNED_BIT;
        return usual->machine->has_link_register;
    default:
        return false;
    }
}

/* A register is so many words below the CFA, or where it was at first. */
static INLINE bool step_register(const struct symbols_usual *usual, struct usual_run *run,
                                 uint64_t initial, unsigned instruction)
{
    const unsigned bit = usual->register_bits[instruction & OPERAND_MASK];
    uint32_t words;

    if (instruction >= SYMBOLS_CFA_RESTORE) {
        const uint64_t mask = bit == 0 || bit == NOT_USUAL ? 0 : (uint64_t)SAVED_MASK << bit;

        run->word = (run->word & ~mask) | (initial & mask);
        return bit != NOT_USUAL;
    }
    if (!get_short(&run->at, run->end, &words))
        return false;
    if (bit == 0)
        return true;
    if (bit == NOT_USUAL || words == 0 || words > SAVED_MASK)
        return false;
    run->word = (run->word & ~((uint64_t)SAVED_MASK << bit)) | (uint64_t)words << bit;
    return true;
}

/* How far an instruction moves on that is not the shortest of its kind, in units of code; false: it is another, or cut off. */
static INLINE bool get_distance(struct usual_run *run, unsigned instruction, uint32_t *distance)
{
    const ptrdiff_t left_bytes = run->end - run->at;

    if (instruction == SYMBOLS_CFA_ADVANCE_LOC1 && left_bytes >= 1) {
        *distance = *run->at++;
        return true;
    }
    if (instruction == SYMBOLS_CFA_ADVANCE_LOC2 && left_bytes >= 2) {
        *distance = (uint32_t)run->at[0] | (uint32_t)run->at[1] << 8;
        run->at += 2;
        return true;
    }
    if (instruction == SYMBOLS_CFA_ADVANCE_LOC4 && left_bytes >= 4) {
        memcpy(distance, run->at, 4);
        run->at += 4;
        return true;
    }
    return false;
}

bool symbols_usual_run(struct symbols_usual *usual, const struct symbols_fde *fde, uint64_t initial,
                       struct symbols_builder *builder)
{
    const struct symbols_cie *cie = fde->cie;
    const uint64_t end = fde->size_bytes, code_align = cie->code_align;
    uint64_t location = 0, last_word = 0, remembered[REMEMBERED_MAX];
    unsigned remembered_count = 0;
    struct usual_run run = {.word = initial, .at = fde->program, .end = fde->program_end};
    uint32_t *const cells = symbols_builder_room(builder, (uint64_t)(run.end - run.at) + 1);
    uint32_t *cell = cells, last_rule = UINT32_MAX;

    if (cells == NULL)
        return false;
    while (run.end > run.at && run.end[-1] == SYMBOLS_CFA_NOP) /* padding */
        run.end--;
    for (;;) {
        uint32_t distance = 0;

        if (run.at < run.end) {
            const unsigned instruction = *run.at++;

            if (instruction >= SYMBOLS_CFA_OFFSET) {
                if (!step_register(usual, &run, initial, instruction))
                    return false;
                continue;
            }
            if (instruction == SYMBOLS_CFA_DEF_CFA_OFFSET) {
                if (!get_short(&run.at, run.end, &distance))
                    return false;
                run.word = (run.word & ~(uint64_t)OFFSET_MASK) | distance;
                continue;
            }
            distance = instruction & OPERAND_MASK;
            if (instruction < SYMBOLS_CFA_ADVANCE_LOC &&
                !get_distance(&run, instruction, &distance)) {
                if (!step_other(usual, &run, remembered, &remembered_count, instruction))
                    return false;
                continue;
            }
            if (distance == 0)
                continue;
        }
        /* The state holds from `location` on, to there or to the end. */
        if (run.word != last_word && location < end) {
            const uint32_t rule = rule_of(usual, cie, run.word, builder);

            last_word = run.word;
            if (rule != last_rule)
                *cell++ = rule << SYMBOLS_CELL_SHIFT | (uint32_t)location;
            last_rule = rule;
        }
        if (distance == 0)
            break;
        location += distance * code_align;
    }
    symbols_builder_took(builder, (uint32_t)(cell - cells));
    return true;
}
