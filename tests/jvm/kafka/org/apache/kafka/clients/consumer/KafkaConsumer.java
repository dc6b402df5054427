package org.apache.kafka.clients.consumer;

import java.time.Duration;
import java.util.function.Supplier;

/** Of the names and methods that Kafka documents; what it polls comes from who made it. Its poll(long) is that of versions before 4.0. */
public final class KafkaConsumer<K, V> {
    private final Supplier<ConsumerRecords<K, V>> source;

    public KafkaConsumer(Supplier<ConsumerRecords<K, V>> source) {
        this.source = source;
    }

    public ConsumerRecords<K, V> poll(Duration timeout) {
        return source.get();
    }

    @Deprecated
    public ConsumerRecords<K, V> poll(long timeoutMs) {
        return source.get();
    }

    public void close() {
        close(Duration.ofSeconds(30));
    }

    public void close(Duration timeout) {
    }
}
