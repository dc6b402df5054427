import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a workload asks the profiler that samples it, by its Java API: not named, as not every workload has the jar. */
final class Profiler {
    private static final String API = "io.jaywalk.Jaywalk";
    private static final Pattern ROTATIONS = metric("jaywalk_generations_total");
    private static final Pattern UNWINDING = metric("jaywalk_memory_bytes\\{subsystem=\"unwinding\"\\}");

    private Profiler() {
    }

    /** The jar is there. */
    static boolean isAsked() {
        try {
            Class.forName(API);
            return true;
        } catch (ClassNotFoundException absent) {
            return false;
        }
    }

    /** What it answers. */
    static String execute(String command) throws Exception {
        Class<?> jaywalk = Class.forName(API);
        return (String) jaywalk.getMethod("execute", String.class)
                .invoke(jaywalk.getMethod("get").invoke(null), command);
    }

    /** A line of `metrics`, whose number is the first group. */
    static Pattern metric(String name) {
        return Pattern.compile("^" + name + " (\\d+)$", Pattern.MULTILINE);
    }

    static long numberIn(String text, Pattern pattern) {
        Matcher matcher = pattern.matcher(text);
        if (!matcher.find()) {
            throw new IllegalStateException(text);
        }
        return Long.parseLong(matcher.group(1));
    }

    /** Until the agent's thread has come round so often, each time a second at least behind the last: what it does every few turns is done. */
    static void awaitRotations(int count) throws Exception {
        for (long begun = numberIn(execute("metrics"), ROTATIONS); numberIn(execute("metrics"), ROTATIONS) < begun + count;) {
            Thread.sleep(150);
        }
    }

    /**
     * The rows by which native frames are left are built after sampling has begun, and later on a busy machine: what is
     * sampled before is not what is counted. They are there when the agent's thread has come round once without building any: the turn in which
     * some were seen may rotate behind that.
     */
    static void awaitRows() throws Exception {
        long rows = 0;
        for (long rotations = 0, now = 0; now == 0 || now < rotations + 2;) {
            Thread.sleep(150);
            String metrics = execute("metrics");
            long rowsNow = numberIn(metrics, UNWINDING);
            now = rowsNow == 0 ? 0 : numberIn(metrics, ROTATIONS);
            if (rowsNow != rows) {
                rotations = numberIn(metrics, ROTATIONS);
                rows = rowsNow;
            }
        }
    }
}
