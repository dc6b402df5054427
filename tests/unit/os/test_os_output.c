/* Files that are shown whole: what is refused, what is replaced, what an error leaves. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os_output.h"

static char directory[] = "/tmp/jaywalk-output-XXXXXX";
static char path[64];
static char other[64];
static struct jw_error err;

static void make_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out", directory);
    snprintf(other, sizeof other, "%s/other", directory);
}

static void remove_directory(void)
{
    unlink(path);
    unlink(other);
    rmdir(path);
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

TestSuite(os_output, .init = make_directory, .fini = remove_directory, .timeout = 1800);

static void put_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

static void expect_text(const char *name, const char *wanted)
{
    char text[256];
    FILE *file = fopen(name, "r");

    cr_assert_not_null(file, "%s is not there", name);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    cr_expect_str_eq(text, wanted);
}

static unsigned entries(void)
{
    DIR *listing = opendir(directory);
    unsigned count = 0;

    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(listing);
    return count;
}

static void expect_refused(const char *reason)
{
    jw_error_clear(&err);
    cr_expect_null(os_output_open(path, NULL, &err));
    cr_expect(strstr(err.message, reason), "%s", err.message);
    cr_expect(strstr(err.message, path), "%s", err.message);
}

static void write_and_publish(const struct os_output_calls *calls, const char *text)
{
    struct os_output *output = os_output_open(path, calls, &err);

    cr_assert_not_null(output, "%s", err.message);
    cr_assert(os_output_write(output, 0, text, strlen(text), &err), "%s", err.message);
    cr_assert(os_output_publish(output, &err), "%s", err.message);
    os_output_close(output);
}

Test(os_output, s06_appears_whole_and_private_whatever_the_umask)
{
    struct stat found;

    umask(0777);
    struct os_output *output = os_output_open(path, NULL, &err);
    cr_assert_not_null(output, "%s", err.message);
    cr_assert(os_output_write(output, 0, "abc", 3, &err));
    cr_expect_neq(access(path, F_OK), 0, "not shown yet");
    cr_assert(os_output_publish(output, &err), "%s", err.message);
    umask(022);
    cr_assert_eq(stat(path, &found), 0);
    cr_expect_eq(found.st_mode & 07777, 0600);
    cr_assert(os_output_write(output, 3, "d", 1, &err), "still writable when shown");
    os_output_close(output);
    expect_text(path, "abcd");
    cr_expect_eq(entries(), 1);
}

Test(os_output, what_is_appended_stands_in_order)
{
    struct os_output *output = os_output_open(path, NULL, &err);

    cr_assert_not_null(output, "%s", err.message);
    cr_assert(os_output_append(output, "one ", 4, &err));
    cr_assert(os_output_append(output, "", 0, &err));
    cr_assert(os_output_append(output, "two", 3, &err));
    cr_assert(os_output_publish(output, &err), "%s", err.message);
    os_output_close(output);
    expect_text(path, "one two");
}

Test(os_output, replaces_a_regular_file_at_once)
{
    put_file(path, "old");
    const int reader = open(path, O_RDONLY);
    char text[4] = "";

    write_and_publish(NULL, "new one");
    expect_text(path, "new one");
    cr_expect_eq(read(reader, text, 3), 3);
    cr_expect_str_eq(text, "old", "who had it open keeps what he had");
    close(reader);
}

Test(os_output, an_output_given_up_leaves_nothing)
{
    struct os_output *output = os_output_open(path, NULL, &err);

    cr_assert_not_null(output);
    os_output_close(output);
    os_output_close(NULL);
    cr_expect_eq(entries(), 0);
}

Test(os_output, s05_refuses_a_symbolic_link_even_a_dangling_one)
{
    put_file(other, "precious");
    cr_assert_eq(symlink(other, path), 0);
    expect_refused("symbolic link");
    expect_text(other, "precious");
    unlink(other);
    expect_refused("symbolic link");
    cr_expect_neq(access(other, F_OK), 0);
}

Test(os_output, s05_refuses_what_is_no_regular_file)
{
    cr_assert_eq(mkdir(path, 0700), 0);
    expect_refused("is a directory");
    cr_assert_eq(rmdir(path), 0);
    cr_assert_eq(mkfifo(path, 0600), 0);
    expect_refused("no regular file");
    cr_expect_null(os_output_open("/dev/null", NULL, NULL));
    cr_expect_null(os_output_open("/tmp/", NULL, NULL));
    cr_expect_null(os_output_open("", NULL, NULL));
}

Test(os_output, s05_refuses_a_file_with_a_second_name)
{
    put_file(other, "shared");
    cr_assert_eq(link(other, path), 0);
    expect_refused("hard links");
    expect_text(other, "shared");
}

Test(os_output, says_that_the_directory_is_missing)
{
    cr_expect_null(os_output_open("/nonexistent/dir/out.jfr", NULL, &err));
    cr_expect(strstr(err.message, "create its directory first"), "%s", err.message);
}

Test(os_output, takes_a_plain_name_in_the_current_directory)
{
    cr_assert_eq(chdir(directory), 0);
    struct os_output *output = os_output_open("out", NULL, &err);
    cr_assert_not_null(output, "%s", err.message);
    cr_assert_eq(chdir("/"), 0);
    cr_assert(os_output_write(output, 0, "x", 1, &err));
    cr_assert(os_output_publish(output, &err), "%s", err.message);
    os_output_close(output);
    expect_text(path, "x");
}

Test(os_output, never_takes_the_place_of_standard_error)
{
    const int kept = dup(STDERR_FILENO);

    close(STDERR_FILENO);
    struct os_output *output = os_output_open(path, NULL, &err);
    const bool is_free = fcntl(STDERR_FILENO, F_GETFD) < 0;
    dup2(kept, STDERR_FILENO);
    close(kept);
    cr_assert_not_null(output, "%s", err.message);
    cr_expect(is_free);
    os_output_close(output);
}

/* ---- with other calls ---- */

static unsigned interruptions;

static int open_without_tmpfile(int directory_fd, const char *name, int flags, mode_t mode)
{
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return openat(directory_fd, name, flags, mode);
}

static ssize_t one_byte_at_a_time(int fd, const void *bytes, size_t length_bytes, off_t offset)
{
    (void)length_bytes;
    if (interruptions++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return pwrite(fd, bytes, 1, offset);
}

static ssize_t nothing_written(int fd, const void *bytes, size_t length_bytes, off_t offset)
{
    (void)fd;
    (void)bytes;
    (void)length_bytes;
    (void)offset;
    return 0;
}

static int refuse_clone(int to_fd, int from_fd)
{
    (void)to_fd;
    (void)from_fd;
    errno = EOPNOTSUPP;
    return -1;
}

static ssize_t refuse_copy(int from_fd, off_t *from, int to_fd, off_t *to, size_t length_bytes)
{
    (void)from_fd;
    (void)from;
    (void)to_fd;
    (void)to;
    (void)length_bytes;
    errno = EXDEV;
    return -1;
}

static int refuse_rename(int directory_fd, const char *from, const char *to)
{
    (void)directory_fd;
    (void)from;
    (void)to;
    errno = EROFS;
    return -1;
}

Test(os_output, interrupted_and_short_writes_are_finished)
{
    struct os_output_calls calls = os_output_system_calls;

    calls.write_at = one_byte_at_a_time;
    write_and_publish(&calls, "written in pieces");
    expect_text(path, "written in pieces");
}

Test(os_output, a_write_that_writes_nothing_fails_instead_of_turning_for_ever)
{
    struct os_output_calls calls = os_output_system_calls;

    calls.write_at = nothing_written;
    struct os_output *output = os_output_open(path, &calls, &err);
    cr_assert_not_null(output);
    cr_expect(!os_output_write(output, 0, "x", 1, &err));
    cr_expect(strstr(err.message, path), "%s", err.message);
    os_output_close(output);
}

Test(os_output, s07_works_where_files_without_a_name_do_not_exist)
{
    struct os_output_calls calls = os_output_system_calls;

    calls.open_at = open_without_tmpfile;
    write_and_publish(&calls, "named at once");
    expect_text(path, "named at once");
    cr_expect_eq(entries(), 1);

    struct os_output *given_up = os_output_open(path, &calls, &err);
    cr_assert_not_null(given_up);
    cr_expect_eq(entries(), 2);
    os_output_close(given_up);
    cr_expect_eq(entries(), 1);
}

/* Whoever is killed between two calls leaves nothing that nobody asked for. */
Test(os_output, m54_a_file_where_nothing_stood_never_had_another_name)
{
    struct os_output_calls calls = os_output_system_calls;
    const int unnamed = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

    if (unnamed < 0)
        cr_skip_test("the file system of /tmp has no files without a name");
    close(unnamed);
    calls.rename_at = refuse_rename;
    struct os_output *output = os_output_open(path, &calls, &err);
    cr_assert_not_null(output, "%s", err.message);
    cr_assert(os_output_publish(output, &err), "%s", err.message);
    os_output_close(output);
    cr_expect_eq(access(path, F_OK), 0);
}

Test(os_output, a_failed_rename_leaves_the_old_file_and_no_other)
{
    struct os_output_calls calls = os_output_system_calls;

    put_file(path, "old");
    calls.rename_at = refuse_rename;
    struct os_output *output = os_output_open(path, &calls, &err);
    cr_assert_not_null(output);
    cr_expect(!os_output_publish(output, &err));
    cr_expect(strstr(err.message, "choose a directory"), "%s", err.message);
    os_output_close(output);
    expect_text(path, "old");
    cr_expect_eq(entries(), 1);
}

static void copy_with(const struct os_output_calls *calls)
{
    char text[200001];
    struct os_output *output = os_output_open(path, calls, &err);
    struct stat found;

    cr_assert_not_null(output, "%s", err.message);
    memset(text, 'a', sizeof text);
    text[199999] = 'b';
    cr_assert(os_output_write(output, 0, text, sizeof text, &err));
    struct os_output *copy = os_output_copy(output, 200000, &err);
    cr_assert_not_null(copy, "%s", err.message);
    cr_assert(os_output_publish(copy, &err), "%s", err.message);
    os_output_close(copy);
    os_output_close(output);

    FILE *file = fopen(path, "r");
    cr_assert_eq(fread(text, 1, sizeof text, file), 200000);
    fclose(file);
    cr_expect_eq(text[0], 'a');
    cr_expect_eq(text[199999], 'b');
    cr_assert_eq(stat(path, &found), 0);
    cr_expect_eq(found.st_mode & 07777, 0600);
    cr_expect_eq(entries(), 1);
}

Test(os_output, copies_by_the_best_way_that_the_file_system_has)
{
    struct os_output_calls calls = os_output_system_calls;

    copy_with(NULL);
    calls.clone = refuse_clone;
    copy_with(&calls);
    calls.copy_range = refuse_copy;
    copy_with(&calls);
}

Test(os_output, reports_out_of_memory)
{
    for (uint64_t nth = 1; nth <= 3; nth++) {
        jw_error_clear(&err);
        jw_alloc_fail_after(nth);
        cr_expect_null(os_output_open(path, NULL, &err));
        jw_alloc_fail_after(0);
        cr_expect(strstr(err.message, "out of memory"), "%s", err.message);
    }
    cr_expect_eq(entries(), 0);
}
