import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;

/**
 * Checks recordings of the workload Mixed made with features=mixed: each stack is the one that the program makes, frame by
 * frame from the first function of the thread on, native code and Java in turn.
 *
 *     java MixedStacks recording...
 */
final class MixedStacks {
    private static final int ENOUGH = 5;
    private static final double LOST_PCT = 1;

    /** Parts of a stack, each frame with a semicolon behind it. Libraries that are stripped give their own name. */
    private static final String FIRST = "((clone3?|__clone3?|start_thread|libc\\.so\\.6|ld-musl[^;]*);)+";
    private static final String OF_JVM = FIRST + "(thread_native_entry|java_start)[^;]*;";
    private static final String ENTER = "JavaCalls::call_helper[^;]*;(os::os_exception_wrapper[^;]*;)?[^;]*call_stub[^;]*;";
    /** The launcher's threads: the one of main() ends in the JVM itself (DetachCurrentThread), and the first one waits for it. */
    private static final String OF_LAUNCHER = "(" + FIRST + "|_start;)([^;:]*;)*(JavaMain|libjli\\.so);(jni|JNI)_\\w+;";
    private static final String OF_JAVA = OF_JVM + "(Thread::call_run;)?(JavaThread::\\w+;)*thread_entry[^;]*;(JavaCalls::call_virtual[^;]*;)+"
            + ENTER + "java\\.lang\\.Thread\\.run;(java\\.lang\\.Thread\\.runWith;)?Mixed\\$\\$Lambda[^;]*\\.run;Mixed\\.lambda\\$main\\$0;"
            + "Mixed\\.measure;";
    private static final String BY_JNI = "jni_CallStatic\\w+;jni_invoke_static[^;]*;" + ENTER;
    private static final String SPIN = "Mixed\\.spin;Mixed\\.burn;";
    private static final String BACK = "Mixed\\.back;Java_Mixed_back;" + BY_JNI + SPIN;

    private static final Map<String, Pattern> EXPECTED = new LinkedHashMap<>();

    static {
        EXPECTED.put("sort", Pattern.compile(OF_JAVA + "Mixed\\.each;Mixed\\.sort;Java_Mixed_sort;"
                + "((qsort|qsort_r|__qsort_r|msort[^;]*|libc\\.so\\.6|ld-musl[^;]*);)+by_java;" + BY_JNI + "Mixed\\.compare;" + BACK));
        EXPECTED.put("class", Pattern.compile(OF_JAVA + "(\\w+::[^;]+;)+(InstanceKlass::call_class_initializer[^;]*;)" + ENTER
                + "Mixed\\$Begun\\.<clinit>;" + BACK));
        EXPECTED.put("attached", Pattern.compile(FIRST + "attached;" + BY_JNI + SPIN));
        EXPECTED.put("press", Pattern.compile(OF_JAVA + "Mixed\\.each;Mixed\\.press;(java\\.util\\.zip\\.Deflater\\.[\\w<>]+;)+"
                + "Java_java_util_zip_Deflater_\\w+;"));
        EXPECTED.put("jvm", Pattern.compile(OF_JVM + "|" + OF_LAUNCHER));
    }

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        StringBuilder told = new StringBuilder();
        for (String file : args) {
            Map<String, Integer> counts = new TreeMap<>();
            look(file, Samples.read(Path.of(file)), counts, problems);
            for (String kind : EXPECTED.keySet()) {
                problems.addUnless(counts.getOrDefault(kind, 0) >= ENOUGH, "%s: only %d stacks of %s", file,
                        counts.getOrDefault(kind, 0), kind);
            }
            told.append(file).append(' ').append(counts).append('\n');
        }
        problems.finish(told.toString());
    }

    /** From the first measured sample to the last: before, rows of libraries may be missing, and behind it the JVM goes. */
    private static void look(String file, List<RecordedEvent> samples, Map<String, Integer> counts, Problems problems) {
        Instant since = Instant.MAX;
        Instant until = Instant.MIN;
        for (RecordedEvent sample : samples) {
            if (fromRoot(sample).contains("Mixed.measure;")) {
                since = sample.getStartTime().isBefore(since) ? sample.getStartTime() : since;
                until = sample.getStartTime().isAfter(until) ? sample.getStartTime() : until;
            }
        }
        int all = 0;
        int lost = 0;
        String example = "";
        for (RecordedEvent sample : samples) {
            String stack = fromRoot(sample);
            if (sample.getStartTime().isBefore(since) || sample.getStartTime().isAfter(until)) {
                continue;
            }
            all++;
            if (hasMark(sample)) {
                lost++;
                example = stack;
                continue;
            }
            String kind = kindOf(stack);
            counts.merge(kind, 1, Integer::sum);
            problems.addUnless(kind.equals("other") || EXPECTED.get(kind).matcher(stack).lookingAt(), "%s: not as of %s: %s",
                    file, kind, stack);
        }
        problems.addUnless(lost * 100.0 <= all * LOST_PCT, "%s: %d of %d stacks are not whole, such as %s", file, lost, all, example);
        counts.put("not whole", lost);
    }

    /** What a stack should be, by its innermost frame that says so. */
    private static String kindOf(String stack) {
        if (stack.contains("Mixed.burn;")) {
            return stack.contains("Mixed.sort;") ? "sort" : stack.contains("Begun.<clinit>;") ? "class" : "attached";
        }
        if (stack.contains("Java_java_util_zip_Deflater_deflate") && stack.contains("Mixed.press;")) {
            return "press";
        }
        // A thread that begins or ends is in the C library alone for a moment; who is in C++ code came through an entry of the JVM.
        return stack.contains("call_stub") || stack.contains("attached;") || !stack.contains("::") ? "other" : "jvm";
    }

    private static boolean hasMark(RecordedEvent sample) {
        return Samples.frames(sample).stream().anyMatch(frame -> Marks.textOf(frame) != null);
    }

    private static String fromRoot(RecordedEvent sample) {
        List<String> names = new ArrayList<>();
        for (RecordedFrame frame : Samples.frames(sample)) {
            String method = frame.getMethod().getName();
            names.add((Samples.isJavaFrame(frame) ? frame.getMethod().getType().getName() + "." : "") + method);
        }
        Collections.reverse(names);
        return String.join(";", names) + ";";
    }
}
