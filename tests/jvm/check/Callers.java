import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;

/**
 * Checks the stacks of the workload Stubs frame by frame: below a kernel lie run() and the thread's
 * start, with nothing but lambda forms between; above it only what a kernel can call.
 *
 *     java Callers recording
 */
final class Callers {
    private static final String WORKLOAD = "Stubs";

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        long checked = 0;
        for (RecordedEvent sample : Samples.read(Path.of(args[0]))) {
            if (!Samples.threadName(sample).startsWith("stubs-") || Marks.failure(sample) != null) {
                continue;
            }
            List<RecordedFrame> frames = Samples.frames(sample);
            int kernel = indexOfKernel(frames);
            if (kernel >= 0) {
                checked++;
                problems.addUnless(isStart(frames, kernel + 1), "wrong callers: %s", text(frames));
                problems.addUnless(
                        isCallable(frames.subList(0, kernel)), "wrong callees: %s", text(frames));
            }
        }
        problems.addUnless(checked >= 100, "only %d samples in kernels", checked);
        problems.finish(checked + " stacks are right");
    }

    private static int indexOfKernel(List<RecordedFrame> frames) {
        for (int i = 0; i < frames.size(); i++) {
            String method = Samples.methodOf(WORKLOAD, frames.get(i));
            if (method != null && method.startsWith("kernel")) {
                return i;
            }
        }
        return -1;
    }

    private static boolean isStart(List<RecordedFrame> frames, int from) {
        int at = from;
        while (at < frames.size() &&
                Samples.name(frames.get(at)).matches("Stubs\\$\\$Lambda.*|Stubs\\.lambda\\$.*")) {
            at++;
        }
        if (at >= frames.size() || !Samples.name(frames.get(at)).equals("Stubs.run")) {
            return false;
        }
        at++;
        while (at < frames.size() &&
                Samples.name(frames.get(at)).startsWith("java.lang.Thread.run")) {
            at++;
        }
        return at > from + 1 && (at == frames.size() || !Samples.isJavaFrame(frames.get(at)));
    }

    private static boolean isCallable(List<RecordedFrame> frames) {
        for (RecordedFrame frame : frames) {
            String name = Samples.name(frame);
            boolean isOfJdk = name.matches("(java|javax|sun|com\\.sun|jdk)\\..*");
            boolean isOfWorkload = name.startsWith("Stubs$") || name.equals("Stubs.crypt") ||
                                   name.equals("Stubs.thrower");
            if (Samples.isJavaFrame(frame) && !isOfJdk && !isOfWorkload) {
                return false;
            }
        }
        return true;
    }

    private static String text(List<RecordedFrame> frames) {
        StringBuilder text = new StringBuilder();
        frames.forEach(frame -> text.append(Samples.name(frame)).append(" < "));
        return text.toString();
    }
}
