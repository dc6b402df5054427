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

#define NAME_BYTES sizeof((struct vm_loader_text *)0)->class_name

/* The word is looked for so far behind the last one that the JVM tells of, in the data of so many loaders. It is the
 * next one in JDK 11 and 17, the one after that in 21 to 26. */
#define WORDS_TRIED_MAX 4
#define DATA_TRIED_MAX  4096

/* Of that word in a ClassLoaderData; 0: not found. Relaxed: an offset that never changes once it is known. */
static _Atomic int32_t loader_class_offset;

/* Relaxed: a word is whole in itself, and ClassPrepare comes before any code of the class. */
static _Atomic uint64_t slots[SLOT_COUNT];

enum { KIND_FREE, KIND_FILLING, KIND_READY };
static struct {
    _Atomic uint32_t state;
    uint32_t hash;
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

/* The number of loaders of the class of this name, given on first sight; one that is too long is cut. Two threads may
 * give one class two numbers; both then say the same. */
static JW_SIGNAL_SAFE uint32_t number_of(const char *name, size_t name_bytes)
{
    const size_t kept_bytes = name_bytes < NAME_BYTES ? name_bytes : NAME_BYTES - 1;
    const uint32_t hash = jw_hash32(name, kept_bytes);

    if (kept_bytes == 0)
        return VM_LOADER_UNKNOWN;
    for (uint32_t i = VM_LOADER_BOOTSTRAP + 1; i < VM_LOADERS_MAX; i++) {
        /* order LOADER_KIND: acquires the name of a loader class given before. */
        uint32_t state = jw_load_acquire(&kinds[i].state);

        if (state == KIND_FREE && jw_cas_relaxed(&kinds[i].state, &state, KIND_FILLING)) {
            memcpy(kinds[i].class_name, name, kept_bytes);
            kinds[i].class_name[kept_bytes] = '\0';
            kinds[i].hash = hash;
            /* order LOADER_KIND: releases the name. */
            jw_store_release(&kinds[i].state, KIND_READY);
            return i;
        }
        if (state == KIND_READY && kinds[i].hash == hash &&
            memcmp(kinds[i].class_name, name, kept_bytes) == 0 &&
            kinds[i].class_name[kept_bytes] == '\0')
            return i;
    }
    return VM_LOADER_UNKNOWN;
}

/* Reads the name of a class; its length before the cut, 0 when it cannot be read. */
static JW_SIGNAL_SAFE size_t read_name(vm_addr klass, char *name)
{
    uint64_t symbol, length;

    if (!vm_is_plausible(klass) || !vm_load_field(klass, vm_layout.klass_name, &symbol) ||
        !vm_load_field(symbol, vm_layout.symbol_length, &length) ||
        !safe_load_bytes(name, symbol + (vm_addr)vm_layout.symbol_body.offset,
                         length < NAME_BYTES ? (size_t)length : NAME_BYTES - 1))
        return 0;
    return (size_t)length;
}

static bool is_built_in(vm_addr klass)
{
    static const char app[] = "jdk/internal/loader/ClassLoaders$AppClassLoader";
    static const char platform[] = "jdk/internal/loader/ClassLoaders$PlatformClassLoader";
    char name[NAME_BYTES];
    const size_t name_bytes = read_name(klass, name);

    return (name_bytes == sizeof app - 1 && memcmp(name, app, name_bytes) == 0) ||
           (name_bytes == sizeof platform - 1 && memcmp(name, platform, name_bytes) == 0);
}

/*
 * Whether the word so far into a ClassLoaderData is the class of its loader: that of the bootstrap loader has none, that
 * of another one a class with a name, and among the latter are the two built-in ones. What is unloaded meanwhile
 * makes this false, at worst, and then it is tried again.
 */
static bool is_loader_class(vm_addr head, struct vm_field next, struct vm_field word)
{
    uint32_t none = 0, built_in = 0;
    vm_addr data = head;

    for (uint32_t i = 0; data != 0 && i < DATA_TRIED_MAX; i++) {
        char name[NAME_BYTES];
        uint64_t klass, following;

        if (!vm_load_field(data, word, &klass) || !vm_load_field(data, next, &following) ||
            (klass != 0 && read_name(klass, name) == 0))
            return false;
        none += klass == 0;
        built_in += klass != 0 && is_built_in(klass);
        data = following;
    }
    return built_in > 0 && (none > 0 || data != 0);
}

void vm_loader_open(void)
{
    const uintptr_t holder = vm_structs_static("ClassLoaderDataGraph", "_head");
    const struct vm_field next = vm_structs_field("ClassLoaderData", "_next");
    uintptr_t head;

    if (vm_loader_tells() || holder == 0 || !vm_has(next) || !safe_load_word(holder, &head))
        return;
    for (int32_t words = 1; words <= WORDS_TRIED_MAX; words++) {
        const struct vm_field word = {next.offset + words * (int32_t)sizeof(void *),
                                      sizeof(void *)};

        if (is_loader_class(head, next, word)) {
            jw_store_relaxed(&loader_class_offset, word.offset);
            return;
        }
    }
}

bool vm_loader_tells(void)
{
    return jw_load_relaxed(&loader_class_offset) != 0;
}

void vm_loader_note(vm_addr klass, const char *class_name)
{
    uint64_t loader_data;

    if (!vm_load_field(klass, vm_layout.klass_loader_data, &loader_data) || loader_data >> 48 != 0)
        return;

    const uint32_t loader =
        class_name == NULL ? VM_LOADER_BOOTSTRAP : number_of(class_name, strlen(class_name));
    const uint64_t wanted = pack(loader_data, loader);
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

static JW_SIGNAL_SAFE uint32_t find_noted(vm_addr loader_data, bool *is_noted)
{
    for (uint32_t way = 0; way < SLOT_WAYS; way++) {
        const uint64_t found = jw_load_relaxed(slot_of(loader_data, way));

        *is_noted = found != 0 && found >> NUMBER_BITS == loader_data >> 3;
        if (*is_noted)
            return (uint32_t)found & NUMBER_MASK;
    }
    return VM_LOADER_UNKNOWN;
}

bool vm_loader_is_noted(vm_addr klass)
{
    uint64_t loader_data;
    bool is_noted = false;

    if (vm_load_field(klass, vm_layout.klass_loader_data, &loader_data))
        (void)find_noted(loader_data, &is_noted);
    return is_noted;
}

static JW_SIGNAL_SAFE uint32_t read_loader(vm_addr loader_data, int32_t offset)
{
    const struct vm_field word = {offset, sizeof(void *)};
    char name[NAME_BYTES];
    uint64_t klass;

    if (!vm_load_field(loader_data, word, &klass))
        return VM_LOADER_UNKNOWN;
    return klass == 0 ? VM_LOADER_BOOTSTRAP : number_of(name, read_name(klass, name));
}

uint32_t vm_loader_find(vm_addr loader_data)
{
    const int32_t offset = jw_load_relaxed(&loader_class_offset);
    bool is_noted;

    if (loader_data == 0 || loader_data >> 48 != 0)
        return VM_LOADER_UNKNOWN;
    return offset != 0 ? read_loader(loader_data, offset) : find_noted(loader_data, &is_noted);
}

uint32_t vm_loader_of(vm_addr klass)
{
    uint64_t loader_data;

    return vm_load_field(klass, vm_layout.klass_loader_data, &loader_data)
               ? vm_loader_find(loader_data)
               : VM_LOADER_UNKNOWN;
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
