package java.lang;

/**
 * How often methods were called, and nothing else: by method.
 *
 * <p>Reached from any method of the program, before its first instruction: no call into code that could be probed, and no allocation but that of a cell.
 */
public final class JaywalkCounts {
    private static final JaywalkTally tally = new JaywalkTally(JaywalkTally.SITES);

    private JaywalkCounts() {
    }

    /** A method is entered; its number is that of this attach. */
    public static void counted(int site, int attach) {
        tally.count(site, attach);
    }

    /** The thread ends, on itself. */
    static void ended(Thread thread) {
        tally.ended(thread);
    }

    /** By the agent: calls of that attach are counted from now on; -1: of none. All is as in the beginning. */
    static void begin(int attach) {
        tally.begin(attach);
    }

    /** All calls so far, by method. */
    static long[] sums() {
        return tally.sums();
    }

    /** Calls that could not be counted, for want of memory or stack. */
    static int uncounted() {
        return tally.dropped();
    }
}
