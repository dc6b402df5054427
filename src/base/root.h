/* A square root: no library of mathematics is linked. Context: any. */
#ifndef JW_BASE_ROOT_H
#define JW_BASE_ROOT_H

#define JW_ROOT_STEPS_MAX 2048

/* By Newton, from above. 0 of what is not above 0. */
static inline double jw_root(double number)
{
    double root = number > 1 ? number : 1;

    for (unsigned i = 0; i < JW_ROOT_STEPS_MAX && number > 0; i++) {
        const double next = (root + number / root) / 2;

        if (next >= root)
            break;
        root = next;
    }
    return number > 0 ? root : 0;
}

#endif
