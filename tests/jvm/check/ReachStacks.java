import java.io.IOException;
import java.nio.file.Path;
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
 * Checks a recording of the workload Reach made with features=mixed: each stack of its thread begins where the thread does, and below
 * `burn` it is the one that the program makes, native code and Java in turn.
 *
 *     java ReachStacks recording java|native [foreign]      what Method.invoke goes through
 */
final class ReachStacks {
    private static final double LOST_PCT = 1;
    private static final int LOST_FREE = 2;

    private static final String ENTER = "JavaCalls::call_helper[^;]*;(os::os_exception_wrapper[^;]*;)?[^;]*call_stub[^;]*;";
    private static final String ROOT = "((clone3?|__clone3?|start_thread|libc\\.so\\.6|ld-musl[^;]*);)+(thread_native_entry|java_start)[^;]*;"
            + "(Thread::call_run;)?(JavaThread::\\w+;)*thread_entry[^;]*;(JavaCalls::call_virtual[^;]*;)+" + ENTER
            + "java\\.lang\\.Thread\\.run;(java\\.lang\\.Thread\\.runWith;)?Reach\\$\\$Lambda[^;]*\\.run;Reach\\.lambda\\$main\\$\\d;"
            + "Reach\\.measure;";
    private static final String HANDLES = "(java\\.lang\\.invoke\\.[^;]*;)+";
    private static final String IN_JAVA = "((jdk\\.internal|sun)\\.reflect\\.[^;]*;|java\\.lang\\.invoke\\.[^;]*;)+";
    private static final String IN_NATIVE = IN_JAVA + "(Java_\\w+invoke0;)?JVM_InvokeMethod;Reflection::invoke_method[^;]*;"
            + "(Reflection::)?invoke[^;:]*;" + ENTER;
    private static final String PRIVILEGED = "java\\.security\\.AccessController\\.doPrivileged;"
            + "(java\\.security\\.AccessController\\.executePrivileged;|(Java_java_security_AccessController_\\w+;)?JVM_DoPrivileged;" + ENTER
            + ")?Reach\\$\\$Lambda[^;]*\\.run;Reach\\.lambda\\$by\\w+\\$\\d;";
    private static final String OF_API = "((java\\.lang\\.invoke|jdk\\.internal\\.foreign)\\.[^;]*;)+";
    private static final String SORTED = "Upcalls\\.round;" + OF_API
            + "((qsort|qsort_r|__qsort_r|msort[^;]*|libc\\.so\\.6|ld-musl[^;]*);)+upcall_stub[^;]*;" + OF_API;
    private static final String SPIN = "Reach\\.spin;Reach\\.burn;";
    private static final String COMPARED = SORTED + "Reach\\.compare;Reach\\.byPrivilege;" + PRIVILEGED + SPIN;

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        String invoked = "java\\.lang\\.reflect\\.Method\\.invoke;" + (args[1].equals("native") ? IN_NATIVE : IN_JAVA) + SPIN;
        Map<String, Pattern> expected = new LinkedHashMap<>();
        put(expected, "byReflection", invoked);
        put(expected, "byHandle", HANDLES + SPIN);
        put(expected, "byPrivilege", PRIVILEGED + SPIN);
        put(expected, "byAll", PRIVILEGED + HANDLES + "Reach\\.byReflection;" + invoked);
        if (args.length > 2) {
            put(expected, "byForeign", COMPARED);
            put(expected, "byForeignTwice", SORTED + "Reach\\.compareSorting;" + COMPARED);
        }
        Pattern root = Pattern.compile(ROOT);
        Map<String, Integer> counts = new TreeMap<>();
        int all = 0;
        int lost = 0;
        String example = "";
        for (RecordedEvent sample : Samples.read(Path.of(args[0]))) {
            String stack = fromRoot(sample);
            if (!Samples.threadName(sample).equals("measured") || !stack.contains("Reach.")) {
                continue;
            }
            all++;
            if (Samples.frames(sample).stream().anyMatch(frame -> Marks.textOf(frame) != null)) {
                lost++;
                example = stack;
                continue;
            }
            if (!stack.contains("Reach.burn;")) {
                problems.addUnless(root.matcher(stack).lookingAt(), "no root: %s", stack);
                continue;
            }
            int at = stack.indexOf("Reach.each;Reach.");
            String kind = at < 0 ? "none" : stack.substring(at + 17, stack.indexOf(';', at + 17));
            counts.merge(kind, 1, Integer::sum);
            problems.addUnless(expected.containsKey(kind) && expected.get(kind).matcher(stack).lookingAt(), "not as of %s: %s", kind, stack);
        }
        for (String kind : expected.keySet()) {
            problems.addUnless(counts.containsKey(kind), "no stack of %s", kind);
        }
        problems.addUnless(lost <= LOST_FREE || lost * 100.0 <= all * LOST_PCT, "%d of %d stacks are not whole, such as %s", lost, all, example);
        counts.put("not whole", lost);
        problems.finish(counts + "\n");
    }

    private static void put(Map<String, Pattern> expected, String kind, String frames) {
        expected.put(kind, Pattern.compile(ROOT + "Reach\\.each;Reach\\." + kind + ";" + frames));
    }

    private static String fromRoot(RecordedEvent sample) {
        List<String> names = new ArrayList<>();
        for (RecordedFrame frame : Samples.frames(sample)) {
            names.add((Samples.isJavaFrame(frame) ? frame.getMethod().getType().getName() + "." : "") + frame.getMethod().getName());
        }
        Collections.reverse(names);
        return String.join(";", names) + ";";
    }
}
