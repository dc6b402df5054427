import java.io.File;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A busy program, of classes and threads that come and go, two of whose threads give the agent commands at random: one by the
 * Java API, one by the C API, for so long after DIRECTORY/go is there. Then it prints "done", and rests until it is killed.
 *
 *     java ControlStorm SECONDS SEED LIBRARY DIRECTORY
 *
 * DIRECTORY/java.said and c.said: a line for each command, `SECONDS COMMAND => CODE ANSWER`.
 */
final class ControlStorm {
    static volatile long sink;
    private static volatile boolean isDone;
    private static volatile boolean isCalm;
    /** Commands of a client at least: of a few there are too few sessions. */
    private static final int LEAST = 60;
    private static long endNs;
    private static String library;
    private static String directory;

    private ControlStorm() {
    }

    static native String execute(String library, String command);

    private interface Api {
        /** The answer, in whose last line "= 0" stands if it was done. */
        String execute(String command) throws Exception;
    }

    /** Not named, as not every machine can build the jar. */
    private static final class JavaApi implements Api {
        private final Object jaywalk;
        private final Method method;

        JavaApi() throws ReflectiveOperationException {
            Class<?> type = Class.forName("io.jaywalk.Jaywalk");
            jaywalk = type.getMethod("ifPresent").invoke(null);
            method = type.getMethod("execute", String.class);
        }

        @Override
        public String execute(String command) throws Exception {
            try {
                return method.invoke(jaywalk, command) + "= 0";
            } catch (InvocationTargetException refused) {
                if (!refused.getCause().getClass().getName().equals("io.jaywalk.JaywalkException")) {
                    throw refused;
                }
                return refused.getCause().getMessage() + "\n= 1";
            }
        }
    }

    public static void main(String[] args) throws Exception {
        long seed = Long.parseLong(args[1]);
        library = args[2];
        directory = args[3];
        System.loadLibrary("exitlives");
        for (int i = 0; i < 2; i++) {
            daemon("busy-" + i, ControlStorm::burn);
        }
        daemon("threads", ControlStorm::startThreads);
        daemon("classes", ControlStorm::loadClasses);
        System.out.println("running");
        while (!new File(directory, "go").exists()) {
            Thread.sleep(20);
        }
        endNs = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        Thread[] clients = {
            client("c", seed, command -> execute(library, command)), client("java", seed + 1, new JavaApi()),
        };
        for (Thread client : clients) {
            client.join();
        }
        isCalm = true;
        System.out.println("done");
        Thread.sleep(Long.MAX_VALUE);
    }

    private static void daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static Thread client(String name, long seed, Api api) throws Exception {
        PrintStream said = new PrintStream(directory + "/" + name + ".said", "UTF-8");
        Thread thread = new Thread(() -> {
            Random random = new Random(seed);
            for (int i = 0; i < LEAST || System.nanoTime() < endNs; i++) {
                ask(said, api, ControlCommands.next(random, directory + "/" + name + "-" + i));
                sleep(random.nextInt(random.nextInt(10) == 0 ? 400 : 60));
            }
            said.close();
        }, name + " client");
        thread.start();
        return thread;
    }

    private static void ask(PrintStream said, Api api, String command) {
        String answer;
        try {
            answer = api.execute(command);
        } catch (Exception wrong) {
            answer = "threw " + wrong + "\n= 1";
        }
        int last = answer.lastIndexOf("= ");
        ControlCommands.note(said, command, Integer.parseInt(answer.substring(last + 2).trim()), answer.substring(0, last));
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void burn() {
        while (!isCalm) {
            sink++;
        }
    }

    private static void startThreads() {
        while (!isCalm) {
            Thread thread = new Thread(() -> sink++, "short");
            thread.setDaemon(true);
            thread.start();
            sleep(3);
        }
    }

    private static final class Loader extends ClassLoader {
        Runnable make(int number) throws ReflectiveOperationException {
            byte[] bytes = ClassBytes.of("C" + number, "m" + number, ClassBytes.lineOf(number));
            return (Runnable) defineClass("C" + number, bytes, 0, bytes.length).getConstructor().newInstance();
        }
    }

    private static final AtomicLong CLASSES = new AtomicLong();

    private static void loadClasses() {
        try {
            while (!isCalm) {
                new Loader().make((int) CLASSES.incrementAndGet()).run();
                sleep(5);
            }
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException(wrong);
        }
    }
}
