package probes;

import io.jaywalk.probe.Argument;
import io.jaywalk.probe.Duration;
import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.OnReturn;
import io.jaywalk.probe.Probe;
import io.jaywalk.probe.Returned;
import java.util.ArrayList;
import probed.Probed;

/** In classes of the JDK, and of old versions; its handlers use what they are put into. */
@Probe(name = "deep", maxNanosPerCall = 0, maxCallsPerSecond = 0, maxThrows = 0)
public class Deep {
    private Deep() {}

    // m62: a handler in its own method is not entered again; each call is handled once.
    /** Calls the method that it is called by. */
    @OnEntry("include class name=java.util.ArrayList loader=bootstrap method name=ensureCapacity lift platform")
    public static void ensured(@Argument(0) int capacity) {
        new ArrayList<Object>().ensureCapacity(capacity);
        Probed.handle(Long.MAX_VALUE);
    }

    /** Where there are modules. */
    @OnEntry("include class name=java.util.ArrayList module=java.base method name=trimToSize lift platform")
    public static void trimmed() {
        Probed.handle(Long.MAX_VALUE);
    }

    /** Of whatever version. */
    @OnEntry("include class name=probed.Probed$Late !loader=app|platform !module=java.base method name=twice")
    public static void entered(@Argument(0) int number) {
        Probed.handle(Long.MAX_VALUE);
    }

    /** Likewise. */
    @OnReturn("include class name=probed.Probed$Late method name=twice")
    public static void returned(@Returned int twice, @Argument(0) int number, @Duration long ns) {
        if (twice != 2 * number || ns < 0) {
            Probed.tell("twice " + number + " is " + twice);
        }
        Probed.handle(Long.MAX_VALUE);
    }
}
