/* Wall-clock records in a graph, which shows one clock. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "golden/made.h"

#define WAITING 60u /* kind of a stack that waits: Hot.main <- Hot.copy <- native */

static char directory[] = "/tmp/jaywalk-wall-graph-XXXXXX";
static char path[64];
static struct jw_error err;
static struct generations *generations;

static void set_up(void)
{
    const struct generations_config memory = {0};

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.collapsed", directory);
    generations = generations_open(&memory, &err);
    cr_assert_not_null(generations);
}

static void tear_down(void)
{
    generations_close(generations);
    unlink(path);
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

TestSuite(recording_wall_graph, .init = set_up, .fini = tear_down, .timeout = 1800);

static void put(uint32_t thread, uint64_t number, uint32_t turns, bool is_idle)
{
    const struct made_wall wall = {.thread = thread,
                                   .number = number,
                                   .turns = turns,
                                   .time_ns = jw_now_ns(),
                                   .weight_ns = 1000ull * turns,
                                   .state = JW_STATE_PARKED,
                                   .is_idle = is_idle};

    made_wall(generations, &wall, WAITING);
}

static void draw(enum recording_clock shows, char *text, size_t room)
{
    struct recording_config config = made_config(path, RECORDING_COLLAPSED);
    struct recording *recording;

    config.shows = shows;
    config.is_by_thread = true;
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    for (unsigned i = 0; i < 3; i++)
        made_sample(generations, 0);
    put(0, 1, 1, false);
    put(1, 9, 2, true); /* of a sample that never comes */
    made_turn(generations, recording);
    put(0, 1, 5, true);
    made_turn(generations, recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);

    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
}

Test(recording_wall_graph, a_graph_shows_turns_with_and_without_a_signal)
{
    char text[4096];

    draw(RECORDING_SHOWS_WALL, text, sizeof text);
    cr_expect_str_eq(text, "[main tid=1000];app/Hot.main;app/Hot.copy;libc.so.6;memcpy 6\n"
                           "[worker tid=1001];[unknown wait] 2\n");
}

Test(recording_wall_graph, a_graph_shows_one_clock)
{
    char text[4096];

    draw(RECORDING_SHOWS_CPU, text, sizeof text);
    cr_expect_str_eq(text, "[main tid=1000];app/Hot.main;app/Hot.spin 3\n");
}
