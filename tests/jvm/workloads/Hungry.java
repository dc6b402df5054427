import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Makes a profiler hungry: many classes, each with names of its own, whose methods run at the bottom of deep
 * stacks that hardly ever repeat, and threads that wait at many places. At the end it prints what the process holds
 * in private memory: "anonymous N KiB".
 *
 *     java Hungry CLASSES THREADS SECONDS        CPU seconds of the thread that makes and calls them
 */
final class Hungry {
    private static final int DEPTH = 200;

    private static volatile boolean isDone;
    private static volatile long sink;

    private static final class Loader extends ClassLoader {
        Loader() {
            super(Hungry.class.getClassLoader());
        }

        Class<?> define(int number) {
            byte[] bytes = ClassBytes.of("org/example/generated/hungry/C" + number,
                    "aMethodOfSomeLength" + number, ClassBytes.lineOf(number));
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    private static long left(Random random, int depth) {
        return 1 + (depth == 0             ? spin(random)
                    : random.nextBoolean() ? left(random, depth - 1)
                                           : right(random, depth - 1));
    }

    private static long right(Random random, int depth) {
        return 2 + (depth == 0             ? spin(random)
                    : random.nextBoolean() ? right(random, depth - 1)
                                           : left(random, depth - 1));
    }

    private static long spin(Random random) {
        long sum = 0;
        for (int i = 0; i < 5000; i++) {
            sum += random.nextInt();
        }
        return sum;
    }

    private static void waitDeep(Random random, int depth) throws InterruptedException {
        if (depth > 0) {
            if (random.nextBoolean()) {
                waitDeep(random, depth - 1);
            } else {
                waitDeeper(random, depth - 1);
            }
        } else {
            Thread.sleep(20);
        }
    }

    private static void waitDeeper(Random random, int depth) throws InterruptedException {
        if (depth > 0) {
            waitDeep(random, depth - 1);
        } else {
            Thread.sleep(20);
        }
    }

    public static void main(String[] args) throws Exception {
        Loader loader = new Loader();
        List<Runnable> kept = new ArrayList<>();
        int count = Integer.parseInt(args[0]);
        Thread[] threads = new Thread[Integer.parseInt(args[1])];
        for (int i = 0; i < threads.length; i++) {
            Random random = new Random(i);
            threads[i] = new Thread(() -> {
                try {
                    while (!isDone) {
                        waitDeep(random, DEPTH);
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }, "a-thread-that-waits-" + i);
            threads[i].start();
        }
        long cpuNs = Long.parseLong(args[2]) * 1_000_000_000L;
        Random random = new Random(1);
        for (int i = 0; Threads.cpuNs() < cpuNs; i++) {
            if (i < count) {
                kept.add((Runnable) loader.define(i).getDeclaredConstructor().newInstance());
            }
            kept.get(i % kept.size()).run();
            sink += left(random, DEPTH);
        }
        isDone = true;
        for (Thread thread : threads) {
            thread.join();
        }
        try (java.io.BufferedReader lines =
                new java.io.BufferedReader(new java.io.FileReader("/proc/self/status"))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("RssAnon:")) {
                    System.out.println("anonymous " + line.replaceAll("[^0-9]", "") + " KiB");
                }
            }
        }
        System.out.println(kept.size() + " classes");
    }
}
