import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread, `busy`, whose time is spent where safepoints are, and where they are not; and one that asks the JVM for the
 * stack of it, at random times, as profilers do that sample at safepoints. Prints "begun", at its end a line for each line
 * of a method that the latter saw on top: "stopped METHOD LINE COUNT".
 *
 *     java Bias SECONDS        of CPU time that the thread uses
 */
final class Bias implements Runnable {
    private static final int STACKS_LEAST = 300;

    static volatile long sink;
    private static volatile boolean isOver;

    public static void main(String[] args) throws Exception {
        Thread busy = new Thread(new Bias(), "busy");
        busy.start();
        System.out.println("begun");
        ThreadMXBean clocks = ManagementFactory.getThreadMXBean();
        long endNs = (long) (Double.parseDouble(args[0]) * 1e9);
        Map<String, Integer> seen = new TreeMap<>();
        Random random = new Random(7);
        int count = 0;
        /* By its clock, however much of a processor it gets. */
        for (long usedNs = 0; usedNs < endNs || count < STACKS_LEAST; usedNs = clocks.getThreadCpuTime(busy.getId())) {
            /* Not in whole milliseconds: the busy thread's rounds may take one, and then it is found at the same place again and again. */
            LockSupport.parkNanos(1_000_000 + random.nextInt(12_000_000));
            StackTraceElement[] stack = busy.getStackTrace();
            /* What is compiled only later is no matter. */
            if (stack.length > 0 && usedNs > endNs / 6) {
                seen.merge(stack[0].getMethodName() + " " + stack[0].getLineNumber(), 1, Integer::sum);
                count++;
            }
        }
        isOver = true;
        busy.join();
        for (Map.Entry<String, Integer> place : seen.entrySet()) {
            System.out.println("stopped " + place.getKey() + " " + place.getValue());
        }
    }

    @Override public void run() {
        int state = 1;
        while (!isOver) {
            state = round(state);
        }
        sink = state;
    }

    /* Methods are called, and not inlined: -XX:CompileCommand=dontinline,Bias.* */
    static int round(int state) {
        state = counted(state);
        state = shortOne(state);
        state = uncounted(state);
        state = both(state);
        return state;
    }

    /* A counted loop of ints asks nothing: where the method returns, its caller is on top. */
    static int counted(int state) {
        for (int i = 0; i < 400_000; i++) {
            state = state * 31 + (state >>> 7);
        }
        return state;
    }

    static int shortOne(int state) {
        return state + 1;
    }

    /* A loop whose end is not known beforehand asks in each round. */
    static int uncounted(int state) {
        int seed = state | 1;
        int rounds = 0;
        while (rounds >>> 7 != 3_000) {
            seed ^= seed << 13;
            seed ^= seed >>> 17;
            seed ^= seed << 5;
            rounds += (seed & 3) == 0 ? 2 : 1;
        }
        return state + rounds;
    }

    /* Of a counted loop before another call the time goes to that call. */
    static int both(int state) {
        for (int i = 0; i < 400_000; i++) {
            state = state * 31 + (state >>> 7);
        }
        return later(state);
    }

    static int later(int state) {
        long rounds = 5_000;
        while (rounds != 0) {
            state = state * 31 + (state >>> 9);
            rounds--;
        }
        return state;
    }
}
