/* The order in which the sampler thread looks at threads; that thread, and control. */
#include "sampler/rounds_internal.h"

#include "base/clock.h"
#include "base/hash.h"
#include "sampler/sampler_internal.h"
#include "sampler/sampler_pace.h"

/* Looks in a row that find a thread where it was, until it is left to the sweep. */
#define STILL_MAX 8

/* What a reading takes, four times over for all that goes with it. */
#define READING_NS   250
#define TURN_SHARE   100
#define READINGS_MIN 64
#define READINGS_MAX 4096

/* Where turns are stretched, the sweep is through in this time, as far as a turn may take so many readings. */
#define SWEEP_NS JW_NS_PER_SECOND

struct rounds_thread {
    uint32_t turn; /* in which it was looked at last */
    uint8_t still_count;
    bool is_active;
};

bool rounds_open(struct rounds *rounds, struct jw_error *err)
{
    if (rounds->threads == NULL)
        rounds->threads =
            sampler_reserve(JW_MEMORY_THREADS, threads_capacity(), sizeof *rounds->threads, err);
    if (rounds->active == NULL)
        rounds->active =
            sampler_reserve(JW_MEMORY_THREADS, threads_capacity(), sizeof *rounds->active, err);
    return rounds->threads != NULL && rounds->active != NULL;
}

void rounds_reset(struct rounds *rounds)
{
    sampler_wipe(rounds->threads, threads_capacity(), sizeof *rounds->threads);
    rounds->active_count = 0;
    rounds->sweep_next = 0;
    rounds->turn = 0;
    rounds->ran_count = 0;
}

uint64_t rounds_random(struct rounds *rounds)
{
    return jw_hash_word(++rounds->random);
}

static uint64_t readings_in(uint64_t turn_ns)
{
    const uint64_t count = turn_ns / TURN_SHARE / READING_NS;

    return count < READINGS_MIN ? READINGS_MIN : count > READINGS_MAX ? READINGS_MAX : count;
}

uint32_t rounds_readings(uint64_t turn_ns)
{
    const uint64_t most = readings_in(turn_ns);
    const uint64_t asked = readings_in(turn_ns * SAMPLER_PACE_ONE / sampler_stretch());
    /* Half of a turn's readings are the sweep's. */
    const uint64_t sweep = 2 * threads_live() * turn_ns / SWEEP_NS;
    const uint64_t count = sweep > asked ? sweep : asked;

    return (uint32_t)(count < most ? count : most);
}

void rounds_note(struct rounds *rounds, thread_index thread)
{
    struct rounds_thread *state = &rounds->threads[thread];

    state->still_count = 0;
    if (state->is_active)
        return;
    state->is_active = true;
    rounds->active[rounds->active_count++] = thread; /* each thread once: there is room */
}

/* Looks at the thread at this place of the active ones; false when another has come into its place. */
static bool look(struct rounds *rounds, uint32_t place, rounds_visit *visit)
{
    const thread_index thread = rounds->active[place];
    struct rounds_thread *state = &rounds->threads[thread];

    state->turn = rounds->turn;
    switch (visit(thread)) {
    case ROUNDS_RAN:
        rounds->ran_count++;
        state->still_count = 0;
        return true;
    case ROUNDS_STILL:
        if (++state->still_count < STILL_MAX)
            return true;
        break;
    case ROUNDS_NOTHING:
        break;
    }
    state->is_active = false;
    rounds->active[place] = rounds->active[--rounds->active_count];
    return false;
}

/* The number of readings. */
static uint32_t look_at_active(struct rounds *rounds, uint32_t count_max, rounds_visit *visit)
{
    const uint32_t count = rounds->active_count < count_max ? rounds->active_count : count_max;
    uint32_t place =
        rounds->active_count == 0 ? 0 : (uint32_t)(rounds_random(rounds) % rounds->active_count);

    for (uint32_t i = 0; i < count && rounds->active_count > 0; i++) {
        if (place >= rounds->active_count)
            place = 0;
        /* One that was moved here from the end may have had its turn. */
        if (rounds->threads[rounds->active[place]].turn == rounds->turn ||
            look(rounds, place, visit))
            place++;
    }
    return count;
}

static void sweep(struct rounds *rounds, uint32_t readings, rounds_visit *visit)
{
    const uint32_t limit = threads_limit();
    const uint32_t steps_max = limit < 4 * readings ? limit : 4 * readings;

    for (uint32_t step = 0; step < steps_max && readings > 0; step++) {
        const thread_index thread = rounds->sweep_next < limit ? rounds->sweep_next : 0;

        rounds->sweep_next = thread + 1;
        if (rounds->threads[thread].turn == rounds->turn)
            continue;
        const enum rounds_found found = visit(thread);
        readings -= found != ROUNDS_NOTHING;
        if (found == ROUNDS_RAN) {
            rounds->ran_count++;
            rounds_note(rounds, thread);
        }
    }
}

void rounds_turn(struct rounds *rounds, uint32_t readings_max, rounds_visit *visit)
{
    rounds->turn++;
    sweep(rounds, readings_max - look_at_active(rounds, readings_max / 2, visit), visit);
}
