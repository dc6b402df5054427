import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait at one place, each kind at another, while main runs: so that a recording of the wall
 * clock goes on with their stacks through all of its chunks.
 *
 *     java Waiting SECONDS THREADS
 */
final class Waiting {
    private static final Object lock = new Object();
    private static final Object bell = new Object();
    private static volatile long sink;

    private Waiting() {
    }

    public static void main(String[] args) throws InterruptedException {
        long seconds = Long.parseLong(args[0]);
        int count = Integer.parseInt(args[1]);
        synchronized (lock) {
            start("block", Waiting::block);
            start("await", Waiting::await);
            for (int i = 0; i < count; i++) {
                start("park-" + i, Waiting::park);
            }
            run(seconds * 1_000_000_000L);
        }
        System.out.println("done " + sink);
    }

    private static void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void park() {
        while (sink != -1) {
            LockSupport.park();
        }
    }

    private static void block() {
        synchronized (lock) {
            sink++;
        }
    }

    private static void await() {
        synchronized (bell) {
            try {
                bell.wait();
            } catch (InterruptedException e) {
                sink = -1;
            }
        }
    }

    private static void run(long ns) {
        long end = System.nanoTime() + ns;
        long sum = 0;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 1000; i++) {
                sum += i * sum ^ i;
            }
        }
        sink = sum | 1;
    }
}
