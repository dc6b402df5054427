import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * What a recording of Virtuals says of virtual threads, held against what the program says.
 *
 *     java VirtualThreads recording account NAMES|NUMBERS MAX_POINTS
 *
 * Each sample of a virtual thread bears its number, no thread of the system, and a carrier that is one; under NAMES also its
 * name, which is empty where it has none, and under NUMBERS none. A name that no sample could tell yet, in native code, may
 * be missing before the first sample that has it, and hardly ever after: one of the wall clock may be told later than one of the CPU clock
 * that came after it. Each thread's share of the CPU time of all of them is
 * within MAX_POINTS percentage points of the truth, and what carriers have for themselves is little.
 */
final class VirtualThreads {
    private final Problems problems = new Problems();
    private final Map<Long, Long> usedNs = new TreeMap<>();
    private final Map<Long, String> names = new HashMap<>();
    private final Map<Long, Long> sampledNs = new HashMap<>();
    private final Map<Long, Instant> firstNamed = new HashMap<>();
    private final Map<Long, List<Instant>> nameless = new HashMap<>();
    private final Map<Long, Integer> samples = new HashMap<>();
    private long wallSamples;
    private long ofCarriersNs;

    public static void main(String[] args) throws IOException {
        new VirtualThreads().run(Path.of(args[0]), Path.of(args[1]), args[2].equals("NAMES"),
                Double.parseDouble(args[3]));
    }

    private void run(Path recording, Path account, boolean hasNames, double maxPoints) throws IOException {
        for (String line : Files.readAllLines(account)) {
            String[] words = line.split(" ");
            if (words[0].equals("virtual")) {
                long number = Long.parseLong(words[1]);
                int index = Integer.parseInt(words[3]);
                usedNs.put(number, Long.parseLong(words[2]));
                names.put(number, hasNames && index % 2 == 0 ? "request \u00e4 " + index : "");
            }
        }
        for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
            if (Samples.isSample(event) || Samples.isWall(event)) {
                take(event);
            }
        }
        nameless.forEach((number, times) -> {
            Instant first = firstNamed.getOrDefault(number, Instant.MIN);
            long after = times.stream().filter(time -> time.isAfter(first)).count();
            problems.addUnless(after <= samples.get(number) / 20, "virtual thread %d is called \"%s\", and has no name in %d of %d samples after that",
                    number, names.get(number), after, samples.get(number));
        });
        double allUsedNs = usedNs.values().stream().mapToLong(Long::longValue).sum();
        double allSampledNs = sampledNs.values().stream().mapToLong(Long::longValue).sum();
        for (Map.Entry<Long, Long> thread : usedNs.entrySet()) {
            double used = 100 * thread.getValue() / allUsedNs;
            double share = 100 * sampledNs.getOrDefault(thread.getKey(), 0L) / allSampledNs;
            System.out.printf("virtual thread %d \"%s\": CPU %5.2f %%, samples %5.2f %%%n", thread.getKey(),
                    names.get(thread.getKey()), used, share);
            problems.addUnless(Math.abs(used - share) <= maxPoints,
                    "virtual thread %d used %.2f %% of CPU, samples say %.2f %%", thread.getKey(), used, share);
        }
        problems.addUnless(wallSamples > 0, "no sample of the wall clock is of a virtual thread");
        problems.addUnless(ofCarriersNs <= 0.03 * allSampledNs, "carriers have %.3f s for themselves, virtual threads %.3f s",
                ofCarriersNs / 1e9, allSampledNs / 1e9);
        problems.finish(String.format("%.3f s of CPU time, %.3f s of samples, carriers %.3f s, %d wall samples",
                allUsedNs / 1e9, allSampledNs / 1e9, ofCarriersNs / 1e9, wallSamples));
    }

    private void take(RecordedEvent sample) {
        RecordedThread thread = Samples.thread(sample);
        RecordedThread carrier = sample.hasField("carrier") ? sample.getThread("carrier") : null;
        boolean isWall = Samples.isWall(sample);
        if (thread == null || !thread.getBoolean("virtual")) {
            problems.addUnless(carrier == null, "a platform thread has a carrier: %s", sample);
            if (thread != null && isCarrier(thread) && !isWall) {
                ofCarriersNs += Samples.weight(sample);
            }
            return;
        }
        long number = thread.getJavaThreadId();
        problems.addUnless(thread.getOSThreadId() <= 0, "a virtual thread is said to be one of the system: %s", thread);
        problems.addUnless(carrier != null && isCarrier(carrier) && carrier.getOSThreadId() > 0,
                "the carrier is %s", carrier);
        if (!names.containsKey(number)) {
            problems.add("no virtual thread has the number %d", number);
            return;
        }
        takeName(number, thread.getJavaName(), sample.getEndTime());
        if (isWall) {
            wallSamples++;
        } else {
            sampledNs.merge(number, Samples.weight(sample), Long::sum);
        }
    }

    private void takeName(long number, String name, Instant time) {
        String wanted = names.get(number);
        samples.merge(number, 1, Integer::sum);
        if (!wanted.isEmpty() && "".equals(name)) {
            nameless.computeIfAbsent(number, one -> new ArrayList<>()).add(time);
            return;
        }
        problems.addUnless(wanted.equals(name), "virtual thread %d is called \"%s\", not \"%s\"", number, name, wanted);
        firstNamed.merge(number, time, (a, b) -> a.isBefore(b) ? a : b);
    }

    private static boolean isCarrier(RecordedThread thread) {
        return thread.getJavaName() != null && thread.getJavaName().startsWith("ForkJoinPool-1-worker-");
    }
}
