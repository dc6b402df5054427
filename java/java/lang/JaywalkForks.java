package java.lang;

import java.util.concurrent.CompletableFuture;

/**
 * What is called where a task is handed to a ForkJoinPool, and where a thread begins and ends it, for queue= and asyncstacks of a session: as {@link JaywalkQueues}, but that
 * only tasks are told that the JDK has put around what the program hands over, and none of the scheduler of virtual threads. Each of those comes by
 * here, too, at any moment of a virtual thread, and leaves by a comparison: nothing is called, locked or allocated for it.
 */
public abstract class JaywalkForks {
    /** Set once, before there are such places. */
    private static JaywalkForks teller;

    /** Which attach is told of; of one before it calls may end at any time. */
    private static int telling = -1;

    /** Calls that were not told, for want of stack. */
    private static int dropped;

    /** That of virtual threads, and the class of the threads that run them; null: there are none. Set before the first attach, as is the next. */
    private static Object scheduler;
    private static Class<?> carrier;

    /** Of tasks that are put around others, beside those of CompletableFuture. */
    private static Class<?>[] covers = {};

    protected JaywalkForks() {
    }

    /** Before the first place; by the agent. */
    static void open(JaywalkForks to) {
        teller = to;
    }

    /** By the agent, before the first attach. */
    static void know(Object ofVirtual, Class<?> ofCarriers, Class<?>[] ofCovers) {
        scheduler = ofVirtual;
        carrier = ofCarriers;
        covers = ofCovers;
    }

    /** By the agent: tasks of that attach are told from now on; -1: of none. */
    static void begin(int attach) {
        telling = attach;
    }

    private static boolean isTold(Object task) {
        final Class<?> of = task.getClass();

        for (Class<?> cover : covers) {
            if (of == cover) {
                return true;
            }
        }
        return task instanceof CompletableFuture.AsynchronousCompletionTask;
    }

    /** A pool is given a task. */
    public static void submitted(Object pool, Object task, int site, int attach) {
        if (attach != telling || pool == scheduler || task == null) {
            return;
        }
        try {
            if (isTold(task)) {
                teller.submit(Thread.currentThread(), System.identityHashCode(pool), System.identityHashCode(task));
            }
        } catch (Throwable e) { // StackOverflowError, which the program's own call did not have
            dropped++;
        }
    }

    /** The pool did not take it in. */
    public static void refused(Object pool, Object task, int site, int attach) {
        if (attach != telling || pool == scheduler || task == null) {
            return;
        }
        try {
            if (isTold(task)) {
                teller.forget(System.identityHashCode(task));
            }
        } catch (Throwable e) {
            dropped++;
        }
    }

    /** A thread begins a task: of the pool, or one that helps while it waits for it. */
    public static void begun(Object task, int site, int attach) {
        if (attach != telling) {
            return;
        }
        try {
            final Thread thread = Thread.currentThread();

            if (thread.getClass() != carrier && isTold(task)) {
                teller.take(thread, task, System.identityHashCode(task));
            }
        } catch (Throwable e) {
            dropped++;
        }
    }

    /** It is over, in whatever way. */
    public static void ended(Object task, int site, int attach) {
        if (attach != telling) {
            return;
        }
        try {
            final Thread thread = Thread.currentThread();

            if (thread.getClass() != carrier && isTold(task)) {
                teller.end(thread);
            }
        } catch (Throwable e) {
            dropped++;
        }
    }

    static int dropped() {
        return dropped;
    }

    protected abstract void submit(Thread thread, int poolNumber, int taskNumber);

    protected abstract void take(Thread thread, Object task, int taskNumber);

    protected abstract void end(Thread thread);

    protected abstract void forget(int taskNumber);
}
