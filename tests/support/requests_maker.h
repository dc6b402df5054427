/*
 * requests_maker - recordings of samples that say what they were taken for, on top of recording_maker.
 *
 * For      tests of what cuts a recording by endpoint, attribute or span.
 * Callers  tests.   Context  tool.   Memory  of the maker.
 *
 * A chunk holds texts and events in the order of the calls; a text is a constant by its place in the list
 * that requests_begin gets, from 1. Stacks are by number: 1 Main.main -> Work.run (leaf), 2 Main.main ->
 * Shop.buy, 3 native "read" of libc.so.6 below Main.main, 4 an address in Work.run of stack 1; 0: none. Threads: 1 "main", 2 "worker".
 */
#ifndef JW_TESTS_SUPPORT_REQUESTS_MAKER_H
#define JW_TESTS_SUPPORT_REQUESTS_MAKER_H

#include "support/recording_maker.h"

/* Keys of constants, 0: none; ids. */
struct made_request {
    uint64_t root_span_id;
    uint64_t span_id;
    uint64_t trace_id;
    uint64_t tenant;
    uint64_t user; /* an attribute "user id" */
    uint64_t stack;
    uint64_t thread;
    uint64_t weight_ns; /* CPU time; 10 ms where it is 0 */
    uint64_t wall_ns;   /* not 0: of the wall clock */
};

/* Texts end with NULL. */
void requests_begin(struct maker *maker, const char *const *texts);
void requests_sample(struct maker *maker, const struct made_request *request);
void requests_endpoint(struct maker *maker, uint64_t root_span_id, uint64_t endpoint,
                       uint64_t operation);
void requests_end(struct maker *maker);

#endif
