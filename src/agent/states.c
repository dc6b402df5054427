/* The table of states and commands; control, dump. */
#include "agent/states.h"

#define REFUSE(text)                                                                               \
    {                                                                                              \
        STATES_REFUSE, STATES_IDLE, text                                                           \
    }
#define ANSWER                                                                                     \
    {                                                                                              \
        STATES_ANSWER, STATES_IDLE, NULL                                                           \
    }
#define WAIT                                                                                       \
    {                                                                                              \
        STATES_WAIT, STATES_IDLE, NULL                                                             \
    }
#define GIVE_UP                                                                                    \
    {                                                                                              \
        STATES_GIVE_UP, STATES_IDLE, NULL                                                          \
    }
#define DO(during)                                                                                 \
    {                                                                                              \
        STATES_DO, STATES_##during, NULL                                                           \
    }

#define ALREADY       "Profiler already started; stop it first"
#define NOT_ACTIVE    "Profiler is not active"
#define NOTHING_YET   "Profiler is not active, and there are no samples to write; start it first"
#define KEEPS_SAMPLES "Profiler is not active; its samples are kept, dump,file=NAME writes them"
#define GOING         "the JVM is ending"

static const struct states_cell cells[STATES_STATE_LIMIT][STATES_COMMAND_LIMIT] =
    {
        [STATES_IDLE] =
            {
                [STATES_START] = DO(STARTING),
                [STATES_RESUME] = DO(STARTING),
                [STATES_STOP] = REFUSE(NOT_ACTIVE),
                [STATES_DUMP] = REFUSE(NOTHING_YET),
                [STATES_ASK] = ANSWER,
                [STATES_TURN] = REFUSE(NOT_ACTIVE),
                [STATES_END] = DO(STOPPING),
                [STATES_OPEN] = DO(WRITING),
                [STATES_PROBES] = DO(WRITING),
            },
        [STATES_ENDED] =
            {
                [STATES_START] = DO(STARTING),
                [STATES_RESUME] = DO(STARTING),
                [STATES_STOP] = REFUSE(NOT_ACTIVE),
                [STATES_DUMP] = DO(WRITING), /* which says where the recording lies */
                [STATES_ASK] = ANSWER,
                [STATES_TURN] = REFUSE(NOT_ACTIVE),
                [STATES_END] = DO(STOPPING),
                [STATES_OPEN] = DO(WRITING),
                [STATES_PROBES] = DO(WRITING),
            },
        [STATES_KEPT] =
            {
                [STATES_START] = DO(STARTING),
                [STATES_RESUME] = DO(STARTING),
                [STATES_STOP] = REFUSE(KEEPS_SAMPLES),
                [STATES_DUMP] = DO(WRITING),
                [STATES_ASK] = ANSWER,
                [STATES_TURN] = REFUSE(NOT_ACTIVE),
                [STATES_END] = DO(STOPPING),
                [STATES_OPEN] = DO(WRITING),
                [STATES_PROBES] = DO(WRITING),
            },
        [STATES_STARTING] =
            {
                [STATES_START] = WAIT,
                [STATES_RESUME] = WAIT,
                [STATES_STOP] = GIVE_UP,
                [STATES_DUMP] = WAIT,
                [STATES_ASK] = ANSWER,
                [STATES_TURN] = WAIT,
                [STATES_END] = GIVE_UP,
                [STATES_OPEN] = WAIT,
                [STATES_PROBES] = WAIT,
            },
        [STATES_RUNNING] =
            {
                [STATES_START] = REFUSE(ALREADY),
                [STATES_RESUME] = REFUSE(ALREADY),
                [STATES_STOP] = DO(STOPPING),
                [STATES_DUMP] = DO(WRITING),
                [STATES_ASK] = ANSWER,
                [STATES_TURN] = DO(WRITING),
                [STATES_END] = DO(STOPPING),
                [STATES_OPEN] = DO(WRITING),
                [STATES_PROBES] = DO(WRITING),
            },
        [STATES_WRITING] =
            {
                [STATES_START] = WAIT,
                [STATES_RESUME] = WAIT,
                [STATES_STOP] = WAIT,
                [STATES_DUMP] = WAIT,
                [STATES_ASK] = ANSWER,
                [STATES_TURN] = WAIT,
                [STATES_END] = WAIT,
                [STATES_OPEN] = WAIT,
                [STATES_PROBES] = WAIT,
            },
        [STATES_STOPPING] =
            {
                [STATES_START] = WAIT,
                [STATES_RESUME] = WAIT,
                [STATES_STOP] = WAIT,
                [STATES_DUMP] = WAIT,
                [STATES_ASK] = ANSWER,
                [STATES_TURN] = WAIT,
                [STATES_END] = WAIT,
                [STATES_OPEN] = WAIT,
                [STATES_PROBES] = WAIT,
            },
        [STATES_GONE] =
            {
                [STATES_START] = REFUSE(GOING),
                [STATES_RESUME] = REFUSE(GOING),
                [STATES_STOP] = REFUSE(GOING),
                [STATES_DUMP] = REFUSE(GOING),
                [STATES_ASK] = ANSWER,
                [STATES_TURN] = REFUSE(GOING),
                [STATES_END] = REFUSE(GOING),
                [STATES_OPEN] = REFUSE(GOING),
                [STATES_PROBES] = REFUSE(GOING),
            },
};

const struct states_cell *states_look(enum states_state state, enum states_command command)
{
    return &cells[state][command];
}

struct states_cell states_arrive(enum states_state state, enum states_command command,
                                 size_t waiting_count)
{
    struct states_cell cell = cells[state][command];

    if (state != STATES_GONE && waiting_count > 0 &&
        (cell.verdict == STATES_DO || cell.verdict == STATES_REFUSE))
        cell = (struct states_cell){.verdict = STATES_WAIT};
    return cell;
}

bool states_is_busy(enum states_state state)
{
    return state == STATES_STARTING || state == STATES_WRITING || state == STATES_STOPPING;
}

const char *states_name(enum states_state state)
{
    static const char *const names[STATES_STATE_LIMIT] = {
        [STATES_IDLE] = "idle",         [STATES_ENDED] = "ended",     [STATES_KEPT] = "kept",
        [STATES_STARTING] = "starting", [STATES_RUNNING] = "running", [STATES_WRITING] = "writing",
        [STATES_STOPPING] = "stopping", [STATES_GONE] = "gone",
    };

    return names[state];
}
