import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.function.IntUnaryOperator;

/** Stacks that overflow in every shape: each time that error comes, and all that was entered is left. */
final class RecursionStorm implements Storm {
    private static final int[] STACKS_BYTES = {192 << 10, 256 << 10, 512 << 10, 1 << 20};

    private int entered;
    private int left;
    private int depth;

    @Override
    public String name() {
        return "recursion";
    }

    private interface Shape {
        void overflow(RecursionStorm storm) throws Throwable;
    }

    /** By number; from a limit on, where one is given, each returns. */
    private static final Shape[] SHAPES = {
            storm -> storm.plain(0),
            storm -> storm.wide(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
            Deeper::new,
            storm -> storm.reflected(),
            storm -> storm.lambda(0),
            storm -> storm.guardedByFinally(0),
            storm -> storm.locked(0),
            RecursionStorm::inInitializer,
            storm -> storm.text(),
    };

    /** Above 0: the depth at which to turn back, for classes to be loaded and call sites linked. */
    private int limit;

    private boolean isDeepEnough() {
        return ++depth > limit && limit > 0;
    }

    private static int initializers;

    @Override
    public void run(Run run) throws Exception {
        warmUp(run);
        while (run.goesOn()) {
            int stack = STACKS_BYTES[run.random().nextInt(STACKS_BYTES.length)];
            int shape = run.random().nextInt(SHAPES.length);
            Thread thread = new Thread(null, () -> overflow(run, shape), "recursion-" + shape, stack);
            thread.start();
            thread.join();
            run.did(1);
            run.rest();
        }
    }

    /** An overflow in the middle of linking a call site would leave the JVM's own classes half made. */
    private void warmUp(Run run) throws Exception {
        for (int i = 0; i < 20; i++) {
            for (int shape = 0; shape < SHAPES.length; shape++) {
                limit = 20;
                depth = 0;
                try {
                    SHAPES[shape].overflow(this);
                } catch (Throwable e) {
                    run.violated("shape " + shape + " begins with " + e);
                }
            }
            run.did(0);
        }
        limit = 0;
    }

    private void overflow(Run run, int shape) {
        for (int i = 0; i < 2; i++) {
            entered = 0;
            left = 0;
            depth = 0;
            // m12: stacks deeper than any sample
            boolean hasOverflown = false;
            try {
                SHAPES[shape].overflow(this);
            } catch (StackOverflowError e) {
                hasOverflown = true;
            } catch (Throwable e) {
                run.violated("shape " + shape + " ended with " + e + " of " + e.getCause());
                hasOverflown = true;
            }
            if (!hasOverflown) {
                run.violated("shape " + shape + " did not overflow at depth " + depth);
            }
            if (entered != left) {
                run.violated("shape " + shape + ": entered " + entered + ", left " + left);
            }
            if (Thread.holdsLock(this)) {
                run.violated("shape " + shape + " left its monitor held");
            }
        }
    }

    private int plain(int n) {
        return isDeepEnough() ? n : plain(n + 1) + 1;
    }

    private long wide(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,
            long l) {
        return isDeepEnough() ? a : wide(b, c, d, e, f, g, h, i, j, k, l, a) + a * b - c * l;
    }

    private static final class Deeper {
        final Deeper next;

        Deeper(RecursionStorm storm) {
            next = storm.isDeepEnough() ? null : new Deeper(storm);
        }
    }

    private static final Method REFLECTED = method();

    private static Method method() {
        try {
            return RecursionStorm.class.getDeclaredMethod("reflected");
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    void reflected() throws Throwable {
        if (isDeepEnough()) {
            return;
        }
        try {
            REFLECTED.invoke(this);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private final IntUnaryOperator lambda = this::lambda;

    private int lambda(int n) {
        IntUnaryOperator next = isDeepEnough() ? x -> x : x -> lambda.applyAsInt(x + 1) + 1;
        return next.applyAsInt(n);
    }

    private int guardedByFinally(int n) {
        if (isDeepEnough()) {
            return n;
        }
        int at = entered++;
        try {
            return guardedByFinally(n + 1) + at;
        } finally {
            left++;
        }
    }

    private synchronized int locked(int n) {
        return isDeepEnough() ? n : locked(n + 1) + 1;
    }

    private String text() {
        return isDeepEnough() ? "" : new Object() {
            @Override
            public String toString() {
                return RecursionStorm.this.text();
            }
        }.toString();
    }

    /** A class whose initializer never comes back: its first use ends with the error, each later one with another. */
    private void inInitializer() throws Throwable {
        String name = "Initializer" + initializers++;
        ClassBytes bytes = new ClassBytes(name, 1);
        int[] call = bytes.call("deeper");
        bytes.add(0x0008, "<clinit>", limit > 0 ? new int[] {0xb1} : call, new int[] {0, 1});
        bytes.add(ClassBytes.PUBLIC_STATIC, "deeper", call, new int[] {0, 2});
        bytes.add(ClassBytes.PUBLIC, "run", new int[] {0xb1}, new int[] {0, 3});
        Template.Loader loader = new Template.Loader(name, bytes.finish());
        depth++;
        loader.instance();
    }
}
