import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Two thousand virtual threads that sleep, wait for a monitor and yield: they are switched all the time. Ends when all have. */
final class Switched {
    private static int sum;

    private Switched() {
    }

    public static void main(String[] args) throws Exception {
        ExecutorService executor = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);

        for (int i = 0; i < 2000; i++) {
            executor.submit(Switched::run);
        }
        executor.shutdown();
        if (!executor.awaitTermination(60, TimeUnit.SECONDS)) {
            System.out.println("virtual threads stand still");
            System.exit(1);
        }
        System.out.println(sum);
    }

    private static Object run() throws InterruptedException {
        for (int i = 0; i < 10; i++) {
            Thread.sleep(1);
            synchronized (Switched.class) {
                sum++;
                Thread.yield();
            }
        }
        return null;
    }
}
