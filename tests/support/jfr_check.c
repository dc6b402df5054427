/* A reader of recordings that only finds fault. Source: the format as JDK 17, 25 and JMC read it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/jfr_check_internal.h"

static uint64_t big_endian(const unsigned char *bytes, size_t length_bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length_bytes; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* ---- constants ---- */

static uint64_t hash_bytes(const unsigned char *bytes, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325ull;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}

static struct jfr_check_constant *find_constant(struct jfr_checker *c, unsigned type, uint64_t key)
{
    const uint64_t wanted = key << 12 | type;
    size_t slot = (size_t)(wanted * 0x9e3779b97f4a7c15ull >> 20) % c->constant_capacity;

    while (c->constants[slot].type_and_key != 0 && c->constants[slot].type_and_key != wanted)
        slot = (slot + 1) % c->constant_capacity;
    return &c->constants[slot];
}

static struct jfr_check_constant *known_constant(struct jfr_checker *c, unsigned type, uint64_t key)
{
    struct jfr_check_constant *constant = find_constant(c, type, key);

    return constant->type_and_key != 0 && constant->chunk == c->out->chunk_count ? constant : NULL;
}

static void grow_constants(struct jfr_checker *c)
{
    struct jfr_check_constant *old = c->constants;
    const size_t old_capacity = c->constant_capacity;

    c->constant_capacity = old_capacity == 0 ? 1024 : 2 * old_capacity;
    c->constants = calloc(c->constant_capacity, sizeof *old);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].type_and_key != 0)
            *find_constant(c, old[i].type_and_key & 0xfff, old[i].type_and_key >> 12) = old[i];
    free(old);
}

static void get_value(struct jfr_checker *c, unsigned class_id, bool is_pooled, unsigned depth);

static void get_fields(struct jfr_checker *c, const struct jfr_check_class *class, unsigned depth)
{
    for (size_t i = 0; i < class->field_count && !c->has_failed; i++) {
        const struct jfr_check_field *field = &class->fields[i];
        const uint64_t count = field->is_array ? jfr_check_varint(c) : 1;

        if (field->is_array && count == 0 && strcmp(field->name, "frames") == 0)
            jfr_check_blame(c, "a stack without frames");
        for (uint64_t k = 0; k < count && !c->has_failed; k++)
            get_value(c, field->class_id, field->is_pooled, depth + 1);
    }
}

static void get_value(struct jfr_checker *c, unsigned class_id, bool is_pooled, unsigned depth)
{
    const struct jfr_check_class *class = &c->classes[class_id];
    uint64_t length;

    if (depth > JFR_CHECK_NESTING_MAX) {
        jfr_check_blame(c, "values nest too deep");
    } else if (is_pooled) {
        const uint64_t key = jfr_check_varint(c);

        if (c->is_resolving && key != 0 && known_constant(c, class_id, key) == NULL)
            jfr_check_blame(c, "%s %llu is not defined", class->name, (unsigned long long)key);
    } else if (strcmp(class->name, "java.lang.String") == 0) {
        jfr_check_text(c, &length);
    } else if (strcmp(class->name, "boolean") == 0) {
        if (jfr_check_u8(c) > 1)
            jfr_check_blame(c, "a boolean that is neither 0 nor 1");
    } else if (strcmp(class->name, "byte") == 0) {
        jfr_check_u8(c);
    } else if (strcmp(class->name, "float") == 0) {
        jfr_check_take(c, 4);
    } else if (strcmp(class->name, "double") == 0) {
        jfr_check_take(c, 8);
    } else if (class->field_count == 0) {
        const uint64_t value = jfr_check_varint(c);

        if (strcmp(class->name, "int") == 0 && value > UINT32_MAX)
            jfr_check_blame(c, "an int of more than 32 bits");
    } else {
        get_fields(c, class, depth);
    }
}

static void define_constant(struct jfr_checker *c, unsigned type)
{
    if (c->constant_used * 2 >= c->constant_capacity)
        grow_constants(c);

    const uint64_t key = jfr_check_varint(c);
    const unsigned char *begin = c->at;
    get_fields(c, &c->classes[type], 0);
    if (c->has_failed)
        return;

    const uint64_t hash = hash_bytes(begin, (size_t)(c->at - begin));
    struct jfr_check_constant *constant = find_constant(c, type, key);
    if (constant->type_and_key != 0 && constant->chunk == c->out->chunk_count)
        jfr_check_blame(c, "%s %llu is defined twice", c->classes[type].name,
                        (unsigned long long)key);
    if (constant->type_and_key != 0 && constant->hash != hash)
        jfr_check_blame(c, "%s %llu meant something else before", c->classes[type].name,
                        (unsigned long long)key);
    c->constant_used += constant->type_and_key == 0;
    *constant = (struct jfr_check_constant){key << 12 | type, hash, c->out->chunk_count, begin};
    c->out->constant_count++;
}

/* One checkpoint of the chain; returns how far behind the one before it begins. */
static int64_t read_checkpoint(struct jfr_checker *c, const unsigned char *at)
{
    const unsigned char *limit = c->end;

    c->at = at;
    const uint64_t size = jfr_check_varint(c);
    if (size > (uint64_t)(limit - at))
        jfr_check_blame(c, "a checkpoint is too long");
    else
        c->end = at + size;
    if (jfr_check_varint(c) != 1)
        jfr_check_blame(c, "the checkpoint chain leads to another event");
    jfr_check_varint(c);
    jfr_check_varint(c);
    const int64_t delta = (int64_t)jfr_check_varint(c);
    jfr_check_u8(c);
    const uint64_t pool_count = jfr_check_varint(c);
    for (uint64_t i = 0; i < pool_count && !c->has_failed; i++) {
        const uint64_t type = jfr_check_varint(c);
        const uint64_t count = jfr_check_varint(c);

        if (type >= JFR_CHECK_IDS_MAX || !c->classes[type].is_declared || count == 0)
            jfr_check_blame(c, "pool of class %llu is unknown or empty", (unsigned long long)type);
        for (uint64_t k = 0; k < count && !c->has_failed; k++)
            define_constant(c, (unsigned)type);
    }
    if (!c->has_failed && c->at != c->end)
        jfr_check_blame(c, "a checkpoint has bytes behind its pools");
    c->end = limit;
    c->out->checkpoint_count++;
    return delta;
}

static void read_checkpoints(struct jfr_checker *c, uint64_t offset)
{
    while (offset != 0 && !c->has_failed) {
        if (offset >= (uint64_t)(c->end - c->chunk)) {
            jfr_check_blame(c, "a checkpoint at %llu, outside the chunk",
                            (unsigned long long)offset);
            break;
        }

        const int64_t delta = read_checkpoint(c, c->chunk + offset);
        if (delta > 0 || (uint64_t)-delta > offset)
            jfr_check_blame(c, "a checkpoint delta of %lld", (long long)delta);
        if (delta == 0)
            break;
        offset -= (uint64_t)-delta;
    }
}

/* ---- what viewers rely on, beyond the layout ---- */

static unsigned class_named(const struct jfr_checker *c, const char *name)
{
    for (size_t k = 0; k < c->declared_count; k++)
        if (strcmp(c->classes[c->declared[k]].name, name) == 0)
            return c->declared[k];
    return 0;
}

/* Text of a symbol; "" when there is none. */
static void symbol_text(struct jfr_checker *c, unsigned type, uint64_t key, char *text,
                        size_t capacity)
{
    struct jfr_check_constant *symbol = key == 0 ? NULL : known_constant(c, type, key);

    text[0] = '\0';
    if (symbol == NULL)
        return;
    c->at = symbol->at;
    uint64_t length;
    const unsigned char *bytes = jfr_check_text(c, &length);
    if (bytes != NULL)
        snprintf(text, capacity, "%.*s", (int)length, (const char *)bytes);
}

static void check_class_constant(struct jfr_checker *c, const struct jfr_check_constant *constant)
{
    const unsigned symbols = class_named(c, "jdk.types.Symbol");
    const unsigned packages = class_named(c, "jdk.types.Package");
    char name[1024];
    char package[1024];

    c->at = constant->at;
    jfr_check_varint(c);
    const uint64_t name_key = jfr_check_varint(c);
    const uint64_t package_key = jfr_check_varint(c);
    symbol_text(c, symbols, name_key, name, sizeof name);
    if (name_key == 0)
        jfr_check_blame(c, "a class without a name");
    if (package_key == 0 || c->has_failed)
        return;

    c->at = known_constant(c, packages, package_key)->at;
    symbol_text(c, symbols, jfr_check_varint(c), package, sizeof package);
    const char *bare = name + strspn(name, "[");
    bare += bare != name && *bare == 'L';
    if (strncmp(bare, package, strlen(package)) != 0)
        jfr_check_blame(c, "class %s is not in its package %s", name, package);
}

/* Second look at all constants of this chunk: references and names. */
static void check_constants(struct jfr_checker *c)
{
    const unsigned classes = class_named(c, "java.lang.Class");
    const unsigned methods = class_named(c, "jdk.types.Method");

    c->is_resolving = true;
    for (size_t i = 0; i < c->constant_capacity && !c->has_failed; i++) {
        const struct jfr_check_constant *constant = &c->constants[i];
        const unsigned type = constant->type_and_key & 0xfff;

        if (constant->type_and_key == 0 || constant->chunk != c->out->chunk_count)
            continue;
        c->at = constant->at;
        get_fields(c, &c->classes[type], 0);
        if (type == classes && !c->has_failed)
            check_class_constant(c, constant);
        if (type == methods && !c->has_failed) {
            c->at = constant->at;
            if (jfr_check_varint(c) == 0)
                jfr_check_blame(c, "a method without a class");
        }
    }
}

/* ---- events ---- */

/* When an event happened, at its payload; one with a duration belongs where it ended. */
static uint64_t event_end(struct jfr_checker *c, const struct jfr_check_class *class)
{
    const uint64_t start = jfr_check_varint(c);

    return class->field_count > 1 && strcmp(class->fields[1].name, "duration") == 0
               ? start + jfr_check_varint(c)
               : start;
}

static void read_events(struct jfr_checker *c)
{
    const unsigned char *chunk_end = c->end;
    const unsigned char *event = c->chunk + 68;

    while (event < chunk_end && !c->has_failed) {
        c->at = event;
        c->end = chunk_end;
        const uint64_t size = jfr_check_varint(c);
        const uint64_t type = jfr_check_varint(c);

        if (size == 0) {
            jfr_check_blame(c, "an event of size 0");
            break;
        }
        if (type > 1) {
            if (size > (uint64_t)(chunk_end - event))
                jfr_check_blame(c, "an event reaches beyond its chunk");
            else
                c->end = event + size;
            if (type >= JFR_CHECK_IDS_MAX || !c->classes[type].is_event) {
                jfr_check_blame(c, "event of undeclared type %llu", (unsigned long long)type);
                break;
            }
            const unsigned char *payload = c->at;
            const uint64_t time = event_end(c, &c->classes[type]);
            if (time < c->start_ticks || time > c->end_ticks)
                jfr_check_blame(c, "%s at %llu lies outside its chunk (%llu to %llu)",
                                c->classes[type].name, (unsigned long long)time,
                                (unsigned long long)c->start_ticks,
                                (unsigned long long)c->end_ticks);
            c->at = c->has_failed ? c->end : payload;
            get_fields(c, &c->classes[type], 0);
            if (!c->has_failed && c->at != c->end)
                jfr_check_blame(c, "%s has bytes behind its fields", c->classes[type].name);
            c->out->event_count++;
            if (type < JFR_CHECK_TYPES_MAX)
                c->out->type_events[type]++;
        } else if (type == 1) {
            jfr_check_varint(c);
            jfr_check_varint(c);
            jfr_check_varint(c);
            jfr_check_u8(c);
            if (jfr_check_varint(c) == 0) {
                c->out->skipped_count++;
                c->out->skipped_bytes += size;
            }
        }
        event += size;
    }
    /* A padding may reach beyond its chunk while the next chunk is being committed. */
    c->end = chunk_end;
}

static size_t read_chunk(struct jfr_checker *c, const unsigned char *bytes, size_t left_bytes)
{
    c->chunk = c->at = bytes;
    c->end = bytes + left_bytes;
    c->out->chunk_count++;
    if (left_bytes < 68 || memcmp(bytes, "FLR", 4) != 0) {
        jfr_check_blame(c, "no chunk begins here");
        return 0;
    }

    const uint64_t size = big_endian(bytes + 8, 8);
    const uint64_t start = big_endian(bytes + 48, 8);
    const uint64_t duration = big_endian(bytes + 40, 8);
    const uint64_t rate = big_endian(bytes + 56, 8);
    if (size < 68 || size > left_bytes || size > INT32_MAX)
        jfr_check_blame(c, "chunk size %llu of %zu", (unsigned long long)size, left_bytes);
    if (big_endian(bytes + 4, 4) != 0x20001 || (rate != 1000000000 && rate != 1000000000 >> 9))
        jfr_check_blame(c, "version or clock");
    if (bytes[64] != 0 || bytes[65] != 0 || bytes[66] != 0 || (bytes[67] & ~3u) != 0 ||
        (bytes[67] & 1) == 0)
        jfr_check_blame(c, "state or flags");
    if (duration == 0 || duration > INT64_MAX)
        jfr_check_blame(c, "duration %llu", (unsigned long long)duration);
    if (c->out->chunk_count > 1 && start <= c->out->last_start_ticks)
        jfr_check_blame(c, "starts no later than the chunk before");
    if (c->out->chunk_count == 1)
        c->out->first_start_ticks = start;
    c->out->last_start_ticks = start;
    c->out->last_duration_ns = duration;
    c->out->is_final = (bytes[67] & 2) != 0;
    c->out->final_count += c->out->is_final;
    if (c->has_failed)
        return 0;

    c->start_ticks = start;
    /* A span that begins at a part of a tick may end in the tick behind. */
    c->end_ticks = start + (rate == 1000000000 ? duration : (duration >> 9) + 1);
    c->end = bytes + size;
    c->is_resolving = false;
    const uint64_t metadata = big_endian(bytes + 24, 8);
    if (metadata < 68 || metadata >= size)
        jfr_check_blame(c, "metadata at %llu", (unsigned long long)metadata);
    else
        jfr_check_metadata(c, bytes + metadata);
    /* jdk.jfr reads offset 0 as "none" in the first chunk only. */
    if (big_endian(bytes + 16, 8) == 0)
        jfr_check_blame(c, "no checkpoint");
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
    struct jfr_checker c = {.out = out};

    memset(out, 0, sizeof *out);
    out->file_bytes = length_bytes;
    c.classes = calloc(JFR_CHECK_IDS_MAX, sizeof c.classes[0]);
    grow_constants(&c);
    if (length_bytes == 0)
        jfr_check_blame(&c, "the file is empty");
    for (size_t at = 0; at < length_bytes && !c.has_failed;)
        at += read_chunk(&c, bytes + at, length_bytes - at);
    jfr_check_forget_classes(&c);
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
