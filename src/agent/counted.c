/* Counts, as they are told; the agent's thread. */
#include "agent/counted.h"

#include <string.h>

#include "base/clock.h"
#include "recording/recording.h"

static struct recording_text text_of(const char *text)
{
    return (struct recording_text){text, strlen(text)};
}

uint64_t counted_put(JNIEnv *jni, enum instrument_counted what, struct counted *counted,
                     struct recording *recording, bool is_cut)
{
    struct instrument_count one;
    uint64_t sum = 0;

    counted->turned_ns = jw_now_ns();
    if (!instrument_counts_read(jni, what))
        return 0;
    for (uint32_t i = 0; instrument_counts_at(what, i, &one); i++) {
        const bool is_news = one.count != counted->told[i];

        sum += one.count;
        counted->told[i] = is_cut ? 0 : one.count;
        if (!is_news || recording == NULL)
            continue;

        const struct recording_count put = {.made = text_of(one.of.made),
                                            .class_name = text_of(one.of.class_name),
                                            .name = text_of(one.of.method),
                                            .descriptor = text_of(one.of.descriptor),
                                            .count = one.count,
                                            .elapsed_ns = counted->turned_ns - counted->began_ns};

        recording_put_count(recording, &put);
    }
    if (is_cut) {
        instrument_counts_cut(what);
        counted->began_ns = counted->turned_ns;
    }
    return sum;
}
