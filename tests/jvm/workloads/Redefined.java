import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Classes R0 to R7, whose code another agent replaces all the time, by redefinition and by retransformation.
 * The line of each frame says the class, the version of its lines and the place in it. Every fourth version has
 * other code, too: run() calls a3(), code c of which calls h3_(c % 4), which calls p3_c, a method of that code
 * alone, where the JVM lets methods come and go. And the line from which run() is called says a version that
 * was there before. Who takes one version for another tells of a call that no version makes, of a line of no
 * version, or of one that was no more.
 */
final class Redefined extends ClassLoader {
    static final int CLASSES = 8;
    private static final int HELPERS = 4;
    private static final int VERSIONS_OF_CODE = 4;
    private static final int ROUNDS = 6_000;

    private final Class<?>[] types = new Class<?>[CLASSES];
    private final Runnable[] instances = new Runnable[CLASSES];
    /** In force: the version of a class that is called from now on is this one or a newer. */
    private final AtomicIntegerArray versions = new AtomicIntegerArray(CLASSES);
    private final boolean methodsMayCome;
    private long count;

    Redefined(boolean methodsMayCome) throws ReflectiveOperationException {
        super(Redefined.class.getClassLoader());
        this.methodsMayCome = methodsMayCome;
        for (int i = 0; i < CLASSES; i++) {
            byte[] bytes = bytes(i, 0);
            types[i] = defineClass("R" + i, bytes, 0, bytes.length);
            Churn.defined.accept(types[i]);
            instances[i] = (Runnable) types[i].getDeclaredConstructor().newInstance();
        }
    }

    void call(int number) {
        call(versions.get(number), instances[number]);
    }

    /** From a line of its own for each version, as far as 16 go. */
    private static void call(int version, Runnable callee) {
        switch (version & 15) {
        case 0:
            callee.run();
            break;
        case 1:
            callee.run();
            break;
        case 2:
            callee.run();
            break;
        case 3:
            callee.run();
            break;
        case 4:
            callee.run();
            break;
        case 5:
            callee.run();
            break;
        case 6:
            callee.run();
            break;
        case 7:
            callee.run();
            break;
        case 8:
            callee.run();
            break;
        case 9:
            callee.run();
            break;
        case 10:
            callee.run();
            break;
        case 11:
            callee.run();
            break;
        case 12:
            callee.run();
            break;
        case 13:
            callee.run();
            break;
        case 14:
            callee.run();
            break;
        default:
            callee.run();
            break;
        }
    }

    /** New versions so far. */
    long count() {
        return count;
    }

    /** Gives every other of the classes, by chance, its next version: all in one step of the JVM. */
    void replaceSome() {
        int which = ThreadLocalRandom.current().nextInt(1, 1 << CLASSES);
        Class<?>[] some = new Class<?>[Integer.bitCount(which)];
        byte[][] contents = new byte[some.length][];
        int at = 0;
        for (int i = 0; i < CLASSES; i++) {
            if ((which >> i & 1) != 0) {
                some[at] = types[i];
                contents[at++] = bytes(i, versions.get(i) + 1);
            }
        }
        int error = replace(some, contents, (which & 1) != 0);
        if (error != 0) {
            throw new IllegalStateException("JVMTI refuses new code: error " + error);
        }
        for (int i = 0; i < CLASSES; i++) {
            versions.addAndGet(i, which >> i & 1);
        }
        count += some.length;
    }

    /** Compiled methods since the library was loaded, and how many of them the JVM has thrown away. */
    static native long codeLoaded();

    static native long codeUnloaded();

    private static native int replace(Class<?>[] types, byte[][] contents, boolean isRetransformed);

    private static int lineOf(int number, int version, int place) {
        return 1 + number * 8_000 + version % 992 * 8 + place;
    }

    private byte[] bytes(int number, int version) {
        ClassBytes bytes = new ClassBytes("R" + number, lineOf(number, version, 7));
        int code = version / VERSIONS_OF_CODE;
        int padding = 1 + code % 3; /* so that bytecode indices and sizes differ, too */
        int[] run = bytes.call("a" + number);
        bytes.add(ClassBytes.PUBLIC, "run", run, new int[] {0, lineOf(number, version, 0)});
        bytes.add(ClassBytes.PUBLIC_STATIC, "a" + number,
                pad(padding, bytes.call("h" + number + "_" + code % HELPERS)),
                new int[] {0, lineOf(number, version, 1), padding, lineOf(number, version, 2)});
        String private_ = "p" + number + "_" + code;
        for (int i = 0; i < HELPERS; i++) {
            int[] count = ClassBytes.count(ROUNDS, padding);
            int[] call = methodsMayCome ? bytes.call(private_) : new int[] {0xb1};
            int[] both = new int[count.length - 1 + call.length];
            System.arraycopy(count, 0, both, 0, count.length - 1);
            System.arraycopy(call, 0, both, count.length - 1, call.length);
            bytes.add(ClassBytes.PUBLIC_STATIC, "h" + number + "_" + i, both,
                    new int[] {0, lineOf(number, version, 3), padding,
                            lineOf(number, version, 4), count.length - 1,
                            lineOf(number, version, 5)});
        }
        if (methodsMayCome) {
            bytes.add(ClassBytes.PRIVATE_STATIC, private_, ClassBytes.count(ROUNDS, padding),
                    new int[] {0, lineOf(number, version, 6)});
        }
        return bytes.finish();
    }

    private static int[] pad(int padding, int[] code) {
        int[] padded = new int[padding + code.length];
        System.arraycopy(code, 0, padded, padding, code.length);
        return padded;
    }
}
