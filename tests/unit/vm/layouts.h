/*
 * layouts - where four JDKs keep the fields that room vm reads.
 * Source: OpenJDK 8u504, 17.0.21, 25.0.5, 28-ea+18 for linux-amd64, from their own exported tables.
 */
#ifndef JW_TESTS_UNIT_VM_LAYOUTS_H
#define JW_TESTS_UNIT_VM_LAYOUTS_H

#include <stddef.h>
#include <stdint.h>

enum layout_jdk { LAYOUT_8, LAYOUT_17, LAYOUT_25, LAYOUT_28, LAYOUT_COUNT };

static const char *const layout_versions[LAYOUT_COUNT] = {"1.8", "17", "25", "28"};

struct layout_field {
    const char *type, *field, *type_string;
    int offset[LAYOUT_COUNT]; /* -1: that JDK has none */
};

static const struct layout_field layout_fields[] = {
    {"Method", "_constMethod", "ConstMethod*", {8, 8, 8, 8}},
    {"Method", "_access_flags", "AccessFlags", {32, 40, 44, 44}},
    {"Method", "_code", "nmethod*", {72, 72, 72, 88}},
    {"ConstMethod", "_constants", "ConstantPool*", {8, 8, 8, 8}},
    {"ConstMethod", "_constMethod_size", "int", {24, 24, 24, 24}},
    {"ConstMethod", "_flags", "u2", {28, 28, -1, -1}},
    {"ConstMethod", "_flags._flags", "u4", {-1, -1, 28, 28}},
    {"ConstMethod", "_code_size", "u2", {32, 32, 34, 34}},
    {"ConstMethod", "_name_index", "u2", {34, 34, 36, 36}},
    {"ConstMethod", "_signature_index", "u2", {36, 36, 38, 38}},
    {"ConstMethod", "_method_idnum", "u2", {38, 38, 40, 40}},
    {"ConstantPool", "_pool_holder", "InstanceKlass*", {24, 24, 24, 24}},
    {"ConstantPool", "_length", "int", {60, 60, 68, 68}},
    {"ConstantPool", "_source_file_name_index", "u2", {-1, 54, 62, 62}},
    {"InstanceKlass", "_source_file_name_index", "u2", {258, -1, -1, -1}},
    {"Symbol", "_length", "unsigned short", {0, 4, 4, 4}},
    {"Symbol", "_body", "u1", {8, 6, 6, 6}},
    {"Klass", "_name", "Symbol*", {16, 24, 24, 24}},
    {"Klass", "_access_flags", "AccessFlags", {156, 164, 14, -1}},
    {"InstanceKlass", "_access_flags", "AccessFlags", {-1, -1, -1, 312}},
    {"Klass", "_class_loader_data", "ClassLoaderData*", {-1, 152, 152, 152}},
    {"InstanceKlass", "_class_loader_data", "ClassLoaderData*", {144, -1, -1, -1}},
    {"Klass", "_super_check_offset", "juint", {12, 20, 20, 16}},
    {"Klass", "_primary_supers[0]", "Klass*", {40, 48, 48, 48}},
    {"Klass", "_secondary_super_cache", "Klass*", {24, 32, 32, 32}},
    {"oopDesc", "_mark", "markWord", {0, 0, 0, 0}},
    {"oopDesc", "_metadata._klass", "Klass*", {8, 8, 8, -1}},
    {"oopDesc", "_metadata._compressed_klass", "narrowKlass", {8, 8, 8, -1}},
    {"oopDesc", "_compressed_klass", "narrowKlass", {-1, -1, -1, 8}},
    {"InstanceKlass", "_init_state", "u1", {370, 315, -1, -1}},
    {"InstanceKlass", "_init_state", "InstanceKlass::ClassState", {-1, -1, 304, 304}},
    {"InstanceKlass", "_idnum_allocated_count", "u2", {368, 312, 302, 302}},
    {"ClassLoaderData", "_next", "ClassLoaderData*", {72, 112, 112, 112}},
    {"CompilerThread", "_env", "ciEnv*", {1080, 1392, 2224, 2016}},
    {"ciEnv", "_task", "CompileTask*", {120, 112, 112, 112}},
    {"CompileTask", "_method", "Method*", {16, 16, 8, 8}},
    {"CompileTask", "_comp_level", "int", {40, 48, 76, 44}},
    {"JavaThread", "_anchor", "JavaFrameAnchor", {576, 656, 1152, 1120}},
    {"JavaThread", "_osthread", "OSThread*", {392, 560, -1, -1}},
    {"Thread", "_osthread", "OSThread*", {-1, -1, 1016, 984}},
    {"JavaThread", "_thread_state", "JavaThreadState", {728, 824, 1324, 1280}},
    {"JavaThread", "_threadObj", "OopHandle", {-1, 648, 1120, 1088}},
    {"JavaThread", "_vthread", "OopHandle", {-1, -1, 1128, 1096}},
    {"JavaThread", "_monitor_owner_id", "int64_t", {-1, -1, 1312, 1264}},
    {"OSThread", "_state", "ThreadState", {-1, 16, 8, 8}},
    {"OSThread", "_thread_id", "OSThread::thread_id_t", {216, 208, 12, 12}},
    {"CodeHeap", "_memory", "VirtualSpace", {0, 8, 0, 0}},
    {"CodeHeap", "_segmap", "VirtualSpace", {112, 120, 112, 112}},
    {"CodeHeap", "_log2_segment_size", "int", {248, 256, 248, 248}},
    {"VirtualSpace", "_low_boundary", "char*", {0, 0, 0, 0}},
    {"VirtualSpace", "_high_boundary", "char*", {8, 8, 8, 8}},
    {"VirtualSpace", "_low", "char*", {16, 16, 16, 16}},
    {"VirtualSpace", "_high", "char*", {24, 24, 24, 24}},
    {"HeapBlock::Header", "_used", "bool", {8, 8, 4, 4}},
    {"InstanceKlass", "_constants", "ConstantPool*", {216, 232, 224, 224}},
    {"InstanceKlass", "_methods", "Array<Method*>*", {384, 408, 400, 416}},
    {"Array<int>", "_length", "int", {0, 0, 0, 0}},
    {"Array<Method*>", "_data", "Method*", {8, 8, 8, 8}},
    {"GrowableArray<int>", "_data", "int*", {24, 8, 8, 8}},
    {"GrowableArrayBase", "_len", "int", {-1, 0, 0, 0}},
    {"CodeBlob", "_name", "const char*", {8, 96, 8, 8}},
    {"CodeBlob", "_size", "int", {16, 12, 24, 24}},
    {"CodeBlob", "_code_begin", "address", {-1, 32, -1, -1}},
    {"CodeBlob", "_code_end", "address", {-1, 40, -1, -1}},
    {"CodeBlob", "_code_offset", "int", {32, -1, 36, 36}},
    {"CodeBlob", "_data_offset", "int", {40, 24, 40, 40}},
    {"CodeBlob", "_frame_complete_offset", "int", {36, 20, -1, 52}},
    {"CodeBlob", "_frame_complete_offset", "int16_t", {-1, -1, 54, -1}},
    {"CodeBlob", "_frame_size", "int", {44, 28, 44, 44}},
    {"CodeBlob", "_relocation_size", "int", {24, -1, 28, 28}},
    {"CodeBlob", "_mutable_data", "address", {-1, -1, 16, 16}},
    {"JavaFrameAnchor", "_last_Java_sp", "intptr_t*", {0, 0, 0, 0}},
    {"JavaFrameAnchor", "_last_Java_pc", "address", {8, 8, 8, 8}},
    {"JavaFrameAnchor", "_last_Java_fp", "intptr_t*", {16, 16, 16, 16}},
    {"JavaThread", "_stack_base", "address", {424, 592, 1048, 1016}},
    {"JavaThread", "_saved_exception_pc", "address", {-1, 856, 1336, -1}},
    {"JavaThread", "_stack_size", "size_t", {432, 600, 1056, 1024}},
    {"JavaThread", "_thread_state", "JavaThreadState", {728, 824, 1324, 1280}},
    {"JavaCallWrapper", "_anchor", "JavaFrameAnchor", {32, 32, 32, 32}},
    {"StubQueue", "_stub_buffer", "address", {8, 8, 8, 8}},
    {"StubQueue", "_buffer_limit", "int", {20, 20, 20, 20}},
    {"nmethod", "_method", "Method*", {64, -1, 80, 80}},
    {"CompiledMethod", "_method", "Method*", {-1, 112, -1, -1}},
    {"nmethod", "_comp_level", "int", {208, 308, -1, -1}},
    {"nmethod", "_comp_level", "CompLevel", {-1, -1, 216, 216}},
    {"nmethod", "_compile_id", "int", {204, 304, 212, 212}},
    {"nmethod", "_verified_entry_point", "address", {128, 224, -1, -1}},
    {"nmethod", "_verified_entry_offset", "u2", {-1, -1, 154, 154}},
    {"nmethod", "_orig_pc_offset", "int", {200, 300, 208, 208}},
    {"CompiledMethod", "_deopt_handler_begin", "address", {-1, 128, -1, -1}},
    {"CompiledMethod", "_deopt_mh_handler_begin", "address", {-1, 136, -1, -1}},
    {"nmethod", "_deopt_handler_offset", "int", {-1, -1, 176, -1}},
    {"nmethod", "_deopt_mh_handler_offset", "int", {-1, -1, 180, -1}},
    {"nmethod", "_scopes_pcs_offset", "int", {180, 268, 196, 196}},
    {"nmethod", "_dependencies_offset", "int", {184, 272, -1, -1}},
    {"nmethod", "_metadata_offset", "int", {172, 260, -1, -1}},
    {"nmethod", "_scopes_data_offset", "int", {176, -1, 200, 200}},
    {"CompiledMethod", "_scopes_data_begin", "address", {-1, 120, -1, -1}},
    {"nmethod", "_immutable_data", "address", {-1, -1, 96, 96}},
    {"PcDesc", "_pc_offset", "int", {0, 0, 0, 0}},
    {"PcDesc", "_scope_decode_offset", "int", {4, 4, 4, 4}},
    {"JavaThread", "_cont_entry", "ContinuationEntry*", {-1, -1, 1560, 1456}},
};

struct layout_size {
    const char *type;
    unsigned size_bytes[LAYOUT_COUNT];
};

static const struct layout_size layout_sizes[] = {
    {"AccessFlags", {4, 4, 2, 2}},
    {"ConstMethod", {48, 48, 56, 56}},
    {"ConstantPool", {80, 72, 80, 80}},
    {"HeapBlock", {16, 16, 8, 8}},
    {"Method", {88, 88, 88, 104}},
    {"Klass", {200, 208, 200, 200}},
    {"CodeBlob", {64, 104, 64, 64}},
    {"CodeHeap", {280, 344, 336, 336}},
    {"address", {8, 8, 8, 8}},
    {"PcDesc", {16, 16, 16, 16}},
    {"OSThread", {224, 216, 200, 200}},
    {"OSThread::thread_id_t", {4, 4, 4, 4}},
    {"ContinuationEntry", {0, 0, 64, 56}},
};

/* Of JDK 8 the states of threads of the system are not told; JDK 28 numbers those of Java threads anew. */
#define NOT_THERE (-1)

struct layout_constant {
    const char *name;
    int value[LAYOUT_COUNT];
};

static const struct layout_constant layout_constants[] = {
    {"_thread_in_native", {4, 4, 4, 2}},
    {"_thread_in_native_trans", {5, 5, 5, NOT_THERE}},
    {"_thread_in_vm", {6, 6, 6, 3}},
    {"_thread_in_vm_trans", {7, 7, 7, NOT_THERE}},
    {"_thread_in_Java", {8, 8, 8, 4}},
    {"_thread_in_Java_trans", {9, 9, 9, NOT_THERE}},
    {"_thread_blocked", {10, 10, 10, 5}},
    {"_thread_blocked_trans", {11, 11, 11, NOT_THERE}},
    {"RUNNABLE", {NOT_THERE, 2, 2, 2}},
    {"MONITOR_WAIT", {NOT_THERE, 3, 3, 3}},
    {"CONDVAR_WAIT", {NOT_THERE, 4, 4, 4}},
    {"OBJECT_WAIT", {NOT_THERE, 5, 5, 5}},
    {"BREAKPOINTED", {NOT_THERE, 6, 6, 6}},
    {"SLEEPING", {NOT_THERE, 7, 7, 7}},
    {"ConstMethod::_has_linenumber_table", {1, 1, NOT_THERE, NOT_THERE}},
    {"ConstMethodFlags::_misc_has_linenumber_table", {NOT_THERE, NOT_THERE, 1, 1}},
    {"InstanceKlass::linked", {2, 2, 2, 2}},
    {"frame::entry_frame_call_wrapper_offset", {-6, -6, -6, -6}},
};

#endif
