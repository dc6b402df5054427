import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.AnnotationElement;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * What the recording of Requests says of each sample, endpoint and span: that of the thread that it was in, and nobody else's.
 *
 *     java Served file requests spans
 */
final class Served {
    private static final long SPAN_BIT = Long.MIN_VALUE;

    private final Problems problems = new Problems();
    /** Attribute -> samples of servers that have it. */
    private final Map<String, Long> withAttribute = new TreeMap<>();
    private final Map<Long, String> endpoints = new HashMap<>();
    private long endpointCount;
    private long spanCount;
    private long served;
    private long servedWithTrace;
    private long sleptNs;
    private long sleptForRequestNs;
    private long samples;
    private long lateFields;
    private long unlabelled;
    private boolean wasLabelled; /* from the first context on */

    private Served() {
    }

    public static void main(String[] args) throws IOException {
        Served served = new Served();
        for (RecordedEvent event : RecordingFile.readAllEvents(Path.of(args[0]))) {
            served.take(event);
        }
        served.finish(Long.parseLong(args[1]), Long.parseLong(args[2]));
    }

    private void take(RecordedEvent event) {
        String type = event.getEventType().getName();
        if (type.equals("jaywalk.Endpoint")) {
            takeEndpoint(event);
        } else if (type.equals("jaywalk.Span")) {
            takeSpan(event);
        } else if (Samples.isSample(event) || Samples.isWall(event)) {
            takeSample(event);
        }
    }

    /** Value of the attribute by the name that the application gave; null where there is none, or it is not set. */
    private static String attribute(RecordedEvent event, String name) {
        for (ValueDescriptor field : event.getFields()) {
            if (name.equals(field.getLabel()) && isAttribute(field)) {
                return event.getString(field.getName());
            }
        }
        return null;
    }

    private static boolean isAttribute(ValueDescriptor field) {
        for (AnnotationElement annotation : field.getAnnotationElements()) {
            if (annotation.getTypeName().equals("jaywalk.Attribute")) {
                return true;
            }
        }
        return false;
    }

    private static String hex(long high, long low) {
        return String.format("%016x%016x", high, low);
    }

    private void takeEndpoint(RecordedEvent event) {
        long root = event.getLong("localRootSpanId");
        long number = (root >>> 32) - 1;
        endpointCount++;
        problems.addUnless(endpoints.put(root, event.getString("endpoint")) == null,
                "root span %d has two endpoints", root);
        problems.addUnless(event.getString("endpoint").equals("GET /thread/" + number)
                        && event.getString("operation").equals("work"),
                "root span %d is %s", root, event.getString("endpoint"));
        problems.addUnless(event.getThread() != null
                        && ("server " + number).equals(event.getThread().getJavaName()),
                "endpoint of root span %d was told by %s", root, event.getThread());
    }

    private void takeSpan(RecordedEvent event) {
        long root = event.getLong("localRootSpanId");
        long number = (root >>> 32) - 1;
        spanCount++;
        problems.addUnless(event.getString("name").equals("step " + number)
                        && event.getLong("spanId") == (root | SPAN_BIT)
                        && hex(number + 1, root).equals(event.getString("traceId"))
                        && Long.toString(root).equals(attribute(event, "request.id")),
                "a span says %s", event);
        /* Begin and end are told in ticks of 512 ns. */
        problems.addUnless(event.getDuration().toNanos() > 2_000_000 - 512, "a span of %d ns",
                event.getDuration().toNanos());
        problems.addUnless(("server " + number).equals(event.getThread().getJavaName()),
                "a span of server %d in %s", number, event.getThread());
    }

    private void takeSample(RecordedEvent event) {
        String thread = Samples.threadName(event);
        samples++;
        lateFields += event.hasField("attribute2") ? 1 : 0;
        boolean isLabelled = event.hasField("traceId") && event.hasField("spanId");
        unlabelled += isLabelled || !wasLabelled ? 0 : 1;
        wasLabelled |= isLabelled;
        if (thread.startsWith("server ")) {
            takeServed(event, Long.parseLong(thread.substring("server ".length())));
        } else if (thread.equals("sleeper")) {
            takeSleeper(event);
        } else {
            problems.addUnless(Samples.text(event, "traceId") == null && Samples.number(event, "spanId") == 0
                            && Samples.number(event, "localRootSpanId") == 0
                            && attribute(event, "tenant") == null,
                    "thread %s works for somebody: %s", thread, event);
        }
    }

    private void takeServed(RecordedEvent event, long number) {
        long root = Samples.number(event, "localRootSpanId");
        served++;
        expect(event, "tenant", "tenant \u00e9\u0000\u0001" + number);
        expect(event, "late.name", "late " + number);
        expect(event, "request.id", Long.toString(root));
        if (Samples.text(event, "traceId") == null) {
            problems.addUnless(Samples.number(event, "spanId") == 0 && root == 0, "ids without a trace: %s",
                    event);
            return;
        }
        servedWithTrace++;
        problems.addUnless(root >>> 32 == number + 1 && Samples.number(event, "spanId") == (root | SPAN_BIT)
                        && Samples.text(event, "traceId").equals(hex(number + 1, root)),
                "server %d has ids of another: %s", number, event);
    }

    private void expect(RecordedEvent event, String name, String wanted) {
        String found = attribute(event, name);
        problems.addUnless(found == null || found.equals(wanted), "%s is \"%s\", not \"%s\"", name,
                found, wanted);
        withAttribute.merge(name, found == null ? 0L : 1L, Long::sum);
    }

    private void takeSleeper(RecordedEvent event) {
        String tenant = attribute(event, "tenant");
        problems.addUnless(tenant == null || (tenant.equals("sleeper") && Samples.number(event, "spanId") == 99),
                "the sleeper works for %s", tenant);
        if (Samples.isWall(event)) {
            sleptNs += Samples.wallTime(event);
            sleptForRequestNs += tenant == null ? 0 : Samples.wallTime(event);
        }
    }

    private void finish(long requests, long spans) {
        problems.addUnless(endpointCount == requests, "%d endpoints, told were %d", endpointCount, requests);
        problems.addUnless(spanCount == spans, "%d spans, ended have %d", spanCount, spans);
        problems.addUnless(unlabelled == 0, "%d samples without the fields, behind some with them", unlabelled);
        /* Between two requests a server does next to nothing. */
        problems.addUnless(servedWithTrace > 0.9 * served, "%d of %d samples have ids", servedWithTrace, served);
        for (String name : new String[] {"tenant", "request.id"}) {
            problems.addUnless(withAttribute.getOrDefault(name, 0L) > 0.9 * served, "%d of %d samples have a %s",
                    withAttribute.getOrDefault(name, 0L), served, name);
        }
        problems.addUnless(withAttribute.getOrDefault("late.name", 0L) > 0.2 * served,
                "%d of %d samples have the later attribute", withAttribute.getOrDefault("late.name", 0L), served);
        problems.addUnless(0 < lateFields && lateFields < samples,
                "%d of %d samples have a field for the attribute of the second half", lateFields, samples);
        problems.addUnless(sleptNs > 0 && sleptForRequestNs > 0.8 * sleptNs,
                "%d of %d ns of the sleeper were for its request", sleptForRequestNs, sleptNs);
        problems.finish(String.format("%d samples of servers, %d endpoints, %d spans", served, endpointCount, spanCount));
    }
}
