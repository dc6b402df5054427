/* Return addresses that were walked before; handler. */
#include "walk/walk_vm_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/*
 * True when the blob that was there is there still. Its address is that of a block's beginning, as the
 * segment map says now, so what is read is a blob's head; the number of a compilation is given once.
 */
static JW_SIGNAL_SAFE bool is_same_blob(const struct walk_vm *walk, const struct walk_cached *entry)
{
    struct vm_code_ref ref;
    uint32_t compile_id;

    return vm_code_map_find(&walk->map, entry->blob, &ref) && ref.blob == entry->blob &&
           ref.place == VM_PLACE_NMETHOD && vm_nmethod_compile_id(entry->blob, &compile_id) &&
           compile_id == entry->compile_id &&
           vm_nmethod_method(entry->blob) == entry->methods[entry->frame_count - 1];
}

bool walk_vm_cache_renew(const struct walk_vm *walk, struct walk_cached *entry)
{
    if (entry->frame_words == 0 || !is_same_blob(walk, entry))
        return false;
    entry->stamp = walk->cache->stamp;
    return true;
}

void walk_vm_cache_put(const struct walk_vm *walk, vm_addr blob, uint32_t first)
{
    const uint32_t count = walk->frame_count - first;
    const size_t frame_words = vm_code_frame_bytes(blob) / WORD_BYTES;
    uint32_t compile_id;

    if (walk->cache == NULL || count == 0 || count > WALK_CACHED_FRAMES || frame_words == 0 ||
        frame_words > UINT8_MAX || !vm_nmethod_compile_id(blob, &compile_id))
        return;

    struct walk_cached *entry = walk_vm_cache_entry(walk->cache, walk->regs.pc);
    for (uint32_t i = 0; i < count; i++) {
        if (walk->frames[first + i].bci < 0)
            return;
    }
    *entry = (struct walk_cached){
        .pc = walk->regs.pc,
        .blob = blob,
        .compile_id = compile_id,
        .stamp = walk->cache->stamp,
        .frame_count = (uint8_t)count,
        .frame_words = (uint8_t)frame_words,
    };
    for (uint32_t i = 0; i < count; i++) {
        entry->methods[i] = (vm_addr)walk->frames[first + i].method;
        entry->bcis[i] = (uint16_t)walk->frames[first + i].bci;
    }
}

void walk_vm_cache_forget(const struct walk_vm *walk)
{
    for (uint32_t i = 0; walk->cache != NULL && i < WALK_CACHE_COUNT; i++) {
        if (walk->cache->entries[i].stamp == walk->cache->stamp)
            walk->cache->entries[i].frame_words = 0;
    }
}
