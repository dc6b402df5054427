package jaywalk.hooks;

import java.lang.invoke.*;

/** What the calls of tests/classfile/rewriter.c reach; on the boot class path. It uses no other class. */
public class Hooks {
    public static long entries, returns, throwing, exceptions, objects, calls, fields, lines, allocations, locks, unlocks;

    public static void entry(int site) { entries++; }
    public static void athrow(int site) { throwing++; }
    public static void call(int site) { calls++; }
    public static void callAfter(int site) { calls++; }
    public static void field(int site) { fields++; }
    public static void fieldAfter(int site) { fields++; }
    public static void line(int site) { lines++; }
    public static void allocation(int site) { allocations++; }
    public static void allocationAfter(int site) { allocations++; }
    public static void monitorenterAfter(int site) { locks++; }
    public static void monitorexitAfter(int site) { unlocks++; }
    public static void exception(Throwable exception) { exceptions++; }
    public static void object(Object object) { objects++; }

    public static long asked, answered, lined, read, written, made, entering, entered, exited;

    public static void asked(Object argument, Object name, int line, int site, int attach) { asked += name == null ? 0 : 1; }
    public static void answered(Object receiver, Object returned, int site, int attach) { answered++; }
    public static void read(Object receiver, Object value, int site, int attach) { read++; }
    public static void written(Object receiver, Object value, int site, int attach) { written++; }
    public static void made(Object array, Object name, int site, int attach) { made++; }
    public static void entering(Object lock, int site, int attach) { entering++; }
    public static void entered(Object lock, int site, int attach) { entered++; }
    public static void exited(int site, int attach) { exited++; }
    public static void lined(Object object, int site, int attach) { lined++; }

    /** {@code return} is no name in Java; the rewriter says return_. */
    public static void return_(int site) { returns++; }

    public static CallSite bootstrap(MethodHandles.Lookup lookup, String name, MethodType type, int place)
            throws ReflectiveOperationException {
        return new ConstantCallSite(MethodHandles.publicLookup().findStatic(Hooks.class, name, type));
    }
}
