import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Defines classes by the thousand, uses them for a moment and lets them die: classes of short-lived loaders,
 * hidden classes, and classes whose code a second agent replaces all the time. The names say what belongs
 * together: class C123 has the one method m123, with the one line number lineOf(123), H123 (a hidden class)
 * h123; of the third kind see Redefined. Who looks a name up too late finds the one of another class at its
 * address. Code is replaced after a quarter of the time: from then on JDK 17 unloads no class where Z or
 * Shenandoah collect, with and without a profiler.
 *
 *     java Churn SECONDS [add | fixed]     SECONDS: by the clock on the wall, and of the process' CPU time
 *                                          add: methods are added and removed, too, which
 *                                          -XX:+AllowRedefinitionToAddDeleteMethods allows
 *                                          fixed: nobody replaces any code
 */
final class Churn {
    private static final int THREADS = 2;
    private static final int CLASSES_A_LOADER = 1;
    private static final int COLLECT_EVERY_MS = 150;

    static volatile boolean isDone;
    /** Is told each class that has just been defined, before it is used: who keeps it keeps it alive. */
    static volatile Consumer<Class<?>> defined = type -> { };
    private static final AtomicInteger NEXT = new AtomicInteger();
    private static final AtomicInteger NEXT_HIDDEN = new AtomicInteger();
    private static final AtomicLong LOADERS = new AtomicLong();

    private interface Work {
        void run() throws Throwable;
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(Churn.class.getClassLoader());
        }

        Class<?> define(int number) {
            byte[] bytes = ClassBytes.of("C" + number, "m" + number, ClassBytes.lineOf(number));
            return defineClass("C" + number, bytes, 0, bytes.length);
        }
    }

    private Churn() {
    }

    public static void main(String[] args) throws Exception {
        System.loadLibrary("redefiner");
        String how = args.length > 1 ? args[1] : "";
        Redefined redefined = new Redefined(how.equals("add"));
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            threads.add(start("churn-" + i, Churn::defineAndUse));
            threads.add(start("driver-" + i, () -> drive(redefined)));
        }
        threads.add(start("hidden", new Hidden()));
        long startNs = System.nanoTime();
        long allNs = (long) (Double.parseDouble(args[0]) * 1e9);
        collectFor(allNs / 4);
        if (!how.equals("fixed")) {
            threads.add(start("redefiner", redefined::replaceSome));
        }
        collectFor(allNs - allNs / 4);
        isDone = true;
        for (Thread thread : threads) {
            thread.join();
        }
        double seconds = (System.nanoTime() - startNs) / 1e9;
        System.out.println("classes " + NEXT.get());
        System.out.println("loaders " + LOADERS.get());
        System.out.println("loaders a second " + Math.round(LOADERS.get() / seconds));
        System.out.println("hidden " + NEXT_HIDDEN.get());
        System.out.println("redefined " + redefined.count());
        System.out.println("code loaded " + Redefined.codeLoaded());
        System.out.println("code unloaded " + Redefined.codeUnloaded());
        System.out.println("unloaded "
                + ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount());
    }

    /** As long as that, and until so much CPU time was had, of which a busy machine has less. */
    private static void collectFor(long ns) throws InterruptedException {
        OperatingSystemMXBean process =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long endNs = System.nanoTime() + ns;
        long endCpuNs = process.getProcessCpuTime() + ns;
        while (System.nanoTime() < endNs || process.getProcessCpuTime() < endCpuNs) {
            Thread.sleep(COLLECT_EVERY_MS);
            System.gc();
        }
    }

    /** A thread that does this again and again; one that fails ends the program. */
    private static Thread start(String name, Work work) {
        Thread thread = new Thread(() -> repeat(work), name);
        thread.start();
        return thread;
    }

    private static void repeat(Work work) {
        try {
            while (!isDone) {
                work.run();
            }
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    private static void defineAndUse() throws ReflectiveOperationException {
        Loader loader = new Loader();
        LOADERS.incrementAndGet();
        Runnable[] users = new Runnable[CLASSES_A_LOADER];
        for (int i = 0; i < users.length; i++) {
            Class<?> type = loader.define(NEXT.getAndIncrement());
            defined.accept(type);
            users[i] = (Runnable) type.getDeclaredConstructor().newInstance();
        }
        use(users);
    }

    private static void use(Runnable[] users) {
        for (Runnable user : users) {
            user.run();
        }
    }

    private static void useHidden(Runnable user) {
        user.run();
    }

    /**
     * A method that is gone when its turn comes is no mistake of anybody's. A JVM whose redefinition has taken back what a call was resolved to, between two
     * of that call's instructions, says so by a NullPointerException: these methods count, and call each other by name alone, and have nothing that could be null.
     */
    private static void drive(Redefined redefined) {
        int number = ThreadLocalRandom.current().nextInt(Redefined.CLASSES);
        try {
            redefined.call(number);
        } catch (NoSuchMethodError | NullPointerException e) {
            Thread.yield();
        }
    }

    /** Classes that no loader knows: of JDK 15 on hidden, before that the anonymous ones of Unsafe. */
    private static final class Hidden implements Work {
        private final Method define;
        private final Object on;
        private final Object options;

        Hidden() throws ReflectiveOperationException {
            Method found = null;
            for (Method method : MethodHandles.Lookup.class.getMethods()) {
                found = method.getName().equals("defineHiddenClass") ? method : found;
            }
            if (found != null) {
                define = found;
                on = MethodHandles.lookup();
                options = Array.newInstance(found.getParameterTypes()[2].getComponentType(), 0);
                return;
            }
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field field = unsafe.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            define = unsafe.getMethod("defineAnonymousClass", Class.class, byte[].class,
                    Object[].class);
            on = field.get(null);
            options = null;
        }

        @Override
        public void run() throws Throwable {
            int number = NEXT_HIDDEN.getAndIncrement();
            byte[] bytes = ClassBytes.of("H" + number, "h" + number, ClassBytes.lineOf(number));
            Class<?> type;
            if (options == null) {
                type = (Class<?>) define.invoke(on, Churn.class, bytes, null);
            } else {
                type = ((MethodHandles.Lookup) define.invoke(on, bytes, true, options))
                               .lookupClass();
            }
            defined.accept(type);
            useHidden((Runnable) type.getDeclaredConstructor().newInstance());
        }
    }
}
