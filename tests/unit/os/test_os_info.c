/* What this very machine says of itself. */
#include "os/os_info.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/os_timer.h"

TestSuite(os_info, .timeout = 1800);

Test(os_info, the_version_text_names_kernel_and_libc)
{
    struct utsname kernel;
    char text[1024];
    const size_t length_bytes = os_version_text(text, sizeof text);

    cr_assert(uname(&kernel) == 0);
    cr_assert(strlen(text) == length_bytes);
    cr_assert(strstr(text, kernel.release) != NULL, "%s", text);
    cr_assert(strstr(text, "\nlibc: ") != NULL, "%s", text);
    cr_assert(os_version_text(text, 10) == 9 && strlen(text) == 9);
}

Test(os_info, the_processor_has_at_least_one_of_each)
{
    static struct os_cpu_info info;

    os_cpu_info(&info);
    cr_assert(info.hardware_threads >= 1);
    cr_assert(info.sockets <= info.cores || info.cores == 0);
    cr_assert(info.cores <= info.hardware_threads);
    cr_assert(info.vendor[0] != '\0' || info.model[0] != '\0');
}

Test(os_info, cpu_times_follow_what_the_process_uses)
{
    struct os_cpu_times earlier;
    struct os_cpu_times later;
    struct os_cpu_load load;
    const uint64_t start_ns = os_process_cpu_ns();

    cr_assert(os_cpu_times(&earlier));
    /* Ten ticks and more, so that one is seen whatever the rounding. */
    while (os_process_cpu_ns() - start_ns < 150 * JW_NS_PER_MS)
        ;
    cr_assert(os_cpu_times(&later));
    cr_assert(os_cpu_load_between(&earlier, &later, &load));
#if defined(__x86_64__)
    /* The emulator that other architectures are tested with shows no CPU time in /proc/self/stat. */
    cr_assert(later.process_user_ticks + later.process_system_ticks >
              earlier.process_user_ticks + earlier.process_system_ticks);
    cr_assert(load.process_user + load.process_system > 0);
#endif
    cr_assert(load.machine_total > 0 && load.machine_total <= 1);
}

Test(os_info, memory_in_use_is_part_of_all)
{
    struct os_memory memory;

    os_memory(&memory);
    cr_assert(memory.total_bytes > 1 << 20);
    cr_assert(memory.used_bytes > 0 && memory.used_bytes < memory.total_bytes);
}

Test(os_info, a_page_is_a_power_of_two)
{
    const size_t page_bytes = os_page_bytes();

    cr_assert(page_bytes >= 4096 && (page_bytes & (page_bytes - 1)) == 0);
}

Test(os_info, the_process_started_before_now_and_after_the_machine)
{
    const uint64_t start_ns = os_process_start_wall_ns();
    struct timespec since_boot;
    const uint64_t now_ns = jw_wall_ns();

    cr_assert(clock_gettime(CLOCK_BOOTTIME, &since_boot) == 0);
    const uint64_t uptime_ns = (uint64_t)since_boot.tv_sec * JW_NS_PER_SECOND;
    cr_assert(start_ns > 0 && start_ns <= now_ns);
    cr_assert(now_ns - start_ns <= uptime_ns + JW_NS_PER_SECOND);
}

Test(os_info, two_readings_of_the_start_agree)
{
    const uint64_t first_ns = os_process_start_wall_ns();
    const uint64_t second_ns = os_process_start_wall_ns();
    const uint64_t apart_ns = first_ns < second_ns ? second_ns - first_ns : first_ns - second_ns;

    /* The two clocks are not read at the same instant; a second is the loosest that means anything. */
    cr_assert(apart_ns < JW_NS_PER_SECOND);
}

Test(os_info, the_command_line_has_this_program_in_it)
{
    char text[4096];
    char small[4];
    const size_t length_bytes = os_command_line(text, sizeof text);

    cr_assert(length_bytes > 0 && text[length_bytes] == '\0' && text[length_bytes - 1] != '\0');
    cr_assert(strcmp(text, program_invocation_name) == 0, "%s", text);
    cr_assert(os_command_line(small, sizeof small) == 3 && memcmp(small, text, 3) == 0);
}

Test(os_info, without_memory_it_still_answers)
{
    static struct os_cpu_info info;
    char text[16];

    jw_alloc_fail_after(1);
    os_cpu_info(&info);
    cr_assert(info.hardware_threads >= 1 && info.model[0] == '\0');
    cr_assert(os_command_line(text, sizeof text) == 0 && text[0] == '\0');
    jw_alloc_fail_after(0);
}

Test(os_info, this_process_has_memory_an_environment_and_interfaces)
{
    struct os_interface interfaces[4];
    struct os_resident resident;
    uint64_t switches = 0, later = 0;
    size_t length_bytes = 0;

    cr_assert(os_resident(&resident));
    cr_expect_neq(resident.size_bytes, 0);
    cr_expect_leq(resident.size_bytes, resident.peak_bytes);
    cr_assert(os_switches(&switches));
    cr_assert(os_switches(&later));
    cr_expect_leq(switches, later);
    cr_expect_leq(os_interfaces(interfaces, 4), 4);

    char *text = os_environment(&length_bytes);
    cr_assert_not_null(text);
    cr_expect_neq(length_bytes, 0);
    jw_free(text);
}
