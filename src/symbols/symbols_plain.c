/*
 * Demangles with libiberty where it is linked in; dump.
 *
 * A name of a thousand bytes can stand for one that no memory holds: each part may name an earlier one twice. So the demangler
 * writes through a function of ours, which ends it after 64 KiB. It goes as deep as the name is long, and needs half a
 * megabyte of stack for the worst of SYMBOLS_NAME_BYTES; the agent's thread has twice that.
 */
#include "symbols/symbols_plain.h"

#include <setjmp.h>
#include <string.h>

#define TOLD_MAX_BYTES ((size_t)64 << 10) /* many times what a real name becomes */

/*
 * Source: GNU libiberty, demangle.h: name without parameters for options 0, in pieces; 0: it is not mangled so. What was
 * written by then means nothing.
 */
typedef void take_piece(const char *piece, size_t length_bytes, void *closure);
extern int cplus_demangle_v3_callback(const char *mangled, int options, take_piece *take,
                                      void *closure) __attribute__((weak));
extern int rust_demangle_callback(const char *mangled, int options, take_piece *take, void *closure)
    __attribute__((weak));

typedef int demangler(const char *mangled, int options, take_piece *take, void *closure);

struct plain {
    char *text;
    size_t room_bytes, used_bytes, told_bytes;
    jmp_buf endless;
};

bool symbols_has_demangler(void)
{
    return cplus_demangle_v3_callback != NULL;
}

/*
 * Leaves libiberty by a jump when there is no end to it, not when the room is full: it holds no lock by then, and no memory but
 * that of a Rust identifier that is not ASCII.
 */
static void take(const char *piece, size_t length_bytes, void *closure)
{
    struct plain *plain = closure;
    const size_t left_bytes = plain->room_bytes - 1 - plain->used_bytes;
    const size_t taken_bytes = length_bytes < left_bytes ? length_bytes : left_bytes;

    if (taken_bytes > 0) /* a piece of nothing may be nowhere */
        memcpy(plain->text + plain->used_bytes, piece, taken_bytes);
    plain->used_bytes += taken_bytes;
    plain->told_bytes += length_bytes;
    if (plain->told_bytes > TOLD_MAX_BYTES)
        longjmp(plain->endless, 1);
}

/* True: `text` has the plain name, or as much of it as there is room for. */
static bool demangle(demangler *by, const char *symbol, char *text, size_t room_bytes)
{
    struct plain plain = {.text = text, .room_bytes = room_bytes};
    /* Written before the jump point, and not after it. */
    struct plain *const kept = &plain;

    if (by == NULL || (setjmp(plain.endless) == 0 && by(symbol, 0, take, kept) == 0))
        return false;
    text[kept->used_bytes] = '\0';
    return kept->used_bytes > 0;
}

const char *symbols_plain_name(const char *symbol, char *text, size_t room_bytes)
{
    const bool is_rust = strncmp(symbol, "_R", 2) == 0;
    const bool is_cpp = strncmp(symbol, "_Z", 2) == 0;

    if (room_bytes == 0)
        return text;
    /* Rust before its own scheme used that of C++, with a hash as the last part. */
    if (((is_rust || is_cpp) && demangle(rust_demangle_callback, symbol, text, room_bytes)) ||
        (is_cpp && demangle(cplus_demangle_v3_callback, symbol, text, room_bytes)))
        return text;

    const size_t length_bytes = strnlen(symbol, room_bytes - 1);
    memcpy(text, symbol, length_bytes);
    text[length_bytes] = '\0';
    return text;
}
