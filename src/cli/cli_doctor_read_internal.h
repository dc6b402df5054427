/*
 * cli_doctor_read_internal - a recording while it is read for the doctor.
 *
 * For      cli_doctor_read.c (events), cli_doctor_stacks.c (stacks).   Callers  these.   Context  tool.
 * Memory   of a chunk: a row for each distinct stack, one for each distinct frame; of the file: names of libraries.
 */
#ifndef JW_CLI_CLI_DOCTOR_READ_INTERNAL_H
#define JW_CLI_CLI_DOCTOR_READ_INTERNAL_H

#include "cli/cli_doctor_internal.h"
#include "cli/cli_feed_internal.h"

/* What one frame says, whatever stack it stands in. */
struct cli_doctor_frame {
    enum profile_frame_type type;
    bool is_nameless;   /* code without the name of a function */
    bool is_gap;        /* in place of Java frames that are missing */
    bool is_unreadable; /* in place of the name of a Java method */
    bool is_frozen;     /* in place of frames in the heap */
    bool is_jvm_named;  /* a function of the JVM that has a name */
    bool is_safepoint;  /* one of those that bring threads to a halt, or wait for that */
    uint32_t library;   /* number + 1, of native code */
};

struct cli_doctor_reading {
    struct cli_doctor *doctor;
    struct cli_wish wish;
    struct cli_found found;
    struct cli_feed feed; /* reader, clocks, texts; groups of this chunk, a distinct stack each */

    int64_t recording_start_ms;
    uint64_t chunk_events;      /* samples and waits of this chunk, up to here */
    int64_t bias_ticks;         /* of the last row of jaywalk.SafepointBias */
    struct cli_doctor_jdk told; /* stacks of the chunks before, of all JDKs */

    struct cli_doctor_frame *frames; /* of this chunk */
    size_t frame_count, frame_capacity;

    char (*libraries)[64];
    size_t library_count, library_capacity;
    struct jw_map library_of; /* name -> number + 1 */
};

/* An event that is a sample: once for each, then all of the chunk are judged. */
void cli_doctor_take_stack(struct cli_doctor_reading *reading, const struct jfr_reader_event *event,
                           bool is_wall);
void cli_doctor_judge_stacks(struct cli_doctor_reading *reading);
void cli_doctor_forget_stacks(struct cli_doctor_reading *reading);

#endif
