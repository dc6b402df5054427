/* Names of endpoints, of few kinds, out of methods and paths of requests, or out of patterns that a framework has for them. Context: any. */
#include <string.h>

#include "context/context_internal.h"

#define SEGMENTS_LIMIT      8u    /* of a path; what is below them is one */
#define SEGMENT_BYTES_LIMIT 48u   /* no name that somebody thought of is longer */
#define PATTERN_BYTES       1024u /* so much of one is looked at */
#define HEX_ID_BYTES        8u
#define TOKEN_BYTES         16u
#define TOKEN_DIGITS        3u

struct writer {
    char *text;
    size_t used_bytes;
};

static void put(struct writer *to, const char *bytes, size_t length_bytes)
{
    for (size_t i = 0; i < length_bytes && to->used_bytes < CONTEXT_ROUTE_BYTES - 1; i++)
        to->text[to->used_bytes++] = bytes[i];
    to->text[to->used_bytes] = '\0';
}

static void put_text(struct writer *to, const char *text)
{
    put(to, text, strlen(text));
}

/* Those of RFC 9110, 5789 and 4918: whoever asks may write any word. */
static void put_method(struct writer *to, struct context_text method)
{
    static const char *const known[] = {
        "GET",   "HEAD",     "POST",      "PUT",   "DELETE", "CONNECT", "OPTIONS", "TRACE",
        "PATCH", "PROPFIND", "PROPPATCH", "MKCOL", "COPY",   "MOVE",    "LOCK",    "UNLOCK"};

    for (size_t i = 0; i < JW_COUNT_OF(known); i++) {
        if (strlen(known[i]) == method.length_bytes &&
            memcmp(known[i], method.bytes, method.length_bytes) == 0) {
            put_text(to, known[i]);
            return;
        }
    }
    put_text(to, "[method]");
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_hex_letter(char byte)
{
    return (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/*
 * Whether a part of a path is rather one of many than a name that the program has: a number, a UUID or a hash, a token, an address,
 * whatever is written with escapes. "v2", "oauth2", "2024-report" are names.
 */
static bool is_id(const char *bytes, size_t length_bytes)
{
    size_t digits = 0, hex = 0, letters = 0;

    if (length_bytes > SEGMENT_BYTES_LIMIT)
        return true;
    for (size_t i = 0; i < length_bytes; i++) {
        if ((unsigned char)bytes[i] <= ' ' || (unsigned char)bytes[i] >= 0x7f ||
            strchr("%@+=,:'\"<>&|\\{}[]^`", bytes[i]) != NULL)
            return true;
        digits += is_digit(bytes[i]);
        hex += is_hex_letter(bytes[i]);
        letters += is_letter(bytes[i]);
    }
    if (digits == 0)
        return false;
    return letters == 0 || (letters == hex && digits + letters >= HEX_ID_BYTES) ||
           (length_bytes >= TOKEN_BYTES && digits >= TOKEN_DIGITS);
}

static size_t segment_end(struct context_text path, size_t at)
{
    while (at < path.length_bytes && path.bytes[at] != '/')
        at++;
    return at;
}

/* Without parameters of it, as ";jsessionid=4711". */
static size_t plain_length(const char *bytes, size_t length_bytes)
{
    const char *semicolon = memchr(bytes, ';', length_bytes);

    return semicolon == NULL ? length_bytes : (size_t)(semicolon - bytes);
}

/* Or stars. */
static bool has_variables(struct context_text part)
{
    for (size_t i = 0; i < part.length_bytes; i++) {
        if (strchr("{}*?", part.bytes[i]) != NULL)
            return true;
    }
    return false;
}

/* `is_pattern`: it has such parts, which stay as they are, and as many parts as somebody wrote. */
static void put_path(struct writer *to, struct context_text path, bool is_pattern)
{
    uint32_t segments = 0;
    size_t at = 0;

    while (at < path.length_bytes) {
        const size_t begin = at + (path.bytes[at] == '/');
        const size_t end = segment_end(path, begin);
        const size_t length = plain_length(path.bytes + begin, end - begin);
        const struct context_text part = {path.bytes + begin, length};

        at = end > at ? end : at + 1;
        if (length == 0)
            continue; /* "//", and the slash at the end */
        if (++segments > SEGMENTS_LIMIT && !is_pattern) {
            put_text(to, "/**");
            return;
        }
        put_text(to, "/");
        if (is_id(part.bytes, length) && !(is_pattern && has_variables(part)))
            put_text(to, "{id}");
        else
            put(to, part.bytes, length);
    }
}

/* "http://host/orders", as clients of proxies write it, is "/orders". */
static struct context_text path_of(struct context_text uri)
{
    const char *scheme = memmem(uri.bytes, uri.length_bytes, "://", 3);
    const char *slash = memchr(uri.bytes, '/', uri.length_bytes);

    if (scheme == NULL || slash == NULL || slash != scheme + 1)
        return uri;
    const size_t skipped = (size_t)(scheme + 3 - uri.bytes);
    const size_t end = segment_end((struct context_text){uri.bytes, uri.length_bytes}, skipped);
    return (struct context_text){uri.bytes + end, uri.length_bytes - end};
}

/* Of "/orders/{id : [0-9]{3}}/items" what is of any use to a reader. Its length. */
static size_t without_expressions(struct context_text pattern, char text[PATTERN_BYTES])
{
    size_t length = 0, depth = 0;
    bool is_left_out = false;

    for (size_t i = 0; i < pattern.length_bytes && length < PATTERN_BYTES; i++) {
        depth -= pattern.bytes[i] == '}' && depth != 0;
        is_left_out = depth != 0 && (is_left_out || pattern.bytes[i] == ':');
        depth += pattern.bytes[i] == '{';
        if (!is_left_out && (depth == 0 || pattern.bytes[i] != ' '))
            text[length++] = pattern.bytes[i];
    }
    return length;
}

static size_t end_name(struct writer *to, size_t begin)
{
    if (to->used_bytes == begin)
        put_text(to, "/");
    return to->used_bytes;
}

size_t context_route_name(struct context_text method, struct context_text path,
                          char text[CONTEXT_ROUTE_BYTES])
{
    struct writer to = {.text = text};

    if (path.length_bytes > CONTEXT_ROUTE_PATH_BYTES)
        path.length_bytes = CONTEXT_ROUTE_PATH_BYTES;
    for (size_t i = 0; i < path.length_bytes; i++) {
        if (path.bytes[i] == '?' || path.bytes[i] == '#')
            path.length_bytes = i;
    }
    put_method(&to, method);
    put_text(&to, " ");
    const size_t begin = to.used_bytes;
    put_path(&to, path_of(path), false);
    return end_name(&to, begin);
}

size_t context_route_pattern_name(struct context_text method, struct context_text prefix,
                                  struct context_text pattern, char text[CONTEXT_ROUTE_BYTES])
{
    char plain[PATTERN_BYTES];
    const struct context_text path = {plain, without_expressions(pattern, plain)};
    struct writer to = {.text = text};

    put_method(&to, method);
    put_text(&to, " ");
    const size_t begin = to.used_bytes;
    put_path(&to, prefix, false);
    put_path(&to, path, has_variables(path));
    return end_name(&to, begin);
}

static const char below[] = "/**"; /* what is under a path, whatever that is */

size_t context_route_begin_name(char text[CONTEXT_ROUTE_BYTES], size_t length_bytes)
{
    struct writer to = {.text = text, .used_bytes = length_bytes};

    if (length_bytes != 0 && text[length_bytes - 1] == '/')
        to.used_bytes--;
    put_text(&to, below);
    return to.used_bytes;
}

size_t context_route_rest_name(struct context_text pattern, char text[CONTEXT_ROUTE_BYTES],
                               size_t length_bytes)
{
    const size_t below_bytes = sizeof below - 1;
    char plain[PATTERN_BYTES];
    const struct context_text path = {plain, without_expressions(pattern, plain)};
    struct writer to = {.text = text, .used_bytes = length_bytes};

    if (length_bytes >= below_bytes &&
        memcmp(text + length_bytes - below_bytes, below, below_bytes) == 0)
        to.used_bytes -= below_bytes;
    text[to.used_bytes] = '\0';
    put_path(&to, path, has_variables(path));
    if (to.used_bytes != 0 && text[to.used_bytes - 1] == ' ')
        put_text(&to, "/");
    return to.used_bytes;
}
