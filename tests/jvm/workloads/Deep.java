/**
 * Two threads that stand deep in calls and run there, while System.gc() is called over and over: a collector that works beside the program looks at
 * their frames meanwhile. Arg: how often it collects.
 */
public final class Deep {
    private static final int DEPTH = 3000;
    static long sum;
    private static volatile boolean isOver;

    private Deep() {
    }

    static int down(int depth) {
        if (depth > 0)
            return down(depth - 1) + 1;
        long local = 1;
        while (!isOver)
            for (int i = 0; i < 1000; i++)
                local = turn(local);
        sum += local;
        return 0;
    }

    private static long turn(long value) {
        return value * 31 + 7;
    }

    public static void main(String[] args) throws InterruptedException {
        final Thread[] threads = new Thread[2];

        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(null, () -> down(DEPTH), "deep-" + i, 64 << 20);
            threads[i].start();
        }
        /* Polls are told from the second second on. */
        Thread.sleep(1500);
        for (int i = Integer.parseInt(args[0]); i > 0; i--) {
            System.gc();
            Thread.sleep(5);
        }
        isOver = true;
        for (Thread thread : threads)
            thread.join();
    }
}
