/*
 * Files for the JVM and from it, where the target has other files than we; tool.
 *
 * Its root directory and what lies in there may be made by somebody hostile: a /tmp that is a symbolic link
 * is followed inside of it only, and no link, FIFO, device or other file system is taken for a result.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/attach_internal.h"

/* Newer than some headers; the same on x86-64 and aarch64. Source: kernel 5.6,
 * include/uapi/linux/openat2.h. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#define INSIDE_NO_XDEV       0x01
#define INSIDE_NO_MAGICLINKS 0x02
#define INSIDE_NO_SYMLINKS   0x04
#define INSIDE_BENEATH       0x08
#define INSIDE_IN_ROOT       0x10

#define COPY_BYTES      (64 * 1024)
#define LEFT_OVER_COUNT 100 /* of a JVM that was killed while it wrote; one is usual */

static int open_inside(int directory_fd, const char *name, uint64_t flags, uint64_t resolve)
{
    const struct {
        uint64_t flags, mode, resolve;
    } how = {flags | O_CLOEXEC, 0, resolve};
    int fd = (int)syscall(SYS_openat2, directory_fd, name, &how, sizeof how);

    /* An older kernel, or a filter that does not know the call: no links at all, then. */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = openat(directory_fd, name, (int)flags | O_NOFOLLOW | O_CLOEXEC);
    return fd;
}

int attach_open_tmp(const struct attach_target *target)
{
    char path[256];

    snprintf(path, sizeof path, "%s/root", target->place);
    const int root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0)
        return -1;
    const int fd =
        open_inside(root_fd, "tmp", O_PATH | O_DIRECTORY, INSIDE_IN_ROOT | INSIDE_NO_MAGICLINKS);
    const int reason = errno;
    close(root_fd);
    errno = reason;
    return fd;
}

const char *attach_advice_tmp(int reason)
{
    return reason == EMFILE || reason == ENFILE || reason == ENOMEM
               ? attach_advice(reason)
               : "the JVM itself needs a /tmp that its user can write to";
}

bool attach_random_name(char *name, size_t room_bytes, struct jw_error *err)
{
    unsigned long long random[2];

    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        jw_error_set(err, "no random numbers: %s", strerror(errno));
        return false;
    }
    snprintf(name, room_bytes, ATTACH_NAME_HEAD "%016llx%016llx", random[0], random[1]);
    return true;
}

bool attach_place_open(const struct attach_target *target, struct attach_place *place,
                       struct jw_error *err)
{
    *place = (struct attach_place){.directory_fd = -1, .parent_fd = -1};
    if (!attach_random_name(place->name, sizeof place->name, err))
        return false;
    snprintf(place->path, sizeof place->path, "/tmp/%s", place->name);
    place->parent_fd = attach_open_tmp(target);
    if (place->parent_fd >= 0 && mkdirat(place->parent_fd, place->name, 0700) == 0)
        place->directory_fd =
            openat(place->parent_fd, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place->directory_fd >= 0)
        return true;
    const int reason = errno;
    if (attach_has_ended(target, err)) {
        attach_place_close(place);
        return false;
    }
    jw_error_set(err, "/tmp of process %d takes no directory for its result: %s; %s", target->pid,
                 strerror(reason), attach_advice_tmp(reason));
    attach_place_close(place);
    return false;
}

static bool copy(int from_fd, int to_fd)
{
    char *bytes = jw_alloc(COPY_BYTES);
    ssize_t count = bytes == NULL ? -1 : 1;

    while (count != 0 && bytes != NULL) {
        count = read(from_fd, bytes, COPY_BYTES);
        if (count < 0 && errno != EINTR)
            break;
        for (ssize_t done = 0; done < count;) {
            const ssize_t written = write(to_fd, bytes + done, (size_t)(count - done));

            if (written < 0 && errno == EINTR)
                continue;
            if (written <= 0) {
                jw_free(bytes);
                return false;
            }
            done += written;
        }
    }
    jw_free(bytes);
    return count == 0;
}

bool attach_place_put(const struct attach_place *place, const char *name, int from_fd,
                      struct jw_error *err)
{
    const int fd = openat(place->directory_fd, name,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0500);
    const bool is_copied = fd >= 0 && copy(from_fd, fd);

    if (!is_copied)
        jw_error_set(err, "%s does not go into %s of the process: %s", name, place->path,
                     strerror(errno));
    if (fd >= 0 && close(fd) != 0 && is_copied) {
        jw_error_set(err, "%s does not go into %s of the process: %s", name, place->path,
                     strerror(errno));
        return false;
    }
    return is_copied;
}

/* NULL, or why what was opened is not what the JVM wrote. */
static const char *why_not(const struct attach_target *target, const struct stat *file,
                           uint64_t most_bytes)
{
    if (!S_ISREG(file->st_mode))
        return "is no regular file";
    if (file->st_nlink != 1)
        return "has more than one name";
    if (file->st_uid != target->user)
        return "belongs to another user";
    if ((uint64_t)file->st_size > most_bytes)
        return "is too large";
    return NULL;
}

int attach_place_take(const struct attach_target *target, const struct attach_place *place,
                      const char *name, uint64_t most_bytes, struct jw_error *err)
{
    struct stat file;
    const int fd =
        open_inside(place->directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                    INSIDE_BENEATH | INSIDE_NO_SYMLINKS | INSIDE_NO_MAGICLINKS | INSIDE_NO_XDEV);
    const char *why = fd < 0                  ? strerror(errno)
                      : fstat(fd, &file) != 0 ? strerror(errno)
                                              : why_not(target, &file, most_bytes);

    if (why == NULL)
        return fd;
    jw_error_set(err, "the result of process %d, %s/%s over there: %s", target->pid, place->path,
                 name, why);
    if (fd >= 0)
        close(fd);
    return -1;
}

void attach_place_remove(const struct attach_place *place, const char *name)
{
    if (place->directory_fd >= 0)
        (void)unlinkat(place->directory_fd, name, 0);
}

/* Whatever the JVM left in there, too: a temporary file, when it was killed. */
static void empty(int directory_fd)
{
    const int own_fd = fcntl(directory_fd, F_DUPFD_CLOEXEC, 0);
    DIR *directory = own_fd < 0 ? NULL : fdopendir(own_fd);

    if (directory == NULL) {
        if (own_fd >= 0)
            close(own_fd);
        return;
    }
    rewinddir(directory);
    for (int i = 0; i < LEFT_OVER_COUNT; i++) {
        const struct dirent *entry = readdir(directory);

        if (entry == NULL)
            break;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(directory_fd, entry->d_name, 0);
    }
    closedir(directory);
}

void attach_place_close(struct attach_place *place)
{
    if (place->directory_fd >= 0) {
        empty(place->directory_fd);
        close(place->directory_fd);
    }
    if (place->parent_fd >= 0) {
        (void)unlinkat(place->parent_fd, place->name, AT_REMOVEDIR);
        close(place->parent_fd);
    }
    place->directory_fd = place->parent_fd = -1;
}
