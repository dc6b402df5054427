import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/**
 * Stacks of the kinds that are hard to walk: those of Stubs, calls through tables, recursion to 2,000
 * frames, exceptions across frames, monitors, and garbage collection in threads that wait for it. Two threads
 * of each kind, named after it ("recursion-0"), one kind after the other.
 *
 *     java Walks SECONDS[:SAMPLES] KIND...        CPU seconds of each thread; samples that are taken meanwhile
 *
 * A kind goes on until it had both: on a busy machine a second has fewer samples than on another. How many there
 * are, and how many of them are bad, says the profiler, so its jar must be there, and it must sample these threads alone.
 */
final class Walks {
    private static final int THREADS = 2;

    static volatile long sink;

    private interface Kernel {
        void round(Random random);
    }

    private Walks() {
    }

    public static void main(String[] args) throws Exception {
        String[] least = args[0].split(":");
        long cpuNs = (long) (Double.parseDouble(least[0]) * 1e9);
        long samples = least.length == 1 ? 0 : Long.parseLong(least[1]);
        Profiler.awaitRows();
        for (int i = 1; i < args.length; i++) {
            run(args[i], cpuNs, samples);
        }
    }

    /** Whether the kind that runs has all its samples. */
    private static volatile boolean isSampled;

    private static void run(String kind, long cpuNs, long samples) throws Exception {
        Walked begun = new Walked();
        isSampled = samples == 0;
        BooleanSupplier goesOn = () -> !isSampled || Threads.cpuNs() < cpuNs;
        List<Thread> threads = new ArrayList<>();
        for (int n = 0; n < THREADS; n++) {
            Thread thread = new Thread(work(kind, goesOn, n), kind + "-" + n);
            threads.add(thread);
            thread.start();
        }
        while (!isSampled && threads.get(0).isAlive()) {
            Thread.sleep(150);
            isSampled = new Walked().isEnough(begun, samples);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Samples so far, and those of them whose walk failed or was cut, by the profiler's account. */
    private static final class Walked {
        private static final Pattern SAMPLES = Profiler.metric("jaywalk_session_samples\\{event=\"cpu\"\\}");
        private static final Pattern FAILED = Profiler.metric("jaywalk_walk_failed_total");
        private static final Pattern TRUNCATED = Profiler.metric("jaywalk_truncated_total");
        private static final long BAD_ONE_IN = 400; /* half of what is let pass */
        private static final long MOST = 20;

        private final long samples;
        private final long bad;

        Walked() throws Exception {
            String metrics = Profiler.execute("metrics");
            samples = Profiler.numberIn(metrics, SAMPLES);
            bad = Profiler.numberIn(metrics, FAILED) + Profiler.numberIn(metrics, TRUNCATED);
        }

        /**
         * A few bad ones among so many samples may be chance, so that more of them tell: until they are well within what is let
         * pass, or until there are so many samples that chance does not count.
         */
        boolean isEnough(Walked begun, long wanted) {
            long count = samples - begun.samples;
            return count >= wanted && ((bad - begun.bad) * BAD_ONE_IN <= count || count >= MOST * wanted);
        }
    }

    private static Runnable work(String kind, BooleanSupplier goesOn, long seed) throws Exception {
        if (kind.equals("stubs")) {
            return new Stubs(goesOn, seed);
        }
        Kernel kernel = kind.equals("upcalls") ? upcalls() : kernel(kind);
        Random random = new Random(seed);
        return () -> {
            while (goesOn.getAsBoolean()) {
                kernel.round(random);
            }
        };
    }

    private static Kernel upcalls() throws Exception {
        try {
            Upcalls upcalls = new Upcalls();
            return random -> upcalls.round();
        } catch (Throwable e) {
            throw new IllegalStateException("no calls from C to Java here", e);
        }
    }

    private static Kernel kernel(String kind) {
        switch (kind) {
        case "megamorphic":
            return Walks::megamorphic;
        case "recursion":
            return Walks::recursion;
        case "exceptions":
            return Walks::exceptions;
        case "monitors":
            return new Monitors()::round;
        case "garbage":
            return new Garbage()::round;
        default:
            throw new IllegalArgumentException(kind);
        }
    }

    // Calls through tables ------------------------------------------------------------------------

    private interface Shape {
        int area(int n);

        Shape next(int n);
    }

    private abstract static class Solid implements Shape {
        abstract int edges(int n);

        @Override
        public Shape next(int n) {
            return SHAPES[(n & 0xffff) % SHAPES.length];
        }
    }

    private static final class Cube extends Solid {
        @Override
        int edges(int n) {
            return 12 + n;
        }

        @Override
        public int area(int n) {
            return 6 * edges(n);
        }
    }

    private static final class Cone extends Solid {
        @Override
        int edges(int n) {
            return 1 ^ n;
        }

        @Override
        public int area(int n) {
            return n + edges(n + 1);
        }
    }

    private static final class Prism extends Solid {
        @Override
        int edges(int n) {
            return 9 * n;
        }

        @Override
        public int area(int n) {
            return edges(n) - n;
        }
    }

    private static final class Ring extends Solid {
        @Override
        int edges(int n) {
            return -n;
        }

        @Override
        public int area(int n) {
            return edges(3 * n);
        }
    }

    private static final Shape[] SHAPES = {new Cube(), new Cone(), new Prism(), new Ring()};

    private static void megamorphic(Random random) {
        int sum = random.nextInt();
        for (int i = 0; i < 20_000; i++) {
            Shape shape = SHAPES[i & 3];
            sum += shape.next(sum).area(i) + ((Solid) shape).edges(sum);
        }
        sink = sum;
    }

    // Recursion -----------------------------------------------------------------------------------

    /** With the frames below, 2,000 at the deepest. */
    private static final int DEEPEST = 1_990;

    private static void recursion(Random random) {
        int depth = random.nextInt(4) == 0 ? DEEPEST : random.nextInt(DEEPEST);
        sink = random.nextBoolean() ? down(depth, random.nextInt()) : even(depth, random.nextInt());
    }

    private static long down(int left, long value) {
        if (left == 0) {
            return bottom(value);
        }
        long below = down(left - 1, value * 31 + left);
        return below + (below >>> 7) % (left + 1);
    }

    private static long even(int left, long value) {
        return left == 0 ? bottom(value) : odd(left - 1, value + left) ^ value % left;
    }

    private static long odd(int left, long value) {
        return left == 0 ? bottom(value) : even(left - 1, value - left) + value % left;
    }

    private static long bottom(long value) {
        for (int i = 0; i < 10_000; i++) {
            value = value * 6364136223846793005L + (value >>> 9);
        }
        return value;
    }

    // Exceptions ----------------------------------------------------------------------------------

    private static final class Quick extends RuntimeException {
        private static final long serialVersionUID = 1;

        Quick() {
            super("quick", null, false, false);
        }
    }

    private static final Quick QUICK = new Quick();
    private static final Object[] NOTHING = {null, "text", new int[0]};

    private static void exceptions(Random random) {
        for (int i = 0; i < 50; i++) {
            int kind = random.nextInt(6);
            try {
                sink += thrower(random.nextInt(30), kind, i);
            } catch (RuntimeException e) {
                sink += e.getClass().hashCode();
            }
        }
    }

    /** Some levels tidy up, some throw on, some throw something else. */
    private static int thrower(int left, int kind, int n) {
        if (left == 0) {
            return fault(kind, n);
        }
        switch (left % 5) {
        case 0:
            try {
                return thrower(left - 1, kind, n) + 1;
            } finally {
                sink++;
            }
        case 1:
            try {
                return thrower(left - 1, kind, n) + 2;
            } catch (ArithmeticException e) {
                throw new IllegalStateException(e);
            }
        case 2:
            synchronized (NOTHING) {
                return thrower(left - 1, kind, n) + 3;
            }
        default:
            return thrower(left - 1, kind, n) + 4;
        }
    }

    private static int fault(int kind, int n) {
        switch (kind) {
        case 0:
            return n / (n & 0);
        case 1:
            return NOTHING[0].hashCode();
        case 2:
            return ((int[]) NOTHING[2])[n];
        case 3:
            return ((Integer) NOTHING[1]).intValue();
        case 4:
            throw QUICK;
        default:
            throw new IllegalArgumentException("fault");
        }
    }

    // Monitors ------------------------------------------------------------------------------------

    private static final class Monitors {
        private static final Object SHARED = new Object();
        private static final ReentrantLock LOCK = new ReentrantLock();

        private final Object own = new Object();
        private long count;

        void round(Random random) {
            for (int i = 0; i < 200; i++) {
                synchronized (SHARED) {
                    count += work(random.nextInt(50));
                }
                synchronized (own) {
                    nested(i & 7);
                }
                count(i);
                LOCK.lock();
                try {
                    count += work(20);
                } finally {
                    LOCK.unlock();
                }
            }
            synchronized (SHARED) {
                SHARED.notifyAll();
                try {
                    SHARED.wait(0, 100_000);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            sink = count;
        }

        private synchronized void count(int n) {
            count += n;
        }

        private void nested(int left) {
            synchronized (this) {
                if (left > 0) {
                    nested(left - 1);
                }
            }
        }

        private static int work(int rounds) {
            int sum = rounds;
            for (int i = 0; i < rounds; i++) {
                sum = sum * 31 + i;
            }
            return sum;
        }
    }

    // Garbage -------------------------------------------------------------------------------------

    /** Keeps some of what it allocates for a while, so that each collection has something to move. */
    private static final class Garbage {
        private final Object[] kept = new Object[512];

        void round(Random random) {
            for (int i = 0; i < 500; i++) {
                int slot = random.nextInt(kept.length);
                switch (random.nextInt(5)) {
                case 0:
                    kept[slot] = new byte[random.nextInt(4_000)];
                    break;
                case 1:
                    kept[slot] = new Object[][] {{kept[slot]}, {slot}};
                    break;
                case 2:
                    kept[slot] = "text " + slot;
                    break;
                case 3:
                    kept[slot] = tree(6);
                    break;
                default:
                    kept[slot] = null;
                    sink += new int[4][random.nextInt(16)].length;
                }
                if (kept[slot] instanceof Object[] && random.nextInt(8) == 0) {
                    kept[slot] = ((Object[]) kept[slot]).clone();
                }
            }
        }

        private static Object tree(int height) {
            return height == 0 ? new Object() : new Object[] {tree(height - 1), tree(height - 1)};
        }
    }
}
