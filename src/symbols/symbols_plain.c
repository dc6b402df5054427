/* Demangles with libiberty where it is linked in; dump. */
#include "symbols/symbols_plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Source: GNU libiberty, demangle.h: name without parameters for options 0; the caller frees it. */
extern char *cplus_demangle_v3(const char *mangled, int options) __attribute__((weak));
extern char *rust_demangle(const char *mangled, int options) __attribute__((weak));

bool symbols_has_demangler(void)
{
    return cplus_demangle_v3 != NULL;
}

static char *demangle(const char *symbol)
{
    if (strncmp(symbol, "_R", 2) == 0 && rust_demangle != NULL)
        return rust_demangle(symbol, 0);
    if (strncmp(symbol, "_Z", 2) != 0 || cplus_demangle_v3 == NULL)
        return NULL;
    /* Rust before its own scheme used that of C++, with a hash as the last part. */
    char *plain = rust_demangle != NULL ? rust_demangle(symbol, 0) : NULL;
    return plain != NULL ? plain : cplus_demangle_v3(symbol, 0);
}

const char *symbols_plain_name(const char *symbol, char *text, size_t room_bytes)
{
    char *plain = demangle(symbol);

    snprintf(text, room_bytes, "%s", plain != NULL ? plain : symbol);
    free(plain); /* libiberty's, by its own malloc */
    return text;
}
