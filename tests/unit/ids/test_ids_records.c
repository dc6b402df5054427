/* Ids of classes and methods: names, lives, redefinition. */
#include "ids/ids_internal.h"
#include "unit/vm/fake_classes.h"
#include "unit/vm/fake_counters.h"

#include <criterion/new/assert.h>

#include "base/counters.h"

TestSuite(ids, .timeout = 1800);

/* A weak reference of the fake JVM. */
struct weak {
    bool is_gone, is_given_back;
};

static struct fake_class job, other;
static struct weak weaks[64];

/* What the last turn told. */
static struct {
    uint32_t count;
    ids_id klass, methods[128];
    size_t method_count;
    bool is_redefined, were_all_valid;
} told;

static bool is_gone(void *weak, void *argument)
{
    const struct weak *of = weak;

    (void)argument;
    cr_assert(not(of->is_given_back));
    return of->is_gone;
}

static void *hold(void *weak, void *argument)
{
    return is_gone(weak, argument) ? NULL : weak;
}

static void release(void *held, void *argument)
{
    (void)held;
    (void)argument;
}

static void give_back(void *weak, void *argument)
{
    struct weak *of = weak;

    (void)argument;
    cr_assert(not(of->is_given_back));
    of->is_given_back = true;
}

static void tell(const struct ids_event *event, void *argument)
{
    struct ids_class_info klass = {0};

    (void)argument;
    told.count++;
    told.klass = event->klass;
    told.is_redefined = event->is_redefined;
    told.method_count = event->method_count;
    told.were_all_valid = ids_class_info(event->klass, &klass);
    for (size_t i = 0; i < event->method_count; i++) {
        struct ids_method_info method = {0};

        told.methods[i] = event->methods[i];
        told.were_all_valid &=
            ids_method_info(event->methods[i], &method) && method.klass == event->klass;
    }
}

static uint32_t turn(void)
{
    static const struct ids_watch watch = {is_gone, hold, release, tell, give_back, NULL};

    memset(&told, 0, sizeof told);
    const uint32_t count = ids_turn(&watch);
    cr_assert(eq(u32, count, told.count));
    return count;
}

static void open_ids(uint64_t bytes)
{
    struct jw_error err = {0};

    fill_class(&job, "com/acme/Job", 80);
    cr_assert(vm_body_open(&(vm_addr){(vm_addr)job.klass}, 1, &err), "%s", err.message);
    cr_assert(ids_open(bytes, &err), "%s", err.message);
    ids_listed();
}

static ids_id prepare(struct fake_class *of, struct weak *weak)
{
    *weak = (struct weak){0};
    cr_assert(ids_class_prepared((vm_addr)of->klass, 0, weak));
    return ids_class_at((vm_addr)of->klass);
}

static bool is_class(ids_id id, const char *name)
{
    char text[128] = "gone";
    struct ids_class_info info = {.name = {text, sizeof text, 0}};

    return (ids_class_info(id, &info) || strcpy(text, "gone") != NULL) && strcmp(text, name) == 0;
}

/* "gone": the id means nothing any more. */
static bool is_method(ids_id id, const char *name)
{
    char text[128] = "gone";
    struct ids_method_info info = {.name = {text, sizeof text, 0}};

    return (ids_method_info(id, &info) || strcpy(text, "gone") != NULL) && strcmp(text, name) == 0;
}

TEST_EACH_JDK(ids, a_method_is_told_with_its_class_its_number_and_its_lines, "com/acme/Fake")
{
    char name[128], signature[128];
    struct ids_method_info info = {.name = {name, sizeof name, 0},
                                   .signature = {signature, sizeof signature, 0}};

    open_ids(1 << 20);
    const ids_id klass = prepare(&job, &weaks[0]);
    cr_assert(ne(u64, klass, 0));
    for (uint32_t n = 0; n < job.count; n++) {
        char wanted[128];
        const ids_id id = ids_method_at(method_of(&job, n));

        cr_assert(ids_method_info(id, &info));
        snprintf(wanted, sizeof wanted, "com/acme/Job%u", n);
        cr_assert(strcmp(name, wanted) == 0);
        cr_assert(strcmp(signature, "(I)V") == 0);
        cr_assert(eq(u64, info.klass, klass));
        cr_assert(eq(u32, info.modifiers, 0x0009));
        cr_assert(eq(u32, info.number, n));
        cr_assert(info.is_number_known);
        cr_assert(not(info.is_obsolete));
        cr_assert(eq(int, ids_method_line(id, 0), n == 0 ? 0 : (int)(100 * n)));
        cr_assert(eq(int, ids_method_line(id, 7), (int)(100 * n + 1)));
        cr_assert(eq(int, ids_method_line(id, -3), 0));
        cr_assert(eq(u64, ids_method_at(method_of(&job, n)), id), "the same again");
    }
    free_class(&job);
}

TEST_EACH_JDK(ids, a_class_is_told_and_has_a_number_of_its_own, "com/acme/Fake")
{
    char name[128], source[128];
    struct ids_class_info info = {.name = {name, sizeof name, 0},
                                  .source_file = {source, sizeof source, 0}};

    open_ids(1 << 20);
    fill_class(&other, "com/acme/Other", 3);
    const ids_id first = prepare(&job, &weaks[0]), second = prepare(&other, &weaks[1]);
    cr_assert(ids_class_info(first, &info));
    cr_assert(strcmp(name, "com/acme/Job") == 0);
    cr_assert(strcmp(source, "Fake.java") == 0);
    cr_assert(eq(u32, info.modifiers, 0x0031));
    const uint64_t number = info.number;
    cr_assert(ids_class_info(second, &info));
    cr_assert(strcmp(name, "com/acme/Other") == 0);
    cr_assert(ne(u64, info.number, number));
    cr_assert(ne(u64, first, second));
    free_class(&job);
    free_class(&other);
}

TEST_EACH_JDK(ids, a_text_is_cut_where_there_is_no_room_and_its_length_is_told, "com/acme/Fake")
{
    char name[9];
    struct ids_class_info info = {.name = {name, sizeof name, 0}};

    open_ids(1 << 20);
    const ids_id klass = prepare(&job, &weaks[0]);
    memset(name, 'x', sizeof name);
    cr_assert(ids_class_info(klass, &info));
    cr_assert(strcmp(name, "com/acme") == 0);
    cr_assert(eq(sz, info.name.length_bytes, strlen("com/acme/Job")));
    cr_assert(eq(sz, info.source_file.length_bytes, strlen("Fake.java")));
    info.name.room_bytes = 1;
    cr_assert(ids_class_info(klass, &info));
    cr_assert(strcmp(name, "") == 0);
    free_class(&job);
}

TEST_EACH_JDK(ids, a_class_that_is_gone_is_told_once_and_its_ids_end, "com/acme/Fake")
{
    open_ids(1 << 20);
    const ids_id klass = prepare(&job, &weaks[0]);
    const ids_id method = ids_method_at(method_of(&job, 2));

    cr_assert(eq(u32, turn(), 0));
    weaks[0].is_gone = true;
    cr_assert(is_method(method, "com/acme/Job2"), "until it is told");
    cr_assert(eq(u32, turn(), 1));
    cr_assert(eq(u64, told.klass, klass));
    cr_assert(eq(sz, told.method_count, 1));
    cr_assert(eq(u64, told.methods[0], method));
    cr_assert(told.were_all_valid);
    cr_assert(not(told.is_redefined));
    cr_assert(weaks[0].is_given_back);
    cr_assert(is_class(klass, "gone"));
    cr_assert(is_method(method, "gone"));
    cr_assert(eq(int, ids_method_line(method, 0), IDS_GONE));
    cr_assert(ids_class_weak(klass) == NULL);
    cr_assert(eq(u64, ids_class_at((vm_addr)job.klass), 0));
    cr_assert(eq(u32, turn(), 0), "and no more");
    free_class(&job);
}

TEST_EACH_JDK(ids, an_address_that_is_given_again_is_another_class, "com/acme/Fake")
{
    open_ids(1 << 20);
    const ids_id first = prepare(&job, &weaks[0]);
    const ids_id old = ids_method_at(method_of(&job, 1));

    /* Before any turn: the class has gone and another stands at its place, its methods at those of its methods. */
    weaks[0].is_gone = true;
    struct fake_body *body = job.body;
    fill_class(&job, "com/acme/Next", 80);
    memcpy(body, job.body, sizeof *body);
    const ids_id second = prepare(&job, &weaks[1]);
    const ids_id now = ids_method_at(method_of(&job, 1));
    cr_assert(ne(u64, first, second));
    cr_assert(ne(u64, old, now));
    cr_assert(is_method(old, "com/acme/Job1"));
    cr_assert(is_method(now, "com/acme/Next1"));
    cr_assert(eq(u32, turn(), 1));
    cr_assert(eq(u64, told.klass, first));
    cr_assert(is_class(second, "com/acme/Next"));
    cr_assert(eq(u64, ids_class_at((vm_addr)job.klass), second));
    free(body);
    free_class(&job);
}

TEST_EACH_JDK(ids, records_serve_again_and_ids_do_not, "com/acme/Fake")
{
    static ids_id seen[4000];
    struct ids_stats before, after;
    uint32_t count = 0;

    open_ids(1 << 20);
    ids_stats(&before);
    for (uint32_t life = 0; life < 1000; life++) {
        seen[count++] = prepare(&job, &weaks[0]);
        for (uint32_t n = 0; n < 3; n++)
            seen[count++] = ids_method_at(method_of(&job, n));
        weaks[0].is_gone = true;
        cr_assert(eq(u32, turn(), 1));
    }
    ids_stats(&after);
    cr_assert(eq(u32, after.class_count, before.class_count));
    cr_assert(eq(u32, after.method_count, before.method_count));
    cr_assert(eq(u32, after.block_count, before.block_count));
    for (uint32_t i = 0; i < count; i++) {
        cr_assert(i % 4 == 0 ? is_class(seen[i], "gone") : is_method(seen[i], "gone"));
        for (uint32_t k = i % 4; k < i; k += 4)
            cr_assert(seen[i] != seen[k]);
    }
    free_class(&job);
}

TEST_EACH_JDK(ids, a_redefinition_ends_the_old_bodies_and_keeps_the_numbers, "com/acme/Fake")
{
    struct ids_method_info info = {0};

    open_ids(1 << 20);
    const ids_id klass = prepare(&job, &weaks[0]);
    const vm_addr old_code = method_of(&job, 4);
    const ids_id old = ids_method_at(old_code);
    cr_assert(eq(int, ids_method_line(old, 0), 400));

    redefine_class(&job);
    const ids_id now = ids_method_at(method_of(&job, 4));
    cr_assert(ne(u64, now, old));
    cr_assert(eq(int, ids_method_line(now, 0), 410));
    cr_assert(ids_method_info(now, &info));
    cr_assert(eq(u32, info.number, 4));
    cr_assert(not(info.is_obsolete));
    cr_assert(eq(u64, info.klass, klass));

    cr_assert(eq(u32, turn(), 1));
    cr_assert(told.is_redefined);
    cr_assert(told.were_all_valid);
    cr_assert(eq(u64, told.klass, klass));
    cr_assert(eq(sz, told.method_count, 1));
    cr_assert(eq(u64, told.methods[0], old));
    cr_assert(is_method(old, "gone"));
    cr_assert(is_method(now, "com/acme/Job4"));
    cr_assert(eq(u64, ids_method_at(method_of(&job, 4)), now), "it is found as before");

    /* Who runs in the old body still gets an id of it, which says so, until the next one. */
    const ids_id late = ids_method_at(old_code);
    cr_assert(ids_method_info(late, &info));
    cr_assert(info.is_obsolete);
    cr_assert(info.is_number_known);
    cr_assert(eq(u32, info.number, 4));
    cr_assert(eq(int, ids_method_line(late, 0), 400));
    cr_assert(eq(u32, turn(), 0));
    redefine_class(&job);
    cr_assert(eq(u32, turn(), 1));
    cr_assert(eq(sz, told.method_count, 2));
    free_class(&job);
}

TEST_EACH_JDK(ids, what_is_redefined_and_was_never_asked_about_is_not_told, "com/acme/Fake")
{
    open_ids(1 << 20);
    (void)prepare(&job, &weaks[0]);
    redefine_class(&job);
    cr_assert(eq(u32, turn(), 0));
    const ids_id now = ids_method_at(method_of(&job, 4));
    cr_assert(eq(u32, turn(), 0));
    cr_assert(is_method(now, "com/acme/Job4"));
    free_class(&job);
}

TEST_EACH_JDK(ids, no_record_is_used_again_while_somebody_is_in_its_chain, "com/acme/Fake")
{
    struct ids_stats before, after;

    open_ids(1 << 20);
    const ids_id klass = prepare(&job, &weaks[0]);
    const ids_id old = ids_method_at(method_of(&job, 4));
    struct ids_class *record = ids_class_of(klass);

    redefine_class(&job);
    jw_store_relaxed(&record->inside, 1);
    ids_stats(&before);
    cr_assert(eq(u32, turn(), 0), "it is told when its id can end");
    ids_stats(&after);
    cr_assert(eq(u32, after.method_count, before.method_count));
    cr_assert(is_method(old, "com/acme/Job4"));
    cr_assert(eq(u32, turn(), 0));
    jw_store_relaxed(&record->inside, 0);
    cr_assert(eq(u32, turn(), 1));
    cr_assert(eq(u64, told.methods[0], old));
    ids_stats(&after);
    cr_assert(eq(u32, after.method_count, before.method_count - 1));
    cr_assert(is_method(old, "gone"));

    /* A class that goes meanwhile takes with it what was not told yet. */
    const ids_id now = ids_method_at(method_of(&job, 4));
    redefine_class(&job);
    jw_store_relaxed(&record->inside, 1);
    cr_assert(eq(u32, turn(), 0));
    weaks[0].is_gone = true;
    cr_assert(eq(u32, turn(), 0));
    jw_store_relaxed(&record->inside, 0);
    cr_assert(eq(u32, turn(), 1));
    cr_assert(not(told.is_redefined));
    cr_assert(eq(sz, told.method_count, 1));
    cr_assert(eq(u64, told.methods[0], now));
    ids_stats(&after);
    cr_assert(eq(u32, after.method_count, 0));
    free_class(&job);
}

TEST_EACH_JDK(ids, code_that_differs_in_lines_alone_is_another_at_the_same_place, "com/acme/Fake")
{
    open_ids(1 << 20);
    (void)prepare(&job, &weaks[0]);
    const ids_id old = ids_method_at(method_of(&job, 4));

    /* No number is given for it, and all that a method is known by lies where it lay. */
    job.redefinitions = 3;
    fill_class_method(&job, job.body, 4);
    job.redefinitions = 0;
    const ids_id now = ids_method_at(method_of(&job, 4));
    cr_assert(ne(u64, now, old));
    cr_assert(eq(int, ids_method_line(old, 0), 400));
    cr_assert(eq(int, ids_method_line(now, 0), 430));
    cr_assert(eq(u64, ids_method_at(method_of(&job, 4)), now));
    cr_assert(eq(u32, turn(), 1));
    cr_assert(told.is_redefined);
    cr_assert(eq(sz, told.method_count, 1));
    cr_assert(eq(u64, told.methods[0], old));
    cr_assert(is_method(old, "gone"));
    cr_assert(is_method(now, "com/acme/Job4"));
    cr_assert(eq(u32, turn(), 0));
    free_class(&job);
}

TEST_EACH_JDK(ids, lines_are_compared_behind_a_safepoint_alone, "com/acme/Fake")
{
    const uint64_t later = 23;

    add_fields();
    put_counters(22);
    vm_safepoint_open();
    open_ids(1 << 20);
    (void)prepare(&job, &weaks[0]);
    const ids_id old = ids_method_at(method_of(&job, 4));
    /* What no JVM does without one. */
    job.redefinitions = 3;
    fill_class_method(&job, job.body, 4);
    job.redefinitions = 0;
    cr_assert(eq(u64, ids_method_at(method_of(&job, 4)), old));
    memcpy(entry(1) + DATA_OFFSET, &later, sizeof later);
    cr_assert(ne(u64, ids_method_at(method_of(&job, 4)), old));
    free_class(&job);
}

TEST_EACH_JDK(ids, a_class_whose_name_jvmti_tells_longer_is_anonymous, "com/acme/Fake")
{
    struct ids_class_info info = {0};

    open_ids(1 << 20);
    cr_assert(ids_class_prepared((vm_addr)job.klass, strlen("com/acme/Job/1234"), &weaks[0]));
    cr_assert(ids_class_info(ids_class_at((vm_addr)job.klass), &info));
    cr_assert(info.is_hidden);
    cr_assert(ids_class_prepared((vm_addr)job.klass, strlen("com/acme/Job"), &weaks[1]));
    cr_assert(ids_class_info(ids_class_at((vm_addr)job.klass), &info));
    cr_assert(not(info.is_hidden));
    free_class(&job);
}

TEST_EACH_JDK(ids, a_class_that_is_listed_and_prepared_at_one_time_is_one, "com/acme/Fake")
{
    struct jw_error err = {0};
    struct ids_stats stats;

    fill_class(&job, "com/acme/Job", 80);
    cr_assert(vm_body_open(&(vm_addr){(vm_addr)job.klass}, 1, &err));
    cr_assert(ids_open(1 << 20, &err));
    /* First by the list, then by the event. */
    cr_assert(ids_class_listed((vm_addr)job.klass, 0, &weaks[0]));
    cr_assert(ids_class_prepared((vm_addr)job.klass, 0, &weaks[1]));
    /* And the other way: the list's reference stays the caller's. */
    cr_assert(not(ids_class_listed((vm_addr)job.klass, 0, &weaks[2])));
    ids_listed();
    cr_assert(eq(u32, turn(), 0), "nothing was unloaded");
    cr_assert(weaks[0].is_given_back);
    cr_assert(not(weaks[1].is_given_back));
    ids_stats(&stats);
    cr_assert(eq(u32, stats.class_count, 1));
    weaks[1].is_gone = true;
    cr_assert(eq(u32, turn(), 1));
    free_class(&job);
}

TEST_EACH_JDK(ids, what_finds_no_room_is_counted_and_nothing_is_lost, "com/acme/Fake")
{
    const uint64_t refused = jw_counter(JW_COUNT_IDS_REFUSED);
    static struct fake_class many[40];
    uint32_t known = 0;

    open_ids(12 << 10); /* a handful of each */
    for (size_t i = 0; i < JW_COUNT_OF(many); i++) {
        char name[32];

        snprintf(name, sizeof name, "C%zu", i);
        fill_class(&many[i], name, 2);
        known += ids_class_prepared((vm_addr)many[i].klass, 0, &weaks[i]);
    }
    cr_assert(lt(u32, known, 40));
    cr_assert(ne(u32, known, 0));
    cr_assert(eq(u64, jw_counter(JW_COUNT_IDS_REFUSED), refused + 40 - known));
    cr_assert(eq(u64, ids_method_at(method_of(&many[39], 0)), 0));
    for (uint32_t i = 0; i < known; i++)
        weaks[i].is_gone = true;
    cr_assert(eq(u32, turn(), known));
    cr_assert(ids_class_prepared((vm_addr)many[39].klass, 0, &weaks[39]));
    cr_assert(ne(u64, ids_method_at(method_of(&many[39], 0)), 0));
    for (size_t i = 0; i < JW_COUNT_OF(many); i++)
        free_class(&many[i]);
    free_class(&job);
}

static bool end_its_life(const struct vm_lines *entry, void *argument)
{
    (void)entry;
    ids_end_life(&ids_method_of(*(const ids_id *)argument)->version);
    return false;
}

TEST_EACH_JDK(ids, what_ends_while_it_is_read_is_gone, "com/acme/Fake")
{
    open_ids(1 << 20);
    (void)prepare(&job, &weaks[0]);
    ids_id id = ids_method_at(method_of(&job, 4));
    cr_assert(eq(int, ids_method_lines(id, end_its_life, &id), IDS_GONE));
    free_class(&job);
}

TEST_EACH_JDK(ids, numbers_that_are_no_ids_mean_nothing, "com/acme/Fake")
{
    struct ids_method_info method = {0};
    struct ids_class_info klass = {0};

    open_ids(1 << 20);
    (void)prepare(&job, &weaks[0]);
    for (uint64_t i = 0; i < 20000; i++) {
        const uint64_t random = i * UINT64_C(0x9e3779b97f4a7c15);

        cr_assert(not(ids_method_info(random | UINT64_C(1) << 63, &method)));
        cr_assert(not(ids_class_info(random | UINT64_C(1) << 63, &klass)));
    }
    cr_assert(not(ids_method_info(0, &method)));
    cr_assert(eq(u64, ids_method_at(0x1234560), 0));
    cr_assert(eq(u64, ids_class_at(0x1234560), 0));
    free_class(&job);
}
