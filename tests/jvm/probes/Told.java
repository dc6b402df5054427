import io.jaywalk.probe.Argument;
import io.jaywalk.probe.Duration;
import io.jaywalk.probe.Event;
import io.jaywalk.probe.Field;
import io.jaywalk.probe.OnReturn;
import io.jaywalk.probe.OnThrow;
import io.jaywalk.probe.Probe;
import io.jaywalk.probe.RuleName;
import io.jaywalk.probe.This;
import io.jaywalk.probe.Thrown;

/** Tells of each sale, with a field of each kind, and of each that failed. */
@Probe(name = "told", maxCallsPerSecond = 0, maxNanosPerCall = 0, rules = "tills: include class name=told.Till method name=sell")
public class Told {
    private Told() {}

    @Event(value = "Sale", label = "Sale of a Till", description = "What was sold")
    private static void sale(@Field(value = "items", label = "Items") int items, @Field("customer") String customer, @Duration long ns,
            @Field(value = "price", unit = Field.Unit.BYTES) long price, @Field("share") double share, @Field("even") boolean even,
            @Field("small") byte small, @Field("letter") char letter, @Field("short") short tiny, @Field("half") float half,
            @Field("till") Class<?> till, @Field("seller") Thread seller) {}

    @Event(stackTrace = false)
    private static void failed(@Field("why") String why, @Field("rule") String rule) {}

    /** A sale that came about. */
    @OnReturn
    public static void sold(@This Object till, @Argument(0) int items, @Argument(1) Object customer, @Duration long ns) {
        sale(items, (String) customer, ns, items * 10_000_000_000L, items / 4.0, items % 2 == 0, (byte) -items, 'a', (short) (items * 2),
            items / 2f, till.getClass(), Thread.currentThread());
    }

    /** One that did not. */
    @OnThrow
    public static void thrown(@Thrown Throwable thrown, @RuleName String rule) {
        failed(thrown.getMessage(), rule);
    }
}
