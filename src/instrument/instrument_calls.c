/* Calls of which each n-th is told. Context: the agent's thread, but the native method: hook. */
#include "instrument/instrument_internal.h"
#include "probe/probe_own.h"

#define EVENTS_CLASS "io/jaywalk/CallEvents"

static struct instrument_tells java;

static uint64_t interval = 1; /* of the attach to come */

static instrument_called *teller; /* set before there are threads that look */

void instrument_set_called(instrument_called *called)
{
    teller = called;
}

void instrument_set_call_interval(uint64_t calls)
{
    interval = calls;
}

static void JNICALL tell(JNIEnv *jni, jobject object, jlong calls)
{
    (void)jni;
    (void)object;
    if (teller != NULL && calls > 0)
        teller((uint64_t)calls);
}

bool instrument_bind_calls(JNIEnv *jni, struct jw_error *err)
{
    const struct instrument_teller of = {.class_name = PROBE_OWN_CALLS_CLASS,
                                         .open_type = "(Ljava/lang/JaywalkCalls;)V",
                                         .begin_type = "(IJ)V",
                                         .natives_class = EVENTS_CLASS,
                                         .natives = {{"tell", "(J)V", (uintptr_t)&tell}}};

    return instrument_bind_teller(jni, &of, &java, err);
}

void instrument_calls_begin(JNIEnv *jni, int32_t attach)
{
    (*jni)->CallStaticVoidMethod(jni, java.klass, java.begin, (jint)attach, (jlong)interval);
    (*jni)->ExceptionClear(jni);
}
