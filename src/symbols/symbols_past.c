/*
 * What lay where before. A pc is named up to seconds after it was seen, so a library that went stays known until nobody can ask for
 * it; where several may have been, none is named. Any, dump, control, under the room's lock.
 */
#include "base/atomics.h"
#include "symbols/symbols_internal.h"

#define PAST_MAX      512 /* stretches of code */
#define LIBRARIES_MAX 64 /* of which so many are known by their library; the others are uncertain */

struct past {
    uintptr_t start_pc, end_pc;
    struct symbols_library *library; /* NULL: something that is not known */
    uint64_t look_number;            /* that did not find it any more */
};

static struct past pasts[PAST_MAX];
static uint32_t past_count, library_count;
/* Without room: all that was seen before this look is uncertain. */
static uint64_t blurred_look;

static void blur(struct past *past)
{
    if (past->library == NULL)
        return;
    symbols_library_release(past->library);
    past->library = NULL;
    library_count--;
}

/* The same stretch again, in a program that loads and unloads all the time. */
static bool widen(uintptr_t start_pc, uintptr_t end_pc, uint64_t look_number)
{
    for (uint32_t i = 0; i < past_count; i++) {
        struct past *past = &pasts[i];

        if (past->library != NULL || past->start_pc > start_pc || past->end_pc < end_pc)
            continue;
        if (past->look_number < look_number)
            past->look_number = look_number;
        return true;
    }
    return false;
}

void symbols_past_add(uintptr_t start_pc, uintptr_t end_pc, struct symbols_library *library,
                      uint64_t look_number)
{
    if (library == NULL || library_count == LIBRARIES_MAX) {
        if (widen(start_pc, end_pc, look_number))
            return;
        library = NULL;
    }
    if (past_count == PAST_MAX) {
        blurred_look = look_number;
        return;
    }
    if (library != NULL) {
        library->snapshot_count++;
        library_count++;
    }
    pasts[past_count++] = (struct past){
        .start_pc = start_pc, .end_pc = end_pc, .library = library, .look_number = look_number};
}

void symbols_past_doubt(const struct symbols_snapshot *old, uint64_t look_number)
{
    for (uint32_t i = 0; i < past_count; i++) {
        struct past *past = &pasts[i];

        if (past->library == NULL ||
            (old != NULL && symbols_snapshot_watches(old, past->start_pc, past->end_pc)))
            continue;
        blur(past);
        past->look_number = look_number;
    }
}

void symbols_past_forget(uint64_t look_number)
{
    uint32_t kept = 0;

    if (blurred_look <= look_number)
        blurred_look = 0;
    for (uint32_t i = 0; i < past_count; i++) {
        if (pasts[i].look_number <= look_number)
            blur(&pasts[i]);
        else
            pasts[kept++] = pasts[i];
    }
    past_count = kept;
}

struct symbols_library *symbols_past_find(uintptr_t pc, struct symbols_library *current,
                                          bool *is_uncertain)
{
    struct symbols_library *found = current;

    *is_uncertain = blurred_look != 0 || (current != NULL && jw_load_relaxed(&current->is_doubted));
    for (uint32_t i = 0; i < past_count && !*is_uncertain; i++) {
        struct past *past = &pasts[i];

        if (pc < past->start_pc || pc >= past->end_pc)
            continue;
        *is_uncertain = past->library == NULL || jw_load_relaxed(&past->library->is_doubted) ||
                        (found != NULL && !symbols_library_is_twin(found, past->library));
        found = found != NULL ? found : past->library;
    }
    return *is_uncertain ? NULL : found;
}

uint32_t symbols_past_count(void)
{
    return library_count;
}

void symbols_past_forget_names(void)
{
    for (uint32_t i = 0; i < past_count; i++)
        if (pasts[i].library != NULL)
            symbols_library_forget_names(pasts[i].library);
}
