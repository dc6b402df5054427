import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * Reads the recordings of runs in which something was made to fail, and prints a line each: `NUMBER ok`, `NUMBER BADFILE
 * why` or `NUMBER SILENT what`.
 *
 *     java Injected counters.def list
 *
 * The list has lines "NUMBER SCENARIO SAID FILE". SAID: `yes`, the agent told of a failure; `no`; `late`, something took
 * long; `killed`. Number 0 is a run without a fault: what each such file of the scenario has, and a run that told
 * nothing lacks, is missing. Readable means what it means to Whole, with counters that add up in every chunk; after a
 * kill, or a failure that ended the recording, that the JDK reads the file to its end. Between the two writes that end a chunk its padding reaches into the
 * next one: then it is right in the file alone, and not by itself.
 */
final class Injected {
    /** Of the samples or frames of a run without a fault, the least that one with a fault must have. */
    private static final double LEAST = 0.25;

    /**
     * Event types that come by chance: what a short run had time for, what a collection of the heap or a thread that was late for a
     * safepoint left, and what a busy machine made the agent change.
     */
    private static final Set<String> BY_CHANCE = Set.of("jaywalk.WalkFailure", "jdk.CPULoad", "jdk.NativeMethodSample",
            "jdk.NetworkUtilization", "jdk.ThreadContextSwitchRate", "jdk.ThreadCPULoad", "jdk.ThreadStart", "jdk.ThreadEnd",
            "jdk.GarbageCollection", "jdk.YoungGarbageCollection", "jdk.OldGarbageCollection", "jdk.GCPhasePause",
            "jdk.GCHeapSummary", "jdk.MetaspaceSummary", "jaywalk.SafepointSample", "jaywalk.PollSample", "jaywalk.SafepointDelay",
            "jaywalk.SafepointBias", "jaywalk.IntervalChange");

    private static final class Contents {
        final Set<String> types = new TreeSet<>();
        final Set<String> counted = new TreeSet<>();
        double javaShare;
        double namedShare;
        double namedThreads;
    }

    public static void main(String[] args) throws IOException {
        Counters counters = new Counters(Path.of(args[0]));
        Map<String, Contents> right = new HashMap<>();
        for (String line : Files.readAllLines(Path.of(args[1]))) {
            String[] words = line.split(" ", 4);
            Path file = Path.of(words[3]);
            String kind = words[1] + " " + file.getFileName();
            List<String> why = new ArrayList<>();
            Contents contents = null;
            try {
                if (!words[2].equals("killed") && (!words[2].equals("yes") || Whole.endsFinal(file))) {
                    why.addAll(Whole.problemsOf(counters, file, isCopy(words[1], file)));
                }
                contents = read(counters, file, why);
            } catch (IOException | RuntimeException e) {
                why.add(e.toString());
            }
            if (!why.isEmpty()) {
                System.out.println(words[0] + " BADFILE " + file.getFileName() + " " + why.get(0));
            } else if (words[0].equals("0")) {
                right.merge(kind, contents, Injected::common);
            } else {
                String missing = words[2].equals("no") ? missing(right.get(kind), contents) : "";
                System.out.println(words[0] + (missing.isEmpty() ? " ok" : " SILENT " + missing));
            }
        }
    }

    /** Of a recording that goes on, by `dump`: a thread may be inside of a handler at that moment. */
    private static boolean isCopy(String scenario, Path file) {
        String name = file.getFileName().toString();
        return name.equals("y.jfr") || scenario.equals("chunks") && name.equals("z.jfr");
    }

    private static Contents common(Contents left, Contents right) {
        left.types.retainAll(right.types);
        left.javaShare = Math.min(left.javaShare, right.javaShare);
        left.namedShare = Math.min(left.namedShare, right.namedShare);
        left.namedThreads = Math.min(left.namedThreads, right.namedThreads);
        left.counted.addAll(right.counted);
        return left;
    }

    private static String missing(Contents right, Contents found) {
        if (right == null) {
            return "";
        }
        Set<String> counted = new TreeSet<>(found.counted);
        counted.removeAll(right.counted);
        Set<String> types = new TreeSet<>(right.types);
        types.removeAll(found.types);
        types.removeAll(BY_CHANCE);
        if (!counted.isEmpty()) { /* what is missing is told there */
            return "";
        }
        return (types.isEmpty() ? "" : "no " + types + " ") +
                lack("Java frames", right.javaShare, found.javaShare) +
                lack("names of frames", right.namedShare, found.namedShare) +
                lack("names of threads", right.namedThreads, found.namedThreads);
    }

    private static String lack(String what, double right, double found) {
        return found < right * LEAST ? String.format("%s %.2f, not %.2f ", what, found, right) : "";
    }

    private static Contents read(Counters counters, Path path, List<String> why) throws IOException {
        Contents contents = new Contents();
        Problems problems = new Problems();
        long samples = 0, withJava = 0, frames = 0, named = 0, threads = 0;
        try (RecordingFile file = new RecordingFile(path)) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                contents.types.add(event.getEventType().getName());
                if (event.getEventType().getName().equals(Counters.EVENT)) {
                    counters.check(event, false, "a chunk", problems);
                    for (ValueDescriptor field : event.getFields()) {
                        if (field.getTypeName().equals("long") && event.getLong(field.getName()) != 0) {
                            contents.counted.add(field.getName());
                        }
                    }
                }
                if (!Samples.isSample(event) && !Samples.isWall(event)) {
                    continue;
                }
                samples++;
                threads += Samples.thread(event) != null && Samples.thread(event).getJavaName() != null ? 1 : 0;
                boolean isJava = false;
                for (RecordedFrame frame : Samples.frames(event)) {
                    frames++;
                    named += Marks.textOf(frame) == null ? 1 : 0;
                    isJava |= Samples.isJavaFrame(frame);
                }
                withJava += isJava ? 1 : 0;
            }
        }
        why.addAll(problems.first());
        contents.javaShare = samples == 0 ? 0 : (double) withJava / samples;
        contents.namedShare = frames == 0 ? 0 : (double) named / frames;
        contents.namedThreads = samples == 0 ? 0 : (double) threads / samples;
        return contents;
    }
}
