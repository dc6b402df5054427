/* Requests that methods serve: what they are is asked of them, in the JVM's own way. Context: hook, on any Java thread; begin, end: the agent's. */
#include <string.h>

#include "instrument/instrument_routes_internal.h"
#include "probe/probe_weave.h"

#define EVENTS_CLASS   "io/jaywalk/RouteEvents"
#define WRAPPERS_LIMIT 8 /* around a call */

static struct instrument_tells java;
static jmethodID identity_of;

static const struct instrument_requests *requests; /* set before there are threads that look */

void instrument_set_requests(const struct instrument_requests *calls)
{
    requests = calls;
}

/* ---- requests that go on ---- */

/* What is done for a request on a thread. */
enum turn {
    BEGINS,
    GOES_ON, /* it began before, maybe on another thread */
    IS_PART, /* of one whose begin was not seen: its path need not be the request's */
};

/* Source: Servlet API 3.0, DispatcherType. What has none is of an older one. */
static enum turn dispatched(JNIEnv *jni, jobject request, const char *type)
{
    char name[INSTRUMENT_TEXT_BYTES];

    (void)instrument_read_text(
        jni,
        instrument_ask(jni, instrument_ask(jni, request, "getDispatcherType", type), "name",
                       INSTRUMENT_TEXT_TYPE),
        name);
    return name[0] == '\0' || strcmp(name, "REQUEST") == 0 ? BEGINS
           : strcmp(name, "ASYNC") == 0                    ? GOES_ON
                                                           : IS_PART;
}

bool instrument_is_part(JNIEnv *jni, jobject request, const char *type)
{
    return dispatched(jni, request, type) == IS_PART;
}

/* Source: Tomcat 7 to 11, Request.isAsyncDispatching; Jetty 9.4 to 11, HttpChannelState.isInitial. */
static enum turn turn_of(JNIEnv *jni, jobject given, enum probe_routes_site site)
{
    jobject state;

    switch (site) {
    case PROBE_ROUTES_TOMCAT:
        return instrument_ask_whether(jni, given, "isAsyncDispatching") ? GOES_ON : BEGINS;
    case PROBE_ROUTES_JETTY:
        state =
            instrument_ask(jni, given, "getState", "()Lorg/eclipse/jetty/server/HttpChannelState;");
        return state != NULL && !instrument_ask_whether(jni, state, "isInitial") ? GOES_ON : BEGINS;
    case PROBE_ROUTES_JAVAX:
        return dispatched(jni, given, INSTRUMENT_JAVAX_DISPATCHER);
    case PROBE_ROUTES_JAKARTA:
        return dispatched(jni, given, INSTRUMENT_JAKARTA_DISPATCHER);
    case PROBE_ROUTES_LISTENER:
    case PROBE_ROUTES_CLOSED:
        return GOES_ON;
    case PROBE_ROUTES_EXCHANGE:
    case PROBE_ROUTES_CALL:
    case PROBE_ROUTES_READ:
    case PROBE_ROUTES_POLLED:
    case PROBE_ROUTES_SITES:
        break;
    }
    return BEGINS;
}

static jobject request_of(JNIEnv *jni, jobject given, enum probe_routes_site site)
{
    return site == PROBE_ROUTES_JETTY
               ? instrument_ask(jni, given, "getRequest", "()Lorg/eclipse/jetty/server/Request;")
               : given;
}

/*
 * What a method says by what it returns, as JaywalkRoutes has it: Jetty's, which other threads may be past already. One that says nothing
 * is asked, and so long as it has not returned it is the container's word: of a request that is to be dispatched again
 * isAsyncStarted is false, so one that was started goes on, whatever that says.
 * Source: Jetty 9.4 to 11, HttpChannel.handle, "true if the channel is ready to continue handling (ie it is not suspended)"; Servlet API
 * 3.0, ServletRequest.isAsyncStarted; Tomcat 7 to 11, Request.isAsync, true also when it is to be dispatched again.
 */
static bool goes_on_elsewhere(JNIEnv *jni, jobject given, enum probe_routes_site site,
                              enum probe_routes_end end, bool is_started)
{
    switch (site) {
    case PROBE_ROUTES_TOMCAT:
        return instrument_ask_whether(jni, given, "isAsync");
    case PROBE_ROUTES_JETTY:
        return end == PROBE_ROUTES_GOES_ON;
    case PROBE_ROUTES_JAVAX:
    case PROBE_ROUTES_JAKARTA:
        return is_started || instrument_ask_whether(jni, given, "isAsyncStarted");
    case PROBE_ROUTES_CALL:
        return end != PROBE_ROUTES_OVER;
    case PROBE_ROUTES_LISTENER:
        return true;
    case PROBE_ROUTES_CLOSED:
    case PROBE_ROUTES_EXCHANGE:
    case PROBE_ROUTES_READ: /* it is kept, or has been read */
    case PROBE_ROUTES_POLLED:
    case PROBE_ROUTES_SITES:
        break;
    }
    return false;
}

static bool is_of_grpc(enum probe_routes_site site)
{
    return site == PROBE_ROUTES_CALL || site == PROBE_ROUTES_LISTENER ||
           site == PROBE_ROUTES_CLOSED;
}

static bool is_of_class(JNIEnv *jni, jobject object, const char *wanted)
{
    char name[INSTRUMENT_TEXT_BYTES];
    jclass klass = (*jni)->GetObjectClass(jni, object);
    jobject text = instrument_ask(jni, klass, "getName", INSTRUMENT_TEXT_TYPE);

    (void)instrument_read_text(jni, text, name);
    (*jni)->DeleteLocalRef(jni, text);
    (*jni)->DeleteLocalRef(jni, klass);
    return strcmp(name, wanted) == 0;
}

/*
 * The call as a server has it: its listener has that, and a handler what interceptors made of it. NULL: it is not to be had.
 * Source: gRPC 1.41, PartialForwardingServerCall.delegate, and the names of fields of its class files.
 */
static jobject call_of(JNIEnv *jni, jobject given, enum probe_routes_site site)
{
    jobject call = given;

    if (site != PROBE_ROUTES_CALL)
        return instrument_field_of(jni, given, "call", "Lio/grpc/internal/ServerCallImpl;");
    for (int i = 0; i < WRAPPERS_LIMIT && call != NULL; i++) {
        if (is_of_class(jni, call, "io.grpc.internal.ServerCallImpl"))
            return call;
        call = instrument_ask(jni, call, "delegate", "()Lio/grpc/ServerCall;");
    }
    return NULL;
}

uint64_t instrument_key_of(JNIEnv *jni, jobject object, enum probe_routes_site site)
{
    if (object == NULL)
        return 0;
    const jint identity = (*jni)->CallStaticIntMethod(jni, java.klass, identity_of, object);

    (*jni)->ExceptionClear(jni);
    return (uint64_t)(site + 1) << 32 | (uint32_t)identity;
}

static uint64_t key_of(JNIEnv *jni, jobject given, enum probe_routes_site site)
{
    if (is_of_grpc(site)) {
        given = call_of(jni, given, site);
        site = PROBE_ROUTES_CALL;
    }
    return instrument_key_of(jni, given, site);
}

/* ---- a request ---- */

static void tell_call(JNIEnv *jni, jobject thread, jobject given, enum probe_routes_site site)
{
    char name[INSTRUMENT_TEXT_BYTES];
    struct instrument_request told = {.operation = probe_routes_word(PROBE_ROUTES_GRPC),
                                      .name = name};
    jobject call = call_of(jni, given, site);
    jobject method =
        instrument_ask(jni, call, "getMethodDescriptor", "()Lio/grpc/MethodDescriptor;");

    told.name_bytes = instrument_read_text(
        jni, instrument_ask(jni, method, "getFullMethodName", INSTRUMENT_TEXT_TYPE), name);
    if (told.name_bytes != 0 && turn_of(jni, given, site) == GOES_ON)
        told.key = key_of(jni, given, site);
    requests->open(jni, thread, &told);
}

/* What a servlet's request has as text the JDK's has as java.net.URI. */
static void tell(JNIEnv *jni, jobject thread, jobject given, enum probe_routes_site site)
{
    char method_text[INSTRUMENT_TEXT_BYTES], path_text[INSTRUMENT_TEXT_BYTES];
    struct instrument_request told = {.operation = probe_routes_word(probe_routes_pack_of(site)),
                                      .method = method_text,
                                      .path = path_text};
    jobject method, path;

    if (is_of_grpc(site)) {
        tell_call(jni, thread, given, site);
        return;
    }
    if (site == PROBE_ROUTES_EXCHANGE) {
        method = instrument_ask(jni, given, "getRequestMethod", INSTRUMENT_TEXT_TYPE);
        path = instrument_ask(jni, instrument_ask(jni, given, "getRequestURI", "()Ljava/net/URI;"),
                              "getRawPath", INSTRUMENT_TEXT_TYPE);
    } else {
        jobject request = request_of(jni, given, site);

        method = instrument_ask(jni, request, "getMethod", INSTRUMENT_TEXT_TYPE);
        path = instrument_ask(jni, request, "getRequestURI", INSTRUMENT_TEXT_TYPE);
    }
    told.method_bytes = instrument_read_text(jni, method, method_text);
    told.path_bytes = instrument_read_text(jni, path, path_text);
    const enum turn turn = told.method_bytes == 0 ? BEGINS : turn_of(jni, given, site);
    if (turn == GOES_ON)
        told.key = key_of(jni, given, site);
    if (turn == IS_PART)
        told.method_bytes = 0;
    requests->open(jni, thread, &told);
}

static bool is_site(jint site)
{
    return requests != NULL && site >= 0 && site < PROBE_ROUTES_SITES;
}

static jint JNICALL enter(JNIEnv *jni, jobject object, jobject thread, jobject given, jobject read,
                          jint site, jboolean is_told)
{
    bool is_asked = false;
    uint32_t entered;

    (void)object;
    if (!is_site(site))
        return 0;
    entered = requests->enter(jni, thread, (uintptr_t)__builtin_frame_address(0),
                              is_told != JNI_FALSE, &is_asked);
    if (is_asked && site == PROBE_ROUTES_READ)
        instrument_tell_read(jni, requests, thread, given, read);
    else if (is_asked)
        tell(jni, thread, given, (enum probe_routes_site)site);
    return (jint)entered;
}

/* A request says that it is asynchronous, before anybody is told by what it goes on. */
static void JNICALL start(JNIEnv *jni, jobject object, jobject thread, jobject given, jint site)
{
    (void)object;
    if (!is_site(site))
        return;
    if (site == PROBE_ROUTES_JETTY)
        given = instrument_ask(jni, given, "getHttpChannel",
                               "()Lorg/eclipse/jetty/server/HttpChannel;");
    if (given != NULL)
        requests->start(jni, thread, key_of(jni, given, (enum probe_routes_site)site));
}

/* `given`: NULL: nothing yet. */
static void JNICALL poll(JNIEnv *jni, jobject object, jobject thread, jobject given,
                         jboolean is_told)
{
    (void)object;
    if (requests == NULL)
        return;
    if (given == NULL)
        requests->poll(jni, thread, is_told != JNI_FALSE);
    else
        instrument_tell_polled(jni, requests, thread, given);
}

static void JNICALL leave(JNIEnv *jni, jobject object, jobject thread, jobject given, jint entered,
                          jint site, jint end, jboolean is_told)
{
    struct instrument_served served;
    bool goes_on;

    (void)object;
    if (!is_site(site))
        return;
    if (site == PROBE_ROUTES_READ) { /* its answer may come later: it has no time */
        requests->leave(jni, thread, (uint32_t)entered, false, 0, false);
        return;
    }
    served = requests->served(jni, thread, (uint32_t)entered);
    goes_on = served.is_open && goes_on_elsewhere(jni, given, (enum probe_routes_site)site,
                                                  (enum probe_routes_end)end, served.is_started);
    requests->leave(jni, thread, (uint32_t)entered, goes_on,
                    served.is_open && goes_on != served.is_kept
                        ? key_of(jni, given, (enum probe_routes_site)site)
                        : 0,
                    is_told != JNI_FALSE);
}

static void JNICALL match(JNIEnv *jni, jobject object, jobject thread, jobject by, jobject given,
                          jint number)
{
    (void)object;
    if (requests != NULL)
        instrument_match(jni, requests, thread, by, given, number);
}

bool instrument_bind_routes(JNIEnv *jni, struct jw_error *err)
{
    const struct instrument_teller teller = {
        .class_name = PROBE_ROUTES_CLASS,
        .open_type = "(Ljava/lang/JaywalkRoutes;)V",
        .natives_class = EVENTS_CLASS,
        .natives = {{"enter", "(Ljava/lang/Thread;Ljava/lang/Object;Ljava/lang/Object;IZ)I",
                     (uintptr_t)&enter},
                    {"poll", "(Ljava/lang/Thread;Ljava/lang/Object;Z)V", (uintptr_t)&poll},
                    {"start", "(Ljava/lang/Thread;Ljava/lang/Object;I)V", (uintptr_t)&start},
                    {"match", "(Ljava/lang/Thread;Ljava/lang/Object;Ljava/lang/Object;I)V",
                     (uintptr_t)&match},
                    {"leave", "(Ljava/lang/Thread;Ljava/lang/Object;IIIZ)V", (uintptr_t)&leave}}};

    if (!instrument_bind_teller(jni, &teller, &java, err))
        return false;
    identity_of = (*jni)->GetStaticMethodID(jni, java.klass, "identityOf", "(Ljava/lang/Object;)I");
    return !instrument_has_thrown(jni, "classes of probes", err);
}

void instrument_routes_begin(JNIEnv *jni, int32_t attach)
{
    instrument_tells_begin(jni, &java, attach);
}
