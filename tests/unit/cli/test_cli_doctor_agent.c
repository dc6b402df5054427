/* The doctor: what it makes of an agent's answers. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli_doctor_internal.h"

TestSuite(cli_doctor_agent, .timeout = 1800);

static struct cli_doctor doctor;

static const char metrics[] =
    "# HELP jaywalk_info version of the agent\n"
    "jaywalk_info{version=\"0.1.0\"} 1\n"
    "jaywalk_state{state=\"idle\"} 0\n"
    "jaywalk_state{state=\"running\"} 1\n"
    "jaywalk_session_samples{event=\"cpu\"} 900\n"
    "jaywalk_session_seconds 30\n"
    "jaywalk_memory_bytes{subsystem=\"samples\"} 1048576\n"
    "jaywalk_memory_limit_bytes{subsystem=\"samples\"} 6291456\n"
    "jaywalk_memory_refused{subsystem=\"samples\"} 12\n"
    "jaywalk_memlimit_bytes 41943040\n"
    "jaywalk_handler_seconds_count{clock=\"cpu\"} 1000\n"
    "jaywalk_cost_seconds_total{part=\"handlers\"} 0.050000000\n"
    "jaywalk_cost_seconds_total{part=\"agent_thread\"} 0.250000000\n"
    "jaywalk_process_cpu_seconds_total 100.500000000\n"
    "jaywalk_selfcheck_frames{tier=\"all\"} 3250\n"
    "jaywalk_walker_in_use{walker=\"agct\",standing=\"in\"} 1\n"
    "jaywalk_walker_in_use{walker=\"vm\",standing=\"out\"} 0\n"
    "jaywalk_walks_total{walker=\"vm\"} 1024\n"
    "jaywalk_walks_bad_total{walker=\"vm\"} 512\n"
    "jaywalk_walk_failures_total{walker=\"vm\",where=\"generated stub\"} 512\n"
    "jaywalk_signals_total 1000\n"
    "jaywalk_samples_total 900\n"
    "jaywalk_lost_store_full_total 90\n"
    "jaywalk_stacks_compared_total 12\n"
    "jaywalk_stacks_equal_total 11\n"
    "jaywalk_stacks_different_total 1\n"
    "jaywalk_frames_equal_total 230\n"
    "jaywalk_native_checked_total 1004\n"
    "jaywalk_native_equal_total 990\n"
    "jaywalk_native_different_total 2\n"
    "jaywalk_native_shorter_total 5\n"
    "jaywalk_native_no_way_total 4\n"
    "jaywalk_native_unchecked_total 3\n"
    "jaywalk_native_frames_equal_total 12345\n"
    "jaywalk_stops_told_total 200\n"
    "jaywalk_stops_at_poll_total 16\n"
    "jaywalk_stops_other_method_total 90\n"
    "jaywalk_stops_other_line_total 20\n"
    "jaywalk_frozen_total 30\n"
    "jaywalk_spared_waiting_total 9\n";

static const char *findings(void)
{
    static char ids[400];

    ids[0] = '\0';
    for (size_t i = 0; i < doctor.finding_count; i++) {
        strcat(ids, doctor.findings[i].id);
        strcat(ids, " ");
    }
    return ids;
}

Test(cli_doctor_agent, its_answers_are_understood)
{
    static const char *const lines[] = {
        "  session       running, for 30 s\n",
        "  samples of    CPU time every 10000 us by timers of the threads\n",
        "  vm            1,024 walks, of which 512 (50.00 %) failed or met unreadable memory; "
        "out\n",
        "  self-check    agrees: 3250 frames",
        "  at polls      8.00 % of the samples (16 of 200 looked at)",
        "  native stacks 1,004 were unwound a second time by libunwind: 990 equal",
        "of 3, below a: b;",
        "  end in [frozen]                     30    3.33 %  not failed: outer frames of",
    };
    static char page[20000];

    doctor.input = "4711";
    cli_doctor_metrics(&doctor, metrics);
    cli_doctor_status(
        &doctor, "Profiling is running for 30 seconds\n"
                 "Sampling CPU time every 10000 us by timers of the threads\n"
                 "Walker: agct (vm was given up 12 s ago)\n"
                 "Compared with JVMTI: 12 stacks, 11 equal, 1 different, 0 not walked; the "
                 "first: a stack has 3 frames by JVMTI and 4 by our walk\n"
                 "Compared with libunwind: 1004 native stacks, 990 equal, 2 different; the last: "
                 "frame 2 of 3, below a: b; by libunwind c\n"
                 "warning: SIGPROF has another owner\n");
    cli_doctor_judge(&doctor);
    cr_expect_str_eq(findings(), "agreement native-agreement walks-failed walker-down "
                                 "lostStoreFull frozen agent-warns memory ");
    cr_expect_str_eq(doctor.sampling, "CPU time every 10000 us by timers of the threads");
    cr_expect_str_eq(doctor.agreement, "a stack has 3 frames by JVMTI and 4 by our walk");
    cr_expect_eq(doctor.all.in_flight, 1);
    cr_expect_eq(doctor.all.cost.own_ns, 250000000);
    cr_expect_eq(doctor.all.cost.process_ns, 100500000000);

    FILE *to = fmemopen(page, sizeof page, "w");
    cr_assert_not_null(to);
    cli_doctor_text(&doctor, to);
    fclose(to);
    for (size_t i = 0; i < JW_COUNT_OF(lines); i++)
        cr_expect_not_null(strstr(page, lines[i]), "no '%s' in:\n%s", lines[i], page);
    cr_expect_null(strstr(page, "time in them"));
    cr_expect_null(strstr(page, "Stacks"));
}

Test(cli_doctor_agent, answers_that_are_none_change_nothing)
{
    cli_doctor_metrics(&doctor, "jaywalk_\njaywalk_{ 3\njaywalk_info{version=\"\njaywalk_info\nno\n"
                                "jaywalk_signals_total\njaywalk_memory_bytes{subsystem=\"x\"} 1\n"
                                "jaywalk_walker_in_use{walker=\"a\"} 1\n"
                                "jaywalk_walker_in_use{walker=\"b\"} 1\n"
                                "jaywalk_walker_in_use{walker=\"c\"} 1\n"
                                "jaywalk_walker_in_use{walker=\"d\"} 1\n"
                                "jaywalk_walker_in_use{walker=\"e\"} 1\n");
    cr_expect_eq(doctor.all.counters[JW_COUNT_SIGNALS], 0);
    cr_expect_eq(doctor.walker_count, CLI_DOCTOR_WALKERS);
    cli_doctor_status(&doctor, "");
}
