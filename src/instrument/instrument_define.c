/* The classes of java/java/lang and io.jaywalk.ProbeLoader, which are linked into the library, are defined. Context: the agent's thread. */
#include "instrument/instrument_internal.h"

#include <string.h>

#include "base/memory.h"
#include "probe/probe_renamed.h"

#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_WRITING

/* Made by tools/embed-classes; ends with a name of NULL. */
struct embedded {
    const char *name;
    const unsigned char *bytes;
    uint64_t length_bytes;
};
extern const struct embedded instrument_embedded[] __attribute__((visibility("hidden")));

static bool has_class(JNIEnv *jni, const char *name)
{
    jclass found = (*jni)->FindClass(jni, name);

    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, found);
    return found != NULL;
}

/* Native, static, of java.lang.Thread, without parameters, and gives a Thread. Source: OpenJDK 19 to 28. */
#define CARRIER_METHOD "currentCarrierThread"

/* False: virtual threads, if there are any, are not told from what runs them. */
static bool has_carriers(JNIEnv *jni)
{
    jclass thread = (*jni)->FindClass(jni, "java/lang/Thread");
    const bool has = thread != NULL && (*jni)->GetStaticMethodID(jni, thread, CARRIER_METHOD,
                                                                 "()Ljava/lang/Thread;") != NULL;

    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, thread);
    return has;
}

/* How this JVM calls what classes refer to. */
struct names {
    bool has_carriers;
    bool has_modules; /* JDK 9 and later: its own classes are in other packages */
};

#define RENAMINGS_LIMIT 2

/* How many. Source: OpenJDK 8 (sun.misc.Unsafe, java.lang.invoke.ForceInline ...) and 9 to 28. */
static size_t renamings_of(const char *name, const struct names *names,
                           struct probe_renaming out[RENAMINGS_LIMIT])
{
    size_t count = 0;

    if (names->has_carriers && strcmp(name, "java/lang/JaywalkCarrier") == 0)
        out[count++] = (struct probe_renaming){"currentThread", CARRIER_METHOD};
    if (strcmp(name, "java/lang/JaywalkNumber") == 0)
        out[count++] = (struct probe_renaming){"java/lang/JaywalkFields",
                                               names->has_modules ? "jdk/internal/misc/Unsafe"
                                                                  : "sun/misc/Unsafe"};
    if (!names->has_modules)
        out[count++] = (struct probe_renaming){"jdk/internal/vm/annotation/", "java/lang/invoke/"};
    return count;
}

/* NULL: it is refused, which stands as an exception, or there is no memory for it. */
static jclass define(JNIEnv *jni, const struct embedded *one, const struct names *names)
{
    struct probe_renaming renamings[RENAMINGS_LIMIT];
    const size_t count = renamings_of(one->name, names, renamings);
    const uint8_t *bytes = one->bytes;
    size_t length_bytes = one->length_bytes;
    uint8_t *made = NULL;

    for (size_t i = 0; i < count; i++) {
        const size_t room_bytes = probe_renamed_room_bytes(length_bytes, &renamings[i]);
        uint8_t *out = jw_alloc(room_bytes);

        if (out == NULL) {
            jw_free(made);
            return NULL;
        }
        const size_t out_bytes =
            probe_renamed_class(bytes, length_bytes, &renamings[i], out, room_bytes);
        (void)JW_INVARIANT(out_bytes != 0 || !names->has_modules);
        if (out_bytes == 0) { /* it does not refer to that: on JDK 8 few do */
            jw_free(out);
            continue;
        }
        jw_free(made);
        bytes = made = out;
        length_bytes = out_bytes;
    }
    jclass defined =
        (*jni)->DefineClass(jni, one->name, NULL, (const jbyte *)bytes, (jsize)length_bytes);
    jw_free(made);
    return defined;
}

bool instrument_define_all(JNIEnv *jni, struct jw_error *err)
{
    static const struct embedded *one = instrument_embedded;
    const struct names names = {.has_carriers = has_carriers(jni),
                                .has_modules = has_class(jni, "jdk/internal/misc/Unsafe")};

    if (instrument_embedded[0].name == NULL) {
        jw_error_set(err, "this library was built where no JDK compiles for JDK 8, and has no "
                          "probes");
        return false;
    }
    for (; one->name != NULL; one++) {
        jclass defined = define(jni, one, &names);

        if (instrument_has_thrown(jni, one->name, err))
            return false;
        if (defined == NULL) {
            jw_error_set(err, "%s: no memory for the class", one->name);
            return false;
        }
        (*jni)->DeleteLocalRef(jni, defined);
    }
    return true;
}
