/*
 * jaywalk latency, taken apart and cut: traced calls by endpoint, thread and attribute, parts of them, and sums that have no parts.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jw.h"
#include "cli/cli.h"
#include "support/recording_maker.h"
#include "unit/cli/run_cli.h"

#define START_NS 1700000000000000000ull
#define MS       1000000ull

static struct maker maker;
static char path[192];

enum { THREAD = 20, METHOD = 24, CLASS = 25, SYMBOL = 26, VALUE = 31, ENDPOINT = 32 };
enum { TRACED = 101, ENDPOINT_EVENT, COUNTED, SPAN, MADE };

static const char *const rows[] = {
    "root",
    "  metadata",
    "    class name=long id=10",
    "    class name=java.lang.String id=12",
    "    class name=java.lang.Thread id=20",
    "      field name=osName class=12",
    "      field name=osThreadId class=10",
    "    class name=jdk.types.Method id=24",
    "      field name=type class=25 constantPool=true",
    "      field name=name class=26 constantPool=true",
    "    class name=java.lang.Class id=25",
    "      field name=name class=26 constantPool=true",
    "    class name=jdk.types.Symbol id=26 simpleType=true",
    "      field name=string class=12",
    "    class name=jaywalk.types.AttributeValue id=31 simpleType=true",
    "      field name=value class=12",
    "    class name=jaywalk.types.Endpoint id=32 simpleType=true",
    "      field name=name class=12",
    "    class name=jdk.jfr.Timespan id=33",
    "    class name=jaywalk.Attribute id=41 superType=java.lang.annotation.Annotation",
    "    class name=jdk.MethodTrace id=101 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=duration class=10",
    "        annotation class=33 value=TICKS",
    "      field name=eventThread class=20 constantPool=true",
    "      field name=method class=24 constantPool=true",
    "      field name=spanId class=10",
    "      field name=localRootSpanId class=10",
    "      field name=tenant class=31 constantPool=true",
    "        annotation class=41",
    "    class name=jaywalk.Endpoint id=102 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=localRootSpanId class=10",
    "      field name=endpoint class=32 constantPool=true",
    "    class name=jaywalk.MethodCount id=103 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=method class=24 constantPool=true",
    "      field name=invocations class=10",
    "      field name=elapsed class=10",
    "        annotation class=33 value=NANOSECONDS",
    "    class name=jaywalk.Span id=104 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=duration class=10",
    "        annotation class=33 value=TICKS",
    "      field name=eventThread class=20 constantPool=true",
    "      field name=name class=12",
    "    class name=jaywalk.ObjectCount id=105 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=objectClass class=25 constantPool=true",
    "      field name=method class=24 constantPool=true",
    "      field name=count class=10",
    "      field name=elapsed class=10",
    "        annotation class=33 value=NANOSECONDS",
    "  region locale=en_US gmtOffset=0",
    NULL,
};

static void put_pools(void)
{
    static const char *const symbols[] = {"a/Shop", "buy", "find", "[[I", "[La/Shop;"};
    static const char *const values[] = {"acme", "globex", "odd\001one"};
    static const char *const endpoints[] = {"GET /a", "POST /b"};
    static const char *const threads[] = {"main", "worker"};
    const size_t at = maker_begin_checkpoint(&maker, 6);

    maker_text_pool(&maker, SYMBOL, 5, symbols);
    maker_text_pool(&maker, VALUE, 3, values);
    maker_text_pool(&maker, ENDPOINT, 2, endpoints);
    maker_pool(&maker, THREAD, 2);
    for (uint64_t i = 1; i <= 2; i++) {
        maker_varint(&maker, i);
        maker_text(&maker, threads[i - 1]);
        maker_varint(&maker, 10 + i);
    }
    maker_pool(&maker, CLASS, 3); /* Shop, int[][], Shop[] */
    MAKER_PUT(&maker, 1, 1, 2, 4, 3, 5);
    maker_pool(&maker, METHOD, 2); /* Shop.buy, Shop.find */
    MAKER_PUT(&maker, 1, 1, 2, 2, 1, 3);
    maker_end_event(&maker, at);
}

static void save(void)
{
    maker_end_chunk(&maker, START_NS);

    FILE *file = fopen(path, "w");
    cr_assert(file != NULL && fwrite(maker.bytes, 1, maker.used_bytes, file) == maker.used_bytes &&
              fclose(file) == 0);
}

/*
 * Of Shop.buy on "main": 10 calls of 10 ms for GET /a, of acme, each 10 ms; 5 of 20 ms for POST /b, of globex, each 100 ms; on "worker" 2 of 40 ms
 * of a span without an endpoint, and one of 80 ms of nothing. Shop.find is counted.
 */
static void make_recording(void)
{
    strcpy(directory, "/tmp/jaywalk-latency-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/in.jfr", directory);
    maker_begin_chunk(&maker);
    maker_metadata_from(&maker, rows);
    put_pools();
    for (uint64_t i = 0; i < 10; i++)
        MAKER_EVENT(&maker, TRACED, i * 10 * MS, 10 * MS, 1, 1, 7, 7, 1);
    for (uint64_t i = 0; i < 5; i++)
        MAKER_EVENT(&maker, TRACED, i * 100 * MS, 20 * MS, 1, 1, 9, 8, 2);
    MAKER_EVENT(&maker, TRACED, 600 * MS, 40 * MS, 2, 1, 3, 3, 0);
    MAKER_EVENT(&maker, TRACED, 700 * MS, 40 * MS, 2, 1, 3, 3, 0);
    MAKER_EVENT(&maker, TRACED, 800 * MS, 80 * MS, 2, 1, 0, 0, 0);
    MAKER_EVENT(&maker, ENDPOINT_EVENT, 0, 7, 1);
    MAKER_EVENT(&maker, ENDPOINT_EVENT, 0, 8, 2);
    MAKER_EVENT(&maker, COUNTED, 900 * MS, 2, 1234, 1000 * MS);
    const size_t begin = maker_begin_event(&maker, SPAN);
    MAKER_PUT(&maker, 100 * MS, 300 * MS, 1);
    maker_text(&maker, "GET /a");
    maker_end_event(&maker, begin);
    save();
}

static void remove_directory(void)
{
    char command[256];

    maker_close(&maker);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_latency, .init = make_recording, .fini = remove_directory, .timeout = 1800);

/* What stands between `before` and the next comma or brace of the JSON; "": it is not there. */
static const char *behind(const char *before)
{
    static char value[64];
    const char *at = strstr(out_text, before);

    value[0] = '\0';
    if (at != NULL)
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at + strlen(before), ",}"),
                 at + strlen(before));
    return value;
}

static unsigned rows_of(const char *word)
{
    unsigned count = 0;

    for (const char *at = out_text; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

#define RUN_JSON(...)                                                                              \
    cr_assert_eq(RUN("latency", "--json", __VA_ARGS__, path), CLI_OK, "%s", err_text)

#define BUY "{\"method\":\"a.Shop.buy\""

Test(cli_latency, traced_calls_are_apart_for_each_endpoint)
{
    RUN_JSON("--by=endpoint");
    cr_expect_str_eq(behind(BUY ",\"by\":{\"endpoint\":\"GET /a\"},\"calls\":"), "10");
    cr_expect_str_eq(behind(BUY ",\"by\":{\"endpoint\":\"POST /b\"},\"calls\":"), "5");
    cr_expect_str_eq(behind(BUY ",\"by\":{\"endpoint\":\"[no endpoint]\"},\"calls\":"), "2");
    cr_expect_str_eq(behind(BUY ",\"by\":{\"endpoint\":\"[no context]\"},\"calls\":"), "1");
    cr_expect_eq(rows_of(BUY), 4);
    /* What is counted is one sum, as ever. */
    cr_expect_str_eq(behind("{\"method\":\"a.Shop.find\",\"calls\":"), "1234");
    cr_assert_eq(RUN("latency", "--by=endpoint", path), CLI_OK);
    cr_expect_not_null(strstr(out_text, "  method (endpoint)\n"), "%s", out_text);
    cr_expect_not_null(strstr(out_text, "  a.Shop.buy (POST /b)\n"), "%s", out_text);
    cr_expect_not_null(strstr(out_text, "  a.Shop.find\n"), "%s", out_text);
}

Test(cli_latency, and_for_all_that_goes_together)
{
    RUN_JSON("--by=thread", "--by=attribute:tenant");
    cr_expect_str_eq(behind("\"by\":{\"thread\":\"main\",\"tenant\":\"acme\"},\"calls\":"), "10");
    cr_expect_str_eq(behind("\"by\":{\"thread\":\"main\",\"tenant\":\"globex\"},\"calls\":"), "5");
    cr_expect_str_eq(behind("\"by\":{\"thread\":\"worker\",\"tenant\":\"[no tenant]\"},\"calls\":"),
                     "2");
    cr_expect_str_eq(
        behind("\"by\":{\"thread\":\"worker\",\"tenant\":\"[no context]\"},\"calls\":"), "1");
    cr_expect_eq(rows_of(BUY), 4);
    cr_assert_eq(RUN("latency", "--by=thread", "--by=attribute:tenant", path), CLI_OK);
    cr_expect_not_null(strstr(out_text, "  method (thread, tenant)\n"), "%s", out_text);
    cr_expect_not_null(strstr(out_text, "  a.Shop.buy (main, globex)\n"), "%s", out_text);
}

Test(cli_latency, without_options_nothing_is_taken_apart_or_left_out)
{
    RUN_JSON("--top=0");
    cr_expect_str_eq(behind(BUY ",\"calls\":"), "18");
    cr_expect_str_eq(behind(BUY ",\"calls\":18,\"total_ns\":"), "360000000");
    cr_expect_str_eq(behind("{\"method\":\"a.Shop.find\",\"calls\":1234,\"per_second\":"),
                     "1234.00");
    cr_expect_str_eq(behind("{\"span\":\"GET /a\",\"calls\":"), "1");
    cr_expect_eq(rows_of("per_second"), 2);
    cr_expect_null(strstr(out_text, "\"part\""));
}

Test(cli_latency, a_part_has_calls_that_are_recorded_one_by_one)
{
    static const struct {
        const char *option, *calls, *spans;
    } parts[] = {
        {"--endpoint=GET*", "10", ""}, {"--endpoint=[no context]", "1", "1"},
        {"--thread=worker", "3", ""},  {"--attribute=tenant=glob*", "5", ""},
        {"--latency=20ms", "8", "1"},  {"--latency=81", "", "1"},
        {"--from=0.35s", "4", ""},     {"--to=0.05s", "6", ""},
    };

    for (size_t i = 0; i < JW_COUNT_OF(parts); i++) {
        RUN_JSON(parts[i].option);
        cr_expect_str_eq(behind(BUY ",\"calls\":"), parts[i].calls, "%s: %s", parts[i].option,
                         out_text);
        cr_expect_str_eq(behind("{\"span\":\"GET /a\",\"calls\":"), parts[i].spans, "%s: %s",
                         parts[i].option, out_text);
        cr_expect_null(strstr(out_text, "Shop.find"), "%s", parts[i].option);
        cr_expect_null(strstr(out_text, "per_second"), "%s", parts[i].option);
        cr_expect_not_null(strstr(out_text, "\"part\":\""), "%s", parts[i].option);
    }
    cr_assert_eq(RUN("latency", "--endpoint=GET*", path), CLI_OK);
    cr_expect_eq(strncmp(out_text, "Only GET*; without sums of all calls and objects (", 50), 0,
                 "%s", out_text);
}

Test(cli_latency, a_part_of_nothing_says_which)
{
    cr_assert_eq(RUN("latency", "--endpoint=DELETE*", path), CLI_FAILED);
    cr_expect_not_null(
        strstr(err_text, "of 19 calls, requests and tasks none is of the part that was asked for: "
                         "DELETE*; what time=, count= and event=new: count has no parts"),
        "%s", err_text);
    cr_expect_not_null(strstr(err_text, "no endpoint is matched by --endpoint='DELETE*'"), "%s",
                       err_text);
    cr_expect_str_eq(out_text, "");
}

Test(cli_latency, what_has_no_sense_is_refused)
{
    cr_assert_eq(RUN("latency", "--by=endpont", path), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "did you mean 'endpoint'"), "%s", err_text);
    cr_assert_eq(RUN("latency", "--latency=fast", path), CLI_USAGE);
    cr_assert_eq(RUN("latency", "--include=a.*", path), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "jdk.MethodTrace"), "%s", err_text);
}

static void begin_again(void)
{
    maker_close(&maker);
    maker_begin_chunk(&maker);
    maker_metadata_from(&maker, rows);
    put_pools();
}

Test(cli_latency, a_value_with_the_mark_between_boxes_stays_one)
{
    begin_again();
    MAKER_EVENT(&maker, TRACED, 0, 10 * MS, 1, 1, 7, 7, 3);
    save();
    RUN_JSON("--by=attribute:tenant", "--by=thread");
    cr_expect_str_eq(behind("\"by\":{\"tenant\":\"odd one\",\"thread\":\"main\"},\"calls\":"), "1",
                     "%s", out_text);
}

Test(cli_latency, a_part_where_there_are_sums_alone_says_that)
{
    begin_again();
    MAKER_EVENT(&maker, COUNTED, 900 * MS, 2, 1234, 1000 * MS);
    save();
    cr_assert_eq(RUN("latency", "--from=1ms", path), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "of 0 calls, requests and tasks"), "%s", err_text);
    cr_expect_not_null(strstr(err_text, "what time=, count= and event=new: count has no parts"),
                       "%s", err_text);
}

Test(cli_latency, objects_are_counted_by_class_and_method_as_the_last_of_a_file_has_it)
{
    begin_again();
    MAKER_EVENT(&maker, MADE, 100 * MS, 1, 1, 10, 100 * MS);
    MAKER_EVENT(&maker, MADE, 100 * MS, 2, 1, 7, 100 * MS);
    MAKER_EVENT(&maker, MADE, 900 * MS, 1, 1, 1000, 500 * MS);
    MAKER_EVENT(&maker, MADE, 900 * MS, 1, 1, 500,
                500 * MS); /* the same names, of another loader */
    MAKER_EVENT(&maker, MADE, 900 * MS, 3, 0, 3, 500 * MS);
    save();
    cr_assert_eq(RUN("latency", path), CLI_OK);
    cr_expect_str_eq(out_text, "Objects made\n\n"
                               "     objects   per second  class in method\n"
                               "        1500      3000.00  a.Shop in a.Shop.buy\n"
                               "           7        70.00  int[][] in a.Shop.buy\n"
                               "           3         6.00  a.Shop[] in [several methods]\n\n");
    cr_assert_eq(RUN("latency", path, path), CLI_OK);
    cr_expect_not_null(strstr(out_text, "        3000      3000.00  a.Shop in a.Shop.buy\n"));
    RUN_JSON("--top=1");
    cr_expect_not_null(strstr(out_text, "\"made\":[\n{\"made\":\"a.Shop in a.Shop.buy\","
                                        "\"objects\":1500,\"per_second\":3000.00}],"),
                       "%s", out_text);
    cr_assert_eq(RUN("latency", "--from=1ms", path), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "of 0 calls, requests and tasks"), "%s", err_text);
    cr_expect_not_null(strstr(err_text, "what time=, count= and event=new: count has no parts"));
}

Test(cli_latency, where_nothing_can_be_taken_apart_that_is_said)
{
    begin_again();
    MAKER_EVENT(&maker, COUNTED, 900 * MS, 2, 1234, 1000 * MS);
    save();
    cr_assert_eq(RUN("latency", "--by=endpoint", path), CLI_OK);
    cr_expect_not_null(strstr(err_text, "nothing to take apart by --by=endpoint"), "%s", err_text);
    cr_expect_not_null(strstr(out_text, "a.Shop.find"), "%s", out_text);
    cr_assert_eq(RUN("latency", "-q", "--by=endpoint", path), CLI_OK);
    cr_expect_str_eq(err_text, "");
}
