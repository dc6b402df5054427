/* The JVMs of this machine, as far as this user sees them; tool. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/attach_internal.h"

#define CMDLINE_BYTES 16384

/* The number of a process from a name in /proc, 0 for anything else. */
static int pid_of(const char *name)
{
    char *end;

    if (*name < '1' || *name > '9')
        return 0;
    const unsigned long value = strtoul(name, &end, 10);
    return *end == '\0' && value <= INT32_MAX ? (int)value : 0;
}

static int compare_pids(const void *left, const void *right)
{
    const int left_pid = *(const int *)left;
    const int right_pid = *(const int *)right;

    return (left_pid > right_pid) - (left_pid < right_pid);
}

static int *list_pids(const char *proc, size_t *count)
{
    int *pids = NULL;
    size_t room = 0;
    DIR *directory = opendir(proc);

    *count = 0;
    if (directory == NULL)
        return NULL;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const int pid = pid_of(entry->d_name);

        if (pid == 0)
            continue;
        if (*count == room) {
            room = room == 0 ? 256 : room * 2;

            int *longer = jw_realloc(pids, jw_mul_bytes(room, sizeof *pids));
            if (longer == NULL)
                break;
            pids = longer;
        }
        pids[(*count)++] = pid;
    }
    closedir(directory);
    if (*count > 0)
        qsort(pids, *count, sizeof *pids, compare_pids);
    return pids;
}

void attach_each(const char *proc, void (*visit)(int pid, const char *name, void *argument),
                 void *argument)
{
    size_t count;
    int *pids = list_pids(proc, &count);

    for (size_t i = 0; i < count; i++) {
        char place[128], text[CMDLINE_BYTES], name[ATTACH_NAME_BYTES];
        size_t length_bytes;
        bool is_jvm;

        snprintf(place, sizeof place, "%s/%d", proc, pids[i]);
        if (attach_maps_jvm(place, &is_jvm, NULL) && is_jvm &&
            attach_read(place, "cmdline", text, sizeof text, &length_bytes) &&
            attach_parse_name(text, length_bytes, name, sizeof name))
            visit(pids[i], name, argument);
    }
    jw_free(pids);
}

bool attach_is_called(const char *name, const char *wanted)
{
    const size_t name_bytes = strlen(name);
    const char *dot = strrchr(name, '.');
    const char *slash = strrchr(name, '/');

    if (strcmp(name, wanted) == 0)
        return true;
    if (slash != NULL && attach_is_called(slash + 1, wanted))
        return true; /* module/main.Class */
    if (name_bytes > 4 && strcmp(name + name_bytes - 4, ".jar") == 0)
        return strlen(wanted) == name_bytes - 4 && strncmp(name, wanted, name_bytes - 4) == 0;
    return dot != NULL && strcmp(dot + 1, wanted) == 0;
}
