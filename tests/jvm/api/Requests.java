package io.jaywalk;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that serve requests, whose ids say which thread and which request they are; one waits all the time, for a request of its own;
 * one, of no name of ours, works for nobody. Half-way an attribute gets a name that nobody knew. Prints how many requests and spans there
 * were.
 *
 * <p>Argument: for how many milliseconds.
 */
public final class Requests {
    private static final int THREADS = 2;
    private static final long SPAN_BIT = Long.MIN_VALUE; /* no id of a root has it */
    private static final AtomicLong REQUESTS = new AtomicLong();
    private static final AtomicLong SPANS = new AtomicLong();
    private static volatile Attribute late;
    private static volatile long sink;

    private Requests() {}

    private static void burn(long ns) {
        long end = System.nanoTime() + ns;
        while (System.nanoTime() < end) {
            sink += end;
        }
    }

    private static void serve(Jaywalk jaywalk, int number, long endNs) {
        Attribute tenant = jaywalk.attribute("tenant");
        Attribute request = jaywalk.attribute("request.id");
        for (long i = 1; System.nanoTime() < endNs; i++) {
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

    private static void sleep(Jaywalk jaywalk, long endNs) {
        jaywalk.setContext(99, 99, 99, 99);
        jaywalk.attribute("tenant").set("sleeper");
        long leftMs = (endNs - System.nanoTime()) / 1_000_000;
        try {
            Thread.sleep(Math.max(leftMs, 1));
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
        jaywalk.clearContext();
    }

    public static void main(String[] args) throws InterruptedException {
        Jaywalk jaywalk = Jaywalk.get();
        long beginNs = System.nanoTime();
        long lengthNs = Long.parseLong(args[0]) * 1_000_000;
        Thread[] threads = new Thread[THREADS + 2];
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            threads[i] = new Thread(() -> serve(jaywalk, number, beginNs + lengthNs), "server " + i);
        }
        threads[THREADS] = new Thread(() -> sleep(jaywalk, beginNs + lengthNs), "sleeper");
        threads[THREADS + 1] = new Thread(() -> burn(lengthNs), "nobody");
        for (Thread thread : threads) {
            thread.start();
        }
        Thread.sleep(lengthNs / 2_000_000);
        late = jaywalk.attribute("late.name");
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(REQUESTS.get() + " " + SPANS.get());
    }
}
