package java.lang;

/**
 * Counters by number, of one platform thread, or of several threads that share them under their monitor. Numbers are given out by the
 * agent, from 0 on; {@link #STRIDE} longs belong to each. What the longs mean is the caller's business, but that they begin as zeros.
 *
 * <p>A thread finds the cells that it owns by its identity hash and compares the owner, and then counts with plain stores: nothing is
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

    private static final long[][] NO_PAGES = {};

    /** Arrays that there are; under the monitor of this class. */
    private static int pageCount;

    /** Whether there may be no more: looked at without the monitor, since a thread that finds no array looks at each of its counts. */
    private static boolean isFull;

    /** Whose they are. Only that thread sets it to itself, and back. */
    Thread owner;

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

    /** Keeps what other threads write off the line of the fields above. */
    long padding0, padding1, padding2, padding3, padding4, padding5, padding6, padding7;

    JaywalkCells() {
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

        if (page != null || isFull || !isPageLeft()) {
            return page;
        }
        try {
            final long[] made = new long[PER_PAGE * STRIDE];

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

    static synchronized void givePageBack() {
        pageCount--;
        isFull = false;
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
        final int hash = System.identityHashCode(thread);

        for (int i = 0; i < NEIGHBOURS; i++) {
            final JaywalkCells cells = owned[hash + i & (OWNED - 1)];

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

        final int hash = System.identityHashCode(thread);
        for (int i = 0; i < NEIGHBOURS; i++) {
            final JaywalkCells cells = owned[hash + i & (OWNED - 1)];

            if (cells.owner == null && cells.isTaken(thread)) {
                return cells;
            }
        }
        return null;
    }

    private synchronized boolean isTaken(Thread thread) {
        if (owner != null) {
            return false;
        }
        owner = thread;
        return true;
    }

    /** Somebody else may have them. */
    synchronized void giveBack() {
        pages = NO_PAGES;
        holds = null;
        dropNs = 0;
        lost = 0;
        isLeft = false;
        owner = null;
    }
}
