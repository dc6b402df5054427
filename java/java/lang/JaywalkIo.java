package java.lang;

/**
 * What is called where methods of the JDK that read and write files and sockets end, for io= of a session. As with {@link JaywalkTimer} there is no gate, since
 * nothing of this is ever unloaded.
 *
 * <p>What was too short ends here: no call into code that could be probed, no allocation, no monitor.
 */
public abstract class JaywalkIo {
    /** Set once, before there are such places. */
    private static JaywalkIo teller;

    /** Which attach is told of; of one before it calls may end at any time. */
    private static int telling = -1;

    /** Durations from that on are told. */
    private static long least = Long.MAX_VALUE;

    /** Calls that were not told, for want of stack. */
    private static int dropped;

    protected JaywalkIo() {
    }

    /** Before the first place; by the agent. */
    static void open(JaywalkIo to) {
        teller = to;
    }

    /** By the agent: calls of that attach are told from now on that took `ns`; -1: none. */
    static void begin(int attach, long ns) {
        telling = -1;
        least = ns;
        telling = attach;
    }

    /** So many bytes; less than none: the end. */
    public static void ended(Object of, int bytes, long ns, int site, int attach) {
        if (ns >= least) {
            told(of, bytes, ns, site, attach);
        }
    }

    public static void ended(Object of, long bytes, long ns, int site, int attach) {
        if (ns >= least) {
            told(of, bytes, ns, site, attach);
        }
    }

    /** All of an array. */
    public static void ended(Object of, Object bytes, long ns, int site, int attach) {
        if (ns >= least) {
            told(of, bytes == null ? 0 : ((byte[]) bytes).length, ns, site, attach);
        }
    }

    /** With what belongs to the file beside its bytes. */
    public static void ended(Object of, boolean isAll, long ns, int site, int attach) {
        if (ns >= least) {
            told(of, isAll ? 1 : 0, ns, site, attach);
        }
    }

    /** A byte that was read; less than none: the end. */
    public static void one(Object of, int value, long ns, int site, int attach) {
        if (ns >= least) {
            told(of, value < 0 ? -1 : 1, ns, site, attach);
        }
    }

    /** One byte was written. */
    public static void one(Object of, long ns, int site, int attach) {
        if (ns >= least) {
            told(of, 1, ns, site, attach);
        }
    }

    /** An exception leaves it. */
    public static void failed(Object of, long ns, int site, int attach) {
        if (ns >= least) {
            told(of, 0, ns, site, attach);
        }
    }

    private static void told(Object of, long bytes, long ns, int site, int attach) {
        if (attach != telling) {
            return;
        }
        try {
            teller.tell(of, site, bytes, ns);
        } catch (Throwable e) { // StackOverflowError, which the program's own call did not have
            dropped++;
        }
    }

    static int dropped() {
        return dropped;
    }

    /** An event. */
    protected abstract void tell(Object of, int site, long bytes, long ns);
}
