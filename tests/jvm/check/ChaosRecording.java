import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * Reads the recording of a chaos cell once: signals = samples + losses by name in every chunk, hardly a frame without a
 * name, few signals lost. Prints what the table shows, `name: value`.
 *
 *     java ChaosRecording [--killed|--either] counters.def recording
 */
final class ChaosRecording {
    private static final double MAX_UNNAMED = 0.001;
    private static final double MAX_LOST = 0.01;

    public static void main(String[] args) throws IOException {
        int at = args[0].startsWith("--") ? 1 : 0;
        Counters counters = new Counters(Path.of(args[at]));
        Problems problems = new Problems();
        List<RecordedEvent> diagnostics = new ArrayList<>();
        long frames = 0;
        long unnamed = 0;
        long failed = 0;
        long stacks = 0;
        try (RecordingFile file = new RecordingFile(Path.of(args[at + 1]))) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                if (event.getEventType().getName().equals(Counters.EVENT)) {
                    diagnostics.add(event);
                } else if (Samples.isSample(event) || Samples.isWall(event)) {
                    stacks++;
                    failed += Samples.isSample(event) && Marks.failure(event) != null ? 1 : 0;
                    for (RecordedFrame frame : Samples.frames(event)) {
                        frames++;
                        unnamed += isUnnamed(frame) ? 1 : 0;
                    }
                }
            }
        }
        problems.addUnless(!diagnostics.isEmpty(), "no %s", Counters.EVENT);
        if (diagnostics.isEmpty()) {
            problems.finish("nothing counted");
        }
        diagnostics.sort(Comparator.comparing(RecordedEvent::getStartTime));
        for (int i = 0; i < diagnostics.size(); i++) {
            boolean isEnd = at == 0 && i == diagnostics.size() - 1;
            counters.check(diagnostics.get(i), isEnd, "diagnostics " + i, problems);
        }
        RecordedEvent last = diagnostics.get(diagnostics.size() - 1);
        long signals = last.getLong("signals");
        long lost = counters.losses(last);
        problems.addUnless(stacks > 0, "no sample");
        problems.addUnless(unnamed <= MAX_UNNAMED * frames, "%d of %d frames have no name", unnamed, frames);
        problems.addUnless(lost <= MAX_LOST * signals, "%d of %d signals lost", lost, signals);
        System.out.println("chunks: " + last.getLong("chunks"));
        System.out.println("signals: " + signals);
        System.out.println("samples: " + last.getLong("samples"));
        System.out.println("lost: " + lost);
        System.out.println("stacks: " + stacks);
        System.out.println("without a Java stack: " + failed);
        System.out.println("frames: " + frames);
        System.out.println("unnamed: " + unnamed);
        problems.finish("read whole");
    }

    private static boolean isUnnamed(RecordedFrame frame) {
        String mark = Marks.textOf(frame);
        return "[unreadable method]".equals(mark) || Samples.name(frame).equals("?")
                || frame.getMethod().getName().isEmpty();
    }
}
