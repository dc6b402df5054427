/* Which process this is, whose it is, and whether it still is the same; tool. */
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/attach_internal.h"
#include "base/clock.h"
#include "os/os_proc.h"

/* Numbers of calls that are newer than some headers; the same on x86-64 and aarch64. Source: kernel 5.3,
 * include/uapi/asm-generic/unistd.h. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

#define GROUPS_MAX        256
#define ENVIRONMENT_BYTES (256 * 1024)

static bool read_start(const char *place, uint64_t *start_ticks)
{
    char text[1024];
    size_t length_bytes;
    struct os_cpu_times times;

    if (!attach_read(place, "stat", text, sizeof text, &length_bytes))
        return false;
    if (os_proc_self_stat(text, length_bytes, &times, start_ticks))
        return true;
    errno = EBADMSG;
    return false;
}

static void user_name(uid_t user, char *text, size_t room_bytes)
{
    char memory[1024];
    struct passwd entry, *found = NULL;

    if (getpwuid_r(user, &entry, memory, sizeof memory, &found) == 0 && found != NULL)
        snprintf(text, room_bytes, "%s", found->pw_name);
    else
        snprintf(text, room_bytes, "number %u", (unsigned)user);
}

/* Without this nobody could tell us from a thief: root aside, only one's own processes are touched. */
static bool check_user(const struct attach_target *target, struct jw_error *err)
{
    char theirs[64], ours[64];

    if (geteuid() == 0 || geteuid() == target->user)
        return true;
    user_name(target->user, theirs, sizeof theirs);
    user_name(geteuid(), ours, sizeof ours);
    jw_error_set(
        err,
        "process %d belongs to user %s, and this is user %s; run jaywalk as that user (sudo -u) "
        "or as root",
        target->pid, theirs, ours);
    return false;
}

/* Different when either cannot be looked at: then paths mean nothing to us. */
static bool is_same_file(const char *place, const char *name, const char *ours)
{
    char path[256];
    struct stat theirs_stat, ours_stat;

    snprintf(path, sizeof path, "%s/%s", place, name);
    return stat(path, &theirs_stat) == 0 && stat(ours, &ours_stat) == 0 &&
           theirs_stat.st_dev == ours_stat.st_dev && theirs_stat.st_ino == ours_stat.st_ino;
}

/* Each has its say, in the order in which the JVM reads them. */
static bool is_attach_off(const char *place)
{
    static const char *const names[] = {"environ", "cmdline", "environ"};
    char *text = jw_alloc(ENVIRONMENT_BYTES);
    size_t length_bytes;
    bool is_off = false;

    for (size_t i = 0; text != NULL && i < JW_COUNT_OF(names); i++) {
        if (!attach_read(place, names[i], text, ENVIRONMENT_BYTES, &length_bytes))
            continue;
        if (i == 1)
            attach_find_switch(text, length_bytes, &is_off);
        else
            attach_find_switch_in_environment(text, length_bytes, i == 2, &is_off);
    }
    jw_free(text);
    return is_off;
}

static bool hold(struct attach_target *target, struct jw_error *err)
{
    target->pid_fd = (int)syscall(SYS_pidfd_open, target->pid, 0);
    if (target->pid_fd >= 0 || errno == ENOSYS || errno == EPERM)
        return true; /* without one, the time of the start alone tells processes apart */
    if (errno == ESRCH)
        jw_error_set(err, "there is no process %d; 'jaywalk jps' lists the JVMs", target->pid);
    else if (errno == EINVAL || errno == ENOENT)
        jw_error_set(err, "%d is a thread, not a process; 'jaywalk jps' lists the JVMs",
                     target->pid);
    else
        jw_error_set(err, "process %d cannot be held: %s; %s", target->pid, strerror(errno),
                     attach_advice(errno));
    return false;
}

static bool check_jvm(const struct attach_target *target, struct jw_error *err)
{
    bool is_jvm;

    if (!attach_maps_jvm(target->place, &is_jvm, err))
        return false;
    if (!is_jvm && attach_has_ended(target, err))
        return false;
    if (!is_jvm) {
        char text[4096], name[ATTACH_NAME_BYTES] = "?";
        size_t length_bytes;

        if (attach_read(target->place, "cmdline", text, sizeof text, &length_bytes))
            (void)!attach_parse_name(text, length_bytes, name, sizeof name);
        jw_error_set(
            err,
            "process %d (%.80s) is not a HotSpot JVM: it has no libjvm.so mapped; 'jaywalk jps' "
            "lists the JVMs",
            target->pid, name);
        return false;
    }
    if (is_attach_off(target->place)) {
        jw_error_set(
            err,
            "process %d was started with -XX:+DisableAttachMechanism, so no tool can attach; "
            "start it without that, or under 'jaywalk record'",
            target->pid);
        return false;
    }
    return true;
}

static bool identify(struct attach_target *target, struct jw_error *err)
{
    struct attach_status status;

    if (!read_start(target->place, &target->start_ticks) ||
        !attach_read_status(target->place, &status)) {
        if (errno == ENOENT || errno == ESRCH)
            jw_error_set(err,
                         "there is no process %d that can be looked at: %s; 'jaywalk jps' lists "
                         "the JVMs",
                         target->pid, strerror(errno));
        else
            jw_error_set(err, "process %d cannot be looked at: %s; %s", target->pid,
                         strerror(errno), attach_advice(errno));
        return false;
    }
    target->user = status.user;
    target->group = status.group;
    target->inner_pid = status.inner_pid == 0 ? target->pid : status.inner_pid;
    if (status.state == 'Z' || status.state == 'X') {
        jw_error_set(err, "process %d has ended and waits for its parent to notice (a zombie)",
                     target->pid);
        return false;
    }
    if (!check_user(target, err) || !check_jvm(target, err))
        return false;
    target->has_own_files = !is_same_file(target->place, "ns/mnt", "/proc/self/ns/mnt") ||
                            !is_same_file(target->place, "root", "/");
    return true;
}

bool attach_open(const char *proc, int pid, struct attach_target *target, struct jw_error *err)
{
    memset(target, 0, sizeof *target);
    target->pid = pid;
    target->pid_fd = -1;
    snprintf(target->place, sizeof target->place, "%s/%d", proc, pid);
    if (hold(target, err) && identify(target, err))
        return true;
    attach_close(target);
    return false;
}

void attach_close(struct attach_target *target)
{
    if (target->pid_fd >= 0)
        close(target->pid_fd);
    target->pid_fd = -1;
}

/* The held process itself, which needs neither a descriptor nor memory. */
static enum attach_life look_by_descriptor(const struct attach_target *target)
{
    struct pollfd held = {.fd = target->pid_fd, .events = POLLIN};
    int count;

    if (target->pid_fd < 0)
        return ATTACH_CANNOT_LOOK;
    do
        count = poll(&held, 1, 0);
    while (count < 0 && errno == EINTR);
    return count < 0 ? ATTACH_CANNOT_LOOK : count == 0 ? ATTACH_LIVES : ATTACH_HAS_ENDED;
}

enum attach_life attach_look(const struct attach_target *target)
{
    struct attach_status status;
    uint64_t start_ticks;

    if (read_start(target->place, &start_ticks) && attach_read_status(target->place, &status))
        return start_ticks == target->start_ticks && status.state != 'Z' && status.state != 'X'
                   ? ATTACH_LIVES
                   : ATTACH_HAS_ENDED;

    const int reason = errno;
    const enum attach_life life = look_by_descriptor(target);
    if (life == ATTACH_HAS_ENDED ||
        (life == ATTACH_CANNOT_LOOK && (reason == ENOENT || reason == ESRCH)))
        return ATTACH_HAS_ENDED;
    errno = reason;
    return ATTACH_CANNOT_LOOK;
}

bool attach_is_alive(const struct attach_target *target)
{
    return attach_look(target) != ATTACH_HAS_ENDED;
}

/* Who ends is there for a moment without memory, then without directories, and runs as far as its state tells. A look that
 * is not allowed says nothing, and one that failed is no proof: it has neither a program nor memory any more.
 * Source: Linux, kernel/exit.c: do_exit; fs/proc/base.c: proc_exe_link; fs/proc/array.c: proc_pid_statm. */
static bool is_going(const struct attach_target *target)
{
    char path[256], name[PATH_MAX], memory[128];
    size_t length_bytes;

    snprintf(path, sizeof path, "%s/exe", target->place);
    return readlink(path, name, sizeof name) < 0 && errno == ENOENT &&
           attach_read(target->place, "statm", memory, sizeof memory, &length_bytes) &&
           strncmp(memory, "0 ", 2) == 0;
}

bool attach_has_ended(const struct attach_target *target, struct jw_error *err)
{
    if (attach_is_alive(target) && !is_going(target))
        return false;
    jw_error_set(err, "process %d has ended meanwhile", target->pid);
    return true;
}

/* The supplementary groups of the target, from its "Groups:" line. */
static size_t read_groups(const char *place, gid_t *groups)
{
    char text[8192];
    size_t length_bytes;
    size_t count = 0;

    if (!attach_read(place, "status", text, sizeof text, &length_bytes))
        return 0;
    const char *at = strstr(text, "\nGroups:");
    if (at == NULL)
        return 0;
    at += strlen("\nGroups:");
    while (count < GROUPS_MAX) {
        char *end;

        at += strspn(at, " \t");
        if (*at < '0' || *at > '9')
            break;
        groups[count++] = (gid_t)strtoul(at, &end, 10);
        at = end;
    }
    return count;
}

bool attach_become(const struct attach_target *target, struct jw_error *err)
{
    gid_t groups[GROUPS_MAX];

    if (geteuid() != 0 || (target->user == 0 && target->group == getegid()))
        return true;
    if (setgroups(read_groups(target->place, groups), groups) != 0 ||
        setresgid(target->group, target->group, target->group) != 0 ||
        setresuid(target->user, target->user, target->user) != 0) {
        jw_error_set(err, "root cannot become user %u of process %d: %s", (unsigned)target->user,
                     target->pid, strerror(errno));
        return false;
    }
    if (target->user != 0 && setuid(0) == 0) {
        jw_error_set(err, "the rights of root could not be given up");
        return false;
    }
    return true;
}

bool attach_wait(const struct attach_target *target, uint64_t sleep_ns)
{
    struct pollfd wait = {.fd = target->pid_fd, .events = POLLIN};
    const struct timespec time = {(time_t)(sleep_ns / JW_NS_PER_SECOND),
                                  (long)(sleep_ns % JW_NS_PER_SECOND)};

    /* A descriptor below 0 is passed over; the end of the process makes the other one readable. */
    const int count = ppoll(&wait, 1, &time, NULL);
    if (count < 0 && errno != EINTR)
        (void)nanosleep(&time, NULL);
    return count > 0;
}

bool attach_is_given_up(const struct attach_target *target)
{
    return target->is_given_up != NULL && target->is_given_up();
}

bool attach_signal(const struct attach_target *target, int signal_number, struct jw_error *err)
{
    /* Only who is certainly the one that was opened. */
    switch (attach_look(target)) {
    case ATTACH_LIVES:
        break;
    case ATTACH_HAS_ENDED:
        jw_error_set(err, "process %d has ended meanwhile", target->pid);
        return false;
    case ATTACH_CANNOT_LOOK:
        jw_error_set(err, "process %d cannot be looked at, so no signal is sent to it: %s; %s",
                     target->pid, strerror(errno), attach_advice(errno));
        return false;
    }
    const long result = target->pid_fd >= 0
                            ? syscall(SYS_pidfd_send_signal, target->pid_fd, signal_number, NULL, 0)
                            : kill(target->pid, signal_number);
    if (result == 0)
        return true;
    jw_error_set(err, "process %d cannot be signalled: %s", target->pid, strerror(errno));
    return false;
}
