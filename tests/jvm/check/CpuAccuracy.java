import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;

/**
 * Compares the weighted samples of each thread with the CPU that the kernel says it used.
 *
 *     java CpuAccuracy recording accounts names...
 *
 * The accounts have lines "cpu TID NANOSECONDS NAME". Each thread with a second of CPU or more must
 * be within 3 %; threads called `names` must be among them.
 */
final class CpuAccuracy {
    private static final double TOLERANCE = 0.03;
    private static final long COUNTED_NS = 1_000_000_000L;

    public static void main(String[] args) throws IOException {
        Map<Long, Long> sampledNs = new HashMap<>();
        Map<Long, Long> sampleCounts = new HashMap<>();
        for (RecordedEvent sample : Samples.read(Path.of(args[0]))) {
            long tid = Samples.thread(sample).getOSThreadId();
            sampledNs.merge(tid, Samples.weight(sample), Long::sum);
            sampleCounts.merge(tid, 1L, Long::sum);
        }
        Problems problems = new Problems();
        java.util.Set<String> missing =
                new java.util.TreeSet<>(java.util.Arrays.asList(args).subList(2, args.length));
        for (String line : Files.readAllLines(Path.of(args[1]))) {
            String[] words = line.split(" ", 4);
            if (!words[0].equals("cpu")) {
                continue;
            }
            long tid = Long.parseLong(words[1]);
            long usedNs = Long.parseLong(words[2]);
            long seenNs = sampledNs.getOrDefault(tid, 0L);
            double error = (double) seenNs / usedNs - 1;
            if (usedNs >= COUNTED_NS) {
                System.out.printf("%-16s used %5d ms, sampled %5d ms in %4d samples: %+.2f %%%n",
                        words[3], usedNs / 1_000_000, seenNs / 1_000_000,
                        sampleCounts.getOrDefault(tid, 0L), 100 * error);
                missing.remove(words[3]);
                problems.addUnless(Math.abs(error) <= TOLERANCE,
                        "%s used %d ms of CPU, samples say %d ms", words[3], usedNs / 1_000_000,
                        seenNs / 1_000_000);
            }
        }
        problems.addUnless(missing.isEmpty(), "no second of CPU was used by %s", missing);
        problems.finish(sampledNs.size() + " threads sampled");
    }
}
