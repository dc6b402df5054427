package java.lang;

/** Locks that a thread has, and whose time is taken: the innermost last. And of which acquisitions it is taken. */
final class JaywalkHolds {
    private static final int DEPTH = 32;

    private static final int COUNT = JaywalkLocks.COUNT, NEXT = JaywalkLocks.NEXT, LAST = JaywalkLocks.LAST, WINDOW_NS = JaywalkLocks.WINDOW_NS,
        TAKEN = JaywalkLocks.TAKEN;
    private static final long WINDOW = 1000000000L, TAKEN_MOST = 1000, TAKEN_LEAST = 250;
    private static final long INTERVAL_MOST = 1 << 16;

    int count;
    private final int[] methods = new int[DEPTH];
    private final int[] sites = new int[DEPTH];

    /** Locks of the same method that it has taken further in, and whose time is not taken. */
    private final int[] within = new int[DEPTH];
    private final long[] begunNs = new long[DEPTH];
    private final long[] weights = new long[DEPTH];

    /** Where the agent has looked last. */
    private int looked;

    /** A lock was taken, and is counted: whether its time is taken, and when the next one's is; `method` below 0: nothing tells of its end. */
    static void time(JaywalkCells cells, long[] page, int site, int method) {
        final int at = site % JaywalkCells.PER_PAGE * JaywalkCells.STRIDE;
        final long count = page[at + COUNT];

        if (method < 0 ? !JaywalkCallers.isWanted(site) : cells.holds == null && !isMade(cells)) {
            page[at + NEXT] = method < 0 ? Long.MAX_VALUE : page[at + NEXT];
            return;
        }
        if (method >= 0 && cells.holds.isWithin(method)) {
            /* A part of that one's time: no other stands for it. */
            page[at + LAST]++;
            page[at + NEXT]++;
            JaywalkCallers.came(site, cells.owner, count, 1);
            return;
        }
        if (count <= page[at + NEXT]) {
            return;
        }
        final long nowNs = System.nanoTime();
        final long weight = count - page[at + LAST];

        page[at + LAST] = count;
        page[at + NEXT] = count + distance(page, at, nowNs) - 1;
        if (method >= 0) {
            cells.ready = JaywalkNumber.NONE;
            if (!cells.holds.begin(site, method, nowNs, weight)) {
                cells.lost++;
            }
        }
        JaywalkCallers.came(site, cells.owner, count, weight);
    }

    private static boolean isMade(JaywalkCells cells) {
        try {
            cells.holds = new JaywalkHolds();
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    /** Until the next one: by chance from 1 on, so that no turns that the program takes decide, and as far as it has to be at the mean. */
    static long distance(long[] page, int at, long nowNs) {
        long interval = 1 + (page[at + TAKEN] >>> 32);
        long taken = page[at + TAKEN] & 0xffffffffL;

        if (page[at + WINDOW_NS] == 0 || nowNs - page[at + WINDOW_NS] >= WINDOW) {
            if (taken < TAKEN_LEAST && interval > 1) {
                interval /= 2;
            }
            page[at + WINDOW_NS] = nowNs | 1;
            taken = 0;
        } else if (taken >= TAKEN_MOST) {
            interval = interval < INTERVAL_MOST ? interval * 2 : interval;
            page[at + WINDOW_NS] = nowNs | 1;
            taken = 0;
        }
        page[at + TAKEN] = interval - 1 << 32 | taken + 1;
        return interval == 1 ? 1 : 1 + (JaywalkCallers.mix(nowNs ^ page[at + COUNT] << 32) >>> 1) % (2 * interval - 1);
    }

    /** A lock of a method is taken. True: another one of that method is among these. */
    boolean isWithin(int method) {
        for (int i = count - 1; i >= 0; i--) {
            if (methods[i] == method) {
                within[i]++;
                return true;
            }
        }
        return false;
    }

    /** False: there are too many. What had no end, since no stack was left to tell of it, would stay for ever: all go. */
    boolean begin(int site, int method, long nowNs, long weight) {
        if (count == DEPTH) {
            count = 0;
            return false;
        }
        methods[count] = method;
        sites[count] = site;
        within[count] = 0;
        begunNs[count] = nowNs;
        weights[count] = weight;
        count++;
        return true;
    }

    /** A lock of that method is given back. Its place; -1: its time is not taken. Those further in have ended without being told. */
    int end(int method) {
        for (int i = count - 1; i >= 0; i--) {
            if (methods[i] == method) {
                if (within[i] > 0) {
                    within[i]--;
                    return -1;
                }
                count = i;
                return i;
            }
        }
        return -1;
    }

    /** What began then has not ended, and will not: the agent has not found its method on the stack. False: it has ended. */
    boolean drop(long begunNs) {
        for (int i = 0; i < count; i++) {
            if (this.begunNs[i] == begunNs) {
                count--;
                System.arraycopy(methods, i + 1, methods, i, count - i);
                System.arraycopy(sites, i + 1, sites, i, count - i);
                System.arraycopy(within, i + 1, within, i, count - i);
                System.arraycopy(this.begunNs, i + 1, this.begunNs, i, count - i);
                System.arraycopy(weights, i + 1, weights, i, count - i);
                return true;
            }
        }
        return false;
    }

    /** One that began before then; -1: none. Any thread: what it says may be over. The next call looks at another one, if there is one. */
    int oldBefore(long beforeNs) {
        final int most = count;

        for (int i = 0; i < most; i++) {
            final int place = (looked + i) % most;

            if (begunNs[place] < beforeNs) {
                looked = place + 1;
                return place;
            }
        }
        return -1;
    }

    int site(int place) {
        return sites[place];
    }

    long begunNs(int place) {
        return begunNs[place];
    }

    long weight(int place) {
        return weights[place];
    }
}
