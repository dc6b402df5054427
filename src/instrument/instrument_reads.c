/* Requests that a decoder of Netty's has read, whole or in parts. Context: hook, on any Java thread. */
#include <string.h>

#include "instrument/instrument_routes_internal.h"

#define HTTP        "io.netty.handler.codec.http."
#define PARTS_LIMIT 8 /* of what is handed on together: a request, and what of it came with it */

/* The class of this name as the class of an object has it; NULL: it has none. */
static jclass class_beside(JNIEnv *jni, jobject object, const char *name)
{
    jclass klass = (*jni)->GetObjectClass(jni, object);
    jobject loader = instrument_ask(jni, klass, "getClassLoader", "()Ljava/lang/ClassLoader;");
    jclass loaders = loader == NULL ? NULL : (*jni)->GetObjectClass(jni, loader);
    jmethodID load = loaders == NULL ? NULL
                                     : (*jni)->GetMethodID(jni, loaders, "loadClass",
                                                           "(Ljava/lang/String;)Ljava/lang/Class;");
    jstring text = load == NULL ? NULL : (*jni)->NewStringUTF(jni, name);
    jclass found = text == NULL ? NULL : (*jni)->CallObjectMethod(jni, loader, load, text);

    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        found = NULL;
    }
    return found;
}

static bool is_instance(JNIEnv *jni, jobject object, jclass klass)
{
    return klass != NULL && (*jni)->IsInstanceOf(jni, object, klass);
}

static jint size_of(JNIEnv *jni, jobject list)
{
    jclass klass = (*jni)->GetObjectClass(jni, list);
    jmethodID method = (*jni)->GetMethodID(jni, klass, "size", "()I");
    const jint size = method == NULL ? 0 : (*jni)->CallIntMethod(jni, list, method);

    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        return 0;
    }
    return size;
}

static jobject element_of(JNIEnv *jni, jobject list, jint at)
{
    jclass klass = (*jni)->GetObjectClass(jni, list);
    jmethodID method = (*jni)->GetMethodID(jni, klass, "get", "(I)Ljava/lang/Object;");
    jobject found = method == NULL ? NULL : (*jni)->CallObjectMethod(jni, list, method, at);

    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        found = NULL;
    }
    return found;
}

struct parts {
    jobject request; /* NULL: it was handed on before */
    bool is_last;
    bool is_http; /* there is anything of a request */
};

static struct parts parts_of(JNIEnv *jni, jobject list)
{
    const jint size = size_of(jni, list);
    struct parts parts = {.request = NULL};
    jclass request = NULL, content = NULL, last = NULL;

    for (jint i = 0; i < size && i < PARTS_LIMIT; i++) {
        jobject one = element_of(jni, list, i);

        if (one == NULL)
            continue;
        if (request == NULL) {
            request = class_beside(jni, one, HTTP "HttpRequest");
            content = class_beside(jni, one, HTTP "HttpContent");
            last = class_beside(jni, one, HTTP "LastHttpContent");
        }
        if (parts.request == NULL && is_instance(jni, one, request))
            parts.request = one;
        parts.is_http = parts.is_http || one == parts.request || is_instance(jni, one, content);
        parts.is_last = parts.is_last || is_instance(jni, one, last);
    }
    return parts;
}

/*
 * A request and what comes of its body are handed on one by one, each to the handlers that are behind the decoder; of one connection in their
 * order, so that a part is of the request that came last.
 * Source: Netty 4.1.0 to 4.2.7, HttpObjectDecoder, HttpRequest, LastHttpContent.
 */
void instrument_tell_read(JNIEnv *jni, const struct instrument_requests *requests, jobject thread,
                          jobject context, jobject read)
{
    char method_text[INSTRUMENT_TEXT_BYTES], path_text[INSTRUMENT_TEXT_BYTES];
    const char *operation = probe_routes_word(PROBE_ROUTES_NETTY);
    const struct parts parts = parts_of(jni, read);
    struct instrument_request told = {
        .operation = operation, .method = method_text, .path = path_text};

    if (!parts.is_http) {
        requests->open(jni, thread, &told);
        return;
    }
    const uint64_t key = instrument_key_of(
        jni, instrument_ask(jni, context, "channel", "()Lio/netty/channel/Channel;"),
        PROBE_ROUTES_READ);
    if (parts.request != NULL) {
        jobject method = instrument_ask(jni, parts.request, "method",
                                        "()Lio/netty/handler/codec/http/HttpMethod;");

        told.method_bytes = instrument_read_text(
            jni, instrument_ask(jni, method, "name", INSTRUMENT_TEXT_TYPE), method_text);
        told.path_bytes = instrument_read_text(
            jni, instrument_ask(jni, parts.request, "uri", INSTRUMENT_TEXT_TYPE), path_text);
        requests->open(jni, thread, &told);
    } else {
        requests->open_kept(jni, thread, key, operation);
    }
    requests->turn(jni, thread, key, parts.is_last);
}
