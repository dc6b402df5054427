package probed;

import io.jaywalk.Jaywalk;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What probes are put into, what their handlers write to, and who attaches and detaches them: all in one program, by the API.
 *
 * <p>Arguments: a mode, the folder of compiled probes, and what the mode wants. A line `ok`, or one that says what is wrong.
 */
public final class Probed {
    /** Of handlers: all that run, and all that ran. */
    public static final AtomicLong INSIDE = new AtomicLong(), HANDLED = new AtomicLong(), LATE = new AtomicLong();

    /** What handlers found wrong with what they were given; the first. */
    public static volatile String wrong;

    /** Number of the attach that is on, and the oldest that may still be heard of. */
    public static volatile long cycle, oldest;

    /** Whether handlers pause now and then, so that threads are caught inside. */
    public static volatile boolean pauses;

    /** How long, and how many do; with long ones a probe is taken out while there are some. */
    private static volatile long pauseMs = 3;
    private static final AtomicLong PAUSED = new AtomicLong();

    /** Where handlers wait, if there is one. */
    public static volatile CountDownLatch gate;

    private static final List<WeakReference<Object>> BORN = new ArrayList<>();

    private static Jaywalk jaywalk;
    static String folder;

    private Probed() {}

    /** A class of a probe was initialised. */
    public static synchronized void born(Class<?> probe) {
        BORN.add(new WeakReference<>(probe));
        BORN.add(new WeakReference<>(probe.getClassLoader()));
    }

    /** What each handler does; `born`: of which attach it is. */
    public static void handle(long born) {
        INSIDE.incrementAndGet();
        look(born);
        long count = HANDLED.incrementAndGet();
        CountDownLatch latch = gate;
        if (latch != null) {
            try {
                latch.await();
            } catch (InterruptedException unexpected) {
                wrong = unexpected.toString();
            }
        }
        if (pauses && (count & 255) == 0) {
            PAUSED.incrementAndGet();
            LockSupport.parkNanos(pauseMs * 1_000_000);
            PAUSED.decrementAndGet();
        }
        look(born);
        INSIDE.decrementAndGet();
    }

    private static void look(long born) {
        if (born < oldest) {
            LATE.incrementAndGet();
        }
    }

    /** What probes are put into. */
    public static class Target {
        int field;

        /** Throws where `number` is below 0. */
        public int add(int number, long other, String text) {
            if (number < 0) {
                throw new IllegalArgumentException("below");
            }
            field++;
            int sum = number + (int) other;
            other = 0;
            number = -1;
            text = text + "";
            return sum + text.length() + (int) other + number + 1;
        }
    }

    static String execute(String command) {
        return jaywalk.execute(command);
    }

    static void attach(String probe) {
        String said = execute("probe-attach,probe=" + folder + "/probes/" + probe + ".class");
        check(said.startsWith("attached "), said);
    }

    static void detach(String name) {
        String said = "quiesced";
        while (said.startsWith("quiesced")) { /* it may take longer than one call waits */
            try {
                said = execute("probe-detach,name=" + name);
            } catch (RuntimeException refused) {
                said = refused.getMessage();
            }
        }
        check(said.startsWith("detached " + name) || said.contains("no probe " + name), said);
    }

    /** Of all its handlers that are at such a place. */
    static long listed(String place, String figure) {
        Matcher matcher = Pattern.compile("\"place\":\"" + place + "\"[^}]*\"" + figure + "\":(\\d+)").matcher(execute("probe-list"));
        long sum = 0;
        while (matcher.find()) {
            sum += Long.parseLong(matcher.group(1));
        }
        return sum;
    }

    /** What a handler finds wrong. */
    public static void tell(String what) {
        if (wrong == null) {
            wrong = what;
        }
    }

    static void check(boolean isGood, String what) {
        if (!isGood) {
            throw new IllegalStateException(what);
        }
    }

    static void checkEqual(long found, long expected, String what) {
        check(found == expected, what + ": " + found + ", not " + expected);
    }

    // Modes ------------------------------------------------------------------------------------------------------------------

    /** Who stands on the stack of an exception, as whoever asks for his caller sees it. */
    private static String stack(Target target) {
        try {
            target.add(-1, 2, "abc");
            return "no exception";
        } catch (IllegalArgumentException expected) {
            return Arrays.toString(expected.getStackTrace());
        }
    }

    /** One call more or less would be seen, from one thread and from several. */
    private static void exact(int count) throws Exception {
        Target target = new Target();
        call(target, 10);
        String[] stacks = new String[3];
        for (int i = 0; i < stacks.length; i++) {
            if (i == 1) {
                attach("Watch");
            } else if (i == 2) {
                detach("watch");
            }
            stacks[i] = stack(target);
        }
        check(stacks[0].equals(stacks[1]) && stacks[0].equals(stacks[2]), "another stack with a probe: " + Arrays.toString(stacks));
        HANDLED.set(0);
        attach("Watch");
        checkEqual(HANDLED.get(), 0, "before the first call");
        call(target, count);
        checkEqual(listed("entry", "calls"), 2L * count, "entries");
        checkEqual(listed("return", "calls"), count, "returns");
        checkEqual(listed("throw", "calls"), count, "exceptions");
        checkEqual(HANDLED.get(), 4L * count, "handled");
        Thread[] threads = new Thread[600]; /* more than there are slots */
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> call(target, count / 100));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        checkEqual(listed("return", "calls"), count + (long) threads.length * (count / 100), "returns of all threads");
        checkEqual(listed("entry", "dropped"), 0, "dropped");
        long before = HANDLED.get();
        detach("watch");
        call(target, count);
        checkEqual(HANDLED.get(), before, "handled after it was detached");
        check(execute("probe-list").contains("\"probes\":[]"), "it is listed still");
        check(wrong == null, wrong);
    }

    static void call(Target target, int count) {
        for (int i = 0; i < count; i++) {
            check(target.add(i, 2, "abc") == i + 5, "another result");
            try {
                target.add(-1, 2, "abc");
                throw new IllegalStateException("no exception");
            } catch (IllegalArgumentException expected) {
                check(expected.getMessage().equals("below"), expected.toString());
            }
        }
    }

    /** Attached and detached under load: no handler is entered, or still runs, when detach has said so. */
    private static void cycles(int count, int threads, boolean areVirtual) throws Exception {
        AtomicLong rounds = new AtomicLong();
        boolean[] isOver = new boolean[1];
        long pauseNs = threads * 250_000L;
        Runnable load = () -> {
            Target target = new Target();
            while (!isOver[0]) {
                call(target, 10);
                /* A safepoint waits for whoever has no processor and wants one. In some cycles all want one all the time. */
                if (cycle % 20 != 0) {
                    LockSupport.parkNanos(pauseNs);
                } else if (areVirtual) { /* nobody takes it off its carrier, and those that yield go before those that wake up */
                    LockSupport.parkNanos(1000);
                }
                rounds.incrementAndGet();
            }
        };
        for (int i = 0; i < threads; i++) {
            start(load, areVirtual);
        }
        long found = 0, early = 0;
        pauses = true;
        for (cycle = 1; cycle <= count; cycle++) {
            long before = HANDLED.get();
            attach("Watch");
            while (HANDLED.get() < before + 50 || (pauseMs > 100 && PAUSED.get() == 0)) {
                Thread.yield();
            }
            found += INSIDE.get() != 0 ? 1 : 0;
            detach("watch");
            oldest = cycle + 1;
            LATE.addAndGet(INSIDE.get());
            long now = rounds.get();
            while (rounds.get() < now + threads) { /* whoever is on his way comes by */
                Thread.yield();
            }
            checkEqual(LATE.get(), 0, "handlers after detach, in cycle " + cycle);
            if (cycle == count / 5) {
                early = metaspace();
            }
        }
        isOver[0] = true;
        System.out.println("cycles " + count + " caught inside " + found + " late " + LATE.get() + " handled " + HANDLED.get());
        int kept = collected();
        System.out.println("kept " + kept + " metaspace " + early + " then " + metaspace());
        check(wrong == null, wrong);
        checkEqual(LATE.get(), 0, "handlers after detach");
        checkEqual(kept, 0, "classes and loaders of probes that were not collected");
        check(found > 0, "no thread was ever inside");
        long growth = metaspace() - early;
        /*
         * A JVM that compiles grows by 7 to 8 KB a cycle until it collects all garbage, for what it keeps of the class alone (Control); and by code that is compiled
         * for the first time, which long runs have behind them.
         */
        check(count < 50 || growth < (count < 500 ? 20480L : 12288L) * (count - count / 5), "metaspace has grown by " + growth);
    }

    private static void start(Runnable load, boolean isVirtual) throws Exception {
        if (isVirtual) {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, load);
        } else {
            Thread thread = new Thread(load);
            thread.setDaemon(true);
            thread.start();
        }
    }

    static long metaspace() throws Exception {
        System.gc();
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getName().equals("Metaspace")) {
                return pool.getUsage().getUsed();
            }
        }
        throw new IllegalStateException("no pool Metaspace");
    }

    /** How many of those that were born are there still. */
    static int collected() throws Exception {
        int left = Integer.MAX_VALUE;
        for (int i = 0; i < 100 && left != 0; i++) {
            System.gc();
            Thread.sleep(20);
            left = 0;
            synchronized (Probed.class) {
                for (WeakReference<Object> one : BORN) {
                    left += one.get() != null ? 1 : 0;
                }
            }
        }
        check(!BORN.isEmpty(), "no probe was born");
        return left;
    }

    /** A handler that does not come back: it is said so, nobody else comes in, and it goes later. */
    private static void blocked(boolean isVirtual) throws Exception {
        Target target = new Target();
        gate = new CountDownLatch(1);
        attach("Watch");
        for (int i = 0; i < 3; i++) {
            start(() -> target.add(1, 2, "abc"), isVirtual);
        }
        while (INSIDE.get() != 3) {
            Thread.sleep(1);
        }
        String said = refused("probe-detach,name=watch");
        check(said.startsWith("quiesced watch except 3 threads"), said);
        call(target, 100);
        checkEqual(HANDLED.get(), 3, "handled");
        check(execute("probe-list").contains("\"state\":\"draining\""), execute("probe-list"));
        said = refused("probe-attach,probe=" + folder + "/probes/Watch.class");
        check(said.contains("attached already"), said);
        gate.countDown();
        while (INSIDE.get() != 0) {
            Thread.sleep(1);
        }
        /* The agent goes on with it by itself. */
        while (!execute("probe-list").contains("\"probes\":[]")) {
            Thread.sleep(10);
        }
        gate = null;
        oldest = 1;
        attach("Watch");
        cycle = 1;
        checkEqual(LATE.get(), 0, "late");
    }

    static String refused(String command) {
        try {
            return "not refused: " + execute(command);
        } catch (RuntimeException expected) {
            return expected.getMessage();
        }
    }

    /** Handlers that throw reach nobody, and are taken out. */
    private static void throwing() throws Exception {
        Target target = new Target();
        attach("Thrower");
        call(target, 1000);
        checkEqual(listed("entry", "throws"), 3, "thrown");
        checkEqual(HANDLED.get(), 3, "called");
        while (!execute("probe-list").contains("\"state\":\"taken-out\"")) {
            Thread.sleep(10);
        }
        String list = execute("probe-list");
        check(list.contains("threw 3 exceptions") && list.contains("IllegalStateException"), list);
        detach("thrower");
    }

    /** Handlers that take too long, or are called too often, are taken out. */
    private static void costly(String probe, String why) throws Exception {
        Target target = new Target();
        attach(probe);
        while (!execute("probe-list").contains("\"state\":\"taken-out\"")) {
            call(target, 1000);
        }
        String list = execute("probe-list");
        check(list.contains(why), list);
        long before = HANDLED.get();
        call(target, 1000);
        checkEqual(HANDLED.get(), before, "handled");
    }

    /** Classes that come later, of old versions, of the JDK; and such as no rule takes. */
    private static void places() throws Exception {
        String said = execute("probe-attach,probe=" + folder + "/probes/Nowhere.class");
        check(said.contains("no method of the classes that are loaded calls it"), said);
        detach("Nowhere");
        attach("Deep");
        ArrayList<Object> list = new ArrayList<>();
        long before = HANDLED.get();
        for (int i = 0; i < 1000; i++) {
            list.ensureCapacity(i);
        }
        checkEqual(HANDLED.get() - before, 1000, "handled in java.util.ArrayList");
        before = HANDLED.get();
        list.trimToSize();
        checkEqual(HANDLED.get() - before, System.getProperty("java.version").startsWith("1.8") ? 0 : 1, "handled in java.base");
        for (int version : new int[] {49, 50, 51, 52}) {
            Class<?> old = new OfVersion(version).loadClass("probed.Probed$Late");
            before = HANDLED.get();
            for (int i = 0; i < 1000; i++) {
                checkEqual((Integer) old.getMethod("twice", int.class).invoke(null, i), 2L * i, "twice");
            }
            checkEqual(HANDLED.get() - before, 2000, "handled in a class of version " + version);
        }
        detach("deep");
        before = HANDLED.get();
        list.ensureCapacity(5000);
        checkEqual(HANDLED.get(), before, "handled");
        check(wrong == null, wrong);
    }

    /** Is loaded when the probe is there. */
    public static class Late {
        /** Without a branch: no version asks for frames. */
        public static int twice(int number) {
            return 2 * number;
        }
    }

    /** What a rule asks for; it stands far above those that have a method. */
    public interface Far {}

    /** Between. */
    public interface Near extends Far {}

    /** Named by nobody who works. */
    public static class Base implements Near {}

    /** Has the class above. */
    public static class Middle extends Base {}

    /** There before the probe. */
    public static class Leaf extends Middle implements Runnable {
        @Override
        public void run() {
            new Target().field++;
        }
    }

    /** Of another kind. */
    public static class Other extends Target implements Runnable {
        @Override
        public void run() {
            field++;
        }
    }

    /** Comes when the probe is there, as do those above it. */
    public static class LateMiddle extends LateBase {}

    /** Comes after those that extend it. */
    public static class LateBase implements Near {}

    /** The last one above which somebody looks. */
    public static class LateLeaf extends LateMiddle implements Runnable {
        @Override
        public void run() {
            new Target().field++;
        }
    }

    /** Of another kind. */
    public static class LateOther extends Other {
        @Override
        public void run() {
            field--;
        }
    }

    /** What stands far above a class: known at once of one that is loaded, and soon of one that comes. */
    private static void above() throws Exception {
        Runnable leaf = new Leaf(), other = new Other();
        attach("Above");
        leaf.run();
        other.run();
        checkEqual(HANDLED.get(), 1, "handled");
        checkEqual(listed("entry", "methods"), 1, "methods");
        Runnable late = new LateLeaf();
        other = new LateOther();
        while (listed("entry", "methods") != 2) {
            Thread.sleep(10);
        }
        long before = HANDLED.get();
        for (int i = 0; i < 100; i++) {
            late.run();
            leaf.run();
            other.run();
        }
        checkEqual(HANDLED.get() - before, 200, "handled later");
        while (listed("entry", "untold") != 0) { /* of the other one it is known by now */
            Thread.sleep(10);
        }
        detach("Above");
        before = HANDLED.get();
        late.run();
        leaf.run();
        checkEqual(HANDLED.get(), before, "handled after it was detached");
    }

    /** Gives a class of ours another version. */
    static final class OfVersion extends ClassLoader {
        private final int version;

        OfVersion(int version) {
            super(Probed.class.getClassLoader());
            this.version = version;
        }

        @Override
        protected Class<?> loadClass(String name, boolean isResolved) throws ClassNotFoundException {
            if (!name.equals("probed.Probed$Late") && !name.equals("probed.Within$Old")) {
                return super.loadClass(name, isResolved);
            }
            try (InputStream in = Probed.class.getResourceAsStream('/' + name.replace('.', '/') + ".class")) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                for (int one = in.read(); one >= 0; one = in.read()) {
                    out.write(one);
                }
                byte[] bytes = out.toByteArray();
                bytes[7] = (byte) version;
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    /** No stack left, again and again: nothing is lost but calls, which are counted. */
    private static void deep() throws Exception {
        attach("Recursive");
        for (int i = 0; i < 200; i++) {
            try {
                recurse(i);
                throw new IllegalStateException("no end");
            } catch (StackOverflowError expected) {
                continue;
            }
        }
        detach("Recursive");
        checkEqual(INSIDE.get(), 0, "inside");
    }

    /** The probe came with the JVM. */
    private static void early() {
        check(HANDLED.get() == 1, "main was handled " + HANDLED.get() + " times");
        new Target().add(1, 2, "abc");
        checkEqual(HANDLED.get(), 2, "handled");
        checkEqual(listed("entry", "calls"), 2, "counted");
        detach("Early");
        new Target().add(1, 2, "abc");
        checkEqual(HANDLED.get(), 2, "handled after detach");
    }

    /** Probed, without an end. */
    public static int recurse(int depth) {
        return recurse(depth + 1) + 1;
    }

    public static void main(String[] arguments) throws Exception {
        folder = arguments[1];
        jaywalk = Jaywalk.get();
        switch (arguments[0]) {
        case "exact":
            exact(Integer.parseInt(arguments[2]));
            break;
        case "cycles":
            pauseMs = arguments.length > 3 ? Long.parseLong(arguments[3]) : pauseMs;
            cycles(Integer.parseInt(arguments[2]), 4, false);
            break;
        case "cycles-virtual":
            cycles(Integer.parseInt(arguments[2]), 20, true);
            break;
        case "blocked":
            blocked(false);
            break;
        case "blocked-virtual":
            blocked(true);
            break;
        case "throwing":
            throwing();
            break;
        case "slow":
            costly("TooSlow", "a call takes");
            break;
        case "often":
            costly("TooOften", "calls in a second");
            break;
        case "places":
            places();
            break;
        case "above":
            above();
            break;
        case "within":
            Within.run(Integer.parseInt(arguments[2]));
            break;
        case "births":
            Births.run();
            break;
        case "beside":
            Beside.run(Integer.parseInt(arguments[2]));
            break;
        case "linked":
            Linked.run();
            break;
        case "control":
            Control.run(Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]), arguments[4].equals("probe"));
            break;
        case "early":
            early();
            break;
        case "deep":
            deep();
            break;
        default:
            throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println("ok");
    }
}
