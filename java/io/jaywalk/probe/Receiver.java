package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The parameter, an {@code Object}, is the object whose method is called at the place, or whose field it is; null where that is static.
 * {@link OnCall}, {@link OnCallReturn}, {@link OnRead} and {@link OnWrite} handlers have it; before the
 * call of a constructor, and where one writes a field before {@code super(...)}, there is no object yet, and such places are left alone.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface Receiver {}
