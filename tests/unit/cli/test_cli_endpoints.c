/* Recordings cut and told apart by what samples were taken for: endpoints, and convert with its parts. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jw.h"
#include "cli/cli.h"
#include "cli/cli_contexts_internal.h"
#include "support/requests_maker.h"
#include "unit/cli/run_cli.h"

static char path[64];
static char other_path[64];
static struct maker maker;

static void set_up(void)
{
    strcpy(directory, "/tmp/jaywalk-endpoints-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
}

static void tear_down(void)
{
    char command[256];

    maker_close(&maker);
    snprintf(command, sizeof command, "rm -rf '%s' '%s' '%s'", directory, path, other_path);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_endpoints, .init = set_up, .fini = tear_down, .timeout = 1800);

/* Is there a line with these words, blanks between them aside? */
static bool has_line(const char *words)
{
    static char squeezed[sizeof out_text];
    size_t used = 0;

    for (const char *at = out_text; *at != '\0'; at++) {
        if (*at != ' ' || at[1] != ' ')
            squeezed[used++] = *at;
    }
    squeezed[used] = '\0';
    return strstr(squeezed, words) != NULL;
}

/* Lines of collapsed stacks. */
#define CONVERT(...) RUN("convert", "-o", "collapsed", __VA_ARGS__, path, "-")

static const char *const texts[] = {"GET /orders",
                                    "GET /orders/{id}",
                                    "POST /orders",
                                    "list",
                                    "acme",
                                    "zoo",
                                    "0af7651916cd43dd8448eb211c80319c",
                                    NULL};
enum { ORDERS = 1, ORDER, POST, LIST, ACME, ZOO, TRACE_ID };

static void put(struct made_request request)
{
    requests_sample(&maker, &request);
}

/*
 * 10 samples of CPU time in two chunks: 4 of GET /orders (3 of acme), whose endpoint is told in the
 * second one, 2 of POST /orders, 1 of a request that nobody named, 3 of none.
 */
static void save_usual(void)
{
    requests_begin(&maker, texts);
    put((struct made_request){
        .root_span_id = 100, .span_id = 101, .trace_id = TRACE_ID, .tenant = ACME, .stack = 1});
    put((struct made_request){.root_span_id = 100, .span_id = 102, .tenant = ACME, .stack = 1});
    put((struct made_request){.root_span_id = 100, .span_id = 100, .tenant = ZOO, .stack = 2});
    put((struct made_request){.root_span_id = 300, .span_id = 300, .stack = 3, .thread = 2});
    put((struct made_request){.stack = 3, .thread = 2});
    requests_endpoint(&maker, 300, ORDERS, 0); /* told wrongly at first */
    requests_end(&maker);
    requests_begin(&maker, texts);
    put((struct made_request){.root_span_id = 200, .span_id = 200, .tenant = ACME, .stack = 1});
    put((struct made_request){.root_span_id = 300, .span_id = 300, .stack = 3, .thread = 2});
    put((struct made_request){.root_span_id = 999, .span_id = 999, .stack = 1});
    put((struct made_request){.stack = 3, .thread = 2});
    put((struct made_request){.stack = 0});
    requests_endpoint(&maker, 100, ORDERS, LIST);
    requests_endpoint(&maker, 200, ORDERS, LIST);
    requests_endpoint(&maker, 300, POST, 0);
    requests_endpoint(&maker, 400, ORDER, 0); /* of which there is no sample */
    requests_end(&maker);
    cr_assert(maker_save(&maker, path));
}

Test(cli_endpoints, a_table_tells_requests_samples_time_share_and_the_hottest_frame)
{
    save_usual();
    cr_assert_eq(RUN("endpoints", path), CLI_OK, "%s", err_text);
    cr_expect_str_eq(
        out_text,
        "CPU profile by endpoint\n\n"
        "endpoint          operation  requests  samples  CPU time     share  hottest frame\n"
        "GET /orders       list              2        4    0.04 s   40.00 %  a.Work.run\n"
        "POST /orders                        1        2    0.02 s   20.00 %  read\n"
        "GET /orders/{id}                    1        0    0.00 s    0.00 %\n"
        "[no endpoint]                       -        1    0.01 s   10.00 %  a.Work.run\n"
        "[no context]                        -        3    0.03 s   30.00 %  read\n"
        "total                               4       10    0.10 s  100.00 %\n");
    cr_expect_str_eq(err_text, "");
}

Test(cli_endpoints, csv_and_json_hold_the_same_numbers)
{
    save_usual();
    cr_assert_eq(RUN("endpoints", "-o", "csv", path), CLI_OK);
    cr_expect_str_eq(
        out_text,
        "row,\"endpoint\",\"operation\",requests,cpu_samples,cpu_ns,wall_samples,wall_ns,share,"
        "hottest_frame\r\n"
        "\"value\",\"GET /orders\",\"list\",2,4,40000000,,,0.400000,\"a.Work.run\"\r\n"
        "\"value\",\"POST /orders\",\"\",1,2,20000000,,,0.200000,\"read\"\r\n"
        "\"value\",\"GET /orders/{id}\",\"\",1,0,0,,,0.000000,\"\"\r\n"
        "\"no value\",\"\",\"\",,1,10000000,,,0.100000,\"a.Work.run\"\r\n"
        "\"no context\",\"\",\"\",,3,30000000,,,0.300000,\"read\"\r\n");
    cr_assert_eq(RUN("endpoints", "-o", "json", "--top", "1", path), CLI_OK);
    cr_expect_str_eq(
        out_text,
        "{\"event\":\"cpu\",\"part\":\"\",\"left_out_samples\":0,\"by\":[\"endpoint\","
        "\"operation\"],"
        "\"rows\":[\n"
        "{\"row\":\"value\",\"values\":[\"GET /orders\",\"list\"],\"requests\":2,\"cpu_samples\":4,"
        "\"cpu_ns\":40000000,\"wall_samples\":null,\"wall_ns\":null,\"share\":0.400000,"
        "\"hottest_frame\":\"a.Work.run\"},\n"
        "{\"row\":\"no value\",\"values\":[null,null],\"requests\":null,\"cpu_samples\":1,"
        "\"cpu_ns\":10000000,\"wall_samples\":null,\"wall_ns\":null,\"share\":0.100000,"
        "\"hottest_frame\":\"a.Work.run\"},\n"
        "{\"row\":\"no context\",\"values\":[null,null],\"requests\":null,\"cpu_samples\":3,"
        "\"cpu_ns\":30000000,\"wall_samples\":null,\"wall_ns\":null,\"share\":0.300000,"
        "\"hottest_frame\":\"read\"},\n"
        "{\"row\":\"rest\",\"values\":[null,null],\"requests\":2,\"cpu_samples\":2,\"cpu_ns\":"
        "20000000,"
        "\"wall_samples\":null,\"wall_ns\":null,\"share\":0.200000,\"hottest_frame\":null}],\n"
        "\"total\":{\"row\":\"total\",\"requests\":4,\"cpu_samples\":10,\"cpu_ns\":100000000,"
        "\"wall_samples\":null,\"wall_ns\":null,\"share\":1.000000}}\n");
}

Test(cli_endpoints, rows_may_be_of_attributes_and_threads)
{
    save_usual();
    cr_assert_eq(RUN("endpoints", "--by", "attribute:tenant", path), CLI_OK, "%s", err_text);
    cr_expect_str_eq(out_text, "CPU profile by tenant\n\n"
                               "tenant        samples  CPU time     share  hottest frame\n"
                               "acme                3    0.03 s   30.00 %  a.Work.run\n"
                               "zoo                 1    0.01 s   10.00 %  a.Shop.buy\n"
                               "[no tenant]         3    0.03 s   30.00 %  read\n"
                               "[no context]        3    0.03 s   30.00 %  read\n"
                               "total              10    0.10 s  100.00 %\n");
    cr_assert_eq(RUN("endpoints", "--by", "thread", "--sort", "name", path), CLI_OK);
    cr_expect(has_line("\n[main tid=11] 6 0.06 s 60.00 %"), "%s", out_text);
    cr_assert_eq(RUN("endpoints", "--by=thread", "--by=endpoint", "--endpoint=POST*", path),
                 CLI_OK);
    cr_expect_not_null(strstr(out_text,
                              "CPU profile by thread, endpoint: POST* (filters left out 8 "
                              "samples)\n"),
                       "%s", out_text);
    cr_expect(has_line("\n[worker tid=12] POST /orders 2 "), "%s", out_text);
}

Test(cli_endpoints, what_is_past_the_top_is_one_row_and_order_may_be_chosen)
{
    save_usual();
    cr_assert_eq(RUN("endpoints", "--top=1", path), CLI_OK);
    cr_expect(has_line("\n[2 more] 2 2 "), "%s", out_text);
    cr_assert_eq(RUN("endpoints", "--sort=requests", "--top=2", path), CLI_OK);
    cr_expect_not_null(strstr(out_text, "\nGET /orders/{id} "), "%s", out_text);
    cr_assert_eq(RUN("endpoints", "--sort=name", path), CLI_OK);
    cr_expect(strstr(out_text, "{id}") < strstr(out_text, "POST"), "%s", out_text);
}

Test(cli_endpoints, frames_let_in_what_has_them_anywhere_and_the_hottest_is_what_ran)
{
    save_usual();
    cr_assert_eq(RUN("endpoints", "--include=a/Main.main", path), CLI_OK, "%s", err_text);
    cr_expect(has_line("\ntotal 9 "), "%s", out_text);
    cr_expect(has_line("\nGET /orders list 4 0.04 s 44.44 % a.Work.run\n"), "%s", out_text);
    cr_assert_eq(RUN("endpoints", "--exclude=*Work.run", "--simple", path), CLI_OK, "%s", err_text);
    cr_expect_not_null(strstr(out_text, "(filters left out "), "%s", out_text);
    cr_expect_null(strstr(out_text, "Work.run"), "%s", out_text);
    cr_expect(has_line("\nPOST /orders 2 "), "%s", out_text);
    cr_assert_eq(RUN("endpoints", "--include=nothing", path), CLI_OK);
    cr_expect(has_line("\ntotal 0 "), "%s", out_text);
    cr_expect_not_null(strstr(err_text, "the filters left nothing of 10 samples"), "%s", err_text);
}

Test(cli_endpoints, a_table_may_have_a_title_and_leave_out_narrow_rows)
{
    save_usual();
    cr_assert_eq(RUN("endpoints", "--title=Mine", "--minwidth=21", path), CLI_OK, "%s", err_text);
    cr_expect_eq(strncmp(out_text, "Mine\n\n", 6), 0, "%s", out_text);
    cr_expect(has_line("\n[2 more] 2 2 0.02 s 20.00 %"), "%s", out_text);
    cr_expect_null(strstr(out_text, "POST"), "%s", out_text);
    cr_assert_eq(RUN("endpoints", "--sort=name", "--minwidth=15%", path), CLI_OK, "%s", err_text);
    cr_expect(has_line("\n[1 more] 1 0 "), "%s", out_text);
    cr_expect(strstr(out_text, "GET /orders ") < strstr(out_text, "POST"), "%s", out_text);
    cr_assert_eq(RUN("endpoints", "-o", "json", "--title=Mine", path), CLI_OK);
    cr_expect_not_null(strstr(out_text, "\"title\":\"Mine\","), "%s", out_text);
    cr_assert_eq(RUN("endpoints", "-o", "csv", "--title=Mine", path), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "--title: csv has rows alone"), "%s", err_text);
}

Test(cli_endpoints, both_clocks_have_a_column_and_shares_are_of_one)
{
    requests_begin(&maker, texts);
    put((struct made_request){.root_span_id = 1, .stack = 1});
    put((struct made_request){.root_span_id = 1, .stack = 3, .wall_ns = 90000000});
    put((struct made_request){.root_span_id = 2, .stack = 2, .wall_ns = 10000000});
    requests_endpoint(&maker, 1, ORDERS, 0);
    requests_endpoint(&maker, 2, POST, 0);
    requests_end(&maker);
    cr_assert(maker_save(&maker, path));
    cr_assert_eq(RUN("endpoints", path), CLI_OK);
    cr_expect(has_line("samples CPU time wall time share"), "%s", out_text);
    cr_expect(has_line("GET /orders 1 1 0.01 s 0.09 s 100.00 % a.Work.run\n"), "%s", out_text);
    cr_assert_eq(RUN("endpoints", "--sort", "wall", path), CLI_OK);
    cr_expect(has_line("GET /orders 1 1 0.01 s 0.09 s 90.00 % read\n"), "%s", out_text);
    cr_expect(has_line("POST /orders 1 1 0.00 s 0.01 s 10.00 % a.Shop.buy\n"), "%s", out_text);
}

Test(cli_endpoints, several_recordings_add_up_and_share_no_root_spans)
{
    save_usual();
    strcpy(other_path, path);
    maker_close(&maker);
    requests_begin(&maker, texts);
    put((struct made_request){.root_span_id = 100, .stack = 1}); /* of another process */
    requests_endpoint(&maker, 100, POST, 0);
    requests_end(&maker);
    cr_assert(maker_save(&maker, path));
    cr_assert_eq(RUN("endpoints", other_path, path), CLI_OK, "%s", err_text);
    cr_expect(has_line("\nPOST /orders 2 3 "), "%s", out_text);
    cr_expect(has_line("\ntotal 5 11 "), "%s", out_text);
}

Test(cli_endpoints, stacks_stand_below_boxes_of_what_they_are_taken_apart_by)
{
    save_usual();
    cr_assert_eq(CONVERT("--by", "endpoint", "--by", "attribute:tenant"), CLI_OK, "%s", err_text);
    cr_expect_str_eq(out_text, "GET /orders;tenant=acme;a/Main.main;a/Work.run 3\n"
                               "GET /orders;tenant=zoo;a/Main.main;a/Shop.buy 1\n"
                               "POST /orders;[no tenant];a/Main.main;read 2\n"
                               "[no context];[no tenant] 1\n"
                               "[no context];[no tenant];a/Main.main;read 2\n"
                               "[no endpoint];[no tenant];a/Main.main;a/Work.run 1\n");
    cr_assert_eq(
        CONVERT("--by=thread", "--by=operation", "--by=endpoint", "--endpoint=[no context]"),
        CLI_OK, "%s", err_text);
    cr_expect_not_null(strstr(out_text, "[worker tid=12];[no context];[no endpoint];a/Main.main;"
                                        "read 2\n"),
                       "%s", out_text);
    cr_assert_eq(CONVERT("--by=operation", "--reverse", "--endpoint=GET*"), CLI_OK);
    cr_expect_str_eq(out_text, "list;a/Shop.buy;a/Main.main 1\nlist;a/Work.run;a/Main.main 3\n");
}

Test(cli_endpoints, filter_and_table_call_samples_without_an_endpoint_the_same)
{
    save_usual();
    cr_assert_eq(RUN("endpoints", "--endpoint=[no endpoint]", path), CLI_OK);
    cr_expect(has_line("\n[no endpoint] - 1 0.01 s 100.00 % a.Work.run\ntotal "), "%s", out_text);
    cr_expect_null(strstr(out_text, "[no context]"), "%s", out_text);
    cr_expect_str_eq(err_text, "");
    cr_assert_eq(RUN("endpoints", "--endpoint=[no context]", path), CLI_OK);
    cr_expect(has_line("\n[no context] - 3 0.03 s 100.00 % read\ntotal "), "%s", out_text);
    cr_expect_str_eq(err_text, "");
}

Test(cli_endpoints, by_thread_is_what_threads_is)
{
    static char threads[4000];

    save_usual();
    cr_assert_eq(CONVERT("--threads"), CLI_OK);
    strcpy(threads, out_text);
    cr_assert_eq(CONVERT("--by", "thread"), CLI_OK);
    cr_expect_str_eq(out_text, threads);
    cr_expect_not_null(strstr(threads, "[worker tid=12];a/Main.main;read 4\n"));
    cr_assert_eq(CONVERT("--by", "thread", "--threads"), CLI_OK);
    cr_expect_str_eq(out_text, threads);
    cr_assert_eq(CONVERT("--by", "endpoint", "-t", "--endpoint", "POST /orders"), CLI_OK);
    cr_expect_str_eq(out_text, "POST /orders;[worker tid=12];a/Main.main;read 2\n");
}

Test(cli_endpoints, parts_let_in_what_fits_all_kinds_and_one_of_each)
{
    static const struct {
        const char *options[5];
        const char *samples;
    } cases[] = {
        {{"--endpoint=GET /orders"}, "4"},
        {{"--endpoint=*/orders"}, "6"},
        {{"--endpoint=G*T */ord*s"}, "4"},
        {{"--endpoint", "POST /orders", "--endpoint", "GET*"}, "6"},
        {{"--endpoint=[no endpoint]"}, "1"},
        {{"--endpoint=[no context]"}, "3"},
        {{"--endpoint=[no endpoint]", "--endpoint=[no context]"}, "4"},
        {{"--endpoint=[no context]", "--endpoint=POST*"}, "5"},
        {{"--endpoint=*"}, "6"},
        {{"--attribute=tenant=acme"}, "3"},
        {{"--attribute=tenant"}, "4"},
        {{"--attribute=tenant=a*"}, "3"},
        {{"--attribute=tenant=acme", "--attribute=tenant=zoo"}, "4"},
        {{"--attribute=tenant=zoo", "--endpoint=GET*"}, "1"},
        {{"--trace-id=0AF7651916CD43DD8448EB211C80319C"}, "1"},
        {{"--span-id=101"}, "1"},
        {{"--span-id=0x66", "--span-id=300"}, "3"},
        {{"--span-id=0000000000000065"}, "1"},
        {{"--span-id=0000000000000065", "--endpoint=POST*"}, NULL},
        {{"--endpoint=GET*", "--include=*Shop*"}, "1"},
    };

    save_usual();
    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        const char *words[12] = {"convert", "-q", "-o", "collapsed"};
        uint64_t sum = 0;
        size_t count = 4;

        for (size_t n = 0; cases[i].options[n] != NULL; n++)
            words[count++] = cases[i].options[n];
        words[count++] = path;
        words[count++] = "-";
        cr_assert_eq(run(words), CLI_OK, "%s: %s", cases[i].options[0], err_text);
        for (char *line = strtok(out_text, "\n"); line != NULL; line = strtok(NULL, "\n"))
            sum += strtoull(strrchr(line, ' ') + 1, NULL, 10);
        cr_expect_eq(sum, cases[i].samples == NULL ? 0 : strtoull(cases[i].samples, NULL, 10),
                     "%s: %llu", cases[i].options[0], (unsigned long long)sum);
    }
}

Test(cli_endpoints, the_title_says_that_it_is_a_part_and_how_much_is_not_shown)
{
    char page[128];

    save_usual();
    snprintf(page, sizeof page, "%s/page.html", directory);
    cr_assert_eq(RUN("convert", "--endpoint", "GET /orders*", "--attribute", "tenant=<a>*",
                     "--attribute", "tenant=acme", "--trace-id", "0af7651916cd43dd8448eb211c80319c",
                     "--by", "endpoint", path, page),
                 CLI_OK, "%s", err_text);
    slurp(page, out_text, sizeof out_text);
    cr_expect_not_null(strstr(out_text, "<title>CPU profile: GET /orders*, tenant=&lt;a&gt;*, "
                                        "tenant=acme, trace "
                                        "0af7651916cd43dd8448eb211c80319c</title>"),
                       "%.2000s", out_text);
    cr_expect_not_null(strstr(out_text, "\"filtered\":9,"));
    cr_expect_not_null(strstr(out_text, "\"endpoints\":["));
    cr_expect_null(strstr(out_text, "\"endpoints\":[]"));
    cr_expect_not_null(strstr(err_text, "no sample is matched by --attribute='tenant=<a>*'"), "%s",
                       err_text);
    cr_assert_eq(RUN("convert", "-o", "text", "--endpoint=GET*", "--title=Mine", path, "-"),
                 CLI_OK);
    cr_expect_eq(strncmp(out_text, "Mine: GET*\n", 11), 0, "%.100s", out_text);
}

Test(cli_endpoints, a_recording_without_contexts_is_told_with_what_to_do)
{
    requests_begin(&maker, texts);
    put((struct made_request){.stack = 1});
    requests_end(&maker);
    cr_assert(maker_save(&maker, path));
    cr_expect_eq(RUN("endpoints", path), CLI_FAILED);
    cr_expect_str_eq(out_text, "");
    cr_expect_not_null(strstr(err_text, "no sample of 'cpu' says what it was taken for"), "%s",
                       err_text);
    cr_expect_not_null(strstr(err_text, "io.jaywalk"), "%s", err_text);
    cr_expect_eq(CONVERT("--by=endpoint"), CLI_FAILED);
    cr_expect_eq(CONVERT("--attribute=tenant"), CLI_FAILED);
    cr_expect_eq(RUN("endpoints", "--by=thread", path), CLI_OK, "%s", err_text);

    maker_close(&maker);
    unlink(path);
    requests_begin(&maker, texts);
    put((struct made_request){.root_span_id = 5, .stack = 1});
    requests_end(&maker);
    cr_assert(maker_save(&maker, path));
    cr_expect_eq(RUN("endpoints", path), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "Jaywalk.endpoint()"), "%s", err_text);
}

static const struct {
    const char *words[6];
    int status;
    const char *said;
} mistakes[] = {
    {{"endpoints"}, CLI_USAGE, "a recording is needed"},
    {{"endpoints", "--sort=samlpes", "FILE"}, CLI_USAGE, "did you mean 'samples'?"},
    {{"endpoints", "-o", "html", "FILE"}, CLI_USAGE, "none of text, csv, json"},
    {{"endpoints", "--top=-1", "FILE"}, CLI_USAGE, "give 0 for all, or 1 and up"},
    {{"endpoints", "--top=1x", "FILE"}, CLI_USAGE, "is no number of rows"},
    {{"endpoints", "-e", "alloc", "FILE"}, CLI_USAGE, "none of cpu, wall"},
    {{"endpoints", "--by=endpont", "FILE"}, CLI_USAGE, "did you mean 'endpoint'?"},
    {{"endpoints", "--by=attribute", "FILE"}, CLI_USAGE, "attribute:NAME"},
    {{"endpoints", "--by=attribute:", "FILE"}, CLI_USAGE, "attribute:NAME"},
    {{"endpoints", "--by=tenant", "FILE"}, CLI_USAGE, "did you mean 'attribute:tenant'?"},
    {{"endpoints", "--dot", "FILE"}, CLI_USAGE, "an option of 'jaywalk convert'\n"},
    {{"endpoints", "-t", "FILE"}, CLI_USAGE, "'jaywalk convert', and '--by thread' of this"},
    {{"endpoints", "--duration=5", "FILE"}, CLI_USAGE, "is no option"},
    {{"convert", "--sort=wall", "FILE", "OUT"}, CLI_USAGE, "option of 'jaywalk endpoints'\n"},
    {{"convert", "--top", "5", "FILE", "OUT"}, CLI_USAGE, "option of 'jaywalk endpoints'\n"},
    {{"convert", "-o", "json", "FILE", "OUT"}, CLI_USAGE, "jsonl has an object for each event"},
    {{"convert", "-o", "htlm", "FILE", "OUT"}, CLI_USAGE, "there are html, collapsed, text"},
    {{"endpoints", "--by=thread", "--by=thread", "FILE"}, CLI_USAGE, "twice"},
    {{"endpoints", "--attribute==x", "FILE"}, CLI_USAGE, "has no name"},
    {{"endpoints", "--trace-id=xyz", "FILE"},
     CLI_USAGE,
     "is no trace id; it has up to 32 hex digits"},
    {{"endpoints", "--trace-id=0af7651916cd43dd8448eb211c80319c0", "FILE"},
     CLI_USAGE,
     "up to 32 hex digits"},
    {{"endpoints", "--span-id=-1", "FILE"}, CLI_USAGE, "is no span id; it has up to 16 hex"},
    {{"endpoints", "--span-id=0x", "FILE"}, CLI_USAGE, "16 hex digits"},
    {{"endpoints", "--by=attribute:tennant", "FILE"}, CLI_FAILED, "it has: tenant, user_id"},
    {{"convert", "--attribute=user=1", "FILE", "OUT"}, CLI_FAILED, "it has: tenant, user_id"},
    {{"endpoints", "--endpoint=PUT*", "FILE"}, CLI_OK, "no endpoint is matched"},
    {{"endpoints", "--endpoint=PUT*", "--endpoint=[no context]", "FILE"},
     CLI_OK,
     "no endpoint is matched by --endpoint='PUT*'"},
    {{"endpoints", "--attribute=tenant=zzz", "FILE"},
     CLI_OK,
     "'jaywalk endpoints --by attribute:tenant' lists its values"},
    {{"endpoints", "--state=parked", "FILE"},
     CLI_OK,
     "the filters left nothing of 10 samples of 'cpu': --state='parked'"},
    {{"endpoints", "-e", "wall", "FILE"},
     CLI_FAILED,
     "no samples of 'wall'; it has some of 'cpu': leave --event=wall out"},
    {{"endpoints", "--sort=wall", "FILE"},
     CLI_FAILED,
     "no samples of 'wall'; it has some of 'cpu': leave --sort=wall out"},
    {{"endpoints", "-e", "cpu", "--sort=wall", "FILE"},
     CLI_FAILED,
     "no samples of 'wall'; it has some of 'cpu': leave --sort=wall out"},
    {{"endpoints", "/nowhere/x.jfr"}, CLI_FAILED, "/nowhere/x.jfr"},
};

Test(cli_endpoints, mistakes_are_told)
{
    char out[128];

    save_usual();
    snprintf(out, sizeof out, "%s/out.txt", directory);
    for (size_t i = 0; i < JW_COUNT_OF(mistakes); i++) {
        const char *words[7] = {NULL};

        for (size_t n = 0; n < JW_COUNT_OF(mistakes[i].words) && mistakes[i].words[n] != NULL;
             n++) {
            const char *word = mistakes[i].words[n];

            words[n] = strcmp(word, "FILE") == 0 ? path : strcmp(word, "OUT") == 0 ? out : word;
        }
        cr_expect_eq(run(words), mistakes[i].status, "%zu: %s", i, err_text);
        cr_expect_not_null(strstr(err_text, mistakes[i].said), "%zu: %s", i, err_text);
    }
    cr_expect_eq(access(out, F_OK), -1);
}

/* Texts that would do harm where they end what they stand in. */
static const char *const odd[] = {
    "</script><script>alert(1)</script>",
    "a;b\nc\td\x1b[2J\x07",
    "\"quoted\", 'and' \\ back",
    "=HYPERLINK(\"http://x\")",
    "\xc2\x9b"
    "31m \xe2\x80\xae {{title}}",
    "]]>&amp;<!--",
    "",
    NULL,
};

Test(cli_endpoints, s17_odd_names_are_harmless_in_every_form)
{
    static const char *const forms[] = {"text", "csv", "json"};
    static const char *const formats[] = {"html", "collapsed", "text"};

    requests_begin(&maker, odd);
    for (uint64_t i = 1; odd[i - 1] != NULL; i++) {
        put((struct made_request){.root_span_id = i, .tenant = i, .user = i, .stack = 1 + i % 3});
        requests_endpoint(&maker, i, i, i);
    }
    requests_end(&maker);
    cr_assert(maker_save(&maker, path));
    for (size_t i = 0; i < JW_COUNT_OF(forms); i++) {
        cr_assert_eq(
            RUN("endpoints", "--by=endpoint", "--by=attribute:tenant", "-o", forms[i], path),
            CLI_OK, "%s", err_text);
        cr_expect(strpbrk(out_text, "\x1b\x07\t") == NULL && strstr(out_text, "\xc2\x9b") == NULL);
    }
    cr_expect_null(strstr(out_text, "<")); /* json, the last */
    cr_expect_not_null(strstr(out_text, "[null,\"\"]"), "%s",
                       out_text); /* "": no endpoint, a tenant */
    cr_assert_eq(RUN("endpoints", "-o", "csv", path), CLI_OK);
    cr_expect_not_null(strstr(out_text, "\"'=HYPERLINK(\"\"http://x\"\")\""), "%s", out_text);
    for (size_t i = 0; i < JW_COUNT_OF(formats); i++) {
        cr_assert_eq(RUN("convert", "-o", formats[i], "--by=endpoint", "--by=operation",
                         "--by=attribute:tenant", "--attribute=tenant", path, "-"),
                     CLI_OK, "%s", err_text);
        if (i == 0)
            cr_expect_null(strstr(out_text, "<script>alert"));
        cr_expect_null(strpbrk(out_text, "\x1b\x07"), "%s", formats[i]);
    }
    cr_assert_eq(CONVERT("--by=attribute:tenant"), CLI_OK);
    unsigned lines = 0;
    for (char *line = strtok(out_text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        unsigned separators = 0;

        for (const char *at = line; (at = strchr(at, ';')) != NULL; at++)
            separators++;
        cr_expect_eq(separators, 2, "%s", line);
        lines++;
    }
    cr_expect_eq(lines, 7);
}

Test(cli_endpoints, a_long_name_is_whole_in_data_and_cut_in_the_middle_of_a_text)
{
    static char long_name[4001];
    const char *const long_texts[] = {long_name, NULL};

    memset(long_name, 'x', sizeof long_name - 1);
    memcpy(long_name, "GET /", 5);
    memcpy(long_name + sizeof long_name - 5, "/end", 4);
    requests_begin(&maker, long_texts);
    put((struct made_request){.root_span_id = 1, .stack = 1});
    requests_endpoint(&maker, 1, 1, 0);
    requests_end(&maker);
    cr_assert(maker_save(&maker, path));
    cr_assert_eq(RUN("endpoints", "-o", "csv", path), CLI_OK);
    cr_expect_not_null(strstr(out_text, long_name));
    cr_assert_eq(RUN("endpoints", path), CLI_OK);
    cr_expect_null(strstr(out_text, long_name));
    cr_expect_not_null(strstr(out_text, "x...x"));
    cr_expect(has_line("/end "), "%s", out_text);
}

Test(cli_endpoints, an_address_is_not_code_that_ran_with_and_without_patterns)
{
    requests_begin(&maker, texts);
    put((struct made_request){.root_span_id = 100, .span_id = 100, .stack = 4});
    requests_endpoint(&maker, 100, ORDERS, LIST);
    requests_end(&maker);
    cr_assert(maker_save(&maker, path));
    cr_assert_eq(RUN("endpoints", path), CLI_OK, "%s", err_text);
    cr_expect(has_line("100.00 % a.Work.run\n"), "%s", out_text);
    cr_assert_eq(RUN("endpoints", "-X", "nothing*", path), CLI_OK, "%s", err_text);
    cr_expect(has_line("100.00 % a.Work.run\n"), "%s", out_text);
}

Test(cli_endpoints, each_allocation_that_fails_is_told_and_nothing_is_half_shown)
{
    static const char *const commands[][9] = {
        {"endpoints", "--endpoint=GET*", NULL},
        {"convert", "-o", "collapsed", "--by=endpoint", "--by=thread", "--attribute=tenant", NULL},
    };
    static char whole[sizeof out_text];

    save_usual();
    for (size_t i = 0; i < JW_COUNT_OF(commands); i++) {
        const char *words[12];
        size_t count = 0;
        int status = CLI_FAILED;

        while (commands[i][count] != NULL) {
            words[count] = commands[i][count];
            count++;
        }
        words[count++] = path;
        words[count] = i == 1 ? "-" : NULL;
        words[count + 1] = NULL;
        cr_assert_eq(run(words), CLI_OK, "%s", err_text);
        strcpy(whole, out_text);
        for (uint64_t nth = 1; status != CLI_OK; nth++) {
            jw_alloc_fail_after(nth);
            status = run(words);
            jw_alloc_fail_after(0);
            cr_assert(status == CLI_OK || status == CLI_FAILED, "%lu", (unsigned long)nth);
            cr_expect_str_eq(out_text, status == CLI_OK ? whole : "", "%lu", (unsigned long)nth);
            cr_expect(status == CLI_OK || err_text[0] != '\0', "%lu", (unsigned long)nth);
            cr_assert_lt(nth, 5000);
        }
    }
}
