/* Requests and replies of the JVM's attach listener, as bytes; tool. Total: replies come from others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach_internal.h"

#define ATTACH_NAME_MAX_BYTES 16 /* of a command. Source: AttachOperation::name_length_max */

/*
 * Version 1:  "1" 0  command 0  argument 0  argument 0  argument 0
 * Version 2:  "2" 0  size 0  command 0  argument 0  argument 0  argument 0
 * where size is the decimal count of the bytes behind it. Version 2 (JDK 24) has room for long
 * arguments. Source: attachListener.cpp, AttachOperation::read_request.
 */
size_t attach_encode(int version, const char *command, const char *const arguments[3],
                     char *request, size_t room_bytes)
{
    const char *texts[4] = {command};
    size_t body_bytes = 0;
    char head[32];

    for (int i = 0; i < 3; i++)
        texts[i + 1] = arguments[i] == NULL ? "" : arguments[i];
    for (int i = 0; i < 4; i++) {
        const size_t text_bytes = strlen(texts[i]);

        if (version == 1 && text_bytes > (i == 0 ? (size_t)ATTACH_NAME_MAX_BYTES
                                                 : (size_t)ATTACH_ARGUMENT_MAX_BYTES))
            return 0;
        body_bytes += text_bytes + 1;
    }

    size_t used_bytes = (size_t)snprintf(head, sizeof head, "%d", version) + 1;
    if (version >= 2)
        used_bytes +=
            (size_t)snprintf(head + used_bytes, sizeof head - used_bytes, "%zu", body_bytes) + 1;
    if (used_bytes + body_bytes > room_bytes)
        return 0;
    memcpy(request, head, used_bytes);
    for (int i = 0; i < 4; i++) {
        const size_t text_bytes = strlen(texts[i]) + 1;

        memcpy(request + used_bytes, texts[i], text_bytes);
        used_bytes += text_bytes;
    }
    return used_bytes;
}

/* A line that holds a decimal number and nothing else. */
static bool parse_number(const char *line, size_t length_bytes, int *number)
{
    const bool is_negative = length_bytes > 0 && line[0] == '-';
    long value = 0;

    if (length_bytes > 0 && line[length_bytes - 1] == '\r')
        length_bytes--;
    if (length_bytes == (size_t)is_negative || length_bytes > 10)
        return false;
    for (size_t i = is_negative; i < length_bytes; i++) {
        if (line[i] < '0' || line[i] > '9')
            return false;
        value = value * 10 + (line[i] - '0');
    }
    if (value > INT32_MAX)
        return false;
    *number = (int)(is_negative ? -value : value);
    return true;
}

bool attach_parse_reply(const char *bytes, size_t length_bytes, struct attach_reply *reply)
{
    const char *end = length_bytes == 0 ? NULL : memchr(bytes, '\n', length_bytes);
    const size_t line_bytes = end == NULL ? length_bytes : (size_t)(end - bytes);
    size_t text_bytes = end == NULL ? 0 : length_bytes - line_bytes - 1;

    memset(reply, 0, sizeof *reply);
    if (!parse_number(bytes, line_bytes, &reply->status))
        return false;
    if (text_bytes >= sizeof reply->text)
        text_bytes = sizeof reply->text - 1;
    if (text_bytes > 0)
        memcpy(reply->text, end + 1, text_bytes);
    return true;
}

/*
 * "return code: 0" from JDK 9 on, the number alone in JDK 8. JDK 21 and newer may have told of other
 * things before. Source: jvmtiAgent.cpp (jvmtiExport.cpp to JDK 20), load_agent.
 */
bool attach_parse_load(const char *text, int *code)
{
    static const char label[] = "return code: ";

    while (*text != '\0') {
        size_t line_bytes = strcspn(text, "\n");
        const char *number = text;
        size_t number_bytes = line_bytes;

        if (line_bytes >= sizeof label - 1 && memcmp(text, label, sizeof label - 1) == 0) {
            number += sizeof label - 1;
            number_bytes -= sizeof label - 1;
        }
        if (parse_number(number, number_bytes, code))
            return true;
        text += line_bytes;
        text += *text == '\n';
    }
    return false;
}
