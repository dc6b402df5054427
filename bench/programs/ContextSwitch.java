import io.jaywalk.Attribute;
import io.jaywalk.Context;
import io.jaywalk.Jaywalk;
import io.jaywalk.Span;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/**
 * What it costs a thread to say what it works for: nanoseconds a call, the median and the least of ROUNDS rounds after WARM_UP others,
 * a line each. CPU time of the thread, so that other processes do not count; of a virtual one, which has none, that of its only
 * carrier is not told, and the clock of the wall has to do.
 * Arguments: platform or virtual, then the milliseconds of a round. Without an agent it is what the API costs that does nothing.
 */
public final class ContextSwitch {
    private static final int WARM_UP = 8;
    private static final int ROUNDS = 15;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static boolean isVirtual;

    private static final Jaywalk JAYWALK = Jaywalk.ifPresent();
    private static final Attribute TENANT = JAYWALK.attribute("tenant");
    private static final Attribute KIND = JAYWALK.attribute("kind");
    private static final String[] TENANTS = new String[64];

    /** So much of each that the clock does not count; gives something that depends on all of it. */
    private interface Work {
        long run(int count);
    }

    private ContextSwitch() {}

    private static long setAndClear(int count) {
        for (int i = 0; i < count; i++) {
            JAYWALK.setContext(i, ~i, i + 1, i + 2);
            JAYWALK.clearContext();
        }
        return count;
    }

    private static long set(int count) {
        for (int i = 0; i < count; i++) {
            JAYWALK.setContext(i, ~i, i + 1, i + 2);
        }
        return count;
    }

    private static long attribute(int count) {
        for (int i = 0; i < count; i++) {
            TENANT.set(TENANTS[i & 63]);
        }
        return count;
    }

    private static long scope(int count) {
        for (int i = 0; i < count; i++) {
            try (Context context = JAYWALK.context(i, ~i, i + 1, i + 2)) {
                nothing(context);
            }
        }
        return count;
    }

    private static long nested(int count) {
        try (Context outer = JAYWALK.context(1, 2, 3, 3)) {
            nothing(outer);
            TENANT.set("acme");
            KIND.set("interactive");
            scope(count);
        }
        return count;
    }

    private static long request(int count) {
        for (int i = 0; i < count; i++) {
            try (Context context = JAYWALK.context(i, ~i, i + 1, i + 2)) {
                nothing(context);
                TENANT.set(TENANTS[i & 63]);
                KIND.set("interactive");
            }
        }
        return count;
    }

    private static long span(int count) {
        for (int i = 0; i < count; i++) {
            try (Span span = JAYWALK.span("checkout")) {
                nothing(span);
            }
        }
        return count;
    }

    private static long endpoint(int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += JAYWALK.endpoint(i, "GET /orders/{id}", "servlet.request") ? 1 : 0;
        }
        return sum;
    }

    private static void nothing(AutoCloseable scope) {
        if (scope == null) {
            throw new IllegalStateException("no scope");
        }
    }

    private static long nowNs() {
        return isVirtual ? System.nanoTime() : THREADS.getCurrentThreadCpuTime();
    }

    private static void measure(String name, Work work, long roundNs) {
        int count = 1000;
        long sum = 0;
        double[] figures = new double[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            long begin = nowNs();
            sum += work.run(count);
            double ns = nowNs() - begin;
            if (round >= 0) {
                figures[round] = ns / count;
            }
            count = (int) Math.max(1000, Math.min(50_000_000, count * (roundNs / Math.max(ns, 1))));
        }
        Arrays.sort(figures);
        System.out.printf("%s\t%.1f\t%.1f%n", name, figures[ROUNDS / 2], figures[0]);
        if (sum == 42) {
            System.out.println();
        }
    }

    private static void all(long roundNs) {
        measure("set", ContextSwitch::set, roundNs);
        JAYWALK.clearContext();
        measure("set and clear", ContextSwitch::setAndClear, roundNs);
        measure("scope", ContextSwitch::scope, roundNs);
        measure("scope within one of 2 attributes", ContextSwitch::nested, roundNs);
        measure("scope with 2 attributes set", ContextSwitch::request, roundNs);
        measure("attribute set", ContextSwitch::attribute, roundNs);
        JAYWALK.clearContext();
        measure("span, two clocks read", ContextSwitch::span, roundNs);
        measure("endpoint", ContextSwitch::endpoint, roundNs);
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < TENANTS.length; i++) {
            TENANTS[i] = "tenant-" + i * 31;
        }
        isVirtual = args[0].equals("virtual");
        long roundNs = Long.parseLong(args[1]) * 1_000_000;
        Runnable work = () -> all(roundNs);
        Thread thread = isVirtual
            ? (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work)
            : new Thread(work);
        if (!isVirtual) {
            thread.start();
        }
        thread.join();
    }
}
