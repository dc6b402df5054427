import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/**
 * Objects and arrays of known classes, so many from each of known methods, by threads of either kind. Arguments: platform or virtual, and how many rounds (a
 * multiple of ten); or serve, which makes some now and then until it is killed.
 *
 * <p>Lines: `END_OF_STACK COUNT`, the last frame being the class, and # any number.
 */
public final class Made {
    private static final int THREADS = 4, RARE = 10;

    private static int rounds;
    private static volatile Object sink;
    private static volatile int kept;

    private Made() {
    }

    static class Order {
        final Line first;
        final int number;

        /** Makes a part of itself; and another one of its own class. */
        Order(int number) {
            this.first = new Line(number);
            this.number = number;
            if (number < 0) {
                sink = new Order(-number);
            }
        }

        Order() {
            this(1);
        }
    }

    /** Is made by no code of the program, but its part is. */
    static final class Pattern implements Cloneable {
        final Line line;

        Pattern() {
            line = new Line(6);
        }

        @Override
        public Pattern clone() {
            try {
                return (Pattern) super.clone(); // without a constructor
            } catch (CloneNotSupportedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Is not asked for. */
    static final class Express extends Order {
    }

    static final class Line {
        final int number;

        Line(int number) {
            this.number = number;
        }
    }

    static final class Pair {
        Pair(Line left, Line right) {
            kept = left.number + right.number;
        }
    }

    static final class Fragile {
        Fragile(boolean isBroken) {
            if (isBroken) {
                throw new IllegalArgumentException();
            }
        }
    }

    interface Maker {
        default Line make() {
            return new Line(3);
        }
    }

    enum Kind implements Maker {
        ONE;

        final Line line = new Line(4);

        Order order() {
            return new Order(5);
        }
    }

    static void plain() {
        sink = new Order();
    }

    static void express() {
        sink = new Express();
    }

    static void twice() {
        sink = new Order(-2);
    }

    /** Compiled code makes nothing of it. */
    static int away(int number) {
        return new Line(number).number;
    }

    static void pair(int number) {
        new Pair(number > 0 ? new Line(number) : new Line(-number), new Line(1));
    }

    static void fragile(int number) {
        try {
            sink = new Fragile(number % 2 == 0);
        } catch (IllegalArgumentException expected) {
            kept++;
        }
    }

    static void arrays(int size) {
        sink = new int[size];
        sink = new Line[size];
        sink = new Line[size][2];
        sink = new Line[size][];
        sink = new long[size];
    }

    static void otherwise(Callable<Pattern> reflection) throws Exception {
        sink = new Line[] {null}.clone();
        sink = reflection.call().clone();
    }

    private static void round(int number, Callable<Pattern> reflection) throws Exception {
        final Supplier<Order> lambda = () -> new Order(number);

        plain();
        express();
        kept += away(number);
        pair(number);
        fragile(number);
        arrays(3);
        sink = Kind.ONE.make();
        sink = Kind.ONE.order();
        sink = lambda.get();
        if (number % (rounds / RARE) == 0) {
            twice();
            otherwise(reflection);
            Thread.yield(); // virtual threads may change their carriers
        }
    }

    private static void rounds() {
        try {
            for (int i = 0; i < rounds; i++) {
                round(i, () -> Pattern.class.getDeclaredConstructor().newInstance());
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
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
            plain();
            Thread.sleep(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("serve")) {
            serve();
        }
        rounds = Integer.parseInt(arguments[1]);

        final List<Thread> threads = new ArrayList<>();

        for (int i = 0; i < THREADS; i++) {
            threads.add(begin(Made::rounds, arguments[0].equals("virtual")));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        final int all = THREADS * rounds, few = THREADS * RARE;

        System.out.println("round;Made.plain;Made$Order " + all);
        System.out.println("Made.express;Made$Express 0");
        System.out.println("Made.twice;Made$Order " + few);
        System.out.println("Made.twice;Made$Order.<init>;Made$Order " + few);
        System.out.println("Made$Kind.order;Made$Order " + all);
        System.out.println("Made.lambda$round$#;Made$Order " + all);
        System.out.println("Made.plain;Made$Order.<init>;Made$Order.<init>;Made$Line " + all);
        System.out.println("Made.express;Made$Express.<init>;Made$Order.<init>;Made$Order.<init>;Made$Line " + all);
        System.out.println("Made.twice;Made$Order.<init>;Made$Line " + few);
        System.out.println("Made.twice;Made$Order.<init>;Made$Order.<init>;Made$Line " + few);
        System.out.println("Made$Kind.order;Made$Order.<init>;Made$Line " + all);
        System.out.println("Made.lambda$round$#;Made$Order.<init>;Made$Line " + all);
        System.out.println("Made$Pattern.<init>;Made$Line " + few);
        System.out.println("Made.away;Made$Line " + all);
        System.out.println("Made.pair;Made$Line " + 2 * all);
        System.out.println("Made.pair;Made$Pair " + all);
        System.out.println("Made.fragile;Made$Fragile " + all);
        System.out.println("Made$Kind.<clinit>;Made$Kind.<init>;Made$Line 1");
        System.out.println("Made$Maker.make;Made$Line " + all);
        System.out.println("Made.arrays;int[] " + all);
        System.out.println("Made.arrays;Made$Line[] " + all);
        System.out.println("Made.otherwise;Made$Line[] " + few);
        System.out.println("Made.arrays;Made$Line[][] " + 2 * all);
    }
}
