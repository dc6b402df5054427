import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Churn under an agent of somebody else's (tests/jvm/native/asker), which is told of each class that is unloaded: holds what it
 * was told against what is true. Sessions of the profiler itself begin and end meanwhile.
 *
 *     java Foreign AGENT SECONDS add|fixed OPTIONS...     OPTIONS: of each session, after `start`
 */
final class Foreign {
    private static final int KEEP_EVERY = 64;
    private static final int DEPTH = 30;
    private static final int CUT = 7;
    private static final long LIMIT_NS = 60_000_000_000L; /* a guard against what never comes */

    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final Queue<Known> KNOWN = new ConcurrentLinkedQueue<>();
    private static final List<Class<?>> KEPT = new ArrayList<>();

    /** A class of Churn: its name says its number. */
    private static final class Known extends WeakReference<Class<?>> {
        final boolean isHidden;
        final int number;

        Known(Class<?> type) {
            super(type);
            String name = type.getName();
            isHidden = name.charAt(0) == 'H';
            number = Integer.parseInt(name.substring(1).split("[/+.]")[0]);
        }
    }

    private Foreign() {
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        deep(DEPTH, false);
        deep(DEPTH, true);
        convert(int[].class, int.class, new Foreign());
        onVirtualThread(() -> deep(DEPTH, false));
        Churn.defined = Foreign::note;
        Thread sessions = new Thread(() -> sample(args), "sessions");
        sessions.start();
        Churn.main(new String[] {args[1], args[2]});
        sessions.join();
        deep(DEPTH, false);
        settle();
        System.out.println("kept " + KEPT.size());
        System.out.println("known " + KNOWN.size());
    }

    private static void deep(int depth, boolean isCut) {
        if (depth > 0) {
            deep(depth - 1, isCut);
        } else {
            here(isCut ? CUT : DEPTH * 2, isCut);
        }
    }

    /** From JDK 21 on. */
    private static void onVirtualThread(Runnable work) throws Exception {
        for (Method method : Thread.class.getMethods()) {
            if (method.getName().equals("startVirtualThread")) {
                ((Thread) method.invoke(null, work)).join();
            }
        }
    }

    /** Redefined classes are all kept: where their loader ends, the JVM counts their earlier versions as unloaded classes, too. */
    private static void note(Class<?> type) {
        boolean isRedefined = type.getName().charAt(0) == 'R';
        if (!isRedefined) {
            KNOWN.add(new Known(type));
        }
        if (isRedefined || COUNT.incrementAndGet() % KEEP_EVERY == 0) {
            synchronized (KEPT) {
                KEPT.add(type);
            }
        }
    }

    private static void sample(String[] args) {
        for (int i = 3; i < args.length; i++) {
            if (execute("start," + args[i]) != 0) {
                throw new IllegalStateException("refused: " + args[i]);
            }
            long endNs = System.nanoTime() + 1_000_000_000L;
            while (System.nanoTime() < endNs) {
                Thread.yield();
            }
            if (execute("stop") != 0) {
                throw new IllegalStateException("no stop of " + args[i]);
            }
        }
    }

    /** The agent hears of each class that has gone, once, and of no other. */
    private static void settle() throws InterruptedException {
        long startNs = System.nanoTime();
        String left;
        System.gc();
        System.gc();
        long collectedNs = System.nanoTime();
        do {
            if (System.nanoTime() - startNs > LIMIT_NS) {
                throw new IllegalStateException(left());
            }
            Thread.sleep(20);
            left = left();
        } while (left != null);
        System.out.println("told after ms " + (System.nanoTime() - collectedNs) / 1_000_000);
    }

    /** What the agent has not been told of yet; null: nothing. */
    private static String left() {
        int missing = 0;
        int alive = 0;
        Known one = null;
        for (Known known : KNOWN) {
            int ended = ended(known.isHidden, known.number);
            boolean lives = known.get() != null;
            if (ended > (lives ? 0 : 1)) {
                throw new IllegalStateException((known.isHidden ? "H" : "C") + known.number + " ended "
                        + ended + " times, " + (lives ? "and lives" : "and was one class"));
            }
            alive += lives ? 1 : 0;
            if (!lives && ended == 0) {
                missing++;
                one = known;
            }
        }
        if (missing != 0) {
            return missing + " classes are gone of which the agent was not told, as "
                    + (one.isHidden ? "H" : "C") + one.number;
        }
        if (alive < KEPT.size() - Redefined.CLASSES) {
            throw new IllegalStateException("the test has lost classes that it keeps");
        }
        long told = unloads();
        long unloaded = ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount();
        return told == unloaded ? null : told + " classes told, " + unloaded + " unloaded";
    }

    private static native void here(int depth, boolean isCut);

    private static native void convert(Class<?> array, Class<?> primitive, Foreign object);

    private static native int ended(boolean isHidden, int number);

    private static native long unloads();

    private static native int execute(String command);
}
