import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Methods that are timed, by threads of either kind, and that the program clocks itself. Arguments: platform or virtual.
 *
 * <p>Lines: `calls NAME COUNT`, and `work P INSIDE AROUND`: so many of a thousand calls were no longer by the clock inside of the method, and by that
 * around it, in ns. Whoever looks from in between can only see what lies between these.
 */
public final class Timed {
    private static final int THREADS = 4, LONG_CALLS = 600, SHORT_CALLS = 50_000, FAILING = 1000, DEEP = 7;
    private static final AtomicInteger NEXT = new AtomicInteger();
    private static final long[] INSIDE = new long[THREADS * LONG_CALLS], AROUND = new long[THREADS * LONG_CALLS];

    private static volatile int sink;

    private Timed() {
    }

    static void work(int number, long ns) {
        final long begin = System.nanoTime();

        while (System.nanoTime() - begin < ns) {
            sink++;
        }
        INSIDE[number] = System.nanoTime() - begin;
    }

    static int tiny(int number) {
        return number + 1;
    }

    static int tiny(int one, int other) {
        return one + other;
    }

    static int deep(int depth) {
        return depth == 0 ? 0 : 1 + deep(depth - 1);
    }

    static void failed() {
        throw new IllegalStateException("as it has to");
    }

    private static void calls(int seed) {
        final Random random = new Random(seed);
        int sum = 0;

        for (int i = 0; i < SHORT_CALLS; i++) {
            sum += tiny(i);
        }
        for (int i = 0; i < FAILING; i++) {
            sum += deep(DEEP - 1) + tiny(i, sum);
            try {
                failed();
            } catch (IllegalStateException expected) {
                sum++;
            }
            if (i % 100 == 0) {
                Thread.yield(); // virtual threads may change their carriers
            }
        }
        for (int i = 0; i < LONG_CALLS; i++) {
            // From 20 us to 2 ms, each doubling as often as any other.
            final long ns = (long) (20_000 * Math.pow(100, random.nextDouble()));
            final int number = NEXT.getAndIncrement();
            final long begin = System.nanoTime();

            work(number, ns);
            AROUND[number] = System.nanoTime() - begin;
        }
        sink += sum;
    }

    private static Thread begin(int seed, boolean isVirtual) throws ReflectiveOperationException {
        final Runnable calls = () -> calls(seed);

        if (isVirtual) {
            final Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);

            return (Thread) start.invoke(null, calls);
        }

        final Thread thread = new Thread(calls, "worker " + seed);

        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        final List<Thread> threads = new ArrayList<>();

        for (int i = 0; i < THREADS; i++) {
            threads.add(begin(i, arguments[0].equals("virtual")));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("calls work " + THREADS * LONG_CALLS);
        System.out.println("calls tiny " + THREADS * (SHORT_CALLS + FAILING));
        System.out.println("calls deep " + THREADS * FAILING * DEEP);
        System.out.println("calls failed " + THREADS * FAILING);
        Arrays.sort(INSIDE);
        Arrays.sort(AROUND);
        for (int thousandths : new int[] {500, 900, 990, 999}) {
            final int at = (INSIDE.length * thousandths + 999) / 1000 - 1;

            System.out.println("work " + thousandths + " " + INSIDE[at] + " " + AROUND[at]);
        }
    }
}
