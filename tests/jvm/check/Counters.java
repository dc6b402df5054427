import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;

/** The table of counters that the agent is compiled from, and the law that they obey. */
final class Counters {
    static final String EVENT = "jaywalk.Diagnostics";
    private static final Pattern ROW =
            Pattern.compile("^JW_(COUNTER|LOSS|SPARED)\\(\\w+, (\\w+),", Pattern.MULTILINE);

    /** Field of the event -> COUNTER, LOSS or SPARED. */
    private final Map<String, String> fields = new LinkedHashMap<>();

    Counters(Path table) throws IOException {
        Matcher row = ROW.matcher(Files.readString(table));
        while (row.find()) {
            fields.put(row.group(2), row.group(1));
        }
        if (!fields.containsKey("signals") || !fields.containsValue("LOSS")) {
            throw new IllegalStateException(table + " is not the table of counters");
        }
    }

    long losses(RecordedEvent event) {
        return sum(event, "LOSS");
    }

    /** All ends of signals but samples. */
    long outcomes(Map<String, Object> event) {
        long sum = 0;
        for (Map.Entry<String, String> field : fields.entrySet()) {
            sum += field.getValue().equals("COUNTER") ? 0 : (Long) event.get(field.getKey());
        }
        return sum;
    }

    private long sum(RecordedEvent event, String kind) {
        long sum = 0;
        for (Map.Entry<String, String> field : fields.entrySet()) {
            sum += field.getValue().equals(kind) ? event.getLong(field.getKey()) : 0;
        }
        return sum;
    }

    /** Signals = samples + losses + spared ones + activations under way, of which the last chunk has none. */
    void check(RecordedEvent event, boolean isLast, String where, Problems problems) {
        for (String field : fields.keySet()) {
            problems.addUnless(event.hasField(field), "%s: no counter %s", where, field);
            if (!event.hasField(field)) {
                return;
            }
        }
        long inFlight = event.getLong("inFlight");
        long spared = sum(event, "SPARED");
        long outcomes = event.getLong("samples") + losses(event) + spared + inFlight;
        problems.addUnless(event.getLong("signals") == outcomes,
                "%s: %d signals, but %d samples + %d lost + %d spared + %d in flight", where,
                event.getLong("signals"), event.getLong("samples"), losses(event), spared,
                inFlight);
        problems.addUnless(
                !isLast || inFlight == 0, "%s: %d in flight at the end", where, inFlight);
        problems.addUnless(event.getLong("invariantBroken") == 0, "%s: %d invariants broken", where,
                event.getLong("invariantBroken"));
    }
}
