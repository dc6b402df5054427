package java.lang;

/**
 * Objects whose locks were taken, by place and identity hash: how often, and by which threads. There is room for so many: of those that a new one could stand
 * in place of the one that was taken least goes, and is added to what is known of all others of its place. So what is told of an object is what was counted since it came in, and
 * misses at the most what the others of its place have.
 *
 * <p>A word says which threads: numbers of the first and the second one, of 31 bits each, and whether there were more.
 */
final class JaywalkObjectTable {
    /** The longs of an object. KEY: place and hash, never 0; COUNT: 0, what was counted is forgotten. */
    static final int KEY = 0, COUNT = 1, THREADS = 2, ROW = 4;

    /** The longs of a place: objects that have no row (again, where they come back), how often they were taken, and how many of them by several threads. */
    static final int OTHERS = 0, OTHERS_COUNT = 1, OTHERS_SEVERAL = 2, PLACE = 3;

    /** Rows; a power of two. */
    static final int ROOM = 65536;

    /** How many, one behind the other, an object may stand in. */
    private static final int WINDOW = 64;

    private static final int HASH_BITS = 31;
    private static final long HASH = (1L << HASH_BITS) - 1, MORE = 1L << 2 * HASH_BITS;

    final long[] rows;

    /** By place. */
    long[] others;

    /** What could not even be added to those. */
    long lost;

    JaywalkObjectTable(int room) {
        this(new long[room * ROW], new long[0], 0);
    }

    private JaywalkObjectTable(long[] rows, long[] others, long lost) {
        this.rows = rows;
        this.others = others;
        this.lost = lost;
    }

    JaywalkObjectTable copy() {
        return new JaywalkObjectTable(rows.clone(), others.clone(), lost);
    }

    static long key(int site, int hash) {
        return (long) (site + 1) << HASH_BITS | hash;
    }

    private static int site(long key) {
        return (int) (key >>> HASH_BITS) - 1;
    }

    /** Where rows of so many longs are looked at from. */
    static int placeOf(long key, int longs) {
        return (int) (key * 0x9e3779b97f4a7c15L >>> 32) & longs - ROW;
    }

    // ---- threads ----

    /** A thread in that word: never 0. */
    static long who(long number) {
        return (number & HASH) == 0 ? HASH : number & HASH;
    }

    static long with(long threads, long who) {
        if (threads == 0) {
            return who;
        }
        if ((threads & HASH) == who || (threads >>> HASH_BITS & HASH) == who || threads >= MORE) {
            return threads;
        }
        return threads > HASH ? threads | MORE : threads | who << HASH_BITS;
    }

    private static long both(long threads, long more) {
        final long second = more >>> HASH_BITS & HASH;
        long sum = with(threads, more & HASH);

        sum = second == 0 ? sum : with(sum, second);
        return more >= MORE ? sum | MORE : sum;
    }

    // ---- rows ----

    /** One that was taken so often by these. */
    void add(long key, long count, long threads) {
        int at = placeOf(key, rows.length);
        int least = -1;

        for (int i = 0; i < WINDOW; i++) {
            if (rows[at + KEY] == key) {
                rows[at + COUNT] += count;
                rows[at + THREADS] = both(rows[at + THREADS], threads);
                return;
            }
            if (least < 0 || rows[at + COUNT] < rows[least + COUNT]) {
                least = at;
            }
            if (rows[at + KEY] == 0) {
                break;
            }
            at = at + ROW & rows.length - ROW;
        }
        if (rows[least + COUNT] > count) {
            addOther(key, count, threads);
            return;
        }
        if (rows[least + COUNT] != 0) {
            addOther(rows[least + KEY], rows[least + COUNT], rows[least + THREADS]);
        }
        rows[least + KEY] = key;
        rows[least + COUNT] = count;
        rows[least + THREADS] = threads;
    }

    /** All of these rows, which somebody may be writing: what is there at that moment. */
    void addAll(long[] from) {
        for (int at = 0; at < from.length; at += ROW) {
            if (from[at + KEY] != 0 && from[at + COUNT] != 0) {
                add(from[at + KEY], from[at + COUNT], from[at + THREADS]);
            }
        }
    }

    private void addOther(long key, long count, long threads) {
        final int at = site(key) * PLACE;

        try {
            if (at >= others.length) {
                final long[] more = new long[at + at / 4 / PLACE * PLACE + 64 * PLACE];

                System.arraycopy(others, 0, more, 0, others.length);
                others = more;
            }
        } catch (OutOfMemoryError e) {
            lost += count;
            return;
        }
        others[at + OTHERS]++;
        others[at + OTHERS_COUNT] += count;
        others[at + OTHERS_SEVERAL] += threads > HASH ? 1 : 0;
    }

    // ---- what is forgotten ----

    /** These places are others now. The keys stay, so that those behind them are found. */
    static void forget(long[] rows, boolean[] isForgotten) {
        for (int at = 0; at < rows.length; at += ROW) {
            final int site = site(rows[at + KEY]);

            if (site >= 0 && site < isForgotten.length && isForgotten[site]) {
                rows[at + COUNT] = 0;
                rows[at + THREADS] = 0;
            }
        }
    }

    void forget(boolean[] isForgotten) {
        forget(rows, isForgotten);
        for (int site = 0; site < isForgotten.length && site * PLACE < others.length; site++) {
            for (int i = 0; isForgotten[site] && i < PLACE; i++) {
                others[site * PLACE + i] = 0;
            }
        }
    }
}
