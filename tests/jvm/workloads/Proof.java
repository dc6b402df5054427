import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MutableCallSite;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.LongSupplier;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/**
 * Where programs spend their time outside of their own methods: garbage, compilation, libz, checksums, ciphers, JNI, sockets.
 * Each kind of work has a thread of its own, `proof-KIND`, whose stacks begin with Thread.run and Work.run, and which
 * works in turns: a slice at a time until it has used its CPU time. All have worked before the threads begin that count.
 *
 *     java -cp ...:jaywalk.jar Proof CPU_MS
 */
public final class Proof {
    private static final int WARM_MS = 150;
    private static final int SLICE_ROUNDS = 8;
    private static final int TASK_CALLS = 30_000;
    private static final int DEOPT_CALLS = 60;
    private static final int DEOPT_DEPTH = 400;

    static volatile long sink;

    private Proof() {
    }

    /** Calls `given` once for each number, from a sort by the C library; makes strings and looks up classes. */
    static native long work(int[] numbers);

    /** Called by native code alone. */
    static int given(int one, int other) {
        return Integer.compare(one, other);
    }

    /** What compiled code of `descend` takes for constant; when it changes, each of its frames is taken apart. */
    private static final MutableCallSite SITE = new MutableCallSite(MethodHandles.constant(int.class, 1));
    private static final MethodHandle CONSTANT = SITE.dynamicInvoker();

    static int descend(int depth, boolean changes) throws Throwable {
        if (depth > 0) {
            return descend(depth - 1, changes) + (int) CONSTANT.invokeExact();
        }
        if (changes) {
            SITE.setTarget(MethodHandles.constant(int.class, (int) CONSTANT.invokeExact() + 1));
            MutableCallSite.syncAll(new MutableCallSite[] {SITE});
        }
        return 0;
    }

    private static long deoptimise() throws Exception {
        long sum = 0;
        try {
            for (int i = 1; i <= DEOPT_CALLS; i++) {
                sum += descend(DEOPT_DEPTH, i == DEOPT_CALLS);
            }
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        return sum;
    }

    /** A class that is defined anew so often that it is compiled all the time. */
    public static final class Task implements LongSupplier {
        private long state = 1;

        @Override
        public long getAsLong() {
            for (int i = 0; i < 20; i++) {
                state = mix(state) + i;
            }
            return state;
        }

        private static long mix(long value) {
            long mixed = value * 0x9E3779B97F4A7C15L;
            return mixed ^ mixed >>> 29;
        }
    }

    private static final class TaskLoader extends ClassLoader {
        private final byte[] bytes;

        TaskLoader(byte[] bytes) {
            super(Proof.class.getClassLoader());
            this.bytes = bytes;
        }

        LongSupplier task() throws Exception {
            return (LongSupplier) defineClass("Proof$Task", bytes, 0, bytes.length).getDeclaredConstructor().newInstance();
        }
    }

    private interface Slice {
        long run() throws Exception;
    }

    private static byte[] taskBytes() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream in = Proof.class.getResourceAsStream("Proof$Task.class")) {
            byte[] part = new byte[4_096];
            for (int count; (count = in.read(part)) > 0;) {
                bytes.write(part, 0, count);
            }
        }
        return bytes.toByteArray();
    }

    private static Map<String, Slice> slices() throws Exception {
        byte[] bytes = new byte[32_768];
        new Random(1).nextBytes(bytes);
        Map<String, Slice> slices = new LinkedHashMap<>();
        Object[] held = new Object[20_000];
        slices.put("gc", () -> {
            for (int i = 0; i < held.length; i++) {
                held[i] = new byte[64 + (i & 127)];
            }
            return held.length;
        });
        byte[] taskBytes = taskBytes();
        slices.put("compile", () -> {
            LongSupplier task = new TaskLoader(taskBytes).task();
            long sum = 0;
            for (int i = 0; i < TASK_CALLS; i++) {
                sum += task.getAsLong();
            }
            return sum;
        });
        slices.put("deopt", Proof::deoptimise);
        byte[] packed = new byte[65_536];
        slices.put("deflate", () -> {
            Deflater deflater = new Deflater();
            try {
                deflater.setInput(bytes);
                deflater.finish();
                return deflater.deflate(packed);
            } finally {
                deflater.end();
            }
        });
        CRC32 crc = new CRC32();
        slices.put("crc", () -> {
            for (int i = 0; i < 100; i++) {
                crc.update(bytes, 0, bytes.length - i);
            }
            return crc.getValue();
        });
        Cipher cipher = Cipher.getInstance("AES/CBC/PKCS5Padding");
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[16], "AES"));
        slices.put("aes", () -> cipher.doFinal(bytes).length);
        int[] numbers = new Random(2).ints(200).toArray();
        slices.put("jni", () -> work(numbers));
        slices.put("socket", sockets(bytes));
        return slices;
    }

    private static Slice sockets(byte[] bytes) throws Exception {
        ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket near = new Socket(listener.getInetAddress(), listener.getLocalPort());
        Socket far = listener.accept();
        listener.close();
        OutputStream out = near.getOutputStream();
        InputStream in = far.getInputStream();
        byte[] read = new byte[4_096];
        return () -> {
            out.write(bytes, 0, read.length);
            int sum = 0;
            while (sum < read.length) {
                sum += in.read(read);
            }
            return sum;
        };
    }

    /** One kind of work, for so much CPU time. */
    private static final class Work implements Runnable {
        private final Slice slice;
        private final long cpuNs;
        private Exception thrown;

        Work(Slice slice, long cpuMs) {
            this.slice = slice;
            cpuNs = cpuMs * 1_000_000L;
        }

        @Override
        public void run() {
            try {
                while (Threads.cpuNs() < cpuNs) {
                    for (int i = 0; i < SLICE_ROUNDS; i++) {
                        sink += slice.run();
                    }
                }
            } catch (Exception e) {
                thrown = e;
            }
        }
    }

    private static void workAll(String prefix, Map<String, Slice> slices, long cpuMs) throws Exception {
        List<Thread> threads = new ArrayList<>();
        List<Work> works = new ArrayList<>();
        for (Map.Entry<String, Slice> kind : slices.entrySet()) {
            Work work = new Work(kind.getValue(), cpuMs);
            works.add(work);
            threads.add(new Thread(work, prefix + kind.getKey()));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (Work work : works) {
            if (work.thrown != null) {
                throw work.thrown;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        System.loadLibrary("proof");
        Map<String, Slice> slices = slices();
        workAll("warm-", slices, WARM_MS);
        Profiler.awaitRows();
        workAll("proof-", slices, Long.parseLong(args[0]));
        System.out.println(sink);
    }
}
