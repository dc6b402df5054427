package java.lang;

/**
 * What is called where a method that serves requests is entered and left, for endpoints= of a session. As with {@link JaywalkTimer} there is no
 * gate, since nothing of this is ever unloaded. Each call that was entered is left by what it was given then, session or not: so what a thread
 * works for is put back by whatever call is under way when classes are written back, and calls whose end was lost end with the one around them.
 */
public abstract class JaywalkRoutes {
    /** What a method says of its request as it ends. */
    private static final int UNSAID = 0, OVER = 1, GOES_ON = 2;

    /** By number: a power of two, above that of the lists of all threads that read requests. */
    private static final int LISTS = 1 << 14;

    /** Set once, before there are such methods. */
    private static JaywalkRoutes teller;

    /** Into which lists requests were read, by their numbers; never taken back: decoders use the same ones again and again, and two may share a place. */
    private static boolean[] hasRead;

    /** Which attach gives requests their endpoints; calls of one before it may come at any time. */
    private static int telling = -1;

    /** Calls that were not noted, for want of stack or memory. */
    private static int dropped;

    protected JaywalkRoutes() {
    }

    /** Before the first method; by the agent. */
    static void open(JaywalkRoutes to) {
        hasRead = new boolean[LISTS];
        teller = to;
    }

    /** By the agent: requests of that attach have endpoints from now on; -1: of none. */
    static void begin(int attach) {
        telling = attach;
    }

    /**
     * A method that serves a request was entered; what of it is the request is the site's business.
     *
     * @return what it is left by; 0: it is a part of the request that is there
     */
    public static int entered(Object given, int site, int attach) {
        try {
            return teller.enter(Thread.currentThread(), given, null, site, attach == telling);
        } catch (Throwable e) { // StackOverflowError, which the program's own call did not have
            dropped++;
            return 0;
        }
    }

    /** A decoder of a protocol has read something, and hands it on, a list at a time; of all of them those alone are looked at that requests were read into. */
    public static int entered(Object given, Object read, int site, int attach) {
        try {
            return hasRead[System.identityHashCode(read) & LISTS - 1] ? teller.enter(Thread.currentThread(), given, read, site, attach == telling) : 0;
        } catch (Throwable e) {
            dropped++;
            return 0;
        }
    }

    /** A decoder of requests may have put one into a list, or a part of one; on the same thread that is handed on next. */
    public static void read(Object into, int site, int attach) {
        try {
            hasRead[System.identityHashCode(into) & LISTS - 1] = true;
        } catch (Throwable e) {
            dropped++;
        }
    }

    /** A consumer is about to poll, or is closed: what its last poll gave is done with. */
    public static void polls(int site, int attach) {
        try {
            teller.poll(Thread.currentThread(), null, attach == telling);
        } catch (Throwable e) {
            dropped++;
        }
    }

    /** It has polled: what that gave is what its thread works on from now on. */
    public static void polled(Object given, int site, int attach) {
        if (attach != telling || given == null) {
            return;
        }
        try {
            teller.poll(Thread.currentThread(), given, true);
        } catch (Throwable e) {
            dropped++;
        }
    }

    /** The request that the thread serves says that it is asynchronous: others may go on with it, before the method that took it in has ended. */
    public static void started(Object given, int site, int attach) {
        if (attach != telling) {
            return;
        }
        try {
            teller.start(Thread.currentThread(), given, site);
        } catch (Throwable e) {
            dropped++;
        }
    }

    /** A framework has found out for which of its patterns the request is; what is given is the request as it was handed to it, and who has it. */
    public static void matched(Object by, Object given, int match, int attach) {
        if (attach != telling) {
            return;
        }
        try {
            teller.match(Thread.currentThread(), by, given, match);
        } catch (Throwable e) {
            dropped++;
        }
    }

    /** It returns, or an exception leaves it. */
    public static void left(Object given, int entered, int site, int attach) {
        ended(given, entered, site, UNSAID, attach);
    }

    /** It returns, and says by that whether the request is over. */
    public static void left(Object given, boolean isOver, int entered, int site, int attach) {
        ended(given, entered, site, isOver ? OVER : GOES_ON, attach);
    }

    /** An exception leaves it, and with that the request is over. */
    public static void failed(Object given, int entered, int site, int attach) {
        ended(given, entered, site, OVER, attach);
    }

    private static void ended(Object given, int entered, int site, int end, int attach) {
        if (entered == 0) {
            return;
        }
        try {
            teller.leave(Thread.currentThread(), given, entered, site, end, attach == telling);
        } catch (Throwable e) {
            dropped++;
        }
    }

    /** By the agent: of an object, a number that it keeps. */
    static int identityOf(Object object) {
        return System.identityHashCode(object);
    }

    static int dropped() {
        return dropped;
    }

    protected abstract int enter(Thread thread, Object given, Object read, int site, boolean isTold);

    protected abstract void poll(Thread thread, Object given, boolean isTold);

    protected abstract void start(Thread thread, Object given, int site);

    protected abstract void match(Thread thread, Object by, Object given, int match);

    protected abstract void leave(Thread thread, Object given, int entered, int site, int end, boolean isTold);
}
