/* Callers of places of the JDK where locks are taken. Context: the agent's thread, but the native methods: hook. */
#include "instrument/instrument_census_known.h"
#include "instrument/instrument_internal.h"

#define CALLERS_CLASS "java/lang/JaywalkCallers"
#define EVENTS_CLASS  "io/jaywalk/CallerEvents"

static struct instrument_tells java;
static instrument_lock_called *teller; /* set before there are threads that look */

void instrument_set_lock_called(instrument_lock_called *called)
{
    teller = called;
}

static jboolean JNICALL is_of_jdk(JNIEnv *jni, jobject object, jint site)
{
    (void)jni;
    (void)object;
    return teller != NULL && site >= 0 && census_known_is_platform((uint32_t)site);
}

static void JNICALL tell(JNIEnv *jni, jobject object, jint site, jlong weight)
{
    (void)object;
    if (teller != NULL && site >= 0 && weight > 0)
        teller(jni, (uint32_t)site, (uint64_t)weight);
}

bool instrument_bind_callers(JNIEnv *jni, struct jw_error *err)
{
    const struct instrument_teller of = {.class_name = CALLERS_CLASS,
                                         .open_type = "(Ljava/lang/JaywalkCallers;)V",
                                         .natives_class = EVENTS_CLASS,
                                         .natives = {{"isOfJdk", "(I)Z", (uintptr_t)&is_of_jdk},
                                                     {"tell", "(IJ)V", (uintptr_t)&tell}}};

    return instrument_bind_teller(jni, &of, &java, err);
}

void instrument_callers_begin(JNIEnv *jni, bool is_on)
{
    instrument_tells_begin(jni, &java, is_on ? 0 : -1);
}
