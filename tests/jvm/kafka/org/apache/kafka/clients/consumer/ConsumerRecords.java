package org.apache.kafka.clients.consumer;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/** Of the names and methods that Kafka documents; no more. What it holds is of no concern here. */
public final class ConsumerRecords<K, V> {
    private final Set<TopicPartition> partitions = new LinkedHashSet<>();

    public ConsumerRecords(String... topics) {
        for (int i = 0; i < topics.length; i++) {
            partitions.add(new TopicPartition(topics[i], i));
        }
    }

    public boolean isEmpty() {
        return partitions.isEmpty();
    }

    public Set<TopicPartition> partitions() {
        return Collections.unmodifiableSet(partitions);
    }
}
