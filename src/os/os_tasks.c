/* The task list, read with getdents64; os_gettid and os_task_is_alive also run in handlers. */
#include "os/os_tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/os_read_internal.h"

#define LIST_BYTES 1024 /* some thirty threads a system call */

/* One entry of getdents64. Source: Linux, include/linux/dirent.h, struct linux_dirent64. */
struct list_entry {
    uint64_t inode;
    int64_t next_offset;
    uint16_t length_bytes;
    uint8_t type;
    char name[];
};

/* The kernel numbers threads below 2^22; anything that is no such number, "." and "..", gives 0. */
static int tid_of(const char *name)
{
    int tid = 0;

    for (; *name != '\0'; name++) {
        if (*name < '0' || *name > '9' || tid > INT32_MAX / 10 - 1)
            return 0;
        tid = tid * 10 + (*name - '0');
    }
    return tid;
}

bool os_tasks_each(os_task_visitor *visit, void *argument, struct jw_error *err)
{
    _Alignas(struct list_entry) char list[LIST_BYTES];
    const int descriptor = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_wanted = true;
    long count_bytes = 0;

    if (descriptor < 0) {
        jw_error_set(err, "/proc/self/task: %s; threads that no JVM event reports stay unseen%s",
                     strerror(errno), errno == ENOENT ? "; is /proc mounted?" : "");
        return false;
    }
    while (is_wanted) {
        count_bytes = syscall(SYS_getdents64, descriptor, list, sizeof list);
        if (count_bytes <= 0)
            break;
        for (long at = 0; at < count_bytes && is_wanted;) {
            const struct list_entry *entry = (const struct list_entry *)(const void *)(list + at);
            const int tid = tid_of(entry->name);

            if (tid > 0)
                is_wanted = visit(tid, argument);
            at += entry->length_bytes;
        }
    }
    const int reason = errno;
    close(descriptor);
    if (count_bytes < 0) {
        jw_error_set(err, "/proc/self/task: reading the list of threads: %s", strerror(reason));
        return false;
    }
    return true;
}

/* The number that so many words stand before; false: there is none. */
static bool read_number(const char *text, int words_before, uint64_t *out)
{
    char *end;

    for (text += strspn(text, " "); words_before > 0; words_before--) {
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    *out = strtoull(text, &end, 10);
    return end != text;
}

/* Source: proc(5): stat, behind the name; schedstat, Documentation/scheduler/sched-stats.rst. */
bool os_task_facts(int tid, struct os_task_facts *out)
{
    char path[64], text[512];
    struct os_task_facts read = {0};
    uint64_t user_ticks, system_ticks;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    if (os_read_start(path, text, sizeof text) == 0)
        return false;
    const char *at = strrchr(text, ')');
    if (at == NULL || !read_number(at + 1, 7, &read.minor_faults) ||
        !read_number(at + 1, 9, &read.major_faults) || !read_number(at + 1, 11, &user_ticks) ||
        !read_number(at + 1, 12, &system_ticks))
        return false;
    const uint64_t tick_ns = JW_NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
    read.user_ns = user_ticks * tick_ns;
    read.system_ns = system_ticks * tick_ns;
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
    if (os_read_start(path, text, sizeof text) != 0 && read_number(text, 0, &read.cpu_ns))
        (void)read_number(text, 1, &read.waited_ns);
    *out = read;
    return true;
}

bool os_task_name(int tid, char name[OS_TASK_NAME_BYTES])
{
    char path[64];
    char text[OS_TASK_NAME_BYTES + 1]; /* the name, a newline, a terminator */

    name[0] = '\0';
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
    size_t length_bytes = os_read_start(path, text, sizeof text);
    if (length_bytes == 0)
        return false;
    if (text[length_bytes - 1] == '\n')
        length_bytes--;
    if (length_bytes >= OS_TASK_NAME_BYTES)
        length_bytes = OS_TASK_NAME_BYTES - 1;
    memcpy(name, text, length_bytes);
    name[length_bytes] = '\0';
    return true;
}

bool os_task_is_alive(int tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}

int os_gettid(void)
{
    return (int)syscall(SYS_gettid);
}
