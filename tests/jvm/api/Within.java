package probed;

import java.util.concurrent.atomic.AtomicLong;

/** Handlers at places within methods: each is called as often as the place is come to, with what lies there. */
public final class Within {
    /** What handlers saw, by their number. */
    public static final AtomicLong[] SEEN = new AtomicLong[16];

    static {
        for (int i = 0; i < SEEN.length; i++) {
            SEEN[i] = new AtomicLong();
        }
    }

    /** The line that a handler is for; `run` finds out which it is. */
    public static final int LINE = 87;

    private Within() {}

    /** Has a constructor with arguments. */
    public static class Item {
        final String name;
        final int number;

        Item(String name, int number) {
            this.name = name;
            this.number = number;
            if (number < 0) {
                throw new IllegalArgumentException("below");
            }
        }

        @Override
        public String toString() {
            return name + number;
        }
    }

    /** Is extended. */
    public static class Special extends Item {
        Special(int number) {
            super(number % 2 == 0 ? "even" : "odd", number);
        }
    }

    /** An interface, by which something is called. */
    public interface Store {
        /** Gives it back. */
        Object put(char key, Object value);
    }

    /** What is called. */
    public static class Db implements Store {
        long query(String text, long limit, boolean isFirst) {
            if (limit < 0) {
                throw new IllegalStateException("below");
            }
            return isFirst ? limit + text.length() : limit;
        }

        @Override
        public Object put(char key, Object value) {
            return value;
        }
    }

    /** Of each kind of argument. */
    public static double sum(byte a, short b, char c, int d, long e, float f, double g, boolean h, Object i) {
        return h ? a + b + c + d + e + f + g : 0;
    }

    /** What the probe is put into. */
    public static class Target {
        final Db db = new Db();
        int marked;

        /** Its parameter changes, and objects without constructor lie on the stack where it branches. */
        long run(int number) {
            int first = number;
            long found = db.query("first", number, true);
            number = -7;
            for (int i = 0; i < 3; i++) {
                found += db.query(i == 2 ? "last" : "more", i, false);
            }
            Item item = new Item(first % 2 == 0 ? new StringBuilder("a").append(first < 0 ? "b" : "").toString() : "c", mark(first));
            marked = line(); marked += first;
            Store store = db;
            found += ((Item) store.put('k', item)).number;
            try {
                db.query("bad", -1L, first > 0 && found > 1);
                found = -1;
            } catch (IllegalStateException expected) {
                found += number + 7;
            }
            Item special = new Special(first);
            return found + special.number + (long) sum((byte) 1, (short) 2, (char) 3, 4, 5L, 6f, 7d, first >= 0, item);
        }

        /** The line that called. */
        static int line() {
            return new Throwable().getStackTrace()[1].getLineNumber();
        }

        static int mark(int number) {
            return number;
        }
    }

    /** Of old class files, which know no frames: without a branch. */
    public static class Old {
        /** As above. */
        public static double call(int number) {
            return sum((byte) 1, (short) 2, (char) 3, 4, number, 6f, 7d, true, "old");
        }
    }

    private static void call(Target target, int count) {
        for (int i = 0; i < count; i++) {
            Probed.checkEqual(target.run(i), i + 5 + 3 + i + i + 28, "run");
        }
    }

    private static void checkSeen(int handler, long expected) {
        Probed.checkEqual(SEEN[handler].get(), expected, "calls of handler " + handler);
    }

    static void run(int count) throws Exception {
        Target target = new Target();
        call(target, 10);
        Probed.checkEqual(target.marked - 9, LINE, "the line in run, which LINE has to be");
        String said = Probed.execute("probe-attach,probe=" + Probed.folder + "/probes/Placed.class");
        Probed.check(said.startsWith("attached placed: 12 handlers, "), said);
        Probed.check(said.contains("nowhere (call no.such.Thing.call): no method of the classes that are loaded calls it; "
            + "1 methods that its rules take have no such place"), said);
        Probed.check(said.contains("unborn (call probed.Within$Item.<init>): no method of the classes that are loaded calls it; "
            + "1 methods that its rules take have not what it asks for"), said);
        Probed.check(said.contains("unlike (call-return probed.Within$**): 5 places have not what it asks for"), said);
        call(target, count);
        checkSeen(0, 5L * count);
        checkSeen(1, 4L * count);
        checkSeen(2, count);
        checkSeen(3, count);
        checkSeen(4, count);
        checkSeen(5, count);
        checkSeen(6, count);
        checkSeen(7, 4L * count);
        checkSeen(8, 5L * count);
        checkSeen(9, 0);
        Probed.checkEqual(Probed.listed("call", "calls"), SEEN[0].get() + SEEN[2].get() + SEEN[4].get() + SEEN[8].get(), "listed calls");
        Probed.checkEqual(Probed.listed("line", "calls"), count, "listed lines");
        for (int version : new int[] {49, 50, 51, 52}) {
            Class<?> old = new Probed.OfVersion(version).loadClass("probed.Within$Old");
            long before = SEEN[4].get();
            for (int i = 0; i < 100; i++) {
                Probed.check((Double) old.getMethod("call", int.class).invoke(null, i) == 23 + i, "sum in a class of version " + version);
            }
            Probed.checkEqual(SEEN[4].get() - before, 100, "seen in a class of version " + version);
        }
        Probed.detach("placed");
        long[] before = new long[SEEN.length];
        for (int i = 0; i < before.length; i++) {
            before[i] = SEEN[i].get();
        }
        call(target, count);
        for (int i = 0; i < before.length; i++) {
            checkSeen(i, before[i]);
        }
        Probed.check(Probed.execute("probe-list").contains("\"probes\":[]"), "it is listed still");
        Probed.check(Probed.wrong == null, Probed.wrong);
    }
}
