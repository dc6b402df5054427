import java.util.Hashtable;
import java.util.Map;
import java.util.Vector;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;

/**
 * Locks of classes of the JDK that are taken by known methods of the program, as often as they say: each line of the output is what the census has to say
 * of a place, and of a method that calls it. "few": so few that each is told. "many": far more, of callers that take turns; with a number behind it, by so many
 * threads. "virtual": by virtual threads. "deep": until no stack is left.
 */
public class CensusCallers {
    private static final int FEW = 20, MANY = 600_000, VIRTUAL = 2_000;

    private static final Hashtable<Integer, Integer> TABLE = new Hashtable<>();
    private static final LinkedBlockingQueue<Integer> QUEUE = new LinkedBlockingQueue<>();

    private static long sum;

    private static void putsFirst(int times) {
        for (int i = 0; i < times; i++) {
            TABLE.put(i & 63, i);
        }
    }

    private static void putsSecond(int times) {
        for (int i = 0; i < times; i++) {
            TABLE.put(i & 63, i);
        }
    }

    /** By way of methods of the JDK: the program's own is the one that counts. */
    private static void putsAll() {
        Map<Integer, Integer> one = new java.util.HashMap<>();

        one.put(1, 1);
        TABLE.putAll(one); // it takes the lock twice, at two places
    }

    private static void computes() {
        TABLE.computeIfAbsent(1000, new Function<Integer, Integer>() {
            @Override
            public Integer apply(Integer key) {
                putsWithin();
                return null;
            }
        });
    }

    /** By a class that the JDK makes for it. Not before JDK 9, where that alone takes thousands of locks. */
    private static void refers() {
        Runnable clear = new Vector<Integer>()::removeAllElements;

        clear.run();
    }

    /** Within a lock of the JDK. */
    private static void putsWithin() {
        new Vector<Integer>().addElement(1);
    }

    private static void offers(int times) {
        for (int i = 0; i < times; i++) {
            QUEUE.offer(i);
        }
    }

    private static void adds(int times) {
        for (int i = 0; i < times; i++) {
            QUEUE.add(i); // by way of AbstractQueue
        }
    }

    private static void one(Vector<Integer> into) {
        into.add(1);
    }

    private static void other(Vector<Integer> into) {
        into.add(2);
    }

    private static void third(Vector<Integer> into) {
        into.add(3);
    }

    /** Turns that any sample of one in 2, 4, 8 ... would be misled by: four of eight, three of eight, one of eight. */
    private static void turns(int times) {
        Vector<Integer> into = new Vector<>(16);

        for (int i = 0; i < times; i++) {
            switch (i & 7) {
            case 0: case 2: case 4: case 6:
                one(into);
                break;
            case 1: case 3: case 5:
                other(into);
                break;
            default:
                third(into);
            }
            if ((i & 7) == 7) {
                into.clear();
            }
        }
    }

    private static void expect(String place, String caller, long acquisitions) {
        System.out.println("expect " + place + " CensusCallers." + caller + " " + acquisitions);
    }

    private static Thread thread(boolean isVirtual, Runnable body) throws Exception {
        if (isVirtual) {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
        }
        Thread thread = new Thread(body);

        thread.start();
        return thread;
    }

    private static void few() {
        putsFirst(FEW);
        putsSecond(FEW / 2);
        putsAll();
        offers(FEW);
        adds(3);
        computes();
        if (!System.getProperty("java.specification.version").equals("1.8")) {
            refers();
            expect("java.util.Vector.removeAllElements", "refers", 1);
        }
        expect("java.util.Hashtable.put", "putsFirst", FEW);
        expect("java.util.Hashtable.put", "putsSecond", FEW / 2);
        expect("java.util.Hashtable.put", "putsAll", 1);
        expect("java.util.Hashtable.putAll", "putsAll", 1);
        expect("java.util.Vector.addElement", "putsWithin", 1);
        expect("java.util.Hashtable.computeIfAbsent", "computes", 1);
        expect("java.util.concurrent.LinkedBlockingQueue.offer", "offers", FEW);
        expect("java.util.concurrent.LinkedBlockingQueue.offer", "adds", 3);
    }

    private static void many(boolean isVirtual, int threads, int times) throws Exception {
        Thread[] all = new Thread[threads];

        for (int i = 0; i < threads; i++) {
            all[i] = thread(isVirtual, () -> turns(times));
        }
        for (Thread one : all) {
            one.join();
        }
        expect("java.util.Vector.add", "one", threads * (long) times / 2);
        expect("java.util.Vector.add", "other", threads * (long) times * 3 / 8);
        expect("java.util.Vector.add", "third", threads * (long) times / 8);
    }

    private static int deep(Vector<Integer> into) {
        into.clear();
        return deep(into) + 1;
    }

    private static void overflow() throws Exception {
        Vector<Integer> into = new Vector<>();

        for (int i = 0; i < 50; i++) {
            try {
                System.out.println(deep(into));
            } catch (StackOverflowError e) {
                sum++;
            }
        }
        Thread other = thread(false, () -> into.add(1));
        other.join(20_000);
        System.out.println(other.isAlive() || Thread.holdsLock(into) ? "held" : "free");
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
        case "few":
            few();
            break;
        case "virtual":
            many(true, 4, VIRTUAL);
            break;
        case "deep":
            overflow();
            break;
        default:
            many(false, arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1, MANY);
        }
        System.out.println("ok");
    }
}
