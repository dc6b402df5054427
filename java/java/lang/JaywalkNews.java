package java.lang;

/**
 * Objects that the application's code makes, by their class: all are counted, by class and method, and each n-th is told, with the stack that it has. As with
 * {@link JaywalkTimer} there is no gate, since nothing of this is ever unloaded.
 *
 * <p>Reached before a {@code new}, and behind what makes an array: no call into code that could be probed, and no allocation but that of a cell.
 */
public abstract class JaywalkNews {
    /** Set once, before there are sites. */
    private static JaywalkNews teller;

    private static final JaywalkTally tally = new JaywalkTally(JaywalkTally.SITES);

    /** Which attach is told of; -1: none. Of one before it objects may come at any time. */
    private static int telling = -1;

    /** Objects that were not told, for want of stack. */
    private static int dropped;

    protected JaywalkNews() {
    }

    /** Before the first site; by the agent. */
    static void open(JaywalkNews to) {
        teller = to;
    }

    /** By the agent: of that attach each n-th object is told from now on, the first of a thread after a random part of them; -1: none. */
    static void begin(int attach, long n) {
        telling = -1;
        JaywalkCalls.begin(-1, n);
        telling = attach;
    }

    /** By the agent: objects of that attach are counted from now on; -1: none. All is as in the beginning. */
    static void begin(int attach) {
        tally.begin(attach);
    }

    /** An object is about to be made at places of that number, or an array was. */
    public static void made(int site, int attach) {
        tally.count(site, attach);
        if (attach == telling && JaywalkCalls.isNext()) {
            told(site);
        }
    }

    private static void told(int site) {
        try {
            teller.tell(site, JaywalkCalls.Cell.interval);
        } catch (Throwable e) { // StackOverflowError, which the program's own code did not have
            dropped++;
        }
    }

    /** The thread ends, on itself. */
    static void ended(Thread thread) {
        tally.ended(thread);
    }

    /** All objects so far, by number. */
    static long[] sums() {
        return tally.sums();
    }

    /** Objects that could not be counted, for want of memory or stack. */
    static int uncounted() {
        return tally.dropped();
    }

    static int dropped() {
        return dropped;
    }

    /** A sample, which stands for so many objects. */
    protected abstract void tell(int site, long count);
}
