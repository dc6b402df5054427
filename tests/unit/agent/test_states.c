/* Every cell of the table of states and commands. */
#include <criterion/criterion.h>
#include <string.h>

#include "agent/states.h"

TestSuite(states, .timeout = 1800);

/* R refused, A answered at once, D done, W waits, G waits and gives the start up; one letter a command. */
static const struct {
    enum states_state state;
    const char *verdicts; /* start resume stop dump ask turn end open probes */
} rows[] = {
    {STATES_IDLE, "DDRRARDDD"},     {STATES_ENDED, "DDRDARDDD"},   {STATES_KEPT, "DDRDARDDD"},
    {STATES_STARTING, "WWGWAWGWW"}, {STATES_RUNNING, "RRDDADDDD"}, {STATES_WRITING, "WWWWAWWWW"},
    {STATES_STOPPING, "WWWWAWWWW"}, {STATES_GONE, "RRRRARRRR"},
};

static char letter_of(enum states_verdict verdict)
{
    static const char letters[] = {
        [STATES_REFUSE] = 'R', [STATES_ANSWER] = 'A',  [STATES_DO] = 'D',
        [STATES_WAIT] = 'W',   [STATES_GIVE_UP] = 'G',
    };

    return letters[verdict];
}

Test(states, each_cell_is_what_was_decided)
{
    cr_assert_eq(JW_COUNT_OF(rows), STATES_STATE_LIMIT);
    for (size_t i = 0; i < JW_COUNT_OF(rows); i++) {
        cr_assert_eq(rows[i].state, i);
        cr_assert_eq(strlen(rows[i].verdicts), STATES_COMMAND_LIMIT);
        for (int command = 0; command < STATES_COMMAND_LIMIT; command++) {
            const struct states_cell *cell =
                states_look(rows[i].state, (enum states_command)command);

            cr_expect_eq(letter_of(cell->verdict), rows[i].verdicts[command], "%s, command %d: %c",
                         states_name(rows[i].state), command, letter_of(cell->verdict));
        }
    }
}

Test(states, a_refusal_says_why_and_nothing_else_does)
{
    for (int state = 0; state < STATES_STATE_LIMIT; state++) {
        for (int command = 0; command < STATES_COMMAND_LIMIT; command++) {
            const struct states_cell *cell =
                states_look((enum states_state)state, (enum states_command)command);

            cr_expect_eq(cell->why != NULL, cell->verdict == STATES_REFUSE, "%d %d", state,
                         command);
        }
    }
}

Test(states, what_is_done_is_seen_as_work_that_the_command_fits)
{
    static const enum states_state during[STATES_COMMAND_LIMIT] = {
        [STATES_START] = STATES_STARTING, [STATES_RESUME] = STATES_STARTING,
        [STATES_STOP] = STATES_STOPPING,  [STATES_DUMP] = STATES_WRITING,
        [STATES_TURN] = STATES_WRITING,   [STATES_END] = STATES_STOPPING,
        [STATES_OPEN] = STATES_WRITING,   [STATES_PROBES] = STATES_WRITING,
    };

    for (int state = 0; state < STATES_STATE_LIMIT; state++) {
        for (int command = 0; command < STATES_COMMAND_LIMIT; command++) {
            const struct states_cell *cell =
                states_look((enum states_state)state, (enum states_command)command);

            if (cell->verdict == STATES_DO)
                cr_expect(cell->during == during[command] && states_is_busy(cell->during), "%d %d",
                          state, command);
        }
    }
}

Test(states, nothing_is_done_while_something_is_at_work)
{
    for (int state = 0; state < STATES_STATE_LIMIT; state++) {
        for (int command = 0; command < STATES_COMMAND_LIMIT; command++) {
            const enum states_verdict verdict =
                states_look((enum states_state)state, (enum states_command)command)->verdict;

            if (states_is_busy((enum states_state)state))
                cr_expect(verdict != STATES_DO && verdict != STATES_REFUSE, "%d %d", state,
                          command);
            else
                cr_expect(verdict != STATES_WAIT && verdict != STATES_GIVE_UP, "%d %d", state,
                          command);
        }
    }
}

Test(states, an_arrival_behind_others_waits_for_what_they_change)
{
    for (int state = 0; state < STATES_STATE_LIMIT; state++) {
        for (int command = 0; command < STATES_COMMAND_LIMIT; command++) {
            const enum states_state in = (enum states_state)state;
            const enum states_command what = (enum states_command)command;
            const enum states_verdict alone = states_look(in, what)->verdict;
            const enum states_verdict behind = states_arrive(in, what, 3).verdict;

            cr_expect_eq(states_arrive(in, what, 0).verdict, alone);
            if (in != STATES_GONE && (alone == STATES_DO || alone == STATES_REFUSE))
                cr_expect_eq(behind, STATES_WAIT, "%d %d", state, command);
            else
                cr_expect_eq(behind, alone, "%d %d", state, command);
        }
    }
}

Test(states, each_state_has_a_name_of_its_own)
{
    for (int one = 0; one < STATES_STATE_LIMIT; one++) {
        for (int other = 0; other < one; other++)
            cr_expect_str_neq(states_name((enum states_state)one),
                              states_name((enum states_state)other));
    }
}
