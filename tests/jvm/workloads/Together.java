import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Does at once what each engine tells of, and knows how much of it: CPU time of two methods of one thread, times that another one waits in two
 * methods, bytes that are allocated and kept, waits for a lock that one thread holds, and a loop that does not ask for safepoints while another
 * thread wants them. Prints "WHAT NUMBER" lines: nanoseconds and bytes.
 */
public final class Together {
    private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
    private static final int[] DATA = new int[1 << 12];
    private static final int ARRAY = 1000, KEPT = 16000;
    private static final long MS = 1_000_000;

    private static final class Shelf {
    }

    private static final class Node {
        long a, b, c, d;
    }

    private static final Shelf SHELF = new Shelf();
    private static final List<byte[]> KEEPER = new ArrayList<>();
    private static volatile Object sink;
    private static volatile boolean isOver, isHeld;
    private static volatile int round;
    private static long sum;

    private Together() {
    }

    // ---- CPU time ----

    private static long cpuNs() {
        return BEAN.getCurrentThreadCpuTime();
    }

    private static long burn(long untilNs) {
        long now;

        do {
            for (int i = 0; i < 2000; i++)
                sum += DATA[i & (DATA.length - 1)] ^ i;
            now = cpuNs();
        } while (now < untilNs);
        return now;
    }

    private static long heavy(long untilNs) {
        return burn(untilNs);
    }

    private static long light(long untilNs) {
        return burn(untilNs);
    }

    private static void burner(long[] told) {
        Random random = new Random(1);
        long begin = cpuNs(), now = begin;

        while (now - begin < 1200 * MS) {
            long heavy = heavy(now + 3 * MS + random.nextInt(12) * MS);
            told[0] += heavy - now;
            now = light(heavy + MS + random.nextInt(4) * MS);
            told[1] += now - heavy;
        }
    }

    // ---- waiting ----

    private static long sleep(long ms) {
        long begin = System.nanoTime();

        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return System.nanoTime() - begin;
    }

    private static long nap(long ms) {
        return sleep(ms);
    }

    private static long rest(long ms) {
        return sleep(ms);
    }

    private static void sleeper(long[] told) {
        Random random = new Random(2);

        for (int i = 0; i < 30; i++) {
            told[2] += nap(20 + random.nextInt(50));
            burn(cpuNs() + MS / 2);
            told[3] += rest(5 + random.nextInt(30));
            burn(cpuNs() + MS / 2);
        }
    }

    // ---- memory ----

    private static byte[] array() {
        return new byte[ARRAY];
    }

    private static Object node() {
        return new Node();
    }

    private static byte[] kept() {
        return new byte[KEPT];
    }

    private static void allocator(long[] told) {
        for (int i = 0; i < 200_000; i++) {
            sink = array();
            sink = node();
            if (i % 100 == 0)
                KEEPER.add(kept());
        }
        told[4] = (16L + ARRAY) * 200_000;
        told[5] = 48L * 200_000;
        told[6] = (16L + KEPT) * 2_000;
    }

    // ---- a lock ----

    private static void hold(long ms) {
        synchronized (SHELF) {
            isHeld = true;
            sleep(ms);
            isHeld = false;
        }
    }

    private static long want() {
        long begin = System.nanoTime();

        synchronized (SHELF) {
            return System.nanoTime() - begin;
        }
    }

    private static void owner() {
        for (int i = 1; i <= 15; i++) {
            round = i;
            hold(40);
            sleep(10);
        }
        round = Integer.MAX_VALUE;
    }

    private static void victim(long[] told, int at) {
        for (int seen = 0; round != Integer.MAX_VALUE;) {
            if (isHeld && round != seen) {
                seen = round;
                told[at] += want();
            } else {
                sleep(1);
            }
        }
    }

    // ---- safepoints ----

    private static int counted(int count) {
        int local = 0;
        for (int i = 0; i < count; i++)
            local += DATA[i & (DATA.length - 1)] * i; // who is late is in this loop
        return local;
    }

    private static void late() {
        for (int i = 0; i < 20_000; i++)
            sum += counted(1000);
        while (!isOver)
            sum += counted(100_000_000);
    }

    private static void asker() {
        while (!isOver) {
            sleep(60);
            BEAN.dumpAllThreads(false, false);
        }
    }

    private static Thread begin(String name, Runnable body) {
        Thread thread = new Thread(body, name);

        thread.start();
        return thread;
    }

    public static void main(String[] args) throws InterruptedException {
        String[] names = {"heavy", "light", "nap", "rest", "array", "node", "kept", "want0", "want1"};
        long[] told = new long[names.length];
        List<Thread> bounded = new ArrayList<>(), others = new ArrayList<>();

        others.add(begin("late", Together::late));
        others.add(begin("asker", Together::asker));
        bounded.add(begin("burner", () -> burner(told)));
        bounded.add(begin("sleeper", () -> sleeper(told)));
        bounded.add(begin("allocator", () -> allocator(told)));
        bounded.add(begin("owner", Together::owner));
        bounded.add(begin("victim-0", () -> victim(told, 7)));
        bounded.add(begin("victim-1", () -> victim(told, 8)));
        for (Thread thread : bounded)
            thread.join();
        isOver = true;
        for (Thread thread : others)
            thread.join();
        for (int i = 0; i < names.length; i++)
            System.out.println(names[i] + " " + told[i]);
    }
}
