/* A directory in a file system that somebody hostile may have made, and the library that is mapped. */
#include <sys/mman.h>

#include "fake_jvm.h"

static void begin(void)
{
    fake_begin(FAKE_DEAF, NULL);
}

TestSuite(attach_place, .init = begin, .fini = fake_end, .timeout = 1800);

static struct attach_target target;
static struct attach_place place;
static struct jw_error err;

static void open_place(void)
{
    target = fake_target();
    cr_assert(attach_place_open(&target, &place, &err), "%s", err.message);
}

static void close_place(void)
{
    attach_place_close(&place);
    attach_close(&target);
}

static char *in_place(const char *name)
{
    return fake_path("root%s/%s", place.path, name);
}

static void expect_refused(const char *name, const char *why)
{
    err.message[0] = '\0';
    cr_expect_eq(attach_place_take(&target, &place, name, 100, &err), -1, "%s", name);
    cr_expect_not_null(strstr(err.message, why), "'%s' does not say '%s'", err.message, why);
}

Test(attach_place, s07_it_is_for_its_user_alone_and_leaves_nothing)
{
    struct stat file;

    umask(0);
    open_place();
    cr_assert_eq(lstat(fake_path("root%s", place.path), &file), 0);
    cr_expect(S_ISDIR(file.st_mode));
    cr_expect_eq(file.st_mode & 07777, 0700);
    fake_write(in_place("result.html"), "x", 1);
    fake_write(in_place(".left-over.tmp"), "x", 1);
    attach_place_close(&place);
    cr_expect_neq(lstat(fake_path("root%s", place.path), &file), 0);
    attach_close(&target);
}

Test(attach_place, what_is_given_can_be_read_and_run_and_replaces_nothing)
{
    const int fd = memfd_create("library", MFD_CLOEXEC);
    char bytes[100000], back[100000];
    struct stat file;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    cr_assert_eq(write(fd, bytes, sizeof bytes), (ssize_t)sizeof bytes);
    lseek(fd, 0, SEEK_SET);
    umask(077);
    open_place();
    cr_assert(attach_place_put(&place, "lib.so", fd, &err), "%s", err.message);
    cr_assert_eq(stat(in_place("lib.so"), &file), 0);
    cr_expect_eq(file.st_mode & 07777, 0500);

    const int copy = open(in_place("lib.so"), O_RDONLY);
    cr_assert_eq(read(copy, back, sizeof back), (ssize_t)sizeof back);
    cr_expect_arr_eq(bytes, back, sizeof bytes);
    close(copy);
    cr_expect_not(attach_place_put(&place, "lib.so", fd, &err));
    attach_place_remove(&place, "lib.so");
    cr_expect_neq(access(in_place("lib.so"), F_OK), 0);
    close(fd);
    close_place();
}

Test(attach_place, s08_a_result_is_a_plain_file_of_its_user)
{
    char byte;

    open_place();
    fake_write(in_place("good"), "x", 1);
    const int fd = attach_place_take(&target, &place, "good", 100, &err);
    cr_assert(fd >= 0, "%s", err.message);
    cr_expect_eq(read(fd, &byte, 1), 1);
    close(fd);

    expect_refused("none", "No such file");
    cr_assert_eq(symlink("/etc/passwd", in_place("link")), 0);
    expect_refused("link", "symbolic link");
    cr_assert_eq(symlink("good", in_place("near-link")), 0);
    expect_refused("near-link", "symbolic link");
    cr_assert_eq(mkfifo(in_place("fifo"), 0600), 0);
    expect_refused("fifo", "is no regular file");
    cr_assert_eq(mkdir(in_place("directory"), 0700), 0);
    expect_refused("directory", "is no regular file");
    cr_assert_eq(link(in_place("good"), in_place("other-name")), 0);
    expect_refused("good", "more than one name");
    cr_assert_eq(unlink(in_place("other-name")), 0);
    cr_assert_eq(truncate(in_place("good"), 101), 0);
    expect_refused("good", "is too large");
    if (geteuid() == 0) {
        cr_assert_eq(truncate(in_place("good"), 1), 0);
        cr_assert_eq(chown(in_place("good"), 12345, 0), 0);
        expect_refused("good", "another user");
    }
    cr_assert_eq(rmdir(in_place("directory")), 0);
    close_place();
}

Test(attach_place, the_result_of_a_process_that_ended_is_still_there)
{
    open_place();
    fake_write(in_place("result"), "x", 1);
    kill(fake.pid, SIGKILL);

    const int fd = attach_place_take(&target, &place, "result", 100, &err);
    cr_assert(fd >= 0, "%s", err.message);
    close(fd);
    close_place();
}

/* As the root directory is no real one here, an absolute link begins at it only if that is meant. */
Test(attach_place, s08_a_tmp_that_leads_outside_is_followed_inside_only)
{
    char outside[] = "/tmp/jw-outside-XXXXXX";

    target = fake_target();
    cr_assert_not_null(mkdtemp(outside));
    cr_assert_eq(rename(fake_path("root/tmp"), fake_path("root/tmp-away")), 0);
    cr_assert_eq(symlink(outside, fake_path("root/tmp")), 0);
    cr_expect_not(attach_place_open(&target, &place, &err));
    cr_expect_not_null(strstr(err.message, "takes no directory"));
    cr_assert_eq(rmdir(outside), 0, "something was made outside");

    cr_assert_eq(unlink(fake_path("root/tmp")), 0);
    cr_assert_eq(symlink("/tmp-away", fake_path("root/tmp")), 0);
    const bool is_followed = attach_place_open(&target, &place, &err);
    if (is_followed) {
        cr_expect_eq(access(fake_path("root/tmp-away/%s", place.name), F_OK), 0);
        attach_place_close(&place);
    }
    attach_close(&target);
}

static void expect_mapped(const char *line, const char *path)
{
    char copy[300];

    snprintf(copy, sizeof copy, "%s", line);
    const char *found = attach_parse_mapped(copy, "libjaywalk.so");
    cr_expect_eq(found == NULL, path == NULL, "%s", line);
    if (found != NULL && path != NULL)
        cr_expect_str_eq(found, path);
}

Test(attach_place, a_mapped_library_is_known_by_its_name)
{
    expect_mapped("7f00-7f01 r-xp 0 fe:00 77   /opt/a b/libjaywalk.so\n", "/opt/a b/libjaywalk.so");
    expect_mapped("7f00-7f01 r-xp 0 fe:00 77   /tmp/.jaywalk-1/libjaywalk.so (deleted)\n",
                  "/tmp/.jaywalk-1/libjaywalk.so");
    expect_mapped("7f00-7f01 r-xp 0 fe:00 77   /opt/notlibjaywalk.so\n", NULL);
    expect_mapped("7f00-7f01 r-xp 0 fe:00 77   /opt/libjaywalk.so.1\n", NULL);
    expect_mapped("7f00-7f01 rw-p 0 00:00 0\n", NULL);
    expect_mapped("7f00-7f01 rw-p 0 00:00 0   [heap]\n", NULL);
    expect_mapped("/\n", NULL);
    expect_mapped("/ (deleted)\n", NULL);
    expect_mapped("", NULL);
}

Test(attach_place, the_agent_that_is_there_is_found_by_the_path_it_has)
{
    static const char maps[] =
        "7f00-7f01 r-xp 0 fe:00 9 /jdk/lib/server/libjvm.so\n"
        "7f00-7f01 r-xp 0 fe:00 77 /tmp/.jaywalk-1/libjaywalk.so (deleted)\n";
    char path[200];
    bool is_there;

    target = fake_target();
    cr_expect_not(
        attach_find_library(&target, "libjaywalk.so", path, sizeof path, &is_there, NULL));
    cr_assert_eq(unlink(fake_path("maps")), 0);
    fake_write(fake_path("maps"), maps, sizeof maps - 1);
    cr_assert(attach_find_library(&target, "libjaywalk.so", path, sizeof path, &is_there, NULL));
    cr_expect_str_eq(path, "/tmp/.jaywalk-1/libjaywalk.so");
    cr_expect_not(is_there);
    mkdir(fake_path("root/tmp/.jaywalk-1"), 0700);
    fake_write(fake_path("root/tmp/.jaywalk-1/libjaywalk.so"), "x", 1);
    cr_assert(attach_find_library(&target, "libjaywalk.so", path, sizeof path, &is_there, NULL));
    cr_expect(is_there);
    cr_expect_not(attach_find_library(&target, "libjaywalk.so", path, 10, &is_there, NULL));
    cr_expect_not(attach_shares(&target, "/tmp/.jaywalk-1/libjaywalk.so"));
    attach_close(&target);
}
