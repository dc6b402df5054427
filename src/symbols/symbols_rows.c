/*
 * Rows of a library: put together here by the dump side, searched here by handlers. Few different rules occur, so a row is
 * two bytes of distance and two of a rule's number; it stays where it was written, since memory that is touched
 * for the first time costs more than what is written to it.
 */
#include <string.h>
#include <unistd.h>

#include "base/counters.h"
#include "base/hash.h"
#include "base/memory.h"
#include "symbols/symbols_frames_internal.h"

/* What this file allocates for. */
#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_UNWINDING

#define CHARGE_BYTES    ((uint64_t)128 << 10) /* of memlimit, at a time */
#define ENTRY_MIN_BYTES 8                     /* length and id of an entry */
#define CROWD                                                                                      \
    64 /* so many functions in a bucket, more than any real one has, are sorted otherwise */
#define LARGE_CELLS SYMBOLS_HEAD_CELLS

enum { RULE_GAP, RULE_CANNOT = SYMBOLS_RULE_NUMBER_CANNOT };

#define KIND_MASK          0x3u
#define BASE_SHIFT         2
#define FP_PLACE_SHIFT     4
#define RETURN_PLACE_SHIFT 6
#define CFA_LOADED_BIT     (1u << 8)
#define SIGNAL_FRAME_BIT   (1u << 9)
#define RETURN_SIGNED_BIT  (1u << 10)
#define STUB_SHIFT         11
#define KEPT_SHIFT         15
#define KEPT_MASK          0xffu
#define OTHER_SHIFT        23
#define OTHER_MASK         0x1fu
#define CFA_RAISED_BIT     (1u << 28)

struct symbols_packed symbols_rule_pack(enum symbols_rule_kind kind,
                                        const struct symbols_rule *rule, uint8_t stub_push_byte)
{
    const uint32_t flags =
        (uint32_t)kind | (uint32_t)rule->cfa_base << BASE_SHIFT |
        (uint32_t)rule->fp_place << FP_PLACE_SHIFT |
        (uint32_t)rule->return_place << RETURN_PLACE_SHIFT |
        (rule->is_cfa_loaded ? CFA_LOADED_BIT : 0) |
        (rule->is_signal_frame ? SIGNAL_FRAME_BIT : 0) |
        (rule->is_return_signed ? RETURN_SIGNED_BIT : 0) |
        (rule->is_cfa_raised ? CFA_RAISED_BIT : 0) | (uint32_t)stub_push_byte << STUB_SHIFT |
        (uint32_t)rule->kept_words << KEPT_SHIFT | (uint32_t)rule->other_register << OTHER_SHIFT;

    return (struct symbols_packed){.offsets = (uint64_t)(uint32_t)rule->fp_offset_bytes << 32 |
                                              (uint32_t)rule->cfa_offset_bytes,
                                   .rest =
                                       (uint64_t)flags << 32 | (uint32_t)rule->return_offset_bytes};
}

struct symbols_packed symbols_rule_bare(enum symbols_rule_kind kind)
{
    return (struct symbols_packed){.rest = (uint64_t)kind << 32};
}

enum symbols_rule_kind symbols_rule_unpack(struct symbols_packed packed, struct symbols_rule *rule,
                                           uint8_t *stub_push_byte)
{
    const uint32_t flags = (uint32_t)(packed.rest >> 32);

    *rule = (struct symbols_rule){
        .cfa_offset_bytes = (int32_t)(uint32_t)packed.offsets,
        .fp_offset_bytes = (int32_t)(uint32_t)(packed.offsets >> 32),
        .return_offset_bytes = (int32_t)(uint32_t)packed.rest,
        .kept_words = flags >> KEPT_SHIFT & KEPT_MASK,
        .cfa_base = flags >> BASE_SHIFT & 3,
        .other_register = flags >> OTHER_SHIFT & OTHER_MASK,
        .fp_place = flags >> FP_PLACE_SHIFT & 3,
        .return_place = flags >> RETURN_PLACE_SHIFT & 3,
        .is_cfa_loaded = (flags & CFA_LOADED_BIT) != 0,
        .is_signal_frame = (flags & SIGNAL_FRAME_BIT) != 0,
        .is_return_signed = (flags & RETURN_SIGNED_BIT) != 0,
        .is_cfa_raised = (flags & CFA_RAISED_BIT) != 0,
    };
    *stub_push_byte = (uint8_t)(flags >> STUB_SHIFT & 15);
    return (enum symbols_rule_kind)(flags & KIND_MASK);
}

static bool is_same_rule(struct symbols_packed a, struct symbols_packed b)
{
    return a.offsets == b.offsets && a.rest == b.rest;
}

/* Number of a rule, added on first sight; a file with more rules than any real one gets CANNOT. */
static uint32_t rule_number(struct symbols_builder *builder, struct symbols_packed rule)
{
    struct symbols_rule_table *table = builder->table;

    if (is_same_rule(table->rules[builder->last_rule], rule))
        return builder->last_rule;

    uint64_t slot = jw_hash_word(rule.offsets + rule.rest * 31) % SYMBOLS_RULE_SLOTS;
    /* Ends: at most half of the slots are taken. */
    while (table->slots[slot] != 0) {
        const uint32_t number = table->slots[slot] - 1u;

        if (is_same_rule(table->rules[number], rule))
            return builder->last_rule = number;
        slot = (slot + 1) % SYMBOLS_RULE_SLOTS;
    }
    if (builder->rule_count == SYMBOLS_RULES_MAX)
        return RULE_CANNOT;
    builder->last_rule = builder->rule_count++;
    table->rules[builder->last_rule] = rule;
    table->slots[slot] = (uint16_t)(builder->last_rule + 1);
    return builder->last_rule;
}

uint32_t symbols_builder_rule(struct symbols_builder *builder, struct symbols_packed rule)
{
    return rule_number(builder, rule);
}

bool symbols_builder_pay(struct symbols_builder *builder, uint64_t needed_bytes)
{
    while (!builder->is_refused && builder->charged_bytes < needed_bytes) {
        builder->is_refused = !jw_memory_charge(JW_MEMORY_UNWINDING, CHARGE_BYTES);
        builder->charged_bytes += builder->is_refused ? 0 : CHARGE_BYTES;
    }
    return !builder->is_refused;
}

bool symbols_builder_open(struct symbols_builder *builder, struct symbols_rule_table *table,
                          uint64_t text_bytes, uint64_t section_bytes, struct jw_error *err)
{
    /* Each entry has at least as many bytes as two cells, and a function three or four; each further row has a byte of program. */
    const uint64_t cell_limit = section_bytes * LARGE_CELLS + SYMBOLS_HEAD_CELLS;
    const uint64_t function_limit = section_bytes / ENTRY_MIN_BYTES + 1;

    *builder = (struct symbols_builder){.table = table,
                                        .cell_limit = (uint32_t)cell_limit,
                                        .function_limit = (uint32_t)function_limit};
    if (text_bytes > UINT32_MAX) {
        jw_error_set(err, "more than 4 GB of code");
        return false;
    }
    /* Sorted functions, and room to sort them, which is hardly ever touched. */
    if (!jw_arena_open(&builder->memory,
                       (cell_limit + 1) * sizeof(uint32_t) +
                           2 * (function_limit + 1) * sizeof(struct symbols_key),
                       "rows of a library", err))
        return false;
    builder->cells = (uint32_t *)(void *)builder->memory.bytes;
    /* Ends of pages, and what comes until the next charge, as well. */
    builder->fixed_bytes = sizeof *table + CHARGE_BYTES;
    if (!symbols_builder_charge(builder, 0)) {
        jw_error_set(err, "memlimit leaves no room for rows; try a larger one");
        jw_count(JW_COUNT_ROWS_REFUSED);
        symbols_builder_close(builder);
        return false;
    }
    memset(table->slots, 0, sizeof table->slots);
    table->rules[RULE_GAP] = symbols_rule_bare(SYMBOLS_RULE_GAP);
    builder->rule_count = 1;
    (void)rule_number(builder, symbols_rule_bare(SYMBOLS_RULE_CANNOT));
    builder->cell_count = 1; /* that of the function before all others, which has no length */
    return true;
}

void symbols_builder_close(struct symbols_builder *builder)
{
    jw_arena_close(&builder->memory);
    jw_memory_credit(JW_MEMORY_UNWINDING, builder->charged_bytes);
    builder->charged_bytes = 0;
}

static uint32_t head_cells(const struct symbols_builder *builder)
{
    return builder->is_large ? SYMBOLS_HEAD_CELLS : 1;
}

static uint32_t before_cells(const struct symbols_builder *builder)
{
    return builder->is_large ? SYMBOLS_BEFORE_CELLS : 1;
}

void symbols_builder_end(struct symbols_builder *builder)
{
    uint32_t *head = builder->cells + builder->first_cell;

    if (!builder->is_begun)
        return;
    builder->is_begun = false;
    if (builder->row_count == 0) { /* it says nothing */
        builder->cell_count = builder->first_cell - before_cells(builder);
        return;
    }
    if (builder->is_large) {
        head[-2] = builder->start;
        head[-1] = SYMBOLS_LARGE;
        head[0] = builder->row_count;
        head[1] = builder->length_bytes;
    } else {
        head[-1] = builder->start;
        head[0] = builder->row_count << SYMBOLS_CELL_SHIFT | builder->length_bytes;
    }
    builder->function_count++;
}

void symbols_builder_begin(struct symbols_builder *builder, uint32_t start, uint32_t end)
{
    symbols_builder_end(builder);
    if (end == start ||
        !symbols_builder_charge(builder, SYMBOLS_BEFORE_CELLS + SYMBOLS_HEAD_CELLS) ||
        !JW_INVARIANT(builder->function_count < builder->function_limit) ||
        !JW_INVARIANT(builder->cell_limit - builder->cell_count >=
                      SYMBOLS_BEFORE_CELLS + SYMBOLS_HEAD_CELLS))
        return;
    builder->is_begun = true;
    builder->start = start;
    builder->length_bytes = end - start;
    builder->is_large = end - start > SYMBOLS_CELL_MASK;
    builder->first_cell = builder->cell_count + before_cells(builder);
    builder->row_count = 0;
    builder->cell_count = builder->first_cell + head_cells(builder);
}

void symbols_builder_add(struct symbols_builder *builder, uint32_t text_offset,
                         struct symbols_packed rule)
{
    const uint32_t distance = text_offset - builder->start;

    if (!symbols_builder_charge(builder, LARGE_CELLS) || !builder->is_begun)
        return;

    const uint32_t number = rule_number(builder, rule);
    if (builder->row_count > 0 && builder->last_number == number)
        return;
    if (!JW_INVARIANT(builder->cell_limit - builder->cell_count >= LARGE_CELLS))
        return;
    if (builder->is_large) {
        builder->cells[builder->cell_count++] = distance;
        builder->cells[builder->cell_count++] = number;
    } else {
        builder->cells[builder->cell_count++] = number << SYMBOLS_CELL_SHIFT | distance;
    }
    builder->last_number = number;
    builder->row_count++;
}

uint32_t *symbols_builder_room(struct symbols_builder *builder, uint64_t row_max)
{
    if (!builder->is_begun || builder->is_large ||
        row_max > builder->cell_limit - builder->cell_count ||
        !symbols_builder_charge(builder, row_max))
        return NULL;
    return builder->cells + builder->cell_count;
}

void symbols_builder_took(struct symbols_builder *builder, uint32_t row_count)
{
    builder->cell_count += row_count;
    builder->row_count = row_count;
}

void symbols_builder_refuse(struct symbols_builder *builder)
{
    if (builder->is_refused || !builder->is_begun)
        return;
    builder->cell_count = builder->first_cell + head_cells(builder);
    builder->row_count = 0;
    symbols_builder_add(builder, builder->start, symbols_rule_bare(SYMBOLS_RULE_CANNOT));
}

/* The function whose offset is in this cell, and the cell behind its rows. */
static inline uint32_t function_at(const uint32_t *cells, uint32_t cell,
                                   struct symbols_key *function)
{
    const uint32_t head = cells[cell + 1];

    function->text_offset = cells[cell];
    if (head != SYMBOLS_LARGE) {
        function->value = cell + 1;
        return cell + 2 + (head >> SYMBOLS_CELL_SHIFT);
    }
    function->value = (cell + SYMBOLS_BEFORE_CELLS) | SYMBOLS_FUNCTION_IS_LARGE;
    return cell + SYMBOLS_BEFORE_CELLS + SYMBOLS_HEAD_CELLS +
           LARGE_CELLS * cells[cell + SYMBOLS_BEFORE_CELLS];
}

/* Puts a function behind those of its bucket that begin at or before it; this is `at`, or before it. */
static inline void insert(struct symbols_key *functions, uint32_t at, struct symbols_key function)
{
    functions[at] = function;
    /* Ends: what is before the bucket begins before it, or is not there yet, which is 0. */
    while (functions[at - 1].text_offset > function.text_offset) {
        functions[at] = functions[at - 1];
        functions[--at] = function;
    }
}

/*
 * The builder's functions, sorted, from functions[1] on, and for each bucket how many begin before it, which is the last of them. The order of a
 * file is nearly that of its code, with two or three strands in it.
 */
static void sort_functions(const struct symbols_builder *builder, struct symbols_key *functions,
                           uint32_t *bucket_functions, uint64_t bucket_count)
{
    struct symbols_key function;
    uint32_t sum = 0, crowd = 0;

    memset(bucket_functions, 0, (bucket_count + 1) * sizeof *bucket_functions);
    for (uint32_t cell = 1; cell < builder->cell_count;) {
        cell = function_at(builder->cells, cell, &function);
        bucket_functions[(function.text_offset >> SYMBOLS_BUCKET_SHIFT) + 1]++;
    }
    for (uint64_t bucket = 1; bucket <= bucket_count; bucket++) {
        const uint32_t count = bucket_functions[bucket];

        bucket_functions[bucket] = sum;
        sum += count;
        crowd = count > crowd ? count : crowd;
    }
    /* Here lie rows of functions that were refused; and a page is first written: reading would map it twice. */
    memset(functions, 0, ((size_t)builder->function_count + 1) * sizeof *functions);
    /* Each is now that of the bucket before the next, and in the end its own. */
    for (uint32_t cell = 1; cell < builder->cell_count;) {
        cell = function_at(builder->cells, cell, &function);
        const uint32_t at = ++bucket_functions[(function.text_offset >> SYMBOLS_BUCKET_SHIFT) + 1];

        if (crowd <= CROWD)
            insert(functions, at, function);
        else
            functions[at] = function;
    }
    if (crowd <= CROWD)
        return;
    struct symbols_key *scratch = functions + builder->function_count + 1;
    const struct symbols_key *sorted =
        symbols_sort(functions + 1, scratch, builder->function_count);

    if (sorted == scratch)
        memcpy(functions + 1, scratch, builder->function_count * sizeof *scratch);
}

/* For each bucket the last function that begins before it, so that a search begins near its end. */
static void fill_buckets(const struct symbols_rows *rows, uint32_t *bucket_functions,
                         uint64_t bucket_count)
{
    uint32_t function = 0;

    for (uint64_t bucket = 0; bucket < bucket_count; bucket++) {
        const uint64_t first_byte = bucket << SYMBOLS_BUCKET_SHIFT;

        while (function < rows->function_count &&
               rows->functions[function + 1].text_offset < first_byte)
            function++;
        bucket_functions[bucket] = function;
    }
}

/* Where functions overlap, which only damage brings about, the first has the code until it ends: the others go. */
static void keep_functions(struct symbols_rows *rows, struct symbols_key *functions, uint32_t count)
{
    uint64_t done = 0; /* the text up to here has its rows */
    uint32_t function_count = 0, row_count = 0;

    for (uint32_t i = 1; i <= count; i++) {
        const struct symbols_key function = functions[i];
        const uint32_t *head = rows->cells + (function.value & ~SYMBOLS_FUNCTION_IS_LARGE);
        const bool is_large = (function.value & SYMBOLS_FUNCTION_IS_LARGE) != 0;

        if (function.text_offset < done)
            continue;
        done = (uint64_t)function.text_offset + (is_large ? head[1] : head[0] & SYMBOLS_CELL_MASK);
        row_count += is_large ? head[0] : head[0] >> SYMBOLS_CELL_SHIFT;
        functions[++function_count] = function;
    }
    rows->functions = functions;
    rows->function_count = function_count;
    rows->row_count = row_count;
}

/* The builder's memory is the rows' from now on: without the pages behind the functions, and no more paid for than is left. */
static void take_memory(struct symbols_rows *rows, struct symbols_builder *builder,
                        uint64_t kept_bytes)
{
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    const unsigned char *end = (const unsigned char *)(rows->functions + rows->function_count + 1);
    const uint64_t end_bytes =
        ((uint64_t)(end - builder->memory.bytes) + page_bytes - 1) & ~(page_bytes - 1);

    if (end_bytes < builder->memory.capacity_bytes)
        jw_arena_drop(&builder->memory, end_bytes);
    rows->memory = builder->memory;
    builder->memory = (struct jw_arena){0};
    /* What both parts have in memory ends with a page each, and the second one begins with one. */
    rows->charged_bytes = kept_bytes + 3 * page_bytes;
    if (rows->charged_bytes > builder->charged_bytes)
        rows->charged_bytes = builder->charged_bytes;
    builder->charged_bytes -= rows->charged_bytes;
}

struct symbols_rows *symbols_builder_finish(struct symbols_builder *builder, uint64_t text_bytes,
                                            struct jw_error *err)
{
    const uint64_t bucket_count = (text_bytes >> SYMBOLS_BUCKET_SHIFT) + 2;
    const uint64_t rules_bytes = builder->rule_count * sizeof(struct symbols_packed);
    struct symbols_rows *rows = NULL;

    symbols_builder_end(builder);
    if (builder->is_refused)
        jw_error_set(err, "memlimit leaves no room for rows; try a larger one");
    else if ((rows = jw_alloc(sizeof *rows + rules_bytes +
                              (bucket_count + 1) * sizeof(uint32_t))) == NULL)
        jw_error_set(err, "out of memory for rows of a library");
    if (rows == NULL) {
        jw_count(JW_COUNT_ROWS_REFUSED);
        return NULL;
    }

    struct symbols_packed *rules = (struct symbols_packed *)(void *)(rows + 1);
    uint32_t *bucket_functions = (uint32_t *)(void *)(rules + builder->rule_count);
    const uint64_t cells_bytes =
        ((uint64_t)builder->cell_count + 1) / 2 * sizeof(struct symbols_key);
    struct symbols_key *functions =
        (struct symbols_key *)(void *)(builder->memory.bytes + cells_bytes);
    const uint64_t kept_bytes =
        cells_bytes + ((uint64_t)builder->function_count + 1) * sizeof *functions;

    memcpy(rules, builder->table->rules, rules_bytes);
    *rows = (struct symbols_rows){.text_bytes = text_bytes,
                                  .rule_count = builder->rule_count,
                                  .size_bytes = sizeof *rows + rules_bytes +
                                                bucket_count * sizeof(uint32_t) + kept_bytes,
                                  .rules = rules,
                                  .cells = builder->cells,
                                  .bucket_functions = bucket_functions};
    sort_functions(builder, functions, bucket_functions, bucket_count);
    keep_functions(rows, functions, builder->function_count);
    if (rows->function_count < builder->function_count)
        fill_buckets(rows, bucket_functions, bucket_count);
    take_memory(rows, builder, kept_bytes);
    return rows;
}

void symbols_rows_free(struct symbols_rows *rows)
{
    if (rows == NULL)
        return;
    jw_arena_close(&rows->memory);
    jw_memory_credit(JW_MEMORY_UNWINDING, rows->charged_bytes);
    jw_free(rows);
}

/* Of a function of 64 KB or more. */
static __attribute__((noinline)) JW_SIGNAL_SAFE struct symbols_packed
find_in_large(const struct symbols_rows *rows, struct symbols_key function, uint32_t distance)
{
    const uint32_t *cells = rows->cells + (function.value & ~SYMBOLS_FUNCTION_IS_LARGE);
    uint32_t low = 0, high = cells[0] - 1;

    if (distance >= cells[1])
        return rows->rules[RULE_GAP];
    cells += SYMBOLS_HEAD_CELLS;
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;

        if (cells[middle * LARGE_CELLS] <= distance)
            low = middle;
        else
            high = middle - 1;
    }
    return rows->rules[cells[low * LARGE_CELLS + 1]];
}

struct symbols_packed symbols_rows_find(const struct symbols_rows *rows, uint64_t text_offset)
{
    if (text_offset >= rows->text_bytes)
        return rows->rules[RULE_GAP];

    const uint64_t bucket = text_offset >> SYMBOLS_BUCKET_SHIFT;
    uint32_t low = rows->bucket_functions[bucket];
    uint32_t high = rows->bucket_functions[bucket + 1];

    /* Both bounded by the bits of a number, of which there are far less than 2^31: the half that holds the answer shrinks each time. */
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;

        if (rows->functions[middle].text_offset <= text_offset)
            low = middle;
        else
            high = middle - 1;
    }
    const struct symbols_key function = rows->functions[low];
    const uint32_t distance = (uint32_t)text_offset - function.text_offset;

    if ((function.value & SYMBOLS_FUNCTION_IS_LARGE) != 0)
        return find_in_large(rows, function, distance);
    const uint32_t *cells = rows->cells + function.value;
    if (distance >= (cells[0] & SYMBOLS_CELL_MASK))
        return rows->rules[RULE_GAP];
    low = 1;
    high = cells[0] >> SYMBOLS_CELL_SHIFT;
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;

        if ((cells[middle] & SYMBOLS_CELL_MASK) <= distance)
            low = middle;
        else
            high = middle - 1;
    }
    return rows->rules[cells[low] >> SYMBOLS_CELL_SHIFT];
}
