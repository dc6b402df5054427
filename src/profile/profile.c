/*
 * Feeding a profile: stacks become branches of a tree, from the root, with what each ends in.
 * Context: dump, tool.
 */
#include "profile/profile.h"

#include <string.h>

#include "base/frame.h"
#include "base/hash.h"
#include "profile/profile_internal.h"

/* Of drawing: buffers of the page; a name with its texts as a view has it, twice, and its order. */
#define DRAWING_FIXED_BYTES ((uint64_t)1 << 20)
#define DRAWING_NAME_BYTES  ((uint64_t)512)

#define PROFILE_STEP_SLOTS_FIRST 256u

struct profile *profile_open(const struct profile_config *config, struct jw_error *err)
{
    struct profile *profile = jw_alloc(sizeof *profile);
    const struct profile_name root = {.kind = PROFILE_NAME_ROOT, .method = "all"};

    if (profile == NULL)
        goto fail;
    profile->config = *config;

    void *branches = NULL;
    if (!profile_reserve(profile, &branches, &profile->branch_capacity, 0,
                         sizeof *profile->branches))
        goto fail;
    profile->branches = branches;
    profile->branches[0] = (struct profile_branch){0};
    profile->branch_count = 1;
    if (profile_intern_name(profile, &profile->names, &root) != 0)
        goto fail;
    profile->about =
        (struct profile_about){.title = "", .event = "", .left_out = "", .unit = "samples"};
    return profile;

fail:
    profile_close(profile);
    jw_error_set(err, "profile: out of memory; free some and try again");
    return NULL;
}

void profile_close(struct profile *profile)
{
    if (profile == NULL)
        return;
    for (struct profile_block *block = profile->blocks, *next; block != NULL; block = next) {
        next = block->next;
        jw_free(block);
    }
    profile_index_free(&profile->text_index);
    profile_index_free(&profile->seen_index);
    jw_free(profile->steps);
    jw_free(profile->path);
    jw_free(profile->texts);
    profile_names_free(&profile->names);
    jw_free(profile->seen);
    jw_free(profile->branches);
    jw_free(profile->losses);
    jw_free(profile->cpus);
    jw_free(profile->nodes);
    jw_free(profile->stack_nodes);
    jw_free(profile->sealed_names);
    jw_free(profile);
}

void profile_set_about(struct profile *profile, const struct profile_about *about)
{
    profile->about = *about;
    profile->about.title = profile_text(profile, about->title);
    profile->about.event = profile_text(profile, about->event);
    profile->about.left_out = profile_text(profile, about->left_out);
    profile->about.unit = about->unit == NULL ? "samples" : profile_text(profile, about->unit);
}

static uint32_t profile_step_slot(const struct profile_step_slot *steps, uint32_t slots,
                                  uint32_t parent, profile_frame_id frame)
{
    uint32_t at = (uint32_t)jw_hash_word((uint64_t)parent << 32 | frame) & (slots - 1);

    while (steps[at].frame != PROFILE_FRAME_NONE &&
           (steps[at].frame != frame || steps[at].parent != parent))
        at = (at + 1) & (slots - 1);
    return at;
}

/* At most three quarters of the slots are taken, so that searches stay short and end. */
static bool profile_grow_steps(struct profile *profile)
{
    if (profile->step_count < profile->step_slots / 4 * 3)
        return true;

    const uint32_t slots =
        profile->step_slots == 0 ? PROFILE_STEP_SLOTS_FIRST : profile->step_slots * 2;
    struct profile_step_slot *steps =
        slots == 0 ? NULL : jw_alloc(jw_mul_bytes(slots, sizeof *steps));
    if (steps == NULL) {
        profile->is_out_of_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < profile->step_slots; i++) {
        const struct profile_step_slot *step = &profile->steps[i];

        if (step->frame != PROFILE_FRAME_NONE)
            steps[profile_step_slot(steps, slots, step->parent, step->frame)] = *step;
    }
    jw_free(profile->steps);
    profile->steps = steps;
    profile->step_slots = slots;
    return true;
}

/*
 * A branch that is added right after its parent stands right behind it: it is found there, and has no slot. Most branches are so, since those that one stack adds
 * stand in a row.
 */
uint32_t profile_step(struct profile *profile, uint32_t at, profile_frame_id frame)
{
    void *branches = profile->branches;
    const uint32_t next = at + 1;
    const bool is_last = next == profile->branch_count; /* it has no children yet */

    if (!is_last && profile->branches[next].parent == at && profile->branches[next].frame == frame)
        return next;
    if (!is_last && profile->step_count != 0) {
        const struct profile_step_slot *step =
            &profile->steps[profile_step_slot(profile->steps, profile->step_slots, at, frame)];

        if (step->frame != PROFILE_FRAME_NONE)
            return step->branch;
    }
    if ((!is_last && !profile_grow_steps(profile)) ||
        !profile_reserve(profile, &branches, &profile->branch_capacity, profile->branch_count,
                         sizeof *profile->branches))
        return PROFILE_ABSENT;
    profile->branches = branches;

    const uint32_t branch = profile->branch_count++;
    profile->branches[branch] = (struct profile_branch){.parent = at, .frame = frame};
    if (!is_last) {
        profile->steps[profile_step_slot(profile->steps, profile->step_slots, at, frame)] =
            (struct profile_step_slot){.parent = at, .frame = frame, .branch = branch};
        profile->step_count++;
    }
    return branch;
}

/* On from `at`, `*depth` steps below the root, by these frames; as long as they are those of the stack before, by its way. */
static uint32_t profile_walk(struct profile *profile, uint32_t at, const profile_frame_id *frames,
                             size_t count, bool is_from_leaf, uint32_t *depth)
{
    for (size_t i = 0; i < count; i++) {
        const profile_frame_id frame = frames[is_from_leaf ? count - 1 - i : i];
        void *path = profile->path;

        if (frame == PROFILE_FRAME_NONE || frame > profile->seen_count)
            continue;
        if (*depth < profile->path_count && profile->path[*depth].frame == frame) {
            at = profile->path[(*depth)++].branch;
            continue;
        }
        profile->path_count = *depth; /* here the ways part */
        if (!profile_reserve(profile, &path, &profile->path_capacity, profile->path_count,
                             sizeof *profile->path))
            return PROFILE_ABSENT;
        profile->path = path;
        at = profile_step(profile, at, frame);
        if (at == PROFILE_ABSENT)
            return at;
        profile->path[(*depth)++] = (struct profile_path_step){frame, at};
        profile->path_count = *depth;
    }
    return at;
}

void profile_branch_add(struct profile *profile, uint32_t branch, uint32_t depth, uint64_t samples,
                        uint64_t weight)
{
    struct profile_branch *at = &profile->branches[branch];

    if (samples == 0 && weight == 0)
        return;
    if (at->self_samples == 0 && at->self_weight == 0) {
        profile->listed_stacks++;
        profile->listed_frames += (uint64_t)depth + 1;
    }
    at->self_samples += samples;
    at->self_weight += weight;
    profile->samples += samples;
}

profile_stack_id profile_way_begin(struct profile *profile, const struct profile_stack *stack,
                                   uint32_t *depth)
{
    const struct profile_frame mark = {.type = PROFILE_FRAME_MARK,
                                       .method = jw_mark_text(JW_MARK_TRUNCATED)};
    const profile_frame_id cut =
        stack->is_truncated ? profile_frame(profile, &mark) : PROFILE_FRAME_NONE;
    const size_t root_count =
        stack->root_count < PROFILE_ROOTS_LIMIT ? stack->root_count : PROFILE_ROOTS_LIMIT;

    *depth = 0;
    if (profile->is_out_of_memory)
        return PROFILE_STACK_NONE;

    const uint32_t at = profile_walk(profile, 0, stack->roots, root_count, false, depth);
    return at == PROFILE_ABSENT ? PROFILE_STACK_NONE
                                : profile_walk(profile, at, &cut, 1, false, depth);
}

profile_stack_id profile_way_on(struct profile *profile, profile_stack_id at,
                                profile_frame_id frame, uint32_t *depth)
{
    if (frame == PROFILE_FRAME_NONE || frame > profile->seen_count)
        return at;
    ++*depth;
    return profile_step(profile, at, frame);
}

void profile_way_end(struct profile *profile, profile_stack_id at, uint32_t depth, uint64_t samples,
                     uint64_t weight)
{
    profile_branch_add(profile, at, depth, samples, weight);
}

void profile_way_ask(const struct profile *profile, profile_stack_id at)
{
    __builtin_prefetch(&profile->branches[at], 1);
}

profile_stack_id profile_add(struct profile *profile, const struct profile_stack *stack)
{
    uint32_t depth;
    uint32_t at = profile_way_begin(profile, stack, &depth);

    if (at != PROFILE_STACK_NONE)
        at = profile_walk(profile, at, stack->frames, stack->frame_count, true, &depth);
    if (at == PROFILE_ABSENT) /* marked: profile_seal refuses to show the rest */
        return PROFILE_STACK_NONE;
    profile_branch_add(profile, at, depth, stack->samples, stack->weight);
    return at;
}

void profile_signals(struct profile *profile, uint64_t signals, uint64_t samples)
{
    profile->has_trust = true;
    profile->trust_signals += signals;
    profile->trust_samples += samples;
}

void profile_loss(struct profile *profile, const char *name, const char *text, uint64_t count)
{
    size_t at = 0;
    int order = -1;

    if (count == 0)
        return;
    while (at < profile->loss_count && (order = strcmp(profile->losses[at].name, name)) < 0)
        at++;
    if (at < profile->loss_count && order == 0) {
        profile->losses[at].count += count;
        return;
    }
    if (profile->loss_count == profile->loss_capacity) {
        const size_t capacity = profile->loss_capacity == 0 ? 16 : profile->loss_capacity * 2;
        void *losses = jw_realloc(profile->losses, jw_mul_bytes(capacity, sizeof *profile->losses));

        if (losses == NULL) {
            profile->is_out_of_memory = true;
            return;
        }
        profile->losses = losses;
        profile->loss_capacity = capacity;
    }
    memmove(&profile->losses[at + 1], &profile->losses[at],
            (profile->loss_count - at) * sizeof *profile->losses);
    profile->losses[at] = (struct profile_loss){
        .name = profile_text(profile, name),
        .text = profile_text(profile, text),
        .count = count,
    };
    profile->loss_count++;
}

void profile_counters(struct profile *profile, const uint64_t counts[JW_COUNT_LIMIT],
                      uint64_t in_flight)
{
    uint64_t signals = counts[JW_COUNT_SIGNALS];

    for (size_t i = 0; i < JW_COUNT_LIMIT; i++) {
        if (jw_counter_infos[i].is_loss)
            profile_loss(profile, jw_counter_infos[i].field, jw_counter_infos[i].text, counts[i]);
        if (jw_counter_infos[i].is_spared)
            signals -= counts[i]; /* nobody misses a sample of these */
    }
    profile_signals(profile, signals, counts[JW_COUNT_SAMPLES]);
    profile_loss(profile, "inFlight", "signals whose outcome was not known yet", in_flight);
}

void profile_forget_counters(struct profile *profile)
{
    profile->has_trust = false;
    profile->trust_signals = profile->trust_samples = 0;
    profile->loss_count = 0;
    profile->has_cost = false;
    profile->cost = (struct jw_cost_sums){0};
    profile->has_ledger = false;
    profile->ledger = (struct jw_ledger){0};
}

static uint64_t index_bytes(const struct profile_index *index)
{
    return (uint64_t)index->slot_count * sizeof *index->slots;
}

uint64_t profile_memory_bytes(const struct profile *profile)
{
    return sizeof *profile + profile->blocks_bytes +
           (uint64_t)profile->text_capacity * sizeof *profile->texts +
           (uint64_t)profile->names.capacity * sizeof *profile->names.items +
           (uint64_t)profile->seen_capacity * sizeof *profile->seen +
           (uint64_t)profile->branch_capacity * sizeof *profile->branches +
           (uint64_t)profile->loss_capacity * sizeof *profile->losses +
           (uint64_t)profile->node_count * sizeof *profile->nodes +
           (uint64_t)profile->stack_count * sizeof *profile->stack_nodes +
           (uint64_t)profile->sealed_name_count * sizeof *profile->sealed_names +
           index_bytes(&profile->text_index) + index_bytes(&profile->names.index) +
           index_bytes(&profile->seen_index) +
           (uint64_t)profile->step_slots * sizeof *profile->steps +
           (uint64_t)profile->path_capacity * sizeof *profile->path;
}

/* A branch becomes a box of a view at the most, in an array that doubles; both stand beside the nodes made of them. */
uint64_t profile_drawing_bytes(const struct profile *profile)
{
    const uint64_t by_branch = 2 * sizeof(struct profile_box) + sizeof(struct profile_node) + 128;

    return DRAWING_FIXED_BYTES + profile->branch_count * by_branch +
           (uint64_t)profile->names.count * DRAWING_NAME_BYTES;
}

uint64_t profile_listed_frames(const struct profile *profile, uint64_t *stacks)
{
    *stacks = profile->listed_stacks;
    return profile->listed_frames;
}

const struct profile_config *profile_config_of(const struct profile *profile)
{
    return &profile->config;
}

const struct profile_about *profile_about_of(const struct profile *profile)
{
    return &profile->about;
}

bool profile_trust(const struct profile *profile, uint64_t *signals, uint64_t *samples)
{
    *signals = profile->trust_signals;
    *samples = profile->trust_samples;
    return profile->has_trust &&
           profile->trust_signals + profile->trust_samples + profile->loss_count > 0;
}

const struct profile_loss *profile_losses(const struct profile *profile, size_t *count)
{
    *count = profile->loss_count;
    return profile->losses;
}
