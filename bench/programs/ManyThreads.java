import java.util.concurrent.CountDownLatch;

/**
 * So many threads that wait, each at the bottom of some frames of its own, until the program is killed. Prints "running".
 *
 *     java ManyThreads COUNT
 */
final class ManyThreads {
    private static final CountDownLatch never = new CountDownLatch(1);

    private ManyThreads() {
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        CountDownLatch started = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            int frames = i % 50;
            new Thread(null, () -> descend(frames, started), "waiting-" + i, 256 * 1024).start();
        }
        started.await();
        System.out.println("running");
        never.await();
    }

    private static void descend(int left, CountDownLatch started) {
        if (left > 0) {
            descend(left - 1, started);
            return;
        }
        started.countDown();
        try {
            never.await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
