package probes;

import io.jaywalk.probe.Argument;
import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.OnReturn;
import io.jaywalk.probe.OnThrow;
import io.jaywalk.probe.Probe;
import io.jaywalk.probe.Returned;
import io.jaywalk.probe.Thrown;
import probed.Beside;

/** Stays, in the methods that other probes come to and go from. */
@Probe(name = "permanent", maxNanosPerCall = 0, maxCallsPerSecond = 0, maxThrows = 0,
    rules = "include class name=probed.Probed$Target method name=add")
public class Permanent {
    private Permanent() {}

    /** Counts, and waits where the test wants it. */
    @OnEntry
    public static void entered(@Argument(0) int number) {
        Beside.entered(number);
    }

    /** Counts. */
    @OnReturn
    public static void returned(@Returned int sum, @Argument(0) int number) {
        Beside.returned(sum, number);
    }

    /** Counts. */
    @OnThrow
    public static void thrown(@Thrown Throwable exception) {
        Beside.thrown(exception);
    }
}
