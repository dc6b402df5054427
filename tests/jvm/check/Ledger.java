import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * What became of the signals of a whole recording: prints the counters of its last chunk, and
 * refuses more losses than so many percent of the signals, beside those that the stop found under way: one a
 * processor.
 *
 *     java Ledger counters.def recording MAX_LOST_PCT
 */
final class Ledger {
    public static void main(String[] args) throws IOException {
        Counters counters = new Counters(Path.of(args[0]));
        RecordedEvent last = null;
        long samples = 0;
        long failed = 0;
        long turns = 0;
        try (RecordingFile file = new RecordingFile(Path.of(args[1]))) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                if (event.getEventType().getName().equals(Counters.EVENT)) {
                    last = event;
                } else if (Samples.isSample(event)) {
                    samples++;
                    failed += Marks.failure(event) != null ? 1 : 0;
                } else if (Samples.isWall(event)) {
                    turns += Samples.turns(event);
                }
            }
        }
        Problems problems = new Problems();
        String name = Path.of(args[1]).getFileName().toString();
        List<RawChunk> chunks = RawChunk.split(
                ByteBuffer.wrap(Files.readAllBytes(Path.of(args[1]))), name, problems);
        chunks.forEach(RawChunk::check);
        Conservation law = new Conservation(counters, name, problems);
        law.check(chunks, false);
        System.out.printf("%12d signals told in %d chunks, at most %d carried from one to the next%n",
                law.signals, chunks.size(), law.carriedMost);
        if (last == null) {
            problems.add("no %s", Counters.EVENT);
            problems.finish("no ledger");
            return;
        }
        for (ValueDescriptor field : last.getFields()) {
            if (field.getTypeName().equals("long") && !field.getName().equals("startTime") &&
                    last.getLong(field.getName()) != 0) {
                System.out.printf("%12d %s%n", last.getLong(field.getName()), field.getName());
            }
        }
        long signals = last.getLong("signals");
        long lost = counters.losses(last);
        /* A signal on its way to each thread that had no processor when the session was stopped. */
        long stopped = Math.min(last.getLong("lostStopped"), last.getLong("threadsSeen"));
        problems.addUnless(last.getLong("written") == last.getLong("samples"),
                "%d samples written, %d counted", last.getLong("written"),
                last.getLong("samples"));
        problems.addUnless(turns == last.getLong("writtenTurns"),
                "%d turns of the wall clock in the file, %d written", turns,
                last.getLong("writtenTurns"));
        /* Which of the wall clock's events a signal stands behind, the file does not say. */
        problems.addUnless(samples == last.getLong("samples") ||
                        (turns > 0 && samples < last.getLong("samples")),
                "%d samples in the file, %d counted", samples, last.getLong("samples"));
        problems.addUnless(!last.hasField("wallTurns") || turns == last.getLong("wallTurns"),
                "%d turns of the wall clock in the file, %s recorded", turns,
                last.hasField("wallTurns") ? last.getLong("wallTurns") : "?");
        problems.addUnless(lost - stopped <= signals * Double.parseDouble(args[2]) / 100,
                "%d of %d signals lost", lost, signals);
        problems.finish(String.format("%d signals, %d samples (%d without a Java stack), %d lost; "
                        + "%d turns of the wall clock",
                signals, samples, failed, lost, turns));
    }
}
