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

/* `reason`: 0, or the errno of what kept some from being found. */
static int *list_pids(const char *proc, size_t *count, int *reason)
{
    int *pids = NULL;
    size_t room = 0;
    DIR *directory = opendir(proc);

    *count = 0;
    *reason = directory == NULL ? errno : 0;
    if (directory == NULL)
        return NULL;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        const int pid = entry == NULL ? 0 : pid_of(entry->d_name);

        if (entry == NULL) {
            *reason = errno;
            break;
        }
        if (pid == 0)
            continue;
        if (*count == room) {
            room = room == 0 ? 256 : room * 2;

            int *longer = jw_realloc(pids, jw_mul_bytes(room, sizeof *pids));
            if (longer == NULL) {
                *reason = ENOMEM;
                break;
            }
            pids = longer;
        }
        pids[(*count)++] = pid;
    }
    closedir(directory);
    if (*count > 0)
        qsort(pids, *count, sizeof *pids, compare_pids);
    return pids;
}

/* Processes of others, and those that end meanwhile, are always there. */
static bool is_usual(int reason)
{
    return reason == EACCES || reason == EPERM || reason == ENOENT || reason == ESRCH;
}

bool attach_each(const char *proc, void (*visit)(int pid, const char *name, void *argument),
                 void *argument, size_t *foreign_count, struct jw_error *err)
{
    size_t count, missing_count = 0, refused_count = 0;
    int reason;
    int *pids = list_pids(proc, &count, &reason);

    if (reason != 0)
        jw_error_set(err, "not all processes can be listed (%s): %s; %s", proc, strerror(reason),
                     is_usual(reason) ? "is it mounted, and open to this user?"
                                      : attach_advice(reason));
    const bool is_listed = reason == 0;
    for (size_t i = 0; i < count; i++) {
        char place[128], text[CMDLINE_BYTES], name[ATTACH_NAME_BYTES];
        size_t length_bytes;
        bool is_jvm;

        snprintf(place, sizeof place, "%s/%d", proc, pids[i]);
        if (attach_maps_jvm(place, &is_jvm, NULL) &&
            (!is_jvm || attach_read(place, "cmdline", text, sizeof text, &length_bytes))) {
            if (is_jvm && attach_parse_name(text, length_bytes, name, sizeof name))
                visit(pids[i], name, argument);
        } else if (!is_usual(errno)) {
            reason = errno;
            missing_count++;
        } else if (errno == EACCES || errno == EPERM) {
            refused_count++;
        }
    }
    jw_free(pids);
    if (foreign_count != NULL)
        *foreign_count = refused_count;
    if (missing_count > 0)
        jw_error_set(err, "%zu processes could not be looked at: %s; %s", missing_count,
                     strerror(reason), attach_advice(reason));
    return is_listed && missing_count == 0;
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
