/* The kernel's own list of its functions; dump. */
#include "symbols/symbols_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES 65536u
#define LINE_BYTES  1024u
/* Bounds of what a file may make of us; kernels have a third of it. */
#define FUNCTIONS_MAX 1000000u
#define TEXT_MAX      (64u << 20)

#define KERNEL "kernel"

struct function {
    uint64_t address;
    uint32_t name, module; /* offsets in the text */
};

static struct {
    struct function *functions;
    char *text;
    uint32_t count, room;
    uint32_t text_bytes, text_room;
    uint32_t last_module; /* offset of the one put last: the list has them in a row */
    bool are_hidden;      /* every address is 0 */
    bool has_failed;      /* no memory */
} list;

void symbols_kernel_forget(void)
{
    jw_free(list.functions);
    jw_free(list.text);
    memset(&list, 0, sizeof list);
}

/* Offset of the text, 0 without memory: there lies the kernel's own name. */
static uint32_t put_text(const char *text)
{
    const uint32_t bytes = (uint32_t)strlen(text) + 1;

    if (list.text_room - list.text_bytes < bytes) {
        const uint32_t room = list.text_room == 0 ? CHUNK_BYTES : 2 * list.text_room;
        char *longer = room > TEXT_MAX ? NULL : jw_realloc(list.text, room);

        if (longer == NULL) {
            list.has_failed = true;
            return 0;
        }
        list.text = longer;
        list.text_room = room;
    }
    memcpy(list.text + list.text_bytes, text, bytes);
    list.text_bytes += bytes;
    return list.text_bytes - bytes;
}

static void put_function(uint64_t address, const char *name, const char *module)
{
    if (list.count == list.room) {
        const uint32_t room = list.room == 0 ? 4096 : 2 * list.room;
        struct function *more = room > FUNCTIONS_MAX
                                    ? NULL
                                    : jw_realloc(list.functions, jw_mul_bytes(room, sizeof *more));

        if (more == NULL) {
            list.has_failed = true;
            return;
        }
        list.functions = more;
        list.room = room;
    }
    if (strcmp(list.text + list.last_module, module) != 0)
        list.last_module = put_text(module);
    const uint32_t at = put_text(name);
    if (!list.has_failed)
        list.functions[list.count++] = (struct function){address, at, list.last_module};
}

/* "ffffffff81000000 T _stext", and behind a tab the module in brackets. Source: Linux, kernel/kallsyms.c, s_show. */
static void take_line(char *line)
{
    char *end;
    const uint64_t address = strtoull(line, &end, 16);

    if (end == line || end[0] != ' ' || end[1] == '\0' || end[2] != ' ' ||
        strchr("tTwW", end[1]) == NULL)
        return;
    if (address == 0) {
        list.are_hidden = true;
        return;
    }
    char *name = end + 3;
    char *module = strchr(name, '\t');
    if (module != NULL) {
        *module++ = '\0';
        module += *module == '[';
        module[strcspn(module, "]")] = '\0';
    }
    put_function(address, name, module == NULL || *module == '\0' ? KERNEL : module);
}

/* Whole lines; returns how many bytes begin one that goes on. A line that fits nowhere is left out. */
static size_t take_lines(char *bytes, size_t length)
{
    char *at = bytes;

    for (char *end; !list.has_failed && (end = memchr(at, '\n', length - (size_t)(at - bytes)));
         at = end + 1) {
        *end = '\0';
        take_line(at);
    }
    const size_t left = length - (size_t)(at - bytes);
    if (left >= LINE_BYTES)
        return 0;
    memmove(bytes, at, left);
    return left;
}

static bool read_list(int file)
{
    char *bytes = jw_alloc(CHUNK_BYTES + LINE_BYTES);
    size_t left = 0;
    ssize_t count = 0;

    if (bytes == NULL)
        list.has_failed = true;
    while (!list.has_failed) {
        count = read(file, bytes + left, CHUNK_BYTES);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        left = take_lines(bytes, left + (size_t)count);
    }
    jw_free(bytes);
    return count == 0;
}

static int by_address(const void *left, const void *right)
{
    const uint64_t first = ((const struct function *)left)->address;
    const uint64_t second = ((const struct function *)right)->address;

    return first < second ? -1 : first > second;
}

static bool fill(int file, const char *path, struct jw_error *err)
{
    (void)put_text(KERNEL);
    const bool is_read = read_list(file);

    if (list.has_failed)
        jw_error_set(err,
                     "functions of the kernel have no names: memlimit leaves no room for them");
    else if (!is_read)
        jw_error_set(err, "functions of the kernel have no names: %s cannot be read", path);
    else if (list.count == 0)
        jw_error_set(
            err,
            list.are_hidden
                ? "functions of the kernel have no names: %s shows no addresses; try sysctl "
                  "kernel.kptr_restrict=0, with kernel.perf_event_paranoid=1 or CAP_SYSLOG"
                : "functions of the kernel have no names: %s lists none",
            path);
    else
        return true;
    return false;
}

bool symbols_kernel_read(const char *path, struct jw_error *err)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);

    symbols_kernel_forget();
    if (file < 0) {
        jw_error_set(err, "functions of the kernel have no names: %s: %s", path, strerror(errno));
        return false;
    }
    const bool is_full = fill(file, path, err);
    (void)close(file);
    if (is_full)
        qsort(list.functions, list.count, sizeof *list.functions, by_address);
    else
        symbols_kernel_forget();
    return is_full;
}

bool symbols_kernel_find(uint64_t address, struct symbols_kernel_function *out)
{
    uint32_t low = 0, high = list.count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (list.functions[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - list.functions[low - 1].address >= SYMBOLS_KERNEL_SPAN_BYTES)
        return false;
    const struct function *found = &list.functions[low - 1];
    *out = (struct symbols_kernel_function){list.text + found->name, list.text + found->module};
    return true;
}
