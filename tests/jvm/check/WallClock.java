import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * Wall-clock samples of workload Waiting: every thread's time is there, on the stack it waited on.
 *
 *     java WallClock recording SECONDS THREADS
 */
final class WallClock {
    /** Where threads of a kind are. */
    private static final Map<String, String> METHODS = Map.of(
            "park", "Waiting.park", "block", "Waiting.block", "await", "Waiting.await", "main",
            "Waiting.run");
    private static final Map<String, String> STATES = Map.of("park", "STATE_PARKED", "block",
            "STATE_BLOCKED_ON_MONITOR_ENTER", "await", "STATE_IN_OBJECT_WAIT", "main",
            "STATE_RUNNABLE");
    /** Of its turns, a thread may have so many on its way to where it waits, or missed at the end. */
    private static final double RIGHT = 0.9;

    private static final class Sum {
        long turns;
        long ns;
        long placedNs;
        long statedNs;
    }

    private WallClock() {
    }

    public static void main(String[] args) throws IOException {
        double seconds = Double.parseDouble(args[1]);
        long wanted = Long.parseLong(args[2]);
        Problems problems = new Problems();
        Map<String, Sum> sums = sum(Path.of(args[0]));
        Map<String, Long> threads = new TreeMap<>();
        sums.forEach((thread, sum) -> {
            String kind = thread.replaceAll("-.*", "");
            /* How long main takes until it runs is up to the machine. */
            double wholeNs = kind.equals("main") ? seconds * 1e9 : sum.ns;
            threads.merge(kind, 1L, Long::sum);
            problems.addUnless(sum.ns >= RIGHT * seconds * 1e9, "%s: %.3f s in %d turns of %.1f s",
                    thread, sum.ns / 1e9, sum.turns, seconds);
            problems.addUnless(sum.placedNs >= RIGHT * wholeNs, "%s: %.3f of %.3f s in %s", thread,
                    sum.placedNs / 1e9, sum.ns / 1e9, METHODS.get(kind));
            problems.addUnless(sum.statedNs >= RIGHT * wholeNs, "%s: %.3f of %.3f s in %s", thread,
                    sum.statedNs / 1e9, sum.ns / 1e9, STATES.get(kind));
        });
        problems.addUnless(threads.equals(Map.of("park", wanted, "block", 1L, "await", 1L, "main",
                                   1L)),
                "threads of the workload: %s", threads);
        problems.finish(String.format("%d threads", sums.size()));
    }

    private static Map<String, Sum> sum(Path file) throws IOException {
        Map<String, Sum> sums = new HashMap<>();
        try (RecordingFile recording = new RecordingFile(file)) {
            while (recording.hasMoreEvents()) {
                RecordedEvent event = recording.readEvent();
                String thread = Samples.isWall(event) ? Samples.threadName(event) : "";
                String kind = thread.replaceAll("-.*", "");
                if (!METHODS.containsKey(kind)) {
                    continue;
                }
                Sum sum = sums.computeIfAbsent(thread, name -> new Sum());
                long ns = Samples.wallTime(event);
                sum.turns += Samples.turns(event);
                sum.ns += ns;
                sum.statedNs += STATES.get(kind).equals(event.getString("state")) ? ns : 0;
                for (RecordedFrame frame : Samples.frames(event)) {
                    if (METHODS.get(kind).equals(Samples.name(frame))) {
                        sum.placedNs += ns;
                        break;
                    }
                }
            }
        }
        return sums;
    }
}
