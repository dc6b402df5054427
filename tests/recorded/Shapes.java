/** Is compiled and thrown about: methods without and with a frame, large frames, calls, native ones, exceptions, interfaces. */
final class Shapes {
    private interface Figure {
        int corners(int n);
    }

    private static final Figure[] FIGURES = {n -> n + 3, n -> n + 4, n -> n ^ 5, n -> n * 6};
    private static long sink;

    private static int leaf(int n) {
        return n * 31 + 7;
    }

    private static int caller(int[] from, int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += from[i & 15] + FIGURES[i & 3].corners(i);
        }
        return sum;
    }

    private static int throwing(int n) {
        if ((n & 3) == 0) {
            throw new IllegalStateException();
        }
        return n;
    }

    private static int catching(int n) {
        try {
            return throwing(n);
        } catch (IllegalStateException e) {
            return -1;
        }
    }

    private static Object allocating(int n) {
        return new int[n & 31];
    }

    private static int locking(Object on) {
        synchronized (on) {
            return (int) sink++;
        }
    }

    public static void main(String[] args) {
        int[] from = new int[16];
        Object on = new Object();
        for (int i = 0; i < 30_000; i++) {
            sink += leaf(i) + caller(from, 5) + catching(i) + allocating(i).hashCode() + locking(on) +
                    System.identityHashCode(on) + Thread.currentThread().hashCode();
            System.arraycopy(from, 0, from, 1, i & 7);
        }
        System.out.println(sink);
    }
}
