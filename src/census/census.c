/* Which places of a class take locks, and their calls. Context: hook, control, tool. */
#include "census/census_internal.h"

#include <string.h>

#define LOCKS      "java/lang/JaywalkLocks"
#define OBJECTS    "java/lang/JaywalkObjects"
#define ENTER_TYPE "(II)V"
#define EXIT_TYPE  "(I)V"
#define TRIED_TYPE "(Ljava/lang/Object;ZII)Z"
#define STAMP_TYPE "(JII)J"

#define ENTERED_TYPE "(Ljava/lang/Object;I)V"
#define CALLED_TYPE  "(Ljava/lang/Object;III)I"

enum {
    OP_ACONST_NULL = 1,
    OP_ICONST_0 = 3,
    OP_ICONST_1 = 4,
    OP_LCONST_0 = 9,
    OP_ILOAD = 21,
    OP_LLOAD = 22,
    OP_ALOAD = 25,
    OP_ALOAD_0 = 42,
    OP_ISTORE = 54,
    OP_LSTORE = 55,
    OP_ASTORE = 58,
    OP_POP = 87,
    OP_POP2 = 88,
    OP_DUP = 89,
    OP_DUP2 = 92,
    OP_SWAP = 95,
    OP_LCMP = 148,
    OP_INVOKEVIRTUAL = 182,
    OP_INVOKEINTERFACE = 185,
    OP_MONITORENTER = 194,
    OP_WIDE = 196,
};

struct weaving {
    struct census_class *of;
    struct classfile_memory *memory;
    const uint32_t *places;
    bool *gives;   /* by method: it gives a lock of java.util.concurrent back */
    uint32_t room; /* for sites */
    uint32_t base;
    bool has_calls;
};

const char *census_kind_word(enum census_kind kind)
{
    static const char *const words[] = {"monitor",   "synchronized",     "static synchronized",
                                        "Lock",      "ReentrantLock",    "ReadLock",
                                        "WriteLock", "StampedLock read", "StampedLock write"};

    return kind < CENSUS_KIND_LIMIT ? words[kind] : "";
}

/*
 * What counting calls, method handles are linked with, and virtual threads are switched by; references, whose locks the collector's threads
 * take; and what the JVM makes by itself.
 */
bool census_may_touch(const char *name)
{
    static const char *const never[] = {"java/lang/Jaywalk",
                                        "io/jaywalk/",
                                        "java/lang/invoke/",
                                        "java/lang/Thread",
                                        "java/lang/VirtualThread",
                                        "java/lang/BaseVirtualThread",
                                        "java/lang/ref/",
                                        "java/lang/Shutdown",
                                        "jdk/internal/vm/",
                                        "sun/reflect/Generated",
                                        "jdk/internal/reflect/Generated"};

    for (size_t i = 0; i < JW_COUNT_OF(never); i++) {
        if (strncmp(name, never[i], strlen(never[i])) == 0)
            return false;
    }
    return true;
}

/* ---- sites ---- */

/* Of bytes of code, which may be a part of an instruction. */
static bool may_be_site(const struct weaving *at, const uint8_t *code, uint32_t length_bytes)
{
    if (code[0] == OP_MONITORENTER)
        return true;
    return at->has_calls && code[0] >= OP_INVOKEVIRTUAL && code[0] <= OP_INVOKEINTERFACE &&
           length_bytes > 2 &&
           census_call_of(&at->of->file, (uint16_t)(code[1] << 8 | code[2])).effect !=
               CENSUS_CALL_NOTHING;
}

/* As many as there can be: while methods are written, memory that is taken is given back. */
static bool make_room(struct weaving *at)
{
    const struct classfile *file = &at->of->file;

    for (uint32_t i = 0; i < file->method_count; i++) {
        const struct classfile_member *method = &file->methods[i];

        at->room += (method->access & CLASSFILE_SYNCHRONIZED) != 0;
        for (uint32_t j = 0; method->code_offset_bytes != 0 && j < method->code_bytes; j++)
            at->room += may_be_site(at, file->bytes + method->code_offset_bytes + j,
                                    method->code_bytes - j);
    }
    at->gives = classfile_memory_take(at->memory, file->method_count + (size_t)1);
    at->of->sites =
        classfile_memory_take(at->memory, (at->room + (size_t)1) * sizeof(struct census_site));
    if (at->gives != NULL)
        memset(at->gives, 0, file->method_count + (size_t)1);
    return at->of->sites != NULL && at->gives != NULL;
}

static struct census_site *add_site(struct weaving *at)
{
    if (!JW_INVARIANT(at->of->site_count < at->room))
        return NULL;
    struct census_site *made = &at->of->sites[at->of->site_count++];
    memset(made, 0, sizeof *made);
    return made;
}

/* The first one of that method, of monitors or of calls; NULL: there is none. */
static const struct census_site *first_of_method(const struct census_class *of, uint16_t method,
                                                 bool is_call)
{
    for (uint32_t i = 0; i < of->site_count; i++) {
        const struct census_site *site = &of->sites[i];

        if (site->method == method && census_is_call(site->kind) == is_call)
            return site;
    }
    return NULL;
}

static enum census_kind kind_of(const struct classfile_member *method)
{
    return (method->access & CLASSFILE_STATIC) != 0 ? CENSUS_STATIC : CENSUS_SYNCHRONIZED;
}

static void note(struct weaving *at, const struct classfile_site *place, enum census_kind kind)
{
    const struct census_site *first = first_of_method(at->of, place->method, census_is_call(kind));
    struct census_site *made = add_site(at);

    if (made == NULL)
        return;
    made->method = place->method;
    made->line = place->line;
    made->first = (uint32_t)((first == NULL ? made : first) - at->of->sites);
    made->pc = place->pc;
    made->kind = kind;
}

static void note_call(struct weaving *at, const struct classfile_site *place)
{
    const struct census_call call = census_call_of(&at->of->file, place->constant);

    if (place->is_after || call.effect == CENSUS_CALL_NOTHING)
        return;
    if (call.effect == CENSUS_CALL_GIVES)
        at->gives[place->method] = true;
    else
        note(at, place, call.kind);
}

/* A classfile_insert that puts nothing in. Places come in the order of the code, an instruction's own one after the other. */
static void note_site(void *context, const struct classfile_site *site,
                      struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    struct weaving *at = context;

    (void)additions;
    (void)snippet;
    if (site->place == CLASSFILE_PLACE_MONITOR_ENTER && site->is_after) {
        for (uint32_t i = at->of->site_count; i-- > 0 && at->of->sites[i].method == site->method;)
            if (at->of->sites[i].kind == CENSUS_MONITOR && at->of->sites[i].pc == site->pc)
                at->of->sites[i].is_behind = true;
    } else if (site->place == CLASSFILE_PLACE_MONITOR_ENTER) {
        note(at, site, CENSUS_MONITOR);
    } else if (site->place == CLASSFILE_PLACE_ENTRY) {
        note(at, site, kind_of(&at->of->file.methods[site->method]));
    } else if (site->place == CLASSFILE_PLACE_CALL) {
        note_call(at, site);
    }
}

/* Of a method that is synchronized its ends, too. */
static uint32_t *find_places(const struct classfile *file, bool has_calls,
                             struct classfile_memory *memory)
{
    const size_t size_bytes = sizeof(uint32_t) * ((size_t)file->method_count + 1);
    uint32_t *places = classfile_memory_take(memory, size_bytes);

    for (uint32_t i = 0; places != NULL && i < file->method_count; i++) {
        const bool is_synchronized = (file->methods[i].access & CLASSFILE_SYNCHRONIZED) != 0;

        places[i] =
            CLASSFILE_AT(MONITOR_ENTER) | CLASSFILE_AT(MONITOR_EXIT) |
            (has_calls ? CLASSFILE_AT(CALL) : 0) |
            (is_synchronized ? CLASSFILE_AT(ENTRY) | CLASSFILE_AT(RETURN) | CLASSFILE_AT(THROW)
                             : 0);
        if (file->methods[i].code_offset_bytes == 0)
            places[i] = 0;
    }
    return places;
}

enum classfile_verdict census_read(const uint8_t *bytes, size_t length_bytes,
                                   struct classfile_memory *memory, struct census_class *out)
{
    struct weaving at = {.of = out, .memory = memory};
    struct classfile_rewritten nothing;

    *out = (struct census_class){.sites = NULL};
    enum classfile_verdict verdict = classfile_read(bytes, length_bytes, memory, &out->file);
    if (verdict != CLASSFILE_OK)
        return verdict;
    at.has_calls = out->has_calls = census_has_calls(&out->file);
    at.places = find_places(&out->file, out->has_calls, memory);
    if (at.places == NULL || !make_room(&at))
        return CLASSFILE_NO_MEMORY;
    if (at.room == 0)
        return CLASSFILE_OK;
    const struct classfile_plan plan = {.places = at.places, .insert = note_site, .context = &at};
    const size_t used_bytes = memory->used_bytes;
    verdict = classfile_rewrite(&out->file, &plan, memory, &nothing);
    memory->used_bytes = used_bytes;
    for (uint32_t i = 0; i < out->site_count; i++)
        out->sites[i].is_timed =
            !census_is_call(out->sites[i].kind) || at.gives[out->sites[i].method];
    return verdict;
}

/* ---- calls ---- */

static const struct census_site *find_site(const struct census_class *of,
                                           const struct classfile_site *place)
{
    const bool is_entry = place->place == CLASSFILE_PLACE_ENTRY;

    for (uint32_t i = 0; i < of->site_count; i++) {
        const struct census_site *site = &of->sites[i];
        const bool is_method = site->kind == CENSUS_SYNCHRONIZED || site->kind == CENSUS_STATIC;

        if (site->method == place->method && is_method == is_entry &&
            (is_entry || site->pc == place->pc))
            return site;
    }
    return NULL;
}

static void put_site(const struct weaving *at, const struct census_site *site, uint32_t stack_words,
                     struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    classfile_put_int(snippet, (int32_t)(at->base + (uint32_t)(site - at->of->sites)), additions,
                      stack_words + 1);
    classfile_put_int(snippet, site->is_timed ? (int32_t)(at->base + site->first) : -1, additions,
                      stack_words + 2);
}

static void put_exit(const struct weaving *at, uint16_t method, bool is_call,
                     struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    const struct census_site *first = first_of_method(at->of, method, is_call);

    if (first == NULL)
        return;
    classfile_put_int(snippet, (int32_t)(at->base + first->first), additions, 1);
    classfile_put_call(snippet, classfile_add_method(additions, LOCKS, "exit", EXIT_TYPE));
}

/* ---- objects, where they are asked for ---- */

static void put_number(const struct weaving *at, const struct census_site *site,
                       uint32_t stack_words, struct classfile_additions *additions,
                       struct classfile_snippet *snippet)
{
    classfile_put_int(snippet, (int32_t)(at->base + (uint32_t)(site - at->of->sites)), additions,
                      stack_words);
}

/* Before a MONITORENTER, whose object lies on the stack; in a synchronized method. */
static void put_entered(const struct weaving *at, const struct census_site *site, uint8_t object,
                        struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    classfile_put_op(snippet, object, 1);
    put_number(at, site, 2, additions, snippet);
    classfile_put_call(snippet, classfile_add_method(additions, OBJECTS, "entered", ENTERED_TYPE));
}

/* `opcode`: that of an int's, a long's or a reference's local, of whatever number. */
static void put_local(struct classfile_snippet *snippet, uint8_t opcode, uint16_t local,
                      uint32_t stack_words)
{
    const uint8_t code[] = {OP_WIDE, opcode, (uint8_t)(local >> 8), (uint8_t)local};
    const uint8_t short_code[] = {opcode, (uint8_t)local};

    if (local > UINT8_MAX)
        classfile_put_code(snippet, code, sizeof code, stack_words);
    else
        classfile_put_code(snippet, short_code, sizeof short_code, stack_words);
}

/* The hash lies in the first local that is taken, which is the same one before the call and behind it: no other code stands in between. */
static void put_hashed(const struct weaving *at, const struct census_site *site, bool has_arguments,
                       struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    const uint16_t hash = classfile_take_local(snippet, 1);
    uint16_t unit = 0, time = 0;

    if (has_arguments) { /* a long, and what it counts */
        unit = classfile_take_local(snippet, 1);
        time = classfile_take_local(snippet, 2);
        put_local(snippet, OP_ASTORE, unit, 0);
        put_local(snippet, OP_LSTORE, time, 0);
    }
    classfile_put_op(snippet, OP_DUP, 1);
    classfile_put_op(snippet, OP_ICONST_0, 2);
    classfile_put_op(snippet, OP_ICONST_0, 3);
    put_number(at, site, 4, additions, snippet);
    classfile_put_call(snippet, classfile_add_method(additions, OBJECTS, "called", CALLED_TYPE));
    put_local(snippet, OP_ISTORE, hash, 1);
    if (has_arguments) {
        put_local(snippet, OP_LLOAD, time, 2);
        put_local(snippet, OP_ALOAD, unit, 3);
    }
}

static void put_called(const struct weaving *at, const struct census_site *site,
                       enum census_effect effect, struct classfile_additions *additions,
                       struct classfile_snippet *snippet)
{
    static const uint8_t stamp_is_there[] = {OP_DUP2, OP_LCONST_0, OP_LCMP};
    const uint16_t hash = classfile_take_local(snippet, 1);
    const uint16_t taken = classfile_take_local(snippet, 1);

    if (effect == CENSUS_CALL_STAMPS)
        classfile_put_code(snippet, stamp_is_there, sizeof stamp_is_there, 4);
    else
        classfile_put_op(snippet, effect == CENSUS_CALL_TRIES ? OP_DUP : OP_ICONST_1, 1);
    put_local(snippet, OP_ISTORE, taken, 1);
    classfile_put_op(snippet, OP_ACONST_NULL, 1);
    put_local(snippet, OP_ILOAD, hash, 2);
    put_local(snippet, OP_ILOAD, taken, 3);
    put_number(at, site, 4, additions, snippet);
    classfile_put_call(snippet, classfile_add_method(additions, OBJECTS, "called", CALLED_TYPE));
    classfile_put_op(snippet, OP_POP, 0);
}

/* ---- of java.util.concurrent ---- */

/*
 * A lock is taken when its call comes back: what counts then must not fail, or nobody gives it back. So the same method is called before, from
 * as far up the stack, and comes to nothing: it fails there, where there is no stack for it.
 */
static void put_stamped(const struct weaving *at, const struct census_site *site, bool is_after,
                        struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    if (!is_after)
        classfile_put_op(snippet, OP_LCONST_0, 2);
    put_site(at, site, is_after ? 0 : 2, additions, snippet);
    classfile_put_call(snippet, classfile_add_method(additions, LOCKS, "stamped", STAMP_TYPE));
    if (!is_after)
        classfile_put_op(snippet, OP_POP2, 0);
}

static void put_tried(const struct weaving *at, const struct census_site *site,
                      const struct census_call *call, bool is_after,
                      struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    const bool has_answer = is_after && call->effect == CENSUS_CALL_TRIES;
    /* It says of which class it is: the call does not. */
    const bool is_told = !is_after && !call->has_arguments && site->kind == CENSUS_LOCK;

    classfile_put_op(snippet, is_told ? OP_DUP : OP_ACONST_NULL, 1);
    if (has_answer)
        classfile_put_op(snippet, OP_SWAP, 1);
    else
        classfile_put_int(snippet, is_after, additions, 2);
    put_site(at, site, has_answer ? 1 : 2, additions, snippet);
    classfile_put_call(snippet, classfile_add_method(additions, LOCKS, "tried", TRIED_TYPE));
    if (!has_answer)
        classfile_put_op(snippet, OP_POP, 0);
}

static void put_call(const struct weaving *at, const struct classfile_site *place,
                     struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    const struct census_call call = census_call_of(&at->of->file, place->constant);
    const struct census_site *site =
        call.effect == CENSUS_CALL_NOTHING || call.effect == CENSUS_CALL_GIVES
            ? NULL
            : find_site(at->of, place);

    if (call.effect == CENSUS_CALL_GIVES && place->is_after)
        put_exit(at, place->method, true, additions, snippet);
    if (site == NULL)
        return;
    if (at->of->tells_objects && !place->is_after)
        put_hashed(at, site, call.has_arguments, additions, snippet);
    if (call.effect == CENSUS_CALL_STAMPS)
        put_stamped(at, site, place->is_after, additions, snippet);
    else
        put_tried(at, site, &call, place->is_after, additions, snippet);
    if (at->of->tells_objects && place->is_after)
        put_called(at, site, call.effect, additions, snippet);
}

/* A classfile_insert. */
static void put_calls(void *context, const struct classfile_site *place,
                      struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    struct weaving *at = context;
    const bool is_entry = place->place == CLASSFILE_PLACE_ENTRY;

    if (place->place == CLASSFILE_PLACE_CALL) {
        put_call(at, place, additions, snippet);
    } else if (is_entry || place->place == CLASSFILE_PLACE_MONITOR_ENTER) {
        const struct census_site *site = find_site(at->of, place);

        if (site == NULL)
            return;
        if (at->of->tells_objects && !place->is_after && site->kind != CENSUS_STATIC)
            put_entered(at, site, is_entry ? OP_ALOAD_0 : OP_DUP, additions, snippet);
        if (!is_entry && site->is_behind != place->is_after)
            return;
        put_site(at, site, 0, additions, snippet);
        classfile_put_call(snippet, classfile_add_method(additions, LOCKS, "enter", ENTER_TYPE));
    } else {
        put_exit(at, place->method, false, additions, snippet);
    }
}

enum classfile_verdict census_weave(struct census_class *of, uint32_t first,
                                    struct classfile_memory *memory,
                                    struct classfile_rewritten *out)
{
    struct weaving at = {.of = of, .memory = memory, .base = first};

    *out = (struct classfile_rewritten){.bytes = of->file.bytes,
                                        .length_bytes = of->file.length_bytes};
    at.places = find_places(&of->file, of->has_calls, memory);
    if (at.places == NULL)
        return CLASSFILE_NO_MEMORY;
    const struct classfile_plan plan = {.places = at.places, .insert = put_calls, .context = &at};
    const enum classfile_verdict verdict = classfile_rewrite(&of->file, &plan, memory, out);
    for (uint32_t i = 0; verdict == CLASSFILE_OK && i < of->site_count; i++)
        of->sites[i].is_refused = out->methods[of->sites[i].method].verdict != CLASSFILE_OK;
    return verdict;
}
