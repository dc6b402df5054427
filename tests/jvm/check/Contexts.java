import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * What a recording of the demo's Shop says of its requests, held against what the shop measured.
 *
 *     java Contexts recording report MAX_POINTS BURSTS INTERVAL_US
 *
 * Each sample below the method of an endpoint bears a span of that endpoint, its tenant, its trace and its root
 * span; no sample bears the span of an endpoint while it is below the method of another. Each endpoint's share of the CPU
 * time of all samples in the work that the shop measures is within MAX_POINTS percentage points of what it says, or within four standard
 * deviations of what samples can tell and what BURSTS of work of each request lose at their ends, where that is more, but never beyond three times MAX_POINTS; and each request that a sample bears has its jaywalk.Endpoint
 * event, and one alone, with its title.
 *
 * A sample stands for the time since the one before of its thread, some of which may have been another request's: of W
 * nanoseconds a part that is anything from none to all, W^2/3 its mean square, where requests of B nanoseconds each have
 * one border in B. A machine that gave the process no processor for a while makes few large W of many small ones. Of a burst a tenth of an
 * interval is another's on a busy machine (docs/adr/0013).
 */
final class Contexts {
    private static final String[] TENANTS = {"acme", "globex", "initech"};
    private static final String[] METHODS = {"listOrders", "search", "checkOut", "health"};
    private static final String MEASURED = "burn"; /* below these */

    private static final double LOST_AT_ENDS = 0.1; /* of an interval */

    private final Problems problems = new Problems();
    private final Map<Integer, Long> sampledNs = new LinkedHashMap<>();
    private final Map<Long, String> titles = new LinkedHashMap<>();
    private final List<Long> weights = new ArrayList<>();
    private long samples;
    private long withContext;
    private long between;

    public static void main(String[] args) throws IOException {
        new Contexts().run(Path.of(args[0]), Files.readAllLines(Path.of(args[1])), Double.parseDouble(args[2]),
                LOST_AT_ENDS * Double.parseDouble(args[3]) * Double.parseDouble(args[4]) * 1000);
    }

    /** `lostNs`: of a request, at the ends of its bursts. */
    private void run(Path recording, List<String> report, double maxPoints, double lostNs) throws IOException {
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
        double deviationNs = deviationNs((double) allUsedNs / titles.size());
        for (int i = 0; i < report.size(); i++) {
            String[] words = report.get(i).split(" ", 4);
            double used = 100.0 * Long.parseLong(words[2]) / allUsedNs;
            double share = 100.0 * sampledNs.getOrDefault(i, 0L) / allSampledNs;
            System.out.printf("%-20s CPU %6.2f %%, samples %6.2f %%, off by %+.2f%n", words[3], used, share,
                    share - used);
            /* It matters where one of two neighbours alone is of this endpoint. */
            double part = Double.parseDouble(words[1]) / requests;
            double told = 4 * 100 * deviationNs * Math.sqrt(2 * part * (1 - part)) / allSampledNs;
            double late = 100.0 * (Long.parseLong(words[2]) - lostNs * Long.parseLong(words[1])) / (allUsedNs - lostNs * requests);
            double bound = Math.min(3 * maxPoints, Math.max(maxPoints, told + Math.abs(late - used)));
            problems.addUnless(Math.abs(share - used) <= bound,
                    "%s used %.2f %% of CPU, samples say %.2f %%; of %d, the longest of %d ms, %.2f points were allowed",
                    words[3], used, share, weights.size(), weights.stream().mapToLong(Long::longValue).max().orElse(0) / 1_000_000,
                    bound);
        }
        problems.addUnless(titles.size() == requests, "%d requests were served, %d have an endpoint", requests,
                titles.size());
        problems.addUnless(withContext > 0, "no sample has a context");
        System.out.printf("CPU time of the shop's work %.3f s, of samples in it %.3f s; one standard deviation %.3f s%n",
                allUsedNs / 1e9, allSampledNs / 1e9, deviationNs / 1e9);
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
        long span = Samples.number(sample, "spanId");
        int said = (int) (span >>> 48) - 1;
        int below = -1;
        boolean isLeaving = false;
        boolean isMeasured = false;

        samples++;
        for (RecordedFrame frame : Samples.frames(sample)) {
            String method = Samples.methodOf("Shop", frame);
            int index = method == null ? -1 : List.of(METHODS).indexOf(method);
            if (index >= 0) {
                below = index;
                break;
            }
            isMeasured |= MEASURED.equals(method);
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
        if (isMeasured) {
            sampledNs.merge(said, Samples.weight(sample), Long::sum);
            weights.add(Samples.weight(sample));
        }
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

    /** Of the CPU time that samples give to another request than the one that used it, where requests take `betweenNs` of a thread each. */
    private double deviationNs(double betweenNs) {
        double variance = 0;

        for (long weight : weights) {
            variance += Math.min(1, weight / betweenNs) * weight * weight / 3;
        }
        return Math.sqrt(variance);
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
