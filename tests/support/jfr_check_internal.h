/*
 * jfr_check_internal - what the two halves of the checker share.   Callers  jfr_check*.c.
 */
#ifndef JW_TESTS_SUPPORT_JFR_CHECK_INTERNAL_H
#define JW_TESTS_SUPPORT_JFR_CHECK_INTERNAL_H

#include "support/jfr_check.h"

#define JFR_CHECK_FIELDS_MAX  320
#define JFR_CHECK_IDS_MAX     4096
#define JFR_CHECK_NESTING_MAX 16

struct jfr_check_field {
    char name[48];
    unsigned class_id;
    bool is_array;
    bool is_pooled;
};

struct jfr_check_class {
    bool is_declared;
    bool is_event;
    bool is_simple;
    char name[64];
    size_t field_count, field_capacity;
    struct jfr_check_field *fields;
};

/* A constant: where it lies in this chunk, and what its bytes were when the file first had it. */
struct jfr_check_constant {
    uint64_t type_and_key; /* key << 12 | type; 0: free */
    uint64_t hash;
    size_t chunk; /* in which it was last defined, from 1 */
    const unsigned char *at;
};

struct jfr_checker {
    struct jfr_check *out;
    const unsigned char *chunk;
    const unsigned char *at;
    const unsigned char *end;
    bool has_failed;
    struct jfr_check_class *classes;      /* JFR_CHECK_IDS_MAX, of which few are declared */
    unsigned declared[JFR_CHECK_IDS_MAX]; /* ids, in the order of the metadata */
    size_t declared_count;
    struct jfr_check_constant *constants;
    size_t constant_capacity;
    size_t constant_used;
    bool is_resolving; /* second pass: references must resolve */
    uint64_t start_ticks;
    uint64_t end_ticks;
};

/* The first fault is kept; after it everything reads as 0. */
__attribute__((format(printf, 2, 3))) void jfr_check_blame(struct jfr_checker *c,
                                                           const char *format, ...);
unsigned jfr_check_u8(struct jfr_checker *c);
uint64_t jfr_check_varint(struct jfr_checker *c);
const unsigned char *jfr_check_take(struct jfr_checker *c, uint64_t length_bytes);

/* Reads a string; its bytes, if it has any. */
const unsigned char *jfr_check_text(struct jfr_checker *c, uint64_t *length_bytes);

/* Reads the metadata event at `at`: the classes of this chunk. */
void jfr_check_metadata(struct jfr_checker *c, const unsigned char *at);

/* No class is declared any more. */
void jfr_check_forget_classes(struct jfr_checker *c);

#endif
