import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;

/** Many handlers: what is listed of them is longer than an answer. */
@Probe(name = "crowd", maxCallsPerSecond = 0, maxNanosPerCall = 0, rules = "include class name=Hot method name=lukewarm")
public class Crowd {
    private Crowd() {}

    /** One of many. */
    @OnEntry
    public static void h10() {}

    /** One of many. */
    @OnEntry
    public static void h11() {}

    /** One of many. */
    @OnEntry
    public static void h12() {}

    /** One of many. */
    @OnEntry
    public static void h13() {}

    /** One of many. */
    @OnEntry
    public static void h14() {}

    /** One of many. */
    @OnEntry
    public static void h15() {}

    /** One of many. */
    @OnEntry
    public static void h16() {}

    /** One of many. */
    @OnEntry
    public static void h17() {}

    /** One of many. */
    @OnEntry
    public static void h18() {}

    /** One of many. */
    @OnEntry
    public static void h19() {}

    /** One of many. */
    @OnEntry
    public static void h20() {}

    /** One of many. */
    @OnEntry
    public static void h21() {}

    /** One of many. */
    @OnEntry
    public static void h22() {}

    /** One of many. */
    @OnEntry
    public static void h23() {}

    /** One of many. */
    @OnEntry
    public static void h24() {}

    /** One of many. */
    @OnEntry
    public static void h25() {}

    /** One of many. */
    @OnEntry
    public static void h26() {}

    /** One of many. */
    @OnEntry
    public static void h27() {}

    /** One of many. */
    @OnEntry
    public static void h28() {}

    /** One of many. */
    @OnEntry
    public static void h29() {}

    /** One of many. */
    @OnEntry
    public static void h30() {}

    /** One of many. */
    @OnEntry
    public static void h31() {}

    /** One of many. */
    @OnEntry
    public static void h32() {}

    /** One of many. */
    @OnEntry
    public static void h33() {}
}
