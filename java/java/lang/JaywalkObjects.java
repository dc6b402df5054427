package java.lang;

import jdk.internal.vm.annotation.DontInline;

/**
 * Which objects' locks are taken at places of the census, on request: the calls stand in classes that were written for it, beside those of {@link JaywalkLocks}.
 *
 * <p>An object is known by its identity hash, which keeps nothing alive. It is taken before a MONITORENTER, and before a call of java.util.concurrent; of a
 * synchronized method the lock is held by then.
 *
 * <p>A platform thread counts in rows of its own with plain stores, and a virtual one in those of its carrier, which it leaves where it waits alone. Rows grow, and where they may
 * not they are added to those of all, under the monitor of this class; threads that find none count there. What they waited for is behind all that they write: the carrier is asked for once more.
 */
public final class JaywalkObjects {
    private static final int KEY = JaywalkObjectTable.KEY, COUNT = JaywalkObjectTable.COUNT, THREADS = JaywalkObjectTable.THREADS, ROW = JaywalkObjectTable.ROW;

    /** Threads that have rows; a power of two. */
    private static final int OWNED = 1024;

    /** Rows of a thread: at first, how many times more where they grow, and at the most. Of all threads, 32 MB. */
    private static final int FIRST = 64, GROWTH = 4, MOST = 16384, ALL_MOST = 1 << 20;

    /** How many, one behind the other, an object may stand in. */
    private static final int WINDOW = 16;

    /** How often who has to wait asks again for rows of its carrier. */
    private static final int TRIES = 4;

    private static final Cells[] NOBODY = nobody();

    /** Never null; nobody's while nobody asks for objects. */
    static Cells[] owned = NOBODY;
    private static Cells[] nextOwned;

    /** What threads have given up, and those that have no rows count; under the monitor, as all below. */
    private static JaywalkObjectTable all;

    /** Rows that threads have been given beyond the first ones. */
    private static int granted;

    /** Acquisitions that were not counted, for want of memory or stack; of several threads at once one may be left out. */
    private static long lost;

    private JaywalkObjects() {
    }

    static final class Cells extends JaywalkUnshared {
        /** Set before there is an owner. */
        long[] rows;

        @Override
        void prepare() {
            if (rows == null) {
                rows = new long[FIRST * ROW];
            }
        }
    }

    private static Cells[] nobody() {
        final Cells[] places = new Cells[OWNED];
        final Cells one = new Cells();

        for (int i = 0; i < OWNED; i++) {
            places[i] = one;
        }
        return places;
    }

    // ---- places ----

    /** A monitor is about to be taken there, or has been taken by a synchronized method. */
    public static void entered(Object lock, int site) {
        if (lock != null) {
            count(System.identityHashCode(lock), site);
        }
    }

    /**
     * Before a call that takes a lock of java.util.concurrent: the lock, whose hash it says. Behind it: null, that hash, and whether the lock was taken, which is 0 where it was not. One method,
     * as {@link JaywalkLocks#tried} is: what is called behind has the stack that it needs, and nothing is thrown where a lock was taken.
     */
    public static int called(Object lock, int hash, int taken, int site) {
        if (lock != null) {
            return System.identityHashCode(lock);
        }
        if (taken != 0 && hash != 0) {
            try {
                count(hash, site);
            } catch (StackOverflowError e) {
                lost++;
            }
        }
        return hash;
    }

    private static void count(int hash, int site) {
        final Thread thread = Thread.currentThread();
        final long number = JaywalkNumber.of(thread);
        final long who = JaywalkObjectTable.who(number);
        final Cells cells = owned[(int) number & (OWNED - 1)];
        final long key = JaywalkObjectTable.key(site, hash);

        if (cells.owner != thread || !isCounted(cells.rows, key, who)) {
            countSlowly(key, who);
        }
    }

    /** False: there is no room. */
    private static boolean isCounted(long[] rows, long key, long who) {
        int at = JaywalkObjectTable.placeOf(key, rows.length);

        for (int i = 0; i < WINDOW; i++) {
            final long found = rows[at + KEY];

            if (found == key) {
                final long threads = rows[at + THREADS];

                rows[at + COUNT]++;
                if (threads != who) {
                    rows[at + THREADS] = JaywalkObjectTable.with(threads, who);
                }
                return true;
            }
            if (found == 0) {
                rows[at + THREADS] = who;
                rows[at + COUNT] = 1;
                rows[at + KEY] = key;
                return true;
            }
            at = at + ROW & rows.length - ROW;
        }
        return false;
    }

    @DontInline
    private static void countSlowly(long key, long who) {
        final Cells[] now = owned;

        if (now == NOBODY) {
            return;
        }
        try {
            for (int i = 0; i < TRIES; i++) {
                final Thread carrier = JaywalkCarrier.current();
                final Cells cells = isOwner(carrier) ? (Cells) JaywalkUnshared.ownedBy(carrier, now) : null;

                if (cells == null) {
                    break;
                }
                if (JaywalkCarrier.current() == carrier && isCounted(cells.rows, key, who)) {
                    return;
                }
                makeRoom(now, cells, carrier);
            }
            share(now, key, who);
        } catch (Throwable e) { // of memory or stack, which the program's own code did not lack
            lost++;
        }
    }

    /** A virtual thread that is its own carrier does not say when it ends, and one that is being made has no number yet. */
    private static boolean isOwner(Thread carrier) {
        final Class<?> virtualThread = JaywalkSlot.virtualThread;

        return JaywalkNumber.of(carrier) > 0 && (virtualThread == null || !virtualThread.isInstance(carrier));
    }

    private static synchronized void share(Cells[] of, long key, long who) {
        if (of == owned) {
            all.add(key, 1, who);
        }
    }

    /** Who waited for the monitor may be on another carrier: these rows are then left alone. */
    private static synchronized void makeRoom(Cells[] of, Cells cells, Thread carrier) {
        if (of == owned && cells.owner == carrier && JaywalkCarrier.current() == carrier && !isGrown(cells)) {
            giveUp(cells);
        }
    }

    private static boolean isGrown(Cells cells) {
        final long[] rows = cells.rows;
        final int more = rows.length / ROW * (GROWTH - 1);
        final long[] grown;

        if (rows.length >= MOST * ROW || granted + more > ALL_MOST) {
            return false;
        }
        try {
            grown = new long[rows.length * GROWTH];
        } catch (OutOfMemoryError e) {
            return false;
        }
        for (int at = 0; at < rows.length; at += ROW) {
            if (rows[at + COUNT] != 0 && !isMoved(rows, at, grown)) {
                return false;
            }
        }
        granted += more;
        cells.rows = grown;
        return true;
    }

    private static boolean isMoved(long[] from, int where, long[] to) {
        int at = JaywalkObjectTable.placeOf(from[where + KEY], to.length);

        for (int i = 0; i < WINDOW; i++) {
            if (to[at + KEY] == 0) {
                to[at + THREADS] = from[where + THREADS];
                to[at + COUNT] = from[where + COUNT];
                to[at + KEY] = from[where + KEY];
                return true;
            }
            at = at + ROW & to.length - ROW;
        }
        return false;
    }

    /** Its rows are added to those of all, and are empty. The monitor is held. */
    private static void giveUp(Cells cells) {
        final long[] rows = cells.rows;

        all.addAll(rows);
        for (int i = 0; i < rows.length; i++) {
            rows[i] = 0;
        }
    }

    /** The thread ends, on itself. */
    static void ended(Thread thread) {
        final Cells[] now = owned;
        final long number = JaywalkNumber.of(thread);

        for (int i = 0; i < JaywalkUnshared.NEIGHBOURS; i++) {
            final Cells cells = now[JaywalkNumber.place(number, i) & (OWNED - 1)];

            if (cells.owner == thread) {
                giveBack(now, cells);
            }
        }
    }

    private static synchronized void giveBack(Cells[] of, Cells cells) {
        if (of == owned) {
            giveUp(cells);
        }
        cells.owner = null;
    }

    // ---- the agent ----

    static synchronized void begin() {
        final Cells[] made = new Cells[OWNED];

        for (int i = 0; i < OWNED; i++) {
            made[i] = new Cells();
        }
        all = new JaywalkObjectTable(JaywalkObjectTable.ROOM);
        granted = 0;
        lost = 0;
        nextOwned = made;
    }

    /** Behind begin, and a fence of all threads: who sees the places, which are read without a lock, sees what is in them. */
    static synchronized void publish() {
        owned = nextOwned;
        nextOwned = null;
    }

    /** Places that are called still find nothing to do. */
    static synchronized void end() {
        owned = NOBODY;
        all = null;
    }

    /**
     * All rows, {@link JaywalkObjectTable#ROW} numbers each, and by place what is known of others. Who has to give up its rows, or ends, waits for that.
     */
    static synchronized long[][] figures() {
        final JaywalkObjectTable sum = all.copy();

        for (Cells cells : owned) {
            if (cells.rows != null) {
                sum.addAll(cells.rows);
            }
        }
        return new long[][] {sum.rows, sum.others, {lost + sum.lost}};
    }

    /** What was counted at these sites is forgotten: their classes are unloaded, and no thread is in code of theirs. */
    static synchronized void forget(int[] sites) {
        int most = 0;

        if (all == null) {
            return;
        }
        for (int site : sites) {
            most = site > most ? site : most;
        }
        final boolean[] isForgotten = new boolean[most + 1];
        for (int site : sites) {
            isForgotten[site] = true;
        }
        for (Cells cells : owned) {
            if (cells.rows != null) {
                JaywalkObjectTable.forget(cells.rows, isForgotten);
            }
        }
        all.forget(isForgotten);
    }
}
