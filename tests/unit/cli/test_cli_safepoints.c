/* `jaywalk safepoints`: figures, culprits and hints, of recordings of which a test says what is in them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdarg.h>
#include <unistd.h>

#include "cli/cli_safepoints_internal.h"
#include "support/recording_maker.h"
#include "unit/cli/run_cli.h"

#define MS 1000000ull

static const char *const rows[] = {
    "root",
    "  metadata",
    "    class name=long id=10",
    "    class name=int id=11",
    "    class name=java.lang.String id=12",
    "    class name=boolean id=13",
    "    class name=java.lang.Thread id=20",
    "      field name=osName class=12",
    "      field name=javaName class=12",
    "    class name=jdk.types.StackTrace id=21",
    "      field name=truncated class=13",
    "      field name=frames class=22 dimension=1",
    "    class name=jdk.types.StackFrame id=22",
    "      field name=method class=24 constantPool=true",
    "      field name=lineNumber class=11",
    "      field name=bytecodeIndex class=11",
    "      field name=type class=23 constantPool=true",
    MAKER_NAME_ROWS,
    "    class name=jdk.jfr.Timespan id=31 superType=java.lang.annotation.Annotation",
    "    class name=jdk.types.VMOperationType id=29",
    "      field name=type class=12",
    "    class name=jaywalk.SafepointDelay id=101 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=eventThread class=20 constantPool=true",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=timeToReach class=10",
    "      field name=timeInside class=10",
    "      field name=operation class=12",
    "      field name=lateIn class=12",
    "      field name=cpuTime class=10",
    "      field name=waitTime class=10",
    "      field name=minorFaults class=10",
    "      field name=majorFaults class=10",
    "    class name=jdk.ActiveSetting id=102 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=id class=10",
    "      field name=name class=12",
    "      field name=value class=12",
    "    class name=jdk.SafepointBegin id=103 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=duration class=10",
    "        annotation class=31 value=TICKS",
    "      field name=safepointId class=10",
    "    class name=jdk.SafepointStateSynchronization id=104 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=duration class=10",
    "        annotation class=31 value=TICKS",
    "      field name=safepointId class=10",
    "    class name=jdk.SafepointEnd id=105 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=duration class=10",
    "        annotation class=31 value=TICKS",
    "      field name=safepointId class=10",
    "    class name=jdk.ExecuteVMOperation id=106 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=duration class=10",
    "        annotation class=31 value=TICKS",
    "      field name=operation class=29 constantPool=true",
    "      field name=safepoint class=13",
    "      field name=safepointId class=10",
    "  region locale=en_US gmtOffset=0",
    NULL,
};

enum { DELAY = 101, SETTING, BEGIN, SYNCHRONIZATION, END, OPERATION };

/* Stacks; main is thread 1, worker 2. */
enum { NO_STACK, LOOP = 1, COPY, CLEAR, MAPPED, IN_JVM };

static struct maker maker;
static char path[64];
static uint64_t next_ns;

static void put_keys(const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        maker_varint(&maker, keys[i]);
}
#define KEYS(...)                                                                                  \
    put_keys((const uint64_t[]){__VA_ARGS__}, JW_COUNT_OF(((const uint64_t[]){__VA_ARGS__})))

static void put_texts(uint64_t type, const char *const *texts, size_t count)
{
    maker_pool(&maker, type, count);
    for (size_t i = 0; i < count; i++) {
        maker_varint(&maker, i + 1);
        maker_text(&maker, texts[i]);
    }
}

static void begin_chunk(void)
{
    static const char *const symbols[] = {
        "app/Late", "counted",       "()V",       "copy",   "jbyte_disjoint_arraycopy",
        "[stub]",   "__memset_evex", "libc.so.6", "make",   "java/nio/DirectByteBuffer",
        "getInt",   "libjvm.so",     "Klass::is", "lookup", "read\x1b[31m"};
    static const char *const types[] = {"JIT compiled", "C++"};
    static const char *const operations[] = {"G1CollectFull"};

    maker_begin_chunk(&maker);
    maker_metadata_from(&maker, rows);
    const size_t at = maker_begin_checkpoint(&maker, 7);
    put_texts(26, symbols, JW_COUNT_OF(symbols));
    put_texts(23, types, JW_COUNT_OF(types));
    put_texts(29, operations, JW_COUNT_OF(operations));
    maker_pool(&maker, 25, 5);
    KEYS(1, 1, 2, 6, 3, 8, 4, 10, 5, 12);
    maker_pool(&maker, 24, 9); /* the sixth is the JDK's */
    KEYS(1, 1, 2, 3, 2, 1, 4, 3, 3, 2, 5, 3, 4, 3, 7, 3, 5, 1, 9, 3);
    KEYS(6, 4, 11, 3, 7, 5, 13, 3, 8, 1, 14, 3, 9, 1, 15, 3);
    maker_pool(&maker, 20, 2);
    maker_varint(&maker, 1);
    maker_text(&maker, "java");
    maker_text(&maker, "main");
    maker_varint(&maker, 2);
    maker_text(&maker, "worker");
    maker_text(&maker, NULL);
    maker_pool(&maker, 21, 5);
    /* key, truncated, frames, then method, line, bci, type of each */
    KEYS(LOOP, 0, 1, 1, 16, 0, 1);
    KEYS(COPY, 0, 2, 3, 0, 0, 2, 2, 21, 0, 1);
    KEYS(CLEAR, 0, 2, 4, 0, 0, 2, 5, 30, 0, 1);
    KEYS(MAPPED, 0, 2, 6, 0, 0, 1, 9, 40, 0, 1);
    KEYS(IN_JVM, 0, 2, 7, 0, 0, 2, 8, 50, 0, 1);
    maker_end_event(&maker, at);
}

static void end_chunk(void)
{
    next_ns += 1000 * MS;
    maker_end_chunk(&maker, next_ns);
}

static void event(uint64_t type, uint64_t ticks, const char *fields, ...)
{
    const size_t at = maker_begin_event(&maker, type);
    va_list values;

    maker_varint(&maker, ticks);
    va_start(values, fields);
    for (; *fields != '\0'; fields++) {
        if (*fields == 't')
            maker_text(&maker, va_arg(values, const char *));
        else
            maker_varint(&maker, va_arg(values, uint64_t));
    }
    va_end(values);
    maker_end_event(&maker, at);
}

static void delay(uint64_t thread, uint64_t stack, uint64_t reach_ms, const char *late_in,
                  uint64_t cpu_ms, uint64_t waited_ms, uint64_t minor, uint64_t major)
{
    event(DELAY, 1, "nnnnttnnnn", thread, stack, reach_ms * MS, 2 * MS, "G1CollectFull", late_in,
          cpu_ms * MS, waited_ms * MS, minor, major);
}

static void watched(void)
{
    event(SETTING, 0, "ntt", (uint64_t)0, "ttsp", "10000000");
}

static void save(void)
{
    end_chunk();
    cr_assert(maker_save(&maker, path));
}

static void set_up(void)
{
    strcpy(directory, "/tmp/jaywalk-safepoints-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    next_ns = 1700000000000 * MS;
    begin_chunk();
}

static void tear_down(void)
{
    char command[256];

    maker_close(&maker);
    snprintf(command, sizeof command, "rm -rf '%s' '%s'", directory, path);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_safepoints, .init = set_up, .fini = tear_down, .timeout = 1800);

#define EXPECT_TEXT(words)                                                                         \
    cr_expect_not_null(strstr(out_text, words), "no '%s' in:\n%s\n%s", words, out_text, err_text)
#define EXPECT_NO_TEXT(words)                                                                      \
    cr_expect_null(strstr(out_text, words), "'%s' in:\n%s", words, out_text)

Test(cli_safepoints, times_stand_by_nearest_rank_and_culprits_by_what_they_cost)
{
    watched();
    for (uint64_t i = 1; i <= 99; i++)
        delay(1, LOOP, i + 10, "Java", i + 10, 0, 0, 0);
    delay(2, COPY, 200, "Java", 190, 0, 3, 0);
    delay(0, NO_STACK, 11, "poll", 0, 0, 0, 0);
    delay(0, NO_STACK, 12, "", 0, 0, 0, 0);
    delay(0, NO_STACK, 12, "VM thread", 1, 11, 0, 0);
    delay(0, NO_STACK, 12, "unwatched", 0, 0, 0, 0);
    save();
    cr_assert_eq(RUN("safepoints", "-q", "--json", path), CLI_OK, "%s", err_text);
    EXPECT_TEXT("{\"schema\":\"jaywalk.safepoints/1\",\"ttsp_ns\":10000000,");
    EXPECT_TEXT("\"time_to_reach\":{\"count\":104,\"sum_ns\":6187000000,\"p50_ns\":58000000,"
                "\"p90_ns\":100000000,\"p99_ns\":109000000,\"longest_ns\":200000000}");
    EXPECT_TEXT("\"time_inside\":{\"count\":104,\"sum_ns\":208000000,\"p50_ns\":2000000,");
    EXPECT_TEXT(
        "\"operations\":[{\"count\":104,\"name\":\"G1CollectFull\",\"reach_ns\":6187000000,"
        "\"reach_longest_ns\":200000000,\"inside_ns\":208000000,\"inside_longest_ns\":2000000}]");
    EXPECT_TEXT("\"at_poll\":1,\"no_processor\":2,\"nobody\":1,\"culprits\":[{\"count\":99,\"reach_"
                "ns\":5940000000,"
                "\"longest_ns\":109000000,\"method\":\"app.Late.counted\",\"line\":16,"
                "\"place\":\"app.Late.counted:16\",\"from\":\"\",\"native\":\"\",\"library\":\"\","
                "\"late_in\":\"Java\",\"thread\":\"main\",\"threads\":1,\"cpu_ns\":5940000000,");
    EXPECT_TEXT("\"hint\":\"loop\"");
    EXPECT_TEXT(
        "\"place\":\"app.Late.copy:21\",\"from\":\"\",\"native\":\"jbyte_disjoint_arraycopy\"");
    EXPECT_TEXT("\"jvm\":{\"is_told\":true,\"count\":0,");
    cr_assert_eq(RUN("safepoints", "-q", path), CLI_OK, "%s", err_text);
    EXPECT_TEXT("Safepoints that were waited for 10.0 ms or longer (ttsp=): 104\n");
    EXPECT_TEXT("delayed 99 safepoints, 5940.0 ms to reach, the longest 109.0 ms");
    EXPECT_TEXT("jbyte_disjoint_arraycopy ([stub])");
    EXPECT_TEXT(
        "4 safepoints: 1 whose last thread was seen only when it was about to stop, 2 at\n");
    EXPECT_TEXT("which the JVM's own thread or jaywalk's had no processor, 1 at which nobody was "
                "seen\n");
}

Test(cli_safepoints, of_one_place_threads_are_counted_and_that_of_the_longest_is_named)
{
    watched();
    delay(1, LOOP, 20, "Java", 20, 0, 0, 0);
    delay(2, LOOP, 30, "Java", 30, 0, 0, 0);
    delay(1, LOOP, 25, "Java", 25, 0, 0, 0);
    delay(9, LOOP, 15, "Java", 15, 0, 0, 0);
    save();
    cr_assert_eq(RUN("safepoints", "-q", path), CLI_OK);
    EXPECT_TEXT("worker, and 2 of other names");
}

Test(cli_safepoints, of_those_without_a_culprit_reasons_that_there_were_not_are_not_told)
{
    watched();
    delay(0, NO_STACK, 12, "unwatched", 0, 0, 0, 0);
    save();
    cr_assert_eq(RUN("safepoints", "-q", path), CLI_OK);
    EXPECT_TEXT("1 safepoint at which the JVM's own thread or jaywalk's had no processor\n");
    EXPECT_NO_TEXT("about to stop");
}

Test(cli_safepoints, several_recordings_add_up_and_one_that_is_damaged_is_told)
{
    watched();
    delay(1, LOOP, 20, "Java", 20, 0, 0, 0);
    save();
    cr_assert_eq(RUN("safepoints", "-q", path, path), CLI_OK);
    EXPECT_TEXT("delayed 2 safepoints, 40.0 ms to reach");
    cr_expect_eq(RUN("safepoints", "-q", path, "/nonexistent/x.jfr"), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "/nonexistent/x.jfr"));
    EXPECT_TEXT("delayed 1 safepoint, 20.0 ms to reach");
}

Test(cli_safepoints, more_places_than_asked_for_are_counted)
{
    watched();
    delay(1, LOOP, 20, "Java", 20, 0, 0, 0);
    delay(1, COPY, 30, "Java", 20, 0, 0, 0);
    delay(1, IN_JVM, 40, "JVM", 20, 0, 0, 0);
    save();
    cr_assert_eq(RUN("safepoints", "-q", "--top", "1", path), CLI_OK);
    EXPECT_TEXT("app.Late.lookup:50");
    EXPECT_NO_TEXT("app.Late.copy:21");
    EXPECT_TEXT("[2 more places: --top 0]");
    cr_assert_eq(RUN("safepoints", "-q", "--top", "0", path), CLI_OK);
    EXPECT_TEXT("app.Late.counted:16");
    cr_expect_eq(RUN("safepoints", "--top", "few", path), CLI_USAGE);
    cr_expect_eq(RUN("safepoints"), CLI_USAGE);
}

Test(cli_safepoints, what_was_not_watched_is_told_with_what_to_do)
{
    event(SETTING, 0, "ntt", (uint64_t)0, "ttsp", "off");
    save();
    /* The maker declares events of the JVM, too: a recording that could hold some, and holds none. */
    cr_expect_eq(RUN("safepoints", "-q", path), CLI_OK);
    EXPECT_TEXT("Safepoints that the JVM recorded (jdk.SafepointBegin and others): 0");
    EXPECT_NO_TEXT("ttsp");
    unlink(path);
    maker_close(&maker);
    maker_usual_chunk(&maker, 1700000000000 * MS);
    cr_assert(maker_save(&maker, path));
    cr_expect_eq(RUN("safepoints", "-q", path), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "--ttsp"), "%s", err_text);
}

Test(cli_safepoints, names_of_others_never_reach_a_terminal_as_they_are)
{
    watched();
    delay(1, MAPPED, 100, "Java", 2, 1, 3, 40);
    save();
    cr_assert_eq(RUN("safepoints", "-q", path), CLI_OK);
    EXPECT_NO_TEXT("\x1b");
    EXPECT_TEXT("java.nio.DirectByteBuffer.getInt\n");
    EXPECT_TEXT("    from    app.Late.read");
    EXPECT_TEXT("while pages were read for it, of a mapped");
}

static void delay_at(uint64_t at_ms, uint64_t stack, uint64_t reach_ms)
{
    event(DELAY, at_ms * MS, "nnnnttnnnn", (uint64_t)1, stack, reach_ms * MS, 2 * MS,
          "G1CollectFull", "Java", reach_ms * MS, (uint64_t)0, (uint64_t)0, (uint64_t)0);
}

Test(cli_safepoints, a_part_has_those_that_began_in_its_time)
{
    watched();
    delay_at(99, LOOP, 40);
    delay_at(100, COPY, 20);
    delay_at(299, COPY, 20);
    delay_at(300, CLEAR, 50);
    save();
    cr_assert_eq(RUN("safepoints", "-q", "--from=100ms", "--to=300ms", path), CLI_OK, "%s",
                 err_text);
    EXPECT_TEXT(
        "Only those that began from 100ms to 300ms\n\nSafepoints that were waited for 10.0 ms "
        "or longer (ttsp=): 2\n");
    EXPECT_TEXT("app.Late.copy:21");
    EXPECT_NO_TEXT("app.Late.counted");
    EXPECT_NO_TEXT("app.Late.make");
    cr_assert_eq(RUN("safepoints", "-q", "--json", "--from=-701ms", path), CLI_OK);
    EXPECT_TEXT("\"part\":\"from -701ms\",\"jaywalk\":{\"is_told\":true,\"count\":2,");
    EXPECT_TEXT("\"sum_ns\":70000000,");
    cr_assert_eq(RUN("safepoints", "-q", "--json", path), CLI_OK);
    EXPECT_TEXT("\"part\":\"\",");
    cr_expect_eq(RUN("safepoints", "-q", "--from=2s", "--to=1s", path), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "--from=2s is not before --to=1s"), "%s", err_text);
    cr_expect_eq(RUN("safepoints", "--from=soon", path), CLI_USAGE);
    cr_expect_eq(RUN("safepoints", "--thread=main", path), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "safepoints are those of all threads"), "%s", err_text);
}

/* ---- what the JVM records ---- */

static void of_jvm(uint64_t id, uint64_t at_ms, uint64_t reach_ms, uint64_t all_ms)
{
    event(SYNCHRONIZATION, at_ms * MS, "nn", reach_ms * MS, id);
    event(BEGIN, at_ms * MS, "nn", (reach_ms + 1) * MS, id);
    event(END, (at_ms + all_ms) * MS, "nn", MS, id);
    event(OPERATION, (at_ms + reach_ms) * MS, "nnnn", (all_ms - reach_ms) * MS, (uint64_t)1,
          (uint64_t)1, id);
}

/* One that begins in the part's time is in it as a whole; one that only ends in it is not. */
Test(cli_safepoints, a_part_has_those_of_the_jvm_that_began_in_its_time)
{
    of_jvm(7, 90, 5, 20);
    of_jvm(8, 200, 11, 30);
    of_jvm(9, 290, 7, 25);
    of_jvm(10, 300, 3, 10);
    save();
    cr_assert_eq(RUN("safepoints", "-q", "--json", "--from=100ms", "--to=300ms", path), CLI_OK);
    EXPECT_TEXT("\"count\":2,");
    EXPECT_TEXT("\"time_to_reach\":{\"count\":2,\"sum_ns\":18000000,");
    EXPECT_TEXT("\"time_inside\":{\"count\":2,\"sum_ns\":37000000,");
}

Test(cli_safepoints, events_of_the_jvm_are_joined_by_their_number)
{
    of_jvm(7, 100, 5, 20);
    of_jvm(8, 200, 11, 30);
    of_jvm(7, 300, 3, 4); /* of another JVM, in a recording that was made of two */
    event(OPERATION, 400 * MS, "nnnn", 90 * MS, (uint64_t)1, (uint64_t)0,
          (uint64_t)9); /* at none */
    save();
    cr_assert_eq(RUN("safepoints", "-q", "--json", path), CLI_OK);
    EXPECT_TEXT("\"jvm\":{\"is_told\":true,\"count\":3,\"time_to_reach\":{\"count\":3,"
                "\"sum_ns\":19000000,\"p50_ns\":5000000,\"p90_ns\":11000000,");
    EXPECT_TEXT("\"time_inside\":{\"count\":3,\"sum_ns\":35000000,\"p50_ns\":15000000,");
    EXPECT_TEXT("\"operations\":[{\"count\":3,\"name\":\"G1CollectFull\",");
    cr_assert_eq(RUN("safepoints", "-q", path), CLI_OK);
    EXPECT_TEXT("who kept them waiting the JVM does not record");
    EXPECT_NO_TEXT("SafepointBegin took");
}

Test(cli_safepoints, of_an_event_alone_is_told_what_it_says_and_no_more)
{
    event(BEGIN, 100 * MS, "nn", 12 * MS, (uint64_t)1);
    event(OPERATION, 200 * MS, "nnnn", 30 * MS, (uint64_t)1, (uint64_t)1, (uint64_t)2);
    save();
    cr_assert_eq(RUN("safepoints", "-q", "--json", path), CLI_OK);
    EXPECT_TEXT("\"time_to_reach\":{\"count\":1,\"sum_ns\":12000000,");
    EXPECT_TEXT("\"time_inside\":{\"count\":1,\"sum_ns\":30000000,");
    cr_assert_eq(RUN("safepoints", "-q", path), CLI_OK);
    EXPECT_TEXT("SafepointBegin took");
}

/* ---- hints ---- */

static enum cli_safepoint_hint hint_of(struct cli_late_stack stack, struct cli_late_facts facts)
{
    facts.has_used = facts.cpu_ns >= 0;
    facts.threshold_ns = facts.threshold_ns == 0 ? (int64_t)(10 * MS) : facts.threshold_ns;
    return cli_safepoint_judge(&stack, &facts);
}

#define STACK(...) ((struct cli_late_stack){__VA_ARGS__})
#define IN_JAVA(reach, cpu, waited, minor, major)                                                  \
    ((struct cli_late_facts){true, false, (reach) * (int64_t)MS, 0, true, (cpu) * (int64_t)MS,     \
                             (waited) * (int64_t)MS, (minor), (major)})
#define IN_VM(reach, cpu, waited, minor, major)                                                    \
    ((struct cli_late_facts){false, true, (reach) * (int64_t)MS, 0, true, (cpu) * (int64_t)MS,     \
                             (waited) * (int64_t)MS, (minor), (major)})

Test(cli_safepoints, a_loop_is_compiled_code_that_used_the_time)
{
    const struct cli_late_stack compiled = STACK(.java = "a.B.c", .is_compiled = true);
    const struct cli_late_stack interpreted = STACK(.java = "a.B.c");

    cr_expect_eq(hint_of(compiled, IN_JAVA(100, 95, 0, 0, 0)), CLI_HINT_LOOP);
    cr_expect_eq(hint_of(compiled, IN_JAVA(100, 48, 0, 0, 0)), CLI_HINT_LOOP);
    cr_expect_eq(hint_of(compiled, IN_JAVA(100, 40, 0, 0, 0)), CLI_HINT_NONE, "it stood still");
    cr_expect_eq(hint_of(interpreted, IN_JAVA(100, 95, 0, 0, 0)), CLI_HINT_NONE);
    cr_expect_eq(hint_of(compiled, IN_JAVA(100, -1, 0, 0, 0)), CLI_HINT_NONE,
                 "what it used is not known");
    cr_expect_eq(hint_of(compiled, IN_VM(100, 95, 0, 0, 0)), CLI_HINT_NONE, "the JVM's state");
}

Test(cli_safepoints, a_processor_that_was_wanted_comes_before_what_ran)
{
    const struct cli_late_stack copy = STACK(.java = "a.B.c", .top = "jint_arraycopy");

    cr_expect_eq(hint_of(copy, IN_JAVA(100, 40, 50, 0, 0)), CLI_HINT_NO_PROCESSOR);
    cr_expect_eq(hint_of(copy, IN_JAVA(100, 40, 49, 0, 0)), CLI_HINT_COPY);
}

Test(cli_safepoints, pages_that_were_read_need_the_time_that_nothing_else_took)
{
    const struct cli_late_stack plain = STACK(.java = "a.B.c", .is_compiled = true);
    const struct cli_late_stack mapped = STACK(.java = "a.B.c", .has_buffer = true);

    cr_expect_eq(hint_of(plain, IN_JAVA(100, 5, 5, 9, 9)), CLI_HINT_READS_PAGES);
    cr_expect_eq(hint_of(mapped, IN_JAVA(100, 5, 5, 9, 9)), CLI_HINT_MAPPED_FILE);
    cr_expect_eq(hint_of(mapped, IN_JAVA(100, 5, 41, 9, 9)), CLI_HINT_NONE, "less than half");
    cr_expect_eq(hint_of(mapped, IN_JAVA(100, 5, 5, 9, 0)), CLI_HINT_NONE, "nothing was read");
    /* The first look may have come late: of a short one it is not known. */
    cr_expect_eq(hint_of(mapped, IN_JAVA(10, 1, 0, 9, 9)), CLI_HINT_NONE);
}

Test(cli_safepoints, copies_fills_and_new_arrays_are_told_by_the_stack)
{
    cr_expect_eq(hint_of(STACK(.java = "a.B.c", .top = "__memmove_avx_unaligned_erms"),
                         IN_JAVA(100, -1, 0, 0, 0)),
                 CLI_HINT_COPY);
    cr_expect_eq(hint_of(STACK(.java = "java.lang.System.arraycopy"), IN_VM(100, 90, 0, 0, 0)),
                 CLI_HINT_COPY);
    cr_expect_eq(hint_of(STACK(.java = "app.System.arraycopy"), IN_VM(100, 90, 0, 0, 0)),
                 CLI_HINT_NONE);
    cr_expect_eq(hint_of(STACK(.java = "a.B.c", .top = "jint_fill"), IN_JAVA(100, 90, 0, 0, 0)),
                 CLI_HINT_FILL);
    cr_expect_eq(
        hint_of(STACK(.java = "a.B.c", .top = "__memset_evex"), IN_VM(100, 90, 0, 20000, 0)),
        CLI_HINT_NEW_ARRAY);
    cr_expect_eq(hint_of(STACK(.java = "a.B.c", .top = "__memset_evex"), IN_VM(100, 90, 0, 2, 0)),
                 CLI_HINT_FILL, "its memory had been touched");
    cr_expect_eq(
        hint_of(STACK(.java = "jdk.internal.misc.Unsafe.setMemory0", .top = "__memset_evex"),
                IN_VM(100, 90, 0, 20000, 0)),
        CLI_HINT_FILL);
}

/* Most machines have no names for what the C library chooses for their processor. */
Test(cli_safepoints, copies_and_fills_of_a_library_without_names_are_told_by_the_method_alone)
{
#define NAMELESS(library_, java_)                                                                  \
    hint_of(STACK(.java = (java_), .top = (library_), .library = (library_)),                      \
            IN_VM(100, 90, 0, 2, 0))
    cr_expect_eq(NAMELESS("libc.so.6", "java.lang.System.arraycopy"), CLI_HINT_COPY);
    cr_expect_eq(NAMELESS("libc-2.31.so", "jdk.internal.misc.Unsafe.copyMemory0"), CLI_HINT_COPY);
    cr_expect_eq(NAMELESS("libc.so.6", "sun.misc.Unsafe.setMemory"), CLI_HINT_FILL);
    cr_expect_eq(NAMELESS("libc.so.6", "a.B.c"), CLI_HINT_NONE, "no copy");
    cr_expect_eq(NAMELESS("libc.so.6", "java.util.Arrays.copyOf"), CLI_HINT_NONE,
                 "it may be clearing the new array");
    cr_expect_eq(NAMELESS("libcrypto.so", "java.lang.System.arraycopy"), CLI_HINT_NONE);
    cr_expect_eq(hint_of(STACK(.java = "java.lang.System.arraycopy", .top = "malloc",
                               .library = "libc.so.6"),
                         IN_VM(100, 90, 0, 2, 0)),
                 CLI_HINT_NONE, "it has a name");
#undef NAMELESS
}

Test(cli_safepoints, faults_native_code_and_the_jvm_are_what_is_left)
{
    const struct cli_late_stack native =
        STACK(.java = "a.B.c", .top = "sum", .library = "libapp.so");
    const struct cli_late_stack jvm = STACK(.java = "a.B.c", .top = "f", .library = "libjvm.so");
    const struct cli_late_stack stub = STACK(.java = "a.B.c", .top = "f", .library = "[stub]");

    cr_expect_eq(hint_of(native, IN_JAVA(100, 90, 0, 18000, 0)), CLI_HINT_PAGE_FAULTS);
    cr_expect_eq(hint_of(native, IN_JAVA(100, 90, 0, 17000, 0)), CLI_HINT_NATIVE);
    cr_expect_eq(hint_of(jvm, IN_VM(100, 90, 0, 0, 0)), CLI_HINT_JVM);
    cr_expect_eq(hint_of(stub, IN_JAVA(100, 90, 0, 0, 0)), CLI_HINT_NONE);
    for (int hint = 1; hint < CLI_HINT_LIMIT; hint++)
        cr_expect(cli_hint_words[hint].id != NULL && cli_hint_words[hint].what[0] != '\0' &&
                  cli_hint_words[hint].todo[0] != '\0');
}
