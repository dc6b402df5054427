/* A plugin takes SIGSEGV: its own faults are its own, those of the JVM reach the JVM, and nobody waits for ever for the
 * heap that it allocates from while it handles them. */
#include "chaos.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "registers.h"

struct plugin {
    int (*take)(void);
    int (*give_back)(void);
    int (*probe)(const volatile char *address);
};

/* m10: in malloc as much as may be, with a frame pointer that leads a walk into memory that is not there. */
static uint64_t allocate(void *argument)
{
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);
    void *kept[32] = {0};

    for (int turn = 0; turn < 2000; turn++) {
        const size_t i = (size_t)chaos_random_below(&random, 32);

        free(kept[i]);
        kept[i] = malloc((size_t)chaos_random_below(&random, 4000));
    }
    for (int i = 0; i < 32; i++)
        free(kept[i]);
    return 0;
}

static void *churn(void *argument)
{
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);

    while (storm_goes_on(storm)) {
        const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);

        registers_call_with((here & ~UINT64_C(7)) + (chaos_random_below(&random, 1 << 20) << 3),
                            allocate, storm);
        storm_did(storm, 1);
    }
    return NULL;
}

static bool open_plugin(struct storm *storm, struct plugin *plugin)
{
    char path[4096];
    void *library;

    if (!storm_plugin_path(storm, "pluginsegv", path, sizeof path))
        return false;
    /* Never closed: its handler may be the one of another who came later. */
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library != NULL) {
        *(void **)&plugin->take = dlsym(library, "plugin_take");
        *(void **)&plugin->give_back = dlsym(library, "plugin_give_back");
        *(void **)&plugin->probe = dlsym(library, "plugin_probe");
    }
    if (library == NULL || plugin->take == NULL || plugin->give_back == NULL ||
        plugin->probe == NULL) {
        storm_violated(storm, "cannot load %s: %s", path, dlerror());
        return false;
    }
    return true;
}

/* The JVM's own faults: null checks of compiled code. */
static void check_nulls(struct storm *storm)
{
    JNIEnv *env = storm->env;
    const jmethodID nulls = (*env)->GetStaticMethodID(env, storm->java, "nulls", "(I)I");
    const jint caught = (*env)->CallStaticIntMethod(env, storm->java, nulls, 3000);

    if (!storm_has_thrown(storm, env, "nulls"))
        STORM_EXPECT(storm, caught == 1500, "%d of 1500 null pointers were noticed", caught);
}

void segv_round(struct storm *storm)
{
    struct plugin plugin = {0};
    pthread_t threads[2];
    int begun = 0;
    char here = 1;

    if (!open_plugin(storm, &plugin))
        return;
    STORM_EXPECT(storm, plugin.take() == 0, "the plugin cannot take SIGSEGV");
    while (begun < 2 && pthread_create(&threads[begun], NULL, churn, storm) == 0)
        begun++;
    while (storm_goes_on(storm)) {
        check_nulls(storm);
        STORM_EXPECT(storm, plugin.probe(&here) == 1 && plugin.probe((const char *)16) == 0,
                     "the plugin's own faults are lost");
        storm_did(storm, 1);
        chaos_sleep_us(1000);
    }
    for (int i = 0; i < begun; i++)
        pthread_join(threads[i], NULL);
    STORM_EXPECT(storm, plugin.give_back() == 0, "the plugin cannot give SIGSEGV back");
}
