package probes;

import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;
import probed.Probed;

/** Of classes that are what they are by something far above them. */
@Probe(maxCallsPerSecond = 0, maxNanosPerCall = 0, rules = "include class package=probed extends=probed.Probed$Far method name=run")
public class Above {
    private Above() {}

    /** Counts. */
    @OnEntry
    public static void entered() {
        Probed.HANDLED.incrementAndGet();
    }
}
