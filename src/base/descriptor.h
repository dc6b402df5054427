/*
 * descriptor - what a method takes and gives, as class files write it: "(ILjava/lang/String;[J)V".
 *
 * For      telling a descriptor from other bytes, and from one that was cut: readers of recordings take it apart
 *          and fail where it is none.
 * Callers  sampler, recording.   Context  all.   Memory  none.   Progress  wait-free.
 * Source: JVM specification, 4.3.3.
 */
#ifndef JW_BASE_DESCRIPTOR_H
#define JW_BASE_DESCRIPTOR_H

#include "base/jw.h"

/* Bytes of the opening parenthesis and the whole parameters that follow; 0: it begins with none. */
JW_SIGNAL_SAFE size_t jw_descriptor_parameters(const unsigned char *text, size_t length_bytes);

/* True of a descriptor from its first to its last byte. */
JW_SIGNAL_SAFE bool jw_descriptor_is_whole(const unsigned char *text, size_t length_bytes);

#endif
