import java.util.function.LongSupplier;

/** CPU time of the thread of the operating system, which the JVM does not tell to a virtual one. */
public final class CarrierClock implements LongSupplier {
    static {
        System.loadLibrary("burner");
    }

    @Override
    public long getAsLong() {
        return cpuNs();
    }

    private static native long cpuNs();
}
