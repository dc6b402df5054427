/* What a recording tells of the process beside its samples. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/made.h"
#include "support/jfr_check.h"

static char directory[] = "/tmp/jaywalk-host-XXXXXX";
static char path[64];
static struct jw_error err;
static struct jfr_check check;
static struct recording *recording;
static uint64_t look;
static unsigned library_count;

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    look = 1;
    library_count = 2;
}

static void tear_down(void)
{
    unlink(path);
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

TestSuite(recording_host, .init = set_up, .fini = tear_down, .timeout = 1800);

static bool tell_property(void *context, uint32_t number, struct recording_pair *out)
{
    static const char *const pairs[][2] = {
        {"java.home", "/jdk"}, {"empty", ""}, {"odd\xff", "\xed\xa0\xbd"}};

    (void)context;
    if (number >= JW_COUNT_OF(pairs))
        return false;
    *out = (struct recording_pair){made_text(pairs[number][0]), made_text(pairs[number][1])};
    return true;
}

static bool tell_variable(void *context, uint32_t number, struct recording_pair *out)
{
    (void)context;
    *out = (struct recording_pair){made_text("HOME"), {NULL, 0}};
    return number == 0;
}

static void tell_libraries(void *context, uint64_t *known, recording_library_visit *visit,
                           void *closure)
{
    (void)context;
    if (*known == look)
        return;
    *known = look;
    for (unsigned i = 0; i < library_count; i++) {
        char name[32];

        snprintf(name, sizeof name, "/lib/lib%u.so", i);
        const struct recording_library library = {made_text(name), 0x7f0000000000 + i * 0x1000,
                                                  0x7f0000001000 + i * 0x1000};
        visit(closure, &library);
    }
}

static bool tell_flag(void *context, uint32_t number, struct recording_flag *out)
{
    static const struct recording_flag flags[] = {
        {RECORDING_FLAG_BOOLEAN, "UseG1GC", 1, NULL, "Ergonomic"},
        {RECORDING_FLAG_INT, "Level", (uint64_t)-2, NULL, "Default"},
        {RECORDING_FLAG_UINT, "Threads", 4000000000u, NULL, "Default"},
        {RECORDING_FLAG_UNTOLD, NULL, 0, NULL, NULL},
        {RECORDING_FLAG_LONG, "Stack", (uint64_t)-1, NULL, "Default"},
        {RECORDING_FLAG_ULONG, "MaxHeapSize", UINT64_MAX, NULL, "Command line"},
        {RECORDING_FLAG_DOUBLE, "Share", 0x3fe0000000000000, NULL, "Default"},
        {RECORDING_FLAG_TEXT, "ErrorFile", 0, "/hs_err", "Default"},
        {RECORDING_FLAG_TEXT, "OnError", 0, NULL, "Default"},
    };

    (void)context;
    if (number >= JW_COUNT_OF(flags))
        return false;
    *out = flags[number];
    return true;
}

static bool tell_heap(void *context, struct recording_heap *out)
{
    (void)context;
    *out = (struct recording_heap){.young_collector = "G1New",
                                   .pause_target_ms = INT64_MIN,
                                   .max_bytes = 1 << 30,
                                   .compressed_mode = "32-bit"};
    return true;
}

static bool tell_counts(void *context, struct recording_jvm_counts *out)
{
    (void)context;
    *out = (struct recording_jvm_counts){3, 2, 5, 4, 600, 1};
    return true;
}

static bool tell_metaspace(void *context, struct recording_metaspace *out)
{
    (void)context;
    *out = (struct recording_metaspace){100, 200, 300,
                                        150, 20,  30}; /* of two moments: a part above the whole */
    return true;
}

static struct recording_collection collections[4];
static uint32_t collection_count, collections_taken;

static bool tell_collection(void *context, struct recording_collection *out)
{
    (void)context;
    if (collections_taken == collection_count)
        return false;
    *out = collections[collections_taken++];
    return true;
}

static void open_recording(void)
{
    struct recording_config config = made_config(path, RECORDING_JFR);

    config.sources.property = tell_property;
    config.sources.variable = tell_variable;
    config.sources.libraries = tell_libraries;
    config.sources.flag = tell_flag;
    config.sources.heap = tell_heap;
    config.sources.counts = tell_counts;
    config.sources.metaspace = tell_metaspace;
    config.sources.collection = tell_collection;
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
}

static size_t events(const char *type)
{
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
    return jfr_check_events(&check, type);
}

static void close_recording(void)
{
    cr_assert(recording_close(recording, &err), "%s", err.message);
}

Test(recording_host, properties_and_variables_stand_in_each_chunk)
{
    open_recording();
    cr_expect_eq(events("jdk.InitialSystemProperty"), 3);
    cr_expect_eq(events("jdk.InitialEnvironmentVariable"), 1);
    cr_assert(recording_roll(recording, &err));
    close_recording();
    cr_expect_eq(events("jdk.InitialSystemProperty"), 6);
    cr_expect_eq(events("jdk.InitialEnvironmentVariable"), 2);
}

Test(recording_host, each_library_is_told_once_a_chunk_when_it_is_first_seen)
{
    open_recording();
    cr_assert(recording_flush(recording, &err));
    cr_assert(recording_roll(recording, &err));
    const size_t in_two = events("jdk.NativeLibrary");
    cr_expect_eq(in_two, 2, "the second chunk has told nothing yet: %zu", in_two);
    library_count = 3;
    look = 2;
    close_recording();
    cr_expect_eq(events("jdk.NativeLibrary"), 2 + 3);
}

Test(recording_host, a_library_that_was_told_is_not_told_again_at_the_next_look)
{
    open_recording();
    cr_assert(recording_roll(recording, &err));
    look = 2;
    cr_assert(recording_roll(recording, &err));
    look = 3;
    library_count = 1;
    close_recording();
    cr_expect_eq(events("jdk.NativeLibrary"), 2 + 2 + 1);
}

static void live(uint32_t index, uint32_t serial, uint64_t begin_ns, uint64_t end_ns,
                 uint64_t since_ns)
{
    const struct recording_life life = {index, serial, begin_ns, end_ns};

    recording_thread_life(recording, &life, since_ns);
}

Test(recording_host, a_thread_begins_and_ends_once)
{
    open_recording();
    const uint64_t since_ns = jw_now_ns();

    for (int turn = 0; turn < 3; turn++) {
        live(0, 1, since_ns, 0, since_ns);     /* was there before */
        live(1, 2, since_ns + 1, 0, since_ns); /* begins, and lives on */
    }
    live(2, 3, since_ns + 1, since_ns + 2, since_ns); /* begins and ends between two looks */
    live(2, 3, since_ns + 1, since_ns + 2, since_ns);
    live(0, 1, since_ns, since_ns + 3, since_ns);    /* ends */
    live(5000, 9, since_ns - 2, since_ns, since_ns); /* had ended before */
    live(2, 4, since_ns + 4, 0, since_ns);           /* another one gets the record */
    close_recording();
    cr_expect_eq(events("jdk.ThreadStart"), 3);
    cr_expect_eq(events("jdk.ThreadEnd"), 2);
}

Test(recording_host, threads_beyond_the_limit_of_a_chunk_are_counted)
{
    const uint64_t before = jw_counter(JW_COUNT_THREADS_UNTOLD);
    open_recording();
    const uint64_t since_ns = jw_now_ns();

    for (uint32_t i = 0; i < 8192 + 5; i++)
        live(7, 10 + i, since_ns + 1, 0, since_ns);
    cr_expect_eq(jw_counter(JW_COUNT_THREADS_UNTOLD) - before, 5);
    cr_assert(recording_roll(recording, &err));
    live(7, 100000, jw_now_ns(), 0, since_ns);
    close_recording();
    cr_expect_eq(events("jdk.ThreadStart"), 8192 + 1);
}

Test(recording_host, the_end_of_the_jvm_and_the_memory_of_the_process_are_told)
{
    open_recording();
    recording_shutdown(recording, "The JVM ended");
    close_recording();
    cr_expect_eq(events("jdk.Shutdown"), 1);
    cr_expect_neq(events("jdk.ResidentSetSize"), 0);
}

Test(recording_host, flags_stand_in_the_first_chunk_and_those_that_somebody_changed_in_each)
{
    static const char *const types[] = {"jdk.IntFlag", "jdk.UnsignedIntFlag", "jdk.LongFlag",
                                        "jdk.DoubleFlag"};

    open_recording();
    cr_assert(recording_roll(recording, &err));
    close_recording();
    cr_expect_eq(events("jdk.BooleanFlag"), 2);
    cr_expect_eq(events("jdk.UnsignedLongFlag"), 2);
    cr_expect_eq(events("jdk.StringFlag"), 2);
    for (size_t i = 0; i < JW_COUNT_OF(types); i++)
        cr_expect_eq(events(types[i]), 1, "%s", types[i]);
    cr_expect_eq(events("jdk.GCConfiguration"), 2);
    cr_expect_eq(events("jdk.GCHeapConfiguration"), 2);
}

Test(recording_host, each_collection_of_the_recording_is_told_with_its_pause_and_the_heap_around_it)
{
    const uint64_t before_ns = jw_now_ns();
    open_recording();
    const uint64_t now_ns = jw_now_ns();

    collections[0] = (struct recording_collection){
        1, before_ns - 2, before_ns - 1, "G1New", "x", 5, 9, 10, RECORDING_COLLECTION_YOUNG, 0, 0};
    collections[1] = (struct recording_collection){
        2, before_ns - 2, now_ns, "G1New", "x", 5, 9, 10, RECORDING_COLLECTION_YOUNG, 0, 0};
    collections[2] = (struct recording_collection){
        3, now_ns, now_ns + 5, "G1Full", "System.gc()", 5, 9, 10, RECORDING_COLLECTION_OLD, 8, 9};
    collections[3] = (struct recording_collection){
        4, now_ns + 6, now_ns + 7, NULL, NULL, 0, 0, 0, RECORDING_COLLECTION_ANY, 0, 0};
    collection_count = 4;
    close_recording();
    cr_expect_eq(events("jdk.GarbageCollection"), 3, "not the one of before");
    cr_expect_eq(events("jdk.GCPhasePause"), 3);
    cr_expect_eq(events("jdk.YoungGarbageCollection"), 1);
    cr_expect_eq(events("jdk.OldGarbageCollection"), 1);
    cr_expect_eq(events("jdk.GCHeapSummary"), 3, "not of a heap that is not told");
    cr_expect_eq(events("jdk.MetaspaceSummary"), 1);
    cr_expect_neq(events("jdk.JavaThreadStatistics"), 0);
    cr_expect_neq(events("jdk.ClassLoadingStatistics"), 0);
}

Test(recording_host, a_graph_takes_none_of_it)
{
    struct recording_config config = made_config(NULL, RECORDING_TEXT);

    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    recording_shutdown(recording, "The JVM ended");
    live(0, 1, jw_now_ns(), 0, 0);
    recording_drop(recording);
}
