import java.util.List;
import java.util.Set;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;

/** Frames that say why there is no better frame: "[GC active]". */
final class Marks {
    /** Walks that HotSpot refuses while it moves objects. */
    static final String GC_ACTIVE = "[GC active]";
    /** Walks that it refuses while the thread is blocked inside it. */
    static final Set<String> BLOCKED_IN_VM =
            Set.of("[unknown, not in Java]", "[not walkable, not in Java]");
    /** Marks inside a stack that is otherwise whole. */
    private static final Set<String> NOT_FAILURES =
            Set.of("[unreadable method]", "[truncated]", "[unknown native code]", "[native frames missing]", "[virtual thread]",
                    "[thawing]", "[freezing]", "[unpacking]", "[handed over]");

    private Marks() {
    }

    /** Text of a mark; null for a frame that stands for code: functions of the kernel's library that it gives no names bear the library's. */
    static String textOf(RecordedFrame frame) {
        if (frame.getMethod() == null || frame.getMethod().getName() == null) {
            return null;
        }
        String name = frame.getMethod().getName();
        return name.startsWith("[") && name.endsWith("]") && !name.equals("[vdso]") ? name : null;
    }

    /**
     * Why the Java walk of this sample failed; null when it did not. The mark stands where the Java
     * frames would, below those of native code.
     */
    static String failure(RecordedEvent sample) {
        List<RecordedFrame> frames = Samples.frames(sample);
        for (RecordedFrame frame : frames) {
            String text = textOf(frame);
            if (text != null && !NOT_FAILURES.contains(text)) {
                return text;
            }
        }
        return frames.isEmpty() ? "no stack" : null;
    }
}
