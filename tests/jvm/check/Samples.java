import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/** The samples of a recording, as the checkers want them. */
final class Samples {
    static final String JAVA = "jdk.ExecutionSample";
    static final String NATIVE = "jdk.NativeMethodSample";
    static final String WALL = "jaywalk.WallClockSample";
    static final String COUNTER = "jaywalk.CounterSample";
    private static final Set<String> JAVA_FRAMES =
            Set.of("Interpreted", "JIT compiled", "Inlined", "Native");

    private Samples() {
    }

    /** Of the CPU clock, or of what is counted instead. */
    static boolean isSample(RecordedEvent event) {
        String type = event.getEventType().getName();
        return type.equals(NATIVE) || type.equals(COUNTER) || (type.equals(JAVA) && !isWall(event));
    }

    /** Of the wall clock: batched, or a plain sample that stands for no CPU time. */
    static boolean isWall(RecordedEvent event) {
        String type = event.getEventType().getName();
        return type.equals(WALL) || (type.equals(JAVA) && event.getLong("weight") == 0);
    }

    /** Turns of the wall clock that such an event stands for. */
    static long turns(RecordedEvent wall) {
        return wall.hasField("samples") ? wall.getInt("samples") : 1;
    }

    /** Nanoseconds of a thread's time that such an event stands for. */
    static long wallTime(RecordedEvent wall) {
        return wall.getLong(wall.hasField("timeSpan") ? "timeSpan" : "wallTime");
    }

    static List<RecordedEvent> read(Path file) throws IOException {
        List<RecordedEvent> samples = new ArrayList<>();
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            if (isSample(event)) {
                samples.add(event);
            }
        }
        return samples;
    }

    /** Nanoseconds of CPU that the sample stands for, or what was counted. */
    static long weight(RecordedEvent sample) {
        return sample.getLong(sample.hasField("count") ? "count" : "weight");
    }

    static RecordedThread thread(RecordedEvent sample) {
        return sample.getThread("sampledThread");
    }

    static String threadName(RecordedEvent sample) {
        RecordedThread thread = thread(sample);
        if (thread == null) {
            return "?";
        }
        return thread.getJavaName() != null ? thread.getJavaName()
                                            : String.valueOf(thread.getOSName());
    }

    static List<RecordedFrame> frames(RecordedEvent sample) {
        RecordedStackTrace trace = sample.getStackTrace();
        return trace == null ? List.of() : trace.getFrames();
    }

    /** "Stubs.kernelSort". Whatever is missing reads "?". */
    static String name(RecordedFrame frame) {
        RecordedMethod method = frame.getMethod();
        if (method == null) {
            return "?";
        }
        String type = method.getType() == null ? "?" : method.getType().getName();
        return type.isEmpty() ? method.getName() : type + "." + method.getName();
    }

    /** Name of a method of this class; null for other frames, and for a method that does not run but is compiled there. */
    static String methodOf(String className, RecordedFrame frame) {
        RecordedMethod method = frame.getMethod();
        boolean isOurs = method != null && method.getType() != null &&
                         className.equals(method.getType().getName()) &&
                         !"Compiling".equals(frame.getType());
        return isOurs ? method.getName() : null;
    }

    static boolean isJavaFrame(RecordedFrame frame) {
        return JAVA_FRAMES.contains(String.valueOf(frame.getType())) && Marks.textOf(frame) == null;
    }

    /** Index of the top frame that is of Java; -1 when there is none. */
    static int topJavaFrame(List<RecordedFrame> frames) {
        for (int i = 0; i < frames.size(); i++) {
            if (isJavaFrame(frames.get(i))) {
                return i;
            }
        }
        return -1;
    }

    /** Of a field that chunks have where there is something for it; 0 and null where they have not. */
    static long number(RecordedEvent event, String field) {
        return event.hasField(field) ? event.getLong(field) : 0;
    }

    static String text(RecordedEvent event, String field) {
        return event.hasField(field) ? event.getString(field) : null;
    }
}
