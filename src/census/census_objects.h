/*
 * census_objects - which objects' locks were taken at the sites of a census, as JaywalkObjects told them at its last reading.
 *
 * For      locks=objects: sums of each site, and its objects, busiest first.
 * Callers  instrument.
 * Context  any; one thread at a time.
 * Memory   of the last reading, twice 24 bytes an object, and of the one that later readings begin from.
 *
 * An object is a site and an identity hash: two objects of one site that have the same hash are told as one.
 */
#ifndef JW_CENSUS_CENSUS_OBJECTS_H
#define JW_CENSUS_CENSUS_OBJECTS_H

#include "base/jw.h"

/* JaywalkObjectTable: the longs of a row, and of what is known of the other objects of a site. */
#define CENSUS_OBJECT_LONGS 4u
#define CENSUS_OTHER_LONGS  3u

struct census_object {
    uint32_t site, hash;
    uint64_t acquisitions;
    uint32_t threads; /* 1, 2, or 3 for more; since the census began */
};

struct census_objects_sum {
    uint64_t objects, acquisitions; /* told each */
    uint64_t alone;                 /* of the objects, used by one thread only */
    uint64_t four_fifths;           /* so many, busiest first, have four fifths of acquisitions */
    uint64_t other_objects;         /* that had no room, one as often as it came back */
    uint64_t other_acquisitions;
    uint64_t other_several; /* of the other objects, seen with several threads */
};

struct census_objects {
    struct census_object *read, *base; /* by site and hash */
    struct census_object *told;        /* what is more than in base, by site, busiest first */
    uint64_t *others, *base_others;
    size_t read_count, base_count, told_count;
    size_t other_sites, base_other_sites;
};

/* Of a reading: longs as JaywalkObjectTable has them. False: no memory, and nothing is told. */
JW_MUST_CHECK bool census_objects_take(struct census_objects *all, const int64_t *rows,
                                       size_t row_longs, const int64_t *others, size_t other_longs);
/* What was read last is what later readings begin from. */
void census_objects_begin_again(struct census_objects *all);
/* These sites are others now. */
void census_objects_forget(struct census_objects *all, const uint32_t *sites, size_t count);
void census_objects_close(struct census_objects *all);

/* False: of that site nothing is told. */
bool census_objects_sum_of(const struct census_objects *all, uint32_t site,
                           struct census_objects_sum *out);
/* The busiest is 0. False: no more. */
bool census_objects_get(const struct census_objects *all, uint32_t site, size_t index,
                        struct census_object *out);

#endif
