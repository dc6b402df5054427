package probes;

import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;
import probed.Births;
import probed.Probed;

/** Its initialiser runs when a handler is called first, and takes as long as the test wants. */
@Probe(name = "unborn", maxNanosPerCall = 0, maxCallsPerSecond = 0, maxThrows = 0,
    rules = "include class name=probed.Probed$Target method name=add")
public class Unborn {
    private static final long BORN = Probed.cycle;

    static {
        Probed.born(Unborn.class);
        Births.begin();
    }

    private Unborn() {}

    /** Waits until the class is there. */
    @OnEntry
    public static void entered() {
        Probed.handle(BORN);
    }
}
