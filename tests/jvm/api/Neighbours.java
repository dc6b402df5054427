package probed;

import io.jaywalk.Jaywalk;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A probe in classes that others change as well: transformers of other agents that came before the probe and after it, redefinition while
 * the probe is there and while it comes and goes, classes that are loaded meanwhile, loaders that hand on java.* alone, archives, modules.
 *
 * <p>Arguments: a mode, the folder of compiled probes. It is its own other agent, named by the option of -javaagent. A line `ok` at the end.
 */
public final class Neighbours {
    /** Calls of the handler. */
    public static final AtomicLong HANDLED = new AtomicLong();

    private static final Map<String, Instrumentation> AGENTS = new HashMap<>();

    private static Jaywalk jaywalk;
    private static String folder;

    private Neighbours() {}

    /** As another agent. */
    public static void premain(String name, Instrumentation instrumentation) {
        AGENTS.put(name, instrumentation);
    }

    /** What is changed: texts of the same length take the place of others. */
    public static class Shop {
        /** Of the one. */
        public String one(int number) {
            return number > 0 ? "one:plain" : "";
        }

        /** Of the other. */
        public String two(int number) {
            return number > 0 ? "two:plain" : "";
        }

        /** Of whoever redefines it. */
        public String version(int number) {
            return number > 0 ? "version:1" : "";
        }
    }

    private static byte[] patched(byte[] bytes, String from, String to) {
        byte[] wanted = from.getBytes(StandardCharsets.ISO_8859_1), given = to.getBytes(StandardCharsets.ISO_8859_1);
        byte[] out = bytes.clone();
        for (int i = 0; i + wanted.length <= out.length; i++) {
            int j = 0;
            while (j < wanted.length && out[i + j] == wanted[j]) {
                j++;
            }
            if (j == wanted.length) {
                System.arraycopy(given, 0, out, i, given.length);
            }
        }
        return out;
    }

    private static final class Patch implements ClassFileTransformer {
        private final String from, to;

        Patch(String from, String to) {
            this.from = from;
            this.to = to;
        }

        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
            return name != null && name.equals("probed/Neighbours$Shop") ? patched(bytes, from, to) : null;
        }
    }

    private static byte[] shopBytes() throws IOException {
        try (InputStream in = Neighbours.class.getResourceAsStream("/probed/Neighbours$Shop.class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int one = in.read(); one >= 0; one = in.read()) {
                out.write(one);
            }
            return out.toByteArray();
        }
    }

    /** Has a Shop of its own, and of others what is in java.* alone. */
    private static final class Filtering extends ClassLoader {
        Filtering() {
            super(null);
        }

        @Override
        protected Class<?> loadClass(String name, boolean isResolved) throws ClassNotFoundException {
            if (name.startsWith("java.")) {
                return super.loadClass(name, isResolved);
            }
            if (!name.equals("probed.Neighbours$Shop")) {
                throw new ClassNotFoundException(name);
            }
            try {
                byte[] bytes = shopBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    private static Object otherShop() throws ReflectiveOperationException {
        return new Filtering().loadClass("probed.Neighbours$Shop").getConstructor().newInstance();
    }

    private static void attach() {
        String said = jaywalk.execute("probe-attach,probe=" + folder + "/probes/Neighbour.class");
        check(said.startsWith("attached neighbour"), said);
        check(!said.contains("stay as they are"), said);
    }

    private static void detach() {
        String said = jaywalk.execute("probe-detach,name=neighbour");
        check(said.trim().equals("detached neighbour"), said);
    }

    private static void check(boolean isGood, String what) {
        if (!isGood) {
            throw new IllegalStateException(what);
        }
    }

    /** Each of its three methods answers so, and the handler was called so often. */
    private static void expect(Object shop, String one, String two, String version, int handled) throws ReflectiveOperationException {
        long before = HANDLED.get();
        StringBuilder found = new StringBuilder();
        for (String name : new String[] {"one", "two", "version"}) {
            Method method = shop.getClass().getMethod(name, int.class);
            found.append(method.invoke(shop, 1)).append(' ');
        }
        String wanted = "one:" + one + " two:" + two + " version:" + version + ' ';
        check(found.toString().equals(wanted), found + "where " + wanted + "is expected");
        check(HANDLED.get() - before == handled, "handled " + (HANDLED.get() - before) + " times, not " + handled);
    }

    // Modes ------------------------------------------------------------------------------------------------------------------

    private static void transformers() throws Exception {
        Instrumentation first = AGENTS.get("first"), second = AGENTS.get("second");
        ClassFileTransformer one = new Patch("one:plain", "one:first"), two = new Patch("two:plain", "two:other");
        Shop shop = new Shop();

        first.addTransformer(one, true);
        first.retransformClasses(Shop.class);
        expect(shop, "first", "plain", "1", 0);
        attach();
        expect(shop, "first", "plain", "1", 3);
        /* Its environment is made by this call, behind that of probes. */
        second.addTransformer(two, true);
        second.retransformClasses(Shop.class);
        expect(shop, "first", "other", "1", 3);
        /* Of those that cannot retransform what they did at loading stays. */
        second.addTransformer(new Patch("version:1", "version:3"), false);
        Object other = otherShop();
        expect(other, "first", "other", "3", 3);
        detach();
        expect(shop, "first", "other", "1", 0);
        expect(other, "first", "other", "3", 0);
        attach();
        expect(other, "first", "other", "3", 3);
        first.removeTransformer(one);
        second.removeTransformer(two);
        first.retransformClasses(Shop.class, other.getClass());
        expect(shop, "plain", "plain", "1", 3);
        expect(other, "plain", "plain", "3", 3);
        detach();
        expect(shop, "plain", "plain", "1", 0);
        expect(other, "plain", "plain", "3", 0);
    }

    /**
     * JVMs up to 17 retransform from the bytes that the class had when it was retransformed first: what a debugger made of it meanwhile is
     * lost then, whoever asks for it, and without a probe.
     */
    private static String keptVersion() {
        String java = System.getProperty("java.specification.version");
        return java.startsWith("1.") || Integer.parseInt(java) < 18 ? "1" : "2";
    }

    private static void redefined() throws Exception {
        String kept = keptVersion();
        Instrumentation first = AGENTS.get("first");
        byte[] bytes = shopBytes();
        ClassDefinition old = new ClassDefinition(Shop.class, bytes), anew = new ClassDefinition(Shop.class, patched(bytes, "version:1", "version:2"));
        Shop shop = new Shop();

        attach();
        expect(shop, "plain", "plain", "1", 3);
        first.redefineClasses(anew);
        expect(shop, "plain", "plain", "2", 3);
        detach();
        expect(shop, "plain", "plain", kept, 0);
        attach();
        expect(shop, "plain", "plain", kept, 3);
        first.redefineClasses(old);
        expect(shop, "plain", "plain", "1", 3);
        detach();
        expect(shop, "plain", "plain", "1", 0);

        /* Now at any moment, but not without a pause: JVMs let one redefinition after the other have the lock of all, and who comes
         * back at once may keep others from it for minutes. */
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        boolean[] isOver = new boolean[1];
        Thread debugger = new Thread(() -> {
            try {
                for (int i = 0; !isOver[0]; i++) {
                    first.redefineClasses((i & 1) == 0 ? anew : old);
                    Thread.sleep(i % 3);
                }
                first.redefineClasses(anew);
            } catch (Throwable e) {
                wrong.set(e);
            }
        });
        debugger.setDaemon(true); // what fails is told at once
        debugger.start();
        for (int i = 0; i < 8; i++) {
            attach();
            long before = HANDLED.get();
            shop.one(1);
            shop.two(1);
            check(HANDLED.get() - before == 2, "handled " + (HANDLED.get() - before) + " times, not 2, while it is redefined");
            detach();
            before = HANDLED.get();
            shop.one(1);
            check(HANDLED.get() == before, "handled after it was detached, while it is redefined");
        }
        isOver[0] = true;
        debugger.join();
        check(wrong.get() == null, String.valueOf(wrong.get()));
        expect(shop, "plain", "plain", "2", 0);
    }

    /** Each class is either found when the probe comes, or is loaded with it. */
    private static void loading() throws Exception {
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        List<Object> shops = new ArrayList<>();
        boolean[] isOver = new boolean[1];
        Thread[] loaders = new Thread[2];
        for (int i = 0; i < loaders.length; i++) {
            loaders[i] = new Thread(() -> {
                try {
                    while (!isOver[0]) {
                        Object shop = otherShop();
                        synchronized (shops) {
                            shops.add(shop);
                            while (shops.size() > 20 && !isOver[0]) {
                                shops.wait(1);
                            }
                        }
                    }
                } catch (Throwable e) {
                    wrong.set(e);
                }
            });
            loaders[i].start();
        }
        for (int i = 0; i < 5; i++) {
            attach();
            List<Object> now = taken(shops);
            check(wrong.get() == null, String.valueOf(wrong.get()));
            for (Object shop : now) {
                expect(shop, "plain", "plain", "1", 3);
            }
            detach();
            for (Object shop : now) {
                expect(shop, "plain", "plain", "1", 0);
            }
        }
        isOver[0] = true;
        for (Thread loader : loaders) {
            loader.join();
        }
    }

    /** All that are there, once there is one; and there is none any more. */
    private static List<Object> taken(List<Object> shops) throws InterruptedException {
        while (true) {
            synchronized (shops) {
                if (!shops.isEmpty()) {
                    List<Object> all = new ArrayList<>(shops);
                    shops.clear();
                    return all;
                }
            }
            Thread.sleep(1);
        }
    }

    /** The class is there before the probe, and comes from wherever the JVM has it. */
    private static void plain() throws Exception {
        Shop shop = new Shop();
        expect(shop, "plain", "plain", "1", 0);
        attach();
        expect(shop, "plain", "plain", "1", 3);
        detach();
        expect(shop, "plain", "plain", "1", 0);
    }

    /** The class is loaded when the probe is there. */
    private static void late() throws Exception {
        attach();
        Shop shop = new Shop();
        expect(shop, "plain", "plain", "1", 3);
        detach();
        expect(shop, "plain", "plain", "1", 0);
    }

    /** A class of a named module that reads java.base alone: there before the probe, and while it is there. */
    private static void module() throws Exception {
        Method take = Class.forName("shelved.Shelf").getMethod("take", int.class);
        for (int round = 0; round < 2; round++) {
            attach();
            check(take.invoke(null, 3).equals(6) && HANDLED.get() == round + 1, "handled " + HANDLED.get() + " times in a module");
            detach();
            check(take.invoke(null, 4).equals(8) && HANDLED.get() == round + 1, "handled in a module after it was detached");
        }
    }

    public static void main(String[] arguments) throws Exception {
        folder = arguments[1];
        jaywalk = Jaywalk.get();
        switch (arguments[0]) {
        case "transformers":
            transformers();
            break;
        case "redefined":
            redefined();
            break;
        case "loading":
            loading();
            break;
        case "plain":
            plain();
            break;
        case "late":
            late();
            break;
        case "module":
            module();
            break;
        default:
            throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println("ok");
    }
}
