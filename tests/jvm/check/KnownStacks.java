import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;

/**
 * Checks the stacks of the workload Known. Those taken while it stood in native code are the ones that JVMTI
 * told there, method and line of each frame; in all others each caller stands at a line of the source that
 * calls the frame above it. Up to one in a thousand may not, or may have lost
 * its callers; one in a hundred may have failed.
 *
 *     java KnownStacks recording workload-output Known.java
 */
final class KnownStacks
{
    private static final double MAX_WRONG = 0.001;
    private static final double MAX_FAILED = 0.01;
    private static final Pattern CALL = Pattern.compile("\\b(start|k[A-Z]\\w*|end|work)\\(");
    private static final Pattern DECLARATION =
        Pattern.compile("^    (private |public )?static long ");
    private static final long MARGIN_NS = 4_000_000; /* between the two clocks */

    private record Noted(String thread, long beginNs, long endNs, List<String> frames)
    {
    }

    private final Map<Integer, String> calleeOfLine = new HashMap<>();
    private final List<Noted> noted = new ArrayList<>();
    private final Problems problems = new Problems();
    private long compared;
    private long unequal;
    private long edges;
    private long wrongEdges;
    private long lost;

    public static void main(String[] args) throws IOException
    {
        KnownStacks checker = new KnownStacks();
        checker.readSource(Path.of(args[2]));
        checker.readNoted(Path.of(args[1]));
        checker.check(Samples.read(Path.of(args[0])));
    }

    private void readSource(Path source) throws IOException
    {
        int number = 0;
        for (String line : Files.readAllLines(source)) {
            number++;
            Matcher call = CALL.matcher(line);
            boolean isDeclaration = DECLARATION.matcher(line).find() || line.contains("long kGo(");
            if (line.contains(".kGo(")) {
                calleeOfLine.put(number, "kGo");
            } else if (!isDeclaration && call.find()) {
                calleeOfLine.put(number, call.group(1));
            }
        }
    }

    private void readNoted(Path output) throws IOException
    {
        for (String line : Files.readAllLines(output)) {
            String[] words = line.split(" ");
            if (words[0].equals("known")) {
                noted.add(new Noted(words[1], Long.parseLong(words[2]), Long.parseLong(words[3]),
                                    List.of(words[4].split(";"))));
            }
        }
    }

    private void check(List<RecordedEvent> samples)
    {
        long count = 0;
        long failed = 0;
        for (RecordedEvent sample : samples) {
            if (!Samples.threadName(sample).startsWith("known-")) {
                continue;
            }
            count++;
            if (Marks.failure(sample) != null) {
                failed++;
                continue;
            }
            List<RecordedFrame> java =
                Samples.frames(sample).stream().filter(Samples::isJavaFrame).toList();
            Noted told = toldOf(sample);
            if (told != null) {
                compare(java, told.frames());
            }
            checkEdges(java);
        }
        problems.addUnless(count >= 200, "only %d samples", count);
        problems.addUnless(compared >= 30, "only %d samples can be compared with JVMTI", compared);
        problems.addUnless(unequal <= MAX_WRONG * compared, "%d of %d stacks are not as JVMTI told",
                           unequal, compared);
        problems.addUnless(failed <= MAX_FAILED * count, "%d of %d walks failed", failed, count);
        problems.addUnless(wrongEdges <= MAX_WRONG * edges, "%d of %d calls cannot be", wrongEdges,
                           edges);
        problems.addUnless(lost <= MAX_WRONG * count, "%d of %d stacks lack callers", lost, count);
        problems.finish(
            String.format("%d stacks: %d compared with JVMTI, %d differ; %d calls, %d wrong; "
                              + "%d stacks lack callers",
                          count, compared, unequal, edges, wrongEdges, lost));
    }

    private Noted toldOf(RecordedEvent sample)
    {
        Instant time = sample.getStartTime();
        long ns = time.getEpochSecond() * 1_000_000_000L + time.getNano();
        for (Noted candidate : noted) {
            if (candidate.thread().equals(Samples.threadName(sample)) &&
                ns >= candidate.beginNs() + MARGIN_NS && ns < candidate.endNs() - MARGIN_NS) {
                return candidate;
            }
        }
        return null;
    }

    private void compare(List<RecordedFrame> java, List<String> told)
    {
        List<String> seen = new ArrayList<>();
        for (RecordedFrame frame : java) {
            int line = frame.getMethod().getModifiers() != 0 && frame.getType().equals("Native")
                           ? -1
                           : frame.getLineNumber();
            seen.add(Samples.name(frame) + ":" + line);
        }
        compared++;
        if (!seen.equals(told)) {
            unequal++;
            System.out.println("seen " + seen + "\ntold " + told);
        }
    }

    private void checkEdges(List<RecordedFrame> java)
    {
        boolean isWhole = java.stream().noneMatch(frame -> isKnown(Samples.name(frame)));
        for (int i = 0; i < java.size(); i++) {
            String name = Samples.name(java.get(i));
            isWhole |= name.equals("Known.run");
            if (i == 0 || !isKnown(name) || !isKnown(Samples.name(java.get(i - 1)))) {
                continue;
            }
            String callee = calleeOfLine.get(java.get(i).getLineNumber());
            edges++;
            if (!java.get(i - 1).getMethod().getName().equals(callee)) {
                wrongEdges++;
                System.out.println("wrong: " + Samples.name(java.get(i - 1)) + " called by " +
                                   name + " at line " + java.get(i).getLineNumber() +
                                   ", which calls " + callee);
            }
        }
        lost += isWhole ? 0 : 1;
    }

    /** Of a method that calls each of its callees on a line of its own. */
    private static boolean isKnown(String name)
    {
        return name.matches("Known(\\$\\w+)?\\.(k[A-Z]\\w*|start|end|work)");
    }
}
