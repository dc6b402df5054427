/*
 * probe_events - the class of a probe with calls in the methods of its events.
 *
 * For      events into the recording without an object for each, and without a handler's class knowing the agent.
 * Callers  instrument.
 * Context  control, tool. Memory is the caller's, as classfile_memory_bytes has it.
 *
 * At the beginning of each such method its parameters are given to PROBE_COMMIT, a native method of a class of the boot loader:
 *   commit(number of the event's type, duration or -1, numbers, objects)
 * Numbers and objects are those of the fields in their order, and then zeros and nulls. Booleans and integers come as they are, float and
 * double as the bits of the double.
 */
#ifndef JW_PROBE_PROBE_EVENTS_H
#define JW_PROBE_PROBE_EVENTS_H

#include "classfile/classfile_rewrite.h"
#include "probe/probe_handler.h"

#define PROBE_COMMIT_CLASS  "io/jaywalk/ProbeEvents"
#define PROBE_COMMIT_METHOD "commit"
#define PROBE_COMMIT_TYPE                                                                          \
    "(IJJJJJJJJJ"                                                                                  \
    "Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;"                     \
    "Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)V"

/* Whether a field of this type is given as one of the numbers. */
bool probe_field_is_number(char type);

/*
 * `numbers`: one for each event of the probe, whose class `bytes` are. Other than CLASSFILE_OK, or `out` is not changed: it has no call in
 * it; of a probe with events that is an error, and `err` says which.
 */
JW_MUST_CHECK bool probe_put_events(const struct probe *probe, const uint32_t *numbers,
                                    const uint8_t *bytes, size_t length_bytes,
                                    struct classfile_memory *memory,
                                    struct classfile_rewritten *out, struct jw_error *err);

#endif
