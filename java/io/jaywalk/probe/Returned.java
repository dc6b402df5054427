package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The parameter is what the method returns, or at {@link OnCallReturn} that which it has called. An {@code Object} takes every type, primitive ones in a box, and is null for a method that
 * returns nothing; a primitive type takes that type alone.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface Returned {}
