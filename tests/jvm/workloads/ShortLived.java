import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Thousands of threads that live for 1 to 15 ms of CPU beside long ones, and an account of it: of each long
 * thread, of the short ones together, and of the process by its own clock; "unseen" is what the process used
 * meanwhile beside what threads had used that live yet, and those that ended when they looked at their clocks last.
 *
 *     java ShortLived THREADS LONG_SECONDS
 */
final class ShortLived {
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final Object LOCK = new Object();

    static volatile long sink;
    private static long shortNs;
    private static long lastingNs;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long longNs = (long) (Double.parseDouble(args[1]) * 1e9);
        long processBefore = PROCESS.getProcessCpuTime();
        long liveBefore = Threads.liveNs();
        Thread[] lasting = {
            start("lasting-one", longNs), start("lasting-two", longNs / 2),
        };
        List<Thread> unwatched = new ArrayList<>();
        Random random = new Random(1);
        for (int i = 0; i < threads; i++) {
            long cpuNs = 1_000_000 + random.nextInt(14_000_000);
            Thread thread = new Thread(() -> liveShortly(cpuNs), "short-" + i);
            thread.start();
            if (i % 2 == 1) {
                thread.join();
            } else {
                unwatched.add(thread);
            }
        }
        for (Thread thread : unwatched) {
            thread.join();
        }
        for (Thread thread : lasting) {
            thread.join();
        }
        synchronized (LOCK) {
            Threads.account(-1, shortNs, "short");
        }
        // Who waits for a thread goes on before it is gone.
        while (Threads.tidOf("short-") >= 0 || Threads.tidOf("lasting-") >= 0) {
            Thread.sleep(10);
        }
        long process = PROCESS.getProcessCpuTime() - processBefore;
        Threads.account(-2, process, "process");
        synchronized (LOCK) {
            Threads.account(-3, process - (Threads.liveNs() - liveBefore) - shortNs - lastingNs, "unseen");
        }
        Threads.printAccounts();
    }

    private static Thread start(String name, long cpuNs) {
        Thread thread = new Thread(() -> {
            burn(cpuNs);
            long tid = Threads.currentTid();
            long used = Threads.cpuNs();
            Threads.account(tid, used, name);
            synchronized (LOCK) {
                lastingNs += used;
            }
        }, name);
        thread.start();
        return thread;
    }

    private static void liveShortly(long cpuNs) {
        burn(cpuNs);
        long used = Threads.cpuNs();
        synchronized (LOCK) {
            shortNs += used;
        }
    }

    private static void burn(long cpuNs) {
        while (Threads.cpuNs() < cpuNs) {
            long value = sink;
            for (int i = 0; i < 5_000; i++) {
                value = value * 6364136223846793005L + 1442695040888963407L;
            }
            sink = value;
        }
    }
}
