import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Two callers hand tasks to the same threads, in each way that there is, and each task burns CPU time in a method that says whose it is: red ones in
 * {@code ofRed}, blue ones in {@code ofBlue}. One of ten ends by an exception. Tasks of a pool hand over others in their midst. Beside them
 * threads of an executor burn between tasks, where nobody has handed anything over ({@code between}, in a queue of the program's own).
 *
 *     java Handed platform|virtual ROUNDS
 */
public final class Handed {
    private static final long BURN_NS = 2_000_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static int rounds;
    private static volatile long sum;

    private Handed() {
    }

    static void burn(long ns) {
        final long end = THREADS.getCurrentThreadCpuTime() + ns;

        while (THREADS.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 1000; i++) {
                sum++;
            }
        }
    }

    static String ofRed() {
        burn(BURN_NS);
        return "red";
    }

    static String ofBlue() {
        burn(BURN_NS);
        return "blue";
    }

    /** What runs; both are of the same class, so that only who handed it over tells whose it is. */
    private static final class Work implements Callable<String>, Runnable {
        private final boolean isRed, fails;

        Work(boolean isRed, boolean fails) {
            this.isRed = isRed;
            this.fails = fails;
        }

        @Override
        public String call() {
            final String whose = isRed ? ofRed() : ofBlue();

            if (fails) {
                throw new IllegalStateException("as it is meant to");
            }
            return whose;
        }

        @Override
        public void run() {
            call();
        }
    }

    /** Its threads do something between two tasks, too. */
    private static final class Queue extends LinkedBlockingQueue<Runnable> {
        private static final long serialVersionUID = 1;

        @Override
        public Runnable take() throws InterruptedException {
            final Runnable task = super.take();

            between();
            return task;
        }
    }

    static void between() {
        burn(BURN_NS / 2);
    }

    static void await(Future<?> task) {
        try {
            task.get();
        } catch (ExecutionException e) {
            return; // as it is meant to
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void awaitAll(List<Future<?>> tasks) {
        for (Future<?> task : tasks) {
            await(task);
        }
        tasks.clear();
    }

    /* Each of the two has methods of its own that hand over. */

    private static void red(ThreadPoolExecutor executor, ForkJoinPool pool) {
        final List<Future<?>> tasks = new ArrayList<>();

        for (int i = 0; i < rounds; i++) {
            handRed(executor, pool, new Work(true, i % 10 == 0), tasks);
            awaitAll(tasks);
        }
    }

    private static void handRed(ThreadPoolExecutor executor, ForkJoinPool pool, Work work, List<Future<?>> tasks) {
        tasks.add(executor.submit((Callable<String>) work));
        tasks.add(pool.submit((Callable<String>) work));
        tasks.add(CompletableFuture.supplyAsync(work::call, executor));
        tasks.add(CompletableFuture.runAsync(work, pool));
        tasks.add(pool.submit((Runnable) () -> innerRed(pool, work)));
    }

    /** In the midst of a task another one is handed over, and this thread may help with it, or with one of the others. */
    private static void innerRed(ForkJoinPool pool, Work work) {
        final ForkJoinTask<?> inner = pool.submit((Callable<String>) new Work(true, false));

        ofRed();
        inner.join();
        lastRed();
    }

    /** Behind a task that has ended. */
    private static void lastRed() {
        ofRed();
    }

    private static void blue(ThreadPoolExecutor executor, ForkJoinPool pool) {
        final List<Future<?>> tasks = new ArrayList<>();

        for (int i = 0; i < rounds; i++) {
            handBlue(executor, pool, new Work(false, i % 10 == 0), tasks);
            awaitAll(tasks);
        }
    }

    private static void handBlue(ThreadPoolExecutor executor, ForkJoinPool pool, Work work, List<Future<?>> tasks) {
        executor.execute(() -> {
            try {
                work.run();
            } catch (IllegalStateException e) { // else the thread ends, and others are made
                return;
            }
        });
        tasks.add(executor.submit((Callable<String>) work));
        tasks.add(pool.submit((Callable<String>) work));
        tasks.add(CompletableFuture.runAsync(work, pool));
    }

    private static Thread start(String how, String name, Runnable what) throws ReflectiveOperationException {
        final Thread thread;

        if (how.equals("platform")) {
            thread = new Thread(what, name);
        } else { // by names, since most JDKs have none
            final Object builder = Thread.class.getMethod("ofVirtual").invoke(null);

            thread = (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class).invoke(builder, what);
        }
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws ReflectiveOperationException, InterruptedException {
        final ThreadPoolExecutor executor = new ThreadPoolExecutor(2, 2, 1, TimeUnit.MINUTES, new Queue());
        final ForkJoinPool pool = new ForkJoinPool(2);

        rounds = Integer.parseInt(args[1]);
        final Thread ofRed = start(args[0], "red", () -> red(executor, pool));
        final Thread ofBlue = start(args[0], "blue", () -> blue(executor, pool));
        ofRed.join();
        ofBlue.join();
        executor.shutdown();
        pool.shutdown();
        executor.awaitTermination(1, TimeUnit.MINUTES);
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }
}
