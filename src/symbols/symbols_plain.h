/*
 * symbols_plain - names as people write them: "InstanceKlass::find_method" for "_ZN13InstanceKlass11...".
 *
 * For      native frames in recordings and graphs.
 * Callers  agent (what it tells recordings).
 * Context  dump, tool: allocates.
 * Memory   the result goes to the caller's buffer.
 *
 * The demangler is that of GNU libiberty, linked in where the build finds it (C++ and Rust, without
 * parameters); without it names stay as the linker spells them.
 */
#ifndef JW_SYMBOLS_SYMBOLS_PLAIN_H
#define JW_SYMBOLS_SYMBOLS_PLAIN_H

#include "base/jw.h"

/* `text` holds the plain name, or `symbol` itself when it is not mangled; cut to fit. Returns `text`. */
const char *symbols_plain_name(const char *symbol, char *text, size_t room_bytes);

/* True when a demangler is linked in. */
bool symbols_has_demangler(void);

#endif
