import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.security.AccessController;
import java.security.PrivilegedAction;

/**
 * Java that is reached in the ways that are not calls: by reflection, by method handles, by doPrivileged, and, from JDK 22 on, from C by
 * the API of foreign functions. What each stack should be is what ReachStacks says.
 *
 *     java Reach MS [foreign]
 */
@SuppressWarnings("removal")
final class Reach {
    private static final long WARM_MS = 100;
    private static final ThreadMXBean CLOCKS = ManagementFactory.getThreadMXBean();
    private static volatile long until;
    private static volatile long untilCpu;
    private static volatile long sink;
    private static boolean isMeasured;
    private static Method reflected;
    private static MethodHandle handle;
    private static Upcalls sorter;
    private static Upcalls nestedSorter;

    private Reach() {
    }

    /** Called in none of the plain ways. */
    static void spin() {
        if (isMeasured) {
            burn();
        } else {
            warm();
        }
    }

    private static void burn() {
        long sum = 0;
        do {
            for (int i = 0; i < 5_000; i++) {
                sum += i ^ sum << 1;
            }
        } while (!isOver());
        sink = sum;
    }

    private static void warm() {
        long sum = 0;
        do {
            for (int i = 0; i < 5_000; i++) {
                sum += i ^ sum << 2;
            }
        } while (!isOver());
        sink = sum;
    }

    /** Also on a machine that has little time for this thread, it has had some. */
    private static boolean isOver() {
        return System.nanoTime() >= until && CLOCKS.getCurrentThreadCpuTime() >= untilCpu;
    }

    private static void byReflection() throws Exception {
        reflected.invoke(null);
    }

    private static void byHandle() throws Throwable {
        handle.invokeExact();
    }

    private static void byPrivilege() {
        AccessController.doPrivileged((PrivilegedAction<Void>) () -> {
            spin();
            return null;
        });
    }

    /** Each of them, one below the other. */
    private static void byAll() {
        AccessController.doPrivileged((PrivilegedAction<Void>) () -> {
            try {
                MethodHandles.lookup().findStatic(Reach.class, "byReflection", MethodType.methodType(void.class)).invokeExact();
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
            return null;
        });
    }

    /** What the C library's sort asks. */
    static int compare(long one, long other) {
        byPrivilege();
        return 0;
    }

    /** The same, and sorts again. */
    static int compareSorting(long one, long other) {
        sorter.round();
        return 0;
    }

    private static void byForeign() {
        sorter.round();
    }

    private static void byForeignTwice() {
        nestedSorter.round();
    }

    private static void each(long ms) throws Throwable {
        begin(ms);
        byReflection();
        begin(ms);
        byHandle();
        begin(ms);
        byPrivilege();
        begin(ms);
        byAll();
        if (sorter != null) {
            begin(ms);
            byForeign();
            begin(ms);
            byForeignTwice();
        }
    }

    private static void begin(long ms) {
        until = System.nanoTime() + ms * 1_000_000L;
        untilCpu = CLOCKS.getCurrentThreadCpuTime() + ms * 500_000L;
    }

    private static void measure(long ms) {
        isMeasured = true;
        try {
            each(ms);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static Upcalls sorter(String comparison) throws Throwable {
        return new Upcalls(MethodHandles.lookup().findStatic(Reach.class, comparison,
                MethodType.methodType(int.class, long.class, long.class)), 2);
    }

    public static void main(String[] args) throws Throwable {
        reflected = Reach.class.getDeclaredMethod("spin");
        handle = MethodHandles.lookup().findStatic(Reach.class, "spin", MethodType.methodType(void.class));
        if (args.length > 1) {
            sorter = sorter("compare");
            nestedSorter = sorter("compareSorting");
        }
        each(WARM_MS);
        if (Profiler.isAsked()) {
            Profiler.awaitRows();
        }
        Thread measured = new Thread(() -> measure(Long.parseLong(args[0])), "measured");
        measured.start();
        measured.join();
        System.out.println(sink);
    }
}
