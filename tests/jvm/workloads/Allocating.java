/** Allocates arrays and objects in methods of their own, alone in their classes, and says how many bytes of each. */
public class Allocating {
    private static final int ROUNDS = 4000, TIMES = 1000, ARRAY = 1000, LARGE = 300000;

    private static volatile Object sink;

    private static final class Node {
        long a, b, c, d;
    }

    private static byte[] array() {
        return new byte[ARRAY];
    }

    private static Object node() {
        return new Node();
    }

    private static char[] large() {
        return new char[LARGE];
    }

    public static void main(String[] args) {
        long large = 0;

        for (int i = 0; i < ROUNDS; i++) {
            for (int j = 0; j < TIMES; j++) {
                sink = array();
                sink = node();
            }
            if (i % 4 == 0) {
                sink = large();
                large += 16 + 2L * LARGE;
            }
        }
        /* Headers of 8, 12 or 16 bytes, and all objects end at a multiple of 8: the same with each of them, but for Node. */
        System.out.println("array " + (16L + ARRAY) * ROUNDS * TIMES);
        System.out.println("large " + large);
        System.out.println("node " + nodeBytes() * ROUNDS * TIMES);
    }

    /** As the JVM counts them: how large a header is depends on it. */
    private static long nodeBytes() {
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean)java.lang.management.ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId(), before;
        Node[] nodes = new Node[1000];

        threads.getThreadAllocatedBytes(id);
        before = threads.getThreadAllocatedBytes(id);
        for (int i = 0; i < nodes.length; i++)
            nodes[i] = new Node();
        sink = nodes;
        return (threads.getThreadAllocatedBytes(id) - before) / nodes.length / 8 * 8;
    }
}
