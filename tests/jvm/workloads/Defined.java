import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.ManagementFactory;

/**
 * Defines one class by many loaders, one after the other, which it lets go; it ends when the JVM has unloaded some of them.
 *
 *     java Defined LOADERS
 */
public final class Defined {
    private Defined() {
    }

    /** What is defined, over and over. */
    public static final class Copy {
    }

    static final class Loader extends ClassLoader {
        Loader() {
            super(null);
        }

        Class<?> define(byte[] bytes) {
            return defineClass("Defined$Copy", bytes, 0, bytes.length);
        }
    }

    private static byte[] bytes() throws IOException {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();

        try (InputStream in = Defined.class.getResourceAsStream("Defined$Copy.class")) {
            for (int one = in.read(); one >= 0; one = in.read()) {
                out.write(one);
            }
        }
        return out.toByteArray();
    }

    public static void main(String[] args) throws Exception {
        final ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
        final int loaders = Integer.parseInt(args[0]);
        final byte[] bytes = bytes();

        for (int i = 0; i < loaders; i++) {
            new Loader().define(bytes);
        }
        while (classes.getUnloadedClassCount() < loaders / 2) {
            System.gc();
            Thread.sleep(10);
        }
        Thread.sleep(300); // the JVM tells of them a moment later
        System.out.println("defined");
    }
}
