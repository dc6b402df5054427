/*
 * recording_frames - frames and stacks of a recording.
 *
 * For      whatever events name a stack.
 * Callers  recording.   Context  dump.
 * Memory   the recording's: a stack that is being made lies in its buffer `stack`.
 *
 * A stack has keys of frames, or, with has_frames_in_line, the frames themselves; who makes one need not know which.
 */
#ifndef JW_RECORDING_RECORDING_FRAMES_INTERNAL_H
#define JW_RECORDING_RECORDING_FRAMES_INTERNAL_H

#include "base/frame.h"
#include "store/store.h"

struct recording;
struct recording_take;

/* A frame, but for its method. */
struct recording_frame {
    enum jw_frame_kind kind;
    int line; /* -1: none */
    int bci;
};

/* Key of a method of the generation; the mark that says so where its record is no more to be had. */
uint64_t recording_take_method(struct recording_take *take, uint32_t id);
/* recording_hot.c: before the events of a take: small keys for what stands most often in its stacks. */
void recording_name_hot(struct recording_take *take);

struct recording_frame recording_frame_of(const struct recording_take *take, jw_frame frame);

/* What is written of a frame. */
struct recording_frame_fields {
    uint64_t method; /* keys */
    uint64_t type;
    int line;
    int bci;
};
/* That of a frame of the generation. */
void recording_frame_told(struct recording_take *take, jw_frame frame,
                          struct recording_frame_fields *fields);
/* Key of a frame in this chunk, where stacks have them by their keys. */
uint64_t recording_frame_key(struct recording_take *take, jw_frame frame);
/* Key of its method, or of what stands for one; 0: none. */
uint64_t recording_frame_method(struct recording_take *take, jw_frame frame);
/* Appends a frame to the stack that is being made; without a method it gets a mark. */
void recording_put_frame(struct recording *recording, uint64_t method,
                         const struct recording_frame *frame);
/* The same of one that is known whole. */
void recording_put_frame_fields(struct recording *recording,
                                const struct recording_frame_fields *fields);
/* Key of the stack in this chunk; 0: it has no frames. */
uint64_t recording_trace_key(struct recording_take *take, store_id trace);

/* The same of what lies in it from that frame on. */
uint64_t recording_part_of_trace(struct recording_take *take, const struct store_trace *trace,
                                 uint32_t first);

#endif
