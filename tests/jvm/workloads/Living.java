import java.io.File;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps arrays of some classes and drops those of others, and says how many of each, when they were allocated and how often the collector
 * has stopped it since. The arrays are so large that each is sampled at an interval of a kilobyte. Waits in the midst for the file "go".
 */
public class Living {
    private static final int LENGTH = 20000;

    private static final class Kept {
    }

    private static final class Late {
    }

    private static final class Dropped {
    }

    private static final List<Object> held = new ArrayList<>();
    private static volatile Object sink;

    private static Object kept() {
        return new Kept[LENGTH];
    }

    private static Object late() {
        return new Late[LENGTH];
    }

    private static Object dropped() {
        return new Dropped[LENGTH];
    }

    /** Of a collector that works beside the program its pauses, not its cycles. */
    private static long pauses() {
        long all = 0, pauses = -1;

        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            all += bean.getCollectionCount();
            if (bean.getName().endsWith("Pauses"))
                pauses = Math.max(pauses, 0) + bean.getCollectionCount();
        }
        return pauses < 0 ? all : pauses;
    }

    private static void collect() {
        for (int i = 0; i < 100; i++)
            sink = dropped();
        sink = null;
        System.gc();
    }

    /** Virtual ones by reflection, since older JDKs have none. */
    private static Thread thread(boolean isVirtual, Runnable work) throws Exception {
        if (!isVirtual)
            return new Thread(work, "ends-soon");
        final Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        final Class<?> type = Class.forName("java.lang.Thread$Builder");
        type.getMethod("name", String.class).invoke(builder, "ends-soon");
        return (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, work);
    }

    public static void main(String[] args) throws Exception {
        final long keptTotal = 60, lateTotal = 40;
        /* The JVM's interval of before holds for a thread until it is sampled. Source: OpenJDK, threadHeapSampler.cpp. */
        for (int i = 0; i < 300; i++)
            sink = dropped();
        final long firstPauses = pauses(), firstMs = System.currentTimeMillis();
        for (int i = 0; i < keptTotal; i++)
            held.add(kept());
        final long lastPauses = pauses(), lastMs = System.currentTimeMillis();
        for (int i = 0; i < 3; i++)
            collect();
        System.out.println("kept " + keptTotal + " " + firstMs + " " + lastMs);
        System.out.flush();
        while (!new File("go").exists())
            Thread.sleep(10);
        final Thread ends = thread(args.length > 0, () -> {
            for (int i = 0; i < lateTotal; i++)
                held.add(late());
        });
        ends.start();
        ends.join();
        collect();
        final long now = pauses();
        System.out.println("late " + lateTotal);
        System.out.println("pauses " + (now - lastPauses) + " " + (now - firstPauses));
    }
}
