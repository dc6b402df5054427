import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * The changes of walkers in a recording follow each other: each begins with what the one before ended with, goes down
 * for a reason and a time, and the last ends with all walkers in use. Log and counters tell as many.
 *
 *     java WalkerChanges recording COUNT DOWNS_MIN
 */
final class WalkerChanges {
    private static final String JAVA = "Java frames";
    private static final String NATIVE = "native frames";

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        Map<String, String> walkers = new HashMap<>(Map.of(JAVA, "vm", NATIVE, "native"));
        Instant last = Instant.MIN;
        RecordedEvent counters = null;
        long downs = 0;
        long count = 0;
        for (RecordedEvent event : RecordingFile.readAllEvents(Path.of(args[0]))) {
            if (event.getEventType().getName().equals(Counters.EVENT)) {
                counters = event;
            }
            if (!event.getEventType().getName().equals("jaywalk.WalkerChange")) {
                continue;
            }
            String part = event.getString("part");
            String from = event.getString("from");
            String to = event.getString("to");
            boolean isDown = event.getLong("retry") != 0;
            System.out.printf("%s %s: %s -> %s, again after %d s: %s%n", event.getStartTime(), part, from, to,
                    event.getLong("retry") / 1_000_000_000, event.getString("reason"));
            problems.addUnless(from.equals(walkers.get(part)), "%s: from %s, where %s was", part, from,
                    walkers.get(part));
            problems.addUnless(!event.getString("reason").isEmpty(), "%s to %s without a reason", from, to);
            problems.addUnless(event.getStartTime().compareTo(last) >= 0, "out of order: %s", event);
            walkers.put(part, to);
            last = event.getStartTime();
            downs += isDown ? 1 : 0;
            count++;
        }
        problems.addUnless(count == Long.parseLong(args[1]), "%d changes, %s in the log", count, args[1]);
        problems.addUnless(downs >= Long.parseLong(args[2]), "only %d steps down", downs);
        problems.addUnless("vm".equals(walkers.get(JAVA)) && "native".equals(walkers.get(NATIVE)),
                "in the end: %s", walkers);
        if (counters == null) {
            problems.add("no %s", Counters.EVENT);
        } else {
            long counted = counters.getLong("walkerDown") + counters.getLong("walkerTrials") +
                           counters.getLong("walkerUp");
            problems.addUnless(counted == count && counters.getLong("walkerDown") == downs,
                    "%d changes counted, %d down", counted, counters.getLong("walkerDown"));
        }
        problems.finish(String.format("%d changes, %d down", count, downs));
    }
}
