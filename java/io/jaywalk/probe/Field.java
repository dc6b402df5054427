package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The parameter of an {@link Event} is a field of it: of a primitive type, {@code String} (of which the first 200 bytes are recorded),
 * {@code Class} or {@code Thread}. An event has at most eight fields of primitive types, and eight of the others.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface Field {
    /**
     * Its name, 1 to 63 ASCII letters, digits and underscores, a letter first. Not one that each event has: {@code startTime},
     * {@code duration}, {@code eventThread}, {@code stackTrace}, {@code probe}, {@code handler}, {@code method}, {@code carrier},
     * {@code traceId}, {@code spanId}, {@code localRootSpanId}.
     *
     * @return the name
     */
    String value();

    /**
     * What viewers call it; at most 127 bytes.
     *
     * @return empty: its name
     */
    String label() default "";

    /**
     * What it counts, by which viewers show it.
     *
     * @return what it counts
     */
    Unit unit() default Unit.NONE;

    /** What a number counts. */
    enum Unit {
        /** No unit. */
        NONE,
        /** A time span; {@code int} or {@code long}. */
        NANOSECONDS,
        /** A time span; {@code int} or {@code long}. */
        MILLISECONDS,
        /** A time, since the beginning of 1970; {@code long}. */
        EPOCH_MILLISECONDS,
        /** An amount of data; {@code int} or {@code long}. */
        BYTES,
        /** 0 to 1, shown in percent; {@code float} or {@code double}. */
        FRACTION,
        /** How often a second; {@code int} or {@code long}. */
        HERTZ,
        /** An address in memory; {@code long}. */
        ADDRESS,
    }
}
