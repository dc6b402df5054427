/* Which library the target has, and whether one may be trusted with its process; tool. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/attach_internal.h"

#define PATH_BYTES 4096

/* NULL, or why somebody else could put another thing at this place. */
static const char *why_not(const struct attach_target *target, const struct stat *file,
                           uid_t trusted)
{
    const bool is_sticky = S_ISDIR(file->st_mode) && (file->st_mode & S_ISVTX) != 0;

    if (S_ISLNK(file->st_mode))
        return "is a symbolic link; name the library by the path that it leads to";
    if (file->st_uid != 0 && file->st_uid != target->user && file->st_uid != trusted)
        return "belongs to neither root nor the user of the process, who could replace the library";
    /* In a sticky directory only the owner of an entry replaces it, and that one is looked at next. */
    if ((file->st_mode & S_IWOTH) != 0 && !is_sticky)
        return "may be written by everybody, who could replace the library; chmod o-w";
    if ((file->st_mode & S_IWGRP) != 0 && !is_sticky && file->st_gid != 0 &&
        file->st_gid != target->group)
        return "may be written by its group, who could replace the library; chmod g-w";
    return NULL;
}

/* Of a file that may be shorter: the rest is 0. False and errno: it cannot be read. */
static bool read_head(int fd, Elf64_Ehdr *head)
{
    size_t done_bytes = 0;

    memset(head, 0, sizeof *head);
    while (done_bytes < sizeof *head) {
        const ssize_t count = read(fd, (char *)head + done_bytes, sizeof *head - done_bytes);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count == 0;
        done_bytes += (size_t)count;
    }
    return true;
}

/* A JVM that is told to load anything else tries, and says things about it that alarm people. */
static bool check_content(const struct attach_target *target, const char *library, const char *path,
                          struct jw_error *err)
{
    Elf64_Ehdr ours, theirs;
    const int own_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const bool has_ours = own_fd >= 0 && read_head(own_fd, &ours);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool has_theirs = fd >= 0 && read_head(fd, &theirs);
    const int reason = errno;
    const bool is_library = has_theirs && memcmp(theirs.e_ident, ELFMAG, SELFMAG) == 0 &&
                            theirs.e_type == ET_DYN &&
                            (!has_ours || (theirs.e_machine == ours.e_machine &&
                                           theirs.e_ident[EI_CLASS] == ours.e_ident[EI_CLASS]));

    if (own_fd >= 0)
        close(own_fd);
    if (fd >= 0)
        close(fd);
    if (!has_theirs && (reason == EACCES || reason == EPERM))
        jw_error_set(err, "%s: %s; the user of process %d must be able to read it", library,
                     strerror(reason), target->pid);
    else if (!has_theirs)
        jw_error_set(err, "%s cannot be read: %s; %s", library, strerror(reason),
                     reason == EISDIR || reason == ENOENT ? "name the library with --libpath=PATH"
                                                          : attach_advice(reason));
    if (!is_library)
        jw_error_set(err, "%s is no library for this processor; name one with --libpath=PATH",
                     library);
    return is_library;
}

/* Each directory on the way, from the root, and the file itself. */
bool attach_check_library(const struct attach_target *target, const char *library, uid_t trusted,
                          struct jw_error *err)
{
    char path[PATH_BYTES + 160];
    struct stat file;

    if (library[0] != '/' || strlen(library) >= PATH_BYTES) {
        jw_error_set(err, "%.200s is no absolute path", library);
        return false;
    }
    for (size_t end = 1;; end++) {
        end += strcspn(library + end, "/");

        const bool is_last = library[end] == '\0';
        snprintf(path, sizeof path, "%s/root%.*s", target->place, (int)end, library);
        if (lstat(path, &file) != 0) {
            const int reason = errno;
            if (attach_has_ended(target, err))
                return false;
            jw_error_set(err, "%s: %s%s", library, strerror(reason),
                         target->has_own_files
                             ? "; the process has a file system of its own (a container): put "
                               "the library there and name it with --libpath=PATH"
                             : "; name the library with --libpath=PATH");
            return false;
        }
        const char *why = why_not(target, &file, trusted);
        if (why != NULL) {
            jw_error_set(err, "%.*s %s", (int)end, library, why);
            return false;
        }
        if (is_last)
            break;
    }
    if (!S_ISREG(file.st_mode)) {
        jw_error_set(err, "%s is no file; name the library with --libpath=PATH", library);
        return false;
    }
    return check_content(target, library, path, err);
}

/* A path as the kernel shows it to us, as the target calls it: without what stands for its root. */
static const char *inner_path(const struct attach_target *target, const char *path)
{
    char link[160], root[PATH_BYTES];

    snprintf(link, sizeof link, "%s/root", target->place);
    const ssize_t length_bytes = readlink(link, root, sizeof root - 1);
    if (length_bytes <= 1) /* "/", also for a root in another mount namespace */
        return path;
    root[length_bytes] = '\0';
    return strncmp(path, root, (size_t)length_bytes) == 0 && path[length_bytes] == '/'
               ? path + length_bytes
               : path;
}

bool attach_find_library(const struct attach_target *target, const char *name, char *path,
                         size_t room_bytes, bool *is_there, struct jw_error *err)
{
    char file_name[PATH_BYTES + 160], line[PATH_BYTES + 128];
    const char *found = NULL;
    struct stat file;

    *is_there = false;
    snprintf(file_name, sizeof file_name, "%s/maps", target->place);
    FILE *maps = fopen(file_name, "re");
    errno = maps == NULL ? errno : 0;
    while (maps != NULL && found == NULL && fgets(line, sizeof line, maps) != NULL)
        found = attach_parse_mapped(line, name);
    const int reason = errno;
    const bool is_read = maps != NULL && (found != NULL || !ferror(maps));
    if (maps != NULL)
        fclose(maps);
    if (!is_read && !attach_has_ended(target, err))
        jw_error_set(err, "what process %d has loaded cannot be read (%s): %s; %s", target->pid,
                     file_name, strerror(reason), attach_advice(reason));
    if (found == NULL)
        return false;
    found = inner_path(target, found);
    if (strlen(found) >= room_bytes)
        return false;
    strcpy(path, found);
    snprintf(file_name, sizeof file_name, "%s/root%s", target->place, path);
    *is_there = lstat(file_name, &file) == 0;
    return true;
}

bool attach_shares(const struct attach_target *target, const char *path)
{
    char inner[PATH_BYTES + 160];
    struct stat ours, theirs;

    snprintf(inner, sizeof inner, "%s/root%s", target->place, path);
    return stat(path, &ours) == 0 && lstat(inner, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
}
