package probes;

import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;
import probed.Probed;

/** Goes too far by exceptions. */
@Probe(name = "thrower", maxThrows = 3, maxNanosPerCall = 0, maxCallsPerSecond = 0,
    rules = "include class name=probed.Probed$Target method name=add")
public class Thrower {
    private Thrower() {}

    /** Reaches nobody. */
    @OnEntry
    public static void entered() {
        Probed.handle(Long.MAX_VALUE);
        throw new IllegalStateException("of a handler");
    }
}
