import java.util.ArrayList;
import java.util.List;

/**
 * Many virtual threads that wait at the bottom of eight calls, and once more half-way back, and work on the way back: all but
 * a few of their frames lie in the heap then. What they allocate makes the collector move those frames.
 *
 *     java Frozen THREADS ROUNDS
 */
final class Frozen implements Runnable {
    private static final int WORK = 20_000;

    static volatile long sink;
    static volatile byte[] garbage;

    private final int rounds;

    private Frozen(int rounds) {
        this.rounds = rounds;
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            threads.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, new Frozen(Integer.parseInt(args[1]))));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Override
    public void run() {
        try {
            for (int i = 0; i < rounds; i++) {
                call0();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void call0() throws InterruptedException {
        call1();
        work();
    }

    private static void call1() throws InterruptedException {
        call2();
        work();
    }

    private static void call2() throws InterruptedException {
        call3();
        work();
    }

    private static void call3() throws InterruptedException {
        call4(1, 2, 3, 4, 5, 6, 7, 8, 9, sink, 11, 12);
        Thread.sleep(1);
        work();
    }

    /** More arguments than registers: they lie with the caller's frame. */
    private static void call4(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l)
            throws InterruptedException {
        call5();
        work();
        sink += a + b + c + d + e + f + g + h + i + j + k + l;
    }

    private static void call5() throws InterruptedException {
        call6(12, 11, sink, 9, 8, 7, 6, 5, 4, 3, 2, 1);
        work();
    }

    private static void call6(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l)
            throws InterruptedException {
        call7();
        work();
        sink += a + b + c + d + e + f + g + h + i + j + k + l;
    }

    private static void call7() throws InterruptedException {
        Thread.sleep(1);
        work();
    }

    private static void work() {
        long value = sink;
        for (int i = 0; i < WORK; i++) {
            value = value * 6364136223846793005L + i;
            if (i % 1000 == 0) {
                garbage = new byte[1000];
            }
        }
        sink = value;
    }
}
