import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * What a recording of Pinned, by both clocks, says of virtual threads that cannot leave their carrier.
 *
 *     java PinnedThreads recording account MAJOR MAX_POINTS WALL_MS
 *
 * Each stack of work and of waiting is whole, from there through what pins it down to the entry of the thread, and is of
 * the thread whose it is; each thread's share of the CPU time is within MAX_POINTS percentage points of the truth. The wall clock
 * sees the time for which a thread waits where it is pinned, and next to none of what waits elsewhere. Where turns of it (one in
 * WALL_MS) came late together, nobody knows when in between a wait began or ended; and the time for which a thread was starved
 * that takes its signal when it begins to wait counts for where it takes it: bounds are wider by that much. Up to JDK 23 the JVM does
 * not tell who it is that waits: such time counts for the carrier, on the same stack. In the JDK's own code that begins a wait
 * it says there that nobody is mounted, and what lies in the heap is not found: few stacks end in a mark.
 */
final class PinnedThreads {
    private static final String ENTRY = "jdk.internal.vm.Continuation.enter";
    /** Of the time that it waits, as with other threads; and at most so much more, or of what is not there. */
    private static final double SEEN = 0.9;
    private static final double MORE = 0.1;
    private static final Map<String, List<String>> THROUGH = Map.of(
            "native", List.of("Pinned.work", "Pinned.calledBack", "Pinned.callBack", "Pinned.run"),
            "initialiser", List.of("Pinned.work", "Pinned$Initialised.<clinit>", "Pinned.run"),
            "monitor", List.of("Pinned.work", "Pinned.locked", "Pinned.run"),
            "free", List.of("Pinned.work", "Pinned.run"));

    private record Told(String kind, long usedNs, long waitedNs, long starvedNs) {
    }

    private final Problems problems = new Problems();
    private final Map<Long, Told> told = new HashMap<>();
    private final Map<String, Long> usedNs = new TreeMap<>();
    private final Map<String, Long> waitedNs = new TreeMap<>();
    private boolean isAlwaysTold;
    private long work;
    private long frozen;

    public static void main(String[] args) throws IOException {
        new PinnedThreads().run(Path.of(args[0]), Path.of(args[1]), Integer.parseInt(args[2]), Double.parseDouble(args[3]),
                Long.parseLong(args[4]) * 1_000_000);
    }

    private void run(Path recording, Path account, int major, double maxPoints, long wallNs) throws IOException {
        isAlwaysTold = major >= 24;
        for (String line : Files.readAllLines(account)) {
            String[] words = line.split(" ");
            if (words[0].equals("pinned")) {
                told.put(Long.parseLong(words[2]), new Told(words[1], Long.parseLong(words[3]), Long.parseLong(words[4]),
                        Long.parseLong(words[5])));
            }
        }
        long lateTurns = 0;
        for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
            if (Samples.isSample(event) || Samples.isWall(event)) {
                take(event);
            } else if (event.getEventType().getName().equals(Counters.EVENT)) {
                lateTurns = event.getLong("wallLate");
            }
        }
        checkShares(maxPoints);
        for (Told thread : told.values()) {
            boolean isSeen = thread.kind.equals("native") || thread.kind.equals("initialiser")
                    || (thread.kind.equals("monitor") && !isAlwaysTold);
            double seen = waitedNs.getOrDefault(thread.kind, 0L) / (double) thread.waitedNs;
            double late = (double) lateTurns * wallNs / thread.waitedNs;
            double starved = (double) thread.starvedNs / thread.waitedNs;
            System.out.printf("%s: waited %.3f s, the wall clock saw %.1f %%; turns that came late are %.1f %%, starved it was for %.1f %%%n",
                    thread.kind, thread.waitedNs / 1e9, 100 * seen, 100 * late, 100 * starved);
            problems.addUnless(seen >= (isSeen ? SEEN - late : 0) && seen <= (isSeen ? 1 : 0) + MORE + late + starved,
                    "%s waited %.3f s, of which the wall clock saw %.1f %%", thread.kind, thread.waitedNs / 1e9, 100 * seen);
        }
        problems.addUnless(told.size() == THROUGH.size(), "the program told of %d threads", told.size());
        problems.addUnless(work >= 200, "there are %d samples of work alone", work);
        problems.addUnless(frozen <= 0.02 * work, "%d stacks end in [frozen], %d show work", frozen, work);
        problems.finish(String.format("%d samples of work, %d stacks end in [frozen]", work, frozen));
    }

    private void checkShares(double maxPoints) {
        double allUsedNs = told.values().stream().mapToLong(Told::usedNs).sum();
        double allSampledNs = usedNs.values().stream().mapToLong(Long::longValue).sum();
        for (Told thread : told.values()) {
            double used = 100 * thread.usedNs / allUsedNs;
            double share = 100 * usedNs.getOrDefault(thread.kind, 0L) / allSampledNs;
            System.out.printf("%s: CPU %.2f %%, samples %.2f %%%n", thread.kind, used, share);
            problems.addUnless(Math.abs(used - share) <= maxPoints, "%s used %.2f %% of CPU, samples say %.2f %%",
                    thread.kind, used, share);
        }
    }

    private void take(RecordedEvent sample) {
        List<String> names = Samples.frames(sample).stream().map(Samples::name).toList();
        boolean isWait = names.contains("Pinned.await");
        if (!names.contains("Pinned.work")) {
            return;
        }
        String kind = kindOf(names);
        RecordedThread thread = Samples.thread(sample);
        Told whose = told.get(thread.getJavaThreadId());
        if (!isAlwaysTold && whose == null && names.stream().anyMatch(name -> name.endsWith("[frozen]"))) {
            frozen++;
            return;
        }
        /* There the JDK's code that begins a wait runs as the carrier, whose own frames stand below. */
        int border = names.indexOf("jaywalk.[virtual thread]");
        if (!isAlwaysTold && whose == null && border > 0) {
            problems.addUnless(names.get(border - 1).equals(ENTRY), "above the border a stack is not whole: %s", names);
            return;
        }
        problems.addUnless(!kind.isEmpty() && names.get(names.size() - 1).equals(ENTRY), "a stack is not whole: %s", names);
        /* Up to JDK 23 it is told where the thread runs Java or the JVM alone: not in native code, nor where it stands still. */
        boolean isUntold = !isAlwaysTold
                && (isWait || Samples.topJavaFrame(Samples.frames(sample)) > 0 || names.get(0).equals("CarrierClock.cpuNs"));
        problems.addUnless(whose != null ? whose.kind.equals(kind) : isUntold, "work of \"%s\" counts for %s: %s", kind,
                thread.getJavaName(), names);
        if (!Samples.isWall(sample)) {
            work++; /* and what a late signal found waiting already */
            usedNs.merge(kind, Samples.weight(sample), Long::sum);
        } else if (isWait) {
            waitedNs.merge(kind, Samples.wallTime(sample), Long::sum);
        }
    }

    /** Which of them this is; "": none, as calls are missing. */
    private static String kindOf(List<String> names) {
        List<String> own = names.stream().filter(name -> name.startsWith("Pinned") && !name.equals("Pinned.await")).toList();
        return THROUGH.entrySet().stream().filter(each -> each.getValue().equals(own)).map(Map.Entry::getKey).findFirst()
                .orElse("");
    }
}
