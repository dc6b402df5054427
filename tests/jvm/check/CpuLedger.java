import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * The CPU ledger of a recording against the program's own account: it closes, every figure in it is that
 * of the samples and of the kernel, and what is unsampled stands where it belongs.
 *
 *     java CpuLedger recording accounts
 *
 * The accounts have lines "cpu TID NANOSECONDS NAME"; "short" and "process" are sums, and "unseen" is what the
 * program knows of no thread: how long a thread's way out takes is up to the machine. The agent looks at a
 * thread later than that one itself: what that look has more is missing behind the last looks. Names of short threads begin with "short-", those
 * of lasting ones with "lasting-".
 */
final class CpuLedger {
    /** So much of the process' CPU time may be of nobody, or of a thread's be told wrong. */
    private static final double TOLERANCE = 0.02;
    /** And so much beside what the program knows of no thread: what was used before its account began and after it. */
    private static final double UNSEEN_TOLERANCE = 0.005;
    /** A lasting thread's samples: some ticks may miss it. */
    private static final double SAMPLED_TOLERANCE = 0.03;
    /** What a short thread uses after it looked at its clock itself: the JVM's way out. */
    private static final double END_TOLERANCE = 0.05;

    private static final String[] LINES = {
        "sampledTime", "unsampledShortLived", "unsampledEnded", "unsampledLive", "unsampledRefused",
        "leftOutThreads", "ownThreads", "afterLastLook",
    };

    private static final class Sums {
        long usedNs, sampledNs, samples, threads;

        void add(RecordedEvent event, long count) {
            long used = event.getLong("cpuTime");
            long sampled = event.getLong("sampledTime");
            if (event.getLong("unsampledTime") != used - sampled) {
                throw new IllegalStateException("unsampled is not the difference: " + event);
            }
            usedNs += used;
            sampledNs += sampled;
            samples += event.getLong("samples");
            threads += count;
        }
    }

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        Map<String, Sums> told = new HashMap<>();
        Sums all = new Sums();
        long weightNs = 0;
        long samples = 0;
        RecordedEvent last = null;
        for (RecordedEvent event : RecordingFile.readAllEvents(Path.of(args[0]))) {
            String type = event.getEventType().getName();
            if (Samples.isSample(event)) {
                weightNs += Samples.weight(event);
                samples++;
            } else if (type.equals("jaywalk.ThreadCPU")) {
                RecordedThread thread = event.getThread("eventThread");
                told.computeIfAbsent(kind(thread), kind -> new Sums())
                        .add(event, event.getBoolean("ended") ? 1 : 0);
                all.add(event, 1);
            } else if (type.equals("jaywalk.ThreadsCPU")) {
                told.computeIfAbsent(kind(event.getString("name")), kind -> new Sums())
                        .add(event, event.getLong("ended"));
                all.add(event, event.getLong("threads"));
            } else if (type.equals("jaywalk.CPULedger")) {
                problems.addUnless(sum(event) == event.getLong("processTime"),
                        "lines add up to %d, not %d", sum(event), event.getLong("processTime"));
                last = event;
            }
        }
        if (last == null) {
            problems.add("no jaywalk.CPULedger");
            problems.finish("no ledger");
            return;
        }
        long process = last.getLong("processTime");
        for (String line : LINES) {
            System.out.printf("%-20s %10.3f ms %7.2f %%%n", line, last.getLong(line) / 1e6,
                    100.0 * last.getLong(line) / process);
        }
        problems.addUnless(all.sampledNs == weightNs && all.samples == samples,
                "threads' events say %d ns in %d samples, the samples %d in %d", all.sampledNs,
                all.samples, weightNs, samples);
        problems.addUnless(last.getLong("sampledTime") == weightNs,
                "the ledger says %d ns sampled, the samples %d", last.getLong("sampledTime"), weightNs);
        problems.addUnless(all.usedNs == process - last.getLong("afterLastLook"),
                "threads' events say %d ns, the ledger %d", all.usedNs,
                process - last.getLong("afterLastLook"));
        compare(problems, args[1], told, last);
        Sums brief = told.get("short");
        long gap = brief.usedNs - brief.sampledNs;
        System.out.printf("%d short threads, %d ms of CPU, %.1f %% sampled; residual %.2f %%%n",
                brief.threads, brief.usedNs / 1_000_000, 100.0 * brief.sampledNs / brief.usedNs,
                100.0 * last.getLong("afterLastLook") / process);
        near(problems, "short-lived threads' line", last.getLong("unsampledShortLived"), gap, process,
                TOLERANCE);
        problems.finish(samples + " samples");
    }

    private static long sum(RecordedEvent ledger) {
        long sum = 0;
        for (String line : LINES) {
            sum += ledger.getLong(line);
        }
        return sum;
    }

    private static String kind(RecordedThread thread) {
        if (thread == null) {
            return "unknown";
        }
        String name = thread.getJavaName();
        return kind(name != null ? name : String.valueOf(thread.getOSName()));
    }

    private static String kind(String name) {
        return name.startsWith("short-") ? "short" : name;
    }

    /** The workload's own figures: its process clock began a little later, its threads' ended earlier. */
    private static void compare(Problems problems, String accounts, Map<String, Sums> told,
            RecordedEvent ledger) throws IOException {
        long unseenNs = -1;
        long laterNs = 0; /* what the agent's looks have that the threads' own had not */
        for (String line : Files.readAllLines(Path.of(accounts))) {
            String[] words = line.split(" ", 4);
            if (!words[0].equals("cpu")) {
                continue;
            }
            long usedNs = Long.parseLong(words[2]);
            String name = words[3];
            if (name.equals("process")) {
                problems.addUnless(ledger.getLong("processTime") >= usedNs,
                        "the ledger has %d ns of the process, which used %d by then",
                        ledger.getLong("processTime"), usedNs);
            } else if (name.equals("unseen")) {
                unseenNs = usedNs;
            } else if (name.equals("short") || name.startsWith("lasting-")) {
                Sums sums = told.getOrDefault(name, new Sums());
                System.out.printf("%-12s used %d ms, told %d ms, sampled %d ms%n", name,
                        usedNs / 1_000_000, sums.usedNs / 1_000_000, sums.sampledNs / 1_000_000);
                laterNs += sums.usedNs - usedNs;
                problems.addUnless(sums.usedNs >= usedNs, "%s: told %d ns of %d", name, sums.usedNs,
                        usedNs);
                near(problems, name, sums.usedNs, usedNs, usedNs,
                        name.equals("short") ? END_TOLERANCE : TOLERANCE);
            }
            if (name.startsWith("lasting-") && told.containsKey(name)) {
                near(problems, name + " sampled", told.get(name).sampledNs, usedNs, usedNs,
                        SAMPLED_TOLERANCE);
            }
        }
        long restNs = ledger.getLong("afterLastLook");
        System.out.printf("%d us after the last looks; the threads' own leave %d us, and the agent's have %d us of that%n",
                restNs / 1000, unseenNs / 1000, laterNs / 1000);
        problems.addUnless(unseenNs >= 0, "the program does not say what it knows of no thread");
        problems.addUnless(restNs <= unseenNs - laterNs + UNSEEN_TOLERANCE * ledger.getLong("processTime"),
                "after the last look: %d us; the threads' own looks leave %d us, of which the agent's have %d us",
                restNs / 1000, unseenNs / 1000, laterNs / 1000);
    }

    private static void near(Problems problems, String what, long value, long wanted, long whole,
            double tolerance) {
        problems.addUnless(Math.abs(value - wanted) <= tolerance * whole,
                "%s: %d ms, not %d ms, within %.0f %% of %d ms", what, value / 1_000_000,
                wanted / 1_000_000, 100 * tolerance, whole / 1_000_000);
    }
}
