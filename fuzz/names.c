/*
 * Any bytes as a symbol's name: it becomes text that fits, in bounded time and memory, whatever the demangler makes of it.
 */
/* s18: what a file of a library says of itself is not believed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/symbols.h"
#include "symbols/symbols_plain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[SYMBOLS_NAME_BYTES], text[SYMBOLS_NAME_BYTES], small[16];

    if (size >= sizeof name)
        size = sizeof name - 1;
    memcpy(name, data, size);
    name[size] = '\0';
    if (strlen(symbols_plain_name(name, text, sizeof text)) >= sizeof text ||
        strlen(symbols_plain_name(name, small, sizeof small)) >= sizeof small)
        abort();
    /* What is cut is the beginning of the whole, where both are plain. */
    if (strncmp(text, small, sizeof small - 1) != 0)
        abort();
    return 0;
}
