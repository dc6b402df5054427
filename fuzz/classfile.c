/*
 * Any bytes as a class: what is read is written again the same, and with a call at every place it is a class that this room
 * reads and writes again the same, too.
 * tests/unit/classfile/test_classfile_damage.c drives the same check with damaged classes.
 */
/* s18: a class comes from anybody. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "classfile/classfile_rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CLASS_LIMIT_BYTES (64u << 10)

static void insert(void *context, const struct classfile_site *site,
                   struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    uint32_t *sites = context;

    ++*sites;
    if (site->has_this) {
        classfile_put_op(snippet, 42, 1); /* aload_0 */
        classfile_put_op(snippet, 87, 1); /* pop */
    }
    classfile_put_int(snippet, (int32_t)(site->pc * 7), additions, 1);
    classfile_put_call(snippet, classfile_add_method(additions, "x/Hooks", "at", "(I)V"));
}

/* NULL, or what is wrong. */
static const char *same_again(const uint8_t *bytes, uint32_t length_bytes,
                              struct classfile_memory *memory, bool is_strict)
{
    const struct classfile_plan plan = {.rewrites_all = true};
    struct classfile file;
    struct classfile_rewritten out;

    memory->used_bytes = 0;
    if (classfile_read(bytes, length_bytes, memory, &file) != CLASSFILE_OK)
        return is_strict ? "what was written is not read" : NULL;

    const enum classfile_verdict verdict = classfile_rewrite(&file, &plan, memory, &out);
    if (verdict != CLASSFILE_OK && verdict != CLASSFILE_BAD_BOOTSTRAP)
        return "a class was refused as a whole";
    if (out.length_bytes != length_bytes || memcmp(out.bytes, bytes, length_bytes) != 0)
        return "not the same";
    return NULL;
}

/* NULL, or what is wrong; `sites` is what was put in. */
static const char *classfile_defect(const uint8_t *bytes, uint32_t length_bytes, uint32_t *sites)
{
    static uint32_t places[65536];
    static struct classfile_memory memory, other;
    struct classfile_plan plan = {.places = places, .insert = insert, .context = sites};
    struct classfile file;
    struct classfile_rewritten out;

    *sites = 0;
    if (memory.bytes == NULL) {
        memory.capacity_bytes = other.capacity_bytes =
            classfile_memory_bytes(CLASS_LIMIT_BYTES * 4);
        memory.bytes = malloc(memory.capacity_bytes);
        other.bytes = malloc(other.capacity_bytes);
        for (size_t i = 0; i < 65536; i++)
            places[i] = (1u << CLASSFILE_PLACE_LIMIT) - 1;
    }

    const char *defect = same_again(bytes, length_bytes, &other, false);
    if (defect != NULL)
        return defect;
    memory.used_bytes = 0;
    if (classfile_read(bytes, length_bytes, &memory, &file) != CLASSFILE_OK)
        return NULL;
    if (classfile_rewrite(&file, &plan, &memory, &out) != CLASSFILE_OK)
        return out.bytes == bytes ? NULL : "refused, and something else came out";
    for (uint32_t i = 0; i < file.method_count; i++) {
        if (out.methods[i].verdict != CLASSFILE_OK && out.methods[i].sites != 0)
            return "a method was refused and has code of ours";
    }
    return same_again(out.bytes, out.length_bytes, &other, out.is_changed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t sites;

    if (size <= CLASS_LIMIT_BYTES && classfile_defect(data, (uint32_t)size, &sites) != NULL)
        abort();
    return 0;
}
