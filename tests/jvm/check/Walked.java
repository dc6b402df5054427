import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Counts the samples whose Java stack is not there, or is cut, of threads whose names begin so. Both together
 * must stay under 0.5 % of each prefix.
 *
 *     java Walked recording PREFIX...
 *     java Walked --row recording PREFIX       no bound: the cells of a row of docs/walks.md
 */
final class Walked {
    private static final double MAX_SHARE = 0.005;

    /** The workload takes more, up to twenty times as many, while a quarter of a per cent or more of them are bad. */
    private static final long MIN_SAMPLES = 1_266;

    private final List<RecordedEvent> events;

    private Walked(List<RecordedEvent> events) {
        this.events = events;
    }

    public static void main(String[] args) throws IOException {
        boolean isRow = args[0].equals("--row");
        int first = isRow ? 1 : 0;
        Walked walked = new Walked(RecordingFile.readAllEvents(Path.of(args[first])));
        if (isRow) {
            walked.printRow(args[first + 1]);
        } else {
            walked.check(Arrays.asList(args).subList(1, args.length));
        }
    }

    /** What became of the walks of some threads. */
    private static final class Outcome {
        private final Map<String, Long> failures = new TreeMap<>();
        private long samples;
        private long failed;
        private long truncated;
    }

    private Outcome outcomeOf(String prefix) {
        Outcome outcome = new Outcome();
        for (RecordedEvent event : events) {
            if (!Samples.isSample(event) || !Samples.threadName(event).startsWith(prefix)) {
                continue;
            }
            outcome.samples++;
            String failure = Marks.failure(event);
            if (failure != null) {
                outcome.failed++;
                outcome.failures.merge(failure, 1L, Long::sum);
            } else if (event.getStackTrace().isTruncated()) {
                outcome.truncated++;
            }
        }
        return outcome;
    }

    private void check(List<String> prefixes) {
        Problems problems = new Problems();
        for (String prefix : prefixes) {
            Outcome outcome = outcomeOf(prefix);
            System.out.printf("%s %d samples, %d failed %s, %d truncated%n", prefix,
                    outcome.samples, outcome.failed, outcome.failures, outcome.truncated);
            problems.addUnless(outcome.samples >= MIN_SAMPLES, "%s: only %d samples, not %d",
                    prefix, outcome.samples, MIN_SAMPLES);
            problems.addUnless(outcome.failed + outcome.truncated < MAX_SHARE * outcome.samples,
                    "%s: of %d walks %d failed %s, and %d were truncated (of all threads: %s)", prefix,
                    outcome.samples, outcome.failed, outcome.failures, outcome.truncated,
                    reasons());
        }
        reasons().forEach((reason, count) -> System.out.println(count + " x " + reason));
        problems.finish("");
    }

    /** Samples; per cent failed, truncated, and failed without mending; reasons of all threads. */
    private void printRow(String prefix) {
        Outcome outcome = outcomeOf(prefix);
        long recovered = 0;
        for (RecordedEvent event : events) {
            if (event.getEventType().getName().equals(Counters.EVENT)) {
                recovered = Math.max(recovered, event.getLong("walkRecovered"));
            }
        }
        StringBuilder text = new StringBuilder();
        reasons().forEach((reason, count)
                                  -> text.append(text.length() == 0 ? "" : "; ")
                                             .append(count)
                                             .append(" ")
                                             .append(reason));
        System.out.printf("%d | %.2f | %.2f | %.2f | %s |%n", outcome.samples,
                pct(outcome.failed, outcome), pct(outcome.truncated, outcome),
                pct(outcome.failed + recovered, outcome), text);
    }

    private static double pct(long count, Outcome outcome) {
        return 100.0 * count / Math.max(1, outcome.samples);
    }

    /** What the recording itself says of failed walks, but for threads of the JVM without Java frames. */
    private Map<String, Long> reasons() {
        Map<String, Long> reasons = new TreeMap<>();
        for (RecordedEvent event : events) {
            if (event.getEventType().getName().equals("jaywalk.WalkFailure") &&
                    event.getInt("code") != 0) {
                String reason = event.getValue("reason") + " in " + event.getValue("where");
                reasons.merge(reason, event.getLong("count"), Math::max); /* counts only grow */
            }
        }
        return reasons;
    }
}
