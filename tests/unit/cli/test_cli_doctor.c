/* The doctor: what it makes of recordings that are sound, have holes, lie or are none. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/requests_maker.h"
#include "unit/cli/doctor_page.h"

TestSuite(cli_doctor, .init = set_up, .fini = tear_down, .timeout = 1800);

Test(cli_doctor, a_healthy_recording_is_good_and_says_why)
{
    SAVE_HEALTHY_AND();
    cr_assert_eq(RUN("doctor", "--strict", path), CLI_OK, "%s", out_text);
    cr_expect_str_eq(err_text, "");
    cr_expect_eq(strncmp(out_text, path, strlen(path)), 0);
    EXPECT_LINE(": good\n");
    EXPECT_LINE(" made by jaywalk 0.1.0\n JVM OpenJDK 64-Bit Server VM (25.0.3+9) for linux-amd64\n"
                " program app.Main 7, process 4711\n flags -Xmx1g -XX:+UseSerialGC\n"
                " samples of cpu every 10 ms\n");
    EXPECT_LINE(" in 1 chunk, whole\n");
    EXPECT_LINE(" became samples 300 96.77 %\n lost 0 0.00 %\n spared 10 3.23 % no time is lost");
    EXPECT_LINE(" total 310 100.00 % adds up, in all readings (1)\n");
    EXPECT_LINE("has 7.0 to 13.9 % of so many samples");
    EXPECT_LINE(" sampled 2.95 s 98.33 %\n not sampled 50 ms 1.67 % short-lived threads\n");
    EXPECT_LINE("Failed walks samples share\n none\n");
    EXPECT_LINE(" at the end vm, jaywalk's own\n self-check agrees: 3250 frames");
    EXPECT_LINE(
        " while it ran no stack was compared with JVMTI: that is done where a class is loaded");
    EXPECT_LINE(" time in them not told: no function of the JVM has a name here\n");
    EXPECT_LINE(" together 15 ms 0.50 % of the CPU time");
    EXPECT_LINE(" all parts 8.0 MiB 12.50 % none at its limit, or near it\n");
    cr_expect_null(strstr(out_text, "secret"));
}

Test(cli_doctor, losses_are_named_with_what_to_change_and_the_largest_comes_first)
{
    SAVE_HEALTHY_AND(put_counts(400, 300, 10, 90, 0));
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(": 2 findings, most important first\n\n 1. 90 (22.50 %) of the signals are lost: "
                "samples whose stack no longer fitted the trace store\n To do: raise memlimit=");
    EXPECT_LINE(" 2. 10 (2.50 %) of the signals are lost: signals on a thread without a record\n");
    EXPECT_LINE(" lost 100 25.00 %\n lostNoThread 10 2.50 % signals on a thread");
    cr_expect_eq(RUN("doctor", "--strict", path), CLI_FAILED);
    EXPECT_LINE(" 1. 90 (22.50 %)");
}

Test(cli_doctor, what_is_hardly_anything_is_no_finding)
{
    SAVE_HEALTHY_AND(put_counts(304, 300, 2, 2, 0); put_failure(
                         -15, "interpreted frame without a method", "interpreter", "vm", 2));
    cr_expect_eq(RUN("doctor", "--strict", path), CLI_OK, "%s", out_text);
    EXPECT_LINE(" vm: interpreter 2 0.67 % interpreted frame without a method: the frame was");
}

Test(cli_doctor, failed_walks_are_told_by_reason_place_and_walker)
{
    SAVE_HEALTHY_AND(put_samples(STACK_GAP, 20);
                     put_failure(-2, "GC is active", "runtime stub", "agct", 5);
                     put_failure(-2, "GC is active", "runtime stub", "agct", 40); /* sums */
                     put_failure(0, "no Java frame", "native library", "vm", 200);
                     put_failure(-18, "unreadable memory", "native library", "native", 3));
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(": 1 finding\n\n 1. 20 (6.25 %) of the stacks lack their Java part; most by agct, "
                "in: runtime stub, with: GC is active\n To do: use cstack=vm, the default\n");
    EXPECT_LINE(" vm: native library 200 66.67 % no Java frame: the thread begins");
    EXPECT_LINE(
        " agct: runtime stub 40 13.33 % GC is active: AsyncGetCallTrace does not walk then");
    EXPECT_LINE(" native: native library 3 1.00 % unreadable memory: the native frames end too");
    EXPECT_LINE(" (runtime stub: what leads from Java code into the JVM:");
}

Test(cli_doctor, walkers_that_step_down_and_come_back_are_told)
{
    SAVE_HEALTHY_AND(put_change("vm", "agct", "31 % of 1024 walks failed", 60000000000);
                     put_change("vm on trial", "vm", "it walks well again", 0));
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(" 1. a walker was given up for a while: of Java frames, from vm to agct: 31 % of");
    EXPECT_LINE(
        " stepped down Java frames: vm to agct, to be tried again after 60 s: 31 % of 1024");
    EXPECT_LINE(" came back Java frames: vm on trial to vm: it walks well again\n");
}

Test(cli_doctor, a_walker_that_failed_its_test_is_a_finding)
{
    SAVE_HEALTHY_AND(put_setting("walker", "agct");
                     put_setting("selfcheck", "differs: a known stack has 13 frames"));
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(
        " 1. jaywalk's own walker is not used, it failed its test at the start: a known stack");
    EXPECT_LINE(" at the end agct, AsyncGetCallTrace of the JVM\n");
}

Test(cli_doctor, stacks_with_holes_are_counted_with_the_libraries_that_make_them)
{
    SAVE_HEALTHY_AND(put_samples(STACK_GAP, 60); put_samples(STACK_TRUNCATED, 30);
                     put_samples(STACK_SAFEPOINT, 9); put_counts(409, 399, 0, 0, 10));
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(
        ": 3 findings, most important first\n\n 1. 60 (15.04 %) of the stacks lack their Java "
        "part, for a reason that is not told\n");
    EXPECT_LINE(" 2. 30 (7.52 %) of the stacks lack their outermost frames");
    EXPECT_LINE(" 3. 60 (15.04 %) of the samples of CPU time are in native code without a "
                "function's name\n");
    EXPECT_LINE(" in the file 399 100.00 %\n without their Java part 60 15.04 %");
    EXPECT_LINE(
        " libx.so 60 15.04 % its code was sampled, and the Java part of the stack is missing\n");
    EXPECT_LINE(" libx.so 60 15.04 % its code is the last before the missing Java part\n");
    EXPECT_LINE(" libx.so 60 15.04 % its code is on top, without a function's name\n");
    EXPECT_LINE(
        " time in them 2.26 % of the stacks are in the JVM's code that stops threads or waits "
        "for it, 9 of them");
}

Test(cli_doctor, memory_at_its_limit_and_a_high_cost_are_findings)
{
    SAVE_HEALTHY_AND(put_memory("symbols", 2 << 20, 2 << 20, 7);
                     put_cost(3000000000, 400000000, 100000000, 100000000));
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(
        " 1. the memory for symbols was at its limit, 7 times: functions of further libraries");
    EXPECT_LINE(" 2. jaywalk took 20.00 % of the CPU time of the process\n");
    EXPECT_LINE(" symbols 2.0 MiB 100.00 % at its limit, 7 times: functions of further libraries");
}

Test(cli_doctor, cpu_time_that_no_sample_stands_for_is_a_finding)
{
    SAVE_HEALTHY_AND(put_ledger(3000000000, 2000000000, 1000000000));
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(" 1. no samples stand for 33.33 % of the CPU time: short-lived threads\n");
}

Test(cli_doctor, an_account_that_does_not_add_up_comes_first)
{
    SAVE_HEALTHY_AND(put_counts(400, 300, 10, 90, 0); put_law(300, 299, 300); put_law(300, 300, 7));
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(" 1. the account of signals does not add up, in 2 of 3 readings\n");
    EXPECT_LINE(" does not add up in 2 of 3 readings\n");
}

Test(cli_doctor, recordings_one_after_the_other_add_up)
{
    begin();
    put_healthy();
    end();
    begin();
    put_healthy(); /* the same one: its sums hold */
    doctor_event(&maker, DOCTOR_RECORDING, "n", N(1700000009999));
    put_samples(STACK_PLAIN, 5);
    put_counts(20, 5, 15, 0, 0);
    end();
    save();
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(" in 2 chunks of several recordings: 2, whole\n");
    EXPECT_LINE(" became samples 305 92.42 %\n");
    EXPECT_LINE(" lostNoThread 15 4.55 %");
    EXPECT_LINE(" total 330 100.00 %");
}

Test(cli_doctor, few_samples_are_said_to_be_few)
{
    begin();
    put_samples(STACK_PLAIN, 20);
    put_counts(20, 20, 0, 0, 0);
    end();
    save();
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(
        " 1. 20 samples are few: what takes 10 % of the time has, by chance, 2 to 31 % of them");
    maker_close(&maker);
    unlink(path);
    begin();
    put_counts(0, 0, 0, 0, 0);
    end();
    save();
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(" 1. there is not a single sample\n");
}

Test(cli_doctor, the_chance_of_a_share_is_wilsons)
{
    uint64_t low_ppm, high_ppm;

    cli_doctor_chance(1000, &low_ppm, &high_ppm);
    cr_expect(low_ppm > 82500 && low_ppm < 83500, "%zu", (size_t)low_ppm);
    cr_expect(high_ppm > 119500 && high_ppm < 120500, "%zu", (size_t)high_ppm);
    cli_doctor_chance(0, &low_ppm, &high_ppm);
    cr_expect(high_ppm <= 1000000);
}

/* ---- what is no recording of ours, or damaged ---- */

Test(cli_doctor, a_recording_of_another_tool_gets_a_part_of_an_answer)
{
    static const char *const none[] = {NULL};

    requests_begin(&maker, none);
    for (int i = 0; i < 300; i++)
        requests_sample(&maker, &(struct made_request){.stack = 1});
    requests_end(&maker);
    save();
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(": 1 finding\n\n 1. another tool made this recording");
    EXPECT_LINE(" made by another tool\n");
    EXPECT_LINE(" in the file 300 100.00 %");
    cr_expect_null(strstr(out_text, "Signals"));
    cr_expect_eq(RUN("doctor", "--strict", path), CLI_FAILED);
}

Test(cli_doctor, what_is_no_recording_is_an_error)
{
    char name[128];

    snprintf(name, sizeof name, "%s/none.jfr", directory);
    cr_expect_eq(RUN("doctor", name), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "none.jfr"), "%s", err_text);
    FILE *file = fopen(name, "w");
    cr_assert(file != NULL && fputs("this is no recording at all, but a text", file) >= 0);
    fclose(file);
    cr_expect_eq(RUN("doctor", name), CLI_FAILED);
    cr_expect_str_eq(out_text, "");
    cr_expect_neq(err_text[0], '\0');
}

Test(cli_doctor, of_a_cut_recording_the_whole_chunks_are_told)
{
    begin();
    put_healthy();
    end();
    const size_t whole = maker.used_bytes;
    begin();
    put_healthy();
    end();
    maker.used_bytes = whole + (maker.used_bytes - whole) / 2;
    save();
    cr_expect_eq(RUN("doctor", path), CLI_OK);
    EXPECT_LINE(" 1. the recording is cut");
    EXPECT_LINE(" in 1 chunk, cut\n");
    EXPECT_LINE(" became samples 300 96.77 %\n");

    /* Nothing of the first one is an error. */
    maker.used_bytes = whole / 2;
    unlink(path);
    save();
    cr_expect_eq(RUN("doctor", path), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "holds no complete chunk"), "%s", err_text);
    cr_expect_not_null(strstr(err_text, "'jaywalk recover' keeps what it still holds"), "%s",
                       err_text);
}

Test(cli_doctor, a_recording_that_was_not_closed_is_told_from_one_that_was)
{
    SAVE_HEALTHY_AND(doctor_event(&maker, DOCTOR_HANDLERS, "tn", "cpu", N(310));
                     doctor_event(&maker, DOCTOR_BUCKET, "tn", "cpu", N(310)));
    cr_expect_eq(RUN("doctor", "--strict", path), CLI_OK);
    EXPECT_LINE(" in 1 chunk, whole\n");
    maker_close(&maker);
    unlink(path);
    SAVE_HEALTHY_AND(doctor_event(&maker, DOCTOR_HANDLERS, "tn", "cpu", N(310)));
    cr_expect_eq(RUN("doctor", "--strict", path), CLI_OK);
    EXPECT_LINE(" in 1 chunk, not closed: a copy of one under way, or its JVM was killed");
    cr_expect_eq(RUN("doctor", "--json", path), CLI_OK);
    cr_expect_not_null(strstr(out_text, "\"is_closed\":false"));
}

Test(cli_doctor, damage_is_told_with_what_stands_before_it)
{
    SAVE_HEALTHY_AND();
    maker_close(&maker);
    unlink(path);
    begin();
    put_healthy();
    maker_raw(&maker, "\xff\xff\xff\x7f\x65", 5); /* an event larger than the chunk */
    end();
    save();
    cr_expect_eq(RUN("doctor", path), CLI_OK, "%s", err_text);
    EXPECT_LINE(" 1. the file is damaged: ");
    EXPECT_LINE(" in 1 chunk, damaged\n");
    EXPECT_LINE(" became samples 300 96.77 %\n");
    cr_expect_eq(RUN("doctor", "--strict", path), CLI_FAILED);
}

Test(cli_doctor, s17_texts_of_others_reach_no_terminal_and_end_no_string)
{
    SAVE_HEALTHY_AND(put_jvm("-Xmx1g\x1b]0;gotcha\x07 -Xint\nVerdict:\xc2\x9b good");
                     put_samples(STACK_HOSTILE, 60); put_failure(-13, "rea\x1b[2Json\"",
                                                                 "wh\x1b"
                                                                 "ere",
                                                                 "vm", 100);
                     put_change("vm\r", "agct", "\"},\n{\x1b[8m", 60000000000);
                     put_setting("filter", "a\x1b[0m\nb"));
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(i == 0 ? RUN("doctor", path) : RUN("doctor", "--json", path), CLI_OK);
        for (const char *at = out_text; *at != '\0'; at++)
            cr_expect(*at == '\n' || (unsigned char)*at >= 0x20, "byte %d at %zu", *at,
                      (size_t)(at - out_text));
        cr_expect_null(strstr(out_text, "\xc2\x9b"));
    }
    cr_expect_not_null(strstr(out_text, "lib\\u001b[31m\\u003c\\\"x\\\".so"), "%s", out_text);
    cr_expect_eq(strchr(out_text, '\n'), out_text + strlen(out_text) - 1);
}

/* ---- for programs ---- */

Test(cli_doctor, json_has_what_the_page_has)
{
    static const char *const members[] = {
        "{\"schema\":\"jaywalk.doctor/1\",\"input\":\"",
        "\"source\":\"recording\",\"is_jaywalk\":true,\"verdict\":\"findings\"",
        "\"findings\":[{\"id\":\"lostStoreFull\",\"rank\":\"gap\",\"what\":\"90 (22.50 %) of",
        "\"signals\":{\"signals\":400,\"samples\":300,\"lost\":100,\"spared\":0,\"in_flight\":0,"
        "\"readings\":1,\"readings_broken\":0,\"by_outcome\":{",
        "\"lostStoreFull\":90",
        "\"cpu_ledger\":{\"processTime\":3000000000,\"sampledTime\":2950000000",
        "\"stacks\":{\"count\":300,\"cpu\":300,\"wall\":0,\"without_java_part\":0,",
        "\"failed_walks\":[{\"walker\":\"vm\",\"where\":\"interpreter\",\"reason\":\"interpreted "
        "frame without a method\",\"code\":-15,\"count\":2}]",
        "\"walker\":\"vm\",\"selfcheck\":\"agrees: 3250 frames, 1204 of them compiled\"",
        "\"safepoints\":{\"in_jvm_code\":null,\"below_java\":null,\"are_lines_exact\":true,"
        "\"top_at_safepoint\":null,\"bias\":null,\"samples_waited_for\":0,\"ttsp\":null,\"delays\":"
        "0,",
        "\"cost\":{\"process_ns\":3000000000,\"handlers_ns\":6000000",
        "{\"subsystem\":\"samples\",\"used_bytes\":8388608",
    };
    int depth = 0;
    bool is_text = false;

    SAVE_HEALTHY_AND(put_counts(400, 300, 10, 90, 0); put_failure(
                         -15, "interpreted frame without a method", "interpreter", "vm", 2));
    cr_assert_eq(RUN("doctor", "--json", path), CLI_OK);
    for (size_t i = 0; i < JW_COUNT_OF(members); i++)
        cr_expect_not_null(strstr(out_text, members[i]), "no %s in %s", members[i], out_text);
    for (const char *at = out_text; *at != '\0'; at++) {
        if (is_text && *at == '\\')
            at++;
        else if (*at == '"')
            is_text = !is_text;
        else if (!is_text)
            depth += (strchr("{[", *at) != NULL) - (strchr("}]", *at) != NULL);
        cr_assert_geq(depth, 0);
    }
    cr_expect(depth == 0 && !is_text);
    cr_expect_null(strstr(out_text, ",,"));
    cr_expect_null(strstr(out_text, "{,"));
    cr_expect_eq(RUN("doctor", "--json", "--strict", path), CLI_FAILED);
}

Test(cli_doctor, every_allocation_may_fail)
{
    uint64_t count;

    SAVE_HEALTHY_AND(put_samples(STACK_GAP, 60); put_samples(STACK_SAFEPOINT, 9));
    count = jw_alloc_count();
    cr_assert_eq(RUN("doctor", path), CLI_OK);
    count = jw_alloc_count() - count;
    for (uint64_t nth = 1; nth <= count; nth++) {
        jw_alloc_fail_after(nth);
        const int status = RUN("doctor", path);
        jw_alloc_fail_after(0);
        cr_expect((status == CLI_FAILED && err_text[0] != '\0' && out_text[0] == '\0') ||
                      (status == CLI_OK && out_text[0] != '\0'),
                  "%zu of %zu: status %d, '%s'", (size_t)nth, (size_t)count, status, err_text);
    }
}

Test(cli_doctor, mistakes_in_the_command_line_are_told)
{
    cr_expect_eq(RUN("doctor"), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "a recording or a process is needed"));
    cr_expect_eq(RUN("doctor", "a.jfr", "4711"), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "4711 is no recording that is there"), "%s", err_text);
    cr_expect_eq(RUN("doctor", "--strickt", "a.jfr"), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "did you mean '--strict'?"));
    cr_expect_eq(RUN("docter"), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "did you mean 'doctor'?"));
}

/* A chunk in which the two types of events, with the same numbers in all chunks, have these names. */
static void put_two_types(const char *one, const char *other)
{
    char rows[2][100];
    const char *const metadata[] = {"root",
                                    "  metadata",
                                    "    class name=long id=10",
                                    rows[0],
                                    "      field name=startTime class=10",
                                    rows[1],
                                    "      field name=startTime class=10",
                                    "  region locale=en_US gmtOffset=0",
                                    NULL};

    snprintf(rows[0], sizeof rows[0], "    class name=%s id=101 superType=jdk.jfr.Event", one);
    snprintf(rows[1], sizeof rows[1], "    class name=%s id=102 superType=jdk.jfr.Event", other);
    maker_begin_chunk(&maker);
    maker_metadata_from(&maker, metadata);
    for (unsigned i = 0; i < 5; i++) {
        const size_t begin = maker_begin_event(&maker, i < 3 ? 101 : 102);

        maker_varint(&maker, i);
        maker_end_event(&maker, begin);
    }
    maker_end_chunk(&maker, 1);
}

Test(cli_doctor, what_a_type_is_holds_for_its_chunk_alone)
{
    put_two_types("jdk.ExecutionSample", "test.Other");
    put_two_types("test.Other", "jdk.ExecutionSample");
    cr_assert(maker_save(&maker, path));
    cr_expect_eq(RUN("doctor", path), CLI_OK, "%s", err_text);
    EXPECT_LINE(" in the file 5 100.00 %");
}
