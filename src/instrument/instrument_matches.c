/* For which pattern of a framework a request is: what it knows is asked of its objects. Context: hook, on any Java thread. */
#include <string.h>

#include "base/atomics.h"
#include "instrument/instrument_routes_internal.h"

#define PREFIX_BYTES (2 * INSTRUMENT_TEXT_BYTES)

struct texts {
    char method[INSTRUMENT_TEXT_BYTES], prefix[PREFIX_BYTES], pattern[INSTRUMENT_TEXT_BYTES];
};

/* ---- Spring MVC ---- */

/*
 * What the path has before what was matched: the application's own, which ServletContext knows as it was deployed (the request has it as it was
 * asked for), and the servlet's, if that is not all of it.
 */
static size_t read_prefix(JNIEnv *jni, jobject request, bool is_javax, const char *pattern,
                          char bytes[PREFIX_BYTES])
{
    jobject context = instrument_ask(jni, request, "getServletContext",
                                     is_javax ? "()Ljavax/servlet/ServletContext;"
                                              : "()Ljakarta/servlet/ServletContext;");
    const size_t length = instrument_read_text(
        jni, instrument_ask(jni, context, "getContextPath", INSTRUMENT_TEXT_TYPE), bytes);

    if (instrument_ask(jni, request, "getPathInfo", INSTRUMENT_TEXT_TYPE) == NULL)
        return length;
    const size_t more = instrument_read_text(
        jni, instrument_ask(jni, request, "getServletPath", INSTRUMENT_TEXT_TYPE), bytes + length);
    const bool has_it = strncmp(pattern, bytes + length, more) == 0 &&
                        (pattern[more] == '/' || pattern[more] == '\0');
    return has_it ? length : length + more;
}

/*
 * Of a request that was handed on, or of the page for its error, the pattern is not that of what was asked for. It is a text, or what has one.
 * Source: Spring Framework 3.2 to 6.2, HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE: a String, or a PathPattern.
 */
static bool ask_spring(JNIEnv *jni, jobject given, bool is_javax, struct texts *texts,
                       struct instrument_match *told)
{
    if (instrument_is_part(jni, given,
                           is_javax ? INSTRUMENT_JAVAX_DISPATCHER : INSTRUMENT_JAKARTA_DISPATCHER))
        return false;
    jobject found = instrument_attribute_of(
        jni, given, "org.springframework.web.servlet.HandlerMapping.bestMatchingPattern");
    if (found == NULL)
        return false;
    told->pattern_bytes = instrument_read_text(
        jni, instrument_ask(jni, found, "toString", INSTRUMENT_TEXT_TYPE), texts->pattern);
    told->method_bytes = instrument_read_text(
        jni, instrument_ask(jni, given, "getMethod", INSTRUMENT_TEXT_TYPE), texts->method);
    told->prefix_bytes = read_prefix(jni, given, is_javax, texts->pattern, texts->prefix);
    return true;
}

/* ---- JAX-RS ---- */

/*
 * What a request knows of its path. It has one of three types, that of the last one is tried first.
 * Source: RESTEasy, HttpRequest.getUri: 3.0 to 3.15; 4.0 to 5.0; 6.0 to 7.0.
 */
static jobject uri_info_of(JNIEnv *jni, jobject request, bool *is_javax)
{
    static const char *const types[] = {"()Lorg/jboss/resteasy/spi/ResteasyUriInfo;",
                                        "()Ljavax/ws/rs/core/UriInfo;",
                                        "()Ljakarta/ws/rs/core/UriInfo;"};
    static _Atomic uint32_t last; /* relaxed: any of them is good */
    const uint32_t first = jw_load_relaxed(&last);

    for (uint32_t i = 0; i < JW_COUNT_OF(types); i++) {
        const uint32_t at = (first + i) % JW_COUNT_OF(types);
        jobject found = instrument_ask(jni, request, "getUri", types[at]);

        if (found == NULL)
            continue;
        if (at != first)
            jw_store_relaxed(&last, at);
        *is_javax = at != JW_COUNT_OF(types) - 1;
        return found;
    }
    return NULL;
}

/*
 * Whether a servlet's request was handed on, or is the page for an error. Of other servers' requests none has such attributes.
 * Source: Servlet API 2.4 to 6.1, RequestDispatcher; JAX-RS 2.0 to 4.0, ContainerRequestContext.getProperty: those of the servlet's request.
 */
static bool is_handed_on(JNIEnv *jni, jobject request, bool is_javax)
{
    static const char *const names[][2] = {
        {"jakarta.servlet.forward.request_uri", "javax.servlet.forward.request_uri"},
        {"jakarta.servlet.include.request_uri", "javax.servlet.include.request_uri"},
        {"jakarta.servlet.error.request_uri", "javax.servlet.error.request_uri"}};

    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        if (instrument_attribute_of(jni, request, names[i][is_javax]) != NULL)
            return true;
    }
    return false;
}

/*
 * The method, or the locator, has the paths of its annotations, wherever those stand; the application's path is what each UriInfo has before.
 * Source: RESTEasy 3.0 to 7.0, ResourceMethodInvoker.method, ResourceLocatorInvoker.method, ResourceLocator.getFullpath; JAX-RS, UriInfo.getBaseUri.
 */
static bool ask_resteasy(JNIEnv *jni, jobject by, jobject given, bool is_method,
                         struct texts *texts, struct instrument_match *told)
{
    bool is_javax = false;
    jobject uri_info = uri_info_of(jni, given, &is_javax);
    jobject base = instrument_ask(jni, uri_info, "getBaseUri", "()Ljava/net/URI;");

    if (base == NULL || is_handed_on(jni, given, is_javax))
        return false;
    jobject resource =
        instrument_field_of(jni, by, "method",
                            is_method ? "Lorg/jboss/resteasy/spi/metadata/ResourceMethod;"
                                      : "Lorg/jboss/resteasy/spi/metadata/ResourceLocator;");
    if (resource == NULL)
        return false;
    told->pattern_bytes = instrument_read_text(
        jni, instrument_ask(jni, resource, "getFullpath", INSTRUMENT_TEXT_TYPE), texts->pattern);
    told->method_bytes = instrument_read_text(
        jni, instrument_ask(jni, given, "getHttpMethod", INSTRUMENT_TEXT_TYPE), texts->method);
    told->prefix_bytes = instrument_read_text(
        jni, instrument_ask(jni, base, "getPath", INSTRUMENT_TEXT_TYPE), texts->prefix);
    told->is_begin = !is_method;
    return true;
}

void instrument_match(JNIEnv *jni, const struct instrument_requests *requests, jobject thread,
                      jobject by, jobject given, jint match)
{
    const bool goes_on =
        match == PROBE_ROUTES_RESTEASY_METHOD || match == PROBE_ROUTES_RESTEASY_LOCATOR;
    struct texts texts;
    struct instrument_match told = {.method = texts.method,
                                    .prefix = texts.prefix,
                                    .pattern = texts.pattern,
                                    .goes_on = goes_on};
    bool is_found = false;

    if (match < 0 || match >= PROBE_ROUTES_MATCHES || given == NULL ||
        !requests->may_match(jni, thread, goes_on))
        return;
    switch ((enum probe_routes_match)match) {
    case PROBE_ROUTES_MVC_JAVAX:
    case PROBE_ROUTES_MVC_JAKARTA:
        is_found = ask_spring(jni, given, match == PROBE_ROUTES_MVC_JAVAX, &texts, &told);
        break;
    case PROBE_ROUTES_RESTEASY_METHOD:
    case PROBE_ROUTES_RESTEASY_LOCATOR:
        is_found =
            ask_resteasy(jni, by, given, match == PROBE_ROUTES_RESTEASY_METHOD, &texts, &told);
        break;
    case PROBE_ROUTES_MATCHES:
        break;
    }
    if (is_found)
        requests->match(jni, thread, &told);
}
