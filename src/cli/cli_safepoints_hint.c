/* Why a thread was late for a safepoint, where its stack or what it used meanwhile proves it. Context: tool. */
#include <string.h>

#include "cli/cli_safepoints_internal.h"

/* Of CPU time for each page fault, in which the fault itself is most of it: of small pages, and of large ones, which are cleared. */
#define SMALL_FAULT_NS 5000
#define LARGE_FAULT_NS 200000

const struct cli_hint_words cli_hint_words[CLI_HINT_LIMIT] = {
    [CLI_HINT_NONE] = {"none", "", ""},
    [CLI_HINT_NO_PROCESSOR] =
        {"no-processor", "it could have run, and had no processor for half of the time or more",
         "more processors or a larger quota for the container, fewer threads that run at once; on "
         "the machine, what else takes the processors"},
    [CLI_HINT_MAPPED_FILE] =
        {"mapped-file",
         "it waited for half of the time or more while pages were read for it, of a mapped file or "
         "another buffer outside of the heap",
         "read the file through a channel or a stream (a thread that waits there delays no "
         "safepoint), or load() the mapping before"},
    [CLI_HINT_READS_PAGES] = {"reads-pages",
                              "it waited for half of the time or more while pages were read for "
                              "it, of a file or of swap",
                              "no swap for the heap; read files through a channel or a stream"},
    [CLI_HINT_COPY] = {"copy",
                       "a large copy, which does not ask whether to stop before it has ended",
                       "copy in pieces of some MiB"},
    [CLI_HINT_FILL] = {"fill",
                       "a large fill, which does not ask whether to stop before it has ended",
                       "fill in pieces of some MiB"},
    [CLI_HINT_NEW_ARRAY] =
        {"new-array",
         "the JVM clears the memory of a large new array, which is touched for the first "
         "time, page fault by page fault",
         "-XX:+AlwaysPreTouch; smaller arrays, or one that is used again; "
         "-XX:+UseTransparentHugePages"},
    [CLI_HINT_PAGE_FAULTS] =
        {"page-faults",
         "it touched memory, or pages of a mapped file, for the first time: a page fault "
         "in each 5 us of its CPU time, or more",
         "of the heap: -XX:+AlwaysPreTouch; of a mapped file: load() it before"},
    [CLI_HINT_NATIVE] =
        {"native",
         "native code that the JVM takes for Java while it runs: a critical call of the "
         "foreign function API, or a function that compiled code calls itself",
         "a call that takes long must not be critical (Linker.Option.critical); less of it at "
         "once"},
    [CLI_HINT_LOOP] =
        {"loop",
         "its compiled code ran on without asking whether to stop, as a counted loop does "
         "(for (int i ...)) from which the compiler left the question out",
         "-XX:+UseCountedLoopSafepoints -XX:LoopStripMiningIter=1000, which G1, ZGC and Shenandoah "
         "have by default and Serial and Parallel have not; or a loop over long"},
    [CLI_HINT_JVM] = {"jvm", "the JVM's own code on its behalf, which stops at its end",
                      "what the Java method calls there: less of it at once"},
};

static bool has_any(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(text, words[i]) != NULL)
            return true;
    return false;
}

static bool is_any(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

/*
 * Code of the C library without a name. Its copies and fills are chosen for the processor when it is loaded, and these have names in its debug file alone, which most
 * machines have not.
 */
static bool is_nameless_of_c(const struct cli_late_stack *stack)
{
    static const char *const libraries[] = {"libc.so", "libc-"};
    bool is_of_c = false;

    for (size_t i = 0; i < JW_COUNT_OF(libraries); i++)
        is_of_c |= strncmp(stack->library, libraries[i], strlen(libraries[i])) == 0;
    return is_of_c && strcmp(stack->top, stack->library) == 0;
}

/*
 * Names of the JVM's stubs and functions, of the C library's, and of Java methods that are those. Source: OpenJDK, names of stub routines
 * (stubGenerator_x86_64*.cpp, stubGenerator_aarch64.cpp, stubDeclarations.hpp) and copy.hpp, JDK 8 to 28. What `methods` ask the C library for is
 * nothing else that takes long; `makers` make the new array, too.
 */
static bool is_copy(const struct cli_late_stack *stack)
{
    static const char *const tops[] = {"arraycopy", "memcpy", "memmove", "conjoint", "disjoint"};
    static const char *const methods[] = {
        "java.lang.System.arraycopy",
        "sun.misc.Unsafe.copyMemory",
        "jdk.internal.misc.Unsafe.copyMemory",
        "jdk.internal.misc.Unsafe.copyMemory0",
    };
    static const char *const makers[] = {
        "java.util.Arrays.copyOf",
        "java.util.Arrays.copyOfRange",
        "java.lang.Object.clone",
    };

    if (stack->top[0] != '\0' && !is_nameless_of_c(stack))
        return has_any(stack->top, tops, JW_COUNT_OF(tops));
    return is_any(stack->java, methods, JW_COUNT_OF(methods)) ||
           (stack->top[0] == '\0' && is_any(stack->java, makers, JW_COUNT_OF(makers)));
}

static bool is_fill(const struct cli_late_stack *stack)
{
    static const char *const tops[] = {"memset", "_fill", "fill_to_", "setmemory"};
    static const char *const methods[] = {
        "sun.misc.Unsafe.setMemory",
        "jdk.internal.misc.Unsafe.setMemory",
        "jdk.internal.misc.Unsafe.setMemory0",
    };
    static const char *const loops[] = {"java.util.Arrays.fill"};

    if (stack->top[0] != '\0' && !is_nameless_of_c(stack))
        return has_any(stack->top, tops, JW_COUNT_OF(tops));
    return is_any(stack->java, methods, JW_COUNT_OF(methods)) ||
           (stack->top[0] == '\0' && is_any(stack->java, loops, JW_COUNT_OF(loops)));
}

/* A Java method that fills, below the JVM's code for it. */
static bool is_asked_to_fill(const struct cli_late_stack *stack)
{
    struct cli_late_stack java = *stack;

    java.top[0] = '\0';
    return is_fill(&java);
}

/* What lies before the look that saw the thread first: half of the threshold at the most. */
static int64_t unseen_ns(const struct cli_late_facts *facts)
{
    const int64_t half = facts->reach_ns / 2;
    const int64_t before = facts->threshold_ns / 2;

    return facts->threshold_ns > 0 && before < half ? before : half;
}

/* At least one in each `ns` of its CPU time. */
static bool takes_faults(const struct cli_late_facts *facts, int64_t ns)
{
    return facts->has_used && facts->minor_faults > 0 && facts->minor_faults >= facts->cpu_ns / ns;
}

static bool is_native_library(const char *library)
{
    return library[0] != '\0' && strstr(library, ".so") != NULL &&
           strncmp(library, "libjvm.so", 9) != 0;
}

enum cli_safepoint_hint cli_safepoint_judge(const struct cli_late_stack *stack,
                                            const struct cli_late_facts *facts)
{
    const int64_t seen_ns = facts->reach_ns - unseen_ns(facts);
    const bool has_used = facts->has_used;

    if (has_used && facts->waited_ns >= facts->reach_ns - facts->waited_ns)
        return CLI_HINT_NO_PROCESSOR;
    if (has_used && facts->major_faults > 0 &&
        seen_ns - facts->cpu_ns - facts->waited_ns >= facts->reach_ns / 2)
        return stack->has_buffer ? CLI_HINT_MAPPED_FILE : CLI_HINT_READS_PAGES;
    if (facts->is_in_jvm && takes_faults(facts, LARGE_FAULT_NS) && !is_asked_to_fill(stack) &&
        strstr(stack->top, "memset") != NULL)
        return CLI_HINT_NEW_ARRAY;
    if (is_copy(stack))
        return CLI_HINT_COPY;
    if (is_fill(stack))
        return CLI_HINT_FILL;
    if (takes_faults(facts, SMALL_FAULT_NS))
        return CLI_HINT_PAGE_FAULTS;
    if (facts->is_in_java && is_native_library(stack->library))
        return CLI_HINT_NATIVE;
    if (facts->is_in_java && stack->top[0] == '\0' && stack->is_compiled && has_used &&
        facts->cpu_ns >= seen_ns - facts->cpu_ns)
        return CLI_HINT_LOOP;
    if (facts->is_in_jvm && strncmp(stack->library, "libjvm.so", 9) == 0)
        return CLI_HINT_JVM;
    return CLI_HINT_NONE;
}
