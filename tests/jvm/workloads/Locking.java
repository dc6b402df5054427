import java.io.File;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait for one another's monitors, and know how long: one owner holds a monitor in a method of its own for a while, while the others
 * want it; each prints the time that it waited, by its own clock, and how much of that it may have been without a processor, by the kernel's: who goes on and has none waits for that, and for no lock. Of virtual
 * threads that is what all carriers lacked. With "reentrant" the monitor is a lock of java.util.concurrent; with "busy" the owner works, and does not sleep.
 */
public class Locking {
    private static final int ROUNDS = 20, HOLD_MS = 20, VICTIMS = 3;

    private static final class Shelf {
    }

    private static final class Desk {
    }

    private static final Shelf SHELF = new Shelf();
    private static final Desk DESK = new Desk();
    private static final ReentrantLock LATCH = new ReentrantLock();
    private static boolean isReentrant, isBusy;
    private static volatile boolean isHeld;
    private static volatile int round, spins;

    private static void hold() {
        if (isReentrant) {
            LATCH.lock();
            isHeld = true;
            work();
            isHeld = false;
            LATCH.unlock();
            return;
        }
        synchronized (SHELF) {
            isHeld = true;
            work();
            isHeld = false;
        }
    }

    private static void work() {
        if (!isBusy) {
            pause(HOLD_MS);
            return;
        }
        for (long end = System.nanoTime() + HOLD_MS * 1_000_000L; System.nanoTime() < end;) {
            spins++;
        }
    }

    private static void pause(long ms) {
        long end = System.nanoTime() + ms * 1_000_000;

        while (System.nanoTime() < end) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static long want() {
        long begin = System.nanoTime();

        if (isReentrant) {
            LATCH.lock();
            long waited = System.nanoTime() - begin;
            LATCH.unlock();
            return waited;
        }
        synchronized (SHELF) {
            return System.nanoTime() - begin;
        }
    }

    private static long await(long ms) throws InterruptedException {
        synchronized (DESK) {
            long begin = System.nanoTime();

            DESK.wait(ms);
            return System.nanoTime() - begin;
        }
    }

    private static long awaitAndPark() {
        long sum = 0;

        for (int i = 0; i < 10; i++) {
            try {
                sum += await(20);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            LockSupport.parkNanos(DESK, 5_000_000);
        }
        return sum;
    }

    private static Thread start(boolean isVirtual, String name, Runnable body) throws Exception {
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

    /* In which a thread could have run and had no processor, so far: ns. */
    private static long lacked(File thread) throws Exception {
        return Long.parseLong(new String(Files.readAllBytes(new File(thread, "schedstat").toPath())).trim().split(" ")[1]);
    }

    /* The kernel has 15 letters of a name; from JDK 26 on the JVM cuts out its middle. */
    private static long lackedByCarriers() throws Exception {
        long sum = 0;

        for (File thread : new File("/proc/self/task").listFiles()) {
            if (new String(Files.readAllBytes(new File(thread, "comm").toPath())).startsWith("ForkJoi")) {
                sum += lacked(thread);
            }
        }
        return sum;
    }

    /* Of the calling thread; a virtual one has none of its own. */
    private static long lackedByMe(boolean isVirtual) {
        try {
            return isVirtual ? 0 : lacked(new File("/proc/thread-self"));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void victim(long[] waited, long[] lacked, boolean isVirtual, int number) {
        for (int i = 0; i < ROUNDS; i++) {
            while (round <= i || !isHeld) {
                pause(1);
                if (round > i + 1) {
                    break;
                }
            }
            if (round == i + 1 && isHeld) {
                long before = lackedByMe(isVirtual);

                waited[number] += want();
                lacked[number] += lackedByMe(isVirtual) - before;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        boolean isVirtual = Arrays.asList(args).contains("virtual");
        isReentrant = Arrays.asList(args).contains("reentrant");
        isBusy = Arrays.asList(args).contains("busy");
        long[] waited = new long[VICTIMS], lacked = new long[VICTIMS];
        List<Thread> threads = new ArrayList<>();
        long sum = 0, without = 0;
        long[] waits = new long[1];

        for (int i = 0; i < VICTIMS; i++) {
            int number = i;
            threads.add(start(isVirtual, "victim-" + i, () -> victim(waited, lacked, isVirtual, number)));
        }
        threads.add(start(isVirtual, "owner", () -> {
            for (int i = 0; i < ROUNDS; i++) {
                round = i + 1;
                hold();
                pause(5);
            }
            round = ROUNDS + 2;
        }));
        for (Thread thread : threads) {
            thread.join();
        }
        if (isVirtual) {
            without = lackedByCarriers();
            Arrays.fill(lacked, without);
        }
        if (isVirtual) {
            start(true, "waiter", () -> waits[0] = awaitAndPark()).join();
        } else {
            waits[0] = awaitAndPark();
        }
        for (int i = 0; i < VICTIMS; i++) {
            System.out.println("waited victim-" + i + " " + waited[i] + " " + lacked[i]);
            sum += waited[i];
            without += isVirtual ? 0 : lacked[i];
        }
        System.out.println("enter " + sum + " " + without);
        System.out.println("wait " + waits[0]);
    }
}
