import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Tasks of ForkJoinPool that wait, handed over in each way that there is, and others that do not: forks, what runs where it is called, what is
 * cancelled or refused, and the scheduler of virtual threads. Of each class the program knows between which bounds its waits are in all: a wait begins
 * between two looks at the clock around the call, and ends after what the thread that takes it did before, and before the task itself looks. Prints count,
 * both bounds and name of each.
 *
 *     java Forked platform|virtual
 */
public final class Forked {
    private static final int TASKS = 20;
    private static final long WORK_NS = 4_000_000;
    private static final int TURNS = 70_000; // more than tasks are remembered
    private static final String PLAIN = "java.util.concurrent.ForkJoinPool";

    /** Class of task and pool -> how many, and nanoseconds at least and at most. */
    private static final Map<String, long[]> WAITS = new TreeMap<>();

    /** When the thread has ended its last task. */
    private static final ThreadLocal<Long> ENDED = new ThreadLocal<>();

    private static volatile int turn;

    private Forked() {
    }

    private static void work() {
        final long beginNs = System.nanoTime();

        while (System.nanoTime() - beginNs < WORK_NS) {
            LockSupport.parkNanos(WORK_NS);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What is handed over, in whatever form. */
    private abstract static class Job {
        private final String pool;
        private final long beginNs = System.nanoTime();
        private volatile long handedNs;

        Job(String pool) {
            this.pool = pool;
        }

        /** Behind the call. */
        void handed() {
            handedNs = System.nanoTime();
        }

        String done() {
            final long nowNs = System.nanoTime();
            final Long endedNs = ENDED.get();
            final long least = endedNs == null || handedNs == 0 ? 0 : Math.max(0, endedNs - handedNs);

            synchronized (WAITS) {
                final long[] one = WAITS.computeIfAbsent(getClass().getName() + " in " + pool, key -> new long[3]);

                one[0]++;
                one[1] += least;
                one[2] += nowNs - beginNs;
            }
            work();
            ENDED.set(System.nanoTime());
            return "";
        }
    }

    private abstract static class RunJob extends Job implements Runnable {
        RunJob(String pool) {
            super(pool);
        }

        @Override
        public void run() {
            done();
        }
    }

    private abstract static class CallJob extends Job implements Callable<String> {
        CallJob(String pool) {
            super(pool);
        }

        @Override
        public String call() {
            return done();
        }
    }

    private static final class Executed extends RunJob {
        Executed(String pool) {
            super(pool);
        }
    }

    private static final class Submitted extends RunJob {
        Submitted() {
            super(PLAIN);
        }
    }

    private static final class Resulted extends RunJob {
        Resulted() {
            super(PLAIN);
        }
    }

    private static final class Adapted extends RunJob {
        Adapted() {
            super(PLAIN);
        }
    }

    private static final class Later extends RunJob {
        Later() {
            super(PLAIN);
        }
    }

    private static final class Common extends RunJob {
        Common() {
            super(PLAIN);
        }
    }

    private static final class Again extends RunJob {
        Again() {
            super(PLAIN);
        }
    }

    private static final class Helped extends RunJob {
        Helped() {
            super(PLAIN);
        }
    }

    private static final class Called extends CallJob {
        Called() {
            super(PLAIN);
        }
    }

    private static final class OfAll extends CallJob {
        OfAll() {
            super(PLAIN);
        }
    }

    private static final class Supplied extends Job implements Supplier<String> {
        Supplied() {
            super(PLAIN);
        }

        @Override
        public String get() {
            return done();
        }
    }

    private static final class Applied extends Job implements Function<String, String> {
        Applied() {
            super(PLAIN);
        }

        @Override
        public String apply(String of) {
            return done();
        }
    }

    /** Waits for nobody. */
    private static final class Nothing implements Runnable {
        @Override
        public void run() {
        }
    }

    private static final class Fibonacci extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;
        private final int of;

        Fibonacci(int of) {
            this.of = of;
        }

        @Override
        protected Integer compute() {
            if (of < 2) {
                return of;
            }
            final Fibonacci left = new Fibonacci(of - 1);

            left.fork();
            return new Fibonacci(of - 2).compute() + left.join();
        }
    }

    private static final class Pool extends ForkJoinPool {
        Pool() {
            super(1);
        }
    }

    private static void end(ExecutorService pool) throws InterruptedException {
        pool.shutdown();
        if (!pool.awaitTermination(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException("tasks do not end");
        }
    }

    private static void inEachWay() throws InterruptedException {
        final ExecutorService stealing = Executors.newWorkStealingPool(1);
        final ForkJoinPool pool = (ForkJoinPool) stealing;
        final CompletableFuture<String> there = CompletableFuture.completedFuture("");

        for (int i = 0; i < TASKS; i++) {
            final Executed executed = new Executed(PLAIN);
            stealing.execute(executed);
            executed.handed();
            final Submitted submitted = new Submitted();
            pool.submit(submitted);
            submitted.handed();
            final Resulted resulted = new Resulted();
            pool.submit(resulted, "");
            resulted.handed();
            final Called called = new Called();
            pool.submit(called);
            called.handed();
            final Adapted adapted = new Adapted();
            pool.execute(ForkJoinTask.adapt(adapted));
            adapted.handed();
            final Later later = new Later();
            CompletableFuture.runAsync(later, pool);
            later.handed();
            final Supplied supplied = new Supplied();
            CompletableFuture.supplyAsync(supplied, pool);
            supplied.handed();
            final Applied applied = new Applied();
            there.thenApplyAsync(applied, pool);
            applied.handed();
        }
        end(pool);

        final ForkJoinPool other = new Pool();
        for (int i = 0; i < TASKS; i++) {
            final Executed executed = new Executed("Forked$Pool");

            other.execute(executed);
            executed.handed();
        }
        end(other);
    }

    private static void allAtOnce() throws InterruptedException {
        final ForkJoinPool pool = new ForkJoinPool(1);
        final List<OfAll> jobs = new ArrayList<>();

        for (int i = 0; i < TASKS; i++) {
            jobs.add(new OfAll());
        }
        pool.invokeAll(jobs);
        end(pool);
    }

    /** While all its threads are busy, who waits for a task runs it. */
    private static void inCommonPool() throws InterruptedException {
        final int threads = ForkJoinPool.getCommonPoolParallelism();
        final CountDownLatch areBusy = new CountDownLatch(threads);
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final List<CompletableFuture<Void>> jobs = new ArrayList<>();

        for (int i = 0; i < TASKS; i++) {
            final Common common = new Common();

            jobs.add(CompletableFuture.runAsync(common));
            common.handed();
        }
        jobs.forEach(CompletableFuture::join);
        for (int i = 0; i < threads; i++) {
            ForkJoinPool.commonPool().execute(new RecursiveTask<Integer>() { // is not told
                private static final long serialVersionUID = 1;

                @Override
                protected Integer compute() {
                    areBusy.countDown();
                    await(mayEnd);
                    return 0;
                }
            });
        }
        await(areBusy);
        final Thread helper = new Thread(Forked::help);
        helper.start();
        helper.join(10_000); // a JDK whose threads do not help has the pool do it then
        mayEnd.countDown();
        helper.join();
    }

    private static void help() {
        for (int i = 0; i < 3; i++) {
            final Helped helped = new Helped();
            final ForkJoinTask<?> task = ForkJoinPool.commonPool().submit(ForkJoinTask.adapt(helped)); // JDK 25 does not help with others

            helped.handed();
            work();
            ENDED.set(System.nanoTime());
            task.join();
        }
    }

    private static void notTaken() throws InterruptedException {
        final ForkJoinPool pool = new ForkJoinPool(1);
        final ForkJoinPool ended = new ForkJoinPool(1);
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final ForkJoinTask<?> blocks = new RecursiveTask<Integer>() {
            private static final long serialVersionUID = 1;

            @Override
            protected Integer compute() {
                await(mayEnd);
                return 0;
            }
        };

        pool.execute(blocks);
        for (int i = 0; i < TASKS; i++) {
            if (!pool.submit(new Nothing()).cancel(false)) {
                throw new IllegalStateException("it is not cancelled");
            }
        }
        mayEnd.countDown();
        blocks.join();

        end(ended);
        final ForkJoinTask<?>[] again = new ForkJoinTask<?>[TASKS];
        final Again[] jobs = new Again[TASKS];
        for (int i = 0; i < TASKS; i++) {
            again[i] = ForkJoinTask.adapt((Runnable) () -> {
            });
            try {
                ended.execute(again[i]);
                throw new IllegalStateException("it is not refused");
            } catch (RejectedExecutionException expected) {
                continue;
            }
        }
        for (int i = 0; i < TASKS; i++) { // what was refused and is run all the same has not waited
            again[i].invoke();
            jobs[i] = new Again();
            pool.execute(jobs[i]);
            jobs[i].handed();
        }
        end(pool);
    }

    /** None of it is handed over. */
    private static void notHandedOver() throws InterruptedException {
        final ForkJoinPool pool = new ForkJoinPool(2);

        if (pool.invoke(new Fibonacci(18)) != 2584 || new Fibonacci(18).fork().join() != 2584) {
            throw new IllegalStateException("it is wrong");
        }
        if (IntStream.range(0, 100_000).parallel().filter(of -> of % 2 == 0).count() != 50_000) {
            throw new IllegalStateException("it is wrong");
        }
        ForkJoinTask.adapt(new Nothing()).invoke();
        pool.invoke(new RecursiveTask<Integer>() {
            private static final long serialVersionUID = 1;

            @Override
            protected Integer compute() {
                for (int i = 0; i < TASKS; i++) {
                    ForkJoinTask.adapt(new Nothing()).fork().join();
                }
                return 0;
            }
        });
        CompletableFuture.completedFuture("").thenRun(new Nothing());
        end(pool);
    }

    private static void take(int mine, Thread[] both) {
        for (int i = 0; i < TURNS / 2; i++) {
            while (turn != mine) {
                LockSupport.park();
            }
            turn = 1 - mine;
            LockSupport.unpark(both[1 - mine]);
        }
    }

    /** Each turn hands a task to the scheduler. By names, since most JDKs have none. */
    private static Thread virtual(Runnable task) throws ReflectiveOperationException {
        final Object builder = Thread.class.getMethod("ofVirtual").invoke(null);

        return (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class).invoke(builder, task);
    }

    private static void inTurns() throws ReflectiveOperationException, InterruptedException {
        final Thread[] both = new Thread[2];

        both[0] = virtual(() -> take(0, both));
        both[1] = virtual(() -> take(1, both));
        for (Thread one : both) {
            one.start();
        }
        for (Thread one : both) {
            one.join();
        }
    }

    private static void all() {
        try {
            inEachWay();
            allAtOnce();
            inCommonPool();
            notTaken();
            notHandedOver();
        } catch (Throwable e) { // threads of executors would keep the program alive
            e.printStackTrace();
            System.exit(1);
        }
    }

    public static void main(String[] arguments) throws ReflectiveOperationException, InterruptedException {
        final boolean isVirtual = arguments[0].equals("virtual");
        final Thread submitter = isVirtual ? virtual(Forked::all) : new Thread(Forked::all, "submitter");

        submitter.start();
        submitter.join();
        if (isVirtual) {
            inTurns();
        }
        WAITS.forEach((name, one) -> System.out.println(one[0] + " " + one[1] + " " + one[2] + " " + name));
    }
}
