/*
 * os_output - files that others read while and after we write them: created unseen beside their target,
 * shown by one rename.
 *
 * For      recordings and exported graphs. Nothing is written through a symbolic link, into a FIFO, a
 *          device or a file that has a second name; what stands at the target is replaced whole or not at
 *          all; mode 0600; descriptors are closed in child processes and never 0, 1 or 2.
 * Callers  recording, cli.
 * Context  dump, control, tool.
 * Memory   an output belongs to who opened it; os_output_close gives it back and removes a temporary
 *          name, if there is one.
 *
 * All input and output of these files goes through here, and here alone EINTR and short writes are
 * dealt with. Errors name the file, the reason and, where there is one, a way out.
 */
#ifndef JW_OS_OS_OUTPUT_H
#define JW_OS_OS_OUTPUT_H

#include <sys/types.h>

#include "base/jw.h"

struct os_output;

/* The system calls in use; tests replace them to fail, shorten or cut off the n-th. */
struct os_output_calls {
    int (*open_at)(int directory_fd, const char *name, int flags, mode_t mode);
    ssize_t (*write_at)(int fd, const void *bytes, size_t length_bytes, off_t offset);
    int (*set_size)(int fd, off_t size_bytes);
    int (*clone)(int to_fd, int from_fd); /* the FICLONE request: whole file, shared blocks */
    ssize_t (*copy_range)(int from_fd, off_t *from, int to_fd, off_t *to, size_t length_bytes);
    ssize_t (*read_at)(int fd, void *bytes, size_t length_bytes, off_t offset);
    int (*link_fd)(int fd, int directory_fd, const char *name);
    int (*rename_at)(int directory_fd, const char *from, const char *to);
};

extern const struct os_output_calls os_output_system_calls;

/*
 * Checks that `path` may be written (nothing there, or a regular file with one name) and creates an
 * empty file in the same directory, without a name where the file system can. `calls` may be NULL: the
 * system's. NULL and `err` on refusal. Directories on the way to the file may be symbolic links.
 */
JW_MUST_CHECK struct os_output *
os_output_open(const char *path, const struct os_output_calls *calls, struct jw_error *err);

/* A new unpublished output for the same target that holds the first `length_bytes` of `from`. */
JW_MUST_CHECK struct os_output *os_output_copy(const struct os_output *from, uint64_t length_bytes,
                                               struct jw_error *err);

/* Fills `to`, which is empty, with the first `length_bytes` of `from`. */
JW_MUST_CHECK bool os_output_fill(struct os_output *to, const struct os_output *from,
                                  uint64_t length_bytes, struct jw_error *err);

/* Writes all bytes at this offset, or fails; on failure some of them may have been written. */
JW_MUST_CHECK bool os_output_write(struct os_output *output, uint64_t offset_bytes,
                                   const void *bytes, size_t length_bytes, struct jw_error *err);

/*
 * The same behind what was appended before; `output` is a struct os_output, as those that make bytes
 * without knowing files want their writer.
 */
JW_MUST_CHECK bool os_output_append(void *output, const void *bytes, size_t length_bytes,
                                    struct jw_error *err);

/* Cuts the file or extends it with a hole. */
JW_MUST_CHECK bool os_output_set_size(struct os_output *output, uint64_t size_bytes,
                                      struct jw_error *err);

/* Shows the file at its path, replacing what is there. Later writes go to the shown file. */
JW_MUST_CHECK bool os_output_publish(struct os_output *output, struct jw_error *err);

void os_output_close(struct os_output *output); /* NULL is fine */

const char *os_output_path(const struct os_output *output);

#endif
