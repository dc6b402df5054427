package probes;

import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;
import java.util.concurrent.locks.LockSupport;
import probed.Probed;

/** Goes too far by time. */
@Probe(maxNanosPerCall = 2000, maxCallsPerSecond = 0, rules = "include class name=probed.Probed$Target method name=add")
public class TooSlow {
    private TooSlow() {}

    /** Never in two microseconds. */
    @OnEntry
    public static void entered() {
        Probed.handle(Long.MAX_VALUE);
        LockSupport.parkNanos(50_000);
    }
}
