import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;

/**
 * A fixed amount of work in the manner of a service: requests go through a queue to a pool, each handler
 * lies below some forty frames of filters, and most threads of the process wait.
 *
 *     java Service REQUESTS POOL IDLE
 */
final class Service {
    private static final int FILTERS = 40;
    private static final BlockingQueue<Integer> REQUESTS = new ArrayBlockingQueue<>(256);
    private static final LongAdder answers = new LongAdder();
    private static volatile CountDownLatch left;

    private final int filtersLeft;

    private Service(int filtersLeft) {
        this.filtersLeft = filtersLeft;
    }

    public static void main(String[] args) throws Exception {
        int pool = Integer.parseInt(args[1]);
        int idle = Integer.parseInt(args[2]);

        for (int i = 0; i < idle; i++) {
            daemon("idle-" + i, () -> new CountDownLatch(1).await());
        }
        for (int i = 0; i < pool; i++) {
            daemon("worker-" + i, Service::work);
        }
        Fixed.measure(Service::serve, Integer.parseInt(args[0]));
    }

    private interface Body {
        void run() throws Exception;
    }

    private static void daemon(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception wrong) {
                throw new IllegalStateException(wrong);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static long serve(int first, int count) throws InterruptedException {
        answers.reset();
        left = new CountDownLatch(count);
        for (int i = first; i < first + count; i++) {
            REQUESTS.put(i);
        }
        left.await();
        return answers.sum();
    }

    private static void work() throws Exception {
        Service chain = new Service(FILTERS);
        while (true) {
            int request = REQUESTS.take();
            answers.add(chain.filter(request));
            left.countDown();
        }
    }

    private long filter(int request) throws Exception {
        return filtersLeft == 0 ? answer(request) : new Service(filtersLeft - 1).filter(request) + 1;
    }

    private static long answer(int request) throws Exception {
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            rows.add("{\"id\":" + (request * 31 + i * 7919 & 0xffff) + ",\"name\":\"row " + i + "\"}");
        }
        rows.sort(null);
        Map<String, Integer> lengths = new HashMap<>();
        for (String row : rows) {
            lengths.merge(row.substring(0, 10), row.length(), Integer::sum);
        }
        byte[] body = String.join(",", rows).getBytes(StandardCharsets.UTF_8);
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(body);
        return lengths.size() + Arrays.hashCode(digest);
    }
}
