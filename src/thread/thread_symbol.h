/*
 * thread_symbol - `otel_thread_ctx_v1`, by which readers outside of the process find what a thread works for.
 *
 * For      the context of a thread: it names the record, or NULL.
 * Callers  context.
 * Context  thread_symbol: all; a load, it calls nothing. thread_symbol_set: any, hook, on the thread itself.
 * Memory   a word of the loader's static surplus, beside thread_tls.
 */
#ifndef JW_THREAD_THREAD_SYMBOL_H
#define JW_THREAD_THREAD_SYMBOL_H

#include "base/jw.h"

JW_SIGNAL_SAFE const void *thread_symbol(void);
void thread_symbol_set(const void *record);

#endif
