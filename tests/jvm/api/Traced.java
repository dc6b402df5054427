package traced;

import io.jaywalk.Jaywalk;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Methods that are traced, in sessions that are started and stopped; the program clocks each call itself, inside and around.
 *
 * <p>Arguments: `once`, or sessions, platform or virtual, the folder of the recordings. A line a method and session: `1 work LEAST MOST`, how many calls were
 * clocked as long enough inside of the method, and how many around it; then `ok`.
 */
public final class Traced {
    private static final long LONG_NS = 2_000_000;
    private static final int THREADS = 3, LONG_CALLS = 10, SHORT_CALLS = 20_000, DEEP = 4;

    private static final String[] NAMES = {"work", "failed", "<init>", "deep"};
    private static final AtomicLong[] LEAST = new AtomicLong[NAMES.length], MOST = new AtomicLong[NAMES.length];

    private static volatile long sink;

    /** What is built. */
    static final class Part {
        Part(long ns) {
            spin(2, ns);
        }
    }

    private Traced() {
    }

    private static void spin(int name, long ns) {
        final long begin = System.nanoTime();
        long took;

        do {
            sink++;
            took = System.nanoTime() - begin;
        } while (took < ns);
        if (took >= LONG_NS) {
            LEAST[name].incrementAndGet();
        }
    }

    static int work(long ns) {
        if (ns == 0) {
            return 1;
        }
        spin(0, ns);
        return 2;
    }

    static void failed(long ns) {
        spin(1, ns);
        throw new IllegalStateException("as it has to");
    }

    /** Each of the calls is as long as the innermost. */
    static int deep(int depth, long ns) {
        final long begin = System.nanoTime();
        int sum = 1;

        if (depth == 1) {
            while (System.nanoTime() - begin < ns) {
                sink++;
            }
        } else {
            sum += deep(depth - 1, ns);
        }
        if (System.nanoTime() - begin >= LONG_NS) {
            LEAST[3].incrementAndGet();
        }
        return sum;
    }

    private static void around(int name, long begin) {
        if (System.nanoTime() - begin >= LONG_NS) {
            MOST[name].incrementAndGet();
        }
    }

    private static void callShort() {
        for (int i = 0; i < SHORT_CALLS; i++) {
            final long begin = System.nanoTime();

            sink += work(0);
            around(0, begin);
        }
    }

    private static void callLong() {
        long begin = System.nanoTime();

        sink += work(LONG_NS + 100_000);
        around(0, begin);
        begin = System.nanoTime();
        try {
            failed(LONG_NS + 100_000);
        } catch (IllegalStateException expected) {
            around(1, begin);
        }
        begin = System.nanoTime();
        if (new Part(LONG_NS + 100_000) != null) {
            around(2, begin);
        }
        begin = System.nanoTime();
        sink += deep(DEEP, LONG_NS + 100_000);
        if (System.nanoTime() - begin >= LONG_NS) {
            MOST[3].addAndGet(DEEP);
        }
    }

    private static void calls() {
        callShort();
        for (int i = 0; i < LONG_CALLS; i++) {
            callLong();
        }
        callShort();
    }

    private static Thread begin(boolean isVirtual) throws ReflectiveOperationException {
        final Runnable calls = Traced::calls;

        if (isVirtual) {
            final Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);

            return (Thread) start.invoke(null, calls);
        }

        final Thread thread = new Thread(calls, "worker");

        thread.start();
        return thread;
    }

    private static void session(Jaywalk jaywalk, int number, boolean isVirtual, String folder) throws Exception {
        final List<Thread> threads = new ArrayList<>();

        for (int i = 0; i < NAMES.length; i++) {
            LEAST[i] = new AtomicLong();
            MOST[i] = new AtomicLong();
        }
        jaywalk.execute("start,event=cpu,trace=traced.Traced.work:2ms,trace=traced.*.failed:2ms,trace=traced.Traced$Part.<init>:2ms"
            + ",trace=traced.Traced.de*:2ms,trace=traced.Nowhere.at:1ms,file=" + folder + "/" + number + ".jfr");
        for (int i = 0; i < THREADS; i++) {
            threads.add(begin(isVirtual));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (!jaywalk.execute("probe-list").contains("\"name\":\"trace\"")) {
            throw new AssertionError("the list does not name the traced methods");
        }

        final String said = jaywalk.execute("stop");

        if (!said.contains("trace: no class that was loaded has a method traced.Nowhere.at")) {
            throw new AssertionError("it is not said that a pattern met nothing: " + said);
        }
        if (!jaywalk.execute("probe-list").contains("\"probes\":[]")) {
            throw new AssertionError("something is left: " + jaywalk.execute("probe-list"));
        }
        for (int i = 0; i < NAMES.length; i++) {
            System.out.println(number + " " + NAMES[i] + " " + LEAST[i].get() + " " + MOST[i].get());
        }
        calls(); // of which nothing is told
    }

    /** So many calls of a method of the JDK that it does not call itself while it starts. */
    private static void once() {
        final BitSet set = new BitSet();

        for (int i = 0; i < 1000; i++) {
            set.flip(i);
        }
        System.out.println(set.cardinality());
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("once")) {
            once();
            return;
        }

        final Jaywalk jaywalk = Jaywalk.get();
        final int sessions = Integer.parseInt(arguments[0]);

        for (int i = 1; i <= sessions; i++) {
            session(jaywalk, i, arguments[1].equals("virtual"), arguments[2]);
        }
        System.out.println(sink == 0 ? "nothing was done" : "ok");
    }
}
