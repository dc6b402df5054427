import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * What hooks are said to cost: never more than the process has used, and what all of them took by the clock that each of them reads. Those that
 * took less than 131 us hardly waited, so that time is theirs, by a factor; of the others each was measured, or is in doubt.
 *
 *     java HookCost recording LEAST_HOOKS
 */
final class HookCost {
    private static final long LONG = 131072;
    private static final int ENOUGH = 8; /* of an octave were measured: the others are taken for alike */
    private static final double LEAST = 0.25;

    private HookCost() {
    }

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        Map<String, RecordedEvent> times = new HashMap<>();
        RecordedEvent cost = null;
        long count = 0;
        double shortBegin = 0;
        double shortEnd = 0;
        double longEnd = 0;
        try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                switch (event.getEventType().getName()) {
                case "jaywalk.SelfCost":
                    cost = event;
                    count = 0;
                    shortBegin = 0;
                    shortEnd = 0;
                    longEnd = 0;
                    long all = event.getLong("handlerTime") + event.getLong("kernelTime") + event.getLong("agentThread") + event.getLong("clockThread");
                    problems.addUnless(all <= event.getLong("processTime"), "jaywalk took %d ns of %d that the process has used", all,
                            event.getLong("processTime"));
                    break;
                case "jaywalk.HandlerTime":
                    times.put(event.getString("clock"), event);
                    problems.addUnless(event.getLong("cpuTime") <= event.getLong("total"), "%s: CPU time %d, elapsed %d", event.getString("clock"),
                            event.getLong("cpuTime"), event.getLong("total"));
                    break;
                case "jaywalk.HandlerTimeBucket":
                    if (event.getString("clock").equals("hook")) {
                        long below = event.getLong("below");
                        count += event.getLong("handlers");
                        if (below <= LONG) {
                            shortBegin += event.getLong("handlers") * below * 0.8;
                            shortEnd += event.getLong("handlers") * below;
                        } else {
                            longEnd += event.getLong("handlers") * below;
                        }
                    }
                    break;
                default:
                }
            }
        }
        RecordedEvent hooks = times.get("hook");
        if (cost == null || hooks == null) {
            problems.add("no hooks, or nothing is said of what they cost");
            problems.finish("");
            return;
        }
        long cpu = hooks.getLong("cpuTime");
        long doubt = cost.getLong("handlerTimeDoubt");
        double most = shortEnd + (hooks.getLong("measuredLong") < ENOUGH ? hooks.getLong("measuredLongTime") + doubt : longEnd);
        problems.addUnless(count >= Long.parseLong(args[1]), "%d hooks tell nothing", count);
        problems.addUnless(count == hooks.getLong("handlers"), "%d hooks in the distribution, %d in all", count, hooks.getLong("handlers"));
        problems.addUnless(hooks.getLong("measured") > 0, "no hook was measured");
        problems.addUnless(cpu >= shortBegin * LEAST, "hooks took %d ns, of which those below 131 us at least %.0f by time", cpu, shortBegin);
        problems.addUnless(cpu <= most, "hooks took %d ns; those below 131 us %.0f by time, longer ones %d, give or take %d", cpu, shortEnd,
                hooks.getLong("measuredLongTime"), doubt);
        problems.finish(String.format("%d hooks, %d measured: %.1f ms, by time %.1f to %.1f, give or take %.1f; of %.1f ms of the process", count,
                hooks.getLong("measured"), cpu / 1e6, shortBegin / 1e6, shortEnd / 1e6, doubt / 1e6, cost.getLong("processTime") / 1e6));
    }
}
