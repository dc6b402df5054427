import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/** Two threads that take two locks in two orders, and wait for each other for ever; the program ends all the same, when somebody has seen it. */
public class Deadlocked {
    private static final class Left {
    }

    private static final class Right {
    }

    private static final Left LEFT = new Left();
    private static final Right RIGHT = new Right();
    private static int ready;

    private static synchronized void meet() {
        ready++;
        Deadlocked.class.notifyAll();
        while (ready < 2) {
            try {
                Deadlocked.class.wait();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void leftThenRight() {
        synchronized (LEFT) {
            meet();
            synchronized (RIGHT) {
                System.out.println("never");
            }
        }
    }

    private static void rightThenLeft() {
        synchronized (RIGHT) {
            meet();
            synchronized (LEFT) {
                System.out.println("never");
            }
        }
    }

    /** The same with locks of java.util.concurrent. */
    private static void take(ReentrantLock first, ReentrantLock second) {
        first.lock();
        meet();
        second.lock();
        System.out.println("never");
    }

    /** From then on it has a monitor, which says by number whose it is: also where that virtual thread is on no carrier. */
    private static void inflate(Object lock) throws InterruptedException {
        synchronized (lock) {
            lock.wait(1);
        }
    }

    private static void start(String name, boolean isVirtual, Runnable body) throws Exception {
        if (isVirtual) {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");

            type.getMethod("name", String.class).invoke(builder, name);
            type.getMethod("start", Runnable.class).invoke(builder, body);
            return;
        }
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** MILLISECONDS FILE [latch] [virtual | mixed] [first]: with "first" nobody has waited for these monitors before; it ends a second after there is such a file, or when that time is over. */
    public static void main(String[] args) throws Exception {
        boolean isMixed = Arrays.asList(args).contains("mixed");
        boolean isVirtual = isMixed || Arrays.asList(args).contains("virtual");
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;

        if (Arrays.asList(args).contains("latch")) {
            ReentrantLock left = new ReentrantLock();
            ReentrantLock right = new ReentrantLock();

            start("left-first", isVirtual, () -> take(left, right));
            start("right-first", isVirtual && !isMixed, () -> take(right, left));
        } else {
            if (isVirtual && !Arrays.asList(args).contains("first")) {
                inflate(LEFT);
                inflate(RIGHT);
            }
            start("left-first", isVirtual, Deadlocked::leftThenRight);
            start("right-first", isVirtual && !isMixed, Deadlocked::rightThenLeft);
        }
        while (System.nanoTime() < end && !new java.io.File(args[1]).exists()) {
            Thread.sleep(50);
        }
        Thread.sleep(1000);
    }
}
