package java.lang;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Holds of virtual threads, without an agent: places are told of locks that nobody takes, so that threads leave their carriers wherever the test wants them to. Counts are exact, each
 * hold ends once, on whatever carrier, with the time that it took; all places are given back; and more holds at a time than there are places are counted, and some of them timed.
 *
 * <p>A line `ok` at the end.
 */
public final class VirtualHoldsTest {
    private static final int METHOD = 7;

    private VirtualHoldsTest() {
    }

    /** What the agent has natively. */
    private static final class Claims extends JaywalkClaims {
        private final AtomicIntegerArray claims = new AtomicIntegerArray(9472);
        private final AtomicInteger granted = new AtomicInteger();
        private volatile int session;

        @Override
        protected void reset(int session) {
            this.session = session;
            granted.set(0);
        }

        @Override
        protected int take(int session, int from, int count) {
            for (int i = from; session > 0 && session == this.session && i < from + count; i++) {
                final int now = claims.get(i);

                if (now != session && claims.compareAndSet(i, now, session)) {
                    return i;
                }
            }
            return -1;
        }

        @Override
        protected void give(int session, int number) {
            if (session > 0) {
                check(claims.compareAndSet(number, session, 0), "claim " + number + " is given back that nobody has");
            }
        }

        @Override
        protected boolean grant(int most) {
            return granted.getAndIncrement() < most;
        }

        @Override
        protected void giveGrant() {
            granted.decrementAndGet();
        }

        int taken() {
            int sum = 0;

            for (int i = 0; i < 8192 + 3; i++) {
                sum += claims.get(i) == session ? 1 : 0;
            }
            return sum;
        }
    }

    private static final Claims CLAIMS = new Claims();
    private static volatile Throwable wrong;

    private static void check(boolean isGood, String what) {
        if (!isGood) {
            throw new IllegalStateException(what);
        }
    }

    private interface Body {
        void run(int number) throws Exception;
    }

    private static void together(int count, Body body) throws Exception {
        final List<Thread> threads = new ArrayList<>();

        for (int i = 0; i < count; i++) {
            final int number = i;

            threads.add(Thread.startVirtualThread(() -> {
                try {
                    body.run(number);
                } catch (Throwable e) {
                    wrong = e;
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (wrong != null) {
            throw new IllegalStateException(wrong);
        }
    }

    private static void begin() {
        JaywalkLocks.begin();
        JaywalkLocks.publish();
    }

    private static long figure(int site, int which) {
        return JaywalkLocks.figures(site + 1)[site * JaywalkCells.STRIDE + which];
    }

    /** Fewer than a thousand: each is timed, and so is what it sleeps. */
    private static void eachIsTimed() throws Exception {
        final AtomicLong innerNs = new AtomicLong(), outerNs = new AtomicLong();
        final AtomicInteger moved = new AtomicInteger();

        begin();
        together(90, number -> {
            for (int i = 0; i < 10; i++) {
                final long before = System.nanoTime();

                JaywalkLocks.enter(3, METHOD);

                final long begun = System.nanoTime();
                final Thread carrier = JaywalkCarrier.current();

                JaywalkLocks.enter(4, METHOD); // a lock of the same method: a part of that one
                LockSupport.parkNanos(100_000 * (1 + number % 7));
                JaywalkLocks.exit(METHOD);
                moved.addAndGet(JaywalkCarrier.current() == carrier ? 0 : 1);
                innerNs.addAndGet(System.nanoTime() - begun);
                JaywalkLocks.exit(METHOD);
                outerNs.addAndGet(System.nanoTime() - before);
            }
        });
        final long heldNs = figure(3, JaywalkLocks.HOLD_NS);

        System.out.println(moved + " of 900 holds ended on another carrier");
        check(figure(3, JaywalkLocks.COUNT) == 900 && figure(4, JaywalkLocks.COUNT) == 900, "all are counted");
        check(figure(3, JaywalkLocks.HOLDS) == 900 && figure(3, JaywalkLocks.WEIGHT) == 900, figure(3, JaywalkLocks.HOLDS) + " of 900 are timed");
        check(figure(4, JaywalkLocks.HOLDS) == 0, "what is a part of another hold is timed");
        check(innerNs.get() <= heldNs && heldNs <= outerNs.get(), heldNs + " ns, not from " + innerNs + " to " + outerNs);
        check(figure(3, JaywalkLocks.LAST) == 2, "there was more than one thread");
        isAllGivenBack();
    }

    /** Many on all carriers, some of which leave them in a hold: each stands for others, and none is lost. */
    private static void manyAreSampled() throws Exception {
        final int threads = 40, times = 5000, sites = 20;
        long count = 0, weight = 0, holds = 0;

        begin();
        together(threads, number -> {
            for (int i = 0; i < times; i++) {
                final int site = (number + i) % sites;

                JaywalkLocks.enter(site, site);
                if (i % 50 == 0) {
                    Thread.yield();
                }
                JaywalkLocks.enter(sites, sites);
                JaywalkLocks.exit(sites);
                if (i % 200 == 0) {
                    LockSupport.parkNanos(1000);
                }
                JaywalkLocks.exit(site);
            }
        });
        for (int site = 0; site < sites; site++) {
            count += figure(site, JaywalkLocks.COUNT);
            weight += figure(site, JaywalkLocks.WEIGHT);
            holds += figure(site, JaywalkLocks.HOLDS);
        }
        check(count == threads * times && figure(sites, JaywalkLocks.COUNT) == threads * times, count + " of " + threads * times + " are counted");
        check(weight <= count && weight > count / 2, "they stand for " + weight + " of " + count);
        check(figure(sites, JaywalkLocks.HOLDS) < threads * times / 2, "no sample is taken");
        System.out.println(holds + " holds stand for " + weight + " of " + count);
        isAllGivenBack();
    }

    private static void moreThanThereAreRoomsFor() throws Exception {
        final int threads = 20_000;
        final AtomicInteger begun = new AtomicInteger();

        begin();
        together(threads, number -> {
            JaywalkLocks.enter(number % 100, METHOD);
            begun.incrementAndGet();
            while (begun.get() < threads) {
                LockSupport.parkNanos(20_000_000);
            }
            JaywalkLocks.exit(METHOD);
        });
        long count = 0, holds = 0;
        for (int site = 0; site < 100; site++) {
            count += figure(site, JaywalkLocks.COUNT);
            holds += figure(site, JaywalkLocks.HOLDS);
        }
        System.out.println(holds + " of " + count + " holds at the same time were timed");
        check(count == threads, count + " of " + threads + " are counted");
        check(holds > 4000 && holds <= 8195, holds + " holds are timed in 8195 places");
        isAllGivenBack();
    }

    /** A thread that ends has no hold any more; another one finds out by itself. */
    private static void whatHasNoEndIsGivenUp() throws Exception {
        final AtomicInteger stage = new AtomicInteger();

        begin();
        together(1, number -> JaywalkLocks.enter(1, METHOD));
        check(CLAIMS.taken() == 1, "a hold has no place");
        JaywalkLocks.oldHolds(0);
        check(CLAIMS.taken() == 0 && JaywalkLocks.lost() == 1, "who has ended has a hold");

        final Thread thread = Thread.startVirtualThread(() -> {
            JaywalkLocks.enter(1, METHOD);
            stage.set(1);
            while (stage.get() == 1) {
                LockSupport.parkNanos(1_000_000);
            }
            JaywalkLocks.enter(1, METHOD);
            JaywalkLocks.exit(METHOD);
        });
        while (stage.get() == 0) {
            Thread.sleep(1);
        }
        final Object[] old = JaywalkLocks.oldHolds(0);

        check(((Thread[]) old[0])[0] == thread && ((long[]) old[1])[0] == 1, "its hold is old");
        JaywalkLocks.drop(thread, ((long[]) old[1])[1]);
        check(((Thread[]) JaywalkLocks.oldHolds(0)[0])[0] == null, "it is asked for twice");
        stage.set(2);
        thread.join();
        check(figure(1, JaywalkLocks.HOLDS) == 1 && figure(1, JaywalkLocks.COUNT) == 3, figure(1, JaywalkLocks.HOLDS) + " holds are timed");
        check(CLAIMS.taken() == 0, "a hold that was given up has a place");
        JaywalkLocks.end();
    }

    private static void isAllGivenBack() {
        check(CLAIMS.taken() == 0, CLAIMS.taken() + " places are taken, and nobody has a lock");
        check(JaywalkLocks.lost() == 0, JaywalkLocks.lost() + " are lost");
        JaywalkLocks.end();
    }

    public static void main(String[] arguments) throws Exception {
        JaywalkSlot.virtualThread = Class.forName("java.lang.BaseVirtualThread");
        JaywalkClaims.open(CLAIMS);
        eachIsTimed();
        manyAreSampled();
        moreThanThereAreRoomsFor();
        whatHasNoEndIsGivenUp();
        System.out.println("ok");
    }
}
