/* event=COUNTER and what goes with it; live objects. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "options/options.h"

static struct options_result result;

static bool parse(const char *text)
{
    return options_parse(text, strlen(text), &result);
}

static void parse_quietly(const char *text)
{
    cr_assert(parse(text), "%s: %s", text, result.errors.texts[0]);
    cr_assert(result.warnings.count == 0, "%s: %s", text, result.warnings.texts[0]);
}

/* Accepted with one warning, in which `words` stand. */
static void parse_with_warning(const char *text, const char *words)
{
    cr_assert(parse(text), "%s: %s", text, result.errors.texts[0]);
    cr_assert(result.warnings.count == 1, "%s: %u warnings", text, result.warnings.count);
    cr_assert(strstr(result.warnings.texts[0], words) != NULL, "%s: %s", text,
              result.warnings.texts[0]);
}

Test(options_counters, counters_have_intervals_of_events)
{
    static const struct {
        const char *text, *name;
        uint64_t interval;
    } rows[] = {
        {"event=page-faults", "page-faults", 1},
        {"event=faults,interval=7", "faults", 7},
        {"interval=2000,event=cache-misses", "cache-misses", 2000},
        {"event=context-switches", "context-switches", 10},
        {"event=cycles", "cycles", 1000000},
        {"event=r01b7", "r01b7", 1000},
        {"event=sched:sched_switch", "sched:sched_switch", 1},
        {"event=kretprobe:do_sys_openat2", "kretprobe:do_sys_openat2", 1},
        {"event=uprobe:/lib/libc.so.6:malloc", "uprobe:/lib/libc.so.6:malloc", 1},
        {"event=uprobe:/lib/libc.so.6+0x1f0", "uprobe:/lib/libc.so.6+0x1f0", 1},
        {"event=malloc,interval=100", "malloc", 100},
        {"event=read", "read", 1},
    };

    for (size_t i = 0; i < JW_COUNT_OF(rows); i++) {
        parse_quietly(rows[i].text);
        cr_assert(result.values.event == OPTIONS_EVENT_PERF, "%s", rows[i].text);
        cr_assert_str_eq(result.values.perf, rows[i].name);
        cr_assert_str_eq(options_event_text(&result.values), rows[i].name);
        cr_assert(result.values.interval_count == rows[i].interval, "%s", rows[i].text);
        cr_assert(result.values.interval_ns == 10000000, "%s", rows[i].text);
    }
    parse_quietly("event=cpu,interval=5ms");
    cr_assert(result.values.interval_count == 0);
    parse_quietly("event=page-faults,wall=20ms");
    cr_assert(result.values.event == OPTIONS_EVENT_PERF && result.values.wall_ns == 20000000);
}

Test(options_counters, calls_of_methods_are_counted_one_by_one_or_less)
{
    parse_quietly("event=java.util.Properties.getProperty");
    cr_assert_eq(result.values.event, OPTIONS_EVENT_METHOD);
    cr_assert_str_eq(options_event_text(&result.values), "java.util.Properties.getProperty");
    cr_assert(options_is_counting(&result.values) && !options_has_cpu(&result.values));
    cr_assert_eq(result.values.interval_count, 1);
    parse_quietly("event=java/util/Map.get,interval=1000,wall=20ms,alloc=1m");
    cr_assert_eq(result.values.event, OPTIONS_EVENT_METHOD);
    cr_assert_eq(result.values.interval_count, 1000);
    cr_assert_eq(result.values.wall_ns, 20000000);
    cr_assert_eq(result.values.alloc_bytes, 1 << 20);
    parse_with_warning("event=a.B.c,overhead=1%", "overhead: has no effect on event=a.B.c");
    parse_with_warning("event=a.B.c,alluser", "alluser: has no effect on event=a.B.c");
}

Test(options_counters, exceptions_are_counted_all_or_by_their_class)
{
    parse_quietly("event=exception");
    cr_assert_eq(result.values.event, OPTIONS_EVENT_EXCEPTION);
    cr_assert_str_eq(options_event_text(&result.values), "exception");
    cr_assert(options_is_counting(&result.values) && !options_has_cpu(&result.values));
    cr_assert_eq(result.values.interval_count, 1);
    parse_quietly("event=exception:java.io.*|Shop$Failed,interval=100,wall=20ms");
    cr_assert_eq(result.values.event, OPTIONS_EVENT_EXCEPTION);
    cr_assert_str_eq(options_event_text(&result.values), "exception:java.io.*|Shop$Failed");
    cr_assert_eq(result.values.interval_count, 100);
    cr_assert_eq(result.values.wall_ns, 20000000);
    parse_with_warning("event=exception,overhead=1%", "overhead: has no effect on event=exception");
}

Test(options_counters, objects_are_counted_by_their_class)
{
    parse_quietly("event=new:com.acme.Order");
    cr_assert_eq(result.values.event, OPTIONS_EVENT_NEW);
    cr_assert_str_eq(options_event_text(&result.values), "new:com.acme.Order");
    cr_assert(options_is_counting(&result.values) && !options_has_cpu(&result.values));
    cr_assert_eq(result.values.interval_count, 1);
    parse_quietly("event=new:com.acme.**|byte[],interval=1000,wall=20ms,alloc=1m");
    cr_assert_eq(result.values.event, OPTIONS_EVENT_NEW);
    cr_assert_str_eq(options_event_text(&result.values), "new:com.acme.**|byte[]");
    cr_assert_eq(result.values.interval_count, 1000);
    cr_assert_eq(result.values.alloc_bytes, 1 << 20);
    parse_with_warning("event=new:a.B,overhead=1%", "overhead: has no effect on event=new:a.B");
}

/* Each signal is a context switch of its own; and the processor's counters come by the million. */
Test(options_counters, intervals_of_counters_have_a_least_one)
{
    parse_with_warning("event=context-switches,interval=1", "interval=1: is too small; 2 is used");
    cr_assert(result.values.interval_count == 2);
    parse_with_warning("event=cycles,interval=100", "10000 is used");
    parse_with_warning("event=page-faults,overhead=1%", "overhead: has no effect");
    cr_assert(result.values.overhead_ppm == 0);
}

Test(options_counters, user_code_alone_is_of_events_of_the_kernel)
{
    parse_quietly("event=cpu-clock,alluser");
    cr_assert(result.values.is_user_only);
    parse_quietly("event=cycles,alluser");
    parse_with_warning("event=cpu,alluser", "alluser: has no effect on event=cpu");
}

Test(options_counters, bad_ones_are_refused_with_their_text)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"event=uprobe:malloc", "event=uprobe:malloc: is unknown; allowed: cpu"},
        {"event=cycles,interval=1ms",
         "interval=1ms: has something after its number that is no unit here; of event=cycles it "
         "is a number of events, from 10000"},
        {"interval=0,event=page-faults", "interval=0: is zero"},
        {"interval=1000000000001,event=page-faults", "is too large"},
        {"event=page-faults,interval=-5", "is negative"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(rows); i++) {
        cr_assert(!parse(rows[i].text), "%s", rows[i].text);
        cr_assert(result.errors.count == 1, "%s", rows[i].text);
        cr_assert(strstr(result.errors.texts[0], rows[i].words) != NULL, "%s: %s", rows[i].text,
                  result.errors.texts[0]);
    }
}

/* Locks alone are the event; beside another one they are told in addition. */
Test(options_counters, locks_are_told_beside_the_event_or_alone)
{
    parse_quietly("lock,file=x.jfr");
    cr_assert_eq(result.values.event, OPTIONS_EVENT_LOCK);
    cr_assert_eq(result.values.lock_ns, OPTIONS_LOCK_DEFAULT_NS);
    parse_quietly("event=lock,interval=1ms,file=x.jfr");
    cr_assert_eq(result.values.lock_ns, 1000000);
    parse_quietly("event=cpu,lock=50us,file=x.jfr");
    cr_assert_eq(result.values.event, OPTIONS_EVENT_CPU);
    cr_assert_eq(result.values.lock_ns, 50000);
    parse_quietly("alloc=64k,lock,file=x.jfr");
    cr_assert_eq(result.values.event, OPTIONS_EVENT_ALLOC);
    parse_quietly("wall=20ms,lock,file=x.jfr");
    cr_assert_eq(result.values.event, OPTIONS_EVENT_WALL);
    parse_quietly("event=cpu,file=x.jfr");
    cr_assert_eq(result.values.lock_ns, 0);
}

/* Live objects are sampled ones: who asks for them alone gets the samples, too. */
Test(options_counters, live_brings_the_allocations_that_it_is_made_of)
{
    parse_quietly("live,file=x.jfr");
    cr_assert_eq(result.values.event, OPTIONS_EVENT_ALLOC);
    cr_assert_eq(result.values.alloc_bytes, OPTIONS_ALLOC_DEFAULT_BYTES);
    cr_assert_eq(result.values.live_count, OPTIONS_LIVE_DEFAULT);
    parse_quietly("event=cpu,live=100,file=x.jfr");
    cr_assert_eq(result.values.event, OPTIONS_EVENT_CPU);
    cr_assert_eq(result.values.alloc_bytes, OPTIONS_ALLOC_DEFAULT_BYTES);
    cr_assert_eq(result.values.live_count, 100);
    parse_quietly("wall=20ms,live,file=x.jfr");
    cr_assert_eq(result.values.alloc_bytes, OPTIONS_ALLOC_DEFAULT_BYTES);
    parse_quietly("event=cpu,alloc=64k,live,file=x.jfr");
    cr_assert_eq(result.values.alloc_bytes, 65536);
    parse_quietly("event=alloc,interval=1k,live,file=x.jfr");
    cr_assert_eq(result.values.alloc_bytes, 1024);
    parse_quietly("event=cpu,file=x.jfr");
    cr_assert_eq(result.values.live_count, 0);
}

Test(options_counters, exceptions_go_with_events_that_do_not_count_by_their_cells)
{
    static const char *const events[] = {"exception", "new:com.acme.Order", "com.acme.Shop.buy"};
    char text[64];

    parse_quietly("start,event=cpu,exceptions");
    cr_assert_str_eq(result.values.throws_of, "**");
    parse_quietly("start,wall=20ms,exceptions=java.io.IOException|com.acme.**");
    cr_assert_str_eq(result.values.throws_of, "java.io.IOException|com.acme.**");
    for (size_t i = 0; i < JW_COUNT_OF(events); i++) {
        snprintf(text, sizeof text, "start,event=%s,exceptions", events[i]);
        cr_assert(!parse(text), "%s", text);
        cr_assert(strstr(result.errors.texts[0], "exceptions: not beside event=") != NULL);
    }
}
