import io.jaywalk.probe.Argument;
import io.jaywalk.probe.Event;
import io.jaywalk.probe.Field;
import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;

/** The same name as Told, and the same event with other fields: a probe that was changed. */
@Probe(name = "told", maxCallsPerSecond = 0, maxNanosPerCall = 0)
public class ToldAnew {
    private ToldAnew() {}

    @Event("Sale")
    private static void sale(@Field("buyer") String buyer) {}

    /** A sale begins. */
    @OnEntry("include class name=told.Till method name=sell")
    public static void begun(@Argument(1) Object customer) {
        sale((String) customer);
    }
}
