package java.lang;

/**
 * What the agent's own probes call, from any method of the program: no object, no monitor, no call into code that could be probed. They are
 * called without a gate, since nothing of this is ever unloaded: a call that ends after they were taken out tells nobody.
 */
public abstract class JaywalkTimer {
    /** Places of the table; a power of two. */
    private static final int SITES = 64;

    /** Which attach is told of; of one before it calls may end at any time. */
    private static int telling = -1;

    /** By site: durations from that on are told. */
    private static final long[] least = new long[SITES];

    /** Set once, before there are sites. */
    private static JaywalkTimer teller;

    /** Calls that were not told, for want of stack. */
    private static int dropped;

    static {
        for (int i = 0; i < SITES; i++) {
            least[i] = Long.MAX_VALUE;
        }
    }

    protected JaywalkTimer() {
    }

    /** Before the first site; by the agent. */
    static void open(JaywalkTimer to) {
        teller = to;
    }

    /** By the agent: calls of that attach are told from now on; -1: of none. */
    static void begin(int attach) {
        telling = attach;
    }

    /** By the agent: durations of that site are told from now on, from `ns` on. */
    static void setLeast(int site, long ns) {
        least[site & (SITES - 1)] = ns;
    }

    /** A method has ended that was entered `ns` ago. */
    public static void returned(long ns, int site, int attach) {
        if (ns >= least[site & (SITES - 1)] && attach == telling) {
            told(ns, site);
        }
    }

    private static void told(long ns, int site) {
        try {
            teller.tell(site, ns);
        } catch (Throwable e) { // StackOverflowError, which the program's own call did not have
            dropped++;
        }
    }

    static int dropped() {
        return dropped;
    }

    /** An event. */
    protected abstract void tell(int site, long ns);
}
