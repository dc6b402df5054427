import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * Where stacks of virtual threads end, and those of their carriers.
 *
 *     java CarrierStacks recording WANTED|PLAIN vm|agct
 *
 * The stack of a virtual thread goes down to its entry. WANTED: below that stand the border and the carrier's frames down to
 * where the carrier starts. PLAIN: nothing does. A carrier's own stack goes down to its start, and has the border where
 * frames of a virtual thread lie on it. By our own walker at least 99.5 % are so; AsyncGetCallTrace leaves out what lies in the heap,
 * and then there is a mark, and of the others those are held to it that it gives.
 */
final class CarrierStacks {
    private static final String BORDER = "[virtual thread]";
    private static final String ENTRY = "jdk.internal.vm.Continuation.enter";
    private static final String FIRST = "jdk.internal.vm.Continuation.run";
    private static final String START = "java.util.concurrent.ForkJoinWorkerThread.run";
    private static final String FROZEN = "[frozen]";
    /** Marks that say nothing of where Java frames end; native ones are missing until rows of their library are there. */
    private static final Set<String> OURS = Set.of(BORDER, FROZEN, "[thawing]", "[freezing]", "[native frames missing]");

    private final Problems problems = new Problems();
    private final boolean isWanted;
    private final boolean isOwnWalker;
    private long virtual;
    private long carriers;
    private long both;
    private long frozen;
    private long notWhole;
    private long early;

    private CarrierStacks(boolean isWanted, boolean isOwnWalker) {
        this.isWanted = isWanted;
        this.isOwnWalker = isOwnWalker;
    }

    public static void main(String[] args) throws IOException {
        new CarrierStacks(args[1].equals("WANTED"), args[2].equals("vm")).run(Path.of(args[0]));
    }

    private void run(Path recording) throws IOException {
        for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
            RecordedThread thread = Samples.isSample(event) || Samples.isWall(event) ? Samples.thread(event) : null;
            if (thread != null && thread.getBoolean("virtual")) {
                takeVirtual(event, namesOf(event));
            } else if (thread != null && String.valueOf(thread.getJavaName()).startsWith("ForkJoinPool-1-worker-")) {
                takeCarrier(event, namesOf(event));
            }
        }
        long all = virtual + carriers;
        problems.addUnless(virtual >= 1000, "there are %d samples of virtual threads alone", virtual);
        problems.addUnless(carriers > 0, "no sample is of a carrier");
        problems.addUnless(!isOwnWalker || notWhole <= 0.005 * all, "of %d stacks %d are not whole", all, notWhole);
        problems.addUnless(early <= 0.01 * all, "of %d stacks %d end before the carrier's frames", all, early);
        problems.addUnless(isOwnWalker || frozen > 0, "no stack says that frames lie in the heap");
        problems.finish(String.format("%d stacks of virtual threads, %d of carriers, %d of them with frames of both; %d say %s, "
                + "%d are not whole", virtual, carriers, both, frozen, FROZEN, notWhole));
    }

    private static List<String> namesOf(RecordedEvent event) {
        return Samples.frames(event).stream().map(frame -> Marks.textOf(frame) != null ? Marks.textOf(frame) : Samples.name(frame))
                .toList();
    }

    /** A walk that failed shows a mark of its own. */
    private boolean isLost(List<String> names) {
        boolean isLost = names.stream().anyMatch(name -> name.startsWith("[") && !OURS.contains(name));
        notWhole += isLost ? 1 : 0;
        return isLost;
    }

    /** AsyncGetCallTrace may end before the frames in the heap as if all were told; a mark says that it does. */
    private boolean endsEarly(List<String> names) {
        boolean endsEarly = !isOwnWalker && isWanted && names.get(names.size() - 1).equals(FROZEN);
        early += endsEarly ? 1 : 0;
        return endsEarly;
    }

    private void takeVirtual(RecordedEvent event, List<String> names) {
        virtual++;
        if (isLost(names)) {
            return;
        }
        if (endsEarly(names)) {
            return;
        }
        int border = names.indexOf(BORDER);
        String outermost = names.get(border < 0 ? names.size() - 1 : border - 1);
        if (outermost.equals(FROZEN)) {
            frozen++;
            notWhole += isOwnWalker && Samples.isSample(event) ? 1 : 0; /* others wait for the collector */
        } else {
            problems.addUnless(outermost.equals(ENTRY), "a virtual thread's stack does not end at its entry: %s", names);
        }
        problems.addUnless(border >= 0 == isWanted, "a border is %s: %s", border < 0 ? "missing" : "not wanted", names);
        if (border >= 0) {
            takeBelow(names, border);
        }
    }

    private void takeBelow(List<String> names, int border) {
        problems.addUnless(names.lastIndexOf(BORDER) == border && names.size() > border + 1 && names.get(border + 1).equals(FIRST)
                && names.get(names.size() - 1).equals(START) && !names.subList(border, names.size()).contains(ENTRY)
                && !names.subList(0, border).contains(START), "below the border stand no carrier's frames: %s", names);
    }

    private void takeCarrier(RecordedEvent event, List<String> names) {
        carriers++;
        if (isLost(names) || endsEarly(names)) {
            return;
        }
        int border = names.indexOf(BORDER);
        if (border >= 0) {
            both++;
            takeBelow(names, border);
        } else {
            boolean isCut = !isOwnWalker && names.get(names.size() - 1).equals(FROZEN);
            problems.addUnless((isCut || names.get(names.size() - 1).equals(START)) && !names.contains(ENTRY),
                    "a carrier's stack does not end at its start: %s", names);
        }
    }
}
