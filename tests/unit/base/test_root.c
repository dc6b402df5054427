/* Square roots, of what is small, large, or none. */
#include <criterion/criterion.h>

#include "base/root.h"

TestSuite(root, .timeout = 1800);

Test(root, squares_have_theirs)
{
    static const double roots[] = {1e-9, 0.25, 1, 3, 1.96, 12345678.9, 4e20, 1e150};

    for (unsigned i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        const double found = jw_root(roots[i] * roots[i]);

        cr_expect(found > roots[i] * (1 - 1e-9) && found < roots[i] * (1 + 1e-9), "%g, not %g",
                  found, roots[i]);
    }
}

Test(root, what_is_not_above_0_has_none)
{
    cr_expect_eq(jw_root(0), 0);
    cr_expect_eq(jw_root(-4), 0);
}
