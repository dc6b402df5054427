package java.lang;

/**
 * How often methods were called, and nothing else: by method, in cells that threads own. A platform thread writes its own with plain stores, as do virtual
 * threads that of their carrier; threads that find no cell share others, under their monitors. A cell takes 8 KB of the program's heap, all of them half a megabyte.
 *
 * <p>Reached from any method of the program, before its first instruction: no call into code that could be probed, and no allocation but that of a cell.
 */
public final class JaywalkCounts extends JaywalkUnshared {
    /** Methods at the most; a power of two, as are the next two. */
    static final int SITES = 1024;

    private static final int OWNED = 64, SHARED = 8;

    private static final JaywalkCounts[] owned = new JaywalkCounts[OWNED], shared = new JaywalkCounts[SHARED];

    /** Calls that could not be counted, for want of memory or stack. */
    private static int dropped;

    /** Which attach counts; -1: none. Only its own calls are counted: those of one before it may come at any time, and its methods had other numbers. */
    private static int counting = -1;

    static {
        for (int i = 0; i < OWNED; i++) {
            owned[i] = new JaywalkCounts();
        }
        for (int i = 0; i < SHARED; i++) {
            shared[i] = new JaywalkCounts();
        }
    }

    /** Calls by method; null: nobody had it yet. Another array for each attach. */
    private long[] counts;

    private JaywalkCounts() {
    }

    /**
     * A method is entered; its number is that of this attach. The array is fetched before it is asked which attach counts: so a thread that stood still
     * in between has that of the attach before, which nobody reads any more.
     */
    public static void counted(int site, int attach) {
        final Thread thread = JaywalkCarrier.current();
        final JaywalkCounts cells = owned[System.identityHashCode(thread) & (OWNED - 1)];
        final long[] counts = cells.counts;

        if (attach != counting) {
            return;
        }
        if (counts != null && cells.owner == thread) {
            counts[site & (SITES - 1)]++;
        } else {
            countElsewhere(thread, site & (SITES - 1), attach);
        }
    }

    private static void countElsewhere(Thread thread, int site, int attach) {
        try {
            final JaywalkCounts cells = (JaywalkCounts) ownedBy(thread, owned);
            final long[] counts = cells == null ? null : cells.counts;

            if (counts == null || JaywalkCarrier.current() != thread) {
                shared[System.identityHashCode(thread) & (SHARED - 1)].share(site, attach);
            } else if (attach == counting) {
                counts[site]++;
            }
        } catch (Throwable e) { // of memory or stack, which the program's own call did not lack
            dropped++;
        }
    }

    private synchronized void share(int site, int attach) {
        if (counts == null) {
            counts = new long[SITES];
        }
        if (attach == counting) {
            counts[site]++;
        }
    }

    @Override
    void prepare() {
        if (counts == null) {
            counts = new long[SITES];
        }
    }

    /** The thread ends, on itself. */
    static void ended(Thread thread) {
        ended(thread, owned);
    }

    /** By the agent: calls of that attach are counted from now on; -1: of none. All is as in the beginning. */
    static void begin(int attach) {
        counting = -1;
        for (JaywalkCounts cells : owned) {
            cells.forget();
        }
        for (JaywalkCounts cells : shared) {
            cells.forget();
        }
        dropped = 0;
        counting = attach;
    }

    private synchronized void forget() {
        counts = null;
        owner = null;
    }

    /** All calls so far, by method. */
    static long[] sums() {
        final long[] sums = new long[SITES];

        for (JaywalkCounts cells : owned) {
            cells.addTo(sums);
        }
        for (JaywalkCounts cells : shared) {
            cells.addTo(sums);
        }
        return sums;
    }

    private synchronized void addTo(long[] sums) {
        if (counts == null) {
            return;
        }
        for (int i = 0; i < SITES; i++) {
            sums[i] += counts[i];
        }
    }

    static int dropped() {
        return dropped;
    }
}
