/*
 * tell - a page of metrics under way, and who adds to it.
 *
 * For      tell.c (all that is said to those who ask), tell_dictionaries.c, tell_ids.c, tell_memory.c.
 * Context  any.
 * Memory   the page is tell_metrics' own.
 */
#ifndef JW_AGENT_TELL_INTERNAL_H
#define JW_AGENT_TELL_INTERNAL_H

#include "base/jw.h"

struct tell_page {
    char *text;
    size_t used_bytes;
};

/* A line that does not fit is left out whole. */
void tell_put(struct tell_page *page, const char *format, ...) JW_PRINTF(2, 3);

/* HELP and TYPE of a metric, without "jaywalk_": a counter when its name ends in _total, else a gauge. */
void tell_put_head(struct tell_page *page, const char *name, const char *help);

/* tell_dictionaries.c: what they hold and refused, in one line of status; and in metrics. */
void tell_dictionaries(void);
void tell_dictionaries_metrics(struct tell_page *page);

/* tell_ids.c: nothing in status unless another agent walks stacks. */
void tell_ids(void);
void tell_ids_metrics(struct tell_page *page);

/* tell_memory.c: a line of status; the lines of metrics. */
void tell_memory(void);
void tell_memory_metrics(struct tell_page *page);

#endif
