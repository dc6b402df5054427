/* The text of /proc/self/maps: read whole, taken apart line by line; any, dump, control. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "symbols/symbols_internal.h"

#define FIRST_READ_BYTES ((size_t)64 << 10)
#define TEXT_MAX_BYTES   ((size_t)256 << 20) /* a million mappings */
#define DELETED          " (deleted)"
#define VDSO             "[vdso]"

char *symbols_maps_read(const char *path, struct jw_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t capacity_bytes = FIRST_READ_BYTES, used_bytes = 0;
    char *text = fd < 0 ? NULL : jw_alloc(capacity_bytes);

    while (text != NULL) {
        const ssize_t got = read(fd, text + used_bytes, capacity_bytes - used_bytes - 1);

        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0) {
            text[used_bytes] = '\0';
            close(fd);
            return text;
        }
        if (got < 0 || capacity_bytes >= TEXT_MAX_BYTES)
            break;
        used_bytes += (size_t)got;
        if (used_bytes + 1 < capacity_bytes)
            continue;

        char *larger = jw_realloc(text, capacity_bytes * 2);
        if (larger == NULL)
            break;
        text = larger;
        capacity_bytes *= 2;
    }
    jw_error_set(err, "%s: cannot be read: %s; native frames stay without names", path,
                 errno != 0 ? strerror(errno) : "out of memory");
    jw_free(text);
    if (fd >= 0)
        close(fd);
    return NULL;
}

/* A number that `expected` must follow; moves `at` behind that. */
static bool take_number(char **at, int radix, char expected, uint64_t *out)
{
    char *end;

    if (**at == ' ' || **at == '-' || **at == '+')
        return false;
    errno = 0;
    *out = strtoull(*at, &end, radix);
    if (end == *at || *end != expected || errno != 0)
        return false;
    *at = end + 1;
    return true;
}

/* The kernel writes a newline in a path as \012, and nothing else in that way. */
static void unescape(char *path)
{
    char *to = path;

    for (const char *from = path; *from != '\0'; to++) {
        if (strncmp(from, "\\012", 4) == 0) {
            *to = '\n';
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* One line: "start-end perms offset major:minor inode      path". */
static bool parse_line(char *line, struct symbols_mapping *out, bool *is_executable)
{
    uint64_t start, end, device_major, device_minor;

    *out = (struct symbols_mapping){0};
    if (!take_number(&line, 16, '-', &start) || !take_number(&line, 16, ' ', &end) || end <= start)
        return false;
    const char *permissions = line;
    if (strnlen(permissions, 5) < 5 || permissions[4] != ' ')
        return false;
    *is_executable = permissions[2] == 'x';
    line += 5;
    if (!take_number(&line, 16, ' ', &out->offset) || !take_number(&line, 16, ':', &device_major) ||
        !take_number(&line, 16, ' ', &device_minor) || !take_number(&line, 10, ' ', &out->inode))
        return false;
    line += strspn(line, " ");

    out->start = (uintptr_t)start;
    out->end = (uintptr_t)end;
    out->device = makedev((unsigned)device_major, (unsigned)device_minor);
    out->path = line;
    out->is_vdso = strcmp(line, VDSO) == 0;
    if (!out->is_vdso && line[0] != '/')
        return false;

    const size_t length_bytes = strlen(line);
    const size_t mark_bytes = sizeof DELETED - 1;
    if (length_bytes > mark_bytes && strcmp(line + length_bytes - mark_bytes, DELETED) == 0) {
        out->is_deleted = true;
        line[length_bytes - mark_bytes] = '\0';
    }
    unescape(line);
    return true;
}

static bool is_same_file(const struct symbols_mapping *a, const struct symbols_mapping *b)
{
    return a->device == b->device && a->inode == b->inode && strcmp(a->path, b->path) == 0;
}

size_t symbols_maps_parse(char *text, struct symbols_mapping *mappings, size_t limit)
{
    struct symbols_mapping header = {0}; /* the last one seen that shows the start of a file */
    size_t count = 0;

    for (char *line = text, *next; line != NULL && count < limit; line = next) {
        struct symbols_mapping mapping;
        bool is_executable;
        char *newline = strchr(line, '\n');

        next = newline == NULL ? NULL : newline + 1;
        if (newline != NULL)
            *newline = '\0';
        if (!parse_line(line, &mapping, &is_executable))
            continue;
        if (mapping.offset == 0)
            header = mapping;
        if (!is_executable)
            continue;
        if (header.path != NULL && is_same_file(&header, &mapping))
            mapping.header_address = header.start;
        mappings[count++] = mapping;
    }
    return count;
}
