/* Masks the secrets of a command line; any context but handler and hook. Total: any bytes give a text. */
#include "base/secrets.h"

#include <string.h>

#include "base/ascii.h"

/* In a name wherever they stand, in any case. */
static const char *const parts[] = {
    "password", "passwd",    "passphrase", "secret",     "token",    "credential",    "apikey",
    "api-key",  "api_key",   "accesskey",  "privatekey", "bearer",   "authorization", "cookie",
    "passcode", "storepass", "keypass",    "dbpass",     "userpass", "pwd",
};

/* Words of a name: between what is no letter, and where a capital follows a small letter. */
static const char *const words[] = {"key", "keys", "pass", "pw", "auth", "creds"};

static bool is_letter(char byte)
{
    return jw_ascii_lower(byte) >= 'a' && jw_ascii_lower(byte) <= 'z';
}

static bool is_equal(const char *text, const char *word, size_t length_bytes)
{
    for (size_t i = 0; i < length_bytes; i++) {
        if (jw_ascii_lower(text[i]) != word[i])
            return false;
    }
    return true;
}

static bool is_word_edge(const char *name, size_t length_bytes, size_t at)
{
    return at == 0 || at == length_bytes || !is_letter(name[at]) || !is_letter(name[at - 1]) ||
           (name[at] <= 'Z' && name[at - 1] >= 'a');
}

bool jw_is_secret_name(const char *name, size_t length_bytes)
{
    for (size_t at = 0; at < length_bytes; at++) {
        for (size_t i = 0; i < JW_COUNT_OF(parts); i++) {
            const size_t part_bytes = strlen(parts[i]);

            if (part_bytes <= length_bytes - at && is_equal(name + at, parts[i], part_bytes))
                return true;
        }
        for (size_t i = 0; i < JW_COUNT_OF(words); i++) {
            const size_t word_bytes = strlen(words[i]);

            if (word_bytes <= length_bytes - at && is_equal(name + at, words[i], word_bytes) &&
                is_word_edge(name, length_bytes, at) &&
                is_word_edge(name, length_bytes, at + word_bytes))
                return true;
        }
    }
    return false;
}

struct line {
    char *text;
    size_t room_bytes;
    size_t used_bytes;
};

static void put(struct line *line, const char *bytes, size_t length_bytes)
{
    for (size_t i = 0; i < length_bytes && line->used_bytes + 1 < line->room_bytes; i++)
        line->text[line->used_bytes++] = bytes[i] == '\0' ? ' ' : bytes[i];
}

static bool is_name_byte(char byte)
{
    return is_letter(byte) || (byte >= '0' && byte <= '9') || byte == '.' || byte == '_' ||
           byte == '-';
}

/* Behind which an address begins. Source: Oracle, JDBC Developer's Guide: jdbc:oracle:thin:scott/tiger@//host:1521/service. */
static const struct mark {
    const char *text;
    bool has_user; /* before a /, if there is an @ */
} marks[] = {{"://", false}, {":thin:", true}, {":oci:", true}};

/* The mark that stands here; NULL: none. */
static const struct mark *mark_at(const char *text, size_t length_bytes)
{
    for (size_t i = 0; i < JW_COUNT_OF(marks); i++) {
        const size_t mark_bytes = strlen(marks[i].text);

        if (length_bytes > mark_bytes && memcmp(text, marks[i].text, mark_bytes) == 0)
            return &marks[i];
    }
    return NULL;
}

/*
 * What of the address that begins here tells its user: up to the @ before its path; 0: nothing. A password may hold
 * what begins a path, as it should not: with a : before that and an @ behind it nobody can tell where it ends, and
 * all of the address is taken for it.
 */
static size_t user_bytes(const char *address, size_t length_bytes, bool has_colon)
{
    bool is_path = false;
    size_t found_bytes = 0;

    for (size_t i = 0; i < length_bytes && address[i] != ' '; i++) {
        if (strchr("/?#", address[i]) != NULL && address[i] != '\0') {
            if (!has_colon)
                break;
            is_path = true;
        }
        if (address[i] == '@' && is_path)
            return length_bytes;
        if (address[i] == '@')
            found_bytes = i;
        has_colon = has_colon || address[i] == ':';
    }
    return found_bytes;
}

/* One argument. True: it is the name of a secret, which follows as the next one. */
static bool put_argument(struct line *line, const char *argument, size_t length_bytes)
{
    const size_t first_at = length_bytes > 2 && memcmp(argument, "-D", 2) == 0 ? 2 : 0;
    size_t name_at = first_at, last_at = 0,
           last_bytes = 0; /* the last name, of which quotes may follow */

    for (size_t at = 0; at < length_bytes; at++) {
        const char byte = argument[at];

        if (is_name_byte(byte))
            continue;
        if (at > name_at) {
            last_at = name_at;
            last_bytes = at - name_at;
        }
        if ((byte == '=' || byte == ':' || byte == ' ') &&
            jw_is_secret_name(argument + last_at, last_bytes)) {
            put(line, argument, at + 1);
            put(line, JW_SECRET_MASK, sizeof JW_SECRET_MASK - 1);
            return false;
        }
        const struct mark *mark = mark_at(argument + at, length_bytes - at);
        if (mark != NULL) {
            const size_t shown_bytes = at + strlen(mark->text);
            const size_t hidden_bytes =
                user_bytes(argument + shown_bytes, length_bytes - shown_bytes, mark->has_user);

            put(line, argument, shown_bytes);
            if (hidden_bytes != 0)
                put(line, JW_SECRET_MASK, sizeof JW_SECRET_MASK - 1);
            argument += shown_bytes + hidden_bytes;
            length_bytes -= shown_bytes + hidden_bytes;
            at = (size_t)-1;
            last_bytes = 0;
        } else if (strchr("\"'\\ ", byte) == NULL || byte == '\0') {
            last_bytes = 0;
        }
        name_at = at + 1;
    }
    put(line, argument, length_bytes);
    return name_at == first_at && length_bytes > 1 && argument[0] == '-' &&
           jw_is_secret_name(argument, length_bytes);
}

/* What may follow the name of a secret that has no value; else a value may begin with '-', too. */
static bool is_option(const char *argument, size_t length_bytes)
{
    return length_bytes > 2 && argument[0] == '-' &&
           (argument[1] == '-' || argument[1] == 'D' || argument[1] == 'X');
}

/* One argument, which may be the secret that the one before named. True: as put_argument. */
static bool put_next(struct line *line, const char *argument, size_t length_bytes, bool is_secret)
{
    if (!is_secret || is_option(argument, length_bytes))
        return put_argument(line, argument, length_bytes);
    put(line, JW_SECRET_MASK, sizeof JW_SECRET_MASK - 1);
    return false;
}

size_t jw_mask_arguments(const char *arguments, size_t length_bytes, char *text, size_t room_bytes)
{
    struct line line = {text, room_bytes, 0};
    bool is_next_secret = false;

    for (size_t at = 0; at < length_bytes;) {
        const size_t argument_bytes = strnlen(arguments + at, length_bytes - at);

        if (at > 0)
            put(&line, " ", 1);
        is_next_secret = put_next(&line, arguments + at, argument_bytes, is_next_secret);
        at += argument_bytes + 1;
    }
    if (room_bytes > 0)
        text[line.used_bytes] = '\0';
    return line.used_bytes;
}

size_t jw_mask_line(const char *line, char *text, size_t room_bytes)
{
    struct line masked = {text, room_bytes, 0};
    bool is_next_secret = false;

    for (const char *at = line; *at != '\0';) {
        const char *next = strstr(at, " -");
        const size_t argument_bytes = next == NULL ? strlen(at) : (size_t)(next - at);

        if (at != line)
            put(&masked, " ", 1);
        is_next_secret = put_next(&masked, at, argument_bytes, is_next_secret);
        at += argument_bytes + (next == NULL ? 0 : 1);
    }
    if (room_bytes > 0)
        text[masked.used_bytes] = '\0';
    return masked.used_bytes;
}
