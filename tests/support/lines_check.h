/*
 * Is this JSON, and is this CSV? By the grammars of RFC 8259 and RFC 4180, and nothing else: what a program that reads events
 * of ours would refuse, these do. Context: tool.
 */
#ifndef JW_TESTS_SUPPORT_LINES_CHECK_H
#define JW_TESTS_SUPPORT_LINES_CHECK_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LINES_CHECK_DEPTH 200

static inline const char *json_value(const char *at, unsigned depth);

static inline const char *json_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    while (*at != '"') {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at++ != '\\')
            continue;
        if (*at == 'u') {
            for (int i = 1; i <= 4; i++) {
                if (!isxdigit((unsigned char)at[i]))
                    return NULL;
            }
            at += 5;
        } else if (*at != '\0' && strchr("\"\\/bfnrt", *at) != NULL) {
            at++;
        } else {
            return NULL;
        }
    }
    return at + 1;
}

static inline const char *json_digits(const char *at)
{
    const size_t count = strspn(at, "0123456789");

    return count == 0 ? NULL : at + count;
}

static inline const char *json_number(const char *at)
{
    at += *at == '-';
    at = *at == '0' ? at + 1 : json_digits(at);
    if (at != NULL && *at == '.')
        at = json_digits(at + 1);
    if (at != NULL && (*at == 'e' || *at == 'E')) {
        at++;
        at = json_digits(at + (*at == '+' || *at == '-'));
    }
    return at;
}

/* What stands between brackets; objects have keys. */
static inline const char *json_list(const char *at, char end, unsigned depth)
{
    if (*at == end)
        return at + 1;
    for (;; at++) {
        if (end == '}') {
            at = json_string(at);
            if (at == NULL || *at++ != ':')
                return NULL;
        }
        at = json_value(at, depth + 1);
        if (at == NULL)
            return NULL;
        if (*at == end)
            return at + 1;
        if (*at != ',')
            return NULL;
    }
}

/* Behind the value that begins here, without white space; NULL: it is none. */
static inline const char *json_value(const char *at, unsigned depth)
{
    static const char *const words[] = {"null", "true", "false"};

    if (depth > LINES_CHECK_DEPTH)
        return NULL;
    if (*at == '{')
        return json_list(at + 1, '}', depth);
    if (*at == '[')
        return json_list(at + 1, ']', depth);
    if (*at == '"')
        return json_string(at);
    for (size_t i = 0; i < 3; i++) {
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return at + strlen(words[i]);
    }
    return json_number(at);
}

/* Lines, each an object, and nothing else; how many, or -1. */
static inline long json_lines(const char *text)
{
    long count = 0;

    for (; *text != '\0'; count++, text++) {
        text = *text == '{' ? json_value(text, 0) : NULL;
        if (text == NULL || *text != '\n')
            return -1;
    }
    return count;
}

/* Rows of equally many cells, none of which a spreadsheet takes for a formula; how many, or -1. */
static inline long csv_rows(const char *text)
{
    long rows = 0;
    size_t columns = 0, cells = 0;

    while (*text != '\0') {
        cells++;
        if (*text == '"') {
            text++;
            if (*text != '\0' && strchr("=+-@", *text) != NULL)
                return -1;
            for (; *text != '"' || text[1] == '"'; text += *text == '"' ? 2 : 1) {
                if ((unsigned char)*text < 0x20)
                    return -1;
            }
            text++;
        } else {
            if (*text != '\0' && strchr("=+@", *text) != NULL)
                return -1;
            text += strcspn(text, ",\r\n\"");
        }
        if (*text == ',') {
            text++;
            continue;
        }
        if (text[0] != '\r' || text[1] != '\n' || (rows > 0 && cells != columns))
            return -1;
        columns = cells;
        cells = 0;
        rows++;
        text += 2;
    }
    return cells == 0 ? rows : -1;
}

#endif
