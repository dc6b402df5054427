/*
 * Other copies of this library in the process: another file, or the same one under another name, which the
 * loader takes for a library of its own; control.
 *
 * Each copy shows one symbol. Whoever asks the loader for it in each library of the process finds them all.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "base/atomics.h"

#define COPY_SYMBOL "jaywalk_copy"
#define COPIES_SEEN 1024 /* libraries */

/* The first word stays what it is in all versions: 1 while this copy samples. */
struct copy {
    _Atomic uint32_t is_active; /* relaxed: it decides nothing alone */
};

__attribute__((visibility("default"))) extern struct copy jaywalk_copy;
struct copy jaywalk_copy;

struct names {
    unsigned count;
    char *texts[COPIES_SEEN];
};

/* The loader's lock is held: nothing is asked of it here. */
static int take_name(struct dl_phdr_info *info, size_t info_bytes, void *argument)
{
    struct names *names = argument;

    (void)info_bytes;
    if (info->dlpi_name == NULL || info->dlpi_name[0] != '/' || names->count == COPIES_SEEN)
        return 0;

    const size_t length_bytes = strlen(info->dlpi_name) + 1;
    char *copy = jw_alloc(length_bytes);
    if (copy == NULL)
        return 1;
    memcpy(copy, info->dlpi_name, length_bytes);
    names->texts[names->count++] = copy;
    return 0;
}

static void look_into(const char *name, struct copies *out)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    const struct copy *found = library == NULL ? NULL : dlsym(library, COPY_SYMBOL);
    Dl_info where;

    /* A library that merely depends on a copy shows its symbol, too. */
    if (found != NULL && found != &jaywalk_copy && dladdr(found, &where) != 0 &&
        strcmp(where.dli_fname, name) == 0) {
        if (out->count++ == 0 || jw_load_relaxed(&found->is_active) == 1)
            snprintf(out->path, sizeof out->path, "%s", name);
        out->is_active = out->is_active || jw_load_relaxed(&found->is_active) == 1;
    }
    if (library != NULL)
        dlclose(library);
}

void copies_look(struct copies *out)
{
    struct names *names = jw_alloc(sizeof *names);

    *out = (struct copies){0};
    if (names == NULL)
        return;
    dl_iterate_phdr(take_name, names);
    for (unsigned i = 0; i < names->count; i++) {
        look_into(names->texts[i], out);
        jw_free(names->texts[i]);
    }
    jw_free(names);
}

void copies_set_active(bool is_active)
{
    jw_store_relaxed(&jaywalk_copy.is_active, is_active);
}
