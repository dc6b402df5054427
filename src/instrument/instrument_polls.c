/* What consumers of Kafka's work on, by the topics of what they polled. Context: hook, on any Java thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/instrument_routes_internal.h"

#define TOPIC_BYTES                                                                                \
    250 /* with its end. Source: Kafka, names of topics have 249 characters at the most, of ASCII */
#define TOPICS_NAMED     3
#define PARTITIONS_LIMIT 64 /* that are asked for their topics */

struct topics {
    char names[TOPICS_NAMED][TOPIC_BYTES];
    int count; /* TOPICS_NAMED + 1: more than are named */
};

static void add(struct topics *topics, const char *name)
{
    for (int i = 0; i < topics->count && i < TOPICS_NAMED; i++) {
        if (strncmp(topics->names[i], name, TOPIC_BYTES - 1) == 0)
            return;
    }
    if (topics->count < TOPICS_NAMED)
        snprintf(topics->names[topics->count], TOPIC_BYTES, "%.*s", TOPIC_BYTES - 1, name);
    if (topics->count <= TOPICS_NAMED)
        topics->count++;
}

/* Source: documentation of Kafka 0.10 to 4.1, ConsumerRecords.partitions, TopicPartition.topic. */
static void read_topics(JNIEnv *jni, jobject given, struct topics *topics)
{
    char name[INSTRUMENT_TEXT_BYTES];
    jobject set = instrument_ask(jni, given, "partitions", "()Ljava/util/Set;");
    jobjectArray all = instrument_ask(jni, set, "toArray", "()[Ljava/lang/Object;");
    const jsize count = all == NULL ? 0 : (*jni)->GetArrayLength(jni, all);

    for (jsize i = 0; i < count && topics->count <= TOPICS_NAMED; i++) {
        jobject one = i < PARTITIONS_LIMIT ? (*jni)->GetObjectArrayElement(jni, all, i) : NULL;
        jstring topic = instrument_ask(jni, one, "topic", INSTRUMENT_TEXT_TYPE);

        if (i == PARTITIONS_LIMIT)
            topics->count = TOPICS_NAMED + 1;
        else if (instrument_read_text(jni, topic, name) != 0)
            add(topics, name);
        (*jni)->DeleteLocalRef(jni, topic);
        (*jni)->DeleteLocalRef(jni, one);
    }
    (*jni)->DeleteLocalRef(jni, all);
    (*jni)->DeleteLocalRef(jni, set);
}

static int in_order(const void *one, const void *other)
{
    return strcmp(one, other);
}

/* "process orders", or "process orders+payments", as OpenTelemetry's conventions call it; several in an order of their own. */
static size_t name_of(struct topics *topics, char *text, size_t room_bytes)
{
    size_t at;

    if (topics->count > TOPICS_NAMED)
        return (size_t)snprintf(text, room_bytes, "process many topics");
    qsort(topics->names, (size_t)topics->count, TOPIC_BYTES, in_order);
    at = (size_t)snprintf(text, room_bytes, "process ");
    for (int i = 0; i < topics->count; i++)
        at += (size_t)snprintf(text + at, room_bytes - at, "%s%s", i == 0 ? "" : "+",
                               topics->names[i]);
    return at;
}

void instrument_tell_polled(JNIEnv *jni, const struct instrument_requests *requests, jobject thread,
                            jobject given)
{
    char name[sizeof "process " + TOPICS_NAMED * (TOPIC_BYTES + sizeof "+")];
    struct topics topics = {.count = 0};

    if (!instrument_ask_whether(jni, given, "isEmpty"))
        read_topics(jni, given, &topics);
    if (topics.count == 0)
        return;
    const struct instrument_request told = {.operation = probe_routes_word(PROBE_ROUTES_KAFKA),
                                            .name = name,
                                            .name_bytes = name_of(&topics, name, sizeof name)};
    requests->polled(jni, thread, &told);
}
