package java.lang;

/**
 * Counters by number, of one platform thread, or of several threads that share them under their monitor. Numbers are given out by the
 * agent, from 0 on; {@link #STRIDE} longs belong to each. What the longs mean is the caller's business, but that they begin as zeros.
 *
 * <p>A thread finds the cells that it owns by its number and compares that, and then counts with plain stores: nothing is
 * written that another thread writes. Virtual threads, and threads whose places are taken, share: they count under a monitor, and as
 * exactly. Cells of a thread that ends are added to those that all share, and are the next one's.
 *
 * <p>Everything here may be reached from any method of the program, the JDK's too: no call of code that could itself be instrumented,
 * and no allocation but of arrays, when a thread comes to a number for the first time.
 */
final class JaywalkCells {
    /** Places that threads own; a power of two. */
    static final int OWNED = 1024;

    /** Places that are shared; a power of two. */
    static final int SHARED = 64;

    /** How many places, one behind the other, a thread looks at. */
    private static final int NEIGHBOURS = 4;

    /** Longs of a number, and numbers of an array of them; powers of two. */
    static final int STRIDE = 16, PER_PAGE = 16;

    /** Arrays that there may be, 2 KB each: 32 MB. */
    private static final int PAGES_LIMIT = 16384;

    /** Beside these, of carriers: 9 MB. */
    private static final int CARRIED_PAGES_LIMIT = 4096;

    /**
     * Behind all numbers of a carrier's array: which virtual threads came to each. 0: none; the only one (JaywalkLocks.hash), or SEVERAL.
     */
    static final int SEEN = STRIDE * PER_PAGE;
    static final int SEVERAL = -1;

    private static final long[][] NO_PAGES = {};
    private static final String[][] NO_NAMES = {};

    /** Arrays that there are; under the monitor of this class. */
    private static int pageCount;

    /** Whether there may be no more: looked at without the monitor, since a thread that finds no array looks at each of its counts. */
    private static boolean isFull;

    /** Whose they are. Only that thread sets it to itself, and back. */
    Thread owner;

    /** Of the owner, while no hold of its is timed; else NONE. One look says that the cells are the thread's, and that there is no more to do than to count. */
    long ready = JaywalkNumber.NONE;

    /** Of the owner; NONE: it has none, or is a carrier. */
    private long number = JaywalkNumber.NONE;

    /** By number / PER_PAGE; null, or beyond the end: nothing was counted. */
    long[][] pages = NO_PAGES;

    /** For whoever counts: what its owner has begun and not ended. */
    JaywalkHolds holds;

    /** The hold that began then is to be given up; 0: none. Written by the agent, and by the owner, who looks at it where it does more than count. */
    long dropNs;

    /** Counts that found no array. */
    long lost;

    /** The owner has ended, and its counts are not taken from here yet: nobody else may have them. */
    boolean isLeft;

    /** A carrier's, for the virtual threads that it runs: the number of the claim on them; -1: they are no carrier's. */
    private final int claim;

    /** A carrier's: names of virtual threads that were the first at a number, where they have one; as pages. */
    private String[][] names = NO_NAMES;

    /** Keeps what other threads write off the line of the fields above. */
    long padding0, padding1, padding2, padding3, padding4, padding5, padding6, padding7;

    JaywalkCells() {
        this(-1);
    }

    JaywalkCells(int claim) {
        this.claim = claim;
    }

    static JaywalkCells[] places(int count) {
        final JaywalkCells[] places = new JaywalkCells[count];

        for (int i = 0; i < count; i++) {
            places[i] = new JaywalkCells();
        }
        return places;
    }

    /** The array of a number; null: nothing was counted there. Owner, or with the monitor of these cells. */
    long[] page(int number) {
        final long[][] pages = this.pages;
        final int at = number / PER_PAGE;

        return at < pages.length ? pages[at] : null;
    }

    /** As page, and makes it where it is not there; null: there is no memory for it. */
    long[] needPage(int number) {
        final int at = number / PER_PAGE;
        final long[] page = page(number);

        if (page != null || (claim >= 0 ? !JaywalkClaims.isGranted(CARRIED_PAGES_LIMIT) : isFull || !isPageLeft())) {
            return page;
        }
        try {
            final long[] made = new long[claim >= 0 ? SEEN + PER_PAGE : SEEN];

            if (at >= pages.length) {
                final long[][] more = new long[at + at / 4 + 8][];

                System.arraycopy(pages, 0, more, 0, pages.length);
                pages = more;
            }
            pages[at] = made;
            return made;
        } catch (OutOfMemoryError e) {
            return null;
        }
    }

    private static synchronized boolean isPageLeft() {
        if (pageCount >= PAGES_LIMIT) {
            isFull = true;
            return false;
        }
        pageCount++;
        return true;
    }

    static synchronized void forgetPages() {
        pageCount = 0;
        isFull = false;
    }

    /** An array of theirs is gone. */
    void givePageBack() {
        if (claim >= 0) {
            JaywalkClaims.giveGrantBack();
        } else {
            takePageBack();
        }
    }

    private static synchronized void takePageBack() {
        pageCount--;
        isFull = false;
    }

    /** A carrier's: the virtual thread is the first that comes to that number, by its hash; others are noted, too. The array is there. */
    boolean isNews(int number, int hash) {
        final long[] page = page(number);
        final int at = SEEN + number % PER_PAGE;
        final boolean isFirst = page[at] == 0;

        if (page[at] != hash) {
            page[at] = isFirst ? hash : SEVERAL;
        }
        return isFirst;
    }

    boolean isOfCarrier() {
        return claim >= 0;
    }

    /** Of a number, by its array and place there; 0: no virtual thread came there. */
    int seen(int at, int place) {
        return claim >= 0 && pages[at] != null ? (int) pages[at][SEEN + place] : 0;
    }

    void forgetSeen(int at, int place) {
        if (claim >= 0) {
            pages[at][SEEN + place] = 0;
            if (at < names.length && names[at] != null) {
                names[at][place] = null;
            }
        }
    }

    String name(int at, int place) {
        final String[][] all = names;

        return at < all.length && all[at] != null && all[at][place] != null ? all[at][place] : "";
    }

    /** Of the first at that number. */
    void keepName(int number, String name) {
        final int at = number / PER_PAGE;

        try {
            if (at >= names.length) {
                final String[][] more = new String[at + at / 4 + 8][];

                System.arraycopy(names, 0, more, 0, names.length);
                names = more;
            }
            if (names[at] == null) {
                names[at] = new String[PER_PAGE];
            }
            names[at][number % PER_PAGE] = name;
        } catch (OutOfMemoryError e) {
            // it has none
        }
    }

    /** These have no array there: they are given that one. False: they have one already. */
    boolean isGiven(int at, long[] page) {
        if (at < pages.length && pages[at] != null) {
            return false;
        }
        if (at >= pages.length) {
            final long[][] more = new long[at + at / 4 + 8][];

            System.arraycopy(pages, 0, more, 0, pages.length);
            pages = more;
        }
        pages[at] = page;
        return true;
    }

    /** The cells of a thread; null: it owns none. Not for virtual threads. */
    static JaywalkCells find(JaywalkCells[] owned, Thread thread) {
        final long number = JaywalkNumber.of(thread);

        for (int i = 0; i < NEIGHBOURS; i++) {
            final JaywalkCells cells = owned[JaywalkNumber.place(number, i) & (OWNED - 1)];

            if (cells.owner == thread) {
                return cells;
            }
        }
        return null;
    }

    /** As find, and takes some where there are any; null: there are none, or it is a virtual thread. */
    static JaywalkCells take(JaywalkCells[] owned, Thread thread) {
        final JaywalkCells found = find(owned, thread);
        final Class<?> virtualThread = JaywalkSlot.virtualThread;

        if (found != null || virtualThread != null && virtualThread.isInstance(thread)) {
            return found;
        }

        final long number = JaywalkNumber.of(thread);
        for (int i = 0; number > 0 && i < NEIGHBOURS; i++) { // one that is just being made has none yet
            final JaywalkCells cells = owned[JaywalkNumber.place(number, i) & (OWNED - 1)];

            if (cells.owner == null && cells.isTaken(thread, number)) {
                return cells;
            }
        }
        return null;
    }

    private synchronized boolean isTaken(Thread thread, long number) {
        if (owner != null || this == JaywalkLocks.NOBODY) {
            return false;
        }
        this.number = number;
        owner = thread;
        return true;
    }

    /** The owner, behind what may have ended a hold. */
    void makeReady() {
        if (holds == null || holds.count == 0) {
            ready = number;
        }
    }

    /** Somebody else may have them. */
    synchronized void giveBack() {
        pages = NO_PAGES;
        names = NO_NAMES;
        holds = null;
        dropNs = 0;
        lost = 0;
        isLeft = false;
        ready = number = JaywalkNumber.NONE;
        owner = null;
        if (claim >= 0) {
            JaywalkVirtualLocks.now.giveBack(claim);
        }
    }
}
