package probes;

import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;
import probed.Probed;

/** Goes too far by calls. */
@Probe(maxNanosPerCall = 0, maxCallsPerSecond = 10, rules = "include class name=probed.Probed$Target method name=add")
public class TooOften {
    private TooOften() {}

    /** Often. */
    @OnEntry
    public static void entered() {
        Probed.handle(Long.MAX_VALUE);
    }
}
