import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;

/**
 * Checks recordings of the workload Proof: stacks begin where their threads did, those of Java threads with the methods in which
 * the program began them, and hardly one has an end that nobody knows.
 *
 *     java Roots FEATURES recording...         FEATURES: mixed, or something else
 */
final class Roots {
    private static final double MAX_UNKNOWN_PCT = 1;

    private static final int ENOUGH = 40;

    private static final Set<String> KINDS = Set.of("gc", "compile", "deopt", "deflate", "crc", "aes", "jni", "socket");

    private static final String NATIVE_ROOT = "(__)?clone3?;|start_thread;|libc\\.so\\.6(\\+0x\\w+)?;|ld-musl[^;]*;";

    /** Run, or exit, which the JVM calls itself. */
    private static final String JAVA_ROOT = "java\\.lang\\.Thread\\.\\w+;";

    /** A thread that has not come to Java yet, or has left it for good. */
    private static final Pattern NOT_IN_JAVA = Pattern.compile("(?!.*(java\\.lang|Proof)).*");
    private static final Pattern UNKNOWN = Pattern.compile("\\[.*|.*\\+0x[0-9a-f]+");

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        StringBuilder told = new StringBuilder();
        for (int i = 1; i < args.length; i++) {
            told.append(look(args[i], args[0].equals("mixed"), problems)).append('\n');
        }
        problems.finish(told.toString());
    }

    /** From the first measured thread's start on: before, rows of libraries may be missing. */
    private static String look(String file, boolean isMixed, Problems problems) throws IOException {
        List<RecordedEvent> samples = Samples.read(Path.of(file));
        Instant since = samples.stream().filter(Roots::isMeasured).map(RecordedEvent::getStartTime).min(Instant::compareTo)
                .orElse(Instant.MAX);
        Pattern root = Pattern.compile(isMixed ? "(" + NATIVE_ROOT + ")+.*;" + JAVA_ROOT + ".*" : JAVA_ROOT + ".*");
        Map<String, Integer> counts = new TreeMap<>();
        List<String> unknown = new ArrayList<>();
        List<String> rootless = new ArrayList<>();
        int all = 0;
        int java = 0;
        for (RecordedEvent sample : samples) {
            if (sample.getStartTime().isBefore(since)) {
                continue;
            }
            List<String> names = names(sample);
            String stack = String.join(";", names) + ";";
            all++;
            if (names.isEmpty() || isUnknown(names.get(0)) || isUnknown(names.get(names.size() - 1))) {
                unknown.add(Samples.threadName(sample) + ": " + stack);
            }
            if (isMeasured(sample)) {
                java++;
                counts.merge(Samples.threadName(sample).substring("proof-".length()), 1, Integer::sum);
                if (!root.matcher(stack).matches() && !beginsOrEnds(stack)) {
                    rootless.add(String.format("%d ms on, %s: %s", Duration.between(since, sample.getStartTime()).toMillis(),
                            Samples.threadName(sample), stack));
                }
            }
        }
        unknown.forEach(stack -> System.out.println("unknown end: " + stack));
        rootless.forEach(stack -> System.out.println("no root: " + stack));
        for (String kind : KINDS) {
            problems.addUnless(counts.getOrDefault(kind, 0) >= ENOUGH, "%s: only %d samples of %s", file,
                    counts.getOrDefault(kind, 0), kind);
        }
        problems.addUnless(unknown.size() * 100.0 <= all * MAX_UNKNOWN_PCT, "%s: %d of %d stacks have an unknown end, such as %s",
                file, unknown.size(), all, unknown);
        problems.addUnless(rootless.isEmpty(), "%s: %d of %d stacks of Java threads do not reach their root, such as %s",
                file, rootless.size(), java, rootless);
        return file + ": " + all + " stacks, " + unknown.size() + " with an unknown end; of Java threads " + java + " " + counts + ", "
                + rootless.size() + " without their root";
    }

    private static boolean isMeasured(RecordedEvent sample) {
        return Samples.threadName(sample).startsWith("proof-");
    }

    private static boolean isUnknown(String name) {
        return UNKNOWN.matcher(name).matches();
    }

    /** Native code alone, from the thread's first function on. */
    private static boolean beginsOrEnds(String stack) {
        return NOT_IN_JAVA.matcher(stack).matches() && Pattern.compile("(\\[no Java frame\\];)?(" + NATIVE_ROOT + ").*").matcher(stack).matches();
    }

    /** From the thread's start on. */
    private static List<String> names(RecordedEvent sample) {
        List<String> names = new ArrayList<>();
        for (RecordedFrame frame : Samples.frames(sample)) {
            names.add(Samples.isJavaFrame(frame) ? Samples.name(frame) : frame.getMethod().getName());
        }
        Collections.reverse(names);
        return names;
    }
}
