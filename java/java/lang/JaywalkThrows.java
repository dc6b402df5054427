package java.lang;

/**
 * Exceptions that are made, told as a session wants them by their class: each n-th, with the stack that it has. As with {@link JaywalkTimer} there is no gate,
 * since nothing of this is ever unloaded.
 *
 * <p>Reached where a constructor of Throwable returns: no call into code that could be probed, and no allocation. Each class is judged once by the agent, and
 * found from then on by its identity hash.
 */
public abstract class JaywalkThrows {
    /** Set once, before there are such places. */
    private static JaywalkThrows teller;

    /** Of the attach that is told of; null: of none. Of one before it exceptions may come at any time. */
    private static Known known;

    /** All exceptions, whether anybody wants them or not. */
    private static final JaywalkTally tally = new JaywalkTally(1);

    /** Exceptions that were not told, for want of stack. */
    private static int dropped;

    protected JaywalkThrows() {
    }

    /**
     * Classes that were judged. Where two threads put theirs into one place, or there are more than places, one is judged again. The agent begins with a new one
     * now and then, so that a class that is unloaded is held for some seconds only.
     */
    static final class Known {
        /** A power of two. */
        static final int PLACES = 512;

        final int attach;

        final Class<?>[] wanted = new Class<?>[PLACES], unwanted = new Class<?>[PLACES];

        boolean isUsed;

        Known(int attach) {
            this.attach = attach;
        }

        static boolean has(Class<?>[] classes, Class<?> type, int at) {
            return classes[at] == type || classes[at ^ 1] == type;
        }

        /** Known now, and whether it is wanted. */
        boolean judge(Class<?> type, int at) {
            final boolean isWanted = teller.isWanted(type);
            final Class<?>[] classes = isWanted ? wanted : unwanted;

            classes[classes[at] == null ? at : at ^ 1] = type;
            isUsed = true;
            return isWanted;
        }
    }

    /** Before the first place; by the agent. */
    static void open(JaywalkThrows to) {
        teller = to;
    }

    /** By the agent: of that attach each n-th exception that is wanted is told from now on, the first of a thread after a random part of them; -1: none. */
    static void begin(int attach, long n) {
        known = null;
        JaywalkCalls.begin(-1, n);
        if (attach >= 0) {
            dropped += tally.dropped();
            tally.begin(attach);
            known = new Known(attach);
        }
    }

    /** By the agent, now and then: classes are not held for ever. */
    static void forget() {
        final Known of = known;

        if (of != null && of.isUsed) {
            known = new Known(of.attach);
        }
    }

    /** A constructor of Throwable returns. */
    public static void made(Object thrown, int site, int attach) {
        final Known of = known;

        if (of == null || of.attach != attach) {
            return;
        }
        try {
            tally.count(0, attach);

            final Class<?> type = thrown.getClass();
            final int at = System.identityHashCode(type) & (Known.PLACES - 1);

            if (!Known.has(of.unwanted, type, at) && (Known.has(of.wanted, type, at) || of.judge(type, at)) && JaywalkCalls.isNext()) {
                teller.tell(type, JaywalkCalls.Cell.interval);
            }
        } catch (Throwable e) { // StackOverflowError, which the program's own constructor did not have
            dropped++;
        }
    }

    /** By the agent: how many there were since an attach began, also when it has ended. */
    static long all() {
        return tally.sums()[0];
    }

    /** The thread ends, on itself. */
    static void ended(Thread thread) {
        tally.ended(thread);
    }

    static int dropped() {
        return dropped + tally.dropped();
    }

    /** Whether the session asks for exceptions of this class. */
    protected abstract boolean isWanted(Class<?> type);

    /** A sample, which stands for so many exceptions. */
    protected abstract void tell(Class<?> type, long count);
}
