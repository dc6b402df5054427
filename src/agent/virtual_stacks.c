/* Stack and name of a virtual thread, by JVMTI; the agent's thread. */
#include "agent/virtual_stacks.h"

#include <stdio.h>
#include <string.h>

#include "base/frame.h"
#include "vm/vm_klass.h"
#include "vm/vm_loader.h"

/* A deeper stack is cut, which its event says. */
#define FRAMES_MAX 256

struct virtual_texts {
    char *signature, *name, *descriptor;
};

static void give_back(jvmtiEnv *jvmti, void *memory)
{
    (void)(*jvmti)->Deallocate(jvmti, memory);
}

static void read_name(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, struct virtual_stack *out)
{
    jvmtiThreadInfo info = {0};

    if ((*jvmti)->GetThreadInfo(jvmti, thread, &info) != JVMTI_ERROR_NONE)
        return;
    if (info.name != NULL)
        snprintf(out->name, sizeof out->name, "%s", info.name);
    give_back(jvmti, info.name);
    (*jni)->DeleteLocalRef(jni, info.thread_group);
    (*jni)->DeleteLocalRef(jni, info.context_class_loader);
}

/* Of the last entry that begins at or before the place; entries may come in any order. -1: none. */
static int line_of(jvmtiEnv *jvmti, const jvmtiFrameInfo *frame)
{
    jvmtiLineNumberEntry *table = NULL;
    jint count = 0;
    jlocation best = -1;
    int line = -1;

    if (frame->location < 0 ||
        (*jvmti)->GetLineNumberTable(jvmti, frame->method, &count, &table) != JVMTI_ERROR_NONE)
        return -1;
    for (jint i = 0; i < count; i++) {
        if (table[i].start_location > frame->location || table[i].start_location < best)
            continue;
        best = table[i].start_location;
        line = table[i].line_number;
    }
    give_back(jvmti, table);
    return line;
}

static struct recording_text text_of(const char *text)
{
    return (struct recording_text){text, text == NULL ? 0 : strlen(text)};
}

/*
 * "com/acme/Shop" of "Lcom/acme/Shop;", in its place. Source: JVMTI, GetClassSignature: where a hidden class has a '.', its name within the
 * JVM has a '+'.
 */
static struct recording_text class_in(char *signature)
{
    struct recording_text told = text_of(signature);
    char *dot = strchr(signature, '.');

    if (dot != NULL)
        *dot = '+';
    if (told.length_bytes > 2 && signature[0] == 'L')
        told = (struct recording_text){signature + 1, told.length_bytes - 2};
    return told;
}

static bool read_class(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method, struct virtual_texts *texts,
                       struct recording_told_frame *out)
{
    jclass klass = NULL;
    jint modifiers = 0;

    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &klass) != JVMTI_ERROR_NONE)
        return false;
    if ((*jvmti)->GetClassSignature(jvmti, klass, &texts->signature, NULL) == JVMTI_ERROR_NONE)
        out->class_name = class_in(texts->signature);
    if ((*jvmti)->GetClassModifiers(jvmti, klass, &modifiers) == JVMTI_ERROR_NONE)
        out->class_modifiers = (uint32_t)modifiers;
    out->loader = vm_loader_of(vm_klass_of(jni, klass));
    (*jni)->DeleteLocalRef(jni, klass);
    return out->class_name.bytes != NULL;
}

/* `texts` has what is to be given back, also where it is false. */
static bool read_frame(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frame,
                       struct virtual_texts *texts, struct recording_told_frame *out)
{
    jint modifiers = 0;

    *texts = (struct virtual_texts){NULL, NULL, NULL};
    *out = (struct recording_told_frame){
        .line = line_of(jvmti, frame),
        .bci = frame->location < 0 ? JW_BCI_UNKNOWN : (int)frame->location,
        .is_native = frame->location < 0,
    };
    if ((*jvmti)->GetMethodName(jvmti, frame->method, &texts->name, &texts->descriptor, NULL) !=
            JVMTI_ERROR_NONE ||
        !read_class(jvmti, jni, frame->method, texts, out))
        return false;
    out->name = text_of(texts->name);
    out->descriptor = text_of(texts->descriptor);
    if ((*jvmti)->GetMethodModifiers(jvmti, frame->method, &modifiers) == JVMTI_ERROR_NONE)
        out->modifiers = (uint32_t)modifiers;
    return true;
}

static bool read_frames(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frames, uint32_t count,
                        struct virtual_stack *out)
{
    out->frames = jw_alloc(jw_mul_bytes(count, sizeof *out->frames));
    out->texts = jw_alloc(jw_mul_bytes(count, sizeof *out->texts));
    if (out->frames == NULL || out->texts == NULL)
        return false;
    while (out->count < count) {
        const uint32_t i = out->count++;

        if (!read_frame(jvmti, jni, &frames[i], &out->texts[i], &out->frames[i]))
            return false;
    }
    return true;
}

void virtual_stack_ask(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, struct virtual_stack *out)
{
    static jvmtiFrameInfo frames[FRAMES_MAX + 1];
    jint count = 0;

    *out = (struct virtual_stack){.count = 0};
    read_name(jvmti, jni, thread, out);
    if ((*jvmti)->GetStackTrace(jvmti, thread, 0, FRAMES_MAX + 1, frames, &count) !=
            JVMTI_ERROR_NONE ||
        count <= 0)
        return;
    out->is_truncated = count > FRAMES_MAX;
    if (!read_frames(jvmti, jni, frames, out->is_truncated ? FRAMES_MAX : (uint32_t)count, out))
        virtual_stack_free(jvmti, out);
}

void virtual_stack_free(jvmtiEnv *jvmti, struct virtual_stack *stack)
{
    for (uint32_t i = 0; i < stack->count; i++) {
        give_back(jvmti, stack->texts[i].signature);
        give_back(jvmti, stack->texts[i].name);
        give_back(jvmti, stack->texts[i].descriptor);
    }
    jw_free(stack->frames);
    jw_free(stack->texts);
    stack->frames = NULL;
    stack->texts = NULL;
    stack->count = 0;
}
