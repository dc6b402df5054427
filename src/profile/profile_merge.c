/* One profile into another, as if its stacks had been added there. Context: tool. */
#include <string.h>

#include "profile/profile_internal.h"

/* What ids of frames mean in the other profile. False: no memory. */
static bool map_frames(struct profile *into, const struct profile *from, profile_frame_id *frames)
{
    uint32_t *names = jw_alloc(jw_mul_bytes(from->names.count, sizeof *names));

    if (names == NULL)
        return false;
    for (uint32_t i = 0; i < from->names.count; i++)
        names[i] = profile_intern_name(into, &into->names, &from->names.items[i]);
    frames[0] = PROFILE_FRAME_NONE;
    for (uint32_t i = 0; i < from->seen_count && !into->is_out_of_memory; i++)
        frames[i + 1] =
            profile_intern_seen(into, (struct profile_seen){.name = names[from->seen[i].name],
                                                            .tier = from->seen[i].tier});
    jw_free(names);
    return !into->is_out_of_memory;
}

uint32_t profile_stack_count(const struct profile *profile)
{
    return profile->branch_count;
}

bool profile_merge(struct profile *into, const struct profile *from, profile_stack_id *stacks)
{
    profile_frame_id *frames = jw_alloc(jw_mul_bytes((size_t)from->seen_count + 1, sizeof *frames));
    uint32_t *branches = jw_alloc(jw_mul_bytes(from->branch_count, 2 * sizeof *branches));
    uint32_t *depths = branches == NULL ? NULL : branches + from->branch_count;

    into->is_out_of_memory |= from->is_out_of_memory || frames == NULL || branches == NULL;
    if (!into->is_out_of_memory && map_frames(into, from, frames)) {
        /* A parent stands before its children: the root first. */
        for (uint32_t i = 0; i < from->branch_count && !into->is_out_of_memory; i++) {
            const struct profile_branch *branch = &from->branches[i];

            branches[i] =
                i == 0 ? 0 : profile_step(into, branches[branch->parent], frames[branch->frame]);
            depths[i] = i == 0 ? 0 : depths[branch->parent] + 1;
            if (branches[i] != PROFILE_ABSENT)
                profile_branch_add(into, branches[i], depths[i], branch->self_samples,
                                   branch->self_weight);
        }
    }
    if (stacks != NULL && !into->is_out_of_memory)
        memcpy(stacks, branches, from->branch_count * sizeof *stacks);
    jw_free(frames);
    jw_free(branches);
    return !into->is_out_of_memory;
}
