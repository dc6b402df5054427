import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * A program with many libraries and classes that does one of three things until it is killed: nothing, in many
 * threads (idle); what Hot does (busy); stopping all threads again and again, one safepoint after the other
 * (storm). Prints "running" when it is ready.
 *
 *     java Crowded DIRECTORY CLASSES idle|busy|storm      all libraries of the directory are loaded
 */
final class Crowded {
    private static final int IDLE_THREADS = 50;

    private static final class Loader extends ClassLoader {
        Class<?> define(int number) {
            byte[] bytes = ClassBytes.of("C" + number, "m" + number, ClassBytes.lineOf(number));
            return defineClass("C" + number, bytes, 0, bytes.length);
        }
    }

    private Crowded() {
    }

    public static void main(String[] args) throws Exception {
        File[] libraries = new File(args[0]).listFiles((directory, name) -> name.endsWith(".so"));
        for (File library : libraries) {
            System.load(library.getAbsolutePath());
        }
        List<Object> kept = new ArrayList<>();
        Loader loader = new Loader();
        int count = Integer.parseInt(args[1]);
        for (int i = 0; i < count; i++) {
            kept.add(loader.define(i).getDeclaredConstructor().newInstance());
        }
        switch (args[2]) {
            case "busy":
                Hot.main(new String[] {"-1"});
                break;
            case "idle":
                idle();
                break;
            default:
                storm();
                break;
        }
        System.out.println(kept.size());
    }

    private static void idle() throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < IDLE_THREADS; i++) {
            Thread thread = new Thread(() -> {
                try {
                    never.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "idle-" + i);
            thread.start();
        }
        System.out.println("running");
        never.await();
    }

    private static void storm() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        System.out.println("running");
        while (threads.findDeadlockedThreads() == null) {
            Thread.yield();
        }
    }
}
