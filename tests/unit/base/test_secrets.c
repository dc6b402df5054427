/* Command lines without passwords: whatever form they have there. */
#include "base/secrets.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(secrets, .timeout = 1800);

Test(secrets, s15_values_of_secret_names_are_masked_in_every_form)
{
    static const struct {
        const char *argument;
        const char *shown;
    } cases[] = {
        {"-Ddb.password=hunter2", "-Ddb.password=***"},
        {"-Ddb.PassWord=a b c", "-Ddb.PassWord=***"},
        {"-Djavax.net.ssl.keyStorePassword=changeit", "-Djavax.net.ssl.keyStorePassword=***"},
        {"--api-key=abc", "--api-key=***"},
        {"-Daws.secretKey=x", "-Daws.secretKey=***"},
        {"-DMY_KEY=x", "-DMY_KEY=***"},
        {"-Dkey=x", "-Dkey=***"},
        {"-Daccess.key1=x", "-Daccess.key1=***"},
        {"AUTH_TOKEN:abc", "AUTH_TOKEN:***"},
        {"-javaagent:/a.jar=mode=fast,token=abc,x=y", "-javaagent:/a.jar=mode=fast,token=***"},
        {"jdbc:mysql://db/x?user=me&password=p&y=z", "jdbc:mysql://db/x?user=me&password=***"},
        {"https://me:secret@host/path", "https://***@host/path"},
        {"https://ghp_abc@host/?x=1", "https://***@host/?x=1"},
        {"amqp://u:p@a@host:5672/v", "amqp://***@host:5672/v"},
        /* Where a password holds what begins a path, nobody knows its end. */
        {"https://me:a/b@host/path", "https://***"},
        {"https://me:a?b#c@host", "https://***"},
        {"https://me:a@b/c@host", "https://***"},
        {"https://me:12/34@host", "https://***"},
        {"jdbc:mysql://db:3306/x?password=p@q&y=z", "jdbc:mysql://***"},
        {"jdbc:oracle:thin:scott/tiger@//host:1521/x", "jdbc:oracle:thin:***"},
        {"-Durl=jdbc:oracle:oci:scott/tiger@x", "-Durl=jdbc:oracle:oci:***"},
        {"-Dheader=Authorization: Bearer abc", "-Dheader=Authorization:***"},
        {"a=https://u:p@h/?token=x", "a=https://***@h/?token=***"},
        {"-Dspring.application.json={\"password\":\"hunter2\"}",
         "-Dspring.application.json={\"password\":***"},
        {"{'token' : 'abc'}", "{'token' ***"},
        {"{\\\"secret\\\":1}", "{\\\"secret\\\":***"},
        {"--dbpass=x", "--dbpass=***"},
        {"-Duserpwd=x", "-Duserpwd=***"},
        /* What is no secret stays. */
        {"{\"mode\":\"token\",\"x\":1}", "{\"mode\":\"token\",\"x\":1}"},
        {"-Dmonkey=banana", "-Dmonkey=banana"},
        {"-Xmx512m", "-Xmx512m"},
        {"-XX:CompileCommand=quiet", "-XX:CompileCommand=quiet"},
        {"http://host:80/a?b#c", "http://host:80/a?b#c"},
        {"http://host/a@b", "http://host/a@b"},
        {"jdbc:oracle:thin:@//host:1521/x", "jdbc:oracle:thin:@//host:1521/x"},
        {"-Dkeyboard=qwerty", "-Dkeyboard=qwerty"},
        {"-Dcompass=north", "-Dcompass=north"},
        {"", ""},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        char text[200];
        const size_t length =
            jw_mask_arguments(cases[i].argument, strlen(cases[i].argument), text, sizeof text);

        cr_expect_str_eq(text, cases[i].shown);
        cr_expect(length == strlen(text));
    }
}

Test(secrets, s15_the_argument_after_a_secret_name_is_masked)
{
    static const char arguments[] =
        "App\0--token\0abc "
        "def\0--password\0--verbose\0-s3cretKey\0x\0key\0y\0-storepass\0changeit\0--token\0-abc";
    char text[200];

    (void)jw_mask_arguments(arguments, sizeof arguments - 1, text, sizeof text);
    cr_expect_str_eq(
        text,
        "App --token *** --password --verbose -s3cretKey *** key y -storepass *** --token ***");
}

Test(secrets, s15_of_a_line_without_ends_of_arguments_rather_too_much_is_masked)
{
    char text[200];

    (void)jw_mask_line("App --password correct horse battery --mode fast x=1 -t", text,
                       sizeof text);
    cr_expect_str_eq(text, "App --password *** --mode fast x=1 -t");
    (void)jw_mask_line("App --password -abc --mode fast", text, sizeof text);
    cr_expect_str_eq(text, "App --password *** --mode fast");
    (void)jw_mask_line("App password=a b c", text, sizeof text);
    cr_expect_str_eq(text, "App password=***");
    (void)jw_mask_line("", text, sizeof text);
    cr_expect_str_eq(text, "");
}

/* Nothing of a secret is in the text, however small the room; and any bytes give one. */
Test(secrets, s15_no_room_and_no_bytes_let_a_secret_out)
{
    static const char arguments[] = "java\0-Dtoken=HUNTER2\0--password\0HUNTER2\0http://HUNTER2@h";
    unsigned seed = 15;

    for (size_t room_bytes = 0; room_bytes < sizeof arguments + 10; room_bytes++) {
        char text[100] = "?";

        (void)jw_mask_arguments(arguments, sizeof arguments - 1, text, room_bytes);
        cr_expect(memmem(text, sizeof text, "HUNT", 4) == NULL, "%zu: %s", room_bytes, text);
        cr_expect(room_bytes == 0 || strlen(text) < room_bytes);
    }
    for (int i = 0; i < 20000; i++) {
        char bytes[64], text[200];
        static const char alphabet[] = "-=:/@? .keytokn\0a";

        seed = seed * 1103515245 + 12345;
        const size_t length_bytes = (seed >> 16) % sizeof bytes;
        for (size_t at = 0; at < length_bytes; at++) {
            seed = seed * 1103515245 + 12345;
            bytes[at] = i % 2 ? (char)(seed >> 16) : alphabet[(seed >> 16) % (sizeof alphabet - 1)];
        }
        const size_t used = jw_mask_arguments(bytes, length_bytes, text, sizeof text);
        cr_assert(used == strlen(text) && used < sizeof text);
    }
}
