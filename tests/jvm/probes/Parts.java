import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;
import java.util.concurrent.atomic.LongAdder;

/** Counts calls of the parts of Paused. */
@Probe(name = "parts", maxNanosPerCall = 0, maxCallsPerSecond = 0)
public class Parts {
    private static final LongAdder CALLS = new LongAdder();

    private Parts() {}

    /** At the entry. */
    @OnEntry("include class name=probed.Paused$Part method name=run")
    public static void entered() {
        CALLS.increment();
    }
}
