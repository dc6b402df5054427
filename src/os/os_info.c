/* Reads what os_proc parses; any, dump, control. */
#include "os/os_info.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/os_read_internal.h"

#define CPUINFO_BYTES      ((size_t)4 << 20) /* 4096 processors of a kilobyte each */
#define COMMAND_LINE_BYTES ((size_t)1 << 20)
#define STATUS_BYTES       ((size_t)64 << 10) /* a line of it has the groups of the user */
#define INTERFACES_BYTES   ((size_t)1 << 20)
#define STAT_BYTES         ((size_t)4 << 20) /* a line of it has a number for each interrupt */
#define CPUS_MAX           4096

/* Name and version of the C library, "glibc 2.36"; "" when it does not tell. */
static void libc_text(char *text, size_t capacity_bytes)
{
    text[0] = '\0';
#ifdef _CS_GNU_LIBC_VERSION
    (void)confstr(_CS_GNU_LIBC_VERSION, text, capacity_bytes);
#else
    snprintf(text, capacity_bytes, "musl");
#endif
}

size_t os_version_text(char *text, size_t capacity_bytes)
{
    char release[1024];
    char distribution[128] = "";
    char libc[64];
    struct utsname kernel;

    size_t length_bytes = os_read_start("/etc/os-release", release, sizeof release);
    if (length_bytes == 0)
        length_bytes = os_read_start("/usr/lib/os-release", release, sizeof release);
    if (os_proc_release(release, length_bytes, "PRETTY_NAME", distribution, sizeof distribution) ==
        0)
        (void)os_proc_release(release, length_bytes, "NAME", distribution, sizeof distribution);
    if (uname(&kernel) != 0)
        memset(&kernel, 0, sizeof kernel);
    libc_text(libc, sizeof libc);

    const int written_bytes =
        snprintf(text, capacity_bytes, "OS: %s\nuname: %s %s %s %s\nlibc: %s", distribution,
                 kernel.sysname, kernel.release, kernel.version, kernel.machine, libc);
    return (size_t)written_bytes < capacity_bytes ? (size_t)written_bytes : capacity_bytes - 1;
}

/* Whether `cpu` is the first of its group, so that groups are counted once. */
static bool is_first_of(unsigned cpu, const char *group, bool *is_told)
{
    char path[96];
    char list[64];
    uint64_t first = 0;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, group);
    const size_t length_bytes = os_read_start(path, list, sizeof list);
    if (length_bytes == 0 || list[0] < '0' || list[0] > '9')
        return false;
    *is_told = true;
    for (size_t i = 0; i < length_bytes && list[i] >= '0' && list[i] <= '9' && first < CPUS_MAX;
         i++)
        first = first * 10 + (uint64_t)(list[i] - '0');
    return first == cpu;
}

/* Where /proc/cpuinfo is silent about the topology, as on aarch64. */
static void count_topology(struct os_cpu_info *info)
{
    uint32_t sockets = 0;
    uint32_t cores = 0;

    for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
        bool is_told = false;

        sockets += is_first_of(cpu, "core_siblings_list", &is_told);
        cores += is_first_of(cpu, "thread_siblings_list", &is_told);
        /* Numbers have gaps where processors are offline, but not beyond the configured ones. */
        if (!is_told && cpu >= (unsigned)sysconf(_SC_NPROCESSORS_CONF))
            break;
    }
    if (info->sockets == 0)
        info->sockets = sockets;
    if (info->cores == 0)
        info->cores = cores;
}

void os_cpu_info(struct os_cpu_info *info)
{
    size_t length_bytes;
    char *text = os_read_whole("/proc/cpuinfo", CPUINFO_BYTES, &length_bytes);

    os_proc_cpuinfo(text == NULL ? "" : text, length_bytes, info);
    jw_free(text);
    if (info->sockets == 0 || info->cores == 0)
        count_topology(info);
    if (info->hardware_threads == 0) {
        const long online_count = sysconf(_SC_NPROCESSORS_ONLN);

        info->hardware_threads = online_count > 0 ? (uint32_t)online_count : 0;
    }
}

bool os_cpu_times(struct os_cpu_times *times)
{
    char machine[512];
    char process[1024];
    uint64_t start_ticks;

    memset(times, 0, sizeof *times);
    const size_t machine_bytes = os_read_start("/proc/stat", machine, sizeof machine);
    const size_t process_bytes = os_read_start("/proc/self/stat", process, sizeof process);
    return os_proc_stat(machine, machine_bytes, times) &&
           os_proc_self_stat(process, process_bytes, times, &start_ticks);
}

void os_memory(struct os_memory *memory)
{
    char text[1024];
    uint64_t free_bytes = 0;

    memory->total_bytes = 0;
    memory->used_bytes = 0;
    const size_t length_bytes = os_read_start("/proc/meminfo", text, sizeof text);
    if (!os_proc_meminfo(text, length_bytes, "MemTotal", &memory->total_bytes))
        return;
    if (!os_proc_meminfo(text, length_bytes, "MemAvailable", &free_bytes) &&
        !os_proc_meminfo(text, length_bytes, "MemFree", &free_bytes))
        return;
    if (free_bytes < memory->total_bytes)
        memory->used_bytes = memory->total_bytes - free_bytes;
}

bool os_resident(struct os_resident *out)
{
    size_t length_bytes;
    char *text = os_read_whole("/proc/self/status", STATUS_BYTES, &length_bytes);
    const bool is_told = text != NULL &&
                         os_proc_meminfo(text, length_bytes, "VmRSS", &out->size_bytes) &&
                         os_proc_meminfo(text, length_bytes, "VmHWM", &out->peak_bytes);

    jw_free(text);
    return is_told;
}

size_t os_interfaces(struct os_interface *out, size_t most)
{
    size_t length_bytes;
    char *text = os_read_whole("/proc/self/net/dev", INTERFACES_BYTES, &length_bytes);
    const size_t count = text == NULL ? 0 : os_proc_net_dev(text, length_bytes, out, most);

    jw_free(text);
    return count;
}

bool os_switches(uint64_t *count)
{
    size_t length_bytes;
    char *text = os_read_whole("/proc/stat", STAT_BYTES, &length_bytes);
    const bool is_told = text != NULL && os_proc_switches(text, length_bytes, count);

    jw_free(text);
    return is_told;
}

char *os_environment(size_t *length_bytes)
{
    return os_read_whole("/proc/self/environ", COMMAND_LINE_BYTES, length_bytes);
}

size_t os_page_bytes(void)
{
    const long page_bytes = sysconf(_SC_PAGESIZE);

    return page_bytes > 0 ? (size_t)page_bytes : 4096;
}

uint64_t os_process_start_wall_ns(void)
{
    char text[1024];
    struct os_cpu_times times;
    uint64_t start_ticks;
    struct timespec since_boot;

    const size_t length_bytes = os_read_start("/proc/self/stat", text, sizeof text);
    const long ticks_per_second = sysconf(_SC_CLK_TCK);
    if (!os_proc_self_stat(text, length_bytes, &times, &start_ticks) || ticks_per_second <= 0 ||
        clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0)
        return 0;

    const uint64_t hz = (uint64_t)ticks_per_second;
    const uint64_t now_ns =
        (uint64_t)since_boot.tv_sec * JW_NS_PER_SECOND + (uint64_t)since_boot.tv_nsec;
    const uint64_t start_ns =
        start_ticks / hz * JW_NS_PER_SECOND + start_ticks % hz * JW_NS_PER_SECOND / hz;
    const uint64_t wall_ns = jw_wall_ns();
    /* A time namespace may put the start after its own now; then nothing is known. */
    return start_ns > now_ns || now_ns - start_ns > wall_ns ? 0 : wall_ns - (now_ns - start_ns);
}

size_t os_command_line(char *text, size_t capacity_bytes)
{
    size_t length_bytes;
    char *line = os_read_whole("/proc/self/cmdline", COMMAND_LINE_BYTES, &length_bytes);

    if (line == NULL)
        length_bytes = 0;
    /* Each argument ends with a NUL, the last one too. */
    while (length_bytes > 0 && line[length_bytes - 1] == '\0')
        length_bytes--;
    if (length_bytes >= capacity_bytes)
        length_bytes = capacity_bytes - 1;
    if (length_bytes > 0)
        memcpy(text, line, length_bytes);
    text[length_bytes] = '\0';
    jw_free(line);
    return length_bytes;
}
