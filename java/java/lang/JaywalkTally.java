package java.lang;

/**
 * Counts by number, in cells that threads own. A platform thread writes its own with plain stores, as do virtual threads that of their carrier; threads that find
 * no cell share others, under their monitors. With all numbers a cell takes 8 KB of the program's heap, all of them half a megabyte.
 *
 * <p>No call into code that could be probed, and no allocation but that of a cell.
 */
final class JaywalkTally {
    /** Numbers that methods and classes have at the most; a power of two, as are the next two. */
    static final int SITES = 1024;

    private static final int OWNED = 64, SHARED = 8;

    /** How many numbers this one counts by; a power of two. */
    final int sites;

    private final Cells[] owned = new Cells[OWNED], shared = new Cells[SHARED];

    /** What could not be counted, for want of memory or stack. */
    private int dropped;

    /** Which attach counts; -1: none. Only what is its own is counted: what is of one before it may come at any time, and its numbers were others. */
    private int counting = -1;

    JaywalkTally(int sites) {
        this.sites = sites;
        for (int i = 0; i < OWNED; i++) {
            owned[i] = new Cells(sites);
        }
        for (int i = 0; i < SHARED; i++) {
            shared[i] = new Cells(sites);
        }
    }

    static final class Cells extends JaywalkUnshared {
        /** By number; null: nobody had it yet. Another array for each attach. */
        long[] counts;

        private final int sites;

        Cells(int sites) {
            this.sites = sites;
        }

        @Override
        void prepare() {
            if (counts == null) {
                counts = new long[sites];
            }
        }

        synchronized void share(int site, int attach, JaywalkTally of) {
            prepare();
            if (attach == of.counting) {
                counts[site]++;
            }
        }

        synchronized void forget() {
            counts = null;
            owner = null;
        }

        synchronized void addTo(long[] sums) {
            if (counts == null) {
                return;
            }
            for (int i = 0; i < sites; i++) {
                sums[i] += counts[i];
            }
        }
    }

    /**
     * One of that number, which is of that attach. The array is fetched before it is asked which attach counts: so a thread that stood still
     * in between has that of the attach before, which nobody reads any more.
     */
    void count(int site, int attach) {
        final Thread thread = JaywalkCarrier.current();
        final Cells cells = owned[(int) JaywalkNumber.of(thread) & (OWNED - 1)];
        final long[] counts = cells.counts;

        if (attach != counting) {
            return;
        }
        if (counts != null && cells.owner == thread) {
            counts[site & (counts.length - 1)]++;
        } else {
            countElsewhere(thread, site & (sites - 1), attach);
        }
    }

    private void countElsewhere(Thread thread, int site, int attach) {
        try {
            final Cells cells = (Cells) JaywalkUnshared.ownedBy(thread, owned);
            final long[] counts = cells == null ? null : cells.counts;

            if (counts == null || JaywalkCarrier.current() != thread) {
                shared[(int) JaywalkNumber.of(thread) & (SHARED - 1)].share(site, attach, this);
            } else if (attach == counting) {
                counts[site]++;
            }
        } catch (Throwable e) { // of memory or stack, which the program's own code did not lack
            dropped++;
        }
    }

    /** The thread ends, on itself. */
    void ended(Thread thread) {
        JaywalkUnshared.ended(thread, owned);
    }

    /** By the agent: what is of that attach is counted from now on; -1: nothing. All is as in the beginning. */
    void begin(int attach) {
        counting = -1;
        for (Cells cells : owned) {
            cells.forget();
        }
        for (Cells cells : shared) {
            cells.forget();
        }
        dropped = 0;
        counting = attach;
    }

    /** All so far, by number. */
    long[] sums() {
        final long[] sums = new long[sites];

        for (Cells cells : owned) {
            cells.addTo(sums);
        }
        for (Cells cells : shared) {
            cells.addTo(sums);
        }
        return sums;
    }

    int dropped() {
        return dropped;
    }
}
