package java.lang;

import java.util.Random;

/**
 * How long locks were held, by what is timed of many: which acquisitions these are is JaywalkLocks' own choice, and how long each was is given, so that no
 * machine has a part in it. Of places that are held in several ways the sum is within the bound that is told of it in as many cases as it has to be, and nowhere far
 * from it. Of package java.lang, as that is.
 *
 * <p>A line `ok` at the end.
 */
public final class HoldsTest {
    private static final int METHOD = 7, PLACES = 40, HOLDS = 100_000;
    private static final double DEVIATIONS = 1.96;

    private HoldsTest() {
    }

    private static void check(boolean isGood, String what) {
        if (!isGood) {
            throw new IllegalStateException(what);
        }
    }

    /** How long the holds of a place are. */
    private interface Length {
        long ns(int number, Random random);
    }

    /** What is told of a place, and what was. */
    private static final class Figures {
        long count, holds, weight, heldNs, knownNs;
        double deviation;

        double error() {
            return Math.abs(heldNs - knownNs) / Math.max(deviation, 1e-9);
        }
    }

    private static Figures hold(int site, int times, Length length, Random random) {
        final JaywalkCells cells = mine(site);
        final long[] page = cells.needPage(site);
        final int at = site % JaywalkCells.PER_PAGE * JaywalkCells.STRIDE;
        final Figures figures = new Figures();
        long sinceNs = 0;

        for (int i = 0; i < times; i++) {
            final long ns = length.ns(i, random);

            JaywalkLocks.enter(site, METHOD);
            sinceNs += ns;
            if (cells.holds.count == 0) {
                continue;
            }
            final long weight = cells.holds.weight(0);

            check(cells.holds.end(METHOD) == 0, "the hold that has begun is not the one that ends");
            JaywalkLocks.held(page, at, ns, weight);
            figures.knownNs += sinceNs; // those that no hold stands for yet are not told
            sinceNs = 0;
        }
        return read(site, figures);
    }

    /** This thread comes to a place that nobody asks for, so that it has cells. */
    private static JaywalkCells mine(int site) {
        JaywalkLocks.enter(site + PLACES, METHOD);
        JaywalkLocks.exit(METHOD);
        return JaywalkCells.take(JaywalkLocks.owned, Thread.currentThread());
    }

    private static Figures read(int site, Figures figures) {
        final long[] all = JaywalkLocks.figures(site + 1);
        final int at = site * JaywalkCells.STRIDE;
        long steps = 0;

        figures.count = all[at + JaywalkLocks.COUNT];
        figures.holds = all[at + JaywalkLocks.HOLDS];
        figures.weight = all[at + JaywalkLocks.WEIGHT];
        figures.heldNs = all[at + JaywalkLocks.HOLD_NS];
        figures.deviation = Math.sqrt(Double.longBitsToDouble(all[at + JaywalkLocks.SPREAD]));
        for (int i = 0; i < JaywalkLocks.HOLD_BUCKET_COUNT; i++) {
            steps += all[at + JaywalkLocks.HOLD_BUCKETS + i];
        }
        check(steps <= figures.weight, "more are in steps than there are");
        return figures;
    }

    private static void isWithin(String name, Length length) {
        int within = 0;
        double squares = 0, bounds = 0;

        for (int site = 0; site < PLACES; site++) {
            final Figures figures = hold(site, HOLDS, length, new Random(site + name.hashCode()));

            check(figures.count == HOLDS, figures.count + " of " + HOLDS + " are counted");
            check(figures.holds < HOLDS / 2, "no sample is taken: " + figures.holds);
            check(figures.weight <= HOLDS && figures.weight > HOLDS * 9L / 10, "they stand for " + figures.weight);
            within += figures.error() <= DEVIATIONS ? 1 : 0;
            squares += Math.pow(figures.heldNs - figures.knownNs, 2);
            bounds += figures.deviation * figures.deviation;
            check(figures.error() < 8, name + ": " + figures.heldNs + " where " + figures.knownNs + " was, which is " + figures.error() + " deviations");
        }
        System.out.println(name + ": " + within + " of " + PLACES + " are within, the error is " + Math.sqrt(squares / bounds) + " of what is told of it");
        check(within >= PLACES * 7 / 10, name + ": " + within + " of " + PLACES + " are within their bounds");
    }

    /** All are seen, or all are as long: the sum is what it is. */
    private static void isExact() {
        final Figures few = hold(0, 1000, (number, random) -> 1000L * number, new Random(1));

        check(few.holds == 1000 && few.weight == 1000 && few.heldNs == few.knownNs && few.deviation == 0, "each of a thousand is timed");
        final Figures same = hold(1, HOLDS, (number, random) -> 20_000, new Random(2));

        check(same.weight > same.holds && same.heldNs == 20_000 * same.weight && same.deviation == 0, "all of one length have no error");
    }

    private static void steps() {
        final long[] least = {0, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000};

        for (int i = 0; i < least.length; i++) {
            final long ns = least[i];

            hold(2, 2 + i, (number, random) -> number == 0 ? ns : ns * 10 + (ns == 0 ? 999 : -1), new Random(3));
        }
        final long[] all = JaywalkLocks.figures(3);
        long rest = all[2 * JaywalkCells.STRIDE + JaywalkLocks.WEIGHT];

        for (int i = 1; i < least.length; i++) {
            final long held = all[2 * JaywalkCells.STRIDE + JaywalkLocks.HOLD_BUCKETS + i - 1];

            check(held == 2 + i, "from " + least[i] + " ns on there are " + held + ", not " + (2 + i));
            rest -= held;
        }
        check(rest == 2, rest + " are below a microsecond");
    }

    public static void main(String[] arguments) {
        run(() -> isExact());
        run(() -> steps());
        run(() -> isWithin("two in turn", (number, random) -> number % 2 == 0 ? 1000 : 100_000));
        run(() -> isWithin("by chance", (number, random) -> (long) (20_000 * -Math.log(1 - random.nextDouble()))));
        run(() -> isWithin("blocks", (number, random) -> number / 64 % 2 == 0 ? 500 : 50_000));
        run(() -> isWithin("waves", (number, random) -> 10_000 + (long) (9000 * Math.sin(number / 1000.0))));
        run(() -> isWithin("a few long ones", (number, random) -> random.nextInt(50) == 0 ? 1_000_000 : 700));
        System.out.println("ok");
    }

    private static void run(Runnable body) {
        JaywalkLocks.begin();
        JaywalkLocks.publish();
        body.run();
        JaywalkLocks.end();
    }
}
