/* Two profiles method by method: figures, and how sure they are. Context: tool. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli_compare_internal.h"

#define LEAST_SHARE 0.0005 /* of its side: below it a method is not worth a row */
#define OUTSIDE     0.005  /* of the draws, on either side of an interval of 99 % */

/* Number of the method of this name, adding it on first sight; SIZE_MAX: no memory. */
static size_t method_at(struct compare *compare, const char *name)
{
    uint64_t *known = jw_map_put(&compare->index, name, strlen(name));

    if (known == NULL) {
        compare->is_out_of_memory = true;
        return SIZE_MAX;
    }
    if (*known != 0)
        return (size_t)*known - 1;
    if (compare->count == compare->capacity) {
        const size_t capacity = compare->capacity == 0 ? 256 : compare->capacity * 2;
        void *grown =
            jw_realloc(compare->methods, jw_mul_bytes(capacity, sizeof *compare->methods));

        if (grown == NULL) {
            compare->is_out_of_memory = true;
            return SIZE_MAX;
        }
        compare->methods = grown;
        compare->capacity = capacity;
    }

    const size_t bytes = strlen(name) + 1;
    char *copy = jw_alloc(bytes);
    if (copy == NULL) {
        compare->is_out_of_memory = true;
        return SIZE_MAX;
    }
    memcpy(copy, name, bytes);
    compare->methods[compare->count] = (struct compare_method){.name = copy};
    *known = ++compare->count;
    return compare->count - 1;
}

/* Cells of this name of the profile; NULL: no memory. */
static struct compare_method *find(struct compare *compare, enum compare_side side,
                                   const struct profile_name *name, const struct profile_view *view)
{
    char title[1024];

    profile_title(name, view, title, sizeof title);
    const size_t number = method_at(compare, title);
    if (number == SIZE_MAX)
        return NULL;

    struct compare_method *method = &compare->methods[number];
    if (method->cells[side] == NULL)
        method->cells[side] = jw_alloc(sizeof *method->cells[side]);
    compare->is_out_of_memory |= method->cells[side] == NULL;
    return method->cells[side] == NULL ? NULL : method;
}

void compare_add(struct compare *compare, enum compare_side side, const struct profile *profile,
                 const struct profile_view *view)
{
    const uint32_t name_count = profile_name_count(profile);
    uint32_t count;
    const struct profile_node *nodes = profile_nodes(profile, &count);
    /* `until[name]` is the end of the outermost open subtree of that name: a node before it is a recursion. */
    uint32_t *until = jw_alloc(jw_mul_bytes(name_count + 1, sizeof *until));
    size_t *number_of = jw_alloc(jw_mul_bytes(name_count + 1, sizeof *number_of));
    unsigned slice = 0;

    compare->is_out_of_memory |= until == NULL || number_of == NULL;
    for (uint32_t i = 0; i < count && !compare->is_out_of_memory; i++) {
        const struct profile_node *node = &nodes[i];
        const struct profile_name *name = profile_name_of(profile, node->name);

        if (i == 0) {
            compare->samples[side] += node->total_samples;
            continue;
        }
        if (profile_is_root(name->kind)) {
            slice = (unsigned)strtoul(name->method, NULL, 10) % COMPARE_SLICES;
            compare->whole[side][slice] += (double)node->total_weight;
            continue;
        }
        if (number_of[node->name] == 0) {
            struct compare_method *found = find(compare, side, name, view);

            if (found == NULL)
                break;
            number_of[node->name] = (size_t)(found - compare->methods) + 1;
        }

        struct compare_method *method = &compare->methods[number_of[node->name] - 1];
        method->cells[side]->self[slice] += (double)node->self_weight;
        if (i < until[node->name])
            continue;
        until[node->name] = node->end;
        method->cells[side]->total[slice] += (double)node->total_weight;
        method->samples += node->total_samples;
    }
    jw_free(until);
    jw_free(number_of);
}

/* ---- draws ---- */

/* How often each slice is drawn; `weights` are whole numbers. */
struct draw {
    double weights[COMPARE_SIDES][COMPARE_SLICES];
    double whole[COMPARE_SIDES];
};

static uint64_t next_number(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double sum_of(const double *cells, const double *weights)
{
    double sum = 0;

    for (unsigned i = 0; i < COMPARE_SLICES; i++)
        sum += cells[i] * weights[i];
    return sum;
}

static void draw_slices(const struct compare *compare, struct draw *draw, uint64_t *state)
{
    memset(draw, 0, sizeof *draw);
    for (unsigned side = 0; side < COMPARE_SIDES; side++) {
        for (unsigned i = 0; i < COMPARE_SLICES; i++)
            draw->weights[side][next_number(state) % COMPARE_SLICES] += 1;
        draw->whole[side] = sum_of(compare->whole[side], draw->weights[side]);
    }
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* What a sum of a side is, as a part of all of the side before as it was really seen. */
static double figure_of(const struct compare *compare, enum compare_side side, double sum,
                        double whole, double whole_before)
{
    switch (compare->per) {
    case COMPARE_PER_SHARE:
        return ratio(sum, whole);
    case COMPARE_PER_SECOND:
        return ratio(sum * compare->seconds[COMPARE_BEFORE], whole_before * compare->seconds[side]);
    case COMPARE_PER_RUN:
        break;
    }
    return ratio(sum, whole_before);
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;

    return a < b ? -1 : a > b;
}

struct settling {
    const struct compare *compare;
    struct draw seen;   /* each slice once */
    struct draw *draws; /* COMPARE_DRAWS of them */
    double *changes;    /* of one figure, by draw */
};

static double side_figure(const struct settling *settling, const struct draw *draw,
                          enum compare_side side, const double *cells)
{
    return cells == NULL ? 0
                         : figure_of(settling->compare, side, sum_of(cells, draw->weights[side]),
                                     draw->whole[side], settling->seen.whole[COMPARE_BEFORE]);
}

static void settle_figure(const struct settling *settling, const double *before,
                          const double *after, struct compare_figure *figure)
{
    figure->before = side_figure(settling, &settling->seen, COMPARE_BEFORE, before);
    figure->after = side_figure(settling, &settling->seen, COMPARE_AFTER, after);
    for (unsigned i = 0; i < COMPARE_DRAWS; i++)
        settling->changes[i] = side_figure(settling, &settling->draws[i], COMPARE_AFTER, after) -
                               side_figure(settling, &settling->draws[i], COMPARE_BEFORE, before);
    qsort(settling->changes, COMPARE_DRAWS, sizeof *settling->changes, compare_doubles);
    figure->low = settling->changes[(size_t)(COMPARE_DRAWS * OUTSIDE)];
    figure->high = settling->changes[(size_t)(COMPARE_DRAWS * (1 - OUTSIDE)) - 1];
}

static bool is_worth_a_row(const struct settling *settling, const struct compare_method *method)
{
    for (unsigned side = 0; side < COMPARE_SIDES; side++) {
        const struct compare_cells *cells = method->cells[side];

        if (cells != NULL && sum_of(cells->total, settling->seen.weights[side]) >=
                                 LEAST_SHARE * settling->seen.whole[side])
            return true;
    }
    return false;
}

static void free_method(struct compare_method *method)
{
    jw_free(method->name);
    jw_free(method->cells[COMPARE_BEFORE]);
    jw_free(method->cells[COMPARE_AFTER]);
}

static int compare_methods(const void *left, const void *right)
{
    const struct compare_method *a = left;
    const struct compare_method *b = right;
    const double change_a = compare_change(&a->self);
    const double change_b = compare_change(&b->self);

    if (change_a != change_b)
        return change_a > change_b ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void settle_methods(struct compare *compare, const struct settling *settling)
{
    size_t kept = 0;

    for (size_t i = 0; i < compare->count; i++) {
        struct compare_method *method = &compare->methods[i];
        const struct compare_cells *before = method->cells[COMPARE_BEFORE];
        const struct compare_cells *after = method->cells[COMPARE_AFTER];

        if (!is_worth_a_row(settling, method)) {
            free_method(method);
            continue;
        }
        settle_figure(settling, before == NULL ? NULL : before->self,
                      after == NULL ? NULL : after->self, &method->self);
        settle_figure(settling, before == NULL ? NULL : before->total,
                      after == NULL ? NULL : after->total, &method->total);
        compare->methods[kept++] = *method;
    }
    compare->count = kept;
    if (kept > 0)
        qsort(compare->methods, kept, sizeof *compare->methods, compare_methods);
}

bool compare_settle(struct compare *compare)
{
    struct settling settling = {.compare = compare};
    uint64_t state = 1;

    settling.draws = jw_alloc(jw_mul_bytes(COMPARE_DRAWS, sizeof *settling.draws));
    settling.changes = jw_alloc(jw_mul_bytes(COMPARE_DRAWS, sizeof *settling.changes));
    if (settling.draws == NULL || settling.changes == NULL || compare->is_out_of_memory) {
        compare->is_out_of_memory = true;
        goto done;
    }
    for (unsigned side = 0; side < COMPARE_SIDES; side++) {
        for (unsigned i = 0; i < COMPARE_SLICES; i++)
            settling.seen.weights[side][i] = 1;
        settling.seen.whole[side] = sum_of(compare->whole[side], settling.seen.weights[side]);
    }
    for (unsigned i = 0; i < COMPARE_DRAWS; i++)
        draw_slices(compare, &settling.draws[i], &state);
    settle_figure(&settling, compare->whole[COMPARE_BEFORE], compare->whole[COMPARE_AFTER],
                  &compare->all);
    settle_methods(compare, &settling);

done:
    jw_free(settling.draws);
    jw_free(settling.changes);
    return !compare->is_out_of_memory;
}

void compare_keep_wide(struct compare *compare, double least, double limit)
{
    size_t kept = 0;

    for (size_t i = 0; i < compare->count; i++) {
        struct compare_method *method = &compare->methods[i];
        const struct compare_figure *total = &method->total;

        if (total->before < least && total->after < least &&
            !(limit > 0 && compare_grew(total, limit)))
            free_method(method);
        else
            compare->methods[kept++] = *method;
    }
    compare->count = kept;
}

void compare_close(struct compare *compare)
{
    for (size_t i = 0; i < compare->count; i++)
        free_method(&compare->methods[i]);
    jw_free(compare->methods);
    jw_map_close(&compare->index);
    *compare = (struct compare){.count = 0};
}
