import java.util.Random;
import java.util.zip.Deflater;

/**
 * Java that calls native code that calls Java, all stacks of which are known: below `spin` and `press` they are what MixedStacks says.
 *
 *     java Mixed CPU_MS
 */
public final class Mixed {
    private static final int GARBAGE_BYTES = 256;
    private static final int KEPT = 20_000;
    private static final int PRESSED = 40; // some ms each: samples of it, however long the rest took
    private static volatile long until;
    private static volatile long sink;
    private static boolean isMeasured;
    private static final Object[] HELD = new Object[KEPT];

    private Mixed() {
    }

    static native void prepare();

    static native void sort();

    static native void back();

    static native void attach();

    /** What the C library's sort asks. */
    static int compare(int one, int other) {
        back();
        return Integer.compare(one, other);
    }

    /** Called by native code alone. */
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
        } while (System.nanoTime() < until);
        sink = sum;
    }

    private static void warm() {
        long sum = 0;
        do {
            for (int i = 0; i < 5_000; i++) {
                sum += i ^ sum << 2;
            }
        } while (System.nanoTime() < until);
        sink = sum;
    }

    /** Native code of libz, as a leaf of a native method. */
    private static void press(byte[] from, byte[] to) {
        Deflater deflater = new Deflater();
        deflater.setInput(from);
        deflater.finish();
        sink = deflater.deflate(to);
        deflater.end();
    }

    /** Work for the collector. */
    private static void litter() {
        for (int i = 0; i < KEPT; i++) {
            HELD[i] = new byte[GARBAGE_BYTES];
        }
    }

    /** Java that the JVM calls in the middle of Java. */
    static final class Begun {
        static long value;

        static {
            back();
            value = sink;
        }

        private Begun() {
        }
    }

    private static void each(long ms) {
        byte[] from = new byte[200_000];
        byte[] to = new byte[400_000];
        new Random(1).nextBytes(from);
        begin(ms);
        sort();
        begin(ms);
        attach();
        begin(ms);
        for (int i = 0; i < PRESSED || System.nanoTime() < until; i++) {
            press(from, to);
            litter();
        }
    }

    private static void begin(long ms) {
        until = System.nanoTime() + ms * 1_000_000L;
    }

    private static void measure(long ms) {
        isMeasured = true;
        each(ms);
        begin(ms);
        sink = Begun.value;
    }

    public static void main(String[] args) throws Exception {
        System.loadLibrary("mixed");
        prepare();
        long ms = Long.parseLong(args[0]);
        each(200);
        if (Profiler.isAsked()) {
            Profiler.awaitRows();
        }
        Thread measured = new Thread(() -> measure(ms), "measured");
        measured.start();
        measured.join();
        System.out.println(sink);
    }
}
