import io.jaywalk.probe.Argument;
import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;

/** A plain counter at the entry of many methods of many classes. */
@Probe(name = "count-many", maxCallsPerSecond = 0, maxNanosPerCall = 0)
public final class CountMany {
    static long count;

    private CountMany() {
    }

    @OnEntry("include class name=Many* method name=m*")
    public static void entered(@Argument(0) int number) {
        count += number;
    }
}
