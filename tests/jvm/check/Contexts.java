import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * What a recording of the demo's Shop says of its requests, held against what the shop measured.
 *
 *     java Contexts recording report MAX_POINTS
 *
 * Each sample below the method of an endpoint bears a span of that endpoint, its tenant, its trace and its root
 * span; no sample bears the span of an endpoint while it is below the method of another. Each endpoint's share of the CPU
 * time of all samples with a context is within MAX_POINTS percentage points of what the shop says; and each request
 * that a sample bears has its jaywalk.Endpoint event, and one alone, with its title.
 */
final class Contexts {
    private static final String[] TENANTS = {"acme", "globex", "initech"};
    private static final String[] METHODS = {"listOrders", "search", "checkOut", "health"};

    private final Problems problems = new Problems();
    private final Map<Integer, Long> sampledNs = new LinkedHashMap<>();
    private final Map<Long, String> titles = new LinkedHashMap<>();
    private long samples;
    private long withContext;
    private long between;

    public static void main(String[] args) throws IOException {
        new Contexts().run(Path.of(args[0]), Files.readAllLines(Path.of(args[1])), Double.parseDouble(args[2]));
    }

    private void run(Path recording, List<String> report, double maxPoints) throws IOException {
        List<RecordedEvent> events = RecordingFile.readAllEvents(recording);
        for (RecordedEvent event : events) {
            if (event.getEventType().getName().equals("jaywalk.Endpoint")) {
                take(event);
            }
        }
        for (RecordedEvent event : events) {
            if (Samples.isSample(event)) {
                sample(event);
            }
        }
        long allSampledNs = sampledNs.values().stream().mapToLong(Long::longValue).sum();
        long allUsedNs = report.stream().mapToLong(line -> Long.parseLong(line.split(" ")[2])).sum();
        long requests = report.stream().mapToLong(line -> Long.parseLong(line.split(" ")[1])).sum();
        for (int i = 0; i < report.size(); i++) {
            String[] words = report.get(i).split(" ", 4);
            double used = 100.0 * Long.parseLong(words[2]) / allUsedNs;
            double share = 100.0 * sampledNs.getOrDefault(i, 0L) / allSampledNs;
            System.out.printf("%-20s CPU %6.2f %%, samples %6.2f %%, off by %+.2f%n", words[3], used, share,
                    share - used);
            problems.addUnless(Math.abs(share - used) <= maxPoints, "%s used %.2f %% of CPU, samples say %.2f %%",
                    words[3], used, share);
        }
        problems.addUnless(titles.size() == requests, "%d requests were served, %d have an endpoint", requests,
                titles.size());
        problems.addUnless(withContext > 0, "no sample has a context");
        System.out.printf("CPU time of the shop %.3f s, of samples with its contexts %.3f s%n", allUsedNs / 1e9,
                allSampledNs / 1e9);
        problems.finish(String.format("%d samples, %d with a context, %d on the way from or to a carrier", samples,
                withContext, between));
    }

    private void take(RecordedEvent event) {
        long root = event.getLong("localRootSpanId");
        String before = titles.put(root, event.getString("endpoint"));

        problems.addUnless(before == null, "root span %x has two endpoints", root);
        problems.addUnless(traceOf(root).equals(event.getString("traceId")), "trace %s of the endpoint of root span %x",
                event.getString("traceId"), root);
        problems.addUnless("http.request".equals(event.getString("operation")), "operation %s of root span %x",
                event.getString("operation"), root);
    }

    private void sample(RecordedEvent sample) {
        long span = sample.getLong("spanId");
        int said = (int) (span >>> 48) - 1;
        int below = -1;
        boolean isLeaving = false;

        samples++;
        for (RecordedFrame frame : Samples.frames(sample)) {
            String method = Samples.methodOf("Shop", frame);
            int index = method == null ? -1 : List.of(METHODS).indexOf(method);
            if (index >= 0) {
                below = index;
                break;
            }
            String type = Samples.name(frame);
            isLeaving |= type.startsWith("java.lang.VirtualThread.") || type.startsWith("jdk.internal.vm.Continuation.");
        }
        if (span == 0) {
            between += below >= 0 && isLeaving ? 1 : 0;
            problems.addUnless(below < 0 || isLeaving, "a sample below %s has no context: %s",
                    below < 0 ? "" : METHODS[below], top(sample));
            return;
        }
        withContext++;
        sampledNs.merge(said, Samples.weight(sample), Long::sum);
        if (below >= 0) {
            problems.addUnless(below == said, "a sample below %s bears the span %x", METHODS[below], span);
        }
        long root = span & ~(0xffL << 32);
        problems.addUnless(sample.getLong("localRootSpanId") == root, "root span %x of span %x",
                sample.getLong("localRootSpanId"), span);
        problems.addUnless(traceOf(root).equals(sample.getString("traceId")),
                "trace %s of span %x", sample.getString("traceId"), span);
        /* The tenant is set after the span. */
        String tenant = sample.getString("tenant");
        problems.addUnless(tenant == null ? below < 0 : tenant.equals(TENANTS[(int) (span >>> 40 & 0xff)]),
                "tenant %s of span %x", tenant, span);
        problems.addUnless(titles.containsKey(root), "the request of span %x has no endpoint", span);
    }

    private static String traceOf(long root) {
        return String.format("%016x%016x", root, ~root);
    }

    private static String top(RecordedEvent sample) {
        StringBuilder text = new StringBuilder();
        for (RecordedFrame frame : Samples.frames(sample)) {
            text.append(Samples.name(frame)).append(" < ");
            if (text.length() > 300) {
                break;
            }
        }
        return text.toString();
    }
}
