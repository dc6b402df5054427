package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The parameter is what was read from a field, or written to it. An {@code Object} takes every type, primitive ones in a box, which costs an
 * allocation; a primitive type takes that type alone. {@link OnRead} and {@link OnWrite} handlers have it.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface Value {}
