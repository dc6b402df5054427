package java.lang;

/**
 * Each n-th call of methods is told, with the stack that it has. As with {@link JaywalkTimer} there is no gate, since nothing of this is ever unloaded.
 *
 * <p>A platform thread counts in a cell that it owns, a virtual one in that of its carrier, the others in some that they share, under their monitors; what a thread leaves when it ends is gone on
 * with by the next one. Reached from any method of the program, before its first instruction: no call into code that could be probed, and no allocation.
 */
public abstract class JaywalkCalls {
    /** Powers of two. */
    private static final int OWNED = 64, SHARED = 8;

    private static final Cell[] owned = new Cell[OWNED], shared = new Cell[SHARED];

    /** Set once, before there are sites. */
    private static JaywalkCalls teller;

    /** Which attach is told of; -1: none. Of one before it calls may come at any time. */
    private static int telling = -1;

    /** Calls that were not told, for want of stack. */
    private static int dropped;

    static {
        for (int i = 0; i < OWNED; i++) {
            owned[i] = new Cell();
        }
        for (int i = 0; i < SHARED; i++) {
            shared[i] = new Cell();
        }
    }

    protected JaywalkCalls() {
    }

    static final class Cell extends JaywalkUnshared {
        /** Calls between two that are told. */
        static long interval = 1;

        /** Calls until one is told. */
        private long left;

        /** By its owner, or under the monitor. */
        boolean isDue() {
            if (--left > 0) {
                return false;
            }
            left = interval;
            return true;
        }

        synchronized boolean isDueShared() {
            return isDue();
        }

        synchronized void begin(long first) {
            owner = null;
            left = first;
        }
    }

    /** Before the first site; by the agent. */
    static void open(JaywalkCalls to) {
        teller = to;
    }

    /** By the agent: of that attach each n-th call is told from now on, the first of a thread after a random part of them; -1: none. */
    static void begin(int attach, long n) {
        long random = System.nanoTime();

        telling = -1;
        Cell.interval = n;
        for (int i = 0; i < OWNED + SHARED; i++) {
            random = random * 6364136223846793005L + 1442695040888963407L;
            (i < OWNED ? owned[i] : shared[i - OWNED]).begin(1 + (random >>> 1) % n);
        }
        telling = attach;
    }

    /** A method is entered. */
    public static void called(int site, int attach) {
        if (attach == telling && isNext()) {
            told();
        }
    }

    /** Whether the next of this thread is told; {@link JaywalkThrows} counts by the same cells, since a session has one event. */
    static boolean isNext() {
        return Cell.interval == 1 || isDue();
    }

    private static boolean isDue() {
        final Thread thread = JaywalkCarrier.current();
        final Cell cell = owned[(int) JaywalkNumber.of(thread) & (OWNED - 1)];

        return cell.owner == thread ? cell.isDue() : isDueElsewhere(thread);
    }

    private static boolean isDueElsewhere(Thread thread) {
        try {
            final Cell cell = (Cell) JaywalkUnshared.ownedBy(thread, owned);

            if (cell != null && JaywalkCarrier.current() == thread) {
                return cell.isDue();
            }
            return shared[(int) JaywalkNumber.of(thread) & (SHARED - 1)].isDueShared();
        } catch (Throwable e) { // StackOverflowError, which the program's own call did not have
            dropped++;
            return false;
        }
    }

    private static void told() {
        try {
            teller.tell(Cell.interval);
        } catch (Throwable e) {
            dropped++;
        }
    }

    /** The thread ends, on itself. */
    static void ended(Thread thread) {
        JaywalkUnshared.ended(thread, owned);
    }

    static int dropped() {
        return dropped;
    }

    /** A sample, which stands for so many calls. */
    protected abstract void tell(long calls);
}
