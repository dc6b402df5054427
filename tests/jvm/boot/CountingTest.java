package java.lang;

import java.util.ArrayList;
import java.util.List;

/**
 * What the census counts with, without an agent: exactly, whatever threads end while it is read, as long as there are arrays; and without a lock that
 * all threads share. Of package java.lang, as that is.
 *
 * <p>A line `ok` at the end.
 */
public final class CountingTest {
    private static final int PAGES = 16384, METHOD = 7;

    private CountingTest() {
    }

    private static void check(boolean isGood, String what) {
        if (!isGood) {
            throw new IllegalStateException(what);
        }
    }

    private static long counted(int sites) {
        final long[] figures = JaywalkLocks.figures(sites);
        long sum = 0;

        for (int i = 0; i < sites; i++) {
            sum += figures[i * JaywalkCells.STRIDE + JaywalkLocks.COUNT];
        }
        return sum;
    }

    private static void begin() {
        JaywalkLocks.begin();
        JaywalkLocks.publish();
    }

    /** As the agent lets it: it ends by itself. */
    private static Thread thread(Runnable body) {
        final Thread thread = new Thread(() -> {
            body.run();
            JaywalkLocks.ended(Thread.currentThread());
        });

        thread.start();
        return thread;
    }

    private static void join(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void threadsEndMeanwhile() throws InterruptedException {
        final int sites = 100, rounds = 40, at_once = 8, calls = 500;
        long last = 0;

        begin();
        for (int round = 0; round < rounds; round++) {
            final List<Thread> threads = new ArrayList<>();

            for (int i = 0; i < at_once; i++) {
                threads.add(thread(() -> {
                    for (int call = 0; call < calls; call++) {
                        JaywalkLocks.enter(call % sites, METHOD);
                        JaywalkLocks.exit(METHOD);
                    }
                }));
            }
            while (threads.stream().anyMatch(Thread::isAlive)) {
                final long now = counted(sites);

                check(now >= last, "counts that were there are gone: " + last + ", then " + now);
                last = now;
            }
            join(threads);
        }
        check(counted(sites) == (long) rounds * at_once * calls, counted(sites) + " of " + rounds * at_once * calls + " are counted");
        check(JaywalkLocks.figures(1)[JaywalkLocks.NEXT] == rounds * at_once, "threads at the first place");
        check(JaywalkLocks.lost() == 0, JaywalkLocks.lost() + " are lost");
        JaywalkLocks.end();
    }

    private static void arraysRunOut() throws InterruptedException {
        final int more = 50, sites = (PAGES + more) * JaywalkCells.PER_PAGE;
        final List<Thread> threads = new ArrayList<>();

        begin();
        threads.add(thread(() -> {
            for (int site = 0; site < sites; site += JaywalkCells.PER_PAGE) {
                JaywalkLocks.enter(site, METHOD);
                JaywalkLocks.exit(METHOD);
            }
            check(JaywalkLocks.lost() == more, JaywalkLocks.lost() + " are lost, where there was no room for " + more);
            synchronized (JaywalkLocks.class) {
                try {
                    final Thread other = new Thread(() -> JaywalkLocks.enter(0, METHOD));

                    other.start();
                    other.join(); // does not wait for the monitor that all share
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            check(JaywalkLocks.lost() == more + 1, JaywalkLocks.lost() + " are lost");
        }));
        join(threads);
        check(JaywalkLocks.lost() == more + 1, "another one is lost when a thread ends");
        check(counted(sites) == PAGES, counted(sites) + " are counted, where there was room for " + PAGES);
        JaywalkLocks.end();

        begin();
        for (int i = 0; i < 20; i++) {
            final List<Thread> one = new ArrayList<>();

            one.add(thread(() -> {
                for (int site = 0; site < PAGES / 4 * JaywalkCells.PER_PAGE; site += JaywalkCells.PER_PAGE) {
                    JaywalkLocks.enter(site, METHOD);
                }
            }));
            join(one);
        }
        check(JaywalkLocks.lost() == 0, JaywalkLocks.lost() + " are lost, though arrays of threads that ended are free again");
        check(counted(PAGES / 4 * JaywalkCells.PER_PAGE) == 20L * PAGES / 4, "all are counted");
        JaywalkLocks.end();
    }

    private static Thread virtual(Runnable body) throws ReflectiveOperationException {
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
    }

    private static void virtualThreadsShare() throws Exception {
        final int several = 2000; // two at least in each of the cells that they share

        begin();
        for (int i = 0; i < several; i++) {
            virtual(() -> JaywalkLocks.enter(3, METHOD)).join();
        }
        synchronized (JaywalkLocks.class) {
            for (int i = 0; i < several; i++) {
                virtual(() -> JaywalkLocks.enter(3, METHOD)).join(); // neither do they
            }
        }
        check(counted(4) == 2 * several, counted(4) + " of virtual threads");
        check(JaywalkLocks.figures(4)[3 * JaywalkCells.STRIDE + JaywalkLocks.LAST] == 2, "there was more than one");
        JaywalkLocks.end();
    }

    public static void main(String[] arguments) throws Exception {
        final Throwable[] wrong = new Throwable[1];

        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> wrong[0] = e);
        threadsEndMeanwhile();
        arraysRunOut();
        try {
            JaywalkSlot.virtualThread = Class.forName("java.lang.BaseVirtualThread");
            virtualThreadsShare();
        } catch (ClassNotFoundException e) {
            System.out.println("this JVM has no virtual threads");
        }
        if (wrong[0] != null) {
            throw new IllegalStateException(wrong[0]);
        }
        System.out.println("ok");
    }
}
