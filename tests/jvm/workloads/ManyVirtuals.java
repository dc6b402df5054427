import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/**
 * Ten thousand virtual threads that are all there until the last has done its work: ten that burn known times of CPU in
 * several turns, and a crowd in groups of known sizes, each of which has one turn. Every turn follows a wait, at the bottom
 * of eight calls, so that most of a thread's frames lie in the heap.
 *
 *     java ManyVirtuals THREADS      prints "virtual NUMBER NANOSECONDS GROUP NAME"
 *
 * What each used is read from the clock of its carrier, before it can leave that.
 */
final class ManyVirtuals implements Runnable {
    private static final long MS = 1_000_000;
    private static final int SINGLES = 10;
    private static final int SINGLE_TURNS = 8;
    /** So many that five standard errors of the largest one, of 11,000 samples, are a percentage point. */
    private static final int GROUPS = 30;
    private static final int DEPTH = 8;
    private static final CarrierClock CLOCK = new CarrierClock();

    private final String group;
    private final String name;
    private final int turns;
    private final long turnNs;
    private final CountDownLatch begin;
    private final CountDownLatch left;
    private Thread thread;
    private long usedNs;

    private ManyVirtuals(String group, String name, int turns, long turnNs, CountDownLatch begin, CountDownLatch left) {
        this.group = group;
        this.name = name;
        this.turns = turns;
        this.turnNs = turnNs;
        this.begin = begin;
        this.left = left;
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        CountDownLatch begin = new CountDownLatch(1);
        CountDownLatch left = new CountDownLatch(count);
        List<ManyVirtuals> works = new ArrayList<>();
        for (int i = 0; i < SINGLES; i++) {
            String name = "single " + i;
            works.add(new ManyVirtuals(name, name, SINGLE_TURNS, (i + 1) * 5 * MS, begin, left));
        }
        for (int k = 0; k < GROUPS; k++) {
            int end = SINGLES + (count - SINGLES) * (k + 1) * (k + 2) / (GROUPS * (GROUPS + 1));
            while (works.size() < end) {
                works.add(new ManyVirtuals("crowd " + k, "crowd " + k + " #" + works.size(), 1, MS, begin, left));
            }
        }
        /* Threads of one group do not follow each other. */
        Collections.shuffle(works, new Random(1));
        for (ManyVirtuals work : works) {
            work.thread = Virtuals.start(work, work.name);
        }
        begin.countDown();
        for (ManyVirtuals work : works) {
            work.thread.join();
            System.out.println("virtual " + work.thread.getId() + " " + work.usedNs + " " + work.group.replace(' ', '-')
                    + " " + work.name);
        }
    }

    @Override
    public void run() {
        try {
            begin.await();
            for (int i = 0; i < turns; i++) {
                call(DEPTH);
            }
            left.countDown();
            left.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void call(int depth) throws InterruptedException {
        if (depth > 1) {
            call(depth - 1);
            return;
        }
        Thread.sleep(1);
        long begunNs = CLOCK.getAsLong();
        Virtuals.burn(turnNs);
        usedNs += CLOCK.getAsLong() - begunNs;
    }
}
