import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Exceptions of known classes, so many from each of known methods, by threads of either kind. Arguments: platform or virtual; serve, which makes some now and
 * then until it is killed; or end, which makes some until the stack ends, and says how many.
 *
 * <p>Lines: `END_OF_STACK COUNT`, the last frame being the class, and # any number.
 */
@SuppressWarnings("serial")
public final class Thrown {
    private static final int THREADS = 4, ROUNDS = 300, DEEP = 200, DEEP_ROUNDS = 10;
    private static final long SMALL_STACK = 256 * 1024;
    private static final AtomicLong CAUGHT = new AtomicLong();

    private static volatile int sink;
    private static long ends;

    private Thrown() {
    }

    static class Plain extends Exception {
        Plain(String message) {
            super(message);
        }

        Plain() {
            this("by another constructor");
        }
    }

    /** Extends what is asked for, by two constructors of its own and two of that. */
    static final class Below extends Plain {
        Below(String message) {
            super();
            sink += message.length();
        }

        Below() {
            this("as well");
        }
    }

    /** Without a stack of its own. */
    static final class Quiet extends RuntimeException {
        Quiet() {
            super("quiet", null, false, false);
        }
    }

    /** Fills in no stack. */
    static final class Unfilled extends RuntimeException {
        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    static final class Wrapped extends RuntimeException {
        Wrapped(Throwable cause) {
            super(cause);
        }
    }

    /** Makes another one while it is made. */
    static final class Outer extends RuntimeException {
        Outer() {
            super("outer", new Inner());
        }
    }

    static final class Inner extends RuntimeException {
    }

    static final class Failed extends Error {
    }

    /** Is not asked for. */
    static final class Other extends RuntimeException {
    }

    static final class Ended extends RuntimeException {
    }

    /** A constructor that throws. */
    static final class Fragile {
        Fragile() {
            throw new Unfilled();
        }
    }

    static void plain() throws Plain {
        throw new Plain();
    }

    static void below() throws Plain {
        throw new Below();
    }

    static void quiet() {
        throw new Quiet();
    }

    static void open() throws IOException {
        throw new FileNotFoundException("secret.txt");
    }

    static void wrap() {
        try {
            open();
        } catch (IOException e) {
            throw new Wrapped(e);
        }
    }

    static void again() {
        try {
            wrap();
        } catch (Wrapped e) {
            throw e; // is none that is made
        }
    }

    static void outer() {
        throw new Outer();
    }

    static void fail() {
        throw new Failed();
    }

    static void other() {
        throw new Other();
    }

    static int implicit(int[] numbers) {
        return numbers.length;
    }

    static int deep(int depth) {
        if (depth == 0) {
            quiet();
        }
        return deep(depth - 1) + 1;
    }

    interface Part {
        void run() throws Exception;
    }

    private static void caught(Part part) {
        try {
            part.run();
        } catch (Exception | Failed e) {
            CAUGHT.incrementAndGet();
        }
    }

    private static void round(int number) {
        caught(Thrown::plain);
        caught(Thrown::below);
        caught(Thrown::quiet);
        caught(Thrown::again);
        caught(Thrown::outer);
        caught(Thrown::fail);
        caught(Thrown::other);
        caught(() -> implicit(null));
        caught(Fragile::new);
        caught(() -> {
            throw new Plain("in a lambda");
        });
        if (number % (ROUNDS / DEEP_ROUNDS) == 0) {
            caught(() -> deep(DEEP));
            Thread.yield(); // virtual threads may change their carriers
        }
    }

    private static void rounds() {
        for (int i = 0; i < ROUNDS; i++) {
            round(i);
        }
    }

    /** Until the stack ends: what is not made there is none. */
    static void dive() {
        final Ended made = new Ended();

        ends += made == null ? 0 : 1;
        dive();
    }

    private static void diveOnce() {
        try {
            dive();
        } catch (StackOverflowError expected) {
            sink++;
        }
    }

    private static void end() throws InterruptedException {
        final Thread diver = new Thread(null, Thrown::diveOnce, "diver", SMALL_STACK);

        diver.start();
        diver.join();
        System.out.println(ends);
    }

    private static Thread begin(Runnable rounds, boolean isVirtual) throws ReflectiveOperationException {
        if (isVirtual) {
            final Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);

            return (Thread) start.invoke(null, rounds);
        }

        final Thread thread = new Thread(rounds);

        thread.start();
        return thread;
    }

    private static void serve() throws InterruptedException {
        System.out.println("serves");
        while (true) {
            caught(Thrown::plain);
            Thread.sleep(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("serve")) {
            serve();
        } else if (arguments[0].equals("end")) {
            end();
            return;
        }

        final List<Thread> threads = new ArrayList<>();

        for (int i = 0; i < THREADS; i++) {
            threads.add(begin(Thrown::rounds, arguments[0].equals("virtual")));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        final int all = THREADS * ROUNDS;

        System.out.println("Thrown.plain;Thrown$Plain " + all);
        System.out.println("Thrown.lambda$round$#;Thrown$Plain " + all);
        System.out.println("Thrown.below;Thrown$Below " + all);
        System.out.println("run;Thrown.quiet;Thrown$Quiet " + all);
        System.out.println("Thrown.deep;Thrown.quiet;Thrown$Quiet " + THREADS * DEEP_ROUNDS);
        System.out.println("Thrown.again;Thrown.wrap;Thrown.open;java.io.FileNotFoundException " + all);
        System.out.println("Thrown.again;Thrown.wrap;Thrown$Wrapped " + all);
        System.out.println("Thrown.outer;Thrown$Outer " + all);
        System.out.println("Thrown.outer;Thrown$Outer.<init>;Thrown$Inner " + all);
        System.out.println("Thrown.fail;Thrown$Failed " + all);
        System.out.println("Thrown.implicit;java.lang.NullPointerException " + all);
        System.out.println("Thrown$Fragile.<init>;Thrown$Unfilled " + all);
        System.out.println("Thrown.other;Thrown$Other " + all);
    }
}
