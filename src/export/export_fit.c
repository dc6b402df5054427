/*
 * An explorer page that is no larger than it may be: written into memory, with less and less until it fits.
 * Context: tool.
 *
 * Samples are never left out. Given up are, one after the other: where in a short time a sample lies; which of the rarest
 * threads, requests and attributes it is of; and what lies under the rarest frames.
 */
#include <stdio.h>
#include <string.h>

#include "export/export_internal.h"

/* Bins, ppm, contexts. The last ones keep a picture of some hundred boxes over some hundred bins. */
static const struct export_fit steps[] = {
    {200000, 0, 0},  {100000, 0, 0},  {40000, 0, 0},   {10000, 0, 0},   {10000, 0, 4096},
    {4000, 0, 1024}, {4000, 2, 256},  {2000, 10, 256}, {2000, 50, 64},  {1000, 200, 64},
    {1000, 500, 32}, {500, 1000, 32}, {500, 2000, 16}, {250, 5000, 16}, {250, 10000, 8},
    {100, 20000, 8}, {100, 50000, 4},
};

#define SAID_BYTES 64 /* by which the numbers of bytes that a page tells may be longer */

/* What is written, as long as it is not too much. */
struct fitting {
    unsigned char *bytes;
    size_t used_bytes;
    size_t capacity_bytes;
    size_t most_bytes;
    bool is_too_large;
    bool is_counting; /* nothing is kept: how large it would be */
    uint64_t counted_bytes;
};

static bool keep(void *context, const void *bytes, size_t length_bytes, struct jw_error *err)
{
    struct fitting *fitting = context;
    size_t wanted = fitting->capacity_bytes == 0 ? 1u << 20 : fitting->capacity_bytes;

    fitting->counted_bytes += length_bytes;
    if (fitting->is_counting)
        return true;
    if (length_bytes > fitting->most_bytes - fitting->used_bytes) {
        fitting->is_too_large = true;
        jw_error_set(err, "the page is too large");
        return false;
    }
    while (wanted - fitting->used_bytes < length_bytes)
        wanted *= 2;
    if (wanted > fitting->capacity_bytes) {
        unsigned char *grown = jw_realloc(fitting->bytes, wanted);

        if (grown == NULL) {
            jw_error_set(err, "out of memory");
            return false;
        }
        fitting->bytes = grown;
        fitting->capacity_bytes = wanted;
    }
    memcpy(fitting->bytes + fitting->used_bytes, bytes, length_bytes);
    fitting->used_bytes += length_bytes;
    return true;
}

/* One try. False: memory is out; else `fitting` says whether it fits. */
static bool try_step(const struct export_job *job, const struct export_fit *fit,
                     struct fitting *fitting, bool (*put)(const struct export_job *job))
{
    struct export_out *out = jw_alloc(sizeof *out);
    struct jw_error err = {{0}};
    struct export_job inner = *job;
    bool is_put = out != NULL;

    if (is_put) {
        out->write = keep;
        out->context = fitting;
        out->err = &err;
        inner.out = out;
        inner.fit = fit;
        fitting->used_bytes = 0;
        fitting->counted_bytes = 0;
        fitting->is_too_large = false;
        is_put = put(&inner);
        is_put = is_put && (export_finish(out) || fitting->is_too_large);
    }
    export_out_free(out);
    return is_put;
}

/* The page says how much it may have itself: what is told to be enough is so with that number, too. */
static void refuse(const struct export_job *job, uint64_t least_bytes)
{
    char text[200];

    least_bytes = (least_bytes + SAID_BYTES + 1023) / 1024 * 1024;
    job->out->has_failed = true;
    snprintf(text, sizeof text,
             "a page of this recording has at least %llu bytes, however coarse it is (its program, "
             "its spans, its hottest stacks), and %llu are allowed",
             (unsigned long long)least_bytes, (unsigned long long)job->options->most_bytes);
    jw_error_set(job->out->err, "%s", text);
}

/* How large the coarsest page is, so that nothing is tried in vain. False: memory is out. */
static bool count_least(const struct export_job *job, bool (*put)(const struct export_job *job),
                        uint64_t *least_bytes)
{
    struct fitting counting = {.is_counting = true};
    const bool has_memory = try_step(job, &steps[JW_COUNT_OF(steps) - 1], &counting, put);

    *least_bytes = counting.counted_bytes;
    return has_memory;
}

bool export_fitted(const struct export_job *job, bool (*put)(const struct export_job *job))
{
    struct fitting fitting = {.most_bytes = job->options->most_bytes};
    uint64_t least_bytes = 0;

    if (job->options->most_bytes == 0)
        return put(job);

    bool has_memory = try_step(job, NULL, &fitting, put);
    if (has_memory && fitting.is_too_large)
        has_memory = count_least(job, put, &least_bytes);
    for (size_t i = 1; i < JW_COUNT_OF(steps) && fitting.is_too_large && has_memory &&
                       least_bytes <= fitting.most_bytes;
         i++)
        has_memory = try_step(job, &steps[i], &fitting, put);
    if (has_memory && fitting.is_too_large)
        refuse(job, least_bytes);
    else if (has_memory)
        export_put_bytes(job->out, (const char *)fitting.bytes, fitting.used_bytes);
    jw_free(fitting.bytes);
    return has_memory;
}
