package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The parameter is one argument of what is called at the place, as it was given. An {@code Object} takes every type, primitive ones in
 * a box, which costs an allocation; a primitive type takes that type alone, and calls with another one there, or with fewer arguments, are left
 * alone and counted. {@link OnCall} and {@link OnCallReturn} handlers have it. Calls of more than 64 arguments are left alone.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface CallArgument {
    /**
     * Which one, the receiver not counted.
     *
     * @return from 0 to 254
     */
    int value();
}
