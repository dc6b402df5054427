/**
 * Two threads that spend four fifths of their CPU in `hottest` and the rest in `lukewarm`; their own
 * clocks see to that, however fast either is at the moment.
 *
 *     java Hot SECONDS      CPU seconds of each thread; -1: until it is killed; 0: the same, with pauses
 */
final class Hot implements Runnable {
    static volatile long sink;

    /**
     * With pauses both threads together have about half a processor, which leaves the rest to whoever looks at them. What
     * they do between pauses takes some milliseconds, so that a signal hardly ever comes when a pause has begun.
     */
    private static final int TURNS_BETWEEN_PAUSES = 64;
    private static final int PAUSE_MS = 20;

    private final long cpuNs;
    private final boolean pauses;

    private Hot(double seconds) {
        cpuNs = seconds <= 0 ? Long.MAX_VALUE : (long) (seconds * 1e9);
        pauses = seconds == 0;
    }

    public static void main(String[] args) throws Exception {
        double seconds = Double.parseDouble(args[0]);
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(new Hot(seconds), "hot-" + i);
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
        for (int turn = 1; nowNs < cpuNs; turn++) {
            if (pauses && turn % TURNS_BETWEEN_PAUSES == 0) {
                pause();
                nowNs = Threads.cpuNs();
            }
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

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
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
