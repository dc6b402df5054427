/*
 * export_proto_internal - protocol buffers as bytes, and the tables that pprof and OTLP profiles share.
 *
 * For      export_pprof.c, export_otlp.c.   Callers  these.   Context  dump, tool.
 * Memory   the whole message: some bytes for each frame of each distinct stack.
 *
 * Wire format: https://protobuf.dev/programming-guides/encoding. Both formats hold texts once and name them by
 * number, from 0, which is the empty one; functions, libraries and locations likewise, from 1.
 */
#ifndef JW_EXPORT_EXPORT_PROTO_INTERNAL_H
#define JW_EXPORT_EXPORT_PROTO_INTERNAL_H

#include "base/map.h"
#include "export/export_internal.h"

/* A message that grows. Failure is sticky: `has_failed` says that memory was out. */
void export_proto_varint(struct export_text *to, uint64_t value);
void export_proto_number(struct export_text *to, unsigned field, uint64_t value);  /* 0: left out */
void export_proto_fixed64(struct export_text *to, unsigned field, uint64_t value); /* likewise */
void export_proto_bytes(struct export_text *to, unsigned field, const void *bytes,
                        size_t length_bytes);
/* Bytes that are no UTF-8 become U+FFFD: readers refuse a message with others. */
void export_proto_text(struct export_text *to, unsigned field, const char *text);
/* What both formats take for so many frames of so many stacks: numbers of up to three bytes in a message that doubles
 * when it grows and is read or compressed as a whole. */
uint64_t export_proto_bytes_most(uint64_t frames, uint64_t stacks);
/* The beginning of a message inside of another that is `length_bytes` long; and how long that beginning is. */
void export_proto_begin(struct export_text *to, unsigned field, uint64_t length_bytes);
size_t export_proto_begin_bytes(unsigned field, uint64_t length_bytes);
/* A message inside of another, which is emptied for the next one. */
void export_proto_message(struct export_text *to, unsigned field, struct export_text *message);

/* Numbers of fields, which the two formats chose each for itself; 0: there is none. */
struct export_proto_fields {
    unsigned string_table;
    unsigned function_table, function_id, function_name, function_system_name;
    unsigned mapping_table, mapping_id, mapping_file, mapping_has_functions;
    unsigned location_table, location_id, location_mapping, location_line, location_attributes;
    bool begins_with_none; /* an empty one stands first in each table but that of texts */
};

/* Texts, functions, libraries and locations, each written into its table on first sight. */
struct export_proto_tables {
    const struct export_job *job;
    const struct export_proto_fields *fields;
    struct export_text out; /* the tables */
    struct jw_map strings;
    uint32_t string_count;
    struct jw_map functions; /* number of the text of name -> number */
    uint32_t function_count;
    struct jw_map mappings; /* of the library's name */
    uint32_t mapping_count;
    uint32_t *location_of; /* by name of the profile; 0: not written yet */
    uint32_t location_count;
    struct export_text scratch, title, line;
    bool has_failed; /* memory was out */
};

JW_MUST_CHECK bool export_proto_open(struct export_proto_tables *tables,
                                     const struct export_job *job,
                                     const struct export_proto_fields *fields);
void export_proto_close(struct export_proto_tables *tables);

uint32_t export_proto_string(struct export_proto_tables *tables, const char *text);

/* Number of the location of a name that is code or a mark. `attributes`: of the location, or NULL. */
uint32_t export_proto_location(struct export_proto_tables *tables, uint32_t name,
                               uint32_t attribute);

/* What a sample was taken for, as key and value: the boxes between the root and its frames. */
struct export_proto_label {
    const char *key; /* "thread", "endpoint", "tenant" */
    const char *value;
    int64_t tid; /* of a thread; else 0 */
};

/* False: the box says that there is none. `text` keeps the value until the next call. */
bool export_proto_label_of(const struct profile_name *name, struct export_text *text,
                           struct export_proto_label *label);

/* What the values of an event are called, as other profilers' readers know them: what samples stand for, and their number, which of
 * objects is how many they stand for. */
const char *export_proto_type(const struct profile_about *about, bool is_weight);

/* "cpu" and "nanoseconds" as both formats call them. */
const char *export_proto_unit(const char *unit);

/* Gzip, one member, where libdeflate is linked in; else the bytes as they are. False: out of memory. */
JW_MUST_CHECK bool export_put_gzip(struct export_out *out, const char *bytes, size_t length_bytes);

#endif
