/*
 * jfr_check - says whether a file is a sound recording, trusting nothing of the writer's own code.
 *
 * For      tests of room jfr and room recording, at every state that a file goes through.
 * Context  tool.   Memory  of the caller; what is needed meanwhile is freed.
 *
 * Checked: chunks fill the file; header fields; one clock, rising starts; the metadata tree; the chain
 * of checkpoints, exact sizes, no empty pool, no key twice, no key with another meaning in a later
 * chunk; each event parsed to its last byte and inside its chunk's time; each reference resolved; each
 * text valid UTF-8; stacks with frames, methods with classes, classes with names in their packages.
 */
#ifndef JW_TESTS_SUPPORT_JFR_CHECK_H
#define JW_TESTS_SUPPORT_JFR_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JFR_CHECK_TYPES_MAX 256

struct jfr_check {
    char problem[320]; /* "": sound */
    size_t chunk_count;
    size_t event_count;
    size_t constant_count;
    size_t checkpoint_count; /* in the chains */
    size_t skipped_count;    /* padding */
    uint64_t file_bytes;
    uint64_t skipped_bytes;
    bool is_final; /* the flag of the last chunk */
    size_t final_count;
    uint64_t first_start_ticks;
    uint64_t last_start_ticks;
    uint64_t last_duration_ns;
    uint64_t metadata_id; /* of the last chunk */
    char type_names[JFR_CHECK_TYPES_MAX][64];
    size_t type_events[JFR_CHECK_TYPES_MAX];
};

/* False: `problem` says where and what. */
bool jfr_check_file(const char *path, struct jfr_check *out);
bool jfr_check_bytes(const unsigned char *bytes, size_t length_bytes, struct jfr_check *out);

/* Events of this name in all chunks. */
size_t jfr_check_events(const struct jfr_check *check, const char *type_name);

#endif
