/* Formats of other tools, and the call tree: pprof, OTLP, tree. Their totals: tests/golden/test_totals.c. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/export.h"
#include "export/export_otlp_internal.h"
#include "profile/profile.h"

static struct profile *profile;
static char *output;
static size_t output_bytes;
static uint64_t held_most;
static struct jw_error err;

static void open_profile(void)
{
    profile = profile_open(&(struct profile_config){.split_lines = true}, &err);
    cr_assert_not_null(profile);
    profile_set_about(profile, &(struct profile_about){.event = "cpu",
                                                       .unit = "ns",
                                                       .title = "Checkout",
                                                       .start_unix_ns = 1700000000000000000,
                                                       .duration_ns = 5000000000});
}

static void close_profile(void)
{
    jw_alloc_fail_after(0);
    profile_close(profile);
    free(output);
}

TestSuite(export_profiles, .init = open_profile, .fini = close_profile, .timeout = 1800);

static profile_frame_id java(const char *class_name, const char *method, int line)
{
    return profile_frame(profile, &(struct profile_frame){.type = PROFILE_FRAME_COMPILED,
                                                          .class_name = class_name,
                                                          .method = method,
                                                          .line = line});
}

static profile_frame_id native(const char *function, const char *module)
{
    return profile_frame(profile, &(struct profile_frame){.type = PROFILE_FRAME_NATIVE,
                                                          .method = function,
                                                          .module = module});
}

/* Root first: a thread (0: none), a frame, a frame. */
static void add(profile_frame_id thread, uint64_t weight, profile_frame_id root,
                profile_frame_id leaf)
{
    const profile_frame_id frames[] = {leaf, root};

    profile_add(profile, &(struct profile_stack){.frames = frames,
                                                 .frame_count = 2,
                                                 .roots = &thread,
                                                 .root_count = thread != PROFILE_FRAME_NONE,
                                                 .samples = 2,
                                                 .weight = weight});
}

static void add_some(void)
{
    const profile_frame_id worker = profile_thread(
        profile, &(struct profile_thread){.java_name = "worker tid=1 [x]", .os_thread_id = 42});
    const profile_frame_id endpoint =
        profile_value(profile, &(struct profile_value){.dimension = PROFILE_DIMENSION_ENDPOINT,
                                                       .value = "GET /"});
    const profile_frame_id main = java("a/Main", "main", 3);

    add(worker, 300, main, java("a/Main", "hot", 7));
    add(worker, 100, main, java("a/Main", "hot", 8));
    add(endpoint, 500, main, native("memcpy", "libc.so.6"));
    add(PROFILE_FRAME_NONE, 50, main, native("bad \xff utf8", "libc.so.6"));
    profile_add(profile, &(struct profile_stack){.samples = 1, .weight = 10});
}

static bool collect(void *context, const void *bytes, size_t length_bytes, struct jw_error *error)
{
    struct jw_memory_figures figures;

    (void)error;
    jw_memory_get(JW_MEMORY_OF_export, &figures);
    if (figures.used_bytes > held_most)
        held_most = figures.used_bytes;
    return fwrite(bytes, 1, length_bytes, context) == length_bytes;
}

static bool write(enum export_format format, const struct export_options *options)
{
    free(output);
    output = NULL;
    err.message[0] = '\0';
    FILE *to = open_memstream(&output, &output_bytes);
    const bool is_written = export_profile(profile, format, options, collect, to, &err);
    fclose(to);
    return is_written;
}

/* The same bytes are not found by strstr, for there are NULs. */
static bool has(const char *bytes, size_t length_bytes)
{
    return memmem(output, output_bytes, bytes, length_bytes) != NULL;
}

#define HAS(text) has(text, sizeof text - 1)

static bool check(const char *bytes, size_t length_bytes)
{
    const struct export_otlp_sums wanted = {
        .samples = 9, .weight = 960, .has_weight = true, .is_weight_first = true};

    err.message[0] = '\0';
    return export_otlp_check(bytes, length_bytes, &wanted, &err);
}

Test(export_profiles, otlp_holds_names_threads_and_what_samples_were_taken_for)
{
    add_some();
    cr_assert(write(EXPORT_OTLP, &(struct export_options){0}), "%s", err.message);
    cr_expect(check(output, output_bytes), "%s", err.message);
    cr_expect(HAS("\x2a\x0b"
                  "a.Main.main")); /* of length 11 in field 5 */
    cr_expect(HAS("worker tid=1 [x]") && !HAS("tid=42"));
    cr_expect(HAS("thread.name") && HAS("thread.id") && HAS("endpoint") && HAS("GET /"));
    cr_expect(HAS("profile.frame.type") && HAS("jvm") && HAS("native"));
    cr_expect(HAS("bad \xef\xbf\xbd utf8"));
    cr_expect(HAS("libc.so.6") && !HAS("libc.so.6`"));
    cr_expect(HAS("jaywalk.otlp.proto") && HAS("1.10"));
    cr_expect(HAS("jaywalk.title") && HAS("Checkout"));
    cr_expect(HAS("cpu") && HAS("nanoseconds"));
}

Test(export_profiles, otlp_that_is_cut_or_changed_is_noticed)
{
    add_some();
    cr_assert(write(EXPORT_OTLP, &(struct export_options){0}));
    for (size_t length = 0; length < output_bytes; length++) {
        char *part = malloc(length + 1); /* so that a sanitizer sees what is read behind it */

        memcpy(part, output, length);
        cr_expect(!check(part, length), "the first %zu of %zu bytes", length, output_bytes);
        cr_expect_neq(err.message[0], '\0');
        free(part);
    }
    size_t refused = 0;
    for (size_t at = 0; at < output_bytes; at++) {
        output[at] ^= 0x40;
        refused += !check(output, output_bytes);
        output[at] ^= 0x40;
    }
    /* Texts may have any letter; what counts, and where it stands, may not. */
    cr_expect_lt(output_bytes / 4, refused, "%zu of %zu", refused, output_bytes);
    cr_expect(check(output, output_bytes));
}

Test(export_profiles, otlp_of_other_sums_is_refused)
{
    struct export_otlp_sums wanted = {
        .samples = 9, .weight = 961, .has_weight = true, .is_weight_first = true};

    add_some();
    cr_assert(write(EXPORT_OTLP, &(struct export_options){0}));
    cr_expect_not(export_otlp_check(output, output_bytes, &wanted, &err));
    cr_expect_not_null(strstr(err.message, "do not sum up"), "%s", err.message);
    wanted.weight = 960;
    cr_expect(export_otlp_check(output, output_bytes, &wanted, &err));
    wanted.is_weight_first = false; /* values under the other one's name */
    cr_expect_not(export_otlp_check(output, output_bytes, &wanted, &err));
    wanted = (struct export_otlp_sums){.samples = 9};
    cr_expect_not(export_otlp_check(output, output_bytes, &wanted, &err));
}

/* An uncompressed pprof: what gzip unpacks. */
static void unpack(void)
{
    char name[] = "/tmp/jaywalk-pprof-XXXXXX", command[64];
    const int descriptor = mkstemp(name);
    FILE *file = fdopen(descriptor, "w");

    cr_assert_not_null(file);
    cr_assert_eq(fwrite(output, 1, output_bytes, file), output_bytes);
    fclose(file);
    snprintf(command, sizeof command, "gzip -dcf %s", name);
    FILE *unpacked = popen(command, "r");
    cr_assert_not_null(unpacked);
    free(output);
    output = malloc(1 << 20);
    output_bytes = fread(output, 1, 1 << 20, unpacked);
    cr_assert_eq(pclose(unpacked), 0);
    remove(name);
}

Test(export_profiles, pprof_holds_names_libraries_labels_and_losses)
{
    add_some();
    profile_signals(profile, 10, 9);
    profile_loss(profile, "lostNoRoom", "no room", 1);
    cr_assert(write(EXPORT_PPROF, &(struct export_options){.part = "endpoint GET /"}), "%s",
              err.message);
    unpack();
    cr_expect(HAS("a.Main.hot") && HAS("memcpy") && HAS("libc.so.6"));
    cr_expect(HAS("worker tid=1 [x]") && HAS("thread_id") && HAS("endpoint") && HAS("GET /"));
    cr_expect(HAS("bad \xef\xbf\xbd utf8"));
    cr_expect(HAS("9 of 10 signals became samples") && HAS("lost 1: no room"));
    cr_expect(HAS("Checkout") && HAS("endpoint GET /"));
    /* One function, with a location for each of its lines. */
    const char *first = memmem(output, output_bytes, "a.Main.hot", 10);
    const size_t rest = output_bytes - (size_t)(first + 10 - output);
    cr_expect_null(memmem(first + 10, rest, "a.Main.hot", 10));
}

Test(export_profiles, a_profile_of_samples_alone_has_one_type_of_values)
{
    profile_set_about(profile, &(struct profile_about){.event = "page-faults"});
    add(PROFILE_FRAME_NONE, 2, java("a/Main", "main", 1), java("a/Main", "hot", 1));
    cr_assert(write(EXPORT_PPROF, &(struct export_options){0}));
    unpack();
    cr_expect(HAS("samples") && HAS("count") && !HAS("page-faults"));
    cr_assert(write(EXPORT_OTLP, &(struct export_options){0}));
    cr_expect(
        export_otlp_check(output, output_bytes, &(struct export_otlp_sums){.samples = 2}, &err),
        "%s", err.message);
}

Test(export_profiles, an_empty_profile_is_one_too)
{
    cr_expect(write(EXPORT_PPROF, &(struct export_options){0}), "%s", err.message);
    cr_expect(write(EXPORT_OTLP, &(struct export_options){0}), "%s", err.message);
    cr_expect(write(EXPORT_TREE, &(struct export_options){0}), "%s", err.message);
    cr_expect(HAS("No samples"));
}

Test(export_profiles, the_tree_has_the_heaviest_first_and_folds_the_narrow)
{
    const profile_frame_id main = java("a/Main", "main", 0);

    add(PROFILE_FRAME_NONE, 100, main, java("a/A", "light", 0));
    add(PROFILE_FRAME_NONE, 898, main, java("a/Z", "heavy", 0));
    add(PROFILE_FRAME_NONE, 1, main, java("a/B", "dust", 0));
    add(PROFILE_FRAME_NONE, 1, main, java("a/C", "dust", 0));
    cr_assert(write(EXPORT_TREE, &(struct export_options){.min_width_ppm = 10000}));
    const char *rows = strstr(output, "  100.00 %");
    cr_assert_not_null(rows, "%s", output);
    cr_expect_str_eq(rows, "  100.00 %     0.00 %  [  0] [all]\n"
                           "  100.00 %     0.00 %  [  1] a.Main.main\n"
                           "   89.80 %    89.80 %  [  2]  a.Z.heavy\n"
                           "   10.00 %    10.00 %  [  2]  a.A.light\n"
                           "    0.20 %     0.00 %  [  2]  [folded: 2 narrower]\n");
    cr_assert(write(EXPORT_TREE, &(struct export_options){.min_width_ppm = 1}));
    cr_expect_not_null(strstr(output, "a.B.dust"));
    cr_assert(write(EXPORT_TREE, &(struct export_options){.view = {.reverse = true}}));
    cr_expect_not_null(strstr(output, "   89.80 %     0.00 %  [  1] a.Z.heavy\n"
                                      "   89.80 %    89.80 %  [  2]  a.Main.main\n"),
                       "%s", output);
}

Test(export_profiles, without_memory_nothing_is_handed_out_and_it_is_said)
{
    static const enum export_format formats[] = {EXPORT_PPROF, EXPORT_OTLP, EXPORT_TREE};

    add_some();
    for (size_t i = 0; i < JW_COUNT_OF(formats); i++) {
        const uint64_t before = jw_alloc_count();
        cr_assert(write(formats[i], &(struct export_options){0}));
        const uint64_t count = jw_alloc_count() - before;

        for (uint64_t nth = 1; nth <= count; nth++) {
            jw_alloc_fail_after(nth);
            const bool is_written = write(formats[i], &(struct export_options){0});
            jw_alloc_fail_after(0);
            cr_expect(!is_written && err.message[0] != '\0', "%d: allocation %d of %d", (int)i,
                      (int)nth, (int)count);
        }
    }
}

/* Distinct stacks of 60 frames. */
static void add_many(unsigned stacks)
{
    profile_frame_id frames[60], known[500];
    unsigned seed = 1;
    char name[32];

    for (unsigned i = 0; i < JW_COUNT_OF(known); i++) {
        snprintf(name, sizeof name, "method%u", i);
        known[i] = java("com/acme/checkout/service/OrderService", name, 1);
    }
    for (unsigned i = 0; i < stacks; i++) {
        for (unsigned at = 0; at < JW_COUNT_OF(frames); at++) {
            seed = seed * 1103515245u + 12345u;
            frames[at] = known[at > 20 ? at : (seed >> 16) % JW_COUNT_OF(known)];
        }
        profile_add(profile, &(struct profile_stack){.frames = frames,
                                                     .frame_count = JW_COUNT_OF(frames),
                                                     .samples = 1,
                                                     .weight = 10000000});
    }
}

Test(export_profiles, what_drawing_takes_is_known_before)
{
    static const enum export_format formats[] = {EXPORT_PPROF, EXPORT_OTLP, EXPORT_TREE};

    add_many(4000);
    for (size_t i = 0; i < JW_COUNT_OF(formats); i++) {
        held_most = 0;
        cr_assert(write(formats[i], &(struct export_options){0}), "%s", err.message);
        cr_expect_leq(held_most, export_drawing_bytes(profile, formats[i]), "%d", (int)i);
        cr_expect_neq(held_most, 0);
    }
}
