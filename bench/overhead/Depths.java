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
        while (bean.getCurrentThreadCpuTime() < cpuNs) {
            descend(depth - 3); /* run, descend, compute */
        }
    }

    private static int descend(int left) {
        if (left > 0) {
            return descend(left - 1) + 1;
        }
        compute();
        return 0;
    }

    private static void compute() {
        long value = sink;
        for (int i = 0; i < 20_000_000; i++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
        }
        sink = value;
    }
}
