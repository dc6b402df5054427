/* The JVM's tables: what is found in them, and what is said when something is missing. */
#include "unit/vm/fake_memory.h"

#include <criterion/new/assert.h>

#include "base/counters.h"
#include "vm/vm_code.h"
#include "vm/vm_method.h"

TestSuite(vm_open, .timeout = 1800);

static struct jw_error err;

static void refuses(const char *what)
{
    cr_assert(not(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err)));
    cr_assert(strstr(err.message, what) != NULL, "%s", err.message);
    cr_assert(not(vm_is_open()));
}

TEST_EACH_JDK(vm_open, the_layout_is_the_one_of_the_tables, "A")
{
    static const int majors[] = {8, 17, 25, 28};

    cr_assert(vm_is_open());
    cr_assert(eq(int, vm_major_version(), majors[fake_jdk]));
    cr_assert(eq(u32, vm_unsigned5_bias(), fake_jdk >= LAYOUT_25 ? 1 : 0));
    cr_assert(eq(int, vm_agct() != NULL, fake_jdk != LAYOUT_28));
    cr_assert(eq(int, vm_layout.const_code_size.offset, offset_of("ConstMethod", "_code_size")));
    cr_assert(eq(int, vm_layout.const_code_size.width, 2));
    cr_assert(eq(int, vm_layout.method_const.width, 8));
    cr_assert(eq(int, vm_layout.method_access_flags.width, fake_jdk >= LAYOUT_25 ? 2 : 4));
    cr_assert(eq(int, vm_layout.symbol_length.width, 2));
    cr_assert(eq(int, vm_layout.osthread_tid.width, 4));
    cr_assert(eq(u32, vm_layout.log2_segment, fake_jdk == LAYOUT_8 ? 6 : 7));
    cr_assert(eq(u32, vm_layout.code_heap_count, 1));
    cr_assert(eq(sz, vm_layout.heap_block_bytes, size_of("HeapBlock")));
    cr_assert(vm_code_contains((uintptr_t)fake.heap));
    cr_assert(vm_code_contains((uintptr_t)fake.heap + HEAP_SPACE_BYTES - 1));
    cr_assert(not(vm_code_contains((uintptr_t)fake.heap + HEAP_SPACE_BYTES)));
    cr_assert(not(vm_code_contains((uintptr_t)fake.heap - 1)));
}

TEST_EACH_JDK(vm_open, opening_again_changes_nothing, "A")
{
    fake_jvm->reset("99", false);
    cr_assert(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err), "%s", err.message);
    cr_assert(vm_has(vm_layout.method_const));
    cr_assert(ne(int, vm_major_version(), 99));
}

TEST_EACH_JDK(vm_open, the_tables_answer_by_type_and_name, "A")
{
    static const char target;

    fake_jvm->add_field("Some", "_static", "address", true, 4, (void *)(uintptr_t)&target);
    fake_jvm->add_field("Some", "_struct", "Unknown", false, 40, NULL);
    fake_jvm->add_long("Some::_long", INT64_C(1) << 40);
    fake_jvm->add_int("Some::_int", -6);
    cr_assert(not(vm_has(vm_structs_field("Method", "_no_such_field"))));
    cr_assert(not(vm_has(vm_structs_field("NoSuchType", "_constMethod"))));
    /* A static has an address and no offset, and the other way round. */
    cr_assert(not(vm_has(vm_structs_field("Some", "_static"))));
    cr_assert(vm_structs_static("Some", "_static") == (uintptr_t)&target);
    cr_assert(vm_structs_static("Method", "_constMethod") == 0);
    cr_assert(eq(int, vm_structs_field("Some", "_struct").offset, 40));
    cr_assert(eq(int, vm_structs_field("Some", "_struct").width, 0));
    cr_assert(eq(sz, vm_structs_size("NoSuchType"), 0));
    cr_assert(eq(i64, vm_structs_constant("Some::_long", 5), INT64_C(1) << 40));
    cr_assert(eq(i64, vm_structs_constant("Some::_int", 5), -6));
    cr_assert(eq(i64, vm_structs_constant("Some::_none", 5), 5));
}

Test(vm_open, a_library_without_tables_is_refused)
{
    cr_assert(not(vm_structs_open(dlopen(NULL, RTLD_NOW), &err)));
    cr_assert(strstr(err.message, "HotSpot") != NULL);
}

Test(vm_open, each_missing_symbol_is_noticed)
{
    static const char *const symbols[] = {
        "gHotSpotVMStructs",
        "gHotSpotVMTypes",
        "gHotSpotVMIntConstants",
        "gHotSpotVMLongConstants",
        "gHotSpotVMStructEntryArrayStride",
        "gHotSpotVMTypeEntryArrayStride",
    };
    void *library = load_fake_library();

    for (size_t i = 0; i < JW_COUNT_OF(symbols); i++) {
        uint64_t *word = dlsym(library, symbols[i]);
        const uint64_t before = *word;

        cr_assert(vm_structs_open(library, NULL));
        *word = 0;
        cr_assert(not(vm_structs_open(library, NULL)), "%s", symbols[i]);
        *word = before;
    }
}

Test(vm_open, m04_each_needed_field_that_is_missing_is_named)
{
    static const struct {
        const char *type, *field, *said;
    } needed[] = {
        {"Method", "_constMethod", "_constMethod"},
        {"ConstMethod", "_constants", "_constants"},
        {"ConstMethod", "_name_index", "_name_index"},
        {"ConstMethod", "_signature_index", "_signature_index"},
        {"ConstMethod", "_code_size", "_code_size"},
        {"ConstantPool", "_pool_holder", "_pool_holder"},
        {"Klass", "_name", "Klass::_name"},
        {"Symbol", "_length", "Symbol::_length"},
        {"Symbol", "_body", "Symbol::_body"},
        {"JavaThread", "_anchor", "_anchor"},
        {"OSThread", "_thread_id", "_thread_id"},
        {"CodeCache", "_heaps", "CodeCache::_heaps"},
        {"CodeHeap", "_memory", "CodeHeap::_memory"},
        {"CodeHeap", "_segmap", "CodeHeap::_memory"},
        {"CodeHeap", "_log2_segment_size", "_log2_segment_size"},
        {"CodeBlob", "_name", "CodeBlob::_name"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(needed); i++) {
        prepare_fake(LAYOUT_17, "A");
        fake_jvm->hide_field(needed[i].type, needed[i].field);
        jw_error_clear(&err);
        refuses(needed[i].said);
    }
}

Test(vm_open, each_needed_size_that_is_missing_is_named)
{
    static const char *const types[] = {"ConstMethod", "ConstantPool", "HeapBlock"};

    for (size_t i = 0; i < JW_COUNT_OF(types); i++) {
        prepare_fake(LAYOUT_25, "A");
        fake_jvm->hide_type(types[i]);
        jw_error_clear(&err);
        refuses(types[i]);
    }
}

Test(vm_open, m04_an_absurd_segment_size_is_refused)
{
    static const uint32_t absurd[] = {0, 17, 64, 0xffffffff};

    for (size_t i = 0; i < JW_COUNT_OF(absurd); i++) {
        prepare_fake(LAYOUT_17, "A");
        set(fake.code_heap, "CodeHeap", "_log2_segment_size", absurd[i], 4);
        jw_error_clear(&err);
        refuses("_log2_segment_size");
    }
}

Test(vm_open, unmapped_code_heaps_are_refused)
{
    prepare_fake(LAYOUT_17, "A");
    fake.heaps_static = 0x10;
    refuses("CodeCache::_heaps");
}

Test(vm_open, a_jvm_without_eetop_is_refused)
{
    prepare_fake(LAYOUT_17, "A");
    fake_jvm->reset("17", false);
    refuses("eetop");
}

Test(vm_open, m17_from_jdk_26_on_method_ids_are_numbers_that_nobody_follows)
{
    prepare_fake(LAYOUT_25, "A");
    fill_tables_as("26");
    cr_assert(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err), "%s", err.message);
    cr_assert(vm_agct() == NULL);
    cr_assert(strlen(vm_agct_reason()) > 0);

    const uint64_t faults = jw_counter(JW_COUNT_LOAD_FAULTS);
    for (uintptr_t id = 0; id < 100000; id += 8)
        cr_assert(vm_method_of_id((jmethodID)id) == 0);
    cr_assert(vm_method_of_id((jmethodID)&fake.id_slot) == 0);
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOAD_FAULTS), faults));
}
