/* Files and folders of recordings. Context: tool. */
#include "cli/cli_files_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_DEPTH 32
#define MAX_FILES ((size_t)1 << 20)

static bool add(struct cli_files *files, const char *path, uint64_t bytes, struct jw_error *err)
{
    const size_t path_bytes = strlen(path) + 1;

    if (files->count == files->capacity) {
        const size_t capacity = files->capacity == 0 ? 64 : files->capacity * 2;
        char **grown = files->count >= MAX_FILES
                           ? NULL
                           : jw_realloc(files->paths, jw_mul_bytes(capacity, sizeof *grown));

        if (grown == NULL) {
            jw_error_set(err, "too many recordings for the memory there is: %zu", files->count);
            return false;
        }
        files->paths = grown;
        files->capacity = capacity;
    }
    char *copy = jw_alloc(path_bytes);
    if (copy == NULL) {
        jw_error_set(err, "too many recordings for the memory there is: %zu", files->count);
        return false;
    }
    memcpy(copy, path, path_bytes);
    files->paths[files->count++] = copy;
    files->bytes += bytes;
    return true;
}

static bool add_folder(struct cli_files *files, const char *folder, unsigned depth,
                       struct jw_error *err)
{
    DIR *directory = opendir(folder);
    bool is_good = true;

    if (directory == NULL) {
        jw_error_set(err, "%.200s: cannot be opened: %s", folder, strerror(errno));
        return false;
    }
    for (struct dirent *entry; is_good && (entry = readdir(directory)) != NULL;) {
        char path[CLI_PATH_BYTES];
        struct stat found;
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);

        if (entry->d_name[0] == '.' || length < 0 || (size_t)length >= sizeof path ||
            lstat(path, &found) != 0)
            continue;
        if (S_ISDIR(found.st_mode) && depth < MAX_DEPTH)
            is_good = add_folder(files, path, depth + 1, err);
        else if (S_ISREG(found.st_mode) && cli_is_recording_name(path))
            is_good = add(files, path, (uint64_t)found.st_size, err);
    }
    closedir(directory);
    return is_good;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

bool cli_files_gather(const struct cli_operand_list *operands, size_t count,
                      struct cli_files *files, struct jw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *path = operands->texts[i];
        const size_t before = files->count;
        struct stat found;

        if (stat(path, &found) != 0) {
            jw_error_set(err, "%.200s: cannot be opened: %s", path, strerror(errno));
            return false;
        }
        if (!S_ISDIR(found.st_mode)) {
            if (!add(files, path, (uint64_t)found.st_size, err))
                return false;
            continue;
        }
        if (!add_folder(files, path, 0, err))
            return false;
        if (files->count == before) {
            jw_error_set(err, "%.200s: holds no recordings (.jfr, .jfr.zst)", path);
            return false;
        }
        qsort(files->paths + before, files->count - before, sizeof *files->paths, by_name);
    }
    return true;
}

void cli_files_close(struct cli_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        jw_free(files->paths[i]);
    jw_free(files->paths);
    *files = (struct cli_files){.count = 0};
}
