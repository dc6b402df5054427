package io.jaywalk;

import java.nio.ByteBuffer;

/**
 * A piece of work with a name. When it is closed while a session samples, the recording gets an event {@code jaywalk.Span} with its
 * name, begin and duration, and with the ids and attributes that the thread has at that moment. Then what was before the span is
 * there again, as with {@link Context}.
 *
 * <pre>{@code
 * try (Span span = jaywalk.span("checkout")) {
 *     STEP.set("payment");
 *     pay();
 * }
 * }</pre>
 *
 * @since 0.1.0
 * @see Jaywalk#span(String)
 */
public final class Span implements AutoCloseable {
    static final Span NONE = new Span(Context.NONE, null, 0);

    private final Context context;
    private final Text name;
    private final long beginNs;

    Span(Context context, Text name, long beginNs) {
        this.context = context;
        this.name = name;
        this.beginNs = beginNs;
    }

    /** The span ends. Closed by another thread, or a second time, it does nothing. */
    @Override
    public void close() {
        if (context.isOpen()) {
            ByteBuffer slot = Slots.mineIfAny();
            /* On Linux this is CLOCK_MONOTONIC, the clock of all samples. */
            Native.span(name.bytes, beginNs, System.nanoTime(), Slots.number(slot));
            context.close();
        }
    }
}
