package probes;

import io.jaywalk.probe.Argument;
import io.jaywalk.probe.CallArgument;
import io.jaywalk.probe.Duration;
import io.jaywalk.probe.LineNumber;
import io.jaywalk.probe.MethodName;
import io.jaywalk.probe.OnCall;
import io.jaywalk.probe.OnCallReturn;
import io.jaywalk.probe.OnLine;
import io.jaywalk.probe.Probe;
import io.jaywalk.probe.Receiver;
import io.jaywalk.probe.Returned;
import io.jaywalk.probe.TargetName;
import io.jaywalk.probe.This;
import probed.Probed;
import probed.Within;

/** At each kind of place within a method, with all that lies there; says what of it is wrong. */
@Probe(name = "placed", maxNanosPerCall = 0, maxCallsPerSecond = 0, maxThrows = 0,
    rules = "include class name=probed.Within$Target method name=run")
public class Placed {
    private Placed() {}

    private static void check(boolean isGood, int handler, String what) {
        if (!isGood) {
            Probed.tell("handler " + handler + ": " + what);
        }
        Within.SEEN[handler].incrementAndGet();
    }

    private static boolean isA(Object object, String name) {
        return object != null && object.getClass().getName().equals("probed.Within$" + name);
    }

    /** Before a call: what it is called with, and what the method was. */
    @OnCall(of = "probed.Within$Db.query")
    public static void asked(@This Object target, @Argument(0) int number, @Receiver Object db, @CallArgument(0) Object text,
            @CallArgument(1) long limit, @CallArgument(2) boolean isFirst, @TargetName String name, @LineNumber int line,
            @MethodName String by, @Duration long ns) {
        check(isA(target, "Target") && isA(db, "Db") && number >= 0 && ns >= 0 && line > 70 && line < 150
            && name.equals("probed.Within$Db.query") && by.equals("probed.Within$Target.run")
            && (text.equals("first") ? limit == number && isFirst
                : text.equals("more") ? limit < 2 && !isFirst : text.equals("last") ? limit == 2 : text.equals("bad") && limit == -1),
            0, text + " " + limit + " " + isFirst + " " + name + " " + by + " " + line);
    }

    /** Behind it: what it was called with, and what came of it; a call that throws is not here. */
    @OnCallReturn(of = "probed.Within$D?.query")
    public static void answered(@Returned long answer, @CallArgument(1) Object limit, @Receiver Object db, @CallArgument(0) Object text,
            @Returned Object boxed) {
        check(isA(db, "Db") && answer == (Long) limit + (text.equals("first") ? 5 : 0) && boxed.equals(answer), 1,
            text + " " + limit + " " + answer + " " + boxed);
    }

    /** The object is not there yet, its arguments are. */
    @OnCall(of = "probed.Within$Item.<init>")
    public static void about(@CallArgument(1) int number, @Argument(0) int own) {
        check(number == own, 2, number + " " + own);
    }

    /** A new object, which was none before. */
    @OnCallReturn(of = "**.Within$Item.<init>")
    public static void made(@Receiver Object item, @CallArgument(0) Object name, @CallArgument(1) Object number, @Returned Object nothing) {
        check(isA(item, "Item") && item.toString().equals(name + number.toString()) && nothing == null, 3, item + " " + name + number);
    }

    /** A static method, by class files of all versions. */
    @OnCall(of = "probed.Within.sum", value = {"include class name=probed.Within$Target method name=run",
        "include class name=probed.Within$Old method name=call"})
    public static void summed(@Receiver Object none, @CallArgument(0) byte a, @CallArgument(1) short b, @CallArgument(2) char c,
            @CallArgument(3) int d, @CallArgument(4) long e, @CallArgument(5) float f, @CallArgument(6) double g,
            @CallArgument(7) boolean h, @CallArgument(8) Object i, @CallArgument(7) Object boxed, @CallArgument(2) Object letter) {
        check(none == null && a == 1 && b == 2 && c == 3 && d == 4 && e >= 0 && f == 6 && g == 7 && h && i != null && boxed.equals(true)
            && letter.equals((char) 3), 4, a + " " + b + " " + (int) c + " " + d + " " + e + " " + f + " " + g + " " + h + " " + i);
    }

    /** Called by an interface. */
    @OnCallReturn(of = "probed.Within$Store.put")
    public static void put(@Returned Object value, @CallArgument(1) Object given, @CallArgument(0) char key) {
        check(value == given && isA(value, "Item") && key == 'k', 5, value + " " + given + " " + key);
    }

    /** Two statements stand in the line, which begins once. */
    @OnLine(line = Within.LINE)
    public static void line(@This Object target, @Argument(0) int number, @LineNumber int line) {
        check(isA(target, "Target") && number >= 0 && line == Within.LINE, 6, number + " " + line);
    }

    /** Of all that returned, those with a long; the other is none that it could be given. */
    @OnCallReturn(of = "probed.Within$**", value = "include class name=probed.Within$Target method name=run|none")
    public static void unlike(@Returned long answer) {
        check(answer >= 0, 7, "" + answer);
    }

    /** A second one of a place. */
    @OnCall(of = "probed.Within$Db.query")
    public static void again(@CallArgument(2) Object isFirst) {
        check(isFirst instanceof Boolean, 8, "" + isFirst);
    }

    /** Asks for what cannot be. */
    @OnCall(of = "probed.Within$Item.<init>")
    public static void unborn(@Receiver Object item) {
        check(false, 9, "" + item);
    }

    /** Is called by nobody. */
    @OnCall(of = "no.such.Thing.call")
    public static void nowhere() {
        check(false, 9, "nowhere");
    }

    /** No method has so many lines. */
    @OnLine(line = 65535)
    public static void beyond() {
        check(false, 9, "beyond");
    }
}
