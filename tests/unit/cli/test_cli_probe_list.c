/* The probes of a JVM in words, from what its agent answers: whole, of a later agent, cut and damaged. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_probe_internal.h"

TestSuite(cli_probe_list, .timeout = 1800);

static char said[65536];
static struct jw_error err;

static bool put(const char *text)
{
    FILE *to = fmemopen(said, sizeof said, "w");

    jw_error_clear(&err);
    cr_assert_not_null(to);
    const bool is_good = cli_probe_put_list(text, to, &err);
    fclose(to);
    return is_good;
}

static const char answer[] =
    "{\"schema\":\"jaywalk.probes/1\",\"probes\":["
    "{\"name\":\"slow\",\"class\":\"com/acme/Slow\",\"file\":\"/tmp/a "
    "b.jar\",\"state\":\"attached\","
    "\"why\":\"\",\"methods\":5,\"classes\":2,\"later\":[{\"x\":[1,-2.5e3,true,null,\"]\"]}],"
    "\"handlers\":["
    "{\"method\":\"left\",\"place\":\"return\",\"methods\":5,\"places\":7,\"calls\":1234567,"
    "\"throws\":2,\"ns_per_call\":120,\"unfit\":3,\"untold\":0,\"refused\":1,\"nested\":0,"
    "\"dropped\":4,\"more\":{}},"
    "{\"method\":\"lost\",\"place\":\"throw\",\"methods\":0,\"places\":0,\"calls\":0,\"throws\":0,"
    "\"ns_per_call\":0,\"unfit\":0}],\"events\":["
    "{\"name\":\"SlowOrder\",\"type\":\"jaywalk.probe.SlowOrder\",\"recorded\":1234567,\"lost\":8,"
    "\"idle\":9,\"later\":{}},"
    "{\"name\":\"Failed\",\"type\":\"jaywalk.probe.Failed\",\"recorded\":0,\"lost\":0,\"idle\":0}]}"
    ","
    "{\"name\":\"hot\",\"class\":\"Hot\",\"file\":\"/h.jar\",\"rules\":\"/"
    "my.rules\",\"state\":\"taken-out\","
    "\"why\":\"20,000 ns a call\\u001b[2J \\\"\\u00e4\\n\",\"handlers\":["
    "{\"method\":\"out\",\"place\":\"entry\",\"methods\":0,\"places\":0,\"calls\":9,\"throws\":0,"
    "\"ns_per_call\":20000,\"unfit\":0}]}]}\n";

Test(cli_probe_list, probes_and_their_handlers_are_rows)
{
    cr_assert(put(answer), "%s", err.message);
    cr_expect_str_eq(
        said,
        "slow  attached\n"
        "  class com.acme.Slow of /tmp/a b.jar\n"
        "  handler                         methods   places             calls   ns a call  "
        "exceptions\n"
        "  left (return)                         5        7         1,234,567         120          "
        " 2\n"
        "    3 methods that its rules take have not what it asks for\n"
        "    1 methods that its rules take cannot be written anew\n"
        "    4 calls were left out\n"
        "  lost (throw)                          0        0                 0           0          "
        " 0\n"
        "    no method of the classes that are loaded calls it\n"
        "  event                                                     recorded        lost        "
        "idle\n"
        "  jaywalk.probe.SlowOrder                                  1,234,567           8          "
        " 9\n"
        "  jaywalk.probe.Failed                                             0           0          "
        " 0\n"
        "\n"
        "hot  taken-out: 20,000 ns a call [2J \"??\n"
        "  class Hot of /h.jar, with rules of /my.rules\n"
        "  handler                         methods   places             calls   ns a call  "
        "exceptions\n"
        "  out (entry)                           0        0                 9      20,000          "
        " "
        "0\n",
        "%s", said);
    cr_assert(put("{\"schema\":\"jaywalk.probes/1\",\"probes\":[]}"));
    cr_expect_str_eq(said, "No probe is attached.\n");
}

Test(cli_probe_list, handlers_that_were_never_called_and_places_that_do_nothing_are_told)
{
    cr_assert(put("{\"schema\":\"jaywalk.probes/1\",\"probes\":[{\"name\":\"slow\","
                  "\"class\":\"Slow\",\"file\":\"s.jar\",\"state\":\"attached\",\"why\":\"\","
                  "\"handlers\":[{\"method\":\"first\",\"place\":\"entry\",\"methods\":2,"
                  "\"places\":3,\"calls\":0,\"linked\":0,\"missed\":0},"
                  "{\"method\":\"second\",\"place\":\"entry\",\"methods\":2,\"places\":3,"
                  "\"calls\":0,\"linked\":1200,\"missed\":6},"
                  "{\"method\":\"third\",\"place\":\"entry\",\"methods\":2,\"places\":3,"
                  "\"calls\":1,\"linked\":3}]}],\"missed\":1007}"),
              "%s", err.message);
    const char *first = strstr(said, "first (entry)"), *second = strstr(said, "second (entry)");
    const char *third = strstr(said, "third (entry)"), *never = strstr(said, "never called");
    cr_assert(first != NULL && second != NULL && third != NULL && never != NULL);
    cr_expect(never > first && never < second);
    cr_expect_not_null(strstr(second, "    1,200 times a place was linked to it, and it was never "
                                      "called\n    6 places of another type do nothing\n"));
    cr_expect_null(strstr(third, "never called"));
    cr_expect_not_null(strstr(third, "\n1,007 places of probes do nothing: no handler was theirs "
                                     "when they were linked\n"));
}

Test(cli_probe_list, places_within_methods_are_told_with_what_they_are_of)
{
    cr_assert(put("{\"schema\":\"jaywalk.probes/1\",\"probes\":[{\"name\":\"slow\","
                  "\"class\":\"Slow\",\"file\":\"s.jar\",\"state\":\"attached\",\"why\":\"\","
                  "\"handlers\":[{\"method\":\"asked\",\"of\":\"com.acme.Db.*\",\"place\":"
                  "\"call\",\"methods\":2,\"places\":3,\"placeless\":7,\"misfits\":5,"
                  "\"skipped\":6},{\"method\":\"lined\",\"line\":41,\"place\":\"line\","
                  "\"methods\":0,\"placeless\":4}]}]}"),
              "%s", err.message);
    cr_expect(strstr(said, "  asked (call)                          2        3") != NULL, "%s",
              said);
    cr_expect(strstr(said, "    of com.acme.Db.*\n"
                           "    5 places have not what it asks for\n"
                           "    6 places are left out, where a failing call would never end or "
                           "hold a lock\n  lined (line 41)  ") != NULL,
              "%s", said);
    cr_expect(strstr(said, "calls it\n    4 methods that its rules take have no such place\n") !=
                  NULL,
              "%s", said);
}

Test(cli_probe_list, what_is_no_answer_is_refused)
{
    static const char *const bad[] = {"",
                                      "{}",
                                      "{\"schema\":\"jaywalk.probes/2\",\"probes\":[]}",
                                      "{\"probes\":[]}",
                                      "{\"schema\":\"jaywalk.probes/1\"}",
                                      "{\"schema\":\"jaywalk.probes/1\",\"probes\":{}}",
                                      "{\"schema\":\"jaywalk.probes/1\",\"probes\":[1]}",
                                      "Profiling is not running.\n"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect(!put(bad[i]) && strstr(err.message, "another version") != NULL, "%s", bad[i]);
}

Test(cli_probe_list, a_cut_answer_is_refused)
{
    for (size_t length = 0; length + 2 < sizeof answer; length++) {
        char *exact = strndup(answer, length);

        cr_expect(!put(exact), "%zu bytes", length);
        free(exact);
    }
}

Test(cli_probe_list, depth_is_bounded)
{
    static char deep[200000];

    strcpy(deep, "{\"schema\":\"jaywalk.probes/1\",\"later\":");
    memset(deep + strlen(deep), '[', sizeof deep - strlen(deep) - 1);
    cr_expect(!put(deep));
}

/* Whatever a byte becomes: it ends, inside of the text, and no control character comes out. */
Test(cli_probe_list, damaged_answers_do_no_harm)
{
    unsigned taken = 0, refused = 0;

    for (size_t at = 0; at + 1 < sizeof answer; at++) {
        static const char others[] = "\"{[]},:\\u0\x1b\x80z";

        for (size_t i = 0; i + 1 < sizeof others; i++) {
            char *exact = strdup(answer);

            exact[at] = others[i];
            if (put(exact))
                taken++;
            else
                refused++;
            for (const char *one = said; *one != '\0'; one++)
                cr_assert((unsigned char)*one >= 0x20 || *one == '\n', "byte %zu", at);
            free(exact);
        }
    }
    cr_expect(taken > 100 && refused > 100, "%u %u", taken, refused);
}
