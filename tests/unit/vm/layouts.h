/*
 * layouts - where three JDKs keep the fields that room vm reads.
 * Source: OpenJDK 8u504, 17.0.21, 25.0.5 for linux-amd64, from their own exported tables.
 */
#ifndef JW_TESTS_UNIT_VM_LAYOUTS_H
#define JW_TESTS_UNIT_VM_LAYOUTS_H

#include <stddef.h>
#include <stdint.h>

enum layout_jdk { LAYOUT_8, LAYOUT_17, LAYOUT_25, LAYOUT_COUNT };

static const char *const layout_versions[LAYOUT_COUNT] = {"1.8", "17", "25"};

struct layout_field {
    const char *type, *field, *type_string;
    int offset[LAYOUT_COUNT]; /* -1: that JDK has none */
};

static const struct layout_field layout_fields[] = {
    {"Method", "_constMethod", "ConstMethod*", {8, 8, 8}},
    {"Method", "_access_flags", "AccessFlags", {32, 40, 44}},
    {"Method", "_code", "nmethod*", {72, 72, 72}},
    {"ConstMethod", "_constants", "ConstantPool*", {8, 8, 8}},
    {"ConstMethod", "_constMethod_size", "int", {24, 24, 24}},
    {"ConstMethod", "_flags", "u2", {28, 28, -1}},
    {"ConstMethod", "_flags._flags", "u4", {-1, -1, 28}},
    {"ConstMethod", "_code_size", "u2", {32, 32, 34}},
    {"ConstMethod", "_name_index", "u2", {34, 34, 36}},
    {"ConstMethod", "_signature_index", "u2", {36, 36, 38}},
    {"ConstMethod", "_method_idnum", "u2", {38, 38, 40}},
    {"ConstantPool", "_pool_holder", "InstanceKlass*", {24, 24, 24}},
    {"ConstantPool", "_length", "int", {60, 60, 68}},
    {"ConstantPool", "_source_file_name_index", "u2", {-1, 54, 62}},
    {"InstanceKlass", "_source_file_name_index", "u2", {258, -1, -1}},
    {"Symbol", "_length", "unsigned short", {0, 4, 4}},
    {"Symbol", "_body", "u1", {8, 6, 6}},
    {"Klass", "_name", "Symbol*", {16, 24, 24}},
    {"Klass", "_access_flags", "AccessFlags", {156, 164, 14}},
    {"Klass", "_class_loader_data", "ClassLoaderData*", {-1, 152, 152}},
    {"InstanceKlass", "_class_loader_data", "ClassLoaderData*", {144, -1, -1}},
    {"Klass", "_super_check_offset", "juint", {12, 20, 20}},
    {"Klass", "_primary_supers[0]", "Klass*", {40, 48, 48}},
    {"Klass", "_secondary_super_cache", "Klass*", {24, 32, 32}},
    {"oopDesc", "_mark", "markWord", {0, 0, 0}},
    {"oopDesc", "_metadata._klass", "Klass*", {8, 8, 8}},
    {"oopDesc", "_metadata._compressed_klass", "narrowKlass", {8, 8, 8}},
    {"InstanceKlass", "_init_state", "u1", {370, 315, -1}},
    {"InstanceKlass", "_init_state", "InstanceKlass::ClassState", {-1, -1, 304}},
    {"InstanceKlass", "_idnum_allocated_count", "u2", {368, 312, 302}},
    {"ClassLoaderData", "_next", "ClassLoaderData*", {72, 112, 112}},
    {"CompilerThread", "_env", "ciEnv*", {1080, 1392, 2224}},
    {"ciEnv", "_task", "CompileTask*", {120, 112, 112}},
    {"CompileTask", "_method", "Method*", {16, 16, 8}},
    {"CompileTask", "_comp_level", "int", {40, 48, 76}},
    {"JavaThread", "_anchor", "JavaFrameAnchor", {576, 656, 1152}},
    {"JavaThread", "_osthread", "OSThread*", {392, 560, -1}},
    {"Thread", "_osthread", "OSThread*", {-1, -1, 1016}},
    {"JavaThread", "_thread_state", "JavaThreadState", {728, 824, 1324}},
    {"JavaThread", "_threadObj", "OopHandle", {-1, 648, 1120}},
    {"JavaThread", "_vthread", "OopHandle", {-1, -1, 1128}},
    {"JavaThread", "_monitor_owner_id", "int64_t", {-1, -1, 1312}},
    {"OSThread", "_state", "ThreadState", {-1, 16, 8}},
    {"OSThread", "_thread_id", "OSThread::thread_id_t", {216, 208, 12}},
    {"CodeHeap", "_memory", "VirtualSpace", {0, 8, 0}},
    {"CodeHeap", "_segmap", "VirtualSpace", {112, 120, 112}},
    {"CodeHeap", "_log2_segment_size", "int", {248, 256, 248}},
    {"VirtualSpace", "_low_boundary", "char*", {0, 0, 0}},
    {"VirtualSpace", "_high_boundary", "char*", {8, 8, 8}},
    {"VirtualSpace", "_low", "char*", {16, 16, 16}},
    {"VirtualSpace", "_high", "char*", {24, 24, 24}},
    {"HeapBlock::Header", "_used", "bool", {8, 8, 4}},
    {"GrowableArray<int>", "_data", "int*", {24, 8, 8}},
    {"GrowableArrayBase", "_len", "int", {-1, 0, 0}},
    {"CodeBlob", "_name", "const char*", {8, 96, 8}},
    {"CodeBlob", "_size", "int", {16, 12, 24}},
    {"CodeBlob", "_code_begin", "address", {-1, 32, -1}},
    {"CodeBlob", "_code_end", "address", {-1, 40, -1}},
    {"CodeBlob", "_code_offset", "int", {32, -1, 36}},
    {"CodeBlob", "_data_offset", "int", {40, 24, 40}},
    {"CodeBlob", "_frame_complete_offset", "int", {36, 20, -1}},
    {"CodeBlob", "_frame_complete_offset", "int16_t", {-1, -1, 54}},
    {"CodeBlob", "_frame_size", "int", {44, 28, 44}},
    {"CodeBlob", "_relocation_size", "int", {24, -1, 28}},
    {"CodeBlob", "_mutable_data", "address", {-1, -1, 16}},
    {"JavaFrameAnchor", "_last_Java_sp", "intptr_t*", {0, 0, 0}},
    {"JavaFrameAnchor", "_last_Java_pc", "address", {8, 8, 8}},
    {"JavaFrameAnchor", "_last_Java_fp", "intptr_t*", {16, 16, 16}},
    {"JavaThread", "_stack_base", "address", {424, 592, 1048}},
    {"JavaThread", "_stack_size", "size_t", {432, 600, 1056}},
    {"JavaThread", "_thread_state", "JavaThreadState", {728, 824, 1324}},
    {"JavaCallWrapper", "_anchor", "JavaFrameAnchor", {32, 32, 32}},
    {"StubQueue", "_stub_buffer", "address", {8, 8, 8}},
    {"StubQueue", "_buffer_limit", "int", {20, 20, 20}},
    {"nmethod", "_method", "Method*", {64, -1, 80}},
    {"CompiledMethod", "_method", "Method*", {-1, 112, -1}},
    {"nmethod", "_comp_level", "int", {208, 308, -1}},
    {"nmethod", "_comp_level", "CompLevel", {-1, -1, 216}},
    {"nmethod", "_compile_id", "int", {204, 304, 212}},
    {"nmethod", "_verified_entry_point", "address", {128, 224, -1}},
    {"nmethod", "_verified_entry_offset", "u2", {-1, -1, 154}},
    {"nmethod", "_orig_pc_offset", "int", {200, 300, 208}},
    {"nmethod", "_scopes_pcs_offset", "int", {180, 268, 196}},
    {"nmethod", "_dependencies_offset", "int", {184, 272, -1}},
    {"nmethod", "_metadata_offset", "int", {172, 260, -1}},
    {"nmethod", "_scopes_data_offset", "int", {176, -1, 200}},
    {"CompiledMethod", "_scopes_data_begin", "address", {-1, 120, -1}},
    {"nmethod", "_immutable_data", "address", {-1, -1, 96}},
    {"PcDesc", "_pc_offset", "int", {0, 0, 0}},
    {"PcDesc", "_scope_decode_offset", "int", {4, 4, 4}},
};

struct layout_size {
    const char *type;
    unsigned size_bytes[LAYOUT_COUNT];
};

static const struct layout_size layout_sizes[] = {
    {"AccessFlags", {4, 4, 2}},     {"ConstMethod", {48, 48, 56}},
    {"ConstantPool", {80, 72, 80}}, {"HeapBlock", {16, 16, 8}},
    {"Method", {88, 88, 88}},       {"Klass", {200, 208, 200}},
    {"CodeBlob", {64, 104, 64}},    {"CodeHeap", {280, 344, 336}},
    {"address", {8, 8, 8}},         {"PcDesc", {16, 16, 16}},
    {"OSThread", {224, 216, 200}},  {"OSThread::thread_id_t", {4, 4, 4}},
};

#endif
