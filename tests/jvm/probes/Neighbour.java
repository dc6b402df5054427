package probes;

import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;
import probed.Neighbours;

/** Counts calls of classes that others change, too. */
@Probe(name = "neighbour", maxCallsPerSecond = 0, maxNanosPerCall = 0)
public class Neighbour {
    private Neighbour() {}

    /** In whatever class of that name. */
    @OnEntry({"include class name=probed.Neighbours$Shop method name=one|two|version", "include class name=shelved.Shelf method name=take"})
    public static void entered() {
        Neighbours.HANDLED.incrementAndGet();
    }
}
