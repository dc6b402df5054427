package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * This handler is called in a method right before it makes an object, or right behind making an array, which is the {@link Allocated}.
 * A new object is given behind its constructor: {@code @OnCallReturn(of = "com.acme.Order.<init>")} with {@link Receiver}.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface OnAllocation {
    /**
     * Of which class: {@code com.acme.Order}, or {@code byte[]}, {@code com.acme.Order[]}, {@code int[][]} for arrays. Patterns are those
     * of {@link OnCall#of}; {@code **} is everything.
     *
     * @return a name, which may have stars in it
     */
    String of();

    /**
     * Which methods it is put into: rules, one a line, as {@link OnEntry#value} has them.
     *
     * @return empty: those of {@link Probe#rules}
     */
    String[] value() default {};
}
