import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Methods whose calls are counted, by threads of either kind: some that go on, one after the other, and more at once than have counters of their own.
 * Arguments: platform or virtual; `unshared`, all that were counted so far are in cells that threads own (with java.lang open to the program).
 *
 * <p>Lines: `CLASS.METHOD COUNT`.
 */
public final class Tally {
    private static final int THREADS = 4, CALLS = 50_000, FAILING = 1000, DEEP = 7, SHORT_LIVED = 60, CROWD = 100, FEW = 50;
    private static final long SMALL_STACK = 256 * 1024;
    private static final AtomicLong MADE = new AtomicLong(), TINY = new AtomicLong();

    private static volatile int sink;
    private static long dives;

    private Tally() {
    }

    interface Shape {
        default int area(int side) {
            return side * side;
        }
    }

    static final class Square implements Shape {
        final int side;

        Square(int side) {
            this.side = side;
        }

        Square() { // two calls of a constructor
            this(1);
        }
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

    static synchronized void failed() {
        throw new IllegalStateException("as it has to");
    }

    /** Its loop begins where the method does. */
    static int looping(int number) {
        do {
            number--;
        } while (number > 0);
        return number;
    }

    /** Until the stack ends: a call that has not begun is none. */
    static void dive() {
        dives++;
        dive();
    }

    private static void calls() {
        final Square square = new Square();
        final BitSet bits = new BitSet();
        int sum = 0;

        for (int i = 0; i < CALLS; i++) {
            sum += tiny(i);
        }
        for (int i = 0; i < FAILING; i++) {
            sum += deep(DEEP - 1) + tiny(i, sum) + looping(3) + square.area(i);
            bits.flip(i & 63);
            try {
                failed();
            } catch (IllegalStateException expected) {
                sum++;
            }
            if (i % 10 == 0) {
                Thread.yield(); // virtual threads may change their carriers
            }
        }
        MADE.addAndGet(2);
        TINY.addAndGet(CALLS + FAILING);
        sink += sum;
    }

    private static void few() {
        for (int i = 0; i < FEW; i++) {
            sink += tiny(i);
        }
        TINY.addAndGet(FEW);
    }

    private static Thread begin(Runnable calls, boolean isVirtual) throws ReflectiveOperationException {
        if (isVirtual) {
            final Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);

            return (Thread) start.invoke(null, calls);
        }

        final Thread thread = new Thread(calls);

        thread.start();
        return thread;
    }

    private static void beginAndJoin(int count, Runnable calls, boolean isVirtual) throws Exception {
        final List<Thread> threads = new ArrayList<>();

        for (int i = 0; i < count; i++) {
            threads.add(begin(calls, isVirtual));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** All of them are alive to the end. */
    private static void crowd(boolean isVirtual) throws Exception {
        final CountDownLatch called = new CountDownLatch(CROWD);

        beginAndJoin(CROWD, () -> {
            few();
            called.countDown();
            try {
                called.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            few();
        }, isVirtual);
    }

    private static void diveOnce() {
        try {
            dive();
        } catch (StackOverflowError expected) {
            sink++;
        }
    }

    private static Object valueOf(Class<?> type, String name, Object of) throws ReflectiveOperationException {
        final Field field = type.getDeclaredField(name);

        field.setAccessible(true);
        return field.get(of);
    }

    /** What threads count in that have none of their own: never virtual ones, whose carriers have. */
    private static void checkNothingShared() throws ReflectiveOperationException {
        final Class<?> counts = Class.forName("java.lang.JaywalkCounts");
        final Object tally = valueOf(counts, "tally", null);

        for (Object cells : (Object[]) valueOf(tally.getClass(), "shared", tally)) {
            if (valueOf(cells.getClass(), "counts", cells) != null) {
                throw new IllegalStateException("virtual threads counted under a monitor");
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        final boolean isVirtual = arguments[0].equals("virtual");

        beginAndJoin(THREADS, Tally::calls, isVirtual);
        for (int i = 0; i < SHORT_LIVED; i++) {
            beginAndJoin(1, Tally::few, isVirtual);
        }
        crowd(isVirtual);

        if (arguments.length > 1) {
            checkNothingShared();
        }

        final Thread diver = new Thread(null, Tally::diveOnce, "diver", SMALL_STACK);

        diver.start();
        diver.join();
        System.out.println("Tally.tiny " + TINY);
        System.out.println("Tally.deep " + THREADS * FAILING * DEEP);
        System.out.println("Tally.failed " + THREADS * FAILING);
        System.out.println("Tally.looping " + THREADS * FAILING);
        System.out.println("Tally.dive " + dives);
        System.out.println("Tally$Shape.area " + THREADS * FAILING);
        System.out.println("Tally$Square.<init> " + MADE);
        System.out.println("java.util.BitSet.flip " + THREADS * FAILING);
    }
}
