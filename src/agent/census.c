/* The census of locks in a session. Context: the agent's thread, unless census.h says otherwise. */
#include "agent/census.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/caller_table.h"
#include "agent/callers.h"
#include "agent/hold_error.h"
#include "base/clock.h"
#include "instrument/instrument.h"
#include "recording/recording.h"
#include "vm/vm_flags.h"

#define TURN_NS (JW_NS_PER_SECOND / 4)

/* Of a place, busiest first. */
#define OBJECTS_TOLD 10u

static struct {
    char reason[sizeof((struct jw_error *)0)->message]; /* of this session; "": none */
    uint32_t next;                                      /* site that is asked for next */
    uint32_t next_caller;                               /* of the one before it */
    uint32_t next_object;                               /* likewise */
    uint64_t acquisitions;                              /* of that one */
    uint64_t read_ns, turned_ns;
    bool is_on, has_read, is_jvm_ending;
    bool takes_bias; /* objects lose their biased locks */
} census;

static void say_info(void *context, const char *text)
{
    (void)context;
    agent_log(OPTIONS_LOGLEVEL_INFO, "%s", text);
}

static void turn_off(const struct jw_error *why)
{
    snprintf(census.reason, sizeof census.reason, "%s", why->message);
    agent_log(OPTIONS_LOGLEVEL_WARN, "locks=census: off: %s", why->message);
}

void census_prepare(const struct options *options)
{
    struct jw_error err = {0};

    if (options->locks != OPTIONS_LOCKS_WAITS && !instrument_prepare(agent.java_vm, &err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "locks=census: %s", err.message);
}

static bool begin(JNIEnv *jni, const struct options *options, struct jw_error *err)
{
    if (jni == NULL) {
        jw_error_set(err, "the JVM takes no further thread");
        return false;
    }
    instrument_at_end(commands_end);
    /* Before the first place is called. */
    if (!callers_begin(instrument_census_figures().is_on, err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "locks=census: callers are not told: %s", err->message);
    return instrument_census_begin(agent.java_vm, jni, options->is_with_jvm,
                                   options->locks == OPTIONS_LOCKS_OBJECTS, say_info, NULL, err);
}

/* Source: OpenJDK 8 to 17, UseBiasedLocking, which later ones do not have; an identity hash has no room beside a bias. */
static void tell_bias(const struct options *options)
{
    census.takes_bias = census.is_on && options->locks == OPTIONS_LOCKS_OBJECTS &&
                        vm_flag_number("UseBiasedLocking", 0) != 0;
    if (census.takes_bias)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "locks=objects: each object whose lock is taken loses its biased lock for good, "
                  "and takes some 10 ns more where one thread alone uses it");
}

void census_begin(JNIEnv *jni, const struct options *options, struct recording *recording)
{
    struct jw_error err = {0};

    census.reason[0] = '\0';
    census.has_read = false;
    if (options->locks != OPTIONS_LOCKS_WAITS) {
        census.is_on = begin(jni, options, &err);
        if (!census.is_on)
            turn_off(&err);
        tell_bias(options);
    }
    recording_set_now(recording, "census",
                      options->locks == OPTIONS_LOCKS_WAITS ? "off"
                      : census.is_on                        ? "on"
                                                            : census.reason);
}

void census_look(JNIEnv *jni)
{
    struct jw_error err = {0};

    if (!census.is_on)
        return;
    census.has_read = jni != NULL && instrument_census_read(jni, &err);
    if (census.has_read && !caller_table_look())
        agent_log(OPTIONS_LOGLEVEL_WARN, "locks=census: callers are not told: no memory");
    census.next = 0;
    census.read_ns = jw_now_ns();
    if (!census.has_read)
        agent_log(OPTIONS_LOGLEVEL_WARN, "locks=census: it could not be read: %s",
                  jni == NULL ? "the JVM takes no further thread" : err.message);
}

void census_turn(JNIEnv *jni)
{
    const uint64_t now_ns = jw_now_ns();

    if (!census.is_on || jni == NULL || now_ns - census.turned_ns < TURN_NS)
        return;
    census.turned_ns = now_ns;
    instrument_census_turn(jni);
}

void census_end(JNIEnv *jni)
{
    if (census.is_on && jni != NULL)
        instrument_census_end(jni, census.is_jvm_ending, say_info, NULL);
    callers_end();
    census.is_on = census.has_read = false;
}

void census_jvm_ends(void)
{
    census.is_jvm_ending = true;
}

/* ---- what the recording is given ---- */

/* Steps as instrument.h has them. */
static const char *histogram_of(const uint64_t *steps)
{
    static char text[INSTRUMENT_HOLD_STEPS * 32u];
    size_t used = 0;
    unsigned long long from_ns = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < INSTRUMENT_HOLD_STEPS; i++) {
        if (steps[i] != 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu:%llu",
                                     used == 0 ? "" : " ", from_ns, (unsigned long long)steps[i]);
        from_ns = from_ns == 0 ? 1000 : 10 * from_ns;
    }
    return text;
}

static bool ask_site(void *context, struct recording_lock_site *out)
{
    struct instrument_lock_site site;

    (void)context;
    do {
        if (!census.has_read || !instrument_census_site(census.next, &site)) {
            census.has_read = false;
            return false;
        }
        census.next++;
    } while (site.is_gone);
    census.next_caller = 0;
    census.acquisitions = site.acquisitions;
    *out = (struct recording_lock_site){
        .time_ns = census.read_ns,
        .class_name = site.class_name,
        .method = site.method,
        .kind = site.kind,
        .thread = site.thread,
        .line = site.line,
        .is_platform = site.is_platform,
        .is_refused = site.is_refused,
        .acquisitions = site.acquisitions,
        .threads = site.threads,
        .holds = site.holds,
        .weight = site.weight,
        .hold_ns = site.hold_ns,
        .hold_most_ns = site.hold_most_ns,
        .hold_error_ns = hold_error_ns(&site),
        .hold_histogram = histogram_of(site.hold_steps),
    };
    return true;
}

static bool ask_caller(void *context, struct recording_lock_caller *out)
{
    struct caller caller;

    (void)context;
    if (!census.has_read || census.next == 0 ||
        !caller_table_get(census.next - 1, census.next_caller, census.acquisitions, &caller))
        return false;
    census.next_caller++;
    *out = (struct recording_lock_caller){
        .class_name = caller.class_name,
        .method = caller.method,
        .samples = caller.samples,
        .acquisitions = caller.acquisitions,
        .error = caller.error,
    };
    return true;
}

static bool ask_objects(void *context, struct recording_lock_objects *out)
{
    struct instrument_lock_objects sum;

    (void)context;
    census.next_object = 0;
    if (!census.has_read || census.next == 0 || !instrument_census_objects(census.next - 1, &sum))
        return false;
    *out = (struct recording_lock_objects){
        .objects = sum.objects,
        .acquisitions = sum.acquisitions,
        .alone = sum.alone,
        .four_fifths = sum.four_fifths,
        .other_objects = sum.other_objects,
        .other_acquisitions = sum.other_acquisitions,
        .other_several = sum.other_several,
        .takes_bias = census.takes_bias,
    };
    return true;
}

static bool ask_object(void *context, struct recording_lock_object *out)
{
    struct instrument_lock_object object;

    (void)context;
    if (!census.has_read || census.next == 0 || census.next_object == OBJECTS_TOLD ||
        !instrument_census_object(census.next - 1, census.next_object, &object))
        return false;
    census.next_object++;
    *out = (struct recording_lock_object){object.hash, object.threads, object.acquisitions};
    return true;
}

void census_fill(struct recording_sources *out)
{
    out->lock_objects = ask_objects;
    out->lock_object = ask_object;
    out->lock_caller = ask_caller;
    out->lock_site = ask_site;
}

void census_tell(void)
{
    const struct instrument_census figures = instrument_census_figures();

    if (!figures.is_on)
        return;
    agent_log(OPTIONS_LOGLEVEL_INFO,
              "locks=census: %llu sites in %llu classes; %llu sites and %llu classes cannot be "
              "counted, %llu sites have no room, %llu counts or times were lost; of classes that "
              "are gone %llu sites with %llu acquisitions were forgotten",
              (unsigned long long)figures.sites, (unsigned long long)figures.classes,
              (unsigned long long)figures.refused_sites,
              (unsigned long long)figures.refused_classes, (unsigned long long)figures.left_out,
              (unsigned long long)figures.lost, (unsigned long long)figures.forgotten_sites,
              (unsigned long long)figures.forgotten);
    if (figures.objects_lost != 0)
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "locks=objects: the objects of %llu acquisitions were not counted",
                  (unsigned long long)figures.objects_lost);
    if (caller_table_lost() != 0)
        agent_log(OPTIONS_LOGLEVEL_INFO, "locks=census: %llu samples of callers have no room",
                  (unsigned long long)caller_table_lost());
}
