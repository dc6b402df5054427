import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import jdk.jfr.consumer.RecordedEvent;

/**
 * Checks that the recordings of killed JVMs hold their samples up to shortly before the end. A
 * flush comes once a second; the limit leaves room for a busy machine, and for what it stood still.
 *
 *     java Killed list
 *
 * The list has lines "FILE KILLED_AT_MS BEGAN_AT_MS LATE_MS": since the Unix epoch, when the session was seen to have begun (0: it
 * was not), and by how much the end was later than wanted.
 */
final class Killed {
    private static final long LIMIT_MS = 4_000;
    private static final int ENOUGH = 3;

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        long worstMs = 0;
        int withSamples = 0;
        int count = 0;
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] words = line.split(" ");
            Path file = Path.of(words[0]);
            Instant killed = Instant.ofEpochMilli(Long.parseLong(words[1]));
            Instant last = null;
            Instant begun = Instant.ofEpochMilli(Math.max(startMsOf(file), Long.parseLong(words[2])));
            boolean hasBegun = !words[2].equals("0");
            for (RecordedEvent sample : Samples.read(file)) {
                last = last == null || sample.getStartTime().isAfter(last) ? sample.getStartTime()
                                                                           : last;
            }
            count++;
            withSamples += last != null ? 1 : 0;
            Instant until = last != null ? last : begun;
            long missingMs = killed.toEpochMilli() - until.toEpochMilli();
            worstMs = Math.max(worstMs, missingMs);
            System.out.printf("%s lived %d ms, misses its last %d ms%n", file.getFileName(),
                    killed.toEpochMilli() - begun.toEpochMilli(), missingMs);
            problems.addUnless((last == null && !hasBegun) || missingMs <= LIMIT_MS + Long.parseLong(words[3]),
                    "%s misses its last %d ms", file, missingMs);
        }
        problems.addUnless(withSamples >= Math.min(ENOUGH, count), "only %d of %d files have samples", withSamples, count);
        problems.finish(String.format(
                "%d files, %d with samples, at most %d ms missing", count, withSamples, worstMs));
    }

    private static long startMsOf(Path file) throws IOException {
        return java.nio.ByteBuffer.wrap(Files.readAllBytes(file)).getLong(32) / 1_000_000;
    }
}
