/* Endpoints of requests, by methods that serve them: the agent's thread, but where a request is told: hook, on any Java thread. */
#include "agent/routes.h"

#include <string.h>

#include "agent/agent.h"
#include "agent/api_internal.h"
#include "context/context.h"
#include "instrument/instrument.h"
#include "probe/probe_routes.h"

_Static_assert(OPTIONS_ENDPOINTS_JDK_HTTP == 1 << PROBE_ROUTES_JDK_HTTP, "bits are packs");
_Static_assert(OPTIONS_ENDPOINTS_SERVLET == 1 << PROBE_ROUTES_SERVLET, "bits are packs");
_Static_assert(OPTIONS_ENDPOINTS_GRPC == 1 << PROBE_ROUTES_GRPC, "bits are packs");
_Static_assert(OPTIONS_ENDPOINTS_NETTY == 1 << PROBE_ROUTES_NETTY, "bits are packs");
_Static_assert(OPTIONS_ENDPOINTS_KAFKA == 1 << PROBE_ROUTES_KAFKA, "bits are packs");
_Static_assert(OPTIONS_ENDPOINTS_SPRING_MVC == 1 << PROBE_ROUTES_SPRING_MVC, "bits are packs");
_Static_assert(OPTIONS_ENDPOINTS_JAX_RS == 1 << PROBE_ROUTES_JAX_RS, "bits are packs");

#define NAME "endpoints" /* of the option, and of its probe */

static uint64_t packs_on; /* 0: it is off */

/* ---- a request ---- */

static uint32_t enter(JNIEnv *jni, jobject thread, uintptr_t frame, bool is_told, bool *is_asked)
{
    const uint64_t number = api_thread_number(jni, thread);
    const bool is_virtual = api_is_virtual(jni, thread);
    const context_slot slot = number == 0 ? CONTEXT_NO_SLOT : context_bind(number, is_virtual);

    return context_route_enter(slot, is_virtual ? 0 : frame, is_told && run_generations() != NULL,
                               is_asked);
}

static struct context_text text_of(const char *bytes, size_t length_bytes)
{
    return (struct context_text){bytes, length_bytes};
}

static void open_request(JNIEnv *jni, jobject thread, const struct instrument_request *request)
{
    if (request->name != NULL) {
        context_route_open_named(run_generations(), context_find(api_thread_number(jni, thread)),
                                 text_of(request->name, request->name_bytes), request->operation,
                                 request->key);
        return;
    }
    context_route_open(run_generations(), context_find(api_thread_number(jni, thread)),
                       text_of(request->method, request->method_bytes),
                       text_of(request->path, request->path_bytes), request->operation,
                       request->key);
}

static void open_kept(JNIEnv *jni, jobject thread, uint64_t key, const char *operation)
{
    context_route_open_kept(context_find(api_thread_number(jni, thread)), operation, key);
}

static void turn(JNIEnv *jni, jobject thread, uint64_t key, bool is_last)
{
    context_route_turn(context_find(api_thread_number(jni, thread)), key, is_last);
}

static void poll(JNIEnv *jni, jobject thread, bool is_told)
{
    const uint64_t number = api_thread_number(jni, thread);
    const context_slot slot = context_find(number);

    if (context_route_poll(is_told ? run_generations() : NULL, slot) && api_is_virtual(jni, thread))
        context_unbind(slot, number);
}

static void polled(JNIEnv *jni, jobject thread, const struct instrument_request *request)
{
    const uint64_t number = api_thread_number(jni, thread);

    if (number != 0 && run_generations() != NULL)
        context_route_polled(run_generations(), context_bind(number, api_is_virtual(jni, thread)),
                             text_of(request->name, request->name_bytes), request->operation);
}

static void start(JNIEnv *jni, jobject thread, uint64_t key)
{
    context_route_start(context_find(api_thread_number(jni, thread)), key);
}

static bool may_match(JNIEnv *jni, jobject thread, bool goes_on)
{
    return context_route_may_match(context_find(api_thread_number(jni, thread)), goes_on);
}

static void match(JNIEnv *jni, jobject thread, const struct instrument_match *match)
{
    const struct context_match what = {.method = text_of(match->method, match->method_bytes),
                                       .prefix = text_of(match->prefix, match->prefix_bytes),
                                       .pattern = text_of(match->pattern, match->pattern_bytes),
                                       .is_begin = match->is_begin,
                                       .goes_on = match->goes_on};

    context_route_match(run_generations(), context_find(api_thread_number(jni, thread)), &what);
}

static struct instrument_served served(JNIEnv *jni, jobject thread, uint32_t entered)
{
    const context_slot slot = context_find(api_thread_number(jni, thread));

    return (struct instrument_served){.is_open = context_route_is_open(slot, entered),
                                      .is_started = context_route_is_started(slot),
                                      .is_kept = context_route_is_kept(slot)};
}

/* A virtual thread that works for nothing needs no slot; another one's ends with it. */
static void leave(JNIEnv *jni, jobject thread, uint32_t entered, bool goes_on, uint64_t key,
                  bool is_told)
{
    const uint64_t number = api_thread_number(jni, thread);
    const context_slot slot = context_find(number);

    if (goes_on)
        context_route_suspend(slot, key);
    else if (context_route_is_open(slot, entered))
        context_route_tell(is_told ? run_generations() : NULL, slot, key);
    if (context_route_leave(slot, entered) && api_is_virtual(jni, thread))
        context_unbind(slot, number);
}

static const struct instrument_requests requests = {
    .enter = enter,
    .open = open_request,
    .open_kept = open_kept,
    .turn = turn,
    .poll = poll,
    .polled = polled,
    .start = start,
    .may_match = may_match,
    .match = match,
    .served = served,
    .leave = leave,
};

/* ---- a session ---- */

static void say_nothing(void *context, const char *text)
{
    (void)context;
    (void)text;
}

static bool attach(JNIEnv *jni, uint64_t packs, struct jw_error *err)
{
    struct probe *probe;

    if (!contexts_open(err))
        return false;
    instrument_at_end(commands_end);
    instrument_set_requests(&requests);
    context_routes_begin();
    probe = probe_routes_open(NAME, packs, err);
    return probe != NULL &&
           instrument_attach_own(agent.java_vm, jni, probe, say_nothing, NULL, err);
}

void routes_begin(JNIEnv *jni, const struct options *options)
{
    struct jw_error err = {{0}};

    if (jni == NULL || options->endpoints == 0 || packs_on != 0)
        return;
    const uint64_t packs = probe_routes_needed(options->endpoints);
    packs_on = attach(jni, packs, &err) ? packs : 0;
    if (packs_on == 0)
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: off: %s", NAME, err.message);
}

/* Of the handlers at entries, one for each site. */
static void tell_unmet(void)
{
    const uint32_t end = probe_routes_sites(packs_on) * PROBE_ROUTES_HANDLERS;
    uint64_t methods, all = 0;
    uint32_t handler = 0;

    for (; handler < end && instrument_own_methods(NAME, handler, &methods);
         handler += PROBE_ROUTES_HANDLERS)
        all += methods;
    if (handler != 0 && all == 0)
        agent_log(
            OPTIONS_LOGLEVEL_WARN,
            "%s: no class that was loaded serves requests in a way that is known; no endpoint "
            "was told. docs/howto/endpoints-without-code.md says what is known",
            NAME);
}

void routes_leave(void)
{
    if (packs_on != 0)
        tell_unmet();
    packs_on = 0;
}

void routes_end(JNIEnv *jni)
{
    struct jw_error err = {{0}};

    if (packs_on == 0 || jni == NULL)
        return;
    tell_unmet();
    packs_on = 0;
    if (!instrument_detach_own(jni, NAME, say_nothing, NULL, &err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: %s", NAME, err.message);
    context_routes_end();
}
