/*
 * doctor_page - recordings for the doctor, of which a test says what is in them, and what the page must say.
 *
 * For      tests of `jaywalk doctor` of files.   Callers  tests.   Context  tool.   Memory  static, of one test at a time.
 */
#ifndef JW_TESTS_UNIT_CLI_DOCTOR_PAGE_H
#define JW_TESTS_UNIT_CLI_DOCTOR_PAGE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_doctor_internal.h"
#include "support/doctor_maker.h"
#include "unit/cli/run_cli.h"

static char path[64];
static struct maker maker;

static inline void set_up(void)
{
    strcpy(directory, "/tmp/jaywalk-doctor-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
}

static inline void tear_down(void)
{
    char command[256];

    maker_close(&maker);
    snprintf(command, sizeof command, "rm -rf '%s' '%s'", directory, path);
    cr_assert_eq(system(command), 0);
}

/* Blanks and ends of lines as one blank: paragraphs are as wide as they are. */
static inline void squeeze(const char *text, char *out)
{
    for (; *text != '\0'; text++) {
        const bool is_blank = *text == ' ' || *text == '\n';

        if (!is_blank || (text[1] != ' ' && text[1] != '\n'))
            *out++ = is_blank ? ' ' : *text;
    }
    *out = '\0';
}

/* Do these words stand in what was printed? */
static inline bool has_line(const char *words)
{
    static char printed[sizeof out_text], wanted[1000];

    squeeze(out_text, printed);
    squeeze(words, wanted);
    return strstr(printed, wanted) != NULL;
}

#define EXPECT_LINE(words)                                                                         \
    cr_expect(has_line(words), "no '%s' in:\n%s\n%s", words, out_text, err_text)

/* ---- recordings ---- */

#define N(number) ((uint64_t)(number))

#define begin() doctor_begin(&maker)

static inline void end(void)
{
    maker_end_chunk(&maker, 1700000000000000000);
}

static inline void put_samples(uint64_t stack, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        doctor_event(&maker, DOCTOR_SAMPLE, "nn", stack, N(10000000));
}

static inline void put_setting(const char *name, const char *value)
{
    doctor_event(&maker, DOCTOR_SETTING, "ntt", N(0), name, value);
}

static inline void put_jvm(const char *arguments)
{
    doctor_event(&maker, DOCTOR_JVM, "tttn",
                 "OpenJDK 64-Bit Server VM (25.0.3+9) for linux-amd64 JRE (25.0.3+9)", arguments,
                 "app.Main 7", N(4711));
}

static inline void put_failure(int code, const char *reason, const char *where, const char *walker,
                               uint64_t count)
{
    doctor_event(&maker, DOCTOR_FAILURE, "ntttn", N((uint32_t)code), reason, where, walker, count);
}

static inline void put_change(const char *from, const char *to, const char *reason,
                              uint64_t retry_ns)
{
    doctor_event(&maker, DOCTOR_CHANGE, "ttttn", "Java frames", from, to, reason, retry_ns);
}

static inline void put_memory(const char *part, uint64_t used, uint64_t limit, uint64_t refused)
{
    doctor_event(&maker, DOCTOR_MEMORY, "tnnnn", part, used, used, limit, refused);
}

struct compared {
    uint64_t stacks, equal, different, unwalked, frames;
    uint64_t stops, at_poll, other_method, other_line, untold;
};
static const struct compared compared_none = {.stacks = 0};

static inline void put_all_counts(uint64_t signals, uint64_t samples, uint64_t no_thread,
                                  uint64_t store_full, uint64_t waiting, struct compared compared)
{
    doctor_event(&maker, DOCTOR_COUNTERS, "nnnnnnnnnnnnnnnn", signals, samples, no_thread,
                 store_full, waiting, compared.stacks, compared.equal, compared.different,
                 compared.unwalked, compared.frames, compared.stops, compared.at_poll,
                 compared.other_method, compared.other_line, compared.untold, N(0));
}

static inline void put_counts(uint64_t signals, uint64_t samples, uint64_t no_thread,
                              uint64_t store_full, uint64_t waiting)
{
    put_all_counts(signals, samples, no_thread, store_full, waiting, compared_none);
}

static inline void put_law(uint64_t signals, uint64_t samples, uint64_t events)
{
    doctor_event(&maker, DOCTOR_LAW, "nnn", signals, samples, events);
}

static inline void put_ledger(uint64_t process_ns, uint64_t sampled_ns, uint64_t short_ns)
{
    doctor_event(&maker, DOCTOR_LEDGER, "nnn", process_ns, sampled_ns, short_ns);
}

static inline void put_cost(uint64_t process_ns, uint64_t handlers_ns, uint64_t kernel_ns,
                            uint64_t own_ns)
{
    doctor_event(&maker, DOCTOR_COST, "nnnn", process_ns, handlers_ns, kernel_ns, own_ns);
}

/* 300 samples, ten signals spared: nothing to say. */
static inline void put_healthy(void)
{
    doctor_event(&maker, DOCTOR_RECORDING, "n", N(1700000000000));
    put_setting("event", "cpu");
    put_setting("interval", "10000000");
    put_setting("walker", "vm");
    put_setting("version", "0.1.0");
    put_setting("jstackdepth", "2048");
    put_setting("selfcheck", "agrees: 3250 frames, 1204 of them compiled");
    put_jvm("-agentpath:/opt/libjaywalk.so=start -Dkey=secret -Xmx1g -XX:+UseSerialGC");
    put_samples(STACK_PLAIN, 300);
    put_counts(310, 300, 0, 0, 10);
    put_law(300, 300, 300);
    put_ledger(3000000000, 2950000000, 50000000);
    put_cost(3000000000, 6000000, 3000000, 6000000);
    put_memory("samples", 8 << 20, 64 << 20, 0);
}

static inline void save(void)
{
    cr_assert(maker_save(&maker, path));
}

/* A healthy chunk; what a test adds stands before the end. */
#define SAVE_HEALTHY_AND(...)                                                                      \
    do {                                                                                           \
        begin();                                                                                   \
        put_healthy();                                                                             \
        __VA_ARGS__;                                                                               \
        end();                                                                                     \
        save();                                                                                    \
    } while (0)

#endif
