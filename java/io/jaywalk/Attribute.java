package io.jaywalk;

/**
 * Something that is known of the work of a thread besides its span: the tenant, the kind of job. Each thread has its own value.
 *
 * <pre>{@code
 * static final Jaywalk JAYWALK = Jaywalk.ifPresent();
 * static final Attribute TENANT = JAYWALK.attribute("tenant");
 *
 * try (Context context = JAYWALK.context()) {
 *     TENANT.set("acme");
 *     work();
 * }                        // the value before is there again
 * }</pre>
 *
 * <p>Values are kept in the form in which they are written, the last few hundred of each attribute, so that setting one of them
 * again takes some twenty nanoseconds. Keep one instance of each attribute in a constant.
 *
 * @since 0.1.0
 * @see Jaywalk#attribute(String)
 */
public final class Attribute {
    private static final int VALUE_MAX_BYTES = 255;

    private final String name;
    private final Text.Cache values = new Text.Cache(VALUE_MAX_BYTES);

    /** Its number with the agent; negative: it has none. */
    private volatile int number = -1;

    Attribute(String name) {
        this.name = name;
    }

    /** False: it has a number already. */
    boolean isNew() {
        return number < 0;
    }

    void register() {
        number = Native.attribute(Text.encode(name, Integer.MAX_VALUE - 8));
    }

    /**
     * Its name.
     *
     * @return as it was given to {@link Jaywalk#attribute}
     */
    public String name() {
        return name;
    }

    /**
     * From now on samples of the calling thread have this value.
     *
     * @param value at most 255 bytes of UTF-8; a longer one is cut before the character that does not fit, and half of a surrogate
     *     pair becomes a question mark. Null or empty: as {@link #clear()}
     * @return false when it could not be set, and the thread has none now: the agent is not loaded, the attribute's name was
     *     refused, too many other threads have a context (65,536 at the default {@code memlimit}, fewer below it, some 1,300 at 40m),
     *     or the values of this thread's attributes take more than 612 bytes, each with two more
     */
    public boolean set(String value) {
        int key = number;
        if (value == null || value.isEmpty()) {
            clear();
            return true;
        }
        return key >= 0 && Slots.setAttribute(key, values.get(value));
    }

    /** The calling thread has no value any more. */
    public void clear() {
        int key = number;
        if (key >= 0) {
            Slots.setAttribute(key, null);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
