import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Threads that work for somebody, as C code of theirs says (apifromc.c): platform threads, and virtual ones where there are
 * some. Arguments: milliseconds that each burns, then what to do: see main.
 */
public final class ApiFromC {
    private ApiFromC() {
    }

    static native int set(long span);

    static native void clear();

    static native int attribute(String name, String value);

    static native int endpoint(long rootSpan, String name);

    static native int add();

    static native String execute(String command);

    static native int askInChild(String command);

    /** What a reader outside of the process would find of the thread of the operating system; 0: nothing. */
    static native long seen();

    static native void burn(long millis);

    private static final int IDLE = -3;
    private static final int NO_JVM = -4;
    private static boolean isActive = true;

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private static final class Work implements Callable<Void> {
        private final long span;
        private final long millis;
        private final boolean isVirtual;

        Work(long span, long millis, boolean isVirtual) {
            this.span = span;
            this.millis = millis;
            this.isVirtual = isVirtual;
        }

        @Override
        public Void call() throws Exception {
            check(seen() == 0, "a thread begins with somebody else's context");
            check(set(span) == 0, "set");
            check(attribute("tenant", "t" + span) == 0, "attribute");
            for (int i = 0; i < 5; i++) {
                check(seen() == (isVirtual ? 0 : span), "seen " + seen() + ", not " + span);
                deep((int) (span % 100), millis / 10, false);
                Thread.sleep(1);
                deep((int) (span % 100), millis / 10, true);
            }
            final int result = endpoint(span, "GET /" + (isVirtual ? "virtual/" : "platform/") + span);
            check(result == (isActive ? 0 : IDLE), "endpoint: " + result);
            clear();
            check(seen() == 0, "cleared");
            burnInJava(1);
            return null;
        }
    }

    static volatile long sink;

    /** About: of CPU time, however busy the machine is. A virtual thread cannot ask for it. */
    private static final int ROUNDS_A_MS = 100000;

    static void burnInJava(long millis) {
        for (long i = millis * ROUNDS_A_MS; i > 0; i--) {
            sink += i ^ sink << 1;
        }
    }

    /** So many frames on the stack tell which span it is. */
    static void deep(int frames, long millis, boolean isNative) {
        if (frames > 1) {
            deep(frames - 1, millis, isNative);
        } else if (isNative) {
            burn(millis);
        } else {
            burnInJava(millis);
        }
    }

    private static Thread start(final Work work, boolean isVirtual, final List<Throwable> failures) throws Exception {
        final Runnable body = new Runnable() {
            @Override
            public void run() {
                try {
                    work.call();
                } catch (Throwable failure) {
                    synchronized (failures) {
                        failures.add(failure);
                    }
                }
            }
        };
        if (isVirtual) { // JDK 21 and later
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
        }
        final Thread thread = new Thread(body);
        thread.start();
        return thread;
    }

    private static void run(long millis, int count, boolean isVirtual, int firstSpan) throws Exception {
        final List<Throwable> failures = new ArrayList<>();
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            threads.add(start(new Work(firstSpan + i, millis, isVirtual), isVirtual, failures));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (Throwable failure : failures) {
            failure.printStackTrace();
        }
        check(failures.isEmpty(), "a thread failed");
    }

    /** Burns in two threads, one of which is added. */
    private static void filtered(final long millis) throws Exception {
        final Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            final boolean isAdded = i == 0;
            threads[i] = new Thread(new Runnable() {
                @Override
                public void run() {
                    if (isAdded) {
                        check(add() == 0, "add");
                    }
                    burnInJava(millis);
                }
            }, isAdded ? "added" : "others");
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    public static void main(String[] args) throws Exception {
        System.loadLibrary("apifromc");
        final long millis = Long.parseLong(args[0]);
        for (int i = 1; i < args.length; i++) {
            switch (args[i]) {
                case "platform":
                    run(millis, 4, false, 101);
                    break;
                case "virtual":
                    run(millis, 8, true, 201);
                    break;
                case "filtered":
                    filtered(millis);
                    break;
                case "idle":
                    isActive = false;
                    break;
                case "start":
                    check(execute("start,event=cpu,interval=1ms,features=none,file=late.jfr").contains("started"), "start");
                    isActive = true;
                    break;
                case "stop":
                    check(execute("stop").contains("stopped"), "stop");
                    isActive = false;
                    break;
                case "commands":
                    check(execute("status").contains("running"), execute("status"));
                    check(execute("no such command").contains("no such command"), execute("no such command"));
                    for (String command : new String[] {"status", "dump", "stop"}) {
                        final int answer = askInChild(command);
                        check(answer == NO_JVM, command + " in a child: " + answer);
                    }
                    check(execute("status").contains("running"), execute("status"));
                    break;
                default:
                    throw new IllegalArgumentException(args[i]);
            }
        }
        System.out.println("ok");
    }
}
