/* What a recording asks of the JVM's own tables: flags, heap, collections, counts of threads and classes; dump. Nothing
 * here calls the JVM: it would have to wait while all threads stand still. */
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/collections.h"
#include "arch/arch.h"
#include "base/secrets.h"
#include "recording/recording.h"
#include "vm/vm_flags.h"
#include "vm/vm_perfdata.h"

#define ARGUMENT_BYTES (VM_FLAG_NAME_BYTES + VM_FLAG_TEXT_BYTES + 4)

/* Found by the first session. Addresses of counters; 0: this JVM has none of that name. */
static struct {
    bool is_known;
    vm_addr threads, daemon_threads, started_threads, peak_threads;
    vm_addr loaded, shared_loaded, unloaded, shared_unloaded;
    vm_addr meta_used, meta_committed, meta_reserved;
    vm_addr class_used, class_committed, class_reserved;
} counters;

static struct recording_heap heap;
static uint64_t heap_max_bytes;
static bool are_flags_told;

/* Collectors by the flag that chooses them: what recordings of the JDK call them, and what each way of collecting is. */
static const struct collector {
    const char *flag;
    const char *young, *old;
    const char *ways[3];
} collectors[] = {
    {"UseG1GC", "G1New", "G1Old", {"G1New", "G1Full", "G1Old"}},
    {"UseParallelGC", "ParallelScavenge", "ParallelOld", {"ParallelScavenge", "ParallelOld", NULL}},
    {"UseZGC", "N/A", "Z", {"Z", "Z", "Z"}},
    {"UseShenandoahGC", "N/A", "Shenandoah", {"Shenandoah", "Shenandoah", "Shenandoah"}},
    {"UseConcMarkSweepGC",
     "ParNew",
     "ConcurrentMarkSweep",
     {"ParNew", "SerialOld", "ConcurrentMarkSweep"}},
    {"UseSerialGC", "DefNew", "SerialOld", {"DefNew", "SerialOld", NULL}},
};
static const struct collector *collector; /* NULL: none of these */

static vm_addr number_of(const char *name)
{
    return vm_perfdata_find(name, VM_PERFDATA_NUMBER);
}

static void find_counters(void)
{
    counters.threads = number_of("java.threads.live");
    counters.daemon_threads = number_of("java.threads.daemon");
    counters.started_threads = number_of("java.threads.started");
    counters.peak_threads = number_of("java.threads.livePeak");
    counters.loaded = number_of("java.cls.loadedClasses");
    counters.shared_loaded = number_of("java.cls.sharedLoadedClasses");
    counters.unloaded = number_of("java.cls.unloadedClasses");
    counters.shared_unloaded = number_of("java.cls.sharedUnloadedClasses");
    counters.meta_used = number_of("sun.gc.metaspace.used");
    counters.meta_committed = number_of("sun.gc.metaspace.capacity");
    counters.meta_reserved = number_of("sun.gc.metaspace.maxCapacity");
    counters.class_used = number_of("sun.gc.compressedclassspace.used");
    counters.class_committed = number_of("sun.gc.compressedclassspace.capacity");
    counters.class_reserved = number_of("sun.gc.compressedclassspace.maxCapacity");
}

static bool is_set(const char *flag)
{
    return vm_flag_number(flag, 0) != 0;
}

static const struct collector *find_collector(void)
{
    for (size_t i = 0; i < JW_COUNT_OF(collectors); i++)
        if (is_set(collectors[i].flag))
            return &collectors[i];
    return NULL;
}

static int64_t pause_target_ms(void)
{
    struct vm_flag flag;

    return vm_flag_find("MaxGCPauseMillis", &flag) && strcmp(flag.origin, "Default") != 0
               ? (int64_t)flag.bits
               : INT64_MIN;
}

/* Source: what jdk.GCConfiguration and jdk.GCHeapConfiguration of JDK 17 and 25 tell, and the flags of these names. */
static void find_heap(void)
{
    static char mode[64];
    char *told = NULL;

    collector = find_collector();
    heap = (struct recording_heap){
        .young_collector = collector == NULL ? NULL : collector->young,
        .old_collector = collector == NULL ? NULL : collector->old,
        .parallel_threads = (uint32_t)vm_flag_number("ParallelGCThreads", 0),
        .concurrent_threads = (uint32_t)vm_flag_number("ConcGCThreads", 0),
        .has_dynamic_threads = is_set("UseDynamicNumberOfGCThreads"),
        .is_explicit_concurrent = is_set("ExplicitGCInvokesConcurrent"),
        .is_explicit_disabled = is_set("DisableExplicitGC"),
        .pause_target_ms = pause_target_ms(),
        .time_ratio = (uint32_t)vm_flag_number("GCTimeRatio", 0),
        .min_bytes = vm_flag_number("MinHeapSize", 0),
        .max_bytes = vm_flag_number("MaxHeapSize", 0),
        .initial_bytes = vm_flag_number("InitialHeapSize", 0),
        .alignment_bytes = vm_flag_number("ObjectAlignmentInBytes", 8),
        .is_compressed = is_set("UseCompressedOops"),
        .address_bits = is_set("UseCompressedOops") ? 32 : 64,
    };
    if ((*agent.jvmti)->GetSystemProperty(agent.jvmti, "java.vm.compressedOopsMode", &told) ==
        JVMTI_ERROR_NONE) {
        snprintf(mode, sizeof mode, "%s", told);
        heap.compressed_mode = mode;
        (*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)told);
    }
    heap_max_bytes = heap.max_bytes;
}

void jvmfacts_collect(const struct options *options)
{
    are_flags_told = !options->is_without_arguments;
    if (!counters.is_known) {
        counters.is_known = true;
        find_counters();
        find_heap();
    }
    collections_open();
}

static const char *masked_text(const struct vm_flag *flag)
{
    static char masked[2 * ARGUMENT_BYTES];
    char argument[ARGUMENT_BYTES];

    if (!flag->has_text)
        return NULL;
    const int length = snprintf(argument, sizeof argument, "-D%s=%s", flag->name, flag->text);
    (void)jw_mask_arguments(argument, (size_t)length, masked, sizeof masked);
    return masked + strlen("-D") + strlen(flag->name) + 1;
}

static bool ask_flag(void *context, uint32_t number, struct recording_flag *out)
{
    static const enum recording_flag_kind kinds[] = {
        [VM_FLAG_UNTOLD] = RECORDING_FLAG_UNTOLD, [VM_FLAG_BOOL] = RECORDING_FLAG_BOOLEAN,
        [VM_FLAG_INT] = RECORDING_FLAG_INT,       [VM_FLAG_UINT] = RECORDING_FLAG_UINT,
        [VM_FLAG_LONG] = RECORDING_FLAG_LONG,     [VM_FLAG_ULONG] = RECORDING_FLAG_ULONG,
        [VM_FLAG_DOUBLE] = RECORDING_FLAG_DOUBLE, [VM_FLAG_TEXT] = RECORDING_FLAG_TEXT,
    };
    static struct vm_flag flag;

    (void)context;
    if (!are_flags_told || !vm_flag_at(number, &flag))
        return false;
    *out = (struct recording_flag){
        .kind = kinds[flag.kind],
        .name = flag.name,
        .number = flag.bits,
        .text = flag.kind == VM_FLAG_TEXT ? masked_text(&flag) : NULL,
        .origin = flag.origin,
    };
    return true;
}

static bool ask_heap(void *context, struct recording_heap *out)
{
    (void)context;
    *out = heap;
    return collector != NULL;
}

/* 0 where the JVM has no such counter. */
static uint64_t count_at(vm_addr addr)
{
    uint64_t count;

    return addr != 0 && safe_load_u64(addr, &count) ? count : 0;
}

static bool ask_counts(void *context, struct recording_jvm_counts *out)
{
    (void)context;
    *out = (struct recording_jvm_counts){
        .threads = count_at(counters.threads),
        .daemon_threads = count_at(counters.daemon_threads),
        .started_threads = count_at(counters.started_threads),
        .peak_threads = count_at(counters.peak_threads),
        .loaded_classes = count_at(counters.loaded) + count_at(counters.shared_loaded),
        .unloaded_classes = count_at(counters.unloaded) + count_at(counters.shared_unloaded),
    };
    return out->threads != 0 && out->loaded_classes != 0;
}

static bool ask_metaspace(void *context, struct recording_metaspace *out)
{
    (void)context;
    *out = (struct recording_metaspace){
        .used_bytes = count_at(counters.meta_used),
        .committed_bytes = count_at(counters.meta_committed),
        .reserved_bytes = count_at(counters.meta_reserved),
        .class_used_bytes = count_at(counters.class_used),
        .class_committed_bytes = count_at(counters.class_committed),
        .class_reserved_bytes = count_at(counters.class_reserved),
    };
    return out->used_bytes != 0;
}

/* Of a collector without generations no collection is young or old. */
static enum recording_collection_kind kind_of(const char *name)
{
    if (name == NULL || strcmp(collector->young, "N/A") == 0)
        return RECORDING_COLLECTION_ANY;
    return strcmp(name, collector->young) == 0 ? RECORDING_COLLECTION_YOUNG
                                               : RECORDING_COLLECTION_OLD;
}

static bool ask_collection(void *context, struct recording_collection *out)
{
    static struct collection collection;

    (void)context;
    if (!collections_take(&collection))
        return false;
    *out = (struct recording_collection){
        .number = collection.number,
        .begin_ns = collection.begin_ns,
        .end_ns = collection.end_ns,
        .cause = collection.cause[0] == '\0' ? NULL : collection.cause,
        .used_bytes = collection.used_bytes,
        .committed_bytes = collection.committed_bytes,
        .used_before_bytes = collection.used_before_bytes,
        .committed_before_bytes = collection.committed_before_bytes,
        .reserved_bytes = heap_max_bytes,
    };
    if (collector != NULL)
        out->name = collection.way < JW_COUNT_OF(collector->ways) ? collector->ways[collection.way]
                                                                  : collector->old;
    if (collector != NULL && collection.way < JW_COUNT_OF(collector->ways))
        out->kind = kind_of(out->name);
    return true;
}

void jvmfacts_fill(struct recording_sources *out)
{
    out->flag = ask_flag;
    out->heap = ask_heap;
    out->counts = ask_counts;
    out->metaspace = ask_metaspace;
    out->collection = ask_collection;
}
