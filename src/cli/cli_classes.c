/* Class files: of folders, one by one, and the list of all. Context: tool. */
#include "cli/cli_classes_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"

#define ROWS_MOST ((size_t)1 << 24)

bool cli_classes_has_end(const char *name, const char *end)
{
    const size_t name_bytes = strlen(name), end_bytes = strlen(end);

    return name_bytes > end_bytes && jw_ascii_equal(name + name_bytes - end_bytes, end);
}

bool cli_classes_is_jar(const char *name)
{
    static const char *const ends[] = {".jar", ".war", ".ear", ".zip", ".jmod"};

    for (size_t i = 0; i < JW_COUNT_OF(ends); i++) {
        if (cli_classes_has_end(name, ends[i]))
            return true;
    }
    return false;
}

void cli_classes_miss(struct cli_classes *classes, const char *name, const char *why)
{
    classes->damaged++;
    if (classes->example[0] == '\0')
        snprintf(classes->example, sizeof classes->example, "%.300s: %.200s", name, why);
}

static void *room_for_more(void *all, size_t count, size_t *capacity, size_t size_bytes,
                           struct jw_error *err)
{
    if (count < *capacity)
        return all;

    const size_t more = *capacity == 0 ? 256 : *capacity * 2;
    void *grown = more > ROWS_MOST ? NULL : jw_realloc(all, jw_mul_bytes(more, size_bytes));
    if (grown == NULL)
        jw_error_set(err, "no memory for more classes");
    else
        *capacity = more;
    return grown;
}

/* A copy of the name behind the others. */
static bool add_name(char ***all, size_t *count, size_t *capacity, const char *name,
                     struct jw_error *err)
{
    const size_t name_bytes = strlen(name) + 1;
    char **grown = room_for_more(*all, *count, capacity, sizeof *grown, err);

    if (grown == NULL)
        return false;
    *all = grown;

    char *copy = jw_alloc(name_bytes);
    if (copy == NULL) {
        jw_error_set(err, "no memory for more classes");
        return false;
    }
    memcpy(copy, name, name_bytes);
    (*all)[(*count)++] = copy;
    return true;
}

bool cli_classes_place(struct cli_classes *classes, const char *name, uint32_t *place,
                       struct jw_error *err)
{
    *place = (uint32_t)classes->place_count;
    return add_name(&classes->places, &classes->place_count, &classes->place_capacity, name, err);
}

/* Memory to read a class of that length in. */
static bool make_memory(struct cli_classes *classes, size_t length_bytes, struct jw_error *err)
{
    const size_t wanted = classfile_memory_bytes(length_bytes);

    classes->memory.used_bytes = 0;
    if (classes->memory.capacity_bytes >= wanted)
        return true;
    jw_free(classes->memory.bytes);
    classes->memory = (struct classfile_memory){.bytes = jw_alloc(wanted)};
    if (classes->memory.bytes == NULL) {
        jw_error_set(err, "no memory for a class of %zu bytes", length_bytes);
        return false;
    }
    classes->memory.capacity_bytes = wanted;
    return true;
}

static bool keep(struct cli_classes *classes, const struct cli_class *one, struct jw_error *err)
{
    struct cli_class *grown =
        room_for_more(classes->all, classes->count, &classes->capacity, sizeof *grown, err);

    if (grown == NULL)
        return false;
    classes->all = grown;
    if (classes->bytes + one->length_bytes > CLI_CLASSES_BYTES_MOST) {
        jw_error_set(err, "more than %u MiB of classes; name fewer jars or folders",
                     (unsigned)(CLI_CLASSES_BYTES_MOST >> 20));
        return false;
    }
    classes->bytes += one->length_bytes;
    classes->all[classes->count++] = *one;
    cli_progress_show(&classes->progress, "classes", classes->bytes, 0);
    return true;
}

/* "app/com/acme/Shop.class" of the place "app", or "app.jar!/com/acme/Shop.class" of "app.jar". */
static bool is_at_home(const char *place, const char *name, struct classfile_text class_name)
{
    const size_t place_bytes = strlen(place);
    const char *rest = name + place_bytes;

    if (strncmp(place, name, place_bytes) != 0)
        return false;
    if (*rest == '\0')
        return true;
    rest += strspn(rest, "!");
    rest += strspn(rest, "/");
    return strncmp(rest, class_name.bytes, class_name.length_bytes) == 0 &&
           strcmp(rest + class_name.length_bytes, ".class") == 0;
}

bool cli_classes_add(struct cli_classes *classes, uint8_t *bytes, size_t length_bytes,
                     const char *name, uint32_t place, struct jw_error *err)
{
    struct classfile file;
    struct cli_class one = {.bytes = bytes,
                            .length_bytes = (uint32_t)length_bytes,
                            .place = place,
                            .order = (uint32_t)classes->count};

    if (!make_memory(classes, length_bytes, err)) {
        jw_free(bytes);
        return false;
    }
    const enum classfile_verdict verdict =
        classfile_read(bytes, length_bytes, &classes->memory, &file);
    if (verdict != CLASSFILE_OK) {
        cli_classes_miss(classes, name, classfile_verdict_text(verdict));
        classes->damaged--;
        classes->unread[verdict]++;
        jw_free(bytes);
        return true;
    }
    one.name = classfile_name(&file);
    one.is_at_home = is_at_home(classes->places[place], name, one.name);
    if (keep(classes, &one, err))
        return true;
    jw_free(bytes);
    return false;
}

/* ---- folders and single files ---- */

uint8_t *cli_classes_read(const char *path, uint64_t most_bytes, size_t *length_bytes,
                          const char **why)
{
    struct stat found;
    uint8_t *bytes = NULL;
    /* Who opens a pipe that nobody writes to would wait for ever. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *length_bytes = 0;
    *why = NULL;
    if (fd < 0 || fstat(fd, &found) != 0)
        *why = strerror(errno);
    else if (!S_ISREG(found.st_mode))
        *why = "is no file";
    else if ((uint64_t)found.st_size > most_bytes)
        *why = "is too long";
    else if ((bytes = jw_alloc((size_t)found.st_size + 1)) == NULL)
        *why = "no memory to read it";
    while (*why == NULL && *length_bytes < (size_t)found.st_size) {
        const ssize_t count =
            read(fd, bytes + *length_bytes, (size_t)found.st_size - *length_bytes);

        if (count > 0)
            *length_bytes += (size_t)count;
        else if (count == 0)
            break; /* it became shorter meanwhile */
        else if (errno != EINTR)
            *why = strerror(errno);
    }
    if (fd >= 0)
        close(fd);
    if (*why == NULL)
        return bytes;
    jw_free(bytes);
    return NULL;
}

bool cli_read_text(const char *path, char *text, size_t most_bytes, size_t *length_bytes,
                   struct jw_error *err)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = -1;

    *length_bytes = 0;
    if (fd < 0) {
        jw_error_set(err, "%.200s: cannot be opened: %s", path, strerror(errno));
        return false;
    }
    while (*length_bytes < most_bytes) {
        count = read(fd, text + *length_bytes, most_bytes - *length_bytes);
        if (count > 0)
            *length_bytes += (size_t)count;
        else if (count == 0 || errno != EINTR)
            break;
    }
    if (count < 0)
        jw_error_set(err, "%.200s: cannot be read: %s", path, strerror(errno));
    if (!is_stdin)
        close(fd);
    return count >= 0;
}

static bool take_file(struct cli_classes *classes, const char *path, uint32_t place,
                      struct jw_error *err)
{
    size_t length_bytes;
    const char *why;
    uint8_t *bytes = cli_classes_read(path, CLI_CLASS_BYTES_MOST, &length_bytes, &why);

    if (bytes != NULL)
        return cli_classes_add(classes, bytes, length_bytes, path, place, err);
    cli_classes_miss(classes, path, why);
    return true;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

bool cli_classes_list(const char *path, struct cli_classes_names *names, struct jw_error *err)
{
    DIR *directory = opendir(path);
    bool is_good = true;

    *names = (struct cli_classes_names){.count = 0};
    if (directory == NULL) {
        jw_error_set(err, "%s", strerror(errno));
        return false;
    }
    for (;;) {
        errno = 0;

        const struct dirent *entry = readdir(directory);
        if (entry == NULL && errno != 0) {
            jw_error_set(err, "%s", strerror(errno));
            is_good = false;
        }
        if (entry == NULL || !is_good)
            break;
        if (entry->d_name[0] != '.')
            is_good = add_name(&names->all, &names->count, &names->capacity, entry->d_name, err);
    }
    closedir(directory);
    if (names->count != 0)
        qsort(names->all, names->count, sizeof *names->all, by_text);
    return is_good;
}

void cli_classes_names_close(struct cli_classes_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        jw_free(names->all[i]);
    jw_free(names->all);
}

struct folder {
    struct cli_classes *classes;
    bool has_jars;
    uint32_t place;
};

static bool take_entry(const struct folder *folder, const char *path, const char *shown,
                       struct jw_error *err)
{
    if (cli_classes_has_end(path, ".class"))
        return take_file(folder->classes, path, folder->place, err);
    if (!folder->has_jars || !cli_classes_is_jar(path))
        return true;
    if (cli_classes_take_jar(folder->classes, path, shown, err))
        return true;
    if (folder->classes->bytes >= CLI_CLASSES_BYTES_MOST)
        return false;
    /* One jar that is none does not end the look at a folder of hundreds. */
    cli_classes_miss(folder->classes, shown, "cannot be read as a jar");
    jw_error_clear(err);
    return true;
}

static bool walk_folder(const struct folder *folder, const char *path, const char *shown,
                        unsigned depth, struct jw_error *err)
{
    struct cli_classes_names names;
    struct jw_error why = {{0}};
    bool is_good = true;

    if (!cli_classes_list(path, &names, &why))
        cli_classes_miss(folder->classes, shown, why.message);
    for (size_t i = 0; is_good && i < names.count; i++) {
        char below[CLI_PATH_BYTES], below_shown[CLI_PATH_BYTES];
        struct stat found;

        if (snprintf(below, sizeof below, "%s/%s", path, names.all[i]) >= (int)sizeof below ||
            snprintf(below_shown, sizeof below_shown, "%s/%s", shown, names.all[i]) >=
                (int)sizeof below_shown ||
            lstat(below, &found) != 0)
            cli_classes_miss(folder->classes, names.all[i], "its path is too long, or it is gone");
        else if (S_ISDIR(found.st_mode) && depth < CLI_CLASSES_DEPTH)
            is_good = walk_folder(folder, below, below_shown, depth + 1, err);
        else if (S_ISREG(found.st_mode))
            is_good = take_entry(folder, below, below_shown, err);
    }
    cli_classes_names_close(&names);
    return is_good;
}

bool cli_classes_take_folder(struct cli_classes *classes, const char *path, const char *shown,
                             bool has_jars, struct jw_error *err)
{
    struct folder folder = {.classes = classes, .has_jars = has_jars};

    return cli_classes_place(classes, shown, &folder.place, err) &&
           walk_folder(&folder, path, shown, 0, err);
}

bool cli_classes_take(struct cli_classes *classes, const char *path, struct jw_error *err)
{
    const size_t before = classes->count;
    struct stat found;
    uint32_t place;
    bool is_good;

    if (stat(path, &found) != 0) {
        jw_error_set(err, "%.200s: cannot be opened: %s", path, strerror(errno));
        return false;
    }
    if (S_ISDIR(found.st_mode))
        is_good = cli_classes_take_folder(classes, path, path, true, err);
    else if (cli_classes_has_end(path, ".class"))
        is_good =
            cli_classes_place(classes, path, &place, err) && take_file(classes, path, place, err);
    else
        is_good = cli_classes_take_jar(classes, path, path, err);
    if (is_good && classes->count == before) {
        jw_error_set(err, "%.200s: holds no class that could be read%s%.200s", path,
                     classes->example[0] == '\0' ? "" : "; ", classes->example);
        return false;
    }
    return is_good;
}

/* ---- the list ---- */

static int order_of(struct classfile_text left, struct classfile_text right)
{
    const size_t common =
        left.length_bytes < right.length_bytes ? left.length_bytes : right.length_bytes;
    const int order = memcmp(left.bytes, right.bytes, common);

    if (order != 0)
        return order;
    return (left.length_bytes > right.length_bytes) - (left.length_bytes < right.length_bytes);
}

static int by_name(const void *left, const void *right)
{
    const struct cli_class *one = left, *other = right;
    const int order = order_of(one->name, other->name);

    return order != 0 ? order : (one->order > other->order) - (one->order < other->order);
}

void cli_classes_settle(struct cli_classes *classes)
{
    size_t kept = 0;

    if (classes->count == 0)
        return;
    qsort(classes->all, classes->count, sizeof *classes->all, by_name);
    for (size_t i = 0; i < classes->count; i++) {
        if (kept != 0 && order_of(classes->all[kept - 1].name, classes->all[i].name) == 0) {
            classes->hidden++;
            jw_free(classes->all[i].bytes);
        } else {
            classes->all[kept++] = classes->all[i];
        }
    }
    classes->count = kept;
}

const struct cli_class *cli_classes_find(const struct cli_classes *classes,
                                         struct classfile_text name)
{
    size_t low = 0, high = classes->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = order_of(classes->all[middle].name, name);

        if (order == 0)
            return &classes->all[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

uint64_t cli_classes_unread(const struct cli_classes *classes)
{
    uint64_t unread = classes->damaged;

    for (size_t i = 0; i < CLASSFILE_VERDICT_LIMIT; i++)
        unread += classes->unread[i];
    return unread;
}

void cli_classes_close(struct cli_classes *classes)
{
    for (size_t i = 0; i < classes->count; i++)
        jw_free(classes->all[i].bytes);
    for (size_t i = 0; i < classes->place_count; i++)
        jw_free(classes->places[i]);
    jw_free(classes->all);
    jw_free(classes->places);
    jw_free(classes->memory.bytes);
    *classes = (struct cli_classes){.count = 0};
}
