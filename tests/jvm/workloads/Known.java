import java.util.Random;

/**
 * A random walk over a fixed graph of calls, static, virtual, of an interface, recursive, left by exceptions,
 * each on a line of its own, so that a stack tells whether it can be: the line at which each caller stands
 * says whom it calls. Some walks end in native code, which tells what JVMTI says of the stack that it
 * stands on, with the tier of each frame by the JVM's own account (JDK 9 and later, --add-opens
 * java.base/java.lang=ALL-UNNAMED), and has the profiler take samples there. Methods named for digits stand
 * on such a stack, so that it is known again in the recording.
 *
 *     java Known SECONDS        CPU seconds of each of two threads
 *     -XX:CompileCommand=dontinline,Known.kHost -XX:CompileCommand=inline,Known.kInner
 *
 * Prints "known THREAD TIERS METHOD:LINE;METHOD:LINE...", a letter of TIERS for each frame but the topmost:
 * I interpreted, C compiled, ? unknown.
 */
final class Known implements Runnable
{
    private static final int THREADS = 2;
    private static final int DEPTH = 60;
    private static final int DIGITS = 10; /* to the base 4 */
    private static final int TOLD_ONE_IN = 24;

    static volatile long sink;

    private static final Step[] STEPS = {new Left(), new Right(), new Middle(), new Last()};
    private static final Turn[] TURNS = {new Near(), new Far()};
    private static final Failure FAILURE = new Failure();

    private final long cpuNs;

    private Known(long cpuNs)
    {
        this.cpuNs = cpuNs;
    }

    public static void main(String[] args) throws Exception
    {
        System.loadLibrary("known");
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
        synchronized (Known.class) {
            beginSamples();
        }
        Random random = new Random(Thread.currentThread().getId());
        while (Threads.cpuNs() < cpuNs) {
            long state = random.nextLong() | 1;
            int depth = random.nextInt(DEPTH);
            if (random.nextInt(TOLD_ONE_IN) == 0) {
                state = -state; /* this walk ends in native code */
            }
            for (int i = 0; i < 20; i++) {
                sink += start(depth, state < 0 && i > 0 ? -state : state);
                state = state < 0 ? -next(-state) : next(state);
            }
        }
        endSamples();
    }

    private static native void beginSamples();

    private static native void endSamples();

    /** Tells the stack, and has it sampled. */
    private static native void note(String tiers);

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
            return kTag(DIGITS, -state >>> 20);
        }
        return work(state);
    }

    /** The digits of `id` become callers of what tells the stack. */
    private static long kTag(int left, long id)
    {
        if (left == 0) {
            return kTold(id);
        }
        switch ((int)id & 3) {
        case 0:
            return kZero(left, id >>> 2) + 1;
        case 1:
            return kOne(left, id >>> 2) + 2;
        case 2:
            return kTwo(left, id >>> 2) + 3;
        default:
            return kThree(left, id >>> 2) + 4;
        }
    }

    private static long kZero(int left, long id)
    {
        return kTag(left - 1, id) ^ 1;
    }

    private static long kOne(int left, long id)
    {
        return kTag(left - 1, id) ^ 2;
    }

    private static long kTwo(int left, long id)
    {
        return kTag(left - 1, id) ^ 3;
    }

    private static long kThree(int left, long id)
    {
        return kTag(left - 1, id) ^ 4;
    }

    private static long kTold(long id)
    {
        String tiers = Tiers.tell();
        note(tiers);
        return id;
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
            return 4 + kHost(left - 1, step(state));
        }
    }

    /** Is never inlined, and always inlines what it calls. */
    static long kHost(int left, long state)
    {
        if (left <= 0) {
            return end(state);
        }
        return kInner(left, state) * 3;
    }

    private static long kInner(int left, long state)
    {
        if ((pick(state) & 1) == 0) {
            return kCatch(left - 1, step(state)) + 1;
        }
        return kDown(left - 1, state & 7, step(state)) + 2;
    }

    /** Recursion. */
    static long kDown(int left, long times, long state)
    {
        if (left <= 0) {
            return end(state);
        }
        if (times > 0) {
            return kDown(left - 1, times - 1, state) + 1;
        }
        return kTurn(left - 1, state) + 2;
    }

    /** Goes on with whatever was thrown, or not, above. */
    static long kCatch(int left, long state)
    {
        long sum = 0;
        try {
            sum += kMayThrow(left, state);
        } catch (Failure e) {
            sum += kSouth(left - 1, step(state));
        }
        return sum;
    }

    static long kMayThrow(int left, long state)
    {
        if ((pick(state) & 2) == 0) {
            return kThrow(left - 1, state);
        }
        return kTurn(left - 1, step(state));
    }

    static long kThrow(int left, long state)
    {
        if (left > 0 && work(state) != 0) {
            throw FAILURE;
        }
        return end(state);
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

    private static final class Failure extends RuntimeException
    {
        private static final long serialVersionUID = 1;

        Failure()
        {
            super(null, null, false, false);
        }
    }

    /** Virtual calls. */
    private abstract static class Turn
    {
        abstract long kVirtual(int left, long state);

        long kBoth(int left, long state)
        {
            return kVirtual(left, state) ^ 5;
        }
    }

    private static final class Near extends Turn
    {
        @Override long kVirtual(int left, long state)
        {
            return kWest(left, state) + 9;
        }
    }

    private static final class Far extends Turn
    {
        @Override long kVirtual(int left, long state)
        {
            return kNorth(left, state) + 10;
        }
    }

    private interface Step
    {
        long kGo(int left, long state);
    }

    private static final class Left implements Step
    {
        @Override public long kGo(int left, long state)
        {
            return TURNS[pick(state) & 1].kBoth(left, state) + 5;
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
