/* Constants by content, and the answers that make them; dump. */
#include "recording/recording_names_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/counters.h"
#include "base/descriptor.h"
#include "base/memory.h"
#include "generation/generation.h"
#include "generation/method_record.h"

#define TEXT(literal) ((struct recording_text){(literal), sizeof(literal) - 1})

/* Source: the class-file format, ACC_NATIVE. Viewers take a method with it for native code. */
#define MODIFIER_NATIVE 0x100

/* More parameters than that are left out of a descriptor that is not whole. */
#define DESCRIPTOR_BYTES_MAX 4096

/* A number of `constants`: the key, and below it the number of the last chunk that has it. */
#define CHUNK_BITS 24
#define CHUNK_MASK ((1u << CHUNK_BITS) - 1)

static void forget_constants(struct recording_names *names)
{
    for (size_t i = 0; i < JFR_TYPE_LIMIT; i++)
        jw_map_close(&names->constants[i]);
}

void recording_names_open(struct recording_names *names, enum jfr_type hot_type)
{
    for (size_t i = 0; i < JFR_TYPE_LIMIT; i++)
        names->constants[i].part = JW_MEMORY_NAMES;
    names->hot_type = hot_type;
    names->last_keys[hot_type] = RECORDING_SMALL_KEYS;
    names->loaders.part = names->packages.part = JW_MEMORY_NAMES;
    names->threads.part = names->pcs.part = names->frames.part = JW_MEMORY_NAMES;
}

void recording_names_close(struct recording_names *names)
{
    forget_constants(names);
    jw_map_close(&names->loaders);
    jw_map_close(&names->packages);
    jw_map_close(&names->threads);
    jw_map_close(&names->pcs);
    jw_map_close(&names->frames);
    jfr_pools_close(&names->pools);
    jfr_buffer_close(&names->scratch);
}

/* Keys that were given out in this chunk stay good: what they name is written. */
static void forget_when_half_full(struct recording_names *names)
{
    size_t kept_bytes = 0;

    for (size_t i = 0; i < JFR_TYPE_LIMIT; i++)
        kept_bytes += jw_map_bytes(&names->constants[i]);
    if (kept_bytes <= jw_memory_limit_of(JW_MEMORY_NAMES, RECORDING_NAMES_MAX_BYTES) / 2)
        return;
    jw_count(JW_COUNT_NAMES_FORGOTTEN);
    forget_constants(names);
}

void recording_names_new_chunk(struct recording_names *names)
{
    /* What each request has another of, and a chunk has many of. */
    static const enum jfr_type passing[] = {JFR_TYPE_STACK_TRACE, JFR_TYPE_TRACE_ID,
                                            JFR_TYPE_ATTRIBUTE_VALUE, JFR_TYPE_ENDPOINT_NAME};

    for (size_t i = 0; i < JW_COUNT_OF(passing); i++)
        jw_map_close(&names->constants[passing[i]]);
    jw_map_close(&names->loaders);
    jw_map_close(&names->packages);
    recording_names_new_take(names);
    names->chunk++;
}

void recording_names_new_take(struct recording_names *names)
{
    forget_when_half_full(names);
    jw_map_clear(&names->threads);
    jw_map_clear(&names->pcs);
    jw_map_clear(&names->frames);
    names->unknown_native = 0;
}

/*
 * What is remembered for this question: 0 on first sight. Without room to remember it, it is asked anew each time,
 * and what is put is put once more under another key.
 */
static uint64_t *remember(struct recording_names *names, struct jw_map *map, const void *question,
                          size_t length_bytes)
{
    uint64_t *answer = jw_map_put(map, question, length_bytes);

    if (answer != NULL)
        return answer;
    jw_count(JW_COUNT_NAMES_UNKEPT);
    names->unkept = 0;
    return &names->unkept;
}

static uint64_t new_key(struct recording_names *names, enum jfr_type type)
{
    if (type == names->hot_type && names->is_hot && names->small_keys < RECORDING_SMALL_KEYS)
        return ++names->small_keys;
    return ++names->last_keys[type];
}

/* `is_put`: now, since this chunk did not have it. */
static uint64_t constant(struct recording_names *names, enum jfr_type type,
                         struct jfr_buffer *fields, bool *is_put)
{
    *is_put = false;
    if (fields->has_failed) {
        names->has_failed = true;
        jfr_buffer_clear(fields);
        return 0;
    }

    uint64_t *known = remember(names, &names->constants[type], fields->bytes, fields->used_bytes);

    const uint64_t key = *known == 0 ? new_key(names, type) : *known >> CHUNK_BITS;
    const uint64_t now_known = key << CHUNK_BITS | (names->chunk & CHUNK_MASK);
    *is_put = *known != now_known;
    if (*is_put)
        jfr_put_bytes(jfr_pool_put(&names->pools, type, key), fields->bytes, fields->used_bytes);
    *known = now_known;
    jfr_buffer_clear(fields);
    return key;
}

uint64_t recording_constant(struct recording_names *names, enum jfr_type type,
                            struct jfr_buffer *fields)
{
    bool is_put;

    return constant(names, type, fields, &is_put);
}

/* Frame and key go into the same checkpoint, see jfr_types.def. */
uint64_t recording_frame_constant(struct recording_names *names, struct jfr_buffer *fields)
{
    bool is_put;
    const uint64_t key = constant(names, JFR_TYPE_STACK_FRAME, fields, &is_put);

    if (is_put)
        jfr_put_varint(jfr_pool_put(&names->pools, JFR_TYPE_FRAME_KEY, key), key);
    return key;
}

uint64_t *recording_known_frame(struct recording_names *names, jw_frame frame)
{
    return remember(names, &names->frames, &frame, sizeof frame);
}

uint64_t recording_text_key(struct recording_names *names, enum jfr_type type,
                            struct recording_text text)
{
    if (text.bytes == NULL)
        return 0;
    jfr_put_text(&names->scratch, text.bytes, text.length_bytes);
    return recording_constant(names, type, &names->scratch);
}

uint64_t recording_symbol(struct recording_names *names, struct recording_text text)
{
    return recording_text_key(names, JFR_TYPE_SYMBOL, text);
}

/* "C++" stands for all code that is not Java; "Unknown" for what is not code. Source: JMC 9,
 * FrameType; JDK 17 and 25 show any text. */
void recording_put_frame_types(struct recording_names *names, bool is_fixed)
{
    static const char *const texts[] = {
        [JW_FRAME_INTERPRETED] = "Interpreted",
        [JW_FRAME_COMPILED] = "JIT compiled",
        [JW_FRAME_INLINED] = "Inlined",
        [JW_FRAME_JAVA_NATIVE] = "Native",
        [JW_FRAME_NATIVE] = "C++",
        [JW_FRAME_KERNEL] = "Kernel",
        [JW_FRAME_MARK] = "Unknown",
        [JW_FRAME_CLASS] = "Receiver",
        [JW_FRAME_COMPILING] = "Compiling",
        [JW_FRAME_ADDRESS] = "Address",
    };
    static const uint8_t fixed_of[JW_FRAME_KIND_LIMIT] = {
        [JW_FRAME_INTERPRETED] = 0, [JW_FRAME_COMPILED] = 1, [JW_FRAME_INLINED] = 2,
        [JW_FRAME_JAVA_NATIVE] = 3, [JW_FRAME_NATIVE] = 4,   [JW_FRAME_KERNEL] = 5,
        [JW_FRAME_MARK] = 4,        [JW_FRAME_CLASS] = 2,    [JW_FRAME_COMPILING] = 2,
        [JW_FRAME_ADDRESS] = 4,
    };

    /* Source: jfrconv of async-profiler 4.5 takes the key for a number from 0 to 6, and ends at any other. */
    static const struct {
        uint64_t key;
        const char *text;
    } fixed[] = {{0, "Interpreted"}, {1, "JIT compiled"}, {2, "Inlined"},
                 {3, "Native"},      {4, "C++"},          {5, "Kernel"}};

    _Static_assert(JW_COUNT_OF(texts) == JW_FRAME_KIND_LIMIT, "each kind has its text");
    for (size_t kind = 0; kind < JW_FRAME_KIND_LIMIT && !is_fixed; kind++)
        names->frame_types[kind] = recording_simple(names, JFR_TYPE_FRAME_TYPE, texts[kind]);
    for (size_t i = 0; i < JW_COUNT_OF(fixed) && is_fixed; i++)
        jfr_put_string(jfr_pool_put(&names->pools, JFR_TYPE_FRAME_TYPE, fixed[i].key),
                       fixed[i].text);
    for (size_t kind = 0; kind < JW_FRAME_KIND_LIMIT && is_fixed; kind++)
        names->frame_types[kind] = fixed_of[kind];
}

uint64_t recording_simple(struct recording_names *names, enum jfr_type type, const char *text)
{
    jfr_put_string(&names->scratch, text);
    return recording_constant(names, type, &names->scratch);
}

/* "java/lang" of "java/lang/String", "[Ljava/lang/String;" or a hidden class, whose own part begins at
 * the '+'; empty: the default package, or an array of primitives. */
static struct recording_text package_of(struct recording_text class_name)
{
    const char *begin = class_name.bytes;

    if (begin == NULL)
        return class_name;

    const char *end = begin + class_name.length_bytes;
    while (begin < end && *begin == '[')
        begin++;
    if (begin != class_name.bytes && begin < end)
        begin++;

    const char *plus = memchr(begin, '+', (size_t)(end - begin));
    const char *slash = memrchr(begin, '/', (size_t)((plus == NULL ? end : plus) - begin));
    return slash == NULL ? (struct recording_text){NULL, 0}
                         : (struct recording_text){begin, (size_t)(slash - begin)};
}

/* Hidden classes are named "Work$$Lambda+0x00007f31c8000a00" by the JVM. */
static bool is_hidden_class(struct recording_text class_name)
{
    return class_name.length_bytes >= 3 &&
           memmem(class_name.bytes, class_name.length_bytes, "+0x", 3) != NULL;
}

static uint64_t put_class(struct recording_names *names, struct recording_text name,
                          uint64_t loader_key, uint64_t package_key, uint32_t modifiers)
{
    const uint64_t name_key = recording_symbol(names, name);

    jfr_put_varint(&names->scratch, loader_key);
    jfr_put_varint(&names->scratch, name_key);
    jfr_put_varint(&names->scratch, package_key);
    jfr_put_varint(&names->scratch, modifiers);
    jfr_put_u8(&names->scratch, is_hidden_class(name));
    return recording_constant(names, JFR_TYPE_CLASS, &names->scratch);
}

static uint64_t put_package(struct recording_names *names, struct recording_text name,
                            uint64_t module_key)
{
    const uint64_t name_key = recording_symbol(names, name);

    jfr_put_varint(&names->scratch, name_key);
    jfr_put_varint(&names->scratch, module_key);
    jfr_put_u8(&names->scratch, 0); /* exported: not known */
    return recording_constant(names, JFR_TYPE_PACKAGE, &names->scratch);
}

/* The class of a loader is told without its own loader: the chain ends here. */
static uint64_t loader_key(struct recording_names *names, uint32_t loader)
{
    if (loader == 0)
        return 0;

    const uint64_t *known = remember(names, &names->loaders, &loader, sizeof loader);
    if (*known != 0)
        return *known - 1;

    struct recording_loader told = {0};
    uint64_t key = 0;
    if (names->sources.loader != NULL &&
        names->sources.loader(names->sources.context, loader, &told)) {
        const struct recording_text package = package_of(told.type);
        const uint64_t type_key =
            told.type.bytes == NULL
                ? 0
                : put_class(names, told.type, 0,
                            package.bytes == NULL ? 0 : put_package(names, package, 0), 0);
        const uint64_t name_key = recording_symbol(names, told.name);

        jfr_put_varint(&names->scratch, type_key);
        jfr_put_varint(&names->scratch, name_key);
        key = recording_constant(names, JFR_TYPE_CLASS_LOADER, &names->scratch);
    }
    *remember(names, &names->loaders, &loader, sizeof loader) = key + 1;
    return key;
}

static uint64_t module_key(struct recording_names *names, uint32_t loader,
                           struct recording_text package)
{
    struct recording_module told = {0};

    if (loader == 0 || names->sources.module == NULL ||
        !names->sources.module(names->sources.context, loader, package, &told))
        return 0;

    const uint64_t name_key = recording_symbol(names, told.name);
    const uint64_t version_key = recording_symbol(names, told.version);
    const uint64_t location_key = recording_symbol(names, told.location);
    const uint64_t its_loader_key = loader_key(names, loader);
    jfr_put_varint(&names->scratch, name_key);
    jfr_put_varint(&names->scratch, version_key);
    jfr_put_varint(&names->scratch, location_key);
    jfr_put_varint(&names->scratch, its_loader_key);
    return recording_constant(names, JFR_TYPE_MODULE, &names->scratch);
}

static uint64_t package_key(struct recording_names *names, uint32_t loader,
                            struct recording_text package)
{
    if (package.bytes == NULL)
        return 0;

    /* The question as bytes: loader, then the name. */
    jfr_put_be32(&names->scratch, loader);
    jfr_put_bytes(&names->scratch, package.bytes, package.length_bytes);
    names->has_failed |= names->scratch.has_failed;
    uint64_t *known =
        remember(names, &names->packages, names->scratch.bytes, names->scratch.used_bytes);
    jfr_buffer_clear(&names->scratch);
    /* Nothing on the way to the answer asks for another package of a known loader: `known` stays. */
    if (*known == 0)
        *known = put_package(names, package, module_key(names, loader, package)) + 1;
    return *known - 1;
}

/* The descriptor itself where it is whole. Of one that was cut the whole parameters, of what is none none: readers
 * take it apart, and refuse the file where they cannot. `room`: for those. */
static struct recording_text sound_descriptor(struct recording_text told,
                                              char room[DESCRIPTOR_BYTES_MAX + 3])
{
    const unsigned char *bytes = (const unsigned char *)told.bytes;
    size_t kept_bytes;

    if (told.bytes == NULL || jw_descriptor_is_whole(bytes, told.length_bytes))
        return told;
    kept_bytes = jw_descriptor_parameters(
        bytes, told.length_bytes < DESCRIPTOR_BYTES_MAX ? told.length_bytes : DESCRIPTOR_BYTES_MAX);
    if (kept_bytes == 0)
        return TEXT("()V");
    memcpy(room, told.bytes, kept_bytes);
    memcpy(room + kept_bytes, ")V", 2);
    return (struct recording_text){room, kept_bytes + 2};
}

static uint64_t put_method(struct recording_names *names, uint64_t class_key,
                           struct recording_text name, struct recording_text descriptor,
                           uint32_t modifiers, bool is_hidden)
{
    const uint64_t name_key = recording_symbol(names, name);
    char room[DESCRIPTOR_BYTES_MAX + 3];
    const uint64_t descriptor_key = recording_symbol(names, sound_descriptor(descriptor, room));

    jfr_put_varint(&names->scratch, class_key);
    jfr_put_varint(&names->scratch, name_key);
    jfr_put_varint(&names->scratch, descriptor_key);
    jfr_put_varint(&names->scratch, modifiers);
    jfr_put_u8(&names->scratch, is_hidden);
    return recording_constant(names, JFR_TYPE_METHOD, &names->scratch);
}

/* Text of a dictionary entry; `missing` when there is none, or an empty one. */
static struct recording_text dict_text_or(const struct dict_table *table, dict_id id,
                                          struct recording_text missing)
{
    struct recording_text text;

    text.bytes = dict_text(table, id, &text.length_bytes);
    return text.bytes == NULL || text.length_bytes == 0 ? missing : text;
}

struct recording_method recording_method_texts(const struct generation *generation,
                                               const struct method_record *record)
{
    return (struct recording_method){
        .class_name = dict_text_or(generation->classes, record->class_name, TEXT("unknown class")),
        .name = dict_text_or(generation->symbols, record->name, (struct recording_text){NULL, 0}),
        .descriptor = dict_text_or(generation->symbols, record->signature, TEXT("()V")),
        .loader = record->loader,
        .modifiers = record->modifiers,
        .class_modifiers = record->class_modifiers,
        .is_hidden = (record->flags & METHOD_HIDDEN) != 0,
    };
}

struct recording_method recording_receiver_method(const struct generation *generation, dict_id name)
{
    return (struct recording_method){
        .class_name = dict_text_or(generation->classes, name, TEXT("unknown class")),
        .name = TEXT("<receiver>"),
        .descriptor = TEXT("()V"),
    };
}

uint64_t recording_method_key(struct recording_names *names, const struct recording_method *told)
{
    const uint64_t package =
        told->is_native ? 0 : package_key(names, told->loader, package_of(told->class_name));
    const uint64_t class_key = put_class(names, told->class_name, loader_key(names, told->loader),
                                         package, told->class_modifiers);

    return put_method(names, class_key, told->name, told->descriptor, told->modifiers,
                      told->is_hidden);
}

uint64_t recording_loader_key(struct recording_names *names, uint32_t loader)
{
    return loader_key(names, loader);
}

uint64_t recording_class_of_loader(struct recording_names *names, struct recording_text text,
                                   uint32_t loader)
{
    const uint64_t package = package_key(names, loader, package_of(text));

    return put_class(names, text, loader_key(names, loader), package, 0);
}

uint64_t recording_class_of_text(struct recording_names *names, struct recording_text text)
{
    return recording_class_of_loader(names, text, 0);
}

uint64_t recording_class(struct recording_names *names, const struct generation *generation,
                         uint32_t name)
{
    if (name == DICT_NONE)
        return 0;
    const struct recording_text told =
        dict_text_or(generation->classes, name, TEXT("unknown class"));

    return recording_class_of_text(names, told);
}

uint64_t recording_java_method(struct recording_names *names, const struct generation *generation,
                               const struct method_record *record)
{
    const struct recording_method told = recording_method_texts(generation, record);

    return recording_method_key(names, &told);
}

/* "vdso" of "[vdso]". Source: JMC 9, MethodToolkit: a class whose name begins with '[' must be an array. */
static struct recording_text without_brackets(struct recording_text text)
{
    if (text.length_bytes > 2 && text.bytes[0] == '[' && text.bytes[text.length_bytes - 1] == ']')
        return (struct recording_text){text.bytes + 1, text.length_bytes - 2};
    return text;
}

bool recording_native_texts(const struct recording_sources *sources, uintptr_t pc,
                            struct recording_symbol *out)
{
    *out = (struct recording_symbol){{NULL, 0}, {NULL, 0}};
    if (sources->native_pc == NULL || !sources->native_pc(sources->context, pc, out) ||
        out->library.bytes == NULL)
        return false;
    if (out->symbol.bytes == NULL)
        out->symbol = out->library;
    out->library = without_brackets(out->library);
    return true;
}

struct recording_method recording_native_method_of(const struct recording_symbol *told)
{
    return (struct recording_method){
        .class_name = told->library,
        .name = told->symbol,
        .descriptor = TEXT("()V"),
        .modifiers = MODIFIER_NATIVE,
        .is_native = true,
    };
}

struct recording_method recording_address_method(uintptr_t pc, char text[RECORDING_ADDRESS_BYTES])
{
    const int length = snprintf(text, RECORDING_ADDRESS_BYTES, "0x%llx", (unsigned long long)pc);

    return (struct recording_method){
        .class_name = TEXT("jaywalk"),
        .name = {text, (size_t)length},
        .descriptor = TEXT("()V"),
        .modifiers = MODIFIER_NATIVE,
        .is_native = true,
    };
}

uint64_t recording_native_method(struct recording_names *names, uintptr_t pc)
{
    uint64_t *known = remember(names, &names->pcs, &pc, sizeof pc);

    if (*known != 0)
        return *known - 1;

    struct recording_symbol told;
    if (!recording_native_texts(&names->sources, pc, &told)) {
        *known = recording_mark_method(names, JW_MARK_UNKNOWN_NATIVE) + 1;
        return *known - 1;
    }
    const struct recording_method method = recording_native_method_of(&told);
    *known = recording_method_key(names, &method) + 1;
    return *known - 1;
}

uint64_t recording_mark_method(struct recording_names *names, enum jw_mark mark)
{
    const char *text = jw_mark_text(mark);
    const uint64_t class_key = put_class(names, TEXT("jaywalk"), 0, 0, 0);

    return put_method(names, class_key, (struct recording_text){text, strlen(text)}, TEXT("()V"),
                      MODIFIER_NATIVE, false);
}

static uint64_t group_key(struct recording_names *names, struct recording_text name,
                          uint64_t parent_key)
{
    if (name.bytes == NULL)
        return 0;
    jfr_put_varint(&names->scratch, parent_key);
    jfr_put_text(&names->scratch, name.bytes, name.length_bytes);
    return recording_constant(names, JFR_TYPE_THREAD_GROUP, &names->scratch);
}

static void put_text_or_null(struct jfr_buffer *buffer, struct recording_text text)
{
    if (text.bytes == NULL)
        jfr_put_string(buffer, NULL);
    else
        jfr_put_text(buffer, text.bytes, text.length_bytes);
}

uint64_t recording_told_thread_key(struct recording_names *names,
                                   const struct recording_thread *told)
{
    const uint64_t group = group_key(names, told->group, group_key(names, told->parent_group, 0));

    put_text_or_null(&names->scratch, told->os_name);
    jfr_put_long(&names->scratch, told->os_tid);
    put_text_or_null(&names->scratch, told->java_name);
    jfr_put_long(&names->scratch, told->java_id);
    jfr_put_varint(&names->scratch, group);
    jfr_put_u8(&names->scratch, 0); /* virtual */
    return recording_constant(names, JFR_TYPE_THREAD, &names->scratch);
}

uint64_t recording_thread_key(struct recording_names *names, uint32_t index, uint32_t serial)
{
    const uint32_t question[] = {index, serial};
    uint64_t *known = remember(names, &names->threads, question, sizeof question);

    if (*known != 0)
        return *known - 1;

    struct recording_thread told = {0};
    uint64_t key = 0;
    if (names->sources.thread != NULL &&
        names->sources.thread(names->sources.context, index, serial, &told))
        key = recording_told_thread_key(names, &told);
    *known = key + 1;
    return key;
}

/* Source: the JDK's own recordings: no thread of the system, and "" where it has no name. */
uint64_t recording_virtual_thread_key(struct recording_names *names, uint64_t number,
                                      struct recording_text name)
{
    jfr_put_string(&names->scratch, NULL);
    jfr_put_long(&names->scratch, 0);
    if (name.bytes == NULL)
        jfr_put_string(&names->scratch, "");
    else
        jfr_put_text(&names->scratch, name.bytes, name.length_bytes);
    jfr_put_long(&names->scratch, (int64_t)number);
    jfr_put_varint(&names->scratch, 0);
    jfr_put_u8(&names->scratch, 1); /* virtual */
    return recording_constant(names, JFR_TYPE_THREAD, &names->scratch);
}
