/*
 * Classes that are loaded, or read again: which handlers they get. Context: hook, on a thread that loads a class, which holds locks of
 * its loader: nothing here waits for a Java thread, or calls Java, but that a loader is asked for a class as the JVM itself asks it then.
 *
 * Handlers are in a list that is never changed: who changes it makes another one, and the last one who uses the old one frees it.
 */
#include "instrument/instrument_internal.h"

#include <string.h>
#include <time.h>

#include "base/atomics.h"
#include "base/counters.h"
#include "base/hash.h"
#include "base/memory.h"

#define SEEN_FIRST 64u

struct list {
    uint32_t users; /* with `lock` held; the list in use has one more */
    uint32_t count;
    struct probe_weave_handler *handlers;
    struct instrument_attach **attaches; /* by handler */
    bool asks_above;                     /* rules ask for what stands above a class */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list *in_use;

/* ---- the list ---- */

static void give_back(struct list *list)
{
    pthread_mutex_lock(&lock);
    const bool is_last = --list->users == 0;
    pthread_mutex_unlock(&lock);
    if (is_last)
        jw_free(list);
}

static struct list *take(void)
{
    pthread_mutex_lock(&lock);
    struct list *list = in_use;
    if (list != NULL)
        list->users++;
    pthread_mutex_unlock(&lock);
    return list;
}

static struct list *make(struct instrument_attach *const *attaches, uint32_t count)
{
    uint32_t handlers = 0;

    for (uint32_t i = 0; i < count; i++)
        handlers += attaches[i]->probe->handler_count;

    const size_t head_bytes = (sizeof(struct list) + 15) & ~(size_t)15;
    const size_t handler_bytes = sizeof(struct probe_weave_handler) * handlers;
    struct list *list =
        jw_alloc(head_bytes + handler_bytes + sizeof(struct instrument_attach *) * handlers);

    if (list == NULL)
        return NULL;
    *list = (struct list){.users = 1, .count = handlers};
    list->handlers = (struct probe_weave_handler *)((char *)list + head_bytes);
    list->attaches = (struct instrument_attach **)((char *)list->handlers + handler_bytes);
    handlers = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct instrument_attach *attach = attaches[i];

        for (uint32_t j = 0; j < attach->probe->handler_count; j++, handlers++) {
            list->attaches[handlers] = attach;
            list->handlers[handlers] =
                (struct probe_weave_handler){.handler = &attach->probe->handlers[j],
                                             .rules = attach->rules[j],
                                             .attach = attach->number,
                                             .number = j,
                                             .place = attach->places[j]};
        }
    }
    list->asks_above = probe_weave_asks_above(list->handlers, list->count);
    return list;
}

bool instrument_publish(struct instrument_attach *const *attaches, uint32_t count,
                        struct jw_error *err)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    struct list *list = count == 0 ? NULL : make(attaches, count);
    struct list *old;

    if (count != 0 && list == NULL) {
        jw_error_set(err, "no memory for a probe");
        return false;
    }
    pthread_mutex_lock(&lock);
    old = in_use;
    in_use = list;
    pthread_mutex_unlock(&lock);
    /* Threads that are in the middle of a class still look at what the old one names. */
    for (bool is_used = old != NULL; is_used;) {
        pthread_mutex_lock(&lock);
        is_used = old->users > 1;
        pthread_mutex_unlock(&lock);
        if (is_used)
            (void)nanosleep(&pause, NULL);
    }
    if (old != NULL)
        give_back(old);
    return true;
}

bool instrument_listen(bool is_on, struct jw_error *err)
{
    static const jvmtiEvent events[] = {JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_THREAD_END};

    for (size_t i = 0; i < JW_COUNT_OF(events); i++) {
        const jvmtiError error =
            (*instrument_jvmti)
                ->SetEventNotificationMode(instrument_jvmti, is_on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                           events[i], NULL);

        if (error != JVMTI_ERROR_NONE) {
            jw_error_set(err, "the JVM refuses JVMTI event %d (error %d)", events[i], error);
            return false;
        }
    }
    return true;
}

/* ---- classes that were seen ---- */

uint64_t instrument_key(jobject loader, const char *name)
{
    jint hash = 0;

    if (loader != NULL)
        (void)(*instrument_jvmti)->GetObjectHashCode(instrument_jvmti, loader, &hash);
    return jw_hash_word(jw_hash64(name, strlen(name)) ^
                        jw_hash_word((uint64_t)(uint32_t)hash + 1)) |
           1;
}

/* Where the key is, or would be. The lock is held, and there is room. */
static struct instrument_seen *find(struct instrument_seen *seen, uint32_t room, uint64_t key)
{
    uint32_t at = (uint32_t)(key >> 8) & (room - 1);

    while (seen[at].key != 0 && seen[at].key != key)
        at = (at + 1) & (room - 1);
    return &seen[at];
}

static bool grow(struct instrument_attach *attach)
{
    const uint32_t room = attach->seen_room == 0 ? SEEN_FIRST : attach->seen_room * 2;
    struct instrument_seen *more;

    if (attach->seen_count * 2 < attach->seen_room)
        return true;
    more = jw_alloc(jw_mul_bytes(room, sizeof *more));
    if (more == NULL)
        return false;
    for (uint32_t i = 0; i < attach->seen_room; i++) {
        if (attach->seen[i].key != 0)
            *find(more, room, attach->seen[i].key) = attach->seen[i];
    }
    jw_free(attach->seen);
    attach->seen = more;
    attach->seen_room = room;
    return true;
}

static bool is_nothing(const struct probe_woven *woven, uint32_t count)
{
    static const struct probe_woven nothing;

    for (uint32_t i = 0; i < count; i++) {
        if (memcmp(&woven[i], &nothing, sizeof nothing) != 0)
            return false;
    }
    return true;
}

static uint32_t waiting(const struct probe_woven *woven, uint32_t count)
{
    uint32_t above = 0;

    for (uint32_t i = 0; woven != NULL && i < count; i++)
        above += woven[i].above;
    return above;
}

/* A class that is written again takes the place of what it was. `woven` NULL: nothing was put in. */
static void note(struct instrument_attach *attach, uint64_t key, const struct probe_woven *woven,
                 bool is_by_other)
{
    const uint32_t count = attach->probe->handler_count;
    const bool is_kept = woven != NULL && !is_nothing(woven, count);

    pthread_mutex_lock(&attach->lock);
    struct instrument_seen *seen = grow(attach) ? find(attach->seen, attach->seen_room, key) : NULL;
    if (seen != NULL) {
        attach->seen_count += seen->key == 0;
        seen->key = key;
        seen->is_by_other = is_by_other;
        attach->above_count -= waiting(seen->woven, count) != 0;
        if (is_kept && seen->woven == NULL)
            seen->woven = jw_alloc(jw_mul_bytes(count, sizeof *woven));
        if (seen->woven != NULL && is_kept)
            memcpy(seen->woven, woven, sizeof *woven * count);
        else if (seen->woven != NULL)
            memset(seen->woven, 0, sizeof *woven * count);
        if (waiting(seen->woven, count) != 0) {
            attach->above_count++;
            attach->is_above_new = true;
        }
    }
    attach->is_seen_short |= seen == NULL || (is_kept && seen->woven == NULL);
    pthread_mutex_unlock(&attach->lock);
}

bool instrument_has_seen(struct instrument_attach *attach, uint64_t key, bool *is_woven)
{
    pthread_mutex_lock(&attach->lock);
    const struct instrument_seen *seen =
        attach->seen_room == 0 ? NULL : find(attach->seen, attach->seen_room, key);
    const bool is_seen = seen != NULL && seen->key == key;
    *is_woven = false;
    for (uint32_t i = 0; is_seen && seen->woven != NULL && i < attach->probe->handler_count; i++)
        *is_woven |= seen->woven[i].places != 0;
    pthread_mutex_unlock(&attach->lock);
    return is_seen;
}

bool instrument_is_by_other(struct instrument_attach *attach, uint64_t key)
{
    pthread_mutex_lock(&attach->lock);
    const struct instrument_seen *seen =
        attach->seen_room == 0 ? NULL : find(attach->seen, attach->seen_room, key);
    const bool is_it = seen != NULL && seen->key == key && seen->is_by_other;
    pthread_mutex_unlock(&attach->lock);
    return is_it;
}

bool instrument_waits_above(struct instrument_attach *attach, uint64_t key)
{
    pthread_mutex_lock(&attach->lock);
    const struct instrument_seen *seen =
        attach->seen_room == 0 ? NULL : find(attach->seen, attach->seen_room, key);
    const bool waits =
        seen != NULL && seen->key == key && waiting(seen->woven, attach->probe->handler_count) != 0;
    pthread_mutex_unlock(&attach->lock);
    return waits;
}

bool instrument_waits_any(struct instrument_attach *attach, bool *is_new)
{
    pthread_mutex_lock(&attach->lock);
    const bool waits = attach->above_count != 0;
    *is_new = attach->is_above_new;
    attach->is_above_new = false;
    pthread_mutex_unlock(&attach->lock);
    return waits;
}

void instrument_note_refused(struct instrument_attach *attach, uint64_t key)
{
    note(attach, key, NULL, false);
}

void instrument_refused(struct instrument_attach *attach, jobject loader, const char *name)
{
    note(attach, instrument_key(loader, name), NULL, false);
}

void instrument_forget_seen(struct instrument_attach *attach)
{
    for (uint32_t i = 0; i < attach->seen_room; i++)
        jw_free(attach->seen[i].woven);
    jw_free(attach->seen);
    attach->seen = NULL;
    attach->seen_room = attach->seen_count = attach->above_count = 0;
}

void instrument_sum(struct instrument_attach *attach, struct instrument_sums *out)
{
    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&attach->lock);
    out->unroomed = attach->unroomed;
    for (uint32_t i = 0; i < attach->seen_room; i++) {
        const struct probe_woven *woven = attach->seen[i].woven;
        uint32_t places = 0;

        for (uint32_t j = 0; woven != NULL && j < attach->probe->handler_count; j++) {
            struct probe_woven *sum = &out->handlers[j];

            sum->methods += woven[j].methods;
            sum->places += woven[j].places;
            sum->unfit += woven[j].unfit;
            sum->untold += woven[j].untold;
            sum->refused += woven[j].refused;
            sum->placeless += woven[j].placeless;
            sum->misfits += woven[j].misfits;
            sum->skipped += woven[j].skipped;
            places += woven[j].places;
        }
        out->classes += places != 0;
    }
    pthread_mutex_unlock(&attach->lock);
}

/* ---- a class ---- */

/* The boot loader, or one above that of the application. */
static bool is_platform(JNIEnv *jni, jobject loader)
{
    return loader == NULL || instrument_is_platform_loader(jni, loader);
}

struct hooked {
    jvmtiEnv *jvmti;
    struct list *list;
    jclass klass; /* NULL: it is just being loaded */
    struct probe_weave_class of;
    uint64_t key;
    struct probe_woven *woven;
    jint *new_length_bytes;
    unsigned char **new_bytes;
};

static void note_all(const struct hooked *hooked, bool is_woven)
{
    const bool is_by_other = hooked->klass != NULL && !instrument_is_writing();

    for (uint32_t i = 0; i < hooked->list->count; i++) {
        struct instrument_attach *attach = hooked->list->attaches[i];

        if (hooked->list->handlers[i].number == 0)
            note(attach, hooked->key, is_woven ? &hooked->woven[i] : NULL, is_by_other);
    }
}

/* They are not asked for again in the same attach: there would be none the next moment either. */
static void note_unroomed(const struct hooked *hooked)
{
    jw_count(JW_COUNT_PROBE_CLASSES_REFUSED);
    note_all(hooked, false);
    for (uint32_t i = 0; i < hooked->list->count; i++) {
        struct instrument_attach *attach = hooked->list->attaches[i];

        if (hooked->list->handlers[i].number != 0)
            continue;
        pthread_mutex_lock(&attach->lock);
        attach->unroomed++;
        pthread_mutex_unlock(&attach->lock);
    }
}

static bool give(const struct hooked *hooked, const struct classfile_rewritten *out)
{
    unsigned char *bytes = NULL;

    if ((*hooked->jvmti)->Allocate(hooked->jvmti, out->length_bytes, &bytes) != JVMTI_ERROR_NONE)
        return false;
    memcpy(bytes, out->bytes, out->length_bytes);
    *hooked->new_bytes = bytes;
    *hooked->new_length_bytes = (jint)out->length_bytes;
    return true;
}

/* What the JVM says of a class that is loaded; of one that is just being read it says nothing. */
static void ask_above(struct hooked *hooked, JNIEnv *jni, struct rules_supers *above)
{
    if (hooked->klass == NULL || !hooked->list->asks_above)
        return;
    if (!instrument_above(jni, hooked->klass, above))
        above->is_cut = true;
    hooked->of.above = above;
}

static size_t rounded(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

static void weave(struct hooked *hooked, JNIEnv *jni)
{
    const size_t woven_bytes = rounded(sizeof(struct probe_woven) * hooked->list->count);
    struct classfile_rewritten out;
    struct instrument_room room;

    if (!instrument_room_open(&room, hooked->of.length_bytes,
                              woven_bytes + sizeof(struct rules_supers))) {
        note_unroomed(hooked);
        return;
    }
    hooked->woven = (struct probe_woven *)(void *)room.more;
    ask_above(hooked, jni, (struct rules_supers *)(void *)(room.more + woven_bytes));
    if (probe_weave(hooked->list->handlers, hooked->list->count, &hooked->of, &room.memory, &out,
                    hooked->woven) != CLASSFILE_OK) {
        jw_count(JW_COUNT_PROBE_CLASSES_REFUSED);
        note_all(hooked, false);
    } else if (!out.is_changed) {
        note_all(hooked, true);
    } else if (give(hooked, &out)) {
        jw_count(JW_COUNT_PROBE_CLASSES);
        note_all(hooked, true);
    } else {
        jw_count(JW_COUNT_PROBE_CLASSES_REFUSED);
        note_all(hooked, false);
    }
    instrument_room_close(&room);
}

/* What handlers get; whether it was written is in new_bytes. */
static void weave_probes(struct hooked *hooked, JNIEnv *jni, jobject loader, const char *name,
                         const unsigned char *bytes, jint length_bytes)
{
    char loader_name[INSTRUMENT_NAME_BYTES], module_name[INSTRUMENT_NAME_BYTES];

    if (!probe_weave_may_touch(hooked->list->handlers, hooked->list->count, name, NULL) ||
        instrument_is_probe_loader(jni, loader))
        return;
    hooked->of = (struct probe_weave_class){
        .bytes = bytes,
        .length_bytes = (size_t)length_bytes,
        .loader = instrument_loader_name(jni, loader, loader_name, sizeof loader_name),
        .module = instrument_module_name(jni, loader, name, module_name, sizeof module_name),
        .is_static = is_platform(jni, loader) || !instrument_links_again(),
        .site_of = instrument_own_site_of};
    hooked->key = instrument_key(loader, name);
    weave(hooked, jni);
}

void JNICALL instrument_on_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass, jobject loader,
                                      const char *name, jobject domain, jint length_bytes,
                                      const unsigned char *bytes, jint *new_length_bytes,
                                      unsigned char **new_bytes)
{
    struct hooked hooked = {.jvmti = jvmti,
                            .klass = klass,
                            .new_length_bytes = new_length_bytes,
                            .new_bytes = new_bytes};

    (void)domain;
    if (probe_weave_is_left_alone(name) || length_bytes <= 0)
        return;
    hooked.list = take();
    if (hooked.list != NULL) {
        weave_probes(&hooked, jni, loader, name, bytes, length_bytes);
        give_back(hooked.list);
    }
    instrument_census_class(jvmti, jni, loader, name, klass == NULL, bytes, length_bytes, new_bytes,
                            new_length_bytes);
    instrument_note_read();
}
