/*
 * recording_graph_internal - what parts of a graph in the making share.
 *
 * For      recording_graph*.c.   Callers  recording.   Context  dump.   Memory  of a take.
 */
#ifndef JW_RECORDING_RECORDING_GRAPH_INTERNAL_H
#define JW_RECORDING_RECORDING_GRAPH_INTERNAL_H

#include "jfr/jfr_reader.h"
#include "recording/recording_internal.h"

/* One take on its way into the profile, and the texts of the frame in hand. */
struct graph_take {
    struct recording *recording;
    struct generation *generation; /* NULL: when all ends */
    profile_frame_id *frames;      /* of the stack in hand */
    size_t capacity;
    struct jfr_buffer scratch;
    struct jfr_text texts[3];
};

/* recording_graph_frames.c: ids in the profile. Of a thread PROFILE_FRAME_NONE where threads are not told apart. */
struct profile_frame recording_graph_mark(enum jw_mark mark);
profile_frame_id recording_graph_frame(struct graph_take *take, jw_frame frame);
profile_frame_id recording_graph_thread(struct graph_take *take, uint32_t index, uint32_t serial,
                                        const struct recording_virtual *mounted);

#endif
