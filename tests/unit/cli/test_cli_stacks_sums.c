/*
 * Random stacks against a slow model: stacks that end in the same bytes as the one before, at places where a frame
 * begins and where none does; keys of one to nine bytes. Prints its seed.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/frame.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "support/recording_maker.h"

#define STACKS       400
#define FRAMES_LIMIT 12
#define METHODS      9
#define TEXT_BYTES   (FRAMES_LIMIT * 8 + 32)

/* The last byte of one is another one: what looks like a frame may be a part of one. */
static const uint64_t method_keys[METHODS] = {
    1, 2, 3, 0x81, 0x101, 0x4081, 0x204081, UINT64_C(0x81020408102040) << 3 | 1, UINT64_MAX};

struct frame {
    unsigned method;
    uint64_t line, bytecode;
};

struct stack {
    bool is_truncated;
    unsigned count;
    struct frame frames[FRAMES_LIMIT]; /* leaf first */
    char text[TEXT_BYTES];
};

static struct maker maker;
static char path[64];
static char out_path[80];
static struct stack stacks[STACKS];
static unsigned methods; /* of them so many are used: without the last ones no key has nine bytes */

static void tear_down(void)
{
    maker_close(&maker);
    unlink(path);
    unlink(out_path);
}

TestSuite(cli_stacks_sums, .fini = tear_down, .timeout = 1800);

/* Some frames of its own, and then the rest of the stack before from somewhere on. */
static void make_stack(struct stack *stack, const struct stack *before)
{
    const unsigned shared = (unsigned)random() % (before->count + 1);
    const unsigned own = (unsigned)random() % (FRAMES_LIMIT - shared + 1);

    stack->is_truncated = random() % 8 == 0;
    stack->count = own + shared;
    for (unsigned i = 0; i < own; i++)
        stack->frames[i] = (struct frame){.method = (unsigned)random() % methods,
                                          .line = method_keys[random() % 5],
                                          .bytecode = method_keys[random() % 5]};
    memcpy(stack->frames + own, before->frames + before->count - shared,
           shared * sizeof *stack->frames);
    if (stack->is_truncated)
        snprintf(stack->text, sizeof stack->text, "%s", jw_mark_text(JW_MARK_TRUNCATED));
    else
        stack->text[0] = '\0';
    for (unsigned i = stack->count; i > 0; i--) {
        const size_t used = strlen(stack->text);

        snprintf(stack->text + used, sizeof stack->text - used, "%sC.m%u", used == 0 ? "" : ";",
                 stack->frames[i - 1].method);
    }
    if (stack->text[0] == '\0')
        snprintf(stack->text, sizeof stack->text, "[no frames]");
}

static void put_symbol(uint64_t key, const char *text)
{
    maker_varint(&maker, key);
    maker_text(&maker, text);
}

static void put_names(void)
{
    char name[8];
    size_t begin = maker_begin_checkpoint(&maker, 4);

    maker_pool(&maker, MAKER_SYMBOL, METHODS + 2);
    put_symbol(100, "C");
    put_symbol(101, "()V");
    for (unsigned i = 0; i < METHODS; i++) {
        snprintf(name, sizeof name, "m%u", i);
        put_symbol(i + 1, name);
    }
    maker_pool(&maker, MAKER_FRAME_TYPE, 1);
    put_symbol(1, "Interpreted");
    maker_pool(&maker, MAKER_CLASS, 1);
    maker_varint(&maker, 1);
    maker_varint(&maker, 100);
    maker_pool(&maker, MAKER_METHOD, METHODS);
    for (unsigned i = 0; i < METHODS; i++) {
        maker_varint(&maker, method_keys[i]);
        maker_varint(&maker, 1);
        maker_varint(&maker, i + 1);
        maker_varint(&maker, 101);
    }
    maker_end_event(&maker, begin);
}

static void put_chunk(unsigned first, unsigned count)
{
    maker_begin_chunk(&maker);
    maker_metadata(&maker);
    put_names();

    const size_t begin = maker_begin_checkpoint(&maker, 1);
    maker_pool(&maker, MAKER_TRACE, count);
    for (unsigned i = first; i < first + count; i++) {
        maker_varint(&maker, i + 1);
        maker_byte(&maker, stacks[i].is_truncated);
        maker_varint(&maker, stacks[i].count);
        for (unsigned n = 0; n < stacks[i].count; n++) {
            const struct frame *frame = &stacks[i].frames[n];

            maker_varint(&maker, method_keys[frame->method]);
            maker_varint(&maker, frame->line);
            maker_varint(&maker, frame->bytecode);
            maker_varint(&maker, 1);
        }
    }
    maker_end_event(&maker, begin);
    for (unsigned i = first; i < first + count; i++)
        maker_sample(&maker, i, 1, i + 1, 1, i + 1);
    maker_end_chunk(&maker, 1000 + first);
}

/* What the samples of all stacks with this text stand for: each for its number. */
static uint64_t weight_of(const char *text)
{
    uint64_t weight = 0;

    for (unsigned i = 0; i < STACKS; i++)
        weight += strcmp(stacks[i].text, text) == 0 ? i + 1 : 0;
    return weight;
}

static int convert(void)
{
    const char *const given[] = {"jaywalk", "convert",   "-q", "--total",
                                 "-o",      "collapsed", path, "-"};
    char *words[sizeof given / sizeof given[0] + 1] = {NULL};
    const int count = sizeof given / sizeof given[0];

    for (int i = 0; i < count; i++)
        words[i] = strdup(given[i]);
    cr_assert_not_null(freopen(out_path, "w", stdout));
    const int status = cli_main(count, words);
    fflush(stdout);
    for (int i = 0; i < count; i++)
        free(words[i]);
    return status;
}

static void make_recording(unsigned seed)
{
    const struct stack none = {.count = 0};

    srandom(seed);
    methods = seed % 2 == 0 ? METHODS : METHODS - 2;
    maker_close(&maker);
    for (unsigned i = 0; i < STACKS; i++)
        make_stack(&stacks[i], i == 0 ? &none : &stacks[i - 1]);
    put_chunk(0, STACKS / 2);
    put_chunk(STACKS / 2, STACKS - STACKS / 2);
    unlink(path);
    cr_assert(maker_save(&maker, path));
    snprintf(out_path, sizeof out_path, "%s.out", path);
}

Test(cli_stacks_sums, each_stack_is_read_as_it_was_written_whatever_stood_before_it)
{
    for (unsigned seed = 1; seed <= 8; seed++) {
        uint64_t told = 0;
        char line[TEXT_BYTES + 32];

        fprintf(stderr, "seed %u\n", seed);
        make_recording(seed);
        cr_assert_eq(convert(), CLI_OK);

        FILE *out = fopen(out_path, "r");
        cr_assert_not_null(out);
        while (fgets(line, sizeof line, out) != NULL) {
            char *space = strrchr(line, ' ');
            const uint64_t weight = strtoull(space + 1, NULL, 10);

            *space = '\0';
            cr_assert_eq(weight, weight_of(line), "seed %u: %s", seed, line);
            told += weight;
        }
        fclose(out);
        unlink(out_path);
        cr_assert_eq(told, (uint64_t)STACKS * (STACKS + 1) / 2, "seed %u", seed);
    }
}

Test(cli_stacks_sums, each_allocation_that_fails_ends_the_command_alone)
{
    int status = CLI_FAILED;

    make_recording(1);
    for (uint64_t nth = 1; status != CLI_OK; nth++) {
        jw_alloc_fail_after(nth);
        status = convert();
        jw_alloc_fail_after(0);
        cr_assert(status == CLI_OK || status == CLI_FAILED, "%lu", (unsigned long)nth);
        cr_assert_lt(nth, 5000);
    }
}
