/* Generated stubs by address: appended by hooks, sorted by the dump thread, found by handlers. */
#include "vm/vm_stub.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/counters.h"

/* So many stubs that end before a pc are looked at to find one around them that holds it. */
#define ENCLOSED_MAX 8

struct sorted {
    const struct sorted *older; /* a handler may still be in it: kept, and kept in sight */
    uint32_t count;             /* stubs sorted here */
    uint32_t covered;           /* stubs[0, covered) are in it */
    uint32_t indexes[];         /* of stubs, by begin */
};

static struct vm_stub stubs[VM_STUBS_MAX];
static _Atomic uint32_t ready[VM_STUBS_MAX];
static _Atomic uint32_t reserved; /* relaxed: hands out numbers; `ready` publishes */
static struct sorted *_Atomic sorted;

static bool is_lookup(const char *name)
{
    return strncmp(name, "vtable", 6) == 0 || strncmp(name, "itable", 6) == 0;
}

static enum vm_stub_kind kind_of(const char *name)
{
    if (is_lookup(name) || strstr(name, "MethodHandle") != NULL)
        return VM_STUB_VTABLE;
    if (strstr(name, "I2C") != NULL || strstr(name, "C2I") != NULL)
        return VM_STUB_ADAPTER;
    if (strstr(name, "returnBarrier") != NULL || strstr(name, "return barrier") != NULL)
        return VM_STUB_BARRIER;
    if (strstr(name, "cont_thaw") != NULL || strstr(name, "Cont thaw") != NULL)
        return VM_STUB_THAW;
    return strcmp(name, "Interpreter") == 0 ? VM_STUB_INTERPRETER : VM_STUB_GENERATED;
}

/* Without where it lies, and what an adapter is for. Source: OpenJDK 8, AdapterBlob of sharedRuntime.cpp. */
static size_t name_bytes(const char *name, size_t room_bytes)
{
    const size_t length_bytes = strnlen(name, room_bytes - 1);

    for (size_t i = 0; i + 3 <= length_bytes; i++)
        if ((name[i] == '(' || name[i] == '@') && strncmp(name + i + 1, "0x", 2) == 0)
            return i;
    return length_bytes;
}

void vm_stub_report(const char *name, const void *address, jint length_bytes)
{
    /* Before a number is taken: one that never becomes ready would hide all later ones. */
    if (name == NULL || address == NULL || length_bytes <= 0)
        return;

    const uint32_t index = jw_add_relaxed(&reserved, 1);
    if (index >= VM_STUBS_MAX) {
        jw_store_relaxed(&reserved, VM_STUBS_MAX);
        jw_count(JW_COUNT_STUBS_FULL);
        return;
    }
    struct vm_stub *stub = &stubs[index];
    stub->begin = (uintptr_t)address;
    stub->end = stub->begin + (uintptr_t)length_bytes;
    stub->kind = kind_of(name);
    stub->has_receiver = is_lookup(name);
    stub->setup_offset = arch_stub_frame_setup_offset(stub->begin, (size_t)length_bytes);
    memcpy(stub->name, name, name_bytes(name, sizeof stub->name));
    /* order STUB: releases the stub's fields. */
    jw_store_release(&ready[index], 1);
}

static int by_begin(const void *left, const void *right)
{
    const uintptr_t a = stubs[*(const uint32_t *)left].begin;
    const uintptr_t b = stubs[*(const uint32_t *)right].begin;

    if (a != b)
        return a < b ? -1 : 1;
    /* Of two at one address the later report counts: it stands last, where the search begins. */
    return *(const uint32_t *)left < *(const uint32_t *)right ? -1 : 1;
}

void vm_stub_settle(void)
{
    uint32_t covered = 0;

    /* order STUB: acquires the stubs' fields. */
    while (covered < VM_STUBS_MAX && jw_load_acquire(&ready[covered]) != 0)
        covered++;

    /* order STUB_SORTED: this thread's own earlier publication. */
    const struct sorted *old = jw_load_acquire(&sorted);
    if (old != NULL && covered < old->covered + 16 + old->covered / 8)
        return;
    struct sorted *fresh =
        jw_alloc(sizeof *fresh + jw_mul_bytes(covered, sizeof fresh->indexes[0]));
    if (fresh == NULL)
        return;
    fresh->older = old;
    fresh->covered = covered;
    fresh->count = covered;
    for (uint32_t i = 0; i < covered; i++)
        fresh->indexes[i] = i;
    qsort(fresh->indexes, covered, sizeof fresh->indexes[0], by_begin);
    /* order STUB_SORTED: releases the sorted copy. A handler may still be in the old one, which is
     * kept: together they are some ten times the last one, a hundred kilobytes. */
    jw_store_release(&sorted, fresh);
}

static JW_SIGNAL_SAFE bool holds(const struct vm_stub *stub, uintptr_t pc)
{
    return pc >= stub->begin && pc < stub->end;
}

/* Of two stubs around a pc the inner one, and of two at one address the later one, is meant. */
static JW_SIGNAL_SAFE const struct vm_stub *inner(const struct vm_stub *known,
                                                  const struct vm_stub *later)
{
    return known == NULL || later->begin >= known->begin ? later : known;
}

const struct vm_stub *vm_stub_find(uintptr_t pc)
{
    /* order STUB_SORTED: acquires the sorted copy. */
    const struct sorted *index = jw_load_acquire(&sorted);
    const struct vm_stub *found = NULL;
    uint32_t low = 0, high = index == NULL ? 0 : index->count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (stubs[index->indexes[middle]].begin <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    /* Stubs may enclose others (a block reported whole, then its parts): look back a little. */
    for (uint32_t back = 0; back < ENCLOSED_MAX && back < low && found == NULL; back++) {
        const struct vm_stub *stub = &stubs[index->indexes[low - 1 - back]];

        if (holds(stub, pc))
            found = stub;
    }
    /* What was reported since: some sixteen, and an eighth of the others, at the most. */
    for (uint32_t i = index == NULL ? 0 : index->covered; i < VM_STUBS_MAX; i++) {
        /* order STUB: acquires the stub's fields. */
        if (jw_load_acquire(&ready[i]) == 0)
            break;
        if (holds(&stubs[i], pc))
            found = inner(found, &stubs[i]);
    }
    return found;
}
