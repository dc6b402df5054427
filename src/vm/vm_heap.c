/* The heap's use by the structures of three collectors; control, hook. */
#include "vm/vm_heap.h"

#include "vm/vm_flags.h"
#include "vm/vm_internal.h"

#define SPACES_MAX 3

/* Constant once a session has begun. Where there are spaces the sum of them is the heap's use. */
static struct {
    vm_addr summary_addr; /* of G1; 0: it is not that */
    struct {
        vm_addr generation;
        struct vm_field
            of_generation; /* pointer to the space, of which another one may stand there later */
    } spaces[SPACES_MAX];
    uint32_t space_count;
    struct vm_field bottom, top;
} heap;

static bool is_set(const char *flag)
{
    return vm_flag_number(flag, 0) != 0;
}

static vm_addr load_static(const char *type, const char *field)
{
    const uintptr_t addr = vm_structs_static(type, field);
    uint64_t found;

    return addr != 0 && safe_load_u64(addr, &found) && vm_is_plausible(found) ? found : 0;
}

static vm_addr load_pointer(vm_addr object, struct vm_field field)
{
    uint64_t found;

    return object != 0 && vm_load_field(object, field, &found) && vm_is_plausible(found) ? found
                                                                                         : 0;
}

/* The first of two names that this JVM knows. */
static struct vm_field either(const char *type_a, const char *type_b, const char *field)
{
    const struct vm_field found = vm_structs_field(type_a, field);

    return vm_has(found) ? found : vm_structs_field(type_b, field);
}

static void add_space(vm_addr generation, struct vm_field of_generation)
{
    if (generation == 0 || !vm_has(of_generation))
        return;
    heap.spaces[heap.space_count].generation = generation;
    heap.spaces[heap.space_count++].of_generation = of_generation;
}

static void add_spaces(vm_addr young, const char *young_type, vm_addr old,
                       struct vm_field old_space)
{
    add_space(young, vm_structs_field(young_type, "_eden_space"));
    add_space(young, vm_structs_field(young_type, "_from_space"));
    add_space(old, old_space);
    if (heap.space_count != SPACES_MAX || !vm_has(heap.bottom) || !vm_has(heap.top))
        heap.space_count = 0;
}

/* Source: OpenJDK, Universe::_collectedHeap, JDK 8 to 28. */
static vm_addr find_heap(void)
{
    return load_static("Universe", "_collectedHeap");
}

/* Source: OpenJDK, vmStructs_parallelgc.hpp: of the class up to JDK 26 or so, later of the heap. */
static vm_addr generation_of_parallel(const char *field)
{
    const vm_addr found = load_static("ParallelScavengeHeap", field);

    return found != 0 ? found
                      : load_pointer(find_heap(), vm_structs_field("ParallelScavengeHeap", field));
}

static void open_parallel(void)
{
    heap.bottom = either("MutableSpace", "ImmutableSpace", "_bottom");
    heap.top = vm_structs_field("MutableSpace", "_top");
    add_spaces(generation_of_parallel("_young_gen"), "PSYoungGen",
               generation_of_parallel("_old_gen"), vm_structs_field("PSOldGen", "_object_space"));
}

/* Source: OpenJDK, vmStructs_serial.hpp and vmStructs_gc.hpp, JDK 11 to 28; JDK 8 has an array of generations. */
static void open_serial(void)
{
    const vm_addr of = find_heap();
    const struct vm_field array = vm_structs_field("GenCollectedHeap", "_gens");
    const struct vm_field young = either("SerialHeap", "GenCollectedHeap", "_young_gen");
    const struct vm_field old = either("SerialHeap", "GenCollectedHeap", "_old_gen");
    const struct vm_field first = vm_has(young) ? young : (struct vm_field){array.offset, 8};
    const struct vm_field second =
        vm_has(old) || !vm_has(array)
            ? old
            : (struct vm_field){array.offset + (int32_t)sizeof(void *), 8};

    heap.bottom = either("ContiguousSpace", "Space", "_bottom");
    heap.top = vm_structs_field("ContiguousSpace", "_top");
    add_spaces(load_pointer(of, first), "DefNewGeneration", load_pointer(of, second),
               either("TenuredGeneration", "OneContigSpaceCardGeneration", "_the_space"));
}

/* Source: OpenJDK, vmStructs_g1.hpp, JDK 8 to 28. */
static void open_g1(void)
{
    const struct vm_field summary = vm_structs_field("G1CollectedHeap", "_summary_bytes_used");
    const vm_addr of = find_heap();

    if (of != 0 && vm_has(summary))
        heap.summary_addr = of + (vm_addr)summary.offset;
}

void vm_heap_open(void)
{
    if (heap.summary_addr != 0 || heap.space_count != 0)
        return;
    if (is_set("UseG1GC"))
        open_g1();
    else if (is_set("UseParallelGC"))
        open_parallel();
    else if (is_set("UseSerialGC"))
        open_serial();
}

static bool add_use(vm_addr generation, struct vm_field of_generation, uint64_t *bytes)
{
    const vm_addr space = load_pointer(generation, of_generation);
    uint64_t bottom, top;

    if (space == 0 || !vm_load_field(space, heap.bottom, &bottom) ||
        !vm_load_field(space, heap.top, &top) || top < bottom)
        return false;
    *bytes += top - bottom;
    return true;
}

bool vm_heap_used(uint64_t *bytes)
{
    *bytes = 0;
    if (heap.summary_addr != 0)
        return safe_load_u64(heap.summary_addr, bytes);
    for (uint32_t i = 0; i < heap.space_count; i++)
        if (!add_use(heap.spaces[i].generation, heap.spaces[i].of_generation, bytes))
            return false;
    return heap.space_count != 0;
}
