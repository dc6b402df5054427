import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;

/**
 * Checks what a recording of the workload Generated says of methods that are no more: everything below
 * Generated.burn is as reflection said, while it lived.
 *
 *     java GeneratedNames recording file-of-Generated [none-hidden]      before JDK 15
 */
final class GeneratedNames {
    private static final int CLASS_FLAGS = Modifier.PUBLIC | Modifier.FINAL | Modifier.INTERFACE | Modifier.ABSTRACT
            | 0x1000; /* synthetic; of nested classes reflection adds what the class around them says */
    private static final int ENOUGH = 8;

    /** What reflection said of a method, and the lines at which it was seen. */
    private static final class Told {
        int ofClass;
        int ofMethod;
        boolean isHidden;
        final Set<Integer> lines = new HashSet<>();
    }

    private static final Map<String, String> KINDS = Map.of(
            "lambda", "Generated\\$Unit\\$\\$Lambda.*",
            "hidden class", "Generated\\$UnitHidden\\+0x.*",
            "proxy", "(com\\.sun\\.proxy\\.)?(jdk\\.proxy\\d+\\.)?\\$Proxy\\d+",
            "method handle", "java\\.lang\\.invoke\\.LambdaForm\\$.*",
            "accessor", "(jdk\\.internal|sun)\\.reflect\\.(Generated.*Accessor\\d+|Direct.*Accessor)",
            "unloaded class", "Generated\\$Unit(Made|Stored)?");

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        Map<String, Told> told = read(Path.of(args[1]));
        Map<String, Integer> seen = new TreeMap<>();
        for (RecordedEvent sample : Samples.read(Path.of(args[0]))) {
            List<RecordedFrame> frames = Samples.frames(sample);
            int burn = indexOfBurn(frames);
            for (int i = burn + 1; burn >= 0 && i < frames.size(); i++) {
                if (Samples.isJavaFrame(frames.get(i))) {
                    compare(frames.get(i), told, problems);
                    count(frames.get(i), seen);
                }
            }
        }
        Set<String> kinds = new HashSet<>(KINDS.keySet());
        if (args.length > 2 && args[2].equals("none-hidden")) {
            kinds.remove("hidden class");
        }
        for (String kind : kinds) {
            problems.addUnless(seen.getOrDefault(kind, 0) >= ENOUGH, "only %d frames of a %s",
                    seen.getOrDefault(kind, 0), kind);
        }
        problems.finish(seen.toString());
    }

    private static Map<String, Told> read(Path file) throws IOException {
        Map<String, Told> told = new HashMap<>();
        for (String line : Files.readAllLines(file)) {
            String[] parts = line.split("\t");
            boolean isHidden = Boolean.parseBoolean(parts[4]);
            /* A hidden class is called Work+0x1234 inside the JVM, and Work/0x1234 by its class object; before JDK 15 an
             * anonymous one Work inside the JVM, as many others, and Work/1234 (8) or Work/0x1234 by its class object. */
            String name = isHidden ? parts[0].replace('/', '+') : parts[0].replaceFirst("/\\w+$", "");
            Told one = told.computeIfAbsent(name + " " + parts[1], key -> new Told());
            one.ofClass = Integer.parseInt(parts[2]);
            one.ofMethod = Integer.parseInt(parts[3]);
            one.isHidden = isHidden;
            one.lines.add(Integer.parseInt(parts[5]));
        }
        return told;
    }

    private static int indexOfBurn(List<RecordedFrame> frames) {
        for (int i = 0; i < frames.size(); i++) {
            if ("burn".equals(Samples.methodOf("Generated", frames.get(i)))) {
                return i;
            }
        }
        return -1;
    }

    private static void compare(RecordedFrame frame, Map<String, Told> all, Problems problems) {
        RecordedMethod method = frame.getMethod();
        RecordedClass type = method.getType();
        String name = type.getName() + " " + method.getName() + method.getDescriptor();
        Told told = all.get(name);
        if (told == null) {
            problems.add("%s was never there", name);
            return;
        }
        problems.addUnless((type.getModifiers() & CLASS_FLAGS) == (told.ofClass & CLASS_FLAGS),
                "the class of %s has modifiers %x, not %x", name, type.getModifiers(), told.ofClass);
        problems.addUnless(told.ofMethod == -1 || method.getModifiers() == told.ofMethod,
                "%s has modifiers %x, not %x", name, method.getModifiers(), told.ofMethod);
        problems.addUnless(type.getBoolean("hidden") == told.isHidden, "%s: hidden is %b", name,
                type.getBoolean("hidden"));
        problems.addUnless(told.lines.contains(frame.getLineNumber()) || isWithoutLine(frame, told),
                "%s: line %d, not one of %s", name, frame.getLineNumber(), told.lines);
    }

    /** Reflection says -2 of native methods, recordings say -1 of whatever has no line. */
    private static boolean isWithoutLine(RecordedFrame frame, Told told) {
        return frame.getLineNumber() == -1 && told.lines.stream().allMatch(line -> line < 0);
    }

    private static void count(RecordedFrame frame, Map<String, Integer> seen) {
        KINDS.forEach((kind, pattern) -> {
            if (frame.getMethod().getType().getName().matches(pattern)) {
                seen.merge(kind, 1, Integer::sum);
            }
        });
    }
}
