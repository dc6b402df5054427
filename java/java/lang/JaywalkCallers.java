package java.lang;

/**
 * Which methods of the program call places of the JDK that take locks: of acquisitions there a sample is told, on the thread that has just taken the lock, with
 * what it stands for, by an object of a class of the agent's, which walks the stack.
 *
 * <p>The first ones of a place are all told, up to two hundred in a second; then one in 2, 4, 8 ..., chosen by a hash, so that no order in which callers take turns
 * says which; and all places together tell no more than one or two thousand a second. Rates are kept with plain stores of all threads: who loses one tells a little
 * more, or less, and what a sample stands for is reckoned from the rate that it was chosen by.
 */
public abstract class JaywalkCallers {
    /** Of a place, in a word: 0, it was not asked for; 1, it is not wanted; else WANTED, the shift of the rate, what was told in this window, and the window. */
    private static final long UNWANTED = 1, WANTED = 2;
    private static final int SHIFT_AT = 2, SHIFT_MOST = 31, TOLD_AT = 8, TOLD_BITS = 16, WINDOW_AT = 32;

    /** In a window of about a second: told of a place before its rate is halved, and below which it is doubled; and of all of them. */
    private static final int ROOM = 4096; // of places, before there have to be more

    private static final int MOST = 200, LEAST = 50, ALL_MOST = 1000, ALL_LEAST = 250;

    /** Set once, before there are places. */
    private static JaywalkCallers teller;

    private static boolean isOn;
    private static long[] places = {};

    /** As a place's: of all. */
    private static long all = WANTED;

    /** Calls that were not told, for want of stack. */
    private static int dropped;

    protected JaywalkCallers() {
    }

    /** Before the first place; by the agent. */
    static void open(JaywalkCallers to) {
        teller = to;
    }

    /** By the agent; below 0: no more is told. */
    static synchronized void begin(int attach) {
        isOn = attach >= 0;
        places = new long[isOn ? ROOM : 0];
        all = WANTED;
    }

    static int dropped() {
        return dropped;
    }

    /** Its number is another place's now. */
    static void forget(int site) {
        final long[] now = places;

        if (site < now.length) {
            now[site] = 0;
        }
    }

    /** Whether callers of a place are to be told. */
    static boolean isWanted(int site) {
        return wordOf(site) != UNWANTED;
    }

    private static long wordOf(int site) {
        final long[] now = places;
        final long word = site < now.length ? now[site] : 0;

        return word != 0 ? word : ask(site);
    }

    private static long ask(int site) {
        if (teller == null || !isOn) {
            return UNWANTED;
        }
        try {
            final long word = teller.isOfJdk(site) ? WANTED : UNWANTED;

            final long[] now = places;

            if (site < now.length) {
                now[site] = word; // where somebody makes more of them at this moment, it is asked for once more
            } else {
                note(site, word);
            }
            return word;
        } catch (Throwable e) { // StackOverflowError, OutOfMemoryError: it is asked again
            return UNWANTED;
        }
    }

    private static synchronized void note(int site, long word) {
        if (site >= places.length) {
            final long[] more = new long[site + site / 4 + 64];

            System.arraycopy(places, 0, more, 0, places.length);
            places = more;
        }
        places[site] = word;
    }

    /** A lock was taken there: an acquisition that stands for so many. The count is one that no two calls of a thread have in common. */
    static void came(int site, Thread thread, long count, long weight) {
        final long word = wordOf(site);

        if (word == UNWANTED) {
            return;
        }
        final int shift = shiftOf(word) + shiftOf(all);

        if ((mix(count * 0x9e3779b97f4a7c15L ^ (long) System.identityHashCode(thread) << 20 ^ site) & (1L << shift) - 1) == 0) {
            tell(site, word, weight << shift);
        }
    }

    private static void tell(int site, long word, long weight) {
        try {
            final long window = System.nanoTime() >>> 30 & 0x7fffffff;
            final long[] now = places;

            all = told(all, window, ALL_MOST, ALL_LEAST);
            if (site < now.length) {
                now[site] = told(word, window, MOST, LEAST);
            }
            teller.tell(site, weight);
        } catch (Throwable e) { // StackOverflowError, which the program's own call did not have
            dropped++;
        }
    }

    private static int shiftOf(long word) {
        return (int) (word >>> SHIFT_AT) & SHIFT_MOST;
    }

    /** The word behind one more that is told. */
    private static long told(long word, long window, int most, int least) {
        int shift = shiftOf(word);
        int told = (int) (word >>> TOLD_AT) & (1 << TOLD_BITS) - 1;

        if (word >>> WINDOW_AT != window) {
            shift -= told < least && shift > 0 ? 1 : 0;
            told = 0;
        }
        if (++told > most) {
            shift += shift < SHIFT_MOST / 2 ? 1 : 0;
            told = 0;
        }
        return window << WINDOW_AT | (long) told << TOLD_AT | (long) shift << SHIFT_AT | WANTED;
    }

    /** All bits of it reach all others. */
    static long mix(long word) {
        word ^= word >>> 33;
        word *= 0xff51afd7ed558ccdL;
        word ^= word >>> 33;
        word *= 0xc4ceb9fe1a85ec53L;
        return word ^ word >>> 33;
    }

    /** Whether that place is in a class of the JDK. */
    protected abstract boolean isOfJdk(int site);

    /** An acquisition there, which stands for so many; the caller has its frames on the stack. */
    protected abstract void tell(int site, long weight);
}
