import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * A recording with overhead=: intervals were stretched, every change is told and follows from the one before, none is below
 * what was asked; and the weights are true whatever the interval was: all of them are what the ledger has, and not
 * more than all clocks say.
 *
 *     java Overhead recording ASKED_US ASKED_WALL_US BUDGET_PCT LEAST_STRETCH
 */
final class Overhead {
    private Overhead() {
    }

    private static final class Sums {
        long used;
        long weights;
    }

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        long asked = Long.parseLong(args[1]) * 1000;
        long askedWall = Long.parseLong(args[2]) * 1000;
        double budget = Double.parseDouble(args[3]) / 100;
        long cpu = asked;
        long wall = askedWall;
        long longest = 0;
        int changes = 0;
        long told = 0;
        long weights = 0;
        long forgotten = 0;
        RecordedEvent cost = null;
        Map<String, Sums> threads = new HashMap<>();
        try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                switch (event.getEventType().getName()) {
                case "jaywalk.IntervalChange":
                    problems.addUnless(event.getLong("from") == cpu && event.getLong("fromWall") == wall,
                            "a change from %d and %d, not from %d and %d", event.getLong("from"),
                            event.getLong("fromWall"), cpu, wall);
                    problems.addUnless(Math.abs(event.getFloat("budget") - budget) < 1e-6,
                            "budget %f, not %f", event.getFloat("budget"), budget);
                    cpu = event.getLong("to");
                    wall = event.getLong("toWall");
                    problems.addUnless(cpu >= asked && wall >= askedWall, "%d and %d are below what was asked",
                            cpu, wall);
                    longest = Math.max(longest, asked != 0 ? cpu / asked : wall / askedWall);
                    changes++;
                    break;
                case "jaywalk.SelfCost":
                    cost = event;
                    problems.addUnless(event.getLong("interval") == cpu && event.getLong("wallInterval") == wall,
                            "intervals %d and %d in force, %d and %d told", event.getLong("interval"),
                            event.getLong("wallInterval"), cpu, wall);
                    break;
                case "jaywalk.ThreadCPU":
                    told += event.getLong("sampledTime");
                    if (event.getThread("eventThread") == null) {
                        forgotten += event.getLong("cpuTime"); /* it ended, and its name was forgotten */
                        break;
                    }
                    Sums sums = sums(threads, event.getThread("eventThread").getOSThreadId());
                    sums.used += event.getLong("cpuTime");
                    break;
                default:
                    if (Samples.isSample(event)) {
                        weights += Samples.weight(event);
                        sums(threads, Samples.thread(event).getOSThreadId()).weights +=
                                Samples.weight(event);
                    }
                }
            }
        }
        problems.addUnless(cost != null, "no jaywalk.SelfCost");
        problems.addUnless(changes > 0, "no interval was changed");
        problems.addUnless(longest >= Long.parseLong(args[4]), "stretched %d times at the most", longest);
        problems.addUnless(told == weights, "%d ns by samples, %d told", weights, told);
        long used = 0;
        long sampled = 0;
        for (Map.Entry<String, Sums> thread : named(threads).entrySet()) {
            Sums sums = thread.getValue();
            problems.addUnless(sums.weights <= sums.used + forgotten, "thread %s: %d ns by samples, %d by its clock", thread.getKey(),
                    sums.weights, sums.used);
            used += sums.used;
            sampled += sums.weights;
        }
        problems.addUnless(sampled <= used + forgotten, "%d ns by all samples, %d by all clocks", sampled, used + forgotten);
        problems.finish(String.format("%d changes, stretched %d times at the most; %.1f %% of the CPU time sampled; "
                        + "cost %.2f %%",
                changes, longest, used == 0 ? 0 : 100.0 * sampled / used,
                cost == null ? 0 : 100 * cost.getFloat("share")));
    }

    private static Sums sums(Map<String, Sums> threads, long tid) {
        return threads.computeIfAbsent(Long.toString(tid), key -> new Sums());
    }

    /** Threads that were sampled: of the others, ours among them, there is nothing to compare. */
    private static Map<String, Sums> named(Map<String, Sums> threads) {
        Map<String, Sums> sampled = new HashMap<>(threads);
        sampled.values().removeIf(sums -> sums.weights == 0);
        return sampled;
    }
}
