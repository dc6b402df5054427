import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Map;
import java.util.TreeMap;

/** What the kernel knows of the threads of this process. Linux only. */
final class Threads {
    private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
    /** "cpu TID NANOSECONDS NAME", a line of the workload's account, of threads that ended. */
    private static final Map<Long, String> ACCOUNT = new TreeMap<>();

    private Threads() {
    }

    /** CPU that this thread has used, in nanoseconds. */
    static long cpuNs() {
        return BEAN.getCurrentThreadCpuTime();
    }

    static long currentTid() {
        try {
            // No canonical name: JDK 8 remembers the first that it found, of whatever thread.
            return Long.parseLong(Files.readSymbolicLink(Paths.get("/proc/thread-self")).getFileName().toString());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** CPU of any live thread of this process, in nanoseconds; -1 when it is gone. */
    static long cpuNsOf(long tid) {
        try {
            return Long.parseLong(read("/proc/self/task/" + tid + "/schedstat").split(" ")[0]);
        } catch (IOException e) {
            return -1;
        }
    }

    /** CPU of all live threads of this process, in nanoseconds. */
    static long liveNs() {
        long sum = 0;
        for (String tid : new File("/proc/self/task").list()) {
            sum += Math.max(0, cpuNsOf(Long.parseLong(tid)));
        }
        return sum;
    }

    /** Notes what this thread has used until now. The last thing that a thread does. */
    static void account(String name) {
        account(currentTid(), cpuNs(), name);
    }

    static void account(long tid, long cpuNs, String name) {
        synchronized (ACCOUNT) {
            ACCOUNT.put(tid, "cpu " + tid + " " + cpuNs + " " + name);
        }
    }

    /** Prints the accounts of threads that have ended, and the kernel's of all that live. */
    static void printAccounts() {
        for (String tid : new File("/proc/self/task").list()) {
            long cpuNs = cpuNsOf(Long.parseLong(tid));
            String name = nameOf(tid);
            if (cpuNs >= 0 && !name.isEmpty()) {
                account(Long.parseLong(tid), cpuNs, name);
            }
        }
        synchronized (ACCOUNT) {
            ACCOUNT.values().forEach(System.out::println);
        }
    }

    /** Thread whose name begins so; -1 when there is none. */
    static long tidOf(String prefix) {
        for (String tid : new File("/proc/self/task").list()) {
            if (nameOf(tid).startsWith(prefix)) {
                return Long.parseLong(tid);
            }
        }
        return -1;
    }

    /** Until a thread hardly runs any more: of half a second less than a tenth. It is given two minutes. */
    static void awaitRest(String prefix) throws InterruptedException {
        long tid = tidOf(prefix);
        for (int i = 0; tid >= 0 && i < 240; i++) {
            long before = cpuNsOf(tid);
            Thread.sleep(500);
            if (cpuNsOf(tid) - before < 50_000_000) {
                return;
            }
        }
    }

    /** Empty when the thread is gone. */
    private static String nameOf(String tid) {
        try {
            return read("/proc/self/task/" + tid + "/comm").trim();
        } catch (IOException e) {
            return "";
        }
    }

    static String read(String path) throws IOException {
        return new String(Files.readAllBytes(Paths.get(path)), StandardCharsets.UTF_8);
    }
}
