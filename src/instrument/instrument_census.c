/*
 * The census of locks: which sites there are, in which classes. Context: the agent's thread, but of instrument_census_class, which
 * is the hook of classes. What was counted at them: instrument_census_counts.c.
 * What is known of classes and sites: instrument_census_known.c; of their loaders: instrument_census_loaders.c.
 */
#include "instrument/instrument_attach_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "base/counters.h"
#include "base/memory.h"
#include "census/census.h"
#include "instrument/instrument_census_counts.h"
#include "instrument/instrument_census_holds.h"
#include "instrument/instrument_census_known.h"
#include "instrument/instrument_census_loaders.h"
#include "instrument/instrument_census_objects.h"

#define PASSES_MOST 4

/* Turns between two looks at holds that do not end. */
#define HOLDS_EVERY 8

static uint32_t turns;         /* of the agent's thread */
static uint64_t pause_ns;      /* what a batch of classes may take */
static _Atomic uint32_t is_on; /* who comes in between changes a class once more, or once less */

bool instrument_census_is_on(void)
{
    /* order CENSUS_ON: acquires what loaders are asked with. */
    return jw_load_acquire(&is_on) != 0;
}

/* ---- a class ---- */

struct classes_bytes {
    jvmtiEnv *jvmti;
    const unsigned char *bytes;
    size_t length_bytes;
    unsigned char **new_bytes;
    jint *new_length_bytes;
};

static bool give(const struct classes_bytes *of, const struct classfile_rewritten *out)
{
    unsigned char *made = NULL;

    if ((*of->jvmti)->Allocate(of->jvmti, out->length_bytes, &made) != JVMTI_ERROR_NONE)
        return false;
    memcpy(made, out->bytes, out->length_bytes);
    if (*of->new_bytes != NULL)
        (void)(*of->jvmti)->Deallocate(of->jvmti, *of->new_bytes);
    *of->new_bytes = made;
    *of->new_length_bytes = (jint)out->length_bytes;
    return true;
}

/* Whose a class is. */
struct owner {
    JNIEnv *jni;
    jobject loader;
    uint32_t number; /* of the loader */
    uint64_t key;    /* of the class */
    bool is_loading; /* it is not read again */
};

static bool weave(const struct classes_bytes *of, const struct owner *owner,
                  struct classfile_memory *memory)
{
    const bool is_platform =
        owner->loader == NULL || instrument_is_platform_loader(owner->jni, owner->loader);
    struct census_class klass;
    struct classfile_rewritten out;
    uint32_t first = 0;

    if (census_read(of->bytes, of->length_bytes, memory, &klass) != CLASSFILE_OK ||
        (klass.site_count != 0 &&
         !census_loader_knows(owner->jni, owner->loader, owner->number, owner->is_loading)) ||
        !census_known_take(owner->key, owner->number, &klass, is_platform, &first))
        return false;
    if (klass.site_count == 0)
        return true;
    klass.tells_objects = census_instances_are_told();
    if (census_weave(&klass, first, memory, &out) != CLASSFILE_OK ||
        (out.is_changed && !give(of, &out))) {
        for (uint32_t i = 0; i < klass.site_count; i++)
            klass.sites[i].is_refused = true;
    }
    census_known_note_sites(&klass, first);
    return true;
}

void instrument_census_class(jvmtiEnv *jvmti, JNIEnv *jni, jobject loader, const char *name,
                             bool is_loading, const unsigned char *bytes, jint length_bytes,
                             unsigned char **new_bytes, jint *new_length_bytes)
{
    const bool is_written = *new_bytes != NULL;
    const struct classes_bytes of = {jvmti, is_written ? *new_bytes : bytes,
                                     (size_t)(is_written ? *new_length_bytes : length_bytes),
                                     new_bytes, new_length_bytes};

    if (!instrument_census_is_on() || !census_may_touch(name))
        return;

    const uint32_t number = census_loader_of(loader);
    const struct owner owner = {jni, loader, number, census_known_key(number, name), is_loading};
    if (number == CENSUS_LOADER_NONE) {
        census_known_refuse(owner.key, number);
        return;
    }
    if (instrument_is_probe_loader(jni, loader)) {
        census_known_leave_alone(owner.key, number);
        return;
    }
    struct instrument_room room;
    const bool is_open = instrument_room_open(&room, of.length_bytes, 0);

    if (!is_open || !weave(&of, &owner, &room.memory))
        census_known_refuse(owner.key, number);
    if (is_open)
        instrument_room_close(&room);
}

/* ---- classes that are loaded ---- */

static bool is_new(struct instrument_attach *attach, JNIEnv *jni,
                   const struct instrument_loaded *of)
{
    bool is_known;

    (void)attach;
    (void)jni;
    if (!census_may_touch(of->name))
        return false;

    const uint32_t number = census_loader_of(of->loader);
    (void)census_known_sites(census_known_key(number, of->name), &is_known);
    return number != CENSUS_LOADER_NONE && !is_known;
}

static bool is_written(struct instrument_attach *attach, JNIEnv *jni,
                       const struct instrument_loaded *of)
{
    bool is_known;

    (void)attach;
    (void)jni;
    return census_known_sites(census_known_key(census_loader_of(of->loader), of->name), &is_known) >
           0;
}

static void note_refused(struct instrument_attach *attach, jobject loader, const char *name)
{
    const uint32_t number = census_loader_of(loader);

    (void)attach;
    census_known_refuse(census_known_key(number, name), number);
}

static void tell_written(const struct instrument_batches *batches, instrument_say *say,
                         void *context)
{
    const struct instrument_census figures = census_known_figures();
    char line[256];

    snprintf(line, sizeof line,
             "locks=census: %llu sites in %llu classes; %u classes were read again, "
             "in %u %s stopped the program for %llu us",
             (unsigned long long)figures.sites, (unsigned long long)figures.classes,
             batches->classes, batches->batches,
             batches->batches == 1 ? "batch, which" : "batches, of which the longest",
             (unsigned long long)(batches->longest_ns / 1000));
    say(context, line);
    if (batches->untold == 0)
        return;
    jw_count_add(JW_COUNT_PROBE_CLASSES_REFUSED, batches->untold);
    snprintf(line, sizeof line,
             "locks=census: %u classes stay as they are: the JVM did not say what they are (JVMTI "
             "error %d)",
             batches->untold, batches->untold_error);
    say(context, line);
}

static bool write_classes(JNIEnv *jni, bool is_at_once, struct instrument_batches *all,
                          struct jw_error *err)
{
    const struct instrument_choice choice = {is_new,     note_refused, NULL,
                                             is_at_once, pause_ns,     NULL};

    for (int pass = 0; pass < PASSES_MOST; pass++) {
        struct instrument_batches one = {0};

        if (!instrument_retransform(jni, &choice, &one, err))
            return false;
        all->classes += one.classes;
        all->batches += one.batches;
        if (one.longest_ns > all->longest_ns)
            all->longest_ns = one.longest_ns;
        all->untold = one.untold;
        all->untold_error = one.untold_error;
        if (one.classes == 0)
            break;
    }
    return true;
}

/* ---- begin and end ---- */

bool instrument_census_begin(JavaVM *java_vm, JNIEnv *jni, bool is_at_once, bool has_objects,
                             instrument_say *say, void *context, struct jw_error *err)
{
    const bool is_late = instrument_jvmti == NULL;
    struct instrument_batches batches = {0};

    if (instrument_census_is_on()) {
        census_counts_begin_again();
        return true;
    }
    if (!instrument_open_jvmti(java_vm, err) || !instrument_open_java(jni, err) ||
        !census_counts_open(jni, err) || !census_loaders_open(jni, err) ||
        !census_holds_open(jni, err) || !census_instances_open(jni, has_objects, err))
        return false;
    pause_ns = instrument_pause_ns();
    census_known_begin();
    if (!census_counts_begin(jni, err))
        return false;
    /* order CENSUS_ON: releases what loaders are asked with, which threads that load classes use. */
    jw_store_release(&is_on, 1);
    census_loaders_ask(jni);
    if (!instrument_listen(true, err) || !write_classes(jni, is_at_once, &batches, err)) {
        instrument_census_end(jni, false, say, context);
        return false;
    }
    tell_written(&batches, say, context);
    if (is_late && instrument_drops_code())
        say(context, "locks=census: this JVM dropped its compiled code for that; it does not where "
                     "locks=census was named at its start");
    return true;
}

void instrument_census_end(JNIEnv *jni, bool is_jvm_ending, instrument_say *say, void *context)
{
    const struct instrument_choice choice = {is_written, note_refused, NULL, false, pause_ns, NULL};
    struct instrument_batches batches = {0};
    struct jw_error err = {0};

    if (!instrument_census_is_on())
        return;
    /* order CENSUS_ON: nothing follows from an end. */
    jw_store_release(&is_on, 0);
    if (!is_jvm_ending && !instrument_retransform(jni, &choice, &batches, &err))
        say(context, err.message);
    if (batches.refused != 0 || batches.untold != 0)
        say(context, "locks=census: classes were not written back: the JVM refused them; their "
                     "calls find nothing to do");
    if (!instrument_is_any() && !instrument_listen(false, &err))
        say(context, err.message);
    census_counts_end(jni);
}

/* ---- reading ---- */

bool instrument_census_read(JNIEnv *jni, struct jw_error *err)
{
    return census_counts_read(jni, census_known_count(), err);
}

bool instrument_census_site(uint32_t number, struct instrument_lock_site *out)
{
    *out = (struct instrument_lock_site){0};
    if (!census_counts_of(number, out))
        return false;
    out->is_gone = !census_known_site(number, out);
    return true;
}

void instrument_census_turn(JNIEnv *jni)
{
    if (!instrument_census_is_on())
        return;
    census_known_turn(jni);
    if (turns++ % HOLDS_EVERY == 0)
        census_holds_look(jni);
}

struct instrument_census instrument_census_figures(void)
{
    struct instrument_census figures = census_known_figures();

    figures.is_on = instrument_census_is_on();
    figures.lost = census_counts_lost();
    figures.has_objects = census_instances_are_told();
    figures.objects_lost = census_instances_lost();
    return figures;
}
