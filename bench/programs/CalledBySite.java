import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.util.function.LongBinaryOperator;

/**
 * The method of Called with a call in front of it, as other ways than probes would have it: what a probed call is held against.
 *
 *     java CalledBySite UNITS MODE
 *
 * MODE: plain, without a call; direct, of the handler itself; constant, by a call site that never changes; changing, by one that may change; nothing, by
 * one that may change and does nothing yet.
 */
public final class CalledBySite {
    private static final String LOOP = "CalledBySite$Loop", HANDLER = "entered", TYPE = "(I)V";

    private static long count;

    private CalledBySite() {
    }

    /** As that of CountCalls. */
    public static void entered(int number) {
        count += number;
    }

    private static MethodHandle handler(MethodType type) throws ReflectiveOperationException {
        return MethodHandles.lookup().findStatic(CalledBySite.class, HANDLER, type);
    }

    public static CallSite constant(MethodHandles.Lookup lookup, String name, MethodType type) throws ReflectiveOperationException {
        return new ConstantCallSite(handler(type));
    }

    public static CallSite changing(MethodHandles.Lookup lookup, String name, MethodType type) throws ReflectiveOperationException {
        return new MutableCallSite(handler(type));
    }

    public static CallSite nothing(MethodHandles.Lookup lookup, String name, MethodType type) throws ReflectiveOperationException {
        return new MutableCallSite(MethodHandles.dropArguments(MethodHandles.constant(Void.class, null).asType(MethodType.methodType(void.class)), 0, int.class));
    }

    /** As in Called. */
    public static final class Loop implements LongBinaryOperator {
        private static final int CALLS = 1_000_000;

        @Override
        public long applyAsLong(long first, long count) {
            return units((int) first, (int) count);
        }

        private static long units(int first, int count) {
            long sum = 0;
            for (int i = 0; i < count; i++) {
                for (int j = 0; j < CALLS; j++) {
                    sum += Linked.called(first + i, j);
                }
            }
            return sum;
        }
    }

    private static final class Loader extends ClassLoader {
        private final byte[] linked;

        Loader(byte[] linked) {
            super(CalledBySite.class.getClassLoader());
            this.linked = linked;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            Class<?> done = findLoadedClass(name);
            if (done != null) {
                return done;
            }
            try {
                return name.equals(LOOP) ? define(name, loop()) : name.equals("Linked") ? define(name, linked) : super.loadClass(name, resolve);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }

        private Class<?> define(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }

        private byte[] loop() throws IOException {
            try (InputStream in = getParent().getResourceAsStream(LOOP + ".class")) {
                return in.readAllBytes();
            }
        }
    }

    private static byte[] linked(String mode) throws IOException {
        ClassPool pool = new ClassPool();
        ByteArrayOutputStream body = new ByteArrayOutputStream(), code = new ByteArrayOutputStream(), whole = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(body), call = new DataOutputStream(code), all = new DataOutputStream(whole);
        boolean isSite = !mode.equals("plain") && !mode.equals("direct");
        out.writeShort(0x20);
        out.writeShort(pool.type("Linked"));
        out.writeShort(pool.type("java/lang/Object"));
        out.writeShort(0);
        out.writeShort(0);
        out.writeShort(1);
        if (isSite) {
            call.write(new byte[] {27, (byte) 186}); // iload_1, invokedynamic
            call.writeShort(pool.site(HANDLER, TYPE));
            call.writeShort(0);
        } else if (mode.equals("direct")) {
            call.write(new byte[] {27, (byte) 184}); // iload_1, invokestatic
            call.writeShort(pool.method("CalledBySite", HANDLER, TYPE));
        }
        // iload_0, bipush 31, imul, iload_1, iload_1, bipush 7, iushr, ixor, iadd, ireturn
        call.write(new byte[] {26, 16, 31, 104, 27, 27, 16, 7, 124, (byte) 130, 96, (byte) 172});
        pool.method(out, 8, "called", "(II)I", 4, 2, code.toByteArray());
        out.writeShort(isSite ? 1 : 0);
        if (isSite) {
            out.write(pool.bootstraps("CalledBySite", mode));
        }
        pool.put(all);
        all.write(body.toByteArray());
        return whole.toByteArray();
    }

    public static void main(String[] args) throws Exception {
        Loader loader = new Loader(linked(args[1]));
        LongBinaryOperator loop = (LongBinaryOperator) loader.loadClass(LOOP).getConstructor().newInstance();
        if (loop.getClass().getClassLoader() != loader) {
            throw new IllegalStateException("the loop is not that of the class which was made");
        }
        for (int i = 0; i < 20; i++) {
            loop.applyAsLong(0, 1);
        }
        if ((count != 0) == (args[1].equals("plain") || args[1].equals("nothing"))) {
            throw new IllegalStateException(args[1] + ": the handler has counted " + count);
        }
        Fixed.measure(loop::applyAsLong, Integer.parseInt(args[0]));
    }
}
