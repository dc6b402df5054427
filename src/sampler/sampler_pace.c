/* The control of overhead=: a step a turn, with hysteresis; dump. */
#include "sampler/sampler_pace.h"

#define ALL_PPM    1000000u
#define CALM_TURNS 3

/* Thousandths. */
#define MARGIN      1100u /* beyond what is too much */
#define STEP_LEAST  1250u
#define STEP_MOST   4000u
#define SHRINK_MOST 500u

/* What is steered may have such a part of the budget, whatever the rest takes. */
#define LEAST_PART 4

/* Of what it may have: below `CALM` it is calm, and `AIM` is aimed at. */
#define CALM_PCT 50u
#define AIM_PCT  80u

/* Of what is not steered each turn forgets such a part of those before. */
#define FORGET_PART 8

/* Times what it may have: no turn need end before that is judged. */
#define FAR 2

void sampler_pace_begin(struct sampler_pace *pace, uint64_t budget_ppm, uint64_t most)
{
    *pace = (struct sampler_pace){
        .budget_ppm = budget_ppm == 0 ? 1 : budget_ppm,
        .most = most < SAMPLER_PACE_ONE ? SAMPLER_PACE_ONE : most,
        .stretch = SAMPLER_PACE_ONE,
    };
}

static uint64_t within(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* What is a share of nothing is all of it. */
static uint64_t share_of(uint64_t cost_ns, uint64_t used_ns)
{
    const double share =
        used_ns == 0 ? (cost_ns == 0 ? 0 : ALL_PPM) : (double)cost_ns * ALL_PPM / (double)used_ns;

    return share > ALL_PPM ? ALL_PPM : (uint64_t)share;
}

/* What is steered is held to. */
static uint64_t goal_ppm(const struct sampler_pace *pace)
{
    const uint64_t fixed_ppm = share_of(pace->fixed_ns, pace->used_ns);
    const uint64_t least_ppm = (pace->budget_ppm + LEAST_PART - 1) / LEAST_PART;

    return pace->budget_ppm > fixed_ppm + least_ppm ? pace->budget_ppm - fixed_ppm : least_ppm;
}

static uint64_t longer(const struct sampler_pace *pace, uint64_t steered_ppm, uint64_t goal)
{
    const uint64_t step = within(steered_ppm * MARGIN / goal, STEP_LEAST, STEP_MOST);

    return pace->stretch * step / SAMPLER_PACE_ONE;
}

static uint64_t shorter(const struct sampler_pace *pace, uint64_t steered_ppm, uint64_t goal)
{
    const uint64_t step = steered_ppm * SAMPLER_PACE_ONE * 100 / (goal * AIM_PCT);

    return pace->stretch * within(step, SHRINK_MOST, SAMPLER_PACE_ONE) / SAMPLER_PACE_ONE;
}

bool sampler_pace_turn(struct sampler_pace *pace, uint64_t steered_ns, uint64_t fixed_ns,
                       uint64_t used_ns)
{
    const uint64_t before = pace->stretch;
    const uint64_t steered_ppm = share_of(steered_ns, used_ns);

    pace->fixed_ns += fixed_ns - pace->fixed_ns / FORGET_PART;
    pace->used_ns += used_ns - pace->used_ns / FORGET_PART;
    const uint64_t goal = goal_ppm(pace);
    pace->share_ppm = share_of(steered_ns + fixed_ns, used_ns);
    if (steered_ppm > goal) {
        pace->calm_turns = 0;
        pace->stretch = within(longer(pace, steered_ppm, goal), SAMPLER_PACE_ONE, pace->most);
    } else if (steered_ppm * 100 >= goal * CALM_PCT) {
        pace->calm_turns = 0;
    } else if (pace->stretch > SAMPLER_PACE_ONE && ++pace->calm_turns >= CALM_TURNS) {
        pace->calm_turns = 0;
        pace->stretch = within(shorter(pace, steered_ppm, goal), SAMPLER_PACE_ONE, pace->most);
    }
    return pace->stretch != before;
}

bool sampler_pace_is_far(const struct sampler_pace *pace, uint64_t steered_ns, uint64_t used_ns)
{
    return share_of(steered_ns, used_ns) > FAR * goal_ppm(pace);
}

uint64_t sampler_pace_stretched_ns(uint64_t asked_ns, uint64_t stretch, uint64_t longest_ns)
{
    /* Not multiplied: an hour, stretched as far as a tenth of a millisecond may be, is no number of 64 bits. */
    if (asked_ns >= longest_ns)
        return asked_ns;
    return within(asked_ns * stretch / SAMPLER_PACE_ONE, asked_ns, longest_ns);
}
