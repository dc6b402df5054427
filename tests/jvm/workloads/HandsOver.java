import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Does nothing but hand over tasks that do nothing, from some frames deep.
 *
 *     java HandsOver THOUSANDS
 */
public final class HandsOver {
    private static final int BATCH = 1000;

    private HandsOver() {
    }

    private static int hand(int depth, ExecutorService to, CountDownLatch left) {
        if (depth > 0) {
            return hand(depth - 1, to, left) + 1;
        }
        to.execute(left::countDown);
        return 0;
    }

    public static void main(String[] args) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(3);

        for (int thousands = Integer.parseInt(args[0]); thousands > 0; thousands--) {
            CountDownLatch left = new CountDownLatch(BATCH);

            for (int i = 0; i < BATCH; i++) {
                hand(i % 16, pool, left);
            }
            left.await();
        }
        pool.shutdown();
    }
}
