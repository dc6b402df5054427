/* The doctor: recordings of several JDKs, stacks that end in the heap, stacks that JVMTI tells otherwise. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit/cli/doctor_page.h"

TestSuite(cli_doctor_jdks, .init = set_up, .fini = tear_down, .timeout = 1800);

/* A recording of its own, of JDK 17: 100 samples, of which 20 lack their Java part. */
static void put_of_jdk_17(void)
{
    doctor_event(&maker, DOCTOR_RECORDING, "n", N(1700000009999));
    doctor_event(&maker, DOCTOR_JVM, "tttn", "OpenJDK 64-Bit Server VM (17.0.9+9) for linux-amd64",
                 "", "app.Main", N(4712));
    put_samples(STACK_PLAIN, 80);
    put_samples(STACK_GAP, 20);
    put_failure(-13, "lost", "native library", "vm", 20);
    put_counts(125, 100, 25, 0, 0);
}

static const char by_jdk[] =
    "By JDK stacks lost no Java truncated [frozen] files\n 25.0.3+9 300 0.00 % 0.00 % 0.00 % "
    "0.00 % 1\n 17.0.9+9 100 20.00 % 20.00 % 0.00 % 0.00 % 1\n";

Test(cli_doctor_jdks, recordings_of_several_jdks_in_one_file_are_told_apart)
{
    SAVE_HEALTHY_AND();
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    cr_expect_null(strstr(out_text, "By JDK"));
    maker_close(&maker);
    unlink(path);
    begin();
    put_healthy();
    end();
    begin();
    put_of_jdk_17();
    end();
    save();
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(by_jdk);
    EXPECT_LINE(
        " JVM OpenJDK 64-Bit Server VM (17.0.9+9) for linux-amd64, the last of several: By");
    cr_expect_eq(RUN("doctor", "--json", path), CLI_OK);
    cr_expect_not_null(strstr(out_text,
                              "{\"jvm\":\"OpenJDK 64-Bit Server VM (17.0.9+9) for linux-amd64\","
                              "\"recordings\":1,\"signals\":125,\"samples\":100,\"lost\":25,"
                              "\"failed_walks\":20,\"stacks\":100,\"without_java_part\":20,"
                              "\"truncated\":0,\"frozen\":0,\"compared\":0,\"different\":0}]"),
                       "%s", out_text);
}

Test(cli_doctor_jdks, several_recordings_get_a_verdict_each_and_stand_side_by_side)
{
    char other[64], none[128];

    SAVE_HEALTHY_AND();
    strcpy(other, path);
    maker_close(&maker);
    begin();
    put_of_jdk_17();
    end();
    save();
    cr_expect_eq(RUN("doctor", other, path), CLI_OK);
    EXPECT_LINE(": good\n");
    EXPECT_LINE(": 4 findings, most important first\n");
    EXPECT_LINE(by_jdk);
    cr_expect_null(strstr(out_text, "Walkers"));
    cr_expect_eq(RUN("doctor", "--strict", other, path), CLI_FAILED);
    cr_expect_eq(RUN("doctor", "--strict", other, other), CLI_OK, "%s", out_text);
    EXPECT_LINE(" 25.0.3+9 600 0.00 % 0.00 % 0.00 % 0.00 % 2\n");

    /* One that cannot be read does not hide the others. */
    snprintf(none, sizeof none, "%s/none.jfr", directory);
    cr_expect_eq(RUN("doctor", other, none, path), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "none.jfr"), "%s", err_text);
    EXPECT_LINE(by_jdk);
    cr_expect_eq(RUN("doctor", "--json", none, other, path), CLI_FAILED);
    cr_expect_eq(strncmp(out_text,
                         "{\"schema\":\"jaywalk.doctor.several/1\",\"recordings\":[{\"schema\":"
                         "\"jaywalk.doctor/1\",",
                         70),
                 0, "%s", out_text);
    cr_expect_not_null(strstr(out_text, "}\n,{\"schema\""));
    cr_expect_not_null(
        strstr(out_text, "}\n],\"by_jdk\":[{\"jvm\":\"OpenJDK 64-Bit Server VM (25."));
    unlink(other);
}

Test(cli_doctor_jdks, stacks_that_end_in_the_heap_are_counted_and_the_collector_is_named)
{
    SAVE_HEALTHY_AND(put_samples(STACK_FROZEN, 60); put_counts(370, 360, 0, 0, 10));
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(": 1 finding\n\n 1. 60 (16.67 %) of the stacks end in [frozen]: outer frames");
    EXPECT_LINE(" To do: with ZGC and Shenandoah, choose G1, Parallel or Serial");
    EXPECT_LINE(" truncated 0 0.00 %\n end in [frozen] 60 16.67 % outer frames of virtual threads");
    EXPECT_LINE(" without their Java part 0 0.00 %\n");
    cr_expect_eq(RUN("doctor", "--json", path), CLI_OK);
    cr_expect_not_null(strstr(out_text, "{\"id\":\"frozen\",\"rank\":\"gap\""), "%s", out_text);
    cr_expect_not_null(strstr(out_text, "\"truncated\":0,\"frozen\":60,"), "%s", out_text);
    maker_close(&maker);
    unlink(path);
    SAVE_HEALTHY_AND(put_jvm("-XX:+UseZGC"); put_samples(STACK_FROZEN, 60));
    cr_expect_eq(RUN("doctor", "--strict", path), CLI_FAILED);
    EXPECT_LINE(" To do: with this collector the heap is not read: try -XX:+UseG1GC");
    maker_close(&maker);
    unlink(path);
    SAVE_HEALTHY_AND(put_samples(STACK_FROZEN, 2); put_counts(312, 302, 0, 0, 10));
    cr_expect_eq(RUN("doctor", "--strict", path), CLI_OK, "%s", out_text);
    EXPECT_LINE(" end in [frozen] 2 0.66 %");
}

Test(cli_doctor_jdks, stacks_that_jvmti_tells_otherwise_are_the_first_finding)
{
    const struct compared good = {.stacks = 30, .equal = 29, .unwalked = 1, .frames = 640};
    const struct compared bad = {
        .stacks = 30, .equal = 27, .different = 2, .unwalked = 1, .frames = 600};

    SAVE_HEALTHY_AND(put_all_counts(310, 300, 0, 0, 10, good); put_setting("agreement", ""));
    cr_expect_eq(RUN("doctor", "--strict", path), CLI_OK, "%s", out_text);
    EXPECT_LINE(
        " while it ran 30 stacks of the program were compared with what JVMTI says of them, at "
        "classes being loaded: 29 equal (640 frames), 0 different, 1 could not be walked\n");
    maker_close(&maker);
    unlink(path);
    SAVE_HEALTHY_AND(put_all_counts(310, 300, 0, 0, 10, bad);
                     put_setting("agreement", "frame 3 of 12, at bci 7, is at 9 by JVMTI"));
    cr_expect_eq(RUN("doctor", "--strict", path), CLI_FAILED);
    EXPECT_LINE(
        " 1. 2 (6.67 %) of the stacks that were compared with JVMTI are not as it tells them: "
        "frame 3 of 12, at bci 7, is at 9 by JVMTI\n To do: report it");
    EXPECT_LINE("27 equal (600 frames), 2 different, 1 could not be walked; the first: frame 3 of");
    cr_expect_eq(RUN("doctor", "--json", path), CLI_OK);
    cr_expect_not_null(strstr(out_text,
                              "\"agreement\":{\"compared\":30,\"equal\":27,\"different\":2,"
                              "\"unwalked\":1,\"frames_equal\":600,"
                              "\"first_difference\":\"frame 3 of 12, at bci 7, is"),
                       "%s", out_text);
    cr_expect_not_null(strstr(out_text, "\"compared\":30,\"different\":2}]"), "%s", out_text);
}

static void put_line(const char *method, uint64_t line, uint64_t sampled, uint64_t stopped)
{
    doctor_event(&maker, DOCTOR_BIAS, "tnnn", method, line, sampled, stopped);
}

Test(cli_doctor_jdks, what_safepoints_would_have_shown_stands_beside_what_was_sampled)
{
    const struct compared bias = {
        .stops = 200, .at_poll = 16, .other_method = 90, .other_line = 20, .untold = 3};

    SAVE_HEALTHY_AND(put_line("app.Main.loop", 7, 1, 0); /* sums: the last ones hold */
                     put_line("app.Main.loop", 7, 90, 0); put_line("app.Main.main", 12, 0, 90);
                     put_line("app.Main.main", 13, 40, 60); put_line("app.Other.run", 5, 20, 0);
                     put_all_counts(310, 300, 0, 0, 10, bias));
    /* That others would have said something else is no fault of this profile. */
    cr_expect_eq(RUN("doctor", "--strict", path), CLI_OK, "%s", out_text);
    EXPECT_LINE(" at polls 8.00 % of the samples (16 of 200 looked at) are at the instructions");
    EXPECT_LINE(
        " would have shown another method for 45.00 % of them, and another line of the same "
        "method for 10.00 %; of 3 more that is not known. An estimate");
    EXPECT_LINE("\n sampled stopped method on top\n 20.00 % 75.00 % app.Main.main\n 45.00 % 0.00 % "
                "app.Main.loop\n 10.00 % 0.00 % app.Other.run\n");
    EXPECT_LINE(
        " sampled stopped line on top\n 45.00 % 0.00 % app.Main.loop:7\n 0.00 % 45.00 % "
        "app.Main.main:12\n 20.00 % 30.00 % app.Main.main:13\n 10.00 % 0.00 % app.Other.run:5\n");
    cr_expect_eq(RUN("doctor", "--json", path), CLI_OK);
    cr_expect_not_null(
        strstr(out_text, "\"top_at_safepoint\":16,\"bias\":{\"told\":200,\"other_method\":90,"
                         "\"other_line\":20,\"untold\":3,\"lines\":[{\"method\":\"app.Main.loop\","
                         "\"line\":7,\"sampled\":90,\"stopped\":0},"),
        "%s", out_text);
}

static void put_delay(uint64_t reach_ms, const char *late_in)
{
    doctor_event(&maker, DOCTOR_DELAY, "nt", reach_ms * 1000000, late_in);
}

Test(cli_doctor_jdks,
     safepoints_that_were_waited_for_are_summed_and_whether_they_were_watched_is_told)
{
    SAVE_HEALTHY_AND(put_setting("ttsp", "10000000"); put_delay(1250, "Java");
                     put_delay(20, "poll"); put_delay(30, "JVM"));
    cr_expect_eq(RUN("doctor", path), CLI_OK, "%s", out_text);
    EXPECT_LINE(" waited for 3 for longer than ttsp= says, 1,300.0 ms in all, the longest for "
                "1,250.0 ms; 1 of them without the thread that was last.");
    cr_expect_eq(RUN("doctor", "--json", path), CLI_OK);
    cr_expect_not_null(strstr(out_text,
                              "\"ttsp\":\"10000000\",\"delays\":3,\"delays_unnamed\":1,"
                              "\"delays_ns\":1300000000,\"delays_longest_ns\":1250000000}"),
                       "%s", out_text);
}

Test(cli_doctor_jdks, where_none_was_waited_for_the_page_says_how_long_that_would_have_been)
{
    SAVE_HEALTHY_AND(put_setting("ttsp", "5000000"));
    cr_expect_eq(RUN("doctor", path), CLI_OK, "%s", out_text);
    EXPECT_LINE(" waited for none for 5.0 ms or longer (ttsp=)");
}

Test(cli_doctor_jdks, safepoints_that_were_not_watched_are_told_with_the_reason)
{
    SAVE_HEALTHY_AND(put_setting("ttsp", "off: -XX:-UsePerfData"));
    cr_expect_eq(RUN("doctor", path), CLI_OK, "%s", out_text);
    EXPECT_LINE(" waited for not watched: -XX:-UsePerfData");
}

Test(cli_doctor_jdks, more_lines_than_there_is_room_for_are_left_out)
{
    const struct compared bias = {.stops = 1000};
    char name[64];

    begin();
    put_healthy();
    for (unsigned i = 0; i < CLI_DOCTOR_LINES + 50; i++) {
        snprintf(name, sizeof name, "app.Main.m%u", i);
        put_line(name, i + 1, i, 1000 - i);
    }
    put_all_counts(310, 300, 0, 0, 10, bias);
    end();
    save();
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(" line on top\n 0.00 % 100.00 % app.Main.m0:1\n");
    cr_expect_null(strstr(out_text, "app.Main.m8:"));
}
