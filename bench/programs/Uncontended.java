import java.util.concurrent.locks.ReentrantLock;

/**
 * Takes locks that nobody else wants, one after the other and a few within one another, and next to nothing else: monitors and those of
 * java.util.concurrent.
 *
 *     java Uncontended UNITS
 */
final class Uncontended {
    private static final int LOCKS = 64, TIMES = 20_000;

    private static final Object[] MONITORS = new Object[LOCKS];
    private static final ReentrantLock[] LATCHES = new ReentrantLock[LOCKS];
    private static long sum;

    private Uncontended() {
    }

    public static void main(String[] args) throws Exception {
        prepare();
        Fixed.measure(Uncontended::units, Integer.parseInt(args[0]));
    }

    static void prepare() {
        for (int i = 0; i < LOCKS; i++) {
            MONITORS[i] = new Object();
            LATCHES[i] = new ReentrantLock();
        }
    }

    static long units(int first, int count) {
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < TIMES; j++) {
                enter(MONITORS[j % LOCKS], MONITORS[(j + 1) % LOCKS], first + i + j);
                latch(LATCHES[j % LOCKS], first + i - j);
            }
        }
        return sum;
    }

    private static void enter(Object outer, Object inner, int number) {
        synchronized (outer) {
            sum = sum * 31 + number;
            synchronized (inner) {
                sum += number >>> 3;
            }
        }
    }

    private static void latch(ReentrantLock lock, int number) {
        lock.lock();
        try {
            sum = sum * 31 + number;
        } finally {
            lock.unlock();
        }
    }
}
