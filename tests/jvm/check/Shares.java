import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;

/**
 * Compares the share of samples below each method with the share of CPU that the program itself
 * measured for it.
 *
 *     java Shares recording shares THREAD_PREFIX MAX_FAILED_PCT [MAX_LATE_PCT]
 *
 * The shares have lines "share CLASS.METHOD NANOSECONDS". Each must be right within one percentage
 * point or 4.5 standard errors of so many samples, whichever is more. A failed walk may belong to
 * any method, so the share of those widens the bound downwards; it may not exceed MAX_FAILED_PCT,
 * and what has a stack but none of the methods on it may not exceed one percent beyond what the program says that it
 * used outside of them ("share elsewhere NANOSECONDS": to read a clock takes long on some machines). With MAX_LATE_PCT
 * signals may come late: what reads the clock behind a slice of a method calls the kernel, and takes there what was sent
 * before, after any method alike. How many do is up to the machine (5 % on a slow one, 9 % on a busy one), so samples in there
 * do not count, neither for a method nor against it, and shares are those of all others; of more than MAX_LATE_PCT
 * nothing could be said.
 */
final class Shares {
    private static final double LEAST_BOUND = 0.01;
    private static final double SIGMAS = 4.5;

    public static void main(String[] args) throws IOException {
        Map<String, Long> usedNs = new LinkedHashMap<>();
        long allUsedNs = 0;
        for (String line : Files.readAllLines(Path.of(args[1]))) {
            String[] words = line.split(" ");
            if (words[0].equals("share")) {
                usedNs.put(words[1], Long.parseLong(words[2]));
                allUsedNs += Long.parseLong(words[2]);
            }
        }
        long ownNs = usedNs.getOrDefault("elsewhere", 0L);
        usedNs.remove("elsewhere");
        double maxElsewhere = (double) ownNs / allUsedNs + 0.01;
        double maxLate = args.length > 4 ? Double.parseDouble(args[4]) / 100 : 0;
        Problems problems = new Problems();
        Map<String, Double> seen = new LinkedHashMap<>();
        double failed = 0;
        double elsewhere = 0;
        double late = 0;
        double sum = 0;
        double squares = 0;
        long count = 0;
        for (RecordedEvent sample : Samples.read(Path.of(args[0]))) {
            if (!Samples.threadName(sample).startsWith(args[2])) {
                continue;
            }
            double weight = Samples.weight(sample);
            String method = methodOn(sample, usedNs);
            count++;
            sum += weight;
            squares += weight * weight;
            if (method != null) {
                seen.merge(method, weight, Double::sum);
            } else if (Marks.failure(sample) != null) {
                failed += weight;
            } else if (maxLate > 0 && readsClock(sample)) {
                late += weight;
            } else {
                elsewhere += weight;
                System.out.println("elsewhere: " + topOf(sample));
            }
        }
        problems.addUnless(late <= maxLate * sum, "%.2f %% of samples are where the clock is read", 100 * late / sum);
        double effectiveCount = (sum - late) * sum / squares; /* of samples, were all of one weight */
        sum -= late;
        problems.addUnless(count > 0, "no samples of threads %s*", args[2]);
        problems.addUnless(!usedNs.isEmpty(), "no shares in %s", args[1]);
        for (Map.Entry<String, Long> method : usedNs.entrySet()) {
            double expected = (double) method.getValue() / allUsedNs;
            double share = seen.getOrDefault(method.getKey(), 0.0) / sum;
            double bound = Math.max(
                    LEAST_BOUND, SIGMAS * Math.sqrt(expected * (1 - expected) / effectiveCount));
            System.out.printf("%-32s CPU %6.2f %%, samples %6.2f %%, off by %+.2f of %.2f%n",
                    method.getKey(), 100 * expected, 100 * share, 100 * (share - expected),
                    100 * bound);
            problems.addUnless(share <= expected + bound &&
                                       share >= expected - bound - (failed + elsewhere) / sum,
                    "%s used %.2f %% of CPU, samples say %.2f %%", method.getKey(), 100 * expected,
                    100 * share);
        }
        problems.addUnless(failed / sum <= Double.parseDouble(args[3]) / 100,
                "%.2f %% of walks failed", 100 * failed / sum);
        problems.addUnless(elsewhere / sum <= maxElsewhere,
                "%.2f %% of samples have none of the methods on the stack", 100 * elsewhere / sum);
        problems.finish(String.format("%d samples, %.2f %% failed, %.2f %% elsewhere, %.2f %% late", count,
                100 * failed / sum, 100 * elsewhere / sum, 100 * late / (sum + late)));
    }

    private static String methodOn(RecordedEvent sample, Map<String, Long> methods) {
        for (RecordedFrame frame : Samples.frames(sample)) {
            String name = Samples.name(frame);
            if (methods.containsKey(name)) {
                return name;
            }
        }
        return null;
    }

    private static boolean readsClock(RecordedEvent sample) {
        return Samples.frames(sample).stream().anyMatch(frame -> Samples.name(frame).startsWith("Threads."));
    }

    private static String topOf(RecordedEvent sample) {
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
