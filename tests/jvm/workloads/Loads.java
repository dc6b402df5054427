import java.lang.reflect.Method;
import java.util.Random;

/**
 * Loads classes of its own for so long, each at another depth of the stack, below code that is interpreted and later compiled,
 * calls itself through interfaces, lambdas and reflection, and waits on its way, in threads and, where there are, in virtual
 * threads. Prints "begun", and at its end how many it has loaded.
 *
 *     java Loads SECONDS
 */
final class Loads implements Runnable {
    private static final int DEPTH = 90;
    private static final int CLASSES_OF_LOADER = 200;

    private interface Step {
        int go(int depth) throws Exception;
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(Loads.class.getClassLoader());
        }

        Class<?> define(String name) {
            byte[] bytes = ClassBytes.of(name, "work", 7);
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    private final Random random;
    private final long endNs;
    private Loader loader = new Loader();
    private int count;
    private int sum;
    private Method again;

    private Loads(int seed, long endNs) throws Exception {
        this.random = new Random(seed);
        this.endNs = endNs;
        again = Loads.class.getDeclaredMethod("down", int.class);
    }

    public static void main(String[] args) throws Exception {
        long endNs = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        Loads[] works = {new Loads(1, endNs), new Loads(2, endNs)};
        Thread[] threads = new Thread[works.length];
        for (int i = 0; i < works.length; i++) {
            threads[i] = begin(works[i], i % 2 == 1);
        }
        System.out.println("begun");
        int loaded = 0;
        for (int i = 0; i < works.length; i++) {
            threads[i].join();
            loaded += works[i].sum;
        }
        System.out.println("loaded " + loaded);
    }

    private static Thread begin(Runnable work, boolean isVirtual) throws Exception {
        if (isVirtual && hasVirtualThreads()) {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
        }
        Thread thread = new Thread(work, "loads");
        thread.start();
        return thread;
    }

    private static boolean hasVirtualThreads() {
        String version = System.getProperty("java.specification.version");
        return !version.startsWith("1.") && Integer.parseInt(version) >= 21;
    }

    @Override public void run() {
        try {
            while (System.nanoTime() < endNs) {
                sum += down(random.nextInt(DEPTH));
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private int down(int depth) throws Exception {
        if (depth <= 0) {
            return load();
        }
        switch (depth % 5) {
        case 0:
            return through(this::down, depth - 1);
        case 1:
            return depth % 3 == 0 ? (Integer) again.invoke(this, depth - 1) : down(depth - 1);
        case 2:
            if (depth == 42) {
                Thread.sleep(1);
            }
            return inlined(depth - 1);
        default:
            return new Other().go(depth - 1);
        }
    }

    private final class Other implements Step {
        @Override public int go(int depth) throws Exception {
            return down(depth);
        }
    }

    private int inlined(int depth) throws Exception {
        return down(depth);
    }

    private static int through(Step step, int depth) throws Exception {
        return step.go(depth);
    }

    private int load() throws Exception {
        if (++count % CLASSES_OF_LOADER == 0) {
            loader = new Loader();
        }
        ((Runnable) loader.define("Loaded" + count).getDeclaredConstructor().newInstance()).run();
        return 1;
    }
}
