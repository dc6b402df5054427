package probes;

import io.jaywalk.probe.OnReturn;
import io.jaywalk.probe.Probe;
import probed.Linked;

/** Its place is reached when the method ends, and not before. */
@Probe(name = "returning", maxNanosPerCall = 0, maxCallsPerSecond = 0, maxThrows = 0,
    rules = "include class name=probed.Linked$Stays method name=stay")
public class Returning {
    private Returning() {}

    /** Is called by whoever is left when it is there. */
    @OnReturn
    public static void returned() {
        Linked.RETURNED.incrementAndGet();
    }
}
