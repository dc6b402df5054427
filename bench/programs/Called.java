import java.io.IOException;

/**
 * Calls a small method again and again, which is compiled by itself and not into its caller.
 *
 *     java Called UNITS                       of a million calls each
 *     java Called UNITS JAYWALK PROBE         asks the command first to take this probe out of it
 *     java Called UNITS clock                 looks at the clock before and after each call
 */
public final class Called {
    private static final int CALLS = 1_000_000;

    private Called() {
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 20; i++) { /* what is taken out was compiled before */
            units(0, 1);
        }
        if (args.length == 2) {
            Fixed.measure(Called::unitsByTheClock, Integer.parseInt(args[0]));
            return;
        }
        if (args.length > 1) {
            detach(args[1], args[2]);
        }
        Fixed.measure(Called::units, Integer.parseInt(args[0]));
    }

    private static void detach(String command, String probe) throws IOException, InterruptedException {
        Process detach = new ProcessBuilder(command, "probe", "detach", Long.toString(ProcessHandle.current().pid()), probe)
            .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        if (detach.waitFor() != 0) {
            throw new IOException(command + " did not detach " + probe);
        }
    }

    private static long units(int first, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < CALLS; j++) {
                sum += called(first + i, j);
            }
        }
        return sum;
    }

    private static long unitsByTheClock(int first, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < CALLS; j++) {
                long begin = System.nanoTime();
                sum += called(first + i, j);
                if (System.nanoTime() - begin > 1_000_000_000_000L) {
                    throw new IllegalStateException("a call of a thousand seconds");
                }
            }
        }
        return sum;
    }

    static int called(int unit, int number) {
        return unit * 31 + (number ^ number >>> 7);
    }
}
