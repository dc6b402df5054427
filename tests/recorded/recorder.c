/*
 * recorder - an agent that writes down the machine code that a JVM has generated: stubs, blobs, adapters and the interpreter's
 * codelets when the JVM ends, compiled methods whose class is called Shapes as they are made. tests/recorded/record runs it.
 *
 *     -agentpath:recorder.so=FILE
 *
 * One line each: name, kind of place, words of its frame, offset at which the frame is complete (-1: not told), offset in its blob,
 * address in hexadecimal, code in hexadecimal. Context: hook; what is reported before the live phase waits in a table.
 */
#include <inttypes.h>
#include <jvmti.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "signals/signals.h"
#include "vm/vm.h"
#include "vm/vm_code.h"

#define REPORTS_MAX 8192
#define NAME_BYTES  96
/* What is longer is cut: its end is not looked at. */
#define CODE_BYTES_MAX 8192

static struct report {
    char name[NAME_BYTES];
    uintptr_t begin;
    size_t length_bytes;
} reports[REPORTS_MAX];

static unsigned report_count;
static JavaVM *java_vm;
static FILE *out;
static jrawMonitorID lock;

static void put(const struct report *report)
{
    struct vm_blob blob = {.code_begin = report->begin, .frame_complete_offset = -1};
    unsigned char code[CODE_BYTES_MAX];
    const size_t length_bytes =
        report->length_bytes < sizeof code ? report->length_bytes : sizeof code;

    if (!safe_load_bytes(code, report->begin, length_bytes))
        return;
    if (!vm_code_find(report->begin, &blob))
        blob.place = VM_PLACE_UNKNOWN;
    fprintf(out, "%s|%s|%d|%d|%" PRIdPTR "|%" PRIxPTR "|", report->name, vm_place_text(blob.place),
            blob.frame_size_words, blob.frame_complete_offset,
            (intptr_t)(report->begin - blob.code_begin), report->begin);
    for (size_t i = 0; i < length_bytes; i++)
        fprintf(out, "%02x", code[i]);
    fputc('\n', out);
}

static void JNICALL on_dynamic_code(jvmtiEnv *jvmti, const char *name, const void *address,
                                    jint length_bytes)
{
    (void)jvmti;
    /* The JVM reports one after the other while it starts; later ones are of no concern. */
    if (report_count == REPORTS_MAX || length_bytes <= 0)
        return;
    for (unsigned i = 0; i < report_count; i++)
        if (reports[i].begin == (uintptr_t)address && strcmp(reports[i].name, name) == 0)
            return;
    struct report *report = &reports[report_count++];
    snprintf(report->name, sizeof report->name, "%s", name);
    report->begin = (uintptr_t)address;
    report->length_bytes = (size_t)length_bytes;
}

static void JNICALL on_compiled_method(jvmtiEnv *jvmti, jmethodID method, jint code_bytes,
                                       const void *address, jint map_count,
                                       const jvmtiAddrLocationMap *map, const void *compile_info)
{
    struct report report = {.begin = (uintptr_t)address, .length_bytes = (size_t)code_bytes};
    char *name = NULL, *class_name = NULL;
    jclass holder;

    (void)map_count;
    (void)map;
    (void)compile_info;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &holder) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetClassSignature(jvmti, holder, &class_name, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) == JVMTI_ERROR_NONE &&
        (strncmp(class_name, "LShapes", 7) == 0 || strcmp(name, "identityHashCode") == 0 ||
         strcmp(name, "currentThread") == 0)) {
        snprintf(report.name, sizeof report.name, "method %s", name);
        (*jvmti)->RawMonitorEnter(jvmti, lock);
        put(&report);
        (*jvmti)->RawMonitorExit(jvmti, lock);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)class_name);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    struct jw_error error;

    (void)jni;
    (void)thread;
    if (!signals_own_faults(&error) || !vm_open(java_vm, jvmti, &error)) {
        fprintf(stderr, "recorder: %s\n", error.message);
        return;
    }
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void)jni;
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD,
                                       NULL);
    (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
    if (!vm_is_open())
        return;
    (*jvmti)->RawMonitorEnter(jvmti, lock);
    for (unsigned i = 0; i < report_count; i++)
        put(&reports[i]);
    fclose(out);
    (*jvmti)->RawMonitorExit(jvmti, lock);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    const jvmtiEventCallbacks callbacks = {
        .VMInit = on_vm_init,
        .VMDeath = on_vm_death,
        .DynamicCodeGenerated = on_dynamic_code,
        .CompiledMethodLoad = on_compiled_method,
    };
    const jvmtiCapabilities capabilities = {.can_generate_compiled_method_load_events = 1};
    jvmtiEnv *jvmti;

    (void)reserved;
    java_vm = vm;
    if (options == NULL || (out = fopen(options, "w")) == NULL ||
        (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_1) != JNI_OK ||
        (*jvmti)->CreateRawMonitor(jvmti, "recorder", &lock) != JVMTI_ERROR_NONE ||
        (*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
        return JNI_ERR;
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
                                       NULL);
    return JNI_OK;
}
