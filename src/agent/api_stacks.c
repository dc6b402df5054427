/*
 * What include/jaywalk.h promises to other agents: stacks, methods and classes; handler, but where the header says "not in a
 * handler".
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/api_internal.h"
#include "agent/stacks.h"
#include "ids/ids.h"
#include "vm/vm_body.h"
#include "vm/vm_klass.h"
#include "vm/vm_lines.h"
#include "walk/walk.h"

/* A walk fills the room for frames with frames of its own first. */
_Static_assert(sizeof(struct jaywalk_frame) == sizeof(struct vm_call_frame) &&
                   _Alignof(struct jaywalk_frame) == _Alignof(struct vm_call_frame),
               "one takes the place of the other");
_Static_assert(sizeof(struct jaywalk_text) == sizeof(struct ids_text) &&
                   offsetof(struct jaywalk_text, length_bytes) ==
                       offsetof(struct ids_text, length_bytes) &&
                   JAYWALK_TEXT_MAX_BYTES == IDS_TEXT_MAX_BYTES,
               "the header says what there is");
_Static_assert((int)JAYWALK_INTERPRETED == (int)JW_FRAME_INTERPRETED &&
                   (int)JAYWALK_COMPILED == (int)JW_FRAME_COMPILED &&
                   (int)JAYWALK_INLINED == (int)JW_FRAME_INLINED &&
                   (int)JAYWALK_NATIVE == (int)JW_FRAME_JAVA_NATIVE,
               "the tiers are those of a frame");

/* ---- open ---- */

static int refuse(int result, char *reason, size_t reason_bytes, const char *why, size_t why_bytes)
{
    if (reason != NULL && reason_bytes != 0) {
        const size_t bytes = why_bytes < reason_bytes - 1 ? why_bytes : reason_bytes - 1;

        memcpy(reason, why, bytes);
        reason[bytes] = '\0';
    }
    return result;
}

PUBLIC int jaywalk_stacks_open(void *jni, char *reason, size_t reason_bytes)
{
    static const char no_jvm[] = "jni is no JNIEnv * of the calling thread";
    struct answer_memory memory = {0};
    struct jw_error err = {0};
    JavaVM *vm = NULL;

    if (reason != NULL && reason_bytes != 0)
        reason[0] = '\0';
    if (jni == NULL || entry_is_child() || (*(JNIEnv *)jni)->GetJavaVM(jni, &vm) != JNI_OK)
        return refuse(JAYWALK_NO_JVM, reason, reason_bytes, no_jvm, strlen(no_jvm));
    if (stacks_are_open())
        return JAYWALK_OK;
    if (!entry_open_stacks(vm, &memory, &err))
        return refuse(JAYWALK_BUSY, reason, reason_bytes, err.message, strlen(err.message));
    /* Where it was not even tried the last result is one of another time. */
    const int result = stacks_are_open()               ? JAYWALK_OK
                       : stacks_result() == JAYWALK_OK ? JAYWALK_BUSY
                                                       : stacks_result();
    if (result != JAYWALK_OK)
        (void)refuse(result, reason, reason_bytes, memory.text == NULL ? "" : memory.text,
                     memory.text == NULL ? 0 : memory.used_bytes);
    jw_free(memory.text);
    return result;
}

/* ---- walk ---- */

/* A load that faults while its signal is blocked ends the process. */
static JW_SIGNAL_SAFE bool are_faults_blocked(void)
{
    sigset_t mask;

    return pthread_sigmask(SIG_BLOCK, NULL, &mask) != 0 || sigismember(&mask, SIGSEGV) != 0 ||
           sigismember(&mask, SIGBUS) != 0;
}

static JW_SIGNAL_SAFE void name_frames(struct jaywalk_frame *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct vm_call_frame walked;

        memcpy(&walked, &frames[i], sizeof walked);
        const struct jaywalk_frame named = {
            .method = ids_method_at((vm_addr)walked.method),
            .bci = walked.bci,
            .tier = walked.kind,
        };
        memcpy(&frames[i], &named, sizeof named);
    }
}

static JW_SIGNAL_SAFE int walk(const void *ucontext, struct jaywalk_frame *frames, int depth,
                               unsigned *flags)
{
    struct walk_java_result result;
    void *const env = stacks_env();

    if (env == NULL)
        return 0;
    walk_for_others(ucontext, env, (struct vm_call_frame *)(void *)frames, (uint32_t)depth,
                    &result);
    *flags = (result.is_truncated ? JAYWALK_STACK_TRUNCATED : 0) |
             (result.is_frozen ? JAYWALK_STACK_FROZEN : 0) |
             (result.is_moving ? JAYWALK_STACK_MOVING : 0);
    if (result.frame_count == 0 && !result.is_frozen && walk_code_is_bad(result.code))
        return JAYWALK_BROKEN;
    name_frames(frames, result.frame_count);
    return (int)result.frame_count;
}

PUBLIC JW_SIGNAL_SAFE int jaywalk_stack_walk(const void *ucontext, struct jaywalk_frame *frames,
                                             int depth, unsigned *flags)
{
    const int errno_before = errno;
    unsigned own_flags = 0;
    int result;

    if (ucontext == NULL || frames == NULL || depth < 1 || depth > JAYWALK_DEPTH_MAX)
        result = JAYWALK_BAD_ARGUMENT;
    else if (!stacks_are_open())
        result = JAYWALK_IDLE;
    else if (are_faults_blocked())
        result = JAYWALK_BLOCKED;
    else
        result = walk(ucontext, frames, depth, &own_flags);
    if (flags != NULL)
        *flags = own_flags;
    errno = errno_before;
    return result;
}

/* ---- what is asked of an id ---- */

static JW_SIGNAL_SAFE struct ids_text room_of(const struct jaywalk_text *text)
{
    return (struct ids_text){text->bytes, text->room_bytes, 0};
}

/* JAYWALK_OK: the id may be asked about. */
static JW_SIGNAL_SAFE int check(uint64_t id)
{
    return id == 0 ? JAYWALK_BAD_ARGUMENT : !stacks_are_open() ? JAYWALK_IDLE : JAYWALK_OK;
}

PUBLIC JW_SIGNAL_SAFE int jaywalk_method_info(jaywalk_method method,
                                              struct jaywalk_method_info *info)
{
    const int result = info == NULL ? JAYWALK_BAD_ARGUMENT : check(method);
    struct ids_method_info told;

    if (result != JAYWALK_OK)
        return result;
    told.name = room_of(&info->name);
    told.signature = room_of(&info->signature);
    if (!ids_method_info(method, &told))
        return JAYWALK_GONE;
    info->klass = told.klass;
    info->modifiers = told.modifiers;
    info->is_obsolete = told.is_obsolete;
    info->name.length_bytes = told.name.length_bytes;
    info->signature.length_bytes = told.signature.length_bytes;
    return JAYWALK_OK;
}

PUBLIC JW_SIGNAL_SAFE int jaywalk_method_idnum(jaywalk_method method)
{
    struct ids_method_info told = {0};
    const int result = check(method);

    if (result != JAYWALK_OK)
        return result;
    if (!ids_method_info(method, &told))
        return JAYWALK_GONE;
    return told.is_number_known ? told.number : JAYWALK_UNSUPPORTED;
}

struct lines {
    struct jaywalk_line *lines;
    int count, room;
};

static JW_SIGNAL_SAFE bool put_line(const struct vm_lines *entry, void *argument)
{
    struct lines *to = argument;

    if (to->count < to->room)
        to->lines[to->count++] = (struct jaywalk_line){(uint32_t)entry->bci, (uint32_t)entry->line};
    return true;
}

PUBLIC JW_SIGNAL_SAFE int jaywalk_method_line_numbers(jaywalk_method method,
                                                      struct jaywalk_line *lines, int room)
{
    struct lines to = {lines, 0, room};
    int result = room < 0 || (lines == NULL && room != 0) ? JAYWALK_BAD_ARGUMENT : check(method);

    if (result != JAYWALK_OK)
        return result;
    result = ids_method_lines(method, put_line, &to);
    return result == IDS_GONE ? JAYWALK_GONE : result;
}

PUBLIC JW_SIGNAL_SAFE int jaywalk_method_line(jaywalk_method method, int bci)
{
    int result = check(method);

    if (result != JAYWALK_OK)
        return result;
    result = ids_method_line(method, bci);
    return result == IDS_GONE ? JAYWALK_GONE : result;
}

PUBLIC JW_SIGNAL_SAFE int jaywalk_class_info(jaywalk_class klass, struct jaywalk_class_info *info)
{
    const int result = info == NULL ? JAYWALK_BAD_ARGUMENT : check(klass);
    struct ids_class_info told;

    if (result != JAYWALK_OK)
        return result;
    told.name = room_of(&info->name);
    told.source_file = room_of(&info->source_file);
    if (!ids_class_info(klass, &told))
        return JAYWALK_GONE;
    info->modifiers = told.modifiers;
    info->is_hidden = told.is_hidden;
    info->name.length_bytes = told.name.length_bytes;
    info->source_file.length_bytes = told.source_file.length_bytes;
    return JAYWALK_OK;
}

PUBLIC JW_SIGNAL_SAFE uint64_t jaywalk_class_idnum(jaywalk_class klass)
{
    struct ids_class_info told = {0};

    return check(klass) == JAYWALK_OK && ids_class_info(klass, &told) ? told.number : 0;
}

/* ---- from and to what JNI has ---- */

PUBLIC jaywalk_class jaywalk_class_of_jclass(void *jni, void *klass)
{
    if (!stacks_are_open() || jni == NULL || klass == NULL)
        return 0;
    const vm_addr addr = vm_klass_of(jni, klass);
    return addr == 0 ? 0 : ids_class_at(addr);
}

PUBLIC void *jaywalk_class_to_jclass(void *jni, jaywalk_class klass)
{
    return jni == NULL || check(klass) != JAYWALK_OK ? NULL : stacks_hold(jni, klass);
}

/* Name and signature of a method, in JVMTI's memory. */
struct jvmti_name {
    char *name, *signature;
};

static bool read_name(jmethodID method, struct jvmti_name *out)
{
    *out = (struct jvmti_name){NULL, NULL};
    return (*agent.jvmti)->GetMethodName(agent.jvmti, method, &out->name, &out->signature, NULL) ==
           JVMTI_ERROR_NONE;
}

static void release_name(struct jvmti_name *name)
{
    (void)(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name->name);
    (void)(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name->signature);
}

static bool is_text(const struct vm_text *text, const char *wanted)
{
    char copy[IDS_TEXT_MAX_BYTES];
    const size_t length_bytes = strlen(wanted);

    return text->length_bytes == length_bytes && length_bytes <= sizeof copy &&
           safe_load_bytes(copy, text->addr, length_bytes) &&
           memcmp(copy, wanted, length_bytes) == 0;
}

/* The method of this name that the class has now; the class is held. */
static vm_addr find_method(vm_addr klass, const struct jvmti_name *name)
{
    vm_addr addr;

    for (uint32_t n = 0; (addr = vm_class_method(klass, n)) != 0; n++) {
        struct vm_method method;

        if (vm_method_read(addr, &method) && is_text(&method.name, name->name) &&
            is_text(&method.signature, name->signature))
            return addr;
    }
    return 0;
}

static vm_addr ask_jvm(JNIEnv *jni, jmethodID method)
{
    struct jvmti_name name;
    jclass klass = NULL;
    vm_addr found = 0;

    if ((*agent.jvmti)->GetMethodDeclaringClass(agent.jvmti, method, &klass) != JVMTI_ERROR_NONE)
        return 0;
    if (read_name(method, &name)) {
        found = find_method(vm_klass_of(jni, klass), &name);
        release_name(&name);
    }
    (*jni)->DeleteLocalRef(jni, klass);
    return found;
}

PUBLIC jaywalk_method jaywalk_method_of_jmethodid(void *jni, void *method)
{
    if (!stacks_are_open() || method == NULL)
        return 0;
    vm_addr addr = vm_method_of_id(method);
    if (addr == 0 && jni != NULL)
        addr = ask_jvm(jni, method);
    return addr == 0 ? 0 : ids_method_at(addr);
}

static jmethodID find_id(jclass klass, const char *name, const char *signature)
{
    jmethodID *methods = NULL, found = NULL;
    jint count = 0;

    if ((*agent.jvmti)->GetClassMethods(agent.jvmti, klass, &count, &methods) != JVMTI_ERROR_NONE)
        return NULL;
    for (jint i = 0; found == NULL && i < count; i++) {
        struct jvmti_name has;

        if (!read_name(methods[i], &has))
            continue;
        /* What is longer than we keep is compared as far as that. */
        if (strncmp(has.name, name, IDS_TEXT_MAX_BYTES) == 0 &&
            strncmp(has.signature, signature, IDS_TEXT_MAX_BYTES) == 0)
            found = methods[i];
        release_name(&has);
    }
    (*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
    return found;
}

PUBLIC void *jaywalk_method_to_jmethodid(void *jni, jaywalk_method method)
{
    char name[IDS_TEXT_MAX_BYTES + 1], signature[IDS_TEXT_MAX_BYTES + 1];
    struct ids_method_info told = {
        .name = {name, sizeof name, 0},
        .signature = {signature, sizeof signature, 0},
    };

    if (jni == NULL || check(method) != JAYWALK_OK || !ids_method_info(method, &told))
        return NULL;
    jclass klass = stacks_hold(jni, told.klass);
    if (klass == NULL)
        return NULL;
    const jmethodID found = find_id(klass, name, signature);
    (*(JNIEnv *)jni)->DeleteLocalRef(jni, klass);
    return found;
}

/* ---- handlers ---- */

PUBLIC int jaywalk_class_handler_add(jaywalk_class_handler *handler, void *argument)
{
    if (handler == NULL)
        return JAYWALK_BAD_ARGUMENT;
    return stacks_are_open() ? stacks_handler_add(handler, argument) : JAYWALK_IDLE;
}

PUBLIC int jaywalk_class_handler_remove(jaywalk_class_handler *handler, void *argument)
{
    return handler == NULL ? JAYWALK_BAD_ARGUMENT : stacks_handler_remove(handler, argument);
}
