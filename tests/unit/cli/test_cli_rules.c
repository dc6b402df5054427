/* `jaywalk rules`: on folders, jars, jars in jars and damaged ones; what it says of rules, and with which status. */
#include "run_cli.h"

#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli_classes_internal.h"
#include "support/class_maker.h"

#if __has_include(<minizip/zip.h>)
#include <minizip/zip.h>
#define HAS_JARS 1
#else
#define HAS_JARS 0
#endif

static struct class_maker maker;

static void make_directory(void)
{
    strcpy(directory, "/tmp/jaywalk-rules-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(chdir(directory), 0);
}

static void remove_directory(void)
{
    char command[128];

    class_maker_free(&maker);
    cr_assert_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_rules, .init = make_directory, .fini = remove_directory, .timeout = 1800);

static void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "w");

    cr_assert(file != NULL && fwrite(bytes, 1, length, file) == length && fclose(file) == 0, "%s",
              path);
}

static size_t read_file(const char *path, unsigned char *bytes, size_t capacity)
{
    FILE *file = fopen(path, "r");

    cr_assert_not_null(file, "%s", path);
    const size_t length = fread(bytes, 1, capacity, file);
    fclose(file);
    return length;
}

static void rules_are(const char *text)
{
    write_file("a.rules", text, strlen(text));
}

static const uint8_t work_code[] = {3, 87, 177}; /* iconst_0, pop, return */

static struct class_maker_bytes class_of(const char *name, const char *super)
{
    static const char *const methods[] = {"method_1", "method_2", "method_3", "method_4"};

    class_maker_begin(&maker, 52, name, super);
    for (size_t i = 0; i < 4; i++)
        class_maker_method(
            &maker, 1, methods[i], i == 2 ? "(I[Ljava/lang/String;)V" : "()V",
            &(struct class_maker_code){
                .stack = 1, .locals = 8, .bytes = work_code, .length = sizeof work_code});
    return class_maker_end(&maker);
}

static void add_class(const char *path, const char *name, const char *super)
{
    const struct class_maker_bytes whole = class_of(name, super);

    write_file(path, whole.bytes, whole.length);
}

static const char four_rules[] =
    "exclude class package=com.acme method name=method_4\n"
    "exclude class name=com.acme.A method name=not_there\n"
    "third: include class name=com.acme.* method name=method_2\n"
    "fourth: include class name=com.acme.A method name=method_3|method_2\n";

static void make_folder(void)
{
    cr_assert_eq(mkdir("app", 0700), 0);
    cr_assert_eq(mkdir("app/acme", 0700), 0);
    add_class("app/acme/A.class", "com/acme/A", "java/lang/Object");
    add_class("app/Other.class", "org/Other", "com/acme/A");
}

#define EXPECT_OUT(text)                                                                           \
    cr_expect(strstr(out_text, text) != NULL, "'%s' is not in:\n%s", text, out_text)
#define EXPECT_ERR(text)                                                                           \
    cr_expect(strstr(err_text, text) != NULL, "'%s' is not in: %s", text, err_text)

Test(cli_rules, check_says_in_which_order_rules_are_tried)
{
    rules_are("second: include class name=com.acme.A\nexclude method name=x\n");
    cr_expect_eq(RUN("rules", "check", "a.rules"), CLI_OK);
    const char *first = strstr(out_text, "1.  exclude  line 2    rule 2");
    const char *second = strstr(out_text, "2.  include  line 1    second");
    cr_expect(first != NULL && second != NULL && first < second, "%s", out_text);
}

Test(cli_rules, what_is_not_understood_is_told_with_its_line)
{
    rules_are("include class name=com.acme.A\n\ninclude class nam=x\n");
    cr_expect_eq(RUN("rules", "check", "a.rules"), CLI_FAILED);
    EXPECT_ERR("a.rules: ");
    EXPECT_ERR("line 3");
    EXPECT_ERR("nam");
    rules_are("# nothing\n\n");
    cr_expect_eq(RUN("rules", "check", "a.rules"), CLI_FAILED);
    EXPECT_ERR("there is no rule in it");
    cr_expect_eq(RUN("rules", "check", "nowhere.rules"), CLI_FAILED);
    EXPECT_ERR("nowhere.rules: cannot be opened");

    static char large[64 * 1024 + 2];
    memset(large, '#', sizeof large);
    write_file("a.rules", large, sizeof large);
    cr_expect_eq(RUN("rules", "check", "a.rules"), CLI_FAILED);
    EXPECT_ERR("at most 65536 bytes");
}

Test(cli_rules, what_is_missing_on_the_command_line_is_told)
{
    rules_are(four_rules);
    cr_expect_eq(RUN("rules"), CLI_USAGE);
    EXPECT_ERR("'check' or 'dry-run' comes first");
    cr_expect_eq(RUN("rules", "a.rules"), CLI_USAGE);
    cr_expect_eq(RUN("rules", "check"), CLI_USAGE);
    cr_expect_eq(RUN("rules", "check", "a.rules", "b.rules"), CLI_USAGE);
    cr_expect_eq(RUN("rules", "dry-run", "a.rules"), CLI_USAGE);
    EXPECT_ERR("are needed");
    cr_expect_eq(RUN("rules", "dry-run", "a.rules", "nowhere"), CLI_FAILED);
    EXPECT_ERR("nowhere: cannot be opened");
    cr_expect_eq(RUN("rules", "dry-run", "a.rules", "99999999"), CLI_TARGET);
    EXPECT_ERR("there is no process 99999999");
    cr_assert_eq(mkdir("empty", 0700), 0);
    cr_expect_eq(RUN("rules", "dry-run", "a.rules", "empty"), CLI_FAILED);
    EXPECT_ERR("empty: holds no class");
}

Test(cli_rules, two_exclusive_and_two_inclusive_rules_share_a_class)
{
    rules_are(four_rules);
    make_folder();
    cr_expect_eq(RUN("rules", "dry-run", "a.rules", "app"), CLI_OK);
    EXPECT_OUT("com.acme.A  (app)\n");
    EXPECT_OUT("  -                 method_1()  [no rule]\n");
    EXPECT_OUT("  third             method_2()  3 places, code 3 -> ");
    EXPECT_OUT("  fourth            method_3(int, java.lang.String[])  3 places, code 3 -> ");
    EXPECT_OUT("  -                 method_4()  [excluded by rule 1]\n");
    EXPECT_OUT("rule 2 (line 2) excludes nothing\n");
    EXPECT_OUT("         2  classes, with 8 methods; rules may take methods of 1\n");
    cr_expect(strstr(out_text, "org.Other") == NULL, "%s", out_text);
    cr_expect_eq(RUN("rules", "dry-run", "--taken", "a.rules", "app"), CLI_OK);
    cr_expect(strstr(out_text, "method_1()") == NULL && strstr(out_text, "method_2()") != NULL);
    cr_expect_eq(RUN("rules", "dry-run", "--all", "a.rules", "app"), CLI_OK);
    EXPECT_OUT("org.Other  (app)\n");
    cr_expect_eq(RUN("rules", "dry-run", "--json", "a.rules", "app/acme/A.class"), CLI_OK);
    EXPECT_OUT("{\"class\":\"com.acme.A\",\"method\":\"method_3\",\"descriptor\":\"(I[Ljava/lang/"
               "String;)V\",\"outcome\":\"taken\",\"rule\":\"fourth\",\"why\":\"\",\"places\":3,");
    EXPECT_OUT("{\"name\":\"third\",\"line\":3,\"is_exclusive\":false,\"taken\":1,\"classes\":1,");
    EXPECT_OUT(
        "\"outcomes\":{\"taken\":2,\"excluded\":1,\"against\":0,\"untold\":0,\"no-rule\":1}");
}

Test(cli_rules, a_rule_that_is_there_for_nothing_is_told_and_strict_fails_for_it)
{
    make_folder();
    rules_are("include class name=com.acme.A\nlost: include class name=com.amce.A\n");
    cr_expect_eq(RUN("rules", "dry-run", "a.rules", "app"), CLI_OK);
    EXPECT_OUT("  lost (line 2) takes no method\n");
    cr_expect_eq(RUN("rules", "dry-run", "--strict", "a.rules", "app"), CLI_FAILED);
    rules_are("include class name=com.acme.A\n");
    cr_expect_eq(RUN("rules", "dry-run", "--strict", "a.rules", "app"), CLI_OK);
}

Test(cli_rules, super_classes_are_looked_for_among_all_that_were_named)
{
    cr_assert_eq(mkdir("one", 0700), 0);
    cr_assert_eq(mkdir("two", 0700), 0);
    add_class("one/A.class", "com/acme/A", "com/acme/Base");
    add_class("one/L.class", "com/acme/L", "java/util/ArrayList");
    add_class("one/S.class", "com/acme/S", "javax/servlet/HttpServlet");
    rules_are("include class extends=com.acme.Root method name=method_1\n");
    cr_expect_eq(RUN("rules", "dry-run", "--json", "a.rules", "one"), CLI_OK);
    /* Above a class of the JDK stand only such; the two others may have anything above. */
    EXPECT_OUT(
        "\"outcomes\":{\"taken\":0,\"excluded\":0,\"against\":0,\"untold\":2,\"no-rule\":10}");
    add_class("two/Base.class", "com/acme/Base", "com/acme/Root");
    cr_expect_eq(RUN("rules", "dry-run", "--json", "a.rules", "one", "two"), CLI_OK);
    EXPECT_OUT(
        "\"outcomes\":{\"taken\":2,\"excluded\":0,\"against\":0,\"untold\":1,\"no-rule\":13}");
    rules_are("include class extends=java.util.*List method name=method_1\n");
    cr_expect_eq(RUN("rules", "dry-run", "a.rules", "one", "two"), CLI_OK);
    EXPECT_OUT("untold: a rule asks for super classes, of which one is not at hand");
}

Test(cli_rules, of_classes_with_one_name_the_first_is_taken_and_damaged_ones_are_told)
{
    make_folder();
    cr_assert_eq(mkdir("more", 0700), 0);
    add_class("more/A.class", "com/acme/A", "java/lang/Object");
    write_file("more/Cut.class", "\xca\xfe\xba\xbe\0\0", 6);
    rules_are(four_rules);
    cr_expect_eq(RUN("rules", "dry-run", "--json", "a.rules", "app", "more"), CLI_OK);
    EXPECT_OUT("\"looked_at\":{\"drops_code\":false,\"classes\":2,\"methods\":8,\"hidden\":1,"
               "\"versions\":0,\"unread\":1}");
    cr_expect_eq(RUN("rules", "dry-run", "a.rules", "more", "app"), CLI_OK);
    EXPECT_OUT("com.acme.A  (more)\n");
    EXPECT_ERR("1 classes or jars could not be read, the first: more/Cut.class: the class file "
               "ends in the middle");
    EXPECT_OUT("         1  classes or jars that could not be read\n");
}

/* s17: a second form of control characters, of two bytes, and bytes that are no text. */
Test(cli_rules, s17_a_name_of_a_rule_tells_a_terminal_nothing)
{
    make_folder();
    rules_are("\xc2\x9bx\x9by: include class name=com.acme.A method name=method_1\n"
              "\xc2\x9bz: exclude class name=com.acme.A method name=method_2\n");
    cr_expect_eq(RUN("rules", "check", "a.rules"), CLI_OK);
    cr_expect(strchr(out_text, '\x9b') == NULL, "%s", out_text);
    cr_expect_eq(RUN("rules", "dry-run", "a.rules", "app"), CLI_OK);
    EXPECT_OUT("   x?y ");
    EXPECT_OUT("[excluded by ");
    cr_expect(strchr(out_text, '\x9b') == NULL, "%s", out_text);
}

static void expect_home(const char *library, const char *expected)
{
    char path[256];

    snprintf(path, sizeof path, "%s", library);
    cli_classes_home_of(path);
    cr_expect_str_eq(path, expected, "%s: %s", library, path);
}

Test(cli_rules, the_jdk_is_told_from_what_lies_beside_it)
{
    expect_home("/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
                "/usr/lib/jvm/java-17-openjdk-amd64");
    expect_home("/usr/lib/jvm/java-8/jre/lib/amd64/server/libjvm.so", "/usr/lib/jvm/java-8");
    expect_home("/opt/jdk/lib/server/libjvm.so", "/opt/jdk");
    expect_home("/opt/libjvm.so", "");
    expect_home("", "");
}

Test(cli_rules, the_version_of_a_jdk_is_told_from_its_file_and_the_agent_from_the_command_line)
{
    cr_expect_eq(cli_classes_jdk_of("JAVA_VERSION=\"17.0.15\"\nOS_NAME=\"Linux\"\n"), 17);
    cr_expect_eq(cli_classes_jdk_of("IMPLEMENTOR=\"JAVA_VERSION=\"\nJAVA_VERSION=\"25\"\n"), 25);
    cr_expect_eq(cli_classes_jdk_of("JAVA_VERSION=\"1.8.0_432\"\n"), 8);
    cr_expect_eq(cli_classes_jdk_of("JAVA_VERSION=\"none\"\n"), 0);
    cr_expect_eq(cli_classes_jdk_of("JAVA_VERSION_DATE=\"2025-04-15\"\n"), 0);
    cr_expect_eq(cli_classes_jdk_of(""), 0);

    cr_expect(cli_classes_names_probe("-agentpath:/opt/libjaywalk.so=start,probe=/a.jar"));
    cr_expect(cli_classes_names_probe("-agentlib:jaywalk=probe=/a.jar,start"));
    cr_expect(!cli_classes_names_probe("-agentpath:/opt/libjaywalk.so=start,file=probe=.jfr"));
    cr_expect(!cli_classes_names_probe("-agentpath:/opt/libjaywalk.so"));
    cr_expect(!cli_classes_names_probe("-agentpath:/opt/libother.so=jaywalk,probe=/a.jar"));
    cr_expect(!cli_classes_names_probe("-Dx=jaywalk,probe=/a.jar"));
}

Test(cli_rules, a_pipe_is_no_jar_and_nobody_waits_for_it)
{
    rules_are(four_rules);
    cr_assert_eq(mkfifo("pipe.jar", 0600), 0);
    cr_expect_eq(RUN("rules", "dry-run", "a.rules", "pipe.jar"), CLI_FAILED);
    EXPECT_ERR("pipe.jar: cannot be read as a jar: is no file");
}

#if HAS_JARS
static void add_entry(zipFile jar, const char *name, const void *bytes, size_t length)
{
    const zip_fileinfo info = {.dosDate = 0};

    cr_assert_eq(zipOpenNewFileInZip(jar, name, &info, NULL, 0, NULL, 0, NULL, Z_DEFLATED, 6),
                 ZIP_OK);
    cr_assert_eq(zipWriteInFileInZip(jar, bytes, (unsigned)length), ZIP_OK);
    cr_assert_eq(zipCloseFileInZip(jar), ZIP_OK);
}

static void add_entry_of(zipFile jar, const char *name, const char *path)
{
    static unsigned char bytes[1 << 20];

    add_entry(jar, name, bytes, read_file(path, bytes, sizeof bytes));
}

static zipFile begin_jar(const char *path)
{
    const zipFile jar = zipOpen64(path, APPEND_STATUS_CREATE);

    cr_assert_not_null(jar);
    return jar;
}

static void make_jar(void)
{
    const zipFile jar = begin_jar("app.jar");

    add_entry(jar, "META-INF/MANIFEST.MF", "x", 1);
    add_entry_of(jar, "com/acme/A.class", "app/acme/A.class");
    add_entry_of(jar, "org/Other.class", "app/Other.class");
    cr_assert_eq(zipClose(jar, NULL), ZIP_OK);
}

Test(cli_rules, a_jar_and_jars_in_jars_are_what_their_folder_is)
{
    static char expected[sizeof out_text];

    make_folder();
    make_jar();
    rules_are(four_rules);
    cr_expect_eq(RUN("rules", "dry-run", "--json", "a.rules", "app"), CLI_OK);
    strcpy(expected, out_text);
    cr_expect_eq(RUN("rules", "dry-run", "--json", "a.rules", "app.jar"), CLI_OK);
    cr_expect_str_eq(out_text, expected);

    zipFile jar = begin_jar("fat.war");
    add_entry_of(jar, "WEB-INF/lib/app.jar", "app.jar");
    cr_assert_eq(zipClose(jar, NULL), ZIP_OK);
    jar = begin_jar("fatter.ear");
    add_entry_of(jar, "fat.war", "fat.war");
    cr_assert_eq(zipClose(jar, NULL), ZIP_OK);
    cr_expect_eq(RUN("rules", "dry-run", "--json", "a.rules", "fatter.ear"), CLI_OK);
    cr_expect_str_eq(out_text, expected);
    cr_expect_eq(RUN("rules", "dry-run", "a.rules", "fatter.ear"), CLI_OK);
    EXPECT_OUT("com.acme.A  (fatter.ear!/fat.war!/WEB-INF/lib/app.jar)\n");
}

Test(cli_rules, what_lies_too_deep_or_is_too_long_is_not_unpacked)
{
    static unsigned char zeros[17 << 20];

    make_folder();
    make_jar();
    rules_are("include class name=com.acme.A\n");
    cr_assert_eq(rename("app.jar", "0.jar"), 0);
    for (char name[] = "1.jar", inner[] = "0.jar"; name[0] < '6'; name[0]++, inner[0]++) {
        const zipFile jar = begin_jar(name);

        add_entry_of(jar, "inner.jar", inner);
        add_entry_of(jar, "A.class", "app/Other.class");
        cr_assert_eq(zipClose(jar, NULL), ZIP_OK);
    }
    cr_expect_eq(RUN("rules", "dry-run", "--json", "a.rules", "3.jar"), CLI_OK);
    EXPECT_OUT("\"taken\":4");
    cr_expect_eq(RUN("rules", "dry-run", "--json", "a.rules", "5.jar"), CLI_OK);
    EXPECT_OUT("\"taken\":0");

    const zipFile jar = begin_jar("bomb.jar");
    add_entry(jar, "Zeros.class", zeros, sizeof zeros);
    add_entry_of(jar, "META-INF/versions/17/com/acme/A.class", "app/acme/A.class");
    add_entry_of(jar, "com/acme/A.class", "app/acme/A.class");
    cr_assert_eq(zipClose(jar, NULL), ZIP_OK);
    cr_expect_eq(RUN("rules", "dry-run", "a.rules", "bomb.jar"), CLI_OK);
    EXPECT_ERR("bomb.jar!/Zeros.class: is longer than what is read of one entry");
    EXPECT_OUT("         1  classes below META-INF/versions");
}

/* It may be refused, or less be found in it; nothing is made up, and nothing falls. */
static void expect_sound(unsigned char *bytes, size_t length)
{
    write_file("bad.jar", bytes, length);
    const int status = RUN("rules", "dry-run", "--json", "a.rules", "bad.jar");

    cr_expect(status == CLI_OK || status == CLI_FAILED, "status %d", status);
    if (status == CLI_OK)
        cr_expect(strstr(out_text, "\"cost\":{") != NULL &&
                  strstr(out_text, "\"class\":\"") != NULL);
    else
        cr_expect(strstr(err_text, "bad.jar") != NULL, "%s", err_text);
}

Test(cli_rules, damaged_jars_are_refused_or_read_as_far_as_they_are_whole)
{
    static unsigned char bytes[1 << 16];
    uint32_t random = 1;

    make_folder();
    make_jar();
    rules_are("include class name=com.**|org.**\n");
    const size_t length = read_file("app.jar", bytes, sizeof bytes);
    for (size_t cut = 0; cut < length; cut += 37)
        expect_sound(bytes, cut);
    for (int i = 0; i < 200; i++) {
        random = random * 1664525u + 1013904223u;
        const size_t at = (random >> 8) % length;
        const unsigned char before = bytes[at];

        bytes[at] ^= (unsigned char)(1u << (random >> 29));
        expect_sound(bytes, length);
        bytes[at] = before;
    }
}
#endif
