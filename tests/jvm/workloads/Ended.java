import java.util.concurrent.locks.ReentrantLock;

/**
 * An owner that has long ended when who waited for it says so: "first" has a fair lock, "second" and then "third" wait for it; first gives it back and ends, second has it for three seconds more.
 */
public class Ended {
    private static final ReentrantLock LATCH = new ReentrantLock(true);
    private static volatile boolean mayGo;
    private static volatile int turns;

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Thread start(String name, Runnable body) {
        Thread thread = new Thread(() -> {
            LATCH.lock();
            body.run();
            LATCH.unlock();
        }, name);

        thread.start();
        return thread;
    }

    private static void untilItWaits(Thread thread) {
        while (!LATCH.hasQueuedThread(thread) || thread.getState() != Thread.State.WAITING) {
            pause(1);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread first = start("first", () -> {
            while (!mayGo) {
                pause(1);
            }
        });
        while (!LATCH.isLocked()) {
            pause(1);
        }
        Thread second = start("second", () -> pause(3000));
        untilItWaits(second);
        Thread third = start("third", () -> turns++);
        untilItWaits(third);
        mayGo = true;
        first.join();
        second.join();
        third.join();
    }
}
