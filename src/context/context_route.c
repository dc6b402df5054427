/* Requests that are served, and what their endpoints are, of which there are few; any, hook, on the owner's own thread. */
#include <string.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "context/context_internal.h"

#define NAMES_ROOM 2048u /* a power of two */
#define UTF8_BYTES 4u    /* of a character, at the most */

/* ---- how many there are ---- */

#define NAME_WORDS (CONTEXT_ROUTE_BYTES / sizeof(uint64_t))

/* Relaxed where nothing else is said: each word is whole, and whether one more fits need not be exact. */
struct route_name {
    _Atomic uint64_t key;   /* hash of the name; 0: free */
    _Atomic uint64_t bytes; /* of the name; 0: it is not there yet */
    _Atomic uint64_t words[NAME_WORDS];
};

/* Of NAMES_ROOM, made by the first session that wants it, before any request is told; NULL: there was no memory, all are [other]. */
static struct route_name *names;
_Static_assert(NAMES_ROOM < 1u << 12, "numbers of 12 bits");
/* Whoever asks for paths of many names takes no room from what a framework knows. */
enum kind {
    OF_PATH,
    OF_PATTERN,
    KINDS,
};
static _Atomic uint32_t name_counts[KINDS];

void context_routes_begin(void)
{
    if (names == NULL)
        names = jw_alloc(NAMES_ROOM * sizeof *names);
    if (names == NULL)
        return;
    for (size_t i = 0; i < NAMES_ROOM; i++) {
        jw_store_relaxed(&names[i].key, 0);
        jw_store_relaxed(&names[i].bytes, 0);
    }
    for (int kind = 0; kind < KINDS; kind++)
        jw_store_relaxed(&name_counts[kind], 0);
}

/* Hash of a name, never 0. */
static uint64_t key_of(const char *name, size_t length_bytes)
{
    return jw_hash64(name, length_bytes) | 1;
}

/*
 * The number of a name, from 1 on; 0: there are enough others. Twice the room of what is in it at the most, but for threads that come
 * at the same time: a search ends.
 */
static uint32_t number_of(uint64_t key, enum kind kind)
{
    for (uint32_t probe = 0; names != NULL && probe < NAMES_ROOM; probe++) {
        const uint32_t at = ((uint32_t)(key >> 8) + probe) & (NAMES_ROOM - 1);
        uint64_t found = jw_load_relaxed(&names[at].key);

        if (found == 0) {
            if (jw_load_relaxed(&name_counts[kind]) >= CONTEXT_ROUTES_LIMIT)
                return 0;
            if (jw_cas_relaxed(&names[at].key, &found, key)) {
                (void)jw_add_relaxed(&name_counts[kind], 1);
                return at + 1;
            }
        }
        if (found == key)
            return at + 1;
    }
    return 0;
}

/* Whoever finds no text there yet writes it: all of one key write the same. */
static void write_name(uint32_t number, const char text[CONTEXT_ROUTE_BYTES], size_t length_bytes)
{
    uint64_t words[NAME_WORDS];

    if (number == 0 || jw_load_relaxed(&names[number - 1].bytes) != 0)
        return;
    memset(words, 0, sizeof words);
    memcpy(words, text, length_bytes);
    /* order CONTEXT_ROUTE_NAME: releases the key, which another session may have changed, and with the length the text. */
    for (size_t i = 0; i < NAME_WORDS; i++)
        jw_store_release(&names[number - 1].words[i], words[i]);
    jw_store_release(&names[number - 1].bytes,
                     length_bytes); /* order CONTEXT_ROUTE_NAME: as said */
}

#define OPERATIONS 15u /* four bits, and none */

/* Who takes requests: texts that stay, each once. Relaxed: where it is there, it is whole. */
static _Atomic uintptr_t operations[OPERATIONS];

/* From 1 on; 0: there are too many. */
static uint32_t number_of_operation(const char *operation)
{
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        uintptr_t found = jw_load_relaxed(&operations[i]);

        if (found == 0 && jw_cas_relaxed(&operations[i], &found, (uintptr_t)operation))
            found = (uintptr_t)operation;
        if (strcmp((const char *)found, operation) == 0)
            return i + 1;
    }
    return 0;
}

static struct context_text operation_of(const struct context_place *place)
{
    const uint32_t number = place->route_operation;
    const char *text = number == 0 ? "" : (const char *)jw_load_relaxed(&operations[number - 1]);

    return (struct context_text){text, strlen(text)};
}

static uint8_t tag_of(uint64_t key)
{
    return (uint8_t)(key >> 56);
}

/* The endpoint of the request; its length; 0: it is not there, or another one's by now. */
static size_t read_name(const struct context_place *place, char text[CONTEXT_ROUTE_BYTES])
{
    static const char other[] = "[other]";
    const uint32_t number = place->route_number;
    uint64_t words[NAME_WORDS];

    if (number == 0) {
        memcpy(text, other, sizeof other);
        return sizeof other - 1;
    }
    /* order CONTEXT_ROUTE_NAME: acquires the text, and with each word a key that was there before it. */
    const uint64_t length_bytes = jw_load_acquire(&names[number - 1].bytes);
    for (size_t i = 0; i < NAME_WORDS; i++) /* order CONTEXT_ROUTE_NAME: as said */
        words[i] = jw_load_acquire(&names[number - 1].words[i]);
    const uint64_t key = jw_load_relaxed(&names[number - 1].key);
    if (length_bytes >= CONTEXT_ROUTE_BYTES ||
        (place->route_is_matched ? tag_of(key) != place->route_tag : key != place->route_name))
        return 0;
    memcpy(text, words, CONTEXT_ROUTE_BYTES);
    return length_bytes;
}

/* ---- requests ---- */

/* No two of a process are the same; other processes begin elsewhere. */
static uint64_t new_root(void)
{
    static _Atomic uint64_t begin, count; /* relaxed: a number each */
    uint64_t none = 0;

    if (jw_load_relaxed(&begin) == 0)
        (void)jw_cas_relaxed(&begin, &none, jw_hash_word(jw_now_ns()) | 1);
    const uint64_t root =
        jw_load_relaxed(&begin) + jw_add_relaxed(&count, 1) * UINT64_C(0x9e3779b97f4a7c15);
    return root == 0 ? 1 : root;
}

/* Of what the program has said itself, without a root span, all stays. */
static void set_root(context_slot slot, uint64_t root)
{
    struct context_ids ids;

    if (!context_get(slot, &ids))
        return;
    if ((ids.trace_high | ids.trace_low | ids.span_id) == 0)
        ids.span_id = root;
    ids.root_span_id = root;
    context_set(slot, &ids);
}

static void unset_root(context_slot slot, uint64_t root)
{
    struct context_ids ids;

    if (!context_get(slot, &ids))
        return;
    if (ids.span_id == root && (ids.trace_high | ids.trace_low) == 0)
        ids.span_id = 0;
    ids.root_span_id = 0;
    context_set(slot, &ids);
}

/* The program may have said something else meanwhile, which stays. */
static void close_route(context_slot slot, struct context_place *place)
{
    if (place->route_is_ours && place->root_span_id == place->route_root)
        unset_root(slot, place->route_root);
    if (place->route_opened != 0 && place->route_number == 0)
        jw_count(JW_COUNT_ROUTES_OTHER);
    place->route_root = 0;
    place->route_opened = 0;
    place->route_is_ours = 0;
    place->route_is_started = 0;
    place->route_is_kept = 0;
    place->route_is_matched = 0;
    place->route_is_begun = 0;
    place->route_is_polled = 0;
    place->route_name = 0;
}

/* A request of ours has begun now, or before. */
static void begin_root(struct context_place *place, uint64_t key)
{
    struct context_suspended what;
    const bool goes_on = key != 0 && context_resume(key, &what) && what.name == place->route_name;

    place->route_root = goes_on ? what.root_span_id : new_root();
    place->route_is_kept = goes_on;
    if (!goes_on)
        return;
    place->route_begin_ns = what.begin_ns;
    if (what.is_matched) {
        place->route_is_matched = 1;
        place->route_tag = what.tag;
        place->route_number = what.number & 0xfffu;
    }
}

static void forget_lost(context_slot slot, struct context_place *place)
{
    close_route(slot, place);
    place->route_depth = 0;
    place->route_is_asked = 0;
}

uint32_t context_route_enter(context_slot slot, uintptr_t frame, bool may_open, bool *is_asked)
{
    struct context_place *place = context_place_of(slot);

    *is_asked = false;
    if (place == NULL)
        return 0;
    if (frame != 0 && place->route_frame != 0 && frame >= place->route_frame)
        forget_lost(slot, place);
    if (place->route_opened != 0 || place->route_is_asked)
        return 0;
    if (place->route_depth++ == 0)
        place->route_frame = frame;
    place->route_is_asked = may_open;
    *is_asked = may_open;
    return place->route_depth;
}

static void tell_name(struct generations *generations, context_slot slot)
{
    const struct context_place *place = context_place_of(slot);
    char text[CONTEXT_ROUTE_BYTES];
    const struct context_text name = {text, read_name(place, text)};

    if (name.length_bytes != 0)
        (void)context_endpoint(generations, place->route_root, name, operation_of(place), slot);
}

/* `length_bytes`: 0: there is no request. */
static void open_as(struct generations *generations, context_slot slot,
                    const char text[CONTEXT_ROUTE_BYTES], size_t length_bytes,
                    const char *operation, uint64_t key)
{
    struct context_place *place = context_place_of(slot);

    if (place == NULL || !place->route_is_asked)
        return;
    place->route_is_asked = 0;
    if (length_bytes == 0 || place->route_depth == 0)
        return;
    place->route_begin_ns = jw_now_ns();
    place->route_name = key_of(text, length_bytes);
    place->route_number = number_of(place->route_name, OF_PATH) & 0xfffu;
    write_name(place->route_number, text, length_bytes);
    place->route_operation = number_of_operation(operation) & 0xfu;
    place->route_is_matched = 0;
    place->route_is_begun = 0;
    place->route_is_ours = place->root_span_id == 0;
    place->route_root = place->root_span_id;
    if (place->route_is_ours)
        begin_root(place, key);
    place->route_opened = place->route_depth;
    if (place->route_is_ours)
        set_root(slot, place->route_root);
    tell_name(generations, slot);
}

void context_route_open(struct generations *generations, context_slot slot,
                        struct context_text method, struct context_text path, const char *operation,
                        uint64_t key)
{
    char text[CONTEXT_ROUTE_BYTES];
    const bool is_request = method.length_bytes != 0 && path.length_bytes != 0;

    open_as(generations, slot, text, is_request ? context_route_name(method, path, text) : 0,
            operation, key);
}

void context_route_open_named(struct generations *generations, context_slot slot,
                              struct context_text name, const char *operation, uint64_t key)
{
    char text[CONTEXT_ROUTE_BYTES];

    if (name.length_bytes >= sizeof text)
        name.length_bytes = sizeof text - 1;
    memcpy(text, name.bytes, name.length_bytes);
    text[name.length_bytes] = '\0';
    open_as(generations, slot, text, name.length_bytes, operation, key);
}

/* One of an earlier session has no name here, and its samples have none. */
void context_route_open_kept(context_slot slot, const char *operation, uint64_t key)
{
    struct context_place *place = context_place_of(slot);
    struct context_suspended what;

    if (place == NULL || !place->route_is_asked)
        return;
    place->route_is_asked = 0;
    if (place->route_depth == 0 || place->root_span_id != 0 || key == 0 ||
        !context_resume(key, &what))
        return;
    place->route_name = what.name;
    place->route_number = number_of(what.name, OF_PATH) & 0xfffu;
    place->route_operation = number_of_operation(operation) & 0xfu;
    place->route_is_matched = 0;
    place->route_is_begun = 0;
    place->route_is_ours = 1;
    begin_root(place, key);
    place->route_opened = place->route_depth;
    set_root(slot, place->route_root);
}

bool context_route_may_match(context_slot slot, bool goes_on)
{
    const struct context_place *place = context_place_of(slot);

    return place != NULL && place->route_opened != 0 &&
           (!place->route_is_matched || (goes_on && place->route_is_begun));
}

/* Of a request that the program gave an endpoint itself since ours was told. */
static bool is_said_otherwise(const struct context_place *place)
{
    char ours[CONTEXT_ROUTE_BYTES], told[CONTEXT_TOLD_BYTES];
    const size_t told_bytes = context_endpoint_of(place->route_root, told);
    const size_t our_bytes = told_bytes == 0 ? 0 : read_name(place, ours);

    if (told_bytes == 0 || our_bytes == 0)
        return false;
    return told_bytes > our_bytes || memcmp(told, ours, told_bytes) != 0 ||
           (told_bytes < our_bytes && told_bytes + UTF8_BYTES <= CONTEXT_TOLD_BYTES);
}

/* 0: it goes on with what has no name of its own, [other]. */
static size_t name_match(const struct context_place *place, const struct context_match *match,
                         char text[CONTEXT_ROUTE_BYTES])
{
    size_t length_bytes;

    if (place->route_is_begun) {
        length_bytes = place->route_number == 0 ? 0 : read_name(place, text);
        if (length_bytes != 0)
            length_bytes = context_route_rest_name(match->pattern, text, length_bytes);
    } else {
        length_bytes =
            context_route_pattern_name(match->method, match->prefix, match->pattern, text);
    }
    return match->is_begin && length_bytes != 0 ? context_route_begin_name(text, length_bytes)
                                                : length_bytes;
}

/*
 * One that others may go on with already has it for this turn alone: its next one is matched by itself.
 */
void context_route_match(struct generations *generations, context_slot slot,
                         const struct context_match *match)
{
    struct context_place *place = context_place_of(slot);
    char text[CONTEXT_ROUTE_BYTES];

    if (!context_route_may_match(slot, match->goes_on) || match->method.length_bytes == 0 ||
        is_said_otherwise(place))
        return;
    const size_t length_bytes = name_match(place, match, text);
    if (length_bytes == 0)
        return;
    const uint64_t key = key_of(text, length_bytes);
    place->route_is_matched = 1;
    place->route_is_begun = match->is_begin;
    place->route_tag = tag_of(key);
    place->route_number = number_of(key, OF_PATTERN) & 0xfffu;
    write_name(place->route_number, text, length_bytes);
    tell_name(generations, slot);
}

bool context_route_is_open(context_slot slot, uint32_t entered)
{
    const struct context_place *place = context_place_of(slot);

    return place != NULL && entered != 0 && place->route_opened == entered;
}

static void keep(struct context_place *place, uint64_t key)
{
    context_suspend(key, &(struct context_suspended){.root_span_id = place->route_root,
                                                     .name = place->route_name,
                                                     .begin_ns = place->route_begin_ns,
                                                     .is_matched = place->route_is_matched,
                                                     .tag = place->route_tag,
                                                     .number = place->route_number});
    place->route_is_kept = 1;
}

void context_route_start(context_slot slot, uint64_t key)
{
    struct context_place *place = context_place_of(slot);

    if (place == NULL || place->route_opened == 0)
        return;
    place->route_is_started = 1;
    if (place->route_is_ours && key != 0)
        keep(place, key);
}

void context_route_turn(context_slot slot, uint64_t key, bool is_last)
{
    struct context_place *place = context_place_of(slot);

    if (place == NULL || place->route_opened == 0 || !place->route_is_ours || key == 0)
        return;
    if (!is_last && !place->route_is_kept)
        keep(place, key);
    if (is_last && place->route_is_kept) {
        context_end_suspended(key, place->route_root);
        place->route_is_kept = 0;
    }
}

bool context_route_is_started(context_slot slot)
{
    const struct context_place *place = context_place_of(slot);

    return place != NULL && place->route_is_started;
}

bool context_route_is_kept(context_slot slot)
{
    const struct context_place *place = context_place_of(slot);

    return place != NULL && place->route_is_kept;
}

/* One that is kept may be over by now, and its key another's. */
void context_route_suspend(context_slot slot, uint64_t key)
{
    struct context_place *place = context_place_of(slot);

    if (place != NULL && place->route_opened != 0 && place->route_is_ours &&
        !place->route_is_kept && key != 0)
        keep(place, key);
}

void context_route_tell(struct generations *generations, context_slot slot, uint64_t key)
{
    const struct context_place *place = context_place_of(slot);
    char text[CONTEXT_ROUTE_BYTES];

    if (place == NULL || place->route_opened == 0)
        return;
    if (key != 0)
        context_end_suspended(key, place->route_root);
    if (generations == NULL)
        return;
    const struct context_text name = {text, read_name(place, text)};
    if (name.length_bytes != 0)
        (void)context_span(generations, name, place->route_begin_ns, jw_now_ns(), slot);
}

void context_route_polled(struct generations *generations, context_slot slot,
                          struct context_text name, const char *operation)
{
    struct context_place *place = context_place_of(slot);
    bool is_asked;

    if (place == NULL || place->route_depth != 0)
        return;
    const uint32_t entered = context_route_enter(slot, 0, true, &is_asked);
    if (is_asked)
        context_route_open_named(generations, slot, name, operation, 0);
    if (place->route_opened == 0)
        (void)context_route_leave(slot, entered);
    place->route_is_polled = place->route_opened != 0;
}

bool context_route_poll(struct generations *generations, context_slot slot)
{
    struct context_place *place = context_place_of(slot);

    if (place == NULL || !place->route_is_polled)
        return false;
    context_route_tell(context_route_is_past(place) ? NULL : generations, slot, 0);
    return context_route_leave(slot, place->route_opened);
}

bool context_route_leave(context_slot slot, uint32_t entered)
{
    struct context_place *place = context_place_of(slot);

    if (place == NULL || entered == 0 || entered > place->route_depth)
        return false;
    if (place->route_opened >= entered)
        close_route(slot, place);
    place->route_is_asked = 0;
    place->route_depth = entered - 1;
    if (place->route_depth != 0)
        return false;
    place->route_frame = 0;

    static const unsigned char none[sizeof place->trace_id];
    return place->root_span_id == 0 && place->attributes_bytes == 0 &&
           memcmp(place->trace_id, none, sizeof none) == 0 &&
           memcmp(place->span_id, none, sizeof place->span_id) == 0;
}
