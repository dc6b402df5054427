import java.util.Arrays;

/**
 * Calls by vtable and itable whose receivers are known from the caller: below on<Class> each object is one
 * of that class. Run with -XX:-Inline; the calls see all classes in turn, so that none becomes a plain one.
 *
 *     java -XX:-Inline Receivers CPU_MS
 */
public final class Receivers {
    private static final int OBJECTS = 500;

    interface Sized {
        int size(int n);
    }

    static class Shape implements Sized {
        int area(int n) {
            return n;
        }

        @Override
        public int size(int n) {
            return n + 1;
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    static final class Circle extends Shape {
        @Override
        int area(int n) {
            return n * 3;
        }

        @Override
        public int size(int n) {
            return n + 2;
        }
    }

    static final class Square extends Shape {
        @Override
        int area(int n) {
            return n * 4;
        }

        @Override
        public int size(int n) {
            return n + 3;
        }
    }

    /* Further from Object than the list of superclasses in a class reaches. */
    static class Deep1 extends Shape {}
    static class Deep2 extends Deep1 {}
    static class Deep3 extends Deep2 {}
    static class Deep4 extends Deep3 {}
    static class Deep5 extends Deep4 {}
    static class Deep6 extends Deep5 {}
    static class Deep7 extends Deep6 {}
    static class Deep8 extends Deep7 {}

    static final class Deep9 extends Deep8 {
        @Override
        int area(int n) {
            return n * 5;
        }

        @Override
        public int size(int n) {
            return n + 4;
        }
    }

    private static Shape[] shapes(Shape one) {
        Shape[] all = new Shape[OBJECTS];
        Arrays.fill(all, one);
        return all;
    }

    private static Sized[] sized(Sized one) {
        Sized[] all = new Sized[OBJECTS];
        Arrays.fill(all, one);
        return all;
    }

    private static int areas(Shape[] all) {
        int sum = 0;
        for (Shape one : all) {
            sum += one.area(sum);
        }
        return sum;
    }

    private static int sizes(Sized[] all) {
        int sum = 0;
        for (Sized one : all) {
            sum += one.size(sum);
        }
        return sum;
    }

    private static int same(Object[] all) {
        int sum = 0;
        for (Object one : all) {
            sum += one.equals(all) ? 1 : 0;
        }
        return sum;
    }

    private static int onCircle(Shape[] all) {
        return areas(all) + areas(all) + areas(all) + sizes(all) + same(all);
    }

    private static int onSquare(Shape[] all) {
        return areas(all) + areas(all) + areas(all) + sizes(all) + same(all);
    }

    private static int onDeep9(Shape[] all) {
        return areas(all) + areas(all) + areas(all) + sizes(all) + same(all);
    }

    private static int onLambda(Sized[] all) {
        return sizes(all) + same(all);
    }

    private static int onArray(Object[] all) {
        return same(all);
    }

    public static void main(String[] args) {
        int sum = 0;
        int step = args.length;
        long endNs = Threads.cpuNs() + Long.parseLong(args[0]) * 1_000_000;
        while (Threads.cpuNs() < endNs) {
            /* New ones each time: the collector moves them. */
            Shape[] circles = shapes(new Circle());
            Shape[] squares = shapes(new Square());
            Shape[] deep = shapes(new Deep9());
            Sized[] lambdas = sized(n -> n + step);
            Object[] arrays = new Object[OBJECTS];
            Arrays.fill(arrays, new int[] {sum});
            for (int i = 0; i < 20; i++) {
                sum += onCircle(circles) + onSquare(squares) + onDeep9(deep) + onLambda(lambdas)
                        + onArray(arrays);
            }
        }
        System.out.println(sum);
    }
}
