package probed;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.security.ProtectionDomain;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a JVM keeps in metaspace for a class that is retransformed again and again, by itself: the class is changed as a probe changes it, from its bytes of
 * then, and back, with nothing of the agent in it; and beside that, what it keeps for a probe that is attached and detached as often.
 *
 * <p>It is its own agent, behind jaywalk's, so that it is shown what that writes.
 */
public final class Control {
    private static final Map<MethodType, CallSite> SITES = new HashMap<>();
    private static final AtomicLong ROUNDS = new AtomicLong();

    /** What an attach may leave in metaspace beside that, in bytes. */
    private static final long KEPT_MOST = 4096;

    private static Instrumentation instrumentation;

    /** Of the class with the calls of a probe; and with such as come here, when it is to have them. */
    private static volatile byte[] woven, given;

    private static volatile boolean isOver;

    private Control() {}

    /** Of the agent. */
    public static void premain(String argument, Instrumentation instrumentation) {
        Control.instrumentation = instrumentation;
        instrumentation.addTransformer(new Transformer(), true);
    }

    private static final class Transformer implements ClassFileTransformer {
        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
            if (redefined != Probed.Target.class) {
                return null;
            }
            woven = bytes.clone();
            return given;
        }
    }

    /** Nothing comes of such a call. */
    public static void nothing() {}

    /** As the agent's dispatcher does it: all places of a type get one call site. */
    public static synchronized CallSite link(MethodHandles.Lookup caller, String name, MethodType type, int place) throws ReflectiveOperationException {
        CallSite site = SITES.get(type);
        if (site == null) {
            MethodHandle nothing = MethodHandles.publicLookup().findStatic(Control.class, "nothing", MethodType.methodType(void.class));
            site = new MutableCallSite(MethodHandles.dropArguments(nothing, 0, type.parameterList()));
            SITES.put(type, site);
        }
        return site;
    }

    /** A class file with another name in the place of one. */
    private static byte[] renamed(byte[] bytes, String from, String to) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        ByteArrayOutputStream made = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(made);
        int found = 0;
        out.writeLong(in.readLong());
        int count = in.readUnsignedShort();
        out.writeShort(count);
        for (int i = 1; i < count; i++) {
            int tag = in.readUnsignedByte();
            out.writeByte(tag);
            if (tag == 1) {
                String text = in.readUTF();
                found += text.equals(from) ? 1 : 0;
                out.writeUTF(text.equals(from) ? to : text);
                continue;
            }
            byte[] rest = new byte[tag == 5 || tag == 6 ? 8 : tag == 15 ? 3 : tag == 7 || tag == 8 || tag == 16 || tag == 19 || tag == 20 ? 2 : 4];
            in.readFully(rest);
            out.write(rest);
            i += tag == 5 || tag == 6 ? 1 : 0;
        }
        for (int one = in.read(); one >= 0; one = in.read()) {
            out.write(one);
        }
        Probed.checkEqual(found, 1, "names of the dispatcher");
        return made.toByteArray();
    }

    private static void load() {
        Probed.Target target = new Probed.Target();
        while (!isOver) {
            Probed.call(target, 10);
            ROUNDS.incrementAndGet();
        }
    }

    private static void pass() {
        long now = ROUNDS.get();
        while (ROUNDS.get() < now + 20) {
            Thread.yield();
        }
    }

    private interface Step {
        void run() throws Exception;
    }

    /** What metaspace grows by in a step, behind the first fifth. */
    private static long growth(int count, Step step) throws Exception {
        long early = 0;
        for (int i = 1; i <= count; i++) {
            step.run();
            if (i == count / 5) {
                early = Probed.metaspace();
            }
        }
        return (Probed.metaspace() - early) / (count - count / 5);
    }

    private static void write(byte[] bytes) throws Exception {
        given = bytes;
        instrumentation.retransformClasses(Probed.Target.class);
        pass();
    }

    private static long ofProbe(int count) throws Exception {
        return growth(count, () -> {
            Probed.attach("Watch");
            pass();
            Probed.detach("watch");
            pass();
        });
    }

    private static long ofClass(byte[] bytes, int count) throws Exception {
        long handled = Probed.HANDLED.get();
        long grown = growth(count, () -> {
            write(bytes);
            write(null);
        });
        Probed.checkEqual(Probed.HANDLED.get(), handled, "handled without a probe");
        return grown;
    }

    /**
     * `parts` times `count` cycles of either kind, in turn. Who comes second finds what the JVM has given back of the first, so that is asked for in both
     * orders.
     */
    static void run(int parts, int count, boolean isProbeFirst) throws Exception {
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(Control::load);
            thread.setDaemon(true);
            thread.start();
        }
        Probed.attach("Watch");
        pass();
        byte[] bytes = renamed(woven, "java/lang/JaywalkDispatcher", "probed/Control");
        Probed.detach("watch");
        long own = 0, control = 0;
        for (int i = 0; i < parts; i++) {
            own = isProbeFirst ? ofProbe(count) : own;
            control = ofClass(bytes, count);
            own = isProbeFirst ? own : ofProbe(count);
            System.out.println("grows " + own + " control " + control + " cycles " + count);
        }
        isOver = true;
        /* The parts before have what the JVM keeps of code that it compiles for the first time; that takes some hundred cycles. */
        Probed.check(parts < 3 || count < 100 || own < control + KEPT_MOST, "metaspace grows by " + own + " a cycle, where the JVM itself has " + control);
        Probed.check(!SITES.isEmpty(), "nothing was linked");
        Probed.check(Probed.wrong == null, Probed.wrong);
        Probed.checkEqual(Probed.collected(), 0, "classes and loaders of probes that were not collected");
    }
}
