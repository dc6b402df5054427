/*
 * Tries our own walker at start, on a stack that is known: Java code of ours, in a class of ours, calls a
 * native method of ours, which asks both the walker and JVMTI for the stack that it stands on. Control.
 *
 * The class is defined once, by the boot loader, under the name jaywalk/SelfCheck:
 *
 *     static native void look();
 *     static int down(int n) { if (n == 0) { look(); return 0; } return down(n - 1) + 1; }
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/agree.h"
#include "base/atomics.h"
#include "vm/vm_stack.h"
#include "walk/walk.h"
#include "walk/walk_breaker.h"

#define CLASS_NAME "jaywalk/SelfCheck"

/* Levels of `down`, the native method on top of them, and whatever called us. */
#define LEVELS 12

/* So often the stack is looked at. The first look finds interpreted frames; a later one may find compiled
 * ones, of which as many as come are compared, too. */
#define LOOKS 250

/* Source: JVM specification, chapter 4. Version 49 needs no stack maps, and every JDK takes it. */
/* clang-format off */
static const unsigned char class_bytes[] = {
    0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 49,
    0, 14,                                                       /* constants 1 to 13 */
    1, 0, 17, 'j', 'a', 'y', 'w', 'a', 'l', 'k', '/',            /* 1 */
              'S', 'e', 'l', 'f', 'C', 'h', 'e', 'c', 'k',
    7, 0, 1,                                                     /* 2: this class */
    1, 0, 16, 'j', 'a', 'v', 'a', '/', 'l', 'a', 'n', 'g', '/',  /* 3 */
              'O', 'b', 'j', 'e', 'c', 't',
    7, 0, 3,                                                     /* 4: Object */
    1, 0, 4, 'l', 'o', 'o', 'k',                                 /* 5 */
    1, 0, 3, '(', ')', 'V',                                      /* 6 */
    1, 0, 4, 'd', 'o', 'w', 'n',                                 /* 7 */
    1, 0, 4, '(', 'I', ')', 'I',                                 /* 8 */
    1, 0, 4, 'C', 'o', 'd', 'e',                                 /* 9 */
    12, 0, 5, 0, 6,                                              /* 10: look()V */
    10, 0, 2, 0, 10,                                             /* 11 */
    12, 0, 7, 0, 8,                                              /* 12: down(I)I */
    10, 0, 2, 0, 12,                                             /* 13 */
    0x10, 0x30,                                                  /* final, super, synthetic */
    0, 2, 0, 4, 0, 0, 0, 0,                                      /* no interfaces, no fields */
    0, 2,
    0x01, 0x08, 0, 5, 0, 6, 0, 0,                                /* static native void look() */
    0x00, 0x08, 0, 7, 0, 8, 0, 1,                                /* static int down(int) */
    0, 9, 0, 0, 0, 31, 0, 2, 0, 1, 0, 0, 0, 19,
    0x1a,                                                        /*  0 iload_0 */
    0x9a, 0, 8,                                                  /*  1 ifne 9 */
    0xb8, 0, 11,                                                 /*  4 invokestatic look */
    0x03,                                                        /*  7 iconst_0 */
    0xac,                                                        /*  8 ireturn */
    0x1a,                                                        /*  9 iload_0 */
    0x04,                                                        /* 10 iconst_1 */
    0x64,                                                        /* 11 isub */
    0xb8, 0, 13,                                                 /* 12 invokestatic down */
    0x04,                                                        /* 15 iconst_1 */
    0x60,                                                        /* 16 iadd */
    0x00,                                                        /* 17 nop */
    0xac,                                                        /* 18 ireturn */
    0, 0, 0, 0,
    0, 0,
};
/* clang-format on */

/* The look under way; commands come one at a time. */
static struct {
    struct agree_room room;
    uint32_t looks, compared, compiled;
    bool is_wrong;
    struct jw_error err;
} check;

/* What came of it, once for a process. The first two of whoever starts sessions; the counts are relaxed: figures, of frames
 * that were as JVMTI tells them. */
static struct {
    bool is_done, is_right;
    struct jw_error why;
    _Atomic uint32_t agreed, agreed_compiled;
} outcome;

static void compare(JNIEnv *jni)
{
    struct agree_found found;

    if (agree_compare(agent.jvmti, jni, &check.room, AGREE_FRAMES_MAX, &found, &check.err) !=
        AGREE_EQUAL)
        return;
    if (found.told != found.frames || found.told <= LEVELS) {
        jw_error_set(&check.err, "a known stack has %u frames by JVMTI and %u by our walk",
                     found.told, found.frames);
        return;
    }
    check.compiled += found.compiled;
    check.compared += found.frames;
    check.is_wrong = false;
}

static void JNICALL look(JNIEnv *jni, jclass klass)
{
    (void)klass;
    check.looks++;
    if (check.is_wrong)
        return;
    check.is_wrong = true;
    compare(jni);
}

/* True, with the exception taken away, when Java has thrown one. */
static bool is_thrown(JNIEnv *jni)
{
    if (!(*jni)->ExceptionCheck(jni))
        return false;
    (*jni)->ExceptionClear(jni);
    return true;
}

static jclass own_class(JNIEnv *jni)
{
    jclass klass = (*jni)->FindClass(jni, CLASS_NAME);

    /* Another copy of the library may have defined it. */
    if (is_thrown(jni) || klass == NULL)
        klass = (*jni)->DefineClass(jni, CLASS_NAME, NULL, (const jbyte *)class_bytes,
                                    (jsize)sizeof class_bytes);
    return is_thrown(jni) ? NULL : klass;
}

static bool call_down(JNIEnv *jni, struct jw_error *err)
{
    static char name[] = "look", signature[] = "()V";
    const JNINativeMethod native = {name, signature, (void *)look};
    jclass klass = own_class(jni);
    jmethodID down = NULL;

    if (klass == NULL || (*jni)->RegisterNatives(jni, klass, &native, 1) != JNI_OK ||
        (down = (*jni)->GetStaticMethodID(jni, klass, "down", "(I)I")) == NULL) {
        (void)is_thrown(jni);
        jw_error_set(err, "the JVM does not take the class %s, on which walks are tried",
                     CLASS_NAME);
        return false;
    }
    for (uint32_t i = 0; i < LOOKS && !check.is_wrong; i++) {
        (void)(*jni)->CallStaticIntMethod(jni, klass, down, LEVELS);
        if (is_thrown(jni) || check.looks != i + 1) {
            jw_error_set(err, "Java code cannot be called on the thread that starts profiling");
            return false;
        }
    }
    (*jni)->DeleteLocalRef(jni, klass);
    return true;
}

static bool run_check(struct jw_error *err)
{
    JNIEnv *jni = NULL;

    if (!vm_stack_open(err))
        return false;
    if ((*agent.java_vm)->GetEnv(agent.java_vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK) {
        jw_error_set(err, "the thread that starts profiling is not attached to the JVM");
        return false;
    }
    if (!call_down(jni, err))
        return false;
    if (check.is_wrong) {
        *err = check.err;
        return false;
    }
    jw_store_relaxed(&outcome.agreed, check.compared);
    jw_store_relaxed(&outcome.agreed_compiled, check.compiled);
    agent_log(OPTIONS_LOGLEVEL_DEBUG,
              "%u frames of a known stack are as JVMTI tells them, %u of them compiled",
              check.compared, check.compiled);
    return true;
}

static void warn_of_none(void)
{
    char text[WALK_REASON_BYTES];

    if (walk_walker_in_use(text, sizeof text) == NULL)
        agent_log(OPTIONS_LOGLEVEL_WARN, "no walker of Java frames can be used: %s", text);
}

bool selfcheck_try(struct jw_error *err)
{
    if (!outcome.is_done)
        outcome.is_right = run_check(&outcome.why);
    outcome.is_done = true;
    if (!outcome.is_right && err != NULL)
        *err = outcome.why;
    return outcome.is_right;
}

void selfcheck_open_walker(const struct options *options)
{
    if (options->cstack == OPTIONS_CSTACK_AGCT) {
        agree_open(false);
        walk_open(WALK_AGCT, NULL);
        warn_of_none();
        return;
    }
    if (!selfcheck_try(NULL))
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "jaywalk's own walker cannot be used here, AsyncGetCallTrace is: %s",
                  outcome.why.message);
    agree_open(outcome.is_right);
    walk_open(WALK_VM, outcome.is_right ? NULL : outcome.why.message);
    warn_of_none();
}

const char *selfcheck_text(char *text, size_t room_bytes)
{
    uint32_t compiled;
    const uint32_t agreed = selfcheck_agreed(&compiled);

    if (!outcome.is_done)
        snprintf(text, room_bytes, "not run: cstack=agct");
    else if (!outcome.is_right)
        snprintf(text, room_bytes, "differs: %s", outcome.why.message);
    else
        snprintf(text, room_bytes, "agrees: %u frames, %u of them compiled", agreed, compiled);
    return text;
}

uint32_t selfcheck_agreed(uint32_t *compiled)
{
    *compiled = jw_load_relaxed(&outcome.agreed_compiled);
    return jw_load_relaxed(&outcome.agreed);
}
