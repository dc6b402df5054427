package probes;

import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;
import probed.Probed;

/** There before main. */
@Probe(maxNanosPerCall = 0, rules = "include class name=probed.Probed method name=main; include class name=probed.Probed$Target method name=add")
public class Early {
    private Early() {}

    /** Of both. */
    @OnEntry
    public static void entered() {
        Probed.handle(Long.MAX_VALUE);
    }
}
