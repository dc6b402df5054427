import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

/** Mapped files cut short while they are read: the fault is the JVM's to handle, and InternalError what comes of it. */
final class MappedStorm implements Storm {
    private static final int BYTES = 8 * 4096;

    private static volatile byte[] intoTheJvm;

    @Override
    public String name() {
        return "mapped";
    }

    @Override
    public void run(Run run) throws Exception {
        Path path = run.directory().resolve("mapped");
        while (run.goesOn()) {
            try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                once(run, file);
            }
            run.did(1);
            run.rest();
            run.rest();
        }
    }

    private static void once(Run run, RandomAccessFile file) throws IOException, InterruptedException {
        byte[] content = new byte[BYTES];
        run.random().nextBytes(content);
        file.setLength(0);
        file.write(content);
        MappedByteBuffer buffer = file.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, BYTES);
        for (int i = 0; i < BYTES; i += 61) {
            if (buffer.get(i) != content[i]) {
                run.violated("another byte in the mapping than in the file");
            }
        }
        file.setLength(0);
        /* The error comes as late as at some call into the JVM after the read: so a thread is ended by it. */
        AtomicBoolean hasFaulted = new AtomicBoolean();
        Thread reader = new Thread(() -> {
            read(buffer);
            for (int i = 0; i < 4; i++) {
                intoTheJvm = new byte[1 << 20];
            }
        }, "mapped-reader");
        reader.setUncaughtExceptionHandler((thread, e) -> {
            hasFaulted.set(e instanceof InternalError);
        });
        reader.start();
        reader.join();
        if (!hasFaulted.get()) {
            run.violated("no InternalError behind the end of a file");
        }
    }

    private static int read(MappedByteBuffer buffer) {
        int sum = 0;
        for (int i = 0; i < BYTES; i += 512) {
            sum += buffer.get(i);
        }
        return sum;
    }
}
