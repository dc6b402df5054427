package java.lang;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The census of locks: the agent puts calls of {@link #enter} behind each taking of a monitor, and of {@link #exit} behind each giving
 * back. They are told the place alone, never the object, so that a lock that the compiler leaves out stays left out.
 *
 * <p>Every acquisition is counted. The time of a hold is taken of each until a thread has taken a thousand of a site within a second, and
 * then of one in 2, 4, 8 ..., with its weight: what it stands for.
 *
 * <p>Calls may be missing at an end, where there was no stack left for one: times are found by the method, counts do not ask for pairs.
 */
public final class JaywalkLocks {
    /**
     * The longs of a site in {@link JaywalkCells}. NEXT: the count at which the time is taken again. LAST: at which it was. TAKEN: how often in this window, and above
     * that how many acquisitions there are between two. SPREAD: bits of a double, the variance of HOLD_NS. Of those that share: LAST is who came first, NEXT whether
     * another one did.
     */
    static final int COUNT = 0, NEXT = 1, LAST = 2, WINDOW_NS = 3, TAKEN = 4, HOLDS = 5, WEIGHT = 6, HOLD_NS = 7, HOLD_MAX_NS = 8, SPREAD = 9;

    /** What a lock is; the agent has these, too, in WINDOW_NS of what it is told. */
    static final int KIND_REENTRANT = 1, KIND_READ = 2, KIND_WRITE = 3, KIND_OTHER = 4;
    private static final int KINDS_ROOM = 4096; // places, before there have to be more
    private static final Class<?>[] CLASSES = {null, java.util.concurrent.locks.ReentrantLock.class,
        java.util.concurrent.locks.ReentrantReadWriteLock.ReadLock.class, java.util.concurrent.locks.ReentrantReadWriteLock.WriteLock.class};

    /** Holds, by weight: from 1 us on, 10 us, ... 100 ms. The rest of WEIGHT is below 1 us. */
    static final int HOLD_BUCKETS = 10, HOLD_BUCKET_COUNT = 6;

    static final JaywalkCells NOBODY = new JaywalkCells();

    /** Threads and names of sites that were come to, of all threads; under the monitor of this class. */
    private static int[] threads = {};
    private static String[] names = {};

    /** What locks of java.util.concurrent were seen at calls that do not say of which class they are; who reads it late looks once more. */
    private static byte[] kinds = {};
    private static int[] sharers = {};
    static boolean isOn;
    private static long lost;
    private static long overflows;

    /** Cells of threads that end stay as they are until the agent has read them; under the monitor, too. */
    private static boolean isRead;

    /** Always the same array, which is a constant in compiled code; all of it nobody's while there is no census. */
    static final JaywalkCells[] owned = nobody();
    private static JaywalkCells[] shared = {};

    /** What `publish` makes them of. */
    private static JaywalkCells[] nextOwned, nextShared;
    private static JaywalkVirtualLocks nextVirtual;

    /** Of this census; each has another one. */
    private static int session;

    /** Counts of threads that have ended. */
    private static JaywalkCells ended = new JaywalkCells();

    private JaywalkLocks() {
    }

    private static JaywalkCells[] nobody() {
        final JaywalkCells[] places = new JaywalkCells[JaywalkCells.OWNED];

        for (int i = 0; i < places.length; i++) {
            places[i] = NOBODY;
        }
        return places;
    }

    // ---- places ----

    /**
     * A lock was taken, at that site, of a method that is named by its first site. This and {@link #exit} are compiled into whatever takes locks, what they call
     * for more is not: where it was, they were too large themselves at times, and were called.
     */
    @ForceInline
    public static void enter(int site, int method) {
        final Thread thread = Thread.currentThread();
        final long own = JaywalkNumber.of(thread);
        final JaywalkCells cells = owned[(int) own & (JaywalkCells.OWNED - 1)];

        if (cells.ready == own) {
            final long[][] pages = cells.pages;
            final int number = site / JaywalkCells.PER_PAGE;

            if (number < pages.length) {
                final long[] page = pages[number];

                if (page != null) {
                    final int at = site % JaywalkCells.PER_PAGE * JaywalkCells.STRIDE;
                    final long count = page[at + COUNT];

                    if (count < page[at + NEXT]) {
                        page[at + COUNT] = count + 1;
                        return;
                    }
                }
            }
        }
        enterSlowly(site, method, thread);
    }

    /** A lock was given back. */
    @ForceInline
    public static void exit(int method) {
        final Thread thread = Thread.currentThread();
        final long number = JaywalkNumber.of(thread);

        if (owned[(int) number & (JaywalkCells.OWNED - 1)].ready != number) {
            exitSlowly(thread, number, method);
        }
    }

    /**
     * A lock of java.util.concurrent was taken, or was not; `method` below 0: nothing tells of its end. Called once before, with false, so that what is
     * called behind has the stack that it needs: nothing is thrown where a lock was taken. Then `lock` may say what it is.
     */
    @ForceInline
    public static boolean tried(Object lock, boolean isTaken, int site, int method) {
        if (isTaken) {
            /* Here, and not further in: what a call throws for want of stack, its caller is thrown. */
            try {
                enter(site, method);
            } catch (StackOverflowError e) {
                overflows++; // of several threads at once one may be left out
            }
        } else if (lock != null) {
            final byte[] all = kinds;

            if (site >= all.length || all[site] != KIND_OTHER && CLASSES[all[site]] != lock.getClass()) {
                noteKind(site, lock.getClass());
            }
        }
        return isTaken;
    }

    /** As tried; a stamp of 0 says that it was not. */
    @ForceInline
    public static long stamped(long stamp, int site, int method) {
        if (stamp != 0) {
            try {
                enter(site, method);
            } catch (StackOverflowError e) {
                overflows++;
            }
        }
        return stamp;
    }

    /** Two at once may leave out one of both, who comes again. */
    @DontInline
    private static void noteKind(int site, Class<?> lock) {
        int kind = KIND_OTHER;

        if (!isOn || site >= kinds.length && !isRoomMade(site)) {
            return;
        }
        final byte[] all = kinds;

        for (int i = 1; i < CLASSES.length; i++) {
            kind = CLASSES[i] == lock ? i : kind;
        }
        if (site < all.length) { // a census may have begun
            all[site] = (byte) (all[site] == 0 || all[site] == kind ? kind : KIND_OTHER);
        }
    }

    private static synchronized boolean isRoomMade(int site) {
        try {
            if (site >= kinds.length) {
                final byte[] more = new byte[site + site / 4 + 64];

                System.arraycopy(kinds, 0, more, 0, kinds.length);
                kinds = more;
            }
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    @DontInline
    private static void enterSlowly(int site, int method, Thread thread) {
        final Thread carrier = JaywalkCarrier.current();

        if (carrier != thread) {
            JaywalkVirtualLocks.enter(site, method, thread, carrier);
            return;
        }
        if (!isOn) {
            return;
        }
        final JaywalkCells cells = JaywalkCells.take(owned, thread);

        if (cells == null) {
            enterShared(site, thread);
            return;
        }
        final long[] page = cells.needPage(site);

        if (page == null) {
            cells.lost++;
            return;
        }
        if (cells.dropNs != 0) {
            drop(cells);
        }
        cells.makeReady();
        final int at = site % JaywalkCells.PER_PAGE * JaywalkCells.STRIDE;
        final long count = page[at + COUNT];

        page[at + COUNT] = count + 1;
        if (count == 0) {
            come(site, thread, false);
        }
        JaywalkHolds.time(cells, page, site, method);
    }

    private static void drop(JaywalkCells cells) {
        if (cells.holds != null && cells.holds.drop(cells.dropNs)) {
            cells.lost++;
        }
        cells.dropNs = 0;
    }

    @DontInline
    private static void exitSlowly(Thread thread, long number, int method) {
        final JaywalkCells first = owned[(int) number & (JaywalkCells.OWNED - 1)];

        if (first.owner == thread) {
            exit(first, method);
        } else if (JaywalkCarrier.current() != thread) {
            JaywalkVirtualLocks.exit(thread, method);
        } else {
            exit(JaywalkCells.find(owned, thread), method);
        }
    }

    private static void exit(JaywalkCells cells, int method) {
        final JaywalkHolds holds = cells == null ? null : cells.holds;
        final int place = holds == null || holds.count == 0 ? -1 : holds.end(method);

        if (place >= 0) {
            exit(cells, holds, place);
        }
        if (cells != null) {
            cells.makeReady(); // where there is no stack for it, the next one does it
        }
    }

    private static void exit(JaywalkCells cells, JaywalkHolds holds, int place) {
        final long heldNs = System.nanoTime() - holds.begunNs(place);
        final long weight = holds.weight(place);
        final int site = holds.site(place);
        final long[] page = cells.page(site);

        if (page != null) {
            held(page, site % JaywalkCells.PER_PAGE * JaywalkCells.STRIDE, heldNs, weight);
        }
    }

    /** A hold is over that stands for so many. */
    static void held(long[] page, int at, long heldNs, long weight) {
        final int bucket = bucket(heldNs);

        if (weight > 1) {
            page[at + SPREAD] = added(page[at + SPREAD], spread(page, at, heldNs, weight));
        }
        page[at + HOLDS]++;
        page[at + WEIGHT] += weight;
        page[at + HOLD_NS] += heldNs * weight;
        if (heldNs > page[at + HOLD_MAX_NS]) {
            page[at + HOLD_MAX_NS] = heldNs;
        }
        if (bucket >= 0) {
            page[at + HOLD_BUCKETS + bucket] += weight;
        }
    }

    /**
     * What it adds to the variance of the sum: it is told for all since the last one, of which weight - 1 were not seen. Had all of these been as long as those before at
     * the mean, the sum would be right whatever that is; so what counts is how far this one is from there.
     */
    private static double spread(long[] page, int at, long heldNs, long weight) {
        final long meanNs = page[at + WEIGHT] == 0 ? 0 : page[at + HOLD_NS] / page[at + WEIGHT];
        final double off = heldNs - meanNs;

        return (double) weight * (weight - 1) * off * off;
    }

    private static long added(long bits, double more) {
        return Double.doubleToRawLongBits(Double.longBitsToDouble(bits) + more);
    }

    /** -1: below the first one. */
    private static int bucket(long heldNs) {
        int bucket = -1;

        for (long least = 1000; heldNs >= least && bucket < HOLD_BUCKET_COUNT - 1; least *= 10) {
            bucket++;
        }
        return bucket;
    }

    /** Who has no cells, nor a carrier that has some: counted, and no times are taken. */
    static void enterShared(int site, Thread thread) {
        final JaywalkCells[] all = shared;

        if (all.length == 0) {
            return;
        }
        final JaywalkCells cells = all[(int) JaywalkNumber.of(thread) & (JaywalkCells.SHARED - 1)];
        boolean isNews = false;
        long count = 0;

        synchronized (cells) {
            final long[] page = cells.needPage(site);

            if (page != null) {
                final int at = site % JaywalkCells.PER_PAGE * JaywalkCells.STRIDE;
                final int hash = hash(thread);

                /* The first of these cells, and the first that is another one: no more is asked for. */
                count = ++page[at + COUNT];
                if (count == 1) {
                    page[at + LAST] = hash;
                    isNews = true;
                } else if (page[at + NEXT] == 0 && page[at + LAST] != hash) {
                    page[at + NEXT] = 1;
                    isNews = true;
                }
            } else {
                cells.lost++;
            }
        }
        if (isNews) {
            come(site, thread, true);
        }
        if (count > 0) {
            JaywalkCallers.came(site, thread, count, 1);
        }
    }

    /** A thread is at a site for the first time; or, where it shares its cells, perhaps again. */
    private static void come(int site, Thread thread, boolean isSharer) {
        noteThread(site, hash(thread), thread.getName(), isSharer);
    }

    /** One thread's among those that share cells: not 0, and not SEVERAL. Others have another one, until a thousand million have been there. */
    static int hash(Thread thread) {
        final int number = (int) JaywalkNumber.of(thread);

        return (number << 1 | 1) == JaywalkCells.SEVERAL ? 1 : number << 1 | 1;
    }

    /** Which virtual threads a carrier's cells have seen is noted where all others are: so often as it is asked for. */
    private static void noteVirtual(JaywalkCells cells) {
        final long[][] pages = cells.pages;

        for (int i = 0; cells.isOfCarrier() && i < pages.length; i++) {
            for (int j = 0; j < JaywalkCells.PER_PAGE; j++) {
                final int seen = cells.seen(i, j);

                if (seen != 0) {
                    noteThread(i * JaywalkCells.PER_PAGE + j, seen, cells.name(i, j), true);
                }
            }
        }
    }

    private static synchronized void noteThread(int site, int hash, String name, boolean isSharer) {
        if (!isOn) {
            return;
        }
        try {
            if (site >= threads.length) {
                final int room = site + site / 4 + 64;
                final int[] moreThreads = new int[room];
                final int[] moreSharers = new int[room];
                final String[] moreNames = new String[room];

                System.arraycopy(threads, 0, moreThreads, 0, threads.length);
                System.arraycopy(sharers, 0, moreSharers, 0, sharers.length);
                System.arraycopy(names, 0, moreNames, 0, names.length);
                threads = moreThreads;
                sharers = moreSharers;
                names = moreNames;
            }
            if (names[site] == null) {
                names[site] = name;
            }
        } catch (OutOfMemoryError e) {
            lost++;
            return;
        }
        if (!isSharer) {
            threads[site]++;
            return;
        }
        /* Of those that share: none, one, or more than one, which its sign says. */
        if (sharers[site] == 0) {
            sharers[site] = hash;
        } else if (sharers[site] != hash) {
            sharers[site] = -1;
        }
    }

    // ---- the agent ----

    static synchronized void begin() {
        JaywalkCells.forgetPages();
        ended = new JaywalkCells();
        threads = new int[0];
        sharers = new int[0];
        names = new String[0];
        kinds = new byte[KINDS_ROOM];
        lost = overflows = 0;
        added(0, 0); // no class is initialized where a lock is given back
        nextShared = JaywalkCells.places(JaywalkCells.SHARED);
        nextOwned = JaywalkCells.places(JaywalkCells.OWNED);
        nextVirtual = JaywalkVirtualLocks.begin(++session);
    }

    /** Behind begin, and a fence of all threads: who sees the places, which are read without a lock, sees what is in them. */
    static synchronized void publish() {
        shared = nextShared;
        System.arraycopy(nextOwned, 0, owned, 0, JaywalkCells.OWNED);
        JaywalkVirtualLocks.now = nextVirtual;
        nextShared = nextOwned = null;
        nextVirtual = null;
        isOn = true;
    }

    /** Places that are called still find nothing to do. */
    static synchronized void end() {
        isOn = false;
        for (int i = 0; i < owned.length; i++) {
            owned[i] = NOBODY;
        }
        shared = new JaywalkCells[0];
        JaywalkVirtualLocks.now = JaywalkVirtualLocks.NONE;
        ended = new JaywalkCells();
        threads = new int[0];
        sharers = new int[0];
        names = new String[0];
        kinds = new byte[0];
        JaywalkCells.forgetPages();
    }

    /** The calling thread ends. */
    static void ended(Thread thread) {
        if (isOn) {
            ended(JaywalkCells.find(owned, thread));
            ended(JaywalkVirtualLocks.now.find(thread));
        }
    }

    private static void ended(JaywalkCells cells) {
        if (cells == null) {
            return;
        }
        synchronized (JaywalkLocks.class) {
            if (isRead) {
                cells.isLeft = true;
            } else {
                takeBack(cells);
            }
        }
    }

    /** Counts of a thread that has ended are added to those of all that have, in its own arrays where those have none yet. The monitor is held. */
    private static void takeBack(JaywalkCells cells) {
        final long[][] pages = cells.pages;

        noteVirtual(cells);
        for (int i = 0; i < pages.length; i++) {
            if (pages[i] == null) {
                continue;
            }
            if (!ended.isGiven(i, pages[i])) {
                for (int j = 0; j < JaywalkCells.PER_PAGE; j++) {
                    add(pages[i], j * JaywalkCells.STRIDE, ended.pages[i], j * JaywalkCells.STRIDE);
                }
                cells.givePageBack();
            }
            pages[i] = null; // so that nothing is added twice if there is no memory for the next one
        }
        lost += cells.lost;
        cells.giveBack();
    }

    private static void add(long[] from, int at, long[] to, int where) {
        for (int i = 0; i < JaywalkCells.STRIDE; i++) {
            if (i == HOLD_MAX_NS) {
                to[where + i] = from[at + i] > to[where + i] ? from[at + i] : to[where + i];
            } else if (i == SPREAD) {
                to[where + i] = added(to[where + i], Double.longBitsToDouble(from[at + i]));
            } else {
                to[where + i] += from[at + i];
            }
        }
    }

    private static void addAll(JaywalkCells cells, long[] to, int sites) {
        final long[][] pages = cells.pages;

        for (int i = 0; i < pages.length && i * JaywalkCells.PER_PAGE < sites; i++) {
            final long[] page = pages[i];

            for (int j = 0; page != null && j < JaywalkCells.PER_PAGE && i * JaywalkCells.PER_PAGE + j < sites; j++) {
                add(page, j * JaywalkCells.STRIDE, to, (i * JaywalkCells.PER_PAGE + j) * JaywalkCells.STRIDE);
            }
        }
    }

    /**
     * By site, {@link JaywalkCells#STRIDE} numbers each: COUNT, HOLDS to HOLD_BUCKETS; in NEXT threads, in LAST those that share: 0 to 2, in WINDOW_NS the kind. Threads that
     * come to a place, or end, wait for no more than a look at who came where.
     */
    static long[] figures(int sites) {
        final long[] figures = new long[sites * JaywalkCells.STRIDE];

        holdEnded(true);
        try {
            for (JaywalkCells cells : owned) {
                addAll(cells, figures, sites);
            }
            for (JaywalkCells cells : shared) {
                synchronized (cells) {
                    addAll(cells, figures, sites);
                }
            }
            for (JaywalkCells cells : JaywalkVirtualLocks.now.carried) {
                noteVirtual(cells);
                addAll(cells, figures, sites);
            }
            addAll(ended, figures, sites);
        } finally {
            holdEnded(false);
        }
        fillThreads(figures, sites);
        return figures;
    }

    /**
     * What was counted at these sites is forgotten: their classes are unloaded, and no thread is in code of theirs. All acquisitions of it.
     */
    static synchronized long forget(int[] sites) {
        int most = 0;
        long sum = 0;

        for (int site : sites) {
            most = site > most ? site : most;
        }
        final boolean[] isForgotten = new boolean[most + 1];
        for (int site : sites) {
            isForgotten[site] = true;
            JaywalkCallers.forget(site);
            if (site < threads.length) {
                threads[site] = sharers[site] = 0;
                names[site] = null;
            }
            if (site < kinds.length) {
                kinds[site] = 0;
            }
        }
        for (JaywalkCells cells : owned) {
            sum += forget(cells, isForgotten);
        }
        for (JaywalkCells cells : shared) {
            sum += forget(cells, isForgotten);
        }
        for (JaywalkCells cells : JaywalkVirtualLocks.now.carried) {
            sum += forget(cells, isForgotten);
        }
        return sum + forget(ended, isForgotten);
    }

    private static long forget(JaywalkCells cells, boolean[] isForgotten) {
        final long[][] pages = cells.pages;
        long sum = 0;

        for (int i = 0; i < pages.length && i * JaywalkCells.PER_PAGE < isForgotten.length; i++) {
            final long[] page = pages[i];

            for (int j = 0; page != null && j < JaywalkCells.PER_PAGE && i * JaywalkCells.PER_PAGE + j < isForgotten.length; j++) {
                if (!isForgotten[i * JaywalkCells.PER_PAGE + j]) {
                    continue;
                }
                sum += page[j * JaywalkCells.STRIDE + COUNT];
                for (int k = 0; k < JaywalkCells.STRIDE; k++) {
                    page[j * JaywalkCells.STRIDE + k] = 0;
                }
                cells.forgetSeen(i, j);
            }
        }
        return sum;
    }

    /**
     * Holds that are so old, one of each thread: the threads, and site and beginning of each. They are read while they are counted: what is said
     * may be over.
     */
    static Object[] oldHolds(long ageNs) {
        final long beforeNs = System.nanoTime() - ageNs;
        final Thread[] threads = new Thread[JaywalkCells.OWNED + JaywalkVirtualLocks.LOOKED];
        final long[] numbers = new long[2 * threads.length];
        int count = 0;

        for (JaywalkCells cells : owned) {
            final JaywalkHolds holds = cells.holds;
            final int place = holds == null || cells.dropNs != 0 ? -1 : holds.oldBefore(beforeNs);

            if (place >= 0) {
                threads[count] = cells.owner;
                numbers[2 * count] = holds.site(place);
                numbers[2 * count + 1] = holds.begunNs(place);
                count++;
            }
        }
        JaywalkVirtualLocks.now.fillOld(beforeNs, threads, numbers, count);
        return new Object[] {threads, numbers};
    }

    /** That hold of the thread has no end. */
    static void drop(Thread thread, long begunNs) {
        final JaywalkCells cells = thread == null ? null : JaywalkCells.find(owned, thread);

        if (cells != null) {
            cells.dropNs = begunNs;
        } else if (thread != null) {
            JaywalkVirtualLocks.now.drop(thread, begunNs);
        }
    }

    private static synchronized void holdEnded(boolean isHeld) {
        isRead = isHeld;
        for (int i = 0; !isHeld && i < owned.length; i++) {
            if (owned[i].isLeft) {
                takeBack(owned[i]);
            }
        }
        for (JaywalkCells cells : JaywalkVirtualLocks.now.carried) {
            if (!isHeld && cells.isLeft) {
                takeBack(cells);
            }
        }
    }

    private static synchronized void fillThreads(long[] figures, int sites) {
        for (int i = 0; i < sites; i++) {
            figures[i * JaywalkCells.STRIDE + NEXT] = i < threads.length ? threads[i] : 0;
            figures[i * JaywalkCells.STRIDE + WINDOW_NS] = i < kinds.length ? kinds[i] : 0;
            figures[i * JaywalkCells.STRIDE + LAST] = i >= sharers.length || sharers[i] == 0 ? 0 : sharers[i] == -1 ? 2 : 1;
        }
    }

    /** Name of the first thread of each site. */
    static synchronized String[] names(int sites) {
        final String[] all = new String[sites];

        System.arraycopy(names, 0, all, 0, names.length < sites ? names.length : sites);
        return all;
    }

    /** Acquisitions that were not counted, or whose times were given up. */
    static synchronized long lost() {
        long sum = lost + overflows + JaywalkVirtualLocks.now.lost;

        for (JaywalkCells cells : owned) {
            sum += cells.lost;
        }
        for (JaywalkCells cells : shared) {
            sum += cells.lost;
        }
        for (JaywalkCells cells : JaywalkVirtualLocks.now.carried) {
            sum += cells.lost;
        }
        return sum;
    }
}
