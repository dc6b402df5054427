/* Parsers of /proc texts: lines, "key : value", decimal numbers; no state. */
#include "os/os_proc.h"

#include <string.h>

/* Machines with more sockets are counted up to here. */
#define SOCKETS_MAX 128

/* A piece of the text, not terminated. */
struct span {
    const char *start;
    size_t length_bytes;
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Takes the next line off `rest`, without its newline; false at the end of the text. */
static bool next_line(struct span *rest, struct span *line)
{
    if (rest->length_bytes == 0)
        return false;

    const char *end = memchr(rest->start, '\n', rest->length_bytes);
    const size_t length_bytes = end == NULL ? rest->length_bytes : (size_t)(end - rest->start);
    const size_t taken_bytes = length_bytes + (end != NULL);

    *line = (struct span){rest->start, length_bytes};
    rest->start += taken_bytes;
    rest->length_bytes -= taken_bytes;
    return true;
}

static void skip_blanks(struct span *rest)
{
    while (rest->length_bytes > 0 && is_blank(*rest->start)) {
        rest->start++;
        rest->length_bytes--;
    }
}

/* Takes a decimal number and the blanks before it; what does not fit becomes UINT64_MAX. */
static bool next_number(struct span *rest, uint64_t *number)
{
    skip_blanks(rest);
    if (rest->length_bytes == 0 || !is_digit(*rest->start))
        return false;
    *number = 0;
    for (; rest->length_bytes > 0 && is_digit(*rest->start); rest->start++, rest->length_bytes--) {
        const uint64_t digit = (uint64_t)(*rest->start - '0');

        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, digit, number))
            *number = UINT64_MAX;
    }
    return true;
}

/* Value of a line "key : value" with any blanks around the colon; false when the key is another. */
static bool value_of(struct span line, const char *key, struct span *value)
{
    const size_t key_bytes = strlen(key);

    if (line.length_bytes < key_bytes || memcmp(line.start, key, key_bytes) != 0)
        return false;
    line.start += key_bytes;
    line.length_bytes -= key_bytes;
    skip_blanks(&line);
    if (line.length_bytes == 0 || *line.start != ':')
        return false;
    line.start++;
    line.length_bytes--;
    skip_blanks(&line);
    while (line.length_bytes > 0 && is_blank(line.start[line.length_bytes - 1]))
        line.length_bytes--;
    *value = line;
    return true;
}

/* Appends to a terminated text, cut to fit, and keeps the terminator. */
static void append(char *text, size_t capacity_bytes, struct span piece)
{
    const size_t used_bytes = strlen(text);
    const size_t free_bytes = capacity_bytes - used_bytes - 1;
    const size_t copied_bytes = piece.length_bytes < free_bytes ? piece.length_bytes : free_bytes;

    memcpy(text + used_bytes, piece.start, copied_bytes);
    text[used_bytes + copied_bytes] = '\0';
}

static void append_text(char *text, size_t capacity_bytes, const char *piece)
{
    append(text, capacity_bytes, (struct span){piece, strlen(piece)});
}

/* The first processor speaks for all; later ones find the field filled. */
static void fill_once(char *text, size_t capacity_bytes, struct span value)
{
    if (text[0] == '\0')
        append(text, capacity_bytes, value);
}

/* ", name value" at the end of the description. */
static void describe(struct os_cpu_info *info, const char *name, struct span value)
{
    char *text = info->description;

    if (text[0] != '\0')
        append_text(text, sizeof info->description, ", ");
    append_text(text, sizeof info->description, name);
    append_text(text, sizeof info->description, " ");
    append(text, sizeof info->description, value);
}

/* What is said once for the machine: the lines of the first processor, in both dialects. */
static void read_description(struct span line, struct os_cpu_info *info)
{
    static const struct {
        const char *key;
        const char *name;
    } told[] = {
        {"cpu family", "family"},
        {"model", "model"},
        {"stepping", "stepping"},
        {"CPU implementer", "implementer"},
        {"CPU architecture", "architecture"},
        {"CPU variant", "variant"},
        {"CPU part", "part"},
        {"CPU revision", "revision"},
    };
    struct span value;

    for (size_t i = 0; i < JW_COUNT_OF(told); i++) {
        if (value_of(line, told[i].key, &value))
            describe(info, told[i].name, value);
    }
}

/* Names of aarch64 processors. Source: Linux, arch/arm64/include/asm/cputype.h. */
static const struct {
    const char *implementer;
    const char *part; /* NULL: the name is the implementer's */
    const char *name;
} arm_names[] = {
    {"0x41", NULL, "ARM"},
    {"0x42", NULL, "Broadcom"},
    {"0x43", NULL, "Cavium"},
    {"0x46", NULL, "Fujitsu"},
    {"0x48", NULL, "HiSilicon"},
    {"0x4e", NULL, "NVIDIA"},
    {"0x50", NULL, "APM"},
    {"0x51", NULL, "Qualcomm"},
    {"0x61", NULL, "Apple"},
    {"0x6d", NULL, "Microsoft"},
    {"0xc0", NULL, "Ampere"},
    {"0x41", "0xd03", "Cortex-A53"},
    {"0x41", "0xd05", "Cortex-A55"},
    {"0x41", "0xd07", "Cortex-A57"},
    {"0x41", "0xd08", "Cortex-A72"},
    {"0x41", "0xd09", "Cortex-A73"},
    {"0x41", "0xd0a", "Cortex-A75"},
    {"0x41", "0xd0b", "Cortex-A76"},
    {"0x41", "0xd0c", "Neoverse-N1"},
    {"0x41", "0xd40", "Neoverse-V1"},
    {"0x41", "0xd41", "Cortex-A78"},
    {"0x41", "0xd49", "Neoverse-N2"},
    {"0x41", "0xd4f", "Neoverse-V2"},
    {"0x43", "0x0af", "ThunderX2"},
    {"0xc0", "0xac3", "Ampere-1"},
};

static bool is_text(struct span value, const char *text)
{
    return value.length_bytes == strlen(text) && memcmp(value.start, text, value.length_bytes) == 0;
}

/* aarch64 has numbers where x86-64 has names; an unknown number stays readable as one. */
static void name_arm(struct span implementer, struct span part, struct os_cpu_info *info)
{
    if (implementer.length_bytes == 0)
        return;
    for (size_t i = 0; i < JW_COUNT_OF(arm_names); i++) {
        const struct span name = {arm_names[i].name, strlen(arm_names[i].name)};

        if (!is_text(implementer, arm_names[i].implementer))
            continue;
        if (arm_names[i].part == NULL)
            fill_once(info->vendor, sizeof info->vendor, name);
        else if (is_text(part, arm_names[i].part))
            fill_once(info->model, sizeof info->model, name);
    }
    fill_once(info->vendor, sizeof info->vendor, implementer);
    if (info->model[0] == '\0' && part.length_bytes > 0) {
        append_text(info->model, sizeof info->model, "part ");
        append(info->model, sizeof info->model, part);
    }
}

/* Sockets met so far, by "physical id"; each adds its "cpu cores" once. */
struct sockets {
    uint64_t ids[SOCKETS_MAX];
    uint32_t count;
    bool is_new; /* the processor being read stands in a socket not met before */
};

static void meet_socket(struct sockets *sockets, uint64_t id)
{
    sockets->is_new = false;
    for (uint32_t i = 0; i < sockets->count; i++) {
        if (sockets->ids[i] == id)
            return;
    }
    if (sockets->count == SOCKETS_MAX)
        return;
    sockets->ids[sockets->count++] = id;
    sockets->is_new = true;
}

void os_proc_cpuinfo(const char *text, size_t length_bytes, struct os_cpu_info *info)
{
    struct span rest = {text, length_bytes};
    struct span line;
    struct span value;
    struct span implementer = {"", 0};
    struct span part = {"", 0};
    struct span features = {"", 0};
    struct sockets sockets = {.count = 0};
    uint64_t number;

    memset(info, 0, sizeof *info);
    while (next_line(&rest, &line)) {
        if (value_of(line, "processor", &value) && next_number(&value, &number))
            info->hardware_threads++;
        else if (value_of(line, "model name", &value))
            fill_once(info->model, sizeof info->model, value);
        else if (value_of(line, "vendor_id", &value))
            fill_once(info->vendor, sizeof info->vendor, value);
        else if (value_of(line, "physical id", &value) && next_number(&value, &number))
            meet_socket(&sockets, number);
        else if (value_of(line, "cpu cores", &value) && sockets.is_new &&
                 next_number(&value, &number))
            info->cores += number < UINT16_MAX ? (uint32_t)number : UINT16_MAX;
        else if (value_of(line, "CPU implementer", &value) && implementer.length_bytes == 0)
            implementer = value;
        else if (value_of(line, "CPU part", &value) && part.length_bytes == 0)
            part = value;
        else if (features.length_bytes == 0 &&
                 (value_of(line, "flags", &value) || value_of(line, "Features", &value)))
            features = value;
        if (info->hardware_threads <= 1)
            read_description(line, info);
    }
    info->sockets = sockets.count;
    name_arm(implementer, part, info);
    if (features.length_bytes > 0)
        describe(info, "features", features);
}

bool os_proc_stat(const char *text, size_t length_bytes, struct os_cpu_times *times)
{
    /* Source: proc(5), /proc/stat. Guest time is inside user and nice. */
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
    struct span rest = {text, length_bytes};
    struct span line;
    uint64_t ticks[FIELDS] = {0};

    if (!next_line(&rest, &line) || line.length_bytes < 4 || memcmp(line.start, "cpu ", 4) != 0)
        return false;
    line.start += 4;
    line.length_bytes -= 4;
    for (int i = 0; i < FIELDS; i++) {
        if (!next_number(&line, &ticks[i]) && i <= IDLE)
            return false;
    }
    times->machine_busy_ticks =
        ticks[USER] + ticks[NICE] + ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ];
    times->machine_total_ticks =
        times->machine_busy_ticks + ticks[IDLE] + ticks[IOWAIT] + ticks[STEAL];
    return true;
}

bool os_proc_self_stat(const char *text, size_t length_bytes, struct os_cpu_times *times,
                       uint64_t *start_ticks)
{
    /* Source: proc(5), /proc/pid/stat: state is field 3, the first one after the name. */
    enum { STATE = 3, USER = 14, SYSTEM = 15, START = 22 };
    const char *name_end = memrchr(text, ')', length_bytes);
    uint64_t number;

    if (name_end == NULL)
        return false;
    name_end++;
    struct span rest = {name_end, length_bytes - (size_t)(name_end - text)};
    for (int field = STATE; field <= START; field++) {
        skip_blanks(&rest);
        if (field == STATE || (rest.length_bytes > 0 && *rest.start == '-')) {
            if (rest.length_bytes == 0)
                return false;
            rest.start++;
            rest.length_bytes--;
            if (field == STATE)
                continue;
        }
        if (!next_number(&rest, &number))
            return false;
        if (field == USER)
            times->process_user_ticks = number;
        else if (field == SYSTEM)
            times->process_system_ticks = number;
        else if (field == START)
            *start_ticks = number;
    }
    return true;
}

bool os_proc_meminfo(const char *text, size_t length_bytes, const char *name, uint64_t *value_bytes)
{
    struct span rest = {text, length_bytes};
    struct span line;
    struct span value;
    uint64_t kilobytes;

    while (next_line(&rest, &line)) {
        if (value_of(line, name, &value) && next_number(&value, &kilobytes)) {
            *value_bytes = kilobytes > UINT64_MAX / 1024 ? UINT64_MAX : kilobytes * 1024;
            return true;
        }
    }
    return false;
}

size_t os_proc_release(const char *text, size_t length_bytes, const char *key, char *value,
                       size_t capacity_bytes)
{
    const size_t key_bytes = strlen(key);
    struct span rest = {text, length_bytes};
    struct span line;

    value[0] = '\0';
    while (next_line(&rest, &line)) {
        if (line.length_bytes <= key_bytes || memcmp(line.start, key, key_bytes) != 0 ||
            line.start[key_bytes] != '=')
            continue;
        line.start += key_bytes + 1;
        line.length_bytes -= key_bytes + 1;
        if (line.length_bytes >= 2 && (*line.start == '"' || *line.start == '\'') &&
            line.start[line.length_bytes - 1] == *line.start) {
            line.start++;
            line.length_bytes -= 2;
        }
        append(value, capacity_bytes, line);
        return strlen(value);
    }
    return 0;
}

bool os_proc_signal_queue(const char *text, size_t length_bytes, uint64_t *used_count,
                          uint64_t *limit_count)
{
    struct span rest = {text, length_bytes};
    struct span line;
    struct span value;

    while (next_line(&rest, &line)) {
        if (!value_of(line, "SigQ", &value))
            continue;
        if (!next_number(&value, used_count) || value.length_bytes == 0 || *value.start != '/')
            return false;
        value.start++;
        value.length_bytes--;
        return next_number(&value, limit_count);
    }
    return false;
}

size_t os_proc_net_dev(const char *text, size_t length_bytes, struct os_interface *out, size_t most)
{
    /* Source: proc(5), /proc/net/dev: two lines of headings, then "name: " and eight counts each of what was
     * received and sent, bytes first. */
    enum { RECEIVED = 0, SENT = 8, FIELDS };
    struct span rest = {text, length_bytes};
    struct span line;
    size_t count = 0;

    while (count < most && next_line(&rest, &line)) {
        uint64_t numbers[FIELDS];
        int found = 0;

        skip_blanks(&line);
        const char *colon = memchr(line.start, ':', line.length_bytes);
        if (colon == NULL || colon == line.start)
            continue;
        const struct span name = {line.start, (size_t)(colon - line.start)};
        line.start = colon + 1;
        line.length_bytes -= name.length_bytes + 1;
        while (found < FIELDS && next_number(&line, &numbers[found]))
            found++;
        if (found < FIELDS)
            continue;
        out[count] = (struct os_interface){
            .received_bytes = numbers[RECEIVED],
            .sent_bytes = numbers[SENT],
        };
        append(out[count++].name, OS_INTERFACE_NAME_BYTES, name);
    }
    return count;
}

bool os_proc_switches(const char *text, size_t length_bytes, uint64_t *count)
{
    struct span rest = {text, length_bytes};
    struct span line;

    while (next_line(&rest, &line)) {
        if (line.length_bytes < 5 || memcmp(line.start, "ctxt ", 5) != 0)
            continue;
        line.start += 5;
        line.length_bytes -= 5;
        return next_number(&line, count);
    }
    return false;
}

/* Part of `total`, 0 when the counter went back, at most 1. */
static double share(uint64_t earlier, uint64_t later, uint64_t total)
{
    if (later <= earlier)
        return 0;
    return later - earlier >= total ? 1 : (double)(later - earlier) / (double)total;
}

bool os_cpu_load_between(const struct os_cpu_times *earlier, const struct os_cpu_times *later,
                         struct os_cpu_load *load)
{
    if (later->machine_total_ticks <= earlier->machine_total_ticks)
        return false;

    const uint64_t total = later->machine_total_ticks - earlier->machine_total_ticks;
    load->process_user = share(earlier->process_user_ticks, later->process_user_ticks, total);
    load->process_system = share(earlier->process_system_ticks, later->process_system_ticks, total);
    load->machine_total = share(earlier->machine_busy_ticks, later->machine_busy_ticks, total);
    return true;
}
