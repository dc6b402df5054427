/* The command line as a recording tells it: which part is whose, and no secrets. */
#include <criterion/criterion.h>
#include <string.h>

#include "agent/agent.h"

TestSuite(arguments, .timeout = 1800);

static struct arguments_told told;

#define TELL(command, java) arguments_tell(command, sizeof command - 1, java, &told)

Test(arguments, s15_jvm_and_program_are_told_apart_and_neither_tells_a_secret)
{
    TELL("/usr/bin/java\0-Xmx1g\0-Ddb.password=a b\0-cp\0x\0App\0--token\0abc d\0in.txt",
         "App --token abc d in.txt");
    cr_expect_str_eq(told.jvm, "-Xmx1g -Ddb.password=*** -cp x");
    cr_expect_str_eq(told.java, "App --token *** in.txt");

    TELL("java\0-Xmx1g\0-jar\0app.jar\0password=p", "app.jar password=p");
    cr_expect_str_eq(told.jvm, "-Xmx1g");
    cr_expect_str_eq(told.java, "app.jar password=***");
    TELL("java\0-Xlog:gc:file=/v/app.jar.log\0-Dpassword.for.Main=abc\0-Xmx1g\0-jar\0app.jar",
         "app.jar");
    cr_expect_str_eq(told.jvm, "-Xlog:gc:file=/v/app.jar.log -Dpassword.for.Main=*** -Xmx1g");
    cr_expect_str_eq(told.java, "app.jar");
    TELL("java\0-Dpassword.for.Main=abc\0Main", "Main");
    cr_expect_str_eq(told.jvm, "-Dpassword.for.Main=***");
    TELL("java\0-jar\0app.jar", "app.jar");
    cr_expect_str_eq(told.jvm, "");
    cr_expect_str_eq(told.java, "app.jar");
}

/* Arguments of a file (@args), of JDK_JAVA_OPTIONS, or a JVM inside of another program. */
Test(arguments, s15_a_java_command_that_is_not_on_the_command_line_is_masked_all_the_same)
{
    TELL("java\0@args", "App --password p q -v");
    cr_expect_str_eq(told.jvm, "@args");
    cr_expect_str_eq(told.java, "App --password *** -v");
    TELL("program", "");
    cr_expect_str_eq(told.jvm, "");
    cr_expect_str_eq(told.java, "");
    TELL("", "");
    cr_expect_str_eq(told.jvm, "");
}
