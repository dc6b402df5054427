import java.util.Random;

/**
 * A random walk over a fixed graph of calls, each on a line of its own, so that a stack tells whether it can
 * be: the line at which each caller stands says whom it calls. Now and then native code notes what JVMTI says
 * of the stack that it stands on, and burns CPU there for a while.
 *
 *     java Known SECONDS        CPU seconds of each of two threads
 *
 * Prints "known THREAD BEGIN_NS END_NS METHOD:LINE;METHOD:LINE..." for each of those, by the wall clock.
 */
final class Known implements Runnable
{
    private static final int THREADS = 2;
    private static final int DEPTH = 90;
    private static final long BURN_NS = 20_000_000;

    static volatile long sink;

    private static final Step[] STEPS = {new Left(), new Right(), new Middle(), new Last()};

    private final long cpuNs;

    private Known(long cpuNs)
    {
        this.cpuNs = cpuNs;
    }

    public static void main(String[] args) throws Exception
    {
        System.loadLibrary("burner");
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            Known work = new Known((long)(Double.parseDouble(args[0]) * 1e9));
            threads[i] = new Thread(work, "known-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Override public void run()
    {
        Random random = new Random(Thread.currentThread().getId());
        while (Threads.cpuNs() < cpuNs) {
            long state = random.nextLong() | 1;
            int depth = random.nextInt(DEPTH);
            if (random.nextInt(400) == 0) {
                state = -state; /* this walk ends in native code */
            }
            for (int i = 0; i < 20; i++) {
                sink += start(depth, state < 0 && i > 0 ? -state : state);
                state = state < 0 ? -next(-state) : next(state);
            }
        }
    }

    /** Stands still for a while and tells where. */
    private static native void note(long cpuNs);

    private static long next(long state)
    {
        long value = state ^ state << 13;
        value ^= value >>> 7;
        return (value ^ value << 17) & Long.MAX_VALUE | 1;
    }

    private static long step(long state)
    {
        return state < 0 ? -next(-state) : next(state);
    }

    private static int pick(long state)
    {
        return (int)(Math.abs(state) >>> 20) & 3;
    }

    private static long work(long state)
    {
        long value = state;
        for (int i = 0; i < 40; i++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
        }
        return value;
    }

    private static long end(long state)
    {
        if (state < 0) {
            note(BURN_NS);
        }
        return work(state);
    }

    static long start(int left, long state)
    {
        return kNorth(left, state);
    }

    static long kNorth(int left, long state)
    {
        if (left <= 0) {
            return end(state);
        }
        switch (pick(state)) {
        case 0:
            return 1 + kSouth(left - 1, step(state));
        case 1:
            return 2 + kEast(left - 1, step(state));
        case 2:
            return 3 + kWest(left - 1, step(state));
        default:
            return 4 + kTurn(left - 1, step(state));
        }
    }

    static long kSouth(int left, long state)
    {
        if (left <= 0) {
            return end(state);
        }
        long sum = work(state);
        if (pick(state) == 0) {
            sum += kEast(left - 1, step(state));
        } else {
            sum += kTurn(left - 1, step(state));
        }
        return sum;
    }

    static long kEast(int left, long state)
    {
        if (left <= 0) {
            return end(state);
        }
        if ((pick(state) & 1) == 0) {
            return kWest(left - 1, step(state)) + 1;
        }
        return kTurn(left - 1, step(state)) ^ 1;
    }

    static long kWest(int left, long state)
    {
        if (left <= 0) {
            return end(state);
        }
        if ((pick(state) & 2) == 0) {
            return kTurn(left - 1, step(state)) + 1;
        }
        return kNorth(left - 1, step(state)) ^ 1;
    }

    /** Calls of an interface: by vtable and itable stubs where they are not inlined. */
    static long kTurn(int left, long state)
    {
        if (left <= 0) {
            return end(state);
        }
        return STEPS[pick(state)].kGo(left - 1, step(state));
    }

    private interface Step
    {
        long kGo(int left, long state);
    }

    private static final class Left implements Step
    {
        @Override public long kGo(int left, long state)
        {
            return kEast(left, state) + 5;
        }
    }

    private static final class Right implements Step
    {
        @Override public long kGo(int left, long state)
        {
            return kWest(left, state) + 6;
        }
    }

    private static final class Middle implements Step
    {
        @Override public long kGo(int left, long state)
        {
            return kNorth(left, state) + 7;
        }
    }

    private static final class Last implements Step
    {
        @Override public long kGo(int left, long state)
        {
            return kSouth(left, state) + 8;
        }
    }
}
