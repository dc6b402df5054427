/* Numbers for kinds of class loaders; noted by hooks, found by handlers. */
#include "vm/vm_loader.h"

#include <string.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/hash.h"
#include "vm/vm_internal.h"

/* A slot holds the address of a ClassLoaderData (8-byte aligned, 48 bits) and a loader number. */
#define SLOT_COUNT  65536u
#define SLOT_WAYS   8u
#define NUMBER_BITS 19
#define NUMBER_MASK ((1u << NUMBER_BITS) - 1)

/* Relaxed: a word is whole in itself, and ClassPrepare comes before any code of the class. */
static _Atomic uint64_t slots[SLOT_COUNT];

enum { KIND_FREE, KIND_FILLING, KIND_READY };
static struct {
    _Atomic uint32_t state;
    char class_name[sizeof((struct vm_loader_text *)0)->class_name];
} kinds[VM_LOADERS_MAX];

static uint64_t pack(vm_addr loader_data, uint32_t loader)
{
    return loader_data >> 3 << NUMBER_BITS | loader;
}

static JW_SIGNAL_SAFE _Atomic uint64_t *slot_of(vm_addr loader_data, uint32_t way)
{
    return &slots[((uint32_t)jw_hash_word(loader_data) + way) & (SLOT_COUNT - 1)];
}

/* The number of loaders of this class, given on first sight. Two threads may give one class two
 * numbers; both then say the same. */
static uint32_t number_of(const char *class_name)
{
    if (class_name == NULL)
        return VM_LOADER_BOOTSTRAP;
    if (class_name[0] == '\0')
        return VM_LOADER_UNKNOWN;
    for (uint32_t i = VM_LOADER_BOOTSTRAP + 1; i < VM_LOADERS_MAX; i++) {
        /* order LOADER_KIND: acquires the name of a loader class given before. */
        uint32_t state = jw_load_acquire(&kinds[i].state);

        if (state == KIND_FREE && jw_cas_relaxed(&kinds[i].state, &state, KIND_FILLING)) {
            const size_t length_bytes = strnlen(class_name, sizeof kinds[i].class_name - 1);

            memcpy(kinds[i].class_name, class_name, length_bytes);
            kinds[i].class_name[length_bytes] = '\0';
            /* order LOADER_KIND: releases the name. */
            jw_store_release(&kinds[i].state, KIND_READY);
            return i;
        }
        if (state == KIND_READY &&
            strncmp(kinds[i].class_name, class_name, sizeof kinds[i].class_name - 1) == 0)
            return i;
    }
    return VM_LOADER_UNKNOWN;
}

void vm_loader_note(vm_addr klass, const char *class_name)
{
    uint64_t loader_data;

    if (!vm_load_field(klass, vm_layout.klass_loader_data, &loader_data) || loader_data >> 48 != 0)
        return;

    const uint64_t wanted = pack(loader_data, number_of(class_name));
    _Atomic uint64_t *victim = slot_of(loader_data, (uint32_t)(loader_data >> 6) % SLOT_WAYS);
    for (uint32_t way = 0; way < SLOT_WAYS; way++) {
        _Atomic uint64_t *slot = slot_of(loader_data, way);
        const uint64_t found = jw_load_relaxed(slot);

        if (found >> NUMBER_BITS == loader_data >> 3) {
            jw_store_relaxed(slot, wanted);
            return;
        }
        if (found == 0) {
            victim = slot;
            break;
        }
    }
    jw_store_relaxed(victim, wanted);
}

uint32_t vm_loader_find(vm_addr loader_data)
{
    if (loader_data == 0 || loader_data >> 48 != 0)
        return VM_LOADER_UNKNOWN;
    for (uint32_t way = 0; way < SLOT_WAYS; way++) {
        const uint64_t found = jw_load_relaxed(slot_of(loader_data, way));

        if (found >> NUMBER_BITS == loader_data >> 3)
            return (uint32_t)found & NUMBER_MASK;
    }
    return VM_LOADER_UNKNOWN;
}

/* Source: the names that the JDK's own recorder writes for its three built-in loaders. */
static const char *loader_name(const char *class_name)
{
    if (strstr(class_name, "$AppClassLoader") != NULL)
        return "app";
    if (strstr(class_name, "$PlatformClassLoader") != NULL)
        return "platform";
    return strstr(class_name, "$ExtClassLoader") != NULL ? "ext" : "";
}

bool vm_loader_describe(uint32_t loader, struct vm_loader_text *out)
{
    memset(out, 0, sizeof *out);
    if (loader == VM_LOADER_BOOTSTRAP) {
        memcpy(out->name, "bootstrap", sizeof "bootstrap");
        return true;
    }
    /* order LOADER_KIND: acquires the name. */
    if (loader >= VM_LOADERS_MAX || jw_load_acquire(&kinds[loader].state) != KIND_READY)
        return false;
    memcpy(out->class_name, kinds[loader].class_name, sizeof out->class_name);

    const char *name = loader_name(out->class_name);
    memcpy(out->name, name, strlen(name));
    return true;
}
