package java.lang;

/**
 * What is called where a thread parks (java.util.concurrent.locks.LockSupport) and goes on, for waits of virtual threads, which no native method
 * sees, and of all threads where that method is left alone. As with {@link JaywalkTimer} there is no gate, since nothing of this is ever unloaded.
 */
public abstract class JaywalkParks {
    /** Of a site: the time is a point in time, in milliseconds. */
    public static final int UNTIL = 1;

    /** Set once, before there are sites. */
    private static JaywalkParks teller;

    /** Which attach is told of; of one before it calls may end at any time. */
    private static int telling = -1;

    /** Calls that were not told, for want of stack. */
    private static int dropped;

    protected JaywalkParks() {
    }

    /** Before the first site; by the agent. */
    static void open(JaywalkParks to) {
        teller = to;
    }

    /** By the agent: parks of that attach are told from now on; -1: of none. */
    static void begin(int attach) {
        telling = attach;
    }

    /** park(). */
    public static void entered(int site, int attach) {
        told(null, 0, site, attach);
    }

    /** park(blocker). */
    public static void entered(Object blocker, int site, int attach) {
        told(blocker, 0, site, attach);
    }

    /** parkNanos(time), parkUntil(time). */
    public static void entered(long time, int site, int attach) {
        told(null, time, site, attach);
    }

    /** parkNanos(blocker, time), parkUntil(blocker, time). */
    public static void entered(Object blocker, long time, int site, int attach) {
        told(blocker, time, site, attach);
    }

    private static void told(Object blocker, long time, int site, int attach) {
        if (attach == telling) {
            try {
                teller.enter(Thread.currentThread(), blocker, time, (site & UNTIL) != 0);
            } catch (Throwable e) { // StackOverflowError, which the program's own call did not have
                dropped++;
            }
        }
    }

    /** It goes on, whatever was said of it. */
    public static void left(int site, int attach) {
        ended(null, attach);
    }

    public static void left(Object blocker, int site, int attach) {
        ended(blocker, attach);
    }

    private static void ended(Object blocker, int attach) {
        if (attach == telling) {
            try {
                teller.leave(Thread.currentThread(), blocker);
            } catch (Throwable e) {
                dropped++;
            }
        }
    }

    static int dropped() {
        return dropped;
    }

    protected abstract void enter(Thread thread, Object blocker, long time, boolean isUntil);

    protected abstract void leave(Thread thread, Object blocker);
}
