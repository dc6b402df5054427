/* The table, and finding names in it; control, tool. */
#include "options/options_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/perf_event.h"

#define ASYNC_PROFILER "async-profiler"

static const struct options_name event_names[] = {
    {"cpu", OPTIONS_EVENT_CPU, false, NULL},
    {"ctimer", OPTIONS_EVENT_CPU, true, NULL},
    {"itimer", OPTIONS_EVENT_ITIMER, false, NULL},
    {"wall", OPTIONS_EVENT_WALL, false, NULL},
    {"alloc", OPTIONS_EVENT_ALLOC, false, NULL},
    {"lock", OPTIONS_EVENT_LOCK, false, NULL},
    {"cpu-clock", OPTIONS_EVENT_CPU_CLOCK, false, NULL},
    {"exception", OPTIONS_EVENT_EXCEPTION, false, NULL},
    {"nativelock", 0, false, ASYNC_PROFILER},
    {"nativemem", 0, false, ASYNC_PROFILER},
    {NULL, 0, false, NULL},
};

static const struct options_name cstack_names[] = {
    {"vm", OPTIONS_CSTACK_VM, false, NULL},
    {"vmx", OPTIONS_CSTACK_VMX, false, NULL},
    {"fp", OPTIONS_CSTACK_FP, false, NULL},
    {"libunwind", OPTIONS_CSTACK_LIBUNWIND, false, NULL},
    {"agct", OPTIONS_CSTACK_AGCT, false, NULL},
    {"no", OPTIONS_CSTACK_NO, false, NULL},
    {"default", 0, false, ASYNC_PROFILER},
    {"dwarf", OPTIONS_CSTACK_VM, true, NULL},
    {"lbr", 0, false, ASYNC_PROFILER},
    {NULL, 0, false, NULL},
};

/* The functions of the JVM in which it notes these moments. */
static const struct options_name begin_names[] = {
    {"ttsp", OPTIONS_MOMENT_TTSP, false, NULL},
    {"SafepointSynchronize::begin", OPTIONS_MOMENT_ASKED, false, NULL},
    {"RuntimeService::record_safepoint_synchronized", OPTIONS_MOMENT_REACHED, false, NULL},
    {"SafepointSynchronize::end", OPTIONS_MOMENT_LEFT, false, NULL},
    {"no", OPTIONS_MOMENT_NONE, false, NULL},
    {NULL, 0, false, NULL},
};

static const struct options_name end_names[] = {
    {"RuntimeService::record_safepoint_synchronized", OPTIONS_MOMENT_REACHED, false, NULL},
    {"SafepointSynchronize::end", OPTIONS_MOMENT_LEFT, false, NULL},
    {"SafepointSynchronize::begin", OPTIONS_MOMENT_ASKED, false, NULL},
    {"no", OPTIONS_MOMENT_NONE, false, NULL},
    {NULL, 0, false, NULL},
};

static const struct options_name loglevel_names[] = {
    {"debug", OPTIONS_LOGLEVEL_DEBUG, false, NULL}, {"info", OPTIONS_LOGLEVEL_INFO, false, NULL},
    {"warn", OPTIONS_LOGLEVEL_WARN, false, NULL},   {"error", OPTIONS_LOGLEVEL_ERROR, false, NULL},
    {"none", OPTIONS_LOGLEVEL_NONE, false, NULL},   {NULL, 0, false, NULL},
};

static const struct options_name locks_names[] = {
    {"waits", OPTIONS_LOCKS_WAITS, false, NULL},
    {"census", OPTIONS_LOCKS_CENSUS, false, NULL},
    {"objects", OPTIONS_LOCKS_OBJECTS, false, NULL},
    {NULL, 0, false, NULL},
};

static const struct options_name dialect_names[] = {
    {"standard", OPTIONS_DIALECT_STANDARD, false, NULL},
    {"async-profiler", OPTIONS_DIALECT_ASYNC_PROFILER, false, NULL},
    {"datadog", OPTIONS_DIALECT_DATADOG, false, NULL},
    {NULL, 0, false, NULL},
};

static const struct options_name state_names[] = {
    {"any", OPTIONS_STATE_ANY, false, NULL},
    {"running", OPTIONS_STATE_RUNNING, false, NULL},
    {"sleeping", OPTIONS_STATE_SLEEPING, false, NULL},
    {"parked", OPTIONS_STATE_PARKED, false, NULL},
    {"blocked", OPTIONS_STATE_BLOCKED, false, NULL},
    {"waiting", OPTIONS_STATE_WAITING, false, NULL},
    {"native", OPTIONS_STATE_NATIVE, false, NULL},
    {NULL, 0, false, NULL},
};

static const struct options_name whether_names[] = {
    {"yes", 1, false, NULL},
    {"no", 0, false, NULL},
    {NULL, 0, false, NULL},
};

static const struct options_name endpoints_names[] = {
    {"auto",
     OPTIONS_ENDPOINTS_JDK_HTTP | OPTIONS_ENDPOINTS_SERVLET | OPTIONS_ENDPOINTS_SPRING_MVC |
         OPTIONS_ENDPOINTS_JAX_RS | OPTIONS_ENDPOINTS_GRPC | OPTIONS_ENDPOINTS_NETTY |
         OPTIONS_ENDPOINTS_KAFKA,
     false, NULL},
    {"jdk-http", OPTIONS_ENDPOINTS_JDK_HTTP, false, NULL},
    {"servlet", OPTIONS_ENDPOINTS_SERVLET, false, NULL},
    {"spring-mvc", OPTIONS_ENDPOINTS_SPRING_MVC, false, NULL},
    {"jax-rs", OPTIONS_ENDPOINTS_JAX_RS, false, NULL},
    {"grpc", OPTIONS_ENDPOINTS_GRPC, false, NULL},
    {"netty", OPTIONS_ENDPOINTS_NETTY, false, NULL},
    {"kafka", OPTIONS_ENDPOINTS_KAFKA, false, NULL},
    {"none", 0, false, NULL},
    {NULL, 0, false, NULL},
};

static const struct options_name feature_names[] = {
    {"vtable", OPTIONS_FEATURE_VTABLE, false, NULL},
    {"comptask", OPTIONS_FEATURE_COMPTASK, false, NULL},
    {"carrier", OPTIONS_FEATURE_CARRIER, false, NULL},
    {"mixed", OPTIONS_FEATURE_MIXED, false, NULL},
    {"pcaddr", OPTIONS_FEATURE_PCADDR, false, NULL},
    {"plainstacks", OPTIONS_FEATURE_PLAINSTACKS, false, NULL},
    {"none", 0, false, NULL},
    {NULL, 0, false, NULL},
};

#define FIELD(name)                                                                                \
    .field_offset = offsetof(struct options, name),                                                \
    .field_bytes = sizeof(((const struct options *)0)->name)

const struct options_row options_rows[OPTIONS_ID_LIMIT] = {
#define SECTION(text)
#define OPTION(id, ...) [OPTIONS_ID_##id] = {__VA_ARGS__},
#include "options/options.def"
#undef OPTION
#undef SECTION
};

static const struct options_foreign foreign_names[] = {
#define REFUSED(name, why)                    {name, "jaywalk convert", false, NULL, why},
#define FOREIGN(name, whose)                  {name, whose, false, NULL, NULL},
#define FOREIGN_ACTION(name, whose)           {name, whose, true, NULL, NULL},
#define FOREIGN_INSTEAD(name, whose, instead) {name, whose, false, instead, NULL},
#include "options/options_foreign.def"
#undef FOREIGN
#undef FOREIGN_ACTION
#undef FOREIGN_INSTEAD
#undef REFUSED
};

const struct options_foreign *options_foreign_at(size_t index)
{
    return index < JW_COUNT_OF(foreign_names) ? &foreign_names[index] : NULL;
}

static bool is_name(const char *text, size_t length_bytes, const char *name)
{
    return strlen(name) == length_bytes && memcmp(text, name, length_bytes) == 0;
}

enum options_id options_find(const char *name, size_t length_bytes)
{
    for (int id = 0; id < OPTIONS_ID_LIMIT; id++) {
        if (is_name(name, length_bytes, options_rows[id].name))
            return (enum options_id)id;
    }
    return OPTIONS_ID_LIMIT;
}

const struct options_foreign *options_find_foreign(const char *name, size_t length_bytes)
{
    for (size_t i = 0; i < JW_COUNT_OF(foreign_names); i++) {
        if (is_name(name, length_bytes, foreign_names[i].name))
            return &foreign_names[i];
    }
    return NULL;
}

static char lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

static unsigned smaller(unsigned one, unsigned other)
{
    return one < other ? one : other;
}

/* Letters to insert, drop, replace or swap with their neighbour to make one of the other. */
static unsigned distance(const char *name, size_t name_bytes, const char *other, size_t other_bytes)
{
    unsigned rows[3][OPTIONS_NAME_MAX_BYTES + 1];

    for (size_t j = 0; j <= other_bytes; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= name_bytes; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3];
        const unsigned *above_two = rows[(i + 1) % 3];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= other_bytes; j++) {
            const unsigned changed = lower(name[i - 1]) != other[j - 1];

            row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + changed);
            if (i > 1 && j > 1 && lower(name[i - 1]) == other[j - 2] &&
                lower(name[i - 2]) == other[j - 1])
                row[j] = smaller(row[j], above_two[j - 2] + 1);
        }
    }
    return rows[name_bytes % 3][other_bytes];
}

/* The best so far, and how many letters may be wrong to be better. */
struct nearest {
    const char *name;
    size_t name_bytes;
    const char *best;
    unsigned limit;
};

/* A third of the letters may be wrong; one always, two or three only in long names. */
static struct nearest nearest_to(const char *name, size_t name_bytes)
{
    return (struct nearest){name, name_bytes, NULL, name_bytes < 6 ? 1 : (unsigned)name_bytes / 3};
}

static bool is_comparable(size_t name_bytes)
{
    return name_bytes >= 2 && name_bytes <= OPTIONS_NAME_MAX_BYTES;
}

/* False when none can be better than what there is. */
static bool compare(struct nearest *nearest, const char *other)
{
    const size_t other_bytes = strlen(other);

    /* What differs by more letters than may be wrong needs no closer look. */
    if (other_bytes > OPTIONS_NAME_MAX_BYTES ||
        other_bytes > nearest->name_bytes + nearest->limit ||
        nearest->name_bytes > other_bytes + nearest->limit)
        return true;
    const unsigned changes = distance(nearest->name, nearest->name_bytes, other, other_bytes);
    if (changes > nearest->limit)
        return true;
    nearest->best = other;
    if (changes == 0)
        return false;
    nearest->limit = changes - 1;
    return true;
}

const char *options_nearest(const char *name, size_t length_bytes)
{
    struct nearest nearest = nearest_to(name, length_bytes);

    for (int id = 0; id < OPTIONS_ID_LIMIT && is_comparable(length_bytes); id++) {
        if (!compare(&nearest, options_rows[id].name))
            break;
    }
    return nearest.best;
}

const char *options_nearest_value(const struct options_row *row, const char *value,
                                  size_t length_bytes)
{
    struct nearest nearest = nearest_to(value, length_bytes);

    for (const struct options_name *name = row->enum_names;
         name->name != NULL && is_comparable(length_bytes); name++) {
        if (name->whose == NULL && !compare(&nearest, name->name))
            break;
    }
    const struct jw_perf_info *counter;
    for (size_t i = 0; row->takes_perf && is_comparable(length_bytes); i++) {
        if ((counter = jw_perf_at(i)) == NULL || !compare(&nearest, counter->name))
            break;
    }
    return nearest.best;
}

bool options_is_numeric(enum options_kind kind)
{
    switch (kind) {
    case OPTIONS_KIND_DURATION:
    case OPTIONS_KIND_PERIOD:
    case OPTIONS_KIND_TIME:
    case OPTIONS_KIND_SIZE:
    case OPTIONS_KIND_COUNT:
    case OPTIONS_KIND_PERCENT:
        return true;
    case OPTIONS_KIND_CHOICE:
    case OPTIONS_KIND_FLAG:
    case OPTIONS_KIND_ENUM:
    case OPTIONS_KIND_SET:
    case OPTIONS_KIND_FILE:
    case OPTIONS_KIND_PATH:
    case OPTIONS_KIND_TEXT:
    case OPTIONS_KIND_LIST:
        return false;
    }
    return false;
}

static const char *enum_name(const struct options_name *names, uint64_t value)
{
    for (; names->name != NULL; names++) {
        if (names->whose == NULL && !names->is_alias && names->value == value)
            return names->name;
    }
    return "";
}

/* Name of the row that sets `field_offset` to `value`. */
static const char *choice_name(size_t field_offset, uint64_t value)
{
    for (int id = 0; id < OPTIONS_ID_LIMIT; id++) {
        const struct options_row *row = &options_rows[id];

        if (row->kind == OPTIONS_KIND_CHOICE && row->field_offset == field_offset &&
            row->choice_value == value)
            return row->name;
    }
    return "";
}

const char *options_action_name(uint64_t action)
{
    return choice_name(offsetof(struct options, action), action);
}

const char *options_event_name(uint64_t event)
{
    return enum_name(event_names, event);
}

const char *options_event_text(const struct options *values)
{
    return options_is_counting(values) ? values->perf : options_event_name(values->event);
}

bool options_is_counting(const struct options *values)
{
    return values->event == OPTIONS_EVENT_PERF || values->event == OPTIONS_EVENT_METHOD ||
           values->event == OPTIONS_EVENT_EXCEPTION || values->event == OPTIONS_EVENT_NEW;
}

bool options_has_cpu(const struct options *values)
{
    return values->event == OPTIONS_EVENT_CPU || values->event == OPTIONS_EVENT_CPU_CLOCK ||
           values->event == OPTIONS_EVENT_ITIMER;
}

const char *options_output_name(uint64_t output)
{
    return choice_name(offsetof(struct options, output), output);
}

const char *options_state_name(uint64_t state)
{
    for (const struct options_name *name = state_names; name->name != NULL; name++)
        if (name->value == state)
            return name->name;
    return "";
}

struct unit {
    const char *name;
    uint64_t factor;
};

const char *options_refusal(const char *name)
{
    const struct options_foreign *foreign = options_find_foreign(name, strlen(name));

    return foreign == NULL ? NULL : foreign->refusal;
}

/* The number in the largest unit that holds it whole; the last unit holds any. */
static void write_units(const struct unit *units, uint64_t value, char *text, size_t capacity_bytes)
{
    while (units->factor > 1 && (value == 0 || value % units->factor != 0))
        units++;
    snprintf(text, capacity_bytes, "%llu%s", (unsigned long long)(value / units->factor),
             units->name);
}

/* "vtable+comptask"; the name of 0 where nothing is in it. */
static void write_set(const struct options_name *names, uint64_t value, char *text,
                      size_t capacity_bytes)
{
    size_t used_bytes = 0;

    for (; names->name != NULL && used_bytes < capacity_bytes; names++) {
        if (names->value == 0 ? value != 0 : (value & names->value) == 0)
            continue;
        used_bytes += (size_t)snprintf(text + used_bytes, capacity_bytes - used_bytes, "%s%s",
                                       used_bytes == 0 ? "" : "+", names->name);
    }
}

void options_value_text(const struct options_row *row, uint64_t value, char *text,
                        size_t capacity_bytes)
{
    static const struct unit durations[] = {
        {"s", JW_NS_PER_SECOND}, {"ms", JW_NS_PER_MS}, {"us", 1000}, {"ns", 1}};
    static const struct unit periods[] = {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}};
    static const struct unit sizes[] = {{"g", 1 << 30}, {"m", 1 << 20}, {"k", 1 << 10}, {"b", 1}};
    static const struct unit counts[] = {{"", 1}};

    text[0] = '\0';
    switch (row->kind) {
    case OPTIONS_KIND_DURATION:
        write_units(durations, value, text, capacity_bytes);
        break;
    case OPTIONS_KIND_PERIOD:
    case OPTIONS_KIND_TIME:
        write_units(periods, value / JW_NS_PER_SECOND, text, capacity_bytes);
        break;
    case OPTIONS_KIND_SIZE:
        write_units(sizes, value, text, capacity_bytes);
        break;
    case OPTIONS_KIND_COUNT:
        write_units(counts, value, text, capacity_bytes);
        break;
    case OPTIONS_KIND_PERCENT:
        if (value % 10000 == 0)
            snprintf(text, capacity_bytes, "%u%%", (unsigned)(value / 10000));
        else
            snprintf(text, capacity_bytes, "%u.%04u%%", (unsigned)(value / 10000),
                     (unsigned)(value % 10000));
        break;
    case OPTIONS_KIND_ENUM:
        snprintf(text, capacity_bytes, "%s", enum_name(row->enum_names, value));
        break;
    case OPTIONS_KIND_SET:
        write_set(row->enum_names, value, text, capacity_bytes);
        break;
    case OPTIONS_KIND_CHOICE:
    case OPTIONS_KIND_FLAG:
    case OPTIONS_KIND_FILE:
    case OPTIONS_KIND_PATH:
    case OPTIONS_KIND_TEXT:
    case OPTIONS_KIND_LIST:
        break;
    }
}
