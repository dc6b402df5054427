/* Callers of places of the JDK where locks are taken. Context: hook, on any Java thread; begin and end: the agent's thread. */
#include "agent/callers.h"

#include <string.h>

#include "agent/caller_table.h"
#include "arch/arch.h"
#include "base/atomics.h"
#include "instrument/instrument.h"
#include "vm/vm_loader.h"
#include "vm/vm_method.h"
#include "walk/walk.h"
#include "walk/walk_breaker.h"

/* Mostly the first are enough, of which some are the agent's own; who has more is walked once more. */
#define FRAMES_FIRST 24u
#define FRAMES_MOST  96u

#define NAME_BYTES 512u

#define NOBODY   "[no method of the program]"
#define TOO_DEEP "[deeper than was looked]"
#define UNWALKED "[stack not walked]"

static _Atomic bool is_on; /* relaxed: who sees it late adds one sample more, or less */

/* By number of the loader. Relaxed: a byte is whole in itself, and always the same. */
enum { LOADER_UNASKED, LOADER_OF_JDK, LOADER_OF_PROGRAM };
static _Atomic uint8_t loaders[VM_LOADERS_MAX];

struct name {
    char class_name[NAME_BYTES], method[NAME_BYTES];
};

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static uint8_t ask_loader(uint32_t loader)
{
    struct vm_loader_text text;

    if (!vm_loader_describe(loader, &text))
        return LOADER_UNASKED;
    return strcmp(text.name, "bootstrap") == 0 || strcmp(text.name, "platform") == 0 ||
                   strcmp(text.name, "ext") == 0
               ? LOADER_OF_JDK
               : LOADER_OF_PROGRAM;
}

static uint8_t loader_of(uint32_t loader)
{
    if (loader >= VM_LOADERS_MAX)
        return LOADER_UNASKED;

    uint8_t found = jw_load_relaxed(&loaders[loader]);
    if (found == LOADER_UNASKED) {
        found = ask_loader(loader);
        jw_store_relaxed(&loaders[loader], found);
    }
    return found;
}

static bool read_text(const struct vm_text *from, char to[NAME_BYTES])
{
    const size_t length = from->length_bytes < NAME_BYTES ? from->length_bytes : NAME_BYTES - 1;

    if (from->addr == 0 || !safe_load_bytes(to, from->addr, length))
        return false;
    to[length] = '\0';
    return true;
}

/* Of the JDK by name: what it makes in loaders of its own, or for that of the program; ours; and, where the loader is not known (JDK 8 with -Xcheck:jni), all that is called so. */
static bool is_made_by_jdk(const char *class_name, bool is_loader_known)
{
    static const char *const made[] = {"java/",     "jdk/internal/reflect/", "sun/reflect/",
                                       "jdk/proxy", "com/sun/proxy/",        "io/jaywalk/"};
    static const char *const own[] = {"jdk/", "sun/", "javax/"};

    for (size_t i = 0; i < JW_COUNT_OF(made); i++)
        if (begins_with(class_name, made[i]))
            return true;
    for (size_t i = 0; !is_loader_known && i < JW_COUNT_OF(own); i++)
        if (begins_with(class_name, own[i]))
            return true;
    return false;
}

static bool is_of_program(vm_addr addr, struct name *out)
{
    struct vm_method method;

    if (!vm_method_read(addr, &method) || method.is_hidden_class)
        return false;
    const uint8_t loader = loader_of(method.loader);
    return loader != LOADER_OF_JDK && read_text(&method.class_name, out->class_name) &&
           !is_made_by_jdk(out->class_name, loader == LOADER_OF_PROGRAM) &&
           read_text(&method.name, out->method);
}

/* NULL: it is in `out`; "": none is among these, and there may be more; else what stands in its place. */
static const char *look(JNIEnv *jni, struct vm_call_frame *frames, uint32_t depth, struct name *out)
{
    struct walk_java_result result;

    walk_own_stack(jni, frames, depth, &result);
    for (uint32_t i = 0; i < result.frame_count; i++) {
        if (walk_is_mark(frames[i].method) != JW_MARK_LIMIT)
            break;
        if (is_of_program((vm_addr)frames[i].method, out))
            return NULL;
    }
    if (result.is_truncated)
        return "";
    return result.frame_count == 0 || result.is_frozen || result.is_moving ? UNWALKED : NOBODY;
}

static const char *look_first(JNIEnv *jni, struct name *out)
{
    struct vm_call_frame frames[FRAMES_FIRST];

    return look(jni, frames, FRAMES_FIRST, out);
}

static const char *look_further(JNIEnv *jni, struct name *out)
{
    struct vm_call_frame frames[FRAMES_MOST];

    return look(jni, frames, FRAMES_MOST, out);
}

static void called(JNIEnv *jni, uint32_t site, uint64_t weight)
{
    struct name name;
    const char *instead = UNWALKED;

    if (!jw_load_relaxed(&is_on))
        return;
    if (walk_breaker_java() == WALK_VM) {
        instead = look_first(jni, &name);
        if (instead != NULL && instead[0] == '\0')
            instead = look_further(jni, &name);
    }
    if (instead == NULL)
        caller_table_add(site, name.class_name, name.method, weight);
    else
        caller_table_add(site, "", instead[0] == '\0' ? TOO_DEEP : instead, weight);
}

bool callers_begin(bool is_again, struct jw_error *err)
{
    instrument_set_lock_called(called);
    if (is_again)
        caller_table_begin_again();
    else if (!caller_table_begin(err))
        return false;
    jw_store_relaxed(&is_on, true);
    return true;
}

void callers_end(void)
{
    jw_store_relaxed(&is_on, false);
}
