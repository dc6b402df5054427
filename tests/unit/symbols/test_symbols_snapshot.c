/* Snapshots: when handlers see them, when they go, and libraries that come, go and lose their file. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/atomics.h"
#include "elf_file.h"
#include "support/one_thread.h"

static char directory[64], copy_path[128];

static void make_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/jaywalk-symbols-XXXXXX");
    cr_assert(mkdtemp(directory) != NULL);
    snprintf(copy_path, sizeof copy_path, "%s/libcopied.so", directory);
}

static void remove_directory(void)
{
    symbols_close();
    unlink(copy_path);
    rmdir(directory);
}

TestSuite(symbols_snapshot, .timeout = 1800, .init = make_directory, .fini = remove_directory);

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

static struct symbols_stats stats(void)
{
    struct symbols_stats out;

    symbols_stats(&out);
    return out;
}

/* Copies the mathematics library, which depends on nothing but libc, so that it can be loaded twice. */
static void copy_library(void)
{
    char path[4096], block[65536];
    size_t got;
    void *original = dlopen("libm.so.6", RTLD_NOW);

    cr_assert(original != NULL && mapped_path("libm.so", path, sizeof path));
    FILE *from = fopen(path, "re"), *to = fopen(copy_path, "we");
    cr_assert(from != NULL && to != NULL);
    while ((got = fread(block, 1, sizeof block, from)) > 0)
        cr_assert_eq(fwrite(block, 1, got, to), got);
    fclose(from);
    cr_assert_eq(fclose(to), 0);
}

/* Maps the copy, executable and whole, without the loader: cheaper to come and go. */
static void *map_copy(size_t *size_bytes)
{
    struct stat status;
    const int fd = open(copy_path, O_RDONLY | O_CLOEXEC);

    cr_assert(fd >= 0 && fstat(fd, &status) == 0);
    *size_bytes = (size_t)status.st_size;
    void *start = mmap(NULL, *size_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    cr_assert(start != MAP_FAILED);
    close(fd);
    return start;
}

static enum symbols_found find_rule(const void *pc)
{
    struct symbols_rule rule;
    const struct symbols_snapshot *snapshot = symbols_enter();
    const enum symbols_found found = snapshot == NULL
                                         ? SYMBOLS_NO_LIBRARY
                                         : symbols_rule_find(snapshot, (uintptr_t)pc, false, &rule);

    symbols_leave(snapshot);
    return found;
}

Test(symbols_snapshot, what_a_handler_lacks_is_there_after_the_next_serve)
{
    cr_assert(symbols_enter() == NULL);
    serve();
    cr_assert_eq(find_rule((void *)(uintptr_t)fopen), SYMBOLS_NO_ROWS);
    cr_assert_eq(stats().libraries_with_rows, 0);
    serve();
    cr_assert_eq(find_rule((void *)(uintptr_t)fopen), SYMBOLS_FOUND);
    cr_assert_eq(stats().libraries_with_rows, 1, "only the library that was asked for has rows");
    cr_assert_gt(stats().rows, 1000);
}

Test(symbols_snapshot, serve_without_a_wish_does_nothing)
{
    for (int i = 0; i < 10; i++)
        serve();
    cr_assert_eq(stats().refresh_count, 0);
    cr_assert_eq(stats().libraries, 0);
}

Test(symbols_snapshot, unknown_pcs_make_looks_at_the_maps_ever_rarer)
{
    const char no_code[64] = ""; /* on the stack; constants may share pages with code */

    refresh();
    const uint64_t before = stats().refresh_count;
    for (int i = 0; i < 640; i++) {
        cr_assert_eq(find_rule(no_code), SYMBOLS_NO_LIBRARY);
        serve();
    }
    const uint64_t looks = stats().refresh_count - before;
    /* 2 + 4 + ... + 64, then every 64 ticks. */
    cr_assert_geq(looks, 10, "%lu", looks);
    cr_assert_leq(looks, 20, "%lu", looks);
}

Test(symbols_snapshot, a_look_that_finds_nothing_new_keeps_the_snapshot)
{
    refresh();
    const struct symbols_snapshot *first = symbols_enter();
    symbols_leave(first);
    refresh();
    const struct symbols_snapshot *second = symbols_enter();
    symbols_leave(second);
    cr_assert(first == second);
}

Test(symbols_snapshot, a_replaced_snapshot_stays_until_it_is_left)
{
    size_t size_bytes;

    copy_library();
    void *start = map_copy(&size_bytes);
    refresh();
    const struct symbols_snapshot *held = symbols_enter();
    const struct symbols_library *library =
        symbols_find_library(held, (uintptr_t)start + size_bytes / 4);
    cr_assert(library != NULL);
    munmap(start, size_bytes);
    refresh();
    cr_assert_eq(stats().snapshots_waiting, 1);
    cr_assert_str_eq(symbols_library_facts(library)->name, "libcopied.so");

    const struct symbols_snapshot *fresh = symbols_enter();
    cr_assert(fresh != held);
    cr_assert(symbols_find_library(fresh, (uintptr_t)start + size_bytes / 4) == NULL);
    symbols_leave(held);
    serve();
    cr_assert_eq(stats().snapshots_waiting, 0);
    symbols_leave(fresh);
}

Test(symbols_snapshot, too_many_held_snapshots_put_the_next_off_and_leaving_mends_it)
{
    enum { HELD = 12 };
    const struct symbols_snapshot *held[HELD];
    size_t size_bytes;
    void *start = NULL;

    copy_library();
    for (int i = 0; i < HELD; i++) {
        if (i % 2 == 0)
            start = map_copy(&size_bytes);
        else
            munmap(start, size_bytes);
        refresh();
        held[i] = symbols_enter();
    }
    cr_assert_gt(stats().snapshots_put_off, 0);
    cr_assert_eq(stats().snapshots_waiting, 6);
    for (int i = 0; i < HELD; i++)
        symbols_leave(held[i]);
    start = map_copy(&size_bytes);
    refresh();
    cr_assert_leq(stats().snapshots_waiting, 0);
    const struct symbols_snapshot *fresh = symbols_enter();
    cr_assert(symbols_find_library(fresh, (uintptr_t)start) != NULL);
    symbols_leave(fresh);
    munmap(start, size_bytes);
}

Test(symbols_snapshot, rows_can_be_had_before_a_handler_misses_them)
{
    cr_assert_not(symbols_want_rows((uintptr_t)fopen)); /* of no snapshot yet */
    serve();
    cr_assert_eq(stats().rows, 0);
    refresh();
    cr_assert(symbols_want_rows((uintptr_t)fopen));
    cr_assert_not(symbols_want_rows(1)); /* of no library */
    serve();
    cr_assert_eq(stats().libraries_with_rows, 1);
    cr_assert_eq(find_rule((void *)(uintptr_t)fopen), SYMBOLS_FOUND);
}

Test(symbols_snapshot, libraries_that_stay_keep_their_rows)
{
    struct jw_error err = {0};
    size_t size_bytes;

    cr_assert(symbols_build_rows(&err), "%s", err.message);
    const uint64_t rows = stats().rows;
    cr_assert_gt(rows, 0);
    copy_library();
    void *start = map_copy(&size_bytes);
    refresh();
    cr_assert_geq(stats().rows, rows);
    cr_assert_eq(find_rule((void *)(uintptr_t)fopen), SYMBOLS_FOUND);
    munmap(start, size_bytes);
}

/* Everything, with the n-th allocation and all later ones refused. True: nothing was missing. */
static bool use_all(uint64_t nth)
{
    struct jw_error err = {0};
    struct symbols_name name;

    jw_alloc_fail_after(nth);
    bool is_whole = symbols_refresh(&err) && symbols_build_rows(&err);
    is_whole = symbols_name((uintptr_t)fopen, &name) && name.function[0] != '\0' && is_whole;
    is_whole = symbols_find_symbol("libc.so", "fputs") != 0 && is_whole;
    jw_alloc_fail_after(0);
    is_whole = stats().libraries_with_rows == stats().libraries && is_whole;
    symbols_close();
    return is_whole;
}

static unsigned open_files(void)
{
    DIR *directory_of_files = opendir("/proc/self/fd");
    unsigned count = 0;

    cr_assert_not_null(directory_of_files);
    while (readdir(directory_of_files) != NULL)
        count++;
    closedir(directory_of_files);
    return count;
}

Test(symbols_snapshot, m67_forgotten_names_leave_no_file_open_and_come_again)
{
    struct symbols_name before, after;

    refresh();
    const unsigned files = open_files();
    const uint64_t names_bytes = stats().names_bytes;
    cr_assert(symbols_name((uintptr_t)fopen, &before));
    cr_expect(open_files() > files && stats().names_bytes > names_bytes);
    symbols_forget_names();
    cr_expect_eq(open_files(), files);
    cr_expect_eq(stats().names_bytes, names_bytes);
    cr_assert(symbols_name((uintptr_t)fopen, &after));
    cr_expect_str_eq(before.function, after.function);
    symbols_forget_names();
    symbols_forget_names();
}

Test(symbols_snapshot, each_allocation_may_fail)
{
    LEAVE_TO_ADDRESS_SANITIZER();

    const uint64_t before = jw_alloc_count();
    cr_assert(use_all(0));
    const uint64_t needed = jw_alloc_count() - before;

    cr_assert_gt(needed, 20);
    for (uint64_t nth = 1; nth <= needed; nth++)
        cr_assert_not(use_all(nth), "allocation %lu of %lu", nth, needed);
    cr_assert(use_all(0));
}

/* -------- files that are gone ---------------------------------------------------------------- */

struct search {
    const char *name;
    struct symbols_library_facts facts;
    bool is_found;
};

static void match(const struct symbols_library_facts *facts, void *closure)
{
    struct search *search = closure;

    if (strcmp(facts->name, search->name) == 0) {
        search->facts = *facts;
        search->is_found = true;
    }
}

static struct symbols_library_facts facts_of(const char *name)
{
    struct search search = {.name = name};

    symbols_each_library(match, &search);
    cr_assert(search.is_found, "%s", name);
    return search.facts;
}

static void expect_rules_and_names(void *library)
{
    struct jw_error err = {0};
    struct symbols_name name;
    const uintptr_t function_pc = (uintptr_t)dlsym(library, "fegetround");

    cr_assert(function_pc != 0);
    cr_assert(symbols_build_rows(&err), "%s", err.message);
    cr_assert_eq(find_rule((void *)function_pc), SYMBOLS_FOUND);
    cr_assert(symbols_name(function_pc, &name));
    cr_assert_str_eq(name.function, "fegetround");
    cr_assert_eq(symbols_find_symbol("libcopied", "fegetround"), function_pc);
}

Test(symbols_snapshot, a_library_whose_file_was_deleted_is_read_nevertheless)
{
    copy_library();
    void *library = dlopen(copy_path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(library != NULL, "%s", dlerror());
    cr_assert_eq(unlink(copy_path), 0);
    refresh();
    cr_assert(facts_of("libcopied.so").is_deleted);
    cr_assert(facts_of("libcopied.so").is_readable);
    cr_assert_not(facts_of("libcopied.so").is_replaced);
    expect_rules_and_names(library);
    dlclose(library);
}

Test(symbols_snapshot, a_library_under_whose_path_another_file_stands_is_not_read_from_that)
{
    char other_path[160];

    copy_library();
    void *library = dlopen(copy_path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(library != NULL, "%s", dlerror());
    snprintf(other_path, sizeof other_path, "%s.new", copy_path);
    FILE *other = fopen(other_path, "we");
    cr_assert(other != NULL && fputs("not the same", other) >= 0 && fclose(other) == 0);
    cr_assert_eq(rename(other_path, copy_path), 0);
    refresh();
    cr_assert(facts_of("libcopied.so").is_replaced);
    cr_assert(facts_of("libcopied.so").is_readable);
    cr_assert_not(facts_of("libcopied.so").is_deleted);
    expect_rules_and_names(library);
    dlclose(library);
}

Test(symbols_snapshot, a_deleted_library_is_read_from_memory_without_privilege)
{
    copy_library();
    void *library = dlopen(copy_path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(library != NULL, "%s", dlerror());
    cr_assert_eq(unlink(copy_path), 0);
    if (geteuid() == 0) {
        rmdir(directory);
        cr_assert_eq(setresuid(65534, 65534, 65534), 0);
        cr_assert_eq(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
    }
    refresh();
    cr_assert(facts_of("libcopied.so").is_deleted);
    cr_assert(facts_of("libcopied.so").is_readable);
    expect_rules_and_names(library);
    dlclose(library);
}

Test(symbols_snapshot, a_library_that_was_cut_to_nothing_is_unreadable_and_harmless)
{
    size_t size_bytes;
    struct jw_error err = {0};
    struct symbols_name name;

    copy_library();
    void *start = map_copy(&size_bytes);
    cr_assert_eq(truncate(copy_path, 0), 0);
    refresh();
    cr_assert_not(facts_of("libcopied.so").is_readable);
    cr_assert_eq(stats().libraries_unreadable, 1);
    cr_assert(symbols_build_rows(&err), "%s", err.message);
    cr_assert_eq(find_rule((char *)start + 100), SYMBOLS_NO_ROW);
    cr_assert(symbols_name((uintptr_t)start + 100, &name));
    cr_assert_str_empty(name.function);
    cr_assert_str_eq(name.library, "libcopied.so");
    munmap(start, size_bytes);
}

Test(symbols_snapshot, m31_a_library_that_was_cut_after_the_look_loses_rows_alone)
{
    size_t size_bytes;
    struct jw_error err = {0};

    copy_library();
    void *start = map_copy(&size_bytes);
    refresh();
    cr_assert(facts_of("libcopied.so").is_readable);
    cr_assert_eq(truncate(copy_path, 5000), 0);
    cr_assert(symbols_build_rows(&err), "%s", err.message);
    cr_assert_eq(find_rule((char *)start + size_bytes / 4), SYMBOLS_NO_ROW);
    cr_assert_eq(find_rule((void *)(uintptr_t)fopen), SYMBOLS_FOUND);
    munmap(start, size_bytes);
}

/* -------- all at once ------------------------------------------------------------------------ */

static _Atomic bool is_over;
static _Atomic uintptr_t moving_pc;

static void *visit(void *closure)
{
    _Atomic uint64_t *lookups = closure;

    while (!jw_load_relaxed(&is_over)) {
        const struct symbols_snapshot *snapshot = symbols_enter();
        struct symbols_rule rule;

        if (snapshot != NULL) {
            const uintptr_t pc = jw_load_relaxed(&moving_pc);
            const struct symbols_library *library = symbols_find_library(snapshot, pc);

            (void)symbols_rule_find(snapshot, pc, true, &rule);
            (void)symbols_rule_find(snapshot, (uintptr_t)fopen, false, &rule);
            if (library != NULL && symbols_library_facts(library)->name[0] != 'l')
                return NULL;
            jw_add_relaxed(lookups, 1);
        }
        symbols_leave(snapshot);
    }
    return closure;
}

Test(symbols_snapshot, m31_visitors_and_changes_of_the_libraries_do_not_disturb_each_other)
{
    enum { VISITORS = 3, CHANGES = 150 };
    pthread_t threads[VISITORS];
    static _Atomic uint64_t lookups[VISITORS];
    size_t size_bytes;

    copy_library();
    refresh();
    for (int i = 0; i < VISITORS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, visit, &lookups[i]), 0);
    for (int i = 0; i < VISITORS; i++)
        while (jw_load_relaxed(&lookups[i]) == 0)
            sched_yield();
    for (int i = 0; i < CHANGES; i++) {
        void *start = map_copy(&size_bytes);

        jw_store_relaxed(&moving_pc, (uintptr_t)start + size_bytes / 4);
        refresh();
        serve();
        munmap(start, size_bytes);
        refresh();
    }
    jw_store_relaxed(&is_over, true);
    for (int i = 0; i < VISITORS; i++) {
        void *result;

        cr_assert_eq(pthread_join(threads[i], &result), 0);
        cr_assert(result != NULL, "a visitor saw a library that was freed");
    }
    serve();
    cr_assert_eq(stats().snapshots_waiting, 0);
}
