/* The past of a stack: noted while it is walked, met again in the next walk; handler. */
#include <string.h>

#include "walk/walk_vm_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* A stack that differs here and there costs a comparison for each difference: no more of them. */
#define TRIES_MAX 32

/* Of a step that is not a function of known words: this one is never what it should be. */
static const uintptr_t never_one;

/* Pins ------------------------------------------------------------------------------------------------ */

bool walk_vm_is_same_pin(const struct walk_pin *one, const struct walk_pin *other)
{
    return one->blob == other->blob && one->method == other->method &&
           one->compile_id == other->compile_id && one->place == other->place;
}

/*
 * True when what was there is there still. Its address is that of a block's beginning, as the segment map says
 * now, so what is read is a blob's head; the number of a compilation is given once.
 */
bool walk_vm_pin_holds(const struct vm_code_map *map, const struct walk_pin *pin)
{
    uint32_t compile_id;

    return vm_code_map_has(map, pin->blob, (enum vm_place)pin->place) &&
           vm_nmethod_compile_id(pin->blob, &compile_id) && compile_id == pin->compile_id &&
           vm_nmethod_method(pin->blob) == pin->method;
}

static JW_SIGNAL_SAFE uint16_t add_pin(struct walk_log *log, const struct walk_pin *pin)
{
    if (log->pin_count >= WALK_PINS_MAX)
        return WALK_NO_PIN;
    log->pins[log->pin_count] = *pin;
    *walk_vm_pin_slot(log, pin->blob) = (uint16_t)log->pin_count;
    return (uint16_t)log->pin_count++;
}

bool walk_vm_pin_again(const struct walk_vm *walk, const struct walk_pin *pin, uint16_t *out)
{
    struct walk_log *log = &walk->cache->log;
    const uint16_t known = walk_vm_find_pin(log, pin->blob);

    if (known != WALK_NO_PIN) {
        *out = known;
        return walk_vm_is_same_pin(&log->pins[known], pin);
    }
    if (!walk_vm_pin_holds(&walk->map, pin))
        return false;
    *out = add_pin(log, pin);
    return true;
}

uint16_t walk_vm_pin(const struct walk_vm *walk, vm_addr blob, vm_addr method, enum vm_place place)
{
    struct walk_pin pin = {.blob = blob, .method = method, .place = (uint32_t)place};
    uint16_t out;

    if (walk->cache == NULL || !vm_nmethod_compile_id(blob, &pin.compile_id) ||
        !walk_vm_pin_again(walk, &pin, &out))
        return WALK_NO_PIN;
    return out;
}

/* Steps under way ------------------------------------------------------------------------------------- */

/* The step before is all noted; one that is not sure is never met again. */
static JW_SIGNAL_SAFE void seal(struct walk_log *log)
{
    if (log->step_count > 0 && !log->steps[log->step_count - 1].is_sure)
        log->words[log->word_count++] = (struct arch_word){(uintptr_t)&never_one, 1};
}

void walk_vm_note_step(struct walk_vm *walk)
{
    struct walk_log *log = &walk->cache->log;

    if (walk->step != NULL && !walk->step->is_sure)
        seal(log);
    walk->step = NULL;
    if (log->is_full || log->step_count >= WALK_STEPS_MAX ||
        log->word_count + WALK_STEP_WORDS_MAX > WALK_WORDS_MAX) {
        log->is_full = true;
        return;
    }
    walk->step = &log->steps[log->step_count++];
    *walk->step = (struct walk_step){
        .pc = walk->regs.pc,
        .sp = walk->regs.sp,
        .fp = walk->regs.fp,
        .words = log->word_count,
        .frames = (uint16_t)walk->frame_count,
        .pins = WALK_NO_PIN,
        .position = (uint16_t)walk->position,
    };
}

void walk_vm_past_begin(struct walk_vm *walk)
{
    struct walk_log *log = &walk->cache->log;
    const struct walk_past *past = walk->cache->past;

    log->step_count = log->word_count = log->pin_count = 0;
    log->is_full = false;
    log->stack_low = walk->thread.stack_low;
    log->stack_high = walk->thread.stack_high;
    log->with_carrier = walk->cache->with_carrier;
    log->border_sp = 0;
    if (past == NULL || past->stack_low != log->stack_low || past->stack_high != log->stack_high ||
        past->with_carrier != log->with_carrier)
        return;
    while (log->pin_count < past->pin_count &&
           walk_vm_pin_holds(&walk->map, &past->pins[log->pin_count]))
        (void)add_pin(log, &past->pins[log->pin_count]);
    walk->past_pins = log->pin_count;
    walk->past_left = past->step_count;
}

void walk_vm_past_end(struct walk_vm *walk)
{
    seal(&walk->cache->log);
}

/* Meeting it again ------------------------------------------------------------------------------------ */

/* By its number from the end. */
static JW_SIGNAL_SAFE const struct walk_step *step_at(const struct walk_past *past, uint32_t number)
{
    return &past->steps[WALK_STEPS_MAX - number];
}

/* Leaves out the step in which the first word differs, and those before it. */
static JW_SIGNAL_SAFE void pass_difference(struct walk_vm *walk, const struct walk_past *past,
                                           uint32_t wrong_word)
{
    walk->past_left--;
    while (walk->past_left > 0 && step_at(past, walk->past_left)->words >= wrong_word)
        walk->past_left--;
    if (++walk->past_tries >= TRIES_MAX)
        walk->past_left = 0;
}

bool walk_vm_past_meet(struct walk_vm *walk)
{
    const struct walk_past *past = walk->cache->past;
    const struct walk_step *step;

    while (walk->past_left > 0) {
        step = step_at(past, walk->past_left);
        if (step->sp >= walk->regs.sp && step->pins <= walk->past_pins)
            break;
        walk->past_left--;
    }
    if (walk->past_left == 0 || step->sp != walk->regs.sp || step->pc != walk->regs.pc ||
        (step->needs_fp && step->fp != walk->regs.fp) || step->position != (uint16_t)walk->position)
        return false;
    if (walk->frame_count + step->frames >= walk->depth_max)
        return false;

    const size_t matched =
        safe_match_words(&past->words[WALK_WORDS_MAX - step->words], step->words);
    if (matched < step->words) {
        pass_difference(walk, past, step->words - (uint32_t)matched);
        return false;
    }
    /* What comes before may have had its fp from elsewhere, when this step was noted. */
    if (step->needs_fp && walk->is_fp_by_size && walk->step != NULL)
        walk_vm_note_fp_word(walk);
    walk->result->past_frames = step->frames;
    walk->result->past_steps = walk->past_left;
    walk->result->is_virtual |= step->sp <= past->border_sp;
    return true;
}

/* Keeping it ------------------------------------------------------------------------------------------ */

/* Puts the logged steps before the `kept` ones, from the outermost on, with the pins that they need. */
static JW_SIGNAL_SAFE void put_steps(struct walk_past *past, struct walk_log *log, uint32_t kept,
                                     uint32_t frame_count)
{
    const uint32_t kept_words = past->word_count, kept_frames = past->frame_count;
    const uint32_t kept_pins = past->pin_count;

    memset(log->pin_is_put, 0, log->pin_count);
    for (uint32_t i = log->step_count; i-- > 0;) {
        struct walk_step step = log->steps[i];

        if (step.pins != WALK_NO_PIN && step.pins >= kept_pins && !log->pin_is_put[step.pins]) {
            if (past->pin_count >= WALK_PINS_MAX)
                return;
            log->pin_is_put[step.pins] = true;
            past->pins[past->pin_count++] = log->pins[step.pins];
        }
        step.words = kept_words + log->word_count - step.words;
        step.frames = (uint16_t)(kept_frames + frame_count - step.frames);
        step.pins = (uint16_t)past->pin_count;
        past->step_count = kept + log->step_count - i;
        past->word_count = step.words;
        past->frame_count = step.frames;
        past->steps[WALK_STEPS_MAX - past->step_count] = step;
    }
}

void walk_past_keep(struct walk_past *past, struct walk_log *log, uint32_t kept_steps,
                    const struct vm_call_frame *frames, uint32_t frame_count)
{
    const struct walk_step *kept = kept_steps == 0 ? NULL : step_at(past, kept_steps);

    past->stack_low = log->stack_low;
    past->stack_high = log->stack_high;
    past->with_carrier = log->with_carrier;
    if (log->border_sp != 0 || kept == NULL || kept->sp > past->border_sp)
        past->border_sp = log->border_sp;
    past->step_count = kept_steps;
    past->word_count = kept == NULL ? 0 : kept->words;
    past->frame_count = kept == NULL ? 0 : kept->frames;
    past->pin_count = kept == NULL ? 0 : kept->pins;
    if (log->is_full || log->step_count == 0)
        return;

    const uint32_t new_frames = frame_count - log->steps[0].frames;
    if (kept_steps + log->step_count > WALK_STEPS_MAX ||
        past->word_count + log->word_count > WALK_WORDS_MAX ||
        past->frame_count + new_frames > WALK_DEPTH_MAX)
        return;
    memcpy(&past->words[WALK_WORDS_MAX - past->word_count - log->word_count], log->words,
           log->word_count * sizeof log->words[0]);
    memcpy(&past->frames[WALK_DEPTH_MAX - past->frame_count - new_frames],
           &frames[log->steps[0].frames], new_frames * sizeof frames[0]);
    put_steps(past, log, kept_steps, frame_count);
}
