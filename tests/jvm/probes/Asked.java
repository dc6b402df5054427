import io.jaywalk.probe.Argument;
import io.jaywalk.probe.Caller;
import io.jaywalk.probe.Endpoint;
import io.jaywalk.probe.Event;
import io.jaywalk.probe.Field;
import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.OnReturn;
import io.jaywalk.probe.Probe;
import io.jaywalk.probe.SpanId;
import io.jaywalk.probe.TraceId;

/** Tells who called, and what for. */
@Probe(name = "asked", maxCallsPerSecond = 0, maxNanosPerCall = 0)
public class Asked {
    private Asked() {}

    @Event(stackTrace = false)
    private static void asked(@Field("caller") String caller, @Field("span") long span, @Field("trace") String trace,
            @Field("endpoint") String endpoint, @Field("items") int items) {}

    @Event(stackTrace = false)
    private static void called(@Field("by") String caller) {}

    /** All of it, between what places give. */
    @OnReturn("include class name=told.Till method name=sell")
    public static void sold(@Caller String caller, @SpanId long span, @Argument(0) int items, @Endpoint String endpoint,
            @TraceId String trace) {
        asked(caller, span, trace, endpoint, items);
    }

    /** Through static calls. */
    @OnEntry("include class name=java.util.ArrayDeque method name=addFirst lift platform")
    public static void added(@Caller String caller) {
        called(caller);
    }
}
