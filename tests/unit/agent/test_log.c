/* The log file: a plain file of ours or none. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/atomics.h"

#define RACES 3000

static char directory[] = "/tmp/jaywalk-log-XXXXXX";

static void enter_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    cr_assert(chdir(directory) == 0);
}

static void leave_directory(void)
{
    char command[100];

    cr_assert(chdir("/") == 0);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert(system(command) == 0);
}

TestSuite(log, .init = enter_directory, .fini = leave_directory, .timeout = 1800);

static void open_log(const char *name)
{
    static struct options options;

    options_defaults(&options);
    snprintf(options.log, sizeof options.log, "%s", name);
    agent_log_open(&options);
    agent_log(OPTIONS_LOGLEVEL_WARN, "a word");
}

static off_t size_of(const char *name)
{
    struct stat file;

    return lstat(name, &file) == 0 ? file.st_size : -1;
}

static void make(const char *name)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);

    cr_assert(fd >= 0);
    close(fd);
}

Test(log, s23_a_file_of_ours_takes_the_words_and_is_private)
{
    struct stat file;

    open_log("log");
    cr_assert(stat("log", &file) == 0 && file.st_size > 0);
    cr_assert((file.st_mode & 0777) == 0600);
}

Test(log, s23_a_symbolic_link_is_not_followed)
{
    make("victim");
    cr_assert(symlink("victim", "link") == 0 && symlink("nothing", "dangling") == 0);
    open_log("link");
    open_log("dangling");
    cr_assert(size_of("victim") == 0 && size_of("nothing") == -1);
}

Test(log, s23_a_file_with_a_second_name_is_left_alone)
{
    make("victim");
    cr_assert(link("victim", "other-name") == 0);
    open_log("other-name");
    cr_assert(size_of("victim") == 0);
}

Test(log, s23_a_fifo_somebody_reads_gets_nothing)
{
    char byte;

    cr_assert(mkfifo("fifo", 0666) == 0);
    const int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    cr_assert(reader >= 0);
    open_log("fifo");
    cr_assert(read(reader, &byte, 1) == 0);
    close(reader);
}

/* A world-writable file that another user laid in /tmp. */
Test(log, s23_a_file_of_another_user_is_left_alone)
{
    if (geteuid() != 0)
        cr_skip_test("only root can make a file of another user");
    make("theirs");
    cr_assert(chown("theirs", 65534, 65534) == 0 && chmod("theirs", 0666) == 0);
    open_log("theirs");
    cr_assert(size_of("theirs") == 0);
}

Test(log, a_refused_log_of_a_second_session_is_told_of_where_messages_go)
{
    char text[1000] = "";

    open_log("log");
    cr_assert(mkfifo("fifo", 0600) == 0);
    const int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    open_log("fifo");
    const int fd = open("log", O_RDONLY);
    cr_assert(reader >= 0 && fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    cr_assert(strstr(text, "log=fifo: it is no regular file; messages go on into the log file of "
                           "before\n") != NULL,
              "%s", text);
    close(fd);
    close(reader);
}

/* ---- nobody reads ---- */

static _Atomic int ready_count;
static char long_text[PIPE_BUF + 1];

static void *say_at_once(void *argument)
{
    jw_add_relaxed(&ready_count, 1);
    for (unsigned looks = 0; jw_load_relaxed(&ready_count) < 2; looks++)
        if (looks > 100000) /* the other waits for the processor */
            sched_yield();
    agent_log_text(long_text);
    return argument;
}

/* Two messages at the same time, of which one fits: both saw that there was room. */
static void race_for_room(int reader, int writer)
{
    static char bytes[4 * PIPE_BUF];
    const int own = dup(STDERR_FILENO);

    memset(long_text, 'x', sizeof long_text - 1);
    cr_assert(own >= 0 && dup2(writer, STDERR_FILENO) == STDERR_FILENO);
    cr_assert(fcntl(reader, F_SETFL, O_NONBLOCK) == 0);
    for (int i = 0; i < RACES; i++) {
        pthread_t other;

        jw_store_relaxed(&ready_count, 0);
        cr_assert(pthread_create(&other, NULL, say_at_once, NULL) == 0);
        say_at_once(NULL);
        pthread_join(other, NULL);
        cr_assert(read(reader, bytes, sizeof bytes) > 0, "who comes first is read");
        while (read(reader, bytes, sizeof bytes) > 0)
            ;
    }
    cr_assert((fcntl(writer, F_GETFL) & O_NONBLOCK) == 0, "the host's own descriptor is as it was");
    cr_assert(dup2(own, STDERR_FILENO) == STDERR_FILENO);
}

Test(log, m45_a_pipe_that_another_fills_up_meanwhile_holds_nobody, .timeout = 1800)
{
    int ends[2];

    cr_assert(pipe(ends) == 0 && fcntl(ends[1], F_SETPIPE_SZ, PIPE_BUF) == PIPE_BUF);
    race_for_room(ends[0], ends[1]);
}

Test(log, m45_a_socket_that_another_fills_up_meanwhile_holds_nobody, .timeout = 1800)
{
    const int least = 1;
    int ends[2];

    cr_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    cr_assert(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &least, sizeof least) == 0);
    race_for_room(ends[0], ends[1]);
}
