import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/**
 * Virtual threads that burn known times of CPU in turns, and wait between them, so that they go on on other carriers. Half
 * of them have a name; two do a part of their work in native code, one of them with a name.
 *
 *     java Virtuals THREADS ROUNDS      at most ten threads; prints "virtual NUMBER NANOSECONDS NAME", or no name
 *
 * What each used is read from the clock of its carrier, before it can leave that.
 */
final class Virtuals implements Runnable {
    private static final long UNIT_NS = 1_000_000;
    private static final CarrierClock CLOCK = new CarrierClock();

    static volatile long sink;

    private final int index;
    private final int rounds;
    private long usedNs;

    private Virtuals(int index, int rounds) {
        this.index = index;
        this.rounds = rounds;
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        List<Virtuals> works = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            works.add(new Virtuals(i, Integer.parseInt(args[1])));
            threads.add(start(works.get(i), i % 2 == 0 ? "request \u00e4 " + i : null));
        }
        for (int i = 0; i < count; i++) {
            threads.get(i).join();
            System.out.println("virtual " + threads.get(i).getId() + " " + works.get(i).usedNs + " " + i);
        }
    }

    static Thread start(Runnable work, String name) throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        if (name != null) {
            builder = type.getMethod("name", String.class).invoke(builder, name);
        }
        return (Thread) type.getMethod("start", Runnable.class).invoke(builder, work);
    }

    @Override
    public void run() {
        try {
            for (int i = 0; i < rounds; i++) {
                long begunNs = CLOCK.getAsLong();
                turn((index + 1) * 5 * UNIT_NS);
                usedNs += CLOCK.getAsLong() - begunNs;
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The last two threads spend half of it in native code. */
    private void turn(long cpuNs) {
        if (index < 8) {
            burn(cpuNs);
        } else {
            burn(cpuNs / 2);
            deflate(cpuNs / 2);
        }
    }

    static void burn(long cpuNs) {
        long begunNs = CLOCK.getAsLong();
        long value = sink;
        while (CLOCK.getAsLong() - begunNs < cpuNs) {
            for (int i = 0; i < 20_000; i++) {
                value = value * 6364136223846793005L + 1442695040888963407L;
            }
        }
        sink = value;
    }

    private static void deflate(long cpuNs) {
        byte[] from = new byte[256 << 10];
        byte[] to = new byte[1 << 10];
        for (int i = 0; i < from.length; i++) {
            from[i] = (byte) (i * 31 >> 3);
        }
        Deflater deflater = new Deflater(9);
        long begunNs = CLOCK.getAsLong();
        while (CLOCK.getAsLong() - begunNs < cpuNs) {
            deflater.reset();
            deflater.setInput(from);
            deflater.finish();
            while (!deflater.finished()) {
                sink += deflater.deflate(to);
            }
        }
        deflater.end();
    }
}
