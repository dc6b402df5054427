/*
 * Files made unseen beside their target and shown by a rename; dump, control and tool. The one place
 * that retries interrupted and short writes.
 */
#include "os/os_output.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"

#define FILE_MODE         ((mode_t)0600)
#define FIRST_FREE_FD     3 /* 0 to 2 are the host's, also when it has closed them */
#define NAME_TRIES        16
#define TEMPORARY_BYTES   40
#define COPY_BUFFER_BYTES ((size_t)64 * 1024)
/* The kernel moves at most 2 GiB a call; smaller pieces keep a copy stoppable by SIGKILL. */
#define COPY_PIECE_BYTES ((size_t)64 << 20)

struct os_output {
    const struct os_output_calls *calls;
    char *path;
    const char *name; /* last component, points into `path` */
    int directory_fd;
    int fd;
    bool is_published;
    uint64_t appended_bytes;
    char temporary[TEMPORARY_BYTES]; /* name in the directory; "": none */
};

static int system_open_at(int directory_fd, const char *name, int flags, mode_t mode)
{
    return openat(directory_fd, name, flags, mode);
}

static int system_clone(int to_fd, int from_fd)
{
    return ioctl(to_fd, FICLONE, from_fd);
}

static ssize_t system_copy_range(int from_fd, off_t *from, int to_fd, off_t *to,
                                 size_t length_bytes)
{
    return copy_file_range(from_fd, from, to_fd, to, length_bytes, 0);
}

static void descriptor_path(char text[32], int fd)
{
    snprintf(text, 32, "/proc/self/fd/%d", fd);
}

/* A file without a name gets one through /proc: AT_EMPTY_PATH would need a privilege. */
static int system_link_fd(int fd, int directory_fd, const char *name)
{
    char from[32];

    descriptor_path(from, fd);
    return linkat(AT_FDCWD, from, directory_fd, name, AT_SYMLINK_FOLLOW);
}

static int system_rename_at(int directory_fd, const char *from, const char *to)
{
    return renameat(directory_fd, from, directory_fd, to);
}

const struct os_output_calls os_output_system_calls = {
    .open_at = system_open_at,
    .write_at = pwrite,
    .set_size = ftruncate,
    .clone = system_clone,
    .copy_range = system_copy_range,
    .read_at = pread,
    .link_fd = system_link_fd,
    .rename_at = system_rename_at,
};

static const char *advice(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return "; free some space or write to another file system";
    case EACCES:
    case EPERM:
    case EROFS:
        return "; choose a directory that this user may write to";
    case ENOENT:
    case ENOTDIR:
        return "; create its directory first";
    case EFBIG:
        return "; raise the limit on file sizes (ulimit -f)";
    case EMFILE:
    case ENFILE:
        return "; raise the limit on open files (ulimit -n)";
    default:
        return "";
    }
}

static void say_failure(struct jw_error *err, const char *what, const char *path, int error)
{
    jw_error_set(err, "cannot %s %s: %s%s", what, path, strerror(error), advice(error));
}

/* Says in which way what stands at the target is not a plain file of ours. */
static bool check_target(int directory_fd, const char *name, const char *path, struct jw_error *err)
{
    struct stat found;

    if (fstatat(directory_fd, name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return true;
        say_failure(err, "look at", path, errno);
        return false;
    }

    const char *reason = NULL;
    if (S_ISLNK(found.st_mode))
        reason = "is a symbolic link; name the file that it leads to";
    else if (S_ISDIR(found.st_mode))
        reason = "is a directory; name a file in it";
    else if (!S_ISREG(found.st_mode))
        reason = "is no regular file; name another one";
    else if (found.st_nlink > 1)
        reason = "has more than one name (hard links); name another one or remove it";
    else if (faccessat(directory_fd, name, W_OK, AT_EACCESS) != 0)
        reason = "is there already and write-protected; name another one or remove it";
    if (reason != NULL)
        jw_error_set(err, "cannot write %s: it %s", path, reason);
    return reason == NULL;
}

/* Moves a descriptor out of the range of standard input, output and error. */
static int out_of_standard_range(int fd)
{
    if (fd < 0 || fd >= FIRST_FREE_FD)
        return fd;

    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    const int error = errno;
    close(fd);
    errno = error;
    return moved;
}

static void make_temporary_name(char name[TEMPORARY_BYTES])
{
    uint64_t random;

    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = jw_hash_word(jw_now_ns() ^ (uint64_t)getpid() << 40);
    snprintf(name, TEMPORARY_BYTES, ".jaywalk-%016llx.tmp", (unsigned long long)random);
}

static int open_retrying(const struct os_output *output, const char *name, int flags)
{
    int fd;

    do
        fd = output->calls->open_at(output->directory_fd, name, flags | O_CLOEXEC, FILE_MODE);
    while (fd < 0 && errno == EINTR);
    return out_of_standard_range(fd);
}

/* Creates the file: without a name where the file system can, else under a random one. */
static bool create(struct os_output *output, struct jw_error *err)
{
    char through_proc[32];

    output->fd = open_retrying(output, ".", O_TMPFILE | O_RDWR);
    descriptor_path(through_proc, output->fd);
    if (output->fd >= 0 && access(through_proc, F_OK) != 0) {
        close(output->fd);
        output->fd = -1;
    }
    for (int i = 0; output->fd < 0 && i < NAME_TRIES; i++) {
        make_temporary_name(output->temporary);
        output->fd =
            open_retrying(output, output->temporary, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR);
        if (output->fd < 0 && errno != EEXIST)
            break;
    }
    if (output->fd < 0) {
        output->temporary[0] = '\0';
        say_failure(err, "create", output->path, errno);
        return false;
    }
    /* The umask of the host may have taken even the owner's rights. */
    if (fchmod(output->fd, FILE_MODE) != 0) {
        say_failure(err, "set the mode of", output->path, errno);
        return false;
    }
    return true;
}

static struct os_output *allocate(const char *path, const struct os_output_calls *calls,
                                  struct jw_error *err)
{
    struct os_output *output = jw_alloc(sizeof *output);
    char *copy = jw_alloc(strlen(path) + 1);

    if (output == NULL || copy == NULL) {
        jw_free(output);
        jw_free(copy);
        jw_error_set(err, "cannot write %s: out of memory", path);
        return NULL;
    }

    const char *slash = strrchr(path, '/');
    memcpy(copy, path, strlen(path) + 1);
    output->path = copy;
    output->name = slash == NULL ? copy : copy + (slash - path) + 1;
    output->calls = calls;
    output->directory_fd = -1;
    output->fd = -1;
    return output;
}

/* Opens the directory of the target, so that neither chdir nor a renamed parent misleads us later. */
static bool open_directory(struct os_output *output, struct jw_error *err)
{
    const size_t length_bytes = (size_t)(output->name - output->path);
    char *directory = jw_alloc(length_bytes + 2);

    if (directory == NULL) {
        jw_error_set(err, "cannot write %s: out of memory", output->path);
        return false;
    }
    memcpy(directory, length_bytes == 0 ? "." : output->path, length_bytes == 0 ? 1 : length_bytes);
    output->directory_fd = out_of_standard_range(open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC));
    const int error = errno;
    jw_free(directory);
    if (output->directory_fd < 0)
        say_failure(err, "open the directory of", output->path, error);
    return output->directory_fd >= 0;
}

struct os_output *os_output_open(const char *path, const struct os_output_calls *calls,
                                 struct jw_error *err)
{
    if (path == NULL || path[0] == '\0') {
        jw_error_set(err, "cannot write the output: its name is empty; give one with file=NAME");
        return NULL;
    }

    struct os_output *output = allocate(path, calls == NULL ? &os_output_system_calls : calls, err);
    if (output == NULL)
        return NULL;
    if (output->name[0] == '\0') {
        jw_error_set(err, "cannot write %s: it is a directory; name a file in it", path);
        goto fail;
    }
    if (!open_directory(output, err) ||
        !check_target(output->directory_fd, output->name, path, err) || !create(output, err))
        goto fail;
    return output;

fail:
    os_output_close(output);
    return NULL;
}

/* True when a failed copy_range only means that it cannot be used here. */
static bool is_copy_unsupported(int error)
{
    return error == EXDEV || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP ||
           error == EPERM || error == ETXTBSY;
}

static bool copy_by_reading(const struct os_output *from, struct os_output *to, uint64_t at,
                            uint64_t length_bytes, struct jw_error *err)
{
    unsigned char *piece = jw_alloc(COPY_BUFFER_BYTES);
    bool is_good = piece != NULL;

    if (!is_good)
        jw_error_set(err, "cannot copy %s: out of memory", from->path);
    while (is_good && at < length_bytes) {
        const uint64_t left_bytes = length_bytes - at;
        const ssize_t got = from->calls->read_at(
            from->fd, piece, left_bytes < COPY_BUFFER_BYTES ? left_bytes : COPY_BUFFER_BYTES,
            (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            say_failure(err, "read", from->path, got == 0 ? EIO : errno);
            is_good = false;
            break;
        }
        is_good = os_output_write(to, at, piece, (size_t)got, err);
        at += (uint64_t)got;
    }
    jw_free(piece);
    return is_good;
}

bool os_output_fill(struct os_output *to, const struct os_output *from, uint64_t length_bytes,
                    struct jw_error *err)
{
    if (from->calls->clone(to->fd, from->fd) == 0)
        return os_output_set_size(to, length_bytes, err);

    off_t from_offset = 0;
    off_t to_offset = 0;
    while ((uint64_t)to_offset < length_bytes) {
        const uint64_t left_bytes = length_bytes - (uint64_t)to_offset;
        const ssize_t copied =
            from->calls->copy_range(from->fd, &from_offset, to->fd, &to_offset,
                                    left_bytes < COPY_PIECE_BYTES ? left_bytes : COPY_PIECE_BYTES);

        if (copied < 0 && errno == EINTR)
            continue;
        /* Some file systems answer 0 where they cannot. */
        if (copied == 0 || (copied < 0 && is_copy_unsupported(errno)))
            return copy_by_reading(from, to, (uint64_t)to_offset, length_bytes, err);
        if (copied < 0) {
            say_failure(err, "copy", from->path, errno);
            return false;
        }
    }
    return true;
}

struct os_output *os_output_copy(const struct os_output *from, uint64_t length_bytes,
                                 struct jw_error *err)
{
    struct os_output *to = allocate(from->path, from->calls, err);

    if (to == NULL)
        return NULL;
    to->directory_fd = fcntl(from->directory_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    if (to->directory_fd < 0) {
        say_failure(err, "open the directory of", from->path, errno);
        goto fail;
    }
    if (!create(to, err) || !os_output_fill(to, from, length_bytes, err))
        goto fail;
    return to;

fail:
    os_output_close(to);
    return NULL;
}

bool os_output_write(struct os_output *output, uint64_t offset_bytes, const void *bytes,
                     size_t length_bytes, struct jw_error *err)
{
    const unsigned char *next = bytes;

    while (length_bytes > 0) {
        const ssize_t written =
            output->calls->write_at(output->fd, next, length_bytes, (off_t)offset_bytes);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            say_failure(err, "write", output->path, written == 0 ? EIO : errno);
            return false;
        }
        next += written;
        offset_bytes += (uint64_t)written;
        length_bytes -= (size_t)written;
    }
    return true;
}

bool os_output_append(void *output, const void *bytes, size_t length_bytes, struct jw_error *err)
{
    struct os_output *to = output;

    if (!os_output_write(to, to->appended_bytes, bytes, length_bytes, err))
        return false;
    to->appended_bytes += length_bytes;
    return true;
}

bool os_output_set_size(struct os_output *output, uint64_t size_bytes, struct jw_error *err)
{
    int result;

    do
        result = output->calls->set_size(output->fd, (off_t)size_bytes);
    while (result != 0 && errno == EINTR);
    if (result != 0)
        say_failure(err, "set the size of", output->path, errno);
    return result == 0;
}

bool os_output_publish(struct os_output *output, struct jw_error *err)
{
    /* Where nothing stands, the name itself: whoever is killed now leaves no other one. */
    if (output->temporary[0] == '\0' &&
        output->calls->link_fd(output->fd, output->directory_fd, output->name) == 0) {
        output->is_published = true;
        return true;
    }
    for (int i = 0; output->temporary[0] == '\0'; i++) {
        make_temporary_name(output->temporary);
        if (output->calls->link_fd(output->fd, output->directory_fd, output->temporary) == 0)
            break;

        const int error = errno;
        output->temporary[0] = '\0';
        if (error != EEXIST || i == NAME_TRIES) {
            say_failure(err, "name", output->path, error);
            return false;
        }
    }
    if (output->calls->rename_at(output->directory_fd, output->temporary, output->name) != 0) {
        say_failure(err, "put in place", output->path, errno);
        return false;
    }
    output->temporary[0] = '\0';
    output->is_published = true;
    return true;
}

void os_output_close(struct os_output *output)
{
    if (output == NULL)
        return;
    if (output->temporary[0] != '\0')
        (void)unlinkat(output->directory_fd, output->temporary, 0);
    if (output->fd >= 0)
        close(output->fd);
    if (output->directory_fd >= 0)
        close(output->directory_fd);
    jw_free(output->path);
    jw_free(output);
}

const char *os_output_path(const struct os_output *output)
{
    return output->path;
}
