import io.jaywalk.probe.Duration;
import io.jaywalk.probe.MethodName;
import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.OnReturn;
import io.jaywalk.probe.Probe;
import java.util.concurrent.atomic.LongAdder;

/** Counts the calls of the workload Hot, without a limit. */
@Probe(name = "hot-calls", maxCallsPerSecond = 0, maxNanosPerCall = 0, rules = "hot: include class name=Hot method name=hottest|lukewarm")
public class HotCalls {
    private static final LongAdder CALLS = new LongAdder();
    private static final LongAdder NS = new LongAdder();

    private HotCalls() {}

    /** At the entry. */
    @OnEntry
    public static void entered(@MethodName String method) {
        if (method.startsWith("Hot.")) {
            CALLS.increment();
        }
    }

    /** At the return. */
    @OnReturn
    public static void returned(@Duration long ns) {
        NS.add(ns);
    }
}
