/* The file of the answer, and whom a library may be trusted from. */
#include <elf.h>
#include <errno.h>

#include "fake_jvm.h"

static void begin(void)
{
    fake_begin(FAKE_DEAF, NULL);
}

TestSuite(attach_files, .init = begin, .fini = fake_end, .timeout = 1800);

static void agent_writes(const struct attach_answer *answer, const char *text)
{
    const int fd = open(fake_path("root%s", answer->path), O_WRONLY | O_APPEND | O_NOFOLLOW);

    cr_assert(fd >= 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

Test(attach_files, s07_an_answer_is_for_its_user_alone_and_leaves_no_name)
{
    struct attach_target target = fake_target();
    struct attach_answer answer, other;
    struct jw_error err = {{0}};
    struct stat file;

    umask(0);
    cr_assert(attach_answer_open(&target, &answer, &err), "%s", err.message);
    cr_assert(attach_answer_open(&target, &other, &err));
    cr_expect_str_neq(answer.name, other.name);
    cr_assert_eq(lstat(fake_path("root%s", answer.path), &file), 0);
    cr_expect(S_ISREG(file.st_mode));
    cr_expect_eq(file.st_mode & 07777, 0600);
    char *path = fake_path("root%s", answer.path);
    attach_answer_close(&answer);
    attach_answer_close(&other);
    cr_expect_neq(lstat(path, &file), 0);
    attach_close(&target);
}

Test(attach_files, an_answer_is_whole_at_its_last_line)
{
    struct attach_target target = fake_target();
    struct attach_answer answer;
    struct jw_error err = {{0}};
    char text[200];
    int code = -1;

    cr_assert(attach_answer_open(&target, &answer, &err));
    cr_expect_not(attach_answer_read(&answer, text, sizeof text, &code, NULL));
    agent_writes(&answer, "first\n");
    cr_expect_not(attach_answer_read(&answer, text, sizeof text, &code, NULL));
    cr_expect_str_eq(text, "first\n");
    agent_writes(&answer, "= 20");
    cr_expect_not(attach_answer_read(&answer, text, sizeof text, &code, NULL));
    agent_writes(&answer, "0\n");
    cr_assert(attach_answer_wait(&target, &answer, 0, text, sizeof text, &code, NULL));
    cr_expect_str_eq(text, "first\n");
    cr_expect_eq(code, 200);
    attach_answer_close(&answer);
    attach_close(&target);
}

Test(attach_files, an_answer_without_words_is_one)
{
    struct attach_target target = fake_target();
    struct attach_answer answer;
    struct jw_error err = {{0}};
    char text[200];
    int code = -1;

    cr_assert(attach_answer_open(&target, &answer, &err));
    agent_writes(&answer, "= 0\n");
    cr_assert(attach_answer_read(&answer, text, sizeof text, &code, NULL));
    cr_expect_str_eq(text, "");
    cr_expect_eq(code, 0);
    attach_answer_close(&answer);
    attach_close(&target);
}

Test(attach_files, nobody_waits_for_an_answer_of_the_dead)
{
    struct attach_target target = fake_target();
    struct attach_answer answer;
    struct jw_error err = {{0}};
    char text[200];
    int code;

    cr_assert(attach_answer_open(&target, &answer, &err));
    kill(fake.pid, SIGKILL);
    cr_expect_not(attach_answer_wait(&target, &answer, 3600 * JW_NS_PER_SECOND, text, sizeof text,
                                     &code, NULL));
    attach_answer_close(&answer);
    attach_close(&target);
}

Test(attach_files, m63_nobody_waits_for_an_answer_that_cannot_be_read)
{
    struct attach_target target = fake_target();
    struct attach_answer answer;
    struct jw_error err = {{0}};
    char text[200] = "old";
    int code;

    cr_assert(attach_answer_open(&target, &answer, &err));
    agent_writes(&answer, "= 0\n");
    const int no_reader = open("/dev/null", O_WRONLY | O_CLOEXEC);
    cr_assert_eq(dup3(no_reader, answer.fd, O_CLOEXEC), answer.fd);
    close(no_reader);
    cr_expect_not(attach_answer_wait(&target, &answer, 3600 * JW_NS_PER_SECOND, text, sizeof text,
                                     &code, &err));
    cr_expect_not_null(strstr(err.message, "cannot be read"), "%s", err.message);
    cr_expect_not_null(strstr(err.message, strerror(EBADF)), "%s", err.message);
    cr_expect_str_eq(text, "");
    attach_answer_close(&answer);
    attach_close(&target);
}

static void expect_library(const char *path, const char *why)
{
    struct attach_target target = fake_target();
    struct jw_error err = {{0}};
    const bool is_good = attach_check_library(&target, path, 54321, &err);

    cr_expect_eq(is_good, why == NULL, "%s: %s", path, err.message);
    if (why != NULL)
        cr_expect_not_null(strstr(err.message, why), "'%s' does not say '%s'", err.message, why);
    attach_close(&target);
}

/* As much of one as is looked at: this program's head, as that of a library. */
static void copy_library(const char *path)
{
    Elf64_Ehdr head;
    const int fd = open("/proc/self/exe", O_RDONLY);

    cr_assert_eq(read(fd, &head, sizeof head), (ssize_t)sizeof head);
    close(fd);
    head.e_type = ET_DYN;
    fake_write(path, &head, sizeof head);
}

Test(attach_files, s04_a_library_must_lie_where_nobody_else_can_replace_it)
{
    umask(022);
    mkdir(fake_path("root/a"), 0755);
    mkdir(fake_path("root/a/b"), 0755);
    copy_library(fake_path("root/a/b/x.so"));
    chmod(fake_path("root/a/b/x.so"), 0644);
    expect_library("/a/b/x.so", NULL);

    chmod(fake_path("root/a"), 0777);
    expect_library("/a/b/x.so", "/a may be written by everybody");
    chmod(fake_path("root/a"), 01777); /* sticky: b is ours, and stays where it is */
    expect_library("/a/b/x.so", NULL);
    chmod(fake_path("root/a"), 0755);
    chmod(fake_path("root/a/b/x.so"), 0666);
    expect_library("/a/b/x.so", "x.so may be written by everybody");
    chmod(fake_path("root/a/b/x.so"), 0644);

    cr_assert_eq(symlink("b", fake_path("root/a/link")), 0);
    expect_library("/a/link/x.so", "/a/link is a symbolic link");
    expect_library("/a/b/none.so", "No such file");
    expect_library("/a/b", "is no file");
    expect_library("a/b/x.so", "no absolute path");
    fake_write(fake_path("root/a/b/text.so"), "text", 4);
    expect_library("/a/b/text.so", "is no library for this processor");
    if (geteuid() == 0) {
        cr_assert_eq(chown(fake_path("root/a/b"), 12345, 0), 0);
        expect_library("/a/b/x.so", "/a/b belongs to neither root nor");
        cr_assert_eq(chown(fake_path("root/a/b"), 54321, 0), 0);
        expect_library("/a/b/x.so", NULL);
        cr_assert_eq(chown(fake_path("root/a/b"), 0, 12345), 0);
        chmod(fake_path("root/a/b"), 0775);
        expect_library("/a/b/x.so", "may be written by its group");
    }
}
