/* jaywalk.Memory: what the subsystems of the agent use, and what their limits cost; dump. */
#include "base/memory.h"
#include "recording/recording_internal.h"

void recording_zero_memory(struct recording *recording)
{
    for (int part = 0; part < JW_MEMORY_LIMIT; part++)
        recording->refused_zero[part] = jw_memory_refused_count((enum jw_memory_part)part);
}

void recording_put_memory(struct recording *recording, uint64_t now_ns)
{
    struct jfr_buffer *out = &recording->events;

    for (int part = 0; part < JW_MEMORY_LIMIT; part++) {
        struct jw_memory_figures now;

        jw_memory_get((enum jw_memory_part)part, &now);
        const size_t begin = recording_event(recording, JFR_TYPE_MEMORY, now_ns);

        jfr_put_string(out, jw_memory_infos[part].name);
        jfr_put_varint(out, now.used_bytes);
        jfr_put_varint(out, now.charged_bytes);
        jfr_put_varint(out, now.limit_bytes);
        jfr_put_varint(out, now.refused_count - recording->refused_zero[part]);
        jfr_event_end(out, begin);
    }
}
