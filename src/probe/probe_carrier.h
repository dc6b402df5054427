/*
 * probe_carrier - java.lang.JaywalkCarrier for a JVM whose virtual threads have carriers.
 *
 * For      which platform thread runs this: a method of java.lang.Thread that no compiler for Java 8 knows.
 * Callers  instrument.
 * Context  any.
 * Memory   the caller's bytes.
 */
#ifndef JW_PROBE_PROBE_CARRIER_H
#define JW_PROBE_PROBE_CARRIER_H

#include <stddef.h>
#include <stdint.h>

#define PROBE_CARRIER_CLASS "java/lang/JaywalkCarrier"

/* Native, static, of java.lang.Thread, without parameters, and gives a Thread. Source: OpenJDK 19 to 28. */
#define PROBE_CARRIER_METHOD "currentCarrierThread"

/* The class as it was compiled, but it asks PROBE_CARRIER_METHOD. Its length; 0: it is not as it was, or there is not room enough. */
size_t probe_carrier_class(const uint8_t *compiled, size_t compiled_bytes, uint8_t *out,
                           size_t room_bytes);

#endif
