/*
 * What the classes of java/ (package io.jaywalk) call; any, on a thread of the JVM. Names are found by the JVM itself in
 * a library that was loaded as an agent, else after System.load. Texts are UTF-8 in arrays of bytes, in both directions.
 */
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/api_internal.h"
#include "base/version.h"
#include "context/context.h"
#include "jaywalk.h"

#define NATIVES_INTERFACE 2 /* Native.INTERFACE */
#define EXCEPTION_CLASS   "io/jaywalk/JaywalkException"

/* A function of class Native; `jni` and `class` are there in each. */
#define NATIVE(type, name, ...)                                                                    \
    JNIEXPORT type JNICALL Java_io_jaywalk_Native_##name(JNIEnv *jni, jclass class,                \
                                                         ##__VA_ARGS__);                           \
    JNIEXPORT type JNICALL Java_io_jaywalk_Native_##name(                                          \
        JNIEnv *jni __attribute__((unused)), jclass class __attribute__((unused)), ##__VA_ARGS__)

/* Where a slot has what Java writes. */
_Static_assert(CONTEXT_ATTRIBUTES_BYTES ==
                   CONTEXT_SLOT_BYTES - CONTEXT_RECORD_OFFSET - CONTEXT_HEADER_BYTES,
               "attributes end with the slot");

/* Loaded by System.load: as usable as after an attach, and as idle. */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, void *reserved)
{
    (void)java_vm;
    (void)reserved;
    return JNI_VERSION_1_6;
}

/* JNI wants its own kind of UTF-8: what is more than ASCII is shown as a question mark. */
static void throw_text(JNIEnv *jni, const char *text)
{
    char plain[512];
    jclass exception = (*jni)->FindClass(jni, EXCEPTION_CLASS);

    if (exception == NULL) /* and that is thrown */
        return;
    snprintf(plain, sizeof plain, "%s", text);
    for (char *at = plain; *at != '\0'; at++)
        *at = (unsigned char)*at < 0x80 ? *at : '?';
    (void)(*jni)->ThrowNew(jni, exception, plain);
    (*jni)->DeleteLocalRef(jni, exception);
}

static jbyteArray bytes_of(JNIEnv *jni, const char *text, size_t length_bytes)
{
    jbyteArray bytes = (*jni)->NewByteArray(jni, (jsize)length_bytes);

    if (bytes != NULL)
        (*jni)->SetByteArrayRegion(jni, bytes, 0, (jsize)length_bytes, (const jbyte *)text);
    return bytes;
}

/* A text of at most `room_bytes`; longer ones are cut there. NULL: no text. */
static struct context_text text_of(JNIEnv *jni, jbyteArray bytes, char *room, size_t room_bytes)
{
    struct context_text text = {.bytes = room};

    if (bytes == NULL)
        return (struct context_text){0};
    text.length_bytes = (size_t)(*jni)->GetArrayLength(jni, bytes);
    if (text.length_bytes > room_bytes)
        text.length_bytes = room_bytes;
    (*jni)->GetByteArrayRegion(jni, bytes, 0, (jsize)text.length_bytes, (jbyte *)room);
    return text;
}

NATIVE(jint, interfaceNumber)
{
    return NATIVES_INTERFACE;
}

NATIVE(jobject, open, jint slot_bytes, jint record_offset, jint attributes_bytes)
{
    struct jw_error err = {0};
    size_t bytes = 0;

    if (slot_bytes != CONTEXT_SLOT_BYTES || record_offset != CONTEXT_RECORD_OFFSET ||
        attributes_bytes != CONTEXT_ATTRIBUTES_BYTES)
        jw_error_set(&err, "libjaywalk.so and jaywalk.jar are of different versions; use both of "
                           "one release");
    else if (contexts_open(&err)) {
        void *const memory = contexts_memory(&bytes);

        return (*jni)->NewDirectByteBuffer(jni, memory, (jlong)bytes);
    }
    throw_text(jni, err.message);
    return NULL;
}

NATIVE(jbyteArray, version)
{
    return bytes_of(jni, JAYWALK_VERSION, sizeof JAYWALK_VERSION - 1);
}

NATIVE(jint, bind, jobject thread, jboolean is_virtual)
{
    const uint64_t number = api_thread_number(jni, thread);

    return number == 0 ? CONTEXT_NO_SLOT : context_bind(number, is_virtual != JNI_FALSE);
}

NATIVE(jint, find, jobject thread)
{
    return context_find(api_thread_number(jni, thread));
}

NATIVE(void, unbind, jint slot, jlong owner)
{
    context_unbind(slot, (uint64_t)owner);
}

NATIVE(jint, attribute, jbyteArray name)
{
    char room[CONTEXT_NAME_MAX_BYTES + 1]; /* one more: too long stays too long */
    const struct context_text text = text_of(jni, name, room, sizeof room);
    struct jw_error err = {0};
    const int number = context_attribute(text.bytes, text.length_bytes, &err);

    if (number < 0)
        throw_text(jni, err.message);
    return number;
}

NATIVE(jboolean, endpoint, jlong root_span_id, jbyteArray name, jbyteArray operation, jint slot)
{
    char name_room[CONTEXT_ENDPOINT_MAX_BYTES], operation_room[CONTEXT_ENDPOINT_MAX_BYTES];
    struct generations *const generations = run_generations();

    return (jboolean)context_endpoint(
        generations, (uint64_t)root_span_id, text_of(jni, name, name_room, sizeof name_room),
        text_of(jni, operation, operation_room, sizeof operation_room), slot);
}

NATIVE(jboolean, span, jbyteArray name, jlong begin_ns, jlong end_ns, jint slot)
{
    char room[CONTEXT_ENDPOINT_MAX_BYTES];

    return (jboolean)context_span(run_generations(), text_of(jni, name, room, sizeof room),
                                  (uint64_t)begin_ns, (uint64_t)end_ns, slot);
}

NATIVE(jboolean, isActive)
{
    return (jboolean)(run_generations() != NULL);
}

/* The thread of the operating system that runs this: of a virtual thread, its carrier. */
NATIVE(jboolean, thread, jboolean is_added)
{
    return (jboolean)((is_added ? jaywalk_thread_add() : jaywalk_thread_remove()) == JAYWALK_OK);
}

/* The answer behind a byte that says whether it was refused. */
static jbyteArray answer_of(JNIEnv *jni, const struct answer_memory *memory)
{
    const jbyte is_refused = memory->code != 0;
    jbyteArray bytes = (*jni)->NewByteArray(jni, (jsize)memory->used_bytes + 1);

    if (bytes == NULL)
        return NULL;
    (*jni)->SetByteArrayRegion(jni, bytes, 0, 1, &is_refused);
    if (memory->used_bytes != 0)
        (*jni)->SetByteArrayRegion(jni, bytes, 1, (jsize)memory->used_bytes,
                                   (const jbyte *)memory->text);
    return bytes;
}

NATIVE(jbyteArray, execute, jbyteArray command)
{
    const size_t length_bytes = (size_t)(*jni)->GetArrayLength(jni, command);
    struct answer_memory memory = {0};
    struct jw_error err = {0};
    JavaVM *java_vm;
    jbyteArray answer = NULL;
    char *text;

    if (length_bytes > OPTIONS_MAX_BYTES || (*jni)->GetJavaVM(jni, &java_vm) != JNI_OK ||
        (text = jw_alloc(length_bytes + 1)) == NULL) {
        throw_text(jni, "the command is too long, or the process has no memory left");
        return NULL;
    }
    (*jni)->GetByteArrayRegion(jni, command, 0, (jsize)length_bytes, (jbyte *)text);
    if (memchr(text, '\0', length_bytes) != NULL)
        throw_text(jni, "a command with a NUL character in it; nothing was done");
    else if (!entry_obey(java_vm, text, &memory, &err))
        throw_text(jni, err.message);
    else
        answer = answer_of(jni, &memory);
    jw_free(memory.text);
    jw_free(text);
    return answer;
}
