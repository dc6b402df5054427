/*
 * probe_pace - how many classes are written again in one operation of the JVM.
 *
 * For      instrument (batches of classes). Pure.
 * Context  any; one owner.
 *
 * An operation takes some time however few its classes are (all compiled code is looked through: 60 ms where there are ten thousand
 * methods of it), and some for each of them. Both are told from the batches so far, by a straight line through the sizes and times of the last
 * few. Where the first part is small, a batch is as large as the budget lets it be; where it is more than half of the budget, nothing
 * keeps to the budget, and many small batches would be as many pauses: then a batch takes twice that part.
 */
#ifndef JW_PROBE_PROBE_PACE_H
#define JW_PROBE_PROBE_PACE_H

#include <stdint.h>

#define PROBE_PACE_MOST 1000u

/*
 * JVMs from 8 to this version, which nobody asked at their start, drop all compiled code at the first of them. Source: measured on JDK 8,
 * 11, 17, 21 and 25: nothing was recorded that tells which compiled methods depend on a class.
 */
#define PROBE_PACE_DROPS_CODE 21u

/* Size of the first batch, of which nothing is known yet: ten classes in 10 ms, one at the least. */
uint32_t probe_pace_first(uint64_t budget_ns);

/* Sums over batches, of which each counts less than the one behind it; zero-filled before the first. */
struct probe_pace {
    double weight, sizes, times, squares, products;
};

/* Size of the next batch, 1 to PROBE_PACE_MOST, after one of `size` that took so long. */
uint32_t probe_pace_next(struct probe_pace *pace, uint32_t size, uint64_t took_ns,
                         uint64_t budget_ns);

#endif
