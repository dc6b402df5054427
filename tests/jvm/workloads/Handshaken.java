import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** A loop that does not ask whether it is to stop, for as many milliseconds of CPU time as the argument says, each time for some 50 of them. */
public final class Handshaken {
    private static final int[] DATA = new int[1 << 12];
    static long sum;

    private Handshaken() {
    }

    static int counted(int count) {
        int local = 0;
        for (int i = 0; i < count; i++)
            local += DATA[i & (DATA.length - 1)] * i;
        return local;
    }

    public static void main(String[] args) {
        final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        final long end = threads.getCurrentThreadCpuTime() + Long.parseLong(args[0]) * 1_000_000;

        for (int i = 0; i < 20_000; i++)
            sum += counted(1000);
        while (threads.getCurrentThreadCpuTime() < end)
            sum += counted(50_000_000);
        System.out.println("done");
    }
}
