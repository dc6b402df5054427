/* `jaywalk locks` on a recording whose places, counts and waits are known. */
#include <stddef.h>
#include <unistd.h>

#include "golden/made.h"
#include "unit/cli/run_cli.h"
#include "unit/export/inflate.h"

static char file[80], none[80];
static struct jw_error err;
static struct generations *generations;
static uint32_t next_site;
static uint64_t told_ns; /* all of one look have the same time */

static const struct recording_lock_site sites[] = {
    {.class_name = "app/Hot",
     .method = "spin",
     .kind = "monitor",
     .thread = "one",
     .line = 12,
     .acquisitions = 100,
     .threads = 3,
     .holds = 10,
     .weight = 100,
     .hold_ns = 20000000,
     .hold_error_ns = 430000,
     .hold_histogram = "0:50 10000:10 100000:40",
     .hold_most_ns = 900000},
    {.class_name = "app/Hot",
     .method = "spin",
     .kind = "ReentrantLock",
     .thread = "two",
     .line = 12,
     .acquisitions = 40,
     .threads = 2,
     .holds = 40,
     .weight = 40,
     .hold_ns = 40000,
     .hold_histogram = "1000:40",
     .hold_most_ns = 5000},
    {.class_name = "app/Hot",
     .method = "spin",
     .kind = "ReadLock",
     .thread = "two",
     .line = 90,
     .acquisitions = 7,
     .threads = 1},
    {.class_name = "app/Cart", .method = "all", .kind = "static synchronized", .line = 7},
    {.class_name = "app/Cart",
     .method = "add",
     .kind = "synchronized",
     .thread = "worker-1",
     .line = 3,
     .acquisitions = 1234567,
     .threads = 1,
     .holds = 1000,
     .weight = 1234567,
     .hold_ns = 123456700,
     .hold_error_ns = 300,
     .hold_histogram = "0:1234000 1000:560 100000000:7",
     .hold_most_ns = 7000},
    {.class_name = "app/Cart",
     .method = "size",
     .kind = "Lock",
     .thread = "one",
     .line = 30,
     .acquisitions = 12,
     .threads = 2,
     .holds = 4,
     .weight = 12,
     .hold_ns = 1200000,
     .hold_error_ns = 4100000,
     .hold_histogram = "0:9 100000:3",
     .hold_most_ns = 390000},
    {.class_name = "app/Cart", .method = "huge", .kind = "monitor", .line = 99, .is_refused = true},
    {.class_name = "java/util/Vector",
     .method = "add",
     .kind = "synchronized",
     .thread = "one",
     .line = 60,
     .acquisitions = 5000,
     .threads = 1,
     .is_platform = true},
};

/* Of the last site. */
static const struct recording_lock_caller callers[] = {
    {.class_name = "app/Cart", .method = "fill", .samples = 30, .acquisitions = 3750, .error = 60},
    {.class_name = "", .method = "[others]", .samples = 10, .acquisitions = 625, .error = 60},
    {.class_name = "app/Hot", .method = "a", .samples = 4, .acquisitions = 250},
    {.class_name = "app/Hot", .method = "b", .samples = 3, .acquisitions = 200},
    {.class_name = "app/Hot", .method = "c", .samples = 2, .acquisitions = 175, .error = 9},
};
static uint32_t next_caller;

/* Of app/Cart.size, by each of several threads; and of app/Hot.spin, with more than there is room for. */
static const struct recording_lock_objects sums[] = {
    [5] = {.objects = 3, .acquisitions = 12, .alone = 3, .four_fifths = 3, .takes_bias = true},
    [0] = {.objects = 4000,
           .acquisitions = 90,
           .alone = 3999,
           .four_fifths = 1,
           .other_objects = 5,
           .other_acquisitions = 10,
           .other_several = 1},
};
static const struct recording_lock_object busy[] = {
    {.hash = 0x1b2c3d, .threads = 3, .acquisitions = 80},
    {.hash = 255, .threads = 1, .acquisitions = 2}};
static bool has_objects;
static uint32_t next_object;

static bool tell_objects(void *context, struct recording_lock_objects *out)
{
    (void)context;
    next_object = 0;
    if (!has_objects || next_site > JW_COUNT_OF(sums) || sums[next_site - 1].objects == 0)
        return false;
    *out = sums[next_site - 1];
    return true;
}

static bool tell_object(void *context, struct recording_lock_object *out)
{
    (void)context;
    if (next_site != 1 || next_object == JW_COUNT_OF(busy))
        return false;
    *out = busy[next_object++];
    return true;
}

static bool tell_caller(void *context, struct recording_lock_caller *out)
{
    (void)context;
    if (next_site < JW_COUNT_OF(sites) || next_caller == JW_COUNT_OF(callers))
        return false;
    *out = callers[next_caller++];
    return true;
}

static bool tell_site(void *context, struct recording_lock_site *out)
{
    (void)context;
    if (next_site == JW_COUNT_OF(sites))
        return false;
    *out = sites[next_site++];
    out->time_ns = told_ns;
    return true;
}

static bool tell_thread(void *context, uint32_t index, uint32_t serial,
                        struct recording_thread *out)
{
    static const char *const names[] = {"one", "two", "three"};
    static char more[] = "more00";

    (void)context;
    (void)serial;
    if (index >= JW_COUNT_OF(names))
        snprintf(more, sizeof more, "more%02u", index % 100);
    const char *const name = index < JW_COUNT_OF(names) ? names[index] : more;
    *out = (struct recording_thread){.os_tid = 100 + index,
                                     .java_id = 10 + index,
                                     .java_name = {name, strlen(name)},
                                     .os_name = {name, strlen(name)}};
    return true;
}

struct made_wait {
    enum event_lock kind;
    const char *class_name;
    unsigned begin_ms, ms;
    const char *from;
    uint32_t thread, owner; /* 0: none, else one more than its number */
    uint64_t address;
    uint32_t object; /* 0: none */
};

/* Who waits at app/Hot.spin, or at `from`, called from there. */
static void put(const struct made_wait *wait)
{
    const char *const from = wait->from;
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    const dict_id spin = made_method(generation, "app/Hot", "spin", "(I)J", 2, 9, true);
    jw_frame frames[3];
    uint32_t count = 0;

    if (wait->kind == EVENT_LOCK_PARK) {
        const dict_id park =
            made_method(generation, "jdk/internal/misc/Unsafe", "park", "(ZJ)V", 1, 0x109, false);

        frames[count++] = jw_frame_java(JW_FRAME_JAVA_NATIVE, park, JW_BCI_NATIVE);
    }
    if (from != NULL) {
        const dict_id inner = made_method(generation, from, "lock", "()V", 1, 1, true);

        frames[count++] = jw_frame_java(JW_FRAME_COMPILED, inner, 8);
    }
    frames[count++] = jw_frame_java(JW_FRAME_COMPILED, spin, 8);
    struct event_record *record = event_reserve(generation->events);
    cr_assert_not_null(record);
    record->kind = EVENT_LOCK;
    record->flags = (uint16_t)wait->kind;
    record->thread_index = wait->thread;
    record->thread_serial = 1;
    record->time_ns = told_ns + wait->begin_ms * JW_NS_PER_MS;
    record->weight_ns = wait->ms * JW_NS_PER_MS;
    record->state = (uint16_t)wait->owner;
    record->name = 1; /* of the owner, too */
    record->value = wait->address;
    record->object = wait->object;
    record->class_name =
        dict_intern(generation->classes, wait->class_name, strlen(wait->class_name));
    record->trace = store_put(generation->traces, frames, count, 0);
    event_commit(record);
    generation_leave(generations, &ticket);
}

/* `owners`: so many more threads are waited for, each once. */
static void make(const char *path, bool has_sites, uint32_t owners)
{
    struct recording_config config = made_config(path, RECORDING_JFR);

    next_site = next_caller = 0;
    told_ns = jw_now_ns();
    if (has_sites)
        config.sources.lock_site = tell_site;
    config.sources.lock_caller = tell_caller;
    config.sources.lock_objects = tell_objects;
    config.sources.lock_object = tell_object;
    config.sources.thread = tell_thread;
    generations = generations_open(&(struct generations_config){0}, &err);
    cr_assert_not_null(generations, "%s", err.message);
    struct recording *recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    static const struct made_wait waits[] = {
        /* While one waits for two, that one waits for three, and for one a moment. */
        {EVENT_LOCK_ENTER, "app/Shelf", 0, 30, NULL, 0, 2, 0x7000, 7},
        {EVENT_LOCK_ENTER, "app/Desk", 10, 3, "app/Native", 1, 3, 0x8000, 1},
        {EVENT_LOCK_ENTER, "app/Drawer", 20, 1, "app/Native", 1, 0, 0x9000, 2},
        {EVENT_LOCK_ENTER, "app/Shelf", 100, 10, NULL, 0, 0, 0x7000, 8},
        {EVENT_LOCK_PARK, "java/util/concurrent/locks/ReentrantLock$NonfairSync", 200, 5,
         "java/util/concurrent/locks/ReentrantLock", 0, 3, 0xa000, 0},
        {EVENT_LOCK_PARK, "java/util/concurrent/CountDownLatch$Sync", 300, 70, NULL, 0, 0, 0xb000,
         0},
    };

    for (size_t i = 0; i < JW_COUNT_OF(waits); i++)
        put(&waits[i]);
    for (uint32_t i = 0; i < owners; i++)
        put(&(struct made_wait){EVENT_LOCK_ENTER, "app/Shelf", 1000 + 10 * i, 1, NULL, 0, 4 + i,
                                0x7000, 0});
    struct generation *closed = generations_rotate(generations);
    cr_assert_not_null(closed);
    recording_take(recording, closed);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    generations_close(generations);
}

static void set_up(void)
{
    snprintf(directory, sizeof directory, "/tmp/jaywalk-locks-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/locks.jfr", directory);
    snprintf(none, sizeof none, "%s/none.jfr", directory);
    make(file, true, 0);
    make(none, false, 0);
}

static void tear_down(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -r %s", directory);
    cr_expect_eq(system(command), 0);
}

static char *census_of_page(void);

TestSuite(locks, .init = set_up, .fini = tear_down, .timeout = 1800);

static void expect_text(const char *text)
{
    cr_expect(strstr(out_text, text) != NULL, "no '%s' in %s%s", text, out_text, err_text);
}

Test(locks, three_questions_are_answered)
{
    cr_expect_eq(RUN("locks", file), CLI_OK);
    expect_text("Locks, by the places where they are taken\n\n"
                "  program      1,234,726 acquisitions at 5 of 7 places; 1 cannot be counted\n"
                "  the JDK      5,000 acquisitions at 1 of 1 places\n"
                "  waits        2 at places that are not counted");
    expect_text(
        "Waited at (2 of 2)\n\n"
        " acquisitions threads mean hold   longest    waits    waited   longest  where\n"
        "          100       3  200.0 us  900.0 us        2   40.0 ms   30.0 ms  app.Hot.spin:12 "
        "(monitor of app.Shelf)\n"
        "               held for long: do less while it is held; a read-write lock where most only "
        "read\n"
        "               held 20.0 ms in all +- 2.2 %: < 1 us 50.0 %, 10-100 us 10.0 %, 0.1-1 ms "
        "40.0 %\n"
        "               waited 10-100 ms 100.0 %\n"
        "               for 1 of 2 objects takes 75.0 % of the time: look at that one first; #7 "
        "30.0 ms in 1 wait, #8 10.0 ms in 1 wait\n"
        "               behind 30.0 ms in 1 wait  two, who waited 3.0 ms for app.Desk of three\n"
        "                      10.0 ms in 1 wait  [unknown thread]\n");
    expect_text("               held 40.0 us in all: 1-10 us 100.0 %\n"
                "               waited 1-10 ms 100.0 %\n"
                "               behind 5.0 ms in 1 wait  three\n");
    /* What is there is not told as nothing. */
    expect_text("               held 123.4 ms in all +- 0.1 %: < 1 us 100.0 %, 1-10 us < 0.1 %, >= "
                "100 ms < 0.1 %\n");
    /* A park is at the call that takes the lock, and says no class. */
    expect_text("           40       2    1.0 us    5.0 us        1    5.0 ms    5.0 ms  "
                "app.Hot.spin:12 (ReentrantLock)\n");
    expect_text("Come to by one thread only (2 of 2)\n");
    expect_text("    1,234,567       1    100 ns    7.0 us        0                      "
                "app.Cart.add:3 (synchronized)\n"
                "               by worker-1 alone: if it alone takes this lock elsewhere");
    expect_text("Never come to, of classes that are loaded (1 of 1)\n\n"
                "  app.Cart.all:7 (static synchronized)\n"
                "               no run comes here");
    expect_text("Come to by several threads, and never waited for (1 of 1)\n");
    /* More than all of it: what the sum may be is told. */
    expect_text("app.Cart.size:30 (Lock)\n"
                "               held 1.2 ms in all, 5.3 ms at most: < 1 us 75.0 %, 0.1-1 ms "
                "25.0 %\n");
    expect_text("In classes of the JDK (1 of 1)\n");
    expect_text("java.util.Vector.add:60 (synchronized)\n               by one alone\n");
    cr_expect(strstr(out_text, "app.Cart.huge") == NULL);
    expect_text("               by one alone\n"
                "               by calls of 75.0 % +- 1.2  app.Cart.fill\n"
                "                           12.5 % +- 1.2  [others]\n"
                "                           5.0 %  app.Hot.a\n"
                "                           4.0 %  app.Hot.b\n"
                "                           and 1 more\n");
    cr_expect_eq(RUN("locks", "--top=0", file), CLI_OK);
    expect_text("                           4.0 %  app.Hot.b\n"
                "                           3.5 % +- 0.2  app.Hot.c\n");
}

Test(locks, of_objects_it_is_said_which_are_busy_and_that_each_is_of_one_thread)
{
    has_objects = true;
    make(file, true, 0);
    cr_expect_eq(RUN("locks", file), CLI_OK);
    expect_text(
        "  objects      to be told apart, each whose lock was taken has lost its biased lock");
    expect_text(
        "               here 1 of 4,000 objects takes 80.0 %, 3,999 of them used by one thread "
        "only, and at most 5 more with 10.0 %, of which 1 were seen with several threads: "
        "there was no room to tell them apart; @1b2c3d 80 by more threads, @ff 2 by one "
        "thread\n");
    expect_text("Come to by several threads, each object by one of them only (1 of 1)\n");
    expect_text("               if no other place takes these locks from another thread, keep each "
                "object to its thread, without a lock\n"
                "               here 3 objects much alike, each used "
                "by one thread only\n");
    cr_expect_eq(RUN("locks", "--json", file), CLI_OK);
    expect_text("\"verdict\":\"one thread each\",\"acquisitions\":12,");
    expect_text(",\"taken\":{\"objects\":4000,\"object_acquisitions\":90,\"one_thread\":3999,"
                "\"four_fifths\":1,\"other_objects\":5,\"other_acquisitions\":10,"
                "\"other_several\":1,\"busiest\":[{\"identity_hash\":1780797,\"times\":80,"
                "\"by_threads\":3},{\"identity_hash\":255,\"times\":2,\"by_threads\":1}]}");
    if (RUN("convert", "-q", "-o", "explorer", file, "-") != CLI_OK)
        cr_skip_test("not run: this compiler links no libdeflate: %s", err_text);
    char *census = census_of_page();
    cr_expect_not_null(strstr(census, "{\"key\":\"confined\",\"title\":\"Come to by several"));
    cr_expect_not_null(strstr(census, "\"3 objects much alike, each "
                                      "used by one thread only\"]"));
    free(census);
}

Test(locks, as_many_rows_as_are_asked_for)
{
    cr_expect_eq(RUN("locks", "--top=1", file), CLI_OK);
    expect_text("Waited at (1 of 2)\n");
    cr_expect(strstr(out_text, "app.Hot.spin:90") == NULL, "%s", out_text);
}

Test(locks, for_programs)
{
    cr_expect_eq(RUN("locks", "--json", file), CLI_OK);
    expect_text("{\"schema\":\"jaywalk.locks/1\",\n");
    expect_text(
        "\"program\":{\"sites\":7,\"reached\":5,\"acquisitions\":1234726,\"not_counted\":1},\n"
        "\"jdk\":{\"sites\":1,\"reached\":1,\"acquisitions\":5000,\"not_counted\":0},\n"
        "\"waits_elsewhere\":2,\n\"sites\":[\n");
    expect_text(
        "{\"place\":\"app.Cart.add\",\"line\":3,\"kind\":\"synchronized\",\"is_platform\":false,"
        "\"verdict\":\"one thread\",\"acquisitions\":1234567,\"threads\":1,"
        "\"thread\":\"worker-1\",\"timed_holds\":1000,\"weight\":1234567,"
        "\"hold_ns\":123456700,\"longest_hold_ns\":7000,\"waits\":0,\"waited_ns\":0,"
        "\"longest_wait_ns\":0,\"lock_class\":\"\",\"hold_error_ns\":300,"
        "\"hold_at_least_ns\":123456400,\"hold_at_most_ns\":123457000,"
        "\"hold_steps\":[1234000,560,0,0,0,0,7],\"wait_steps\":[0,0,0,0,0,0,0],\"owners\":[]},\n");
    expect_text("\"verdict\":\"not counted\"");
    expect_text("\"hold_error_ns\":4100000,\"hold_at_least_ns\":0,"
                "\"hold_at_most_ns\":5300000,");
    expect_text("\"kind\":\"ReentrantLock\",\"is_platform\":false,\"verdict\":\"contended\"");
    expect_text(
        "\"wait_steps\":[0,0,0,0,0,0,0],\"owners\":[],\"callers\":[{\"caller\":\"app.Cart.fill\","
        "\"acquisitions\":3750,\"error\":60,\"samples\":30},{\"caller\":\"[others]\","
        "\"acquisitions\":625,\"error\":60,\"samples\":10},");
    expect_text("\"waits\":1,\"waited_ns\":5000000,\"longest_wait_ns\":5000000,\"lock_class\":"
                "\"java.util.concurrent.locks.ReentrantLock$NonfairSync\",\"hold_error_ns\":0,"
                "\"hold_at_least_ns\":40000,\"hold_at_most_ns\":40000,"
                "\"hold_steps\":[0,40,0,0,0,0,0],\"wait_steps\":[0,0,0,0,1,0,0],"
                "\"owners\":[{\"waits\":1,\"waited_ns\":5000000,\"owner\":\"three\"}]}");
    expect_text(
        "\"object_count\":2,\"four_fifths\":2,\"unnumbered_waits\":0,\"spread\":\"1 of 2 objects "
        "takes 75.0 % "
        "of the time: look at that one "
        "first\",\"objects\":[{\"instance\":7,\"waits\":1,\"waited_ns\":30000000,\"longest_ns\":"
        "30000000,\"thread_count\":1},{\"instance\":8,\"waits\":1,\"waited_ns\":10000000,"
        "\"longest_ns\":10000000,\"thread_count\":1}],"
        "\"owners\":[{\"waits\":1,\"waited_ns\":30000000,\"owner\":\"two\",\"next_ns\":3000000,"
        "\"next_class\":\"app.Desk\",\"next_owner\":\"three\"},{\"waits\":1,"
        "\"waited_ns\":10000000,\"owner\":null}]");
}

Test(locks, a_recording_without_a_census_says_what_to_do)
{
    cr_expect_eq(RUN("locks", none), CLI_FAILED);
    cr_expect(strstr(err_text, "--locks=census") != NULL, "%s", err_text);
}

/* What a page has of the census, as text; NULL: nothing. */
static char *census_of_page(void)
{
    const char *at = strstr(out_text, "id=\"c-locks\" data-bytes=\"");
    size_t length;

    if (at == NULL)
        return NULL;
    const char *text = strchr(at, '>') + 1;
    unsigned char *bytes = inflate_64(text, (size_t)(strstr(text, "</script>") - text), &length);
    char *census = malloc(length + 1);
    cr_assert_not_null(census);
    memcpy(census, bytes, length);
    census[length] = '\0';
    free(bytes);
    return census;
}

Test(locks, an_explorer_page_has_what_the_command_says)
{
    if (RUN("convert", "-q", "-o", "explorer", file, "-") != CLI_OK)
        cr_skip_test("not run: this compiler links no libdeflate: %s", err_text);
    char *census = census_of_page();
    cr_assert_not_null(census);
    static const char *const texts[] = {
        "{\"lines\":[[\"program\",\"1,234,726 acquisitions at 5 of 7 places; 1 cannot be "
        "counted\"],[\"the JDK\",\"5,000 acquisitions at 1 of 1 places\"],[\"waits\",\"2 at "
        "places that are not counted: native code, and what counting stands on\"]],",
        "{\"key\":\"contended\",\"title\":\"Waited at\",\"rows\":[[\"app.Hot.spin\",12,"
        "\"monitor\",\"app.Shelf\",\"one\",100,3,10,100,20000000,200000,900000,2,40000000,"
        "30000000,\"held for long: ",
        /* A park says no class. */
        "[\"app.Hot.spin\",12,\"ReentrantLock\",\"\",\"two\",40,2,40,40,40000,1000,5000,1,5000000,"
        "5000000,",
        "{\"key\":\"alone\",\"title\":\"Come to by one thread only\",\"rows\":[["
        "\"app.Cart.add\",3,\"synchronized\",\"\",\"worker-1\",1234567,1,1000,1234567,123456700,"
        "100,7000,0,0,0,\"by worker-1 alone: if it alone takes this lock elsewhere",
        "\"rows\":[[\"app.Cart.all\",7,\"static synchronized\",\"\",\"\",0,0,0,0,0,0,0,0,0,0,\"no "
        "run comes here",
        "{\"key\":\"jdk\",\"title\":\"In classes of the JDK\",\"rows\":[[\"java.util.Vector.add\","
        "60,\"synchronized\",\"\",\"one\",5000,1,0,0,0,0,0,0,0,0,\"by one alone\","
        "[\"75.0 % +- 1.2  app.Cart.fill\",\"12.5 % +- 1.2  [others]\",\"5.0 %  app.Hot.a\","
        "\"4.0 %  app.Hot.b\",\"3.5 % +- 0.2  app.Hot.c\"],0,\"\",\"\",[],\"\",\"\"]]}]}",
        ",[],430000,\"20.0 ms in all +- 2.2 %: \\u003c 1 us 50.0 %, 10-100 us 10.0 %, 0.1-1 ms "
        "40.0 "
        "%\",\"10-100 ms 100.0 %\",[\"30.0 ms in 1 wait  two, who waited 3.0 ms for app.Desk of "
        "three\",\"10.0 ms in 1 wait  [unknown thread]\"],\"1 of 2 objects takes 75.0 % of the "
        "time: look at that one first; #7 30.0 ms in "
        "1 "
        "wait, #8 10.0 ms in 1 wait\",\"\"],",
        ",4100000,\"1.2 ms in all, 5.3 ms at most: \\u003c 1 us 75.0 %, 0.1-1 ms 25.0 %\",",
    };
    for (size_t i = 0; i < JW_COUNT_OF(texts); i++)
        cr_expect(strstr(census, texts[i]) != NULL, "no '%s' in %s", texts[i], census);
    cr_expect(strstr(census, "app.Cart.huge") == NULL, "what is not counted is in the sums alone");
    free(census);
    cr_expect_not_null(strstr(out_text, "id=\"locks-open\""));
}

Test(locks, a_page_has_the_owners_behind_whom_threads_waited_longest)
{
    make(file, true, 40);
    if (RUN("convert", "-q", "-o", "explorer", file, "-") != CLI_OK)
        cr_skip_test("not run: this compiler links no libdeflate: %s", err_text);
    char *census = census_of_page();
    cr_assert_not_null(census);
    cr_expect(strstr(census, "\"1.0 ms in 1 wait  more03\"") != NULL, "%s", census);
    cr_expect(strstr(census, ",\"and 22 more\"],") != NULL, "%s", census);
    free(census);
    cr_expect_eq(RUN("locks", "--json", file), CLI_OK);
    for (uint32_t i = 0; i < 40; i++) {
        char owner[64];

        snprintf(owner, sizeof owner, "\"waited_ns\":1000000,\"owner\":\"more%02u\"", 3 + i);
        expect_text(owner);
    }
}

Test(locks, a_page_of_a_recording_without_a_census_has_nothing_of_it)
{
    if (RUN("convert", "-q", "-o", "explorer", none, "-") != CLI_OK)
        cr_skip_test("not run: this compiler links no libdeflate: %s", err_text);
    cr_expect_not_null(strstr(out_text, "</html>"));
    cr_expect_null(census_of_page());
    cr_expect_null(strstr(out_text, "locks-open"));
}
