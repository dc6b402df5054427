/* Ids of classes and methods, as another agent's handler asks for them. */
#include "unit/vm/fake_classes.h"
#include "unit/vm/fake_counters.h"

#include "counted.h"
#include "ids/ids.h"

#define METHODS 80

static struct fake_class job;
static ids_id method, klass;
static char text[128];
static int weak;

static void open_class(unsigned operations)
{
    struct jw_error err = {0};

    (void)operations;
    open_fake(LAYOUT_25, "com/acme/Fake");
    add_fields();
    put_counters(22);
    vm_safepoint_open();
    fill_class(&job, "com/acme/bench/Worker", METHODS);
    counted_need(vm_body_open(&(vm_addr){(vm_addr)job.klass}, 1, &err), "bodies", &err);
    counted_need(ids_open(1 << 20, &err), "ids", &err);
    ids_listed();
    counted_need(ids_class_prepared((vm_addr)job.klass, 0, &weak), "a class", NULL);
    klass = ids_class_at((vm_addr)job.klass);
    method = ids_method_at(method_of(&job, 4));
    counted_need(method != 0, "a method", NULL);
}

static void close_class(void)
{
    ids_close();
    free_class(&job);
}

static void find_method(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        counted_sink += ids_method_at(method_of(&job, 4));
}

/* As behind a safepoint: the lines are compared. */
static void find_method_later(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++) {
        memcpy(entry(1) + DATA_OFFSET, &(uint64_t){23 + i}, sizeof(uint64_t));
        counted_sink += ids_method_at(method_of(&job, 4));
    }
}

static void make_methods(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        counted_sink += ids_method_at(method_of(&job, 8 + i));
}

static void tell_method(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++) {
        struct ids_method_info info = {.name = {text, sizeof text, 0}};

        counted_sink += ids_method_info(method, &info);
    }
}

static void tell_class(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++) {
        struct ids_class_info info = {.name = {text, sizeof text, 0}};

        counted_sink += ids_class_info(klass, &info);
    }
}

static void tell_line(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        counted_sink += (uint64_t)ids_method_line(method, 1);
}

const struct counted counted_ids[] = {
    {"ids_method_at_hit", open_class, find_method, close_class, 10, 60},
    {"ids_method_at_later", open_class, find_method_later, close_class, 10, 60},
    {"ids_method_at_new", open_class, make_methods, close_class, 10, 60},
    {"ids_method_info", open_class, tell_method, close_class, 10, 60},
    {"ids_class_info", open_class, tell_class, close_class, 10, 60},
    {"ids_method_line", open_class, tell_line, close_class, 10, 60},
};
const size_t counted_ids_count = JW_COUNT_OF(counted_ids);
