package probes;

import io.jaywalk.probe.Argument;
import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.OnThrow;
import io.jaywalk.probe.Probe;

/** Where the stack ends. */
@Probe(maxNanosPerCall = 0, maxCallsPerSecond = 0, maxThrows = 0, rules = "include class name=probed.Probed method name=recurse")
public class Recursive {
    private static volatile int last;

    private Recursive() {}

    /** Wants some stack of its own. */
    @OnEntry
    public static void entered(@Argument(0) int depth) {
        last = String.valueOf(depth).length();
    }

    /** All the way up. */
    @OnThrow
    public static void thrown(@Argument(0) int depth) {
        last = depth;
    }
}
