import io.jaywalk.probe.Argument;
import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;

/** The least that a probe can do: a plain counter. */
@Probe(name = "count-calls", maxCallsPerSecond = 0, maxNanosPerCall = 0)
public final class CountCalls {
    static long count;

    private CountCalls() {
    }

    @OnEntry("include class name=Called method name=called")
    public static void entered(@Argument(1) int number) {
        count += number;
    }
}
