/*
 * The JVM's attach listener: its socket, and the trigger that makes the JVM open it; tool.
 *
 * The socket is /tmp/.java_pidN of the target's file system, N its own number for itself. Where it is
 * not there, a file .attach_pidN in the target's working directory (else in /tmp) and SIGQUIT have the JVM
 * open it; without that file, SIGQUIT would print a thread dump. So the signal is sent once only.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/attach_internal.h"
#include "base/clock.h"

#define STEP_FIRST_NS (2 * JW_NS_PER_MS)
#define STEP_LAST_NS  (50 * JW_NS_PER_MS)

/* For a JVM that has just been started, or stopped for a moment. */
#define READY_TIMEOUT_NS (3 * JW_NS_PER_SECOND)

enum socket_state {
    SOCKET_OPEN,    /* connected */
    SOCKET_ABSENT,  /* no such file, or nobody listens */
    SOCKET_BUSY,    /* others wait in line; the caller comes again */
    SOCKET_REFUSED, /* something is there that we do not talk to; `err` says why */
};

/* The peer must be the very process, of the very user: paths are no authority. */
static bool check_peer(const struct attach_target *target, int fd, struct jw_error *err)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer) {
        jw_error_set(err, "who listens for process %d cannot be found out: %s", target->pid,
                     strerror(errno));
        return false;
    }
    if (peer.pid == target->pid && peer.uid == target->user)
        return true;
    jw_error_set(
        err, "the attach socket of process %d is held by process %d of user %u; it is left alone",
        target->pid, (int)peer.pid, (unsigned)peer.uid);
    return false;
}

static bool check_file(const struct attach_target *target, const char *path,
                       const struct stat *file, struct jw_error *err)
{
    const char *why = NULL;

    if (!S_ISSOCK(file->st_mode))
        why = "is no socket";
    else if (file->st_uid != target->user)
        why = "belongs to another user";
    else if ((file->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        why = "may be written by others";
    if (why == NULL)
        return true;
    jw_error_set(err,
                 "%s %s, so the JVM did not make it; it is left alone: have its owner remove it",
                 path, why);
    return false;
}

/* The file of the socket, looked at in a directory that is held; `shown` is what it is called in messages. */
static enum socket_state look_at_socket(const struct attach_target *target, int tmp_fd,
                                        const char *name, const char *shown, struct jw_error *err)
{
    struct stat file;

    if (tmp_fd >= 0 && fstatat(tmp_fd, name, &file, AT_SYMLINK_NOFOLLOW) == 0)
        return check_file(target, shown, &file, err) ? SOCKET_OPEN : SOCKET_REFUSED;
    if (errno == ENOENT)
        return SOCKET_ABSENT;
    jw_error_set(err, "%s: %s; %s", shown, strerror(errno), attach_advice(errno));
    return SOCKET_REFUSED;
}

static enum socket_state connect_in(const struct attach_target *target, int tmp_fd, int *socket_fd,
                                    struct jw_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[32], shown[200];

    snprintf(name, sizeof name, ".java_pid%d", target->inner_pid);
    snprintf(shown, sizeof shown, "%s/root/tmp/%s", target->place, name);
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", tmp_fd, name);

    const enum socket_state state = look_at_socket(target, tmp_fd, name, shown, err);
    if (state != SOCKET_OPEN)
        return state;

    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        jw_error_set(err, "no socket: %s; %s", strerror(errno),
                     errno == EACCES || errno == EPERM
                         ? "something forbids this command to open one (a sandbox?)"
                         : attach_advice(errno));
        return SOCKET_REFUSED;
    }
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        const int reason = errno;

        close(fd);
        if (reason == EAGAIN)
            return SOCKET_BUSY;
        if (reason == ECONNREFUSED || reason == ENOENT)
            return SOCKET_ABSENT;
        jw_error_set(err, "%s: %s; %s", shown, strerror(reason), attach_advice(reason));
        return SOCKET_REFUSED;
    }
    if (!check_peer(target, fd, err)) {
        close(fd);
        return SOCKET_REFUSED;
    }
    *socket_fd = fd;
    return SOCKET_OPEN;
}

static enum socket_state try_connect(const struct attach_target *target, int *socket_fd,
                                     struct jw_error *err)
{
    const int tmp_fd = attach_open_tmp(target);
    const enum socket_state state = connect_in(target, tmp_fd, socket_fd, err);

    if (tmp_fd >= 0)
        close(tmp_fd);
    return state;
}

/* The file that tells a JVM what SIGQUIT is meant for, and how to take it away again. */
struct trigger {
    int directory_fd;
    char name[32];
    bool is_ours;
};

static bool create_trigger_in(const struct attach_target *target, int directory_fd,
                              struct trigger *trigger)
{
    struct stat file;

    snprintf(trigger->name, sizeof trigger->name, ".attach_pid%d", target->inner_pid);
    trigger->directory_fd = directory_fd;
    if (directory_fd < 0)
        return false;

    const int fd = openat(trigger->directory_fd, trigger->name,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
        trigger->is_ours = true;
        return true;
    }
    /* Of another tool that attaches at this moment, or left behind by one: it serves, and is its. */
    if (errno == EEXIST &&
        fstatat(trigger->directory_fd, trigger->name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(file.st_mode) && file.st_uid == target->user) {
        trigger->is_ours = false;
        return true;
    }
    const int reason = errno;
    close(trigger->directory_fd);
    trigger->directory_fd = -1;
    errno = reason;
    return false;
}

/*
 * The directory that the process works in; -1: there is none to use. A JVM that starts works for some milliseconds in
 * /tmp/hsperfdata_USER and removes what is not of a JVM there; a trigger among it would be gone before the signal is
 * looked at, which is then answered with a thread dump on the application's output.
 * Source: HotSpot, perfMemory_posix.cpp: open_directory_secure_cwd, cleanup_sharedmem_files.
 */
static int open_cwd(const struct attach_target *target)
{
    static const char tidied[] = "/hsperfdata_";
    char path[256], name[PATH_MAX];

    snprintf(path, sizeof path, "%s/cwd", target->place);
    const int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d",
             fd); /* of what was opened, wherever the process is by now */
    const ssize_t length = readlink(path, name, sizeof name - 1);
    name[length < 0 ? 0 : length] = '\0';
    const char *last = strrchr(name, '/');
    if (last == NULL || strncmp(last, tidied, sizeof tidied - 1) != 0)
        return fd;
    close(fd);
    return -1;
}

static bool create_trigger(const struct attach_target *target, struct trigger *trigger,
                           struct jw_error *err)
{
    if (create_trigger_in(target, open_cwd(target), trigger) ||
        create_trigger_in(target, attach_open_tmp(target), trigger))
        return true;
    const int reason = errno;
    if (attach_has_ended(target, err))
        return false;
    jw_error_set(err,
                 "neither the working directory of process %d nor its /tmp takes the file that "
                 "announces an attach: %s; %s",
                 target->pid, strerror(reason), attach_advice_tmp(reason));
    return false;
}

static void remove_trigger(struct trigger *trigger)
{
    if (trigger->is_ours)
        (void)unlinkat(trigger->directory_fd, trigger->name, 0);
    close(trigger->directory_fd);
}

static bool is_stopped(char state)
{
    return state == 'T' || state == 't';
}

bool attach_is_stopped(const struct attach_target *target, struct jw_error *err)
{
    struct attach_status status;

    if (!attach_read_status(target->place, &status) || !is_stopped(status.state))
        return false;
    jw_error_set(err, "process %d is stopped, by a debugger or SIGSTOP; let it run (kill -CONT %d)",
                 target->pid, target->pid);
    return true;
}

/* A process that is stopped answers nobody; a JVM that has not come to its signal handlers yet would die
 * of SIGQUIT. */
static bool wait_until_ready(const struct attach_target *target, bool needs_handler,
                             struct jw_error *err)
{
    const uint64_t deadline_ns = jw_now_ns() + READY_TIMEOUT_NS;
    struct attach_status status;

    for (;;) {
        if (attach_has_ended(target, err))
            return false;
        if (!attach_read_status(target->place, &status)) {
            const int reason = errno;

            /* It may have ended between the two. */
            if (!attach_has_ended(target, err))
                jw_error_set(err, "process %d cannot be looked at (%s/status): %s; %s", target->pid,
                             target->place, strerror(reason), attach_advice(reason));
            return false;
        }
        if (!is_stopped(status.state) && (status.catches_quit || !needs_handler))
            return true;
        if (jw_now_ns() >= deadline_ns || attach_is_given_up(target))
            break;
        (void)attach_wait(target, STEP_LAST_NS);
    }
    if (!attach_is_stopped(target, err))
        jw_error_set(
            err,
            "process %d does not handle SIGQUIT and would die of it: it still starts, or runs with "
            "-Xrs and lost its attach socket; try again, or start it under 'jaywalk record'",
            target->pid);
    return false;
}

static int wait_for_socket(const struct attach_target *target, uint64_t deadline_ns,
                           struct jw_error *err)
{
    uint64_t step_ns = STEP_FIRST_NS;
    int fd = -1;

    while (jw_now_ns() < deadline_ns && !attach_is_given_up(target)) {
        const bool has_ended = attach_wait(target, step_ns);

        if (has_ended || !attach_is_alive(target)) {
            jw_error_set(err, "process %d has ended meanwhile", target->pid);
            return -1;
        }
        const enum socket_state state = try_connect(target, &fd, err);
        if (state == SOCKET_OPEN || state == SOCKET_REFUSED)
            return state == SOCKET_OPEN ? fd : -1;
        step_ns = step_ns < STEP_LAST_NS ? step_ns * 2 : STEP_LAST_NS;
    }
    jw_error_set(
        err,
        "process %d did not open its attach socket in time: it may be stopped, swapped out, "
        "exiting, or stuck in the JVM; look at it and try again",
        target->pid);
    return -1;
}

/*
 * A JVM that listens takes any file at this place for its own socket. It makes no other one then, and answers
 * the signal with a thread dump on the application's output.
 * Source: HotSpot, os.cpp (signal_thread_entry), AttachListener::check_socket_file.
 */
static bool is_in_the_way(const struct attach_target *target, struct jw_error *err)
{
    char name[32];
    struct stat file;
    const int tmp_fd = attach_open_tmp(target);

    snprintf(name, sizeof name, ".java_pid%d", target->inner_pid);
    const bool is_there = tmp_fd >= 0 && fstatat(tmp_fd, name, &file, AT_SYMLINK_NOFOLLOW) == 0;
    if (tmp_fd >= 0)
        close(tmp_fd);
    if (!is_there || !attach_has_thread(target->place, "Attach Listener"))
        return false;
    jw_error_set(
        err,
        "nobody listens at %s/root/tmp/%s, and process %d makes no other socket while that "
        "is there; remove it and try again",
        target->place, name, target->pid);
    return true;
}

int attach_connect(const struct attach_target *target, uint64_t deadline_ns, struct jw_error *err)
{
    struct trigger trigger;
    int fd = -1;

    if (!wait_until_ready(target, false, err))
        return -1;
    const enum socket_state state = try_connect(target, &fd, err);
    if (state == SOCKET_OPEN || state == SOCKET_REFUSED)
        return state == SOCKET_OPEN ? fd : -1;
    if (state == SOCKET_BUSY)
        return wait_for_socket(target, deadline_ns, err);
    if (is_in_the_way(target, err) || !wait_until_ready(target, true, err) ||
        !create_trigger(target, &trigger, err))
        return -1;
    if (attach_signal(target, SIGQUIT, err))
        fd = wait_for_socket(target, deadline_ns, err);
    remove_trigger(&trigger);
    return fd;
}
