/**
 * Allocates: small objects and arrays of some hundred bytes, at the end of a stack of some frames.
 *
 *     java Allocations UNITS
 */
final class Allocations {
    private static final int TIMES = 20_000, DEPTH = 20, ARRAY = 240;

    private static volatile Object sink;

    private static final class Node {
        private final Object next;
        private final long number;

        Node(Object next, long number) {
            this.next = next;
            this.number = number;
        }
    }

    private Allocations() {
    }

    public static void main(String[] args) throws Exception {
        Fixed.measure(Allocations::units, Integer.parseInt(args[0]));
    }

    private static long units(int first, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum = sum * 31 + deep(DEPTH, first + i);
        }
        return sum;
    }

    private static long deep(int depth, int number) {
        if (depth > 0) {
            return deep(depth - 1, number) + 1;
        }
        long sum = 0;
        for (int i = 0; i < TIMES; i++) {
            byte[] array = new byte[ARRAY];
            array[i % ARRAY] = (byte) number;
            Node node = new Node(array, i);
            sink = node;
            sum += node.number + array[number % ARRAY];
        }
        return sum;
    }
}
