import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;

/**
 * What a profiler finds dear: two threads that compute deep in a recursion until each has used so much CPU time, and some
 * hundreds that wait. Prints "threads N" at the end.
 *
 *     java Costly CPU_MS ELAPSED_MS      at least as long
 */
final class Costly {
    private static final int WAITING = 300;
    private static final int DEPTH = 400;

    static volatile long sink;

    private Costly() {
    }

    private static long deep(int depth, long endNs) {
        return depth == 0 ? compute(endNs) : deep(depth - 1, endNs) + 1;
    }

    private static long compute(long endNs) {
        long value = 1;
        while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < endNs) {
            for (int i = 0; i < 100000; i++) {
                value = value * 31 + i;
            }
        }
        return value;
    }

    public static void main(String[] args) throws InterruptedException {
        long cpuNs = Long.parseLong(args[0]) * 1000000;
        long untilNs = System.nanoTime() + Long.parseLong(args[1]) * 1000000;
        CountDownLatch end = new CountDownLatch(1);
        for (int i = 0; i < WAITING; i++) {
            Thread waiting = new Thread(() -> {
                try {
                    end.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "waiting-" + i);
            waiting.setDaemon(true);
            waiting.start();
        }
        Thread[] busy = new Thread[2];
        for (int i = 0; i < busy.length; i++) {
            busy[i] = new Thread(null, () -> {
                long used = 0;
                do {
                    used += cpuNs / 10;
                    sink = deep(DEPTH, used);
                } while (used < cpuNs || System.nanoTime() < untilNs);
            }, "busy-" + i, 8 << 20);
            busy[i].start();
        }
        for (Thread thread : busy) {
            thread.join();
        }
        end.countDown();
        System.out.println("threads " + (WAITING + busy.length));
    }
}
