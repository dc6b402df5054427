/*
 * Any bytes as a text that others wrote: files of /proc of any process, what a JVM answers to an attach, command
 * lines, filters of threads, mangled names. The first byte chooses the reader; all end, inside the bytes, with a text that
 * is terminated.
 */
/* s18: what others wrote is read to its end and no further. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach_internal.h"
#include "base/secrets.h"
#include "os/os_proc.h"
#include "symbols/symbols_internal.h"
#include "symbols/symbols_plain.h"
#include "thread/thread_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_right)
{
    if (!is_right)
        abort();
}

static void read_attach(const char *text, size_t length_bytes, char *copy)
{
    struct attach_status status;
    static struct attach_reply reply;
    char name[ATTACH_NAME_BYTES];
    bool is_disabled = false;
    int code;

    if (attach_parse_status(text, length_bytes, &status))
        check(status.inner_pid >= 0);
    attach_find_switch(text, length_bytes, &is_disabled);
    attach_find_switch_in_environment(text, length_bytes, length_bytes % 2 == 0, &is_disabled);
    if (attach_parse_name(text, length_bytes, name, sizeof name)) {
        check(strnlen(name, sizeof name) < sizeof name);
        (void)attach_is_called(name, "Main");
    }
    if (attach_parse_reply(text, length_bytes, &reply)) {
        check(strnlen(reply.text, sizeof reply.text) < sizeof reply.text);
        (void)!attach_parse_load(reply.text, &code);
    }
    (void)attach_is_jvm_line(copy);
    (void)attach_parse_mapped(copy, "libjaywalk.so");
}

static void read_proc(const char *text, size_t length_bytes, char *copy)
{
    static struct os_cpu_info info;
    static struct symbols_mapping mappings[64];
    struct os_cpu_times times;
    uint64_t number, other;
    char value[32];

    os_proc_cpuinfo(text, length_bytes, &info);
    (void)!os_proc_stat(text, length_bytes, &times);
    (void)!os_proc_self_stat(text, length_bytes, &times, &number);
    (void)!os_proc_meminfo(text, length_bytes, "MemFree", &number);
    (void)!os_proc_signal_queue(text, length_bytes, &number, &other);
    check(os_proc_release(text, length_bytes, "NAME", value, sizeof value) < sizeof value);
    check(symbols_maps_parse(copy, mappings, 64) <= 64);
}

static void read_words(const char *text, size_t length_bytes, const char *copy)
{
    char room[300];
    struct jw_error err = {{0}};

    check(jw_mask_arguments(text, length_bytes, room, sizeof room) == strlen(room));
    check(jw_mask_line(copy, room, sizeof room) == strlen(room));
    if (!thread_filter_check(copy, &err))
        check(err.message[0] != '\0');
    else if (strlen(copy) < THREAD_FILTER_MAX_BYTES && thread_filter_set(copy, &err))
        (void)thread_filter_lets_in(1, copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[300];

    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    const size_t length_bytes = size - 1;
    char *copy = malloc(length_bytes + 1);

    if (copy == NULL)
        return 0;
    memcpy(copy, text, length_bytes);
    copy[length_bytes] = '\0';
    switch (data[0] % 4) {
    case 0:
        read_attach(text, length_bytes, copy);
        break;
    case 1:
        read_proc(text, length_bytes, copy);
        break;
    case 2:
        read_words(text, length_bytes, copy);
        break;
    default:
        check(strlen(symbols_plain_name(copy, name, sizeof name)) < sizeof name);
    }
    free(copy);
    return 0;
}
