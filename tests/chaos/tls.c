/* Thread-local storage under signals: keys that come and go, destructors that set keys again, with exact counts;
 * blocks of a library that is loaded while its users run. */
#include "chaos.h"

#include <dlfcn.h>
#include <string.h>

/* Of one thread: what its destructors are to see. */
struct life {
    struct storm *storm;
    uint64_t seed;
    _Atomic int destroyed[3];
};

static pthread_key_t once_key;   /* its destructor sets `late_key` */
static pthread_key_t thrice_key; /* its destructor sets itself again, twice */
static pthread_key_t late_key;   /* nobody sets it but that destructor */
static pthread_once_t keys_once = PTHREAD_ONCE_INIT;

static void destroy_once(void *argument)
{
    struct life *life = argument;

    atomic_fetch_add(&life->destroyed[0], 1);
    chaos_burn_us(30);
    pthread_setspecific(late_key, life);
}

static void destroy_thrice(void *argument)
{
    struct life *life = argument;

    chaos_burn_us(30);
    if (atomic_fetch_add(&life->destroyed[1], 1) < 2)
        pthread_setspecific(thrice_key, life);
}

static void destroy_late(void *argument)
{
    struct life *life = argument;

    STORM_EXPECT(life->storm, pthread_getspecific(once_key) == NULL, "a destroyed key is set");
    atomic_fetch_add(&life->destroyed[2], 1);
    chaos_burn_us(30);
}

static void make_keys(void)
{
    pthread_key_create(&once_key, destroy_once);
    pthread_key_create(&thrice_key, destroy_thrice);
    pthread_key_create(&late_key, destroy_late);
}

/* Keys beyond the first 32 lie in blocks that are allocated at their first use. */
static void churn_keys(struct storm *storm, uint64_t *random)
{
    pthread_key_t keys[40];
    int made = 0;

    while (made < 40 && pthread_key_create(&keys[made], NULL) == 0)
        made++;
    for (int turn = 0; turn < 200; turn++) {
        const int i = (int)chaos_random_below(random, (uint64_t)made);

        pthread_setspecific(keys[i], &keys[i]);
        STORM_EXPECT(storm, pthread_getspecific(keys[i]) == &keys[i], "a key lost its value");
    }
    for (int i = 0; i < made; i++) {
        const void *value = pthread_getspecific(keys[i]);

        STORM_EXPECT(storm, value == NULL || value == &keys[i], "a key has the value of another");
        pthread_key_delete(keys[i]);
    }
}

/* A thread that the JVM knew has signals from its first moment to its last. */
static void attach_for_a_moment(struct storm *storm)
{
    JNIEnv *env;

    if ((*storm->vm)->AttachCurrentThreadAsDaemon(storm->vm, (void **)&env, NULL) != JNI_OK ||
        (*storm->vm)->DetachCurrentThread(storm->vm) != JNI_OK)
        storm_violated(storm, "cannot attach and detach");
}

static void *live(void *argument)
{
    struct life *life = argument;
    uint64_t random = life->seed;

    if (random & 4)
        attach_for_a_moment(life->storm);
    pthread_setspecific(once_key, life);
    pthread_setspecific(thrice_key, life);
    /* At times long enough to be found in the list of threads. */
    chaos_burn_us((int64_t)chaos_random_below(&random, (random & 24) == 0 ? 30000 : 300));
    churn_keys(life->storm, &random);
    /* m29: set and read again and again, as a signal may come in between. */
    for (int i = 0; i < 500; i++) {
        pthread_setspecific(once_key, &random);
        if (pthread_getspecific(once_key) != &random || pthread_getspecific(thrice_key) != life ||
            pthread_getspecific(late_key) != NULL) {
            storm_violated(life->storm, "a key lost its value or has that of another");
            break;
        }
        pthread_setspecific(once_key, life);
    }
    return NULL;
}

struct plugin {
    struct storm *storm;
    int (*use)(uint64_t value, _Atomic long *count);
    _Atomic long destroyed;
    _Atomic bool is_loaded;
    _Atomic bool is_missing;
};

/* m28: the thread is older than the library, so its block is allocated at the first use, under signals. */
static void *use_plugin(void *argument)
{
    struct plugin *plugin = argument;
    int line = 0;

    while (!atomic_load(&plugin->is_loaded)) {
        if (atomic_load(&plugin->is_missing))
            return NULL;
        chaos_burn_us(20);
    }
    for (uint64_t value = 1; value < 50 && line == 0; value++)
        line = plugin->use(value, &plugin->destroyed);
    STORM_EXPECT(plugin->storm, line == 0, "thread-local storage is wrong: plugintls.c:%d", line);
    return NULL;
}

static void load_plugin(struct storm *storm, const char *path)
{
    struct plugin plugin = {.storm = storm};
    pthread_t threads[4];
    int begun = 0;
    void *library;
    int (*has_destructors)(void) = NULL;

    while (begun < 4 && pthread_create(&threads[begun], NULL, use_plugin, &plugin) == 0)
        begun++;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) {
        *(void **)&plugin.use = dlsym(library, "plugin_use");
        *(void **)&has_destructors = dlsym(library, "plugin_has_destructors");
    }
    if (plugin.use != NULL && has_destructors != NULL)
        atomic_store(&plugin.is_loaded, true);
    else {
        storm_violated(storm, "cannot load %s: %s", path, dlerror());
        atomic_store(&plugin.is_missing, true);
    }
    for (int i = 0; i < begun; i++)
        pthread_join(threads[i], NULL);
    if (library == NULL)
        return;
    if (has_destructors != NULL && has_destructors())
        STORM_EXPECT(storm, atomic_load(&plugin.destroyed) == begun,
                     "%ld destructors of %d threads ran", atomic_load(&plugin.destroyed), begun);
    dlclose(library);
    storm_did(storm, begun);
}

static void *make(void *argument)
{
    struct storm *storm = argument;

    while (storm_goes_on(storm)) {
        struct life lives[3];
        pthread_t threads[3];
        int begun = 0;

        memset(lives, 0, sizeof lives);
        for (; begun < 3; begun++) {
            lives[begun].storm = storm;
            lives[begun].seed = storm_seed(storm);
            if (pthread_create(&threads[begun], NULL, live, &lives[begun]) != 0)
                break;
        }
        for (int i = 0; i < begun; i++) {
            const _Atomic int *destroyed = lives[i].destroyed;

            pthread_join(threads[i], NULL);
            /* m29: exact, whatever signals came in between. */
            STORM_EXPECT(storm, destroyed[0] == 1 && destroyed[1] == 3 && destroyed[2] == 1,
                         "destructors ran %d, %d and %d times, not 1, 3 and 1", destroyed[0],
                         destroyed[1], destroyed[2]);
        }
        storm_did(storm, begun);
        chaos_sleep_us(2000);
    }
    return NULL;
}

void tls_round(struct storm *storm)
{
    char path[4096];

    pthread_once(&keys_once, make_keys);
    if (!storm_plugin_path(storm, "plugintls", path, sizeof path))
        return;
    for (int i = 0; i < 3; i++)
        load_plugin(storm, path);
    storm_threads(storm, storm->intensity, make, storm);
}
