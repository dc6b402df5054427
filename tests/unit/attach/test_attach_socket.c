/* Attaching to processes that behave, that do not, and that are somebody else. */
#include "fake_jvm.h"

#include <errno.h>
#include <sys/resource.h>

TestSuite(attach_socket, .fini = fake_end, .timeout = 1800);

#define SHORT_NS (200 * JW_NS_PER_MS)
#define LONG_NS  (200 * JW_NS_PER_SECOND) /* a guard: the machine may be busy */

static void load_well(int fd)
{
    char request[4096];

    fake_take_request(fd, request, sizeof request);
    fake_write(fake_path("request"), request, 64);
    fake_say(fd, "0\nreturn code: 5\n");
}

static void expect_refusal(const char *said)
{
    struct attach_target target;
    struct jw_error err = {{0}};

    cr_expect_not(attach_open(fake.directory, fake.pid, &target, &err));
    cr_expect_not_null(strstr(err.message, said), "'%s' does not say '%s'", err.message, said);
}

static void expect_load(const struct attach_target *target)
{
    struct jw_error err = {{0}};
    int code = 0;

    cr_assert(attach_load(target, "/lib.so", "start,file=x", LONG_NS, &code, &err), "%s",
              err.message);
    cr_expect_eq(code, 5);
}

static void expect_no_load(const char *said, uint64_t timeout_ns)
{
    struct attach_target target = fake_target();
    struct jw_error err = {{0}};
    int code = 0;

    cr_expect_not(attach_load(&target, "/lib.so", "start", timeout_ns, &code, &err));
    cr_expect_not_null(strstr(err.message, said), "'%s' does not say '%s'", err.message, said);
    attach_close(&target);
}

Test(attach_socket, a_listener_that_is_there_gets_the_request)
{
    fake_begin(FAKE_LISTENS, load_well);
    static const char expected[] = "1\0load\0/lib.so\0true\0start,file=x";
    struct attach_target target = fake_target();
    char request[64];

    cr_expect(target.has_own_files);
    cr_expect_eq(target.inner_pid, fake.pid);
    expect_load(&target);
    const int fd = open(fake_path("request"), O_RDONLY);
    cr_assert_eq(read(fd, request, sizeof request), (ssize_t)sizeof request);
    cr_expect_arr_eq(request, expected, sizeof expected);
    close(fd);
    expect_load(&target); /* and once more */
    attach_close(&target);
}

Test(attach_socket, a_jvm_is_asked_to_listen_by_trigger_and_signal)
{
    fake_begin(FAKE_WAITS, load_well);
    struct attach_target target = fake_target();

    expect_load(&target);
    cr_expect_neq(access(fake_path("cwd/.attach_pid%d", (int)fake.pid), F_OK), 0,
                  "trigger left behind");
    expect_load(&target);
    cr_expect(fake_lives());
    attach_close(&target);
}

Test(attach_socket, s02_a_planted_trigger_is_not_followed)
{
    fake_begin(FAKE_WAITS, load_well);
    struct attach_target target = fake_target();

    fake_write(fake_path("victim"), "precious", 8);
    cr_assert_eq(symlink("../victim", fake_path("cwd/.attach_pid%d", (int)fake.pid)), 0);
    expect_load(&target);

    struct stat file;
    cr_assert_eq(stat(fake_path("victim"), &file), 0);
    cr_expect_eq(file.st_size, 8);
    cr_expect_eq(lstat(fake_path("cwd/.attach_pid%d", (int)fake.pid), &file), 0);
    cr_expect_neq(access(fake_path("root/tmp/.attach_pid%d", (int)fake.pid), F_OK), 0);
    attach_close(&target);
}

/* Where a JVM is for some milliseconds of its start, to throw files out that are none of its own. */
Test(attach_socket, m63_no_trigger_goes_where_a_jvm_that_starts_tidies_up)
{
    fake_begin(FAKE_WAITS, load_well);
    struct attach_target target = fake_target();

    cr_assert_eq(mkdir(fake_path("hsperfdata_me"), 0700), 0);
    cr_assert_eq(rmdir(fake_path("cwd")), 0);
    cr_assert_eq(symlink("hsperfdata_me", fake_path("cwd")), 0);
    const time_t before = 1;
    const struct timespec times[2] = {{.tv_sec = before}, {.tv_sec = before}};
    cr_assert_eq(utimensat(AT_FDCWD, fake_path("hsperfdata_me"), times, 0), 0);
    expect_load(&target);

    struct stat directory;
    cr_assert_eq(stat(fake_path("hsperfdata_me"), &directory), 0);
    cr_expect_eq(directory.st_mtim.tv_sec, before, "something was put there");
    attach_close(&target);
}

/* What is no trigger is not taken for one: the other place is. */
Test(attach_socket, s02_a_dangling_link_at_the_trigger_does_not_hold_it_up)
{
    fake_begin(FAKE_WAITS, load_well);
    struct attach_target target = fake_target();

    cr_assert_eq(symlink("nowhere", fake_path("cwd/.attach_pid%d", (int)fake.pid)), 0);
    expect_load(&target);
    cr_expect_neq(access(fake_path("cwd/nowhere"), F_OK), 0);
    cr_expect_neq(access(fake_path("root/tmp/.attach_pid%d", (int)fake.pid), F_OK), 0);
    attach_close(&target);
}

Test(attach_socket, the_trigger_of_another_tool_serves_and_stays)
{
    fake_begin(FAKE_WAITS, load_well);
    struct attach_target target = fake_target();

    fake_write(fake_path("cwd/.attach_pid%d", (int)fake.pid), "", 0);
    expect_load(&target);
    cr_expect_eq(access(fake_path("cwd/.attach_pid%d", (int)fake.pid), F_OK), 0);
    attach_close(&target);
}

Test(attach_socket, a_dead_socket_file_is_replaced)
{
    fake_begin(FAKE_WAITS, load_well);
    struct attach_target target = fake_target();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    umask(077);
    snprintf(address.sun_path, sizeof address.sun_path, "%s",
             fake_path("root/tmp/.java_pid%d", (int)fake.pid));
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    expect_load(&target);
    attach_close(&target);
}

/* A JVM that listens already would answer the signal with a thread dump, and this one would die of it. */
Test(attach_socket, a_dead_socket_file_before_a_jvm_that_listens_is_told_of_without_a_signal)
{
    fake_begin(FAKE_DIES_OF_QUIT, NULL);
    struct attach_target target = fake_target();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *const arguments[3] = {"/x.so", "true", "status"};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct attach_reply reply;
    struct jw_error err = {{0}};

    umask(077);
    snprintf(address.sun_path, sizeof address.sun_path, "%s",
             fake_path("root/tmp/.java_pid%d", (int)fake.pid));
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    mkdir(fake_path("task"), 0700);
    mkdir(fake_path("task/7"), 0700);
    fake_write(fake_path("task/7/comm"), "Attach Listener\n", 16);
    cr_expect_not(attach_request(&target, "load", arguments, JW_NS_PER_SECOND, &reply, &err));
    cr_expect_not_null(strstr(err.message, "nobody listens at"), "%s", err.message);
    cr_expect(fake_lives());
    attach_close(&target);
}

Test(attach_socket, s02_a_listener_of_another_process_is_left_alone)
{
    fake_begin(FAKE_DEAF, NULL);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    umask(077);
    snprintf(address.sun_path, sizeof address.sun_path, "%s",
             fake_path("root/tmp/.java_pid%d", (int)fake.pid));
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(listen(fd, 5), 0);
    expect_no_load("is held by process", LONG_NS);
    close(fd);
}

Test(attach_socket, s02_what_the_jvm_cannot_have_made_is_left_alone)
{
    fake_begin(FAKE_LISTENS, load_well);
    char *path = fake_path("root/tmp/.java_pid%d", (int)fake.pid);

    cr_assert_eq(chmod(path, 0666), 0);
    expect_no_load("may be written by others", LONG_NS);
    cr_assert_eq(chmod(path, 0600), 0);
    if (geteuid() == 0) {
        cr_assert_eq(chown(path, 12345, 0), 0);
        expect_no_load("belongs to another user", LONG_NS);
    }
    cr_assert_eq(unlink(path), 0);
    fake_write(path, "", 0);
    expect_no_load("is no socket", LONG_NS);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(symlink("/dev/null", path), 0);
    expect_no_load("is no socket", LONG_NS);
}

Test(attach_socket, m63_a_jvm_that_never_opens_its_socket_is_given_up)
{
    fake_begin(FAKE_DEAF, NULL);
    struct attach_target target = fake_target();
    struct jw_error err = {{0}};

    cr_expect_lt(attach_connect(&target, jw_now_ns() + SHORT_NS, &err), 0);
    cr_expect_not_null(strstr(err.message, "did not open its attach socket"), "%s", err.message);
    cr_expect_neq(access(fake_path("cwd/.attach_pid%d", (int)fake.pid), F_OK), 0,
                  "trigger left behind");
    cr_expect(fake_lives());
    attach_close(&target);
}

Test(attach_socket, m65_a_process_that_would_die_of_the_signal_is_spared)
{
    fake_begin(FAKE_DIES_OF_QUIT, NULL);
    expect_no_load("does not handle SIGQUIT", LONG_NS);
    cr_expect(fake_lives());
}

Test(attach_socket, a_stopped_process_is_told_of)
{
    fake_begin(FAKE_LISTENS, load_well);
    kill(fake.pid, SIGSTOP);
    cr_assert_eq(waitpid(fake.pid, NULL, WUNTRACED), fake.pid);
    expect_no_load("is stopped", LONG_NS);
}

/* s03: the number may be given to another process between two looks. */
Test(attach_socket, m65_a_number_that_went_to_another_process_is_not_signalled)
{
    fake_begin(FAKE_WAITS, load_well);
    struct attach_target target = fake_target();
    struct jw_error err = {{0}};

    target.start_ticks++;
    cr_expect_not(attach_is_alive(&target));
    cr_expect_not(attach_signal(&target, SIGKILL, &err));
    cr_expect_lt(attach_connect(&target, jw_now_ns() + LONG_NS, &err), 0);
    cr_expect_not_null(strstr(err.message, "has ended meanwhile"), "%s", err.message);
    cr_expect(fake_lives());
    attach_close(&target);
}

Test(attach_socket, m63_a_process_that_ends_meanwhile_is_the_reason_of_what_fails)
{
    fake_begin(FAKE_WAITS, load_well);
    struct attach_target target = fake_target();
    struct attach_answer answer;
    struct jw_error err = {{0}};

    cr_assert_eq(rmdir(fake_path("root/tmp")), 0);
    cr_expect_not(attach_answer_open(&target, &answer, &err));
    cr_expect_not_null(strstr(err.message, "takes no file"), "%s", err.message);
    target.start_ticks++;
    err = (struct jw_error){{0}};
    cr_expect_not(attach_answer_open(&target, &answer, &err));
    cr_expect_not_null(strstr(err.message, "has ended meanwhile"), "%s", err.message);
    err = (struct jw_error){{0}};
    cr_expect_not(attach_check_library(&target, "/nowhere/lib.so", geteuid(), &err));
    cr_expect_not_null(strstr(err.message, "has ended meanwhile"), "%s", err.message);
    attach_close(&target);
}

static rlim_t take_descriptors(void)
{
    const int next_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct rlimit limit;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = (rlim_t)next_fd;
    close(next_fd);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return before;
}

static void give_descriptors(rlim_t count)
{
    struct rlimit limit;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = count;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void visit_nobody(int pid, const char *name, void *argument)
{
    (void)argument;
    cr_expect(false, "%d, %s", pid, name);
}

#define EXPECT_SAID(err, text)                                                                     \
    cr_expect_not_null(strstr((err).message, text), "'%s' does not say '%s'", (err).message, text)

Test(attach_socket, m63_want_of_descriptors_is_told_and_is_no_end_of_the_process)
{
    fake_begin(FAKE_LISTENS, load_well);
    struct attach_target target = fake_target(), other;
    struct attach_answer answer;
    struct attach_place place;
    struct jw_error errs[8] = {{{0}}};
    char path[256];
    bool is_there;

    fake_write(fake_path("root/lib.so"), "", 0);
    const rlim_t before = take_descriptors();
    const bool is_alive = attach_is_alive(&target);
    const bool is_done =
        attach_connect(&target, jw_now_ns() + LONG_NS, &errs[0]) >= 0 ||
        attach_answer_open(&target, &answer, &errs[1]) ||
        attach_place_open(&target, &place, &errs[2]) || attach_signal(&target, SIGKILL, &errs[3]) ||
        attach_check_library(&target, "/lib.so", geteuid(), &errs[4]) ||
        attach_find_library(&target, "lib.so", path, sizeof path, &is_there, &errs[5]) ||
        attach_each(fake.directory, visit_nobody, NULL, NULL, &errs[6]) ||
        attach_open(fake.directory, fake.pid, &other, &errs[7]);
    give_descriptors(before);
    cr_expect(is_alive);
    cr_expect_not(is_done);
    for (size_t i = 0; i < JW_COUNT_OF(errs); i++) {
        EXPECT_SAID(errs[i], "Too many open files");
        EXPECT_SAID(errs[i], "ulimit -n");
    }
    cr_expect(fake_lives());
    expect_load(&target);
    attach_close(&target);
}

Test(attach_socket, m63_a_process_that_cannot_be_looked_at_has_not_ended)
{
    fake_begin(FAKE_LISTENS, load_well);
    struct attach_target target = fake_target();
    struct jw_error errs[2] = {{{0}}};

    cr_assert_eq(unlink(fake_path("status")), 0);
    cr_assert_eq(symlink("status", fake_path("status")), 0);
    cr_expect(attach_is_alive(&target));
    cr_expect_lt(attach_connect(&target, jw_now_ns() + LONG_NS, &errs[0]), 0);
    EXPECT_SAID(errs[0], "cannot be looked at");
    EXPECT_SAID(errs[0], strerror(ELOOP));
    cr_expect_not(attach_signal(&target, SIGKILL, &errs[1]));
    EXPECT_SAID(errs[1], "no signal is sent");
    cr_expect(fake_lives());

    kill(fake.pid, SIGKILL);
    cr_assert(attach_wait(&target, LONG_NS));
    cr_expect_not(attach_is_alive(&target), "its descriptor says so");
    attach_close(&target);
}

/* A link that could not be read is no proof. */
Test(attach_socket, m63_a_process_that_has_memory_has_not_ended)
{
    fake_begin(FAKE_WAITS, load_well);
    struct attach_target target = fake_target();
    struct jw_error why = {{0}};

    cr_assert_eq(unlink(fake_path("exe")), 0);
    fake_write(fake_path("statm"), "900 20 10 1 0 30 0\n", 19);
    cr_expect_not(attach_has_ended(&target, &why), "%s", why.message);
    cr_assert_eq(unlink(fake_path("statm")), 0);
    cr_expect_not(attach_has_ended(&target, &why), "%s", why.message);
    cr_expect(fake_lives());
    attach_close(&target);
}

/* Its memory goes first, then its directories; by its state it still runs. */
Test(attach_socket, m63_a_process_that_is_about_to_end_is_not_told_to_lack_a_place)
{
    fake_begin(FAKE_WAITS, load_well);
    struct attach_target target = fake_target();
    struct jw_error why = {{0}};

    cr_assert_eq(unlink(fake_path("exe")), 0);
    fake_write(fake_path("statm"), "0 0 0 0 0 0 0\n", 14);
    cr_assert_eq(rmdir(fake_path("cwd")), 0);
    cr_assert_eq(rmdir(fake_path("root/tmp")), 0);
    cr_expect_lt(attach_connect(&target, jw_now_ns() + LONG_NS, &why), 0);
    EXPECT_SAID(why, "has ended meanwhile");
    cr_expect(fake_lives());
    attach_close(&target);
}

/* s03: SIGQUIT would end it. */
Test(attach_socket, m65_who_is_no_jvm_is_refused)
{
    fake_begin(FAKE_DEAF, NULL);
    fake_write(fake_path("maps"), "7f00 r-xp 0 fe:00 77 /usr/bin/sleep\n", 36);
    expect_refusal("is not a HotSpot JVM");
    cr_expect(fake_lives());
}

Test(attach_socket, a_jvm_that_wants_no_attach_is_not_asked)
{
    static const char words[] = "java\0-XX:+DisableAttachMechanism\0Main";

    fake_begin(FAKE_DEAF, NULL);
    fake_write(fake_path("cmdline"), words, sizeof words);
    expect_refusal("-XX:+DisableAttachMechanism");
}

Test(attach_socket, a_process_that_has_ended_is_told_from_one_that_never_was)
{
    fake_begin(FAKE_DEAF, NULL);
    struct attach_target target = fake_target();

    kill(fake.pid, SIGKILL);
    cr_assert(attach_wait(&target, LONG_NS), "its end wakes who waits");
    cr_expect_not(attach_is_alive(&target));
    attach_close(&target);
    expect_refusal("a zombie");
    waitpid(fake.pid, NULL, 0);
    expect_refusal("there is no process");
    fake.pid = 0;
}

static void hang_up(int fd)
{
    (void)fd;
}

static void answer_nothing(int fd)
{
    char byte;

    while (read(fd, &byte, 1) > 0)
        ;
}

static void answer_for_ever(int fd)
{
    while (write(fd, "0\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", 57) > 0)
        ;
}

static void answer_nonsense(int fd)
{
    char request[4096];

    fake_take_request(fd, request, sizeof request);
    fake_say(fd, "HTTP/1.1 200 OK\r\n\r\n");
}

static void answer_by_the_byte(int fd)
{
    static const char text[] = "0\nreturn code: 5\n";
    char request[4096];

    fake_take_request(fd, request, sizeof request);
    for (const char *at = text; *at != '\0'; at++)
        (void)!write(fd, at, 1);
}

static void refuse_library(int fd)
{
    char request[4096];

    fake_take_request(fd, request, sizeof request);
    fake_say(fd, "0\n/lib.so was not loaded.\n\x1b[31mno such file\x1b[0m\n");
}

static void refuse_agents(int fd)
{
    char request[4096];

    fake_take_request(fd, request, sizeof request);
    fake_say(fd, "0\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading to "
                 "launch target VM.\n");
}

static void die(int fd)
{
    (void)fd;
    _exit(0);
}

Test(attach_socket, a_listener_that_hangs_up_is_told_of)
{
    fake_begin(FAKE_LISTENS, hang_up);
    expect_no_load("its own user and group only", LONG_NS);
}

Test(attach_socket, m63_silence_ends_at_the_deadline)
{
    fake_begin(FAKE_LISTENS, answer_nothing);
    expect_no_load("did not answer in time", SHORT_NS);
}

Test(attach_socket, s16_an_endless_answer_ends_at_the_deadline)
{
    fake_begin(FAKE_LISTENS, answer_for_ever);
    expect_no_load("did not answer in time", SHORT_NS);
}

Test(attach_socket, nonsense_is_refused)
{
    fake_begin(FAKE_LISTENS, answer_nonsense);
    expect_no_load("no reply of a JVM", LONG_NS);
}

Test(attach_socket, an_answer_may_come_in_pieces)
{
    fake_begin(FAKE_LISTENS, answer_by_the_byte);
    struct attach_target target = fake_target();

    expect_load(&target);
    attach_close(&target);
}

Test(attach_socket, s17_a_refusal_is_passed_on_without_what_terminals_obey)
{
    fake_begin(FAKE_LISTENS, refuse_library);
    expect_no_load("was not loaded. ?[31mno such file?[0m", LONG_NS);
}

Test(attach_socket, a_jvm_without_dynamic_agents_is_explained)
{
    fake_begin(FAKE_LISTENS, refuse_agents);
    expect_no_load("-XX:-EnableDynamicAgentLoading", LONG_NS);
}

Test(attach_socket, a_jvm_that_dies_on_the_way_is_told_of)
{
    fake_begin(FAKE_LISTENS, die);
    expect_no_load("process", LONG_NS);
}

static void know_version_1(int fd)
{
    char request[4096];

    fake_take_request(fd, request, sizeof request);
    fake_say(fd, "1\nOperation getversion not recognized!\n");
}

static void know_version_2(int fd)
{
    static char request[8192];

    fake_take_request(fd, request, sizeof request);
    fake_say(fd, request[0] == '2' ? "0\nreturn code: 5\n" : "0\n2 streaming\n");
}

static bool load_long(struct jw_error *err)
{
    static char options[1500];
    struct attach_target target = fake_target();
    int code;

    memset(options, 'x', sizeof options - 1);
    const bool is_done = attach_load(&target, "/lib.so", options, LONG_NS, &code, err);
    attach_close(&target);
    return is_done;
}

Test(attach_socket, long_options_need_version_2)
{
    struct jw_error err = {{0}};

    fake_begin(FAKE_LISTENS, know_version_1);
    cr_expect_not(load_long(&err));
    cr_expect_not_null(strstr(err.message, "takes 1024 in one piece"), "%s", err.message);
}

Test(attach_socket, version_2_is_used_where_it_is_offered)
{
    struct jw_error err = {{0}};

    fake_begin(FAKE_LISTENS, know_version_2);
    cr_expect(load_long(&err), "%s", err.message);
}
