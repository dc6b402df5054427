import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;

/**
 * Checks the methods that stacks of compiler threads name: each is one that the JVM says it compiled, it stands
 * where the compiler was called from, and most samples of a compiler at work have one. Where the JVM's library has no
 * symbols, the caller has the library's name, and what a compiler at work is cannot be told from one that waits.
 *
 *     java Compiled recording output-of-PrintCompilation [nameless]
 */
final class Compiled {
    private static final String TYPE = "Compiling";
    private static final String CALLER = "CompileBroker::invoke_compiler_on_method";
    private static final String LIBRARY = "libjvm.so";
    private static final Pattern LINE = Pattern.compile("\\s([^\\s:]+)::(\\S+)(\\s|$)");
    /* As the kernel has it, of 15 bytes: "C2 CompilerThread0" is cut, and from JDK 26 on abbreviated. */
    private static final String COMPILER = "C[12] (CompilerThre.*|Comp\\.\\.hread\\d+)";
    private static final int ENOUGH = 50;
    /* Before the task is known, and after it is forgotten, the compiler cleans up and writes its log. */
    private static final double WITHOUT_MAX = 0.1;

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        boolean isNamed = args.length < 3;
        String caller = isNamed ? CALLER : LIBRARY;
        Set<String> compiled = new HashSet<>();
        for (String line : Files.readAllLines(Path.of(args[1]))) {
            Matcher found = LINE.matcher(line);
            if (found.find()) {
                compiled.add(found.group(1) + "." + found.group(2));
            }
        }
        int named = 0;
        int unnamed = 0;
        int distinct = 0;
        Set<String> seen = new HashSet<>();
        for (RecordedEvent sample : Samples.read(Path.of(args[0]))) {
            List<RecordedFrame> frames = Samples.frames(sample);
            int at = indexOf(frames);
            boolean isAtWork = at >= 0 || (isNamed && frames.stream().anyMatch(frame -> isOf(caller, frame)));
            if (!isAtWork) {
                continue;
            }
            if (at < 0) {
                unnamed++;
                continue;
            }
            named++;
            String thread = Samples.threadName(sample);
            problems.addUnless(thread.matches(COMPILER), "a method is compiled by %s", thread);
            problems.addUnless(at + 1 == frames.size() || isOf(caller, frames.get(at + 1)),
                    "below a compiled method stands %s", Samples.name(frames.get(at + 1 == frames.size() ? at : at + 1)));
            String method = Samples.name(frames.get(at));
            if (seen.add(method)) {
                distinct++;
            }
            problems.addUnless(method.contains("$$Lambda") || method.contains("LambdaForm$")
                            || compiled.contains(method),
                    "%s is compiled, and the JVM does not say so", method);
        }
        problems.addUnless(named >= ENOUGH, "only %d samples name a method", named);
        problems.addUnless(distinct >= 10, "only %d methods are named", distinct);
        problems.addUnless(unnamed <= WITHOUT_MAX * (named + unnamed),
                "%d of %d samples of a compiler name no method", unnamed, named + unnamed);
        problems.finish(String.format("%d methods in %d samples, %d without one", distinct, named, unnamed));
    }

    private static boolean isOf(String name, RecordedFrame frame) {
        return name.equals(String.valueOf(frame.getMethod().getName()));
    }

    private static int indexOf(List<RecordedFrame> frames) {
        for (int i = 0; i < frames.size(); i++) {
            if (frames.get(i).getType().equals(TYPE)) {
                return i;
            }
        }
        return -1;
    }
}
