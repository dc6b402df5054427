import java.util.ArrayList;
import java.util.List;

/**
 * Virtual threads that work and wait where they cannot leave their carrier: in Java that native code called, in the initialiser of a
 * class, and holding a monitor, which pins up to JDK 23; and one that can leave it.
 *
 *     java Pinned ROUNDS WAIT_MS      prints "pinned KIND NUMBER CPU_NANOSECONDS WAIT_NANOSECONDS STARVED_NANOSECONDS"
 *
 * What each used is read from the clock of its carrier, how long it waited from the wall clock. It was starved where, shortly
 * before it began to wait, it ran and had no processor.
 */
final class Pinned implements Runnable {
    private static final long MS = 1_000_000;
    /** At the end of a round it works for so long at least after whatever kept it waiting that it did not tell of. */
    private static final long LAST = 20 * MS;
    private static final CarrierClock CLOCK = new CarrierClock();

    /** Initialised by the one thread that works in there. */
    private static final class Initialised {
        static {
            byInitialiser.work();
        }

        static void begin() {
        }
    }

    static volatile Pinned byInitialiser;

    private final String kind;
    private final int rounds;
    private final long waitMs;
    private long usedNs;
    private long waitedNs;
    private long starvedNs;

    private Pinned(String kind, int rounds, long waitMs) {
        this.kind = kind;
        this.rounds = rounds;
        this.waitMs = waitMs;
    }

    public static void main(String[] args) throws Exception {
        List<Pinned> works = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (String kind : new String[] {"native", "initialiser", "monitor", "free"}) {
            Pinned work = new Pinned(kind, Integer.parseInt(args[0]), Long.parseLong(args[1]));
            works.add(work);
            threads.add(Virtuals.start(work, kind));
        }
        for (int i = 0; i < threads.size(); i++) {
            Pinned work = works.get(i);
            threads.get(i).join();
            System.out.println("pinned " + work.kind + " " + threads.get(i).getId() + " " + work.usedNs + " " + work.waitedNs
                    + " " + work.starvedNs);
        }
    }

    @Override
    public void run() {
        if (kind.equals("native")) {
            callBack(this);
        } else if (kind.equals("initialiser")) {
            byInitialiser = this;
            Initialised.begin();
        } else if (kind.equals("monitor")) {
            locked();
        } else {
            work();
        }
    }

    /** Calls calledBack. */
    private static native void callBack(Pinned work);

    private void calledBack() {
        work();
    }

    private synchronized void locked() {
        work();
    }

    void work() {
        for (int i = 0; i < rounds; i++) {
            long begunNs = CLOCK.getAsLong();
            Virtuals.burn(100 * MS - LAST);
            long lastNs = System.nanoTime();
            Virtuals.burn(LAST);
            starvedNs += Math.max(0, System.nanoTime() - lastNs - LAST);
            usedNs += CLOCK.getAsLong() - begunNs;
            waitedNs += await();
        }
    }

    private long await() {
        long begunNs = System.nanoTime();
        try {
            Thread.sleep(waitMs);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return System.nanoTime() - begunNs;
    }
}
