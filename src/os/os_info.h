/*
 * os_info - what a recording says about the machine and the process.
 *
 * For      jdk.OSInformation, jdk.CPUInformation, jdk.CPULoad, jdk.PhysicalMemory, jdk.JVMInformation and the
 *          like.
 * Callers  recording, agent.
 * Context  any, dump, control. Not in a handler: reads files of /proc.
 * Memory   a buffer for the length of a call; texts are copied into what the caller gives.
 *
 * What cannot be found out is 0 or "", never made up. The parsers stand in os_proc.h.
 */
#ifndef JW_OS_OS_INFO_H
#define JW_OS_OS_INFO_H

#include "base/jw.h"
#include "os/os_proc.h"

/* Distribution, kernel and libc in a few lines. Returns the length of the text, cut to fit. */
size_t os_version_text(char *text, size_t capacity_bytes);

void os_cpu_info(struct os_cpu_info *info);

/* False when /proc/stat or /proc/self/stat cannot be read. */
JW_MUST_CHECK bool os_cpu_times(struct os_cpu_times *times);

struct os_memory {
    uint64_t total_bytes;
    uint64_t used_bytes; /* total less what could be had without swapping */
};

void os_memory(struct os_memory *memory);
size_t os_page_bytes(void);

/* What this process has of it, and the most it had; false: not told. */
struct os_resident {
    uint64_t size_bytes;
    uint64_t peak_bytes;
};

JW_MUST_CHECK bool os_resident(struct os_resident *out);

/* Network interfaces that this process sees, the first `most` of them; 0: not told. */
size_t os_interfaces(struct os_interface *out, size_t most);

/* Context switches of the machine since boot; false: not told. */
JW_MUST_CHECK bool os_switches(uint64_t *count);

/* The environment as this process began, each "NAME=value" with its NUL; NULL: not told. The caller's, jw_free. */
JW_MUST_CHECK char *os_environment(size_t *length_bytes);

/* When this process started, in CLOCK_REALTIME; 0 when unknown. Exact to a clock tick (10 ms). */
uint64_t os_process_start_wall_ns(void);

/* Arguments of the process, a NUL between each and behind the last. Returns the length without that one, cut to fit. */
size_t os_command_line(char *text, size_t capacity_bytes);

#endif
