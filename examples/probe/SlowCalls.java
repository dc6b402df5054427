import io.jaywalk.probe.Argument;
import io.jaywalk.probe.Duration;
import io.jaywalk.probe.Event;
import io.jaywalk.probe.Field;
import io.jaywalk.probe.MethodName;
import io.jaywalk.probe.OnReturn;
import io.jaywalk.probe.OnThrow;
import io.jaywalk.probe.Probe;
import io.jaywalk.probe.Thrown;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Which calls of the web shop (demo/shop) took long, and with which argument: an event in the recording for each, if there is one, and a line
 * on standard error, at most one a second.
 *
 * <p>As an example of a probe: what most calls do is one comparison; what is kept are numbers, no objects of the application.
 */
@Probe(name = "slow-calls", maxNanosPerCall = 5_000, rules = {
    "exclude class name=Shop method name=health",
    "handlers: include class name=Shop method parameters=int,Shop$Meter is=private",
})
public class SlowCalls {
    private static final long LONG_NS = 100_000_000;
    private static final long PAUSE_NS = 1_000_000_000;

    private static final LongAdder SLOW = new LongAdder();
    private static final AtomicLong NEXT_LINE_NS = new AtomicLong(System.nanoTime());

    private SlowCalls() {}

    /** In the recording, jaywalk.probe.SlowCall: with these fields, and with method, stack, trace and attributes by itself. */
    @Event(value = "SlowCall", label = "Slow Call", description = "A call of the shop that took 100 ms or more, or threw")
    private static void slowCall(@Field(value = "milliseconds", label = "Asked For", unit = Field.Unit.MILLISECONDS) int milliseconds,
            @Field(value = "exception", label = "Exception") Class<?> exception, @Duration long ns) {}

    /** A call that returned. */
    @OnReturn
    public static void returned(@MethodName String method, @Argument(0) int milliseconds, @Duration long ns) {
        if (ns >= LONG_NS) {
            tell(method, milliseconds, ns, null);
        }
    }

    /** One that an exception has left. */
    @OnThrow
    public static void thrown(@MethodName String method, @Argument(0) int milliseconds, @Duration long ns,
            @Thrown Throwable exception) {
        tell(method, milliseconds, ns, exception);
    }

    private static void tell(String method, int milliseconds, long ns, Throwable exception) {
        slowCall(milliseconds, exception == null ? null : exception.getClass(), ns);
        SLOW.increment();
        long now = System.nanoTime();
        long next = NEXT_LINE_NS.get();
        if (now - next < 0 || !NEXT_LINE_NS.compareAndSet(next, now + PAUSE_NS)) {
            return;
        }
        System.err.println("[slow-calls] " + method + '(' + milliseconds + ") took " + ns / 1_000_000 + " ms"
            + (exception == null ? "" : " and threw " + exception.getClass().getName()) + "; " + SLOW.sum() + " so far");
    }
}
