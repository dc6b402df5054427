/* Stubs that call other libraries have the names that objdump gives them. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "elf_file.h"
#include "symbols/symbols.h"

static char directory[64], library_path[128];

static void make_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/jaywalk-plt-XXXXXX");
    cr_assert(mkdtemp(directory) != NULL);
    snprintf(library_path, sizeof library_path, "%s/libcalls.so", directory);
}

static void remove_directory(void)
{
    symbols_close();
    unlink(library_path);
    rmdir(directory);
}

TestSuite(symbols_plt, .timeout = 1800, .init = make_directory, .fini = remove_directory);

static const char *tool(const char *name, char *text, size_t text_bytes)
{
    const char *prefix = "";

#if defined(__aarch64__)
    prefix = access("/usr/bin/aarch64-linux-gnu-gcc", X_OK) == 0 ? "aarch64-linux-gnu-" : "";
#endif
    snprintf(text, text_bytes, "%s%s", prefix, name);
    return text;
}

static void make_library(const char *options)
{
    char command[1024], compiler[64];

    snprintf(command, sizeof command,
             "echo '#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n"
             "int calls(char *to); int calls(char *to) { char *x = malloc(9); strcpy(x, to); "
             "puts(x); free(x); return atoi(to); }' | "
             "%s -x c -O1 -shared -fPIC %s -o '%s' -",
             tool("gcc", compiler, sizeof compiler), options, library_path);
    cr_assert_eq(system(command), 0, "%s", command);
}

/* Asks for each stub that objdump finds, at its first and its last byte of eight. */
static unsigned compare_with_objdump(const char *path)
{
    struct elf_file file;
    char line[4096], name[2048], found[2048], objdump[64];
    unsigned long long vaddr;
    uint64_t offset_bytes;
    unsigned compared = 0;

    cr_assert(elf_file_open(&file, path));
    struct symbols_names *names = symbols_plt_build(&file.elf, file.text_vaddr, file.text_bytes);
    snprintf(line, sizeof line,
             "%s -d -j .plt -j .plt.sec -j .plt.got --no-show-raw-insn '%s' 2>/dev/null",
             tool("objdump", objdump, sizeof objdump), path);
    FILE *dump = popen(line, "re");
    cr_assert(dump != NULL);
    while (fgets(line, sizeof line, dump) != NULL) {
        if (sscanf(line, "%llx <%2047[^>]>:", &vaddr, name) != 2)
            continue;
        char *end = strstr(name, "@plt");
        if (end == NULL || strcmp(end, "@plt") != 0 || strncmp(name, "*ABS*", 5) == 0)
            continue; /* the first entry, and stubs of functions of its own that have no symbol */
        cr_assert(names != NULL, "%s", path);
        for (unsigned at = 0; at < 8; at += 7) {
            cr_assert(symbols_names_find(names, vaddr + at - file.text_vaddr, found, sizeof found,
                                         &offset_bytes),
                      "%s at %llx of %s", name, vaddr, path);
            cr_assert_str_eq(found, name, "%s: %s at %llx of %s", found, name, vaddr, path);
            cr_assert_eq(offset_bytes, at);
        }
        compared++;
    }
    (void)pclose(dump);
    jw_free(names);
    close(file.fd);
    return compared;
}

Test(symbols_plt, stubs_of_each_way_of_linking_have_the_names_of_objdump)
{
    make_library("-Wl,-z,lazy");
    cr_assert_geq(compare_with_objdump(library_path), 4);
    make_library("-Wl,-z,now");
    cr_assert_geq(compare_with_objdump(library_path), 4);
#if defined(__x86_64__)
    make_library("-fcf-protection=full -Wl,-z,ibtplt -Wl,-z,lazy");
    cr_assert_geq(compare_with_objdump(library_path), 4);
    make_library("-fcf-protection=full -Wl,-z,ibtplt -Wl,-z,now");
    cr_assert_geq(compare_with_objdump(library_path), 4);
#else
    make_library("-mbranch-protection=standard -Wl,-z,force-bti -Wl,-z,now");
    cr_assert_geq(compare_with_objdump(library_path), 4);
#endif
    make_library("-fno-plt -Wl,-z,now");
    (void)compare_with_objdump(library_path);
}

Test(symbols_plt, stubs_of_the_c_library_and_of_this_program_have_the_names_of_objdump)
{
    char path[4096];

    cr_assert(mapped_path("libc.so", path, sizeof path) || mapped_path("libc-", path, sizeof path));
    (void)compare_with_objdump(path);
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    cr_assert_gt(length, 0);
    path[length] = '\0';
    cr_assert_gt(compare_with_objdump(path), 10);
}

Test(symbols_plt, a_stub_that_is_sampled_has_its_name)
{
    struct jw_error err = {0};
    struct symbols_name name;
    struct elf_file file;
    unsigned named = 0;

    make_library("-Wl,-z,now");
    void *library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(library != NULL, "%s", dlerror());
    const uintptr_t calls = (uintptr_t)dlsym(library, "calls");
    cr_assert(symbols_refresh(&err), "%s", err.message);
    cr_assert(elf_file_open(&file, library_path));
    struct symbols_names *stubs = symbols_plt_build(&file.elf, file.text_vaddr, file.text_bytes);
    cr_assert(stubs != NULL);
    cr_assert(symbols_name(calls, &name));
    cr_assert_str_eq(name.function, "calls");
    uint64_t calls_vaddr;
    cr_assert(symbols_elf_find_symbol(&file.elf, "calls", &calls_vaddr));
    for (uint32_t i = 0; i < stubs->function_count; i++) {
        const uintptr_t pc = calls - (uintptr_t)calls_vaddr + (uintptr_t)file.text_vaddr +
                             stubs->functions[i].text_offset;

        if (stubs->functions[i].value == 0)
            continue; /* the end of a section */
        cr_assert(symbols_name(pc, &name));
        cr_assert_not_null(strstr(name.function, "@plt"), "%s", name.function);
        named += strcmp(name.function, "malloc@plt") == 0;
    }
    cr_assert_eq(named, 1);
    jw_free(stubs);
    close(file.fd);
    dlclose(library);
}
