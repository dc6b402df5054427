import io.jaywalk.Jaywalk;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the census of locks costs who takes locks that nobody else wants, within one JVM: slices of a million acquisitions without it, in it, and when it
 * has ended, of monitors and of locks of java.util.concurrent in methods that are compiled for themselves.
 *
 * With `objects` behind it is told which objects they are, too, and of a synchronized method also.
 *
 * Prints `monitor`, `latch` and `method`, each with the nanoseconds of CPU time for an acquisition before, in and behind it, of which a quarter of the slices
 * took less.
 *
 *     java CensusTurns SLICES FILE [objects]
 */
final class CensusTurns {
    private static final int TIMES = 1_000_000, WARM_UP = 12, OFF = 0, ON = 1, ENDED = 2;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Object MONITOR = new Object();
    private static final ReentrantLock LATCH = new ReentrantLock();
    private static final CensusTurns ACCOUNT = new CensusTurns();
    private static long sum;

    private CensusTurns() {
    }

    public static void main(String[] args) {
        Jaywalk jaywalk = Jaywalk.get();
        int slices = Integer.parseInt(args[0]);
        double[][] took = new double[3][];

        took[OFF] = measure(slices);
        String locks = args.length > 2 ? args[2] : "census";
        String answer = jaywalk.execute("start,event=lock,lock=10ms,locks=" + locks + ",file=" + args[1]);
        took[ON] = measure(slices);
        jaywalk.execute("stop");
        took[ENDED] = measure(slices);
        System.out.println("monitor " + took[OFF][0] + " " + took[ON][0] + " " + took[ENDED][0]);
        System.out.println("latch " + took[OFF][1] + " " + took[ON][1] + " " + took[ENDED][1]);
        System.out.println("method " + took[OFF][2] + " " + took[ON][2] + " " + took[ENDED][2]);
        System.out.println("result " + sum + " " + answer.replace('\n', ' '));
    }

    private static double[] measure(int slices) {
        long[] monitors = new long[slices];
        long[] latches = new long[slices];
        long[] methods = new long[slices];

        for (int i = -WARM_UP; i < slices; i++) {
            long begin = THREADS.getCurrentThreadCpuTime();
            for (int j = 0; j < TIMES; j++) {
                enter(MONITOR, j);
            }
            long between = THREADS.getCurrentThreadCpuTime();
            for (int j = 0; j < TIMES; j++) {
                latch(LATCH, j);
            }
            long behind = THREADS.getCurrentThreadCpuTime();
            for (int j = 0; j < TIMES; j++) {
                ACCOUNT.method(j);
            }
            if (i >= 0) {
                monitors[i] = between - begin;
                latches[i] = behind - between;
                methods[i] = THREADS.getCurrentThreadCpuTime() - behind;
            }
        }
        return new double[] {typical(monitors), typical(latches), typical(methods)};
    }

    /** Nobody had its way in the midst of it: a quarter of the slices took less. */
    private static double typical(long[] slices) {
        Arrays.sort(slices);
        return (double) slices[slices.length / 4] / TIMES;
    }

    private static void enter(Object lock, int number) {
        synchronized (lock) {
            sum = sum * 31 + number;
        }
    }

    private synchronized void method(int number) {
        sum = sum * 31 + number;
    }

    private static void latch(ReentrantLock lock, int number) {
        lock.lock();
        try {
            sum = sum * 31 + number;
        } finally {
            lock.unlock();
        }
    }
}
