import io.jaywalk.probe.Argument;
import io.jaywalk.probe.Duration;
import io.jaywalk.probe.Event;
import io.jaywalk.probe.Field;
import io.jaywalk.probe.MethodName;
import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.OnReturn;
import io.jaywalk.probe.Probe;

/** Counts in a program of which something else is asked, and tells of what takes long. */
@Probe(name = "in-faulted", maxNanosPerCall = 0, maxCallsPerSecond = 0, rules = "include class name=Faulted method name=deep|spin|work")
public class InFaulted {
    private static long entries;

    private InFaulted() {}

    @Event("Spun")
    private static void spun(@Field("spun") String method, @Field("entries") long count, @Duration long ns) {}

    /** Called all the time. */
    @OnEntry
    public static void entered(@Argument(0) int depth) {
        entries += depth < 0 ? 0 : 1;
    }

    /** Called some times. */
    @OnReturn("include class name=Faulted method name=spin")
    public static void returned(@MethodName String method, @Duration long ns) {
        spun(method, entries, ns);
    }
}
