/* Gates, places and bridges in the JVM (room probe makes their bytes). Gates and places stay, and are used again. */
#include "instrument/instrument_internal.h"

#include <string.h>

#include "base/counters.h"
#include "probe/probe_classes.h"

#define GATES_LIMIT  128u
#define PLACES_LIMIT 1024u

static struct {
    char type[PROBE_CALL_TYPE_BYTES];
    jclass klass; /* global */
} gates[GATES_LIMIT];
static unsigned gate_count;

static struct {
    unsigned gate;
    bool is_taken;
    jclass klass; /* global */
    jfieldID field;
} places[PLACES_LIMIT];
static unsigned place_count;
static unsigned bridge_count;

/* `loader` NULL: boot. A local reference, or NULL and `err`. */
static jclass define(JNIEnv *jni, const char *name, jobject loader, const uint8_t *bytes,
                     size_t length_bytes, struct jw_error *err)
{
    jclass defined;

    if (length_bytes == 0) {
        jw_error_set(err, "a handler's type, or a name, is too long");
        return NULL;
    }
    defined = (*jni)->DefineClass(jni, name, loader, (const jbyte *)bytes, (jsize)length_bytes);
    return instrument_has_thrown(jni, "a class of probes", err) ? NULL : defined;
}

static bool define_boot(JNIEnv *jni, const char *name, const uint8_t *bytes, size_t length_bytes,
                        jclass *out, struct jw_error *err)
{
    jclass defined = define(jni, name, NULL, bytes, length_bytes, err);

    *out = defined == NULL ? NULL : (*jni)->NewGlobalRef(jni, defined);
    (*jni)->DeleteLocalRef(jni, defined);
    if (defined != NULL && *out == NULL)
        jw_error_set(err, "the JVM has no memory left for a probe");
    return *out != NULL;
}

static bool find_gate(JNIEnv *jni, const char *type, unsigned *gate, struct jw_error *err)
{
    static uint8_t bytes[PROBE_CLASS_BYTES];
    char name[PROBE_CLASS_NAME_BYTES];

    for (*gate = 0; *gate < gate_count; ++*gate) {
        if (strcmp(gates[*gate].type, type) == 0)
            return true;
    }
    if (gate_count == GATES_LIMIT) {
        jw_error_set(err, "handlers of more than %u different types were attached to this JVM",
                     GATES_LIMIT);
        return false;
    }
    probe_gate_name(*gate, name);
    if (!define_boot(jni, name, bytes, probe_gate_class(*gate, type, bytes, sizeof bytes),
                     &gates[*gate].klass, err))
        return false;
    strcpy(gates[*gate].type, type);
    gate_count++;
    return true;
}

static bool make_place(JNIEnv *jni, unsigned gate, unsigned *place, struct jw_error *err)
{
    static uint8_t bytes[PROBE_CLASS_BYTES];
    char name[PROBE_CLASS_NAME_BYTES], type[PROBE_CLASS_NAME_BYTES + 2],
        gate_name[PROBE_CLASS_NAME_BYTES];

    if (place_count == PLACES_LIMIT) {
        jw_error_set(err, "%u handlers are attached to this JVM already", PLACES_LIMIT);
        return false;
    }
    *place = place_count;
    probe_place_name(*place, name);
    if (!define_boot(jni, name, bytes,
                     probe_place_class(*place, gate, gates[gate].type, bytes, sizeof bytes),
                     &places[*place].klass, err))
        return false;
    place_count++;
    places[*place].gate = gate;
    probe_gate_name(gate, gate_name);
    type[0] = 'L';
    strcpy(type + 1, gate_name);
    strcat(type, ";");
    places[*place].field = (*jni)->GetStaticFieldID(jni, places[*place].klass, "gate", type);
    return !instrument_has_thrown(jni, "a class of probes", err);
}

bool instrument_take_place(JNIEnv *jni, const struct probe_handler *handler, unsigned *place,
                           struct jw_error *err)
{
    char type[PROBE_CALL_TYPE_BYTES];
    unsigned gate;

    probe_call_type(handler, type);
    if (!find_gate(jni, type, &gate, err))
        return false;
    for (*place = 0; *place < place_count; ++*place) {
        if (!places[*place].is_taken && places[*place].gate == gate && places[*place].field != NULL)
            break;
    }
    if (*place == place_count && !make_place(jni, gate, place, err))
        return false;
    places[*place].is_taken = true;
    return true;
}

/* An object that calls the handler. */
static jobject make_bridge(JNIEnv *jni, jobject loader, const struct probe_handler *handler,
                           unsigned gate, jobject java_handler, struct jw_error *err)
{
    const size_t room_bytes = probe_bridge_room_bytes(handler);
    uint8_t *bytes = jw_alloc(room_bytes);
    jobject bridge = NULL;
    jmethodID init;
    jclass klass;

    if (bytes == NULL) {
        jw_error_set(err, "no memory for a probe");
        return NULL;
    }
    /* It says itself what its name is. */
    klass = define(jni, NULL, loader, bytes,
                   probe_bridge_class(handler, bridge_count++, gate, bytes, room_bytes), err);
    jw_free(bytes);
    if (klass == NULL)
        return NULL;
    init = (*jni)->GetMethodID(jni, klass, "<init>", "(Ljava/lang/JaywalkHandler;)V");
    if (init != NULL)
        bridge = (*jni)->NewObject(jni, klass, init, java_handler);
    if (instrument_has_thrown(jni, handler->method_name, err))
        bridge = NULL;
    (*jni)->DeleteLocalRef(jni, klass);
    return bridge;
}

bool instrument_connect(JNIEnv *jni, jobject java, jobject loader,
                        const struct probe_handler *handler, uint32_t number, unsigned place,
                        struct jw_error *err)
{
    const unsigned gate = places[place].gate;
    jobject java_handler = instrument_probe_handler(jni, java, number, err);
    jobject bridge =
        java_handler == NULL ? NULL : make_bridge(jni, loader, handler, gate, java_handler, err);
    const bool is_good = bridge != NULL &&
                         instrument_probe_arrive(jni, java, number, gates[gate].klass, bridge, err);

    if (is_good)
        (*jni)->SetStaticObjectField(jni, places[place].klass, places[place].field, bridge);
    (*jni)->DeleteLocalRef(jni, bridge);
    (*jni)->DeleteLocalRef(jni, java_handler);
    return is_good;
}

void instrument_disconnect(JNIEnv *jni, unsigned place)
{
    (*jni)->SetStaticObjectField(jni, places[place].klass, places[place].field, NULL);
}

void instrument_give_back(unsigned place)
{
    places[place].is_taken = false;
}

/* ---- places that come to nothing ---- */

static struct {
    jclass dispatcher; /* global; NULL: nothing was ever linked */
    jmethodID missed;
} java;

bool instrument_bind_dispatch(JNIEnv *jni, struct jw_error *err)
{
    jclass found = (*jni)->FindClass(jni, "java/lang/JaywalkDispatcher");

    if (found != NULL)
        java.missed = (*jni)->GetStaticMethodID(jni, found, "missed", "()I");
    if (java.missed != NULL)
        java.dispatcher = (*jni)->NewGlobalRef(jni, found);
    (*jni)->DeleteLocalRef(jni, found);
    if (instrument_has_thrown(jni, "classes of probes", err))
        return false;
    if (java.dispatcher == NULL)
        jw_error_set(err, "the JVM does not give the classes of probes");
    return java.dispatcher != NULL;
}

uint64_t instrument_missed(JNIEnv *jni)
{
    static uint32_t seen; /* 32 bits, as Java counts */
    static uint64_t sum;

    if (jni == NULL || java.dispatcher == NULL)
        return sum;

    const uint32_t now = (uint32_t)(*jni)->CallStaticIntMethod(jni, java.dispatcher, java.missed);
    if (!(*jni)->ExceptionCheck(jni)) {
        jw_count_add(JW_COUNT_PROBE_PLACES_MISSED, now - seen);
        sum += now - seen;
        seen = now;
    }
    (*jni)->ExceptionClear(jni);
    return sum;
}
