import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** What a storm knows of the run that it is part of, and where it says what it did. For any thread. */
final class Run {
    private static final int VIOLATIONS_SHOWN = 20;

    private final String name;
    private final AtomicBoolean isOver;
    private final Random random;
    private final int intensity;
    private final Path directory;
    private final AtomicLong did = new AtomicLong();
    private final AtomicLong violations = new AtomicLong();
    private final List<Thread> threads = new ArrayList<>();
    private volatile String skipped;
    private volatile long progressNs = System.nanoTime();

    Run(String name, AtomicBoolean isOver, long seed, int intensity, Path directory) {
        this.name = name;
        this.isOver = isOver;
        this.random = new Random(seed * 31 + name.hashCode());
        this.intensity = intensity;
        this.directory = directory;
    }

    /** On a busy machine a storm goes on beyond the time until it has had a turn. */
    boolean goesOn() {
        return !isOver.get() || did.get() == 0;
    }

    /** This storm's own, of the run's seed. */
    Random random() {
        return random;
    }

    /** From 1 on: how many of a thing to have at once, where a storm has many. */
    int intensity() {
        return intensity;
    }

    /** So many more turns. The watchdog waits for these. */
    void did(long count) {
        did.addAndGet(count);
        progressNs = System.nanoTime();
    }

    /** Something happened that must not. The run goes on, and ends with status 1. */
    void violated(String what) {
        if (violations.incrementAndGet() <= VIOLATIONS_SHOWN) {
            Chaos.say("VIOLATION " + name + ": " + what);
        }
    }

    /** This storm has nothing to do in this JVM. */
    void skipped(String why) {
        skipped = why;
        Chaos.say("SKIPPED " + name + ": " + why);
    }

    /** For files of this storm alone. */
    Path directory() {
        try {
            return Files.createDirectories(directory);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Leaves the processor to others for some moment. */
    void rest() {
        try {
            Thread.sleep(1 + random.nextInt(5));
        } catch (InterruptedException e) {
            violated("interrupted by nobody");
        }
    }

    /** What a thread of a storm does. */
    interface Body {
        void run() throws Exception;
    }

    /** One more thread of this storm, started. What it throws is a violation; the storm ends no sooner than it. */
    Thread thread(String threadName, Body body) {
        Thread thread = new Thread(() -> guarded(body), threadName);
        synchronized (threads) {
            threads.add(thread);
        }
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** False when this threw. */
    boolean guarded(Body body) {
        try {
            body.run();
            return true;
        } catch (Throwable e) {
            StringWriter text = new StringWriter();
            e.printStackTrace(new PrintWriter(text, true));
            violated("threw " + text);
            return false;
        }
    }

    /** A thread may begin another one meanwhile. */
    void joinThreads() throws InterruptedException {
        for (int i = 0;; i++) {
            Thread thread;
            synchronized (threads) {
                if (i == threads.size()) {
                    return;
                }
                thread = threads.get(i);
            }
            thread.join();
        }
    }

    String name() {
        return name;
    }

    long turns() {
        return did.get();
    }

    long violations() {
        return violations.get();
    }

    boolean isSkipped() {
        return skipped != null;
    }

    /** When it did something last. */
    long progressNs() {
        return progressNs;
    }

    void ended() {
        progressNs = Long.MAX_VALUE;
    }

    void begun() {
        progressNs = System.nanoTime();
    }
}
