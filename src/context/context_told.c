/*
 * Endpoints of the requests that are under way, for probes that ask while it lasts; any, hook.
 *
 * A root span has one place by its number, which it shares with others: the last one that was told is there. Nobody waits: who finds
 * a place in use tells nothing, or is told nothing.
 */
#include <string.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "context/context_internal.h"

#define PLACES 1024u /* a power of two; memory is touched as endpoints are told */

struct told {
    _Atomic uint32_t is_used; /* by whoever looks at the rest, or writes it */
    uint32_t length_bytes;
    uint64_t root_span_id;
    char text[CONTEXT_TOLD_BYTES];
};

static struct told all[PLACES];

static struct told *enter(uint64_t root_span_id)
{
    struct told *told = &all[jw_hash_word(root_span_id) & (PLACES - 1)];
    uint32_t unused = 0;

    /* order CONTEXT_TOLD: acquires what the last one who was here released, the text. */
    return jw_cas_acq_rel(&told->is_used, &unused, 1) ? told : NULL;
}

static void leave(struct told *told)
{
    /* order CONTEXT_TOLD: releases the text. */
    jw_store_release(&told->is_used, 0);
}

static uint32_t cut(const struct context_text *text)
{
    size_t length_bytes = text->length_bytes;

    if (length_bytes <= CONTEXT_TOLD_BYTES)
        return (uint32_t)length_bytes;
    length_bytes = CONTEXT_TOLD_BYTES;
    for (int i = 0; i < 3 && ((unsigned char)text->bytes[length_bytes] & 0xc0) == 0x80; i++)
        length_bytes--;
    return (uint32_t)length_bytes;
}

void context_tell_endpoint(uint64_t root_span_id, const struct context_text *name)
{
    struct told *told = root_span_id == 0 || name->length_bytes == 0 ? NULL : enter(root_span_id);

    if (told == NULL)
        return;
    told->root_span_id = root_span_id;
    told->length_bytes = cut(name);
    memcpy(told->text, name->bytes, told->length_bytes);
    leave(told);
}

size_t context_endpoint_of(uint64_t root_span_id, char text[CONTEXT_TOLD_BYTES])
{
    struct told *told = root_span_id == 0 ? NULL : enter(root_span_id);
    size_t length_bytes = 0;

    if (told == NULL)
        return 0;
    if (told->root_span_id == root_span_id) {
        length_bytes = told->length_bytes;
        memcpy(text, told->text, length_bytes);
    }
    leave(told);
    return length_bytes;
}
