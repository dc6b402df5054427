import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * The stacks of a recording of Frozen: wherever frames lay, a stack of its work shows each call once and in its order, down to
 * the entry of the virtual thread.
 *
 *     java FrozenStacks recording WHOLE|MARKED
 *
 * WHOLE: at least 99.5 % of the samples of CPU time of virtual threads are whole: they end at the entry of the thread. Those of
 * the wall clock are, too, but for threads that wait for the collector while it moves their frames: such a stack ends in a mark. MARKED, where the JVM's objects cannot be read: what is not whole ends in a mark that says so,
 * and what comes before it is right.
 */
final class FrozenStacks {
    private static final String ENTRY = "jdk.internal.vm.Continuation.enter";
    private static final String MARK = "[frozen]";
    private static final int CALLS = 8;

    private final Problems problems = new Problems();
    private final long[] samples = new long[CALLS];
    private long all;
    private long marked;
    private long broken;
    private long waiting;
    private boolean isWhole;

    public static void main(String[] args) throws IOException {
        FrozenStacks checker = new FrozenStacks();
        checker.isWhole = args[1].equals("WHOLE");
        checker.run(Path.of(args[0]));
    }

    private void run(Path recording) throws IOException {
        for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
            RecordedThread thread = Samples.isSample(event) || Samples.isWall(event) ? Samples.thread(event) : null;
            if (thread != null && thread.getBoolean("virtual")) {
                take(event);
            }
        }
        problems.addUnless(all >= 1000, "there are %d samples of virtual threads alone", all);
        for (int i = 0; i < CALLS; i++) {
            problems.addUnless(samples[i] > 0, "no sample is of work under call%d", i);
        }
        long missing = isWhole ? marked + broken : broken;
        problems.addUnless(missing <= 0.005 * all, "of %d stacks of virtual threads %d are not whole", all, missing);
        problems.addUnless(isWhole || marked > 0, "no stack says that frames lie in the heap");
        problems.finish(String.format("%d samples of virtual threads, %d end in %s, %d are broken; %d more wait for the collector",
                all, marked, MARK, broken, waiting));
    }

    private void take(RecordedEvent event) {
        List<String> names = new ArrayList<>();
        for (RecordedFrame frame : Samples.frames(event)) {
            names.add(Samples.name(frame));
        }
        String outermost = names.get(names.size() - 1);
        boolean isMarked = outermost.endsWith(MARK);
        if (isMarked && isWhole && Samples.isWall(event)) {
            waiting++;
            problems.addUnless(!names.get(0).startsWith("Frozen."), "a thread that works waits for the collector: %s", names);
            return;
        }
        all++;
        if (isMarked) {
            marked++;
        } else if (!outermost.equals(ENTRY)) {
            broken++;
            System.out.println("broken: " + names);
        }
        int work = names.indexOf("Frozen.work");
        if (work < 0) {
            return;
        }
        problems.addUnless(isMarked || outermost.equals(ENTRY), "work that no virtual thread does: %s", names);
        int depth = takeCalls(names, work + 1, isMarked);
        if (depth >= 0) {
            samples[depth]++;
        }
    }

    /** Number of the call that works; -1 where the stack ends before any. */
    private int takeCalls(List<String> names, int from, boolean isMarked) {
        int innermost = -1;
        int wanted = -1;
        for (int i = from; i < names.size(); i++) {
            String name = names.get(i);
            if (!name.startsWith("Frozen.call")) {
                boolean isEnd = isMarked ? i == names.size() - 1 || name.equals("Frozen.run") : name.equals("Frozen.run");
                problems.addUnless(isEnd && (isMarked || wanted == -1), "calls are missing: %s", names);
                return innermost;
            }
            int number = name.charAt(name.length() - 1) - '0';
            problems.addUnless(i == from || number == wanted, "calls are not in their order: %s", names);
            innermost = i == from ? number : innermost;
            wanted = number - 1;
        }
        return innermost;
    }
}
