/*
 * states - what a command may do in which state of the session, as one table.
 *
 * For      a state machine of which every cell can be read, and tested without a JVM.
 * Callers  agent: commands.c when a command arrives, the agent's thread when its turn has come.
 * Context  control, dump.
 * Memory   constant.
 *
 *     IDLE ----start----> STARTING --> RUNNING --stop--> STOPPING --> KEPT   samples in memory
 *      ^  \--(refused)--/              |   ^                     \--> ENDED  all of it in its file
 *      |                            WRITING: dump, loop
 *      at first; KEPT and ENDED start like IDLE, and KEPT resumes
 *
 * Commands run one at a time, in the order of their arrival. What arrives while one is at work waits for
 * its end, but for those that only ask.
 */
#ifndef JW_AGENT_STATES_H
#define JW_AGENT_STATES_H

#include "base/jw.h"

enum states_state {
    STATES_IDLE,     /* nothing was sampled yet */
    STATES_ENDED,    /* the last session is over, and all of it in its file */
    STATES_KEPT,     /* the last session is over, and its samples are in memory */
    STATES_STARTING, /* a command is at work */
    STATES_RUNNING,
    STATES_WRITING, /* likewise, and samples go on if there were any */
    STATES_STOPPING,
    STATES_GONE, /* the JVM ends */
    STATES_STATE_LIMIT
};

enum states_command {
    STATES_START,
    STATES_RESUME,
    STATES_STOP,
    STATES_DUMP,
    STATES_ASK,    /* status, metrics, list, version */
    STATES_TURN,   /* loop= of the session itself */
    STATES_END,    /* the JVM ends */
    STATES_OPEN,   /* stacks for other agents */
    STATES_PROBES, /* attached, listed, detached: with a session or without */
    STATES_COMMAND_LIMIT
};

enum states_verdict {
    STATES_REFUSE,
    STATES_ANSWER,  /* at once, by whoever asks */
    STATES_DO,      /* by the agent's thread, in the state that `during` says */
    STATES_WAIT,    /* until the command at work has ended */
    STATES_GIVE_UP, /* likewise, and the start at work is given up */
};

struct states_cell {
    enum states_verdict verdict;
    enum states_state during; /* DO: while it is at work */
    const char *why;          /* REFUSE */
};

/* A command at the moment that it could be done: nothing is before it. */
const struct states_cell *states_look(enum states_state state, enum states_command command);

/* A command that arrives while `waiting_count` others wait: who would be done or refused by the state of
 * this moment waits, too, as those before it may change that. */
struct states_cell states_arrive(enum states_state state, enum states_command command,
                                 size_t waiting_count);

/* True while a command is at work. */
bool states_is_busy(enum states_state state);

/* "running": as status and metrics call it. */
const char *states_name(enum states_state state);

#endif
