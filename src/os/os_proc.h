/*
 * os_proc - parsers of the texts that Linux shows under /proc and /etc.
 *
 * For      os_info, and its tests on texts of other machines.
 * Callers  os_info, os_timer.
 * Context  any, dump, control, tool. No locale, no allocation; total on any bytes.
 * Memory   none; results are copied out.
 */
#ifndef JW_OS_OS_PROC_H
#define JW_OS_OS_PROC_H

#include "base/jw.h"

struct os_cpu_info {
    char model[128]; /* "AMD EPYC 9B14"; on aarch64 a name for implementer and part */
    char vendor[64]; /* "AuthenticAMD"; on aarch64 "ARM", or the implementer's number */
    char description
        [512]; /* family, model, stepping or implementer, part, revision; then features */
    uint32_t sockets;
    uint32_t cores;            /* physical, all sockets */
    uint32_t hardware_threads; /* that are online */
};

/* Clock ticks since boot (machine) and since start (process); only differences mean something. */
struct os_cpu_times {
    uint64_t machine_busy_ticks;
    uint64_t machine_total_ticks; /* all processors, idle included */
    uint64_t process_user_ticks;
    uint64_t process_system_ticks;
};

/* Shares of the whole machine, 0 to 1. */
struct os_cpu_load {
    double process_user;
    double process_system;
    double machine_total;
};

/* /proc/cpuinfo of x86-64 or aarch64. Fields that the text does not tell stay empty. */
void os_proc_cpuinfo(const char *text, size_t length_bytes, struct os_cpu_info *info);

/* First line of /proc/stat into the machine's ticks. False: not such a text. */
JW_MUST_CHECK bool os_proc_stat(const char *text, size_t length_bytes, struct os_cpu_times *times);

/* /proc/self/stat; a process may be called "a) b (c". Start in clock ticks after boot. */
JW_MUST_CHECK bool os_proc_self_stat(const char *text, size_t length_bytes,
                                     struct os_cpu_times *times, uint64_t *start_ticks);

/* /proc/meminfo: bytes of a line such as "MemTotal:  8048 kB". False: no such line. */
JW_MUST_CHECK bool os_proc_meminfo(const char *text, size_t length_bytes, const char *name,
                                   uint64_t *value_bytes);

/* /etc/os-release: value of `key` without its quotes. Returns its length; 0: not there. */
size_t os_proc_release(const char *text, size_t length_bytes, const char *key, char *value,
                       size_t capacity_bytes);

/* /proc/self/status: signals that all processes of this user have queued, and how many they may. */
JW_MUST_CHECK bool os_proc_signal_queue(const char *text, size_t length_bytes, uint64_t *used_count,
                                        uint64_t *limit_count);

#define OS_INTERFACE_NAME_BYTES 16

/* Bytes since it came up. */
struct os_interface {
    char name[OS_INTERFACE_NAME_BYTES];
    uint64_t received_bytes, sent_bytes;
};

/* /proc/net/dev: up to `most` network interfaces, in its order; what is no such line is left out. */
size_t os_proc_net_dev(const char *text, size_t length_bytes, struct os_interface *out,
                       size_t most);

/* /proc/stat: context switches of the machine since boot. False: it does not tell. */
JW_MUST_CHECK bool os_proc_switches(const char *text, size_t length_bytes, uint64_t *count);

/* Load between two readings; false when no time passed or the later one is not later. */
JW_MUST_CHECK bool os_cpu_load_between(const struct os_cpu_times *earlier,
                                       const struct os_cpu_times *later, struct os_cpu_load *load);

#endif
