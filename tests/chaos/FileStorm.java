import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32;

/** Files and pipes give back what was written, in pieces of any size; no call ends with EINTR. */
final class FileStorm implements Storm {
    @Override
    public String name() {
        return "files";
    }

    @Override
    public void run(Run run) throws Exception {
        run.thread("files-pipe", () -> pipe(run));
        Path path = run.directory().resolve("file");
        while (run.goesOn()) {
            byte[] content = new byte[1 + run.random().nextInt(200_000)];
            run.random().nextBytes(content);
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE,
                         StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
                writeAll(run, channel, content);
                if (run.random().nextInt(8) == 0) {
                    channel.force(false);
                }
            }
            // m37: no call ends with EINTR, none is cut
            if (crc(Files.readAllBytes(path)) != crc(content)) {
                run.violated("a file has other bytes than were written");
            }
            run.did(1);
            run.rest();
        }
    }

    private static void writeAll(Run run, FileChannel channel, byte[] content) throws IOException {
        for (int at = 0; at < content.length;) {
            int piece = Math.min(content.length - at, 1 + run.random().nextInt(50_000));
            at += channel.write(ByteBuffer.wrap(content, at, piece));
        }
    }

    private static long crc(byte[] bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return crc.getValue();
    }

    private static void pipe(Run run) throws Exception {
        Pipe pipe = Pipe.open();
        int seed = run.random().nextInt();
        java.util.concurrent.atomic.AtomicLong written = new java.util.concurrent.atomic.AtomicLong();
        Thread writer = run.thread("files-writer", () -> {
            try (Pipe.SinkChannel sink = pipe.sink()) {
                byte next = (byte) seed;
                while (run.goesOn()) {
                    ByteBuffer piece = ByteBuffer.allocate(1 + run.random().nextInt(20_000));
                    while (piece.hasRemaining()) {
                        piece.put(next++);
                    }
                    piece.flip();
                    while (piece.hasRemaining()) {
                        written.addAndGet(sink.write(piece));
                    }
                    run.rest();
                }
            }
        });
        long read = 0;
        byte expected = (byte) seed;
        ByteBuffer some = ByteBuffer.allocate(7_000);
        try (Pipe.SourceChannel source = pipe.source()) {
            while (source.read(some) >= 0) {
                some.flip();
                read += some.remaining();
                while (some.hasRemaining()) {
                    byte got = some.get();
                    if (got != expected) {
                        run.violated("a pipe gave " + got + ", not " + expected);
                        expected = got;
                    }
                    expected++;
                }
                some.clear();
                run.did(1);
            }
        }
        writer.join();
        if (read != written.get()) {
            run.violated("a pipe took " + written + " bytes and gave " + read);
        }
    }
}
