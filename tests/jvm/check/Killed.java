import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import jdk.jfr.consumer.RecordedEvent;

/**
 * Checks that the recordings of killed JVMs hold their samples up to shortly before the end. A
 * flush comes once a second; the limit leaves room for a busy machine.
 *
 *     java Killed list
 *
 * The list has lines "FILE KILLED_AT_MS", times since the Unix epoch.
 */
final class Killed {
    private static final long LIMIT_MS = 4_000;

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
            Instant begun = Instant.ofEpochMilli(startMsOf(file));
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
            problems.addUnless(missingMs <= LIMIT_MS, "%s misses its last %d ms", file, missingMs);
        }
        problems.addUnless(
                withSamples * 2 >= count, "only %d of %d files have samples", withSamples, count);
        problems.finish(String.format(
                "%d files, %d with samples, at most %d ms missing", count, withSamples, worstMs));
    }

    private static long startMsOf(Path file) throws IOException {
        return java.nio.ByteBuffer.wrap(Files.readAllBytes(file)).getLong(32) / 1_000_000;
    }
}
