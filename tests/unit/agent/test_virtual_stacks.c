/* Stack and name of a thread that waits for ever, as a JVM that is none tells them; and that each text is given back. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "agent/virtual_stacks.h"
#include "base/frame.h"

#define METHODS 3

static const struct {
    const char *signature, *name, *descriptor;
} methods[METHODS] = {
    {"Lcom/acme/Shop;", "buy", "(I)V"},
    {"Ljdk/internal/vm/Continuation;", "yield", "()Z"},
    {"Lcom/acme/Shop$$Lambda.0x0000000008;", "run", "()V"},
};

static jvmtiFrameInfo frames[400];
static jint frame_count;
static jvmtiError stack_error, name_error, class_error, method_error;
static const char *thread_name;
static int given, given_back, references;
static struct virtual_stack stack;

static char *give(const char *text)
{
    given++;
    return strdup(text);
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
    (void)env;
    given_back += memory != NULL;
    free(memory);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_stack(jvmtiEnv *env, jthread thread, jint start, jint depth_max,
                                    jvmtiFrameInfo *out, jint *count)
{
    (void)env;
    cr_assert(eq(ptr, thread, (void *)7));
    cr_assert(eq(int, start, 0));
    *count = frame_count < depth_max ? frame_count : depth_max;
    memcpy(out, frames, (size_t)*count * sizeof *out);
    return stack_error;
}

static jvmtiError JNICALL get_thread(jvmtiEnv *env, jthread thread, jvmtiThreadInfo *out)
{
    (void)env;
    (void)thread;
    if (name_error != JVMTI_ERROR_NONE)
        return name_error;
    *out = (jvmtiThreadInfo){.name = give(thread_name), .thread_group = (jthreadGroup)8};
    references++;
    return JVMTI_ERROR_NONE;
}

static size_t number_of(jmethodID method)
{
    return (size_t)(uintptr_t)method - 1;
}

static jvmtiError JNICALL get_name(jvmtiEnv *env, jmethodID method, char **name, char **descriptor,
                                   char **generic)
{
    (void)env;
    cr_assert(eq(ptr, generic, NULL));
    if (method_error != JVMTI_ERROR_NONE)
        return method_error;
    *name = give(methods[number_of(method)].name);
    *descriptor = give(methods[number_of(method)].descriptor);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class(jvmtiEnv *env, jmethodID method, jclass *out)
{
    (void)env;
    references++;
    *out = (jclass)method;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_signature(jvmtiEnv *env, jclass klass, char **signature,
                                        char **generic)
{
    (void)env;
    (void)generic;
    if (class_error != JVMTI_ERROR_NONE)
        return class_error;
    *signature = give(methods[number_of((jmethodID)klass)].signature);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_modifiers(jvmtiEnv *env, jclass klass, jint *out)
{
    (void)env;
    (void)klass;
    *out = 0x21;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_modifiers(jvmtiEnv *env, jmethodID method, jint *out)
{
    (void)env;
    (void)method;
    *out = 0x9;
    return JVMTI_ERROR_NONE;
}

/* A compiler may put lines in any order, and come back to one. */
static jvmtiError JNICALL get_lines(jvmtiEnv *env, jmethodID method, jint *count,
                                    jvmtiLineNumberEntry **out)
{
    static const jvmtiLineNumberEntry lines[] = {{12, 31}, {0, 30}, {20, 30}};

    (void)env;
    if (number_of(method) != 0)
        return JVMTI_ERROR_ABSENT_INFORMATION;
    given++;
    *count = 3;
    *out = malloc(sizeof lines);
    cr_assert_not_null(*out);
    memcpy(*out, lines, sizeof lines);
    return JVMTI_ERROR_NONE;
}

static void JNICALL delete_reference(JNIEnv *env, jobject object)
{
    (void)env;
    references -= object != NULL;
}

static const struct jvmtiInterface_1_ functions = {
    .Deallocate = deallocate,
    .GetStackTrace = get_stack,
    .GetThreadInfo = get_thread,
    .GetMethodName = get_name,
    .GetMethodDeclaringClass = get_class,
    .GetClassSignature = get_signature,
    .GetClassModifiers = get_class_modifiers,
    .GetMethodModifiers = get_modifiers,
    .GetLineNumberTable = get_lines,
};
static jvmtiEnv jvmti = &functions;
static const struct JNINativeInterface_ jni_functions = {.DeleteLocalRef = delete_reference};
static JNIEnv jni = &jni_functions;

static void set_up(void)
{
    frame_count = METHODS;
    for (size_t i = 0; i < JW_COUNT_OF(frames); i++)
        frames[i] = (jvmtiFrameInfo){.method = (jmethodID)(i % METHODS + 1), .location = 13};
    frames[1].location = -1;
    thread_name = "left-first";
    given = given_back = references = 0;
}

static void ask(void)
{
    virtual_stack_ask(&jvmti, &jni, (jthread)7, &stack);
    cr_assert(eq(int, references, 0), "no local reference is left");
}

static void expect_all_given_back(void)
{
    virtual_stack_free(&jvmti, &stack);
    cr_assert(eq(int, given_back, given));
    cr_assert(eq(ptr, stack.frames, NULL));
    virtual_stack_free(&jvmti, &stack); /* does no harm */
    cr_assert(eq(int, given_back, given));
}

static void tear_down(void)
{
    jw_alloc_fail_after(0);
}

TestSuite(virtual_stacks, .init = set_up, .fini = tear_down, .timeout = 1800);

static void expect_text(struct recording_text told, const char *wanted)
{
    cr_assert(eq(sz, told.length_bytes, strlen(wanted)));
    cr_assert(memcmp(told.bytes, wanted, told.length_bytes) == 0);
}

Test(virtual_stacks, each_frame_is_told_with_its_class_and_line)
{
    ask();
    cr_assert_str_eq(stack.name, "left-first");
    cr_assert(eq(u32, stack.count, METHODS));
    cr_assert(not(stack.is_truncated));
    const struct recording_told_frame *const told = stack.frames;
    expect_text(told[0].class_name, "com/acme/Shop");
    expect_text(told[0].name, "buy");
    expect_text(told[0].descriptor, "(I)V");
    cr_assert(eq(int, told[0].line, 31));
    cr_assert(eq(int, told[0].bci, 13));
    cr_assert(not(told[0].is_native));
    cr_assert(eq(u32, told[0].modifiers, 0x9));
    cr_assert(eq(u32, told[0].class_modifiers, 0x21));
    cr_assert(told[1].is_native);
    cr_assert(eq(int, told[1].bci, JW_BCI_UNKNOWN));
    cr_assert(eq(int, told[1].line, -1));
    expect_text(told[2].class_name, "com/acme/Shop$$Lambda+0x0000000008");
    cr_assert(eq(int, told[2].line, -1));
    expect_all_given_back();
}

Test(virtual_stacks, the_line_is_that_of_the_last_entry_before_the_place)
{
    static const struct {
        jlocation at;
        int line;
    } wanted[] = {{0, 30}, {11, 30}, {12, 31}, {19, 31}, {20, 30}, {99, 30}};

    frame_count = 1;
    for (size_t i = 0; i < JW_COUNT_OF(wanted); i++) {
        frames[0].location = wanted[i].at;
        ask();
        cr_assert(eq(int, stack.frames[0].line, wanted[i].line), "at %d", (int)wanted[i].at);
        expect_all_given_back();
    }
}

Test(virtual_stacks, a_deep_stack_is_cut_and_says_so)
{
    frame_count = 256;
    ask();
    cr_assert(eq(u32, stack.count, 256));
    cr_assert(not(stack.is_truncated));
    expect_all_given_back();
    frame_count = 400;
    ask();
    cr_assert(eq(u32, stack.count, 256));
    cr_assert(stack.is_truncated);
    expect_all_given_back();
}

Test(virtual_stacks, what_the_jvm_does_not_tell_is_left_out_whole)
{
    jvmtiError *const errors[] = {&stack_error, &class_error, &method_error};

    for (size_t i = 0; i < JW_COUNT_OF(errors); i++) {
        *errors[i] = JVMTI_ERROR_INVALID_METHODID;
        ask();
        cr_assert(eq(ptr, stack.frames, NULL));
        cr_assert(eq(u32, stack.count, 0));
        cr_assert_str_eq(stack.name, "left-first", "the name is known all the same");
        expect_all_given_back();
        *errors[i] = JVMTI_ERROR_NONE;
    }
    name_error = JVMTI_ERROR_THREAD_NOT_ALIVE;
    ask();
    cr_assert_str_eq(stack.name, "");
    expect_all_given_back();
    frame_count = 0;
    ask();
    cr_assert(eq(ptr, stack.frames, NULL));
    expect_all_given_back();
}

Test(virtual_stacks, without_memory_there_is_no_stack)
{
    for (unsigned fail_at = 1; fail_at <= 2; fail_at++) {
        jw_alloc_fail_after(fail_at);
        ask();
        cr_assert(eq(ptr, stack.frames, NULL));
        expect_all_given_back();
    }
    jw_alloc_fail_after(0);
    ask();
    cr_assert(eq(u32, stack.count, METHODS));
    expect_all_given_back();
}

Test(virtual_stacks, a_long_name_is_cut)
{
    static char name[1000];

    memset(name, 'x', sizeof name - 1);
    thread_name = name;
    ask();
    cr_assert(eq(sz, strlen(stack.name), sizeof stack.name - 1));
    expect_all_given_back();
}
