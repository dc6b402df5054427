/* What the files of this room share: what is known of captures. */
#ifndef JW_PROBE_PROBE_INTERNAL_H
#define JW_PROBE_PROBE_INTERNAL_H

#include "probe/probe_handler.h"

/* Whether a parameter of that type ("I", "[Ljava/lang/Object;") can be given it. */
bool probe_kind_takes(enum probe_kind kind, struct classfile_text type);

/* Whether it is known at a place; and where it is, in words. */
bool probe_kind_is_at(enum probe_kind kind, enum probe_place place);
const char *probe_kind_where(enum probe_kind kind);

/* The method of PROBE_CONTEXT_CLASS that answers it, without arguments; NULL: places give it. */
const char *probe_kind_fetched(enum probe_kind kind);

#endif
