package java.lang;

/**
 * How often methods were called and how long that took: by method, in cells that threads own. A platform thread writes its own with plain stores, as do
 * virtual threads that of their carrier; threads that find no cell share others, under their monitors. A method in one cell takes 16 KB of the program's heap: past
 * {@link #ARRAYS} of them all further ones are those of the first shared cell, so that no more than 48 MB are taken.
 *
 * <p>Reached from any method of the program: no call into code that could be probed, and no allocation but that of arrays.
 */
public final class JaywalkTimes extends JaywalkUnshared {
    /** Methods at the most; a power of two, as are the next two. */
    static final int SITES = 1024;

    private static final int OWNED = 64, SHARED = 8;

    /** Each doubling of the time is parted into so many steps: the middle of one is within 0.8 % of all in it. */
    private static final int STEP_BITS = 6, STEPS = 1 << STEP_BITS;

    /** The last power of two that is parted: what is longer, 137 s and more, is in the last step. */
    private static final int LAST_BIT = 36;

    /** Of one method in one cell: nanoseconds in all, the shortest, the longest, and calls by step. */
    static final int TOTAL = 0, LEAST = 1, MOST = 2, COUNTS = 3, LENGTH = COUNTS + (LAST_BIT - STEP_BITS + 2) * STEPS;

    /** Of methods in cells; the first shared cell has its own beyond them. */
    private static final int ARRAYS = 2048;

    private static int arrays;

    private static final JaywalkTimes[] owned = new JaywalkTimes[OWNED], shared = new JaywalkTimes[SHARED];

    /** Calls that could not be counted, for want of memory or stack. */
    private static int dropped;

    /** Which attach counts; -1: none. Only its own calls are: those of one before it may end at any time, and its methods had other numbers. */
    private static int counting = -1;

    static {
        for (int i = 0; i < OWNED; i++) {
            owned[i] = new JaywalkTimes();
        }
        for (int i = 0; i < SHARED; i++) {
            shared[i] = new JaywalkTimes();
        }
    }

    private long[][] sites = new long[SITES][];

    private JaywalkTimes() {
    }

    /**
     * A method has ended that was entered `ns` ago; its number is that of this attach. The array is fetched before it is asked which attach counts: so a
     * thread that stood still in between has that of the attach before, which nobody reads any more.
     */
    public static void timed(long ns, int site, int attach) {
        final Thread thread = JaywalkCarrier.current();
        final JaywalkTimes cells = owned[(int) JaywalkNumber.of(thread) & (OWNED - 1)];
        final long[] numbers = cells.sites[site & (SITES - 1)];

        if (attach != counting) {
            return;
        }
        if (numbers != null && cells.owner == thread) {
            add(numbers, ns);
        } else {
            addElsewhere(thread, ns, site & (SITES - 1), attach);
        }
    }

    private static void add(long[] numbers, long ns) {
        numbers[COUNTS + step(ns)]++;
        numbers[TOTAL] += ns;
        if (ns < numbers[LEAST]) {
            numbers[LEAST] = ns;
        }
        if (ns > numbers[MOST]) {
            numbers[MOST] = ns;
        }
    }

    private static int step(long ns) {
        if (ns < STEPS) {
            return ns < 0 ? 0 : (int) ns;
        }

        final int bit = 63 - Long.numberOfLeadingZeros(ns);

        return bit > LAST_BIT ? (LAST_BIT - STEP_BITS + 2) * STEPS - 1
                              : (bit - STEP_BITS) * STEPS + (int) (ns >>> bit - STEP_BITS);
    }

    private static void addElsewhere(Thread thread, long ns, int site, int attach) {
        try {
            final JaywalkTimes cells = (JaywalkTimes) ownedBy(thread, owned);
            final long[] numbers = cells == null ? null : cells.need(site, thread);

            if (numbers != null) {
                if (attach == counting) {
                    add(numbers, ns);
                }
            } else if (!isAddedTo(shared[(int) JaywalkNumber.of(thread) & (SHARED - 1)], site, ns, attach)) {
                isAddedTo(shared[0], site, ns, attach);
            }
        } catch (Throwable e) { // of memory or stack, which the program's own call did not lack
            dropped++;
        }
    }

    private static boolean isAddedTo(JaywalkTimes cells, int site, long ns, int attach) {
        synchronized (cells) {
            final long[] numbers = cells.need(site, null);

            if (numbers == null) {
                return false;
            }
            if (attach == counting) {
                add(numbers, ns);
            }
            return true;
        }
    }

    /**
     * Its numbers, made where there are none yet; null: there are enough of them, or this is not on that thread any more. Thread null: with its monitor.
     */
    private long[] need(int site, Thread thread) {
        final long[][] sites = this.sites;
        long[] made = null;

        if (sites[site] == null) {
            if (this != shared[0] && !isGranted()) {
                return null;
            }
            made = new long[LENGTH];
            made[LEAST] = Long.MAX_VALUE;
        }
        if (thread != null && JaywalkCarrier.current() != thread) {
            return null;
        }
        if (sites[site] == null) { // from here on nothing waits
            sites[site] = made;
        }
        return sites[site];
    }

    /** Under a monitor: a thread that stood still between look and write would take all back that others have noted meanwhile. */
    private static synchronized boolean isGranted() {
        if (arrays >= ARRAYS) {
            return false;
        }
        arrays++;
        return true;
    }

    /** The thread ends, on itself. */
    static void ended(Thread thread) {
        ended(thread, owned);
    }

    /** By the agent: calls of that attach are counted from now on; -1: of none. All is as in the beginning. */
    static void begin(int attach) {
        counting = -1;
        clear();
        counting = attach;
    }

    private static void clear() {
        for (JaywalkTimes cells : owned) {
            cells.forget();
        }
        for (JaywalkTimes cells : shared) {
            cells.forget();
        }
        grantAnew();
        dropped = 0;
    }

    private static synchronized void grantAnew() {
        arrays = 0;
    }

    private synchronized void forget() {
        sites = new long[SITES][];
        owner = null;
    }

    /** All of a method so far. */
    static long[] sum(int site) {
        final long[] sum = new long[LENGTH];

        sum[LEAST] = Long.MAX_VALUE;
        for (JaywalkTimes cells : owned) {
            cells.addTo(sum, site);
        }
        for (JaywalkTimes cells : shared) {
            cells.addTo(sum, site);
        }
        return sum;
    }

    /** By the agent: the shortest and the longest are those of calls from now on. What ends at this moment may have its own taken away. */
    static void beginExtremes(int site) {
        for (JaywalkTimes cells : owned) {
            cells.forgetExtremes(site & (SITES - 1));
        }
        for (JaywalkTimes cells : shared) {
            cells.forgetExtremes(site & (SITES - 1));
        }
    }

    private synchronized void forgetExtremes(int site) {
        final long[] numbers = sites[site];

        if (numbers != null) {
            numbers[LEAST] = Long.MAX_VALUE;
            numbers[MOST] = 0;
        }
    }

    private synchronized void addTo(long[] sum, int site) {
        final long[] numbers = sites[site & (SITES - 1)];

        if (numbers == null) {
            return;
        }
        for (int i = 0; i < LENGTH; i++) {
            if (i >= COUNTS || i == TOTAL) {
                sum[i] += numbers[i];
            }
        }
        if (numbers[LEAST] < sum[LEAST]) {
            sum[LEAST] = numbers[LEAST];
        }
        if (numbers[MOST] > sum[MOST]) {
            sum[MOST] = numbers[MOST];
        }
    }

    static int dropped() {
        return dropped;
    }
}
