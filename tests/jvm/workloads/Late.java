import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A thread that keeps safepoints waiting, in a way that is named, while another one asks for one every 40 ms, as soon as it is late again:
 * args are "counted" (a loop that does not ask), "copy" (of a large array), "fault" (pages of a mapped file that are touched for the
 * first time) or "none", and after how many safepoints it ends. Each is late in one line.
 */
public final class Late {
    private static final int[] DATA = new int[1 << 12];
    private static final int COPIED = 400 << 20, PAGE = 4096, PAGES = 48 << 10, FEW = 64;
    static long sum;
    private static volatile int asked, begun;

    private Late() {
    }

    static int counted(int count) {
        int local = 0;
        for (int i = 0; i < count; i++) local += DATA[i & (DATA.length - 1)] * i; // late: counted
        return local;
    }

    static void copy(byte[] array) {
        System.arraycopy(array, 0, array, 1, array.length - 1); // late: copy
    }

    static void fault(ByteBuffer mapped, int pages) {
        for (int i = 0; i < pages; i++) mapped.put(i * PAGE, (byte) i); // late: fault
    }

    /* Whoever waits to map memory, because what an earlier round mapped is given back, is in native code: no safepoint waits for it. */
    private static void faultAll(FileChannel file, int pages) throws IOException {
        final ByteBuffer mapped = file.map(FileChannel.MapMode.PRIVATE, 0, (long) pages * PAGE);

        begun++;
        fault(mapped, pages);
    }

    private static FileChannel sparseFile() throws IOException {
        final Path path = Files.createTempFile("late", ".mapped");
        final FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE,
            StandardOpenOption.DELETE_ON_CLOSE);

        file.write(ByteBuffer.allocate(1), (long) PAGES * PAGE - 1);
        return file;
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        final Thread asker = new Thread(() -> ask(args[0].equals("none")), "asker");
        final String what = args[0];
        final int end = Integer.parseInt(args[1]);
        final byte[] array = new byte[what.equals("copy") ? COPIED : 1];

        try (FileChannel file = sparseFile()) {
            /* Few enough that nobody waits for them, where the machine gives out pages slowly. */
            final ByteBuffer few = file.map(FileChannel.MapMode.PRIVATE, 0, (long) FEW * PAGE);

            for (int i = 0; i < 20_000; i++)
                sum += counted(1000);
            for (int i = 0; i < 20_000; i++)
                fault(few, FEW);
            copy(array);
            asker.setDaemon(true);
            asker.start();
            while (asked < end) {
                if (what.equals("fault")) {
                    faultAll(file, PAGES);
                    continue;
                }
                begun++;
                if (what.equals("copy"))
                    copy(array);
                else
                    sum += counted(what.equals("counted") ? 200_000_000 : 1000);
                if (what.equals("none"))
                    Thread.yield();
            }
        }
    }

    /* Every so often alone, it would fall to the end of each copy where one takes as long as it sleeps. */
    private static void ask(boolean anytime) {
        while (true) {
            try {
                Thread.sleep(40);
                for (int before = begun; !anytime && begun == before;)
                    Thread.sleep(1);
            } catch (InterruptedException e) {
                return;
            }
            System.gc();
            asked++;
        }
    }
}
