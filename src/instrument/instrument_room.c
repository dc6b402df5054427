/*
 * Memory to read classes in and to write them, as much of it as a class touches within memlimit. Context: hook, the agent's thread.
 */
#include "instrument/instrument_internal.h"

#include "base/memory.h"

/* Of the whole: a recording that finds no memory ends, and a class that is not written again does no such harm. */
#define LEFT_TO_OTHERS_BYTES ((uint64_t)4 << 20)

static size_t rounded(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

static bool charge(uint64_t bytes)
{
    return jw_memory_room_bytes() >= bytes + LEFT_TO_OTHERS_BYTES &&
           jw_memory_charge(JW_MEMORY_WRITING, bytes);
}

bool instrument_room_open(struct instrument_room *room, size_t length_bytes, size_t more_bytes)
{
    const size_t memory_bytes = rounded(classfile_memory_bytes(length_bytes));

    *room = (struct instrument_room){.bytes = memory_bytes + more_bytes,
                                     .charged_bytes =
                                         classfile_touched_bytes(length_bytes) + more_bytes};
    if (!charge(room->charged_bytes))
        return false;
    room->memory.bytes = jw_memory_map(JW_MEMORY_WRITING, room->bytes);
    room->memory.capacity_bytes = memory_bytes;
    if (room->memory.bytes != NULL) {
        room->more = room->memory.bytes + memory_bytes;
        return true;
    }
    jw_memory_credit(JW_MEMORY_WRITING, room->charged_bytes);
    return false;
}

void instrument_room_close(struct instrument_room *room)
{
    jw_memory_unmap(room->memory.bytes, room->bytes);
    jw_memory_credit(JW_MEMORY_WRITING, room->charged_bytes);
}
