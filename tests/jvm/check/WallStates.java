import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Compares the wall-clock samples of threads that do one thing each with what they say of themselves.
 *
 *     java WallStates recording output-of-Waits
 *
 * Each thread's time is within 2 % of its life, of the turns of each kind 98 % show its state (90 % where the JVM
 * does not tell, JDK 8), and of ten turns, 10 ms each, at most one is a signal. Bounds are wider by how late a thread was in the
 * program at the most that wanted to run as often as the sampler.
 */
final class WallStates {
    private static final double TIME_TOLERANCE = 0.02;
    private static final long INTERVAL_NS = 10_000_000;
    private static final Map<String, String> STATES = Map.of(
            "running", "STATE_RUNNABLE", "sleeping", "STATE_SLEEPING", "parked", "STATE_PARKED",
            "waiting", "STATE_IN_OBJECT_WAIT", "blocked", "STATE_BLOCKED_ON_MONITOR_ENTER",
            "reading", "STATE_IN_NATIVE", "accepting", "STATE_IN_NATIVE", "selecting",
            "STATE_IN_NATIVE");

    public static void main(String[] args) throws IOException {
        Map<String, Long> timeNs = new HashMap<>();
        Map<String, Map<String, Long>> turns = new TreeMap<>();
        int major = 0;
        long signals = 0;
        long allTurns = 0;
        for (RecordedEvent event : RecordingFile.readAllEvents(Path.of(args[0]))) {
            if (event.getEventType().getName().equals("jdk.JVMInformation")) {
                major = event.getString("jvmVersion").contains("JRE (1.8") ? 8 : 9;
            }
            if (event.getEventType().getName().equals(Counters.EVENT)) {
                signals = Math.max(signals, event.getLong("wallSignals"));
                allTurns = Math.max(allTurns, event.getLong("wallTurns"));
            }
            if (!Samples.isWall(event)) {
                continue;
            }
            String name = Samples.threadName(event);
            String kind = name.split("-")[0];
            timeNs.merge(name, Samples.wallTime(event), Long::sum);
            if (STATES.containsKey(kind)) {
                turns.computeIfAbsent(kind, key -> new TreeMap<>())
                        .merge(event.getValue("state") == null ? "none" : state(event),
                                Samples.turns(event), Long::sum);
            }
        }
        Problems problems = new Problems();
        long lateNs = lateNs(Path.of(args[1]));
        checkStates(turns, timeNs.keySet(), major == 8 ? 0.90 : 0.98, lateNs, problems);
        int threads = checkTimes(timeNs, Path.of(args[1]), lateNs, problems);
        System.out.printf("%d signals for %d turns%n", signals, allTurns);
        problems.addUnless(allTurns > 0 && signals < allTurns / 10, "%d signals for %d turns", signals,
                allTurns);
        problems.finish(threads + " threads");
    }

    private static String state(RecordedEvent event) {
        Object state = event.getValue("state");
        return state instanceof String ? (String) state
                                       : ((jdk.jfr.consumer.RecordedObject) state).getString("name");
    }

    /** So much later than when it happened the sampler may see a thread begin, and as much later its end: as a thread was that does as it does. */
    private static long lateNs(Path lives) throws IOException {
        for (String line : Files.readAllLines(lives)) {
            if (line.startsWith("pace ")) {
                return Long.parseLong(line.split(" ")[1]);
            }
        }
        throw new IllegalStateException("no pace in " + lives);
    }

    /** Of a thread that has been woken to end, and is seen late, it is not known what it does. */
    private static void checkStates(Map<String, Map<String, Long>> turns, Set<String> threads, double share, long lateNs,
            Problems problems) {
        for (Map.Entry<String, String> expected : STATES.entrySet()) {
            Map<String, Long> seen = turns.getOrDefault(expected.getKey(), Map.of());
            long all = seen.values().stream().mapToLong(Long::longValue).sum();
            long right = seen.getOrDefault(expected.getValue(), 0L);
            long woken = threads.stream().filter(name -> name.startsWith(expected.getKey() + "-")).count() * lateNs / INTERVAL_NS;
            System.out.printf("%-10s %s, %d that may be late%n", expected.getKey(), seen, woken);
            problems.addUnless(all > 0 && right >= share * all - woken, "%s: %d of %d turns are %s",
                    expected.getKey(), right, all, expected.getValue());
        }
    }

    private static int checkTimes(Map<String, Long> timeNs, Path lives, long lateNs, Problems problems)
            throws IOException {
        int threads = 0;
        for (String line : Files.readAllLines(lives)) {
            String[] words = line.split(" ");
            if (!words[0].equals("life")) {
                continue;
            }
            long leastNs = Long.parseLong(words[1]);
            long mostNs = Long.parseLong(words[2]);
            long saidNs = timeNs.getOrDefault(words[3], 0L);
            threads++;
            problems.addUnless(leastNs > 0 && saidNs >= (1 - TIME_TOLERANCE) * leastNs - 2 * lateNs &&
                            saidNs <= (1 + TIME_TOLERANCE) * mostNs + 2 * lateNs,
                    "%s lived %d to %d ms, samples say %d ms", words[3], leastNs / 1_000_000,
                    mostNs / 1_000_000, saidNs / 1_000_000);
        }
        problems.addUnless(threads > 0, "no thread told of its life");
        return threads;
    }
}
