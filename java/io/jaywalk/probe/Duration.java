package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The parameter, a {@code long}, is how many nanoseconds ago the method was entered, by {@link System#nanoTime}, whose two calls some
 * 20 to 35 ns each are part of what a probe costs. {@link OnEntry} handlers do not have it.
 *
 * <p>Of an {@link Event} it is how many nanoseconds that took, up to now.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface Duration {}
