package probes;

import io.jaywalk.probe.Allocated;
import io.jaywalk.probe.Argument;
import io.jaywalk.probe.LineNumber;
import io.jaywalk.probe.Lock;
import io.jaywalk.probe.OnAllocation;
import io.jaywalk.probe.OnMonitorEnter;
import io.jaywalk.probe.OnMonitorEntered;
import io.jaywalk.probe.OnMonitorExit;
import io.jaywalk.probe.OnRead;
import io.jaywalk.probe.OnWrite;
import io.jaywalk.probe.Probe;
import io.jaywalk.probe.Receiver;
import io.jaywalk.probe.TargetName;
import io.jaywalk.probe.This;
import io.jaywalk.probe.Value;
import probed.Probed;
import probed.Within;

/** At fields, allocations and locks, with all that lies there; says what of it is wrong. */
@Probe(name = "placed-more", maxNanosPerCall = 0, maxCallsPerSecond = 0, maxThrows = 0,
    rules = "include class name=probed.Within$Target method name=fields|arrays|locks")
public class PlacedMore {
    private PlacedMore() {}

    private static void check(boolean isGood, int handler, String what) {
        if (!isGood) {
            Probed.tell("handler " + handler + ": " + what);
        }
        Within.SEEN[handler].incrementAndGet();
    }

    /** What was written is in the field. */
    @OnWrite(of = "probed.Within$Target.small")
    public static void small(@Value byte value, @Receiver Object target, @This Object own, @Argument(0) int number, @Value Object boxed) {
        check(value == (byte) number && target == own && boxed.equals(value), 16, value + " " + number);
    }

    /** Of two words. */
    @OnWrite(of = "probed.Within$Target.share")
    public static void share(@Receiver Object target, @Value double value, @TargetName String name) {
        check(target != null && value >= 1.5 && name.equals("probed.Within$Target.share"), 17, value + name);
    }

    /** Static, read and written. */
    @OnRead(of = "probed.Within$Target.all")
    @OnWrite(of = "probed.Within$Target.all")
    public static void all(@Receiver Object none, @Value long value, @LineNumber int line) {
        check(none == null && value >= 0 && line > 0, 18, none + " " + value);
    }

    /** Objects, of several fields. */
    @OnRead(of = "probed.Within$Target.*")
    public static void read(@Receiver Object target, @Value Object value, @Argument(0) int number, @TargetName String name) {
        check(name.endsWith(".text") ? value.equals(number % 2 == 0 ? "even" : "odd") || name.isEmpty()
            : name.endsWith(".db") || name.endsWith(".other") || value instanceof Number, 30, name + " " + value);
        if (name.endsWith(".small") || name.endsWith(".other") || name.endsWith(".all") || name.endsWith(".share")) {
            check(true, 19, name);
        }
    }

    /** Arrays of one kind. */
    @OnAllocation(of = "byte[]")
    public static void bytes(@Allocated Object array, @Argument(0) int number) {
        check(((byte[]) array).length == number % 7, 20, "" + array);
    }

    /** Arrays of others: what is made is an array of arrays. */
    @OnAllocation(of = "**[]")
    public static void arrays(@Allocated Object array, @TargetName String name) {
        check(name.equals(array.getClass().getCanonicalName().replace("Within.Item", "Within$Item")), 31, name + " " + array);
        if (!name.equals("byte[]")) {
            check(true, 21, name);
        }
    }

    /** Is about to be locked ... */
    @OnMonitorEnter
    public static void entering(@Lock Object lock, @This Object target) {
        check(lock == target || !Thread.holdsLock(lock) || lock instanceof String, 22, "" + lock);
    }

    /** ... is ... */
    @OnMonitorEntered
    public static void entered(@Lock Object lock) {
        check(Thread.holdsLock(lock), 23, "" + lock);
    }

    /** ... and is no more. */
    @OnMonitorExit
    public static void exited(@LineNumber int line) {
        check(line > 0, 26, "" + line);
    }

    /** Before super() there is nobody whose field it is, and behind it there is. */
    @OnWrite(of = "probed.Within$Outer$Inner.*", value = "include class name=probed.Within$Outer$Inner method name=<init> lift constructors,setters")
    public static void outer(@Receiver Object inner, @Value Object number) {
        check(inner != null && number instanceof Integer, 24, inner + " " + number);
    }

    /** An object is not there before its constructor. */
    @OnAllocation(of = "probed.Within$Item")
    public static void unborn(@Allocated Object item) {
        check(false, 25, "" + item);
    }

    /** Its name is. */
    @OnAllocation(of = "probed.Within$Item")
    public static void born(@TargetName String name) {
        check(name.equals("probed.Within$Item"), 25, name);
    }
}
