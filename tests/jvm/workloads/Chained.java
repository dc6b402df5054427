import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A chain of three, who know how long: "last" has a lock, "middle" has another one and waits for that, "first" waits for the middle one's; and "late" comes for the lock
 * of the last one. Nobody goes on before the others stand where they should. With "latch" these are locks of java.util.concurrent, with "virtual" virtual threads.
 * A monitor that nobody has, nor waits for, may be given up by the JVM at any safepoint (JDK 8 and 11), and the next one is another: so one thread is in Object.wait of the last
 * lock from the first round to the last.
 *
 * Printed are, in ns: "chain", for how long first waited while middle did, at most, and "linked", at least; "gap", the shortest time in which both middle and late are known to have waited for last; "least" and "most",
 * the shortest and the longest time for which last had its lock: least from inside, most from outside; "round", the longest time between what others do before and behind it.
 */
public class Chained {
    private static final int ROUNDS = 3, GAP_MS = 60;

    private static final class Left extends ReentrantLock {
        private static final long serialVersionUID = 1;
    }

    private static final class Right extends ReentrantLock {
        private static final long serialVersionUID = 1;
    }

    private static final Left LEFT = new Left();
    private static final Right RIGHT = new Right();
    private static boolean isLatch, isVirtual, isOver;
    private static volatile boolean isHeld, mayGo;
    private static volatile long since, until, before, behind, came, got;

    private static void with(ReentrantLock lock, Runnable body) {
        if (isLatch) {
            lock.lock();
            body.run();
            lock.unlock();
            return;
        }
        synchronized (lock) {
            body.run();
        }
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void keep() {
        since = System.nanoTime();
        isHeld = true;
        while (!mayGo) {
            pause(1);
        }
        until = System.nanoTime();
    }

    private static Thread start(String name, Runnable body) throws Exception {
        if (isVirtual) {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");

            type.getMethod("name", String.class).invoke(builder, name);
            return (Thread) type.getMethod("start", Runnable.class).invoke(builder, body);
        }
        Thread thread = new Thread(body, name);
        thread.start();
        return thread;
    }

    private static Thread keeper() throws InterruptedException {
        Thread keeper = new Thread(() -> {
            synchronized (RIGHT) {
                while (!isOver) {
                    try {
                        RIGHT.wait();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }
        }, "keeper");

        keeper.start();
        while (keeper.getState() != Thread.State.WAITING) {
            pause(1);
        }
        return keeper;
    }

    private static void untilItWaits(Thread thread) {
        Thread.State wanted = isLatch ? Thread.State.WAITING : Thread.State.BLOCKED;

        while (thread.getState() != wanted) {
            pause(1);
        }
    }

    public static void main(String[] args) throws Exception {
        long chain = 0, linked = 0, gap = Long.MAX_VALUE, least = Long.MAX_VALUE, most = 0, round = 0, ended = 0;

        isLatch = Arrays.asList(args).contains("latch");
        isVirtual = Arrays.asList(args).contains("virtual");
        Thread keeper = isLatch ? null : keeper();
        for (int i = 0; i < ROUNDS; i++) {
            List<Thread> threads = new ArrayList<>();

            isHeld = mayGo = false;
            before = System.nanoTime();
            threads.add(start("last", () -> {
                with(RIGHT, Chained::keep);
                behind = System.nanoTime();
            }));
            while (!isHeld) {
                pause(1);
            }
            Thread middle = start("middle", () -> with(LEFT, () -> with(RIGHT, () -> got = System.nanoTime())));
            threads.add(middle);
            untilItWaits(middle);
            long waited = System.nanoTime();
            pause(GAP_MS);
            Thread first = start("first", () -> {
                came = System.nanoTime();
                with(LEFT, () -> { });
            });
            threads.add(first);
            untilItWaits(first);
            long waits = System.nanoTime();
            pause(GAP_MS);
            long late = System.nanoTime();
            Thread other = start("late", () -> with(RIGHT, () -> { }));
            threads.add(other);
            untilItWaits(other);
            long letGo = System.nanoTime();
            mayGo = true;
            for (Thread thread : threads) {
                thread.join();
            }
            chain += got - came;
            linked += letGo - waits;
            gap = Math.min(gap, late - waited);
            least = Math.min(least, until - since);
            most = Math.max(most, behind - before);
            if (i > 0) {
                round = Math.max(round, System.nanoTime() - ended);
            }
            ended = letGo;
        }
        if (keeper != null) {
            synchronized (RIGHT) {
                isOver = true;
                RIGHT.notifyAll();
            }
            keeper.join();
        }
        System.out.println("chain " + chain);
        System.out.println("linked " + linked);
        System.out.println("gap " + gap);
        System.out.println("least " + least);
        System.out.println("most " + most);
        System.out.println("round " + round);
    }
}
