/* A reader of recordings that only finds fault. Source: the format as JDK 17, 25 and JMC read it. */
#include "support/jfr_check.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIELDS_MAX  64
#define IDS_MAX     4096
#define NESTING_MAX 16
#define TEXTS_MAX   8192

struct field {
    char name[48];
    unsigned class_id;
    bool is_array;
    bool is_pooled;
};

struct class_info {
    bool is_declared;
    bool is_event;
    bool is_simple;
    char name[64];
    size_t field_count;
    struct field fields[FIELDS_MAX];
};

/* A constant: where it lies in this chunk, and what its bytes were when the file first had it. */
struct constant {
    uint64_t type_and_key; /* key << 12 | type; 0: free */
    uint64_t hash;
    size_t chunk; /* in which it was last defined, from 1 */
    const unsigned char *at;
};

struct checker {
    struct jfr_check *out;
    const unsigned char *chunk;
    const unsigned char *at;
    const unsigned char *end;
    bool has_failed;
    struct class_info *classes; /* IDS_MAX */
    struct constant *constants;
    size_t constant_capacity;
    size_t constant_used;
    bool is_resolving; /* second pass: references must resolve */
    uint64_t start_ticks;
    uint64_t end_ticks;
};

__attribute__((format(printf, 2, 3))) static void blame(struct checker *c, const char *format, ...)
{
    if (c->has_failed)
        return;

    char text[224];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(c->out->problem, sizeof c->out->problem, "chunk %zu, offset %td: %s",
             c->out->chunk_count, c->chunk == NULL ? 0 : c->at - c->chunk, text);
    c->has_failed = true;
    c->at = c->end;
}

static unsigned get_u8(struct checker *c)
{
    if (c->at >= c->end) {
        blame(c, "ends too early");
        return 0;
    }
    return *c->at++;
}

static uint64_t get_varint(struct checker *c)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 9; i++) {
        const unsigned byte = get_u8(c);

        if (i == 8)
            return value | (uint64_t)byte << 56;
        value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80)
            break;
    }
    return value;
}

static const unsigned char *get_bytes(struct checker *c, uint64_t length_bytes)
{
    const unsigned char *bytes = c->at;

    if (length_bytes > (uint64_t)(c->end - c->at)) {
        blame(c, "%llu bytes reach beyond the end", (unsigned long long)length_bytes);
        return NULL;
    }
    c->at += length_bytes;
    return bytes;
}

static uint64_t big_endian(const unsigned char *bytes, size_t length_bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length_bytes; i++)
        value = value << 8 | bytes[i];
    return value;
}

static void check_utf8(struct checker *c, const unsigned char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n;) {
        const unsigned length = s[i] < 0x80   ? 1
                                : s[i] < 0xc2 ? 0
                                : s[i] < 0xe0 ? 2
                                : s[i] < 0xf0 ? 3
                                : s[i] < 0xf5 ? 4
                                              : 0;

        if (length == 0 || i + length > n) {
            blame(c, "text is no UTF-8");
            return;
        }
        for (unsigned k = 1; k < length; k++)
            if ((s[i + k] & 0xc0) != 0x80)
                blame(c, "text is no UTF-8");
        if (length == 3 && s[i] == 0xed && s[i + 1] >= 0xa0)
            blame(c, "text holds half a surrogate pair");
        i += length;
    }
}

/* Reads a string; its bytes, if it has any that are UTF-8. */
static const unsigned char *get_text(struct checker *c, uint64_t *length_bytes)
{
    const unsigned encoding = get_u8(c);
    const unsigned char *bytes = NULL;

    *length_bytes = 0;
    if (encoding == 3) {
        *length_bytes = get_varint(c);
        bytes = get_bytes(c, *length_bytes);
        if (bytes != NULL)
            check_utf8(c, bytes, *length_bytes);
    } else if (encoding > 1) {
        blame(c, "string encoding %u is none that we write", encoding);
    }
    return bytes;
}

/* ---- metadata ---- */

struct texts {
    size_t count;
    char text[TEXTS_MAX][96];
};

struct attributes {
    const char *name, *id, *super, *class, *value, *dimension, *pooled, *simple;
    const char *element;
};

static const char *text_at(struct checker *c, const struct texts *texts)
{
    const uint64_t index = get_varint(c);

    if (index >= texts->count) {
        blame(c, "text %llu of %zu", (unsigned long long)index, texts->count);
        return "";
    }
    return texts->text[index];
}

static void get_element(struct checker *c, const struct texts *texts, struct class_info *in_class,
                        unsigned depth);

static void note_element(struct checker *c, const struct attributes *a, struct class_info **class)
{
    if (strcmp(a->element, "class") == 0) {
        const unsigned id = a->id == NULL ? 0 : (unsigned)strtoul(a->id, NULL, 10);

        if (id < 2 || id >= IDS_MAX || a->name == NULL || c->classes[id].is_declared) {
            blame(c, "class id %u is out of range or there twice", id);
            return;
        }
        *class = &c->classes[id];
        (*class)->is_declared = true;
        (*class)->is_event = a->super != NULL && strcmp(a->super, "jdk.jfr.Event") == 0;
        (*class)->is_simple = a->simple != NULL;
        snprintf((*class)->name, sizeof(*class)->name, "%s", a->name);
        if (id < JFR_CHECK_TYPES_MAX)
            snprintf(c->out->type_names[id], sizeof c->out->type_names[id], "%s", a->name);
    } else if (strcmp(a->element, "field") == 0) {
        struct field *field = *class == NULL || (*class)->field_count == FIELDS_MAX
                                  ? NULL
                                  : &(*class)->fields[(*class)->field_count++];

        if (field == NULL || a->name == NULL || a->class == NULL) {
            blame(c, "a field without class, name or place");
            return;
        }
        snprintf(field->name, sizeof field->name, "%s", a->name);
        field->class_id = (unsigned)strtoul(a->class, NULL, 10);
        field->is_array = a->dimension != NULL && strcmp(a->dimension, "0") != 0;
        field->is_pooled = a->pooled != NULL;
        *class = NULL;
    } else if (strcmp(a->element, "annotation") != 0 && strcmp(a->element, "metadata") != 0 &&
               strcmp(a->element, "root") != 0 && strcmp(a->element, "region") != 0 &&
               strcmp(a->element, "setting") != 0) {
        blame(c, "unknown element <%s>", a->element);
    }
}

static void get_element(struct checker *c, const struct texts *texts, struct class_info *in_class,
                        unsigned depth)
{
    struct attributes a = {.element = text_at(c, texts)};
    const uint64_t attribute_count = get_varint(c);

    if (depth > NESTING_MAX)
        blame(c, "elements too deep");
    for (uint64_t i = 0; i < attribute_count && !c->has_failed; i++) {
        const char *key = text_at(c, texts);
        const char *value = text_at(c, texts);
        const struct {
            const char *key;
            const char **to;
        } known[] = {{"name", &a.name},           {"id", &a.id},
                     {"superType", &a.super},     {"class", &a.class},
                     {"value", &a.value},         {"dimension", &a.dimension},
                     {"constantPool", &a.pooled}, {"simpleType", &a.simple}};

        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            if (strcmp(key, known[k].key) == 0)
                *known[k].to = value;
    }
    if (!c->has_failed)
        note_element(c, &a, &in_class);

    const uint64_t child_count = get_varint(c);
    for (uint64_t i = 0; i < child_count && !c->has_failed; i++)
        get_element(c, texts, in_class, depth + 1);
}

static void check_classes(struct checker *c)
{
    for (unsigned id = 0; id < IDS_MAX && !c->has_failed; id++) {
        const struct class_info *class = &c->classes[id];

        if (class->is_declared && class->is_simple && class->field_count != 1)
            blame(c, "simple type %s has %zu fields", class->name, class->field_count);
        if (class->is_event &&
            (class->field_count == 0 || strcmp(class->fields[0].name, "startTime") != 0))
            blame(c, "event %s does not begin with startTime", class->name);
        for (size_t i = 0; i < class->field_count; i++) {
            const unsigned of = class->fields[i].class_id;

            if (of >= IDS_MAX || !c->classes[of].is_declared)
                blame(c, "field %s.%s has no class", class->name, class->fields[i].name);
            if (strcmp(class->fields[i].name, "duration") == 0 && i != 1)
                blame(c, "duration of %s is not its second field", class->name);
        }
    }
}

static void read_metadata(struct checker *c, const unsigned char *at)
{
    struct texts *texts = calloc(1, sizeof *texts);
    const unsigned char *limit = c->end;

    c->at = at;
    const uint64_t size = get_varint(c);
    if (size > (uint64_t)(limit - at))
        blame(c, "metadata is too long");
    else
        c->end = at + size;
    if (get_varint(c) != 0)
        blame(c, "the metadata offset leads to another event");
    get_varint(c);
    get_varint(c);
    c->out->metadata_id = get_varint(c);
    texts->count = get_varint(c);
    if (texts->count > TEXTS_MAX)
        blame(c, "too many texts");
    for (size_t i = 0; i < texts->count && !c->has_failed; i++) {
        uint64_t length;
        const unsigned char *bytes = get_text(c, &length);

        if (bytes != NULL)
            memcpy(texts->text[i], bytes, length < 95 ? length : 95);
    }
    memset(c->classes, 0, IDS_MAX * sizeof c->classes[0]);
    get_element(c, texts, NULL, 0);
    if (!c->has_failed && c->at != c->end)
        blame(c, "metadata has bytes behind its tree");
    c->end = limit;
    check_classes(c);
    free(texts);
}

/* ---- constants ---- */

static uint64_t hash_bytes(const unsigned char *bytes, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325ull;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}

static struct constant *find_constant(struct checker *c, unsigned type, uint64_t key)
{
    const uint64_t wanted = key << 12 | type;
    size_t slot = (size_t)(wanted * 0x9e3779b97f4a7c15ull >> 20) % c->constant_capacity;

    while (c->constants[slot].type_and_key != 0 && c->constants[slot].type_and_key != wanted)
        slot = (slot + 1) % c->constant_capacity;
    return &c->constants[slot];
}

static struct constant *known_constant(struct checker *c, unsigned type, uint64_t key)
{
    struct constant *constant = find_constant(c, type, key);

    return constant->type_and_key != 0 && constant->chunk == c->out->chunk_count ? constant : NULL;
}

static void grow_constants(struct checker *c)
{
    struct constant *old = c->constants;
    const size_t old_capacity = c->constant_capacity;

    c->constant_capacity = old_capacity == 0 ? 1024 : 2 * old_capacity;
    c->constants = calloc(c->constant_capacity, sizeof *old);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].type_and_key != 0)
            *find_constant(c, old[i].type_and_key & 0xfff, old[i].type_and_key >> 12) = old[i];
    free(old);
}

static void get_value(struct checker *c, unsigned class_id, bool is_pooled, unsigned depth);

static void get_fields(struct checker *c, const struct class_info *class, unsigned depth)
{
    for (size_t i = 0; i < class->field_count && !c->has_failed; i++) {
        const struct field *field = &class->fields[i];
        const uint64_t count = field->is_array ? get_varint(c) : 1;

        if (field->is_array && count == 0 && strcmp(field->name, "frames") == 0)
            blame(c, "a stack without frames");
        for (uint64_t k = 0; k < count && !c->has_failed; k++)
            get_value(c, field->class_id, field->is_pooled, depth + 1);
    }
}

static void get_value(struct checker *c, unsigned class_id, bool is_pooled, unsigned depth)
{
    const struct class_info *class = &c->classes[class_id];
    uint64_t length;

    if (depth > NESTING_MAX) {
        blame(c, "values nest too deep");
    } else if (is_pooled) {
        const uint64_t key = get_varint(c);

        if (c->is_resolving && key != 0 && known_constant(c, class_id, key) == NULL)
            blame(c, "%s %llu is not defined", class->name, (unsigned long long)key);
    } else if (strcmp(class->name, "java.lang.String") == 0) {
        get_text(c, &length);
    } else if (strcmp(class->name, "boolean") == 0) {
        if (get_u8(c) > 1)
            blame(c, "a boolean that is neither 0 nor 1");
    } else if (strcmp(class->name, "byte") == 0) {
        get_u8(c);
    } else if (strcmp(class->name, "float") == 0) {
        get_bytes(c, 4);
    } else if (strcmp(class->name, "double") == 0) {
        get_bytes(c, 8);
    } else if (class->field_count == 0) {
        const uint64_t value = get_varint(c);

        if (strcmp(class->name, "int") == 0 && value > UINT32_MAX)
            blame(c, "an int of more than 32 bits");
    } else {
        get_fields(c, class, depth);
    }
}

static void define_constant(struct checker *c, unsigned type)
{
    if (c->constant_used * 2 >= c->constant_capacity)
        grow_constants(c);

    const uint64_t key = get_varint(c);
    const unsigned char *begin = c->at;
    get_fields(c, &c->classes[type], 0);
    if (c->has_failed)
        return;

    const uint64_t hash = hash_bytes(begin, (size_t)(c->at - begin));
    struct constant *constant = find_constant(c, type, key);
    if (constant->type_and_key != 0 && constant->chunk == c->out->chunk_count)
        blame(c, "%s %llu is defined twice", c->classes[type].name, (unsigned long long)key);
    if (constant->type_and_key != 0 && constant->hash != hash)
        blame(c, "%s %llu meant something else before", c->classes[type].name,
              (unsigned long long)key);
    c->constant_used += constant->type_and_key == 0;
    *constant = (struct constant){key << 12 | type, hash, c->out->chunk_count, begin};
    c->out->constant_count++;
}

/* One checkpoint of the chain; returns how far behind the one before it begins. */
static int64_t read_checkpoint(struct checker *c, const unsigned char *at)
{
    const unsigned char *limit = c->end;

    c->at = at;
    const uint64_t size = get_varint(c);
    if (size > (uint64_t)(limit - at))
        blame(c, "a checkpoint is too long");
    else
        c->end = at + size;
    if (get_varint(c) != 1)
        blame(c, "the checkpoint chain leads to another event");
    get_varint(c);
    get_varint(c);
    const int64_t delta = (int64_t)get_varint(c);
    get_u8(c);
    const uint64_t pool_count = get_varint(c);
    for (uint64_t i = 0; i < pool_count && !c->has_failed; i++) {
        const uint64_t type = get_varint(c);
        const uint64_t count = get_varint(c);

        if (type >= IDS_MAX || !c->classes[type].is_declared || count == 0)
            blame(c, "pool of class %llu is unknown or empty", (unsigned long long)type);
        for (uint64_t k = 0; k < count && !c->has_failed; k++)
            define_constant(c, (unsigned)type);
    }
    if (!c->has_failed && c->at != c->end)
        blame(c, "a checkpoint has bytes behind its pools");
    c->end = limit;
    c->out->checkpoint_count++;
    return delta;
}

static void read_checkpoints(struct checker *c, uint64_t offset)
{
    while (offset != 0 && !c->has_failed) {
        if (offset >= (uint64_t)(c->end - c->chunk)) {
            blame(c, "a checkpoint at %llu, outside the chunk", (unsigned long long)offset);
            break;
        }

        const int64_t delta = read_checkpoint(c, c->chunk + offset);
        if (delta > 0 || (uint64_t)-delta > offset)
            blame(c, "a checkpoint delta of %lld", (long long)delta);
        if (delta == 0)
            break;
        offset -= (uint64_t)-delta;
    }
}

/* ---- what viewers rely on, beyond the layout ---- */

static unsigned class_named(const struct checker *c, const char *name)
{
    for (unsigned id = 0; id < IDS_MAX; id++)
        if (c->classes[id].is_declared && strcmp(c->classes[id].name, name) == 0)
            return id;
    return 0;
}

/* Text of a symbol; "" when there is none. */
static void symbol_text(struct checker *c, unsigned type, uint64_t key, char *text, size_t capacity)
{
    struct constant *symbol = key == 0 ? NULL : known_constant(c, type, key);

    text[0] = '\0';
    if (symbol == NULL)
        return;
    c->at = symbol->at;
    uint64_t length;
    const unsigned char *bytes = get_text(c, &length);
    if (bytes != NULL)
        snprintf(text, capacity, "%.*s", (int)length, (const char *)bytes);
}

static void check_class_constant(struct checker *c, const struct constant *constant)
{
    const unsigned symbols = class_named(c, "jdk.types.Symbol");
    const unsigned packages = class_named(c, "jdk.types.Package");
    char name[1024];
    char package[1024];

    c->at = constant->at;
    get_varint(c);
    const uint64_t name_key = get_varint(c);
    const uint64_t package_key = get_varint(c);
    symbol_text(c, symbols, name_key, name, sizeof name);
    if (name_key == 0)
        blame(c, "a class without a name");
    if (package_key == 0 || c->has_failed)
        return;

    c->at = known_constant(c, packages, package_key)->at;
    symbol_text(c, symbols, get_varint(c), package, sizeof package);
    const char *bare = name + strspn(name, "[");
    bare += bare != name && *bare == 'L';
    if (strncmp(bare, package, strlen(package)) != 0)
        blame(c, "class %s is not in its package %s", name, package);
}

/* Second look at all constants of this chunk: references and names. */
static void check_constants(struct checker *c)
{
    const unsigned classes = class_named(c, "java.lang.Class");
    const unsigned methods = class_named(c, "jdk.types.Method");

    c->is_resolving = true;
    for (size_t i = 0; i < c->constant_capacity && !c->has_failed; i++) {
        const struct constant *constant = &c->constants[i];
        const unsigned type = constant->type_and_key & 0xfff;

        if (constant->type_and_key == 0 || constant->chunk != c->out->chunk_count)
            continue;
        c->at = constant->at;
        get_fields(c, &c->classes[type], 0);
        if (type == classes && !c->has_failed)
            check_class_constant(c, constant);
        if (type == methods && !c->has_failed) {
            c->at = constant->at;
            if (get_varint(c) == 0)
                blame(c, "a method without a class");
        }
    }
}

/* ---- events ---- */

static void read_events(struct checker *c)
{
    const unsigned char *chunk_end = c->end;
    const unsigned char *event = c->chunk + 68;

    while (event < chunk_end && !c->has_failed) {
        c->at = event;
        c->end = chunk_end;
        const uint64_t size = get_varint(c);
        const uint64_t type = get_varint(c);

        if (size == 0) {
            blame(c, "an event of size 0");
            break;
        }
        if (type > 1) {
            if (size > (uint64_t)(chunk_end - event))
                blame(c, "an event reaches beyond its chunk");
            else
                c->end = event + size;
            if (type >= IDS_MAX || !c->classes[type].is_event) {
                blame(c, "event of undeclared type %llu", (unsigned long long)type);
                break;
            }
            const unsigned char *payload = c->at;
            const uint64_t start = get_varint(c);
            if (start < c->start_ticks || start > c->end_ticks)
                blame(c, "%s at %llu lies outside its chunk (%llu to %llu)", c->classes[type].name,
                      (unsigned long long)start, (unsigned long long)c->start_ticks,
                      (unsigned long long)c->end_ticks);
            c->at = c->has_failed ? c->end : payload;
            get_fields(c, &c->classes[type], 0);
            if (!c->has_failed && c->at != c->end)
                blame(c, "%s has bytes behind its fields", c->classes[type].name);
            c->out->event_count++;
            if (type < JFR_CHECK_TYPES_MAX)
                c->out->type_events[type]++;
        } else if (type == 1) {
            get_varint(c);
            get_varint(c);
            get_varint(c);
            get_u8(c);
            if (get_varint(c) == 0) {
                c->out->skipped_count++;
                c->out->skipped_bytes += size;
            }
        }
        event += size;
    }
    /* A padding may reach beyond its chunk while the next chunk is being committed. */
    c->end = chunk_end;
}

static size_t read_chunk(struct checker *c, const unsigned char *bytes, size_t left_bytes)
{
    c->chunk = c->at = bytes;
    c->end = bytes + left_bytes;
    c->out->chunk_count++;
    if (left_bytes < 68 || memcmp(bytes, "FLR", 4) != 0) {
        blame(c, "no chunk begins here");
        return 0;
    }

    const uint64_t size = big_endian(bytes + 8, 8);
    const uint64_t start = big_endian(bytes + 48, 8);
    const uint64_t duration = big_endian(bytes + 40, 8);
    if (size < 68 || size > left_bytes || size > INT32_MAX)
        blame(c, "chunk size %llu of %zu", (unsigned long long)size, left_bytes);
    if (big_endian(bytes + 4, 4) != 0x20001 || big_endian(bytes + 56, 8) != 1000000000)
        blame(c, "version or clock");
    if (bytes[64] != 0 || bytes[65] != 0 || bytes[66] != 0 || (bytes[67] & ~3u) != 0 ||
        (bytes[67] & 1) == 0)
        blame(c, "state or flags");
    if (duration == 0 || duration > INT64_MAX)
        blame(c, "duration %llu", (unsigned long long)duration);
    if (c->out->chunk_count > 1 && start <= c->out->last_start_ticks)
        blame(c, "starts no later than the chunk before");
    if (c->out->chunk_count == 1)
        c->out->first_start_ticks = start;
    c->out->last_start_ticks = start;
    c->out->last_duration_ns = duration;
    c->out->is_final = (bytes[67] & 2) != 0;
    c->out->final_count += c->out->is_final;
    if (c->has_failed)
        return 0;

    c->start_ticks = start;
    c->end_ticks = start + duration;
    c->end = bytes + size;
    c->is_resolving = false;
    const uint64_t metadata = big_endian(bytes + 24, 8);
    if (metadata < 68 || metadata >= size)
        blame(c, "metadata at %llu", (unsigned long long)metadata);
    else
        read_metadata(c, bytes + metadata);
    /* jdk.jfr reads offset 0 as "none" in the first chunk only. */
    if (big_endian(bytes + 16, 8) == 0)
        blame(c, "no checkpoint");
    if (!c->has_failed)
        read_checkpoints(c, big_endian(bytes + 16, 8));
    if (!c->has_failed)
        check_constants(c);
    if (!c->has_failed)
        read_events(c);
    return size;
}

bool jfr_check_bytes(const unsigned char *bytes, size_t length_bytes, struct jfr_check *out)
{
    struct checker c = {.out = out};

    memset(out, 0, sizeof *out);
    out->file_bytes = length_bytes;
    c.classes = calloc(IDS_MAX, sizeof c.classes[0]);
    grow_constants(&c);
    if (length_bytes == 0)
        blame(&c, "the file is empty");
    for (size_t at = 0; at < length_bytes && !c.has_failed;)
        at += read_chunk(&c, bytes + at, length_bytes - at);
    free(c.classes);
    free(c.constants);
    return !c.has_failed;
}

bool jfr_check_file(const char *path, struct jfr_check *out)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat found;

    memset(out, 0, sizeof *out);
    if (fd < 0 || fstat(fd, &found) != 0 || found.st_size == 0) {
        snprintf(out->problem, sizeof out->problem, "%s: missing or empty", path);
        if (fd >= 0)
            close(fd);
        return false;
    }

    void *bytes = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED) {
        snprintf(out->problem, sizeof out->problem, "%s: cannot be mapped", path);
        return false;
    }
    const bool is_sound = jfr_check_bytes(bytes, (size_t)found.st_size, out);
    munmap(bytes, (size_t)found.st_size);
    return is_sound;
}

size_t jfr_check_events(const struct jfr_check *check, const char *type_name)
{
    for (size_t i = 0; i < JFR_CHECK_TYPES_MAX; i++)
        if (strcmp(check->type_names[i], type_name) == 0)
            return check->type_events[i];
    return 0;
}
