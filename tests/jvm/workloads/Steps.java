import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/**
 * Calls of every kind, instruction by instruction: from and to interpreted and compiled code, native methods, Java called by C,
 * interfaces, exceptions, monitors, the JVM's own stubs, compiled code that is taken apart.
 *
 *     java -cp ...:jaywalk.jar Steps HELD ROUNDS WARM_ROUNDS      HELD: each stack is compared with the one before
 */
public final class Steps {
    static volatile long sink;

    private Steps() {
    }

    static native boolean open();

    static native void begin(boolean isHeldToLast);

    static native void end();

    static native void tell();

    interface Shape {
        long area(long a, int b, double c, Object d);
    }

    static final class One implements Shape {
        @Override
        public long area(long a, int b, double c, Object d) {
            return a + b + (long) c + (d == null ? 1 : 0);
        }
    }

    static final class Two implements Shape {
        @Override
        public synchronized long area(long a, int b, double c, Object d) {
            return Steps.many(1, 2, 3, 4, 5, 6, 7, 8, 9, a, c, 11, 12);
        }
    }

    static final class Three implements Shape {
        @Override
        public long area(long a, int b, double c, Object d) {
            return Steps.few() + a;
        }
    }

    static long few() {
        return 7;
    }

    static long many(int a, int b, int c, int d, int e, int f, long g, long h, long i, long j, double k, double l, double m) {
        return a + b + c + d + e + f + g + h + i + j + (long) (k + l + m);
    }

    static int descend(int depth) {
        return depth == 0 ? 0 : 1 + descend(depth - 1);
    }

    static long thrown(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("thrown");
        }
        return thrown(depth - 1) + 1;
    }

    static long caught(int depth) {
        try {
            return thrown(depth);
        } catch (IllegalStateException e) {
            return e.getMessage().length();
        }
    }

    static long locked(Object lock) {
        synchronized (lock) {
            return lock.hashCode();
        }
    }

    static long nulls(Object what) {
        try {
            return what.toString().length();
        } catch (NullPointerException e) {
            return 1;
        }
    }

    interface Part {
        long run() throws Exception;
    }

    /* What is otherwise when the steps begin than it was when the code that meets it was compiled. */

    static boolean isLate;
    static Part late = () -> 0;

    /** Its callee is compiled when its call still leads to the interpreter: the adapter has the call changed. By C2: gives up. */
    static long lateCaller(long a) {
        return isLate ? lateCallee(a) : a;
    }

    static long lateCallee(long a) {
        return a * 3 + 1;
    }

    static class Base {
        long value() {
            return 1;
        }
    }

    static final class Derived extends Base {
        @Override
        long value() {
            return 2;
        }
    }

    /** Calls what loads the other class for which its own code was not made: taken apart when that returns. */
    static long madeForOne(Base base) throws Exception {
        return late.run() + base.value();
    }

    /** The same with its callers, one in the other. */
    static long deepForOne(int depth, Base base) throws Exception {
        return depth == 0 ? madeForOne(base) : 1 + deepForOne(depth - 1, base);
    }

    static volatile boolean isOtherWanted;
    static volatile boolean isOtherThere;

    /** By another thread: a class is loaded by some hundred thousand instructions of the JVM's own. */
    static void loadOther() {
        try {
            while (!isOtherWanted) {
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            return;
        }
        sink += new Derived().value();
        isOtherThere = true;
    }

    static long awaitOther() {
        isOtherWanted = true;
        while (!isOtherThere) {
            sink++;
        }
        return sink;
    }

    static void becomeLate() {
        isLate = true;
        sink += lateCaller(1);
        for (long until = System.nanoTime() + 300_000_000L; System.nanoTime() < until;) {
            sink += lateCallee(sink);
        }
        late = Steps::awaitOther;
        Thread loader = new Thread(Steps::loadOther, "other");
        loader.setDaemon(true);
        loader.start();
    }

    static Map<String, Part> parts() throws Exception {
        Map<String, Part> parts = new LinkedHashMap<>();
        Shape[] shapes = {new One(), new Two(), new Three(), (a, b, c, d) -> a};
        parts.put("shapes", () -> {
            long sum = 0;
            for (Shape shape : shapes) {
                sum += shape.area(1, 2, 3.0, shape);
            }
            return sum;
        });
        parts.put("many", () -> many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13));
        parts.put("descend", () -> descend(20));
        parts.put("caught", () -> caught(3));
        parts.put("locked", () -> locked(parts));
        parts.put("nulls", () -> nulls(null));
        int[] numbers = {3, 1, 2, 9, 7, 5, 4};
        parts.put("jni", () -> Proof.work(numbers));
        byte[] bytes = new byte[700];
        CRC32 crc = new CRC32();
        parts.put("crc", () -> {
            crc.update(bytes, 0, bytes.length);
            return crc.getValue();
        });
        Cipher cipher = Cipher.getInstance("AES/CBC/PKCS5Padding");
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[16], "AES"));
        parts.put("aes", () -> cipher.doFinal(bytes).length);
        byte[] packed = new byte[1_000];
        parts.put("deflate", () -> {
            Deflater deflater = new Deflater();
            try {
                deflater.setInput(bytes);
                deflater.finish();
                return deflater.deflate(packed);
            } finally {
                deflater.end();
            }
        });
        List<byte[]> held = new ArrayList<>();
        parts.put("copies", () -> {
            held.clear();
            for (int i = 0; i < 8; i++) {
                held.add(bytes.clone());
            }
            System.arraycopy(bytes, 1, held.get(0), 0, 600);
            return held.size();
        });
        parts.put("strings", () -> ("a" + held.size() + sink).hashCode());
        parts.put("sines", () -> (long) (Math.sin(sink) + Math.pow(sink, 1.5) + Math.log(3 + sink)));
        parts.put("threads", () -> Thread.currentThread().getId() + System.nanoTime() + new Object().hashCode());
        Base base = new Base();
        parts.put("late", () -> lateCaller(5) + madeForOne(base) + deepForOne(4, base));
        return parts;
    }

    static void round(Map<String, Part> parts) throws Exception {
        for (Part part : parts.values()) {
            sink += part.run();
        }
    }

    static void step(boolean isHeld, int rounds, Map<String, Part> parts) {
        begin(isHeld);
        try {
            for (int i = 0; i < rounds; i++) {
                round(parts);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        } finally {
            end();
        }
    }

    public static void main(String[] args) throws Exception {
        System.loadLibrary("proof");
        System.loadLibrary("steps");
        if (!open()) {
            return;
        }
        Map<String, Part> parts = parts();
        int warm = Integer.parseInt(args[2]);
        for (int i = 0; i < warm; i++) {
            round(parts);
        }
        for (long until = System.nanoTime() + 500_000_000L; System.nanoTime() < until;) {
            round(parts);
            for (int i = 0; i < 20; i++) {
                sink += parts.get("jni").run();
            }
        }
        becomeLate();
        Profiler.awaitRows();
        Thread thread = new Thread(() -> step(Boolean.parseBoolean(args[0]), Integer.parseInt(args[1]), parts), "steps");
        thread.start();
        thread.join();
        tell();
    }
}
