import java.util.ArrayList;
import java.util.List;

/**
 * Threads that load native libraries and unload them all the time, two of its own each, and run code of them for moments; at last each
 * runs the code of one that stays for a while, and some of Java.
 *
 *     java LibraryStorm SECONDS STAY_CPU_MS LIBRARY...
 */
final class LibraryStorm {
    private static volatile long sink;

    private LibraryStorm() {
    }

    public static void main(String[] args) throws Exception {
        System.loadLibrary("librarystorm");
        final long until = System.nanoTime() + (long)(Double.parseDouble(args[0]) * 1e9);
        final long stayCpuMs = Long.parseLong(args[1]);
        List<Thread> threads = new ArrayList<>();
        long[] visits = new long[args.length / 2];
        for (int i = 2; i + 1 < args.length; i += 2) {
            final int number = i - 2;
            Thread thread = new Thread(() -> {
                do {
                    visit(number, args[number + 2], 0);
                    visit(number + 1, args[number + 3], 0);
                    visits[number / 2] += 2;
                } while (System.nanoTime() < until);
                visit(number, args[number + 2], stayCpuMs);
                think(stayCpuMs / 4);
            }, "storm-" + number);
            threads.add(thread);
            thread.start();
        }
        long all = 0;
        for (int i = 0; i < threads.size(); i++) {
            threads.get(i).join();
            all += visits[i];
        }
        System.out.println("visits " + all);
    }

    private static void think(long ms) {
        long sum = 0;
        for (long end = System.nanoTime() + ms * 1_000_000L; System.nanoTime() < end;) {
            for (int i = 0; i < 10_000; i++) {
                sum += i ^ sum << 1;
            }
        }
        sink = sum;
    }

    /** 0: for a moment. */
    private static native void visit(int number, String library, long cpuMs);
}
