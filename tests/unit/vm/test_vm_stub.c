/* Generated stubs: found by any pc inside, the inner and the later one first, while others report. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "base/counters.h"
#include "vm/vm_stub.h"

#define CODE_BYTES 131072

/* Stubs are told apart by address alone; what lies there is read for the frame set-up only. */
static unsigned char code[CODE_BYTES];

TestSuite(vm_stub, .timeout = 1800);

static uintptr_t at(size_t offset)
{
    return (uintptr_t)code + offset;
}

static void report(const char *name, size_t offset, int length_bytes)
{
    vm_stub_report(name, code + offset, length_bytes);
}

static const char *name_at(size_t offset)
{
    const struct vm_stub *stub = vm_stub_find(at(offset));

    return stub == NULL ? "none" : stub->name;
}

Test(vm_stub, nothing_is_found_before_anything_was_reported)
{
    cr_assert_null(vm_stub_find(at(0)));
    vm_stub_settle();
    cr_assert_null(vm_stub_find(at(0)));
}

static void expect_three(void)
{
    cr_assert_str_eq(name_at(99), "none");
    cr_assert_str_eq(name_at(100), "first");
    cr_assert_str_eq(name_at(149), "first");
    cr_assert_str_eq(name_at(150), "none");
    cr_assert_str_eq(name_at(200), "second");
    cr_assert_str_eq(name_at(399), "third");
    cr_assert_str_eq(name_at(400), "none");
}

Test(vm_stub, stubs_are_found_before_and_after_they_are_settled)
{
    report("third", 300, 100);
    report("first", 100, 50);
    report("second", 200, 10);
    expect_three();
    vm_stub_settle();
    expect_three();
}

Test(vm_stub, stubs_reported_after_a_settle_are_found_at_once)
{
    report("old", 100, 50);
    vm_stub_settle();
    report("new", 200, 50);
    cr_assert_str_eq(name_at(110), "old");
    cr_assert_str_eq(name_at(210), "new");
}

Test(vm_stub, of_two_at_one_address_the_later_is_found)
{
    report("old", 100, 50);
    report("new", 100, 50);
    cr_assert_str_eq(name_at(120), "new");
    vm_stub_settle();
    cr_assert_str_eq(name_at(120), "new");
    report("newest", 100, 50);
    cr_assert_str_eq(name_at(120), "newest");
}

Test(vm_stub, of_nested_stubs_the_inner_one_is_found_whatever_came_first)
{
    report("part", 120, 10);
    report("block", 100, 100);
    report("second part", 140, 10);
    for (int settled = 0; settled < 2; settled++) {
        cr_assert_str_eq(name_at(105), "block");
        cr_assert_str_eq(name_at(125), "part");
        cr_assert_str_eq(name_at(135), "block");
        cr_assert_str_eq(name_at(145), "second part");
        cr_assert_str_eq(name_at(155), "block");
        vm_stub_settle();
    }
    report("late part", 122, 4);
    cr_assert_str_eq(name_at(124), "late part");
    cr_assert_str_eq(name_at(129), "part");
    report("late block", 90, 200);
    cr_assert_str_eq(name_at(125), "late part");
    cr_assert_str_eq(name_at(95), "late block");
}

Test(vm_stub, a_report_without_length_or_name_hides_no_later_one)
{
    report("empty", 100, 0);
    report("negative", 100, -1);
    vm_stub_report(NULL, code, 10);
    vm_stub_report("nowhere", NULL, 10);
    report("good", 200, 10);
    cr_assert_str_eq(name_at(205), "good");
    vm_stub_settle();
    cr_assert_str_eq(name_at(205), "good");
    cr_assert_str_eq(name_at(100), "none");
}

Test(vm_stub, kinds_follow_the_names_that_the_jvm_gives)
{
    static const struct {
        const char *name;
        enum vm_stub_kind kind;
    } known[] = {
        {"vtable stub", VM_STUB_VTABLE},
        {"itable stub", VM_STUB_VTABLE},
        {"MethodHandle::linkToStatic", VM_STUB_VTABLE},
        {"I2C/C2I adapters", VM_STUB_ADAPTER},
        {"Interpreter", VM_STUB_INTERPRETER},
        {"jbyte_disjoint_arraycopy", VM_STUB_GENERATED},
    };

    for (size_t i = 0; i < JW_COUNT_OF(known); i++) {
        report(known[i].name, 100 * i, 10);
        cr_assert_str_eq(name_at(100 * i), known[i].name);
        cr_assert(eq(int, (int)vm_stub_find(at(100 * i))->kind, (int)known[i].kind));
    }
}

Test(vm_stub, a_long_name_is_cut)
{
    char name[200];

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    report(name, 0, 10);
    cr_assert(eq(sz, strlen(name_at(0)), sizeof((struct vm_stub *)0)->name - 1));
}

/* JDK 8 adds what the adapter is for and where it lies, which makes each of them, in each run, one of its own. */
Test(vm_stub, a_name_is_without_numbers_of_this_run)
{
    report("I2C/C2I adapters(0xbbe00000)@0x00007fe66e446720", 0, 64);
    cr_assert_str_eq(name_at(0), "I2C/C2I adapters");
    cr_assert(eq(int, (int)vm_stub_find(at(0))->kind, VM_STUB_ADAPTER));
}

Test(vm_stub, a_full_table_counts_what_it_refuses)
{
    const uint64_t before = jw_counter(JW_COUNT_STUBS_FULL);

    for (size_t i = 0; i < VM_STUBS_MAX; i++)
        report("stub", i * 4, 4);
    cr_assert(eq(u64, jw_counter(JW_COUNT_STUBS_FULL), before));
    report("too many", VM_STUBS_MAX * 4, 4);
    report("too many", VM_STUBS_MAX * 4, 4);
    cr_assert(eq(u64, jw_counter(JW_COUNT_STUBS_FULL), before + 2));
    cr_assert_str_eq(name_at(VM_STUBS_MAX * 4), "none");
    vm_stub_settle();
    for (size_t i = 0; i < VM_STUBS_MAX; i++)
        cr_assert_str_eq(name_at(i * 4 + 3), "stub");
}

Test(vm_stub, settling_survives_a_refused_allocation)
{
    report("good", 100, 10);
    jw_alloc_fail_after(1);
    vm_stub_settle();
    jw_alloc_fail_after(0);
    cr_assert_str_eq(name_at(105), "good");
    vm_stub_settle();
    cr_assert_str_eq(name_at(105), "good");
}

#define REPORTERS    2
#define EACH_REPORTS 1500
#define STUB_BYTES   16

static _Atomic uint32_t reported[REPORTERS]; /* stubs of each reporter that are surely there */

static size_t place_of(uint32_t reporter, uint32_t number)
{
    return ((size_t)number * REPORTERS + reporter) * STUB_BYTES;
}

static void *report_many(void *argument)
{
    const uint32_t reporter = (uint32_t)(uintptr_t)argument;

    for (uint32_t i = 0; i < EACH_REPORTS; i++) {
        char name[32];

        snprintf(name, sizeof name, "%u.%u", reporter, i);
        report(name, place_of(reporter, i), STUB_BYTES);
        /* order TEST_STUB: releases the report to the finders. */
        jw_store_release(&reported[reporter], i + 1);
    }
    return NULL;
}

/* Whatever is found at a place is the stub of that place, whole. */
static void *find_many(void *argument)
{
    bool *is_right = argument;

    for (uint32_t done = 0; done < REPORTERS * EACH_REPORTS;) {
        done = 0;
        for (uint32_t reporter = 0; reporter < REPORTERS; reporter++) {
            /* order TEST_STUB: acquires the reports. */
            const uint32_t count = jw_load_acquire(&reported[reporter]);

            done += count;
            for (uint32_t i = count > 8 ? count - 8 : 0; i < count; i++) {
                const struct vm_stub *stub = vm_stub_find(at(place_of(reporter, i) + 5));
                char name[32];

                snprintf(name, sizeof name, "%u.%u", reporter, i);
                /* One that another report, still under way, stands before may be seen later. */
                if (stub != NULL &&
                    (stub->begin != at(place_of(reporter, i)) || strcmp(stub->name, name) != 0))
                    *is_right = false;
            }
        }
    }
    return NULL;
}

Test(vm_stub, finders_see_whole_stubs_while_others_report_and_settle)
{
    pthread_t reporters[REPORTERS], finder;
    bool is_right = true;

    cr_assert(eq(int, pthread_create(&finder, NULL, find_many, &is_right), 0));
    for (uintptr_t i = 0; i < REPORTERS; i++)
        cr_assert(eq(int, pthread_create(&reporters[i], NULL, report_many, (void *)i), 0));
    for (int i = 0; i < 200; i++)
        vm_stub_settle();
    for (size_t i = 0; i < REPORTERS; i++)
        pthread_join(reporters[i], NULL);
    pthread_join(finder, NULL);
    cr_assert(is_right);
    for (int settled = 0; settled < 2; settled++) {
        for (uint32_t i = 0; i < EACH_REPORTS; i++)
            for (uint32_t reporter = 0; reporter < REPORTERS; reporter++)
                cr_assert_not_null(vm_stub_find(at(place_of(reporter, i))));
        vm_stub_settle();
    }
}
