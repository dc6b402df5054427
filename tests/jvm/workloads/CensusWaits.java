import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Locks that are waited for, so often and so long as the program knows: one thread has the lock, sees the other one stand still in front of it, keeps it for a while, and
 * gives it back. A line for each method that waits: its waits, how long the lock was kept while it did at least, and how long it took at most to come in.
 */
public class CensusWaits {
    private static final int ROUNDS = 10;
    private static final long KEPT_MS = 100;

    private final ReentrantLock lock = new ReentrantLock();
    private volatile int turn, done;
    private volatile Path task;
    private long innerNs, outerNs;
    private int count;

    private interface Taken {
        void run() throws Exception;
    }

    /** Takes the lock, does that, and gives it back. */
    private interface Taking {
        void take(CensusWaits all, Taken then) throws Exception;
    }

    private void ownsMonitor(Taken then) throws Exception {
        synchronized (this) {
            then.run();
        }
    }

    private void waitsForMonitor(Taken then) throws Exception {
        synchronized (this) {
            then.run();
        }
    }

    private synchronized void waitsForMethod(Taken then) throws Exception {
        then.run();
    }

    private void ownsLock(Taken then) throws Exception {
        lock.lock();
        try {
            then.run();
        } finally {
            lock.unlock();
        }
    }

    private void waitsForLock(Taken then) throws Exception {
        lock.lock();
        try {
            then.run();
        } finally {
            lock.unlock();
        }
    }

    /** Whether a thread stands still in the kernel, too: between what it says of itself and its wait it may be kept from running for long. */
    private boolean isAsleep() throws IOException {
        String stat = new String(Files.readAllBytes(task), StandardCharsets.ISO_8859_1);

        return stat.charAt(stat.lastIndexOf(')') + 2) == 'S';
    }

    private void keep(Thread other, int round, Thread.State state) throws Exception {
        int still = 0;

        turn = round;
        while (still < 3) { // three times in a row
            Thread.sleep(1);
            still = task != null && other.getState() == state && isAsleep() ? still + 1 : 0;
        }
        long begun = System.nanoTime();

        Thread.sleep(KEPT_MS);
        innerNs += System.nanoTime() - begun;
    }

    private void come(Taking waits) {
        try {
            task = Paths.get("/proc").resolve(Files.readSymbolicLink(Paths.get("/proc/thread-self"))).resolve("stat");
            for (int round = 1; round <= ROUNDS; round++) {
                while (turn < round) {
                    Thread.sleep(1);
                }
                long begun = System.nanoTime();
                long[] taken = new long[1];

                waits.take(this, () -> taken[0] = System.nanoTime());
                outerNs += taken[0] - begun;
                count++;
                done = round;
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void run(String method, Thread.State state, Taking owns, Taking waits) throws Exception {
        CensusWaits all = new CensusWaits();
        Thread other = new Thread(() -> all.come(waits), "waits");

        other.start();
        for (int i = 1; i <= ROUNDS; i++) {
            int round = i;

            owns.take(all, () -> all.keep(other, round, state));
            while (all.done < round) {
                Thread.sleep(1);
            }
        }
        other.join();
        System.out.println("waited " + method + " " + all.count + " " + all.innerNs + " " + all.outerNs);
    }

    public static void main(String[] arguments) throws Exception {
        run("waitsForMonitor", Thread.State.BLOCKED, CensusWaits::ownsMonitor, CensusWaits::waitsForMonitor);
        run("waitsForMethod", Thread.State.BLOCKED, CensusWaits::ownsMonitor, CensusWaits::waitsForMethod);
        run("waitsForLock", Thread.State.WAITING, CensusWaits::ownsLock, CensusWaits::waitsForLock);
        System.out.println("ok");
    }
}
