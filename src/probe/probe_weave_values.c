/* Which places handlers are called at, and what lies on the stack there, for them. Context: hook, control, tool. */
#include "probe/probe_weave_internal.h"

/* Opcodes that are not of room classfile's own. */
enum {
    OP_ILOAD = 21,
    OP_ISTORE = 54,
    OP_DUP = 89,
    OP_DUP2 = 92,
    OP_IRETURN = 172,
    OP_RETURN = 177,
    OP_WIDE = 196,
};

/* ---- locals ---- */

/* How far the instruction for this type stands behind that for int. */
static uint8_t step_of(char type)
{
    return type == 'J' ? 1 : type == 'F' ? 2 : type == 'D' ? 3 : type == 'L' ? 4 : 0;
}

void probe_weave_put_local(struct classfile_snippet *snippet, bool stores, char type,
                           uint16_t number, uint32_t stack_words)
{
    const uint8_t opcode = (uint8_t)((stores ? OP_ISTORE : OP_ILOAD) + step_of(type));

    if (number <= UINT8_MAX) {
        const uint8_t code[] = {opcode, (uint8_t)number};

        classfile_put_code(snippet, code, sizeof code, stack_words);
    } else {
        const uint8_t code[] = {OP_WIDE, opcode, (uint8_t)(number >> 8), (uint8_t)number};

        classfile_put_code(snippet, code, sizeof code, stack_words);
    }
}

void probe_weave_put_load(struct classfile_snippet *snippet, char type, uint16_t number,
                          uint32_t stack_words)
{
    probe_weave_put_local(snippet, false, type, number, stack_words);
}

/* ---- places ---- */

/* An int that is returned is a boolean, byte, char or short where the method says so: that is how it is boxed. */
static char returned_type(const struct probe_weave_place *place)
{
    const struct classfile_member *member = &place->at->file.methods[place->site->method];
    const struct classfile_text descriptor =
        classfile_text_of(&place->at->file, member->descriptor_index);
    static const char returned[] = {'I', 'J', 'F', 'D', 'L'};
    const char type = returned[place->site->opcode - OP_IRETURN];

    return type == 'I' ? descriptor.bytes[descriptor.length_bytes - 1] : type;
}

/* Whether the handler is for that place, on either side of it. */
bool probe_weave_is_beside(const struct probe_weaving *at, const struct probe_weave_want *want,
                           const struct classfile_site *site)
{
    const struct probe_handler *handler = at->handlers[want->handler].handler;

    if (probe_place_at(handler->place) != 1u << site->place)
        return false;
    if (handler->line != 0)
        return site->pc == want->line_pc;
    return probe_is_place(handler, &at->file, site->opcode, site->constant);
}

bool probe_weave_is_at(const struct probe_weaving *at, const struct probe_weave_want *want,
                       const struct classfile_site *site)
{
    return probe_place_is_after(at->handlers[want->handler].handler->place, site->opcode) ==
               site->is_after &&
           probe_weave_is_beside(at, want, site);
}

static bool is_value_wanted(const struct probe_weaving *at, const struct classfile_site *site)
{
    for (uint16_t i = 0; i < at->want_counts[site->method]; i++) {
        const struct probe_weave_want *want = &at->wants[site->method][i];
        const struct probe_handler *handler = at->handlers[want->handler].handler;

        if ((probe_weave_asks(handler, PROBE_RETURNED) || probe_weave_asks(handler, PROBE_THROWN) ||
             probe_weave_asks(handler, PROBE_VALUE) ||
             probe_weave_asks(handler, PROBE_ALLOCATED)) &&
            probe_weave_is_at(at, want, site))
            return true;
    }
    return false;
}

/* What is returned, thrown or left on the stack goes into a local, for whoever asks for it. */
void probe_weave_save_value(struct probe_weave_place *place)
{
    const struct classfile_site *site = place->site;

    if (!is_value_wanted(place->at, site))
        return;
    if (site->place == CLASSFILE_PLACE_THROW)
        place->value_type = 'L';
    else if (site->place == CLASSFILE_PLACE_RETURN && site->opcode != OP_RETURN)
        place->value_type = returned_type(place);
    else if (site->is_after && place->operands->result.bytes[0] != 'V')
        place->value_type = probe_weave_letter(place->operands->result);
    if (place->value_type == 0)
        return;

    const uint16_t words = probe_weave_words(place->value_type);
    place->value_local = classfile_take_local(place->snippet, words);
    classfile_put_op(place->snippet, words == 2 ? OP_DUP2 : OP_DUP, words);
    probe_weave_put_local(place->snippet, true, place->value_type, place->value_local, 0);
}

/* The first operand of the instruction that a handler on either side asks for; their count: none is. */
static uint32_t first_asked(const struct probe_weaving *at, const struct classfile_site *site,
                            const struct probe_operands *operands)
{
    uint32_t first = operands->count;

    for (uint16_t i = 0; i < at->want_counts[site->method]; i++) {
        const struct probe_weave_want *want = &at->wants[site->method][i];
        const struct probe_handler *handler = at->handlers[want->handler].handler;

        for (uint32_t j = 0; j < handler->capture_count; j++) {
            const int32_t number =
                probe_operand_of(&handler->captures[j], handler->place, operands);

            if (number >= 0 && (uint32_t)number < first && probe_weave_is_beside(at, want, site) &&
                probe_fit_place(handler, &at->file, site->opcode, site->constant) == PROBE_FIT_GOOD)
                first = (uint32_t)number;
        }
    }
    return first;
}

/*
 * Before an instruction: its operands go into locals and come back, from the first on that is asked for. Whatever they are to the verifier,
 * objects without constructor too, they are so again. Behind it the locals are as they were left: only the instruction came between.
 */
void probe_weave_move(struct probe_weave_place *place)
{
    struct probe_weave_moved *moved = &place->at->moved;
    const struct probe_operands *operands = place->operands;

    if (place->site->is_after) {
        if (moved->pc == place->site->pc && moved->words != 0)
            (void)classfile_take_local(place->snippet, moved->words);
        return;
    }
    *moved = (struct probe_weave_moved){.pc = place->site->pc};
    if (operands->count > PROBE_OPERANDS_LIMIT)
        return;
    moved->from = first_asked(place->at, place->site, operands);
    for (uint32_t i = operands->count; i > moved->from; i--) {
        const uint16_t words = probe_weave_words(operands->types[i - 1]);

        moved->locals[i - 1] = classfile_take_local(place->snippet, words);
        moved->words = (uint16_t)(moved->words + words);
        probe_weave_put_local(place->snippet, true, operands->types[i - 1], moved->locals[i - 1],
                              0);
    }
    for (uint32_t i = moved->from; i < operands->count; i++)
        probe_weave_put_local(place->snippet, false, operands->types[i], moved->locals[i], 0);
}
