/*
 * thread_filter - which threads a run is about: by number and by name.
 *
 * For      filter=, "1200-1240;http-*;main".
 * Callers  agent (check), sampler (set), thread (lets_in).
 * Context  thread_filter_check, thread_filter_set: control, the latter with all engines stopped.
 *          thread_filter_lets_in, _add, _remove: hook, any, dump, control.
 * Memory   one static set, and a bit for each number that a thread can have, touched as used.
 *
 * Items stand apart by ';' or '/'. One of digits alone, or of digits, '-' and digits, is a number of the operating
 * system or a range of them; "+" are the threads that the program added itself; any other is a name, in which '*' stands for any
 * text, none included. A thread is let in when one item fits. An empty filter lets in everybody.
 */
#ifndef JW_THREAD_THREAD_FILTER_H
#define JW_THREAD_THREAD_FILTER_H

#include "base/jw.h"

#define THREAD_FILTER_ITEMS_MAX 64
#define THREAD_FILTER_MAX_BYTES 1024 /* terminator included */

/* False, and `err` says what is wrong with the filter and where. */
JW_MUST_CHECK bool thread_filter_check(const char *text, struct jw_error *err);

/* From now on `text` decides; NULL or "": everybody. A filter that is wrong changes nothing. */
JW_MUST_CHECK bool thread_filter_set(const char *text, struct jw_error *err);

/* `name`: of the Java thread, or what the kernel has. */
bool thread_filter_lets_in(uint32_t tid, const char *name);

/* The program adds a thread, or takes it away; it is one by number until it is taken away. */
void thread_filter_add(uint32_t tid);
void thread_filter_remove(uint32_t tid);

#endif
