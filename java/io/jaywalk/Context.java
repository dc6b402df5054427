package io.jaywalk;

import java.nio.ByteBuffer;

/**
 * Until it is closed the thread works for something; then for what it worked for before, ids and attributes. Scopes nest.
 *
 * <pre>{@code
 * try (Context request = jaywalk.context(traceHigh, traceLow, spanId, spanId)) {
 *     TENANT.set("acme");
 *     try (Context child = jaywalk.context(traceHigh, traceLow, childId, spanId)) {
 *         query();
 *     }                    // spanId again, still acme
 * }                        // no span and no tenant again
 * }</pre>
 *
 * <p>A scope belongs to the thread that opened it: closed by another one, or a second time, it does nothing.
 *
 * @since 0.1.0
 * @see Jaywalk#context(long, long, long, long)
 */
public final class Context implements AutoCloseable {
    static final Context NONE = new Context(null, null);

    /** Null: it is closed. */
    private Thread thread;
    private final Slots.Saved saved;

    private Context(Thread thread, Slots.Saved saved) {
        this.thread = thread;
        this.saved = saved;
    }

    /** Of what is there now. */
    static Context open() {
        ByteBuffer slot = Slots.mineOrKnown();
        return new Context(Thread.currentThread(), slot == null ? Slots.NOTHING : new Slots.Saved(slot));
    }

    boolean isOpen() {
        return thread == Thread.currentThread();
    }

    /** What was before is there again. */
    @Override
    public void close() {
        if (isOpen()) {
            thread = null;
            saved.putBack();
        }
    }
}
