import java.util.Random;

/** A graph that changes all the time under every collection: its sums are those that were put in, its lists whole. */
final class HeapStorm implements Storm {
    private static final int NODES = 4096;
    private static final int STEPS = 2000;

    private static final class Node {
        final int number;
        final long[] payload;
        Node next;

        Node(int number, Node next) {
            this.number = number;
            this.next = next;
            payload = new long[number % 61 + 1];
            for (int i = 0; i < payload.length; i++) {
                payload[i] = number * 0x9e3779b97f4a7c15L + i;
            }
        }

        boolean isWhole() {
            boolean isWhole = payload.length == number % 61 + 1;
            for (int i = 0; i < payload.length; i++) {
                isWhole &= payload[i] == number * 0x9e3779b97f4a7c15L + i;
            }
            return isWhole;
        }
    }

    /** Heads of lists, each node in exactly one. */
    private final Node[] heads = new Node[256];

    @Override
    public String name() {
        return "heap";
    }

    @Override
    public void run(Run run) {
        Random random = run.random();
        for (int i = 0; i < NODES; i++) {
            int head = random.nextInt(heads.length);
            heads[head] = new Node(i, heads[head]);
        }
        while (run.goesOn()) {
            for (int i = 0; i < STEPS; i++) {
                move(run, random.nextInt(heads.length), random.nextInt(heads.length));
            }
            verify(run);
            run.did(1);
            run.rest();
        }
    }

    /** Takes the first node of one list, makes it anew and puts it before another list. */
    private void move(Run run, int from, int to) {
        Node node = heads[from];
        if (node == null) {
            return;
        }
        if (!node.isWhole()) {
            run.violated("node " + node.number + " is damaged");
        }
        heads[from] = node.next;
        if (node.number % 2 == 0) {
            heads[to] = new Node(node.number, heads[to]);
        } else {
            node.next = heads[to];
            heads[to] = node;
        }
    }

    private void verify(Run run) {
        long sum = 0;
        int count = 0;
        for (Node head : heads) {
            for (Node node = head; node != null && count <= NODES; node = node.next) {
                sum += node.number;
                count++;
                if (!node.isWhole()) {
                    run.violated("node " + node.number + " is damaged");
                }
            }
        }
        if (count != NODES || sum != (long) NODES * (NODES - 1) / 2) {
            run.violated(count + " nodes with sum " + sum);
        }
    }
}
