/* What a pc in the code cache belongs to, by segment maps of three JDKs and by broken ones. */
#include "unit/vm/fake_memory.h"

#include <criterion/new/assert.h>
#include <sys/mman.h>

#include "vm/vm_code.h"

TestSuite(vm_code, .timeout = 1800);

static enum vm_place place_at(uintptr_t pc)
{
    struct vm_blob blob;

    return vm_code_find(pc, &blob) ? blob.place : VM_PLACE_LIMIT;
}

TEST_EACH_JDK(vm_code, each_kind_of_blob_is_told_by_its_name, "A")
{
    static const struct {
        const char *name;
        enum vm_place place;
    } known[] = {
        {"nmethod", VM_PLACE_NMETHOD},
        {"native nmethod", VM_PLACE_NATIVE_WRAPPER},
        {"Interpreter", VM_PLACE_INTERPRETER},
        {"I2C/C2I adapters", VM_PLACE_ADAPTER},
        {"I2C/C2I adapters(0xbbba)", VM_PLACE_ADAPTER},
        {"vtable chunks", VM_PLACE_VTABLE_STUB},
        {"StubRoutines (1)", VM_PLACE_STUB},
        {"StubRoutines (final stubs)", VM_PLACE_STUB},
        {"_new_instance_Java", VM_PLACE_RUNTIME_STUB},
        {"C1 Runtime new_instance_blob", VM_PLACE_RUNTIME_STUB},
        {"nmethods", VM_PLACE_RUNTIME_STUB},
        {"", VM_PLACE_RUNTIME_STUB},
    };

    for (unsigned i = 0; i < JW_COUNT_OF(known); i++) {
        const uintptr_t blob = put_blob(i * 8, 6, known[i].name, 11);

        cr_assert(eq(int, (int)place_at(blob + BLOB_CODE_OFFSET + 40), (int)known[i].place), "%s",
                  known[i].name);
    }
    for (unsigned i = 0; i < JW_COUNT_OF(known); i++) /* between them nothing is used */
        cr_assert(eq(int, (int)place_at((uintptr_t)fake.heap + (i * 8 + 6) * segment_bytes()),
                     (int)VM_PLACE_LIMIT));
}

TEST_EACH_JDK(vm_code, the_bounds_and_the_frame_of_a_blob_are_read, "A")
{
    static const int completes[] = {11, 0, -1};

    for (unsigned i = 0; i < JW_COUNT_OF(completes); i++) {
        const uintptr_t begin = put_blob(i * 4, 4, "nmethod", completes[i]);
        const uintptr_t end = (uintptr_t)fake.heap + (i * 4 + 4) * segment_bytes();
        struct vm_blob blob;

        for (uintptr_t pc = begin; pc < end; pc++) {
            cr_assert(vm_code_find(pc, &blob));
            cr_assert(blob.blob == begin);
            cr_assert(blob.code_begin == begin + BLOB_CODE_OFFSET);
            cr_assert(blob.code_end == end);
            cr_assert(eq(i32, blob.frame_complete_offset, completes[i]));
            cr_assert(eq(i32, blob.frame_size_words, 6));
        }
        /* The header of the block before the blob is no code of it. */
        for (uintptr_t pc = begin - size_of("HeapBlock"); pc < begin; pc++)
            cr_assert(not(vm_code_find(pc, &blob)));
    }
}

/* Long blobs need more than one hop: a byte of the map reaches back 254 segments at most. */
TEST_EACH_JDK(vm_code, the_start_of_a_long_blob_is_hopped_to, "A")
{
    const unsigned longest = SEGMENTS * 128 / (unsigned)segment_bytes() / 2;
    const uintptr_t begin = put_blob(0, longest < SEGMENTS ? longest : SEGMENTS, "nmethod", 0);

    for (size_t segment = 1; segment < SEGMENTS - 1; segment++) {
        struct vm_blob blob;
        const uintptr_t pc = (uintptr_t)fake.heap + segment * segment_bytes();

        if (segment < longest) {
            cr_assert(vm_code_find(pc, &blob));
            cr_assert(blob.blob == begin);
        }
    }
}

TEST_EACH_JDK(vm_code, free_blocks_and_segments_hold_nothing, "A")
{
    const uintptr_t blob = put_blob(0, 4, "nmethod", 0);
    const uintptr_t pc = blob + BLOB_CODE_OFFSET;

    cr_assert(eq(int, (int)place_at(pc), (int)VM_PLACE_NMETHOD));
    set(fake.heap, "HeapBlock::Header", "_used", 0, 1);
    cr_assert(eq(int, (int)place_at(pc), (int)VM_PLACE_LIMIT));
    set(fake.heap, "HeapBlock::Header", "_used", 1, 1);
    memset(fake.segmap, 0xff, sizeof fake.segmap);
    cr_assert(eq(int, (int)place_at(pc), (int)VM_PLACE_LIMIT));
}

TEST_EACH_JDK(vm_code, nothing_lies_outside_the_code_cache, "A")
{
    struct vm_blob blob;
    const uintptr_t low = (uintptr_t)fake.heap, high = low + HEAP_SPACE_BYTES;

    memset(fake.segmap, 0, sizeof fake.segmap);
    cr_assert(not(vm_code_find(low - 1, &blob)));
    cr_assert(not(vm_code_find(high, &blob)));
    cr_assert(not(vm_code_find(0, &blob)));
    cr_assert(not(vm_code_find(UINTPTR_MAX, &blob)));
    /* Reserved, but not committed yet: the high end of the heap came down. */
    set_pointer(fake.code_heap + offset_of("CodeHeap", "_memory"), "VirtualSpace", "_high",
                fake.heap + 4096);
    put_blob(0, 8, "nmethod", 0);
    cr_assert(vm_code_find(low + 256, &blob));
    cr_assert(vm_code_contains(low + 8192));
    cr_assert(not(vm_code_find(low + 8192, &blob)));
}

/* Each look hops as far as the map goes; all looks of a walk together do not. */
TEST_EACH_JDK(vm_code, a_walk_hops_no_more_often_than_it_may, "A")
{
    const uintptr_t begin = put_blob(0, SEGMENTS / 2, "nmethod", 0);
    const uintptr_t pc = (uintptr_t)fake.heap + (SEGMENTS / 2 - 1) * segment_bytes();
    struct vm_code_map map;
    struct vm_code_ref ref;
    uint32_t hops_left = 3 * SEGMENTS / 2;

    memset(fake.segmap + 1, 1, SEGMENTS / 2 - 1);
    vm_code_map_read(&map);
    for (int i = 0; i < 100; i++)
        cr_assert(vm_code_map_find(&map, pc, &ref));
    map.hops_left = &hops_left;
    for (int i = 0; i < 3; i++) {
        cr_assert(vm_code_map_find(&map, pc, &ref), "look %d", i);
        cr_assert(ref.blob == begin);
    }
    cr_assert(not(vm_code_map_find(&map, pc, &ref)));
    cr_assert(eq(u32, hops_left, 0));
    cr_assert(not(vm_code_map_find(&map, pc, &ref)));
    cr_assert(eq(u32, hops_left, 0));
}

/* A map that changes under the reader may send him anywhere: never out of it, and not for ever. */
TEST_EACH_JDK(vm_code, a_broken_map_ends_the_search, "A")
{
    struct vm_blob blob;

    for (unsigned hop = 1; hop <= 0xff; hop++) {
        memset(fake.segmap, (int)hop, sizeof fake.segmap);
        for (size_t segment = 0; segment < SEGMENTS; segment++)
            cr_assert(not(vm_code_find((uintptr_t)fake.heap + segment * segment_bytes(), &blob)));
    }
    set(fake.code_heap + offset_of("CodeHeap", "_segmap"), "VirtualSpace", "_low", 0x10, 8);
    cr_assert(not(vm_code_find((uintptr_t)fake.heap + 512, &blob)));
}

TEST_EACH_JDK(vm_code, a_name_that_cannot_be_read_hides_the_blob, "A")
{
    const uintptr_t begin = put_blob(0, 4, "nmethod", 0);
    struct vm_blob blob;

    set((void *)begin, "CodeBlob", "_name", 0x10, 8);
    cr_assert(not(vm_code_find(begin + BLOB_CODE_OFFSET, &blob)));
    set((void *)begin, "CodeBlob", "_name", UINT64_MAX, 8);
    cr_assert(not(vm_code_find(begin + BLOB_CODE_OFFSET, &blob)));
}

/* More of it is read than there may be. */
TEST_EACH_JDK(vm_code, a_name_may_end_where_memory_does, "A")
{
    static const char *const names[] = {"nmethod", "native nmethod", "x"};
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct vm_blob blob;

    cr_assert(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0);
    for (int i = 0; i < 3; i++) {
        const uintptr_t at = put_blob(0, 4, "-", 0);
        char *name = pages + 4096 - strlen(names[i]) - 1;

        strcpy(name, names[i]);
        set_pointer((void *)at, "CodeBlob", "_name", name);
        cr_assert(vm_code_find(at + BLOB_CODE_OFFSET, &blob), "%s", names[i]);
        cr_assert(eq(int, (int)blob.place,
                     (int)(i == 0   ? VM_PLACE_NMETHOD
                           : i == 1 ? VM_PLACE_NATIVE_WRAPPER
                                    : VM_PLACE_RUNTIME_STUB)));
    }
    munmap(pages, 8192);
}

TEST_EACH_JDK(vm_code, any_word_of_heap_and_blob_may_be_wrong, "A")
{
    const uint64_t values[] = {
        0,
        1,
        0x10,
        0xff,
        0xffff,
        0x7fffffff,
        0x80000000,
        UINT64_MAX,
        INT64_MAX,
        0x4141414141414141,
        (uint64_t)(uintptr_t)&fake,
    };
    const struct {
        unsigned char *bytes;
        size_t length_bytes;
    } parts[] = {
        {fake.code_heap, sizeof fake.code_heap},
        {fake.segmap, 16},
        {fake.heap, 256},
    };
    const uintptr_t begin = put_blob(0, 4, "nmethod", 7);
    struct vm_blob blob;

    for (size_t part = 0; part < JW_COUNT_OF(parts); part++) {
        for (size_t at = 0; at + 8 <= parts[part].length_bytes; at += 2) {
            for (size_t i = 0; i < JW_COUNT_OF(values) * 2; i++) {
                uint64_t before;

                memcpy(&before, parts[part].bytes + at, 8);
                memcpy(parts[part].bytes + at, &values[i / 2], i % 2 == 0 ? 8 : 2);
                for (uintptr_t pc = begin; pc < begin + 200; pc += 60) {
                    if (!vm_code_find(pc, &blob))
                        continue;
                    cr_assert(blob.blob <= pc && blob.blob <= blob.code_begin &&
                              blob.code_begin <= blob.code_end);
                    cr_assert(lt(int, (int)blob.place, (int)VM_PLACE_LIMIT));
                }
                memcpy(parts[part].bytes + at, &before, 8);
            }
        }
    }
    cr_assert(vm_code_find(begin + BLOB_CODE_OFFSET, &blob));
}

Test(vm_code, each_place_has_a_text_of_its_own)
{
    for (int place = 0; place < VM_PLACE_LIMIT; place++) {
        cr_assert(ge(sz, strlen(vm_place_text((enum vm_place)place)), 1));
        for (int other = 0; other < place; other++)
            cr_assert_str_neq(vm_place_text((enum vm_place)place),
                              vm_place_text((enum vm_place)other));
    }
    cr_assert_str_eq(vm_place_text(VM_PLACE_LIMIT), "unknown");
}
