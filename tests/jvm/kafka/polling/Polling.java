package polling;

import java.io.File;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/**
 * A consumer of Kafka's, as one is written, without Kafka: what is polled is known, and each kind of it is worked on a known number of times and for a known
 * time, by a method of its own name. `virtual`: on a virtual thread. `on FILE`: it goes on and on, says after the first that it polls, and, once that file is there, stays
 * in what it polled last, which it says, too.
 */
public final class Polling {
    private static final int TIMES = 30;
    private static final long BURN_NS = 3_000_000;
    private static final Duration SOON = Duration.ofMillis(1);

    private static volatile long sink;

    private Polling() {
    }

    private static void burn() {
        final long begin = System.nanoTime();

        while (System.nanoTime() - begin < BURN_NS) {
            sink++;
        }
    }

    private static void inOrders() {
        burn();
    }

    private static void inBoth() {
        burn();
    }

    private static void inMany() {
        burn();
    }

    private static void outsidePoll() {
        burn();
    }

    private static void outsideEmpty() {
        burn();
    }

    private static void outsideFailed() {
        burn();
    }

    private static void outsideClosed() {
        burn();
    }

    /** What Kafka does itself is no part of it. */
    private static ConsumerRecords<String, String> polled(String... topics) {
        outsidePoll();
        return new ConsumerRecords<>(topics);
    }

    private static KafkaConsumer<String, String> consumer(Supplier<ConsumerRecords<String, String>> source) {
        return new KafkaConsumer<>(source);
    }

    @SuppressWarnings("deprecation")
    private static void work() {
        String[][] next = new String[1][];
        KafkaConsumer<String, String> consumer = consumer(() -> polled(next[0]));
        KafkaConsumer<String, String> failing = consumer(() -> {
            throw new IllegalStateException("as it has to");
        });

        for (int i = 0; i < TIMES; i++) {
            next[0] = new String[] {"orders", "orders"};
            consumer.poll(SOON);
            inOrders();
            next[0] = new String[0];
            consumer.poll(SOON);
            outsideEmpty();
            next[0] = new String[] {"payments", "orders"};
            consumer.poll(1);
            inBoth();
            try {
                failing.poll(SOON);
            } catch (IllegalStateException expected) {
                outsideFailed();
            }
            next[0] = new String[] {"a", "b", "c", "d"};
            consumer.poll(SOON);
            inMany();
            consumer.close();
            outsideClosed();
        }
    }

    private static void goOn(File stays) {
        KafkaConsumer<String, String> consumer = consumer(() -> new ConsumerRecords<>("orders"));

        for (int i = 0; !stays.exists(); i++) {
            consumer.poll(SOON);
            inOrders();
            if (i == 10) {
                System.out.println("polls");
            }
        }
        consumer.poll(SOON);
        System.out.println("stays");
        while (true) {
            inOrders();
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 2) {
            goOn(new File(args[1]));
        }
        if (args.length == 1) {
            ((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) Polling::work)).join();
        } else {
            work();
        }
        System.out.println("ok");
    }
}
