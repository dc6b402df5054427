import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
 * told there, method and line of each frame, and, by our own walker, the tier that the JVM told: interpreted,
 * compiled, and of compiled frames, inlined where the compilers were told to, and not where they were told
 * not to. In all others each caller stands at a line of the source that calls the frame above it. One stack
 * in a thousand may not, of fewer one, or may have lost its callers; by our own walker one in a hundred may have failed.
 * AsyncGetCallTrace takes what earlier calls have left for callers at times, and then several times within moments:
 * of its stacks one in a thousand of all recordings together, and three of one. Of one recording two may lack callers, however few
 * samples a machine had the time for.
 *
 *     java KnownStacks Known.java {WALKER recording workload-output}...      WALKER: vm or agct
 */
final class KnownStacks
{
    private static final double MAX_WRONG = 0.001;
    private static final double MAX_BUNCH = 0.003; /* of one recording by AsyncGetCallTrace */
    private static final double MAX_FAILED = 0.01;
    private static final int SHOWN = 10;
    private static final String NAMES = "(start|k[A-Z]\\w*|end|work|note)";
    private static final Pattern CALL = Pattern.compile("\\b" + NAMES + "\\(");
    private static final Pattern DECLARATION =
        Pattern.compile("^ *(@Override )?((private|abstract|public|static|native) )*(long|void) " +
                        NAMES + "\\(");
    private static final Pattern KNOWN = Pattern.compile("Known(\\$\\w+)?\\." + NAMES);
    private static final List<String> DIGITS =
        List.of("Known.kZero", "Known.kOne", "Known.kTwo", "Known.kThree");

    /** What a stack ought to be, and the tiers of its frames but the first; "-": not told. */
    private record Told(List<String> frames, String tiers)
    {
    }

    private final Map<Integer, String> calleeOfLine = new HashMap<>();
    private final Map<String, Told> told = new HashMap<>();
    private final Problems problems = new Problems();
    private final String walker;
    private final String file;
    private int shown;
    private long stacks;
    private long compared;
    private long unequal;
    private long comparedTiers;
    private long otherTiers;
    private long hosts;
    private long edges;
    private long wrongEdges;
    private long wrongStacks; /* those in which there is one */
    private long lost;

    private KnownStacks(String walker, String file)
    {
        this.walker = walker;
        this.file = file;
    }

    public static void main(String[] args) throws IOException
    {
        boolean isRight = true;
        long agctStacks = 0;
        long agctWrong = 0;
        for (int i = 1; i + 2 < args.length; i += 3) {
            KnownStacks checker = new KnownStacks(args[i], args[i + 1]);
            checker.readSource(Path.of(args[0]));
            checker.readTold(Path.of(args[i + 2]));
            isRight &= checker.check(Samples.read(Path.of(args[i + 1])));
            agctStacks += args[i].equals("agct") ? checker.stacks : 0;
            agctWrong += args[i].equals("agct") ? checker.wrongStacks : 0;
        }
        if (agctWrong > MAX_WRONG * agctStacks) {
            System.out.printf("PROBLEM of %d stacks by AsyncGetCallTrace %d have calls that cannot be%n", agctStacks, agctWrong);
            isRight = false;
        }
        System.exit(isRight ? 0 : 1);
    }

    private void readSource(Path source) throws IOException
    {
        int number = 0;
        for (String line : Files.readAllLines(source)) {
            number++;
            Matcher call = CALL.matcher(line);
            if (!DECLARATION.matcher(line).find() && call.find()) {
                calleeOfLine.put(number, call.group(1));
            }
        }
    }

    private void readTold(Path output) throws IOException
    {
        for (String line : Files.readAllLines(output)) {
            String[] words = line.split(" ");
            if (words[0].equals("known")) {
                List<String> frames = List.of(words[3].split(";"));
                String id = idOf(words[1], frames.stream().map(f -> f.split(":")[0]).toList());
                /* Two stacks of one number cannot be told apart. */
                told.put(id, told.containsKey(id) ? null : new Told(frames, words[2]));
            }
        }
    }

    /** By the digits on it; null for one that says none. */
    private static String idOf(String thread, List<String> names)
    {
        StringBuilder id = new StringBuilder(thread + " ");
        if (names.isEmpty() || !names.get(0).equals("Known.note")) {
            return null;
        }
        for (String name : names) {
            int digit = DIGITS.indexOf(name);
            if (digit >= 0) {
                id.append(digit);
            }
        }
        return id.toString();
    }

    private boolean check(List<RecordedEvent> samples)
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
            String id = idOf(Samples.threadName(sample), java.stream().map(Samples::name).toList());
            if (id != null && told.get(id) != null) {
                compare(java, told.get(id));
            }
            checkEdges(java);
        }
        stacks = count;
        boolean areTiersKnown = walker.equals("vm") &&
            told.values().stream().anyMatch(one -> one != null && !one.tiers.equals("-"));
        problems.addUnless(count >= 200, "%s: only %d samples", file, count);
        problems.addUnless(compared >= 100, "%s: only %d samples can be compared with JVMTI", file,
                           compared);
        problems.addUnless(unequal <= MAX_WRONG * compared,
                           "%s: %d of %d stacks are not as JVMTI told", file, unequal, compared);
        problems.addUnless(!areTiersKnown || comparedTiers >= 1000,
                           "%s: only %d tiers can be compared", file, comparedTiers);
        problems.addUnless(otherTiers <= MAX_WRONG * compared,
                           "%s: %d of %d tiers, in %d stacks, are others than the JVM told", file,
                           otherTiers, comparedTiers, compared);
        problems.addUnless(walker.equals("agct") || failed <= MAX_FAILED * count, "%s: %d of %d walks failed", file, failed,
                           count);
        problems.addUnless(wrongStacks <= Math.max(1, (walker.equals("agct") ? MAX_BUNCH : MAX_WRONG) * count),
                           "%s: %d of %d calls cannot be, in %d of %d stacks", file, wrongEdges, edges,
                           wrongStacks, count);
        problems.addUnless(lost <= Math.max(walker.equals("agct") ? 2 : 0, MAX_WRONG * count), "%s: %d of %d stacks lack callers", file,
                           lost, count);
        return problems.tell(
            String.format("%s: %d stacks: %d compared with JVMTI, %d differ; %d tiers, %d differ, "
                              + "%d inlined for sure; %d calls, %d wrong; %d stacks lack callers",
                          file, count, compared, unequal, comparedTiers, otherTiers, hosts, edges,
                          wrongEdges, lost));
    }

    private void compare(List<RecordedFrame> java, Told one)
    {
        List<String> seen = new ArrayList<>();
        for (RecordedFrame frame : java) {
            int line = frame.getMethod().getModifiers() != 0 && frame.getType().equals("Native")
                           ? -1
                           : frame.getLineNumber();
            seen.add(Samples.name(frame) + ":" + line);
        }
        compared++;
        if (!seen.equals(one.frames)) {
            unequal++;
            show("seen " + seen + "\ntold " + one.frames);
        } else if (walker.equals("vm") && !one.tiers.equals("-")) {
            compareTiers(java, one);
        }
    }

    private void compareTiers(List<RecordedFrame> java, Told one)
    {
        /* Below our own code lie frames that the one tells and the other does not. */
        for (int i = 0; i == 0 || !Samples.name(java.get(i - 1)).equals("Known.run"); i++) {
            String type = java.get(i).getType();
            boolean isRight;
            comparedTiers++;
            if (i == 0) {
                isRight = type.equals("Native");
            } else if (one.tiers.charAt(i - 1) == 'C') {
                isRight = isCompiled(java, one, i);
            } else {
                isRight = type.equals("Interpreted");
            }
            if (!isRight) {
                otherTiers++;
                show("tier of " + one.frames.get(i) + " at " + i + " is " + type + "; told " +
                     one.tiers + " of " + one.frames);
            }
        }
    }

    private boolean isCompiled(List<RecordedFrame> java, Told one, int i)
    {
        String name = Samples.name(java.get(i));
        String type = java.get(i).getType();
        boolean isInlined = type.equals("Inlined");
        if (!isInlined && !type.equals("JIT compiled")) {
            return false;
        }
        if (name.equals("Known.kInner")) {
            hosts += isInlined ? 1 : 0;
            return isInlined == (one.tiers.charAt(i) == 'C');
        }
        /* What is inlined lies in compiled code. */
        return !isInlined || (!name.equals("Known.kHost") && i + 1 < java.size() &&
                              one.tiers.charAt(i) == 'C');
    }

    private void checkEdges(List<RecordedFrame> java)
    {
        long wrongBefore = wrongEdges;
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
                show("wrong: " + Samples.name(java.get(i - 1)) + " called by " + name +
                     " at line " + java.get(i).getLineNumber() + ", which calls " + callee);
            }
        }
        lost += isWhole ? 0 : 1;
        wrongStacks += wrongEdges > wrongBefore ? 1 : 0;
    }

    private void show(String difference)
    {
        if (shown++ < SHOWN) {
            System.out.println(difference);
        }
    }

    /** Of a method that calls each of its callees on a line of its own. */
    private static boolean isKnown(String name)
    {
        return KNOWN.matcher(name).matches();
    }
}
