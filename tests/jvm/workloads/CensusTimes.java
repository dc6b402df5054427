import java.util.concurrent.locks.ReentrantLock;

/**
 * Locks that are held for known times: what the program's own clock says within each hold, and around it, is what the census has to lie between. A line for each method:
 * its holds, both sums, and how many of either are as long as 1 us, 10 us, ... 100 ms at least.
 *
 * <p>With "virtual" they are held by virtual threads, several at a time: mounted all the time, and asleep with the lock, some of which go on on another carrier. `twice` takes the lock once more
 * within each hold.
 *
 * <p>That of `busy`, which has more of them than are timed, ends with the root of the sum of squares of how far each is from their mean.
 */
public class CensusTimes {
    private static final int STEPS = 6, BUSY = 60_000;
    private static final long MS = 1_000_000;

    private final ReentrantLock lock = new ReentrantLock();

    /** What the program knows of a method. */
    private static final class Known {
        final String method;
        final long[] innerSteps = new long[STEPS], outerSteps = new long[STEPS];
        long count, innerNs, outerNs;
        double squares;

        Known(String method) {
            this.method = method;
        }

        synchronized void add(long inner, long outer) {
            count++;
            innerNs += inner;
            outerNs += outer;
            squares += (double) outer * outer;
            note(innerSteps, inner);
            note(outerSteps, outer);
        }

        private static void note(long[] steps, long ns) {
            long least = 1000;

            for (int i = 0; i < STEPS && ns >= least; i++) {
                steps[i]++;
                least *= 10;
            }
        }

        /** Of a sum of squares less a square as large nothing below 0 is left. */
        double deviation() {
            return Math.sqrt(Math.max(0, squares - (double) outerNs * outerNs / count));
        }

        void tell(String word) {
            System.out.print(word + " " + method + " " + count + " " + innerNs + " " + outerNs);
            for (int i = 0; i < STEPS; i++) {
                System.out.print(" " + innerSteps[i] + ":" + outerSteps[i]);
            }
            System.out.println(" " + (long) deviation());
        }
    }

    private interface Hold {
        /** For so long within the lock; how long that was. */
        long hold(long ns) throws Exception;
    }

    private static long spin(long ns) {
        long begun = System.nanoTime();
        long now = begun;

        while (now - begun < ns) {
            now = System.nanoTime();
        }
        return now - begun;
    }

    private static long sleep(long ns) throws InterruptedException {
        long begun = System.nanoTime();

        Thread.sleep(ns / MS);
        return System.nanoTime() - begun;
    }

    private long slept(long ns) throws InterruptedException {
        synchronized (lock) {
            return sleep(ns);
        }
    }

    private long spun(long ns) {
        synchronized (lock) {
            return spin(ns);
        }
    }

    private synchronized long method(long ns) {
        return spin(ns);
    }

    private long locked(long ns) throws InterruptedException {
        lock.lock();
        try {
            return sleep(ns);
        } finally {
            lock.unlock();
        }
    }

    private long each(long ns) {
        synchronized (this) {
            return spin(ns);
        }
    }

    private long twice(long ns) throws InterruptedException {
        lock.lock();
        try {
            return ns > 0 ? twice(-ns) : sleep(-ns);
        } finally {
            lock.unlock();
        }
    }

    private long busy(long ns) {
        synchronized (lock) {
            return spin(ns);
        }
    }

    private static void run(Known known, int times, long ns, long more, Hold hold) throws Exception {
        long chance = 1;

        for (int i = 0; i < times; i++) {
            chance = chance * 6364136223846793005L + 1442695040888963407L;
            long wanted = ns + (more == 0 ? 0 : (chance >>> 33) % more);
            long begun = System.nanoTime();
            long inner = hold.hold(wanted);

            known.add(inner, System.nanoTime() - begun);
        }
    }

    /** Each in threads of a kind, each of which has locks of its own. */
    private interface Body {
        void run(CensusTimes own) throws Exception;
    }

    private static void together(int count, boolean isVirtual, Body body) throws Exception {
        Thread[] threads = new Thread[count];

        for (int i = 0; i < count; i++) {
            Runnable run = () -> {
                try {
                    body.run(new CensusTimes());
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            };

            threads[i] = isVirtual ? virtual(run) : new Thread(run);
            if (!isVirtual) {
                threads[i].start();
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static Thread virtual(Runnable body) throws Exception {
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
    }

    /** "VirtualThread[#31]/runnable@ForkJoinPool-1-worker-1": of a virtual thread whose is the processor. */
    private static String carrier() {
        String text = Thread.currentThread().toString();

        return text.substring(text.indexOf('@') + 1);
    }

    /** Holds of a sleeper, until one of them has ended on another carrier than it began on. */
    private static void move(CensusTimes own, Known known) throws Exception {
        for (boolean hasMoved = false; !hasMoved && known.count < 900;) {
            String before = carrier();

            run(known, 1, MS, 0, own::moved);
            hasMoved = !carrier().equals(before);
        }
    }

    private long moved(long ns) throws InterruptedException {
        lock.lock();
        try {
            return sleep(ns);
        } finally {
            lock.unlock();
        }
    }

    private static void virtualThreads() throws Exception {
        Known slept = new Known("slept"), spun = new Known("spun"), method = new Known("method"), locked = new Known("locked"), twice = new Known("twice"),
            moved = new Known("moved"), busy = new Known("busy");

        together(10, true, own -> run(slept, 10, 10 * MS, 0, own::slept));
        together(2, true, own -> run(spun, 100, 2 * MS, 0, own::spun));
        together(2, true, own -> run(method, 200, MS / 20, 2 * MS, own::method));
        together(40, true, own -> run(locked, 10, 10 * MS, 0, own::locked));
        together(20, true, own -> run(twice, 10, 10 * MS, 0, own::twice));
        together(8, true, own -> move(own, moved));
        together(1, true, own -> run(busy, BUSY, 15_000, 10_000, own::busy));
        for (Known one : new Known[] {slept, spun, method, locked, moved}) {
            one.tell("held");
        }
        twice.tell("twice");
        busy.tell("sampled");
    }

    private static void platformThreads() throws Exception {
        CensusTimes all = new CensusTimes();
        Known slept = new Known("slept"), spun = new Known("spun"), method = new Known("method"), locked = new Known("locked"), each = new Known("each"),
            busy = new Known("busy");

        run(slept, 20, 20 * MS, 0, all::slept);
        run(spun, 200, 2 * MS, 0, all::spun);
        run(method, 400, MS / 20, 2 * MS, all::method);
        run(locked, 20, 10 * MS, 0, all::locked);
        together(2, false, own -> run(each, 100, 2 * MS, 0, own::each));
        run(busy, BUSY, 15_000, 10_000, all::busy);
        for (Known one : new Known[] {slept, spun, method, locked, each}) {
            one.tell("held");
        }
        busy.tell("sampled");
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) {
            platformThreads();
        } else {
            virtualThreads();
        }
        System.out.println("ok");
    }
}
