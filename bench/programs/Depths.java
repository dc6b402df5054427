/**
 * Two threads that compute at the bottom of a stack so many frames deep.
 *
 *     java Depths DEPTH SECONDS      CPU seconds of each thread
 */
final class Depths implements Runnable {
    static volatile long sink;

    private final int depth;
    private final long cpuNs;

    private Depths(int depth, long cpuNs) {
        this.depth = depth;
        this.cpuNs = cpuNs;
    }

    public static void main(String[] args) throws Exception {
        Depths work =
                new Depths(Integer.parseInt(args[0]), (long) (Double.parseDouble(args[1]) * 1e9));
        Thread[] threads = {new Thread(work), new Thread(work)};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Override
    public void run() {
        java.lang.management.ThreadMXBean bean =
                java.lang.management.ManagementFactory.getThreadMXBean();
        for (int i = 0; i < 5_000_000 / depth; i++) { /* until all of it is compiled */
            descend(depth - 3, 10);
        }
        sleep();
        long startNs = bean.getCurrentThreadCpuTime();
        while (bean.getCurrentThreadCpuTime() < startNs + cpuNs) {
            descend(depth - 3, 5_000_000); /* run, descend, compute */
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(500); /* for the compiler to end */
        } catch (InterruptedException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    private static int descend(int left, int rounds) {
        if (left > 0) {
            return descend(left - 1, rounds) + 1;
        }
        compute(rounds);
        return 0;
    }

    private static void compute(int rounds) {
        long value = sink;
        for (int i = 0; i < rounds; i++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
        }
        sink = value;
    }
}
