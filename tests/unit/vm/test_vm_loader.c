/* Class loaders by number: kinds by name, loaders by address, addresses that come again. */
#include "unit/vm/fake_memory.h"

#include <criterion/new/assert.h>
#include <pthread.h>

#include "vm/vm_loader.h"

#define LOADER_DATA(number) (UINT64_C(0x7f0000000000) + (uint64_t)(number)*0x180)

static struct vm_loader_text text;

static void open_17(void)
{
    open_fake(LAYOUT_17, "A");
}

TestSuite(vm_loader, .init = open_17, .timeout = 1800);

static void note(uint64_t loader_data, const char *class_name)
{
    set(fake.klass, "Klass", "_class_loader_data", loader_data, 8);
    vm_loader_note((vm_addr)fake.klass, class_name);
}

/* ClassLoaderData of the app loader, the bootstrap loader and one of an application, as the JVM chains them. */
static struct {
    _Alignas(8) unsigned char data[3][OBJECT_BYTES], loader_class[3][OBJECT_BYTES], name[3][128];
    uintptr_t head;
} graph;

static void make_graph(int words, const char *app_name)
{
    const char *const names[] = {app_name, NULL, "com/acme/Loader"};

    for (size_t i = 0; i < 3; i++) {
        const void *klass = names[i] == NULL ? NULL : graph.loader_class[i];
        const size_t offset = (size_t)offset_of("ClassLoaderData", "_next");

        set_pointer(graph.data[i], "ClassLoaderData", "_next", i < 2 ? graph.data[i + 1] : NULL);
        memcpy(graph.data[i] + offset + (size_t)words * sizeof klass, &klass, sizeof klass);
        if (klass == NULL)
            continue;
        set_symbol(graph.name[i], names[i]);
        set_pointer(graph.loader_class[i], "Klass", "_name", graph.name[i]);
    }
    graph.head = (uintptr_t)graph.data[0];
    fake_jvm->add_field("ClassLoaderDataGraph", "_head", "ClassLoaderData*", true, 0, &graph.head);
}

static const char *class_of(uint64_t loader_data)
{
    return vm_loader_describe(vm_loader_find(loader_data), &text) ? text.class_name : "unknown";
}

Test(vm_loader, a_noted_loader_is_found_and_described)
{
    note(LOADER_DATA(1), "com/acme/Loader");
    note(LOADER_DATA(2), "com/acme/Other");
    note(LOADER_DATA(3), "com/acme/Loader");
    cr_assert_str_eq(class_of(LOADER_DATA(1)), "com/acme/Loader");
    cr_assert_str_eq(class_of(LOADER_DATA(2)), "com/acme/Other");
    cr_assert(eq(u32, vm_loader_find(LOADER_DATA(1)), vm_loader_find(LOADER_DATA(3))));
    cr_assert_str_eq(text.name, "");
}

#define APP "jdk/internal/loader/ClassLoaders$AppClassLoader"

Test(vm_loader, the_word_with_the_class_of_the_loader_is_found_where_it_is)
{
    make_graph(2, APP);
    vm_loader_open();
    cr_assert(vm_loader_tells());
    cr_assert_str_eq(class_of((uintptr_t)graph.data[0]), APP);
    cr_assert_str_eq(text.name, "app");
    cr_assert(eq(u32, vm_loader_find((uintptr_t)graph.data[1]), VM_LOADER_BOOTSTRAP));
    cr_assert_str_eq(class_of((uintptr_t)graph.data[2]), "com/acme/Loader");
    cr_assert(eq(u32, vm_loader_find((uintptr_t)graph.data[2]),
                 vm_loader_find((uintptr_t)graph.data[2])));
}

Test(vm_loader, a_loader_that_comes_to_an_address_is_told_without_a_note)
{
    make_graph(1, APP);
    vm_loader_open();
    cr_assert_str_eq(class_of((uintptr_t)graph.data[2]), "com/acme/Loader");
    set_symbol(graph.name[2], "com/acme/Others");
    cr_assert_str_eq(class_of((uintptr_t)graph.data[2]), "com/acme/Others");
    set_symbol(graph.name[2], "");
    cr_assert(eq(u32, vm_loader_find((uintptr_t)graph.data[2]), VM_LOADER_UNKNOWN));
}

Test(vm_loader, memory_that_cannot_be_read_has_no_loader)
{
    make_graph(1, APP);
    vm_loader_open();
    cr_assert(eq(u32, vm_loader_find(LOADER_DATA(1)), VM_LOADER_UNKNOWN));
    set_pointer(graph.loader_class[2], "Klass", "_name", (void *)LOADER_DATA(1));
    cr_assert(eq(u32, vm_loader_find((uintptr_t)graph.data[2]), VM_LOADER_UNKNOWN));
}

Test(vm_loader, no_word_is_taken_for_the_class_of_a_loader_that_is_not_known)
{
    /* Classes stand there, but none of a loader that every JVM has. */
    make_graph(1, "com/acme/Other");
    vm_loader_open();
    cr_assert(not(vm_loader_tells()));
}

Test(vm_loader, no_word_is_taken_that_is_no_class_in_some_loader)
{
    make_graph(1, APP);
    set_pointer(graph.loader_class[2], "Klass", "_name", NULL);
    vm_loader_open();
    cr_assert(not(vm_loader_tells()));
    note(LOADER_DATA(1), "com/acme/Loader");
    cr_assert_str_eq(class_of(LOADER_DATA(1)), "com/acme/Loader");
}

Test(vm_loader, what_is_noted_is_known_to_be)
{
    cr_assert(not(vm_loader_is_noted((vm_addr)fake.klass)));
    note(LOADER_DATA(1), "com/acme/Loader");
    cr_assert(vm_loader_is_noted((vm_addr)fake.klass));
    set(fake.klass, "Klass", "_class_loader_data", LOADER_DATA(2), 8);
    cr_assert(not(vm_loader_is_noted((vm_addr)fake.klass)));
    cr_assert(not(vm_loader_is_noted(0)));
}

Test(vm_loader, what_was_not_noted_is_unknown)
{
    cr_assert(eq(u32, vm_loader_find(LOADER_DATA(1)), VM_LOADER_UNKNOWN));
    cr_assert(eq(u32, vm_loader_find(0), VM_LOADER_UNKNOWN));
    cr_assert(eq(u32, vm_loader_find(UINT64_MAX), VM_LOADER_UNKNOWN));
    cr_assert(not(vm_loader_describe(VM_LOADER_UNKNOWN, &text)));
    cr_assert(not(vm_loader_describe(VM_LOADERS_MAX, &text)));
    cr_assert(not(vm_loader_describe(UINT32_MAX, &text)));
    cr_assert(not(vm_loader_describe(VM_LOADERS_MAX - 1, &text)));
}

Test(vm_loader, the_built_in_loaders_have_names)
{
    note(LOADER_DATA(1), NULL);
    cr_assert(eq(u32, vm_loader_find(LOADER_DATA(1)), VM_LOADER_BOOTSTRAP));
    cr_assert_str_eq(class_of(LOADER_DATA(1)), "");
    cr_assert_str_eq(text.name, "bootstrap");
    note(LOADER_DATA(2), "jdk/internal/loader/ClassLoaders$AppClassLoader");
    cr_assert(ne(u32, vm_loader_find(LOADER_DATA(2)), VM_LOADER_BOOTSTRAP));
    (void)class_of(LOADER_DATA(2));
    cr_assert_str_eq(text.name, "app");
    note(LOADER_DATA(3), "jdk/internal/loader/ClassLoaders$PlatformClassLoader");
    (void)class_of(LOADER_DATA(3));
    cr_assert_str_eq(text.name, "platform");
    note(LOADER_DATA(4), "sun/misc/Launcher$ExtClassLoader");
    (void)class_of(LOADER_DATA(4));
    cr_assert_str_eq(text.name, "ext");
}

Test(vm_loader, an_address_that_comes_again_belongs_to_the_new_loader)
{
    note(LOADER_DATA(1), "com/acme/Old");
    note(LOADER_DATA(1), "com/acme/New");
    cr_assert_str_eq(class_of(LOADER_DATA(1)), "com/acme/New");
    /* A loader that the JVM does not name must not leave the old one standing. */
    note(LOADER_DATA(1), "");
    cr_assert(eq(u32, vm_loader_find(LOADER_DATA(1)), VM_LOADER_UNKNOWN));
}

Test(vm_loader, the_latest_of_very_many_loaders_is_found)
{
    for (uint32_t i = 1; i < 200000; i++) {
        note(LOADER_DATA(i), i % 2 == 0 ? "com/acme/Even" : "com/acme/Odd");
        cr_assert_str_eq(class_of(LOADER_DATA(i)), i % 2 == 0 ? "com/acme/Even" : "com/acme/Odd");
    }
    /* Others may be forgotten; none is given another one's name. */
    uint32_t forgotten = 0;
    for (uint32_t i = 1; i < 200000; i++) {
        if (vm_loader_find(LOADER_DATA(i)) == VM_LOADER_UNKNOWN)
            forgotten++;
        else
            cr_assert_str_eq(class_of(LOADER_DATA(i)),
                             i % 2 == 0 ? "com/acme/Even" : "com/acme/Odd");
    }
    cr_assert(ge(u32, forgotten, 200000 - 65536 - 1));
}

Test(vm_loader, kinds_beyond_the_table_are_unknown)
{
    for (uint32_t i = 0; i < VM_LOADERS_MAX + 10; i++) {
        char name[32];

        snprintf(name, sizeof name, "com/acme/L%u", i);
        note(LOADER_DATA(i + 1), name);
        if (i < VM_LOADERS_MAX - 2)
            cr_assert_str_eq(class_of(LOADER_DATA(i + 1)), name);
        else
            cr_assert(eq(u32, vm_loader_find(LOADER_DATA(i + 1)), VM_LOADER_UNKNOWN));
    }
}

Test(vm_loader, long_names_are_cut_and_stay_one_kind)
{
    char name[600];

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    note(LOADER_DATA(1), name);
    note(LOADER_DATA(2), name);
    cr_assert(eq(u32, vm_loader_find(LOADER_DATA(1)), vm_loader_find(LOADER_DATA(2))));
    cr_assert(eq(sz, strlen(class_of(LOADER_DATA(1))), sizeof text.class_name - 1));
}

Test(vm_loader, unreadable_classes_and_absurd_addresses_are_left_out)
{
    vm_loader_note(0, "com/acme/Loader");
    vm_loader_note(0x10, "com/acme/Loader");
    note(UINT64_MAX, "com/acme/Loader");
    cr_assert(eq(u32, vm_loader_find(UINT64_MAX), VM_LOADER_UNKNOWN));
    note(0, "com/acme/Loader");
    cr_assert(eq(u32, vm_loader_find(0), VM_LOADER_UNKNOWN));
}

#define NOTERS 3
#define NOTES  4000

static void *note_many(void *argument)
{
    const uint32_t first = (uint32_t)(uintptr_t)argument * NOTES;
    static _Thread_local unsigned char klass[OBJECT_BYTES];

    for (uint32_t i = 0; i < NOTES; i++) {
        set(klass, "Klass", "_class_loader_data", LOADER_DATA(first + i + 1), 8);
        vm_loader_note((vm_addr)klass, i % 2 == 0 ? "com/acme/Even" : "com/acme/Odd");
    }
    return NULL;
}

Test(vm_loader, threads_that_note_at_once_do_not_mix_up_names)
{
    pthread_t threads[NOTERS];

    for (uintptr_t i = 0; i < NOTERS; i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, note_many, (void *)i), 0));
    for (int round = 0; round < 20; round++)
        for (uint32_t i = 0; i < NOTERS * NOTES; i += 7) {
            const uint32_t loader = vm_loader_find(LOADER_DATA(i + 1));

            if (loader != VM_LOADER_UNKNOWN)
                cr_assert_str_eq(class_of(LOADER_DATA(i + 1)),
                                 i % 2 == 0 ? "com/acme/Even" : "com/acme/Odd");
        }
    for (size_t i = 0; i < NOTERS; i++)
        pthread_join(threads[i], NULL);
}
