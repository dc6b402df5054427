/* Resolves the layout of this JVM at start; control. Afterwards its answers are constants. */
#include "vm/vm.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "os/os_tasks.h"
#include "vm/vm_field_id.h"
#include "vm/vm_internal.h"
#include "vm/vm_object.h"
#include "vm/vm_safepoint.h"

#define LOG2_SEGMENT_MAX 16 /* 6 in JDK 8, 7 later */

struct vm_layout vm_layout;
static _Atomic bool is_open;
static vm_async_get_call_trace agct;
static const char *agct_reason = "not looked for yet";
static uintptr_t text_begin, text_end;
static bool
    is_env_unsound; /* written before any thread is looked up, and before any handler runs */
static jfieldID thread_eetop, thread_tid_field;

/* The library that JNI_GetCreatedJavaVMs would come from: where the functions of this JavaVM lie. */
static void *open_libjvm(JavaVM *java_vm, struct jw_error *err)
{
    Dl_info info;

    if (dladdr((const void *)(*java_vm)->GetEnv, &info) == 0 || info.dli_fname == NULL) {
        jw_error_set(err, "cannot tell which library this JVM came from");
        return NULL;
    }
    void *libjvm = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (libjvm == NULL)
        jw_error_set(err, "cannot open %s: %s", info.dli_fname, dlerror());
    return libjvm;
}

static int note_text(struct dl_phdr_info *info, size_t size_bytes, void *inside)
{
    (void)size_bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 &&
            (uintptr_t)inside >= begin && (uintptr_t)inside < begin + segment->p_memsz) {
            text_begin = begin;
            text_end = begin + segment->p_memsz;
            return 1;
        }
    }
    return 0;
}

static int read_major(jvmtiEnv *jvmti)
{
    char *text = NULL;
    int major = 0;

    if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.specification.version", &text) !=
            JVMTI_ERROR_NONE ||
        text == NULL)
        return 0;
    major = (int)strtol(strncmp(text, "1.", 2) == 0 ? text + 2 : text, NULL, 10);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)text);
    return major;
}

/* The first of two names that this JVM knows. */
static struct vm_field either(const char *type_a, const char *field_a, const char *type_b,
                              const char *field_b)
{
    const struct vm_field field = vm_structs_field(type_a, field_a);

    return vm_has(field) ? field : vm_structs_field(type_b, field_b);
}

static void resolve_methods(struct vm_layout *out)
{
    out->method_const = vm_structs_field("Method", "_constMethod");
    out->method_access_flags = vm_structs_field("Method", "_access_flags");
    if (out->method_access_flags.width == 0)
        out->method_access_flags.width = (uint8_t)vm_structs_size("AccessFlags");
    out->method_code = vm_structs_field("Method", "_code");
    out->const_constants = vm_structs_field("ConstMethod", "_constants");
    out->const_flags = either("ConstMethod", "_flags._flags", "ConstMethod", "_flags");
    out->const_code_size = vm_structs_field("ConstMethod", "_code_size");
    out->const_name_index = vm_structs_field("ConstMethod", "_name_index");
    out->const_signature_index = vm_structs_field("ConstMethod", "_signature_index");
    out->const_size_words = vm_structs_field("ConstMethod", "_constMethod_size");
    out->const_idnum = vm_structs_field("ConstMethod", "_method_idnum");
    out->const_method_bytes = vm_structs_size("ConstMethod");
    out->has_line_table_flag =
        (uint32_t)vm_structs_constant("ConstMethodFlags::_misc_has_linenumber_table",
                                      vm_structs_constant("ConstMethod::_has_linenumber_table", 0));
    out->pool_holder = vm_structs_field("ConstantPool", "_pool_holder");
    out->pool_source_index = vm_structs_field("ConstantPool", "_source_file_name_index");
    out->pool_length = vm_structs_field("ConstantPool", "_length");
    out->pool_bytes = vm_structs_size("ConstantPool");
    out->klass_name = vm_structs_field("Klass", "_name");
    out->klass_loader_data =
        either("Klass", "_class_loader_data", "InstanceKlass", "_class_loader_data");
    out->klass_access_flags = either("Klass", "_access_flags", "InstanceKlass", "_access_flags");
    if (out->klass_access_flags.width == 0)
        out->klass_access_flags.width = (uint8_t)vm_structs_size("AccessFlags");
    out->klass_source_index = vm_structs_field("InstanceKlass", "_source_file_name_index");
    out->klass_init_state = vm_structs_field("InstanceKlass", "_init_state");
    out->klass_init_state.width =
        1; /* an enumeration kept in a byte, whatever its type is called */
    out->klass_idnums = vm_structs_field("InstanceKlass", "_idnum_allocated_count");
    out->state_linked = (uint64_t)vm_structs_constant("InstanceKlass::linked", 2);
    out->symbol_length = vm_structs_field("Symbol", "_length");
    out->symbol_body = vm_structs_field("Symbol", "_body");
    /* JDK 8 to 11 keep length and refcount in one table entry of another name on some builds. */
    if (vm_has(out->symbol_length) && out->symbol_length.width != 2)
        out->symbol_length.width = 2;
}

static void resolve_threads(struct vm_layout *out)
{
    out->thread_anchor = vm_structs_field("JavaThread", "_anchor");
    out->thread_osthread = either("JavaThread", "_osthread", "Thread", "_osthread");
    out->osthread_tid = vm_structs_field("OSThread", "_thread_id");
    if (out->osthread_tid.width == 0)
        out->osthread_tid.width = 4;
    vm_thread_resolve(out);
}

/* A field of a struct that is itself a field: CodeHeap._memory._low. */
static struct vm_field nested(struct vm_field outer, struct vm_field inner)
{
    if (!vm_has(outer) || !vm_has(inner))
        return VM_NO_FIELD;
    return (struct vm_field){outer.offset + inner.offset, sizeof(void *)};
}

/* One that does not tell where it lies is none. */
static void add_code_heap(struct vm_layout *out, uintptr_t heap_addr, struct vm_field memory_low,
                          struct vm_field segmap_low)
{
    uint64_t heap, low, segment_map;

    if (!safe_load_word(heap_addr, &heap) || !vm_load_field(heap, memory_low, &low) ||
        !vm_load_field(heap, segmap_low, &segment_map))
        return;
    out->code_heaps[out->code_heap_count].heap = heap;
    out->code_heaps[out->code_heap_count].low = low;
    out->code_heaps[out->code_heap_count++].segment_map = segment_map;
}

static void resolve_code_heaps(struct vm_layout *out, struct vm_field memory_low,
                               struct vm_field segmap_low)
{
    const struct vm_field data = vm_structs_field("GrowableArray<int>", "_data");
    const struct vm_field length = vm_structs_field("GrowableArrayBase", "_len");
    const uintptr_t heaps = vm_structs_static("CodeCache", "_heaps");
    const uintptr_t only_heap = vm_structs_static("CodeCache", "_heap");

    if (heaps != 0 && vm_has(data)) {
        uint64_t array, count, first;

        if (!safe_load_word(heaps, &array) ||
            !vm_load_field(array, (struct vm_field){vm_has(length) ? length.offset : 0, 4},
                           &count) ||
            !vm_load_field(array, (struct vm_field){data.offset, sizeof(void *)}, &first))
            return;
        for (uint64_t i = 0; i < count && i < VM_CODE_HEAPS_MAX; i++)
            add_code_heap(out, first + i * sizeof(void *), memory_low, segmap_low);
    } else if (only_heap != 0) {
        add_code_heap(out, only_heap, memory_low, segmap_low);
    }
}

/* The interpreter is one StubQueue of codelets, made before any thread runs Java and never moved. */
static void resolve_interpreter(struct vm_layout *out)
{
    const struct vm_field buffer = vm_structs_field("StubQueue", "_stub_buffer");
    const struct vm_field limit = vm_structs_field("StubQueue", "_buffer_limit");
    const uintptr_t holder = vm_structs_static("AbstractInterpreter", "_code");
    uintptr_t queue;
    uint64_t begin, size_bytes;

    if (holder != 0 && safe_load_word(holder, &queue) && vm_load_field(queue, buffer, &begin) &&
        vm_load_field(queue, limit, &size_bytes)) {
        out->interpreter_begin = begin;
        out->interpreter_end = begin + size_bytes;
    }
}

static void resolve_code(struct vm_layout *out)
{
    const struct vm_field memory = vm_structs_field("CodeHeap", "_memory");
    const struct vm_field segmap = vm_structs_field("CodeHeap", "_segmap");
    const struct vm_field low = vm_structs_field("VirtualSpace", "_low");
    const struct vm_field high = vm_structs_field("VirtualSpace", "_high");
    const struct vm_field log2 = vm_structs_field("CodeHeap", "_log2_segment_size");

    resolve_code_heaps(out, nested(memory, low), nested(segmap, low));
    out->heap_memory_high = vm_has(nested(segmap, low)) ? nested(memory, high) : VM_NO_FIELD;
    uint64_t value = 0;
    if (out->code_heap_count > 0 &&
        vm_load_field(out->code_heaps[0].heap, (struct vm_field){log2.offset, 4}, &value))
        out->log2_segment = (uint32_t)value;
    out->heap_block_bytes = vm_structs_size("HeapBlock");
    out->block_used = vm_structs_field("HeapBlock::Header", "_used");
    out->block_used.width = 1;

    out->blob_name = vm_structs_field("CodeBlob", "_name");
    out->blob_size = vm_structs_field("CodeBlob", "_size");
    out->blob_code_begin = vm_structs_field("CodeBlob", "_code_begin");
    out->blob_code_end = vm_structs_field("CodeBlob", "_code_end");
    out->blob_code_offset = vm_structs_field("CodeBlob", "_code_offset");
    out->blob_data_offset = vm_structs_field("CodeBlob", "_data_offset");
    out->blob_frame_complete = vm_structs_field("CodeBlob", "_frame_complete_offset");
    out->blob_frame_size = vm_structs_field("CodeBlob", "_frame_size");

    const uintptr_t low_bound = vm_structs_static("CodeCache", "_low_bound");
    const uintptr_t high_bound = vm_structs_static("CodeCache", "_high_bound");
    if (low_bound != 0 && high_bound != 0) {
        (void)safe_load_word(low_bound, &out->code_low);
        (void)safe_load_word(high_bound, &out->code_high);
    } else if (out->code_heap_count == 1) {
        const struct vm_field low_boundary = vm_structs_field("VirtualSpace", "_low_boundary");
        const struct vm_field high_boundary = vm_structs_field("VirtualSpace", "_high_boundary");

        (void)vm_load_field(out->code_heaps[0].heap, nested(memory, low_boundary), &out->code_low);
        (void)vm_load_field(out->code_heaps[0].heap, nested(memory, high_boundary),
                            &out->code_high);
    }
}

static bool check_layout(const struct vm_layout *layout, struct jw_error *err)
{
    const struct {
        const char *name;
        bool is_there;
    } needs[] = {
        {"Method::_constMethod", vm_has(layout->method_const)},
        {"Method::_access_flags", layout->method_access_flags.width != 0},
        {"ConstMethod::_constants", vm_has(layout->const_constants)},
        {"ConstMethod::_name_index", vm_has(layout->const_name_index)},
        {"ConstMethod::_signature_index", vm_has(layout->const_signature_index)},
        {"ConstMethod::_code_size", vm_has(layout->const_code_size)},
        {"sizeof ConstMethod", layout->const_method_bytes != 0},
        {"ConstantPool::_pool_holder", vm_has(layout->pool_holder)},
        {"sizeof ConstantPool", layout->pool_bytes != 0},
        {"Klass::_name", vm_has(layout->klass_name)},
        {"Symbol::_length", vm_has(layout->symbol_length)},
        {"Symbol::_body", vm_has(layout->symbol_body)},
        {"JavaThread::_anchor", vm_has(layout->thread_anchor)},
        {"OSThread::_thread_id", vm_has(layout->osthread_tid)},
        {"CodeHeap::_memory", vm_has(layout->heap_memory_high)},
        {"CodeCache::_heaps", layout->code_heap_count > 0 && layout->code_high > layout->code_low},
        {"CodeHeap::_log2_segment_size",
         layout->log2_segment > 0 && layout->log2_segment <= LOG2_SEGMENT_MAX},
        {"sizeof HeapBlock", layout->heap_block_bytes != 0},
        {"CodeBlob::_name", vm_has(layout->blob_name)},
    };

    for (size_t i = 0; i < JW_COUNT_OF(needs); i++) {
        if (!needs[i].is_there) {
            jw_error_set(err,
                         "this JVM (version %d) does not tell where %s is, so methods cannot be "
                         "named; please report its `java -version`",
                         layout->major, needs[i].name);
            return false;
        }
    }
    return true;
}

/* The walker that the JVM brings; off, with a reason, where using it is not sound. */
static void find_agct(void *libjvm, int major)
{
    agct = NULL;
    agct_reason = "";
    if (major > VM_MAJOR_ID_IS_ADDRESS_MAX) {
        agct_reason =
            "from JDK 26 on AsyncGetCallTrace gives method ids that cannot be read safely";
        return;
    }
    *(void **)&agct = dlsym(libjvm, "AsyncGetCallTrace");
    if (agct == NULL)
        agct_reason = "this JVM does not export AsyncGetCallTrace";
}

static bool find_thread_fields(JavaVM *java_vm, struct jw_error *err)
{
    JNIEnv *jni = NULL;

    if ((*java_vm)->GetEnv(java_vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK) {
        jw_error_set(err, "the thread that starts profiling is not attached to the JVM");
        return false;
    }
    jclass thread_class = (*jni)->FindClass(jni, "java/lang/Thread");
    if (thread_class != NULL) {
        thread_eetop = (*jni)->GetFieldID(jni, thread_class, "eetop", "J");
        if ((*jni)->ExceptionCheck(jni))
            (*jni)->ExceptionClear(jni);
        thread_tid_field = (*jni)->GetFieldID(jni, thread_class, "tid", "J");
        (*jni)->DeleteLocalRef(jni, thread_class);
    }
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (thread_eetop == NULL)
        jw_error_set(err, "java.lang.Thread has no field eetop on this JVM");
    return thread_eetop != NULL;
}

bool vm_open(JavaVM *java_vm, jvmtiEnv *jvmti, struct jw_error *err)
{
    if (vm_is_open())
        return true;

    void *libjvm = open_libjvm(java_vm, err);
    if (libjvm == NULL || !vm_structs_open(libjvm, err) || !find_thread_fields(java_vm, err))
        return false;

    struct vm_layout layout = {.major = read_major(jvmti)};
    /* Source: compressedStream.hpp; UNSIGNED5 excludes zero bytes since JDK 20 (JDK-8292758). */
    layout.unsigned5_bias = layout.major >= 20 ? 1 : 0;
    layout.field_id_bits = vm_field_id_bits_of(layout.major);
    resolve_methods(&layout);
    resolve_threads(&layout);
    /* Loads of fields below need the layout-independent loader only. */
    resolve_code(&layout);
    resolve_interpreter(&layout);
    if (!check_layout(&layout, err))
        return false;
    vm_layout = layout;
    vm_object_open();
    vm_safepoint_open();
    find_agct(libjvm, layout.major);

    dl_iterate_phdr(note_text, (void *)(uintptr_t)(*java_vm)->GetEnv);
    /* order VM_OPEN: releases the layout to hooks; handlers get it through the start of the engine. */
    jw_store_release(&is_open, true);
    return true;
}

bool vm_is_open(void)
{
    /* order VM_OPEN: acquires the layout. */
    return jw_load_acquire(&is_open);
}

int vm_major_version(void)
{
    return vm_layout.major;
}

vm_async_get_call_trace vm_agct(void)
{
    return agct;
}

const char *vm_agct_reason(void)
{
    return agct_reason;
}

bool vm_text_range(uintptr_t *begin, uintptr_t *end)
{
    *begin = text_begin;
    *end = text_end;
    return text_end != 0;
}

const char *vm_info_line(void)
{
    const uintptr_t holder = vm_structs_static("Abstract_VM_Version", "_s_internal_vm_info_string");
    uintptr_t line = 0;

    return holder != 0 && safe_load_word(holder, &line) ? (const char *)line : NULL;
}

uint32_t vm_unsigned5_bias(void)
{
    return vm_layout.unsigned5_bias;
}

bool vm_java_thread(JNIEnv *jni, jobject thread, void **env, uint32_t *tid)
{
    const uintptr_t java_thread = (uintptr_t)(*jni)->GetLongField(jni, thread, thread_eetop);
    uint64_t os_thread, os_tid;

    if (java_thread == 0 || !vm_load_field(java_thread, vm_layout.thread_osthread, &os_thread) ||
        !vm_load_field(os_thread, vm_layout.osthread_tid, &os_tid))
        return false;
    *env = is_env_unsound ? NULL
                          : (void *)(java_thread + (uintptr_t)vm_layout.thread_anchor.offset +
                                     VM_ENV_AFTER_ANCHOR_BYTES);
    *tid = (uint32_t)os_tid;
    return true;
}

bool vm_check_java_thread(JNIEnv *jni, jobject calling_thread)
{
    void *env = NULL;
    uint32_t tid = 0;

    is_env_unsound = false;
    is_env_unsound = !vm_java_thread(jni, calling_thread, &env, &tid) || env != (void *)jni ||
                     tid != (uint32_t)os_gettid();
    return !is_env_unsound;
}

vm_addr vm_thread_of_env(const void *env)
{
    return env == NULL || is_env_unsound || !vm_has(vm_layout.thread_anchor)
               ? 0
               : (vm_addr)env - (uintptr_t)vm_layout.thread_anchor.offset -
                     VM_ENV_AFTER_ANCHOR_BYTES;
}

uint64_t vm_java_thread_id(JNIEnv *jni, jobject thread)
{
    return thread_tid_field == NULL ? 0
                                    : (uint64_t)(*jni)->GetLongField(jni, thread, thread_tid_field);
}

jfieldID vm_java_thread_id_field(void)
{
    return thread_tid_field;
}
