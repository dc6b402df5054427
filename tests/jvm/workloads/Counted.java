import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * A thread that touches so many pages of a file, and one that calls a native method so often; an account of both by the kernel and by count.
 *
 *     java Counted PAGES CALLS
 *     faults SINCE_ITS_FIRST_LINE OF_THE_THREAD
 *     calls COUNT
 */
final class Counted {
    private static final int PAGE_BYTES = 4096;

    private static volatile String account = "";

    public static void main(String[] args) throws Exception {
        int pages = Integer.parseInt(args[0]);
        int calls = Integer.parseInt(args[1]);
        Thread toucher = new Thread(() -> fault(pages), "toucher");
        Thread caller = new Thread(() -> callOften(calls), "caller");
        toucher.start();
        caller.start();
        toucher.join();
        caller.join();
        System.out.println(account);
        System.out.println("calls " + calls);
    }

    private static void fault(int pages) {
        try {
            long before = faults();
            touch(pages);
            long after = faults();
            account = "faults " + (after - before) + " " + after;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void touch(int pages) throws IOException {
        File file = File.createTempFile("touched", null, new File("."));
        try (RandomAccessFile pagesOf = new RandomAccessFile(file, "rw")) {
            long bytes = (long) pages * PAGE_BYTES;
            pagesOf.setLength(bytes);
            MappedByteBuffer map = pagesOf.getChannel().map(FileChannel.MapMode.PRIVATE, 0, bytes);
            for (int i = 0; i < pages; i++) {
                map.put(i * PAGE_BYTES, (byte) 1);
            }
        } finally {
            Files.delete(file.toPath());
        }
    }

    /** Minor and major ones of this thread. */
    private static long faults() throws IOException {
        String stat = new String(Files.readAllBytes(Paths.get("/proc/thread-self/stat")));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[7]) + Long.parseLong(fields[9]);
    }

    private static void callOften(int calls) {
        for (int i = 0; i < calls; i++) {
            Runtime.getRuntime().freeMemory();
        }
    }
}
