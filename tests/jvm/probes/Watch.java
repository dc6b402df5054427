package probes;

import io.jaywalk.probe.Argument;
import io.jaywalk.probe.Arguments;
import io.jaywalk.probe.Duration;
import io.jaywalk.probe.MethodName;
import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.OnReturn;
import io.jaywalk.probe.OnThrow;
import io.jaywalk.probe.Probe;
import io.jaywalk.probe.Returned;
import io.jaywalk.probe.This;
import io.jaywalk.probe.Thrown;
import probed.Probed;

/** Asks for all there is, and says what of it is wrong. */
@Probe(name = "watch", maxNanosPerCall = 0, maxCallsPerSecond = 0, maxThrows = 0,
    rules = "include class name=probed.Probed$Target method name=add")
public class Watch {
    private static final long BORN = Probed.cycle;

    static {
        Probed.born(Watch.class);
    }

    private Watch() {}

    private static void check(boolean isGood, String what) {
        if (!isGood) {
            Probed.tell(what);
        }
    }

    /** Its arguments are there as they are. */
    @OnEntry
    public static void entered(@MethodName String method, @This Object target, @Argument(2) Object text,
            @Argument(1) long other, @Argument(0) Object number) {
        check("probed.Probed$Target.add".equals(method), method);
        check(target.getClass().getName().equals("probed.Probed$Target"), "this is " + target);
        check("abc".equals(text) && other == 2 && ((Integer) number) >= -1, "arguments " + text + other + number);
        Probed.handle(BORN);
    }

    /** The method has changed its parameters meanwhile. */
    @OnReturn
    public static void returned(@Returned int sum, @Arguments Object[] all, @Duration long ns, @This Object target,
            @Argument(0) int number, @Returned Object boxed) {
        check(sum == number + 5, "returned " + sum + " of " + number);
        check(all.length == 3 && all[0].equals(number) && all[1].equals(2L) && all[2].equals("abc"), "all arguments");
        check(ns >= 0, "duration " + ns);
        check(boxed.equals(sum) && target != null, "boxed " + boxed);
        Probed.handle(BORN);
    }

    /** Thrown on. */
    @OnThrow
    public static void thrown(@Argument(0) Object number, @Thrown Throwable exception, @Duration long ns, @This Object target) {
        check("below".equals(exception.getMessage()), exception.toString());
        check(number.equals(-1) && ns >= 0 && target != null, "thrown of " + number);
        Probed.handle(BORN);
    }
}
