package probed;

import java.util.concurrent.atomic.AtomicLong;

/** Handlers at places within methods: each is called as often as the place is come to, with what lies there. */
public final class Within {
    /** What handlers saw, by their number. */
    public static final AtomicLong[] SEEN = new AtomicLong[32];

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

        static long all;
        byte small;
        double share = 0.5;
        String text = "none";
        Target other;

        /** Its own fields, those of another, and static ones. */
        long fields(int number) {
            other = this;
            small = (byte) number;
            share += 1;
            other.text = number % 2 == 0 ? "even" : "odd";
            all += number;
            return small + text.length();
        }

        /** Arrays of each kind, and objects. */
        int arrays(int number) {
            byte[] bytes = new byte[number % 7];
            Item[] items = new Item[2];
            int[][] table = new int[2][3];
            long[][] rows = new long[3][];
            items[0] = new Item("x", number);
            return bytes.length + items.length + table[1].length + rows.length + items[0].number;
        }

        /** Locks, one in the other, and one that is left by an exception. */
        int locks(int number) {
            int sum = 0;
            synchronized (this) {
                synchronized (db) {
                    sum += number;
                }
                try {
                    synchronized (text) {
                        sum += db.query("locked", -number - 1L, false);
                    }
                } catch (IllegalStateException expected) {
                    sum++;
                }
            }
            return sum;
        }

        /** The line that called. */
        static int line() {
            return new Throwable().getStackTrace()[1].getLineNumber();
        }

        static int mark(int number) {
            return number;
        }
    }

    /** Sets fields before super(): its own, and what it stands in. */
    public static class Outer {
        /** Has a field for it, which is set first. */
        class Inner {
            int number;

            Inner(int number) {
                this.number = number;
            }

            Object around() {
                return Outer.this;
            }
        }

        Inner make(int number) {
            return new Inner(number);
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

    private static void callMore(Target target, int count) {
        Outer outer = new Outer();
        for (int i = 0; i < count; i++) {
            Probed.checkEqual(target.fields(i), (byte) i + (i % 2 == 0 ? 4 : 3), "fields");
            Probed.checkEqual(target.arrays(i), i % 7 + 2 + 3 + 3 + i, "arrays");
            Probed.checkEqual(target.locks(i), i + 1, "locks");
            Probed.checkEqual(outer.make(i).number, i, "inner");
        }
    }

    /** Fields, allocations and locks. */
    static void more(int count) throws Exception {
        Target target = new Target();
        callMore(target, 10);
        String said = Probed.execute("probe-attach,probe=" + Probed.folder + "/probes/PlacedMore.class");
        Probed.check(said.startsWith("attached placed-more: 13 handlers, "), said);
        Probed.check(said.contains("outer (write probed.Within$Outer$Inner.*): 1 places have not what it asks for"), said);
        Probed.check(said.contains("unborn (allocation probed.Within$Item): no method of the classes that are loaded calls it; "
            + "2 methods that its rules take have no such place; 1 methods that its rules take have not what it asks for"), said);
        double share = target.share;
        long all = Target.all;
        callMore(target, count);
        long[] expected = {count, count, 2L * count, 4L * count, count, 3L * count, 3L * count, 3L * count, count, count};
        for (int i = 0; i < expected.length; i++) {
            checkSeen(16 + i, expected[i]);
        }
        Probed.check(target.share == share + count && Target.all - all == (long) count * (count - 1) / 2, "fields are other ones");
        Probed.checkEqual(Probed.listed("monitor-entered", "calls"), Probed.listed("monitor-exit", "calls"), "locks and unlocks");
        Probed.detach("placed-more");
        callMore(target, count);
        for (int i = 0; i < expected.length; i++) {
            checkSeen(16 + i, expected[i]);
        }
        Probed.check(Probed.execute("probe-list").contains("\"probes\":[]"), "it is listed still");
        Probed.check(Probed.wrong == null, Probed.wrong);
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
        more(count);
    }
}
