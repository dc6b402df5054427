import io.jaywalk.Attribute;
import io.jaywalk.Context;
import io.jaywalk.Jaywalk;
import io.jaywalk.JaywalkException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32;

/**
 * A short life whose result does not depend on whether it is profiled, or how that goes. Prints the result; what the agent
 * answers goes to stderr.
 *
 *     java Faulted STEP...       work: two threads, each of some 60 ms of CPU time; work=MS; context: with contexts; attribute=NAME;
 *                                keep=COUNT: objects that stay, each of 4 KiB; late=COUNT: so many safepoints wait for a thread; sleep=MS;
 *                                lock=COUNT: so many threads wait for a monitor, and as many for a ReentrantLock, that another one has;
 *                                wait: until the standard input ends; any other is a command for the agent
 */
public final class Faulted {
    private static final int THREADS = 2;
    private static final int ROUNDS_A_MS = 100; /* about: of CPU time, however busy the machine is */

    private static final int COPIED_BYTES = 16 << 20;

    private final long[] sums = new long[THREADS];
    private final List<byte[]> kept = new ArrayList<>();
    private volatile boolean isLateOver;
    private final Jaywalk jaywalk = Jaywalk.ifPresent();

    private Faulted() {}

    public static void main(String[] args) throws Exception {
        Faulted faulted = new Faulted();
        for (String step : args) {
            faulted.take(step);
        }
        System.out.println("sums " + faulted.sums[0] + " " + faulted.sums[1]);
    }

    private void take(String step) throws Exception {
        String[] words = step.split("=", 2);
        switch (words[0]) {
        case "work":
            work(words.length > 1 ? Integer.parseInt(words[1]) : 60, false);
            break;
        case "context":
            work(60, true);
            break;
        case "attribute":
            jaywalk.attribute(words[1]);
            break;
        case "keep":
            keep(Integer.parseInt(words[1]));
            break;
        case "late":
            late(Integer.parseInt(words[1]));
            break;
        case "lock":
            lock(Integer.parseInt(words[1]));
            break;
        case "sleep":
            Thread.sleep(Integer.parseInt(words[1]));
            break;
        case "wait":
            System.out.println("begun");
            while (System.in.read() >= 0) {
                continue;
            }
            break;
        default:
            command(step);
            break;
        }
    }

    private void command(String step) {
        try {
            System.err.println("answer to " + step + ": " + jaywalk.execute(step));
        } catch (JaywalkException e) {
            System.err.println("[jaywalk] error: answer to " + step + ": " + e.getMessage());
        }
    }

    private void keep(int count) {
        for (int i = 0; i < count; i++) {
            kept.add(new byte[4096]);
        }
        System.gc();
    }

    /** A copy does not ask whether it is to stop. */
    private void late(int count) throws InterruptedException {
        byte[] array = new byte[COPIED_BYTES];
        Thread copies = new Thread(() -> {
            while (!isLateOver) {
                System.arraycopy(array, 0, array, 1, array.length - 1);
            }
        }, "faulted-late");
        copies.start();
        for (int i = 0; i < count; i++) {
            Thread.sleep(10);
            System.gc();
        }
        isLateOver = true;
        copies.join();
        isLateOver = false;
        sums[0] += array[array.length - 1];
    }

    /** While this thread has the locks another one waits for them; it says that it does. */
    private void lock(int count) throws InterruptedException {
        Object monitor = new Object();
        ReentrantLock lock = new ReentrantLock();
        for (int i = 0; i < count; i++) {
            Thread wanting = new Thread(() -> {
                synchronized (monitor) {
                    sums[0]++;
                }
                lock.lock();
                sums[0] *= 3;
                lock.unlock();
            }, "faulted-wanting");
            lock.lock();
            synchronized (monitor) {
                wanting.start();
                await(wanting, Thread.State.BLOCKED);
            }
            await(wanting, Thread.State.WAITING);
            lock.unlock();
            wanting.join();
            synchronized (monitor) {
                monitor.wait(1);
            }
        }
    }

    private static void await(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
        Thread.sleep(2);
    }

    private void work(int ms, boolean hasContext) throws InterruptedException {
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            threads[i] = new Thread(() -> work(number, ms, hasContext), "faulted-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void work(int number, int ms, boolean hasContext) {
        if (!hasContext) {
            spin(number, ms * ROUNDS_A_MS);
            return;
        }
        Attribute tenant = jaywalk.attribute("tenant");
        try (Context context = jaywalk.context(1, number + 1, 7 + number, 70 + number)) {
            tenant.set("acme-" + number);
            jaywalk.endpoint(70 + number, "GET /sums/" + number);
            spin(number, ms * ROUNDS_A_MS);
        }
    }

    private void spin(int number, int rounds) {
        long sum = deep(40);
        for (int i = 0; i < rounds; i++) {
            sum += deep(10 + i % 60);
        }
        sums[number] = sums[number] * 31 + sum;
    }

    private static long deep(int depth) {
        if (depth > 0) {
            return deep(depth - 1) * 3 + depth;
        }
        byte[] bytes = new byte[4096];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 31);
        }
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return crc.getValue();
    }
}
