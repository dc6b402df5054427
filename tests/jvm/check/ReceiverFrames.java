import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;

/**
 * Checks the receivers that recordings of the workload Receivers show: each vtable or itable stub has one above
 * it, which is of the class that the caller says, and nothing else has one.
 *
 *     java ReceiverFrames recording...
 */
final class ReceiverFrames {
    private static final String TYPE = "Receiver";
    private static final Map<String, String> CLASSES = Map.of(
            "onCircle", "Receivers$Circle",
            "onSquare", "Receivers$Square",
            "onDeep9", "Receivers$Deep9",
            "onLambda", "Receivers$$Lambda",
            "onArray", "[I");
    private static final int ENOUGH = 5;

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        StringBuilder told = new StringBuilder();
        for (String file : args) {
            Map<String, Integer> counts = new TreeMap<>();
            for (RecordedEvent sample : Samples.read(Path.of(file))) {
                if (Samples.threadName(sample).equals("main") && Marks.failure(sample) == null) {
                    look(file, Samples.frames(sample), counts, problems);
                }
            }
            for (String stub : List.of("vtable stub", "itable stub")) {
                int sum = counts.entrySet().stream().filter(one -> one.getKey().startsWith(stub))
                        .mapToInt(Map.Entry::getValue).sum();
                problems.addUnless(sum >= ENOUGH, "%s: only %d samples in a %s", file, sum, stub);
            }
            told.append(file).append(' ').append(counts).append('\n');
        }
        problems.finish(told.toString());
    }

    private static void look(String file, List<RecordedFrame> frames, Map<String, Integer> counts,
            Problems problems) {
        String stub = null;
        for (int i = 0; i < frames.size(); i++) {
            String method = String.valueOf(frames.get(i).getMethod().getName());
            if (method.equals("vtable stub") || method.equals("itable stub")) {
                stub = method;
                problems.addUnless(i == 1, "%s: a %s is frame %d", file, stub, i);
            }
            problems.addUnless(i == 0 || !frames.get(i).getType().equals(TYPE),
                    "%s: a receiver is frame %d", file, i);
        }
        boolean hasReceiver = frames.get(0).getType().equals(TYPE);
        problems.addUnless(hasReceiver == (stub != null), "%s: a receiver above %s, a stub %s", file,
                Samples.name(frames.get(0)), stub);
        if (!hasReceiver) {
            return;
        }
        problems.addUnless(frames.get(0).getMethod().getName().equals("<receiver>"),
                "%s: a receiver is called %s", file, frames.get(0).getMethod().getName());
        String found = frames.get(0).getMethod().getType().getName();
        String phase = phaseOf(frames);
        if (phase == null) {
            return; /* a call of the JDK's own */
        }
        String expected = CLASSES.get(phase);
        problems.addUnless(
                phase.equals("onLambda") ? found.startsWith(expected) : found.equals(expected),
                "%s: the receiver below %s is a %s", file, phase, found);
        counts.merge(stub + " " + phase, 1, Integer::sum);
    }

    private static String phaseOf(List<RecordedFrame> frames) {
        for (RecordedFrame frame : frames) {
            String method = Samples.methodOf("Receivers", frame);
            if (method != null && CLASSES.containsKey(method)) {
                return method;
            }
        }
        return null;
    }
}
