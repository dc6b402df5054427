import com.sun.management.OperatingSystemMXBean;
import java.io.File;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.util.Random;

/**
 * Stacks that hardly ever repeat: at each level one of four methods calls the next, by chance.
 * Fills recordings faster than any other program. Runs until the recording FILE holds COUNT chunks, or for so many
 * seconds of CPU time: on a busy machine that takes longer.
 *
 *     java DeepStacks FILE COUNT CPU_SECONDS
 */
final class DeepStacks implements Runnable {
    private static final int DEPTH = 250;
    private static final int CHUNK_SIZE_OFFSET = 8;
    private static final int CHUNK_MAGIC = 0x464c5200;

    static volatile boolean isDone;
    static volatile long sink;

    private final Random random;

    private DeepStacks(long seed) {
        random = new Random(seed);
    }

    public static void main(String[] args) throws Exception {
        int wanted = Integer.parseInt(args[1]);
        long limitNs = Long.parseLong(args[2]) * 1_000_000_000L;
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(new DeepStacks(i), "deep-" + i);
            threads[i].start();
        }
        int chunks = 0;
        while (chunks < wanted && system.getProcessCpuTime() < limitNs) {
            Thread.sleep(200);
            chunks = chunksOf(new File(args[0]));
        }
        isDone = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("chunks " + chunks);
    }

    /** Headers one behind the other, as far as they make sense. */
    private static int chunksOf(File file) throws Exception {
        int count = 0;
        try (RandomAccessFile in = new RandomAccessFile(file, "r")) {
            for (long at = 0; at + 68 <= in.length();) {
                in.seek(at);
                if (in.readInt() != CHUNK_MAGIC) {
                    break;
                }
                in.seek(at + CHUNK_SIZE_OFFSET);
                long size = in.readLong();
                if (size <= 0) {
                    break;
                }
                count++;
                at += size;
            }
        }
        return count;
    }

    @Override
    public void run() {
        while (!isDone) {
            next(DEPTH);
        }
    }

    private void next(int left) {
        if (left == 0) {
            bottom();
            return;
        }
        switch (random.nextInt(4)) {
        case 0:
            north(left - 1);
            break;
        case 1:
            east(left - 1);
            break;
        case 2:
            south(left - 1);
            break;
        default:
            west(left - 1);
        }
    }

    private void north(int left) {
        next(left);
    }

    private void east(int left) {
        next(left);
    }

    private void south(int left) {
        next(left);
    }

    private void west(int left) {
        next(left);
    }

    private static void bottom() {
        long value = sink;
        for (int i = 0; i < 1_000_000; i++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
        }
        sink = value;
    }
}
