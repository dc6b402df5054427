/*
 * Interning: texts, names and frames get one number each. Context: dump, tool.
 *
 * Equal texts share one pointer, so that names are hashed and compared by pointers and numbers.
 */
#include "profile/profile_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

#define PROFILE_BLOCK_BYTES 65536u
#define PROFILE_INDEX_FIRST 256u
#define PROFILE_TEXT_LIMIT_BYTES                                                                   \
    65536u /* a longer text is cut: names in class files end there, too */

uint32_t profile_index_find(const struct profile_index *index, uint32_t hash, profile_equal *equal,
                            const void *context, const void *key)
{
    if (index->slot_count == 0)
        return PROFILE_ABSENT;

    const uint32_t mask = index->slot_count - 1;
    for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
        const struct profile_slot *slot = &index->slots[at];

        if (slot->item_plus_one == 0) /* never full: profile_index_add keeps a quarter free */
            return PROFILE_ABSENT;
        if (slot->hash == hash && equal(context, slot->item_plus_one - 1, key))
            return slot->item_plus_one - 1;
    }
}

static void profile_index_place(struct profile_slot *slots, uint32_t mask, struct profile_slot slot)
{
    uint32_t at = slot.hash & mask;

    while (slots[at].item_plus_one != 0)
        at = (at + 1) & mask;
    slots[at] = slot;
}

static bool profile_index_grow(struct profile_index *index)
{
    const uint32_t count = index->slot_count == 0 ? PROFILE_INDEX_FIRST : index->slot_count * 2;
    if (count == 0) /* past 2^31 slots */
        return false;

    struct profile_slot *slots = jw_alloc(jw_mul_bytes(count, sizeof *slots));
    if (slots == NULL)
        return false;
    for (uint32_t i = 0; i < index->slot_count; i++) {
        if (index->slots[i].item_plus_one != 0)
            profile_index_place(slots, count - 1, index->slots[i]);
    }
    jw_free(index->slots);
    index->slots = slots;
    index->slot_count = count;
    return true;
}

bool profile_index_add(struct profile_index *index, uint32_t hash, uint32_t item)
{
    const bool is_crowded = index->used_count >= index->slot_count / 4 * 3;

    if (is_crowded && !profile_index_grow(index))
        return false;
    profile_index_place(index->slots, index->slot_count - 1,
                        (struct profile_slot){.hash = hash, .item_plus_one = item + 1});
    index->used_count++;
    return true;
}

void profile_index_free(struct profile_index *index)
{
    jw_free(index->slots);
    *index = (struct profile_index){0};
}

bool profile_reserve(struct profile *profile, void **array, uint32_t *capacity, uint32_t used,
                     size_t element_bytes)
{
    if (used < *capacity)
        return true;

    const uint32_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    void *grown = wanted > *capacity && wanted != PROFILE_ABSENT
                      ? jw_realloc(*array, jw_mul_bytes(wanted, element_bytes))
                      : NULL;
    if (grown == NULL) {
        profile->is_out_of_memory = true;
        return false;
    }
    *array = grown;
    *capacity = wanted;
    return true;
}

/* Bytes for a text of this length and its end, in the current block or a new one. */
static char *profile_block_take(struct profile *profile, size_t size_bytes)
{
    struct profile_block *block = profile->blocks;

    if (block == NULL || block->capacity_bytes - block->used_bytes < size_bytes) {
        const size_t capacity_bytes =
            size_bytes > PROFILE_BLOCK_BYTES ? size_bytes : PROFILE_BLOCK_BYTES;

        block = jw_alloc(sizeof *block + capacity_bytes);
        if (block == NULL) {
            profile->is_out_of_memory = true;
            return NULL;
        }
        block->capacity_bytes = capacity_bytes;
        block->next = profile->blocks;
        profile->blocks = block;
        profile->blocks_bytes += sizeof *block + capacity_bytes;
    }
    char *taken = block->bytes + block->used_bytes;
    block->used_bytes += size_bytes;
    return taken;
}

struct profile_text_key {
    const char *text;
    size_t length_bytes;
};

static bool profile_text_equals(const void *context, uint32_t item, const void *key)
{
    const struct profile *profile = context;
    const struct profile_text_key *wanted = key;
    const char *text = profile->texts[item];

    return strncmp(text, wanted->text, wanted->length_bytes) == 0 &&
           text[wanted->length_bytes] == '\0';
}

const char *profile_text(struct profile *profile, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return "";

    const struct profile_text_key key = {text, strnlen(text, PROFILE_TEXT_LIMIT_BYTES)};
    const uint32_t hash = jw_hash32(text, key.length_bytes);
    uint32_t item =
        profile_index_find(&profile->text_index, hash, profile_text_equals, profile, &key);
    if (item != PROFILE_ABSENT)
        return profile->texts[item];

    void *texts = profile->texts;
    if (!profile_reserve(profile, &texts, &profile->text_capacity, profile->text_count,
                         sizeof *profile->texts))
        return "";
    profile->texts = texts;

    char *copy = profile_block_take(profile, key.length_bytes + 1);
    item = profile->text_count;
    if (copy == NULL || !profile_index_add(&profile->text_index, hash, item)) {
        profile->is_out_of_memory = true;
        return "";
    }
    memcpy(copy, text, key.length_bytes);
    copy[key.length_bytes] = '\0';
    profile->texts[item] = copy;
    profile->text_count++;
    return copy;
}

static bool profile_name_equals(const void *context, uint32_t item, const void *key)
{
    const struct profile_name *left = &((const struct profile_names *)context)->items[item];
    const struct profile_name *right = key;

    /* Interned: equal texts have equal addresses; "" may be any of several. */
    return left->kind == right->kind && left->line == right->line &&
           left->method == right->method && left->class_name == right->class_name &&
           left->signature == right->signature && left->module == right->module;
}

uint32_t profile_intern_name(struct profile *profile, struct profile_names *names,
                             const struct profile_name *wanted)
{
    static const char empty[] = "";
    struct profile_name name = *wanted;
    const char **const parts[] = {&name.class_name, &name.method, &name.signature, &name.module};
    uint64_t hash = (uint64_t)name.kind << 32 | (uint32_t)name.line;

    for (size_t i = 0; i < JW_COUNT_OF(parts); i++) {
        const char *text = profile_text(profile, *parts[i]);

        *parts[i] = text[0] == '\0' ? empty : text;
        hash = jw_hash_word(hash ^ (uint64_t)(uintptr_t)*parts[i]) + i;
    }
    if (profile->is_out_of_memory)
        return PROFILE_ABSENT;

    uint32_t item =
        profile_index_find(&names->index, (uint32_t)hash, profile_name_equals, names, &name);
    if (item != PROFILE_ABSENT)
        return item;

    void *items = names->items;
    if (!profile_reserve(profile, &items, &names->capacity, names->count, sizeof *names->items))
        return PROFILE_ABSENT;
    names->items = items;
    item = names->count;
    if (!profile_index_add(&names->index, (uint32_t)hash, item)) {
        profile->is_out_of_memory = true;
        return PROFILE_ABSENT;
    }
    names->items[item] = name;
    names->count++;
    return item;
}

void profile_names_free(struct profile_names *names)
{
    profile_index_free(&names->index);
    jw_free(names->items);
    *names = (struct profile_names){0};
}

/* C++ or plain C? Symbols of C++ are told by their shape, those of the JVM by their library. */
static enum profile_name_kind profile_native_kind(const char *symbol, const char *module)
{
    const bool is_cpp = strstr(symbol, "::") != NULL || strncmp(symbol, "operator ", 9) == 0 ||
                        strncmp(symbol, "_Z", 2) == 0 || strncmp(module, "libjvm.", 7) == 0;

    return is_cpp ? PROFILE_NAME_CPP : PROFILE_NAME_NATIVE;
}

static void profile_classify(const struct profile_frame *frame, enum profile_name_kind *kind,
                             enum profile_tier *tier)
{
    static const enum profile_tier tiers[] = {
        [PROFILE_FRAME_INTERPRETED] = PROFILE_TIER_INTERPRETED,
        [PROFILE_FRAME_COMPILED] = PROFILE_TIER_COMPILED,
        [PROFILE_FRAME_INLINED] = PROFILE_TIER_INLINED,
        [PROFILE_FRAME_JAVA_NATIVE] = PROFILE_TIER_NATIVE,
        [PROFILE_FRAME_C1] = PROFILE_TIER_C1,
    };

    *tier = PROFILE_TIER_LIMIT;
    switch (frame->type) {
    case PROFILE_FRAME_INTERPRETED:
    case PROFILE_FRAME_COMPILED:
    case PROFILE_FRAME_INLINED:
    case PROFILE_FRAME_JAVA_NATIVE:
    case PROFILE_FRAME_C1:
        *kind = PROFILE_NAME_JAVA;
        *tier = tiers[frame->type];
        return;
    case PROFILE_FRAME_NATIVE:
        *kind = profile_native_kind(frame->method == NULL ? "" : frame->method,
                                    frame->module == NULL ? "" : frame->module);
        return;
    case PROFILE_FRAME_KERNEL:
        *kind = PROFILE_NAME_KERNEL;
        return;
    case PROFILE_FRAME_CLASS:
        *kind = PROFILE_NAME_CLASS;
        return;
    case PROFILE_FRAME_COMPILING:
        *kind = PROFILE_NAME_COMPILATION;
        return;
    case PROFILE_FRAME_MARK:
    case PROFILE_FRAME_ADDRESS:
    case PROFILE_FRAME_TYPE_LIMIT:
        break;
    }
    *kind = PROFILE_NAME_MARK;
}

static bool profile_seen_equals(const void *context, uint32_t item, const void *key)
{
    const struct profile *profile = context;
    const struct profile_seen *wanted = key;

    return profile->seen[item].name == wanted->name && profile->seen[item].tier == wanted->tier;
}

profile_frame_id profile_intern_seen(struct profile *profile, struct profile_seen wanted)
{
    const uint64_t hash = jw_hash_word((uint64_t)wanted.name << 8 | wanted.tier);
    uint32_t item = profile_index_find(&profile->seen_index, (uint32_t)hash, profile_seen_equals,
                                       profile, &wanted);
    if (item != PROFILE_ABSENT)
        return item + 1;

    void *seen = profile->seen;
    if (!profile_reserve(profile, &seen, &profile->seen_capacity, profile->seen_count,
                         sizeof *profile->seen))
        return PROFILE_FRAME_NONE;
    profile->seen = seen;
    item = profile->seen_count;
    if (!profile_index_add(&profile->seen_index, (uint32_t)hash, item)) {
        profile->is_out_of_memory = true;
        return PROFILE_FRAME_NONE;
    }
    profile->seen[item] = wanted;
    profile->seen_count++;
    return item + 1;
}

static bool profile_is_of_class(enum profile_name_kind kind)
{
    return kind == PROFILE_NAME_JAVA || kind == PROFILE_NAME_CLASS ||
           kind == PROFILE_NAME_COMPILATION;
}

struct profile_name profile_name_of_frame(const struct profile_frame *frame,
                                          enum profile_tier *tier)
{
    struct profile_name name = {.method = frame->method};

    profile_classify(frame, &name.kind, tier);
    if (profile_is_of_class(name.kind)) {
        name.class_name = frame->class_name;
        name.signature = frame->signature;
    } else if (name.kind != PROFILE_NAME_MARK) {
        name.module = frame->module;
    }
    return name;
}

profile_frame_id profile_frame(struct profile *profile, const struct profile_frame *frame)
{
    enum profile_tier tier;

    if (profile->is_out_of_memory)
        return PROFILE_FRAME_NONE;

    struct profile_name name = profile_name_of_frame(frame, &tier);
    if (profile_is_of_class(name.kind))
        name.line = profile->config.split_lines && frame->line > 0 ? frame->line : 0;

    const uint32_t item = profile_intern_name(profile, &profile->names, &name);
    if (item == PROFILE_ABSENT)
        return PROFILE_FRAME_NONE;
    return profile_intern_seen(profile, (struct profile_seen){.name = item, .tier = tier});
}

static bool profile_is_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static profile_frame_id profile_root(struct profile *profile, const struct profile_name *name)
{
    if (profile->is_out_of_memory)
        return PROFILE_FRAME_NONE;

    const uint32_t item = profile_intern_name(profile, &profile->names, name);
    if (item == PROFILE_ABSENT)
        return PROFILE_FRAME_NONE;
    return profile_intern_seen(profile,
                               (struct profile_seen){.name = item, .tier = PROFILE_TIER_LIMIT});
}

profile_frame_id profile_thread(struct profile *profile, const struct profile_thread *thread)
{
    static const struct profile_thread unknown = {.java_name = "no thread"};
    const struct profile_thread *told = thread == NULL ? &unknown : thread;
    const char *name = profile_is_given(told->java_name) ? told->java_name : told->os_name;
    const bool is_virtual = told->virtual_id != 0;
    const long long number = is_virtual ? told->virtual_id : told->os_thread_id;
    const char *const what = is_virtual ? "virtual" : "tid";
    char text[256];

    if (profile_is_given(name) && number > 0)
        snprintf(text, sizeof text, "[%.200s %s=%lld]", name, what, number);
    else if (profile_is_given(name))
        snprintf(text, sizeof text, "[%.200s]", name);
    else
        snprintf(text, sizeof text, "[%s=%lld]", what, number);

    return profile_root(profile,
                        &(struct profile_name){.kind = PROFILE_NAME_THREAD, .method = text});
}

profile_frame_id profile_value(struct profile *profile, const struct profile_value *value)
{
    static const struct {
        enum profile_name_kind kind;
        const char *lacked;
    } dimensions[] = {
        [PROFILE_DIMENSION_ENDPOINT] = {PROFILE_NAME_ENDPOINT, "endpoint"},
        [PROFILE_DIMENSION_OPERATION] = {PROFILE_NAME_OPERATION, "operation"},
        [PROFILE_DIMENSION_ATTRIBUTE] = {PROFILE_NAME_ATTRIBUTE, "attribute"},
    };
    struct profile_name name = {.kind = PROFILE_NAME_MISSING};

    if (value->value == NULL) {
        name.method =
            profile_is_given(value->name) ? value->name : dimensions[value->dimension].lacked;
    } else {
        name.kind = dimensions[value->dimension].kind;
        name.class_name = name.kind == PROFILE_NAME_ATTRIBUTE ? value->name : NULL;
        name.method = value->value;
    }
    return profile_root(profile, &name);
}
