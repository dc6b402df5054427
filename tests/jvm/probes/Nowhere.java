package probes;

import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;
import probed.Probed;

/** Its rule matches nothing. */
@Probe(rules = "include class name=no.such.Class")
public class Nowhere {
    private Nowhere() {}

    /** Never. */
    @OnEntry
    public static void entered() {
        Probed.handle(0);
    }
}
