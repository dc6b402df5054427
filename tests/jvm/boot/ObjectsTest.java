package java.lang;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What tells which objects' locks are taken, without an agent: exactly, while threads end, give up their rows and it is read; and where there is no room, nothing is lost of the sums, and what is taken most stays.
 *
 * <p>A line `ok` at the end.
 */
public final class ObjectsTest {
    private static final int ROW = JaywalkObjectTable.ROW;

    private ObjectsTest() {
    }

    private static void check(boolean isGood, String what) {
        if (!isGood) {
            throw new IllegalStateException(what);
        }
    }

    private static void begin() {
        JaywalkObjects.begin();
        JaywalkObjects.publish();
    }

    private static Thread thread(Runnable body) {
        final Thread thread = new Thread(() -> {
            body.run();
            JaywalkObjects.ended(Thread.currentThread());
        });

        thread.start();
        return thread;
    }

    private static long sumOf(long[] rows) {
        long sum = 0;

        for (int at = 0; at < rows.length; at += ROW) {
            sum += rows[at + JaywalkObjectTable.COUNT];
        }
        return sum;
    }

    private static long sumOf(long[][] figures) {
        long sum = sumOf(figures[0]);

        for (int at = 0; at < figures[1].length; at += JaywalkObjectTable.PLACE) {
            sum += figures[1][at + JaywalkObjectTable.OTHERS_COUNT];
        }
        return sum;
    }

    private static void threadsEndMeanwhile() throws InterruptedException {
        final int rounds = 30, atOnce = 6, calls = 3000;
        final Object[] locks = new Object[1000];
        long last = 0;

        for (int i = 0; i < locks.length; i++) {
            locks[i] = new Object();
        }
        begin();
        for (int round = 0; round < rounds; round++) {
            final List<Thread> threads = new ArrayList<>();

            for (int i = 0; i < atOnce; i++) {
                threads.add(thread(() -> {
                    for (int call = 0; call < calls; call++) {
                        JaywalkObjects.entered(locks[call % locks.length], 3 + call % 2);
                    }
                }));
            }
            while (threads.stream().anyMatch(Thread::isAlive)) {
                final long now = sumOf(JaywalkObjects.figures());

                check(now >= last, "counts that were there are gone: " + last + ", then " + now);
                last = now;
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        final long[][] figures = JaywalkObjects.figures();
        check(sumOf(figures) == (long) rounds * atOnce * calls, sumOf(figures) + " are counted");
        check(figures[2][0] == 0, figures[2][0] + " are lost");
        for (JaywalkObjects.Cells cells : JaywalkObjects.owned) {
            check(cells.owner == null, "a thread that has ended keeps its rows");
        }

        final Map<Long, Long> byKey = new HashMap<>();
        for (int at = 0; at < figures[0].length; at += ROW) {
            byKey.put(figures[0][at], figures[0][at + JaywalkObjectTable.COUNT]);
        }
        for (int i = 0; i < locks.length; i++) {
            final Long count = byKey.get(JaywalkObjectTable.key(3 + i % 2, System.identityHashCode(locks[i])));

            check(count != null && count >= (long) rounds * atOnce * calls / locks.length, "object " + i + ": " + count);
        }
        JaywalkObjects.forget(new int[] {4});
        check(sumOf(JaywalkObjects.figures()) == (long) rounds * atOnce * calls / 2, "one of two places is forgotten");
        JaywalkObjects.end();
        JaywalkObjects.entered(locks[0], 3); // finds nothing to do
    }

    /** More than there is room for: what is taken most stays, and the sums are whole. */
    private static void manyObjects() throws InterruptedException {
        final int objects = 400_000, threads = 3;
        final List<Thread> all = new ArrayList<>();

        begin();
        for (int i = 0; i < threads; i++) {
            all.add(thread(() -> {
                final Object hot = new Object();

                for (int j = 0; j < objects; j++) {
                    JaywalkObjects.entered(new Object(), 9);
                    JaywalkObjects.entered(hot, 9);
                    JaywalkObjects.called(null, 77, 1, 10);
                    JaywalkObjects.called(null, 77, 0, 10);
                }
            }));
        }
        for (Thread thread : all) {
            thread.join();
        }
        final long[][] figures = JaywalkObjects.figures();
        int hot = 0;

        check(sumOf(figures) == 3L * objects * threads, sumOf(figures) + " are counted");
        for (int at = 0; at < figures[0].length; at += ROW) {
            if (figures[0][at] == JaywalkObjectTable.key(10, 77)) {
                check(figures[0][at + JaywalkObjectTable.COUNT] == (long) objects * threads, "of a lock that all take");
                check(figures[0][at + JaywalkObjectTable.THREADS] >= 1L << 62, "by more than two");
            } else {
                hot += figures[0][at + JaywalkObjectTable.COUNT] >= objects ? 1 : 0;
            }
        }
        check(hot == threads, hot + " of what each has alone are left");
        check(figures[1].length > 9 * JaywalkObjectTable.PLACE && figures[1][9 * JaywalkObjectTable.PLACE] > 100_000, "others have no room");
        JaywalkObjects.end();
    }

    private static void whoUsesThem() {
        long threads = JaywalkObjectTable.with(0, 5);

        check(JaywalkObjectTable.with(threads, 5) == 5, "the same one");
        threads = JaywalkObjectTable.with(threads, 0x7fffffff);
        check(threads == (5 | 0x7fffffffL << 31), "two");
        check(JaywalkObjectTable.with(threads, 5) == threads && JaywalkObjectTable.with(threads, 0x7fffffff) == threads, "these again");
        threads = JaywalkObjectTable.with(threads, 6);
        check(threads == (5 | 0x7fffffffL << 31 | 1L << 62), "more");
        check(JaywalkObjectTable.with(threads, 7) == threads, "no less");
    }

    private static void tablesAreAdded() {
        final JaywalkObjectTable table = new JaywalkObjectTable(16);
        final long first = JaywalkObjectTable.key(0, 1);

        table.add(first, 10, 5);
        table.add(first, 1, 6 | 7L << 31);
        check(sumOf(table.rows) == 11, "one object");
        for (int i = 2; i < 100; i++) {
            table.add(JaywalkObjectTable.key(i % 3, i), 2, 5);
        }
        table.add(JaywalkObjectTable.key(5, 100), 1, 5 | 6L << 31); // less than what is there
        check(sumOf(new long[][] {table.rows, table.others}) == 11 + 98 * 2 + 1, "the sum is whole");
        check(table.others[5 * JaywalkObjectTable.PLACE] == 1 && table.others[5 * JaywalkObjectTable.PLACE + 2] == 1, "one other, by several");
        for (int at = 0; at < table.rows.length; at += ROW) {
            check(table.rows[at] != first || table.rows[at + 2] >= 1L << 62, "by more than two");
        }
        check(sumOf(table.copy().rows) == sumOf(table.rows), "a copy");
    }

    public static void main(String[] arguments) throws Exception {
        final Throwable[] wrong = new Throwable[1];

        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> wrong[0] = e);
        whoUsesThem();
        tablesAreAdded();
        threadsEndMeanwhile();
        manyObjects();
        if (wrong[0] != null) {
            throw new IllegalStateException(wrong[0]);
        }
        System.out.println("ok");
    }
}
