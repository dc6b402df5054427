/*
 * probe_pace - how many classes are written again in one operation of the JVM.
 *
 * For      instrument (batches of classes). Pure.
 * Context  any; one owner.
 *
 * An operation stops the program for some time however few its classes are (all compiled code is looked through: 60 ms where there are ten thousand
 * methods of it), and for some more with each of them. Both are told from the batches so far, by a straight line through the sizes and times of
 * the last few. A batch is as large as lets it take nine tenths of the budget. Where the first part leaves less than three tenths, classes get these all
 * the same; and where that part alone is more than the budget, nothing keeps to it, and many small batches would be as many pauses: then a batch takes twice that part.
 */
#ifndef JW_PROBE_PROBE_PACE_H
#define JW_PROBE_PROBE_PACE_H

#include <stdbool.h>
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
    double each_ns; /* a class, by the last sizes that differed */
    bool is_known;
};

/* Size of the next batch, 1 to PROBE_PACE_MOST, after one of `size` that stopped the program for so long. */
uint32_t probe_pace_next(struct probe_pace *pace, uint32_t size, uint64_t took_ns,
                         uint64_t budget_ns);

#endif
