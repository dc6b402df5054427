import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Defines classes by the thousand, uses them for a moment and lets them die. The names say what
 * belongs together: class C123 has the one method m123, with the one line number lineOf(123). Who
 * looks a name up too late finds the one of another class at its address.
 *
 *     java Churn SECONDS
 */
final class Churn implements Runnable {
    private static final int THREADS = 2;
    private static final int CLASSES_A_LOADER = 20;
    private static final int COLLECT_EVERY_MS = 150;

    static volatile boolean isDone;
    private static final AtomicInteger NEXT = new AtomicInteger();

    private static final class Loader extends ClassLoader {
        Loader() {
            super(Churn.class.getClassLoader());
        }

        Class<?> define(int number) {
            byte[] bytes = ClassBytes.of("C" + number, "m" + number, ClassBytes.lineOf(number));
            return defineClass("C" + number, bytes, 0, bytes.length);
        }
    }

    public static void main(String[] args) throws Exception {
        long endNs = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(new Churn(), "churn-" + i);
            threads[i].start();
        }
        long startNs = System.nanoTime();
        while (System.nanoTime() < endNs) {
            Thread.sleep(COLLECT_EVERY_MS);
            System.gc();
        }
        isDone = true;
        for (Thread thread : threads) {
            thread.join();
        }
        long perSecond = NEXT.get() * 1_000_000_000L / (System.nanoTime() - startNs);
        System.out.println("classes " + NEXT.get());
        System.out.println("classes a second " + perSecond);
        System.out.println(
                "unloaded " + java.lang.management.ManagementFactory.getClassLoadingMXBean()
                                      .getUnloadedClassCount());
    }

    @Override
    public void run() {
        try {
            while (!isDone) {
                Loader loader = new Loader();
                List<Runnable> users = new ArrayList<>();
                for (int i = 0; i < CLASSES_A_LOADER; i++) {
                    users.add((Runnable) loader.define(NEXT.getAndIncrement())
                                      .getDeclaredConstructor()
                                      .newInstance());
                }
                users.forEach(Runnable::run);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
