import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Classes with locks, of loaders of their own. "asked": whether such a loader is asked for ours while a lock is held, and one that does not give
 * it. "stuck": one that never answers; the program prints a line and takes the lock until it is ended. "many": classes are made and unloaded, of
 * more places than there are numbers, and the last one is counted all the same. "some": the same of fewer places.
 */
public class CensusLoaders {
    public static final Object LOCK = new Object();
    private static final int ROUNDS = 11, LOADERS = 15, METHODS = 500; // 82,500 places
    private static final int SOME_ROUNDS = 4; // 30,000: less than half of the numbers, where nothing has to be forgotten

    public static long sum;
    private static volatile int asked, held, refused;

    /** Of a loader of its own. */
    public static class Guarded implements Runnable {
        @Override
        public void run() {
            synchronized (LOCK) {
                sum++;
            }
        }
    }

    /** Has Guarded, or what it is given, of itself; what is asked of it for the agent is noted. */
    static class Own extends ClassLoader {
        private final String what;

        Own(String what) {
            super(CensusLoaders.class.getClassLoader());
            this.what = what;
        }

        Class<?> define(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }

        @Override
        protected Class<?> loadClass(String name, boolean isResolved) throws ClassNotFoundException {
            if (!name.startsWith("java.lang.Jaywalk")) {
                return super.loadClass(name, isResolved);
            }
            asked++;
            if (Thread.holdsLock(LOCK)) {
                held++;
            }
            if (what.equals("stuck")) {
                sleep(1_000_000);
            }
            if (what.equals("refused")) {
                refused++;
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, isResolved);
        }
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] bytesOf(String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        try (InputStream in = CensusLoaders.class.getResourceAsStream(name + ".class")) {
            for (int one = in.read(); one >= 0; one = in.read()) {
                bytes.write(one);
            }
        }
        return bytes.toByteArray();
    }

    private static Runnable guarded(String what) throws Exception {
        String name = "CensusLoaders$Guarded";

        return (Runnable) new Own(what).define(name, bytesOf(name)).getDeclaredConstructor().newInstance();
    }

    /** Static synchronized methods m0, m1, ... that do nothing. */
    private static byte[] classOf(String name, int methods) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);

        out.writeInt(0xcafebabe);
        out.writeInt(49);
        out.writeShort(7 + methods);
        utf(out, name);
        out.writeByte(7);
        out.writeShort(1);
        utf(out, "java/lang/Object");
        out.writeByte(7);
        out.writeShort(3);
        utf(out, "()V");
        utf(out, "Code");
        for (int i = 0; i < methods; i++) {
            utf(out, "m" + i);
        }
        out.writeShort(0x21);
        out.writeShort(2);
        out.writeShort(4);
        out.writeInt(0);
        out.writeShort(methods);
        for (int i = 0; i < methods; i++) {
            out.writeShort(0x29);
            out.writeShort(7 + i);
            out.writeShort(5);
            out.writeShort(1);
            out.writeShort(6);
            out.writeInt(13);
            out.writeInt(0);
            out.writeInt(1);
            out.writeByte(0xb1);
            out.writeInt(0);
        }
        out.writeShort(0);
        return bytes.toByteArray();
    }

    private static void utf(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    private static void call(String name, int methods) throws Exception {
        Class<?> made = new Own("plain").define(name, classOf(name, methods));

        for (int i = 0; i < 2; i++) {
            made.getMethod("m" + i).invoke(null);
        }
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
        case "asked":
            guarded("plain").run();
            guarded("refused").run();
            System.out.println("asked " + (asked > 1) + " refused " + (refused > 0) + " held " + held + " sum " + sum);
            break;
        case "stuck":
            Runnable stuck = guarded("stuck");

            stuck.run();
            System.out.println("ready");
            while (true) {
                stuck.run();
                sleep(10);
            }
        default:
            int rounds = arguments[0].equals("some") ? SOME_ROUNDS : ROUNDS;

            for (int round = 0; round < rounds; round++) {
                for (int i = 0; i < LOADERS; i++) {
                    call("Made", METHODS);
                }
                System.gc();
                sleep(500);
            }
            call("Last", 3);
            System.out.println("expect Last.m0 1 1");
            System.out.println("expect Last.m1 1 1");
            System.out.println("expect Last.m2 0 0");
            System.out.println("ok");
        }
    }
}
