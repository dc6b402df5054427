package io.jaywalk;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Threads that serve requests, whose ids say which thread and which request they are; one waits all the time, for a request of its own;
 * one, of no name of ours, works for nobody. Half-way an attribute gets a name that nobody knew. Prints how many requests and spans there
 * were.
 *
 * <p>Argument: for how many milliseconds at least.
 */
public final class Requests {
    private static final int THREADS = 2;
    private static final long SPAN_BIT = Long.MIN_VALUE; /* no id of a root has it */
    private static final AtomicLong REQUESTS = new AtomicLong();
    private static final AtomicLong SPANS = new AtomicLong();
    private static final Pattern ROTATIONS = Pattern.compile("^jaywalk_generations_total (\\d+)$", Pattern.MULTILINE);
    private static final ThreadMXBean THREADS_OWN = ManagementFactory.getThreadMXBean();
    private static final CountDownLatch SERVED = new CountDownLatch(1);
    private static volatile Attribute late;
    private static volatile long sink;

    private Requests() {}

    /** Of its own time and of that by the clock: who is kept from running works no less. */
    private static void burn(long ns) {
        long end = System.nanoTime() + ns;
        long endOfOwn = THREADS_OWN.getCurrentThreadCpuTime() + ns;
        do {
            for (int i = 0; i < 10_000; i++) {
                sink += end;
            }
        } while (System.nanoTime() < end || THREADS_OWN.getCurrentThreadCpuTime() < endOfOwn);
    }

    /** As many requests before the attribute has its name as behind that, at least. */
    private static void serve(Jaywalk jaywalk, int number) {
        Attribute tenant = jaywalk.attribute("tenant");
        Attribute request = jaywalk.attribute("request.id");
        long behind = 0;
        for (long i = 1; behind == 0 || i < 2 * behind; i++) {
            behind = behind == 0 && late != null ? i : behind;
            long root = (long) (number + 1) << 32 | i;
            jaywalk.setContext(number + 1, root, root | SPAN_BIT, root);
            tenant.set("tenant \u00e9\u0000\u0001" + number);
            request.set(Long.toString(root));
            if (late != null) {
                late.set("late " + number);
            }
            try (Span span = jaywalk.span("step " + number)) {
                burn(2_000_000);
            }
            SPANS.incrementAndGet();
            if (jaywalk.endpoint(root, "GET /thread/" + number, "work")) {
                REQUESTS.incrementAndGet();
            }
            jaywalk.clearContext();
        }
    }

    private static void sleep(Jaywalk jaywalk) {
        jaywalk.setContext(99, 99, 99, 99);
        jaywalk.attribute("tenant").set("sleeper");
        try {
            SERVED.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
        jaywalk.clearContext();
    }

    private static long rotations(Jaywalk jaywalk) {
        Matcher matcher = ROTATIONS.matcher(jaywalk.execute("metrics"));
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    public static void main(String[] args) throws InterruptedException {
        Jaywalk jaywalk = Jaywalk.get();
        long lengthNs = Long.parseLong(args[0]) * 1_000_000;
        Thread[] threads = new Thread[THREADS + 2];
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            threads[i] = new Thread(() -> serve(jaywalk, number), "server " + i);
        }
        threads[THREADS] = new Thread(() -> sleep(jaywalk), "sleeper");
        threads[THREADS + 1] = new Thread(() -> burn(lengthNs), "nobody");
        for (Thread thread : threads) {
            thread.start();
        }
        Thread.sleep(lengthNs / 2_000_000);
        // The first samples are in the file by then, without a field for it.
        while (rotations(jaywalk) < 2) {
            Thread.sleep(50);
        }
        late = jaywalk.attribute("late.name");
        for (int i = 0; i < THREADS; i++) {
            threads[i].join();
        }
        SERVED.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(REQUESTS.get() + " " + SPANS.get());
    }
}
