package io.jaywalk;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The profiler jaywalk, as a program sees it from inside.
 *
 * <p>{@link #ifPresent()} is for applications that are shipped with the API and sometimes run under the agent;
 * {@link #get()} for programs that want to profile themselves.
 *
 * <pre>{@code
 * Jaywalk jaywalk = Jaywalk.get();
 * jaywalk.execute("start,event=cpu,interval=5ms,file=/tmp/profile.jfr");
 * Attribute tenant = jaywalk.attribute("tenant");
 *
 * try (Context context = jaywalk.context(traceHigh, traceLow, spanId, spanId)) {
 *     tenant.set("acme");
 *     handle(request);
 *     jaywalk.endpoint(spanId, "GET /orders/{id}", "servlet.request");
 * }
 * jaywalk.execute("stop");
 * }</pre>
 *
 * <p>What a thread works for lies in memory of its own, 704 bytes, which the profiler reads when it takes a sample of the thread. It
 * may be set long before a session starts; samples then have it from the first one on. A virtual thread takes it along from carrier
 * to carrier. 65,536 threads can have a context at once at the default {@code memlimit}, fewer below it (some 1,300 at 40m). A virtual
 * thread that ends without closing its context keeps the place until it is collected. Refusals are counted.
 *
 * <p>No method blocks but {@link #get()}, {@link #execute}, {@link #dump}, {@link #status}; none writes to standard output or error.
 *
 * @since 0.1.0
 */
public final class Jaywalk {
    private static final int ENDPOINT_MAX_BYTES = 4096;
    private static final long LOOK_INTERVAL_NS = 1_000_000_000L;

    private static final Jaywalk STRICT = new Jaywalk(false);
    private static final Jaywalk LENIENT = new Jaywalk(true);

    /** Around loading and registering. */
    private static final Object LOCK = new Object();
    private static final ConcurrentHashMap<String, Attribute> ATTRIBUTES = new ConcurrentHashMap<>();
    private static final Text.Cache NAMES = new Text.Cache(ENDPOINT_MAX_BYTES);

    /** Null: none. Of the last attempt to load the library. */
    private static String whyNot;
    private static volatile long lookedNs = System.nanoTime() - LOOK_INTERVAL_NS;

    private final boolean isLenient;

    private Jaywalk(boolean isLenient) {
        this.isLenient = isLenient;
    }

    // Getting it -------------------------------------------------------------------------------------------------------------

    /**
     * The profiler of this JVM. It is the agent that was loaded with {@code -agentpath} or by the command {@code jaywalk}; where
     * there is none, the library that the jar carries is written to a directory of this user (mode 0700) below the temporary
     * directory, or below what {@code -Dio.jaywalk.directory=DIR} names, and loaded from there; {@code -Dio.jaywalk.library=PATH}
     * names another one. Nothing is sampled before {@link #execute} starts a session.
     *
     * <p>JDK 24 and newer print a warning when a jar loads a library; {@code --enable-native-access=ALL-UNNAMED} (on the module
     * path {@code io.jaywalk}) keeps them quiet. They print none where the agent was there before.
     *
     * @return the one instance, with which everything works
     * @throws JaywalkException this is no Linux on x86-64 or aarch64, or the library cannot be loaded; the message says why
     */
    public static Jaywalk get() {
        if (!Slots.isOpen()) {
            synchronized (LOCK) {
                openWhatever();
            }
        }
        return STRICT;
    }

    /**
     * The profiler if it is there, and something that does nothing if not. Never loads a library that is not in the process,
     * never throws. When the agent is loaded later, the same instance begins to work: it looks once a second, when a context or
     * span is set. Without an agent a call costs what reading a clock costs.
     *
     * @return the one instance that does nothing without an agent
     */
    public static Jaywalk ifPresent() {
        LENIENT.look(true);
        return LENIENT;
    }

    /**
     * Whether an agent is there to hear what is said.
     *
     * @return always true of {@link #get()}
     */
    public boolean isPresent() {
        return Slots.isOpen() || look(false);
    }

    private static void openWhatever() {
        if (Slots.isOpen()) {
            return;
        }
        if (whyNot != null && !Library.isLinked()) {
            throw new JaywalkException(whyNot);
        }
        try {
            Library.load();
            open();
        } catch (JaywalkException failed) {
            whyNot = failed.getMessage();
            throw failed;
        }
    }

    /** The library is linked. Names that were given before it came are registered; what is refused then stays without effect. */
    private static void open() {
        for (Attribute attribute : ATTRIBUTES.values()) {
            tryRegister(attribute);
        }
        Slots.open();
    }

    private static void tryRegister(Attribute attribute) {
        try {
            attribute.register();
        } catch (JaywalkException refused) {
            /* Its values have no effect; an application that is not about profiling is not disturbed. */
        }
    }

    /** True: the agent is there by now. */
    private boolean look(boolean isAtOnce) {
        if (Slots.isOpen()) {
            return true;
        }
        long nowNs = System.nanoTime();
        if (nowNs - lookedNs < LOOK_INTERVAL_NS) {
            return false;
        }
        synchronized (LOCK) {
            if (!Slots.isOpen() && nowNs - lookedNs >= LOOK_INTERVAL_NS) {
                lookedNs = nowNs;
                lookNow(isAtOnce);
            }
        }
        return Slots.isOpen();
    }

    private static void lookNow(boolean isThorough) {
        try {
            if (isThorough ? Library.findLoaded() : Library.isLinked()) {
                open();
            }
        } catch (JaywalkException unusable) {
            whyNot = unusable.getMessage();
        }
    }

    private boolean isOn() {
        return Slots.isOpen() || isLenient && look(false);
    }

    // What a thread works for ------------------------------------------------------------------------------------------------

    /**
     * From now on the calling thread works for this span. Attributes stay. For code that can use a try block,
     * {@link #context(long, long, long, long)} is better: it puts back what was before.
     *
     * @param traceIdHigh first half of the trace id, as W3C writes it: of {@code 4bf92f3577b34da6a3ce929d0e0e4736} it is
     *     {@code 0x4bf92f3577b34da6L}; 0 for none
     * @param traceIdLow second half
     * @param spanId of the span; 0 for none
     * @param rootSpanId of the request in this process, the one that {@link #endpoint} names; 0 for none
     */
    public void setContext(long traceIdHigh, long traceIdLow, long spanId, long rootSpanId) {
        if (isOn()) {
            Slots.setIds(traceIdHigh, traceIdLow, spanId, rootSpanId);
        }
    }

    /** The calling thread works for nothing any more: no ids, no attributes. */
    public void clearContext() {
        Slots.clear();
    }

    /**
     * The calling thread works for this span, until what is returned is closed; see {@link Context}.
     *
     * @param traceIdHigh as of {@link #setContext}
     * @param traceIdLow as of {@link #setContext}
     * @param spanId as of {@link #setContext}
     * @param rootSpanId as of {@link #setContext}
     * @return puts back what was before, attributes included
     */
    public Context context(long traceIdHigh, long traceIdLow, long spanId, long rootSpanId) {
        if (!isOn()) {
            return Context.NONE;
        }
        Context context = Context.open();
        Slots.setIds(traceIdHigh, traceIdLow, spanId, rootSpanId);
        return context;
    }

    /**
     * The same for ids as W3C and OpenTelemetry write them.
     *
     * <pre>{@code
     * SpanContext span = Span.current().getSpanContext();
     * try (Context context = jaywalk.context(span.getTraceId(), span.getSpanId(), span.getSpanId())) { ... }
     * }</pre>
     *
     * @param traceId 32 hexadecimal digits, or fewer; empty: none
     * @param spanId 16 hexadecimal digits, or fewer; empty: none
     * @param rootSpanId likewise
     * @return puts back what was before, attributes included
     * @throws IllegalArgumentException something is not hexadecimal or too long
     */
    public Context context(String traceId, String spanId, String rootSpanId) {
        int low = Math.max(traceId.length() - 16, 0);
        return context(parseId(traceId, 0, low), parseId(traceId, low, traceId.length()), parseId(spanId, 0, spanId.length()),
            parseId(rootSpanId, 0, rootSpanId.length()));
    }

    /**
     * Changes nothing by itself; what is set inside, ids and attributes, ends with it.
     *
     * @return puts back what was before
     */
    public Context context() {
        return isOn() ? Context.open() : Context.NONE;
    }

    private static long parseId(String text, int from, int to) {
        if (to - from > 16) {
            throw new IllegalArgumentException("an id of more digits than it can have: \"" + text + '"');
        }
        long id = 0;
        for (int i = from; i < to; i++) {
            int digit = Character.digit(text.charAt(i), 16);
            if (digit < 0) {
                throw new IllegalArgumentException("an id is hexadecimal: \"" + text + '"');
            }
            id = id << 4 | digit;
        }
        return id;
    }

    /**
     * The attribute with this name, registered with the agent. There are 16 in a process; each becomes a column of every sample. A
     * name that is new while a session samples begins a new chunk of the recording, so name them all at the start.
     *
     * @param name 1 to 64 bytes of UTF-8 without control characters
     * @return always the same instance for a name
     * @throws JaywalkException of {@link #get()} alone: the name is none of these, or there are 16 others. {@link #ifPresent()}
     *     gives one that has no effect instead
     */
    public Attribute attribute(String name) {
        Objects.requireNonNull(name, "name of an attribute");
        synchronized (LOCK) {
            Attribute attribute = ATTRIBUTES.get(name);
            if (attribute == null) {
                attribute = new Attribute(name);
            }
            if (attribute.isNew() && Slots.isOpen()) {
                if (isLenient) {
                    tryRegister(attribute);
                } else {
                    attribute.register();
                }
            }
            ATTRIBUTES.put(name, attribute);
            return attribute;
        }
    }

    // Events -----------------------------------------------------------------------------------------------------------------

    /**
     * Says which endpoint a request was for, often known only when it is answered. Becomes an event {@code jaywalk.Endpoint}, by which
     * those who read the recording name all samples with this root span. Where the thread's own context has this root span, the event has
     * its trace, too.
     *
     * @param rootSpanId as it was set with the context of the request; 0 is none, and by it no sample is found
     * @param name such as {@code GET /orders/{id}}: of few kinds, without numbers of single requests; at most 4,096 bytes of UTF-8,
     *     longer ones are cut
     * @return false: it was not recorded, because no session samples, the name is empty, or something is full
     */
    public boolean endpoint(long rootSpanId, String name) {
        return endpoint(rootSpanId, name, null);
    }

    /**
     * The same with the kind of operation.
     *
     * @param rootSpanId as of {@link #endpoint(long, String)}
     * @param name as of {@link #endpoint(long, String)}
     * @param operation such as {@code servlet.request}; null for none
     * @return as of {@link #endpoint(long, String)}
     */
    public boolean endpoint(long rootSpanId, String name, String operation) {
        return isOn()
            && Native.endpoint(
                rootSpanId, NAMES.get(name).bytes, operation == null ? null : NAMES.get(operation).bytes, Slots.number(Slots.mineIfAny()));
    }

    /**
     * A named piece of work in the context that the thread has; see {@link Span}.
     *
     * @param name at most 4,096 bytes of UTF-8, of few kinds
     * @return records the span when it is closed
     */
    public Span span(String name) {
        return isOn() ? new Span(Context.open(), NAMES.get(name), System.nanoTime()) : Span.NONE;
    }

    /**
     * A named piece of work with a context of its own.
     *
     * @param name at most 4,096 bytes of UTF-8, of few kinds
     * @param traceIdHigh as of {@link #setContext}
     * @param traceIdLow as of {@link #setContext}
     * @param spanId as of {@link #setContext}
     * @param rootSpanId as of {@link #setContext}
     * @return records the span when it is closed, and puts back what was before
     */
    public Span span(String name, long traceIdHigh, long traceIdLow, long spanId, long rootSpanId) {
        Span span = span(name);
        if (span != Span.NONE) {
            Slots.setIds(traceIdHigh, traceIdLow, spanId, rootSpanId);
        }
        return span;
    }

    // Which threads are sampled ----------------------------------------------------------------------------------------------

    /**
     * The calling thread is sampled by a session that was started with {@code filter} without a value (or with {@code +} among its
     * items), from now on and in later sessions, until {@link #removeThread()} or its end. Other sessions are as they were. Of a
     * virtual thread it is the carrier of this moment that is meant.
     *
     * <pre>{@code
     * jaywalk.addThread();
     * jaywalk.execute("start,event=cpu,filter,file=/tmp/mine.jfr");
     * }</pre>
     *
     * @return false: there is no agent, or the system has no room for what it takes to notice the thread's end
     */
    public boolean addThread() {
        return isOn() && Native.thread(true);
    }

    /**
     * Takes {@link #addThread()} back.
     *
     * @return false: there is no agent
     */
    public boolean removeThread() {
        return isOn() && Native.thread(false);
    }

    // Control ----------------------------------------------------------------------------------------------------------------

    /**
     * Gives the agent a command in the language of its options, such as {@code start,event=cpu,file=x.jfr}, {@code stop},
     * {@code dump,file=y.html}, {@code metrics}; docs/reference/options.md has all of them. Waits until it is done.
     *
     * @param command what {@code -agentpath} takes behind the library
     * @return what the agent says to it, lines of text; may be empty
     * @throws JaywalkException the agent refuses or fails; the message is its own
     */
    public String execute(String command) {
        if (!isOn()) {
            throw new JaywalkException("no jaywalk agent is loaded in this JVM; Jaywalk.get() loads one");
        }
        byte[] answer = Native.execute(Text.encode(command, Integer.MAX_VALUE - 8));
        String text = new String(answer, 1, answer.length - 1, StandardCharsets.UTF_8);
        if (answer[0] != 0) {
            throw new JaywalkException(text.replaceAll("(?m)^error: ", "").trim());
        }
        return text;
    }

    /**
     * Writes what the session has so far; it goes on.
     *
     * @param file its ending chooses the format: {@code .jfr}, {@code .html}, {@code .collapsed}, else text. No commas
     * @throws JaywalkException there is no session, or the file cannot be written
     */
    public void dump(Path file) {
        String path = file.toAbsolutePath().toString();
        if (path.indexOf(',') >= 0) {
            throw new JaywalkException("dump to " + path + ": the agent takes no file names with commas");
        }
        execute("dump,file=" + path);
    }

    /**
     * What the session does and has, as {@code jaywalk status} shows it.
     *
     * @return lines of text
     * @throws JaywalkException no agent is loaded
     */
    public String status() {
        return execute("status");
    }

    /**
     * Whether a session samples at this moment.
     *
     * @return false also without an agent
     */
    public boolean isActive() {
        return isOn() && Native.isActive();
    }

    /**
     * Version of the agent.
     *
     * @return such as {@code 0.1.0}; empty without an agent
     */
    public String version() {
        return isOn() ? new String(Native.version(), StandardCharsets.UTF_8) : "";
    }
}
