/*
 * fake_jvm - a process that behaves like a JVM towards those who attach, or does not.
 *
 * For      tests of the attach protocol, hostile and broken peers included.   Callers  tests of attach.
 * Context  a test, which forks it.   Memory  static; fake_end removes process and files.
 *
 * Below `directory` lies a /proc of our own: PID/stat and status are the kernel's, maps and cmdline are
 * made up, root/tmp and cwd are empty directories.
 */
#ifndef TESTS_ATTACH_FAKE_JVM_H
#define TESTS_ATTACH_FAKE_JVM_H

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/attach_internal.h"
#include "base/clock.h"

enum fake_kind {
    FAKE_LISTENS,     /* the socket is there from the start */
    FAKE_WAITS,       /* it opens when SIGQUIT comes and the trigger is there */
    FAKE_DEAF,        /* takes SIGQUIT and does nothing */
    FAKE_DIES_OF_QUIT /* has no handler */
};

static struct {
    char directory[64];
    pid_t pid;
    int ready_fd; /* closed when the process is set up, or has ended */
} fake;

static inline char *fake_path(const char *format, ...)
{
    static char paths[4][200];
    static unsigned next;
    char *path = paths[next++ % 4];
    char name[100];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof paths[0], "%s/%d/%s", fake.directory, (int)fake.pid, name);
    return path;
}

static inline void fake_write(const char *path, const void *bytes, size_t length)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    cr_assert(fd >= 0, "%s", path);
    cr_assert_eq(write(fd, bytes, length), (ssize_t)length);
    close(fd);
}

static inline int fake_listen(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s",
             fake_path("root/tmp/.java_pid%d", (int)fake.pid));
    unlink(address.sun_path);
    umask(077);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 5) != 0)
        _exit(90);
    return fd;
}

/* What the process does with each connection. */
typedef void (*fake_service)(int fd);

static inline void fake_serve(int listener, fake_service service)
{
    for (;;) {
        const int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            continue;
        service(fd);
        close(fd);
    }
}

static inline void fake_on_quit(int signal_number)
{
    (void)signal_number;
}

static inline void fake_body(enum fake_kind kind, fake_service service, int ready_fd)
{
    sigset_t quit;
    int got, listener = -1;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&quit);
    sigaddset(&quit, SIGQUIT);
    signal(SIGQUIT, kind == FAKE_DIES_OF_QUIT ? SIG_DFL : fake_on_quit);
    if (kind != FAKE_DIES_OF_QUIT)
        sigprocmask(SIG_BLOCK, &quit, NULL);
    if (kind == FAKE_LISTENS)
        listener = fake_listen();
    close(ready_fd);
    while (kind == FAKE_DEAF || kind == FAKE_DIES_OF_QUIT)
        pause();
    if (kind == FAKE_WAITS) {
        sigwait(&quit, &got);
        if (access(fake_path("cwd/.attach_pid%d", (int)fake.pid), F_OK) != 0 &&
            access(fake_path("root/tmp/.attach_pid%d", (int)fake.pid), F_OK) != 0)
            _exit(91);
        listener = fake_listen();
    }
    fake_serve(listener, service);
}

/* As the kernel shows a process that catches nothing; an emulator catches all signals itself. */
static inline void fake_write_status(const char *path)
{
    char text[200];
    const int length = snprintf(text, sizeof text,
                                "State:\tS (sleeping)\nUid:\t%1$u\t%1$u\t%1$u\t%1$u\n"
                                "Gid:\t%2$u\t%2$u\t%2$u\t%2$u\nSigCgt:\t0000000000000000\n",
                                (unsigned)geteuid(), (unsigned)getegid());

    cr_assert_eq(unlink(path), 0);
    fake_write(path, text, (size_t)length);
}

static inline void fake_begin(enum fake_kind kind, fake_service service)
{
    static const char maps[] =
        "7f0000000000-7f0000001000 r--p 00000000 fe:00 77 /usr/lib/libc.so.6\n"
        "7f0000100000-7f0000101000 r-xp 00000000 fe:00 99 /jdk/lib/server/libjvm.so\n";
    int go[2], ready[2];
    char byte;

    strcpy(fake.directory, "/tmp/jw-attach-XXXXXX");
    cr_assert_not_null(mkdtemp(fake.directory));
    cr_assert_eq(pipe2(go, O_CLOEXEC), 0);
    cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
    fake.pid = fork();
    cr_assert(fake.pid >= 0);
    if (fake.pid == 0) {
        close(go[1]);
        close(ready[0]);
        (void)!read(go[0], &byte, 1);
        fake.pid = getpid();
        fake_body(kind, service, ready[1]);
        _exit(0);
    }
    close(go[0]);
    close(ready[1]);
    mkdir(fake_path(""), 0700);
    mkdir(fake_path("root"), 0700);
    mkdir(fake_path("root/tmp"), 0700);
    mkdir(fake_path("cwd"), 0700);
    fake_write(fake_path("maps"), maps, sizeof maps - 1);
    fake_write(fake_path("cmdline"), "java\0Main", 10);
    for (int i = 0; i < 3; i++) {
        const char *name = ((const char *const[]){"stat", "status", "exe"})[i];
        char real[64];

        snprintf(real, sizeof real, "/proc/%d/%s", (int)fake.pid, name);
        cr_assert_eq(symlink(real, fake_path("%s", name)), 0);
    }
    if (kind == FAKE_DIES_OF_QUIT)
        fake_write_status(fake_path("status"));
    close(go[1]);
    (void)!read(ready[0], &byte, 1); /* its end: the process is set up */
    close(ready[0]);
}

static inline void fake_end(void)
{
    char command[128];

    if (fake.pid > 0) {
        kill(fake.pid, SIGKILL);
        waitpid(fake.pid, NULL, 0);
    }
    if (fake.directory[0] != '\0') {
        snprintf(command, sizeof command, "rm -rf '%s'", fake.directory);
        cr_assert_eq(system(command), 0);
    }
}

static inline struct attach_target fake_target(void)
{
    struct attach_target target;
    struct jw_error err = {{0}};

    cr_assert(attach_open(fake.directory, fake.pid, &target, &err), "%s", err.message);
    return target;
}

static inline bool fake_lives(void)
{
    return waitpid(fake.pid, NULL, WNOHANG) == 0;
}

/* A request of four texts after the version, and in version 2 the size. */
static inline void fake_take_request(int fd, char *request, size_t room)
{
    size_t used = 0;
    int ends = 0;

    request[0] = '\0';
    while (ends < (request[0] == '2' ? 6 : 5) && used < room && read(fd, request + used, 1) == 1)
        ends += request[used++] == '\0';
}

static inline void fake_say(int fd, const char *text)
{
    (void)!write(fd, text, strlen(text));
}

#endif
