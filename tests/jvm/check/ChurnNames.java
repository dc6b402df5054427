import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;

/**
 * Checks the names of the workload Churn: m123 belongs to C123 and to its line, and nothing else
 * has such a name.
 *
 *     java ChurnNames recording
 */
final class ChurnNames {
    private static final Pattern TYPE = Pattern.compile("C(\\d+)");
    private static final Pattern METHOD = Pattern.compile("m(\\d+)");
    private static final int LEAST_FRAMES = 25; /* fewer would prove nothing */
    private static final double MAX_UNREADABLE = 0.001;

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        long right = 0;
        long unreadable = 0;
        long frames = 0;
        for (RecordedEvent sample : Samples.read(Path.of(args[0]))) {
            for (RecordedFrame frame : Samples.frames(sample)) {
                frames++;
                unreadable += "[unreadable method]".equals(Marks.textOf(frame)) ? 1 : 0;
                Matcher type = TYPE.matcher(frame.getMethod().getType().getName());
                Matcher method = METHOD.matcher(frame.getMethod().getName());
                boolean isOurType = type.matches();
                boolean isOurMethod = method.matches();
                if (isOurType && isOurMethod) {
                    right++;
                    problems.addUnless(
                            type.group(1).equals(method.group(1)), "%s", Samples.name(frame));
                    checkLine(frame, Integer.parseInt(type.group(1)), problems);
                } else if (isOurType) {
                    problems.addUnless(frame.getMethod().getName().matches("run|<init>"), "%s",
                            Samples.name(frame));
                    checkLine(frame, Integer.parseInt(type.group(1)), problems);
                } else {
                    problems.addUnless(!isOurMethod, "%s", Samples.name(frame));
                }
            }
        }
        problems.addUnless(right >= LEAST_FRAMES, "only %d frames of short-lived classes", right);
        problems.addUnless(unreadable <= MAX_UNREADABLE * frames, "%d of %d frames unreadable",
                unreadable, frames);
        problems.finish(String.format(
                "%d frames, %d of short-lived methods, %d unreadable", frames, right, unreadable));
    }

    /** Each method has the one line that follows from its number. */
    private static void checkLine(RecordedFrame frame, int number, Problems problems) {
        int line = frame.getLineNumber();
        problems.addUnless(line == number % 60_000 + 1, "%s: line %d", Samples.name(frame), line);
    }
}
