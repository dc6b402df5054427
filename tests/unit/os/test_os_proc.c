/* Texts of /proc as x86-64 and aarch64 machines show them, and texts that are none. */
#include "os/os_proc.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(os_proc, .timeout = 1800);

static struct os_cpu_info info;

static void read_cpuinfo(const char *text)
{
    os_proc_cpuinfo(text, strlen(text), &info);
}

static const char two_sockets[] = "processor\t: 0\n"
                                  "vendor_id\t: GenuineIntel\n"
                                  "cpu family\t: 6\n"
                                  "model\t\t: 85\n"
                                  "model name\t: Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz\n"
                                  "stepping\t: 4\n"
                                  "physical id\t: 0\n"
                                  "siblings\t: 2\n"
                                  "core id\t\t: 0\n"
                                  "cpu cores\t: 1\n"
                                  "flags\t\t: fpu vme de\n"
                                  "power management:\n"
                                  "\n"
                                  "processor\t: 1\n"
                                  "vendor_id\t: GenuineIntel\n"
                                  "cpu family\t: 6\n"
                                  "model\t\t: 85\n"
                                  "model name\t: Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz\n"
                                  "physical id\t: 0\n"
                                  "cpu cores\t: 1\n"
                                  "\n"
                                  "processor\t: 2\n"
                                  "model name\t: Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz\n"
                                  "physical id\t: 3\n"
                                  "cpu cores\t: 1\n"
                                  "\n"
                                  "processor\t: 3\n"
                                  "physical id\t: 3\n"
                                  "cpu cores\t: 1\n"
                                  "\n";

Test(os_proc, x86_sockets_and_cores_are_counted_once)
{
    read_cpuinfo(two_sockets);
    cr_assert(strcmp(info.vendor, "GenuineIntel") == 0, "%s", info.vendor);
    cr_assert(strcmp(info.model, "Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz") == 0, "%s",
              info.model);
    cr_assert(info.hardware_threads == 4);
    cr_assert(info.sockets == 2);
    cr_assert(info.cores == 2);
    cr_assert(strcmp(info.description, "family 6, model 85, stepping 4, features fpu vme de") == 0,
              "%s", info.description);
}

Test(os_proc, aarch64_numbers_become_names)
{
    read_cpuinfo("processor\t: 0\n"
                 "BogoMIPS\t: 243.75\n"
                 "Features\t: fp asimd evtstrm aes\n"
                 "CPU implementer\t: 0x41\n"
                 "CPU architecture: 8\n"
                 "CPU variant\t: 0x3\n"
                 "CPU part\t: 0xd0c\n"
                 "CPU revision\t: 1\n"
                 "\n"
                 "processor\t: 1\n"
                 "BogoMIPS\t: 243.75\n"
                 "CPU implementer\t: 0x41\n"
                 "CPU part\t: 0xd0c\n");
    cr_assert(strcmp(info.vendor, "ARM") == 0, "%s", info.vendor);
    cr_assert(strcmp(info.model, "Neoverse-N1") == 0, "%s", info.model);
    cr_assert(info.hardware_threads == 2);
    cr_assert(info.sockets == 0 && info.cores == 0, "the text does not tell");
    cr_assert(strcmp(info.description, "implementer 0x41, architecture 8, variant 0x3, part 0xd0c, "
                                       "revision 1, features fp asimd evtstrm aes") == 0,
              "%s", info.description);
}

Test(os_proc, an_unknown_aarch64_part_stays_a_number)
{
    read_cpuinfo("processor : 0\nCPU implementer : 0xc0\nCPU part : 0xfff\n");
    cr_assert(strcmp(info.vendor, "Ampere") == 0);
    cr_assert(strcmp(info.model, "part 0xfff") == 0);
    read_cpuinfo("CPU implementer\t: 0x99\nCPU part\t: 0x001\n");
    cr_assert(strcmp(info.vendor, "0x99") == 0);
    cr_assert(strcmp(info.model, "part 0x001") == 0);
}

Test(os_proc, long_fields_are_cut_and_terminated)
{
    static char text[4096];

    memcpy(text, "model name\t: ", 13);
    memset(text + 13, 'm', 1000);
    memcpy(text + 1013, "\nflags : ", 9);
    memset(text + 1022, 'f', 2000);
    read_cpuinfo(text);
    cr_assert(strlen(info.model) == sizeof info.model - 1);
    cr_assert(strlen(info.description) == sizeof info.description - 1);
}

Test(os_proc, any_cut_of_a_text_is_read_without_harm)
{
    for (size_t length_bytes = 0; length_bytes < sizeof two_sockets; length_bytes++) {
        char *exact = malloc(length_bytes + 1);
        struct os_cpu_times times;
        uint64_t number;
        char value[8];

        /* One byte in, so that what is read past the end is past the block. */
        memcpy(exact + 1, two_sockets, length_bytes);
        os_proc_cpuinfo(exact + 1, length_bytes, &info);
        cr_assert(info.hardware_threads <= 4);
        cr_assert(!os_proc_stat(exact + 1, length_bytes, &times));
        cr_assert(!os_proc_meminfo(exact + 1, length_bytes, "MemTotal", &number));
        cr_assert(!os_proc_signal_queue(exact + 1, length_bytes, &number, &number));
        cr_assert(os_proc_release(exact + 1, length_bytes, "NAME", value, sizeof value) == 0);
        if (os_proc_self_stat(exact + 1, length_bytes, &times, &number))
            cr_assert_fail("no such line is in the text");
        free(exact);
    }
}

Test(os_proc, stat_splits_busy_from_idle)
{
    static const char text[] = "cpu  100 20 30 4000 500 6 7 80 9 1\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
    struct os_cpu_times times = {0};

    cr_assert(os_proc_stat(text, sizeof text - 1, &times));
    cr_assert(times.machine_busy_ticks == 100 + 20 + 30 + 6 + 7);
    cr_assert(times.machine_total_ticks == 100 + 20 + 30 + 4000 + 500 + 6 + 7 + 80);
}

Test(os_proc, stat_of_an_old_kernel_has_four_fields)
{
    struct os_cpu_times times = {0};

    cr_assert(os_proc_stat("cpu 1 2 3 4\n", 12, &times));
    cr_assert(times.machine_busy_ticks == 6 && times.machine_total_ticks == 10);
    cr_assert(!os_proc_stat("cpu 1 2 3\n", 10, &times));
    cr_assert(!os_proc_stat("cpu0 1 2 3 4\n", 13, &times));
    cr_assert(!os_proc_stat("", 0, &times));
}

static const char self_stat[] =
    "123 (a) R (b c) S 1 123 123 34816 123 4194304 15000 0 10 0 77 33 0 0 20 0 25 0 987654 "
    "5000000000 30000 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n";

Test(os_proc, self_stat_survives_a_name_with_parentheses)
{
    struct os_cpu_times times = {0};
    uint64_t start_ticks = 0;

    cr_assert(os_proc_self_stat(self_stat, sizeof self_stat - 1, &times, &start_ticks));
    cr_assert(times.process_user_ticks == 77);
    cr_assert(times.process_system_ticks == 33);
    cr_assert(start_ticks == 987654);
}

Test(os_proc, self_stat_reads_over_negative_fields)
{
    static const char text[] = "1 (x) S -1 -1 -1 -1 -1 1 1 1 1 1 7 8 -9 -9 -20 -1 1 0 55";
    struct os_cpu_times times = {0};
    uint64_t start_ticks = 0;

    cr_assert(os_proc_self_stat(text, sizeof text - 1, &times, &start_ticks));
    cr_assert(times.process_user_ticks == 7 && times.process_system_ticks == 8);
    cr_assert(start_ticks == 55);
}

Test(os_proc, self_stat_refuses_every_cut_before_the_start_time)
{
    struct os_cpu_times times;
    uint64_t start_ticks;
    const size_t before_bytes = (size_t)(strstr(self_stat, "987654") - self_stat);

    for (size_t length_bytes = 0; length_bytes <= before_bytes; length_bytes++)
        cr_assert(!os_proc_self_stat(self_stat, length_bytes, &times, &start_ticks), "%zu",
                  length_bytes);
}

Test(os_proc, meminfo_gives_bytes)
{
    static const char text[] = "MemTotal:       16303988 kB\nMemFree:          123456 kB\n"
                               "MemAvailable:    9000000 kB\nSwapCached:            0 kB\n"
                               "Huge: 99999999999999999999999 kB\n";
    uint64_t value_bytes = 0;

    cr_assert(os_proc_meminfo(text, sizeof text - 1, "MemTotal", &value_bytes));
    cr_assert(value_bytes == 16303988ull * 1024);
    cr_assert(os_proc_meminfo(text, sizeof text - 1, "MemAvailable", &value_bytes));
    cr_assert(value_bytes == 9000000ull * 1024);
    cr_assert(os_proc_meminfo(text, sizeof text - 1, "SwapCached", &value_bytes));
    cr_assert(value_bytes == 0);
    cr_assert(os_proc_meminfo(text, sizeof text - 1, "Huge", &value_bytes));
    cr_assert(value_bytes == UINT64_MAX);
    cr_assert(!os_proc_meminfo(text, sizeof text - 1, "Mem", &value_bytes));
    cr_assert(!os_proc_meminfo(text, sizeof text - 1, "SwapTotal", &value_bytes));
}

Test(os_proc, os_release_values_lose_their_quotes)
{
    static const char text[] =
        "NAME=Alpine\nVERSION_ID='3.19'\nPRETTY_NAME=\"Alpine Linux v3.19\"\n"
        "EMPTY=\nOPEN=\"half";
    char value[64];
    char small[7];

    cr_assert(os_proc_release(text, sizeof text - 1, "NAME", value, sizeof value) == 6);
    cr_assert(strcmp(value, "Alpine") == 0);
    cr_assert(os_proc_release(text, sizeof text - 1, "VERSION_ID", value, sizeof value) == 4);
    cr_assert(strcmp(value, "3.19") == 0);
    cr_assert(os_proc_release(text, sizeof text - 1, "PRETTY_NAME", value, sizeof value) == 18);
    cr_assert(strcmp(value, "Alpine Linux v3.19") == 0);
    cr_assert(os_proc_release(text, sizeof text - 1, "OPEN", value, sizeof value) == 5);
    cr_assert(strcmp(value, "\"half") == 0);
    cr_assert(os_proc_release(text, sizeof text - 1, "EMPTY", value, sizeof value) == 0);
    cr_assert(os_proc_release(text, sizeof text - 1, "ID", value, sizeof value) == 0);
    cr_assert(os_proc_release(text, sizeof text - 1, "PRETTY_NAME", small, sizeof small) == 6);
    cr_assert(strcmp(small, "Alpine") == 0);
}

Test(os_proc, the_signal_queue_shows_use_and_limit)
{
    static const char text[] = "Name:\tx\nThreads:\t2\nSigQ:\t12/96365\nSigPnd:\t0\n";
    uint64_t used_count = 0;
    uint64_t limit_count = 0;

    cr_assert(os_proc_signal_queue(text, sizeof text - 1, &used_count, &limit_count));
    cr_assert(used_count == 12 && limit_count == 96365);
    cr_assert(!os_proc_signal_queue("SigQ:\t12\n", 9, &used_count, &limit_count));
    cr_assert(!os_proc_signal_queue("SigQ:\t/5\n", 9, &used_count, &limit_count));
}

Test(os_proc, load_is_the_share_of_what_passed_in_between)
{
    const struct os_cpu_times earlier = {1000, 10000, 300, 200};
    const struct os_cpu_times later = {1500, 11000, 550, 300};
    struct os_cpu_load load;

    cr_assert(os_cpu_load_between(&earlier, &later, &load));
    cr_assert(load.machine_total == 0.5);
    cr_assert(load.process_user == 0.25);
    cr_assert(load.process_system == 0.1);
    cr_assert(!os_cpu_load_between(&later, &later, &load));
    cr_assert(!os_cpu_load_between(&later, &earlier, &load));
}

Test(os_proc, load_stays_between_none_and_all)
{
    const struct os_cpu_times earlier = {1000, 10000, 300, 200};
    const struct os_cpu_times later = {900, 10010, 5000, 200}; /* counters of idle cpus go back */
    struct os_cpu_load load;

    cr_assert(os_cpu_load_between(&earlier, &later, &load));
    cr_assert(load.machine_total == 0);
    cr_assert(load.process_user == 1);
    cr_assert(load.process_system == 0);
}

Test(os_proc, interfaces_are_told_with_what_they_received_and_sent)
{
    static const char text[] =
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
        "    lo: 1200 10 0 0 0 0 0 0 1300 11 0 0 0 0 0 0\n"
        "eth0:18446744073709551615 3 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n"
        "wlan0-with-a-long-name: 5 0 0 0 0 0 0 0 6 0 0 0 0 0 0 0\n"
        "short: 5 0 0 0\n"
        ": 1 1 1 1 1 1 1 1 1\n";
    struct os_interface found[8];

    cr_assert_eq(os_proc_net_dev(text, strlen(text), found, 8), 3);
    cr_expect_str_eq(found[0].name, "lo");
    cr_expect_eq(found[0].received_bytes, 1200);
    cr_expect_eq(found[0].sent_bytes, 1300);
    cr_expect_str_eq(found[1].name, "eth0");
    cr_expect_eq(found[1].received_bytes, UINT64_MAX);
    cr_expect_eq(found[1].sent_bytes, 7);
    cr_expect_str_eq(found[2].name, "wlan0-with-a-lo", "cut to fit");
    cr_expect_eq(os_proc_net_dev(text, strlen(text), found, 1), 1);
    cr_expect_eq(os_proc_net_dev(text, 0, found, 8), 0);
}

Test(os_proc, context_switches_are_found_behind_the_interrupts)
{
    static const char text[] = "cpu  1 2 3 4\nintr 5 6 7\nctxt 8123\nbtime 9\n";
    uint64_t count = 1;

    cr_assert(os_proc_switches(text, strlen(text), &count));
    cr_expect_eq(count, 8123);
    cr_expect_not(os_proc_switches("cpu 1\nctxtra 5\nctxt", 20, &count));
    cr_expect_not(os_proc_switches("", 0, &count));
}
