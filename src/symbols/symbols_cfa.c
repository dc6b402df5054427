/*
 * Runs the call frame instructions of one function and turns the states between them into rules;
 * any, dump, control. What a rule cannot express becomes a row that says so.
 * Source: DWARF 5, section 6.4.2; Linux Standard Base, Core, "Exception Frames".
 */
#include <elf.h>
#include <string.h>

#include "symbols/symbols_frames_internal.h"

enum { OP_DEREF = 0x06, OP_BREG0 = 0x70, OP_BREG31 = 0x8f };

#define REMEMBERED_MAX 8
#define WORD_BYTES     8

/* One function under way. */
struct symbols_run {
    const struct symbols_machine *machine;
    const struct symbols_fde *fde;
    const struct symbols_cfa_state *initial; /* NULL while a CIE's own instructions run */
    struct symbols_builder *builder;
    struct symbols_cursor cursor;
    struct symbols_cfa_state state;
    struct symbols_cfa_state *remembered; /* REMEMBERED_MAX of them; large, so not initialised */
    unsigned remembered_count;
    uint64_t location_vaddr;
    uint64_t text_vaddr;
    bool is_refused;
};

/* An address that is a register plus an offset, followed by a load if `wants_load`. */
static bool simple_expression(const unsigned char *bytes, uint64_t size_bytes, bool wants_load,
                              uint64_t *base_register, int64_t *offset_bytes)
{
    struct symbols_cursor cursor = symbols_cursor_of(bytes, size_bytes, 0);
    const uint64_t operation = symbols_get_unsigned(&cursor, 1);

    if (operation < OP_BREG0 || operation > OP_BREG31)
        return false;
    *base_register = operation - OP_BREG0;
    *offset_bytes = symbols_get_sleb(&cursor);
    if (wants_load && symbols_get_unsigned(&cursor, 1) != OP_DEREF)
        return false;
    return !cursor.is_failed && cursor.at == cursor.end;
}

/*
 * The expression that linkers write for x86-64 lazy-binding stubs, rsp + 8 + (((rip & 15) >= N) << 3):
 * from byte N of a stub on, a word more is pushed. Source: binutils, elf64-x86-64; ld.lld writes none.
 */
static bool stub_expression(const unsigned char *bytes, uint64_t size_bytes, uint8_t *push_byte)
{
    /* breg7+8 breg16+0 lit15 and litN ge lit3 shl plus */
    static const unsigned char shape[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
                                          0x30, 0x2a, 0x33, 0x24, 0x22};
    const unsigned literal_index = 6;

    if (size_bytes != sizeof shape || memcmp(bytes, shape, literal_index) != 0 ||
        memcmp(bytes + literal_index + 1, shape + literal_index + 1,
               sizeof shape - literal_index - 1) != 0)
        return false;
    *push_byte = (uint8_t)(bytes[literal_index] - 0x30);
    return *push_byte >= 1 && *push_byte <= 15;
}

static bool fits(int64_t offset_bytes)
{
    return offset_bytes >= INT32_MIN / 2 && offset_bytes <= INT32_MAX / 2;
}

static bool base_of(const struct symbols_machine *machine, uint64_t base_register, uint8_t *out,
                    uint8_t *other_register)
{
    *other_register = 0;
    if (base_register == machine->sp_register)
        *out = SYMBOLS_BASE_SP;
    else if (base_register == machine->fp_register)
        *out = SYMBOLS_BASE_FP;
    else if (base_register == machine->kept_register)
        *out = SYMBOLS_BASE_KEPT;
    else
        *out = SYMBOLS_BASE_OTHER;
    if (*out == SYMBOLS_BASE_OTHER)
        *other_register = (uint8_t)base_register;
    return base_register < SYMBOLS_REGISTERS_MAX;
}

/* Place of one saved register, in the terms of a rule. */
static bool place_of(const struct symbols_machine *machine, const struct symbols_rule *rule,
                     const struct symbols_cfa_register *reg, uint8_t *place, int32_t *offset_bytes)
{
    uint64_t base_register;
    int64_t offset;
    uint8_t base, other_register;

    switch (reg->saved) {
    case SYMBOLS_SAVED_SAME:
    case SYMBOLS_SAVED_UNDEFINED:
        *place = SYMBOLS_PLACE_SAME;
        *offset_bytes = 0;
        return true;
    case SYMBOLS_SAVED_AT_CFA:
        *place = SYMBOLS_PLACE_AT_CFA;
        *offset_bytes = (int32_t)reg->offset_bytes;
        return fits(reg->offset_bytes);
    case SYMBOLS_SAVED_EXPRESSION:
        if (!simple_expression(reg->expression, reg->expression_bytes, false, &base_register,
                               &offset) ||
            !base_of(machine, base_register, &base, &other_register) || base != rule->cfa_base ||
            other_register != rule->other_register || !fits(offset))
            return false;
        *place = SYMBOLS_PLACE_AT_BASE;
        *offset_bytes = (int32_t)offset;
        return true;
    case SYMBOLS_SAVED_OTHER:
        return false;
    }
    return false;
}

static bool cfa_of(const struct symbols_machine *machine, const struct symbols_cfa_state *state,
                   struct symbols_rule *rule, uint8_t *stub_push_byte)
{
    uint64_t base_register = state->cfa_register;
    int64_t offset_bytes = state->cfa_offset_bytes;

    if (state->cfa_expression != NULL) {
        if (machine->elf_machine == EM_X86_64 &&
            stub_expression(state->cfa_expression, state->cfa_expression_bytes, stub_push_byte)) {
            rule->cfa_base = SYMBOLS_BASE_SP;
            rule->cfa_offset_bytes = 8;
            return true;
        }
        if (!simple_expression(state->cfa_expression, state->cfa_expression_bytes, true,
                               &base_register, &offset_bytes))
            return false;
        rule->is_cfa_loaded = true;
    }
    rule->cfa_offset_bytes = (int32_t)offset_bytes;
    return fits(offset_bytes) &&
           base_of(machine, base_register, &rule->cfa_base, &rule->other_register);
}

/*
 * The further register is needed by few: what a rule cannot say of it is no reason to have none. Functions save registers
 * near the top of their frames; where one is saved further down, it is lost.
 */
static uint8_t kept_words(const struct symbols_cfa_register *reg)
{
    const int64_t words = -reg->offset_bytes / WORD_BYTES;

    if (reg->saved == SYMBOLS_SAVED_SAME)
        return 0;
    return reg->saved == SYMBOLS_SAVED_AT_CFA && reg->offset_bytes % WORD_BYTES == 0 && words > 0 &&
                   words < SYMBOLS_KEPT_LOST
               ? (uint8_t)words
               : SYMBOLS_KEPT_LOST;
}

/* A return address that lies in the caller's frame, behind a stub for lazy binding: SYMBOLS_RAISED_BYTES. */
static void raise_cfa(struct symbols_rule *rule)
{
    rule->is_cfa_raised = true;
    rule->cfa_offset_bytes += SYMBOLS_RAISED_BYTES;
    rule->return_offset_bytes -= SYMBOLS_RAISED_BYTES;
    if (rule->fp_place == SYMBOLS_PLACE_AT_CFA)
        rule->fp_offset_bytes -= SYMBOLS_RAISED_BYTES;
}

struct symbols_packed symbols_cfa_rule(const struct symbols_machine *machine,
                                       const struct symbols_cie *cie,
                                       const struct symbols_cfa_state *state)
{
    struct symbols_rule rule = {0};
    uint8_t stub_push_byte = 0;

    /* Helpers with a calling convention of their own return through another register. */
    if (cie->return_register != machine->return_register)
        return symbols_rule_bare(SYMBOLS_RULE_CANNOT);
    if (state->link.saved == SYMBOLS_SAVED_UNDEFINED)
        return symbols_rule_bare(SYMBOLS_RULE_OUTERMOST);
    /* A signal frame tells sp, too, and it is the CFA there. */
    if (state->sp.saved != SYMBOLS_SAVED_SAME && !cie->is_signal_frame)
        return symbols_rule_bare(SYMBOLS_RULE_CANNOT);
    if (!cfa_of(machine, state, &rule, &stub_push_byte) ||
        !place_of(machine, &rule, &state->fp, &rule.fp_place, &rule.fp_offset_bytes) ||
        !place_of(machine, &rule, &state->link, &rule.return_place, &rule.return_offset_bytes))
        return symbols_rule_bare(SYMBOLS_RULE_CANNOT);
    if (rule.return_place == SYMBOLS_PLACE_SAME && !machine->has_link_register)
        return symbols_rule_bare(SYMBOLS_RULE_CANNOT);
    if (machine->has_link_register && rule.return_place == SYMBOLS_PLACE_AT_CFA &&
        rule.return_offset_bytes == SYMBOLS_RAISED_BYTES - WORD_BYTES &&
        rule.cfa_base == SYMBOLS_BASE_SP && !rule.is_cfa_loaded && !cie->is_signal_frame)
        raise_cfa(&rule);
    rule.kept_words = kept_words(&state->kept);
    rule.is_signal_frame = cie->is_signal_frame;
    rule.is_return_signed = state->is_return_signed;
    return symbols_rule_pack(SYMBOLS_RULE_PLAIN, &rule, stub_push_byte);
}

/* The state holds from the current location to `next_vaddr`. */
static void move_to(struct symbols_run *run, uint64_t next_vaddr)
{
    const uint64_t end_vaddr = run->fde->start_vaddr + run->fde->size_bytes;

    /* Linkers pad: a step past the end is met and means nothing. Backwards is damage. */
    if (next_vaddr < run->location_vaddr || run->builder == NULL) {
        run->is_refused = true;
        return;
    }
    if (next_vaddr > run->location_vaddr && run->location_vaddr < end_vaddr) {
        symbols_builder_add(run->builder, (uint32_t)(run->location_vaddr - run->text_vaddr),
                            symbols_cfa_rule(run->machine, run->fde->cie, &run->state));
    }
    run->location_vaddr = next_vaddr;
}

static void advance(struct symbols_run *run, uint64_t factored)
{
    uint64_t next_vaddr;

    if (__builtin_mul_overflow(factored, run->fde->cie->code_align, &next_vaddr) ||
        __builtin_add_overflow(next_vaddr, run->location_vaddr, &next_vaddr)) {
        run->is_refused = true;
        return;
    }
    move_to(run, next_vaddr);
}

/* The registers that are followed; NULL: any other, whose rule nobody needs. */
static struct symbols_cfa_register *register_of(struct symbols_run *run,
                                                struct symbols_cfa_state *state, uint64_t number)
{
    if (number == run->machine->fp_register)
        return &state->fp;
    if (number == run->machine->kept_register)
        return &state->kept;
    if (number == run->machine->sp_register)
        return &state->sp;
    if (number == run->fde->cie->return_register)
        return &state->link;
    return NULL;
}

static void set_saved(struct symbols_run *run, uint64_t number, enum symbols_saved saved,
                      int64_t offset_bytes)
{
    struct symbols_cfa_register *reg = register_of(run, &run->state, number);

    if (reg != NULL)
        *reg = (struct symbols_cfa_register){.saved = saved, .offset_bytes = offset_bytes};
}

static void restore(struct symbols_run *run, uint64_t number)
{
    struct symbols_cfa_register *reg = register_of(run, &run->state, number);

    if (reg == NULL)
        return;
    if (run->initial == NULL) {
        *reg = (struct symbols_cfa_register){.saved = SYMBOLS_SAVED_SAME};
        return;
    }
    *reg = number == run->machine->fp_register     ? run->initial->fp
           : number == run->machine->kept_register ? run->initial->kept
           : number == run->machine->sp_register   ? run->initial->sp
                                                   : run->initial->link;
}

static int64_t factored(const struct symbols_run *run, int64_t value)
{
    int64_t product;

    /* What does not fit turns into an offset that no rule takes. */
    return __builtin_mul_overflow(value, run->fde->cie->data_align, &product) ? INT64_MAX : product;
}

/* A block of an expression: its bytes, which the cursor passes. */
static const unsigned char *block(struct symbols_run *run, uint64_t *size_bytes)
{
    *size_bytes = symbols_get_uleb(&run->cursor);
    const unsigned char *bytes = run->cursor.at;

    symbols_cursor_skip(&run->cursor, *size_bytes);
    return bytes;
}

static void define_cfa(struct symbols_run *run, uint64_t number, int64_t offset_bytes)
{
    run->state.cfa_expression = NULL;
    run->state.cfa_register = number;
    run->state.cfa_offset_bytes = offset_bytes;
}

static void remember(struct symbols_run *run)
{
    if (run->remembered_count == REMEMBERED_MAX)
        run->is_refused = true;
    else
        run->remembered[run->remembered_count++] = run->state;
}

static void recall(struct symbols_run *run)
{
    if (run->remembered_count == 0)
        run->is_refused = true;
    else
        run->state = run->remembered[--run->remembered_count];
}

/* Instructions that say where the CFA is. True: it was one. */
static bool step_cfa(struct symbols_run *run, uint8_t instruction)
{
    struct symbols_cursor *cursor = &run->cursor;
    uint64_t number;

    switch (instruction) {
    case SYMBOLS_CFA_DEF_CFA:
        number = symbols_get_uleb(cursor);
        define_cfa(run, number, (int64_t)symbols_get_uleb(cursor));
        return true;
    case SYMBOLS_CFA_DEF_CFA_SF:
        number = symbols_get_uleb(cursor);
        define_cfa(run, number, factored(run, symbols_get_sleb(cursor)));
        return true;
    case SYMBOLS_CFA_DEF_CFA_REGISTER:
        define_cfa(run, symbols_get_uleb(cursor), run->state.cfa_offset_bytes);
        return true;
    case SYMBOLS_CFA_DEF_CFA_OFFSET:
        define_cfa(run, run->state.cfa_register, (int64_t)symbols_get_uleb(cursor));
        return true;
    case SYMBOLS_CFA_DEF_CFA_OFFSET_SF:
        define_cfa(run, run->state.cfa_register, factored(run, symbols_get_sleb(cursor)));
        return true;
    case SYMBOLS_CFA_DEF_CFA_EXPRESSION:
        run->state.cfa_expression = block(run, &run->state.cfa_expression_bytes);
        return true;
    default:
        return false;
    }
}

/* Instructions that say where a register is. True: it was one. */
static bool step_register(struct symbols_run *run, uint8_t instruction)
{
    struct symbols_cursor *cursor = &run->cursor;
    uint64_t number, size_bytes;

    switch (instruction) {
    case SYMBOLS_CFA_OFFSET_EXTENDED:
        number = symbols_get_uleb(cursor);
        set_saved(run, number, SYMBOLS_SAVED_AT_CFA,
                  factored(run, (int64_t)symbols_get_uleb(cursor)));
        return true;
    case SYMBOLS_CFA_OFFSET_EXTENDED_SF:
        number = symbols_get_uleb(cursor);
        set_saved(run, number, SYMBOLS_SAVED_AT_CFA, factored(run, symbols_get_sleb(cursor)));
        return true;
    case SYMBOLS_CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        number = symbols_get_uleb(cursor);
        set_saved(run, number, SYMBOLS_SAVED_AT_CFA,
                  factored(run, -(int64_t)symbols_get_uleb(cursor)));
        return true;
    case SYMBOLS_CFA_RESTORE_EXTENDED:
        restore(run, symbols_get_uleb(cursor));
        return true;
    case SYMBOLS_CFA_UNDEFINED:
        set_saved(run, symbols_get_uleb(cursor), SYMBOLS_SAVED_UNDEFINED, 0);
        return true;
    case SYMBOLS_CFA_SAME_VALUE:
        set_saved(run, symbols_get_uleb(cursor), SYMBOLS_SAVED_SAME, 0);
        return true;
    case SYMBOLS_CFA_REGISTER:
    case SYMBOLS_CFA_VAL_OFFSET:
    case SYMBOLS_CFA_VAL_OFFSET_SF:
        number = symbols_get_uleb(cursor);
        (void)symbols_get_uleb(cursor);
        set_saved(run, number, SYMBOLS_SAVED_OTHER, 0);
        return true;
    case SYMBOLS_CFA_EXPRESSION:
    case SYMBOLS_CFA_VAL_EXPRESSION:
        number = symbols_get_uleb(cursor);
        const unsigned char *expression = block(run, &size_bytes);
        struct symbols_cfa_register *reg = register_of(run, &run->state, number);
        if (reg != NULL)
            *reg = (struct symbols_cfa_register){.saved = instruction == SYMBOLS_CFA_EXPRESSION
                                                              ? SYMBOLS_SAVED_EXPRESSION
                                                              : SYMBOLS_SAVED_OTHER,
                                                 .expression = expression,
                                                 .expression_bytes = size_bytes};
        return true;
    default:
        return false;
    }
}

/* The rest: locations, the state stack, hints. False: an instruction that is not known. */
static bool step_other(struct symbols_run *run, uint8_t instruction)
{
    struct symbols_cursor *cursor = &run->cursor;

    switch (instruction) {
    case SYMBOLS_CFA_NOP:
        return true;
    case SYMBOLS_CFA_ADVANCE_LOC1:
        advance(run, symbols_get_unsigned(cursor, 1));
        return true;
    case SYMBOLS_CFA_ADVANCE_LOC2:
        advance(run, symbols_get_unsigned(cursor, 2));
        return true;
    case SYMBOLS_CFA_ADVANCE_LOC4:
        advance(run, symbols_get_unsigned(cursor, 4));
        return true;
    case SYMBOLS_CFA_SET_LOC:
        move_to(run, symbols_get_encoded(cursor, run->fde->cie->pointer_encoding, 0));
        return true;
    case SYMBOLS_CFA_REMEMBER_STATE:
        remember(run);
        return true;
    case SYMBOLS_CFA_RESTORE_STATE:
        recall(run);
        return true;
    case SYMBOLS_CFA_GNU_ARGS_SIZE:
        (void)symbols_get_uleb(cursor);
        return true;
    case SYMBOLS_CFA_AARCH64_NEGATE_RA_STATE:
        run->state.is_return_signed = !run->state.is_return_signed;
        return run->machine->has_link_register;
    default:
        return false;
    }
}

/* Runs a program to its end or to the first instruction that makes no sense. */
static bool run_program(struct symbols_run *run)
{
    while (symbols_cursor_left(&run->cursor) > 0 && !run->is_refused) {
        const uint8_t instruction = (uint8_t)symbols_get_unsigned(&run->cursor, 1);
        const uint8_t operand = instruction & 0x3f;

        switch (instruction & 0xc0) {
        case SYMBOLS_CFA_ADVANCE_LOC:
            advance(run, operand);
            break;
        case SYMBOLS_CFA_OFFSET:
            set_saved(run, operand, SYMBOLS_SAVED_AT_CFA,
                      factored(run, (int64_t)symbols_get_uleb(&run->cursor)));
            break;
        case SYMBOLS_CFA_RESTORE:
            restore(run, operand);
            break;
        default:
            if (!step_cfa(run, instruction) && !step_register(run, instruction) &&
                !step_other(run, instruction))
                return false;
        }
    }
    return !run->is_refused && !run->cursor.is_failed;
}

bool symbols_cfa_initial(const struct symbols_machine *machine, const struct symbols_cie *cie,
                         struct symbols_cfa_state *state)
{
    const struct symbols_fde none = {.cie = cie};
    struct symbols_cfa_state remembered[REMEMBERED_MAX];
    struct symbols_run run = {.machine = machine, .fde = &none, .remembered = remembered};

    run.cursor = symbols_cursor_of(cie->program, (size_t)(cie->program_end - cie->program), 0);
    if (!run_program(&run))
        return false;
    *state = run.state;
    return true;
}

bool symbols_cfa_run(const struct symbols_machine *machine, const struct symbols_fde *fde,
                     const struct symbols_cfa_state *initial, uint64_t text_vaddr,
                     struct symbols_builder *builder)
{
    struct symbols_cfa_state remembered[REMEMBERED_MAX];
    struct symbols_run run = {.machine = machine,
                              .fde = fde,
                              .remembered = remembered,
                              .initial = initial,
                              .builder = builder,
                              .state = *initial,
                              .location_vaddr = fde->start_vaddr,
                              .text_vaddr = text_vaddr};

    run.cursor = symbols_cursor_of(fde->program, (size_t)(fde->program_end - fde->program), 0);
    if (!run_program(&run))
        return false;
    move_to(&run, fde->start_vaddr + fde->size_bytes > run.location_vaddr
                      ? fde->start_vaddr + fde->size_bytes
                      : run.location_vaddr);
    return true;
}
