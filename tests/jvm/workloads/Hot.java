/**
 * Two threads that spend four fifths of their CPU in `hottest` and the rest in `lukewarm`; their own
 * clocks see to that, however fast either is at the moment.
 *
 *     java Hot SECONDS      CPU seconds of each thread; 0: until it is killed
 */
final class Hot implements Runnable {
    static volatile long sink;

    private final long cpuNs;

    private Hot(long cpuNs) {
        this.cpuNs = cpuNs;
    }

    public static void main(String[] args) throws Exception {
        double seconds = Double.parseDouble(args[0]);
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(
                    new Hot(seconds == 0 ? Long.MAX_VALUE : (long) (seconds * 1e9)), "hot-" + i);
            threads[i].start();
        }
        System.out.println("running");
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }

    @Override
    public void run() {
        long hottestNs = 0;
        long lukewarmNs = 0;
        long nowNs = Threads.cpuNs();
        while (nowNs < cpuNs) {
            long beforeNs = nowNs;
            boolean isHottest = hottestNs <= 4 * lukewarmNs;
            if (isHottest) {
                hottest();
            } else {
                lukewarm();
            }
            nowNs = Threads.cpuNs();
            if (isHottest) {
                hottestNs += nowNs - beforeNs;
            } else {
                lukewarmNs += nowNs - beforeNs;
            }
        }
    }

    /** 65,000 to 131,000, at random: turns of a fixed length would beat against the ticks of a sampler. */
    private static int rounds(long value) {
        return 65_536 + (int) (value >>> 48);
    }

    private static void hottest() {
        long value = sink;
        for (int i = rounds(value); i > 0; i--) {
            value = value * 6364136223846793005L + 1442695040888963407L;
        }
        sink = value;
    }

    private static void lukewarm() {
        long value = sink;
        for (int i = rounds(value); i > 0; i--) {
            value = value * 2862933555777941757L + 3037000493L;
        }
        sink = value;
    }
}
