package java.lang;

/** Locks that a thread has, and whose time is taken: the innermost last. */
final class JaywalkHolds {
    private static final int DEPTH = 32;

    int count;
    private final int[] methods = new int[DEPTH];
    private final int[] sites = new int[DEPTH];

    /** Locks of the same method that it has taken further in, and whose time is not taken. */
    private final int[] within = new int[DEPTH];
    private final long[] begunNs = new long[DEPTH];
    private final long[] weights = new long[DEPTH];

    /** Where the agent has looked last. */
    private int looked;

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
