import io.jaywalk.Jaywalk;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MutableCallSite;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Many classes of many small methods that are called all the time, into which a probe is put and out of which it is taken again: how long the commands take, and
 * the longest pause meanwhile, as the JVM logs it; what it takes to link all of its places anew while they are called, and the longest pause of that; and what a
 * first call through a place costs, which links it.
 *
 *     java -Xlog:safepoint*,handshake*:file=LOG --add-opens java.base/java.lang=ALL-UNNAMED Instrumented CLASSES METHODS PROBE LOG ROUNDS
 *     java Instrumented CLASSES METHODS       without a probe: the first calls of constant call sites
 *
 * Prints NAME, a tab, and the value of a round.
 */
public final class Instrumented {
    private static final int[] SEEDS = {1, 2};
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private static volatile boolean isOver;
    private static volatile int sink;
    private static volatile long called; // rounds of the thread that calls all the time
    private static Path log;

    private Instrumented() {
    }

    /** What all of them are of; `applyAsInt` calls each of their methods. */
    public interface Many extends IntUnaryOperator {
    }

    private static final class Loader extends ClassLoader {
        private final boolean hasSites;

        Loader(boolean hasSites) {
            super(Instrumented.class.getClassLoader());
            this.hasSites = hasSites;
        }

        Many make(int number, int methods) throws IOException, ReflectiveOperationException {
            byte[] bytes = file("Many" + number, methods, hasSites);
            return (Many) defineClass("Many" + number, bytes, 0, bytes.length).getConstructor().newInstance();
        }
    }

    /** `static int mN(int)` adds to its argument, with a call by a constant call site before that where it `hasSites`; `applyAsInt` hands its own through all of them. */
    private static byte[] file(String name, int methods, boolean hasSites) throws IOException {
        ClassPool pool = new ClassPool();
        ByteArrayOutputStream body = new ByteArrayOutputStream(), calls = new ByteArrayOutputStream(), whole = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(body), call = new DataOutputStream(calls), all = new DataOutputStream(whole);
        int self = pool.type(name), above = pool.type("java/lang/Object"), many = pool.type("Instrumented$Many");
        out.writeShort(0x21);
        out.writeShort(self);
        out.writeShort(above);
        out.writeShort(1);
        out.writeShort(many);
        out.writeShort(0);
        out.writeShort(methods + 2);
        int init = pool.method("java/lang/Object", "<init>", "()V");
        pool.method(out, 1, "<init>", "()V", 1, 1, new byte[] {42, (byte) 183, (byte) (init >> 8), (byte) init, (byte) 177});
        call.writeByte(27); // iload_1
        for (int i = 0; i < methods; i++) {
            ByteArrayOutputStream code = new ByteArrayOutputStream();
            if (hasSites) {
                int site = pool.site("entered", "(I)V");
                code.write(new byte[] {26, (byte) 186, (byte) (site >> 8), (byte) site, 0, 0}); // iload_0, invokedynamic
            }
            code.write(new byte[] {26, 16, (byte) (i % 100 + 1), 96, (byte) 172}); // iload_0, bipush, iadd, ireturn
            pool.method(out, 9, "m" + i, "(I)I", 2, 1, code.toByteArray());
            call.writeByte(184);
            call.writeShort(pool.method(name, "m" + i, "(I)I"));
        }
        call.writeByte(172);
        pool.method(out, 1, "applyAsInt", "(I)I", 2, 2, calls.toByteArray());
        out.writeShort(hasSites ? 1 : 0);
        if (hasSites) {
            out.write(pool.bootstraps("CalledBySite", "constant"));
        }
        pool.put(all);
        all.write(body.toByteArray());
        return whole.toByteArray();
    }

    // What is measured -------------------------------------------------------------------------------------------------------

    /* A handshake stops one thread after the other: none of them for as long as all of it. */
    private static double longestPauseMs(long from) throws IOException {
        byte[] bytes = Files.readAllBytes(log);
        Matcher matcher = Pattern.compile("(?:Total|Total completion time): *(\\d+) ns").matcher(new String(bytes, (int) from, bytes.length - (int) from, StandardCharsets.UTF_8));
        long most = 0;
        while (matcher.find()) {
            most = Math.max(most, Long.parseLong(matcher.group(1)));
        }
        return most / 1e6;
    }

    private static void told(String name, String command, String begin) throws IOException {
        long logged = Files.size(log), beginNs = System.nanoTime();
        String said = Jaywalk.get().execute(command);
        long tookNs = System.nanoTime() - beginNs;
        if (!said.startsWith(begin)) {
            throw new IllegalStateException(said);
        }
        System.out.println(name + ", time\t" + tookNs / 1e6);
        System.out.println(name + ", longest pause\t" + longestPauseMs(logged));
    }

    private static Object field(Object of, Class<?> type, String name) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    /** What all places of the one handler that is attached share. */
    private static MutableCallSite site() throws ReflectiveOperationException {
        Object probe = Array.get(field(null, Class.forName("java.lang.JaywalkDispatcher"), "probes"), 0);
        Object handler = Array.get(field(probe, probe.getClass(), "handlers"), 0);
        return (MutableCallSite) field(handler, handler.getClass(), "site");
    }

    /** Calls all of it, all the time. */
    private static Thread caller(Many[] all) {
        Thread caller = new Thread(() -> {
            while (!isOver) {
                for (Many one : all) {
                    sink += one.applyAsInt(SEEDS[1]);
                }
                called++;
            }
        });
        caller.setDaemon(true);
        caller.start();
        return caller;
    }

    /** Until what was thrown away has been compiled again. */
    private static void settle() throws InterruptedException {
        for (long from = called; called < from + 3000;) {
            Thread.sleep(1);
        }
        Thread.sleep(500);
    }

    /** As a probe does that goes: what its places call is replaced while they are hot; and back. */
    private static void relink(int rounds) throws Exception {
        MutableCallSite site = site();
        MethodHandle own = site.getTarget(), nothing = MethodHandles.empty(site.type());
        for (int round = 0; round < 2 * rounds; round++) {
            settle();
            long logged = Files.size(log), beginNs = System.nanoTime();
            site.setTarget(round % 2 == 0 ? nothing : own);
            MutableCallSite.syncAll(new MutableCallSite[] {site});
            long tookNs = System.nanoTime() - beginNs;
            System.out.println("relink, time\t" + tookNs / 1e6);
            System.out.println("relink, longest pause\t" + longestPauseMs(logged));
        }
    }

    /** CPU time of this thread. */
    private static long callNs(Many[] all) {
        long beginNs = CLOCK.getCurrentThreadCpuTime();
        int sum = 0;
        for (Many one : all) {
            sum += one.applyAsInt(SEEDS[0]);
        }
        sink = sum;
        return CLOCK.getCurrentThreadCpuTime() - beginNs;
    }

    /** How much longer the first call of a place takes than the next one. */
    private static void tellFirst(Many[] all, double places) {
        long firstNs = callNs(all), secondNs = callNs(all);
        System.out.println("first call of a place\t" + (firstNs - secondNs) / places);
    }

    public static void main(String[] args) throws Exception {
        Many[] all = new Many[Integer.parseInt(args[0])];
        int methods = Integer.parseInt(args[1]);
        double places = (double) all.length * methods;
        Loader loader = new Loader(args.length == 2);
        for (int i = 0; i < all.length; i++) {
            all[i] = loader.make(i, methods);
        }
        if (args.length == 2) {
            tellFirst(all, places);
            return;
        }
        log = Path.of(args[3]);
        for (int i = 0; i < 3000; i++) { // hot: compiled by C1 at least
            callNs(all);
        }
        int rounds = Integer.parseInt(args[4]);
        Thread caller = caller(all);
        for (int round = 0; round < rounds; round++) {
            told("attach", "probe-attach,probe=" + args[2], "attached");
            told("detach", "probe-detach,name=count-many", "detached");
        }
        isOver = true;
        caller.join();
        told("attach at rest", "probe-attach,probe=" + args[2], "attached");
        tellFirst(all, places);
        if (rounds > 0) {
            isOver = false;
            caller(all);
            relink(rounds);
        }
    }
}
