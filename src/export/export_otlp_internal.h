/*
 * export_otlp_internal - OTLP profiles, written and read again.
 *
 * For      export_otlp.c, export_otlp_check.c.   Callers  these.   Context  dump, tool.
 * Memory   of a check: none.
 */
#ifndef JW_EXPORT_EXPORT_OTLP_INTERNAL_H
#define JW_EXPORT_EXPORT_OTLP_INTERNAL_H

#include "export/export_proto_internal.h"

#define EXPORT_OTLP_VERSION "1.10"

/* What the profiles of a message must sum up to. */
struct export_otlp_sums {
    uint64_t samples;
    uint64_t weight;
    bool has_weight;      /* a second profile */
    bool is_weight_first; /* which of the two is which */
};

/*
 * Reads the message as a stranger would: every number of a table is in it, tables begin with none, values sum up. False
 * and `err`: they do not, and a receiver would show something else or nothing.
 */
JW_MUST_CHECK bool export_otlp_check(const char *bytes, size_t length_bytes,
                                     const struct export_otlp_sums *wanted, struct jw_error *err);

#endif
