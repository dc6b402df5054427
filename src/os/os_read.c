/* Reads small files; any, dump, control. */
#include "os/os_read_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FIRST_BYTES ((size_t)16384)

/* Files of /proc give less than was asked for long before their end. */
static size_t read_until(int descriptor, char *text, size_t capacity_bytes)
{
    size_t length_bytes = 0;

    while (length_bytes < capacity_bytes) {
        const ssize_t count = read(descriptor, text + length_bytes, capacity_bytes - length_bytes);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        length_bytes += (size_t)count;
    }
    return length_bytes;
}

size_t os_read_start(const char *path, char *text, size_t capacity_bytes)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);

    text[0] = '\0';
    if (descriptor < 0)
        return 0;
    const size_t length_bytes = read_until(descriptor, text, capacity_bytes - 1);
    text[length_bytes] = '\0';
    close(descriptor);
    return length_bytes;
}

char *os_read_whole(const char *path, size_t limit_bytes, size_t *length_bytes)
{
    size_t capacity_bytes = FIRST_BYTES < limit_bytes ? FIRST_BYTES : limit_bytes;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);

    *length_bytes = 0;
    if (descriptor < 0)
        return NULL;

    char *text = jw_alloc(capacity_bytes);
    while (text != NULL) {
        *length_bytes +=
            read_until(descriptor, text + *length_bytes, capacity_bytes - *length_bytes);
        if (*length_bytes < capacity_bytes || capacity_bytes == limit_bytes)
            break;
        capacity_bytes = capacity_bytes < limit_bytes / 2 ? capacity_bytes * 2 : limit_bytes;

        char *longer = jw_realloc(text, capacity_bytes);
        if (longer == NULL)
            jw_free(text);
        text = longer;
    }
    close(descriptor);
    if (text == NULL)
        *length_bytes = 0;
    return text;
}
