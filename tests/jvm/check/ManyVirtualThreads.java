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
 * What a recording of ManyVirtuals says of ten thousand virtual threads, held against what the program says.
 *
 *     java ManyVirtualThreads recording account MAX_POINTS
 *
 * Each sample of a virtual thread bears the number of one of them, and where it runs Java its name. The share of each thread, and
 * that of each group, in the CPU time of all of them is within MAX_POINTS percentage points of the truth. Of the stacks
 * of all Java threads at least 99.5 % are whole: they end at the entry of the virtual thread or where the thread starts, and
 * show no mark, but where the JVM moves frames (in few); and no work is shown that is not under all of its calls.
 */
final class ManyVirtualThreads {
    private static final String ENTRY = "jdk.internal.vm.Continuation.enter";
    private static final String CALL = "ManyVirtuals.call";
    private static final int DEPTH = 8;

    private record Told(String group, String name, long usedNs) {
    }

    private final Problems problems = new Problems();
    private final Map<Long, Told> told = new HashMap<>();
    private final Map<Long, Long> threadNs = new HashMap<>();
    private final Map<String, Long> groupNs = new HashMap<>();
    private long stacks;
    private long broken;
    private long work;
    private long nameless;
    private long moving;

    public static void main(String[] args) throws IOException {
        new ManyVirtualThreads().run(Path.of(args[0]), Path.of(args[1]), Double.parseDouble(args[2]));
    }

    private void run(Path recording, Path account, double maxPoints) throws IOException {
        for (String line : Files.readAllLines(account)) {
            String[] words = line.split(" ", 5);
            if (words[0].equals("virtual")) {
                told.put(Long.parseLong(words[1]), new Told(words[3], words[4], Long.parseLong(words[2])));
            }
        }
        for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
            if (Samples.isSample(event)) {
                take(event);
            }
        }
        checkShares(maxPoints);
        problems.addUnless(told.size() >= 10_000, "the program told of %d threads", told.size());
        problems.addUnless(work >= 1000, "there are %d samples of work alone", work);
        problems.addUnless(broken <= 0.005 * stacks, "of %d stacks %d are not whole", stacks, broken);
        problems.addUnless(moving > 0, "no stack was taken while frames were moved");
        problems.addUnless(moving <= 0.01 * stacks, "of %d stacks %d were taken while frames were moved", stacks, moving);
        problems.finish(String.format("%d threads, of which %d have samples; %d stacks, %d not whole, of %d frames were being moved; "
                + "%d samples of other code without a name", told.size(), threadNs.size(), stacks, broken, moving, nameless));
    }

    private void checkShares(double maxPoints) {
        Map<String, Long> usedNs = new TreeMap<>();
        told.values().forEach(thread -> usedNs.merge(thread.group, thread.usedNs, Long::sum));
        double allUsedNs = usedNs.values().stream().mapToLong(Long::longValue).sum();
        double allSampledNs = groupNs.values().stream().mapToLong(Long::longValue).sum();
        usedNs.forEach((group, ns) -> {
            double used = 100 * ns / allUsedNs;
            double share = 100 * groupNs.getOrDefault(group, 0L) / allSampledNs;
            System.out.printf("%s: CPU %5.2f %%, samples %5.2f %%%n", group, used, share);
            problems.addUnless(Math.abs(used - share) <= maxPoints, "%s used %.2f %% of CPU, samples say %.2f %%", group,
                    used, share);
        });
        told.forEach((number, thread) -> {
            double used = 100 * thread.usedNs / allUsedNs;
            double share = 100 * threadNs.getOrDefault(number, 0L) / allSampledNs;
            problems.addUnless(Math.abs(used - share) <= maxPoints, "%s used %.2f %% of CPU, samples say %.2f %%",
                    thread.name, used, share);
        });
    }

    private void take(RecordedEvent sample) {
        RecordedThread thread = Samples.thread(sample);
        /* A method that is compiled does not run. */
        List<String> names = Samples.frames(sample).stream().filter(frame -> !"Compiling".equals(frame.getType()))
                .map(Samples::name).toList();
        if (thread == null || thread.getJavaThreadId() <= 0) {
            problems.addUnless(!names.contains(CALL), "work of a thread that is not Java's: %s", names);
            return;
        }
        boolean isVirtual = thread.getBoolean("virtual");
        stacks++;
        moving += names.stream().anyMatch(name -> name.endsWith("[thawing]") || name.endsWith("[freezing]")) ? 1 : 0;
        if (!isWhole(sample, names, isVirtual)) {
            broken++;
            System.out.println("not whole: " + thread.getJavaName() + " " + names);
        }
        if (names.contains("Virtuals.burn")) {
            work++;
            problems.addUnless(isVirtual, "work counts for a platform thread, %s: %s", thread.getJavaName(), names);
            problems.addUnless(names.stream().filter(CALL::equals).count() == DEPTH || !isWhole(sample, names, isVirtual),
                    "calls are missing: %s", names);
        }
        if (isVirtual) {
            takeVirtual(sample, thread);
        }
    }

    private void takeVirtual(RecordedEvent sample, RecordedThread thread) {
        Told wanted = told.get(thread.getJavaThreadId());
        if (wanted == null) {
            problems.add("no virtual thread has the number %d", thread.getJavaThreadId());
            return;
        }
        /* In native code, and where it waits inside the JVM, a name is known that an earlier sample told. */
        boolean isTold = !"".equals(thread.getJavaName()) && thread.getJavaName() != null;
        boolean isNative = sample.getEventType().getName().equals(Samples.NATIVE)
                || Samples.topJavaFrame(Samples.frames(sample)) != 0;
        nameless += isTold ? 0 : 1;
        problems.addUnless(isTold ? wanted.name.equals(thread.getJavaName()) : isNative,
                "virtual thread %d is called \"%s\", not \"%s\"", thread.getJavaThreadId(), thread.getJavaName(), wanted.name);
        threadNs.merge(thread.getJavaThreadId(), Samples.weight(sample), Long::sum);
        groupNs.merge(wanted.group, Samples.weight(sample), Long::sum);
    }

    private static boolean isWhole(RecordedEvent sample, List<String> names, boolean isVirtual) {
        if (Marks.failure(sample) != null) {
            return false;
        }
        String outermost = names.get(names.size() - 1);
        boolean isStart = outermost.endsWith(".run") || outermost.equals("ManyVirtuals.main");
        return isVirtual ? outermost.equals(ENTRY) : isStart;
    }
}
