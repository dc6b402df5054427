package io.jaywalk;

import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Uses the Java API in each way, well and badly, and reads back what stands in the thread's slot, as the profiler would. In the package
 * of the API, to see the slot. Prints `ok` and the parts that it went through; anything unexpected is an exception and status 1.
 *
 * <p>Arguments: the parts, in order.
 */
public final class ApiUse {
    private static final Jaywalk JAYWALK = Boolean.getBoolean("lenient") ? Jaywalk.ifPresent() : Jaywalk.get();

    private ApiUse() {}

    private interface Act {
        void run() throws Exception;
    }

    private static void same(Object found, Object wanted) {
        if (!String.valueOf(found).equals(String.valueOf(wanted))) {
            throw new AssertionError("found " + found + ", not " + wanted);
        }
    }

    private static String refused(Class<? extends Throwable> wanted, Act act) {
        try {
            act.run();
        } catch (Throwable thrown) {
            same(thrown.getClass(), wanted);
            return String.valueOf(thrown.getMessage());
        }
        throw new AssertionError("no " + wanted);
    }

    private static void holds(String text, String part) {
        if (!text.contains(part)) {
            throw new AssertionError("\"" + text + "\" lacks \"" + part + "\"");
        }
    }

    /** The calling thread's slot: trace/span/root and number=value of each attribute; `none` without a slot. */
    private static String record() {
        ByteBuffer b = Slots.mineIfAny();
        if (b == null) {
            return "none";
        }
        int at = b.position();
        same(b.get(at + Slots.VALID), 1);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 24; i++) {
            text.append(i == 16 ? "/" : "").append(String.format("%02x", b.get(at + Slots.TRACE + i)));
        }
        text.append(String.format("/%x", b.getLong(at + Slots.ROOT)));
        for (Map.Entry<Integer, String> value : values(b, at).entrySet()) {
            text.append(' ').append(value);
        }
        return text.toString();
    }

    private static Map<Integer, String> values(ByteBuffer b, int at) {
        Map<Integer, String> values = new TreeMap<>();
        int size = b.getShort(at + Slots.SIZE);
        if (size < 0 || size > Slots.ROOM) {
            throw new AssertionError("attributes of " + size + " bytes");
        }
        int end = at + Slots.ATTRIBUTES + size;
        int i = at + Slots.ATTRIBUTES;
        while (i < end) {
            byte[] value = new byte[b.get(i + 1) & 0xff];
            for (int k = 0; k < value.length; k++) {
                value[k] = b.get(i + 2 + k);
            }
            same(values.put((int) b.get(i), new String(value, StandardCharsets.UTF_8)), null);
            i += 2 + value.length;
        }
        same(i, end);
        return values;
    }

    private static final String EMPTY = "00000000000000000000000000000000/0000000000000000/0";
    private static final String ONE = "4bf92f3577b34da6a3ce929d0e0e4736/00f067aa0ba902b7/f067aa0ba902b7";

    private static Context one() {
        return JAYWALK.context("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "00f067aa0ba902b7");
    }

    private static String repeat(String text, int count) {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < count; i++) {
            all.append(text);
        }
        return all.toString();
    }

    // ---- one thread ----

    private static void scopes() {
        Attribute tenant = JAYWALK.attribute("tenant");
        Attribute kind = JAYWALK.attribute("kind");
        same(tenant == JAYWALK.attribute("tenant"), true);
        same(tenant.name(), "tenant");
        JAYWALK.clearContext();
        try (Context outer = one()) {
            same(record(), ONE);
            same(tenant.set("acme"), true);
            same(kind.set("interactive"), true);
            same(record(), ONE + " 0=acme 1=interactive");
            try (Context inner = JAYWALK.context(0x1122334455667788L, -1, 7, 9)) {
                same(record(), "1122334455667788ffffffffffffffff/0000000000000007/9 0=acme 1=interactive");
                tenant.set("a much longer name of a tenant");
                kind.clear();
                same(record(), "1122334455667788ffffffffffffffff/0000000000000007/9 0=a much longer name of a tenant");
                refused(IllegalStateException.class, () -> {
                    try (Span span = JAYWALK.span("fails", 1, 2, 3, 4)) {
                        tenant.set("x");
                        same(record(), "00000000000000010000000000000002/0000000000000003/4 0=x");
                        throw new IllegalStateException("on purpose " + span);
                    }
                });
                same(record(), "1122334455667788ffffffffffffffff/0000000000000007/9 0=a much longer name of a tenant");
                inner.close();
                same(record(), ONE + " 0=acme 1=interactive");
                tenant.set("outer");
            }
            /* Closed twice: what was set in between stays. */
            same(record(), ONE + " 0=outer 1=interactive");
        }
        same(record().equals("none") ? EMPTY : record(), EMPTY);
        JAYWALK.setContext(1, 2, 3, 4);
        tenant.set("t");
        JAYWALK.setContext(5, 6, 7, 8);
        same(record(), "00000000000000050000000000000006/0000000000000007/8 0=t");
        JAYWALK.clearContext();
        same(record().equals("none") ? EMPTY : record(), EMPTY);
    }

    /** Against a map, with values of all lengths. */
    private static void attributes() {
        Attribute[] all = new Attribute[8];
        Map<Integer, String> wanted = new TreeMap<>();
        java.util.Random random = new java.util.Random(7);
        all[0] = JAYWALK.attribute("tenant");
        all[1] = JAYWALK.attribute("kind");
        for (int i = 2; i < all.length; i++) {
            all[i] = JAYWALK.attribute("a" + i);
        }
        for (int turn = 0; turn < 20000; turn++) {
            int which = random.nextInt(all.length);
            String value = repeat("v", random.nextInt(8) == 0 ? random.nextInt(300) : random.nextInt(40));
            boolean isSet = all[which].set(value);
            wanted.remove(which);
            int used = 0;
            for (String other : wanted.values()) {
                used += 2 + other.length();
            }
            String cut = value.substring(0, Math.min(value.length(), 255));
            same(isSet, cut.isEmpty() || used + 2 + cut.length() <= Slots.ROOM);
            if (isSet && !cut.isEmpty()) {
                wanted.put(which, cut);
            }
            ByteBuffer slot = Slots.mineIfAny();
            same(slot == null ? "{}" : values(slot, slot.position()), wanted);
        }
        JAYWALK.clearContext();
    }

    private static void strings() {
        Attribute tenant = JAYWALK.attribute("tenant");
        String[][] odd = {
            {"\u00e9\u20ac\ud83d\ude00", "\u00e9\u20ac\ud83d\ude00"}, {"a\ud83d", "a?"}, {"\ude00b", "?b"}, {"nul\u0000nul", "nul\u0000nul"},
            {repeat("x", 65536), repeat("x", 255)}, {repeat("\u00e9", 200), repeat("\u00e9", 127)},
            {repeat("\u20ac", 86), repeat("\u20ac", 85)}, {"xxx" + repeat("\ud83d\ude00", 70), "xxx" + repeat("\ud83d\ude00", 63)},
        };
        for (String[] pair : odd) {
            for (int i = 0; i < 2; i++) {
                same(tenant.set(pair[0]), true);
                same(record(), EMPTY + " 0=" + pair[1]);
            }
        }
        same(tenant.set(""), true);
        same(record().equals("none") ? EMPTY : record(), EMPTY);
        tenant.set("x");
        same(tenant.set(null), true);
        same(record().equals("none") ? EMPTY : record(), EMPTY);

        refused(NullPointerException.class, () -> JAYWALK.attribute(null));
        refused(NullPointerException.class, () -> JAYWALK.endpoint(1, null));
        refused(NullPointerException.class, () -> JAYWALK.span(null));
        refused(NullPointerException.class, () -> JAYWALK.execute(null));
        refused(IllegalArgumentException.class, () -> JAYWALK.context("xyz", "1", "1"));
        refused(IllegalArgumentException.class, () -> JAYWALK.context("1", repeat("1", 17), "1"));
        refused(IllegalArgumentException.class, () -> JAYWALK.context(repeat("1", 33), "1", "1"));
    }

    private static void names() {
        if (Boolean.getBoolean("lenient")) {
            same(JAYWALK.attribute("").set("x"), false);
            return;
        }
        refused(JaywalkException.class, () -> JAYWALK.attribute(""));
        refused(JaywalkException.class, () -> JAYWALK.attribute(repeat("n", 65)));
        JAYWALK.attribute("tenant");
        JAYWALK.attribute("kind");
        Attribute last = null;
        for (int i = 2; i < 16; i++) {
            last = JAYWALK.attribute("a" + i);
        }
        same(last.set("last"), true);
        same(record(), EMPTY + " 15=last");
        last.clear();
        holds(refused(JaywalkException.class, () -> JAYWALK.attribute("one too many")), "16");
        same(Jaywalk.ifPresent().attribute("one too many").set("x"), false);
        same(record().equals("none") ? EMPTY : record(), EMPTY);
    }

    // ---- sessions ----

    private static void idle() {
        same(JAYWALK.isPresent(), true);
        same(JAYWALK.isActive(), false);
        same(JAYWALK.endpoint(1, "GET /early"), false);
        try (Span span = JAYWALK.span("early")) {
        }
        holds(JAYWALK.status(), "not active");
        refused(JaywalkException.class, () -> JAYWALK.dump(Paths.get("early.jfr")));
        refused(JaywalkException.class, () -> JAYWALK.execute("stop"));
    }

    private static void session() throws Exception {
        Path file = Paths.get("session.jfr").toAbsolutePath();
        idle();
        holds(refused(JaywalkException.class, () -> JAYWALK.execute("start,event=nonsense")), "nonsense");
        holds(refused(JaywalkException.class, () -> JAYWALK.execute("start\u0000,file=x")), "NUL");
        refused(JaywalkException.class, () -> JAYWALK.execute("status," + repeat("x", 70000)));
        JAYWALK.execute("start,event=cpu,interval=1ms,file=" + file);
        running();
        refused(JaywalkException.class, () -> JAYWALK.execute("start,file=other.jfr"));
        if (JAYWALK.execute("metrics").length() < 4000) {
            throw new AssertionError("metrics are cut");
        }
        for (int i = 0; i < 40; i++) {
            JAYWALK.execute("status");
        }
        JAYWALK.dump(file);
        holds(refused(JaywalkException.class, () -> JAYWALK.dump(Paths.get("a,b.jfr"))), "comma");
        JAYWALK.execute("stop");
        idle();
        same(Files.size(file) > 1000, true);
    }

    private static void running() {
        same(JAYWALK.isActive(), true);
        holds(JAYWALK.status(), "running");
        same(JAYWALK.version(), JAYWALK.execute("version").trim());
        same(JAYWALK.endpoint(1, "GET /orders/{id}", "servlet.request"), true);
        same(JAYWALK.endpoint(1, "GET /orders/{id}"), true);
        same(JAYWALK.endpoint(1, ""), false);
        same(JAYWALK.endpoint(2, repeat("\u20ac", 65536), repeat("o", 65536)), true);
        same(JAYWALK.endpoint(3, "odd \ud83d \u0000 \ude00"), true);
        for (String name : new String[] {"plain", "", repeat("s", 65536)}) {
            try (Span span = JAYWALK.span(name)) {
                JAYWALK.attribute("tenant").set("spanned");
            }
        }
    }

    // ---- many threads ----

    /** Sets and reads back as long as the main thread wants. */
    private static final class Worker implements Runnable {
        static volatile boolean isOver;
        static final AtomicReference<Throwable> FAILED = new AtomicReference<>();
        final int number;
        final CountDownLatch ready;
        final CountDownLatch done;
        final int turns;

        Worker(int number, int turns, CountDownLatch ready, CountDownLatch done) {
            this.number = number;
            this.turns = turns;
            this.ready = ready;
            this.done = done;
        }

        @Override
        public void run() {
            ready.countDown();
            try {
                for (int turn = 0; turns == 0 ? !isOver : turn < turns; turn++) {
                    one(turn);
                }
            } catch (Throwable thrown) {
                FAILED.compareAndSet(null, thrown);
            } finally {
                done.countDown();
            }
        }

        private void one(int turn) throws InterruptedException {
            Attribute tenant = JAYWALK.attribute("tenant");
            String value = "tenant " + number;
            String wanted = String.format("%016x%016x/%016x/%x 0=%s", number, turn, turn + 1, number, value);
            try (Context context = JAYWALK.context(number, turn, turn + 1, number)) {
                tenant.set(value);
                pause();
                same(record(), wanted);
                try (Span span = JAYWALK.span("inner")) {
                    tenant.set("inner");
                    pause();
                    same(record(), wanted.substring(0, wanted.indexOf(" 0=")) + " 0=inner");
                }
                same(record(), wanted);
                JAYWALK.endpoint(number, "GET /" + (number & 7));
            }
            String left = record();
            same(left.equals("none") ? EMPTY : left, EMPTY);
        }

        private void pause() throws InterruptedException {
            Thread.yield();
            if (turns == 0 && (number & 7) == 0) {
                Thread.sleep(1);
            }
        }
    }

    /** Has a field that the JDK's own class has, too, with the number of another thread. */
    private static final class Numbered extends Thread {
        private final long tid = 1;
        private Throwable problem;

        @Override
        public void run() {
            try {
                scopes();
                same(tid, 1L);
            } catch (Throwable thrown) {
                problem = thrown;
            }
        }
    }

    private static void numbered() throws Exception {
        try (Context ours = one()) {
            Numbered thread = new Numbered();
            thread.start();
            thread.join();
            same(thread.problem, null);
            same(record(), ONE);
        }
    }

    private static void crowd() throws Exception {
        int count = 1000;
        CountDownLatch ready = new CountDownLatch(count);
        CountDownLatch done = new CountDownLatch(count);
        Path file = Paths.get("crowd.jfr").toAbsolutePath();
        Worker.isOver = false;
        JAYWALK.execute("start,event=cpu,interval=1ms,file=" + file);
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(null, new Worker(i + 1, 0, ready, done), "crowd-" + i, 256 << 10);
            thread.setDaemon(true);
            thread.start();
        }
        ready.await();
        for (int i = 0; i < 2; i++) {
            JAYWALK.dump(file);
        }
        Worker.isOver = true;
        done.await();
        JAYWALK.execute("stop");
        failed();
    }

    /** Everybody asks at once; each gets an answer of his own. */
    private static void askers() throws Exception {
        JAYWALK.execute("start,event=cpu,file=" + Paths.get("asked.jfr").toAbsolutePath());
        Thread[] threads = new Thread[32];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                try {
                    for (int turn = 0; turn < 100; turn++) {
                        same(JAYWALK.execute("version"), JAYWALK.version() + "\n");
                        holds(JAYWALK.status(), "running");
                        ask();
                    }
                } catch (Throwable thrown) {
                    Worker.FAILED.compareAndSet(null, thrown);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        JAYWALK.execute("stop");
        failed();
    }

    /** One of eight at most is taken; the others are told so. */
    private static void ask() {
        try {
            JAYWALK.execute("dump,file=" + Paths.get("asked.jfr").toAbsolutePath());
        } catch (JaywalkException refused) {
            holds(refused.getMessage(), "wait already");
        }
    }

    private static void failed() throws Exception {
        if (Worker.FAILED.get() != null) {
            throw new Exception("in a thread", Worker.FAILED.get());
        }
    }

    /** More threads than carriers, so that they come back on others. */
    private static void virtual() throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        int count = 2000;
        CountDownLatch ready = new CountDownLatch(count);
        CountDownLatch done = new CountDownLatch(count);
        JAYWALK.execute("start,event=cpu,interval=1ms,file=" + Paths.get("virtual.jfr").toAbsolutePath());
        for (int i = 0; i < count; i++) {
            start.invoke(null, new Worker(i + 1, 20, ready, done));
        }
        done.await();
        JAYWALK.execute("stop");
        failed();
        same(ownedByVirtual(), 0);

        /* Those that end without a word lose their slots to the collector. */
        CountDownLatch left = new CountDownLatch(100);
        for (int i = 0; i < 100; i++) {
            start.invoke(null, (Runnable) () -> {
                JAYWALK.setContext(1, 2, 3, 4);
                left.countDown();
            });
        }
        left.await();
        while (ownedByVirtual() > 1) {
            System.gc();
            Thread.sleep(20);
            ((Thread) start.invoke(null, (Runnable) () -> {
                JAYWALK.setContext(1, 2, 3, 4);
                JAYWALK.clearContext();
            })).join();
        }
    }

    /** Slots with an owner and no thread of the operating system. */
    private static int ownedByVirtual() {
        ByteBuffer all = Slots.everything();
        int owned = 0;
        for (int at = 0; at < all.capacity(); at += Slots.BYTES) {
            owned += all.getLong(at + Slots.OWNER) != 0 && all.getInt(at + 16) == 0 ? 1 : 0;
        }
        return owned;
    }

    // ---- CPU time with and without a context ----

    private static long sink;

    private static long spin(long seed) {
        long x = seed | 1;
        for (int i = 0; i < 700_000; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    private static long worker1(long seed) {
        return spin(seed + 1);
    }

    private static long worker2(long seed) {
        return spin(seed + 2);
    }

    private static long worker3(long seed) {
        return spin(seed + 3);
    }

    /** The stack says whose work it is, above what a virtual thread has on its carrier only when it needs it. */
    private static long work(int number, long seed) {
        return number == 1 ? worker1(seed) : number == 2 ? worker2(seed) : worker3(seed);
    }

    private static long inScope(int number, long seed) {
        return work(number, seed);
    }

    private static long inSpan(int number, long seed) {
        return work(number, seed);
    }

    private static long outside(int number, long seed) {
        return work(number, seed);
    }

    private static long round(int number) {
        long sum = outside(number, number);
        try (Context context = JAYWALK.context(number, -number, number, 1000 + number)) {
            JAYWALK.attribute("tenant").set("tenant " + number);
            sum += inScope(number, sum);
            try (Span span = JAYWALK.span("step " + number, number, -number, 100 + number, 1000 + number)) {
                JAYWALK.attribute("tenant").set("inner " + number);
                Thread.yield();
                sum += inSpan(number, sum);
            }
            sum += inScope(number, sum);
            JAYWALK.endpoint(1000 + number, "GET /burn/" + number, "test");
        }
        Thread.yield();
        return sum + outside(number, sum);
    }

    /** Of three workers the first is added, the second added and removed. */
    private static void chosen() throws Exception {
        JAYWALK.execute("start,event=cpu,interval=1ms,filter,file=" + Paths.get("chosen.jfr").toAbsolutePath());
        for (int i = 1; i <= 3; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                if (number < 3) {
                    same(JAYWALK.addThread(), true);
                }
                if (number == 2) {
                    same(JAYWALK.removeThread(), true);
                }
                for (int round = 0; round < 200; round++) {
                    sink += outside(number, round);
                }
            });
            thread.start();
            thread.join();
        }
        JAYWALK.execute("stop");
    }

    /** Workers that take turns on fewer processors. */
    private static void burn(boolean isVirtual, Path file) throws Exception {
        int count = 3;
        JAYWALK.attribute("tenant");
        JAYWALK.execute("start,event=cpu,interval=1ms,file=" + file.toAbsolutePath());
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            int number = i + 1;
            Runnable work = () -> {
                for (int round = 0; round < 100; round++) {
                    sink += round(number);
                }
            };
            threads[i] = isVirtual ? (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work)
                : new Thread(work, "burn-" + number);
            if (!isVirtual) {
                threads[i].start();
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        JAYWALK.execute("stop");
    }

    // ---- class loaders ----

    /** The same jar twice more in this JVM: each copy of the classes works, and all write one slot. */
    private static void loaders() throws Exception {
        String jar = Jaywalk.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        JAYWALK.attribute("tenant");
        JAYWALK.clearContext();
        for (int i = 0; i < 2; i++) {
            try (URLClassLoader loader = new URLClassLoader(new URL[] {new File(jar).toURI().toURL()}, null)) {
                Class<?> theirs = Class.forName("io.jaywalk.Jaywalk", true, loader);
                same(theirs == Jaywalk.class, false);
                Object other = theirs.getMethod("get").invoke(null);
                JAYWALK.setContext(1, 2, 3, 4);
                theirs.getMethod("setContext", long.class, long.class, long.class, long.class).invoke(other, 5, 6, 7, 8);
                same(record(), "00000000000000050000000000000006/0000000000000007/8");
                Object tenant = theirs.getMethod("attribute", String.class).invoke(other, "tenant");
                same(tenant.getClass().getMethod("set", String.class).invoke(tenant, "theirs"), true);
                same(record(), "00000000000000050000000000000006/0000000000000007/8 0=theirs");
                theirs.getMethod("clearContext").invoke(other);
                same(record().equals("none") ? EMPTY : record(), EMPTY);
            }
        }
    }

    /** Waits, doing what an application does, until somebody attaches. */
    private static void wait(String what) throws Exception {
        Attribute tenant = JAYWALK.attribute("tenant");
        same(tenant.set("early"), false);
        same(JAYWALK.isPresent(), false);
        refused(JaywalkException.class, () -> JAYWALK.execute("status"));
        System.out.println(what);
        for (boolean isThere = false; !isThere;) {
            try (Context context = JAYWALK.context(1, 2, 3, 4); Span span = JAYWALK.span("waiting")) {
                isThere = tenant.set("there");
                JAYWALK.endpoint(4, "GET /" + context.hashCode() + span.hashCode());
            }
            Thread.sleep(10);
        }
        same(JAYWALK.isPresent(), true);
        /* The agent is there before the session that it was asked for has begun; and what begins is not to be stopped. */
        while (!JAYWALK.isActive() || JAYWALK.status().contains("still starting")) {
            Thread.sleep(10);
        }
    }

    private static void part(String name) throws Exception {
        switch (name) {
        case "scopes":
            scopes();
            break;
        case "attributes":
            attributes();
            break;
        case "strings":
            strings();
            break;
        case "names":
            names();
            break;
        case "session":
            session();
            break;
        case "running":
            running();
            break;
        case "numbered":
            numbered();
            break;
        case "crowd":
            crowd();
            break;
        case "askers":
            askers();
            break;
        case "virtual":
            virtual();
            break;
        case "burn":
            burn(false, Paths.get("burn.jfr"));
            break;
        case "burn-virtual":
            burn(true, Paths.get("burn-virtual.jfr"));
            break;
        case "chosen":
            chosen();
            break;
        case "loaders":
            loaders();
            break;
        case "stop":
            JAYWALK.execute("stop");
            break;
        case "wait":
            wait("waiting");
            break;
        default:
            throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] parts) throws Exception {
        for (String name : parts) {
            part(name);
        }
        System.out.println("ok " + Arrays.toString(parts));
    }
}
