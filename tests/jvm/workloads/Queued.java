import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Tasks that wait for the one thread of an executor, and know how long: handed over in each way that there is, also one object many times, some refused
 * and some removed. Prints how many of each class waited, how long in all, and how much of that may be none: a task is not in the queue yet while it is
 * being handed over, nor any more when its thread has taken it and does not run.
 *
 *     java Queued platform|virtual|serve
 */
public final class Queued {
    private static final int TASKS = 20;
    private static final long WORK_MS = 8;
    private static final String PLAIN = "java.util.concurrent.ThreadPoolExecutor";

    /** Class of task and executor -> how many, nanoseconds, and those that may be none. */
    private static final Map<String, long[]> WAITS = new TreeMap<>();

    /** When the executor's thread was done with the task before. */
    private static final ThreadLocal<Long> ENDED_NS = ThreadLocal.withInitial(() -> Long.MIN_VALUE);

    private static ThreadFactory factory = Thread::new;

    private Queued() {
    }

    private static void waited(String name, long beginNs) {
        final long nowNs = System.nanoTime();

        add(name, 1, nowNs - beginNs, nowNs - Math.max(ENDED_NS.get(), beginNs));
    }

    /** Behind each time that something is handed over. */
    private static void handed(String name, long beginNs) {
        add(name, 0, 0, System.nanoTime() - beginNs);
    }

    private static synchronized void add(String name, long count, long ns, long noneNs) {
        final long[] one = WAITS.computeIfAbsent(name, key -> new long[3]);

        one[0] += count;
        one[1] += ns;
        one[2] += noneNs;
    }

    private static void work() {
        try {
            Thread.sleep(WORK_MS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        ENDED_NS.set(System.nanoTime());
    }

    private static final class Task implements Runnable {
        private final long beginNs = System.nanoTime();

        @Override
        public void run() {
            waited("Queued$Task in " + PLAIN, beginNs);
            work();
        }
    }

    private static final class Called implements Callable<String> {
        private final long beginNs = System.nanoTime();

        @Override
        public String call() {
            waited("Queued$Called in " + PLAIN, beginNs);
            work();
            return "";
        }
    }

    private static final class Submitted implements Runnable {
        private final long beginNs = System.nanoTime();

        @Override
        public void run() {
            waited("Queued$Submitted in " + PLAIN, beginNs);
            work();
        }
    }

    private static final class Later implements Runnable {
        private final long beginNs = System.nanoTime();

        @Override
        public void run() {
            waited("Queued$Later in " + PLAIN, beginNs);
            work();
        }
    }

    /** One object, handed over many times. */
    private static final class Same implements Runnable {
        private final Queue<Long> beginsNs = new ConcurrentLinkedQueue<>();
        private final String executor;
        private final CountDownLatch mayEnd;

        /** It goes on until `mayEnd` lets it; null: for as long as all others. */
        Same(String executor, CountDownLatch mayEnd) {
            this.executor = executor;
            this.mayEnd = mayEnd;
        }

        Same begin() {
            beginsNs.add(System.nanoTime());
            return this;
        }

        @Override
        public void run() {
            waited("Queued$Same in " + executor, beginsNs.remove());
            if (mayEnd == null) {
                work();
                return;
            }
            try {
                mayEnd.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            ENDED_NS.set(System.nanoTime());
        }
    }

    /** Says nothing to what it extends before a task. */
    private static final class Pool extends ThreadPoolExecutor {
        Pool(BlockingQueue<Runnable> queue) {
            super(1, 1, 1, TimeUnit.SECONDS, queue, factory);
        }

        @Override
        protected void beforeExecute(Thread thread, Runnable task) {
        }
    }

    private static void end(ThreadPoolExecutor pool) throws InterruptedException {
        pool.shutdown();
        if (!pool.awaitTermination(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException("tasks do not end");
        }
    }

    private static void inEachWay() throws InterruptedException {
        final ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);

        for (int i = 0; i < TASKS; i++) {
            final Task task = new Task();
            pool.execute(task);
            handed("Queued$Task in " + PLAIN, task.beginNs);

            final Called called = new Called();
            pool.submit(called);
            handed("Queued$Called in " + PLAIN, called.beginNs);

            final Submitted submitted = new Submitted();
            pool.submit(submitted);
            handed("Queued$Submitted in " + PLAIN, submitted.beginNs);

            final Later later = new Later();
            CompletableFuture.runAsync(later, pool);
            handed("Queued$Later in " + PLAIN, later.beginNs);
        }
        for (int i = 0; i < TASKS; i++) {
            final long beginNs = System.nanoTime();

            pool.execute(() -> {
                waited("Queued$$Lambda in " + PLAIN, beginNs);
                work();
            });
            handed("Queued$$Lambda in " + PLAIN, beginNs);
        }
        end(pool);
    }

    private static void manyTimes() throws InterruptedException {
        final Pool pool = new Pool(new LinkedBlockingQueue<>());
        final Same same = new Same("Queued$Pool", null);

        for (int i = 0; i < TASKS; i++) {
            final long beginNs = System.nanoTime();

            pool.execute(same.begin());
            handed("Queued$Same in Queued$Pool", beginNs);
        }
        end(pool);
    }

    /** What was refused or removed is not taken for what is handed over behind it. */
    private static void notTaken() throws InterruptedException {
        final ThreadPoolExecutor pool = new Pool(new ArrayBlockingQueue<>(2));
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final Same same = new Same("Queued$Pool", mayEnd);
        final Runnable other = () -> waited("Queued$$Lambda in Queued$Pool", System.nanoTime());

        final long beginNs = System.nanoTime();

        pool.execute(same.begin()); // is taken at once; two more have room
        while (pool.getQueue().size() != 0 || pool.getActiveCount() == 0) {
            Thread.yield();
        }
        pool.execute(same.begin());
        handed("Queued$Same in Queued$Pool", beginNs); // of both
        pool.execute(other);
        for (int i = 0; i < 3; i++) {
            try {
                pool.execute(other);
                throw new IllegalStateException("there is room");
            } catch (RejectedExecutionException expected) {
                continue;
            }
        }
        if (!pool.remove(other) || pool.remove(other)) {
            throw new IllegalStateException("it is not removed once");
        }
        mayEnd.countDown();
        while (pool.getActiveCount() != 0 || pool.getQueue().size() != 0) {
            Thread.sleep(1);
        }
        pool.execute(other); // waits for nothing
        end(pool);
    }

    private static void all() {
        try {
            inEachWay();
            manyTimes();
            notTaken();
        } catch (Throwable e) { // threads of executors would keep the program alive
            e.printStackTrace();
            System.exit(1);
        }
    }

    /** One task after the other, until it is ended. */
    private static void serve() throws InterruptedException {
        final ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);

        System.out.println("serves");
        for (;;) {
            pool.execute(new Task());
            work();
        }
    }

    /** By names, since most JDKs have none. */
    private static ThreadFactory virtualFactory() throws ReflectiveOperationException {
        final Object builder = Thread.class.getMethod("ofVirtual").invoke(null);

        return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
    }

    public static void main(String[] arguments) throws ReflectiveOperationException, InterruptedException {
        if (arguments[0].equals("serve")) {
            serve();
        } else if (arguments[0].equals("virtual")) {
            factory = virtualFactory();
        }

        final Thread submitter = factory.newThread(Queued::all);

        submitter.setName("submitter");
        submitter.start();
        submitter.join();
        WAITS.forEach((name, one) -> System.out.println(one[0] + " " + one[1] + " " + one[2] + " " + name));
    }
}
