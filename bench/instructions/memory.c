/*
 * What libc does with bytes, in the plainest way: its own functions are chosen by the processor, and so would be the counts;
 * that of strcmp goes by where its texts lie, too.
 * Eight bytes an instruction or so, as there, so that a path which copies more is seen to cost more.
 */
/* The functions themselves, not what the C library puts before them. */
#undef _FORTIFY_SOURCE

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t __attribute__((may_alias, aligned(1))) word;

#define PLAIN                                                                                      \
    __attribute__((noinline, optimize("no-tree-loop-distribute-patterns", "no-tree-vectorize")))

PLAIN void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    unsigned char *out = to;
    const unsigned char *in = from;

    for (; count >= sizeof(word); count -= sizeof(word), out += sizeof(word), in += sizeof(word))
        *(word *)out = *(const word *)in;
    while (count-- > 0)
        *out++ = *in++;
    return to;
}

PLAIN void *memmove(void *to, const void *from, size_t count)
{
    unsigned char *out = to;
    const unsigned char *in = from;

    if (out <= in)
        while (count-- > 0)
            *out++ = *in++;
    else
        while (count-- > 0)
            out[count] = in[count];
    return to;
}

PLAIN void *memset(void *to, int value, size_t count)
{
    unsigned char *out = to;
    const uint64_t all = (unsigned char)value * UINT64_C(0x0101010101010101);

    for (; count >= sizeof(word); count -= sizeof(word), out += sizeof(word))
        *(word *)out = all;
    while (count-- > 0)
        *out++ = (unsigned char)value;
    return to;
}

PLAIN int memcmp(const void *left, const void *right, size_t count)
{
    const unsigned char *a = left, *b = right;

    for (; count >= sizeof(word) && *(const word *)a == *(const word *)b; count -= sizeof(word)) {
        a += sizeof(word);
        b += sizeof(word);
    }
    for (; count > 0; count--, a++, b++)
        if (*a != *b)
            return *a - *b;
    return 0;
}

PLAIN int strcmp(const char *left, const char *right)
{
    while (*left != '\0' && *left == *right) {
        left++;
        right++;
    }
    return (unsigned char)*left - (unsigned char)*right;
}
