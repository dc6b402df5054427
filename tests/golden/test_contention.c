/* `jaywalk contention`, and `convert -e lock`, on a recording whose waits are known. */
#include <stddef.h>
#include <unistd.h>

#include "golden/made.h"
#include "unit/cli/run_cli.h"

static char file[80], plain[80], objects[80], collapsed[80];
static struct jw_error err;
static struct recording *recording;
static struct generations *generations;
static uint64_t begun_ns;

static bool tell_thread(void *context, uint32_t index, uint32_t serial,
                        struct recording_thread *out)
{
    static const char *const names[] = {"one", "two", "three", "owner"};

    (void)context;
    (void)serial;
    *out = (struct recording_thread){.os_tid = 100 + index,
                                     .java_id = 10 + index,
                                     .java_name = {names[index], strlen(names[index])},
                                     .os_name = {names[index], strlen(names[index])}};
    return true;
}

struct made_wait {
    enum event_lock kind;
    const char *class_name;
    uint32_t thread, owner; /* 0: none */
    unsigned begin_ms, ms;
    uint64_t address;
    uint32_t object; /* 0: none */
};

/* A record of a thread at a moment, of a lock, with a stack of that kind. */
static struct event_record *reserve(struct generation *generation, uint32_t thread,
                                    const char *class_name, uint64_t address, unsigned at_ms,
                                    unsigned stack_kind)
{
    jw_frame frames[80];
    uint32_t flags;
    const uint32_t count = made_fill(generation, stack_kind, frames, &flags);
    struct event_record *record = event_reserve(generation->events);

    cr_assert_not_null(record);
    record->thread_index = thread;
    record->thread_serial = 1;
    record->time_ns = begun_ns + at_ms * JW_NS_PER_MS;
    record->value = address;
    record->class_name = dict_intern(generation->classes, class_name, strlen(class_name));
    record->trace = store_put(generation->traces, frames, count, flags);
    return record;
}

static void put(const struct made_wait *wait)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record =
        reserve(generation, wait->thread, wait->class_name, wait->address, wait->begin_ms, 0);

    record->kind = EVENT_LOCK;
    record->flags = (uint16_t)wait->kind | (wait->kind == EVENT_LOCK_WAIT ? EVENT_LOCK_EXPIRED : 0);
    record->weight_ns = wait->ms * JW_NS_PER_MS;
    record->state = (uint16_t)wait->owner;
    record->name = wait->kind == EVENT_LOCK_WAIT ? 250 : 1;
    record->object = wait->object;
    record->context =
        made_context(generation, wait->thread); /* of a request each, but for the fourth */
    event_commit(record);
    generation_leave(generations, &ticket);
}

/* What an owner is seen to do while others wait for its lock. */
static void own(uint32_t thread, const char *class_name, uint64_t address, unsigned at_ms)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = reserve(generation, thread, class_name, address, at_ms, 1);

    record->kind = EVENT_LOCK_OWNER;
    event_commit(record);
    generation_leave(generations, &ticket);
}

static void begin(const char *path, enum recording_dialect dialect)
{
    struct recording_config config = made_config(path, RECORDING_JFR);

    config.sources.thread = tell_thread;
    config.dialect = dialect;
    config.sources.attribute = made_tell_attribute;
    made_with_context = true;
    made_attributes = 1;
    generations = generations_open(&(struct generations_config){0}, &err);
    cr_assert_not_null(generations, "%s", err.message);
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    begun_ns = jw_now_ns();
}

static void end(void)
{
    struct generation *closed = generations_rotate(generations);

    cr_assert_not_null(closed);
    recording_take(recording, closed);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    generations_close(generations);
}

/* One busy account of 31, and shelves all alike, which came to one address one after the other, but for a wait without a number. */
static void make_objects(const char *path)
{
    begin(path, RECORDING_STANDARD);
    for (uint32_t i = 0; i < 31; i++) {
        struct made_wait wait = {EVENT_LOCK_ENTER, "shop/Account", i % 2, 3, 10 + 10 * i, 1,
                                 0x7000 + 16 * i,  100 + i};

        put(&wait);
    }
    for (uint32_t i = 0; i < 4; i++) {
        put(&(struct made_wait){EVENT_LOCK_ENTER, "shop/Account", i % 3, 4 - (i == 3),
                                1000 + 300 * i, 242, 0x6000, 17});
        put(&(struct made_wait){EVENT_LOCK_ENTER, "shop/Shelf", i % 3, 4, 3000 + 5 * i, 30, 0x8000,
                                1 + i});
    }
    put(&(struct made_wait){EVENT_LOCK_ENTER, "shop/Shelf", 1, 4, 5000, 7, 0x9000, 0});
    end();
}

static void make(const char *path, enum recording_dialect dialect)
{
    static const struct made_wait waits[] = {
        {EVENT_LOCK_ENTER, "app/Shelf", 0, 4, 10, 30, 0x7000, 0},
        {EVENT_LOCK_ENTER, "app/Shelf", 1, 4, 15, 25, 0x7000, 0},
        {EVENT_LOCK_ENTER, "app/Shelf", 2, 4, 20, 20, 0x7000, 0},
        {EVENT_LOCK_ENTER, "app/Desk", 3, 1, 5, 10, 0x8000, 0},
        {EVENT_LOCK_WAIT, "app/Bell", 1, 0, 50, 250, 0x9000, 0},
        {EVENT_LOCK_PARK, "java/util/concurrent/locks/ReentrantLock$NonfairSync", 1, 0, 400, 100,
         0xa000, 0},
        {EVENT_LOCK_PARK, "java/util/concurrent/CountDownLatch$Sync", 1, 0, 600, 70, 0xb000, 0},
    };

    begin(path, dialect);
    for (size_t i = 0; i < JW_COUNT_OF(waits); i++)
        put(&waits[i]);
    own(3, "app/Shelf", 0x7000, 12);
    own(3, "app/Shelf", 0x7000, 22);
    own(0, "app/Desk", 0x8000, 6);
    made_requests(generations);
    end();
}

static void set_up(void)
{
    snprintf(directory, sizeof directory, "/tmp/jaywalk-locks-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/locks.jfr", directory);
    snprintf(plain, sizeof plain, "%s/plain.jfr", directory);
    snprintf(objects, sizeof objects, "%s/objects.jfr", directory);
    snprintf(collapsed, sizeof collapsed, "%s/out.collapsed", directory);
    make(file, RECORDING_STANDARD);
    make(plain, RECORDING_ASYNC_PROFILER);
    make_objects(objects);
}

static void tear_down(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -r %s", directory);
    cr_expect_eq(system(command), 0);
}

TestSuite(contention, .init = set_up, .fini = tear_down, .timeout = 1800);

static void expect_text(const char *text)
{
    cr_expect(strstr(out_text, text) != NULL, "no '%s' in %s%s", text, out_text, err_text);
}

Test(contention, waits_are_told_by_lock_place_and_thread)
{
    cr_expect_eq(RUN("contention", file), CLI_OK);
    expect_text("Waits for locks: 5, 185.0 ms in all");
    expect_text("By lock (3 of 3)");
    expect_text("        3    75.0 ms    25.0 ms    30.0 ms    30.0 ms    30.0 ms  app.Shelf\n");
    expect_text("        2   125.0 ms    25.0 ms   100.0 ms   100.0 ms   100.0 ms  two\n");
    expect_text("        3    75.0 ms    25.0 ms    30.0 ms    30.0 ms    30.0 ms  owner with "
                "app.Shelf, had it 1 "
                "time, the longest for at least 12.0 ms\n");
}

Test(contention, convoys_and_chains_are_named)
{
    cr_expect_eq(RUN("contention", file), CLI_OK);
    expect_text("  20.0 ms      1             3        3  app.Shelf (0x7000), mostly behind owner");
    expect_text("   5.0 ms        1  app.Shelf of owner, who waited for app.Desk of one");
}

Test(contention, of_a_class_it_is_told_whether_one_object_is_waited_for_or_all_alike)
{
    cr_expect_eq(RUN("contention", objects), CLI_OK);
    expect_text("By object: is it one of its class, or all alike (2 of 2 classes)");
    expect_text(
        "  shop.Account: 1 of 32 objects takes 96.9 % of the time: look at that one first\n");
    expect_text(
        "        4   968.0 ms     96.9 %   242.0 ms          3  #17, mostly behind owner, one "
        "of 2 owners\n");
    expect_text("        1     1.0 ms      0.1 %     1.0 ms          1  #100, behind three\n");
    expect_text(" and 28 more\n");
    expect_text("  shop.Shelf: 4 objects much alike, of which the busiest takes 25.0 % of the "
                "time: look at what each does while it is held\n");
    expect_text(" and 1 wait for objects without a number\n");
    /* At one address, and never three of them for one shelf. */
    cr_expect(strstr(out_text, "at once") == NULL, "%s", out_text);
    cr_expect_eq(RUN("contention", "--json", objects), CLI_OK);
    expect_text("{\"objects\":32,\"waits\":35,\"total_ns\":999000000,\"four_fifths\":1,"
                "\"unnumbered_waits\":0,\"class\":\"shop.Account\"");
    expect_text(
        "{\"instance\":17,\"process\":1,\"waits\":4,\"total_ns\":968000000,"
        "\"longest_ns\":242000000,\"thread_count\":3,\"owner_count\":2,\"owner_ns\":726000000,"
        "\"owner\":\"owner\"}");
}

Test(contention, a_part_has_the_waits_for_one_object)
{
    cr_assert_eq(RUN("contention", "--instance=17", objects), CLI_OK, "%s", err_text);
    expect_text("Waits for locks: 4, 968.0 ms in all");
    expect_text("\nOnly of object #17; 36 other waits of that time are left out\n");
    expect_text("  shop.Account: one object, for which all of them wait\n");
    expect_text("By where they waited (1 of 1)");
    cr_assert_eq(RUN("contention", "--instance=17", "--thread=two", objects), CLI_OK);
    expect_text("Only of thread two, object #17;");
    cr_assert_eq(RUN("contention", "--instance=9", objects), CLI_FAILED);
    cr_expect(strstr(err_text, "left nothing of 40 waits of that time: --instance='9'") != NULL,
              "%s", err_text);
    cr_expect_eq(RUN("contention", "--instance=0", objects), CLI_USAGE);
    cr_expect_eq(RUN("contention", "--instance=#17", objects), CLI_USAGE);
    cr_expect(strstr(err_text, "'#17' is no number of an object") != NULL, "%s", err_text);
}

Test(contention, objects_of_a_process_are_the_same_in_all_of_its_recordings)
{
    cr_expect_eq(RUN("contention", "--json", objects, objects), CLI_OK);
    expect_text("{\"objects\":32,\"waits\":70,");
}

Test(contention, recordings_without_numbers_have_no_table_of_objects)
{
    cr_expect_eq(RUN("contention", plain), CLI_OK);
    cr_expect(strstr(out_text, "By object") == NULL, "%s", out_text);
}

Test(contention, waits_for_something_else_are_apart)
{
    cr_expect_eq(RUN("contention", file), CLI_OK);
    expect_text("Waits for something else than a lock (2 of 2)");
    expect_text("250.0 ms  app.Bell\n");
    expect_text("70.0 ms  java.util.concurrent.CountDownLatch$Sync\n");
}

Test(contention, programs_get_the_same)
{
    cr_expect_eq(RUN("contention", "--json", "--top=1", file), CLI_OK);
    expect_text("{\"schema\":\"jaywalk.contention/1\",\n\"waits\":5,\"total_ns\":185000000");
    expect_text(
        "\"holds\":1,\"held_at_least_ns\":12000000,\"holds_bounded\":0,\"held_at_most_ns\":0}");
    expect_text(
        "\"most\":3,\"waits\":3,\"address\":28672,\"class\":\"app.Shelf\",\"owner\":\"owner\"");
}

Test(contention, a_part_has_the_waits_of_its_threads)
{
    cr_assert_eq(RUN("contention", "--thread=tw*", file), CLI_OK, "%s", err_text);
    expect_text("Waits for locks: 2, 125.0 ms in all");
    expect_text("\nOnly of thread tw*; 3 other waits of that time are left out\n");
    expect_text("        1    25.0 ms    25.0 ms    25.0 ms    25.0 ms    25.0 ms  app.Shelf\n");
    expect_text("By who waited (1 of 1)");
    /* Of 15 to 40 ms, in two pieces; those of the other waits for the same lock are not in it. */
    expect_text("What the owners did meanwhile (1 of 1)");
    expect_text("25.0 ms  owner with app.Shelf\n");
    /* Whoever else waited was there. */
    expect_text("  20.0 ms      1             3        3  app.Shelf (0x7000), mostly behind owner");
    cr_expect(strstr(out_text, "app.Desk (") == NULL, "%s", out_text);
    expect_text("Waits for something else than a lock (2 of 2)");
    cr_assert_eq(RUN("contention", "--thread=one", "--thread=nobody", file), CLI_OK, "%s",
                 err_text);
    expect_text("   5.0 ms        1  app.Shelf of owner, who waited for app.Desk of one");
    cr_expect(strstr(err_text, "no thread is matched by --thread='nobody'") != NULL, "%s",
              err_text);
    cr_assert_eq(RUN("contention", "--thread=owner", file), CLI_OK, "%s", err_text);
    expect_text("  app.Desk of one, who waited for app.Shelf of owner\n");
    cr_expect(strstr(out_text, "at once") == NULL, "%s", out_text);
}

Test(contention, a_part_has_the_waits_of_its_requests)
{
    cr_assert_eq(RUN("contention", "-q", "--endpoint=GET /orders*", file), CLI_OK, "%s", err_text);
    expect_text("Waits for locks: 1, 30.0 ms in all");
    expect_text("Only of GET /orders*; ");
    expect_text("30.0 ms  one\n");
    cr_assert_eq(RUN("contention", "-q", "--endpoint=[no context]", file), CLI_OK, "%s", err_text);
    expect_text("10.0 ms  owner\n");
    cr_assert_eq(RUN("contention", "-q", "--attribute=tenant=globex", file), CLI_OK, "%s",
                 err_text);
    expect_text("100.0 ms  two\n");
    cr_assert_eq(RUN("contention", "-q", "--endpoint=GET /nothing", file), CLI_FAILED);
    cr_expect(strstr(err_text, "--endpoint='GET /nothing'") != NULL, "%s", err_text);
}

Test(contention, a_part_has_the_waits_of_its_time_and_length)
{
    cr_assert_eq(RUN("contention", "--json", "--latency=30", file), CLI_OK, "%s", err_text);
    expect_text("\"waits\":2,\"total_ns\":130000000,\"left_out\":0,\"part\":\"at least 30000 us\"");
    cr_assert_eq(RUN("contention", "-q", "--latency=1s", file), CLI_FAILED);
    cr_expect(strstr(err_text,
                     "the filters left nothing of 7 waits of that time: --latency='1s'") != NULL,
              "%s", err_text);
    cr_assert_eq(RUN("contention", "--thread=nobody", file), CLI_FAILED);
    cr_expect(
        strstr(err_text, "no thread is matched by --thread='nobody'; 'jaywalk convert --threads") !=
            NULL,
        "%s", err_text);
    cr_expect(strstr(err_text, "--thread='nobody'") != NULL, "%s", err_text);
    cr_expect_eq(RUN("contention", "--from=never", file), CLI_USAGE);
    cr_expect_eq(RUN("contention", "--include=app.*", file), CLI_USAGE);
}

Test(contention, the_dialect_of_others_is_read_too)
{
    cr_expect_eq(RUN("contention", plain), CLI_OK);
    expect_text("    75.0 ms    25.0 ms    30.0 ms    30.0 ms    30.0 ms  owner with app.Shelf\n");
}

Test(contention, convert_draws_waits_for_locks_by_time)
{
    cr_expect_eq(RUN("convert", "-q", "-e", "lock", "--total", file, collapsed), CLI_OK);
    FILE *drawn = fopen(collapsed, "r");
    cr_assert_not_null(drawn);
    out_text[fread(out_text, 1, 60000, drawn)] = '\0';
    fclose(drawn);
    expect_text(";app/Shelf 75000000");
}

Test(contention, where_nobody_waited_for_long_it_is_not_asked_to_be_recorded)
{
    static const struct recording_setting settings[] = {{NULL, "lock", "10000"}};
    struct recording_config config = made_config(plain, RECORDING_JFR);

    config.settings = settings;
    config.setting_count = JW_COUNT_OF(settings);
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_expect_eq(RUN("contention", plain), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "it was recorded with lock, and none took 10.0 us"), "%s",
                       err_text);
}

Test(contention, wrong_lines_are_refused)
{
    cr_expect_eq(RUN("contention"), CLI_USAGE);
    cr_expect_eq(RUN("contention", "/nowhere.jfr"), CLI_FAILED);
}
