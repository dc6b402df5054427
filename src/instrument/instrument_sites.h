/*
 * instrument_sites - methods that are timed or counted have numbers, and classes of objects that are told, the same as long as the probe is attached.
 *
 * Callers  instrument_own.c, instrument_counts.c, instrument_news.c.
 * Context  instrument_sites_number: hook, on any thread that loads a class. instrument_sites_made: hook. The rest: the agent's thread.
 * Memory   one table of each kind, made by the first probe of that kind, and kept: half a megabyte.
 */
#ifndef JW_INSTRUMENT_INSTRUMENT_SITES_H
#define JW_INSTRUMENT_INSTRUMENT_SITES_H

#include "classfile/classfile.h"
#include "instrument/instrument.h"

enum instrument_sites_kind {
    INSTRUMENT_SITES_TIMED,
    INSTRUMENT_SITES_COUNTED,
    INSTRUMENT_SITES_MADE,
    INSTRUMENT_SITES_KINDS,
};

/* Numbers are given out anew, from 0 on. */
JW_MUST_CHECK bool instrument_sites_begin(enum instrument_sites_kind kind, struct jw_error *err);
/*
 * Of a class whose objects a method makes, or of a method alone. -1: there are too many, which is noted. Before there are too many of the first
 * kind the class alone has a number, whatever makes it.
 */
int32_t instrument_sites_number(enum instrument_sites_kind kind, struct classfile_text made,
                                struct classfile_text class_name, struct classfile_text method,
                                struct classfile_text descriptor);
/* False: there are no more. */
JW_MUST_CHECK bool instrument_sites_at(enum instrument_sites_kind kind, uint32_t number,
                                       struct instrument_site *out);
/*
 * The class that is made, of a number that was given, without the lock. Of an attach that is over it may be that of another one, or parts of
 * several: whoever stood still meanwhile. It ends in any case.
 */
const char *instrument_sites_made(enum instrument_sites_kind kind, uint32_t number);
/* Nothing is told of it any more, for want of memory. */
void instrument_sites_lose(enum instrument_sites_kind kind, uint32_t number);
/* Methods that nothing is told of. */
uint64_t instrument_sites_lost(enum instrument_sites_kind kind);

#endif
