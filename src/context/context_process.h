/*
 * context_process - what readers outside of the process are told of it: how to read the records of its threads.
 *
 * For      profilers of the whole machine that read `otel_thread_ctx_v1`.
 * Callers  context (when the first slot or a name is given); agent (name of the service).
 * Context  any; takes a lock, and makes some system calls when something has changed.
 * Memory   two pages, which a child of fork does not get; they stay while the process lives.
 *
 * A mapping named OTEL_CTX: a header, and behind it two places that take turns for the payload, a ProcessContext in
 * protobuf. A time of 0 in the header says that it is being changed; a reader that finds the same time, and not 0, before
 * and after its copy has a whole one.
 *
 *     0   "OTEL_CTX"     8   version 2 (4 bytes)   12   size of the payload (4)   16   when, in ns since boot (8)
 *     24  address of the payload (8)                64   first place               4096 second place
 *
 * Source: OpenTelemetry OTEP 4719, "Process Context"; opentelemetry-proto, process_context.proto v1development, resource.proto,
 * common.proto; keys and schema version: OTEP 4947, "Process Context: Thread-Local Reference Data".
 */
#ifndef JW_CONTEXT_CONTEXT_PROCESS_H
#define JW_CONTEXT_CONTEXT_PROCESS_H

#include "base/jw.h"

#define CONTEXT_SERVICE_MAX_BYTES 255u

/*
 * Publishes the names of the attributes as they are now, and the service; again when they have changed. False and `err`: the
 * kernel refuses, or another library of the process has published a context already, which then stands.
 */
bool context_process_publish(struct jw_error *err);

/* Name of the service that the process is, for the next time; "" or NULL: not said. */
void context_process_set_service(const char *name);

#endif
