package java.lang;

/**
 * Whether loaders give the classes that count. A call in a class is linked by asking its loader, once, wherever that call stands: with a lock held, a
 * loader that takes another one could wait for ever. So it is asked before: the JVM remembers what it answered.
 */
final class JaywalkLoaders extends Thread {
    /** Threads that ask; under the monitor of this class. */
    private static final Thread[] ASKING = new Thread[256];

    private final ClassLoader[] loaders;

    /** By loader; under the monitor of this thread. */
    private final boolean[] answers;

    private JaywalkLoaders(ClassLoader[] loaders) {
        super("jaywalk loaders");
        this.loaders = loaders;
        this.answers = new boolean[loaders.length];
        setDaemon(true);
    }

    /** Runs code of the loader. What is loaded for that, on the same thread, is not asked about. */
    static boolean isTold(ClassLoader loader) {
        final Thread thread = Thread.currentThread();
        final int place = begin(thread);

        if (place < 0) {
            return false;
        }
        try {
            return Class.forName("java.lang.JaywalkLocks", false, loader) == JaywalkLocks.class;
        } catch (Throwable e) {
            return false;
        } finally {
            end(place);
        }
    }

    /** A place among those that ask; below 0: it asks already, or there is none. */
    private static synchronized int begin(Thread thread) {
        int place = -1;

        for (int i = 0; i < ASKING.length; i++) {
            if (ASKING[i] == thread) {
                return -1;
            }
            place = ASKING[i] == null ? i : place;
        }
        if (place >= 0) {
            ASKING[place] = thread;
        }
        return place;
    }

    private static synchronized void end(int place) {
        ASKING[place] = null;
    }

    /** On a thread of its own, which one that does not answer keeps for itself. By loader; false of those that have not answered in time, too. */
    static boolean[] ask(ClassLoader[] loaders, int waitMs) {
        final JaywalkLoaders thread = new JaywalkLoaders(loaders);

        try {
            thread.start();
            thread.join(waitMs);
        } catch (Throwable e) {
            /* There is no thread to be had: nobody is asked. */
        }
        return thread.told();
    }

    private synchronized boolean[] told() {
        final boolean[] copy = new boolean[answers.length];

        System.arraycopy(answers, 0, copy, 0, copy.length);
        return copy;
    }

    private synchronized void note(int at, boolean isGood) {
        answers[at] = isGood;
    }

    @Override
    public void run() {
        for (int i = 0; i < loaders.length; i++) {
            note(i, isTold(loaders[i]));
        }
    }
}
