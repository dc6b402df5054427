/*
 * probe_renamed - a class file whose constants have other texts: what a class of java/java/lang refers to is called otherwise in some JVMs, or no compiler for Java 8
 * knows it.
 *
 * For      the agent's own classes, before they are defined.
 * Callers  instrument.
 * Context  any.
 * Memory   the caller's bytes.
 */
#ifndef JW_PROBE_PROBE_RENAMED_H
#define JW_PROBE_PROBE_RENAMED_H

#include <stddef.h>
#include <stdint.h>

/* Wherever a text constant has `from` in it, it gets `to`; none of both is empty. */
struct probe_renaming {
    const char *from, *to;
};

/* As much room as the class can need. */
size_t probe_renamed_room_bytes(size_t class_bytes, const struct probe_renaming *renaming);

/* The length of what is written; 0: these are no constants of a class file, nothing there is called so, or there is not room enough. */
size_t probe_renamed_class(const uint8_t *bytes, size_t length_bytes,
                           const struct probe_renaming *renaming, uint8_t *out, size_t room_bytes);

#endif
