import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Methods of different kinds that burn known shares of CPU, in random order and in slices of random
 * length, so that no rhythm of theirs can fall in with that of a sampler. The thread's own clock,
 * read around each slice, says what each used.
 *
 *     java Calibrated [SECONDS]        CPU seconds of each of two threads
 *     -XX:CompileCommand=dontinline,Calibrated::part*
 */
final class Calibrated implements Runnable {
    private static final int THREADS = 2;
    private static final String[] NAMES = {"partIntegers", "partCopies", "partCalls",
            "partRecursion", "partDivisions", "partSines"};
    private static final int[] SHARES_PCT = {38, 24, 17, 11, 7, 3};

    private static final Shape[] SHAPES = {
            new Square(3), new Circle(2), new Stripe(7), new Square(5)};

    static volatile long sink;

    private final long cpuNs;
    private final long[] usedNs = new long[NAMES.length];
    private final int[] source = new int[16_384];
    private final int[] target = new int[16_384];

    private Calibrated(long cpuNs) {
        this.cpuNs = cpuNs;
    }

    public static void main(String[] args) throws Exception {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 10;
        List<Calibrated> works = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Calibrated work = new Calibrated((long) (seconds * 1e9));
            Thread thread = new Thread(work, "share-" + i);
            works.add(work);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (int part = 0; part < NAMES.length; part++) {
            long sum = 0;
            for (Calibrated work : works) {
                sum += work.usedNs[part];
            }
            System.out.println("share Calibrated." + NAMES[part] + " " + sum);
        }
    }

    @Override
    public void run() {
        Random random = new Random(Thread.currentThread().getId());
        long[] unitNs = new long[NAMES.length];
        Arrays.fill(unitNs, 100_000);
        while (Threads.cpuNs() < cpuNs) {
            int part = 0;
            for (int pick = random.nextInt(100); pick >= SHARES_PCT[part]; part++) {
                pick -= SHARES_PCT[part];
            }
            long wantedNs = 500_000 + random.nextInt(9_000_000);
            int units = (int) Math.max(1, wantedNs / Math.max(100, unitNs[part]));
            long before = Threads.cpuNs();
            slice(part, units);
            long took = Threads.cpuNs() - before;
            usedNs[part] += took;
            unitNs[part] = (unitNs[part] * 3 + took / units) / 4;
        }
    }

    private void slice(int part, int units) {
        switch (part) {
        case 0:
            partIntegers(units);
            break;
        case 1:
            partCopies(units);
            break;
        case 2:
            partCalls(units);
            break;
        case 3:
            partRecursion(units);
            break;
        case 4:
            partDivisions(units);
            break;
        default:
            partSines(units);
        }
    }

    private static void partIntegers(int units) {
        long value = sink;
        for (int i = 0; i < units * 5_000; i++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
        }
        sink = value;
    }

    private void partCopies(int units) {
        for (int i = 0; i < units * 4; i++) {
            System.arraycopy(source, 0, target, 0, source.length);
        }
    }

    private static void partCalls(int units) {
        long sum = 0;
        for (int i = 0; i < units * 2_000; i++) {
            sum += SHAPES[i & 3].area(i);
        }
        sink = sum;
    }

    private static void partRecursion(int units) {
        for (int i = 0; i < units; i++) {
            sink += fibonacci(14);
        }
    }

    private static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    private static void partDivisions(int units) {
        long value = sink | 1;
        for (int i = 1; i < units * 1_000; i++) {
            value = Long.MAX_VALUE / (value | 1) + i;
        }
        sink = value;
    }

    private static void partSines(int units) {
        double sum = 0;
        for (int i = 0; i < units * 300; i++) {
            sum += Math.sin(sum + i);
        }
        sink = (long) sum;
    }

    private abstract static class Shape {
        final int size;

        Shape(int size) {
            this.size = size;
        }

        abstract int area(int n);
    }

    private static final class Square extends Shape {
        Square(int size) {
            super(size);
        }

        @Override
        int area(int n) {
            return size * size + n;
        }
    }

    private static final class Circle extends Shape {
        Circle(int size) {
            super(size);
        }

        @Override
        int area(int n) {
            return 3 * size * size - n;
        }
    }

    private static final class Stripe extends Shape {
        Stripe(int size) {
            super(size);
        }

        @Override
        int area(int n) {
            return size ^ n;
        }
    }
}
