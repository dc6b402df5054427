import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Counts the stacks that could not be walked, of threads that run Java code. All may be 10 % of the
 * samples; those that HotSpot need not refuse (it does while it collects garbage, and for threads
 * blocked inside it) may be 1 %.
 *
 *     java Failures recording THREAD_PREFIX [MAX_PCT]       MAX_PCT: of all, whatever the reason
 */
final class Failures {
    private static final double MAX_ALL = 0.10;
    private static final double MAX_OTHER = 0.01;

    public static void main(String[] args) throws IOException {
        Map<String, Long> failures = new TreeMap<>();
        long count = 0;
        for (RecordedEvent sample : Samples.read(Path.of(args[0]))) {
            if (Samples.threadName(sample).startsWith(args[1])) {
                count++;
                String failure = Marks.failure(sample);
                if (failure != null) {
                    failures.merge(failure, 1L, Long::sum);
                }
            }
        }
        long all = 0;
        long other = 0;
        for (Map.Entry<String, Long> failure : failures.entrySet()) {
            String text = failure.getKey();
            all += failure.getValue();
            if (!text.equals(Marks.GC_ACTIVE) && !Marks.BLOCKED_IN_VM.contains(text)) {
                other += failure.getValue();
            }
            System.out.printf("%6d  %5.2f %%  %s%n", failure.getValue(),
                    100.0 * failure.getValue() / count, text);
        }
        printReasons(Path.of(args[0]));
        Problems problems = new Problems();
        double maxAll = args.length > 2 ? Double.parseDouble(args[2]) / 100 : MAX_ALL;
        problems.addUnless(count >= 300, "only %d samples", count);
        problems.addUnless(all < maxAll * count, "%d of %d walks failed", all, count);
        problems.addUnless(other < MAX_OTHER * count, "%d of %d walks failed for reasons of ours",
                other, count);
        problems.finish(String.format(
                "%d samples, %d failed, %d of them for reasons of ours", count, all, other));
    }

    /** What the recording itself says of failed walks of all threads, tries and retries. */
    private static void printReasons(Path file) throws IOException {
        Map<String, Long> reasons = new TreeMap<>();
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            if (event.getEventType().getName().equals("jaywalk.WalkFailure")) {
                String reason = event.getValue("walker") + " " + event.getValue("code") + " " +
                                event.getValue("reason") + ", in " + event.getValue("where");
                reasons.merge(reason, event.getLong("count"), Math::max); /* counts only grow */
            }
        }
        reasons.forEach(
                (reason, count) -> System.out.println("recorded: " + count + " x " + reason));
    }
}
