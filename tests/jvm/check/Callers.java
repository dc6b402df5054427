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
    private static final double MAX_CUT = 0.001; /* an incomplete stack is bad, a false one worse */

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        long checked = 0;
        long cut = 0;
        for (RecordedEvent sample : Samples.read(Path.of(args[0]))) {
            if (!Samples.threadName(sample).startsWith("stubs-") || Marks.failure(sample) != null) {
                continue;
            }
            List<RecordedFrame> frames = Samples.frames(sample);
            int kernel = indexOfKernel(frames);
            if (kernel < 0) {
                continue;
            }
            checked++;
            Start start = startOf(frames.subList(kernel + 1, frames.size()));
            if (start == Start.CUT) {
                cut++;
                System.out.println("cut: " + text(frames));
            }
            problems.addUnless(start != Start.WRONG, "wrong callers: %s", text(frames));
            problems.addUnless(
                    isCallable(frames.subList(0, kernel)), "wrong callees: %s", text(frames));
        }
        problems.addUnless(checked >= 100, "only %d samples in kernels", checked);
        problems.addUnless(cut <= MAX_CUT * checked, "%d of %d stacks lack callers", cut, checked);
        problems.finish(String.format("%d stacks, %d of them lack callers", checked, cut));
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

    /** What lies below a kernel. */
    private enum Start {
        RIGHT,
        CUT, /* right as far as it goes */
        WRONG
    }

    private static Start startOf(List<RecordedFrame> frames) {
        int at = 0;
        while (at < frames.size() &&
                Samples.name(frames.get(at)).matches("Stubs\\$\\$Lambda.*|Stubs\\.lambda\\$.*")) {
            at++;
        }
        if (at == frames.size()) {
            return Start.CUT;
        }
        if (!Samples.name(frames.get(at)).equals("Stubs.run")) {
            return Start.WRONG;
        }
        int run = at++;
        while (at < frames.size() &&
                Samples.name(frames.get(at)).startsWith("java.lang.Thread.run")) {
            at++;
        }
        if (at < frames.size() && Samples.isJavaFrame(frames.get(at))) {
            return Start.WRONG;
        }
        return at > run + 1 ? Start.RIGHT : Start.CUT;
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
