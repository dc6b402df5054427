/** Garbage, collections that it asks for, and threads that come and go; then it burns some CPU time, so that there are samples. */
public final class Collected {
    static volatile Object sink;

    public static void main(String[] args) throws InterruptedException {
        int rounds = Integer.parseInt(args[0]);
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < 2000; i++) {
                sink = new byte[20_000];
            }
            System.gc();
            Thread comer = new Thread(() -> burn(30_000_000L), "comer-" + round);
            comer.start();
            comer.join();
        }
        burn(500_000_000L);
        System.out.println("collected");
    }

    private static void burn(long nanos) {
        long sum = 0;
        for (long end = System.nanoTime() + nanos; System.nanoTime() < end;) {
            sum += end % 7;
        }
        sink = sum;
    }
}
