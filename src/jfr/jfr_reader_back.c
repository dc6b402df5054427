/*
 * Stacks from their ends: outermost frame first, so that who knows what an end stands for need not read it again. Context: tool, dump.
 *
 * The last byte of a varint has a clear top bit and the others have not, unless it has nine bytes; so a row of eight bytes or more
 * that do not end one is all that cannot be read from behind. No recorder writes numbers so large into frames.
 */
#include "base/hash.h"
#include "jfr/jfr_reader_internal.h"

/* Are the fields of a stack from `first` on, `count` of them, a byte each? */
static bool are_bytes(const struct jfr_reader_type *type, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        if (type->fields[i].is_array || type->fields[i].is_pooled ||
            type->fields[i].type->kind != JFR_KIND_BOOLEAN)
            return false;
    return true;
}

bool jfr_stack_can_turn(const struct jfr_value *constant, struct jfr_stack *stack)
{
    const struct jfr_reader_type *type = constant->type;

    if (!constant->is_whole || type->frames_at >= type->field_count ||
        !are_bytes(type, 0, type->frames_at) ||
        !are_bytes(type, type->frames_at + 1u, type->field_count - type->frames_at - 1u) ||
        !jfr_stack_begin(constant, stack) || !stack->is_plain ||
        (!stack->is_keyed && (stack->quick_bytes == 0 || stack->quick_bytes == SIZE_MAX)))
        return false;
    jfr_stack_turn(constant, stack);
    return true;
}

void jfr_stack_turn(const struct jfr_value *constant, struct jfr_stack *stack)
{
    const struct jfr_reader_type *type = constant->type;
    const uint32_t behind_count = type->field_count - type->frames_at - 1u;
    struct jfr_cursor cursor = {constant->bytes + type->frames_at, constant->end - behind_count,
                                false};

    stack->frames.left = jfr_cursor_varint(&cursor);
    stack->frames.element.bytes = cursor.at;
    stack->frames.element.end = cursor.end;
    stack->is_truncated = type->truncated_at == JFR_NO_FIELD ? false
                          : type->truncated_at < type->frames_at
                              ? constant->bytes[type->truncated_at] != 0
                              : constant->end[-(int)(type->field_count - type->truncated_at)] != 0;
}

uint64_t jfr_stack_layout(const struct jfr_value *constant, const struct jfr_stack *stack)
{
    const struct jfr_reader_type *trace = constant->type, *frame = stack->type;
    const uint32_t numbers[] = {
        trace->field_count,  trace->frames_at,    trace->truncated_at, frame->field_count,
        frame->method_at,    frame->type_at,      frame->line_at,      stack->has_method_key,
        stack->has_type_key, stack->has_int_line, stack->is_keyed,
    };

    return jw_hash64(numbers, sizeof numbers) | 1;
}

#define BYTES_MOST 8 /* of a number that can be read from behind */

/* The number that ends at `*end`, which becomes where it begins, or where it may. */
static enum jfr_back number_back(const unsigned char *low, const unsigned char **end,
                                 uint64_t *number)
{
    const unsigned char *const behind = *end;
    const unsigned char *at = behind;

    if (at == low)
        return JFR_BACK_LESS;
    *number = *--at;
    if (*number >= 0x80)
        return JFR_BACK_ODD;
    while (at > low && at[-1] >= 0x80)
        *number = *number << 7 | (*--at & 0x7f);
    *end = at;
    return behind - at > BYTES_MOST ? JFR_BACK_ODD : JFR_BACK_FRAME;
}

/* Of a stack that has keys of frames. */
static enum jfr_back key_back(const struct jfr_stack *stack, const unsigned char *low,
                              const unsigned char **end, struct jfr_stack_keys *keys)
{
    const unsigned char *at = *end;
    uint64_t key;
    const enum jfr_back back = number_back(low, &at, &key);

    if (back != JFR_BACK_FRAME)
        return back;
    if (at == low && low != stack->frames.element.bytes)
        return JFR_BACK_LESS;
    jfr_stack_keys_of(stack, key, keys);
    *end = keys->bytes = at;
    return JFR_BACK_FRAME;
}

enum jfr_back jfr_stack_back(const struct jfr_stack *stack, const unsigned char *low,
                             const unsigned char **end, struct jfr_stack_keys *keys)
{
    const struct jfr_reader_type *type = stack->type;
    const unsigned char *at = *end;

    if (stack->is_keyed)
        return key_back(stack, low, end, keys);
    keys->method_key = keys->type_key = 0;
    keys->line = -1;
    for (uint32_t i = type->field_count; i-- > 0;) {
        uint64_t number;
        const enum jfr_back back = number_back(low, &at, &number);

        if (back != JFR_BACK_FRAME)
            return back;
        if (i == type->method_at)
            keys->method_key = number;
        else if (i == type->type_at)
            keys->type_key = number;
        else if (i == type->line_at)
            keys->line = stack->has_int_line ? (int32_t)number : (int64_t)number;
    }
    if (at == low && low != stack->frames.element.bytes)
        return JFR_BACK_LESS;
    if (!stack->has_method_key)
        keys->method_key = 0;
    if (!stack->has_type_key)
        keys->type_key = 0;
    *end = keys->bytes = at;
    return JFR_BACK_FRAME;
}
