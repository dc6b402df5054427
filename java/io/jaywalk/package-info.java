/**
 * What an application tells the profiler jaywalk: which request, span and tenant a thread works for.
 *
 * <pre>{@code
 * Jaywalk jaywalk = Jaywalk.ifPresent();             // does nothing where no agent is loaded
 * Attribute tenant = jaywalk.attribute("tenant");
 *
 * try (Context context = jaywalk.context(traceHigh, traceLow, spanId, spanId)) {
 *     tenant.set("acme");
 *     handle(request);                               // its samples carry all of this
 *     jaywalk.endpoint(spanId, "GET /orders/{id}");
 * }                                                  // what was before is there again
 * }</pre>
 *
 * <p>Start with {@link io.jaywalk.Jaywalk}. All of it may be called by any thread at any time, virtual threads
 * included, before a session starts and after it has ended. Setting and clearing a context takes some ten
 * nanoseconds on a platform thread, some hundreds on a virtual one.
 */
package io.jaywalk;
