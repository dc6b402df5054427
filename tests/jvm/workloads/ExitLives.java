import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A short life, ended in one of the ways in which a JVM ends, with threads of several kinds busy to the last and, if wanted,
 * with the agent in the middle of something.
 *
 *     java ExitLives MODE DELAY_MICROS AIM DIRECTORY [LIBRARY]
 *
 * AIM: none; start, stop, dump: a thread gives the agent such commands as the end comes. Files of theirs go to
 * DIRECTORY, what they are answered to DIRECTORY.said, how many lines were printed to DIRECTORY.lines. Without LIBRARY there is no agent, and nothing is asked of it.
 */
final class ExitLives {
    static volatile long sink;
    private static String directory;
    private static String library;
    private static String mode;
    private static FileOutputStream said;
    private static final AtomicInteger FILES = new AtomicInteger();
    private static final CountDownLatch ALL_READY = new CountDownLatch(6);

    private ExitLives() {
    }

    static native void end(String how, int status);

    static native void crash();

    static native void kill(int signal);

    /** Closes the library as often as somebody may who does not know who else holds it open. */
    static native void unload(String library);

    /** What the agent answers, its result in a last line "= 0". */
    static native String execute(String library, String command);

    public static void main(String[] args) throws Exception {
        mode = args[0];
        long endNs = System.nanoTime() + Long.parseLong(args[1]) * 1000;
        String aim = args[2];
        directory = args[3];
        library = args.length > 4 ? args[4] : null;
        System.loadLibrary("exitlives");
        if (library != null) {
            said = new FileOutputStream(directory + ".said", true);
        }
        for (int i = 0; i < 2; i++) {
            daemon("busy-" + i, ExitLives::burn);
        }
        daemon("waiting", ExitLives::waitForever);
        daemon("starting", ExitLives::startThreads);
        if (mode.equals("hooks") || mode.equals("hook-stop") || mode.equals("hook-start")) {
            addHooks();
        }
        int line = 0;
        do {
            System.out.println("line " + line++ + " of " + mode + ": \u00e4\u20ac\ud83d\ude00");
            Thread.sleep(1);
        } while (System.nanoTime() < endNs);
        Files.write(Paths.get(directory + ".lines"), (line + "\n").getBytes(StandardCharsets.UTF_8));
        if (library != null && !aim.equals("none")) {
            aimAt(aim);
        }
        end();
    }

    private static void end() throws Exception {
        switch (mode) {
        case "return":
        case "destroy":
            return;
        case "unload":
            if (library != null) {
                unload(library);
            }
            return;
        case "exit":
            System.exit(3);
            break;
        case "halt":
            Runtime.getRuntime().halt(4);
            break;
        case "uncaught":
            throw new IllegalStateException("the end");
        case "hooks":
        case "hook-stop":
        case "hook-start":
            System.exit(5);
            break;
        case "crowd":
            for (int i = 0; i < 6; i++) {
                new Thread(ExitLives::exitWithAll, "exit-" + i).start();
            }
            break;
        case "term":
            kill(15);
            Thread.sleep(Long.MAX_VALUE);
            break;
        case "kill":
            kill(9);
            break;
        case "out-of-memory":
        case "out-of-memory-crash":
            fill();
            break;
        case "crash":
            crash();
            break;
        case "native-exit":
            end("exit", 9);
            break;
        case "native-_exit":
            end("_exit", 10);
            break;
        case "native-quick_exit":
            end("quick_exit", 11);
            break;
        case "native-abort":
            end("abort", 0);
            break;
        default:
            throw new IllegalArgumentException(mode);
        }
    }

    private static void daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void burn() {
        while (true) {
            sink++;
        }
    }

    private static void waitForever() {
        Object nobody = new Object();
        synchronized (nobody) {
            while (true) {
                try {
                    nobody.wait();
                } catch (InterruptedException ignored) {
                    continue;
                }
            }
        }
    }

    private static void startThreads() {
        while (true) {
            Thread thread = new Thread(() -> sink++, "short");
            thread.setDaemon(true);
            thread.start();
            sleep(2);
        }
    }

    private static void exitWithAll() {
        ALL_READY.countDown();
        try {
            ALL_READY.await();
        } catch (InterruptedException interrupted) {
            return;
        }
        System.exit(8);
    }

    private static void fill() {
        List<long[]> all = new ArrayList<>();
        while (true) {
            all.add(new long[1 << 18]);
        }
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    // The agent in the middle of something ----------------------------------------------------------------------------

    private static void ask(String command) {
        byte[] line = (command + " => " + execute(library, command).replace("\n", "\\n") + "\n").getBytes(StandardCharsets.UTF_8);
        try {
            said.write(line);
        } catch (java.io.IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static String file(String kind, String ending) {
        return ",file=" + directory + "/" + kind + "-" + FILES.getAndIncrement() + "." + ending;
    }

    private static void aimAt(String aim) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        Random random = new Random();
        daemon("commands", () -> {
            begun.countDown();
            if (aim.equals("stop")) {
                ask("stop");
            }
            while (aim.equals("start")) {
                ask("stop");
                ask("start,interval=1ms" + file("again", random.nextInt(4) == 0 ? "collapsed" : "jfr"));
            }
            while (aim.equals("dump")) {
                ask("dump" + file("copy", "jfr"));
                ask("dump" + file("copy", "collapsed"));
            }
        });
        begun.await();
        long endNs = System.nanoTime() + (aim.equals("stop") ? random.nextInt(15_000_000) : random.nextInt(150_000_000));
        while (System.nanoTime() < endNs) {
            sink++;
        }
    }

    private static void addHooks() {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> sleep(300), "long hook"));
        if (library == null) {
            return;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(ExitLives::hook, "hook"));
    }

    private static void hook() {
        if (mode.equals("hooks")) {
            for (int i = 0; i < 5; i++) {
                ask("status");
                ask("metrics");
            }
            ask("dump" + file("copy", "jfr"));
            javaApi();
        } else {
            ask("stop");
        }
        if (mode.equals("hook-start")) {
            ask("start,interval=1ms,wall=5ms" + file("again", "jfr"));
        }
    }

    /** By its name, as not every machine can build the jar. */
    private static void javaApi() {
        try {
            Class<?> api = Class.forName("io.jaywalk.Jaywalk");
            Object jaywalk = api.getMethod("ifPresent").invoke(null);
            if (!(Boolean) api.getMethod("isPresent").invoke(jaywalk)) {
                throw new IllegalStateException("the Java API finds no agent");
            }
            api.getMethod("status").invoke(jaywalk);
        } catch (ClassNotFoundException absent) {
            return;
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }
}
