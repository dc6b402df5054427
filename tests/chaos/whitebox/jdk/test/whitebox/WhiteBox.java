package jdk.test.whitebox;

/**
 * What the JVM offers its own tests under this name, of a class of the boot loader, with -XX:+WhiteBoxAPI: as much of it as the
 * flags `deopt` of tests/chaos/cell.sh want. It names the methods that we have not, on standard error.
 *
 * Source: OpenJDK 17 to 25, whitebox.cpp, nativeLookup.cpp.
 */
public final class WhiteBox {
    private WhiteBox() {
    }

    private static native void registerNatives();

    /** Throws all compiled code away, and turns the frames that stand in it into interpreted ones. */
    public native void deoptimizeAll();

    /** Does that, each time. */
    public static Runnable deoptimizer() {
        registerNatives();
        return new WhiteBox()::deoptimizeAll;
    }
}
