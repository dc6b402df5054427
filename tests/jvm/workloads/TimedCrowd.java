import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntUnaryOperator;

/** A hundred classes, each with a method that forty threads call a hundred times, all of them alive to the end: more than what is timed has memory of its own for. */
public final class TimedCrowd {
    private static final int CLASSES = 100, THREADS = 40, CALLS = 100;

    private TimedCrowd() {
    }

    /** The first of them; the others are copies under other names. */
    public static final class Tiny00 implements IntUnaryOperator {
        @Override
        public int applyAsInt(int number) {
            return number + 1;
        }
    }

    private static final class Copies extends ClassLoader {
        private final byte[] original;

        Copies() throws IOException {
            super(TimedCrowd.class.getClassLoader());
            final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

            try (InputStream in = TimedCrowd.class.getResourceAsStream("TimedCrowd$Tiny00.class")) {
                for (int one = in.read(); one >= 0; one = in.read()) {
                    bytes.write(one);
                }
            }
            original = bytes.toByteArray();
        }

        IntUnaryOperator make(int number) throws ReflectiveOperationException {
            final String name = String.format("Tiny%02d", number);
            final String text = new String(original, StandardCharsets.ISO_8859_1).replace("Tiny00", name);
            final byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);

            return (IntUnaryOperator) defineClass("TimedCrowd$" + name, bytes, 0, bytes.length).getConstructor().newInstance();
        }
    }

    private static void callAll(List<IntUnaryOperator> all, CountDownLatch called) {
        for (IntUnaryOperator one : all) {
            for (int i = 0; i < CALLS; i++) {
                one.applyAsInt(i);
            }
        }
        called.countDown();
        try {
            called.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        final List<IntUnaryOperator> all = new ArrayList<>();
        final List<Thread> threads = new ArrayList<>();
        final CountDownLatch called = new CountDownLatch(THREADS);
        final Copies copies = new Copies();

        for (int i = 0; i < CLASSES; i++) {
            all.add(i == 0 ? new Tiny00() : copies.make(i));
        }
        for (int i = 0; i < THREADS; i++) {
            threads.add(new Thread(() -> callAll(all, called), "caller " + i));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
