package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Each call of this method of a probe is an event in the recording, of type {@code jaywalk.probe.}<i>name</i>. It is a static method that
 * returns nothing, of the class that carries {@link Probe}; each parameter is a {@link Field}, and one may be the {@link Duration}. The
 * body may be empty: the agent puts the recording in front of it, and without the agent a call does nothing else.
 *
 * <pre>{@code
 * @Event("SlowOrder")
 * private static void slow(@Field("items") int items, @Field("customer") String customer, @Duration long ns) {}
 *
 * @OnReturn("include class name=com.acme.OrderService method name=place")
 * public static void placed(@Argument(0) Object order, @Argument(1) int items, @Duration long ns) {
 *     if (ns > 50_000_000) {
 *         slow(items, order.toString(), ns);
 *     }
 * }
 * }</pre>
 *
 * <p>An event has the time, the thread, the stack from the probed method on, that method, the handler, and what the thread works for
 * (trace, span, attributes). Nothing waits for it: what finds no room is dropped, counted and shown by {@code jaywalk probe list}. Where
 * nothing is recorded, a call costs some nanoseconds.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface Event {
    /**
     * Its name, behind {@code jaywalk.probe.}: 1 to 63 ASCII letters, digits and underscores, a letter first.
     *
     * @return empty: the name of the method, with a capital
     */
    String value() default "";

    /**
     * What viewers call it; at most 127 bytes.
     *
     * @return empty: its name
     */
    String label() default "";

    /**
     * What viewers say of it; at most 127 bytes.
     *
     * @return empty: nothing
     */
    String description() default "";

    /**
     * Whether it is recorded with its stack.
     *
     * @return false: the stack is still walked, for the probed method; the recording is smaller
     */
    boolean stackTrace() default true;
}
