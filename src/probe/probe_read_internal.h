/* What the files that read a probe share. Context: control, tool. */
#ifndef JW_PROBE_PROBE_READ_INTERNAL_H
#define JW_PROBE_PROBE_READ_INTERNAL_H

#include "probe/probe_internal.h"

/* A probe and all that it points to. */
struct probe_whole {
    struct probe probe; /* first: probe_close frees it by this */
    struct probe_handler handlers[PROBE_HANDLERS_LIMIT];
    struct probe_event events[PROBE_EVENTS_LIMIT];
    char text[PROBE_TEXT_BYTES];
    uint32_t used_bytes;
};

struct probe_reader {
    const struct classfile *file;
    struct probe_whole *whole;
    const char *rules; /* of the class, for handlers without their own; NULL: none */
    const struct classfile_member *method;
    uint64_t faults;
    probe_tell *tell;
    void *context;
    struct jw_error *err;
};

/* What is wrong with the method that is read, or with the class. False, for its callers to give on. */
bool probe_reader_refuse(struct probe_reader *reader, const char *format, ...) JW_PRINTF(2, 3);
/* Terminated, in the probe's own memory. NULL: it cannot be kept, which was told. */
const char *probe_reader_keep(struct probe_reader *reader, struct classfile_text text);
/* Begins a probe of the agent's own, which has no class file. False: there is no memory, which was told; nothing is left. */
bool probe_reader_begin_own(struct probe_reader *reader, const char *class_name, const char *name);
/* Of package io.jaywalk.probe, that one. */
bool probe_reader_is_ours(const struct classfile_annotation *annotation, const char *name);

/* The lines of an element, one text after the other. `rules` stays where it has none. */
bool probe_reader_take_rules(struct probe_reader *reader,
                             const struct classfile_annotation *annotation, const char *name,
                             const char **rules);

/* The annotations of a method: one of places, each with rules or NULL. */
struct probe_read_places {
    unsigned places; /* PROBE_AT */
    const char *rules[PROBE_PLACE_LIMIT];
    const char *of[PROBE_PLACE_LIMIT];
    uint16_t lines[PROBE_PLACE_LIMIT];
};
/* probe_read_places.c: of the method that is read. False: it was told what is wrong. */
bool probe_reader_take_places(struct probe_reader *reader, struct probe_read_places *out);

/* probe_read_events.c: whether the method that is read is that of an event, which was added then, or was told to be wrong. */
bool probe_reader_take_event(struct probe_reader *reader);

#endif
