import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * Every sample of the workers of ApiUse has the context that its stack says it was taken in, and no other: trace, span, root span and
 * attribute. Spans and endpoints are all there.
 *
 *     java ApiContexts recording WORKERS ROUNDS
 *     java ApiContexts recording          worker 1 alone was to be sampled, and was
 */
final class ApiContexts {
    private final Problems problems = new Problems();
    private final Set<Integer> seen = new TreeSet<>();
    private final Set<Integer> working = new TreeSet<>();
    private int inside;
    private int outside;
    private int spans;
    private int endpoints;

    public static void main(String[] args) throws IOException {
        ApiContexts check = new ApiContexts();
        for (RecordedEvent event : RecordingFile.readAllEvents(Path.of(args[0]))) {
            switch (event.getEventType().getName()) {
            case "jdk.ExecutionSample" -> check.sample(event);
            case "jaywalk.Span" -> check.span(event);
            case "jaywalk.Endpoint" -> check.endpoint(event);
            default -> { }
            }
        }
        if (args.length == 1) {
            check.finishChosen();
            return;
        }
        check.finish(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
    }

    private void sample(RecordedEvent sample) {
        List<RecordedFrame> frames = Samples.frames(sample);
        int number = 0;
        String where = null;
        for (RecordedFrame frame : frames) {
            switch (frame.getMethod() == null ? "" : frame.getMethod().getName()) {
            case "inScope", "inSpan", "outside" -> where = frame.getMethod().getName();
            case "worker1" -> number = 1;
            case "worker2" -> number = 2;
            case "worker3" -> number = 3;
            default -> { }
            }
        }
        if (where == null || number == 0) {
            return;
        }
        working.add(number);
        if (where.equals("outside")) {
            outside++;
            expect(sample, where, null, 0, 0, null);
        } else if (where.equals("inScope")) {
            inside++;
            seen.add(number);
            expect(sample, where, trace(number), number, 1000 + number, "tenant " + number);
        } else {
            inside++;
            expect(sample, where, trace(number), 100 + number, 1000 + number, "inner " + number);
        }
    }

    private static String trace(long number) {
        return String.format("%016x%016x", number, -number);
    }

    private void expect(RecordedEvent event, String where, String trace, long span, long root, String tenant) {
        String found = Samples.text(event, "traceId") + ' ' + Samples.number(event, "spanId") + ' ' + Samples.number(event, "localRootSpanId") + ' '
            + Samples.text(event, "tenant");
        String wanted = trace + ' ' + span + ' ' + root + ' ' + tenant;
        problems.addUnless(found.equals(wanted), "%s: %s, not %s", where, found, wanted);
    }

    private void span(RecordedEvent span) {
        String name = span.getString("name");
        if (name.startsWith("step ")) {
            spans++;
            long number = Long.parseLong(name.substring(5));
            expect(span, "span", trace(number), 100 + number, 1000 + number, "inner " + number);
            problems.addUnless(span.getDuration().toNanos() > 0 && span.getDuration().toSeconds() < 60, "a span of %s", span.getDuration());
        }
    }

    private void endpoint(RecordedEvent endpoint) {
        String name = endpoint.getString("endpoint");
        if (name.startsWith("GET /burn/")) {
            endpoints++;
            long number = Long.parseLong(name.substring(10));
            problems.addUnless(endpoint.getLong("localRootSpanId") == 1000 + number && endpoint.getString("operation").equals("test"),
                "endpoint %s of root span %d", name, endpoint.getLong("localRootSpanId"));
        }
    }

    private void finishChosen() {
        problems.addUnless(working.equals(Set.of(1)), "samples of the workers %s", working);
        problems.addUnless(outside >= 50, "only %d samples", outside);
        problems.finish(outside + " samples of the thread that was added");
    }

    private void finish(int workers, int rounds) {
        problems.addUnless(spans == workers * rounds, "%d spans, not %d", spans, workers * rounds);
        problems.addUnless(endpoints == workers * rounds, "%d endpoints, not %d", endpoints, workers * rounds);
        problems.addUnless(seen.size() == workers, "samples of the workers %s alone", seen);
        problems.addUnless(inside >= 300 && outside >= 100, "only %d samples inside, %d outside", inside, outside);
        problems.finish(inside + " samples with their context, " + outside + " without, " + spans + " spans, " + endpoints + " endpoints");
    }
}
