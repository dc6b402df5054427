import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the clients of a control storm were answered: each answer is what the command does, or one of the clear refusals, and
 * each file that is said to be written is there. Refusals that are not among these are news, and to be judged.
 *
 *     java ControlSaid file...
 */
final class ControlSaid {
    private static final Pattern LINE = Pattern.compile("\\S+ (\\w+)(\\S*) => (-?\\d+) (.*)");
    private static final Pattern WRITTEN = Pattern.compile("samples in (/[^\\\\]+)");

    private static final Map<String, Pattern> DONE = Map.of(
            "start", Pattern.compile("Profiling (started|resumed)"),
            "resume", Pattern.compile("Profiling (started|resumed)"),
            "stop", Pattern.compile("Profiling stopped after \\d+ seconds: \\d+ samples (in /|kept in memory)"),
            "dump", Pattern.compile("\\d+ samples in /"),
            "status", Pattern.compile("Profiler is not active|Profiling is "),
            "metrics", Pattern.compile(""),
            "list", Pattern.compile("Basic events:"));

    private static final Pattern CLEAR = Pattern.compile(
            "Profiler already started; stop it first"
            + "|Profiler is not active"
            + "|stopped before it began"
            + "|more than 10 commands in a second; nothing was done, try again later"
            + "|8 commands wait already; try again when they are done"
            + "|too many commands at once; try again"
            + "|the last session is complete in /\\S+; "
            + "|the samples of this session are kept as a graph, of which no recording can be made; ask for one at the start"
            + "|this session writes a recording, of which no graph is made here; "
            + "|a handler of the last session has not come back yet; try again later"
            + "|the agent's last thread has not ended yet; try again"
            + "|the sampler thread of the last run has not ended yet; try again"
            + "|the thread that watched safepoints in the last run has not ended yet; try again"
            + "|where to\\? Name a file");

    private final Map<String, int[]> counts = new TreeMap<>();
    private final Problems problems = new Problems();
    private int sessions;
    private int commands;

    public static void main(String[] args) throws IOException {
        ControlSaid said = new ControlSaid();
        for (String file : args) {
            for (String line : Files.readAllLines(Path.of(file))) {
                said.check(Path.of(file).getFileName() + ": " + line, line);
            }
        }
        said.counts.forEach((name, count) -> System.out.printf("%s %d done %d refused%n", name, count[0], count[1]));
        System.out.println("commands " + said.commands);
        System.out.println("sessions " + said.sessions);
        said.problems.finish(said.commands + " commands, " + said.sessions + " sessions");
    }

    private void check(String where, String line) {
        Matcher parts = LINE.matcher(line);
        if (!parts.matches()) {
            problems.add("%s: no such line", where);
            return;
        }
        String action = parts.group(1);
        String answer = parts.group(4);
        boolean isDone = parts.group(3).equals("0");
        commands++;
        counts.computeIfAbsent(action, name -> new int[2])[isDone ? 0 : 1]++;
        problems.addUnless((isDone ? DONE.get(action) : CLEAR).matcher(answer).find(), "%s", where);
        if (!isDone) {
            return;
        }
        sessions += action.equals("start") || action.equals("resume") ? 1 : 0;
        Matcher written = WRITTEN.matcher(answer);
        if ((action.equals("stop") || action.equals("dump")) && written.find()) {
            problems.addUnless(Files.isRegularFile(Path.of(written.group(1))), "%s: there is no such file", where);
        }
    }
}
