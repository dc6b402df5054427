import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** What storms must know of the JVM that they run in. */
final class Platform {
    static final int MAJOR = major();

    private Platform() {
    }

    private static int major() {
        String version = System.getProperty("java.specification.version");
        return Integer.parseInt(version.startsWith("1.") ? version.substring(2) : version);
    }

    /**
     * True where no class is unloaded any more once one was redefined, with and without a profiler: JDK 17 with Z and
     * Shenandoah. There the storms of classes and of redefinition have their turn in one run of two.
     */
    static boolean unloadsNothingOnceRedefined() {
        boolean isConcurrent = false;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            isConcurrent |= collector.getName().startsWith("ZGC")
                    || collector.getName().startsWith("Shenandoah");
        }
        return isConcurrent && MAJOR < 21;
    }
}
