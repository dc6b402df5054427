/* What a recording asks of the JVM: threads, loaders, modules, native code; dump. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/census.h"
#include "agent/deadlocks.h"
#include "agent/delays.h"
#include "agent/events.h"
#include "agent/live.h"
#include "agent/probe_events.h"
#include "agent/session_internal.h"
#include "arch/arch.h"
#include "base/clock.h"
#include "context/context.h"
#include "generation/generation_parts.h"
#include "generation/method_record.h"
#include "os/os_info.h"
#include "recording/recording.h"
#include "symbols/symbols.h"
#include "symbols/symbols_kernel.h"
#include "symbols/symbols_plain.h"
#include "thread/thread.h"
#include "vm/vm_code.h"
#include "vm/vm_loader.h"
#include "vm/vm_method.h"
#include "vm/vm_stop.h"
#include "vm/vm_stub.h"
#include "walk/walk.h"

#define MODULE_TEXT_BYTES 256
#define JVM_TEXT_BYTES    4096 /* of its version */

static JNIEnv *dump_jni; /* of the agent's thread, which alone asks */

/* The loaders that define named modules; global references, found when first asked for. */
static struct {
    bool is_known;
    jobject platform, app;
    jmethodID to_name_and_version, get_descriptor;
} modules;

void sources_set_jni(JNIEnv *jni)
{
    dump_jni = jni;
}

static struct recording_text text_of(const char *text)
{
    return text[0] == '\0' ? (struct recording_text){NULL, 0}
                           : (struct recording_text){text, strlen(text)};
}

static bool ask_thread(void *context, uint32_t index, uint32_t serial, struct recording_thread *out)
{
    static struct thread_info info;

    (void)context;
    if (!thread_info(index, &info) || (uint32_t)info.serial != serial)
        return false;
    memset(out, 0, sizeof *out);
    out->os_tid = info.tid;
    out->os_name = text_of(info.os_name);
    /* The JVM refused its name, up to now: the system's is the begin of it, mostly. */
    out->java_name =
        text_of(info.java_name[0] == '\0' && info.java_id != 0 ? info.os_name : info.java_name);
    out->java_id = (int64_t)info.java_id;
    out->group = text_of(info.group);
    return true;
}

static bool ask_loader(void *context, uint32_t loader, struct recording_loader *out)
{
    static struct vm_loader_text text;

    (void)context;
    if (!vm_loader_describe(loader, &text))
        return false;
    out->type = text_of(text.class_name);
    out->name = text_of(text.name);
    return true;
}

static bool clear_exception(JNIEnv *jni)
{
    if (!(*jni)->ExceptionCheck(jni))
        return false;
    (*jni)->ExceptionClear(jni);
    return true;
}

static jobject loader_by(JNIEnv *jni, jclass class_loader, const char *method)
{
    jmethodID id =
        (*jni)->GetStaticMethodID(jni, class_loader, method, "()Ljava/lang/ClassLoader;");
    jobject loader =
        clear_exception(jni) ? NULL : (*jni)->CallStaticObjectMethod(jni, class_loader, id);
    jobject kept = clear_exception(jni) ? NULL : (*jni)->NewGlobalRef(jni, loader);

    (*jni)->DeleteLocalRef(jni, loader);
    return kept;
}

/* JDK 8 has no modules: then both method ids stay NULL. */
static void find_modules(JNIEnv *jni)
{
    if (modules.is_known)
        return;
    modules.is_known = true;

    jclass module = (*jni)->FindClass(jni, "java/lang/Module");
    if (clear_exception(jni))
        return;
    jclass descriptor = (*jni)->FindClass(jni, "java/lang/module/ModuleDescriptor");
    jclass loader = (*jni)->FindClass(jni, "java/lang/ClassLoader");
    if (!clear_exception(jni)) {
        modules.platform = loader_by(jni, loader, "getPlatformClassLoader");
        modules.app = loader_by(jni, loader, "getSystemClassLoader");
        modules.get_descriptor = (*jni)->GetMethodID(jni, module, "getDescriptor",
                                                     "()Ljava/lang/module/ModuleDescriptor;");
        modules.to_name_and_version =
            (*jni)->GetMethodID(jni, descriptor, "toNameAndVersion", "()Ljava/lang/String;");
        if (clear_exception(jni))
            modules.get_descriptor = NULL;
    }
    (*jni)->DeleteLocalRef(jni, module);
    (*jni)->DeleteLocalRef(jni, descriptor);
    (*jni)->DeleteLocalRef(jni, loader);
}

/* "java.base@17.0.15" of a module object into `text`; false for an unnamed one. */
static bool module_text(JNIEnv *jni, jobject module, char *text)
{
    jobject descriptor = (*jni)->CallObjectMethod(jni, module, modules.get_descriptor);
    bool is_named = false;

    if (!clear_exception(jni) && descriptor != NULL) {
        jstring name = (*jni)->CallObjectMethod(jni, descriptor, modules.to_name_and_version);

        if (!clear_exception(jni) && name != NULL) {
            const char *chars = (*jni)->GetStringUTFChars(jni, name, NULL);

            if (chars != NULL) {
                snprintf(text, MODULE_TEXT_BYTES, "%s", chars);
                (*jni)->ReleaseStringUTFChars(jni, name, chars);
                is_named = true;
            }
            (*jni)->DeleteLocalRef(jni, name);
        }
        (*jni)->DeleteLocalRef(jni, descriptor);
    }
    return is_named;
}

/* Only the three built-in loaders are asked: classes of other loaders lie in unnamed modules, layers
 * made by the application apart. */
static bool ask_module(void *context, uint32_t loader, struct recording_text package,
                       struct recording_module *out)
{
    static char text[MODULE_TEXT_BYTES], location[MODULE_TEXT_BYTES + 8];
    char package_name[1024];
    struct vm_loader_text described;
    jobject module = NULL;
    jobject loader_object = NULL;
    JNIEnv *jni = dump_jni;

    (void)context;
    if (jni == NULL || package.length_bytes >= sizeof package_name ||
        !vm_loader_describe(loader, &described))
        return false;
    find_modules(jni);
    if (modules.get_descriptor == NULL)
        return false;
    if (strcmp(described.name, "platform") == 0)
        loader_object = modules.platform;
    else if (strcmp(described.name, "app") == 0)
        loader_object = modules.app;
    else if (loader != VM_LOADER_BOOTSTRAP)
        return false;
    memcpy(package_name, package.bytes, package.length_bytes);
    package_name[package.length_bytes] = '\0';
    if ((*agent.jvmti)->GetNamedModule(agent.jvmti, loader_object, package_name, &module) !=
            JVMTI_ERROR_NONE ||
        module == NULL)
        return false;

    const bool is_named = module_text(jni, module, text);
    (*jni)->DeleteLocalRef(jni, module);
    if (!is_named)
        return false;
    char *at = strchr(text, '@');
    if (at != NULL)
        *at = '\0';
    memset(out, 0, sizeof *out);
    out->name = text_of(text);
    if (at != NULL)
        out->version = text_of(at + 1);
    if (loader_object != modules.app) {
        snprintf(location, sizeof location, "jrt:/%s", text);
        out->location = text_of(location);
    }
    return true;
}

/* The list is read when a stack first shows the kernel. */
static void ask_kernel_pc(uint64_t address, struct recording_symbol *out)
{
    struct symbols_kernel_function function;

    events_read_kernel();
    if (symbols_kernel_find(address, &function)) {
        out->library = text_of(function.module);
        out->symbol = text_of(function.name);
    } else {
        out->library = text_of("kernel"); /* never an address */
    }
}

static bool ask_native_pc(void *context, uintptr_t pc, struct recording_symbol *out)
{
    static struct symbols_name name;
    static char plain[SYMBOLS_NAME_BYTES];

    (void)context;
    memset(out, 0, sizeof *out);
    if (jw_kernel_address(pc) != 0) {
        ask_kernel_pc(jw_kernel_address(pc), out);
        return true;
    }
    if (vm_code_contains(pc)) {
        const struct vm_stub *stub = vm_stub_find(pc);

        out->library = text_of("[stub]");
        if (stub != NULL)
            out->symbol = text_of(stub->name);
        return true;
    }
    if (!symbols_name(pc, &name))
        return false;
    out->library = text_of(name.library);
    out->symbol = text_of(symbols_plain_name(name.function, plain, sizeof plain));
    return true;
}

static bool ask_walk_failure(void *context, uint32_t number, struct recording_walk_failure *out)
{
    const enum vm_place place = (enum vm_place)(number % VM_PLACE_LIMIT);
    const uint32_t code = number / VM_PLACE_LIMIT % WALK_CODE_COUNT;
    const uint32_t walker = number / VM_PLACE_LIMIT / WALK_CODE_COUNT;

    (void)context;
    if (walker >= WALK_WALKER_LIMIT)
        return false;
    *out = (struct recording_walk_failure){
        .code = -(int32_t)code,
        .reason = walk_code_text(-(int32_t)code),
        .where = vm_place_text(place),
        .walker = walk_walker_text((enum walk_walker)walker),
        .count = walk_failures((enum walk_walker)walker, -(int32_t)code, place),
    };
    return true;
}

static bool ask_part(void *context, enum generation_part part, struct generation_part_stats *out)
{
    struct generations *generations = session_kept_generations();

    (void)context;
    if (generations == NULL)
        return false;
    generation_part_stats(generations, part, out);
    return true;
}

/* What is told of a method at a bci, in memory of the caller. */
struct code_text {
    char class_name[256], name[256];
    unsigned char lines[METHOD_LINE_TABLE_MAX_BYTES];
};

static struct recording_text load_text(const struct vm_text *text, char *to, size_t room_bytes)
{
    const size_t length_bytes = text->length_bytes < room_bytes ? text->length_bytes : room_bytes;

    return safe_load_bytes(to, text->addr, length_bytes) ? (struct recording_text){to, length_bytes}
                                                         : (struct recording_text){NULL, 0};
}

static void load_code(vm_addr addr, int32_t bci, struct code_text *text, struct recording_code *out)
{
    struct vm_method method;

    *out = (struct recording_code){.bci = bci};
    if (addr == 0 || !vm_method_read(addr, &method))
        return;
    out->class_name = load_text(&method.class_name, text->class_name, sizeof text->class_name);
    out->name = load_text(&method.name, text->name, sizeof text->name);
    const uint32_t lines_bytes =
        method.line_table == 0 ? 0 : vm_method_copy_lines(&method, text->lines, sizeof text->lines);
    if (lines_bytes != 0)
        out->line_table = (struct recording_text){(const char *)text->lines, lines_bytes};
}

static bool ask_stop(void *context, uintptr_t pc, struct recording_stop *out)
{
    static struct code_text root, at;
    struct vm_stop stop;

    (void)context;
    vm_stop_after(pc, &stop);
    *out = (struct recording_stop){.kind = stop.kind == VM_STOP_UNTOLD   ? RECORDING_STOP_UNTOLD
                                           : stop.kind == VM_STOP_RETURN ? RECORDING_STOP_CALLER
                                                                         : RECORDING_STOP_AT,
                                   .is_here = stop.is_here};
    if (out->kind == RECORDING_STOP_UNTOLD)
        return false;
    load_code(stop.root, 0, &root, &out->root);
    if (out->kind == RECORDING_STOP_AT)
        load_code(stop.method, stop.bci, &at, &out->at);
    return true;
}

static const char *ask_attribute(void *context, unsigned number)
{
    (void)context;
    return context_attribute_name(number);
}

void sources_fill(struct recording_sources *out)
{
    *out = (struct recording_sources){
        .thread = ask_thread,
        .loader = ask_loader,
        .module = ask_module,
        .native_pc = ask_native_pc,
        .walk_failure = ask_walk_failure,
        .stop = ask_stop,
        .attribute = ask_attribute,
        .declared = probe_events_ask,
        .part = ask_part,
    };
    facts_fill(out);
    jvmfacts_fill(out);
    delays_fill(out);
    live_fill(out);
    deadlocks_fill(out);
    census_fill(out);
}

static const char *system_property(const char *name, char *text, size_t room_bytes)
{
    char *value = NULL;

    text[0] = '\0';
    if ((*agent.jvmti)->GetSystemProperty(agent.jvmti, name, &value) != JVMTI_ERROR_NONE)
        return NULL;
    snprintf(text, room_bytes, "%s", value);
    (*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)value);
    return text;
}

void sources_jvm(struct recording_jvm *out, bool has_arguments)
{
    static char name[256], version[256], release[256], line[JVM_TEXT_BYTES];
    static char java[ARGUMENTS_BYTES], command[ARGUMENTS_BYTES];
    static struct arguments_told told;

    memset(out, 0, sizeof *out);
    out->name = system_property("java.vm.name", name, sizeof name);
    out->version = vm_info_line();
    if (out->version == NULL && out->name != NULL &&
        system_property("java.vm.version", version, sizeof version) != NULL &&
        system_property("java.runtime.version", release, sizeof release) != NULL) {
        snprintf(line, sizeof line, "%s (%s) for linux JRE (%s)", name, version, release);
        out->version = line;
    }
    if (has_arguments) {
        const size_t command_bytes = os_command_line(command, sizeof command);
        const char *java_command = system_property("sun.java.command", java, sizeof java);

        arguments_tell(command, command_bytes, java_command == NULL ? "" : java_command, &told);
        out->arguments = told.jvm;
        out->java_arguments = java_command == NULL ? NULL : told.java;
    }
    out->start_ms = (int64_t)(os_process_start_wall_ns() / JW_NS_PER_MS);
    out->pid = getpid();
}
