/* Spellings of events, told apart by their shape. */
#include "base/perf_event.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static const struct {
    const char *text;
    enum jw_perf_kind kind;
} rows[] = {
    {"page-faults", JW_PERF_NAMED},
    {"faults", JW_PERF_NAMED},
    {"LLC-load-misses", JW_PERF_NAMED},
    {"cycles", JW_PERF_NAMED},
    {"r01b7", JW_PERF_RAW},
    {"rFFFFffffFFFFfff0", JW_PERF_RAW},
    {"rFFFFffffFFFFffff0", JW_PERF_FUNCTION}, /* 65 bits: no number */
    {"read", JW_PERF_FUNCTION},               /* hexadecimal, too, but without a digit */
    {"r", JW_PERF_FUNCTION},
    {"malloc", JW_PERF_FUNCTION},
    {"_Z3foov", JW_PERF_FUNCTION},
    {"sched:sched_switch", JW_PERF_TRACEPOINT},
    {"sched:", JW_PERF_NONE},
    {":sched_switch", JW_PERF_NONE},
    {"a:b:c", JW_PERF_NONE},
    {"../x:id", JW_PERF_NONE},
    {"sched:../../x", JW_PERF_NONE},
    {"kprobe:do_sys_openat2", JW_PERF_KPROBE},
    {"kprobe:do_sys_openat2+0x1f", JW_PERF_KPROBE},
    {"kprobe:foo.isra.0", JW_PERF_KPROBE},
    {"kretprobe:do_sys_openat2", JW_PERF_KRETPROBE},
    {"kprobe:", JW_PERF_NONE},
    {"kprobe:+0x1", JW_PERF_NONE},
    {"uprobe:/lib/libc.so.6:malloc", JW_PERF_UPROBE},
    {"uprobe:/lib/libstdc++.so.6:malloc", JW_PERF_UPROBE},
    {"uprobe:/lib/libc.so.6+0xa0700", JW_PERF_UPROBE},
    {"uretprobe:/lib/libc.so.6:malloc", JW_PERF_URETPROBE},
    {"uprobe:/lib/libc.so.6", JW_PERF_NONE},
    {"uprobe:/lib/libc.so.6+0x", JW_PERF_NONE},
    {"uprobe:libc.so.6:malloc", JW_PERF_NONE},
    {"uprobe:/:malloc", JW_PERF_NONE},
    {"uprobe:malloc", JW_PERF_NONE},
    {"cache-mises", JW_PERF_NONE},
    {"java.lang.String.length", JW_PERF_METHOD},
    {"java/util/Map.get", JW_PERF_METHOD},
    {"com.acme.**.find*", JW_PERF_METHOD},
    {"Shop$Part.<init>", JW_PERF_METHOD},
    {"Shop.", JW_PERF_NONE},
    {".buy", JW_PERF_NONE},
    {"/tmp/x.y", JW_PERF_NONE},
    {"Shop.buy(I)V", JW_PERF_NONE},
    {"java/util/Map", JW_PERF_NONE},
    {"exception", JW_PERF_EXCEPTION},
    {"exception:java.io.IOException|com.acme.**", JW_PERF_EXCEPTION},
    {"exception:Shop$Failed", JW_PERF_EXCEPTION},
    {"exception:", JW_PERF_NONE},
    {"exceptions:page_fault_user", JW_PERF_TRACEPOINT},
    {"new", JW_PERF_NEW}, /* refused where its patterns are looked at */
    {"new:com.acme.Order|com.acme.**|byte[]", JW_PERF_NEW},
    {"new:Shop$Order", JW_PERF_NEW},
    {"new:", JW_PERF_NONE},
    {"newer", JW_PERF_FUNCTION},
    {"", JW_PERF_NONE},
    {"9lives", JW_PERF_NONE},
};

Test(perf_event, texts_are_told_apart_by_their_shape)
{
    for (size_t i = 0; i < JW_COUNT_OF(rows); i++) {
        cr_assert(eq(int, (int)jw_perf_kind_of(rows[i].text, strlen(rows[i].text), NULL),
                     (int)rows[i].kind),
                  "%s", rows[i].text);
    }
}

/* The text stands in quotes on the page of metrics, and in a line of the status. */
Test(perf_event, a_path_that_would_end_a_string_or_a_line_is_none)
{
    static const char *const texts[] = {"uprobe:/a\"b.so:f", "uprobe:/a\\b.so:f",
                                        "uprobe:/a\nb.so:f",
                                        "uprobe:/a\x7f"
                                        "b.so+0x10"};

    for (size_t i = 0; i < JW_COUNT_OF(texts); i++)
        cr_assert(eq(int, (int)jw_perf_kind_of(texts[i], strlen(texts[i]), NULL), JW_PERF_NONE),
                  "%s", texts[i]);
}

Test(perf_event, what_is_longer_than_any_is_none)
{
    char text[JW_PERF_NAME_BYTES + 1];

    memset(text, 'a', sizeof text);
    cr_assert(eq(int, (int)jw_perf_kind_of(text, JW_PERF_NAME_BYTES - 1, NULL), JW_PERF_FUNCTION));
    cr_assert(eq(int, (int)jw_perf_kind_of(text, JW_PERF_NAME_BYTES, NULL), JW_PERF_NONE));
}

/* No two names of the table are one, none is shorter in its default than it may be, and none can be taken for another kind. */
Test(perf_event, the_table_is_sound)
{
    const struct jw_perf_info *info;

    for (size_t i = 0; (info = jw_perf_at(i)) != NULL; i++) {
        size_t number = 0;
        uint64_t minimum;

        cr_assert(
            eq(int, (int)jw_perf_kind_of(info->name, strlen(info->name), &number), JW_PERF_NAMED));
        cr_assert(eq(sz, number, i));
        cr_assert(eq(u64, jw_perf_interval(info->name, &minimum), info->interval));
        cr_assert(ge(u64, info->interval, minimum));
        cr_assert(ge(u64, minimum, 1));
        cr_assert_str_eq(jw_perf_unit(info->name), info->name);
        if (info->alias != NULL)
            cr_assert_str_eq(jw_perf_unit(info->alias), info->name);
    }
    cr_assert_str_eq(jw_perf_unit("malloc"), "events");
    cr_assert_str_eq(jw_perf_unit("a.B.c"), "calls");
    cr_assert_str_eq(jw_perf_unit("r1b7"), "events");
}
