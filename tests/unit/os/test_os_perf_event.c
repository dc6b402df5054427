/* What spellings ask the kernel for, and what is said where it has no such event. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "os/os_perf.h"

static struct jw_error err;
static struct os_perf_event event;

/* Each with an error of its own: the first one stays. */
static bool find(const char *text)
{
    err = (struct jw_error){{0}};
    return os_perf_find(text, &event, &err);
}

Test(os_perf_event, names_are_those_of_the_kernel)
{
    static const struct {
        const char *name;
        uint32_t type;
        uint64_t config;
    } rows[] = {
        {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
        {"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
        {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
        {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
        {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
        {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
        {"LLC-load-misses", PERF_TYPE_HW_CACHE, 0x10002},
        {"dTLB-load-misses", PERF_TYPE_HW_CACHE, 0x10003},
        {"LLC-store-misses", PERF_TYPE_HW_CACHE, 0x10102},
        {"r01B7", PERF_TYPE_RAW, 0x1b7},
    };

    for (size_t i = 0; i < JW_COUNT_OF(rows); i++) {
        cr_assert(find(rows[i].name), "%s", err.message);
        cr_assert(eq(u32, event.type, rows[i].type), "%s", rows[i].name);
        cr_assert(eq(u64, event.config, rows[i].config), "%s", rows[i].name);
        cr_assert_str_empty(event.place);
    }
}

Test(os_perf_event, a_uprobe_is_a_place_in_a_file)
{
    if (access("/sys/bus/event_source/devices/uprobe/type", R_OK) != 0) {
        cr_assert(not(find("uprobe:/lib/libstdc++.so.6+0x1f0")));
        cr_assert(strstr(err.message, "CONFIG_UPROBE_EVENTS") != NULL, "%s", err.message);
        cr_skip_test("NOT RUN: this kernel has no uprobes");
    }
    cr_assert(find("uprobe:/lib/libstdc++.so.6+0x1f0"), "%s", err.message);
    cr_assert_str_eq(event.place, "/lib/libstdc++.so.6");
    cr_assert(eq(u64, event.config2, 0x1f0));
    cr_assert(eq(u64, event.config, 0));
    cr_assert(ge(u32, event.type, PERF_TYPE_MAX));
    cr_assert(find("uretprobe:/lib/libc.so.6+0x1f0"), "%s", err.message);
    cr_assert(eq(u64, event.config, 1));
}

Test(os_perf_event, m66_what_this_kernel_lacks_is_said)
{
    if (find("kprobe:schedule"))
        cr_assert_str_eq(event.place, "schedule");
    else
        cr_assert(strstr(err.message, "CONFIG_KPROBE_EVENTS") != NULL, "%s", err.message);
    cr_assert(not(find("sched:sched_swatch")));
    cr_assert(strstr(err.message, "mount -t tracefs") != NULL ||
                  strstr(err.message, "did you mean sched:sched_sw") != NULL,
              "%s", err.message);
    cr_assert(not(find("no such thing")));
    cr_assert(not(find("malloc")), "a function is looked for by the agent");
}

/* Of a probe where none can be, and of a counter that the machine may lack, it is said what could not be had. */
Test(os_perf_event, m66_what_cannot_be_had_is_said_by_its_kind)
{
    if (find("uprobe:/dev/null+0x0")) {
        cr_assert(not(os_perf_check(&event, &err)));
        cr_assert(strstr(err.message, "perf_event_open: ") != NULL, "%s", err.message);
    }
    cr_assert(find("context-switches"));
    event.is_user_only = true;
    cr_assert(not(os_perf_check(&event, &err)));
    cr_assert(strstr(err.message, "leave alluser out") != NULL, "%s", err.message);
    cr_assert(find("cycles"));
    if (!os_perf_check(&event, &err))
        cr_assert(strstr(err.message, "hides its counters") != NULL ||
                      strstr(err.message, "denied") != NULL ||
                      strstr(err.message, "permitted") != NULL ||
                      strstr(err.message, "has no perf_events") != NULL,
                  "%s", err.message);
}

/* Of a probe, whose place is still open, and of what may be had of user code alone. */
Test(os_perf_event, m66_who_may_not_is_told_the_cure_by_kind)
{
    struct os_perf_event faults, switches, probe;
    const bool has_probes = find("uprobe:/no/such/file+0x0");

    probe = event;
    cr_assert(find("page-faults"));
    faults = event;
    cr_assert(find("context-switches"));
    switches = event;
    if (!os_perf_check(&faults, &err))
        cr_skip_test("NOT RUN: %s", err.message);
    if (has_probes)
        cr_assert(os_perf_may(&probe, &err), "%s", err.message);
    if (getuid() != 0 || setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
        cr_skip_test("NOT RUN: only root can become somebody who may not");
    if (has_probes) {
        cr_assert(not(os_perf_may(&probe, &err)));
        cr_assert(strstr(err.message, "a probe needs CAP_PERFMON") != NULL, "%s", err.message);
    }
    err = (struct jw_error){{0}};
    if (os_perf_check(&faults, &err))
        cr_skip_test("NOT RUN: kernel.perf_event_paranoid lets everybody");
    cr_assert(strstr(err.message, "sysctl kernel.perf_event_paranoid=1") != NULL, "%s",
              err.message);
    const bool is_for_users = strstr(err.message, "paranoid is 2,") != NULL;
    cr_assert(eq(int, strstr(err.message, "or add alluser") != NULL, is_for_users), "%s",
              err.message);
    err = (struct jw_error){{0}};
    cr_assert(not(os_perf_check(&switches, &err)));
    cr_assert(strstr(err.message, "alluser") == NULL, "%s", err.message);
    faults.is_user_only = true;
    cr_assert(eq(int, os_perf_check(&faults, &err), is_for_users));
}
