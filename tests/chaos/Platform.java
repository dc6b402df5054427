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

    /** True where nothing unloads classes: Z before JDK 12. */
    static boolean unloadsNothing() {
        return MAJOR < 12 && collectorsHave("ZGC");
    }

    /**
     * True where no class is unloaded any more once one was redefined, with and without a profiler: JDK 17 with Z and
     * Shenandoah. There the storms of classes and of redefinition have their turn in one run of two.
     */
    static boolean unloadsNothingOnceRedefined() {
        return MAJOR < 21 && (collectorsHave("ZGC") || collectorsHave("Shenandoah"));
    }

    private static boolean collectorsHave(String name) {
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (collector.getName().startsWith(name)) {
                return true;
            }
        }
        return false;
    }
}
