/*
 * Methods of a chunk by their names, all of them in one pass in the order of the file: looked up one by one, as stacks name
 * them, each is a dozen waits for memory. Context: tool.
 */
#include <string.h>

#include "cli/cli_feed_internal.h"

#define METHODS_KEYS_MOST ((uint64_t)1 << 17) /* those of larger keys are looked up one by one */
#define METHODS_STACKS    64u                 /* with fewer, most methods may be those of others */
#define METHODS_RAW_BYTES 1024u
#define METHODS_FIRST     ((size_t)256) /* elements */

/* Room for `count` elements, those that are new 0; as it was, where there is no memory. */
static bool reserve_zeroed(struct cli_feed *feed, void **array, size_t *capacity, size_t count,
                           size_t element_bytes)
{
    size_t wanted = *capacity == 0 ? METHODS_FIRST : *capacity;

    while (wanted < count)
        wanted *= 2;
    if (wanted == *capacity)
        return true;

    void *grown = jw_realloc(*array, jw_mul_bytes(wanted, element_bytes));
    if (grown == NULL) {
        feed->is_out_of_memory = true;
        return false;
    }
    memset((char *)grown + *capacity * element_bytes, 0, (wanted - *capacity) * element_bytes);
    *array = grown;
    *capacity = wanted;
    return true;
}

/* Number of a method, 1 and up, that holds for all chunks; 0: it has no names, or no memory. */
static uint32_t number_of(struct cli_feed *feed, const struct jfr_value *method)
{
    struct cli_methods *methods = &feed->methods;
    unsigned char raw[METHODS_RAW_BYTES];
    size_t used_bytes = 0;

    if (!jfr_method_raw(method, raw, sizeof raw, &used_bytes))
        return 0;

    uint64_t *number = jw_map_put(&methods->number_of, raw, used_bytes);
    if (number == NULL) {
        feed->is_out_of_memory = true;
        return 0;
    }
    if (*number == 0)
        *number = ++methods->count;
    else if (*number * CLI_METHOD_TYPES <= methods->frame_capacity) /* asked for soon */
        __builtin_prefetch(&methods->frames[(*number - 1) * CLI_METHOD_TYPES]);
    return (uint32_t)*number;
}

static void read_methods(struct cli_feed *feed, const struct jfr_value *reference)
{
    struct cli_methods *methods = &feed->methods;
    struct jfr_constants constants = jfr_constants_of(reference);
    struct jfr_value method;
    void *numbers = methods->numbers;
    uint64_t key;

    methods->is_read = true;
    methods->seen = methods->left_out = 0;
    while (!feed->is_out_of_memory && jfr_constants_next(&constants, &method, &key)) {
        methods->seen++;
        if (key >= METHODS_KEYS_MOST) {
            methods->left_out++;
            continue;
        }
        if (!reserve_zeroed(feed, &numbers, &methods->number_capacity, key + 1,
                            sizeof *methods->numbers))
            return;
        methods->numbers = numbers;
        methods->numbers[key] = number_of(feed, &method);
    }
}

/* Number of a type of frames by its text, less than CLI_METHOD_TYPES; that: it is none of them. */
static uint32_t type_of(struct cli_methods *methods, const struct jfr_stack_frame *from)
{
    char raw[sizeof methods->type_texts[0]] = {0};
    size_t used_bytes = 1;
    uint32_t number = 0;

    if (from->type_key < CLI_METHOD_TYPES && methods->types[from->type_key] != 0)
        return methods->types[from->type_key] - 1u;
    if (from->type.reader == NULL || from->type_key >= CLI_METHOD_TYPES ||
        !jfr_value_raw_text(&from->type, (unsigned char *)raw, sizeof raw, &used_bytes))
        return CLI_METHOD_TYPES;
    raw[0] = (char)used_bytes;
    while (number < methods->type_count &&
           memcmp(methods->type_texts[number], raw, sizeof raw) != 0)
        number++;
    if (number == CLI_METHOD_TYPES)
        return number;
    if (number == methods->type_count)
        memcpy(methods->type_texts[methods->type_count++], raw, sizeof raw);
    methods->types[from->type_key] = (uint8_t)(number + 1);
    return number;
}

bool cli_read_meanings(struct cli_feed *feed, const struct jfr_stack_frame *from)
{
    struct cli_methods *methods = &feed->methods;
    struct jfr_stack_frame of_type = *from;

    if (from->method.reader == NULL || from->type.reader == NULL)
        return false;
    if (!methods->is_read)
        read_methods(feed, &from->method);

    struct jfr_constants constants = jfr_constants_of(&from->type);
    while (jfr_constants_next(&constants, &of_type.type, &of_type.type_key))
        (void)type_of(methods, &of_type);
    return !feed->is_out_of_memory && methods->left_out <= methods->seen / 8;
}

profile_frame_id *cli_method_frame(struct cli_feed *feed, const struct jfr_stack_frame *from)
{
    struct cli_methods *methods = &feed->methods;
    void *frames = methods->frames;

    if (feed->group_count + feed->near_stacks < METHODS_STACKS || from->method.reader == NULL)
        return NULL;
    if (!methods->is_read)
        read_methods(feed, &from->method);
    if (from->method_key >= methods->number_capacity || methods->numbers[from->method_key] == 0)
        return NULL;

    const uint32_t type = type_of(methods, from);
    const size_t at = (size_t)(methods->numbers[from->method_key] - 1) * CLI_METHOD_TYPES + type;
    if (type == CLI_METHOD_TYPES ||
        !reserve_zeroed(feed, &frames, &methods->frame_capacity, at + 1, sizeof *methods->frames))
        return NULL;
    methods->frames = frames;
    return &methods->frames[at];
}

void cli_forget_methods(struct cli_methods *methods)
{
    methods->is_read = false;
    memset(methods->types, 0, sizeof methods->types);
    if (methods->number_capacity > 0)
        memset(methods->numbers, 0, methods->number_capacity * sizeof *methods->numbers);
}

void cli_close_methods(struct cli_methods *methods)
{
    jw_map_close(&methods->number_of);
    jw_free(methods->numbers);
    jw_free(methods->frames);
}
