/* A part of the samples that is counted as they come is the one that the command finds in their file: by thread, state and time. */
#include "golden/live_and_file.h"

TestSuite(live_and_file_parts, .init = set_up, .fini = tear_down, .timeout = 1800);

/* One option or two that let a part in, and what a text says of it. */
struct part_case {
    const char *options[3];
    const char *words; /* NULL: the picture does not say it */
};

static void expect_parts(const struct part_case *cases, size_t count, enum recording_clock shows)
{
    for (size_t i = 0; i < count; i++) {
        const struct drawing drawing = {
            .options = {cases[i].options[0], cases[i].options[1], cases[i].options[2]},
            .shows = shows,
            .event = shows == RECORDING_SHOWS_WALL ? "wall" : NULL,
        };
        const char *const wanted[JW_COUNT_OF(formats)] = {cases[i].words, NULL, cases[i].words};

        expect_equal(&drawing, false, wanted);
    }
}

Test(live_and_file_parts, are_equal_of_a_part)
{
    static const struct part_case cases[] = {
        {{"thread=main"}, "thread main"},
        {{"thread=GC*", "thread=1001"}, "thread GC* or 1001"},
        {{"thread=22", "threads"}, "thread 22"},
        {{"from=1500ms"}, "from 1500ms"},
        {{"to=1.25s"}, "to 1.25s"},
        {{"from=1s", "to=2023-11-14T22:13:22Z"}, "from 1s to 2023-11-14T22:13:22Z"},
        {{"thread=worker*", "from=1700000001000"}, "thread worker*, from 1700000001000"},
        {{"state=running"}, NULL},
    };

    expect_parts(cases, JW_COUNT_OF(cases), RECORDING_SHOWS_CPU);
}

/* A record without its sample is put at the end: in a file into the last chunk, where it cannot begin before that. So windows end there. */
Test(live_and_file_parts, are_equal_of_a_part_of_the_wall_clock)
{
    static const struct part_case cases[] = {
        {{"thread=main", "threads"}, "thread main"},
        {{"to=4s"}, "to 4s"},
        {{"from=500ms", "to=3.5s"}, "from 500ms to 3.5s"},
        {{"state=parked"}, NULL},
        {{"state=parked", "thread=worker*"}, "thread worker*"},
    };

    with_wall = true;
    expect_parts(cases, JW_COUNT_OF(cases), RECORDING_SHOWS_WALL);
}

/* Turns that have an event each stand where they ended, and only some of a thread's may lie in the window. */
Test(live_and_file_parts, are_equal_of_a_part_of_the_wall_clock_turn_by_turn)
{
    static const struct part_case cases[] = {
        {{"to=4365ms"}, "to 4365ms"},
        {{"from=500ms", "to=4385ms"}, "from 500ms to 4385ms"},
    };

    with_wall = splits_wall = true;
    expect_parts(cases, JW_COUNT_OF(cases), RECORDING_SHOWS_WALL);
}
