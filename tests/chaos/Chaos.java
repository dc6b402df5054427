import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Storms of everything that has ever broken a profiler, all at once, each with its own invariants.
 *
 *     java Chaos --seconds N --seed N [--storms a,b,c] [--intensity N] [--directory D] [--until FILE]
 *
 * With --until it goes on beyond its time until the file is there. Prints `VIOLATION storm: what` at once, at the end `STORM name: turns` for each, and `CHAOS ended: N violations`.
 * Status 0, or 1 for violations, 2 for bad arguments, 3 when a storm makes no progress (WATCHDOG_SECONDS): then
 * all stacks are printed.
 */
final class Chaos {
    /** Classes of storms, found by name: a line each. */
    private static final String[] STORMS = {
            // Java side
            "ClassStorm",
            "CodeStorm",
            "DeoptStorm",
            "ExceptionStorm",
            "FileStorm",
            "GarbageStorm",
            "HeapStorm",
            "HiddenStorm",
            "InterruptStorm",
            "MappedStorm",
            "MonitorStorm",
            "ProcessStorm",
            "RecursionStorm",
            "RedefineStorm",
            "SocketStorm",
            "ThreadStorm",
            "TimedStorm",
            "VirtualStorm",
            // native side
            "AttachStorm",
            "TlsStorm",
            "LibrariesStorm",
            "MallocStorm",
            "FramesStorm",
            "GeneratedStorm",
            "StacksStorm",
            "BlockedStorm",
            "CriticalStorm",
            "ReferencesStorm",
            "ChildrenStorm",
            "WaitsStorm",
            "BytesStorm",
            "ClocksStorm",
            "DescriptorsStorm",
            "OverflowStorm",
            "KernelStorm",
            "SegvStorm",
    };

    private static final long WATCHDOG_NS = Long.getLong("chaos.watchdog.seconds", 60) * 1_000_000_000L;

    /** Between what the watchdog says and the end: for others to look at the process. */
    private static final long LOOKED_AT_MS = Long.getLong("chaos.looked.at.seconds", 0) * 1000;

    private final AtomicBoolean isOver = new AtomicBoolean();
    private final List<Storm> storms = new ArrayList<>();
    private final List<Run> runs = new ArrayList<>();

    private Chaos() {
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> options = new HashMap<>();
        List<String> known =
                Arrays.asList("--seconds", "--seed", "--storms", "--intensity", "--directory", "--until");
        for (int i = 0; i < args.length; i += 2) {
            if (!known.contains(args[i]) || i + 1 == args.length) {
                System.err.println("Chaos: " + args[i] + " is none of " + known + " with a value");
                System.exit(2);
            }
            options.put(args[i], args[i + 1]);
        }
        double seconds = Double.parseDouble(options.getOrDefault("--seconds", "60"));
        long seed = Long.parseLong(options.getOrDefault("--seed", "1"));
        int intensity = Integer.parseInt(options.getOrDefault("--intensity", "1"));
        Path directory = options.containsKey("--directory") ? Paths.get(options.get("--directory"))
                                                            : Files.createTempDirectory("chaos");
        say("CHAOS begins: seconds " + seconds + " seed " + seed + " intensity " + intensity);
        Chaos chaos = new Chaos();
        chaos.choose(options.get("--storms"), seed, intensity, directory);
        Path until = options.containsKey("--until") ? Paths.get(options.get("--until")) : null;
        System.exit(chaos.runAll(seconds, until) ? 0 : 1);
    }

    /** One line, whole, at once. */
    static void say(String line) {
        synchronized (System.out) {
            System.out.println(line);
            System.out.flush();
        }
    }

    private static List<Storm> all() throws ReflectiveOperationException {
        List<Storm> all = new ArrayList<>();
        for (String type : STORMS) {
            all.add((Storm) Class.forName(type).getDeclaredConstructor().newInstance());
        }
        all.addAll(FaultStorm.ALL);
        return all;
    }

    private void choose(String wanted, long seed, int intensity, Path directory) throws Exception {
        List<String> names = wanted == null ? null : new ArrayList<>(Arrays.asList(wanted.split(",")));
        for (Storm storm : all()) {
            if (names == null ? storm.isOnlyByName() : !names.remove(storm.name())) {
                continue;
            }
            storms.add(storm);
            runs.add(new Run(storm.name(), isOver, seed, intensity, directory.resolve(storm.name())));
        }
        if (names != null && !names.isEmpty()) {
            System.err.println("Chaos: no storm " + names);
            System.exit(2);
        }
    }

    private boolean runAll(double seconds, Path until) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < storms.size(); i++) {
            Storm storm = storms.get(i);
            Run run = runs.get(i);
            Thread thread = new Thread(() -> {
                run.guarded(() -> storm.run(run));
                run.guarded(run::joinThreads);
                run.ended();
            }, "storm-" + run.name());
            threads.add(thread);
        }
        Run watching = new Run("watchdog", isOver, 0, 1, null);
        Thread watchdog = new Thread(() -> watching.guarded(this::watch), "watchdog");
        watchdog.setDaemon(true);
        watchdog.start();
        for (int i = 0; i < threads.size(); i++) {
            runs.get(i).begun();
            threads.get(i).start();
        }
        Thread.sleep((long) (seconds * 1000));
        while (until != null && !Files.exists(until)) {
            Thread.sleep(50);
        }
        isOver.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        for (int i = 0; i < storms.size(); i++) {
            Storm storm = storms.get(i);
            Run run = runs.get(i);
            run.begun();
            if (!run.isSkipped()) {
                run.guarded(() -> storm.check(run));
            }
            run.ended();
        }
        say("JVM loaded " + ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount());
        say("JVM unloaded " + ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount());
        say("JVM threads " + ManagementFactory.getThreadMXBean().getTotalStartedThreadCount());
        long violations = 0;
        for (Run run : runs) {
            if (run.turns() == 0 && !run.isSkipped()) {
                run.violated("did nothing");
            }
            violations += run.violations();
            say("STORM " + run.name() + ": " + run.turns());
        }
        say("CHAOS ended: " + violations + " violations");
        return violations == 0;
    }

    /** A storm that stands still is a hang, of it or of the JVM. */
    private void watch() throws InterruptedException {
        while (true) {
            Thread.sleep(250);
            for (Run run : runs) {
                long progressNs = run.progressNs();
                if (progressNs != Long.MAX_VALUE && System.nanoTime() - progressNs > WATCHDOG_NS) {
                    hangs(run);
                }
            }
        }
    }

    private static void hangs(Run run) throws InterruptedException {
        say("HANG " + run.name() + ": no progress for " + WATCHDOG_NS / 1_000_000_000L + " s");
        for (Map.Entry<Thread, StackTraceElement[]> thread : Thread.getAllStackTraces().entrySet()) {
            StringBuilder text = new StringBuilder("\"" + thread.getKey().getName() + "\" "
                    + thread.getKey().getState());
            for (StackTraceElement frame : thread.getValue()) {
                text.append("\n    at ").append(frame);
            }
            say(text.toString());
        }
        Thread.sleep(LOOKED_AT_MS);
        Runtime.getRuntime().halt(3);
    }
}
