import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Monitors that somebody has had since before anybody waits for them, and whose objects are moved meanwhile, where the collector does that: "keeper-N" has one, and keeps it until there is a file;
 * "victim-N" waits for it, and, once there is a second file, its name and "2", "later-N" too. The keepers sleep, or with "busy" work; with "virtual" they are virtual threads. Printed are the number of each keeper, a line each, once all of them are waited for, and who came later, once it waits.
 */
public class Kept {
    private static final int KEEPERS = 6, JUNK = 500;

    private static final class Shelf {
    }

    private static final Shelf[] SHELVES = new Shelf[KEEPERS];
    private static final boolean[] HELD = new boolean[KEEPERS];
    private static boolean isBusy;
    private static volatile boolean areThrough;
    private static File seen;
    private static long end;
    private static volatile Object made;
    private static volatile int spins;

    private static synchronized void hold(int number) {
        HELD[number] = true;
    }

    private static synchronized boolean isHeld(int number) {
        return HELD[number];
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isOver() {
        return seen.exists() || System.nanoTime() > end;
    }

    private static void keep() {
        while (!isOver()) {
            if (!isBusy) {
                pause(200);
                continue;
            }
            for (int i = 0; i < 1000000; i++) {
                spins++;
            }
        }
    }

    private static void keeper(int number) {
        synchronized (SHELVES[number]) {
            hold(number);
            keep();
        }
        while (!areThrough) { // an owner that has ended before it is told may have no name any more
            pause(1);
        }
    }

    private static void want(int number) {
        synchronized (SHELVES[number]) {
            made = SHELVES[number];
        }
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

    private static void untilItWaits(Thread thread) {
        while (thread.getState() != Thread.State.BLOCKED) {
            pause(1);
        }
    }

    /** Each shelf among what is garbage at once: what stays of such a page is moved. */
    private static void makeShelves() {
        List<byte[]> junk = new ArrayList<>();

        for (int i = 0; i < KEEPERS * JUNK; i++) {
            junk.add(new byte[500]);
            if (i % JUNK == JUNK / 2) {
                SHELVES[i / JUNK] = new Shelf();
            }
        }
        made = junk;
        made = null;
    }

    /** FILE [busy] [virtual]: two minutes at the most. */
    public static void main(String[] args) throws Exception {
        boolean isVirtual = Arrays.asList(args).contains("virtual");
        int keepers = isVirtual ? 1 : KEEPERS;
        List<Thread> threads = new ArrayList<>(), victims = new ArrayList<>();

        seen = new File(args[0]);
        isBusy = Arrays.asList(args).contains("busy");
        end = System.nanoTime() + 120_000_000_000L;
        makeShelves();
        for (int i = 0; i < keepers; i++) {
            int number = i;
            threads.add(start(isVirtual, "keeper-" + i, () -> keeper(number)));
            while (!isHeld(number)) {
                pause(1);
            }
        }
        for (int i = 0; i < keepers; i++) {
            int number = i;
            victims.add(start(false, "victim-" + i, () -> want(number)));
        }
        for (Thread victim : victims) {
            untilItWaits(victim);
        }
        for (int i = 0; i < keepers; i++) {
            System.out.println("keeper-" + i + " " + threads.get(i).getId());
        }
        while (!isOver()) {
            made = new byte[20000];
            pause(1);
            if (victims.size() == keepers && new File(args[0] + "2").exists()) {
                for (int i = 0; i < keepers; i++) {
                    int number = i;
                    victims.add(start(false, "later-" + i, () -> want(number)));
                    untilItWaits(victims.get(keepers + i));
                    System.out.println("later-" + i);
                }
            }
        }
        for (Thread victim : victims) {
            victim.join();
        }
        areThrough = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
