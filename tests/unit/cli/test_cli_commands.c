/* The commands for running JVMs, as far as they need none: words, help, the agent string, safe text. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/attach.h"
#include "cli/cli_internal.h"
#include "os/os_proc.h"

static char directory[64];

static void make_directory(void)
{
    strcpy(directory, "/tmp/jaywalk-cmd-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
}

static void remove_directory(void)
{
    char command[128];

    cr_assert_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_commands, .init = make_directory, .fini = remove_directory, .timeout = 1800);

static char out_text[60000];
static char err_text[20000];

static void read_back(FILE *file, char *text, size_t capacity)
{
    rewind(file);
    text[fread(text, 1, capacity - 1, file)] = '\0';
}

/* Runs the command with its output in out_text and err_text. */
static int run(const char *const *words)
{
    char names[2][96], *arguments[20] = {(char[]){"jaywalk"}};
    int count = 1;

    for (; words[count - 1] != NULL; count++)
        arguments[count] = strdup(words[count - 1]);
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "%s/.stream%d", directory, i);
        cr_assert_not_null(freopen(names[i], "w+", i == 0 ? stdout : stderr));
    }
    const int status = cli_main(count, arguments);
    read_back(stdout, out_text, sizeof out_text);
    read_back(stderr, err_text, sizeof err_text);
    for (int i = 1; i < count; i++)
        free(arguments[i]);
    return status;
}

#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

Test(cli_commands, each_has_a_help_of_its_own_with_examples)
{
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++) {
        const struct cli_command *command = &cli_commands[i];

        cr_assert_eq(command->id, i);
        cr_expect_eq(RUN("help", command->name), CLI_OK);
        cr_expect_not_null(strstr(out_text, command->usage), "%s", command->name);
        cr_expect_not_null(strstr(out_text, "--help"), "%s", command->name);
        cr_expect_not_null(strstr(out_text, "Examples:\n  jaywalk"), "%s", command->name);
        cr_expect_str_eq(err_text, "");
        cr_expect_eq(RUN("help"), CLI_OK);
        cr_expect_not_null(strstr(out_text, command->summary), "%s", command->name);
    }
}

Test(cli_commands, without_a_command_profile_is_meant)
{
    cr_expect_eq(RUN("-d", "5", "--help"), CLI_OK);
    cr_expect_not_null(strstr(out_text, "jaywalk [profile] [options] PID"));
    cr_expect_eq(RUN("-d", "5", "start"), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "the command comes first: jaywalk start"));
}

Test(cli_commands, mistakes_are_found_before_any_process_is_looked_for)
{
    static const struct {
        const char *words[6];
        int status;
        const char *said;
    } cases[] = {
        {{"start"}, CLI_USAGE, "which process?"},
        {{"status", "1", "2"}, CLI_USAGE, "one process is taken"},
        {{"-e", "moon.", "4194304"}, CLI_USAGE, "--event=moon."},
        {{"start", "-i", "-1", "4194304"}, CLI_USAGE, "negative"},
        {{"start", "--intervall", "1", "4194304"}, CLI_USAGE, "did you mean '--interval'?"},
        {{"-d", "1e3", "4194304"}, CLI_USAGE, "--duration"},
        {{"-d", "31d", "4194304"}, CLI_USAGE, "too large"},
        {{"--chunktime=1h", "--chunktime=2h", "4194304"}, CLI_USAGE, "named twice"},
        {{"4194304"}, CLI_TARGET, "there is no process 4194304"},
        {{"stop", "4194304"}, CLI_TARGET, "there is no process 4194304"},
        {{"status", "no.such.Main"}, CLI_TARGET, "no JVM that this user can see"},
        {{"stop", "-e", "cpu", "1"}, CLI_USAGE, "is no option"},
        {{"stop", "--from=1s", "1"}, CLI_USAGE, "no --from: a graph has counted its samples"},
        {{"start", "--endpoint=x", "1"}, CLI_USAGE, "no --endpoint: which request"},
        {{"summary", "--include=x", "a.jfr"}, CLI_USAGE, "no --include: a summary tells of"},
        {{"contention", "--title=x", "a.jfr"}, CLI_USAGE, "no --title: owners and waiters"},
        {{"start", "--thread=x", "-f", "x.jfr", "1"}, CLI_USAGE, "a recording has all samples"},
        {{"dump", "-o", "svg", "4194304"}, CLI_USAGE, "svg"},
        {{"metrics"}, CLI_USAGE, "which process?"},
        {{"resume", "--loop", "1h", "1"}, CLI_USAGE, "is no option"},
        {{"record"}, CLI_USAGE, "which program?"},
        {{"record", "--"}, CLI_USAGE, "which program?"},
        {{"record", "-d", "5", "--", "java"}, CLI_USAGE, "is no option"},
        {{"record", "--libpath=/dev/null", "./gradlew"}, CLI_USAGE, "is not java"},
        {{"record", "--libpath=/nowhere", "java"}, CLI_USAGE, "/nowhere: No such file"},
        {{"-I", "/(/", "-f", "x.html", "4194304"}, CLI_USAGE, "no regular expression"},
        {{"-o", "pprof", "-f", "-", "4194304"}, CLI_USAGE, "name a file for pb.gz"},
        {{"-f", "x.jfr", "--reverse", "4194304"}, CLI_USAGE, "has no effect on jfr output"},
        {{"-e", "itmer", "4194304"}, CLI_USAGE, "did you mean itimer?"},
        {{"start", "--alloc=5g", "4194304"}, CLI_USAGE, "too large; 1g would be used; give that"},
        {{"start", "--ttsp=1ms", "4194304"}, CLI_USAGE, "too small; 2ms would be used; give that"},
        {{"start", "-L", "wrn", "4194304"}, CLI_USAGE, "did you mean warn?"},
        {{"-o", "flamegraf", "4194304"}, CLI_USAGE, "did you mean 'flamegraph'?"},
        {{"list", "1", "2"}, CLI_USAGE, "one process is taken"},
        {{"jps", "1"}, CLI_USAGE, "is too much"},
        {{"jps", "-q"}, CLI_USAGE, "is no option"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        cr_expect_eq(run(cases[i].words), cases[i].status, "case %zu", i);
        cr_expect_not_null(strstr(err_text, cases[i].said), "'%s' does not say '%s'", err_text,
                           cases[i].said);
        cr_expect_str_eq(out_text, "", "case %zu", i);
    }
}

Test(cli_commands, a_program_that_cannot_be_run_is_told_of)
{
    cr_expect_eq(RUN("record", "--libpath=/dev/null", "--", "/nowhere/java", "-jar", "x.jar"),
                 CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "/nowhere/java: No such file"), "%s", err_text);
}

Test(cli_commands, list_names_the_events)
{
    static const char begin[] =
        "Basic events:\n  cpu\n  cpu-clock\n  itimer\n  wall\n  alloc\n  lock\n  "
        "exception\nCounters, ";

    cr_expect_eq(RUN("list"), CLI_OK);
    cr_expect_eq(strncmp(out_text, begin, strlen(begin)), 0, "%s", out_text);
    cr_expect_not_null(strstr(out_text, "\n  page-faults              pages that"));
    cr_expect_not_null(strstr(out_text, "\n  cache-misses "));
    cr_expect_not_null(strstr(out_text, "\n  uprobe:/FILE:FUNCTION "));
    cr_expect_not_null(strstr(out_text, "\n  exception[:CLASS] "));
}

static bool parse(const struct cli_command *command, const char *const *words,
                  struct cli_values *values)
{
    static char copies[24][128];
    static char *at[24];
    size_t count = 0;
    struct jw_error err = {{0}};

    for (; words[count] != NULL; count++) {
        snprintf(copies[count], sizeof copies[count], "%s", words[count]);
        at[count] = copies[count];
    }
    at[count] = NULL;
    *values = (struct cli_values){0};
    return cli_parse(command, at, count, values, &err);
}

Test(cli_commands, options_become_an_agent_string_with_an_absolute_file)
{
    static const char *const words[] = {"-e",   "cpu", "-t",       "-i",    "1ms", "-o",
                                        "html", "-f",  "50%%.out", "12345", NULL};
    char string[CLI_STRING_BYTES], expected[300], with_percent[100];
    struct cli_values values;
    struct jw_error err = {{0}};

    snprintf(with_percent, sizeof with_percent, "%s/a%%b", directory);
    cr_assert_eq(mkdir(with_percent, 0700), 0);
    cr_assert_eq(chdir(with_percent), 0);
    cr_assert(parse(&cli_commands[CLI_COMMAND_PROFILE], words, &values));
    cr_assert(cli_agent_string(&values, "12345", true, string, &err), "%s", err.message);
    snprintf(
        expected, sizeof expected,
        "start,event=cpu,threads,interval=1ms,flamegraph,loglevel=warn,file=%s/a%%%%b/50%%%%.out",
        directory);
    cr_expect_str_eq(string, expected);
}

/* What the agent string can have without a value, the command can, too: the next word is its value where it looks like one. */
Test(cli_commands, options_that_may_be_without_a_value)
{
    static const struct {
        const char *words[8];
        const char *string;
    } cases[] = {
        {{"--queue", "-f", "/x.jfr", "12"}, "start,queue,"},
        {{"-f", "/x.jfr", "--ttsp", "12"}, "start,ttsp,"},
        {{"-f", "/x.jfr", "--ttsp", "10ms", "12"}, "start,ttsp=10ms,"},
        {{"-f", "/x.jfr", "12", "--ttsp", "10ms"}, "start,ttsp=10ms,"},
        {{"-f", "/x.jfr", "12", "--lock"}, "start,lock,"},
        {{"-f", "/x.jfr", "--lock=20us", "--live", "app.jar"}, "start,lock=20us,live,"},
        {{"--live", "4096", "--filter", "-f", "/x.jfr", "12"}, "start,live=4096,filter,"},
        {{"--filter", "http-*", "-f", "/x.jfr", "12"}, "start,filter=http-*,"},
        {{"-f", "/x.jfr", "--filter", "12"}, "start,filter,"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        char string[CLI_STRING_BYTES];
        struct cli_values values;
        struct jw_error err = {{0}};

        cr_assert(parse(&cli_commands[CLI_COMMAND_PROFILE], cases[i].words, &values), "%zu", i);
        cr_expect_eq(values.operands.count, 1, "%zu", i);
        cr_assert(cli_agent_string(&values, "1", false, string, &err), "%zu: %s", i, err.message);
        cr_expect_eq(strncmp(string, cases[i].string, strlen(cases[i].string)), 0, "%zu: %s", i,
                     string);
    }
}

/* A shell's star may stand for many. */
Test(cli_commands, files_are_as_many_as_are_named)
{
    static char quiet[] = "-q", file[] = "x.jfr";
    static char *words[3000];
    const size_t count = JW_COUNT_OF(words);
    struct cli_values values = {0};
    struct jw_error err = {{0}};

    for (size_t i = 0; i < count; i++)
        words[i] = i == 2000 ? quiet : file;
    cr_assert(cli_parse(&cli_commands[CLI_COMMAND_MERGE], words, count, &values, &err), "%s",
              err.message);
    cr_expect_eq(values.operands.count, count - 1);
    cr_expect_str_eq(values.operands.texts[count - 2], "x.jfr");
    cr_expect(values.is_quiet);
}

Test(cli_commands, styles_are_spelt_as_async_profiler_spells_them)
{
    static const char *const words[] = {
        "-s",  "-g", "-a",     "-n",        "-l", "--dot",        "-t", "--total", "-I",
        "a/*", "-X", "*park*", "--reverse", "-f", "/x.collapsed", "1",  NULL};
    static const char *const apart[] = {"-o", "flat=20", "--traces=5", "-f", "/x", "1", NULL};
    char string[CLI_STRING_BYTES];
    struct cli_values values;
    struct jw_error err = {{0}};

    cr_assert(parse(&cli_commands[CLI_COMMAND_PROFILE], words, &values));
    cr_assert(cli_agent_string(&values, "1", false, string, &err), "%s", err.message);
    cr_expect_str_eq(string, "start,simple,sig,ann,norm,lib,dot,threads,total,include=a/*,"
                             "exclude=*park*,reverse,file=/x.collapsed");
    cr_assert(parse(&cli_commands[CLI_COMMAND_START], apart, &values));
    cr_assert(cli_agent_string(&values, "1", false, string, &err), "%s", err.message);
    cr_expect_str_eq(string, "start,traces=5,flat=20,file=/x");
}

Test(cli_commands, without_a_file_process_and_format_give_the_name)
{
    static const struct {
        const char *words[4];
        const char *begin;
        const char *ending;
    } cases[] = {
        {{"7", NULL}, "start", "jfr"},
        {{"-o", "html", "7", NULL}, "start,flamegraph", "html"},
    };
    char string[CLI_STRING_BYTES], expected[200];
    struct cli_values values;
    struct jw_error err = {{0}};

    cr_assert_eq(chdir(directory), 0);
    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        cr_assert(parse(&cli_commands[CLI_COMMAND_PROFILE], cases[i].words, &values));
        cr_assert(!cli_is_for_terminal(&values));
        cr_assert(cli_agent_string(&values, "7", false, string, &err), "%s", err.message);
        snprintf(expected, sizeof expected, "%s,file=%s/jaywalk-7.%s", cases[i].begin, directory,
                 cases[i].ending);
        cr_expect_str_eq(string, expected);
    }
}

Test(cli_commands, text_without_a_file_is_for_the_terminal)
{
    static const struct {
        const char *words[6];
        const char *string;
    } cases[] = {
        {{"-o", "collapsed", "7", NULL}, "start,collapsed"},
        {{"-o", "flat=3", "7", NULL}, "start,flat=3"},
        {{"-o", "text", "-f", "-", "7", NULL}, "start,text"},
    };
    char string[CLI_STRING_BYTES];
    struct cli_values values;
    struct jw_error err = {{0}};

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        cr_assert(parse(&cli_commands[CLI_COMMAND_PROFILE], cases[i].words, &values));
        cr_assert(cli_is_for_terminal(&values));
        cr_assert(cli_agent_string(&values, "7", false, string, &err), "%s", err.message);
        cr_expect_str_eq(string, cases[i].string);
    }
}

Test(cli_commands, a_recording_is_not_for_the_terminal)
{
    static const char *const words[] = {"-f", "-", "7", NULL};
    char string[CLI_STRING_BYTES];
    struct cli_values values;
    struct jw_error err = {{0}};

    cr_assert(parse(&cli_commands[CLI_COMMAND_PROFILE], words, &values));
    cr_assert(!cli_agent_string(&values, "7", false, string, &err));
    cr_expect_not_null(strstr(err.message, "name a file for jfr"), "%s", err.message);
}

Test(cli_commands, stop_and_dump_say_what_they_want_and_no_more)
{
    static const char *const bare[] = {"7", NULL};
    static const char *const all[] = {"-o", "flat=9", "-s", "-f", "/a-%n{3}.txt", "7", NULL};
    const struct cli_ask stop = {"stop", NULL, false};
    const struct cli_ask dump = {"dump", NULL, false};
    const struct cli_ask start = {"start", NULL, true};
    char string[CLI_STRING_BYTES];
    struct cli_values values;
    struct jw_error err = {{0}};

    cr_assert(parse(&cli_commands[CLI_COMMAND_STOP], bare, &values));
    cr_assert(cli_agent_command(&values, &stop, string, &err), "%s", err.message);
    cr_expect_str_eq(string, "stop");
    cr_assert(parse(&cli_commands[CLI_COMMAND_DUMP], all, &values));
    cr_assert(cli_agent_command(&values, &dump, string, &err), "%s", err.message);
    cr_expect_str_eq(string, "dump,simple,flat=9,file=/a-%n{3}.txt");
    cr_assert(parse(&cli_commands[CLI_COMMAND_START], bare, &values));
    cr_assert(cli_agent_command(&values, &start, string, &err), "%s", err.message);
    cr_expect_str_eq(string, "start,loglevel=warn");
}

Test(cli_commands, the_words_of_a_program_are_left_alone)
{
    static const char *const words[] = {"-f", "x.jfr", "java", "-cp", "a", "--help", NULL};
    struct cli_values values;

    cr_assert(parse(&cli_commands[CLI_COMMAND_RECORD], words, &values));
    cr_expect_str_eq(values.file, "x.jfr");
    cr_assert_not_null(values.words);
    cr_expect_str_eq(values.words[0], "java");
    cr_expect_str_eq(values.words[3], "--help");
    cr_expect_not(values.is_help);
}

Test(cli_commands, s17_what_a_terminal_would_obey_is_shown)
{
    FILE *file = tmpfile();
    char text[200];

    cr_assert_not_null(file);
    cli_put("a\tb\n\x1b]0;x\x07 \x7f \xc2\x9b \xc3\xa4 \x9b\x32J \xc2", file);
    read_back(file, text, sizeof text);
    cr_expect_str_eq(text, "a\tb\n\\x1b]0;x\\x07 \\x7f \\xc2\\x9b \xc3\xa4 \\x9b2J \\xc2");
    fclose(file);
}

/* What a line becomes on a terminal of that many columns; 0: one that does not know. */
static const char *shown_at(unsigned short columns, const char *line)
{
    static char seen[256];
    const struct winsize size = {.ws_col = columns};
    const int master = posix_openpt(O_RDWR | O_NOCTTY);

    cr_assert_geq(master, 0);
    cr_assert_eq(grantpt(master), 0);
    cr_assert_eq(unlockpt(master), 0);
    const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    cr_assert_geq(terminal, 0);
    cr_assert_eq(ioctl(terminal, TIOCSWINSZ, &size), 0);
    cli_put_progress(line, terminal);
    close(terminal);
    /* The kernel hands over a line in parts, one after the other; the end comes behind the last. */
    size_t length = 0;
    for (ssize_t got; (got = read(master, seen + length, sizeof seen - 1 - length)) > 0;)
        length += (size_t)got;
    cr_assert_gt(length, 0);
    seen[length] = '\0';
    close(master);
    return seen;
}

static void expect_progress(const char *status, const char *expected)
{
    char text[80];

    cli_progress_of_status(status, text, sizeof text);
    cr_expect_str_eq(text, expected, "%s", status);
}

Test(cli_commands, progress_tells_samples_and_losses_where_the_agent_does)
{
    expect_progress("Profiling is running for 3 seconds\n120 samples in /a/5 samples.html\n",
                    ", 120 samples");
    expect_progress("Profiling is running\n120 samples, 7 lost\n", ", 120 samples, 7 lost");
    expect_progress("0 samples, 0 lost", ", 0 samples");
    expect_progress("Profiler is not active\n", "");
    expect_progress(" samples lost", "");
    expect_progress("many samples", "");
    expect_progress("99999999999999999999999999 samples", ", 18446744073709551615 samples");
    expect_progress("", "");
}

static void expect_classes(const char *told, const char *expected)
{
    char text[160];

    cli_progress_of_classes(told, text, sizeof text);
    cr_expect_str_eq(text, expected, "%s", told);
}

Test(cli_commands, progress_of_classes_is_what_the_last_whole_line_says)
{
    expect_classes("0 3000 0\n", "0 of 3,000 classes are written, in 0 batches");
    expect_classes("0 3000 0\n120 3000 12\n", "120 of 3,000 classes are written, in 12 batches");
    expect_classes("0 3000 0\n120 3000 12\n130 30",
                   "120 of 3,000 classes are written, in 12 batches");
    expect_classes("00 12\n1 2 3\n", "1 of 2 classes are written, in 3 batches");
    expect_classes("", "");
    expect_classes("120 3000 12", "");
    expect_classes("120 3000\n", "");
    expect_classes("error: no\n", "");
    expect_classes("1 2 3\n\n", "");
}

Test(cli_commands, a_line_of_progress_is_cut_to_the_terminal)
{
    char long_line[101] = {0};

    memset(long_line, 'x', 100);
    cr_expect_str_eq(shown_at(8, "1234567890"), "\r1234567\033[K");
    cr_expect_str_eq(shown_at(11, "1234567890"), "\r1234567890\033[K");
    cr_expect_eq(strlen(shown_at(0, long_line)), 1 + 79 + 3);
}

static uint64_t start_of(pid_t pid)
{
    char name[64], text[1024];
    uint64_t start_ticks = 0;
    struct os_cpu_times times;

    snprintf(name, sizeof name, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(name, "r");
    cr_assert_not_null(file);
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    cr_assert(os_proc_self_stat(text, length, &times, &start_ticks));
    return start_ticks;
}

/* What entering a process comes to, with a library that is not there. */
static int enter_without_library(struct attach_target *target)
{
    const struct cli_values values = {.library = "/nowhere/libjaywalk.so"};
    struct cli_session session = {.target = target};

    return cli_session_enter(&values, &session);
}

Test(cli_commands, of_a_process_that_has_ended_no_library_is_blamed)
{
    const pid_t child = fork();

    if (child == 0) {
        pause();
        _exit(0);
    }
    struct attach_target target = {.pid = child, .user = geteuid(), .group = getegid()};
    target.pid_fd = (int)syscall(SYS_pidfd_open, child, 0);
    if (target.pid_fd < 0)
        cr_skip_test("no pidfd_open: %s", strerror(errno));
    snprintf(target.place, sizeof target.place, "/proc/%d", (int)child);
    target.start_ticks = start_of(child);
    cr_expect_eq(enter_without_library(&target), CLI_FAILED);
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    cr_expect_eq(enter_without_library(&target), CLI_TARGET); /* while it is a zombie */
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_expect_eq(enter_without_library(&target), CLI_TARGET);
    close(target.pid_fd);
}
