package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The parameter, an {@code Object}, is the object whose method is called at the place; null where the method is static. {@link OnCall} and
 * {@link OnCallReturn} handlers have it; before the call of a constructor there is no object yet, and such places are left alone.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface Receiver {}
