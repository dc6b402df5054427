/* A graph made live and one made from the file are equal, byte for byte: how it looks. */
#include "golden/live_and_file.h"

TestSuite(live_and_file, .init = set_up, .fini = tear_down, .timeout = 1800);

Test(live_and_file, are_equal_with_their_defaults)
{
    const struct drawing drawing = {.title = NULL};
    const char *const wanted[JW_COUNT_OF(formats)] = {
        "\"startNs\":\"1700000000123456789\",\"durationNs\":4360000001,",
        "\ncut\xef\xbf\xbdshort;not utf8 ",
        "Lost      4 (",
    };

    expect_equal(&drawing, false, wanted);
}

Test(live_and_file, are_equal_of_a_counter)
{
    const struct drawing drawing = {.shows = RECORDING_SHOWS_COUNTER, .event = "page-faults"};
    const char *const wanted[JW_COUNT_OF(formats)] = {
        "\"unit\":\"page-faults\"",
        "\napp/Hot.main;app/Hot.spin 240\n",
        "Profile of page-faults\n",
    };

    expect_equal(&drawing, false, wanted);
}

/* The counter is what the session was about, also where the wall clock turned beside it. */
Test(live_and_file, are_equal_of_a_counter_beside_the_wall_clock)
{
    const struct drawing drawing = {.shows = RECORDING_SHOWS_COUNTER,
                                    .event = "sched:sched_switch"};
    const char *const wanted[JW_COUNT_OF(formats)] = {
        "\"unit\":\"events\"",
        NULL,
        "Profile of sched:sched_switch, wall clock left out\n",
    };

    with_wall = true;
    expect_equal(&drawing, false, wanted);
}

Test(live_and_file, are_equal_by_thread)
{
    const struct drawing drawing = {.options = {"threads"}};
    const char *const wanted[JW_COUNT_OF(formats)] = {
        "[GC Thread#0 tid=1002]",
        "[worker \xef\xbf\xbd 2 tid=1001];app/Hot.main;app/Hot.spin ",
        "[no thread]",
    };

    expect_equal(&drawing, false, wanted);
}

Test(live_and_file, are_equal_with_each_style)
{
    static const struct {
        const char *option;
        const char *wanted[JW_COUNT_OF(formats)]; /* NULL: of another format */
    } styles[] = {
        {"simple", {"<td>Hot.main</td>", "\nHot.main;Hot.spin ", " Hot.spin\n"}},
        {"dot", {"", "\napp.Hot.main;app.Hot.spin ", " app.Hot.spin\n"}},
        {"norm",
         {"<td>app.Hot$$Lambda.apply</td>", ";app/Hot$$Lambda.apply;java/util",
          "$$Lambda.apply\n"}},
        {"sig", {"<td>app.Hot.spin(I)J</td>", ";app/Hot.spin(I)J ", " app.Hot.spin(I)J\n"}},
        {"lib",
         {"<td>libc.so.6`memcpy</td>", ";libc.so.6;libc.so.6`memcpy ", " libc.so.6`memcpy\n"}},
        {"compilations", {"", ";app/Warm.up;clone3 ", "] app.Warm.up\n"}},
        {"samples", {"\"unit\":\"samples\"", ";app/Hot.spin 240\n", "--- 240 samples, "}},
        {"total", {"\"unit\":\"ns\"", ";app/Hot.spin 2400000000\n", "--- 2.40 s, "}},
        {"ann", {NULL, "app/Hot.main_[0];app/Hot.spin_[j] ", " app.Hot.spin_[j]\n"}},
        {"reverse", {"\"inverted\":true,\"reverse\":true", "\napp/Hot.spin;app/Hot.main ", NULL}},
        {"inverted", {"\"inverted\":true,\"reverse\":false", NULL, NULL}},
        {"minwidth=5", {"\"minWidthPpm\":50000", NULL, NULL}},
        {"include=*spin",
         {"\"filtered\":180,", "app/Hot.main;app/Hot.spin 240\n", " 240 samples\n"}},
        {"include=app.Hot.spin", {"\"filtered\":180,", "app/Hot.main;app/Hot.spin 240\n", NULL}},
        {"include=/sp[i]n$/", {"\"filtered\":180,", "app/Hot.main;app/Hot.spin 240\n", NULL}},
        {"exclude=app/*", {NULL, "[no frames] 5\n", NULL}},
        {"exclude=/^app/", {"\"filtered\":350,", NULL, NULL}},
        {"traces=2", {NULL, NULL, "\nHottest stacks (2 of "}},
        {"flat=3", {NULL, NULL, "\nHottest methods, by self (3 of "}},
    };

    for (size_t i = 0; i < JW_COUNT_OF(styles); i++) {
        for (size_t format = 0; format < JW_COUNT_OF(formats); format++) {
            const struct drawing drawing = {.options = {styles[i].option},
                                            .only = formats[format].agent};

            if (styles[i].wanted[format] != NULL)
                expect_equal(&drawing, false, styles[i].wanted);
        }
    }
}

Test(live_and_file, are_equal_with_all_styles_at_once)
{
    const char *const wanted[JW_COUNT_OF(formats)] = {
        "\"threads\":[1",
        "[main tid=1000];Hot.spin(I)J:12_[j];Hot.main([Ljava/lang/String:)V:10_[0] ",
        "Hottest methods, by self (5 of ",
    };
    const struct drawing page = {
        .options = {"lines", "threads", "simple", "norm", "sig", "lib", "dot", "compilations",
                    "reverse", "inverted", "samples", "minwidth=0.5", "include=*Hot*",
                    "exclude=*copy*"},
        .only = "flamegraph",
    };
    const struct drawing collapsed = {
        .options = {"lines", "threads", "simple", "norm", "sig", "lib", "dot", "compilations",
                    "reverse", "ann", "total", "include=*Hot*", "include=/mem/", "exclude=*copy*"},
        .only = "collapsed",
    };
    const struct drawing text = {
        .options = {"lines", "threads", "simple", "norm", "sig", "lib", "dot", "compilations",
                    "ann", "samples", "flat=5", "traces=100", "include=*Hot*", "exclude=*copy*"},
        .only = "text",
    };

    expect_equal(&page, false, wanted);
    expect_equal(&collapsed, false, wanted);
    expect_equal(&text, false, wanted);
}

Test(live_and_file, are_equal_with_a_title_that_only_the_agent_was_told)
{
    const struct drawing drawing = {.title = "Checkout \xff under load"};
    const char *const wanted[JW_COUNT_OF(formats)] = {"<h1>Checkout \xef\xbf\xbd under load</h1>",
                                                      NULL, "Checkout \xef\xbf\xbd under load\n\n"};

    expect_equal(&drawing, false, wanted);
}

Test(live_and_file, are_equal_without_a_sample)
{
    const struct drawing drawing = {.title = NULL};
    const char *const wanted[JW_COUNT_OF(formats)] = {"CPU profile", NULL, "Total     0 samples\n"};

    expect_equal(&drawing, true, wanted);
}

Test(live_and_file, are_equal_with_both_clocks_of_which_they_show_the_first)
{
    const struct drawing drawing = {.options = {"threads"}, .event = "cpu"};
    const char *const wanted[JW_COUNT_OF(formats)] = {
        "<h1>CPU profile, wall clock left out</h1>",
        NULL,
        "CPU profile, wall clock left out\n",
    };

    with_wall = true;
    expect_equal(&drawing, false, wanted);
}

Test(live_and_file, are_equal_by_the_wall_clock)
{
    const struct drawing drawing = {
        .options = {"threads"}, .shows = RECORDING_SHOWS_WALL, .event = "wall"};
    const char *const wanted[JW_COUNT_OF(formats)] = {
        "of wall-clock time, ",
        "[main tid=1000];app/Hot.main;app/Hot.copy;libc.so.6;memcpy 32\n",
        "[unknown wait]",
    };

    with_wall = true;
    expect_equal(&drawing, false, wanted);
}

Test(live_and_file, are_equal_by_the_wall_clock_that_is_asked_for)
{
    const struct drawing drawing = {
        .asked = "--event=wall", .shows = RECORDING_SHOWS_WALL, .event = "cpu"};
    const char *const wanted[JW_COUNT_OF(formats)] = {NULL, NULL,
                                                      "Wall clock profile, CPU samples left out\n"};

    with_wall = true;
    expect_equal(&drawing, false, wanted);
}

Test(live_and_file, are_equal_by_the_wall_clock_without_a_sample)
{
    const struct drawing drawing = {.shows = RECORDING_SHOWS_WALL, .event = "wall"};
    const char *const wanted[JW_COUNT_OF(formats)] = {"Wall clock profile", NULL,
                                                      "Total     0 samples\n"};

    expect_equal(&drawing, true, wanted);
}
