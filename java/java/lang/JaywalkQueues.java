package java.lang;

/**
 * What is called where a task is handed to a ThreadPoolExecutor, where one of its threads takes it, and where that thread is done with it, for queue=
 * and asyncstacks of a session. As with
 * {@link JaywalkTimer} there is no gate, since nothing of this is ever unloaded. Nothing is allocated, and no task is held: each is known by the
 * numbers of itself and of its executor.
 */
public abstract class JaywalkQueues {
    /** Set once, before there are such places. */
    private static JaywalkQueues teller;

    /** Which attach is told of; of one before it calls may end at any time. */
    private static int telling = -1;

    /** Calls that were not told, for want of stack. */
    private static int dropped;

    protected JaywalkQueues() {
    }

    /** Before the first place; by the agent. */
    static void open(JaywalkQueues to) {
        teller = to;
    }

    /** By the agent: tasks of that attach are told from now on; -1: of none. */
    static void begin(int attach) {
        telling = attach;
    }

    /** execute(task). */
    public static void submitted(Object executor, Object task, int site, int attach) {
        if (attach != telling || task == null) {
            return;
        }
        try {
            teller.submit(Thread.currentThread(), System.identityHashCode(executor), System.identityHashCode(task));
        } catch (Throwable e) { // StackOverflowError, which the program's own call did not have
            dropped++;
        }
    }

    /** A thread of the executor takes it out of the queue; null: it is to end. */
    public static void taken(Object executor, Object task, int site, int attach) {
        if (attach != telling || task == null) {
            return;
        }
        try {
            teller.take(Thread.currentThread(), executor, task, System.identityHashCode(executor), System.identityHashCode(task));
        } catch (Throwable e) {
            dropped++;
        }
    }

    /** A thread begins, mostly with a task that it was made for. */
    public static void begun(Object executor, Object worker, int site, int attach) {
        if (attach != telling) {
            return;
        }
        try {
            taken(executor, teller.first(worker), site, attach);
        } catch (Throwable e) {
            dropped++;
        }
    }

    /** A thread of the executor looks for a task, and has none. */
    public static void ended(Object executor, int site, int attach) {
        if (attach != telling) {
            return;
        }
        try {
            teller.end(Thread.currentThread());
        } catch (Throwable e) {
            dropped++;
        }
    }

    /** The task that was handed over last is not taken in. */
    public static void refused(Object executor, Object task, int site, int attach) {
        removed(executor, task, true, site, attach);
    }

    public static void removed(Object executor, Object task, boolean isRemoved, int site, int attach) {
        if (attach != telling || task == null || !isRemoved) {
            return;
        }
        try {
            teller.forget(System.identityHashCode(executor), System.identityHashCode(task));
        } catch (Throwable e) {
            dropped++;
        }
    }

    static int dropped() {
        return dropped;
    }

    protected abstract void submit(Thread thread, int executorNumber, int taskNumber);

    protected abstract void take(Thread thread, Object executor, Object task, int executorNumber, int taskNumber);

    protected abstract void end(Thread thread);

    protected abstract Object first(Object worker);

    protected abstract void forget(int executorNumber, int taskNumber);
}
