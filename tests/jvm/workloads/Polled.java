import java.util.function.IntUnaryOperator;

/**
 * A thread that is late, which says first at which word of a thread polls look (PollWord): in a counted loop that does not ask whether to
 * stop, and in interpreted code without a branch, which calls and returns alone, each while safepoints are asked for; then in the loop while
 * nobody but the JVM itself wants something. Args: how many safepoints each of the first two is to see, asked for while it is late,
 * and how often the loop runs at last.
 */
public final class Polled {
    private static final int[] DATA = new int[1 << 12];
    private static final int LONG = 200_000_000;
    static long sum;
    private static volatile int asked, begun;

    private Polled() {
    }

    static int counted(int count) {
        int local = 0;
        for (int i = 0; i < count; i++)
            local += DATA[i & (DATA.length - 1)] * i;
        return local;
    }

    static int alone(int count) {
        return counted(count) + 1;
    }

    static int tree0(int n) {
        return n + 1;
    }

    static int tree1(int n) {
        return tree0(n) + tree0(n) + tree0(n) + tree0(n) + tree0(n) + tree0(n) + tree0(n) + tree0(n);
    }

    static int tree2(int n) {
        return tree1(n) + tree1(n) + tree1(n) + tree1(n) + tree1(n) + tree1(n) + tree1(n) + tree1(n);
    }

    static int tree3(int n) {
        return tree2(n) + tree2(n) + tree2(n) + tree2(n) + tree2(n) + tree2(n) + tree2(n) + tree2(n);
    }

    static int tree4(int n) {
        return tree3(n) + tree3(n) + tree3(n) + tree3(n) + tree3(n) + tree3(n) + tree3(n) + tree3(n);
    }

    static int tree5(int n) {
        return tree4(n) + tree4(n) + tree4(n) + tree4(n) + tree4(n) + tree4(n) + tree4(n) + tree4(n);
    }

    static int tree6(int n) {
        return tree5(n) + tree5(n) + tree5(n) + tree5(n) + tree5(n) + tree5(n) + tree5(n) + tree5(n);
    }

    private static void phase(String name, IntUnaryOperator late, int argument, int safepoints) {
        final int end = asked + safepoints;

        System.out.println("phase " + name + " " + System.nanoTime());
        while (asked < end) {
            begun++;
            sum += late.applyAsInt(argument);
        }
    }

    public static void main(String[] args) throws Exception {
        final Thread asker = new Thread(Polled::ask, "asker");
        final int safepoints = Integer.parseInt(args[0]), times = Integer.parseInt(args[1]);

        System.out.println("word " + PollWord.offset());
        for (int i = 0; i < 20_000; i++)
            sum += counted(1000);
        asker.setDaemon(true);
        asker.start();
        phase("counted", Polled::counted, LONG, safepoints);
        phase("returns", Polled::tree6, 1, safepoints);
        System.out.println("phase alone " + System.nanoTime());
        for (int i = 0; i < times; i++)
            sum += alone(LONG);
        System.out.println("end " + System.nanoTime());
    }

    private static void ask() {
        while (true) {
            try {
                Thread.sleep(40);
                for (int before = begun; begun == before;)
                    Thread.sleep(1);
            } catch (InterruptedException e) {
                return;
            }
            System.gc();
            asked++;
        }
    }
}
