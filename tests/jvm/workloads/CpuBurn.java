import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Threads of every kind that use CPU, and an account of how much: Java code, Java code in short
 * bursts, native code of a Java thread, a native thread that the JVM never hears of, the collector.
 *
 *     java -Djava.library.path=DIR CpuBurn [--sampled]
 *
 * With --sampled the native thread waits until a timer exists for it, so that all of its work is
 * seen: who finds threads by looking for them cannot see what they did before.
 */
final class CpuBurn {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long TIMER_LIMIT_NS = 30 * SECOND_NS;

    static volatile long sink;

    static native void burnNative(long cpuNs);

    /** Starts a thread that waits; its id. */
    static native long startForeign();

    static native void releaseForeign(long cpuNs);

    /** Waits for its end; the CPU that it used, in nanoseconds. */
    static native long joinForeign();

    private interface Work {
        void run() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        System.loadLibrary("burner");
        long foreignTid = startForeign();
        if (args.length > 0 && args[0].equals("--sampled")) {
            awaitTimer(foreignTid);
        }
        releaseForeign(3 * SECOND_NS / 2);

        List<Thread> threads = new ArrayList<>();
        threads.add(start("burn-one", () -> burn(5 * SECOND_NS / 4)));
        threads.add(start("burn-two", () -> burn(2 * SECOND_NS)));
        threads.add(start("burn-three", () -> burn(3 * SECOND_NS)));
        threads.add(start("burn-bursts", () -> burnInBursts(3 * SECOND_NS / 2)));
        threads.add(start("burn-native", () -> burnNative(2 * SECOND_NS)));
        threads.add(start("burn-garbage", () -> makeGarbage(3 * SECOND_NS / 2)));
        for (Thread thread : threads) {
            thread.join();
        }
        Threads.account(foreignTid, joinForeign(), "foreign");
        Threads.printAccounts();
    }

    private static Thread start(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            Threads.account(name);
        }, name);
        thread.start();
        return thread;
    }

    private static void burn(long cpuNs) {
        while (Threads.cpuNs() < cpuNs) {
            spin(20_000);
        }
    }

    private static void burnInBursts(long cpuNs) throws InterruptedException {
        Random random = new Random(1);
        while (Threads.cpuNs() < cpuNs) {
            spin(1_000 * random.nextInt(5_000));
            Thread.sleep(0, 1 + random.nextInt(900_000));
        }
    }

    private static void spin(int rounds) {
        long value = sink;
        for (int i = 0; i < rounds; i++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
        }
        sink = value;
    }

    /** Allocates over a live set until the collector has used so much. */
    private static void makeGarbage(long collectorCpuNs) throws IOException {
        long collector = Threads.tidOf("GC Thread#0");
        if (collector < 0) {
            throw new IllegalStateException("no thread GC Thread#0; run with -XX:+UseParallelGC");
        }
        Object[] live = new Object[200_000];
        Random random = new Random(2);
        while (Threads.cpuNsOf(collector) < collectorCpuNs) {
            for (int i = 0; i < 20_000; i++) {
                Object[] node = new Object[8];
                node[0] = live[random.nextInt(live.length)];
                if (node[0] instanceof Object[]) {
                    ((Object[]) node[0])[0] = null;
                }
                live[random.nextInt(live.length)] = node;
            }
        }
    }

    /** Source: proc(5), /proc/pid/timers: "notify: signal/tid.4711". */
    private static void awaitTimer(long tid) throws Exception {
        long start = System.nanoTime();
        while (!Threads.read("/proc/self/timers").contains("/tid." + tid + "\n")) {
            if (System.nanoTime() - start > TIMER_LIMIT_NS) {
                throw new IllegalStateException("no timer for the native thread " + tid);
            }
            Thread.sleep(20);
        }
    }
}
