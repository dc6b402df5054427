/* What a thread works for, for handlers of probes that ask. Context: hook, on that thread. */
#include "agent/probe_contexts.h"

#include "agent/api_internal.h"
#include "context/context.h"

_Static_assert(INSTRUMENT_ENDPOINT_BYTES == CONTEXT_TOLD_BYTES, "an endpoint fits");

static bool read_words(JNIEnv *jni, jobject thread, uint64_t words[INSTRUMENT_CONTEXT_WORDS])
{
    struct context_ids ids;

    if (!context_get(context_find(api_thread_number(jni, thread)), &ids))
        return false;
    words[0] = ids.trace_high;
    words[1] = ids.trace_low;
    words[2] = ids.span_id;
    words[3] = ids.root_span_id;
    return true;
}

const struct instrument_contexts probe_contexts_calls = {read_words, context_endpoint_of};
