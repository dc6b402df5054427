import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;

/**
 * Work whose result does not depend on how it is run: a sum for each kind of work and thread. Stacks are of all kinds,
 * compiled, interpreted, native, deep, in stubs, thrown through, called by reflection, waiting for monitors and while
 * garbage is collected.
 *
 *     java Sums ROUNDS [SECONDS]        goes on for so long when the rounds are done, without a sum
 */
final class Sums implements Runnable {
    private static final int THREADS = 3;
    private static final int DEPTH = 900;
    private static final String[] NAMES = {
            "recursion", "exceptions", "strings", "sorting", "lambdas", "copies", "reflection", "monitors", "sleeps"};

    private static final Object LOCK = new Object();
    static volatile long sink;

    private final int number;
    private final int rounds;
    private final long endNs;
    private final long[] sums = new long[NAMES.length];

    private Sums(int number, int rounds, long endNs) {
        this.number = number;
        this.rounds = rounds;
        this.endNs = endNs;
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        long seconds = args.length > 1 ? Long.parseLong(args[1]) : 0;
        long endNs = System.nanoTime() + seconds * 1_000_000_000L;
        Sums[] works = new Sums[THREADS];
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            works[i] = new Sums(i, rounds, endNs);
            threads[i] = new Thread(works[i], "sums-" + i);
            threads[i].start();
        }
        System.out.println("begun");
        for (int i = 0; i < THREADS; i++) {
            threads[i].join();
            for (int kind = 0; kind < NAMES.length; kind++) {
                System.out.println(NAMES[kind] + " " + i + " " + works[i].sums[kind]);
            }
        }
    }

    @Override public void run() {
        for (int round = 0; round < rounds; round++) {
            for (int kind = 0; kind < NAMES.length; kind++) {
                sums[kind] = sums[kind] * 31 + one(kind, new Random(round * 1000L + number * 10 + kind));
            }
        }
        for (int kind = 0; System.nanoTime() < endNs; kind = (kind + 1) % NAMES.length) {
            sink = one(kind, new Random(kind));
        }
    }

    private static long one(int kind, Random random) {
        switch (kind) {
        case 0:
            return down(random.nextInt(DEPTH), random);
        case 1:
            return thrown(random);
        case 2:
            return strings(random);
        case 3:
            return sorted(random);
        case 4:
            return lambdas(random);
        case 5:
            return copies(random);
        case 6:
            return reflected(random);
        case 7:
            return locked(random);
        default:
            return slept(random);
        }
    }

    private static long down(int depth, Random random) {
        if (depth == 0) {
            return strings(random);
        }
        return down(depth - 1, random) * 3 + (depth & 7);
    }

    private static long thrown(Random random) {
        long sum = 0;
        for (int i = 0; i < 200; i++) {
            try {
                throwing(random.nextInt(20));
            } catch (IllegalStateException e) {
                sum = sum * 7 + e.getMessage().length();
            }
        }
        return sum;
    }

    private static void throwing(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("at the bottom");
        }
        throwing(depth - 1);
    }

    private static long strings(Random random) {
        StringBuilder text = new StringBuilder();
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < 300; i++) {
            text.append((char) ('a' + random.nextInt(26)));
            counts.merge(text.substring(Math.max(0, text.length() - 3)), i, Integer::sum);
        }
        long sum = text.toString().hashCode();
        for (Map.Entry<String, Integer> entry : counts.entrySet()) {
            sum += (long) entry.getKey().hashCode() * entry.getValue();
        }
        return sum;
    }

    private static long sorted(Random random) {
        Integer[] boxed = new Integer[2_000];
        int[] plain = new int[4_000];
        Arrays.setAll(boxed, i -> random.nextInt(5_000));
        Arrays.setAll(plain, i -> random.nextInt());
        Arrays.sort(boxed, (left, right) -> Integer.compare(right, left));
        Arrays.sort(plain);
        return boxed[0] * 31L + boxed[1_000] + plain[17];
    }

    private static long lambdas(Random random) {
        List<Long> values = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            values.add(random.nextLong() >>> 20);
        }
        return values.stream().filter(value -> value % 3 != 0).mapToLong(value -> value ^ value >> 7).sum();
    }

    private static long copies(Random random) {
        byte[] bytes = new byte[64 << 10];
        random.nextBytes(bytes);
        long sum = 0;
        for (int i = 0; i < 10; i++) {
            byte[] copy = Arrays.copyOf(bytes, bytes.length);
            System.arraycopy(copy, i, copy, i + 100, copy.length - i - 100);
            CRC32 crc = new CRC32();
            crc.update(copy);
            sum = sum * 5 + crc.getValue();
        }
        return sum;
    }

    private static long reflected(Random random) {
        try {
            Method method = Sums.class.getDeclaredMethod("mixed", long.class);
            long sum = random.nextLong();
            for (int i = 0; i < 300; i++) {
                sum = (Long) method.invoke(null, sum);
            }
            return sum;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static long mixed(long value) {
        return value * 0x9e3779b97f4a7c15L + (value >>> 29);
    }

    private static long locked(Random random) {
        long sum = 0;
        for (int i = 0; i < 100; i++) {
            synchronized (LOCK) {
                sum = mixed(sum + random.nextInt());
                sink = sum;
            }
        }
        return sum;
    }

    private static long slept(Random random) {
        if (random.nextInt(8) == 0) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        return random.nextInt();
    }
}
