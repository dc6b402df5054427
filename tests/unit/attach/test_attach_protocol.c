/* Requests to the attach listener and its replies, as bytes. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach_internal.h"

TestSuite(attach_protocol, .timeout = 1800);

Test(attach_protocol, version_1_always_has_three_arguments)
{
    static const char *const arguments[3] = {"/lib.so", "true", NULL};
    static const char expected[] = "1\0load\0/lib.so\0true\0";
    char request[64];

    cr_assert_eq(attach_encode(1, "load", arguments, request, sizeof request), sizeof expected);
    cr_expect_arr_eq(request, expected, sizeof expected);
}

Test(attach_protocol, version_2_tells_its_size)
{
    static const char *const arguments[3] = {"/lib.so", "true", "ab"};
    static const char expected[] = "2\0"
                                   "21\0load\0/lib.so\0true\0ab";
    char request[64];

    cr_assert_eq(attach_encode(2, "load", arguments, request, sizeof request), sizeof expected);
    cr_expect_arr_eq(request, expected, sizeof expected);
}

Test(attach_protocol, what_does_not_fit_is_not_sent)
{
    static char text[2000];
    const char *const arguments[3] = {text};
    char request[3000];

    memset(text, 'x', 1024);
    cr_expect_neq(attach_encode(1, "load", arguments, request, sizeof request), 0);
    memset(text, 'x', 1025);
    cr_expect_eq(attach_encode(1, "load", arguments, request, sizeof request), 0);
    cr_expect_neq(attach_encode(2, "load", arguments, request, sizeof request), 0);
    cr_expect_eq(attach_encode(2, "load", arguments, request, 1030), 0);
    cr_expect_eq(
        attach_encode(1, "a-name-of-17-byte", (const char *const[3]){0}, request, sizeof request),
        0);
}

Test(attach_protocol, a_reply_is_a_number_and_a_text)
{
    struct attach_reply reply;

    cr_assert(attach_parse_reply("0\nreturn code: 0\n", 17, &reply));
    cr_expect_eq(reply.status, 0);
    cr_expect_str_eq(reply.text, "return code: 0\n");
    cr_assert(attach_parse_reply("101\n", 4, &reply));
    cr_expect_eq(reply.status, 101);
    cr_expect_str_eq(reply.text, "");
    cr_assert(attach_parse_reply("-1", 2, &reply));
    cr_expect_eq(reply.status, -1);
}

Test(attach_protocol, what_is_no_reply_is_refused)
{
    static const char *const cases[] = {"",
                                        "\n",
                                        "OK\n",
                                        "0x0\n",
                                        "-\n",
                                        "1 2\n",
                                        "99999999999\n",
                                        "4294967296\n",
                                        "HTTP/1.1 400\r\n"};
    struct attach_reply reply;

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++)
        cr_expect_not(attach_parse_reply(cases[i], strlen(cases[i]), &reply), "case %zu", i);
}

Test(attach_protocol, s16_a_long_reply_is_cut)
{
    static char bytes[3 * ATTACH_TEXT_BYTES] = "0\n";
    static struct attach_reply reply;

    memset(bytes + 2, 'x', sizeof bytes - 2);
    cr_assert(attach_parse_reply(bytes, sizeof bytes, &reply));
    cr_expect_eq(strlen(reply.text), ATTACH_TEXT_BYTES - 1);
}

Test(attach_protocol, every_jdk_tells_the_code_of_the_agent)
{
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        {"return code: 0\n", 0},
        {"return code: 200\n", 200},
        {"return code: -1", -1},
        {"0\n", 0},     /* JDK 8 */
        {"100\n", 100}, /* JDK 8 */
        {"warning: something\nreturn code: 7\n", 7},
        {"return code: 7\r\n", 7},
    };
    static const char *const refused[] = {
        "",
        "\n\n",
        "libx.so was not loaded.\nno such file\n",
        "return code: x\n",
        "return code:\n",
        "Dynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading to launch target "
        "VM.\n",
    };
    int code;

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        cr_assert(attach_parse_load(cases[i].text, &code), "case %zu", i);
        cr_expect_eq(code, cases[i].code, "case %zu", i);
    }
    for (size_t i = 0; i < JW_COUNT_OF(refused); i++)
        cr_expect_not(attach_parse_load(refused[i], &code), "refused %zu", i);
}

Test(attach_protocol, s18_random_replies_do_no_harm)
{
    static struct attach_reply reply;
    char bytes[200];
    int code;

    srand(11);
    for (int round = 0; round < 5000; round++) {
        const size_t length = (size_t)rand() % sizeof bytes;

        for (size_t i = 0; i < length; i++)
            bytes[i] = "0123456789\n-return code: \0"[rand() % 26];
        if (attach_parse_reply(bytes, length, &reply))
            (void)!attach_parse_load(reply.text, &code);
    }
}
