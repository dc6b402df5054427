package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The parameter, an {@code Object}, is that whose lock it is. {@link OnMonitorEnter} and {@link OnMonitorEntered} handlers have it. A lock
 * that the compilers would have left out, since nobody else sees its object, is taken where a handler is given it.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface Lock {}
