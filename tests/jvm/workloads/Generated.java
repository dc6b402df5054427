import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.PrintStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Burns CPU below code that is made at run time (lambdas, hidden classes, proxies, accessors of reflection and
 * serialisation, method handles), in classes of a loader that soon dies, and writes down what reflection says
 * of each method that it saw on its stack: class, method, descriptor, modifiers of both, whether the class is
 * hidden, line.
 *
 *     java Generated ROUNDS FILE
 */
public final class Generated {
    private static final long BURN_ROUNDS = 150_000;
    private static final Set<String> told = new HashSet<>();
    private static final Map<Class<?>, Map<String, Integer>> modifiers = new HashMap<>();
    private static long sum;
    private static Object walker;
    private static Method forEach;
    private static Method declaringClass;
    private static Method methodType;
    private static Method methodName;
    private static Method lineNumber;
    private static Method isHidden;

    private Generated() {
    }

    /** What lies below it is written down, each time. */
    public static void burn() {
        spin();
        look();
    }

    public static boolean hasHidden() {
        return isHidden != null;
    }

    private static void spin() {
        for (long i = 0; i < BURN_ROUNDS; i++) {
            sum = sum * 31 + (sum >>> 7) + i;
        }
    }

    private static void look() {
        Consumer<Object> note = Generated::note;
        try {
            forEach.invoke(walker, note);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void note(Object frame) {
        try {
            Class<?> type = (Class<?>) declaringClass.invoke(frame);
            String method = methodName.invoke(frame)
                    + ((MethodType) methodType.invoke(frame)).toMethodDescriptorString();
            int ofMethod = modifiers.computeIfAbsent(type, Generated::modifiersOf).getOrDefault(method, -1);
            told.add(type.getName() + "\t" + method + "\t" + type.getModifiers() + "\t" + ofMethod + "\t"
                    + (isHidden != null && (Boolean) isHidden.invoke(type)) + "\t" + lineNumber.invoke(frame));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, Integer> modifiersOf(Class<?> type) {
        Map<String, Integer> found = new HashMap<>();
        for (Executable one : type.getDeclaredConstructors()) {
            found.put("<init>" + descriptor(one, void.class), one.getModifiers());
        }
        for (Method one : type.getDeclaredMethods()) {
            found.put(one.getName() + descriptor(one, one.getReturnType()), one.getModifiers());
        }
        return found;
    }

    private static String descriptor(Executable one, Class<?> returned) {
        return MethodType.methodType(returned, one.getParameterTypes()).toMethodDescriptorString();
    }

    private static void openWalker() throws ReflectiveOperationException {
        Class<?> walkers = Class.forName("java.lang.StackWalker");
        Class<?> options = Class.forName("java.lang.StackWalker$Option");
        Class<?> frames = Class.forName("java.lang.StackWalker$StackFrame");
        Object all = Array.newInstance(options, 2);
        Array.set(all, 0, options.getField("RETAIN_CLASS_REFERENCE").get(null));
        Array.set(all, 1, options.getField("SHOW_HIDDEN_FRAMES").get(null));
        walker = walkers.getMethod("getInstance", Set.class)
                         .invoke(null, new HashSet<>(Arrays.asList((Object[]) all)));
        forEach = walkers.getMethod("forEach", Consumer.class);
        declaringClass = frames.getMethod("getDeclaringClass");
        methodType = frames.getMethod("getMethodType");
        methodName = frames.getMethod("getMethodName");
        lineNumber = frames.getMethod("getLineNumber");
        try {
            isHidden = Class.class.getMethod("isHidden");
        } catch (NoSuchMethodException e) {
            isHidden = null; /* before JDK 15 */
        }
    }

    /** Whose constructor a serialisation accessor calls. */
    public static class Base {
        public Base() {
            burn();
        }
    }

    /** Everything below is loaded anew in each round. */
    public static final class Unit implements Runnable {
        public static void work() {
            burn();
        }

        private static boolean isOdd(int number) {
            return (number & 1) != 0;
        }

        private static void take(int number) {
            burn();
        }

        @Override
        public void run() {
            int captured = hashCode();
            Runnable lambda = () -> take(captured);
            Runnable proxy = (Runnable) Proxy.newProxyInstance(Unit.class.getClassLoader(),
                    new Class<?>[] {Runnable.class}, (self, method, arguments) -> {
                        burn();
                        return null;
                    });
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                MethodType takes = MethodType.methodType(void.class, int.class);
                MethodHandle take = lookup.findStatic(Unit.class, "take", takes);
                MethodHandle odd = lookup.findStatic(
                        Unit.class, "isOdd", MethodType.methodType(boolean.class, int.class));
                MethodHandle handle = MethodHandles.guardWithTest(odd, take, take);
                Runnable hidden = hidden(lookup);
                Method work = Unit.class.getMethod("work");
                byte[] stored = UnitStored.bytes();
                for (int i = 0; i < 3; i++) {
                    lambda.run();
                    proxy.run();
                    handle.invokeExact(i);
                    hidden.run();
                    work.invoke(null);
                    UnitMade.class.getConstructor().newInstance();
                    UnitStored.read(stored);
                }
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }

        /** Before JDK 15 there are none. */
        private static Runnable hidden(MethodHandles.Lookup lookup) throws ReflectiveOperationException, IOException {
            if (!hasHidden()) {
                return Unit::work;
            }
            Class<?> options = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
            Method define = MethodHandles.Lookup.class.getMethod("defineHiddenClass", byte[].class,
                    boolean.class, Array.newInstance(options, 0).getClass());
            byte[] bytes = Loader.bytesOf("Generated$UnitHidden");
            MethodHandles.Lookup made = (MethodHandles.Lookup) define.invoke(
                    lookup, bytes, true, Array.newInstance(options, 0));
            return (Runnable) made.lookupClass().getConstructor().newInstance();
        }
    }

    /** Defined as a hidden class. */
    public static final class UnitHidden implements Runnable {
        @Override
        public void run() {
            burn();
        }
    }

    public static final class UnitMade {
        public UnitMade() {
            burn();
        }
    }

    public static final class UnitStored extends Base implements Serializable {
        private static final long serialVersionUID = 1;

        static byte[] bytes() throws IOException {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            try (ObjectOutputStream objects = new ObjectOutputStream(out)) {
                objects.writeObject(new UnitStored());
            }
            return out.toByteArray();
        }

        static Object read(byte[] bytes) throws IOException, ClassNotFoundException {
            try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
                @Override
                protected Class<?> resolveClass(ObjectStreamClass type) throws ClassNotFoundException {
                    return Class.forName(type.getName(), false, UnitStored.class.getClassLoader());
                }
            }) {
                return in.readObject();
            }
        }
    }

    public static final class Loader extends ClassLoader {
        Loader() {
            super(Generated.class.getClassLoader());
        }

        public static byte[] bytesOf(String name) throws IOException {
            try (InputStream in = Generated.class.getResourceAsStream(name + ".class")) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                for (int one = in.read(); one >= 0; one = in.read()) {
                    bytes.write(one);
                }
                return bytes.toByteArray();
            }
        }

        @Override
        protected Class<?> loadClass(String name, boolean isResolved) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                if (!name.startsWith("Generated$Unit")) {
                    return super.loadClass(name, isResolved);
                }
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                try {
                    byte[] bytes = bytesOf(name);
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        openWalker();
        for (int rounds = Integer.parseInt(args[0]); rounds > 0; rounds--) {
            Class<?> unit = new Loader().loadClass("Generated$Unit");
            ((Runnable) unit.getDeclaredConstructor().newInstance()).run();
            unit = null;
            modifiers.clear();
            System.gc();
        }
        try (PrintStream out = new PrintStream(args[1], "UTF-8")) {
            told.forEach(out::println);
        }
        System.out.println("unloaded "
                + java.lang.management.ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount());
        System.out.println(Collections.singleton(sum).size());
    }
}
