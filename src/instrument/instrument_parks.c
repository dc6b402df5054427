/* Threads that park, as LockSupport tells of them. Context: hook, on any Java thread; begin, bind: the agent's. */
#include "instrument/instrument_internal.h"

#include "probe/probe_parks.h"

#define EVENTS_CLASS "io/jaywalk/ParkEvents"

static struct instrument_tells java;

/* Set before there are threads that look. */
static const struct instrument_parks *told;

void instrument_set_parks(const struct instrument_parks *calls)
{
    told = calls;
}

static void JNICALL enter(JNIEnv *jni, jobject object, jobject thread, jobject blocker, jlong time,
                          jboolean is_until)
{
    (void)object;
    if (told != NULL)
        told->enter(jni, thread, blocker, time, is_until);
}

static void JNICALL leave(JNIEnv *jni, jobject object, jobject thread, jobject blocker)
{
    (void)object;
    if (told != NULL)
        told->leave(jni, thread, blocker);
}

bool instrument_bind_parks(JNIEnv *jni, struct jw_error *err)
{
    const struct instrument_teller teller = {
        .class_name = PROBE_PARKS_CLASS,
        .open_type = "(Ljava/lang/JaywalkParks;)V",
        .natives_class = EVENTS_CLASS,
        .natives = {{"enter", "(Ljava/lang/Thread;Ljava/lang/Object;JZ)V", (uintptr_t)&enter},
                    {"leave", "(Ljava/lang/Thread;Ljava/lang/Object;)V", (uintptr_t)&leave}}};

    return instrument_bind_teller(jni, &teller, &java, err);
}

void instrument_parks_begin(JNIEnv *jni, int32_t attach)
{
    instrument_tells_begin(jni, &java, attach);
}
