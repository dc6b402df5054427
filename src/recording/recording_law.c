/*
 * What became of each signal, chunk by chunk; dump. A signal is told of in the chunk that has its sample, or, where
 * there is none, in the one that was open when its loss was read. Both are read at a cut, outcomes before signals: so
 * whoever has an outcome has entered, and what is left over is under way.
 */
#include "generation/generation.h"
#include "recording/recording_internal.h"

static bool is_term(size_t id)
{
    return jw_counter_infos[id].is_loss || jw_counter_infos[id].is_spared;
}

void recording_cut(struct recording *recording, const struct generation *closed,
                   const struct recording_cut *before)
{
    struct recording_law_cut *cut = &recording->law.staged;

    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        cut->outcomes[i] = is_term(i) ? jw_counter((enum jw_counter_id)i) - recording->zero[i] : 0;

    const uint64_t signals = jw_counter(JW_COUNT_SIGNALS);
    cut->entered = signals - recording->zero[JW_COUNT_SIGNALS];
    cut->most = before->inside + (signals - before->signals);
    recording->law.staged_number = closed->number;
}

void recording_law_settle(struct recording *recording, const struct generation *taken)
{
    struct recording_law *law = &recording->law;

    if (law->staged_number != taken->number)
        return;
    law->last = law->staged;
    law->staged_number = 0;
    law->has_cut = true;
}

static struct recording_law_told told_now(const struct recording *recording)
{
    return (struct recording_law_told){
        .cut = recording->law.last,
        .samples = recording->samples,
        .turns = recording->turns,
        .idle = recording->law.idle,
        .idle_turns = recording->law.idle_turns,
        .events = recording->law.events,
    };
}

void recording_law_new_chunk(struct recording *recording)
{
    recording->law.before = told_now(recording);
}

/* Signals that had entered, and whose outcome is not told; since the recording began. */
static int64_t carried(const struct recording_law_told *told)
{
    uint64_t outcomes = told->samples;

    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        outcomes += told->cut.outcomes[i];
    return (int64_t)(told->cut.entered - outcomes);
}

void recording_put_law(struct recording *recording, uint64_t now_ns)
{
    const struct recording_law_told *before = &recording->law.before;
    const struct recording_law_told now = told_now(recording);
    struct jfr_buffer *out = &recording->events;
    const int64_t carried_in = carried(before), carried_out = carried(&now);
    const int64_t entered = (int64_t)(now.cut.entered - before->cut.entered);

    if (!recording->law.has_cut && now.samples > 0)
        return;
    /* More outcomes than signals: told as it is, for it is a defect. */
    (void)!JW_INVARIANT(carried_out >= 0);

    const size_t begin = recording_event(recording, JFR_TYPE_CONSERVATION, now_ns);
    jfr_put_varint(out, recording->chunks);
    jfr_put_long(out, entered + carried_in - carried_out);
    jfr_put_long(out, entered);
    jfr_put_long(out, carried_in);
    jfr_put_long(out, carried_out);
    jfr_put_varint(out, now.cut.most);
    jfr_put_varint(out, now.samples - before->samples);
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        if (is_term(i))
            jfr_put_varint(out, now.cut.outcomes[i] - before->cut.outcomes[i]);
    jfr_put_varint(out, now.idle - before->idle);
    jfr_put_varint(out, now.turns - before->turns);
    jfr_put_varint(out, (now.turns - now.idle_turns) - (before->turns - before->idle_turns));
    jfr_put_varint(out, now.idle_turns - before->idle_turns);
    jfr_put_varint(out, now.events - before->events);
    jfr_event_end(out, begin);
}
