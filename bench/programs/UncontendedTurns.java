import io.jaywalk.Jaywalk;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/**
 * What lock mode costs who takes locks that nobody else wants, within one JVM: four rounds of the same slices of work, of which the second and the third are in
 * a session of locks; then four in none, which say what such differences are when there is none to find. And so on. Programs that are
 * compiled another way, or lie elsewhere in memory, differ by more than what is sought; here both sides are the same code at the same addresses,
 * and a drift of the machine takes as much from the outer rounds as from the inner ones.
 *
 * Prints `locks PERCENT` and `nothing PERCENT` in turns: how much more CPU time of the thread a slice of the inner rounds took, of which a quarter took less.
 *
 *     java UncontendedTurns TURNS SLICES FILE
 */
final class UncontendedTurns {
    private static final int WARM_UP = 10;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Jaywalk JAYWALK = Jaywalk.get();
    private static long result;

    private UncontendedTurns() {
    }

    public static void main(String[] args) {
        int turns = Integer.parseInt(args[0]);
        int slices = Integer.parseInt(args[1]);
        String start = "start,event=lock,lock=10us,file=" + args[2];
        Uncontended.prepare();
        for (int i = 0; i < WARM_UP; i++) {
            turn(slices, null);
        }
        for (int i = 0; i < turns; i++) {
            System.out.println("locks " + turn(slices, start));
            System.out.println("nothing " + turn(slices, null));
        }
        System.out.println("result " + result);
    }

    /** The first round behind each change is not counted: what begins and ends a session is no part of what lock mode costs. */
    private static double turn(int slices, String start) {
        long[] outer = new long[2 * slices];
        long[] inner = new long[2 * slices];

        round(slices, outer, 0);
        round(slices, outer, 0);
        if (start != null) {
            JAYWALK.execute(start);
        }
        round(slices, inner, 0);
        round(slices, inner, 0);
        round(slices, inner, slices);
        if (start != null) {
            JAYWALK.execute("stop");
        }
        round(slices, outer, slices);
        round(slices, outer, slices);
        return 100.0 * (typical(inner) - typical(outer)) / typical(outer);
    }

    /** Nobody had its way in the midst of it: a quarter of the slices took less. */
    private static double typical(long[] slices) {
        Arrays.sort(slices);
        return slices[slices.length / 4];
    }

    private static void round(int slices, long[] took, int at) {
        long begin = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < slices; i++) {
            result = Uncontended.units(0, 1);
            long end = THREADS.getCurrentThreadCpuTime();
            took[at + i] = end - begin;
            begin = end;
        }
    }
}
