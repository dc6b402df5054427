package io.jaywalk;

import java.nio.charset.StandardCharsets;

/**
 * What bridges to handlers ask: who called the method, and what the thread works for. The agent defines it in the boot loader, like
 * {@link ProbeEvents}. It is called inside of a handler's gate: what it calls itself is not given to handlers of that probe, and what it throws is the
 * handler's exception.
 */
public final class ProbeContext {
    /** Which word of a context; as the agent has them. */
    private static final int TRACE_HIGH = 0, TRACE_LOW = 1, SPAN = 2, ROOT_SPAN = 3;

    private static final int DIGITS = 16;

    /** A power of two. */
    private static final int CALLERS = 256;

    /** Names of methods that were seen; each is whole, whoever writes it. They keep no class. */
    private static final Caller[] KNOWN = new Caller[CALLERS];

    private ProbeContext() {
    }

    private static final class Caller {
        final long method;
        final String name;

        Caller(long method, String name) {
            this.method = method;
            this.name = name;
        }
    }

    /** The method that called the one that is probed; null: it cannot be told, or there is none. */
    public static String caller() {
        final long method = callerMethod();
        if (method == 0) {
            return null;
        }
        final int at = (int) (method >>> 3 ^ method >>> 11) & CALLERS - 1;
        final Caller known = KNOWN[at];
        if (known != null && known.method == method) {
            return known.name;
        }
        final String name = nameOf(method);
        KNOWN[at] = new Caller(method, name);
        return name;
    }

    /** Of the calling thread; 0: none. */
    public static long spanId() {
        return word(Thread.currentThread(), SPAN);
    }

    /** In 32 digits; null: none. */
    public static String traceId() {
        final Thread thread = Thread.currentThread();
        final long high = word(thread, TRACE_HIGH), low = word(thread, TRACE_LOW);
        if ((high | low) == 0) {
            return null;
        }
        final char[] text = new char[2 * DIGITS];
        put(high, text, 0);
        put(low, text, DIGITS);
        return new String(text);
    }

    private static void put(long word, char[] text, int from) {
        for (int i = 0; i < DIGITS; i++) {
            final int digit = (int) (word >>> 4 * (DIGITS - 1 - i)) & 15;
            text[from + i] = (char) (digit < 10 ? '0' + digit : 'a' + digit - 10);
        }
    }

    /** Of the root span; null: it is not known, or there is none. */
    public static String endpoint() {
        final byte[] text = endpointOf(word(Thread.currentThread(), ROOT_SPAN));
        return text == null ? null : new String(text, StandardCharsets.UTF_8);
    }

    /** Number of the method that called the one that is probed; 0: there is none. */
    private static native long callerMethod();

    private static native String nameOf(long method);

    private static native long word(Thread thread, int which);

    private static native byte[] endpointOf(long rootSpanId);
}
