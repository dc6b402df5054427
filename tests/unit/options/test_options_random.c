/* The check of the fuzz target, on seeded strings made of what the grammar knows and what it does not. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "../../../fuzz/options.c"

#ifdef __SANITIZE_THREAD__
#define STRINGS 10000 /* there is one thread here */
#elif defined(__SANITIZE_ADDRESS__)
#define STRINGS 25000 /* the fuzzer goes on, with the same sanitizer */
#else
#define STRINGS 100000
#endif
#define STRING_BYTES 256

TestSuite(options_random, .timeout = 1800);

static uint64_t state;

/* xorshift64* */
static uint32_t random_below(uint32_t limit)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545f4914f6cdd1dull) >> 32) % limit;
}

static size_t add_piece(char *text, size_t length_bytes)
{
    static const char *const pieces[] = {
        "start",      "stop",
        "dump",       "status",
        "version",    "event",
        "cpu",        "itimer",
        "interval",   "10ms",
        "1u",         "0",
        "-1",         "18446744073709551615",
        "0x10",       "file",
        "%p",         "%t",
        "%%",         "%",
        "out",        ".jfr",
        ".html",      ".svg",
        ".folded",    "jfr",
        "text",       "flat",
        "traces",     "collapsed",
        "flamegraph", "jstackdepth",
        "2048",       "99999",
        "chunksize",  "chunktime",
        "memlimit",   "100m",
        "1g",         "cstack",
        "agct",       "vm",
        "no",         "threads",
        "title",      "minwidth",
        "0.25",       "%",
        "loglevel",   "warn",
        "log",        "quiet",
        "alloc",      "resume",
        "wall",       "features",
        "Interval",   "intervall",
        "\n",         "\x7f",
        "\xc3\xa4",   ".",
        "1h",         "timeout",
        "loop",       "12:00:00",
        "metrics",    "list",
        "show",       "%n{3}",
        "%{HOME}",
    };
    const char *piece = pieces[random_below(JW_COUNT_OF(pieces))];
    const size_t piece_bytes = strlen(piece);

    memcpy(text + length_bytes, piece, piece_bytes);
    return length_bytes + piece_bytes;
}

static size_t make_string(char text[STRING_BYTES])
{
    const size_t wanted_bytes = random_below(STRING_BYTES - 32);
    size_t length_bytes = 0;

    while (length_bytes < wanted_bytes) {
        switch (random_below(8)) {
        case 0:
        case 1:
            text[length_bytes++] = ',';
            break;
        case 2:
        case 3:
            text[length_bytes++] = '=';
            break;
        case 4:
            if (random_below(8) == 0)
                text[length_bytes++] = (char)random_below(256);
            break;
        default:
            length_bytes = add_piece(text, length_bytes);
        }
    }
    return length_bytes;
}

Test(options_random, s10_any_string_gives_a_sound_result)
{
    unsigned accepted = 0;

    for (uint64_t seed = 1; seed <= STRINGS; seed++) {
        char text[STRING_BYTES];

        state = seed * 0x9e3779b97f4a7c15ull;
        const size_t length_bytes = make_string(text);
        /* A copy of its exact size, so that a read past the end is seen. */
        char *exact = malloc(length_bytes + 1);
        memcpy(exact, text, length_bytes);
        char *start = memmove(exact + 1, exact, length_bytes);
        bool is_accepted = false;
        const char *defect = options_defect(start, length_bytes, &is_accepted);
        accepted += is_accepted;
        free(exact);
        cr_assert(defect == NULL, "seed %llu: %s", (unsigned long long)seed, defect);
    }
    /* The generator reaches both sides. */
    cr_assert(accepted > STRINGS / 100 && accepted < STRINGS - STRINGS / 100, "%u accepted",
              accepted);
}

Test(options_random, the_longest_string_is_read_in_full)
{
    static struct options_result result;
    char *text = malloc(OPTIONS_MAX_BYTES);

    for (size_t i = 0; i < OPTIONS_MAX_BYTES; i++)
        text[i] = i % 2 == 0 ? 'x' : ',';
    bool is_accepted = false;
    cr_assert(options_defect(text, OPTIONS_MAX_BYTES, &is_accepted) == NULL && is_accepted);
    cr_assert(options_parse(text, OPTIONS_MAX_BYTES, &result));
    cr_assert(result.warnings.count == OPTIONS_MAX_BYTES / 2 + 1);
    free(text);
}
