/* Libraries that come and go: code is never named by another library than the one that it was seen in. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/counters.h"
#include "support/emulated.h"
#include "symbols/symbols_internal.h"

#define STORM_TURNS 60
#define SEEN_MAX    256

enum kind { FIRST, SECOND, KINDS };

static const char *const names[KINDS] = {"first_code", "second_code"};
static char directory[64], paths[KINDS][128];

static void make_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/jaywalk-past-XXXXXX");
    cr_assert(mkdtemp(directory) != NULL);
    for (int kind = 0; kind < KINDS; kind++)
        snprintf(paths[kind], sizeof paths[kind], "%s/libpast%d.so", directory, kind);
}

static void remove_directory(void)
{
    symbols_close();
    for (int kind = 0; kind < KINDS; kind++)
        unlink(paths[kind]);
    rmdir(directory);
}

TestSuite(symbols_past, .timeout = 1800, .init = make_directory, .fini = remove_directory);

/* Two libraries of one shape, whose function stands at the same place under another name. */
static void make_libraries(const char *options)
{
    const char *compiler = getenv("CC");
    char command[512];

#if defined(__aarch64__)
    if (access("/usr/bin/aarch64-linux-gnu-gcc", X_OK) == 0)
        compiler = "aarch64-linux-gnu-gcc";
#endif
    for (int kind = 0; kind < KINDS; kind++) {
        snprintf(command, sizeof command,
                 "echo 'int nested(int x); int %s(int x); "
                 "__attribute__((noinline)) int nested(int x) { __asm__(\"\"); return x + 1; } "
                 "int %s(int x) { return nested(x) + %d; }' | "
                 "%s -x c -O1 -shared -fPIC -nostdlib %s -o %s -",
                 names[kind], names[kind], kind,
                 compiler == NULL || compiler[0] == '\0' ? "cc" : compiler, options, paths[kind]);
        cr_assert_eq(system(command), 0, "%s", command);
    }
}

#define WITH_ID    "-Wl,--build-id=sha1"
#define WITHOUT_ID "-Wl,--build-id=none"

static void *library;

/* Loads one of them, which comes to lie where the other one was; returns the address of its function. */
static uintptr_t load(enum kind kind)
{
    library = dlopen(paths[kind], RTLD_NOW | RTLD_LOCAL);
    cr_assert(library != NULL, "%s", dlerror());
    const uintptr_t pc = (uintptr_t)dlsym(library, names[kind]);

    cr_assert(pc != 0);
    return pc;
}

static void unload(void)
{
    cr_assert_eq(dlclose(library), 0);
}

static void refresh(void)
{
    struct jw_error err = {0};

    cr_assert(symbols_refresh(&err), "%s", err.message);
}

static void serve(void)
{
    struct jw_error err = {0};

    cr_assert(symbols_serve(&err), "%s", err.message);
}

static void settle(void)
{
    struct jw_error err = {0};

    cr_assert(symbols_settle(&err), "%s", err.message);
}

/* What a handler does; false: it doubts. */
static bool handler_believes(uintptr_t pc)
{
    const struct symbols_snapshot *snapshot = symbols_enter();
    struct symbols_proof proof;
    uintptr_t word = 0;
    bool is_believed = true;

    if (snapshot != NULL && symbols_proof_find(snapshot, pc, &proof) && proof.address != 0) {
        const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

        is_believed = pread(memory, &word, sizeof word, (off_t)proof.address) == sizeof word &&
                      word == proof.word;
        close(memory);
        if (!is_believed)
            symbols_doubt(snapshot, pc);
    }
    if (snapshot != NULL && !symbols_proof_find(snapshot, pc, &proof))
        symbols_want(SYMBOLS_WANT_LIBRARIES);
    symbols_leave(snapshot);
    return is_believed;
}

static void expect_name(uintptr_t pc, const char *expected, unsigned line)
{
    struct symbols_name name;

    if (expected == NULL) {
        cr_assert_not(symbols_name(pc, &name), "line %u: %s of %s", line, name.function,
                      name.library);
        return;
    }
    cr_assert(symbols_name(pc, &name), "line %u: no name", line);
    cr_assert_str_eq(name.function, expected, "line %u: %s", line, name.function);
}

#define EXPECT_NAME(pc, expected) expect_name(pc, expected, __LINE__)

/* Those loaded at one address, else there is nothing to see. */
static void expect_same_place(uintptr_t a, uintptr_t b)
{
    if (a != b && is_emulated())
        cr_skip_test("the emulator's kernel lays the second library elsewhere");
    cr_assert_eq(a, b, "the loader put them at %lx and %lx", (unsigned long)a, (unsigned long)b);
}

Test(symbols_past, code_of_an_unloaded_library_has_its_name_until_nobody_can_ask)
{
    make_libraries(WITH_ID);
    const uintptr_t pc = load(FIRST);
    refresh();
    const uint64_t seen = symbols_look_number();
    cr_assert(handler_believes(pc));
    unload();
    EXPECT_NAME(pc, names[FIRST]);
    refresh();
    EXPECT_NAME(pc, names[FIRST]);
    symbols_forget_before(seen);
    EXPECT_NAME(pc, names[FIRST]);
    symbols_forget_before(symbols_look_number());
    EXPECT_NAME(pc, NULL);
}

Test(symbols_past, where_two_libraries_were_one_after_the_other_neither_is_named)
{
    struct symbols_stats stats;

    make_libraries(WITH_ID);
    const uintptr_t pc = load(FIRST);
    refresh();
    cr_assert(handler_believes(pc));
    unload();
    expect_same_place(load(SECOND), pc);
    EXPECT_NAME(pc, names[FIRST]); /* what was seen until now was seen in it */
    cr_assert_not(symbols_take_news());
    refresh();
    cr_assert(symbols_take_news());
    cr_assert_not(symbols_take_news());
    EXPECT_NAME(pc, NULL);
    cr_assert_eq(jw_counter(JW_COUNT_SYMBOLS_UNCERTAIN), 1);
    symbols_stats(&stats);
    cr_assert_eq(stats.libraries_past, 1);
    symbols_forget_before(symbols_look_number());
    EXPECT_NAME(pc, names[SECOND]);
    symbols_stats(&stats);
    cr_assert_eq(stats.libraries_past, 0);
    unload();
}

Test(symbols_past, a_handler_notices_that_another_library_lies_there)
{
    make_libraries(WITH_ID);
    const uintptr_t pc = load(FIRST);
    refresh();
    unload();
    expect_same_place(load(SECOND), pc);
    cr_assert_not(handler_believes(pc));
    EXPECT_NAME(pc, NULL);
    serve(); /* looks at the maps */
    EXPECT_NAME(pc, NULL);
    cr_assert(handler_believes(pc));
    symbols_forget_before(symbols_look_number());
    EXPECT_NAME(pc, names[SECOND]);
    unload();
}

Test(symbols_past, a_handler_notices_the_other_library_also_when_the_first_one_came_back)
{
    make_libraries(WITH_ID);
    const uintptr_t pc = load(FIRST);
    refresh();
    unload();
    expect_same_place(load(SECOND), pc);
    cr_assert_not(handler_believes(pc));
    unload();
    expect_same_place(load(FIRST), pc);
    serve();
    EXPECT_NAME(pc, NULL);
    symbols_forget_before(symbols_look_number());
    EXPECT_NAME(pc, names[FIRST]);
    unload();
}

Test(symbols_past, code_that_no_library_held_when_it_was_seen_may_have_been_of_another)
{
    make_libraries(WITH_ID);
    refresh();
    const uintptr_t pc = load(SECOND);
    cr_assert(handler_believes(pc)); /* nothing is known there */
    unload();
    expect_same_place(load(FIRST), pc);
    serve();
    EXPECT_NAME(pc, NULL);
    symbols_forget_before(symbols_look_number());
    EXPECT_NAME(pc, names[FIRST]);
    unload();
}

Test(symbols_past, a_library_that_was_only_loaded_has_its_name_at_once)
{
    make_libraries(WITH_ID);
    refresh();
    const uintptr_t pc = load(SECOND);
    cr_assert(handler_believes(pc));
    serve();
    EXPECT_NAME(pc, names[SECOND]);
    unload();
}

Test(symbols_past, of_libraries_without_a_build_id_nothing_is_believed_once_one_was_unloaded)
{
    make_libraries(WITHOUT_ID);
    const uintptr_t pc = load(FIRST);
    refresh();
    settle();
    EXPECT_NAME(pc, names[FIRST]);
    unload();
    expect_same_place(load(SECOND), pc);
    (void)handler_believes(pc);
    unload();
    expect_same_place(load(FIRST), pc);
    settle();
    EXPECT_NAME(pc, NULL);
    symbols_forget_before(symbols_look_number());
    EXPECT_NAME(pc, names[FIRST]);
    unload();
}

Test(symbols_past,
     of_a_library_without_a_build_id_nothing_is_believed_once_another_came_and_went_behind_it)
{
    make_libraries(WITHOUT_ID);
    const uintptr_t pc = load(FIRST);
    refresh();
    unload();
    expect_same_place(load(SECOND), pc);
    (void)handler_believes(pc);
    unload();
    settle();
    EXPECT_NAME(pc, NULL);
    symbols_forget_before(symbols_look_number());
    EXPECT_NAME(pc, NULL);
}

Test(symbols_past, where_a_library_lay_until_a_look_another_may_have_come_and_gone_since)
{
    make_libraries(WITH_ID);
    const uintptr_t pc = load(FIRST);
    refresh();
    unload();
    refresh();
    EXPECT_NAME(pc, names[FIRST]);
    expect_same_place(load(SECOND), pc);
    cr_assert(handler_believes(pc)); /* nothing is known there */
    unload();
    settle();
    EXPECT_NAME(pc, NULL);
}

Test(symbols_past, a_library_that_goes_where_it_was_seen_leaves_the_names_of_others_alone)
{
    make_libraries(WITH_ID);
    const uintptr_t first_pc = load(FIRST);
    void *first = library;
    const uintptr_t second_pc = load(SECOND);
    refresh();
    cr_assert_eq(dlclose(first), 0);
    refresh();
    unload();
    settle();
    EXPECT_NAME(first_pc, names[FIRST]);
    EXPECT_NAME(second_pc, names[SECOND]);
}

Test(symbols_past, another_file_at_the_path_of_an_unloaded_library_gives_no_names)
{
    struct symbols_name name;

    make_libraries(WITH_ID);
    const uintptr_t pc = load(FIRST);
    refresh();
    unload();
    cr_assert_eq(rename(paths[SECOND], paths[FIRST]), 0);
    cr_assert(symbols_name(pc, &name));
    cr_assert_str_eq(name.library, "libpast0.so");
    cr_assert_str_eq(name.function, "");
}

Test(symbols_past, another_library_in_memory_gives_no_names_to_the_first)
{
    struct symbols_name name;

    make_libraries(WITH_ID);
    const uintptr_t pc = load(FIRST);
    refresh();
    unload();
    cr_assert_eq(unlink(paths[FIRST]), 0);
    expect_same_place(load(SECOND), pc);
    cr_assert(symbols_name(pc, &name));
    cr_assert_str_eq(name.library, "libpast0.so");
    cr_assert_str_eq(name.function, "");
    unload();
}

Test(symbols_past, without_room_all_that_was_seen_until_then_is_uncertain)
{
    refresh();
    EXPECT_NAME((uintptr_t)getpid, "getpid");
    for (uintptr_t i = 1; i <= 600; i++)
        symbols_past_add(i << 12, (i << 12) + 1, NULL, 1);
    for (int i = 0; i < 1000; i++) /* the same once more takes no room */
        symbols_past_add((uintptr_t)1 << 12, ((uintptr_t)1 << 12) + 1, NULL, 1);
    EXPECT_NAME((uintptr_t)getpid, NULL);
    symbols_forget_before(1);
    EXPECT_NAME((uintptr_t)getpid, "getpid");
}

/* -------- a storm ---------------------------------------------------------------------------- */

/* What a thread saw, by the half of the storm that it was seen in: a closed one is named while the other is filled. */
struct seen {
    uintptr_t pc;
    enum kind kind;
};

static struct {
    pthread_mutex_t lock;
    struct seen seen[SEEN_MAX];
    unsigned count;
} half = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic bool is_over;

static void note(uintptr_t pc, enum kind kind)
{
    (void)handler_believes(pc);
    pthread_mutex_lock(&half.lock);
    if (half.count < SEEN_MAX)
        half.seen[half.count++] = (struct seen){pc, kind};
    pthread_mutex_unlock(&half.lock);
}

static void *come_and_go(void *unused)
{
    unsigned state = 1;

    (void)unused;

    while (!jw_load_relaxed(&is_over)) {
        const enum kind kind = (enum kind)(rand_r(&state) % KINDS);
        void *loaded = dlopen(paths[kind], RTLD_NOW | RTLD_LOCAL);
        const unsigned times = (unsigned)rand_r(&state) % 20;

        for (unsigned i = 0; loaded != NULL && i <= times; i++) {
            note((uintptr_t)dlsym(loaded, names[kind]), kind);
            usleep(i * 20);
        }
        if (loaded != NULL)
            dlclose(loaded);
    }
    return NULL;
}

/* Named or not, but never by the other's name: how many are. */
static unsigned wrong_names(const struct seen *seen, unsigned count)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < count; i++) {
        struct symbols_name name;

        wrong += symbols_name(seen[i].pc, &name) && name.function[0] != '\0' &&
                 strcmp(name.function, names[seen[i].kind]) != 0;
    }
    return wrong;
}

static void storm(void)
{
    static struct seen closed[SEEN_MAX];
    pthread_t thread;
    unsigned wrong = 0;

    jw_store_relaxed(&is_over, false);
    refresh();
    /* One, so that what comes lies where the last one was. */
    cr_assert_eq(pthread_create(&thread, NULL, come_and_go, NULL), 0);
    for (int turn = 0; turn < STORM_TURNS; turn++) {
        serve();
        usleep(5000);
        if (turn % 4 != 0)
            continue;
        const uint64_t look_at_next = symbols_look_number();
        pthread_mutex_lock(&half.lock);
        const unsigned count = half.count;
        memcpy(closed, half.seen, count * sizeof closed[0]);
        half.count = 0;
        pthread_mutex_unlock(&half.lock);
        settle();
        wrong += wrong_names(closed, count);
        symbols_forget_before(look_at_next);
    }
    jw_store_relaxed(&is_over, true);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_eq(wrong, 0, "%u names are another library's", wrong);
    refresh();
    symbols_forget_before(symbols_look_number());
    EXPECT_NAME(load(SECOND), NULL);
    serve();
    refresh();
    EXPECT_NAME((uintptr_t)dlsym(library, names[SECOND]), names[SECOND]);
    unload();
}

Test(symbols_past, m31_in_a_storm_of_libraries_none_is_taken_for_another)
{
    make_libraries(WITH_ID);
    storm();
}

Test(symbols_past, m31_nor_in_one_of_libraries_without_build_ids)
{
    make_libraries(WITHOUT_ID);
    storm();
}
