/* Objects that are told by their class. Context: hook, on any Java thread; begin and bind: the agent's. */
#include "instrument/instrument_internal.h"
#include "instrument/instrument_sites.h"
#include "probe/probe_news.h"

#define EVENTS_CLASS "io/jaywalk/NewEvents"

static struct instrument_tells java;

/* Set before there are threads that look. */
static instrument_new *teller;
static uint64_t interval = 1; /* of the attach to come */

void instrument_set_news(instrument_new *told, uint64_t objects)
{
    teller = told;
    interval = objects;
}

static void JNICALL tell(JNIEnv *jni, jobject object, jint site, jlong count)
{
    (void)jni;
    (void)object;
    if (teller != NULL && site >= 0 && count > 0)
        teller(instrument_sites_made(INSTRUMENT_SITES_MADE, (uint32_t)site), (uint64_t)count);
}

bool instrument_bind_news(JNIEnv *jni, struct jw_error *err)
{
    const struct instrument_teller of = {.class_name = PROBE_NEWS_CLASS,
                                         .open_type = "(Ljava/lang/JaywalkNews;)V",
                                         .begin_type = "(IJ)V",
                                         .natives_class = EVENTS_CLASS,
                                         .natives = {{"tell", "(IJ)V", (uintptr_t)&tell}}};

    return instrument_bind_teller(jni, &of, &java, err);
}

static void begin(JNIEnv *jni, int32_t attach)
{
    (*jni)->CallStaticVoidMethod(jni, java.klass, java.begin, (jint)attach, (jlong)interval);
    (*jni)->ExceptionClear(jni);
}

bool instrument_news_begin(JNIEnv *jni, int32_t attach, struct jw_error *err)
{
    if (!instrument_counts_begin(jni, INSTRUMENT_COUNTED_OBJECTS, (uint32_t)attach, err))
        return false;
    begin(jni, attach);
    return true;
}

void instrument_news_end(JNIEnv *jni)
{
    begin(jni, -1);
}
