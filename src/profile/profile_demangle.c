/*
 * Names of C++ functions out of their mangled form, without parameters: what a reader of a graph
 * wants to see, "Node::pinned" for _ZNK4Node6pinnedEv. Context: dump, tool.
 *
 * Template arguments are parsed to find their end, and shown as <>. Whatever is not understood
 * makes the whole symbol stay as it is. Source: Itanium C++ ABI, section 5.1 (mangling).
 */
#include <ctype.h>
#include <string.h>

#include "profile/profile_internal.h"

#define DEMANGLE_MAX_DEPTH 48 /* types in types */

struct demangle {
    const char *at;
    char *text;
    size_t used_bytes;
    size_t capacity_bytes;
    size_t last_begin; /* of the innermost name, for constructors */
    size_t last_end;
    unsigned depth;
    bool has_failed;
};

static const struct {
    char code[3];
    const char *text;
} demangle_operators[] = {
    {"nw", "operator new"},      {"na", "operator new[]"}, {"dl", "operator delete"},
    {"da", "operator delete[]"}, {"pl", "operator+"},      {"mi", "operator-"},
    {"ml", "operator*"},         {"dv", "operator/"},      {"rm", "operator%"},
    {"an", "operator&"},         {"or", "operator|"},      {"eo", "operator^"},
    {"aS", "operator="},         {"pL", "operator+="},     {"mI", "operator-="},
    {"eq", "operator=="},        {"ne", "operator!="},     {"lt", "operator<"},
    {"gt", "operator>"},         {"le", "operator<="},     {"ge", "operator>="},
    {"nt", "operator!"},         {"aa", "operator&&"},     {"oo", "operator||"},
    {"pp", "operator++"},        {"mm", "operator--"},     {"ls", "operator<<"},
    {"rs", "operator>>"},        {"cl", "operator()"},     {"ix", "operator[]"},
    {"pt", "operator->"},        {"de", "operator*"},      {"ad", "operator&"},
    {"co", "operator~"},         {"oR", "operator|="},     {"aN", "operator&="},
};

static const struct {
    char code;
    const char *text;
} demangle_std[] = {
    {'t', "std"},           {'a', "std::allocator"}, {'b', "std::basic_string"},
    {'s', "std::string"},   {'i', "std::istream"},   {'o', "std::ostream"},
    {'d', "std::iostream"},
};

static void demangle_type(struct demangle *state);
static void demangle_arguments(struct demangle *state);

static void demangle_put(struct demangle *state, const char *bytes, size_t length_bytes)
{
    if (state->capacity_bytes - state->used_bytes <= length_bytes) {
        state->has_failed = true;
        return;
    }
    memcpy(state->text + state->used_bytes, bytes, length_bytes);
    state->used_bytes += length_bytes;
}

/* The next part of a qualified name begins. */
static void demangle_begin_part(struct demangle *state)
{
    if (state->used_bytes > 0)
        demangle_put(state, "::", 2);
    state->last_begin = state->used_bytes;
}

static void demangle_part(struct demangle *state, const char *bytes, size_t length_bytes)
{
    demangle_begin_part(state);
    demangle_put(state, bytes, length_bytes);
    state->last_end = state->used_bytes;
}

static bool demangle_skip(struct demangle *state, char wanted)
{
    if (*state->at != wanted)
        return false;
    state->at++;
    return true;
}

/* <length><name>; Rust ends its names with a hash, which says nothing to a reader. */
static void demangle_source_name(struct demangle *state)
{
    size_t length_bytes = 0;

    for (; isdigit((unsigned char)*state->at) && length_bytes < 4096; state->at++)
        length_bytes = length_bytes * 10 + (size_t)(*state->at - '0');
    if (length_bytes == 0 || strnlen(state->at, length_bytes) < length_bytes) {
        state->has_failed = true;
        return;
    }
    const bool is_hash = length_bytes == 17 && state->at[0] == 'h' && state->used_bytes > 0 &&
                         strspn(state->at + 1, "0123456789abcdef") >= 16;
    const bool is_anonymous = strncmp(state->at, "_GLOBAL__N", 10) == 0;
    if (is_anonymous)
        demangle_part(state, "(anonymous)", 11);
    else if (!is_hash)
        demangle_part(state, state->at, length_bytes);
    state->at += length_bytes;
}

/* S_, S0_ ...: a part that stood before and is not kept; St, Ss ...: a name of std. */
static void demangle_substitution(struct demangle *state, bool is_shown)
{
    state->at++;
    for (size_t i = 0; i < JW_COUNT_OF(demangle_std); i++) {
        if (demangle_skip(state, demangle_std[i].code)) {
            if (is_shown) {
                demangle_part(state, demangle_std[i].text, strlen(demangle_std[i].text));
                state->last_begin += demangle_std[i].code == 't' ? 0 : strlen("std::");
            }
            return;
        }
    }
    while (isdigit((unsigned char)*state->at) || isupper((unsigned char)*state->at))
        state->at++;
    if (!demangle_skip(state, '_') || is_shown)
        state->has_failed = true;
}

static void demangle_constructor(struct demangle *state)
{
    const bool is_destructor = *state->at == 'D';
    char name[256];
    const size_t length_bytes = state->last_end - state->last_begin;

    if (length_bytes == 0 || length_bytes > sizeof name) {
        state->has_failed = true;
        return;
    }
    state->at += 2;
    memcpy(name, state->text + state->last_begin, length_bytes);
    demangle_begin_part(state);
    if (is_destructor)
        demangle_put(state, "~", 1);
    demangle_put(state, name, length_bytes);
}

/* {lambda(int)#2} and other types without a name: UlvE_, UliE0_, Ut_. */
static void demangle_unnamed(struct demangle *state)
{
    const bool is_lambda = state->at[1] == 'l';

    if (!is_lambda && state->at[1] != 't') {
        state->has_failed = true;
        return;
    }
    state->at += 2;
    while (is_lambda && !state->has_failed && !demangle_skip(state, 'E'))
        demangle_type(state);
    state->at += strspn(state->at, "0123456789");
    if (!demangle_skip(state, '_'))
        state->has_failed = true;
    demangle_part(state, is_lambda ? "{lambda}" : "{unnamed}", is_lambda ? 8 : 9);
}

static void demangle_operator(struct demangle *state)
{
    for (size_t i = 0; i < JW_COUNT_OF(demangle_operators); i++) {
        if (strncmp(state->at, demangle_operators[i].code, 2) == 0) {
            state->at += 2;
            demangle_part(state, demangle_operators[i].text, strlen(demangle_operators[i].text));
            return;
        }
    }
    state->has_failed = true;
}

/* One part of a name, with its tags and template arguments. */
static void demangle_unqualified(struct demangle *state)
{
    demangle_skip(state, 'L'); /* internal linkage */
    if (isdigit((unsigned char)*state->at))
        demangle_source_name(state);
    else if ((*state->at == 'C' || *state->at == 'D') && isdigit((unsigned char)state->at[1]))
        demangle_constructor(state);
    else if (*state->at == 'U')
        demangle_unnamed(state);
    else
        demangle_operator(state);
    while (!state->has_failed && demangle_skip(state, 'B')) { /* ABI tag */
        const size_t used_bytes = state->used_bytes;

        demangle_source_name(state);
        state->used_bytes = used_bytes;
    }
}

/* N [qualifiers] parts E */
static void demangle_nested(struct demangle *state)
{
    state->at++;
    state->at += strspn(state->at, "rVK");
    state->at += strspn(state->at, "RO");
    while (!state->has_failed && !demangle_skip(state, 'E')) {
        if (*state->at == 'S')
            demangle_substitution(state, true);
        else if (*state->at == 'I')
            demangle_arguments(state);
        else
            demangle_unqualified(state);
    }
}

static void demangle_name(struct demangle *state)
{
    if (*state->at == 'N') {
        demangle_nested(state);
        return;
    }
    if (*state->at == 'S')
        demangle_substitution(state, true);
    if (!state->has_failed && *state->at != 'I')
        demangle_unqualified(state);
    if (!state->has_failed && *state->at == 'I')
        demangle_arguments(state);
}

/* Passes what is not shown: names inside types. */
static void demangle_hidden(struct demangle *state, void (*parse)(struct demangle *))
{
    const struct demangle before = *state;

    state->used_bytes = 0;
    state->last_begin = state->last_end = 0;
    /* Written behind what is shown, and forgotten. */
    state->text += before.used_bytes;
    state->capacity_bytes -= before.used_bytes;
    parse(state);
    state->text = before.text;
    state->capacity_bytes = before.capacity_bytes;
    state->used_bytes = before.used_bytes;
    state->last_begin = before.last_begin;
    state->last_end = before.last_end;
}

/* L <type> <value> E, or L _Z <encoding> E */
static void demangle_literal(struct demangle *state)
{
    state->at++;
    if (strncmp(state->at, "_Z", 2) == 0) {
        state->has_failed = true;
        return;
    }
    demangle_type(state);
    state->at += strcspn(state->at, "E");
    if (!demangle_skip(state, 'E'))
        state->has_failed = true;
}

static void demangle_list(struct demangle *state)
{
    state->at++;
    while (!state->has_failed && !demangle_skip(state, 'E')) {
        if (*state->at == 'L')
            demangle_literal(state);
        else if (*state->at == 'J' || *state->at == 'I')
            demangle_list(state);
        else
            demangle_type(state);
    }
}

static void demangle_arguments(struct demangle *state)
{
    demangle_hidden(state, demangle_list);
    demangle_put(state, "<>", 2);
}

static void demangle_parameter(struct demangle *state)
{
    state->at++;
    state->at += strspn(state->at, "0123456789");
    if (!demangle_skip(state, '_'))
        state->has_failed = true;
}

static void demangle_array(struct demangle *state)
{
    state->at++;
    state->at += strspn(state->at, "0123456789");
    if (!demangle_skip(state, '_'))
        state->has_failed = true;
    else
        demangle_type(state);
}

static void demangle_type(struct demangle *state)
{
    if (state->has_failed || ++state->depth > DEMANGLE_MAX_DEPTH) {
        state->has_failed = true;
        return;
    }
    state->at += strspn(state->at, "PROKV"); /* pointers, references, qualifiers */
    if (*state->at == 'N' || isdigit((unsigned char)*state->at)) {
        demangle_hidden(state, demangle_name);
    } else if (*state->at == 'S') {
        if (state->at[1] == 't') {
            demangle_hidden(state, demangle_name);
        } else {
            demangle_substitution(state, false);
            if (*state->at == 'I')
                demangle_hidden(state, demangle_list);
        }
    } else if (*state->at == 'T') {
        demangle_parameter(state);
    } else if (*state->at == 'F') {
        demangle_hidden(state, demangle_list);
    } else if (*state->at == 'A') {
        demangle_array(state);
    } else if (strncmp(state->at, "Dn", 2) == 0 || strncmp(state->at, "Di", 2) == 0 ||
               strncmp(state->at, "Ds", 2) == 0) {
        state->at += 2;
    } else if (strncmp(state->at, "Dp", 2) == 0) {
        state->at += 2;
        demangle_type(state);
    } else if (*state->at != '\0' && strchr("vwbcahstijlmxynofdegz", *state->at) != NULL) {
        state->at++;
    } else {
        state->has_failed = true;
    }
    state->depth--;
}

bool profile_demangle(const char *symbol, char *text, size_t capacity_bytes)
{
    struct demangle state = {.text = text, .capacity_bytes = capacity_bytes};

    if (strncmp(symbol, "_Z", 2) != 0 || capacity_bytes < 2)
        return false;
    state.at = symbol + 2;
    demangle_name(&state);
    if (state.has_failed || state.used_bytes == 0)
        return false;
    text[state.used_bytes] = '\0';
    return true;
}
