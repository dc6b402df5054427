/* What a recording tells of the process beside its samples: system properties, environment, libraries, threads that come
 * and go; dump. */
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/secrets.h"
#include "os/os_info.h"
#include "recording/recording.h"
#include "symbols/symbols.h"
#include "thread/thread.h"

#define VALUE_BYTES_MAX                                                                            \
    ((size_t)64 << 10) /* of a class path, say; what is longer is cut, and says so */
#define FIRST_BYTES ((size_t)4 << 10)
#define CUT         " [cut]"
#define COMMAND_KEY "sun.java.command"

/* Keys and values, masked: each "key=value" with its NUL, keys without a '='. */
struct pairs {
    char *bytes;
    size_t used_bytes;
    size_t capacity_bytes;
    const char *cursor; /* of who asks for one after the other */
    uint32_t next;
};

/* Of the recording that was opened last. */
static struct pairs properties, variables;
static uint64_t threads_since_ns;

static bool reserve(struct pairs *pairs, size_t more_bytes)
{
    size_t capacity_bytes = pairs->capacity_bytes == 0 ? FIRST_BYTES : pairs->capacity_bytes;

    while (capacity_bytes - pairs->used_bytes < more_bytes)
        capacity_bytes *= 2;
    if (capacity_bytes == pairs->capacity_bytes)
        return true;

    char *bytes = jw_realloc(pairs->bytes, capacity_bytes);
    if (bytes == NULL)
        return false;
    pairs->bytes = bytes;
    pairs->capacity_bytes = capacity_bytes;
    return true;
}

/* "-D" and the pair, so that what masks command lines knows it for what it is. False: no memory. */
static bool add_masked(struct pairs *pairs, const char *key, size_t key_bytes, const char *value)
{
    const size_t told_bytes = strlen(value);
    const size_t value_bytes = told_bytes < VALUE_BYTES_MAX ? told_bytes : VALUE_BYTES_MAX;
    const size_t length_bytes = key_bytes + value_bytes + 3;
    const size_t room_bytes = 2 * length_bytes + 64; /* masks may be longer than what they hide */
    char *argument = jw_alloc(length_bytes + 1 + room_bytes);

    if (argument == NULL)
        return false;
    char *masked = argument + length_bytes + 1;
    memcpy(argument, "-D", 2);
    memcpy(argument + 2, key, key_bytes);
    argument[2 + key_bytes] = '=';
    memcpy(argument + 3 + key_bytes, value, value_bytes);
    argument[length_bytes] = '\0';

    const size_t masked_bytes = jw_mask_arguments(argument, length_bytes, masked, room_bytes);
    const size_t pair_bytes = masked_bytes < 2 ? 0 : masked_bytes - 2;
    const bool has_room = reserve(pairs, pair_bytes + sizeof CUT);
    if (has_room) {
        memcpy(pairs->bytes + pairs->used_bytes, masked + 2, pair_bytes);
        pairs->used_bytes += pair_bytes;
        if (value_bytes < told_bytes) {
            memcpy(pairs->bytes + pairs->used_bytes, CUT, sizeof CUT - 1);
            pairs->used_bytes += sizeof CUT - 1;
        }
        pairs->bytes[pairs->used_bytes++] = '\0';
    }
    jw_free(argument);
    return has_room;
}

/* One whose secrets are masked already. */
static bool add_plain(struct pairs *pairs, const char *key, const char *value)
{
    const size_t key_bytes = strlen(key), value_bytes = strlen(value);

    if (!reserve(pairs, key_bytes + value_bytes + 2))
        return false;
    memcpy(pairs->bytes + pairs->used_bytes, key, key_bytes);
    pairs->bytes[pairs->used_bytes + key_bytes] = '=';
    memcpy(pairs->bytes + pairs->used_bytes + key_bytes + 1, value, value_bytes + 1);
    pairs->used_bytes += key_bytes + value_bytes + 2;
    return true;
}

static void forget(struct pairs *pairs)
{
    jw_free(pairs->bytes);
    *pairs = (struct pairs){.bytes = NULL};
}

/* `masked_command`: of the Java command, as the recording tells it elsewhere. False: the JVM refuses, or no memory. */
static bool collect_properties(const char *masked_command)
{
    char **keys = NULL;
    jint count = 0;
    bool is_whole = true;

    if ((*agent.jvmti)->GetSystemProperties(agent.jvmti, &count, &keys) != JVMTI_ERROR_NONE)
        return false;
    for (jint i = 0; i < count; i++) {
        char *value = NULL;

        if (strcmp(keys[i], COMMAND_KEY) == 0) {
            is_whole = add_plain(&properties, keys[i], masked_command) && is_whole;
        } else if ((*agent.jvmti)->GetSystemProperty(agent.jvmti, keys[i], &value) ==
                   JVMTI_ERROR_NONE) {
            is_whole = add_masked(&properties, keys[i], strcspn(keys[i], "="), value) && is_whole;
            (*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)value);
        } else {
            is_whole = false;
        }
        (*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)keys[i]);
    }
    (*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)keys);
    return is_whole;
}

static bool collect_variables(void)
{
    size_t length_bytes = 0;
    char *text = os_environment(&length_bytes);
    bool is_whole = text != NULL;

    for (size_t at = 0; text != NULL && at < length_bytes;) {
        const size_t pair_bytes = strnlen(text + at, length_bytes - at);
        const char *equals = memchr(text + at, '=', pair_bytes);

        /* The last one is cut off where there is more than is read. */
        if (at + pair_bytes == length_bytes)
            is_whole = false;
        else if (equals != NULL)
            is_whole =
                add_masked(&variables, text + at, (size_t)(equals - (text + at)), equals + 1) &&
                is_whole;
        at += pair_bytes + 1;
    }
    jw_free(text);
    return is_whole;
}

void facts_collect(const struct options *options, const char *masked_command)
{
    forget(&properties);
    forget(&variables);
    if (options->has_properties && !options->is_without_arguments &&
        !collect_properties(masked_command == NULL ? "" : masked_command))
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "the recording lacks system properties: the JVM did not tell "
                  "all of them, or memory is out");
    if (options->has_environment && !collect_variables())
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "the recording lacks variables of the environment: "
                  "/proc/self/environ could not be read whole, or memory is out");
}

/* Asked for from 0 on, one after the other. */
static bool ask_pair(struct pairs *pairs, uint32_t number, struct recording_pair *out)
{
    if (number == 0) {
        pairs->cursor = pairs->bytes;
        pairs->next = 0;
    }
    if (pairs->bytes == NULL || number != pairs->next ||
        pairs->cursor == pairs->bytes + pairs->used_bytes)
        return false;

    const size_t pair_bytes = strlen(pairs->cursor);
    const size_t key_bytes = strcspn(pairs->cursor, "=");
    *out = (struct recording_pair){
        .key = {pairs->cursor, key_bytes},
        .value = {pairs->cursor + key_bytes + (key_bytes < pair_bytes),
                  pair_bytes - key_bytes - (key_bytes < pair_bytes)},
    };
    pairs->cursor += pair_bytes + 1;
    pairs->next++;
    return true;
}

static bool ask_property(void *context, uint32_t number, struct recording_pair *out)
{
    (void)context;
    return ask_pair(&properties, number, out);
}

static bool ask_variable(void *context, uint32_t number, struct recording_pair *out)
{
    (void)context;
    return ask_pair(&variables, number, out);
}

struct library_closure {
    recording_library_visit *visit;
    void *closure;
};

static void tell_library(const struct symbols_library_facts *facts, void *closure)
{
    const struct library_closure *to = closure;
    const struct recording_library library = {
        .path = {facts->path, strlen(facts->path)},
        .base = facts->load_bias == 0 ? facts->start_pc : facts->load_bias,
        .top = facts->end_pc,
    };

    to->visit(to->closure, &library);
}

static void ask_libraries(void *context, uint64_t *look, recording_library_visit *visit,
                          void *closure)
{
    struct library_closure to = {visit, closure};
    const uint64_t now = symbols_look_number();

    (void)context;
    if (now == *look)
        return;
    symbols_each_library(tell_library, &to);
    *look = now;
}

void facts_fill(struct recording_sources *out)
{
    out->property = ask_property;
    out->variable = ask_variable;
    out->libraries = ask_libraries;
}

/* ---- threads ---- */

void facts_threads_begin(void)
{
    threads_since_ns = jw_now_ns();
}

static void tell_thread(thread_index index, bool is_live, void *recording)
{
    (void)is_live;
    const struct recording_life life = {
        .index = index,
        .serial = (uint32_t)thread_serial(index),
        .begin_ns = thread_begin_ns(index),
        .end_ns = thread_end_ns(index), /* of a Java thread, while its task may still be there */
    };

    if (thread_java_id(index) != 0)
        recording_thread_life(recording, &life, threads_since_ns);
}

void facts_turn(struct recording *recording)
{
    threads_each(tell_thread, recording);
}
