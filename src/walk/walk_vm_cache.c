/* Return addresses that were walked before; handler. */
#include <string.h>

#include "walk/walk_vm_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

bool walk_vm_cache_renew(const struct walk_vm *walk, struct walk_cached *entry)
{
    if (entry->frame_words == 0)
        return false;

    struct walk_log *log = &walk->cache->log;
    const vm_addr method = (vm_addr)entry->frames[entry->frame_count - 1].method;
    const uint16_t known = walk_vm_find_pin(log, entry->blob);

    /* Most often it is pinned. */
    if (known != WALK_NO_PIN) {
        const struct walk_pin *pin = &log->pins[known];

        if (pin->method != method || pin->compile_id != entry->compile_id ||
            pin->place != VM_PLACE_NMETHOD)
            return false;
        entry->pin = known;
    } else {
        const struct walk_pin pin = {
            .blob = entry->blob,
            .method = method,
            .compile_id = entry->compile_id,
            .place = VM_PLACE_NMETHOD,
        };

        if (!walk_vm_pin_again(walk, &pin, &entry->pin))
            return false;
    }
    entry->stamp = walk->cache->stamp;
    return true;
}

void walk_vm_cache_put(const struct walk_vm *walk, uint16_t pin, uint32_t first)
{
    const uint32_t count = walk->frame_count - first;

    if (pin == WALK_NO_PIN || count == 0 || count > WALK_CACHED_FRAMES)
        return;

    const struct walk_pin *pinned = &walk->cache->log.pins[pin];
    const size_t frame_words = vm_code_frame_bytes(pinned->blob) / WORD_BYTES;
    if (frame_words < 2 || frame_words > UINT16_MAX)
        return;

    struct walk_cached *entry = walk_vm_cache_entry(walk->cache, walk->regs.pc);
    *entry = (struct walk_cached){
        .pc = walk->regs.pc,
        .blob = pinned->blob,
        .compile_id = pinned->compile_id,
        .stamp = walk->cache->stamp,
        .pin = pin,
        .frame_count = (uint8_t)count,
        .frame_words = (uint16_t)frame_words,
    };
    memcpy(entry->frames, &walk->frames[first], count * sizeof entry->frames[0]);
}

void walk_vm_cache_put_anchor(const struct walk_vm *walk, const struct arch_regs *caller)
{
    if (walk->position != WALK_AT_ANCHOR || walk->cache == NULL || vm_computes_by_x87())
        return;

    struct walk_cached *entry = walk_vm_cache_entry(walk->cache, walk->regs.pc);
    const size_t saved_bytes = walk_vm_saved_bytes(walk);
    if (entry->pc == walk->regs.pc && entry->stamp == walk->cache->stamp &&
        entry->frame_words != 0 && saved_bytes / WORD_BYTES < UINT8_MAX &&
        caller->sp - walk->regs.sp == entry->frame_words * WORD_BYTES + saved_bytes)
        entry->saved_words = (uint8_t)(saved_bytes / WORD_BYTES + 1);
}

void walk_vm_cache_forget(const struct walk_vm *walk)
{
    for (uint32_t i = 0; walk->cache != NULL && i < WALK_CACHE_COUNT; i++) {
        if (walk->cache->entries[i].stamp == walk->cache->stamp)
            walk->cache->entries[i].frame_words = 0;
    }
}
