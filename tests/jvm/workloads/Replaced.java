import java.util.concurrent.ThreadLocalRandom;

/**
 * The classes of Redefined get new code, and the collector runs, again and again, so that the code after the next comes to lie where
 * the one before lay: three times of four only its lines are others.
 *
 *     java Replaced SECONDS
 */
final class Replaced {
    private static final int THREADS = 2;
    private static final int REST_MS = 5;

    private static volatile boolean isDone;

    private Replaced() {
    }

    public static void main(String[] args) throws Exception {
        System.loadLibrary("redefiner");
        Redefined redefined = new Redefined(false);
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(() -> drive(redefined), "driver-" + i);
            threads[i].start();
        }
        long endNs = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        while (System.nanoTime() < endNs) {
            redefined.replaceSome();
            System.gc();
            Thread.sleep(REST_MS);
        }
        isDone = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("redefined " + redefined.count());
    }

    private static void drive(Redefined redefined) {
        while (!isDone) {
            redefined.call(ThreadLocalRandom.current().nextInt(Redefined.CLASSES));
        }
    }
}
