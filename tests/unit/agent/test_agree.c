/* Stacks of our own walker beside those of JVMTI, as a JVM that is none tells them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "agent/agree.h"
#include "vm/vm_method.h"

static char names[4][8] = {"leaf", "middle", "outer", "()V"};
static jint told_count;
static jvmtiError told_error;

static jvmtiError JNICALL get_stack_trace(jvmtiEnv *env, jthread thread, jint start, jint depth_max,
                                          jvmtiFrameInfo *frames, jint *count)
{
    (void)env;
    (void)start;
    cr_expect(eq(ptr, thread, NULL), "of the calling thread");
    *count = told_count < depth_max ? told_count : depth_max;
    for (jint i = 0; i < *count; i++)
        frames[i] = (jvmtiFrameInfo){.method = (jmethodID)names[i % 3], .location = i};
    return told_error;
}

static const struct jvmtiInterface_1_ functions = {.GetStackTrace = get_stack_trace};
static jvmtiEnv jvmti = &functions;
static struct agree_room room;
static struct agree_found found;
static struct jw_error why;

static void set_up(void)
{
    told_count = 3;
    told_error = JVMTI_ERROR_NONE;
    memset(&why, 0, sizeof why);
}

TestSuite(agree, .init = set_up, .timeout = 1800);

Test(agree, a_thread_without_java_frames_is_nothing_to_compare)
{
    told_count = 0;
    cr_expect(eq(int, agree_compare(&jvmti, NULL, &room, 16, &found, &why), AGREE_NOTHING));
    told_count = 3;
    told_error = JVMTI_ERROR_WRONG_PHASE;
    cr_expect(eq(int, agree_compare(&jvmti, NULL, &room, 16, &found, &why), AGREE_NOTHING));
    cr_expect_str_eq(why.message, "JVMTI tells no stack");
}

Test(agree, long_texts_are_compared_to_their_end)
{
    static char told[1000];
    char other[sizeof told];

    memset(told, 'x', sizeof told - 1);
    for (size_t length = 0; length < sizeof told; length += 111) {
        const struct vm_text text = {(vm_addr)other, (uint32_t)length};

        told[length] = '\0';
        memcpy(other, told, sizeof other);
        cr_expect(agree_is_text(&text, told), "%zu bytes", length);
        if (length > 0) {
            other[length - 1] = 'y';
            cr_expect(not(agree_is_text(&text, told)), "the last of %zu bytes", length);
        }
        cr_expect(eq(int, agree_is_text(&text, told + (length > 0)), length == 0), "one too short");
        told[length] = 'x';
    }
}

Test(agree, a_stack_that_our_walk_cannot_tell_is_not_walked_instead_of_different)
{
    cr_expect(eq(int, agree_compare(&jvmti, NULL, &room, 16, &found, &why), AGREE_UNWALKED));
    cr_expect(eq(u32, found.told, 3));
    cr_expect(ne(ptr, strstr(why.message, "a walk over a stack of 3 frames failed: "), NULL), "%s",
              why.message);
}
