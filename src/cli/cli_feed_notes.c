/*
 * What chunks say that has to be taken in the order of the file: they may be read in any. Context: tool.
 *
 * Whoever reads a chunk notes it; the notes of a chunk are summed up when those of all chunks before it are.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli_contexts_internal.h"
#include "cli/cli_feed_internal.h"

#define NOTES_FIRST ((size_t)1024)

struct note_head {
    enum cli_note_kind kind;
    uint32_t count_bytes;
    uint32_t text_bytes; /* with its 0 byte */
};

static bool reserve(struct cli_notes *notes, size_t more_bytes)
{
    size_t capacity_bytes = notes->capacity_bytes == 0 ? NOTES_FIRST : notes->capacity_bytes;

    while (capacity_bytes - notes->used_bytes < more_bytes) {
        if (capacity_bytes > SIZE_MAX / 4)
            return false;
        capacity_bytes *= 2;
    }
    if (capacity_bytes == notes->capacity_bytes)
        return true;

    unsigned char *grown = jw_realloc(notes->bytes, capacity_bytes);
    if (grown == NULL)
        return false;
    notes->bytes = grown;
    notes->capacity_bytes = capacity_bytes;
    return true;
}

static void put(struct cli_notes *notes, const void *bytes, size_t count_bytes)
{
    if (count_bytes > 0)
        memcpy(notes->bytes + notes->used_bytes, bytes, count_bytes);
    notes->used_bytes += count_bytes;
}

void cli_note(struct cli_feed *feed, enum cli_note_kind kind, const void *bytes, size_t count_bytes,
              const char *text)
{
    const char *told = text == NULL ? "" : text;
    const size_t text_bytes = strlen(told) + 1;
    const struct note_head head = {kind, (uint32_t)count_bytes, (uint32_t)text_bytes};

    if (text_bytes > UINT32_MAX || !reserve(&feed->notes, sizeof head + count_bytes + text_bytes)) {
        feed->is_out_of_memory = true;
        return;
    }
    put(&feed->notes, &head, sizeof head);
    put(&feed->notes, bytes, count_bytes);
    put(&feed->notes, told, text_bytes);
}

void cli_note_counters(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct cli_counted counted = {.at_ms = 0};

    cli_read_counters(event, counted.counts, &counted.in_flight);
    if (feed->wish->moments != NULL)
        counted.at_ms = cli_moment_ms(feed, event);
    cli_note(feed, CLI_NOTE_COUNTED, &counted, sizeof counted, NULL);
}

/* Counters of jaywalk's own: each event holds the sums since its recording began. */
static void sum_counters(struct cli_sums *sums, const struct cli_counted *counted)
{
    struct cli_counted *before = &sums->counted_before;

    if (counted->counts[JW_COUNT_SIGNALS] < sums->counted.counts[JW_COUNT_SIGNALS]) {
        /* the next recording */
        for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
            before->counts[i] += sums->counted.counts[i];
        before->in_flight += sums->counted.in_flight;
    }
    sums->counted = *counted;
    sums->has_counters = true;
    if (sums->wish->moments != NULL)
        cli_keep_gap(&sums->gaps, sums->wish->moments, counted);
}

union note_body {
    struct cli_counted counted;
    int64_t start_ms;
    struct jw_ledger ledger;
    struct jw_cost_sums cost;
    struct cli_thread_told thread;
};

static void sum_note(struct cli_sums *sums, enum cli_note_kind kind, const union note_body *body,
                     const char *text)
{
    switch (kind) {
    case CLI_NOTE_TITLE:
        if (sums->title.length_bytes == 0 && !jfr_text_set(&sums->title, text, strlen(text)))
            sums->is_out_of_memory = true;
        break;
    case CLI_NOTE_COUNTED:
        sum_counters(sums, &body->counted);
        break;
    case CLI_NOTE_RECORDING:
        cli_sum_recording(sums, body->start_ms);
        break;
    case CLI_NOTE_LEDGER: /* sums since the recording began, as those of the cost: the last one holds */
        sums->has_ledger = true;
        sums->ledger = body->ledger;
        break;
    case CLI_NOTE_COST:
        sums->has_cost = true;
        sums->cost = body->cost;
        break;
    case CLI_NOTE_THREAD:
        cli_sum_thread(sums, &body->thread, text);
        break;
    case CLI_NOTE_GROUP:
        cli_sum_group(sums, &body->thread, text);
        break;
    }
}

void cli_sum_notes(struct cli_sums *sums, const struct cli_notes *notes)
{
    struct note_head head;
    union note_body body;

    for (size_t at = 0; at < notes->used_bytes; at += head.text_bytes) {
        memcpy(&head, notes->bytes + at, sizeof head);
        at += sizeof head;
        if (head.count_bytes > 0)
            memcpy(&body, notes->bytes + at, head.count_bytes);
        at += head.count_bytes;
        sum_note(sums, head.kind, &body, (const char *)notes->bytes + at);
    }
}

void cli_tell_sums(struct cli_sums *sums)
{
    if (sums->has_counters) {
        uint64_t counts[JW_COUNT_LIMIT];

        for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
            counts[i] = sums->counted.counts[i] + sums->counted_before.counts[i];
        profile_counters(sums->profile, counts,
                         sums->counted.in_flight + sums->counted_before.in_flight);
    }
    cli_tell_ledger(sums);
}

void cli_forget_sums(struct cli_sums *sums)
{
    cli_forget_ledger(sums);
    jfr_text_free(&sums->title);
}

/* Names that a list lacks, as far as there is room. */
static void add_names(char *list, size_t capacity_bytes, const char *names)
{
    char name[512];

    for (const char *at = names; *at != '\0';) {
        const char *end = strstr(at, ", ");
        const size_t length = end == NULL ? strlen(at) : (size_t)(end - at);

        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + (end == NULL ? 0 : 2);
        if (cli_has_name(list, name) || strlen(list) + strlen(name) + 3 > capacity_bytes)
            continue;
        snprintf(list + strlen(list), capacity_bytes - strlen(list), "%s%s",
                 list[0] == '\0' ? "" : ", ", name);
    }
}

void cli_move_counter(struct cli_found *found, const char *from, const char *to)
{
    if (found->other_event == from)
        found->other_event = to;
    for (size_t i = 0; i < found->other_event_count; i++) {
        if (found->other_events[i] == from)
            found->other_events[i] = to;
    }
}

static void sum_others(struct cli_found *sum, const struct cli_found *found)
{
    if (found->other_event != NULL)
        sum->other_event = found->other_event == found->counter ? sum->counter : found->other_event;
    for (size_t i = 0; i < CLI_OTHERS; i++)
        sum->others[i] += found->others[i];
    for (size_t i = 0; i < found->other_event_count; i++)
        cli_note_event(sum, found->other_events[i] == found->counter ? sum->counter
                                                                     : found->other_events[i]);
}

void cli_sum_found(struct cli_found *sum, const struct cli_found *found)
{
    sum->samples += found->samples;
    sum->let_in += found->let_in;
    sum->native_left_out += found->native_left_out;
    sum->other_samples += found->other_samples;
    sum->left_out_attributes += found->left_out_attributes;
    sum->is_of_wall |= found->is_of_wall;
    sum->has_event |= found->has_event;
    sum->has_weight |= found->has_weight;
    sum->lacks_weight |= found->lacks_weight;
    sum->has_contexts |= found->has_contexts;
    if (found->counter[0] != '\0')
        memcpy(sum->counter, found->counter, sizeof sum->counter);
    if (found->hook_event[0] != '\0')
        memcpy(sum->hook_event, found->hook_event, sizeof sum->hook_event);
    if (found->unit != NULL)
        sum->unit = found->unit;
    sum_others(sum, found);
    add_names(sum->other_types, sizeof sum->other_types, found->other_types);
    add_names(sum->attributes, sizeof sum->attributes, found->attributes);
}
