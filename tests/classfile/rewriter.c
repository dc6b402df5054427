/*
 * Reads every class of a pack and writes it again: without anything put in, to be the same; and with a call at every place.
 *
 *   rewriter PACK [OUT PLACE,...]     PACK and OUT: a length of four bytes and as many bytes for each class
 *
 * PLACE probes0 or probes1: every second class, from the first or the second on, has instead what room probe puts in for handlers at places
 * within methods, with all that they can be given.
 *
 * The calls go to jaywalk.hooks.Hooks (tests/classfile/java). Prints what was done as `name value` lines; status 1 where a
 * class was not read, or not the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "classfile/classfile_rewrite.h"
#include "probe/probe_weave.h"

#define HOOKS       "jaywalk/hooks/Hooks"
#define CLASS_BYTES (16u << 20)

enum {
    OP_DUP = 89,
    OP_ALOAD_0 = 42,
};

struct sums {
    uint64_t classes, bytes, new_bytes, methods, refused, sites, skipped, different, unread;
    uint64_t by_verdict[CLASSFILE_VERDICT_LIMIT];
    uint64_t identity_ns, rewrite_ns;
};

static uint32_t places_wanted;
static bool uses_dynamic;
static int probes_from = -1; /* -1: no class has probes */

/* ---- probes ---- */

#define EVERY_METHOD                                                                               \
    "include class name=** method name=** lift "                                                   \
    "platform,libraries,interfaces,enums,synthetic,constructors,initialisers,getters,setters"
#define PROBED(at, of_what, method, type, ...)                                                     \
    {                                                                                              \
        .target = HOOKS, .class_name = HOOKS, .method_name = method, .descriptor = type,           \
        .place = at, .of = of_what, .rules = EVERY_METHOD, .captures = {                           \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* What follows what is captured are two numbers. */
static struct probe_handler probed[] = {
    PROBED(PROBE_CALL, "**", "asked", "(Ljava/lang/Object;Ljava/lang/Object;III)V",
           {PROBE_CALL_ARGUMENT, 0, 'L'}, {PROBE_TARGET, 0, 'L'}, {PROBE_LINE_NUMBER, 0, 'I'}),
    PROBED(PROBE_CALL_RETURN, "**", "answered", "(Ljava/lang/Object;Ljava/lang/Object;II)V",
           {PROBE_RECEIVER, 0, 'L'}, {PROBE_RETURNED, 0, 'L'}),
    PROBED(PROBE_READ, "**", "read", "(Ljava/lang/Object;Ljava/lang/Object;II)V",
           {PROBE_RECEIVER, 0, 'L'}, {PROBE_VALUE, 0, 'L'}),
    PROBED(PROBE_WRITE, "**", "written", "(Ljava/lang/Object;Ljava/lang/Object;II)V",
           {PROBE_RECEIVER, 0, 'L'}, {PROBE_VALUE, 0, 'L'}),
    PROBED(PROBE_ALLOCATION, "**[]", "made", "(Ljava/lang/Object;Ljava/lang/Object;II)V",
           {PROBE_ALLOCATED, 0, 'L'}, {PROBE_TARGET, 0, 'L'}),
    PROBED(PROBE_MONITOR_ENTER, NULL, "entering", "(Ljava/lang/Object;II)V", {PROBE_LOCK, 0, 'L'}),
    PROBED(PROBE_MONITOR_ENTERED, NULL, "entered", "(Ljava/lang/Object;II)V", {PROBE_LOCK, 0, 'L'}),
    PROBED(PROBE_MONITOR_EXIT, NULL, "exited", "(II)V", {PROBE_KIND_LIMIT, 0, 0}),
    PROBED(PROBE_LINE, NULL, "lined", "(Ljava/lang/Object;II)V", {PROBE_THIS, 0, 'L'}),
};

static struct probe_weave_handler weavers[sizeof probed / sizeof probed[0]];
static uint64_t probed_places[sizeof probed / sizeof probed[0]];

static void open_probes(void)
{
    struct jw_error err = {{0}};

    for (size_t i = 0; i < sizeof probed / sizeof probed[0]; i++) {
        while (probed[i].capture_count < PROBE_CAPTURES_LIMIT &&
               probed[i].captures[probed[i].capture_count].type != 0)
            probed[i].capture_count++;
        probed[i].line = probed[i].place == PROBE_LINE ? 100 : 0;
        weavers[i] = (struct probe_weave_handler){
            .handler = &probed[i], .rules = rules_parse(EVERY_METHOD, strlen(EVERY_METHOD), &err)};
        if (weavers[i].rules == NULL)
            fprintf(stderr, "rewriter: %s\n", err.message);
    }
}

static enum classfile_verdict weave(const uint8_t *bytes, uint32_t length,
                                    struct classfile_memory *memory,
                                    struct classfile_rewritten *written)
{
    const uint32_t count = sizeof probed / sizeof probed[0];
    const struct probe_weave_class of = {.bytes = bytes, .length_bytes = length, .is_static = true};
    struct probe_woven woven[sizeof probed / sizeof probed[0]];
    const enum classfile_verdict verdict = probe_weave(weavers, count, &of, memory, written, woven);

    for (uint32_t i = 0; i < count; i++)
        probed_places[i] += woven[i].places;
    return verdict;
}

/* ---- places ---- */

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* invokedynamic where the class may have it; else a static call. Nothing on the stack. */
static void put_plain(const struct classfile_site *site, struct classfile_additions *additions,
                      struct classfile_snippet *snippet)
{
    char name[32];

    /* `return` is no name in Java. */
    snprintf(name, sizeof name, "%s%s", classfile_place_word(site->place),
             site->is_after                          ? "After"
             : site->place == CLASSFILE_PLACE_RETURN ? "_"
                                                     : "");
    classfile_put_int(snippet, (int32_t)site->pc * 3, additions, 1);
    if (uses_dynamic) {
        const uint16_t bootstrap = classfile_add_static_handle(
            additions,
            classfile_add_method(additions, HOOKS, "bootstrap",
                                 "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;"
                                 "Ljava/lang/invoke/MethodType;I)Ljava/lang/invoke/CallSite;"));
        const uint16_t argument = classfile_add_int(additions, (int32_t)site->place);

        classfile_put_dynamic(
            snippet, classfile_add_call_site(additions, bootstrap, &argument, 1, name, "(I)V"));
        return;
    }
    classfile_put_call(snippet, classfile_add_method(additions, HOOKS, name, "(I)V"));
}

static void insert(void *context, const struct classfile_site *site,
                   struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    (void)context;
    if (site->has_this) {
        classfile_put_op(snippet, OP_ALOAD_0, 1);
        classfile_put_call(
            snippet, classfile_add_method(additions, HOOKS, "object", "(Ljava/lang/Object;)V"));
    }
    /* What lies on the stack: an exception, or the object of a lock that is about to be taken. */
    if (site->place == CLASSFILE_PLACE_THROW || site->place == CLASSFILE_PLACE_ATHROW) {
        classfile_put_op(snippet, OP_DUP, 1);
        classfile_put_call(snippet, classfile_add_method(additions, HOOKS, "exception",
                                                         "(Ljava/lang/Throwable;)V"));
    } else if (site->place == CLASSFILE_PLACE_MONITOR_ENTER && !site->is_after) {
        classfile_put_op(snippet, OP_DUP, 1);
        classfile_put_call(
            snippet, classfile_add_method(additions, HOOKS, "object", "(Ljava/lang/Object;)V"));
    } else {
        put_plain(site, additions, snippet);
    }
}

static void put_u4(FILE *to, uint32_t value)
{
    const unsigned char bytes[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
                                    (unsigned char)(value >> 8), (unsigned char)value};

    fwrite(bytes, 1, sizeof bytes, to);
}

static void do_class(const uint8_t *bytes, uint32_t length, struct classfile_memory *memory,
                     FILE *out, struct sums *sums)
{
    static uint32_t places[65536];
    struct classfile file;
    struct classfile_rewritten written;
    struct classfile_plan plan = {.rewrites_all = true};
    uint64_t begin = cpu_ns();

    memory->used_bytes = 0;
    enum classfile_verdict verdict = classfile_read(bytes, length, memory, &file);
    if (verdict == CLASSFILE_OK)
        verdict = classfile_rewrite(&file, &plan, memory, &written);
    sums->identity_ns += cpu_ns() - begin;
    sums->classes++;
    sums->bytes += length;
    if (verdict != CLASSFILE_OK) {
        fprintf(stderr, "class %" PRIu64 ": %s\n", sums->classes, classfile_verdict_text(verdict));
        sums->unread++;
    } else if (written.length_bytes != length || memcmp(written.bytes, bytes, length) != 0) {
        fprintf(stderr, "class %.*s: not the same\n", (int)classfile_name(&file).length_bytes,
                classfile_name(&file).bytes);
        sums->different++;
    }
    for (uint32_t i = 0; verdict == CLASSFILE_OK && i < file.method_count; i++) {
        sums->methods += file.methods[i].code_offset_bytes != 0;
        sums->refused += written.methods[i].verdict != CLASSFILE_OK;
        places[i] = places_wanted;
    }
    const uint16_t method_count = verdict == CLASSFILE_OK ? file.method_count : 0;
    if (out == NULL)
        return;
    begin = cpu_ns();
    memory->used_bytes = 0;
    plan = (struct classfile_plan){.places = places, .insert = insert};
    verdict = classfile_read(bytes, length, memory, &file);
    if (verdict == CLASSFILE_OK && probes_from == (int)(sums->classes & 1)) {
        memory->used_bytes = 0;
        verdict = weave(bytes, length, memory, &written);
    } else if (verdict == CLASSFILE_OK) {
        verdict = classfile_rewrite(&file, &plan, memory, &written);
    }
    if (verdict != CLASSFILE_OK)
        written = (struct classfile_rewritten){.bytes = bytes, .length_bytes = length};
    sums->rewrite_ns += cpu_ns() - begin;
    for (uint32_t i = 0; verdict == CLASSFILE_OK && written.methods != NULL && i < method_count;
         i++) {
        sums->sites += written.methods[i].sites;
        sums->skipped += written.methods[i].sites_skipped;
        sums->by_verdict[written.methods[i].verdict]++;
    }
    sums->new_bytes += written.length_bytes;
    put_u4(out, written.length_bytes);
    fwrite(written.bytes, 1, written.length_bytes, out);
}

static bool read_places(const char *text)
{
    char copy[256];

    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, ","); word != NULL; word = strtok(NULL, ",")) {
        bool is_known = strcmp(word, "dynamic") == 0;

        uses_dynamic |= is_known;
        if (strcmp(word, "probes0") == 0 || strcmp(word, "probes1") == 0) {
            probes_from = word[6] - '0';
            is_known = true;
        }
        for (int i = 0; i < CLASSFILE_PLACE_LIMIT; i++) {
            if (strcmp(word, classfile_place_word((enum classfile_place)i)) == 0) {
                places_wanted |= 1u << i;
                is_known = true;
            }
        }
        if (!is_known) {
            fprintf(stderr, "rewriter: no place is called %s\n", word);
            return false;
        }
    }
    return true;
}

static void tell(const struct sums *sums)
{
    printf("classes %" PRIu64 "\nbytes %" PRIu64 "\nmethods %" PRIu64 "\nunread %" PRIu64
           "\ndifferent %" PRIu64 "\nrefused %" PRIu64 "\n",
           sums->classes, sums->bytes, sums->methods, sums->unread, sums->different, sums->refused);
    printf("read_and_write_mb_per_cpu_second %" PRIu64 "\n",
           sums->bytes * 1000 / (sums->identity_ns + 1));
    if (sums->new_bytes == 0)
        return;
    printf("sites %" PRIu64 "\nskipped %" PRIu64 "\nnew_bytes %" PRIu64
           "\nrewrite_mb_per_cpu_second %" PRIu64 "\n",
           sums->sites, sums->skipped, sums->new_bytes,
           sums->bytes * 1000 / (sums->rewrite_ns + 1));
    for (size_t i = 0; probes_from >= 0 && i < sizeof probed / sizeof probed[0]; i++)
        printf("places_%s %" PRIu64 "\n", probe_place_word(probed[i].place), probed_places[i]);
    for (int i = CLASSFILE_OK + 1; i < CLASSFILE_VERDICT_LIMIT; i++) {
        if (sums->by_verdict[i] != 0)
            printf("%s %" PRIu64 "\n", classfile_verdict_word((enum classfile_verdict)i),
                   sums->by_verdict[i]);
    }
}

int main(int argc, char **argv)
{
    struct classfile_memory memory = {.capacity_bytes = classfile_memory_bytes(CLASS_BYTES)};
    struct sums sums = {0};
    unsigned char head[4];

    if ((argc != 2 && argc != 4) || (argc == 4 && !read_places(argv[3]))) {
        fputs("usage: rewriter PACK [OUT PLACE,...]\n", stderr);
        return 2;
    }

    open_probes();
    FILE *in = fopen(argv[1], "rbe"), *out = argc == 4 ? fopen(argv[2], "wbe") : NULL;
    uint8_t *bytes = malloc(CLASS_BYTES);
    memory.bytes = malloc(memory.capacity_bytes);
    if (in == NULL || (argc == 4 && out == NULL) || bytes == NULL || memory.bytes == NULL) {
        fprintf(stderr, "rewriter: %s\n", strerror(errno));
        return 2;
    }
    while (fread(head, 1, 4, in) == 4) {
        const uint32_t length =
            (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];

        if (length > CLASS_BYTES || fread(bytes, 1, length, in) != length) {
            fputs("rewriter: the pack is cut\n", stderr);
            return 2;
        }
        do_class(bytes, length, &memory, out, &sums);
    }
    tell(&sums);
    if (out != NULL && fclose(out) != 0)
        return 2;
    free(bytes);
    free(memory.bytes);
    fclose(in);
    return sums.unread != 0 || sums.different != 0 || sums.classes == 0;
}
