import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * A fixed amount of work, of which bench/native/measure takes the time: a third as much for warming up, then the work itself between
 * two marks, at each of which it waits until the clocks have been read. Or in turns, where they are wanted (Turns).
 *
 * Prints `mark` twice, then `threads NUMBER`, the Java threads alive, `java_cpu_ns NUMBER`, what these have used, `java_work_ns NUMBER`, what
 * they have used between the marks, and `result NUMBER`, which only the right results give.
 */
final class Fixed {
    /** Does so many units of work and returns a number made of all their results, whatever their order. */
    interface Work {
        long units(int first, int count) throws Exception;
    }

    private Fixed() {
    }

    static void measure(Work work, int units) throws Exception {
        if (Turns.areWanted()) {
            Turns.measure(work, units);
            return;
        }
        long warm = work.units(0, units / 3);
        long before = javaCpuNs();
        mark();
        long result = work.units(units / 3, units);
        mark();
        long after = javaCpuNs();
        System.out.println("threads " + ManagementFactory.getThreadMXBean().getThreadCount());
        System.out.println("java_cpu_ns " + after);
        System.out.println("java_work_ns " + (after - before));
        System.out.println("result " + (warm * 31 + result));
    }

    private static long javaCpuNs() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long cpuNs = 0;
        for (long id : threads.getAllThreadIds()) {
            cpuNs += Math.max(0, threads.getThreadCpuTime(id));
        }
        return cpuNs;
    }

    /** CPU nanoseconds of the process, until now. */
    static long mark() throws IOException {
        StringBuilder answer = new StringBuilder();

        System.out.println("mark");
        System.out.flush();
        for (int c = System.in.read(); c != '\n'; c = System.in.read()) {
            if (c < 0) {
                throw new IOException("nobody measures: run it below bench/native/measure");
            }
            answer.append((char) c);
        }
        return Long.parseLong(answer.toString());
    }
}
