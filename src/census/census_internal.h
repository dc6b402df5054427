/* Calls that take locks of java.util.concurrent, and give them back. Context: hook, control, tool. */
#ifndef JW_CENSUS_CENSUS_INTERNAL_H
#define JW_CENSUS_CENSUS_INTERNAL_H

#include "census/census.h"

enum census_effect {
    CENSUS_CALL_NOTHING,
    CENSUS_CALL_TAKES,  /* whoever comes back has it */
    CENSUS_CALL_TRIES,  /* ... if it says true */
    CENSUS_CALL_STAMPS, /* ... if its stamp is not 0 */
    CENSUS_CALL_GIVES,  /* back */
};

struct census_call {
    enum census_effect effect;
    enum census_kind kind;
    bool has_arguments; /* above the lock on the stack */
};

/* What a call does; by its constant. */
struct census_call census_call_of(const struct classfile *file, uint16_t constant);
/* Whether there are any in the class, by its constants. */
bool census_has_calls(const struct classfile *file);

#endif
