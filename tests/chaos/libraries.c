/* Libraries are loaded, called and unloaded under dozens of names, their files deleted or exchanged meanwhile; other
 * threads ask the dynamic linker for what is loaded, and unwind. */
#include "chaos.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES 16 /* of each thread */

struct shelf {
    struct storm *storm;
    const char *source;
    _Atomic int loaders;
};

static bool copy_file(const char *from, const char *to)
{
    char bytes[16384];
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    bool is_copied = in >= 0 && out >= 0;
    ssize_t length;

    while (is_copied && (length = read(in, bytes, sizeof bytes)) != 0)
        is_copied = length > 0 && write(out, bytes, (size_t)length) == length;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return is_copied;
}

/* m31: the file that is mapped stays as it is, but another one stands in its place, or none. */
static void exchange_file(const char *path, uint64_t *random)
{
    char other[4200];
    FILE *file;

    if (chaos_random(random) & 1) {
        unlink(path);
        return;
    }
    snprintf(other, sizeof other, "%s.new", path);
    file = fopen(other, "we");
    if (file == NULL)
        return;
    fwrite("\177ELF\2\1\1", 1, 7, file);
    for (int i = 0; i < 2000; i++)
        fputc((int)(chaos_random(random) & 0xff), file);
    fclose(file);
    rename(other, path);
}

__attribute__((noinline)) static uint64_t go_back(uint64_t value)
{
    return chaos_compute(value, 200) ^ 1;
}

static void use_library(struct storm *storm, void *library, uint64_t *random)
{
    uint64_t (*call)(uint64_t, unsigned, uint64_t (*)(uint64_t));
    int (*is_begun)(void);
    const uint64_t start = chaos_random(random);
    uint64_t expected = chaos_compute(go_back(chaos_compute(start, 2000)), 2000);
    Dl_info where;

    *(void **)&call = dlsym(library, "plugin_call");
    *(void **)&is_begun = dlsym(library, "plugin_is_begun");
    if (call == NULL || is_begun == NULL) {
        storm_violated(storm, "dlsym: %s", dlerror());
        return;
    }
    STORM_EXPECT(storm, is_begun() == 1, "a library's constructor did not run");
    for (int i = 0; i < 20; i++)
        STORM_EXPECT(storm, call(start, 2000, go_back) == expected, "a library computes wrong");
    STORM_EXPECT(storm,
                 dladdr(*(void **)&call, &where) != 0 && where.dli_sname != NULL &&
                     strcmp(where.dli_sname, "plugin_call") == 0,
                 "dladdr does not know plugin_call");
}

static void *load(void *argument)
{
    struct shelf *shelf = argument;
    struct storm *storm = shelf->storm;
    uint64_t random = storm_seed(storm);
    const int own = atomic_fetch_add(&shelf->loaders, 1);
    char path[4096];

    for (int number = 0; storm_goes_on(storm); number++) {
        void *library;

        snprintf(path, sizeof path, "%s/libcopy%d-%d.so", storm->directory, own, number % NAMES);
        /* A name is another file each time: whoever had it open goes on with the old one. */
        unlink(path);
        if (!copy_file(shelf->source, path)) {
            storm_violated(storm, "cannot copy to %s", path);
            break;
        }
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            storm_violated(storm, "dlopen: %s", dlerror());
            break;
        }
        if (number % 3 == 0)
            exchange_file(path, &random);
        use_library(storm, library, &random);
        STORM_EXPECT(storm, dlclose(library) == 0, "dlclose: %s", dlerror());
        storm_did(storm, 1);
        if (number % 8 == 0)
            chaos_sleep_us(3000);
    }
    return NULL;
}

struct sight {
    struct storm *storm;
    int libraries;
    bool is_chaos_there;
    uintptr_t own;
};

static int see(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct sight *sight = argument;

    (void)size;
    sight->libraries++;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];

        if (header->p_type == PT_LOAD &&
            sight->own - info->dlpi_addr - header->p_vaddr < header->p_memsz)
            sight->is_chaos_there = true;
    }
    chaos_compute(1, 50);
    return 0;
}

static void unwind(struct storm *storm)
{
    void *frames[32];
    const int count = backtrace(frames, 32);
    Dl_info where;

    /* m30: the unwinder asks the dynamic linker at each frame. */
    STORM_EXPECT(storm, count >= 2, "backtrace gives %d frames", count);
    if (count >= 1)
        STORM_EXPECT(storm,
                     dladdr(frames[0], &where) != 0 && strstr(where.dli_fname, "libchaos") != NULL,
                     "the top frame is in another library");
}

__attribute__((noinline)) static void unwind_deep(struct storm *storm, int depth)
{
    if (depth == 0)
        unwind(storm);
    else
        unwind_deep(storm, depth - 1);
    chaos_compute((uint64_t)depth, 1); /* no tail call */
}

static void *ask(void *argument)
{
    struct storm *storm = ((struct shelf *)argument)->storm;

    while (storm_goes_on(storm)) {
        struct sight sight = {.storm = storm, .own = (uintptr_t)&ask};

        dl_iterate_phdr(see, &sight);
        STORM_EXPECT(storm, sight.is_chaos_there && sight.libraries >= 4,
                     "dl_iterate_phdr tells of %d libraries, %s of ours", sight.libraries,
                     sight.is_chaos_there ? "and" : "but not");
        unwind_deep(storm, 20);
        storm_did(storm, 1);
        chaos_sleep_us(300);
    }
    return NULL;
}

void libraries_round(struct storm *storm)
{
    char source[4096];
    struct shelf shelf = {.storm = storm, .source = source};
    pthread_t askers[2];
    int asking = 0;

    if (!storm_plugin_path(storm, "plugincalls", source, sizeof source))
        return;
    while (asking < 2 && pthread_create(&askers[asking], NULL, ask, &shelf) == 0)
        asking++;
    storm_threads(storm, 1 + storm->intensity, load, &shelf);
    for (int i = 0; i < asking; i++)
        pthread_join(askers[i], NULL);
}
